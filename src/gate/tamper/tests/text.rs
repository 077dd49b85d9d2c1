//! Edits that are judged only by their texts, in languages and for tools that need not be installed.

use super::super::{FileChange, Finding, Inspection, Restoration, Weakening, Work, inspect};
use crate::disk::Digest;
use crate::gate::check::{Check, Source};
use crate::gate::discovery::Discovery;
use crate::gate::evidence::{CheckRun, CheckVerdict, Evidence, TestCounts};
use crate::gate::pins::{Pins, Planned};
use crate::project::files::MemoryFiles;
use crate::project::self_running::SelfRunning;

/// A file with its texts before and after; `-` if it does not exist.
pub(super) type EditedFile<'a> = (&'a str, &'a str, &'a str);

pub(super) fn discovery(command: &str) -> Discovery {
    let checks = vec![Check::parse(command).unwrap()];
    Discovery { source: Source::TaskPlan, checks, refused: Vec::new() }
}

fn pins(command: &str, plan: &str, texts: &[EditedFile<'_>]) -> Pins {
    let before: Vec<_> =
        texts.iter().filter(|(_, before, _)| *before != "-").map(|(path, before, _)| (*path, *before)).collect();
    let memory = MemoryFiles::new(before.iter().copied());
    let paths: Vec<String> = before.iter().map(|(path, _)| (*path).to_owned()).collect();
    Pins::of(
        &memory,
        Planned { discovery: &discovery(command), earlier: &[], paths: &paths, expected: &[], plan, is_fix: false },
    )
    .unwrap()
}

pub(super) fn changes<'a>(texts: &[EditedFile<'a>]) -> Vec<FileChange<'a>> {
    let bytes = |text: &'a str| (text != "-").then_some(text.as_bytes());
    let changed = texts.iter().filter(|(_, before, after)| before != after);
    changed.map(|(path, before, after)| FileChange { path, before: bytes(before), after: bytes(after) }).collect()
}

fn looked_at(command: &str, texts: &[EditedFile<'_>]) -> (Inspection, Restoration) {
    let (pins, changes) = (pins(command, "", texts), changes(texts));
    let work = Work { pins: &pins, changes: &changes, now: None, absent: &[], running: &SelfRunning::default() };
    let inspection = inspect(work);
    let restoration = inspection.restoration(work);
    (inspection, restoration)
}

fn kinds(command: &str, texts: &[EditedFile<'_>]) -> Vec<Weakening> {
    let mut kinds: Vec<_> = looked_at(command, texts).0.findings.into_iter().map(|finding| finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

const RUST: &str = "pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    \
                    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn adds_more() {\n        assert_eq!(add(2, 2), 4);\n    }\n}\n";

#[test]
fn tests_inside_a_source_are_seen_and_the_source_next_to_them_is_not() {
    use Weakening::{ChangedExpectation, ConstantAssertion, DeletedTests, RemovedAssertion, Skipped};
    let edited = |from: &str, to: &str| {
        assert!(RUST.contains(from), "{from}");
        let after = RUST.replace(from, to);
        kinds("cargo test", &[("Cargo.toml", "", ""), ("src/lib.rs", RUST, &after)])
    };
    assert_eq!(edited("    #[test]\n    fn adds()", "    #[test]\n    #[ignore]\n    fn adds()"), [Skipped]);
    assert_eq!(edited("add(1, 2), 3", "add(1, 2), 4"), [ChangedExpectation]);
    assert_eq!(edited("assert_eq!(add(1, 2), 3)", "assert!(true)"), [RemovedAssertion, ConstantAssertion]);
    assert_eq!(edited("#[cfg(test)]\nmod tests {", "#[cfg(any())]\nmod tests {"), [DeletedTests]);
    assert_eq!(
        edited("    #[test]\n    fn adds_more() {\n        assert_eq!(add(2, 2), 4);\n    }\n", ""),
        [DeletedTests, RemovedAssertion]
    );
    assert_eq!(edited("{ a + b }", "{\n    assert!(a > 0);\n    b + a\n}"), []);
    assert_eq!(edited("fn adds()", "fn adds_two_numbers()"), []);
    let moved = RUST.split("\n#[cfg(test)]").next().unwrap();
    let inside = RUST
        .split("mod tests {\n")
        .nth(1)
        .unwrap()
        .replace("    use super::*;", "use crate::add;")
        .replace("\n}\n", "\n");
    let texts = [("Cargo.toml", "", ""), ("src/lib.rs", RUST, moved), ("src/tests.rs", "-", inside.as_str())];
    assert_eq!(kinds("cargo test", &texts), []);
}

#[test]
fn conditions_in_go_tests_are_assertions() {
    let test =
        "func TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"Add = %d\", got)\n\t}\n}\n";
    let edited = |after: String| kinds("go test ./...", &[("go.mod", "", ""), ("add_test.go", test, &after)]);
    assert_eq!(edited(test.replace("Add = %d", "sum: %d")), []);
    assert_eq!(edited(test.replace("got != 3", "got != 4")), [Weakening::ChangedExpectation]);
    assert_eq!(edited(test.replace("t.Errorf", "t.Logf")), [Weakening::RemovedAssertion]);
    assert_eq!(edited(test.replace("\tif got", "\tt.Skip()\n\tif got")), [Weakening::Skipped]);
    assert_eq!(edited(test.replace("func TestAdd", "func TestSum")), []);
    assert_eq!(edited(test.replace("func TestAdd", "func testAdd")), [Weakening::DeletedTests]);
}

const PY: EditedFile<'_> = ("tests/test_a.py", "", "");
const TS: EditedFile<'_> = ("src/a.test.ts", "", "");
const RS: EditedFile<'_> = ("tests/a.rs", "", "");

/// Changes of settings, and whether they check less.
const SETTINGS: &[(&[EditedFile<'_>], bool)] = &[
    (
        &[PY, ("pyproject.toml", "[tool.pytest.ini_options]\n", "[tool.pytest.ini_options]\naddopts = \"-k good\"\n")],
        true,
    ),
    (&[PY, ("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q\n  --ignore=tests/a\n")], true),
    (&[PY, ("pytest.ini", "-", "[pytest]\naddopts = --ignore=tests\n")], true),
    (&[("pytest.ini", "-", "[pytest]\naddopts = -q\n")], false),
    (
        &[
            PY,
            (
                "pyproject.toml",
                "[tool.coverage.report]\nfail_under = 80\n",
                "[tool.coverage.report]\nfail_under = 70\n",
            ),
        ],
        true,
    ),
    (
        &[
            PY,
            (
                "pyproject.toml",
                "[tool.coverage.report]\nfail_under = 80\n",
                "[tool.coverage.report]\nfail_under = 90\n",
            ),
        ],
        false,
    ),
    (
        &[PY, ("pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\ndependencies = [\"x\"]\n")],
        false,
    ),
    (&[TS, ("package.json", r#"{"jest": {"testMatch": ["a"]}}"#, r#"{"jest": {"testMatch": ["b"]}}"#)], true),
    (&[TS, ("package.json", r#"{"jest": {"testMatch": ["a"]}}"#, r#"{"jest": {"testMatch": ["a", "b"]}}"#)], false),
    (&[TS, ("package.json", r#"{"dependencies": {}}"#, r#"{"dependencies": {"x": "1"}, "bin": "b"}"#)], false),
    (&[TS, ("package.json", "{}", "{bad")], true),
    (
        &[
            TS,
            ("tsconfig.json", r#"{"compilerOptions": {"strict": true}}"#, r#"{"compilerOptions": {"strict": false}}"#),
        ],
        true,
    ),
    (
        &[
            TS,
            ("tsconfig.json", r#"{"compilerOptions": {}}"#, r#"{"compilerOptions": {"strict": true, "lib": ["dom"]}}"#),
        ],
        false,
    ),
    (
        &[TS, ("tsconfig.json", r#"{"include": ["src"]}"#, r#"{"include": ["src"], "exclude": ["src/a.test.ts"]}"#)],
        true,
    ),
    (&[TS, ("vitest.config.ts", "export default {}\n", "export default { test: { exclude: ['src'] } }\n")], true),
    (&[TS, ("jest.config.js", "-", "module.exports = { testPathIgnorePatterns: ['a'] }\n")], true),
    (&[TS, ("jest.config.js", "module.exports = {}\n", "-")], true),
    (
        &[
            RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[[test]]\nname = \"a\"\nharness = false\n",
            ),
        ],
        true,
    ),
    (&[RS, ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nautotests = false\n")], true),
    (
        &[RS, ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n\n[dependencies]\nx = \"1\"\n")],
        false,
    ),
    (
        &[PY, ("conftest.py", "", "import calc\n\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n")],
        true,
    ),
    (&[PY, ("conftest.py", "-", "import calc\ncalc.add = lambda a, b: 3\nsetattr(calc, 'x', 1)\n")], true),
    (&[PY, ("conftest.py", "-", "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n")], false),
];

#[test]
fn settings_that_check_less_are_found_and_those_that_check_more_are_not() {
    for (texts, is_weaker) in SETTINGS {
        let kinds = kinds("make check", texts);
        assert_eq!(!kinds.is_empty(), *is_weaker, "{:?}: {kinds:?}", texts.last());
    }
}

#[test]
fn scripts_count_only_if_a_check_runs_them() {
    let make = "test: unit\n\nunit:\n\tsh run.sh\n\nbuild:\n\techo a\n";
    let edited = |from: &str, to: &str| {
        let after = make.replace(from, to);
        kinds("make test", &[("Makefile", make, &after), ("run.sh", "", "")])
    };
    assert_eq!(edited("echo a", "echo b"), []);
    assert_eq!(edited("\tsh run.sh", "\t-sh run.sh"), [Weakening::SwallowedFailure, Weakening::ChangedScript]);
    assert_eq!(edited("test: unit", "test:"), [Weakening::ChangedScript]);
    let script = [("Makefile", make, make), ("run.sh", "sh a\n", "sh b\n")];
    assert_eq!(kinds("make test", &script), [Weakening::ChangedScript]);
    assert_eq!(kinds("cargo test", &[("Makefile", make, "test:\n\ttrue\n")]), []);
}

#[test]
fn recorded_answers_may_grow_and_move() {
    let old = "a 1\nb 2\nc 3\nd 4\n";
    let edited = |after: &str| {
        let (inspection, _) = looked_at("make", &[("src/__snapshots__/a.snap", old, after)]);
        inspection.findings.into_iter().map(|finding| finding.what).next()
    };
    assert_eq!(edited("a 1\nb 2\nnew\nc 3\nd 4\n"), None);
    assert_eq!(edited("a 1\nb 9\nc 3\nd 4\n").as_deref(), Some("1 of 4 recorded lines are other ones now"));
    assert!(edited("x\ny\nz\nd 4\n").unwrap().starts_with("rewritten as a whole: 3 of 4"));
    assert_eq!(kinds("make", &[("tests/data/a.json", old, "-")]), [Weakening::DeletedTests]);
    assert_eq!(kinds("make", &[("tests/data/a.json", old, "-"), ("tests/other/a.json", "-", old)]), []);
}

#[test]
fn a_stub_of_the_subject_is_found_and_a_stub_of_its_dependency_is_not() {
    let test = "import { add } from './add'\nimport { get } from './http'\n\ntest('adds', () => { expect(add(1, 2)).toBe(3) })\n";
    let edited = |line: &str| {
        let after = test.replace("\n\ntest", &format!("\n{line}\n\ntest"));
        kinds("npm test", &[("src/add.test.js", test, &after)])
    };
    assert_eq!(edited("jest.mock('./add')"), [Weakening::StubbedSubject]);
    assert_eq!(edited("vi.mock('./add.js', () => ({ add: () => 3 }))"), [Weakening::StubbedSubject]);
    assert_eq!(edited("jest.mock('./http')"), []);
    let moved = test.replace("'./add'", "'./math/add'");
    assert_eq!(kinds("npm test", &[("src/add.test.js", test, &moved)]), []);
    let stubbed = test.replace("'./add'", "'./__mocks__/add'");
    assert_eq!(kinds("npm test", &[("src/add.test.js", test, &stubbed)]), [Weakening::StubbedSubject]);
    let itself = format!("{test}const own = require('fs').readFileSync(__filename)\n");
    assert_eq!(kinds("npm test", &[("src/add.test.js", test, &itself)]), [Weakening::ReadsItself]);
}

#[test]
fn a_file_with_other_contents_gets_only_its_settings_restored() {
    let before = r#"{"scripts": {"test": "node --test", "build": "a"}, "dependencies": {}}"#;
    let after = r#"{"scripts": {"test": "true", "pretest": "rm -r test", "build": "b"}, "dependencies": {"x": "1"}, "jest": {}}"#;
    let (_, restoration) = looked_at("npm test", &[("package.json", before, after), ("a.test.js", "", "")]);
    let [(path, text)] = restoration.rewritten.as_slice() else { panic!("{restoration:?}") };
    let expected: serde_json::Value =
        serde_json::from_str(r#"{"scripts": {"test": "node --test", "build": "b"}, "dependencies": {"x": "1"}}"#)
            .unwrap();
    assert_eq!((path.as_str(), serde_json::from_str::<serde_json::Value>(text).unwrap()), ("package.json", expected));
    let before = "[package]\nname = \"a\"\n\n[lints.rust]\nunused = \"deny\"\n";
    let after = "[package]\nname = \"a\"\nautotests = false\n\n[dependencies]\nx = \"1\"\n";
    let (_, restoration) = looked_at("cargo test", &[("Cargo.toml", before, after), ("tests/a.rs", "", "")]);
    let text = &restoration.rewritten[0].1;
    assert!(text.contains("x = \"1\"") && text.contains("unused = \"deny\"") && !text.contains("autotests"), "{text}");
    let added = [
        ("tests/a.rs", "", ""),
        ("clippy.toml", "-", "x = 1\n"),
        (".cargo/config.toml", "-", "[alias]\ntest = \"x\"\n"),
    ];
    let (_, restoration) = looked_at("cargo test", &added);
    assert_eq!((restoration.without.len(), restoration.from_before.len()), (2, 0));
}

#[test]
fn only_files_with_findings_are_restored() {
    let cargo = "[package]\nname = \"a\"\n";
    let hidden = format!("{cargo}\n[[bin]]\nname = \"a\"\ntest = false\n");
    let texts = [("Cargo.toml", cargo, hidden.as_str()), ("tests/a.rs", "", ""), ("src/lib.rs", "a", "b")];
    let (inspection, restoration) = looked_at("cargo test", &texts);
    assert!(!inspection.findings.is_empty());
    // The settings of one target among several cannot be restored separately.
    assert_eq!((restoration.from_before.as_slice(), restoration.rewritten.len()), (&["Cargo.toml".to_owned()][..], 0));
    let texts = [("tests/test_a.py", "", ""), ("unittest.py", "-", ""), ("calc.py", "-", "")];
    let (_, restoration) = looked_at("python3 -m unittest", &texts);
    assert!(restoration.without == ["unittest.py"] && restoration.from_before.is_empty() && !restoration.is_empty());
    let (_, restoration) = looked_at("python3 -m unittest", &[("tests/test_a.py", "", ""), ("calc.py", "a", "b")]);
    assert!(restoration.is_empty());
}

#[test]
fn fewer_tests_are_found_against_any_earlier_run_of_the_same_command() {
    let pins = pins("run", "", &[]);
    let run = |command: &str, tail: &str, verdict: CheckVerdict| {
        let mut run = evidence(tail).checks.remove(0);
        (run.command, run.verdict) = (command.to_owned(), verdict);
        run
    };
    let of = |checks: Vec<CheckRun>| Evidence { checks, ..evidence("") };
    let found = |before: Vec<CheckRun>, after: Vec<CheckRun>| {
        let (before, after) = (of(before), of(after));
        compared(&pins, (&before, &after)).len()
    };
    let (pass, fail) = (CheckVerdict::Pass, CheckVerdict::Fail);
    let five = || run("a", "Ran 5 tests in 0.1s\n\nOK\n", pass);
    assert_eq!(found(vec![five()], vec![run("a", "Ran 0 tests in 0.1s\n\nOK\n", pass)]), 1);
    assert_eq!(found(vec![five()], vec![run("a", "", pass)]), 1);
    assert_eq!(found(vec![five()], vec![run("b", "", pass), run("a", "Ran 6 tests in 0.1s\n\nOK\n", pass)]), 0);
    // A failed check reports its failure instead.
    assert_eq!(found(vec![five()], vec![run("a", "", fail)]), 0);
    assert_eq!(found(vec![run("a", "", pass)], vec![run("a", "Ran 1 test in 0.1s\n\nOK\n", pass)]), 0);
    // An interrupted run did not finish counting.
    assert_eq!(
        found(vec![run("a", "5 passed in 3s\n", CheckVerdict::TimedOut)], vec![run("a", "4 passed in 1s\n", pass)]),
        0
    );
}

fn compared(pins: &Pins, (before, after): (&Evidence, &Evidence)) -> Vec<Finding> {
    let mut inspection = inspect(Work { pins, changes: &[], now: None, absent: &[], running: &SelfRunning::default() });
    inspection.compare_runs(before, after);
    inspection.findings
}

fn evidence(tail: &str) -> Evidence {
    let check = CheckRun {
        command: "run".to_owned(),
        exit_code: 0,
        duration_ms: 1,
        digest: Digest::of(b""),
        tail: tail.to_owned(),
        verdict: CheckVerdict::Pass,
        runs: 1,
        counts: TestCounts::of(tail),
        survivors: Vec::new(),
    };
    Evidence { tree: "t".to_owned(), source: Source::TaskPlan, checks: vec![check] }
}

#[test]
fn a_run_with_fewer_tests_or_none_is_found() {
    let (pins, before) = (pins("run", "", &[]), evidence("5 passed in 0.1s\n"));
    let found = |tail: &str| {
        let after = evidence(tail);
        let found = compared(&pins, (&before, &after));
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("5 passed in 0.3s\n"), Vec::<String>::new());
    assert_eq!(found("6 passed in 0.3s\n"), Vec::<String>::new());
    assert_eq!(found("4 passed, 1 skipped in 0.1s\n"), ["`run` ran 4 tests, and 5 before"]);
    assert_eq!(found("fine\n"), ["`run` reports no test, and 5 before"]);
}

#[test]
fn a_check_no_longer_asked_for_is_found() {
    let pins = pins("cargo test", "", &[]);
    let found = |command: &str| {
        let now = discovery(command);
        inspect(Work { pins: &pins, changes: &[], now: Some(&now), absent: &[], running: &SelfRunning::default() })
            .findings
    };
    assert_eq!(found("cargo test"), Vec::<Finding>::new());
    let gone = found("cargo test --no-run");
    assert_eq!(gone[0].to_string(), "the check `cargo test` is not asked for any more");
    assert!(
        gone[0].way_on("T01").starts_with("put the check back; or a person decides: `gsd-tools auto verdict T01 pass")
    );
}

#[test]
fn a_pinned_file_must_be_the_one_that_the_unit_started_from() {
    let pins = pins("make", "", &[("tests/a.py", "assert a\n", "")]);
    let changes = changes(&[("tests/a.py", "assert b\n", "assert b\nassert c\n")]);
    let found =
        inspect(Work { pins: &pins, changes: &changes, now: None, absent: &[], running: &SelfRunning::default() })
            .findings;
    assert!(found.len() == 1 && found[0].kind == Weakening::NotAsPinned, "{found:?}");
}

#[test]
fn edits_that_the_plan_allows_are_reported_but_not_findings() {
    let texts = [("tests/test_a.py", "def test_a():\n    assert a() == 1\n", "-")];
    let (pins, changes) = (pins("make", "Allowed test changes: tests/test_a.py (goes)", &texts), changes(&texts));
    let (before, after) = (evidence("5 passed in 1s\n"), evidence("4 passed in 1s\n"));
    let work = Work { pins: &pins, changes: &changes, now: None, absent: &[], running: &SelfRunning::default() };
    let mut inspection = inspect(work);
    inspection.compare_runs(&before, &after);
    assert_eq!(inspection.findings, Vec::<Finding>::new());
    let allowed: Vec<Weakening> = inspection.allowed.iter().map(|finding| finding.kind).collect();
    assert_eq!(allowed, [Weakening::DeletedTests, Weakening::FewerTestsRan]);
    assert_eq!(inspection.restoration(work), Restoration::default());
}

#[test]
fn many_findings_of_a_kind_are_reported_in_few_lines() {
    let test = |number: usize| format!("def test_{number}():\n    assert f({number}) == {number}\n");
    let before: String = (0..40).map(test).collect();
    let after = before.replace("    assert f", "    print(f").replace(" ==", ") #");
    let (inspection, _) = looked_at("make", &[("tests/test_a.py", &before, &after)]);
    assert!(
        inspection.findings.len() == 5 && inspection.findings[4].what.ends_with("(and 35 more)"),
        "{inspection:#?}"
    );
}

proptest::proptest! {
    #[test]
    fn any_texts_are_judged(
        before in "(?s)(.|assert |expect\\(|it\\(|#\\[test\\]|def test_|\\[tool|\\{\"scripts\"|[(){}\\[\\],='\"\\n]){0,60}",
        after in "(?s)(.|assert |expect\\(|it\\.skip\\(|exit 0|def test_|\\[tool|\\{\"jest\":|[(){}\\[\\],='\"\\n\t-]){0,60}",
        path in 0..9_usize,
    ) {
        let paths = ["a_test.py", "a.test.js", "src/a.rs", "tests/a.sh", "package.json", "Cargo.toml", "pytest.ini", "Makefile", "a.snap"];
        let texts = [(paths[path], before.as_str(), after.as_str()), ("test_b.py", "", ""), ("b.test.js", "", "")];
        let (inspection, _) = looked_at("make test", &texts);
        for finding in inspection.findings {
            proptest::prop_assert!(!finding.way_on("T01").is_empty() && finding.line <= before.lines().count().max(after.lines().count()));
        }
    }

    /// Whatever a test contains, reformatting it and adding to it makes no check weaker.
    #[test]
    fn a_test_that_is_reformatted_or_grows_is_accepted(
        cases in proptest::collection::vec((0..50_u32, 0..50_u32), 1..6),
        more in proptest::collection::vec((0..50_u32, 0..50_u32), 0..4),
        blank in "[ \\n]{1,3}",
    ) {
        let test = |(number, (a, b)): (usize, &(u32, u32))| format!("test('case {number}', () => {{ expect(f({a})).toBe({b}) }})\n");
        let before: String = cases.iter().enumerate().map(test).collect();
        let all: Vec<_> = cases.iter().chain(&more).copied().collect();
        let after: String = all.iter().enumerate().map(test).collect::<String>().replace(" expect(", &format!("{blank}expect(\n"));
        proptest::prop_assert_eq!(kinds("npm test", &[("a.test.js", &before, &after)]), vec![]);
    }

    /// An expected value that is removed is missed, wherever else it is written.
    #[test]
    fn another_expected_value_is_always_found(a in 0..50_u32, then in 0..50_u32, now in 50..99_u32, comment in proptest::bool::ANY) {
        let test = |value: u32| format!("def test_a():\n    assert f({a}) == {value}\n");
        let hidden = if comment { format!("# {a} {then}\n") } else { format!("VALUES = [{a}, {then}]\n") };
        let after = hidden + &test(now);
        proptest::prop_assert_eq!(kinds("make", &[("test_a.py", &test(then), &after)]), vec![Weakening::ChangedExpectation]);
    }
}

#[test]
fn files_that_checks_wrote_are_decided_by_a_verdict_only_for_a_unit() {
    let found = Finding::written_by_checks(&["calc.py".to_owned()]);
    assert!(
        found[0].way_on("M001/S01/T01").ends_with("`gsd-tools auto verdict M001/S01/T01 pass --rationale \"WHY\"`")
    );
    assert_eq!(found[0].way_on(""), "commit what the checks write, or have them write elsewhere");
}
