//! Tests of the answers' schemas, which are built from the listed facts.

use std::collections::BTreeSet;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::answers::Answers;
use super::facts;
use crate::library::Library;
use crate::operations::facts::Described;

fn described() -> impl Iterator<Item = &'static Described> {
    facts::DESCRIBED.iter().chain(super::DESCRIBED).flat_map(|table| *table)
}

/// The schema of an answer, by the last word of its verb.
pub(crate) fn schema_of(verb: &str, generator: &mut SchemaGenerator) -> Schema {
    let answers = Answers::embedded();
    let mut form = SchemaObject { generator, properties: Map::new(), required: Vec::new() };
    if verb == "workflow" {
        form.add(&answers.workflow["always"], false);
        for need in ["phase", "milestone", "todos", "maps", "profile"] {
            form.add(&answers.workflow[need], true);
        }
        form.add("section_manifest", false);
    } else {
        form.add(&answers.verbs[verb], false);
    }
    form.add("@common", false);
    let SchemaObject { generator, properties, required } = form;
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), required.into());
    schema.insert("description".to_owned(), "What a workflow needs at its start.".into());
    generator.definitions_mut().insert("Complete".to_owned(), Value::Object(schema));
    Schema::new_ref("#/$defs/Complete".to_owned())
}

/// An object schema under construction.
struct SchemaObject<'generator> {
    generator: &'generator mut SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl SchemaObject<'_> {
    fn add(&mut self, list: &str, only_sometimes: bool) {
        for (key, fact) in Answers::embedded().rows(list) {
            let fact = described().find(|described| described.name == fact.name).unwrap();
            let mut property = self.property(fact);
            if only_sometimes && !fact.is_optional {
                may_be_null(&mut property);
            } else if !only_sometimes && !fact.is_optional {
                self.required.push(key.into());
            }
            assert!(self.properties.insert(key.to_owned(), property.into()).is_none(), "`{key}` is listed twice");
        }
    }

    fn property(&mut self, fact: &Described) -> Map<String, Value> {
        let mut schema = (fact.form)(self.generator);
        let mut property = std::mem::take(schema.ensure_object());
        property.insert("description".to_owned(), fact.about.trim().into());
        property
    }
}

/// Marks a key as nullable. Without this, a key that can be absent is taken as one that is never null.
fn may_be_null(property: &mut Map<String, Value>) {
    if let Some(forms) = property.remove("anyOf") {
        property.insert("oneOf".to_owned(), forms);
    } else if let Some(Value::Array(kinds)) = property.get("type").cloned() {
        property.remove("type");
        let form = |kind| Value::Object([("type".to_owned(), kind)].into_iter().collect());
        property.insert("oneOf".to_owned(), kinds.into_iter().map(form).collect());
    }
}

#[test]
fn every_name_in_a_list_is_a_fact_and_every_fact_is_listed() {
    let answers = Answers::embedded();
    let lists = answers.verbs.values().chain(answers.workflow.values()).map(String::as_str);
    let lists = lists.chain(["section_manifest @common"]);
    let names: BTreeSet<&str> =
        lists.flat_map(|list| answers.words(list)).map(|word| word.rsplit('=').next().unwrap_or(word)).collect();
    let known: BTreeSet<&str> = described().map(|fact| fact.name).collect();
    assert_eq!(known.len(), described().count(), "two facts have the same name");
    assert_eq!(names.difference(&known).collect::<Vec<_>>(), [&""; 0], "names without a fact");
    let library = Library::embedded().unwrap();
    let conditions: BTreeSet<&str> = library
        .items()
        .flat_map(|item| item.front_matter.pairs("sections"))
        .filter_map(|(_, word)| word.strip_prefix("fact "))
        .collect();
    let unused = known.difference(&names).filter(|name| !conditions.contains(*name));
    assert_eq!(unused.collect::<Vec<_>>(), [&""; 0], "facts that no answer has");
}

#[test]
fn keys_that_no_text_names_are_listed() {
    let answers = Answers::embedded();
    let lists = answers.verbs.values().chain(answers.workflow.values()).flat_map(|list| answers.words(list));
    let keys: BTreeSet<&str> = lists.map(|word| word.split('=').next().unwrap_or(word)).collect();
    let library = Library::embedded().unwrap();
    let is_outside = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let named: BTreeSet<&str> = library.items().flat_map(|item| item.body.split(is_outside)).collect();
    let listed: BTreeSet<&str> = answers.for_scripts.split_whitespace().collect();
    let expected: BTreeSet<&str> = keys.difference(&named).copied().collect();
    assert_eq!(listed, expected, "left: `for-scripts` in answers.toml; right: the keys that no text names");
}
