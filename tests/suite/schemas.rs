//! Every answer matches its schema, and every command has a test.
//!
//! Each call that a test of the suite makes and each recorded run goes through [`hold`]: the output must match the
//! golden schema of that command, without keys that the schema does not have.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::kit::repository;

/// Flags of every command that take a value.
const WITH_VALUE: &[&str] = &["--cwd", "--project-dir", "--ws", "--if-match"];

/// Flags that replace the command's own answer.
const OTHERWISE: &[&str] = &["--raw", "--pick", "--help", "-h", "--version", "--usage", "--html", "--md"];

/// Commands that answer people with a page or a word, unless asked for JSON or if they have more to report.
const PAGES: &[&str] = &[
    "agent-skills",
    "apply",
    "audit-open",
    "capability outdated",
    "cost",
    "demo",
    "dispatch-capacity",
    "dispatch-isolation",
    "dispatch-should-flatten",
    "doctor",
    "explain",
    "hooks bench",
    "hooks off",
    "hooks on",
    "history",
    "hooks status",
    "inspect-dispatch-isolation",
    "install",
    "lock",
    // With `--active-cap` a word.
    "loop render-hooks",
    "package",
    "redo",
    "resolve-agent",
    "runtimes",
    "scan-sessions",
    "smart-entry",
    "status",
    // No output if a host has no teams.
    "teams-status",
    "undo",
    "uninstall",
    "update",
    "validate context",
];

/// Asserts that the output of a call matches the schema of its command, whatever its exit code. Only calls that ask for
/// text, and the commands of [`PAGES`], may print anything other than JSON; a failure may print nothing.
pub(crate) fn hold(arguments: &[String], code: i32, stdout: &str) {
    if let Err(why) = fits(arguments, code, stdout) {
        panic!("`gsd-tools {}`: {why}\nin {stdout}", arguments.join(" "));
    }
}

pub(crate) fn fits(arguments: &[String], code: i32, stdout: &str) -> Result<(), String> {
    if arguments.iter().any(|argument| OTHERWISE.contains(&argument.split('=').next().unwrap())) {
        return Ok(());
    }
    // Some commands have their own flag with this name, and answer with JSON.
    if arguments.iter().any(|argument| argument == "--text") && !stdout.starts_with(['{', '[']) {
        return Ok(());
    }
    let Some((path, validator)) = command_of(arguments).and_then(|path| validators().get_key_value(&path)) else {
        // A word that is not a command, or a command that only hosts call.
        return Ok(());
    };
    if code != 0 && stdout.is_empty() || is_text(path) {
        return Ok(());
    }
    let answer = match serde_json::from_str::<Value>(stdout) {
        // A word that happens to be JSON.
        Ok(answer) if PAGES.contains(&path.as_str()) && (answer.is_boolean() || answer.is_number()) => return Ok(()),
        Ok(answer) => answer,
        Err(_) if PAGES.contains(&path.as_str()) => return Ok(()),
        Err(error) => return Err(format!("exit {code}, and no JSON: {error}")),
    };
    let wrong: Vec<String> =
        validator.iter_errors(&answer).map(|error| format!("{error} at `{}`", error.instance_path())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The command that the arguments name, as its path.
pub(crate) fn command_of(arguments: &[String]) -> Option<String> {
    let mut words = Vec::new();
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument) {
            arguments.next();
        } else if !argument.starts_with('-') {
            words.push(argument);
        }
    }
    if words.first() == Some(&"query") {
        words.remove(0);
    }
    if let Some((first, second)) = words.first().and_then(|word| word.split_once('.')) {
        words.splice(..1, [first, second]);
    }
    (1..=words.len().min(3)).rev().map(|count| words[..count].join(" ")).find(|path| validators().contains_key(path))
}

/// True if a command always prints text.
fn is_text(path: &str) -> bool {
    schemas().get(path).is_some_and(|schema| schema["type"] == "string")
}

fn validators() -> &'static BTreeMap<String, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        let mut schemas = schemas().clone();
        for schema in schemas.values_mut() {
            // Keys that the schema does not name are forbidden. A schema that allows anything names none.
            if ["$ref", "anyOf", "properties"].iter().any(|key| schema.get(key).is_some()) {
                schema["unevaluatedProperties"] = Value::Bool(false);
            }
        }
        schemas.into_iter().map(|(path, schema)| (path, jsonschema::validator_for(&schema).unwrap())).collect()
    })
}

/// The golden schemas, by the path of the command. A test next to the code of `gsd-tools schema` checks that it prints
/// them.
fn schemas() -> &'static BTreeMap<String, Value> {
    static SCHEMAS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(read_schemas)
}

fn read_schemas() -> BTreeMap<String, Value> {
    let folder = std::fs::read_dir(repository().join("schemas")).unwrap();
    let read = |file: std::path::PathBuf| {
        let path = file.file_stem().unwrap().to_str().unwrap().replace('.', " ");
        (path, serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap())
    };
    folder.map(|file| read(file.unwrap().path())).collect()
}

#[test]
fn a_key_that_is_not_in_the_schema_is_noticed() {
    let arguments = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let slug = arguments("--cwd /x query generate-slug Hello");
    assert_eq!(fits(&slug, 0, r#"{"slug":"hello"}"#), Ok(()));
    assert!(fits(&slug, 0, r#"{"slug":"hello","more":1}"#).is_err());
    assert!(fits(&slug, 0, r#"{"slug":7}"#).is_err());
    assert!(fits(&arguments("state.json"), 0, "[]").is_err());
    assert_eq!(fits(&arguments("config-get mode"), 0, "{}"), Ok(()));
    assert_eq!(fits(&arguments("capability trust list --json"), 0, "[]"), Ok(()));
    assert!(fits(&arguments("capability trust list --json"), 0, "{}").is_err(), "the third word counts");
}

#[test]
fn text_instead_of_json_is_noticed() {
    let arguments = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let slug = arguments("generate-slug Hello");
    for (code, stdout) in [(0, ""), (0, "hello\n"), (0, "{"), (1, "{"), (1, r#"{"more":1}"#), (0, "7")] {
        assert!(fits(&slug, code, stdout).is_err(), "{code} {stdout}");
    }
    assert_eq!(fits(&slug, 1, ""), Ok(()));
    assert_eq!(fits(&arguments("generate-slug Hello --raw"), 0, "hello\n"), Ok(()));
    assert_eq!(fits(&arguments("config-path"), 0, "/x\n"), Ok(()));
}

#[test]
fn the_commands_with_pages_exist() {
    let gone: Vec<&&str> = PAGES.iter().filter(|path| !schemas().contains_key(**path)).collect();
    assert_eq!(gone, Vec::<&&str>::new());
}

#[test]
fn the_page_on_calls_lists_the_commands_with_pages() {
    let page = std::fs::read_to_string(repository().join("docs/cli.md")).unwrap();
    let paragraph =
        page.split("\n\n").find(|text| text.starts_with("These commands print their text, or a word,")).unwrap();
    let listed: std::collections::BTreeSet<&str> = paragraph.split('`').skip(1).step_by(2).collect();
    let wanted: std::collections::BTreeSet<&str> =
        PAGES.iter().copied().chain(["--json", "--active-cap", "--active"]).collect();
    assert_eq!(listed, wanted);
}

#[test]
fn every_command_has_a_test() {
    let folder = repository().join("tests/suite");
    let mut tests = String::new();
    for file in walkdir(&folder) {
        tests.push_str(&std::fs::read_to_string(file).unwrap());
        tests.push('\n');
    }
    let untested: Vec<&String> = schemas()
        .keys()
        .filter(|path| {
            let apart = format!("\"{}\"", path.replace(' ', "\", \""));
            let together = format!("\"{path}");
            let dotted = format!("\"{}\"", path.replacen(' ', ".", 1));
            ![apart, together, dotted].iter().any(|call| tests.contains(call.as_str()))
        })
        .collect();
    assert_eq!(untested, Vec::<&String>::new(), "commands that no test of the suite calls");
}

fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walkdir(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
