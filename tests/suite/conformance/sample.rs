//! The sample of recorded runs in this repository, under `tests/conformance/sample`.
//!
//! It has facts and no sentences: for each case the command line, the exit code, the keys and values of the answer, and
//! which files of the project changed. [`SENTENCE`] replaces each sentence of an answer. The projects are copies of
//! those of the recordings, without the names of the peer.
//!
//! `GSD_CONFORMANCE_DRAW=1`, together with `GSD_CONFORMANCE_DIR`, draws it from the recordings: some agreeing cases of
//! each command, in seeded order. Cases that differ on purpose are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Case, Comparer, MACHINE_KEYS, chosen_differences, lossy, read_cases};
use crate::kit::repository;

/// In an answer: any string.
pub(super) const SENTENCE: &str = "<TEXT>";

/// Keys of advice, which each program words differently. A single word is a code.
const PROSE_KEYS: &[&str] = &[
    "advice",
    "error",
    "errors",
    "hint",
    "message",
    "next_action",
    "note",
    "preview",
    "reason",
    "recommendation",
    "verification_next_action",
    "warning",
    "warnings",
];

/// The most words of a value that is not a sentence.
const WORDS: usize = 3;

const SEED: &str = "gsd-tools";
const PROJECTS: &[&str] = &["code", "done", "empty", "green", "mismatch", "multi", "odd", "std", "ws"];
/// Size limits in bytes: of a case, and of all cases together.
const CASE_LIMIT: usize = 5_000;
const LIMIT: usize = 95_000;
/// What the sample must not contain, in lower case: names of the peer and of the machine of the recordings.
const NAMES: &[&str] = &["opengsd", "gsd-core", "gsd_core", "<pkg>", "/root", "/work/", "/var/", "/tmp/"];

pub(super) fn folder() -> PathBuf {
    repository().join("tests/conformance/sample")
}

/// True if an answer agrees with a recorded one, in which sentences may be left out.
pub(super) fn agrees(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::String(text), Value::String(_)) if text == SENTENCE => true,
        (Value::Array(wanted), Value::Array(given)) => {
            wanted.len() == given.len() && wanted.iter().zip(given).all(|(want, got)| agrees(want, got))
        }
        (Value::Object(wanted), Value::Object(given)) => {
            let agrees = |(key, want): (&String, &Value)| given.get(key).is_some_and(|got| agrees(want, got));
            wanted.len() == given.len() && wanted.iter().all(agrees)
        }
        _ => want == got,
    }
}

pub(super) fn draw(recordings: &Path) {
    let _ = std::fs::remove_dir_all(folder());
    for project in PROJECTS {
        copy_without_names(&recordings.join("projects").join(project), &folder().join("projects").join(project));
    }
    let comparer = Comparer::new(&folder());
    let chosen = chosen_differences();
    let mut commands: BTreeMap<(String, bool), Vec<Case>> = BTreeMap::new();
    for case in read_cases(&recordings.join("cases")) {
        if PROJECTS.contains(&case.project.as_str()) && !chosen.contains(&case.name) {
            let command = crate::schemas::command_of(&case.arguments).unwrap_or_else(|| case.family.clone());
            commands.entry((command, case.exit == 0)).or_default().push(case);
        }
    }
    let mut size = 0;
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    let mut turns: Vec<_> = commands
        .into_values()
        .map(|mut cases| {
            cases.sort_by_key(|case| std::cmp::Reverse(Sha256::digest(format!("{SEED} {}", case.name))));
            cases
        })
        .collect();
    while turns.iter().any(|cases| !cases.is_empty()) {
        for cases in &mut turns {
            // The next case that can be shown, and that agrees as shown.
            let found = std::iter::from_fn(|| cases.pop()).find_map(|case| {
                let line =
                    shown(&comparer, &case).filter(|line| line.len() <= CASE_LIMIT && size + line.len() <= LIMIT)?;
                let as_shown = super::case_of(&case.family, &serde_json::from_str(&line).unwrap());
                comparer.compare(&as_shown).is_ok().then_some((case.family, line))
            });
            if let Some((family, line)) = found {
                size += line.len();
                lines.entry(family).or_default().extend([line.as_str(), "\n"]);
            }
        }
    }
    std::fs::create_dir_all(folder().join("cases")).unwrap();
    for (family, lines) in lines {
        std::fs::write(folder().join("cases").join(format!("{family}.jsonl")), lines).unwrap();
    }
}

/// The line of the sample for a case; `None` if nothing would be left.
fn shown(comparer: &Comparer, case: &Case) -> Option<String> {
    let mut line = json!({ "case": case.name, "project": case.project, "args": case.arguments });
    if !case.environment.is_empty() {
        line["env"] =
            case.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into();
    }
    if !case.before.is_empty() {
        line["before"] = json!(case.before);
    }
    line["exit"] = json!(case.exit);
    let stdout = comparer.mask(&case.stdout);
    match serde_json::from_str::<Value>(&stdout) {
        Ok(answer) if answer.is_object() || answer.is_array() => {
            line["answer"] = without_sentences(&comparer.norm(&answer), false)?;
        }
        _ if stdout.lines().any(|line| line.split_whitespace().count() > WORDS) => return None,
        _ => line["stdout"] = json!(stdout),
    }
    if let Some(changes) = &case.changes {
        let paths = changes.lines().filter_map(|line| line.strip_prefix("+++ b/").or(line.strip_prefix("+++ NEW ")));
        let files: Vec<&str> = paths.map(str::trim).filter(|path| !path.ends_with('/')).collect();
        if !files.is_empty() {
            line["changed"] = json!(files);
        }
    }
    let line = line.to_string();
    (!names(&line) && !line.contains("node ")).then_some(line)
}

/// `None` if a key is a sentence.
fn without_sentences(value: &Value, is_prose: bool) -> Option<Value> {
    Some(match value {
        Value::String(text) if is_sentence(text, is_prose) => json!(SENTENCE),
        Value::Array(items) => items.iter().map(|item| without_sentences(item, is_prose)).collect::<Option<_>>()?,
        Value::Object(map) => {
            let entries = map.iter().filter(|(key, _)| !MACHINE_KEYS.contains(&key.as_str()));
            let shown = entries.map(|(key, value)| {
                let value = without_sentences(value, PROSE_KEYS.contains(&key.as_str()))?;
                (!is_sentence(key, false)).then(|| (key.clone(), value))
            });
            Value::Object(shown.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Replaces the sentences of advice in an answer: a comparison then checks that they exist, and how many a list has,
/// but not the words. A single word is a code.
pub(super) fn without_advice(value: &Value, is_prose: bool) -> Value {
    match value {
        Value::String(text) if is_prose && is_sentence(text, true) => json!(SENTENCE),
        Value::Array(items) => items.iter().map(|item| without_advice(item, is_prose)).collect(),
        Value::Object(map) => {
            let advice = |key: &str| PROSE_KEYS.contains(&key);
            map.iter().map(|(key, value)| (key.clone(), without_advice(value, advice(key)))).collect()
        }
        other => other.clone(),
    }
}

fn is_sentence(text: &str, is_prose: bool) -> bool {
    text.split_whitespace().count() > if is_prose { 1 } else { WORDS }
}

fn names(text: &str) -> bool {
    let text = text.to_lowercase();
    NAMES.iter().any(|name| text.contains(name))
}

/// Copies a project, without the peer's folder that its plans mention and without explanations of the format.
fn copy_without_names(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file())
    {
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut kept = String::new();
        let mut is_explanation = false;
        for line in lossy(entry.path()).replace("/gsd-core/", "/gsd-tools/").split_inclusive('\n') {
            is_explanation = match line.trim() {
                "**Phase Numbering:**" | "**Execution Order:**" => true,
                "" => false,
                _ => is_explanation,
            };
            if !is_explanation {
                kept += line;
            }
        }
        std::fs::write(target, kept).unwrap();
    }
}

#[test]
fn a_wrong_value_in_an_answer_is_noticed() {
    let want = json!({ "phase": "2", "plans": [{ "id": "02-01", "goal": SENTENCE }] });
    let with = |phase: &str, goal: Value| json!({ "phase": phase, "plans": [{ "id": "02-01", "goal": goal }] });
    assert!(agrees(&want, &with("2", json!("Anything may be said here"))));
    assert!(!agrees(&want, &with("3", json!("Anything may be said here"))));
    assert!(!agrees(&want, &with("2", Value::Null)));
    assert!(!agrees(&want, &json!({ "phase": "2", "plans": [] })));
    assert!(!agrees(&want, &json!({ "phase": "2", "plans": [{ "id": "02-01" }] })));
}

#[test]
fn the_sample_has_no_sentence_and_no_name_of_the_peer() {
    let mut size = 0;
    for entry in
        walkdir::WalkDir::new(folder()).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file())
    {
        let text = lossy(entry.path());
        size += text.len();
        assert!(!names(&text), "{}", entry.path().display());
        if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            for line in text.lines() {
                let record: Value = serde_json::from_str(line).unwrap();
                let answer = &record["answer"];
                assert_eq!(without_sentences(answer, false).as_ref(), Some(answer), "{line}");
                let words = record["stdout"].as_str().unwrap_or_default();
                assert!(words.lines().all(|line| !is_sentence(line, false)), "{line}");
            }
        }
    }
    assert!(size < 200_000, "{size} bytes");
}
