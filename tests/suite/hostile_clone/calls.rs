//! The calls made in a hostile clone: every verb of the program, and every event of every dialect of the hooks.
//!
//! The verbs are those that the program lists. Their calls are the examples of the help and those that other tests
//! make: a verb without a call fails the test.

use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::kit::{repository, verbs};

/// One call of the program.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The verb as the program lists it, or `hook`.
    pub(super) verb: String,
    /// Everything after the program's name.
    pub(super) words: Vec<String>,
    pub(super) input: String,
}

/// Calls that no help shows: for verbs whose example calls another verb, and calls that a clone would like a user to
/// make.
const ALSO: &[&str] = &[
    "capability install ui",
    // A person may want what the clone brings; it is recorded for them only.
    "capability install .planning/capabilities/evil --scope project --yes",
    "capability remove ui",
    "capability update ui",
    "capability trust revoke ui",
    "generate-claude-md --output CLAUDE.md --force",
    "generate-claude-md --output .claude/CLAUDE.md --force",
    "hooks bench --json",
    "install --claude --local",
    "install --codex --gemini --opencode --local",
    "loop enter execute:pre 2",
    "scaffold context --phase 2",
    "skill-manifest --skills-dir .claude/skills",
    "status --claude --local",
    "uninstall --claude --local",
    "validate health",
    "workstream complete api",
];

/// Paths in examples that differ from those of the fixture.
const PLACES: &[(&str, &str)] = &[
    (".planning/phases/01-foundation", ".planning/phases/01-base"),
    (".planning/phases/01-a/", ".planning/phases/01-base/"),
    ("~/.config/host", "host"),
    // Each host is written like the others.
    ("--all", "--claude"),
];

/// Every sample call, each once, in the order of the verbs.
pub(super) fn of_verbs() -> Vec<Call> {
    let mut lines: Vec<Vec<String>> = examples();
    lines.extend(ALSO.iter().map(|line| words(line)));
    let owned = |call: Vec<&str>| call.into_iter().map(str::to_owned).collect();
    lines.extend(crate::acts::sample_calls().chain(crate::bytes::sample_calls()).map(owned));
    let mut calls: Vec<Call> = Vec::new();
    for line in lines {
        let words: Vec<String> = line.iter().map(|word| in_place(word)).collect();
        let verb = verb_of(&words).unwrap_or_else(|| panic!("`{}` is no verb", words.join(" ")));
        if calls.iter().all(|call| call.words != words) {
            calls.push(Call { verb, words, input: String::new() });
        }
    }
    let without: Vec<&str> = verbs()
        .iter()
        .map(|(verb, _)| verb.as_str())
        .filter(|verb| calls.iter().all(|call| call.verb != *verb))
        .collect();
    assert_eq!(without, [""; 0], "verbs that nothing calls: give them an example of their own");
    calls.sort_by(|one, other| one.verb.cmp(&other.verb));
    calls
}

/// One call of each verb.
pub(super) fn one_of_each_verb() -> Vec<Call> {
    let mut calls = of_verbs();
    calls.dedup_by(|later, earlier| later.verb == earlier.verb);
    calls
}

fn in_place(word: &str) -> String {
    let word = PLACES.iter().fold(word.to_owned(), |word, (from, to)| word.replace(from, to));
    if word == "02-01-PLAN.md" { format!(".planning/phases/02-core/{word}") } else { word }
}

fn verb_of(words: &[String]) -> Option<String> {
    let path = |count: usize| words[..count.min(words.len())].join(" ");
    (1..=3).rev().map(path).find(|path| verbs().iter().any(|(verb, _)| verb == path))
}

/// The example of each help, taken from the doc comment of the command.
fn examples() -> Vec<Vec<String>> {
    let line = Regex::new(r"/// Example: `gsd-tools ([^`>]*)").unwrap();
    let mut found = Vec::new();
    let files = |room: &str| walkdir::WalkDir::new(repository().join(room)).sort_by_file_name();
    for file in files("src/commands").into_iter().chain(files("src/peer")) {
        let file = file.unwrap();
        if file.path().extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(file.path()).unwrap();
            found.extend(line.captures_iter(&text).map(|example| words(&example[1])));
        }
    }
    found
}

/// The words of a command line, without quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match quote {
            Some(open) if open == letter => quote = None,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter == ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The values of one of the program's enumerations.
fn words_of(file: &str, begin: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join(file)).unwrap();
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{file} has no {begin}"));
    let body = rest.split("\n    }").next().unwrap();
    let word = Regex::new(r#"= "([a-z-]+)""#).unwrap();
    let words: Vec<String> = word.captures_iter(body).map(|row| row[1].to_owned()).collect();
    assert!(words.len() >= 8, "{file}: {words:?}");
    words
}

/// Every event of every dialect, in a session that works in `clone`; an event about tools with each of them.
pub(super) fn of_hooks(clone: &Path) -> Vec<Call> {
    let dialects = words_of("src/runtime/tables.rs", "pub(crate) enum Dialect {");
    hooks_of(&dialects, clone)
}

/// Every event of one dialect: the checks of the hooks do not depend on the dialect.
pub(super) fn of_hooks_in_brief(clone: &Path) -> Vec<Call> {
    hooks_of(&["standard".to_owned()], clone)
}

fn hooks_of(dialects: &[String], clone: &Path) -> Vec<Call> {
    let events = words_of("src/library/hooks.rs", "pub(crate) enum Event {");
    let mut calls = Vec::new();
    for dialect in dialects {
        for event in &events {
            let inputs = if event.ends_with("-tool") { tools(clone) } else { vec![json!({})] };
            for input in inputs {
                calls.push(Call {
                    verb: "hook".to_owned(),
                    words: vec!["hook".to_owned(), dialect.clone(), event.clone()],
                    input: payload(clone, &input).to_string(),
                });
            }
        }
    }
    calls
}

/// Tool calls that are about to run, or ran, in a clone: name and input.
fn tools(clone: &Path) -> Vec<Value> {
    let at = |path: &str| clone.join(path).to_string_lossy().into_owned();
    vec![
        json!({"name": "Bash", "input": {"command": "git pull && git commit -m x && cat notes.txt > .planning/STATE.md"}}),
        json!({"name": "Write", "input": {"file_path": at(".planning/STATE.md"), "content": "x\n"}}),
        json!({"name": "Edit", "input": {"file_path": at(".planning/ROADMAP.md"), "old_string": "a\nb", "new_string": "x"}}),
        json!({"name": "Read", "input": {"file_path": at(".planning/PROJECT.md")}}),
        json!({"name": "Task", "input": {"subagent_type": "gsd-executor", "prompt": "02-01"}}),
    ]
}

/// The event under the names of every dialect.
fn payload(clone: &Path, tool: &Value) -> Value {
    let (name, input) = (&tool["name"], &tool["input"]);
    let mut payload = json!({
        "session_id": "s1", "sessionId": "s1", "conversation_id": "s1", "taskId": "s1", "trajectory_id": "s1",
        "hook_event_name": "E", "cwd": clone, "workspace_roots": [clone], "workspaceRoots": [clone],
        "workspace": {"current_dir": clone}, "source": "startup", "model": {"display_name": "M"},
        "context_window": {"used_percentage": 97, "remaining_percentage": 3},
        "file_path": clone.join(".planning/config.json"),
    });
    if !name.is_null() {
        let more = json!({
            "tool_name": name, "toolName": name, "tool_input": input, "toolArgs": input.to_string(),
            "tool_info": input, "preToolUse": {"toolName": name, "parameters": input},
            "postToolUse": {"toolName": name, "parameters": input, "result": "done"},
            "tool_response": {"output": "done"}, "tool_output": "done",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
    payload
}
