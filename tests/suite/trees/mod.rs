//! Generated trees of planning documents: archived or not, numbers restarted or not, folders missing, documents
//! truncated, in conflict or empty, in many forms and scripts. The answers of verbs are compared with the truth.
//!
//! The gate draws as many of the first trees as it has time for; `GSD_TREES=2000` draws that many, `GSD_TREES_SEED`
//! begins at another one, or repeats it.

mod model;
mod oracle;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::TestContext;
use crate::tree::{difference, stamps, tree};
use model::Model;
use oracle::{Answers, Truth};

/// How long a sample starts new trees.
const SAMPLE: Duration = Duration::from_secs(25);

/// The verbs that report how far the milestone is.
const ASKED: &[&str] = &[
    "progress json",
    "stats json",
    "roadmap analyze",
    "state json",
    "init progress",
    "init manager",
    "smart-entry --json",
    "auto status --json",
];

fn ask(context: &TestContext, call: &str, stdin: &str) -> String {
    let words: Vec<&str> = call.split(' ').filter(|word| !word.is_empty()).collect();
    context.gsd_with(&words, &[("NO_COLOR", "1"), ("GSD_TEST_MODE", "1")], stdin).stdout
}

fn answers(context: &TestContext) -> Answers {
    let mut said: Vec<(&str, Value)> = ASKED
        .iter()
        .map(|call| (*call, serde_json::from_str(&ask(context, call, "")).unwrap_or(Value::Null)))
        .collect();
    for (name, call) in [("dashboard", ""), ("smart-entry", "smart-entry")] {
        let page = context.at_a_terminal_of(120, call, &[("NO_COLOR", "1")], "").stdout;
        said.push((name, String::from_utf8_lossy(&page).into_owned().into()));
    }
    let event = |name: &str| {
        serde_json::json!({ "session_id": "s", "hook_event_name": name, "source": "startup", "cwd": context.project(),
            "workspace": { "current_dir": context.project(), "project_dir": context.project() } })
        .to_string()
    };
    for (name, call, event) in [
        ("status line", "hook standard status-line", event("Status")),
        ("session start", "hook standard session-start", event("SessionStart")),
    ] {
        said.push((name, ask(context, call, &event).into()));
    }
    Answers(said)
}

/// Reports two views that name different next commands.
fn two_commands(answers: &Answers) -> Option<String> {
    let shown = |call: &str| answers.page(call).lines().find_map(|line| line.strip_prefix("Next")).map(str::trim);
    let told = |call: &str| answers.of(call).pointer("/next/command").and_then(Value::as_str);
    let views = ["smart-entry"].map(|call| (call, shown(call)));
    let answered = ["smart-entry --json", "state json", "init progress"].map(|call| (call, told(call)));
    let step =
        ("auto status --json", answers.of("auto status --json").pointer("/step/command").and_then(Value::as_str));
    let dashboard = shown("dashboard");
    let (line, start) = (answers.page("status line"), answers.page("session start"));
    let named = |command: &str| line.contains(&format!("→ {command} ")) && start.contains(command);
    let other = views.into_iter().chain(answered).chain([step]).find(|(_, command)| *command != dashboard);
    match other {
        Some((call, command)) => Some(format!("dashboard: next {dashboard:?}, {call}: {command:?}")),
        None if !dashboard.is_some_and(named) => Some(format!("next {dashboard:?}: {line:?}, {start:?}")),
        None => None,
    }
}

/// The faults in the answers about one tree.
fn wrong(model: &Model) -> Vec<String> {
    let context = TestContext::new();
    for (path, text) in &model.files {
        context.write(path, text);
    }
    let truth = Truth::of(model);
    let before = stamps(&context.project());
    let answers = answers(&context);
    let mut wrong = Vec::new();
    if stamps(&context.project()) != before {
        wrong.push("a verb that reads has written".to_owned());
    }
    if model.damage.is_none() {
        wrong.extend(oracle::disagreements(&truth, &answers));
    }
    wrong.extend(oracle::calls_complete(&truth, &answers));
    wrong.extend(two_commands(&answers));
    wrong.extend(closes(&context, model, &truth));
    if !wrong.is_empty() && std::env::var_os("GSD_TREES_KEEP").is_some() {
        let damage = model.damage;
        wrong.push(format!(
            "{:?} {:?} {damage:?} kept in {}",
            model.milestones,
            model.listing,
            context.keep().display()
        ));
    }
    wrong
}

/// The faults of verbs that close open work.
fn closes(context: &TestContext, model: &Model, truth: &Truth) -> Vec<String> {
    let mut wrong = Vec::new();
    let before = tree(&context.project());
    for phase in model.phases.iter().filter(|phase| phase.stage < model::Stage::Verified) {
        if context.gsd(["phase", "complete", &phase.id]).code == 0 {
            wrong.push(format!("phase complete {} closes what is {:?}", phase.id, phase.stage));
        }
    }
    let has_open_folder =
        |phase: &model::Phase| phase.stage < model::Stage::Verified && phase.has_folder && !phase.is_put_away;
    if model.phases.iter().any(has_open_folder) && context.gsd(["phases", "clear", "--confirm"]).code == 0 {
        wrong.push("phases clear archives what is open".to_owned());
    }
    let complete = |context: &TestContext| context.gsd(["milestone", "complete", &model.version, "--confirm"]);
    if !truth.open.is_empty() {
        if complete(context).code == 0 {
            wrong.push(format!("milestone complete closes {:?}", truth.open));
        } else if wrong.is_empty() {
            let written = difference(&before, &tree(&context.project()));
            wrong.extend(written.first().map(|line| format!("a refused verb has written: {line}")));
        }
        return wrong;
    }
    let ran = complete(context);
    if model.damage.is_none()
        && model.has_roadmap
        && model.phases.iter().all(|phase| phase.has_folder && !phase.is_put_away)
        && ran.code != 0
    {
        wrong.push(format!("milestone complete refuses: {}{}", ran.stdout, ran.stderr));
    }
    wrong
}

/// For each kind of damage: how many trees were drawn, and how many had a wrong answer.
type Table = BTreeMap<String, (u64, u64)>;

/// Checks the trees of these seeds: `seeds` returns the seed for a number, or `None` when enough are drawn.
fn check(seeds: impl Fn(u64) -> Option<u64> + Sync) -> (Table, Vec<String>) {
    let (next, failed, table) = (AtomicU64::new(0), Mutex::new(Vec::new()), Mutex::new(Table::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = seeds(next.fetch_add(1, Ordering::Relaxed)) {
                    let model = Model::draw(seed);
                    let wrong = wrong(&model);
                    let kind = model.damage.map_or_else(|| "whole".to_owned(), |damage| format!("{damage:?}"));
                    let mut table = table.lock().unwrap();
                    let row = table.entry(kind).or_default();
                    *row = (row.0 + 1, row.1 + u64::from(!wrong.is_empty()));
                    if !wrong.is_empty() {
                        failed.lock().unwrap().push(format!("GSD_TREES_SEED={seed}:\n  {}", wrong.join("\n  ")));
                    }
                }
            });
        }
    });
    (table.into_inner().unwrap(), failed.into_inner().unwrap())
}

#[test]
fn answers_about_a_tree_are_true() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let first = number("GSD_TREES_SEED").unwrap_or(1);
    let (many, one) = (number("GSD_TREES"), number("GSD_TREES_SEED"));
    let begun = Instant::now();
    let (table, failed) = check(|index| {
        let goes_on = match (many, one) {
            (Some(many), _) => index < many,
            (None, Some(_)) => index < 1,
            (None, None) => begun.elapsed() < SAMPLE,
        };
        goes_on.then(|| first + index)
    });
    let drawn: u64 = table.values().map(|(drawn, _)| drawn).sum();
    for (kind, (drawn, wrong)) in &table {
        println!("| {kind} | {drawn} | {wrong} |");
    }
    println!("{drawn} trees from seed {first}, {} with a wrong answer", failed.len());
    assert!(drawn > 0 && failed.is_empty(), "{} of {drawn} trees:\n{}", failed.len(), failed.join("\n"));
}
