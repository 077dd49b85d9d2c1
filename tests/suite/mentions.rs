//! Commands that an answer, an error or a warning recommends exist: each `gsd-tools` verb is one of the program, and
//! each command of a host, in any spelling, is one that is installed.
//!
//! Every call that a test of the suite makes goes through [`hold`].

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;

use crate::kit::{Ran, repository, verbs};

/// Asserts that the output of a call names only verbs and commands that exist.
pub(crate) fn hold(arguments: &[String], ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let wrong = wrong(text);
        assert!(wrong.is_empty(), "`gsd-tools {}` names what is not there: {wrong:?}\nin {text}", arguments.join(" "));
    }
}

/// The verbs and commands in a text that do not exist.
pub(crate) fn wrong(text: &str) -> Vec<String> {
    static COMMAND: OnceLock<Regex> = OnceLock::new();
    static VERB: OnceLock<Regex> = OnceLock::new();
    // The line that ends our block in a file of instructions.
    let text = &text.replace("<!-- /gsd-tools -->", "");
    // Not inside a path, an address, a pattern or another word.
    let command = COMMAND.get_or_init(|| Regex::new(r"(?:^|[^\w./~})>$:*-])([/$]gsd[-:]([a-z][a-z0-9-]*))").unwrap());
    // At the beginning of code, or after a word such as `run`.
    let verb = VERB.get_or_init(|| {
        Regex::new(
            r"(?:`|Usage: |usage: |[Rr]un |with: )gsd-tools(?: query)? ([a-z][a-z0-9.-]*)((?: [a-z][a-z0-9-]*)*)",
        )
        .unwrap()
    });
    let commands = command.captures_iter(text).filter(|found| !commands().contains(found[2].trim_end_matches('-')));
    let mut wrong: Vec<String> = commands.map(|found| found[1].to_owned()).collect();
    wrong.extend(verb.captures_iter(text).filter_map(|found| {
        let words = format!("{} {}", found[1].replace('.', " "), found[2].trim());
        (!names_a_verb(&words.split_whitespace().collect::<Vec<_>>())).then(|| format!("gsd-tools {}", words.trim()))
    }));
    wrong
}

fn is_listed(words: &str) -> bool {
    verbs().iter().any(|(verb, _)| verb == words)
}

/// True if the words begin with a verb, or are the name of a family of verbs.
fn names_a_verb(words: &[&str]) -> bool {
    let is_verb = |count: usize| is_listed(&words[..count].join(" "));
    let is_family = |words: &[&str]| verbs().iter().any(|(verb, _)| verb.starts_with(&format!("{} ", words.join(" "))));
    // Help has topics: the words of verbs, and one topic without a verb.
    if let [word @ "help", topic @ ..] = words {
        return topic.is_empty() || topic == ["exit-codes"] || names_a_verb(topic) && *word == "help";
    }
    // The name of a family must be followed by one of its verbs. Hosts call `hook`.
    let first = if is_family(&words[..1]) { 2 } else { 1 };
    (first..=words.len().min(3)).any(is_verb) || is_family(words) || matches!(words, ["hook" | "version"])
}

/// The commands that an install writes.
fn commands() -> &'static BTreeSet<String> {
    static COMMANDS: OnceLock<BTreeSet<String>> = OnceLock::new();
    // `generate-dev-preferences` writes a command that belongs to the person.
    let written = std::iter::once("dev-preferences".to_owned());
    COMMANDS.get_or_init(|| names(&repository().join("commands")).chain(written).collect())
}

fn names(folder: &std::path::Path) -> impl Iterator<Item = String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
}

#[test]
fn a_missing_verb_or_command_is_noticed() {
    for text in [
        "run `/gsd-plan-phase 2`, or $gsd-quick",
        "/gsd:progress --next",
        "~/.x/skills/gsd-none/SKILL.md and /home/u/gsd-none https://x.y/gsd-none",
        "`gsd-tools state update Status x`, `gsd-tools state`, `gsd-tools query state.json`, gsd-tools are tools",
        "hint: `gsd-tools capability trust list`",
    ] {
        assert_eq!(wrong(text), [""; 0], "{text}");
    }
    for (text, name) in [
        ("then `/gsd-none`", "/gsd-none"),
        ("(/gsd:none 2)", "/gsd:none"),
        ("\"next_command\": \"$gsd-none\"", "$gsd-none"),
        ("run `gsd-tools none`", "gsd-tools none"),
        ("Usage: gsd-tools state none <x>", "gsd-tools state none"),
        ("Run gsd-tools intel renew or", "gsd-tools intel renew or"),
    ] {
        assert_eq!(wrong(text).join(""), name, "{text}");
    }
}
