//! Unused parts: verbs that none of our texts, pages, tables or hints calls, and fields of answers that none of them
//! names. `tests/house` lists them; the lists may only get shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::kit::{TestContext, repository};

/// The folders that models read.
const CONTENT: &[&str] = &["commands", "workflows", "agents", "references", "templates", "hooks"];

/// The beginnings of verbs that people call, though no page says so.
const FOR_PEOPLE: &[&str] = &["auto ", "capability ", "gate "];

/// Pages that a test writes from the verbs and texts themselves.
const GENERATED: &[&str] = &["commands.md", "differences.md", "inventory.md", "agents.md", "configuration.md"];

/// The texts below these folders of the repository whose paths satisfy `is_of`.
fn texts(folders: &[&str], is_of: impl Fn(&Path) -> bool) -> Vec<String> {
    let walk = folders.iter().flat_map(|folder| walkdir::WalkDir::new(repository().join(folder)));
    let files = walk.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let files = files.filter(|entry| is_of(entry.path()));
    files.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect()
}

/// Our texts for models and people: the library, README.md, and the pages that are written by hand.
fn pages() -> Vec<String> {
    let mut pages = texts(CONTENT, |_| true);
    pages.extend(texts(&["README.md", "docs"], |path| !GENERATED.iter().any(|name| path.ends_with(name))));
    pages
}

/// Source without comments and tests: the rest contains the hints.
fn source() -> Vec<String> {
    let comment = Regex::new(r"(?m)^\s*//[^\n]*").unwrap();
    let is_of_tests =
        |path: &Path| path.to_string_lossy().contains("/tests") || path.to_string_lossy().contains("_tests");
    let is_of = |path: &Path| path.extension().is_some_and(|extension| extension == "rs") && !is_of_tests(path);
    let files = texts(&["src"], is_of).into_iter();
    files.map(|text| comment.replace_all(text.split("\n#[cfg(test)]\nmod ").next().unwrap(), "").into_owned()).collect()
}

/// The verbs that `text` calls, ignoring flags before them.
fn called<'verbs>(text: &str, verbs: &'verbs BTreeSet<String>, found: &mut BTreeSet<&'verbs str>) {
    for (at, name) in text.match_indices("gsd-tools") {
        let line = text[at + name.len()..].lines().next().unwrap_or_default();
        let words = line.split_whitespace().filter(|word| !word.starts_with('-'));
        let words: Vec<&str> = words.take(3).map(|word| word.trim_end_matches(|c| !char::is_alphanumeric(c))).collect();
        let spelled = (1..=words.len()).rev().find_map(|count| verbs.get(&words[..count].join(" ")));
        let of_workflow = || verbs.get("init workflow").filter(|_| words.first() == Some(&"init"));
        found.extend(spelled.or_else(of_workflow).map(String::as_str));
    }
}

/// Compares with the list in `file`, one `name: entry entry` a line.
fn compare(file: &str, found: &BTreeMap<String, BTreeSet<String>>, what: &str) {
    let path = repository().join("tests/house").join(file);
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let listed = listed.lines().map(|line| line.split_once(": ").unwrap_or((line, "")));
    let listed =
        listed.flat_map(|(name, entries)| entries.split(' ').map(move |entry| (name.to_owned(), entry.to_owned())));
    let listed: BTreeSet<(String, String)> = listed.collect();
    let found: BTreeSet<(String, String)> =
        found.iter().flat_map(|(name, entries)| entries.iter().map(|entry| (name.clone(), entry.clone()))).collect();
    if std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite") {
        let kept: Vec<&(String, String)> =
            found.iter().filter(|pair| listed.is_empty() || listed.contains(*pair)).collect();
        let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, entry) in &kept {
            lines.entry(name).or_default().push(entry);
        }
        let line = |(name, entries): (&str, Vec<&str>)| {
            format!("{}\n", format!("{name}: {}", entries.join(" ")).trim_end_matches(": "))
        };
        std::fs::write(&path, lines.into_iter().map(line).collect::<String>()).unwrap();
        return;
    }
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "{what}; use it, or take it out: {new:#?}");
    let used: Vec<_> = listed.difference(&found).collect();
    assert!(
        used.is_empty(),
        "tests/house/{file} lists what is used or gone; SNAPSHOTS=overwrite shortens it: {used:#?}"
    );
}

#[test]
fn every_new_verb_has_a_caller() {
    let schema = TestContext::new().gsd(["schema"]).json();
    let verbs = schema["commands"].as_array().unwrap().iter().map(|verb| verb["command"].as_str().unwrap().to_owned());
    let verbs: BTreeSet<String> = verbs.collect();
    assert!(verbs.len() > 250, "{}", verbs.len());
    let mut found = BTreeSet::new();
    pages().iter().chain(&source()).for_each(|text| called(text, &verbs, &mut found));
    // Tables name the checks of a loop point without the verb, and others with a dot.
    let is_table = |path: &Path| path.extension().is_some_and(|extension| extension == "toml" || extension == "json");
    let tables = texts(&["src"], is_table).concat();
    let is_in_a_table = |verb: &str| {
        let last = verb.rsplit(' ').next().unwrap();
        tables.contains(&format!("\"{}", verb.replace(' ', ".")))
            || tables.contains(verb) && verb.contains(' ')
            || verb.starts_with("check ") && tables.contains(&format!("{last}\""))
            || last
                .match_indices('-')
                .any(|(at, _)| tables.contains(&format!("\"{}.{}\"", &last[..at], &last[at + 1..])))
    };
    let uncalled: BTreeSet<&String> =
        verbs.iter().filter(|verb| !found.contains(verb.as_str()) && !is_in_a_table(verb)).collect();
    compare(
        "uncalled.txt",
        &uncalled.iter().map(|verb| ((*verb).clone(), BTreeSet::from([String::new()]))).collect(),
        "no caller",
    );
    let row = Regex::new(r#"(?m)^    [A-Z_]+ = "([a-z -]+)""#).unwrap();
    let peer = texts(&["src/peer"], |_| true).concat();
    let of_peer: BTreeSet<&str> = row.captures_iter(&peer).map(|row| row.get(1).unwrap().as_str()).collect();
    let is_for_people = |verb: &str| FOR_PEOPLE.iter().any(|family| verb.starts_with(family));
    let of_others = uncalled.iter().map(|verb| verb.as_str()).filter(|verb| !is_for_people(verb));
    assert_eq!(
        of_others.collect::<BTreeSet<_>>(),
        of_peer,
        "src/peer has the verbs that nothing of ours calls, and no other"
    );
}

#[test]
fn every_new_field_of_an_answer_has_a_reader() {
    let word = Regex::new(r"\w+").unwrap();
    let pages = pages();
    let named: BTreeSet<&str> =
        pages.iter().flat_map(|page| word.find_iter(page)).map(|found| found.as_str()).collect();
    let mut unread: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(repository().join("schemas")).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut fields = BTreeSet::new();
        fields_of(&schema, &mut fields);
        fields.retain(|field| !named.contains(field.as_str()));
        unread.insert(stem(&path).replace('.', " "), fields);
    }
    assert!(unread.len() > 250, "{}", unread.len());
    compare("unread.txt", &unread, "no text or page names it");
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The names of all properties in a schema.
fn fields_of(schema: &Value, fields: &mut BTreeSet<String>) {
    match schema {
        Value::Object(parts) => {
            if let Some(Value::Object(properties)) = parts.get("properties") {
                fields.extend(properties.keys().cloned());
            }
            parts.values().for_each(|part| fields_of(part, fields));
        }
        Value::Array(parts) => parts.iter().for_each(|part| fields_of(part, fields)),
        _ => {}
    }
}
