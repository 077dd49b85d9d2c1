//! Small real projects, edited by cheats and by honest people. The checks are run before and after.

mod cheats;
mod daily;
mod deciding;
mod honest;
mod mechanisms;
mod pairs;
mod text;

use std::collections::BTreeMap;

use super::{FileChange, Inspection, Work, inspect};
use crate::gate::discovery::{Wanted, discover};
use crate::gate::evidence::{CheckRun, Evidence};
use crate::gate::pins::{Pins, Planned};
use crate::gate::run::{CheckPlace, run_check, run_checks};
use crate::gate::verdict::{Case, GateVerdict, Outcome, WorkClaim, judge};
use crate::project::files::MemoryFiles;
use crate::project::self_running::SelfRunning;
use crate::world::World;

type ProjectTexts = BTreeMap<String, String>;

fn tree(files: &[(&str, &str)]) -> ProjectTexts {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// The commands that check the projects here, without those that are not installed everywhere.
const PYTHON: &str = "python3 -B -m unittest discover -s tests";
const NODE: &str = "node --test";
const PACKAGED: &str = "npm test";
const SHELL: &str = "sh tests/run.sh";

const CALC_PY: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a // 2\n";
const TEST_PY: &str = "import unittest\n\nfrom calc import add, half\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        \
    self.assertEqual(add(1, 2), 3)\n\n    def test_add_negative(self):\n        self.assertEqual(add(-1, 1), 0)\n\n    \
    def test_half(self):\n        self.assertEqual(half(8), 4)\n        self.assertEqual(half(9), 4)\n";

fn python() -> (ProjectTexts, &'static str) {
    (tree(&[("calc.py", CALC_PY), ("tests/__init__.py", ""), ("tests/test_calc.py", TEST_PY)]), PYTHON)
}

const PACKAGE: &str = "{\n  \"name\": \"calc\",\n  \"scripts\": {\n    \"test\": \"node --test\",\n    \"start\": \"node src/calc.js\"\n  }\n}\n";
const CALC_JS: &str = "exports.add = (a, b) => a + b\nexports.half = (a) => Math.floor(a / 2)\n";
const TEST_JS: &str = "const test = require('node:test')\nconst assert = require('node:assert')\nconst { add, half } = require('../src/calc.js')\n\n\
    test('adds', () => {\n  assert.strictEqual(add(1, 2), 3)\n})\n\ntest('adds negative numbers', () => {\n  assert.strictEqual(add(-1, 1), 0)\n})\n\n\
    test('halves', () => {\n  assert.strictEqual(half(8), 4)\n  assert.strictEqual(half(9), 4)\n})\n";

fn node() -> (ProjectTexts, &'static str) {
    (tree(&[("package.json", PACKAGE), ("src/calc.js", CALC_JS), ("test/calc.test.js", TEST_JS)]), NODE)
}

fn packaged() -> (ProjectTexts, &'static str) {
    (node().0, PACKAGED)
}

const CALC_SH: &str = "echo $(($1 + $2))\n";
const RUN_SH: &str = "set -e\necho 1..2\n[ \"$(sh calc.sh 1 2)\" = 3 ]\necho ok 1 - adds\n[ \"$(sh calc.sh 5 5)\" = 10 ]\necho ok 2 - adds more\n";

fn shell() -> (ProjectTexts, &'static str) {
    (tree(&[("calc.sh", CALC_SH), ("tests/run.sh", RUN_SH), ("tests/data/sums.golden", "1 2 3\n2 2 4\n")]), SHELL)
}

fn script() -> (ProjectTexts, &'static str) {
    let mut tree = tree(&[("calc.sh", CALC_SH)]);
    put(&mut tree, "check.sh", RUN_SH);
    (tree, "sh check.sh")
}

/// What an actor does to a project.
type Edit = fn(&mut ProjectTexts);

/// A project and the command that checks it.
type Start = fn() -> (ProjectTexts, &'static str);

fn replace(tree: &mut ProjectTexts, path: &str, from: &str, to: &str) {
    let text = tree.get_mut(path).unwrap_or_else(|| panic!("no `{path}`"));
    assert!(text.contains(from), "`{from}` is not in `{path}`");
    *text = text.replace(from, to);
}

fn put(tree: &mut ProjectTexts, path: &str, text: &str) {
    tree.insert(path.to_owned(), text.to_owned());
}

struct InspectedWork {
    inspection: Inspection,
    verdict: GateVerdict,
    /// Whether the checks passed as the actor left them, and their runs.
    was_green: bool,
    checks: Vec<CheckRun>,
    /// The tree with the pinned tests restored, and its pins.
    pinned: ProjectTexts,
    pins: Pins,
}

impl InspectedWork {
    /// True if the checks pass with the pinned tests restored.
    fn passes_as_pinned(&self) -> bool {
        let folder = checked_out(&self.pinned);
        self.pins.checks.iter().all(|check| run_check(&World::real(), check, &CheckPlace::new(folder.path())).passed())
    }
}

fn checked_out(tree: &ProjectTexts) -> tempfile::TempDir {
    let folder = crate::testing::folder();
    for (path, text) in tree {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run(tree: &ProjectTexts, pins: &Pins, name: &str) -> Evidence {
    let folder = checked_out(tree);
    run_checks(&World::real(), &pins.checks, pins.source, name, &CheckPlace::new(folder.path()), None)
}

/// The evidence of the projects before any edit, by their commands.
type Green = BTreeMap<String, Evidence>;

fn seen(project: Start, plan: &str, edit: Edit, green: &mut Green) -> InspectedWork {
    let (before, verify) = project();
    let mut after = before.clone();
    edit(&mut after);
    let memory = MemoryFiles::new(before.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let lines = [verify.to_owned()];
    let discovery = discover(&memory, Wanted { preference: &[], verify: &lines }).unwrap();
    let paths: Vec<String> = before.keys().cloned().collect();
    let pins = Pins::of(
        &memory,
        Planned { discovery: &discovery, earlier: &[], paths: &paths, expected: &[], plan, is_fix: false },
    )
    .unwrap();
    let red = &*green.entry(verify.to_owned()).or_insert_with(|| run(&before, &pins, "before"));
    assert!(red.checks.iter().all(CheckRun::passed), "the project is green before: {red:?}");
    let all: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let bytes = |tree: &'_ ProjectTexts, path: &str| tree.get(path).map(|text| text.clone().into_bytes());
    let both: Vec<_> = all.into_iter().map(|path| (path.clone(), bytes(&before, path), bytes(&after, path))).collect();
    let differing = both.iter().filter(|(_, before, after)| before != after);
    let changes: Vec<FileChange<'_>> = differing
        .map(|(path, before, after)| FileChange { path, before: before.as_deref(), after: after.as_deref() })
        .collect();
    let after_evidence = run(&after, &pins, "after");
    let work = Work { pins: &pins, changes: &changes, now: None, absent: &[], running: &SelfRunning::default() };
    let mut inspection = inspect(work);
    inspection.compare_runs(red, &after_evidence);
    let verdict = judge(Case {
        tree: "after",
        folder: "",
        claim: WorkClaim::Work,
        before: Some(red),
        evidence: &after_evidence,
        findings: &inspection.findings,
    });
    let restoration = inspection.restoration(work);
    let mut pinned = after.clone();
    for path in &restoration.from_before {
        pinned.insert(path.clone(), before[path].clone());
    }
    pinned.extend(restoration.rewritten);
    for path in &restoration.without {
        pinned.remove(path);
    }
    let checks = after_evidence.checks;
    InspectedWork { inspection, verdict, was_green: checks.iter().all(CheckRun::passed), checks, pinned, pins }
}

fn is_there(program: &str) -> bool {
    let program = crate::world::Program::new(program).arguments(["--version"]);
    World::real().run(&program).is_ok_and(|finished| finished.success())
}

fn can_run(verify: &str) -> bool {
    match verify.split(' ').next() {
        Some("sh") => true,
        Some("npm") => is_there("npm") && is_there("node"),
        Some(program) => is_there(program),
        None => false,
    }
}

#[test]
fn twenty_four_cheats_are_caught_and_the_pinned_tests_show_what_they_broke() {
    let (mut ran, mut wrong, mut green) = (0, Vec::new(), Green::new());
    let cheats = [cheats::IN_PYTHON, cheats::IN_NODE, cheats::IN_SHELL].concat();
    assert_eq!(cheats.len(), 24);
    for (name, project, edit) in cheats {
        if !can_run(project().1) {
            continue;
        }
        ran += 1;
        let seen = seen(project, "", edit, &mut green);
        let findings: Vec<String> = seen.inspection.findings.iter().map(ToString::to_string).collect();
        let passes_as_pinned = seen.passes_as_pinned();
        if !seen.was_green || seen.verdict.outcome != Outcome::Weakened || passes_as_pinned {
            let (was_green, outcome) = (seen.was_green, seen.verdict.outcome);
            wrong.push(format!(
                "{name}: green {was_green}, {outcome:?}, as pinned {passes_as_pinned}: {findings:#?} {:#?}",
                seen.checks
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 4, "{ran}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Honest {
    /// Without findings.
    Free,
    /// The plan allows it.
    Allowed,
    /// With a finding that says how to continue.
    Told,
}

#[test]
fn a_refused_honest_edit_always_says_how_to_continue() {
    let (mut ran, mut wrong, mut green) = (0, Vec::new(), Green::new());
    let edits = [honest::IN_PYTHON, honest::IN_NODE, honest::IN_SHELL].concat();
    assert!(edits.len() >= 20);
    for (name, project, plan, expected, edit) in edits {
        if !can_run(project().1) {
            continue;
        }
        ran += 1;
        let seen = seen(project, plan, edit, &mut green);
        let (findings, allowed) = (&seen.inspection.findings, &seen.inspection.allowed);
        let found = match (findings.is_empty(), allowed.is_empty()) {
            (true, true) => Honest::Free,
            (true, false) => Honest::Allowed,
            (false, _) => Honest::Told,
        };
        let ways = findings.iter().map(|finding| finding.way_on("M001/S01/T01"));
        let are_ways = ways.into_iter().all(|way| way.contains("gsd-tools auto verdict M001/S01/T01 pass --rationale"));
        let passes = seen.verdict.passed() == (found != Honest::Told);
        if found != expected || !seen.was_green || !are_ways || !passes {
            wrong.push(format!(
                "{name}: {found:?}, green {}: {findings:#?} {allowed:#?} {:?} {:#?}",
                seen.was_green, seen.verdict, seen.checks
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 4, "{ran}");
}
