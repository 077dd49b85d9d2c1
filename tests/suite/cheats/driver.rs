//! Runs a row: a project, a scripted agent instead of a client, and `gsd-tools auto run`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use serde_json::{Value, json};

use super::held_out;
use super::row::{Base, Doer, Expected, Layout, Row};
use crate::auto::{compile, git};
use crate::kit::{Ran, TestContext, binary};

/// The result of a run.
pub(super) struct Left {
    pub(super) code: i32,
    pub(super) stderr: String,
    /// The stop, as JSON.
    pub(super) stop: Value,
    pub(super) sessions: u64,
    /// What the log of the run shows.
    pub(super) log: String,
    /// The target branch, unless nothing landed.
    pub(super) landed: Option<Tree>,
    /// How a script of the row failed, which is a mistake in the row.
    pub(super) broken: Option<String>,
    /// The result of the true tests in a fresh clone of the target branch.
    pub(super) truth: Result<(), String>,
}

/// The content of a branch: each file outside the planning folder with its mode and digest, and the names of the
/// documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) work: BTreeMap<String, String>,
    pub(super) documents: BTreeSet<String>,
}

impl Tree {
    fn of_target(context: &TestContext, layout: Layout) -> Self {
        let (mut work, mut documents) = (BTreeMap::new(), BTreeSet::new());
        for line in git(context, &["ls-tree", "-r", "main"]).lines() {
            let (facts, path) = line.split_once('\t').unwrap();
            if path.strip_prefix(layout.folder()).is_some_and(|rest| rest.starts_with('/')) {
                documents.insert(path.to_owned());
            } else {
                work.insert(path.to_owned(), facts.to_owned());
            }
        }
        Self { work, documents }
    }

    /// The paths in which two trees differ.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.work.keys().chain(other.work.keys()).collect();
        let work = paths.into_iter().filter(|path| self.work.get(*path) != other.work.get(*path));
        work.chain(self.documents.symmetric_difference(&other.documents)).cloned().collect()
    }
}

/// What lands if every session is honest, for each base.
pub(super) fn honest(base: &Base) -> Result<Tree, String> {
    type Made = Arc<OnceLock<Result<Tree, String>>>;
    static MADE: LazyLock<Mutex<std::collections::HashMap<Base, Made>>> = LazyLock::new(Mutex::default);
    let made = Arc::clone(MADE.lock().unwrap().entry(base.clone()).or_default());
    made.get_or_init(|| {
        let left = run(base, None, false);
        let is_clean = !left.stderr.contains("does not count") && !left.stderr.contains("put back");
        match left.landed {
            Some(tree) if is_clean && left.truth.is_ok() => Ok(tree),
            _ => Err(format!(
                "honest sessions do not land in this project: {:#}\n{}\n{:?}",
                left.stop, left.stderr, left.truth
            )),
        }
    })
    .clone()
}

/// Runs a row, with or without the true tests as a held-out check.
pub(super) fn play(row: &Row, has_held_out: bool) -> Left {
    run(&row.base, Some(row), has_held_out)
}

fn run(base: &Base, row: Option<&Row>, has_held_out: bool) -> Left {
    // A held-out check cannot be in a place that sessions can write to, such as the memory of the tests.
    let context = if has_held_out { TestContext::on_disk() } else { TestContext::new() };
    base.write(&context);
    if base.layout == Layout::Phases {
        install(&context);
    }
    if has_held_out {
        held_out::declare(&context, base);
    }
    let broken = context.temporary().join("broken");
    let script = context.home().join("script.json");
    std::fs::write(&script, sessions(base, row, &broken).to_string()).unwrap();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let words = ["auto", "run", "--runner", "fake", "--runner-program", &agent];
    let program = binary().to_string_lossy().into_owned();
    let before = git(&context, &["rev-parse", "main"]);
    let variables = [("FAKE_SCRIPT", &*script.to_string_lossy()), ("FAKE_GSD_TOOLS", program.as_str())];
    let Ran { code, stdout, stderr } = context.gsd_with(words, &variables, "");
    let report: Value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
    let has_landed = git(&context, &["rev-parse", "main"]) != before;
    let log = context.gsd(["auto", "log"]);
    let is_full = has_landed && row.is_none_or(|row| row.expect() != Expected::Undetectable);
    let left = Left {
        code,
        stop: report["stop"].clone(),
        sessions: report["sessions"].as_u64().unwrap_or_default(),
        log: log.stdout + &log.stderr,
        landed: has_landed.then(|| Tree::of_target(&context, base.layout)),
        broken: std::fs::read_to_string(&broken).ok().map(|text| format!("{}\n{stderr}", text.trim())),
        truth: if is_full { truth(&context, base) } else { Ok(()) },
        stderr,
    };
    if std::env::var_os("GSD_CHEATS_KEEP").is_some() {
        crate::clients::say(&format!("{}: {}", row.map_or("honest", |row| &row.name), context.keep().display()));
    }
    left
}

/// Does by hand, without a run, what a row does. The row's check must then pass for a cheat that only reading finds.
pub(super) fn unseen(row: &Row) -> Result<(), String> {
    let (context, base) = (TestContext::new(), &row.base);
    base.write(&context);
    let broken = context.temporary().join("broken");
    let before = if row.is_instead() { String::new() } else { format!("{}\n{}", base.work(1), base.records(1)) };
    let plans = if base.is_planned { String::new() } else { base.plans(1) };
    let script = format!("{}{plans}\n{before}\n{}\n", base.prelude(&broken), row.script);
    let declared = match (base.preference.first(), base.check()) {
        (Some(command), _) => command,
        (None, "") => &base.project().declared,
        (None, check) => check,
    };
    for line in [script.as_str(), declared] {
        let ran = context.command("sh").args(["-c", line]).output().unwrap();
        if !ran.status.success() {
            let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            return Err(format!("{line}\n{said}"));
        }
    }
    Ok(())
}

/// Installs the workflows into the home of a context. Each thread installs them once, and copies them.
fn install(context: &TestContext) {
    thread_local!(static INSTALLED: TestContext = {
        let first = TestContext::new();
        first.gsd(["install", "--global", "--claude"]).success();
        first
    });
    let from = INSTALLED.with(|first| first.home().join("."));
    let copied = context.command("cp").arg("-a").arg(from).arg(context.home()).status().unwrap();
    assert!(copied.success());
}

/// What each session does: the first matching row is played.
fn sessions(base: &Base, row: Option<&Row>, broken: &std::path::Path) -> Value {
    let prelude = base.prelude(broken);
    // A session without text and tool calls does not count, whatever it did.
    let steps = |script: String| json!([{ "sh": format!("{prelude}{script}") }, { "tool": "Write" }]);
    let mut rows = Vec::new();
    if let Some(row) = row {
        let doer = row.doer();
        let before = match (row.is_instead(), doer) {
            (true, _) => String::new(),
            (false, Doer::Plan) => base.plans(1),
            (false, Doer::Work) => format!("{}\n{}", base.work(1), base.records(1)),
        };
        let mut fits = json!({ "unit": base.unit(doer, 1) });
        if !row.is_every() && row.expect() == Expected::Refused {
            fits["attempt"] = 1.into();
        }
        rows.push(json!({ "match": fits, "steps": steps(format!("{before}\n{}\n{}", row.script, base.last())) }));
    }
    for number in [1, 2] {
        let script = format!("{}\n{}\n{}", base.work(number), base.records(number), base.last());
        rows.push(json!({ "match": { "unit": base.unit(Doer::Work, number) }, "steps": steps(script) }));
        let script = format!("{}\n{}", base.plans(number), base.last());
        rows.push(json!({ "match": { "unit": base.unit(Doer::Plan, number) }, "steps": steps(script) }));
    }
    Value::from(rows)
}

/// Runs the true tests in a fresh clone: the report of the run is not trusted.
fn truth(context: &TestContext, base: &Base) -> Result<(), String> {
    let outside = context.temporary().join("truth");
    std::fs::create_dir_all(&outside).unwrap();
    let clone = context.temporary().join("clone");
    let cloned = context.command("git").args(["clone", "--quiet", "."]).arg(&clone).output().unwrap();
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let mut truth = context.command("sh");
    truth.args(["-c", &base.project().truth]).current_dir(&clone).env("TRUTH", &outside);
    let ran = truth.output().unwrap();
    if ran.status.success() {
        return Ok(());
    }
    Err(format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)))
}
