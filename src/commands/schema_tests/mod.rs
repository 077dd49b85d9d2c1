//! Checks that the files of `schemas/` match the types that the commands print.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::commands::families::CATALOG;
use crate::commands::small::schema::schema_of;
use crate::failure::Reason;
use crate::frame::{
    context::{RehearsalReport, TokenReport, WriteReport},
    tree, usage,
    verb::{AnswerForm, Verb},
};

#[test]
#[expect(clippy::disallowed_methods, reason = "a schema is read and written where it lies")]
fn a_schema_matches_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let overwrites = std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite");
    let mut named = BTreeSet::new();
    let mut differing = Vec::new();
    for verb in CATALOG.verbs() {
        let path = verb.path;
        let schema = document(verb);
        let text = format!("{:#}\n", schema.as_value());
        let name = format!("{}.json", path.replace(' ', "."));
        let file = folder.join(&name);
        named.insert(name);
        if std::fs::read_to_string(&file).ok().as_ref() == Some(&text) {
            continue;
        }
        if overwrites {
            std::fs::write(&file, text).unwrap();
        } else {
            differing.push(path);
        }
    }
    let there = std::fs::read_dir(&folder).unwrap();
    let there: BTreeSet<String> = there.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(differing, Vec::<&str>::new(), "schemas that are not as their types; SNAPSHOTS=overwrite writes them");
    assert_eq!(there, named, "left: the files; right: the commands");
}

#[test]
fn a_command_is_found_with_a_dot_as_well() {
    let title = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        schema_of(&CATALOG.listing(), &words)
            .map(|schema| serde_json::from_str::<Value>(schema).unwrap()["title"].clone())
    };
    assert_eq!(title(&["phase.add"]).unwrap(), "gsd-tools phase add");
    assert_eq!(title(&["phase", "add"]).unwrap(), "gsd-tools phase add");
    assert_eq!(title(&["phase add"]).unwrap(), "gsd-tools phase add");
    assert_eq!(title(&["state"]).unwrap(), "gsd-tools state");
    for wrong in [&["phase"][..], &["phase", "ad"], &["phase", "add", "x"], &["nothing.at.all"]] {
        assert_eq!(title(wrong).unwrap_err().reason, Reason::SdkUnknownCommand, "{wrong:?}");
    }
}

#[test]
fn the_program_contains_each_schema_exactly_as_in_its_file() {
    for verb in CATALOG.verbs() {
        let words: Vec<String> = verb.path.split(' ').map(str::to_owned).collect();
        let carried: Value = serde_json::from_str(schema_of(&CATALOG.listing(), &words).unwrap()).unwrap();
        assert_eq!(&carried, document(verb).as_value(), "{}", verb.path);
    }
}

#[test]
fn a_key_that_may_be_absent_is_not_null() {
    let verb = CATALOG.verb("phase add").unwrap();
    assert_eq!(document(verb).as_value()["properties"]["updated"]["type"], "boolean");
}

/// The line about a command in the help.
fn about(path: &str) -> String {
    let words: Vec<String> = path.split(' ').map(str::to_owned).collect();
    let family = CATALOG.family(&words[0]).unwrap();
    usage::leaf(&tree(family), &words).command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// The schema of one command: the forms of its answer, and the fields that the program adds.
fn document(verb: &Verb) -> Schema {
    let path = verb.path;
    let about = about(path);
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut root = Map::new();
    root.insert("$schema".to_owned(), Value::from("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".to_owned(), Value::from(format!("gsd-tools {path}")));
    root.insert("description".to_owned(), Value::from(about.as_str()));
    let (forms, seen) = match verb.answer {
        AnswerForm::Text(what) => {
            root.insert("description".to_owned(), Value::from(format!("{about}. Text, no JSON: {what}")));
            root.insert("type".to_owned(), Value::from("string"));
            return Schema::from(root);
        }
        AnswerForm::Json(forms) => (forms, false),
        AnswerForm::Seen(forms) => (forms, true),
    };
    let mut forms = forms(&mut generator);
    if forms.len() > 1 {
        root.insert("anyOf".to_owned(), forms.into_iter().map(Schema::to_value).collect());
    } else if let Some(Value::Object(form)) = forms.pop().map(Schema::to_value) {
        root.extend(form);
    }
    let mut beside = Map::new();
    match verb.effect {
        effect if effect.writes() => beside.extend(properties::<WriteReport<'_>>(&mut generator)),
        effect if effect.rehearses() => beside.extend(properties::<RehearsalReport<'_>>(&mut generator)),
        _ => {}
    }
    if seen {
        beside.extend(properties::<TokenReport<'_>>(&mut generator));
    }
    let definitions = generator.take_definitions(true);
    // If a form itself has a key with that name, the form's description applies.
    for (key, property) in &mut beside {
        if definitions.values().any(|form| names(form, key))
            && let Some(property) = property.as_object_mut()
        {
            property.retain(|word, _| word == "description");
        }
    }
    if !beside.is_empty() {
        root.insert("properties".to_owned(), Value::Object(beside));
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let mut schema = Schema::from(root);
    RecursiveTransform(absent_is_not_null).transform(&mut schema);
    schema
}

/// A key that may be left out is left out if it has no value: it is never `null`.
fn absent_is_not_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.iter().any(|key| key == name.as_str())) {
        let Some(property) = property.as_object_mut() else { continue };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                property.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(forms)) = property.get_mut("anyOf") {
            forms.retain(|form| form.get("type").is_none_or(|kind| kind != "null"));
        }
    }
}

/// Whether the object in a schema, or one of its forms, has this key.
fn names(schema: &Value, key: &str) -> bool {
    let forms = schema.get("anyOf").and_then(Value::as_array);
    schema.get("properties").is_some_and(|properties| properties.get(key).is_some())
        || forms.is_some_and(|forms| forms.iter().any(|form| names(form, key)))
}

/// The properties of an object that is never a complete answer.
fn properties<T: JsonSchema>(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let schema = T::json_schema(generator);
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}
