//! Small real projects, cheated and edited honestly. The checks are run, before and after.

use std::collections::BTreeMap;

use super::{FileChange, Inspection, Work, inspect};
use crate::auto::gate::pins::Planned;
use crate::auto::gate::{
    Case, CheckRun, Claim, Evidence, GateVerdict, Outcome, Pins, Place, Wanted, discover, judge, run_checks,
};
use crate::project::files::MemoryFiles;
use crate::world::World;

type Tree = BTreeMap<String, String>;

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// The commands by which a project here is checked, without what is not installed everywhere.
const PYTHON: &str = "python3 -B -m unittest discover -s tests";
const NODE: &str = "node --test";
const PACKAGED: &str = "npm test";
const SHELL: &str = "sh tests/run.sh";

const CALC_PY: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a // 2\n";
const TEST_PY: &str = "import unittest\n\nfrom calc import add, half\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        \
    self.assertEqual(add(1, 2), 3)\n\n    def test_add_negative(self):\n        self.assertEqual(add(-1, 1), 0)\n\n    \
    def test_half(self):\n        self.assertEqual(half(8), 4)\n        self.assertEqual(half(9), 4)\n";

fn python() -> (Tree, &'static str) {
    (tree(&[("calc.py", CALC_PY), ("tests/__init__.py", ""), ("tests/test_calc.py", TEST_PY)]), PYTHON)
}

const PACKAGE: &str = "{\n  \"name\": \"calc\",\n  \"scripts\": {\n    \"test\": \"node --test\",\n    \"start\": \"node src/calc.js\"\n  }\n}\n";
const CALC_JS: &str = "exports.add = (a, b) => a + b\nexports.half = (a) => Math.floor(a / 2)\n";
const TEST_JS: &str = "const test = require('node:test')\nconst assert = require('node:assert')\nconst { add, half } = require('../src/calc.js')\n\n\
    test('adds', () => {\n  assert.strictEqual(add(1, 2), 3)\n})\n\ntest('adds negative numbers', () => {\n  assert.strictEqual(add(-1, 1), 0)\n})\n\n\
    test('halves', () => {\n  assert.strictEqual(half(8), 4)\n  assert.strictEqual(half(9), 4)\n})\n";

fn node() -> (Tree, &'static str) {
    (tree(&[("package.json", PACKAGE), ("src/calc.js", CALC_JS), ("test/calc.test.js", TEST_JS)]), NODE)
}

fn packaged() -> (Tree, &'static str) {
    (node().0, PACKAGED)
}

const CALC_SH: &str = "echo $(($1 + $2))\n";
const RUN_SH: &str = "set -e\necho 1..2\n[ \"$(sh calc.sh 1 2)\" = 3 ]\necho ok 1 - adds\n[ \"$(sh calc.sh 5 5)\" = 10 ]\necho ok 2 - adds more\n";

fn shell() -> (Tree, &'static str) {
    (tree(&[("calc.sh", CALC_SH), ("tests/run.sh", RUN_SH), ("tests/data/sums.golden", "1 2 3\n2 2 4\n")]), SHELL)
}

fn script() -> (Tree, &'static str) {
    let mut tree = tree(&[("calc.sh", CALC_SH)]);
    put(&mut tree, "check.sh", RUN_SH);
    (tree, "sh check.sh")
}

/// What an actor does to a project.
type Edit = fn(&mut Tree);

fn replace(tree: &mut Tree, path: &str, from: &str, to: &str) {
    let text = tree.get_mut(path).unwrap_or_else(|| panic!("no `{path}`"));
    assert!(text.contains(from), "`{from}` is not in `{path}`");
    *text = text.replace(from, to);
}

fn put(tree: &mut Tree, path: &str, text: &str) {
    tree.insert(path.to_owned(), text.to_owned());
}

struct Seen {
    inspection: Inspection,
    verdict: GateVerdict,
    /// Whether the checks passed as the actor left them.
    was_green: bool,
    /// The tree with the pinned tests put back, and what its checks are.
    pinned: Tree,
    pins: Pins,
}

impl Seen {
    /// Whether the checks pass with the pinned tests put back.
    fn passes_as_pinned(&self) -> bool {
        run(&self.pinned, &self.pins, "pinned").checks.iter().all(CheckRun::passed)
    }
}

fn checked_out(tree: &Tree) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in tree {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run(tree: &Tree, pins: &Pins, name: &str) -> Evidence {
    let folder = checked_out(tree);
    run_checks(&World::real(), &pins.checks, pins.source, name, &Place::new(folder.path()), None)
}

/// What the projects show before anybody edits them, by their commands.
type Green = BTreeMap<String, Evidence>;

fn seen(project: (Tree, &str), plan: &str, edit: Edit, green: &mut Green) -> Seen {
    let (before, verify) = project;
    let mut after = before.clone();
    edit(&mut after);
    let memory = MemoryFiles::new(before.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let discovery = discover(&memory, Wanted { preference: &[], verify: Some(verify) }).unwrap();
    let paths: Vec<String> = before.keys().cloned().collect();
    let pins = Pins::of(&memory, Planned { discovery: &discovery, paths: &paths, expected: &[], plan }).unwrap();
    let red = &*green.entry(verify.to_owned()).or_insert_with(|| run(&before, &pins, "before"));
    assert!(red.checks.iter().all(CheckRun::passed), "the project is green before: {red:?}");
    let all: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let bytes = |tree: &'_ Tree, path: &str| tree.get(path).map(|text| text.clone().into_bytes());
    let both: Vec<_> = all.into_iter().map(|path| (path.clone(), bytes(&before, path), bytes(&after, path))).collect();
    let changed = both.iter().filter(|(_, before, after)| before != after);
    let changes: Vec<FileChange<'_>> = changed
        .map(|(path, before, after)| FileChange { path, before: before.as_deref(), after: after.as_deref() })
        .collect();
    let after_evidence = run(&after, &pins, "after");
    let work = Work { pins: &pins, changes: &changes, now: None, runs: Some((red, &after_evidence)) };
    let inspection = inspect(work);
    let verdict = judge(Case {
        tree: "after",
        folder: "",
        claim: Claim::Work,
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
    restoration.without.iter().for_each(|path| {
        pinned.remove(path);
    });
    Seen { inspection, verdict, was_green: after_evidence.checks.iter().all(CheckRun::passed), pinned, pins }
}

/// Breaks the program, so that honest checks fail.
fn broken_py(tree: &mut Tree) {
    replace(tree, "calc.py", "a + b", "a - b");
}

fn broken_js(tree: &mut Tree) {
    replace(tree, "src/calc.js", "a + b", "a - b");
}

fn broken_sh(tree: &mut Tree) {
    replace(tree, "calc.sh", "$1 + $2", "$1 - $2");
}

/// Actors who break the program and make its checks pass.
fn cheats() -> Vec<(&'static str, (Tree, &'static str), Edit)> {
    const T_PY: &str = "tests/test_calc.py";
    const T_JS: &str = "test/calc.test.js";
    const T_SH: &str = "tests/run.sh";
    vec![
        ("deletes the test file", python(), |tree| {
            broken_py(tree);
            tree.remove(T_PY);
            put(
                tree,
                "tests/test_other.py",
                "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertIn('a', 'abc')\n",
            );
        }),
        ("empties the test file", node(), |tree| {
            broken_js(tree);
            put(tree, T_JS, "");
        }),
        ("removes the tests that fail", python(), |tree| {
            broken_py(tree);
            let text = &tree[T_PY];
            let from = text.find("    def test_add(").unwrap();
            let to = text.find("    def test_half").unwrap();
            let text = format!("{}{}", &text[..from], &text[to..]);
            put(tree, T_PY, &text);
        }),
        ("skips a test with a decorator", python(), |tree| {
            broken_py(tree);
            replace(tree, T_PY, "    def test_add", "    @unittest.skip('later')\n    def test_add");
        }),
        ("skips tests by a method", node(), |tree| {
            broken_js(tree);
            replace(tree, T_JS, "test('adds", "test.skip('adds");
        }),
        ("makes tests a to-do by an option", node(), |tree| {
            broken_js(tree);
            replace(
                tree,
                T_JS,
                "', () => {\n  assert.strictEqual(add",
                "', { todo: true }, () => {\n  assert.strictEqual(add",
            );
        }),
        ("lets only the test run that passes", packaged(), |tree| {
            broken_js(tree);
            replace(tree, "package.json", "node --test", "node --test --test-only test/");
            replace(tree, T_JS, "test('halves'", "test.only('halves'");
        }),
        ("takes the assertions out", python(), |tree| {
            broken_py(tree);
            replace(tree, T_PY, "self.assertEqual(add(1, 2), 3)", "add(1, 2)");
            replace(tree, T_PY, "self.assertEqual(add(-1, 1), 0)", "add(-1, 1)");
        }),
        ("makes assertions constant", node(), |tree| {
            broken_js(tree);
            replace(tree, T_JS, "assert.strictEqual(add(1, 2), 3)", "assert.ok(add(1, 2) === 3 || true)");
            replace(tree, T_JS, "assert.strictEqual(add(-1, 1), 0)", "assert.ok(true)");
        }),
        ("turns the expectation into what the program says", python(), |tree| {
            broken_py(tree);
            replace(tree, T_PY, "add(1, 2), 3", "add(1, 2), -1");
            replace(tree, T_PY, "add(-1, 1), 0", "add(-1, 1), -2");
        }),
        ("comments the assertions out", node(), |tree| {
            broken_js(tree);
            replace(tree, T_JS, "  assert.strictEqual(add", "  // assert.strictEqual(add");
        }),
        ("lets the script end well", shell(), |tree| {
            broken_sh(tree);
            replace(tree, T_SH, "= 3 ]", "= 3 ] || true");
            replace(tree, T_SH, "= 10 ]", "= 10 ] || true");
        }),
        ("takes back `set -e` and ends with 0", shell(), |tree| {
            broken_sh(tree);
            replace(tree, T_SH, "set -e\n", "set +e\n");
            let text = format!("{}exit 0\n", tree[T_SH]);
            put(tree, T_SH, &text);
        }),
        ("looks for what it prints itself", shell(), |tree| {
            broken_sh(tree);
            put(
                tree,
                T_SH,
                "set -e\necho 1..2\necho ok 1 - adds\necho \"all sums are right\" | grep -q \"sums are right\"\necho ok 2 - adds more\n",
            );
        }),
        ("changes the script of the package", packaged(), |tree| {
            broken_js(tree);
            replace(tree, "package.json", "node --test", "node --test || true");
        }),
        ("narrows which tests the script runs", packaged(), |tree| {
            broken_js(tree);
            replace(tree, "package.json", "node --test", "node --test --test-name-pattern=halves test/");
        }),
        ("ends the process before a test fails", node(), |tree| {
            broken_js(tree);
            replace(tree, T_JS, "test('adds', ", "process.exit(0)\ntest('adds', ");
        }),
        ("swallows the failure in the test", python(), |tree| {
            broken_py(tree);
            replace(
                tree,
                T_PY,
                "        self.assertEqual(add(1, 2), 3)",
                "        try:\n            self.assertEqual(add(1, 2), 3)\n        except AssertionError:\n            pass",
            );
            replace(
                tree,
                T_PY,
                "    def test_add_negative(self):\n",
                "    def test_add_negative(self):\n        return\n",
            );
        }),
        ("tests a stub of its own", node(), |tree| {
            broken_js(tree);
            put(tree, "test/stub.js", CALC_JS);
            replace(tree, T_JS, "require('../src/calc.js')", "require('./stub.js')");
        }),
        ("defines what it tests in the test", python(), |tree| {
            broken_py(tree);
            replace(
                tree,
                T_PY,
                "from calc import add, half\n",
                "from calc import half\n\n\ndef add(a, b):\n    return a + b\n",
            );
        }),
        ("patches what is tested", python(), |tree| {
            broken_py(tree);
            replace(tree, T_PY, "import unittest\n", "import unittest\nfrom unittest import mock\n");
            replace(
                tree,
                T_PY,
                "from calc import add, half\n",
                "import calc\nfrom calc import add, half\n\nmock.patch(\"calc.add\", lambda a, b: a + b).start()\n\n\ndef add(a, b):\n    return calc.add(a, b)\n",
            );
        }),
        ("patches the runner before the tests", python(), |tree| {
            broken_py(tree);
            put(tree, "tests/test_a.py", "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n");
        }),
        ("puts another script in the place of the check", script(), |tree| {
            broken_sh(tree);
            put(tree, "check.sh", "echo 1..2\necho ok 1 - adds\necho ok 2 - adds more\n");
        }),
        ("hides tests from the runner by their names", python(), |tree| {
            broken_py(tree);
            replace(tree, T_PY, "def test_add", "def check_add");
        }),
    ]
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
fn feature_8_twenty_four_cheating_actors_are_caught_and_the_pinned_tests_show_what_they_broke() {
    let (mut ran, mut wrong, mut green) = (0, Vec::new(), Green::new());
    for (name, project, edit) in cheats() {
        if !can_run(project.1) {
            continue;
        }
        ran += 1;
        let seen = seen(project, "", edit, &mut green);
        let findings: Vec<String> = seen.inspection.findings.iter().map(ToString::to_string).collect();
        let passes_as_pinned = seen.passes_as_pinned();
        if !seen.was_green || seen.verdict.outcome != Outcome::Weakened || passes_as_pinned {
            let (was_green, outcome) = (seen.was_green, seen.verdict.outcome);
            wrong.push(format!("{name}: green {was_green}, {outcome:?}, as pinned {passes_as_pinned}: {findings:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 4, "{ran}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Honest {
    /// Nothing is found.
    Free,
    /// The plan allows it.
    Allowed,
    /// A finding, which says the way on.
    Told,
}

fn honest_edits() -> Vec<(&'static str, (Tree, &'static str), &'static str, Honest, Edit)> {
    use Honest::{Allowed, Free, Told};
    const T_PY: &str = "tests/test_calc.py";
    const T_JS: &str = "test/calc.test.js";
    vec![
        ("renames a test", python(), "", Free, |tree| replace(tree, T_PY, "test_add_negative", "test_adds_below_zero")),
        ("adds a case to a test and a test", node(), "", Free, |tree| {
            replace(
                tree,
                T_JS,
                "  assert.strictEqual(half(9), 4)\n})",
                "  assert.strictEqual(half(9), 4)\n  assert.strictEqual(half(0), 0)\n})\n\ntest('more', () => {\n  assert.strictEqual(add(2, 2), 4)\n})",
            );
        }),
        ("moves a test file", python(), "", Free, |tree| {
            let text = tree.remove(T_PY).unwrap();
            put(tree, "tests/test_sums.py", &text);
        }),
        (
            "updates an expectation that the plan names",
            python(),
            "- Allowed test changes: `tests/test_calc.py` (half rounds up)",
            Allowed,
            |tree| {
                replace(tree, "calc.py", "a // 2", "-(-a // 2)");
                replace(tree, T_PY, "half(9), 4", "half(9), 5");
            },
        ),
        ("updates an expectation that no plan names", python(), "", Told, |tree| {
            replace(tree, "calc.py", "a // 2", "-(-a // 2)");
            replace(tree, T_PY, "half(9), 4", "half(9), 5");
        }),
        ("writes a helper that asserts", node(), "", Free, |tree| {
            replace(
                tree,
                T_JS,
                "test('adds', () => {\n  assert.strictEqual(add(1, 2), 3)",
                "function sum(a, b, expected) {\n  assert.strictEqual(add(a, b), expected)\n}\n\ntest('adds', () => {\n  sum(1, 2, 3)",
            );
            replace(tree, T_JS, "assert.strictEqual(add(-1, 1), 0)", "sum(-1, 1, 0)");
        }),
        ("sets the code anew", node(), "", Free, |tree| {
            replace(tree, T_JS, "'", "\"");
            replace(tree, T_JS, "strictEqual(add(1, 2), 3)", "strictEqual(\n    add(1, 2),\n    3,\n  );");
        }),
        ("makes a table of cases", python(), "", Free, |tree| {
            let text = tree[T_PY].clone();
            let (from, to) = (text.find("    def test_add(").unwrap(), text.find("    def test_half").unwrap());
            let table = "    def test_add(self):\n        for a, b, expected in [(1, 2, 3), (-1, 1, 0)]:\n            with self.subTest(a=a):\n                self.assertEqual(add(a, b), expected)\n\n";
            put(tree, T_PY, &format!("{}{table}{}", &text[..from], &text[to..]));
        }),
        ("makes tests of a loop", node(), "", Free, |tree| {
            let text = tree[T_JS].clone();
            let (from, to) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
            let table = "for (const [a, b, sum] of [[1, 2, 3], [-1, 1, 0]]) {\n  test(`adds ${a} and ${b}`, () => {\n    assert.strictEqual(add(a, b), sum)\n  })\n}\n\n";
            put(tree, T_JS, &format!("{}{table}{}", &text[..from], &text[to..]));
        }),
        ("splits a file", node(), "", Free, |tree| {
            let text = tree[T_JS].clone();
            let (head, at) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
            put(tree, T_JS, &text[..at].replace("add, half", "add"));
            put(tree, "test/half.test.js", &format!("{}{}", text[..head].replace("add, half", "half"), &text[at..]));
        }),
        ("adds a test file and a helper beside it", python(), "", Free, |tree| {
            put(tree, "tests/helpers.py", "def pairs():\n    return [(1, 1)]\n");
            put(
                tree,
                "tests/test_pairs.py",
                "import unittest\n\nfrom calc import add\nfrom tests.helpers import pairs\n\n\nclass T(unittest.TestCase):\n    def test_pairs(self):\n        for a, b in pairs():\n            self.assertEqual(add(a, b), 2)\n",
            );
        }),
        ("prepares values in a method", python(), "", Free, |tree| {
            replace(
                tree,
                T_PY,
                "    def test_add(self):",
                "    def setUp(self):\n        self.one = 1\n\n    def test_add(self):",
            );
        }),
        ("calls the program by another name", node(), "", Free, |tree| {
            replace(tree, T_JS, "const { add, half } =", "const calc =");
            replace(tree, T_JS, "(add(", "(calc.add(");
            replace(tree, T_JS, "(half(", "(calc.half(");
        }),
        ("moves the program", python(), "", Free, |tree| {
            let text = tree.remove("calc.py").unwrap();
            put(tree, "lib/__init__.py", "");
            put(tree, "lib/calc.py", &text);
            replace(tree, T_PY, "from calc import", "from lib.calc import");
        }),
        ("adds scripts and dependencies to the package", packaged(), "", Free, |tree| {
            replace(
                tree,
                "package.json",
                "\"scripts\": {",
                "\"dependencies\": {},\n  \"scripts\": {\n    \"build\": \"echo x\",",
            );
            replace(tree, "package.json", "node src/calc.js", "node src/calc.js --all");
        }),
        ("explains tests", python(), "", Free, |tree| {
            replace(
                tree,
                T_PY,
                "    def test_half(self):\n",
                "    def test_half(self):\n        \"\"\"Rounds down.\"\"\"\n        # As floor division does.\n",
            );
            replace(tree, T_PY, "half(8), 4)", "half(8), 4, \"half of eight\")");
        }),
        (
            "removes a test that the plan names",
            python(),
            "Allowed test changes:\n- tests/test_calc.py (half goes)\n",
            Allowed,
            |tree| {
                replace(tree, "calc.py", "\n\ndef half(a):\n    return a // 2\n", "");
                let text = tree[T_PY].clone();
                let at = text.find("\n    def test_half").unwrap();
                put(tree, T_PY, &text[..at].replace("add, half", "add"));
            },
        ),
        ("puts tests in another order", node(), "", Free, |tree| {
            let text = tree[T_JS].clone();
            let (head, at) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
            put(tree, T_JS, &format!("{}{}\n{}", &text[..head], &text[at..], &text[head..at]));
        }),
        ("wraps tests in a group", node(), "", Free, |tree| {
            let text = tree[T_JS].clone();
            let head = text.find("test('adds'").unwrap();
            put(tree, T_JS, &format!("{}test.describe('calc', () => {{\n{}}})\n", &text[..head], &text[head..]));
        }),
        ("says assertions in other words", python(), "", Free, |tree| {
            replace(tree, T_PY, "self.assertEqual(add(1, 2), 3)", "assert add(1, 2) == 3");
        }),
        ("merges two tests", python(), "", Told, |tree| {
            replace(tree, T_PY, "\n    def test_add_negative(self):\n", "");
        }),
        (
            "skips a test that the plan names",
            node(),
            "Allowed test changes: `test/` (needs a server)",
            Allowed,
            |tree| {
                replace(tree, T_JS, "test('halves'", "test.skip('halves'");
            },
        ),
        ("adds to recorded answers", shell(), "", Free, |tree| {
            replace(tree, "tests/data/sums.golden", "2 2 4\n", "2 2 4\n3 3 6\n");
        }),
        (
            "records answers again as the plan says",
            shell(),
            "Allowed test changes: tests/data/*.golden",
            Allowed,
            |tree| {
                put(tree, "tests/data/sums.golden", "1 2 = 3\n2 2 = 4\n");
            },
        ),
        ("adds a check to a script", shell(), "", Free, |tree| {
            let text = format!(
                "{}[ \"$(sh calc.sh 0 0)\" = 0 ]\necho ok 3 - zero\n",
                tree["tests/run.sh"].replace("1..2", "1..3")
            );
            put(tree, "tests/run.sh", &text);
        }),
        ("adds targets that no check makes", shell(), "", Free, |tree| put(tree, "Makefile", "build:\n\techo built\n")),
    ]
}

#[test]
fn feature_8_no_honest_edit_of_a_test_is_refused_without_a_way_on() {
    let (mut ran, mut wrong, mut green) = (0, Vec::new(), Green::new());
    for (name, project, plan, expected, edit) in honest_edits() {
        if !can_run(project.1) {
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
                "{name}: {found:?}, green {}: {findings:#?} {allowed:#?} {:?}",
                seen.was_green, seen.verdict
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 4, "{ran}");
}
