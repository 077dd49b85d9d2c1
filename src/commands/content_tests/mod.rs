//! The calls in the library's texts: the program accepts each of them, and answers each read-only call on a project as
//! the texts expect.
//!
//! Each writing call does its work in a copy of the project under git (`rehearsal`). Each field that a workflow reads
//! is in the schema of an answer it asks for, each heading it waits for is in the `returns` of an agent, each text is
//! used, and no host is named (`contracts`; a test seeds one slip of each kind). Each section and key that a form asks
//! for has a reader (`graph`; `readers.txt` names it), and `measures` counts instructions, open tables, clashing
//! numbers and copies. `tests/roster.txt` lists what the compatible library has; what is not here by that name has a
//! row in `docs/differences.md`.

#![allow(clippy::disallowed_methods, reason = "tests prepare a tree by hand")]

mod artifacts;
mod calls;
mod contracts;
mod graph;
mod measures;
mod pages;
mod project;
mod prompts;
mod reach;
mod rehearsal;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use calls::{ContentCall, ContentWord, calls_of};
use project::project;

use super::families::{CATALOG, answer, read};
use super::install;
use crate::acts::listing::Effect;
use crate::failure::Failure;
use crate::frame::argv::Wants;
use crate::frame::error::Manner;
use crate::frame::{tree, usage};
use crate::library::Library;
use crate::operations::capability;
use crate::peer::contract::ExitContract;
use crate::project::config::key_names;
use crate::world::World;

const PHASE: &str = ".planning/phases/02-core";

/// The values of placeholders in the project of these tests.
const SAMPLES: &[(&str, &str)] = &[
    ("<point>", "plan:pre"),
    ("<name>", "left-pad"),
    ("{M}", "3"),
    ("{arguments}", "2 --codex"),
    ("{N}", "2"),
    ("{NN}", "02"),
    (
        "{check.predicate as JSON, in single quotes}",
        r#"{"kind": "artifact-frontmatter-equals", "artifact": "SECURITY.md", "field": "threats_open", "equals": 0}"#,
    ),
    ("{phase_dir}", PHASE),
    ("{SUMMARY}", "{dir}/02-01-SUMMARY.md"),
    ("{report}", "{dir}/02-VERIFICATION.md"),
    ("{provider}", "context7"),
    ("{title}", "Notes on two machines"),
    ("{story}", "As a writer, I want to find a note, so that I can go on."),
    ("{covered}", "3"),
    ("{total}", "4"),
    ("{five words with commas}", "ok,ok,partial,missing,ok"),
    ("{dir}", PHASE),
    ("{current branch}", "main"),
    ("{every PLAN.md and SUMMARY.md of the phase}", "{dir}/02-01-PLAN.md"),
    ("{every source and test file your verdict rests on, each in single quotes}", "src/main.rs"),
    ("{file}", "{dir}/02-VERIFICATION.md"),
    ("{hashes given}", "HEAD"),
    ("{hashes}", "HEAD"),
    ("{hash}", "HEAD"),
    ("{integer part}", "2"),
    ("{phase}", "2"),
    ("{plan path}", "{dir}/02-01-PLAN.md"),
    ("{plan}", "{dir}/02-01-PLAN.md"),
    ("{PLANs, SUMMARYs, key files, each in single quotes}", "{dir}/02-01-PLAN.md"),
    ("{requirements of the plan}", "CORE-01"),
    ("{task_dir}", "{dir}"),
    ("{task}", "Fix the date"),
    ("{topic}", "quick"),
    ("{open plans}", "02-01"),
    ("{id}", "02-01"),
    ("{agent}", "gsd-planner"),
    ("{agent_hint}", "gsd-planner"),
    ("{area}", "api"),
    ("{key}", "workflow.research"),
    ("{value}", "true"),
    ("{condition}", "milestone_complete"),
    ("{JSON object}", "{\"planted\": true}"),
    ("{todo file}", "a.md"),
    ("{list}", "[]"),
    ("{handoff file}", ".planning/phases/02-core/.continue-here.md"),
    ("{scope}", "global"),
    ("{root}", "."),
    ("{used}", "90000"),
    ("{size}", "200000"),
    ("{letters, with commas}", "a,b,c,d,a,b,c,d"),
    ("{first four words}", "Ask the others first"),
    ("{idea}", "Share notes"),
    ("{text}", "Share notes with a team"),
    ("{title}", "Share notes"),
    ("{truth}", "The list shows all notes"),
    ("{bug in a few words}", "The list is empty"),
    ("{context_path}", "{dir}/02-CONTEXT.md"),
    ("{CONTEXT.md}", "{dir}/02-CONTEXT.md"),
    ("{fixed}", "{dir}/02-VERIFICATION.md"),
    ("{report}", "{dir}/02-VERIFICATION.md"),
    ("{reviewer}", "a-reviewer"),
    ("{verdict}", "MISSING"),
    ("{authority}", "grep"),
    ("{term}", "notes"),
    ("{path}", "src/main.rs"),
    ("{questions}", ".planning/tmp/questions.json"),
    ("{query}", "sqlite full text search"),
    ("{question key}", "1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441"),
    ("{provider}", "context7"),
    ("{confidence}", "MEDIUM"),
    ("{branch}", "main"),
    ("{base}", "main"),
    ("{after}", "2"),
    ("{name}", "web"),
];

/// Placeholders for values that the program makes or has checked: numbers, identifiers, names from a closed list, and
/// paths of planning documents.
const PLAIN: &[&str] = &[
    "{N}",
    "{NN}",
    "{M}",
    "{MM}",
    "{n}",
    "{passed}",
    "{issues}",
    "{passes}",
    "{plan_count}",
    "{integer part}",
    "{phase}",
    "{id}",
    "{ids, with commas}",
    "{open plans}",
    "{unclosed_plans}",
    "{the finished of side_by_side}",
    "{quick_id}",
    "{slug}",
    "{hashes}",
    "{hash}",
    "{ids of requirements a gap leaves unmet}",
    "{ids of requirements an issue leaves unmet}",
    "{agent}",
    "{verification status, or Done}",
    "<name>",
    "{tracking}",
    "{debug}",
    "{dir}",
    "{phase_dir}",
    "{task_dir}",
    "{research_dir}",
    "{planning}",
    "{directory}",
    "{plan}",
    "{plans}",
    "{changed plans}",
    "{every PLAN.md and SUMMARY.md of the phase}",
    "{SUMMARY}",
    "{spec}",
    "{report}",
    "{spikes}",
    "{sketches}",
    "{authority}",
    "{verdict}",
    "{overall_score}",
    "{covered}",
    "{total}",
    "{five words with commas}",
    "{CONTEXT}",
    "{file}",
    "{handoff file}",
    "{old debug paths}",
    "{PLAN}",
    "{RESEARCH}",
    "{context_path}",
    "{CONTEXT.md}",
    "{map}",
    "{report}",
    "{fixed}",
    "{reviews}",
    "{run}",
    "{reviewer}",
    "{budget}",
    "{verdict}",
    "{version}",
    "{outgoing}",
    "{after}",
    "{ids}",
    "{archive_dir}",
    "{pr}",
];

fn all_calls() -> Vec<ContentCall> {
    let library = Library::embedded().unwrap();
    let features = capability::all().iter().flat_map(|feature| {
        let texts = feature.hooks.iter().filter_map(|hook| hook.text.as_deref());
        texts.flat_map(|text| calls::calls_in(&feature.id, text))
    });
    library.items().flat_map(calls_of).chain(features).collect()
}

/// The texts about the program outside the library: pages for people, and texts in data tables. Each with its path.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open: Vec<_> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "hooks", "src"].map(|name| root.join(name)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "md" || ending == "toml") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(found.len() > 40, "{}", found.len());
    found
}

#[test]
fn the_program_accepts_every_call_in_a_text() {
    // The guide to adding a host installs one with an invented name.
    let host = crate::runtime::Registry::embedded().ids().next().unwrap().to_string();
    let in_document = |(path, text): (String, String)| calls::calls_in(&path, &text.replace("lantern", &host));
    let of_documents = documents().into_iter().flat_map(in_document);
    let faults = refused(all_calls().into_iter().chain(of_documents));
    assert!(faults.is_empty(), "correct the text, or the command:\n{}", faults.join("\n"));
}

/// The calls that the program does not accept, each with the reason.
fn refused(calls: impl Iterator<Item = ContentCall>) -> Vec<String> {
    calls.filter_map(|call| Some(format!("{call}\n    {}", fault(&call)?))).collect()
}

#[test]
fn every_command_that_a_text_names_is_installed() {
    let library = Library::embedded().unwrap();
    let items = library.items().map(|item| (item.path.clone(), item.body.clone()));
    let features = capability::all().iter().flat_map(|feature| {
        let texts = feature.hooks.iter().filter_map(|hook| hook.text.clone());
        texts.map(|text| (feature.id.clone(), text))
    });
    let mut faults = Vec::new();
    for (path, text) in items.chain(features).chain(documents()) {
        let unknown = calls::commands_named(&text).filter(|name| !library.has_command(name));
        faults.extend(unknown.map(|name| format!("{path}: {name}")));
    }
    // Invented names on pages that show a form.
    faults.retain(|fault| !fault.ends_with(": x") && !fault.ends_with(": this"));
    assert_eq!(faults, [""; 0], "these commands are not in the library");
}

/// Hosts ask the user about every command with a variable or a command substitution, even if it is allowed.
#[test]
fn no_call_in_a_text_needs_a_shell_to_fill_it_in() {
    let has_variable =
        |call: &ContentCall| call.words.iter().flat_map(ContentWord::placeholders).any(|name| name.starts_with('$'));
    let mut faults: Vec<String> =
        all_calls().iter().filter(|call| has_variable(call)).map(ContentCall::to_string).collect();
    for item in Library::embedded().unwrap().items() {
        let lines = calls::shell_lines(&item.body).filter(|line| line.contains("$("));
        faults.extend(lines.map(|line| format!("{}: {line}", item.path)));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A shell would interpret a value that is neither a number nor one of our names.
#[test]
fn every_value_from_others_is_in_single_quotes() {
    let mut faults = BTreeSet::new();
    for call in all_calls().iter().filter(|call| !call.path.starts_with("templates/guide/")) {
        faults.extend(unquoted(call));
    }
    let faults: Vec<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The values of a call that a shell would interpret.
fn unquoted(call: &ContentCall) -> impl Iterator<Item = String> {
    let bare = call.words.iter().flat_map(ContentWord::unquoted).filter(|name| !PLAIN.contains(name));
    bare.filter(|name| !name.contains("in single quotes")).map(move |name| format!("{name} in {call}"))
}

#[test]
fn every_git_commit_message_is_in_single_quotes() {
    let library = Library::embedded().unwrap();
    let lines = library.items().flat_map(|item| item.body.lines().map(|line| (item.path.as_str(), line)));
    let commits: Vec<_> = lines.filter(|(_, line)| line.contains("git commit -m")).collect();
    assert!(commits.len() >= 3, "{commits:?}");
    let faults: Vec<_> = commits.iter().filter(|(_, line)| !line.contains("git commit -m '")).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// A value with a quote in it would end the quoted word.
#[test]
fn a_text_with_quoted_values_says_how_a_quote_is_written() {
    // Its callers have read the rule; a help topic has no quote.
    const READ: &[&str] = &["workflows/transition.md", "workflows/help.md"];
    let mut faults = BTreeSet::new();
    for item in Library::embedded().unwrap().items() {
        // A step is read by a workflow.
        let is_read_first = !item.path.contains("/steps/") && !item.path.starts_with("templates/");
        let knows = item.body.contains(r"'\''") || item.body.contains("references/ui.md");
        let quotes = |call: &ContentCall| call.words.iter().any(ContentWord::has_quoted_value);
        if is_read_first && !knows && !READ.contains(&item.path.as_str()) && calls_of(item).iter().any(quotes) {
            faults.insert(item.path.clone());
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}

/// A run without a person stops at a question.
#[test]
fn the_calls_of_a_workflow_run_without_asking() {
    // The host's own mode decides about the actions of another program; a person types an approval, and also the
    // consent to write into the folder of all projects; a prompt is made for programs that the same workflow starts.
    // Removing worktrees and pushing come after a question in the workflow. A person spends with a run of `auto`, and
    // steers it: the question of the host is their consent.
    const ASKED: &[&str] = &[
        "run-with-timeout",
        "gate approve",
        "learnings copy",
        "prompt-budget",
        "worktree reap-orphans",
        "git pr-branch",
        "pr-subrepo",
        // Its program reads the code for the person who typed its flag.
        "review-lane dispatch-step",
        "auto run",
        "auto next",
        "auto dispatch",
        "auto watch",
        "auto pause",
        "auto stop",
        "auto steer",
        "auto capture",
        "auto answer",
        "auto discuss",
        "auto land",
        "auto abandon",
    ];
    // Commands that change the installation, go online, remove plans or read the user's sessions: a person has just
    // asked for them.
    const WANTED: &[&str] = &[
        "install",
        "update",
        "restore-custom-files",
        "effort sync",
        "phase remove",
        "plan undo",
        "phases clear",
        "scan-sessions",
        "workstream complete",
        "capability disable",
        "capability enable",
        "capability set",
        "profile-sample",
        "write-profile",
        "generate-dev-preferences",
        "generate-claude-profile",
    ];
    let mut faults = Vec::new();
    for call in all_calls().into_iter().filter(|call| !call.path.starts_with("templates/guide/")) {
        let words = call.words.iter().map(|word| word.with(|_| "1".to_owned()));
        let Ok(parsed) = read(words.map(OsString::from).collect()) else { continue };
        let Ok(row) = usage::family_of(CATALOG, &parsed) else { continue };
        let tree = tree(row);
        let path = usage::leaf(&tree, &parsed.words).path;
        if row.verb(&path).is_some_and(|verb| !verb.runs_unasked())
            && !ASKED.iter().chain(WANTED).any(|asked| *asked == path)
        {
            faults.push(call.to_string());
        }
    }
    assert!(faults.is_empty(), "let them run, or leave them out of the text:\n{}", faults.join("\n"));
}

/// The program's objection to a call, whatever the values of its placeholders.
fn fault(call: &ContentCall) -> Option<String> {
    // Some values are checked as they are read.
    let value = |name: &str| sample(name).unwrap_or("1".to_owned());
    let mut parsed = match read(call.words.iter().map(|word| word.with(value).into()).collect()) {
        Ok(parsed) => parsed,
        Err(error) => return Some(told(&error)),
    };
    // The calls of hosts are handled before any command.
    if parsed.wants != Wants::Work || parsed.words.first().is_some_and(|word| word == "hook") {
        return None;
    }
    let nowhere = World::with([("HOME", "/nowhere")], Path::new("/nowhere"));
    parsed.words =
        match install::spelled(parsed.words, &nowhere, &OnceCell::new(), |word| CATALOG.family(word).is_some()) {
            Ok(words) => words,
            Err(error) => return Some(told(&error)),
        };
    let row = match usage::family_of(CATALOG, &parsed) {
        Ok(row) => row,
        Err(error) => return Some(told(&error)),
    };
    if let Err(error) = usage::lift_of_writers(row, &tree(row), &mut parsed) {
        return Some(told(&error));
    }
    let tree = tree(row);
    let leaf = usage::leaf(&tree, &parsed.words);
    if leaf.command.has_subcommands() {
        // If a placeholder is in place of the subcommand, the program checks its value.
        let names_one = call.words.get(1).is_none_or(|word| word.plain().is_some());
        if !names_one {
            return None;
        }
    } else if leaf.path.split(' ').count() == parsed.words.len() {
        // Only the name of a command: it is mentioned, not called.
        return None;
    }
    match usage::read(row, &parsed.words) {
        Ok(_) => unknown_key(call),
        Err(error) => Some(told(&error)),
    }
}

fn told(error: &Failure) -> String {
    error.render(Manner::default())
}

/// The fault of a call with an unknown configuration key.
fn unknown_key(call: &ContentCall) -> Option<String> {
    let words: Option<Vec<String>> = call.words.iter().take(2).map(ContentWord::plain).collect();
    let [command, key] = words?.try_into().ok()?;
    let is_placeholder = key == key.to_uppercase();
    if !matches!(command.as_str(), "config-get" | "config-set") || is_placeholder {
        return None;
    }
    let known = key_names().iter().any(|name| {
        // `agent_skills.*` accepts any name instead of the star.
        let open = name.strip_suffix('*').is_some_and(|stem| key.starts_with(stem));
        *name == key || open || name.starts_with(&format!("{key}."))
    });
    (!known).then(|| format!("no key of the configuration is called `{key}`"))
}

/// A call that reads is answered on a project, and has the field that the text picks.
#[test]
fn every_reading_call_in_a_text_is_answered() {
    let project = project();
    let mut faults = Vec::new();
    // The guide writes its placeholders in capitals.
    for call in all_calls().into_iter().filter(|call| !call.path.starts_with("templates/guide/")) {
        if let Some(fault) = unanswered(&call, project.path()) {
            faults.push(format!("{call}\n    {fault}"));
        }
    }
    assert!(faults.is_empty(), "correct the text, the samples, or the command:\n{}", faults.join("\n"));
}

/// These commands need what the sample project lacks: a workspace, a workstream, a repository.
const ELSEWHERE: &[&str] =
    &["init remove-workspace", "workstream status", "git uncommitted", "auto status", "auto report", "auto diff"];

fn unanswered(call: &ContentCall, folder: &Path) -> Option<String> {
    let words = call.words.iter().map(|word| word.with(|name| sample(name).unwrap_or(name.to_owned())));
    let parsed = read(words.map(OsString::from).collect()).ok()?;
    let row = usage::family_of(CATALOG, &parsed).ok()?;
    let tree = tree(row);
    let leaf = usage::leaf(&tree, &parsed.words);
    let effect = row.verb(&leaf.path)?.effect;
    // This test has no sessions of a host.
    if leaf.path == "scan-sessions" {
        return None;
    }
    let is_mention = parsed.words.len() == leaf.path.split(' ').count() && needs_words(leaf.command);
    if effect != Effect::Reads || is_mention || ELSEWHERE.contains(&leaf.path.as_str()) {
        return None;
    }
    if let Some(name) = call.words.iter().flat_map(ContentWord::placeholders).find(|name| sample(name).is_none()) {
        return Some(format!("no sample for {name}"));
    }
    // Without other programs, no server is contacted.
    let world = World::with([("HOME", "/dev/null"), ("PATH", "/nowhere")], folder);
    let answer = answer(parsed, ExitContract::V1, world);
    match answer.outcome {
        Err(error) => Some(told(&error)),
        Ok(0) => {
            let payload: Option<serde_json::Value> = serde_json::from_str(&answer.stdout).ok();
            payload.and_then(|payload| Some(payload.get("error")?.to_string()))
        }
        Ok(code) => Some(format!("exit {code}")),
    }
}

fn sample(name: &str) -> Option<String> {
    // Any two hosts will do.
    if let Some(place) = ["{host}", "{from}", "{to}"].iter().position(|known| *known == name) {
        return crate::runtime::Registry::embedded().ids().nth(place / 2).map(ToString::to_string);
    }
    let (_, sample) = SAMPLES.iter().find(|(known, _)| *known == name)?;
    Some(sample.replace("{dir}", PHASE))
}

/// Whether a call without any argument is only a mention of the command.
fn needs_words(command: &clap::Command) -> bool {
    command.get_positionals().next().is_some()
}
