//! Forty faults that agents leave in code they call done, and the words with which the verifier or the reviewer looks
//! for each: a text that loses its last check for a fault fails here. Also what no text of the library may do: order
//! whole documents of a project, or use a vague word.

use std::path::Path;

use crate::kit::repository;

/// A fault; what the verifier looks for; what the reviewer looks for.
const FAULTS: &[(&str, &[&str], &[&str])] = &[
    ("a hollow test", &["asserts the behaviour", "whose removal turns it red"], &["a test that proves nothing"]),
    ("a test of a mock", &["not just that something was called"], &[]),
    ("an expected value from the code under test", &["does not compute its expectation with the code under test"], &[]),
    ("a skipped test", &["not skipped or filtered out"], &["disabled tests"]),
    (
        "a weakened or deleted test",
        &["a test deleted, skipped, weakened"],
        &["`changed tests`", "test or assertion has a successor"],
    ),
    ("a test outside of the normal run", &["not skipped or filtered out"], &[]),
    ("code that knows the test", &["a branch that knows the test's input"], &["a branch only for it"]),
    ("a stub with a TODO", &["TODO, HACK, placeholder text", "real logic, no stub"], &["TODO, FIXME"]),
    ("a hard-coded answer", &["A hard-coded empty value, a static response"], &[]),
    ("sample data on a live path", &["come from a real source"], &[]),
    ("a swallowed error", &["swallowed errors"], &["an error path that swallows"]),
    ("success reported after a failure", &["success reported after a failure"], &["swallows or misreports"]),
    ("a route or handler that nothing reaches", &["reachable from an entry point"], &["dead or unreachable code"]),
    ("a component that is never shown", &["imported and used", "the value is rendered"], &[]),
    ("a job or event that never comes", &["job or event to its consumer"], &[]),
    ("an answer that is ignored", &["call and use of the answer"], &["ignored return values"]),
    ("a form that only prevents the default", &["submit does more than prevent the default"], &[]),
    ("written and never read back", &["a value written and never read back"], &[]),
    ("a setting that nothing reads", &["a setting or flag that nothing reads"], &[]),
    ("a default that hides a missing setting", &["whose default hides that it is missing"], &[]),
    ("no way in", &["that is off by default", "no link or data that leads in"], &[]),
    ("the old way still called", &["the old way still called"], &[]),
    ("a migration missing or not applied", &["a migration missing, not applied"], &[]),
    ("a migration blind to old rows", &["blind to old rows"], &["a schema change that old rows do not survive"]),
    ("missing authorisation", &["the control at `path:line` on every way in"], &["missing authorisation"]),
    ("a check in the client only", &["a check made in the client only"], &["one checked in the client only"]),
    ("unchecked input", &[], &["injection", "an unchecked input or null at a border"]),
    ("a secret in code or log", &["Each of `keys`"], &["secret in the code", "Each of `keys` is critical"]),
    ("a race", &[], &["race with a consequence"]),
    ("a query for each row", &[], &["a query or call for each row of a list without bound"]),
    ("a leak, or a call without end", &[], &["a resource not released, a call without time limit"]),
    ("empty, null, boundary", &[], &["an edge case not handled"]),
    (
        "an earlier phase that is broken",
        &["regressions named"],
        &["old code counts where the change relies on it or breaks it"],
    ),
    ("one thing under two names", &["plan to plan (one name for one thing)"], &[]),
    ("thinner than decided", &["delivers less than it says"], &["a promise of the plan that the code breaks"]),
    ("a decision that the code contradicts", &["The code contradicts it or delivers less than it says: a gap"], &[]),
    ("an invented package", &[], &["a package, call or option that does not exist"]),
    ("an invented call", &[], &["a package, call or option that does not exist"]),
    ("a change that nobody reported", &["`unreported`, which no SUMMARY names"], &[]),
    ("set-up that does not run", &["set-up or documented commands that do not run"], &[]),
];

/// The fault with this number, counted from 1.
pub(crate) fn row(number: usize) -> &'static str {
    FAULTS[number - 1].0
}

/// The words with which the verifier and the reviewer look for a fault.
pub(crate) fn checks_of(fault: &str) -> (&'static [&'static str], &'static [&'static str]) {
    let row = FAULTS.iter().find(|(name, ..)| *name == fault);
    let (_, by_verifier, by_reviewer) = row.unwrap_or_else(|| panic!("the table has no row `{fault}`"));
    (by_verifier, by_reviewer)
}

/// How many of the faults have a check in the texts that are always read.
const CHECKED: usize = 38;

fn text(path: &str) -> String {
    let text = std::fs::read_to_string(repository().join(path)).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_fault_has_a_check_that_is_always_read() {
    assert_eq!(FAULTS.len(), 40);
    let (verifier, reviewer) = (text("agents/verifier.md"), text("agents/code-reviewer.md"));
    let finds = |text: &str, words: &[&str]| words.iter().any(|words| text.contains(words));
    let unchecked: Vec<&str> = FAULTS
        .iter()
        .filter(|(_, by_verifier, by_reviewer)| !finds(&verifier, by_verifier) && !finds(&reviewer, by_reviewer))
        .map(|(fault, ..)| *fault)
        .collect();
    assert!(FAULTS.len() - unchecked.len() >= CHECKED, "no check of: {unchecked:?}");
    // A phrase that is in neither text checks nothing: the table must match the texts.
    let gone: Vec<&str> = FAULTS
        .iter()
        .flat_map(|(_, by_verifier, by_reviewer)| {
            let gone_of = |text: &'static str, words: &'static [&'static str]| (text, words);
            [gone_of("verifier", by_verifier), gone_of("reviewer", by_reviewer)]
        })
        .flat_map(|(who, words)| words.iter().map(move |words| (who, *words)))
        .filter(|(who, words)| !if *who == "verifier" { &verifier } else { &reviewer }.contains(words))
        .map(|(_, words)| words)
        .collect();
    assert_eq!(gone, Vec::<&str>::new(), "phrases of the table that the texts have no more");
}

/// The Markdown files below some folders of the library, with their texts.
fn texts(folders: &[&str]) -> Vec<(String, String)> {
    fn below(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(repository()).unwrap().to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        below(&repository().join(folder), &mut found);
    }
    found.sort();
    found
}

/// Words that a model can read two ways, or cannot measure, and the plain ones.
const ODD: &[(&str, &str)] = &[
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("anew", "again"),
    ("in doubt", "name the cases"),
    ("falls away", "is left out"),
    ("but for", "except"),
    ("of the prompt", "in the prompt"),
    ("half of your window", "a count of lines or tokens"),
    ("minutes of agent work", "files and tokens"),
];

#[test]
fn texts_that_models_read_have_no_odd_word() {
    let mut found = Vec::new();
    for (file, text) in texts(&["agents", "workflows", "references", "templates"]) {
        // The voice tests check pages that people read.
        if file.starts_with("templates/guide") || file.starts_with("templates/demo") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for (odd, plain) in ODD {
                let is_word = |at: usize| {
                    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
                    !is_letter(line[..at].chars().next_back()) && !is_letter(line[at + odd.len()..].chars().next())
                };
                if line.match_indices(odd).any(|(at, _)| is_word(at)) {
                    found.push(format!("{file}:{}: `{odd}`, say `{plain}`", number + 1));
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

/// The agents whose subject is a whole document of the project: they write it, or turn it into phases.
const MAKERS: &[&str] = &[
    "gsd-doc-synthesizer",
    "gsd-roadmapper",
    "gsd-project-researcher",
    "gsd-research-synthesizer",
    "gsd-doc-writer",
    "gsd-doc-verifier",
];

/// The whole documents of a project, as texts name them.
const WHOLE: &[&str] = &[
    "{roadmap_path}",
    "{requirements_path}",
    "{state_path}",
    "{project_path}",
    "PROJECT.md",
    "ROADMAP.md",
    "REQUIREMENTS.md",
    "STATE.md",
];

#[test]
fn no_agent_is_sent_whole_documents_of_the_project() {
    let mut found = Vec::new();
    let mut prompts = 0;
    for (file, text) in texts(&["workflows"]) {
        for (at, _) in text.match_indices("Task(subagent_type=\"") {
            let call = &text[at..];
            let agent = call["Task(subagent_type=\"".len()..].split('"').next().unwrap();
            let prompt = &call[..call.find("```").unwrap_or(call.len())];
            prompts += 1;
            // An idea that is being explored has no phase yet.
            if MAKERS.contains(&agent) || file == "workflows/explore.md" {
                continue;
            }
            let whole = WHOLE.iter().filter(|name| prompt.contains(**name));
            found.extend(whole.map(|name| format!("{file}: {agent} is sent `{name}`")));
        }
    }
    assert!(prompts > 20, "{prompts} prompts");
    for (file, text) in texts(&["templates"]).into_iter().filter(|(file, _)| file.ends_with("plan.md")) {
        let whole = text.lines().filter(|line| line.starts_with("@.planning/"));
        found.extend(whole.map(|line| format!("{file}: the context of a plan begins with `{line}`")));
    }
    assert_eq!(found, Vec::<String>::new(), "`gsd-tools roadmap get-phase` answers what a phase needs of them");
}
