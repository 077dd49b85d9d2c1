//! Tests that a plan promises: checks that the unit wrote one, and that the new ones can fail.

use super::facts::{Facts, Test};
use super::file::{TestFile, TestRole, names_of};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use super::{FileChange, file_name};
use crate::project::check_files::{Role, is_named_as_test, role_of};

/// A test that the plan names and that does not exist, if the unit wrote no test at all. `absent` are the files that
/// the plan names and that the tree of the unit lacks. A test that the unit removed did exist.
pub(super) fn unwritten(absent: &[String], changes: &[FileChange<'_>]) -> Vec<Finding> {
    let is_test = |path: &str| role_of(path) == Some(Role::Test);
    if changes.iter().any(|change| change.after.is_some() && is_test(change.path)) {
        return Vec::new();
    }
    let is_removed = |path: &str| changes.iter().any(|change| change.path == path);
    let missed = absent.iter().filter(|path| is_test(path) && !is_removed(path));
    missed
        .map(|path| Finding::new(path, 0, Weakening::MissingTest, "the plan names this test, and no test was written"))
        .collect()
}

/// New tests of which none can fail except by an exception. If one of them asserts something, the others may only check
/// that the code runs.
pub(super) fn empty(files: &[TestFile<'_>], expected: &[String]) -> Vec<Finding> {
    let mut found: Vec<Finding> = files.iter().filter_map(|file| without_any(file, expected)).collect();
    found.extend(asserting_nothing(files));
    found
}

/// A new file that has the name of a test file and contains none. In languages in which a test is a separate program:
/// nothing in it can fail. In others: the plan names it.
fn without_any(file: &TestFile<'_>, expected: &[String]) -> Option<Finding> {
    let facts = file.after.as_ref().filter(|_| file.before.is_none() && file.role == TestRole::Tests)?;
    let name = file_name(file.path);
    let stem = name.split('.').next().unwrap_or_default();
    let is_test = ["test_", "test-"].iter().any(|begin| stem.starts_with(begin))
        || ["_test", "-test", "_spec"].iter().any(|end| stem.ends_with(end))
        || is_named_as_test(file.path);
    let is_program = match facts.language {
        Language::Shell => true,
        Language::Braces => [".c", ".cc", ".cpp"].iter().any(|ending| name.ends_with(ending)),
        _ => false,
    };
    let is_promised = expected.iter().any(|path| path == file.path);
    let is_empty = if is_program { !program_says_something(facts) } else { facts.tests.is_empty() && is_promised };
    let what = "the new test asserts nothing";
    (is_test && is_empty && facts.tests.is_empty() && (is_program || is_judged(facts.language)))
        .then(|| Finding::new(file.path, 0, Weakening::EmptyTest, what))
}

/// True if code in a test program can make it fail.
fn program_says_something(facts: &Facts<'_>) -> bool {
    // `#include <assert.h>`
    let is_directive = |line: usize| facts.tokens.first_of(line).is_some_and(|first| first.is_mark("#"));
    let ends_badly = |pair: &[Token<'_>]| {
        let is_value = pair[1].kind != Kind::Mark && pair[1].text != "0" && pair[1].text != "EXIT_SUCCESS";
        matches!(pair[0].text, "return" | "exit") && (is_value || pair[1].is_mark("$") || pair[1].is_mark("!"))
    };
    !facts.assertions.is_empty()
        || facts.tokens.windows(2).any(ends_badly)
        || facts.tokens.iter().any(|token| says(token) && !is_directive(token.line))
}

fn asserting_nothing(files: &[TestFile<'_>]) -> Vec<Finding> {
    let known = names_of(files.iter().map(|file| &file.before));
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.role != TestRole::Setup) {
        let Some(facts) = file.after.as_ref().filter(|facts| is_judged(facts.language)) else { continue };
        for test in facts.tests.iter().filter(|test| !known.contains(test.name) && !is_around_others(facts, test)) {
            if says_something(facts, test) {
                return Vec::new();
            }
            let what = format!("the new test `{}` asserts nothing", test.name);
            found.push(Finding::new(file.path, test.line, Weakening::EmptyTest, what));
        }
    }
    found
}

/// True if something with the name of a test is a group of tests, or runs them.
fn is_around_others(facts: &Facts<'_>, test: &Test<'_>) -> bool {
    let is_group = |token: &Token<'_>| matches!(token.text, "describe" | "suite" | "context" | "group" | "TestMain");
    facts.tokens.on_line(test.line).iter().any(|token| token.kind == Kind::Word && is_group(token))
}

/// True if tests of a language are found only by how they begin.
fn is_judged(language: Language) -> bool {
    matches!(language, Language::Python | Language::Script | Language::Rust | Language::Go)
}

/// Beginnings of words with which a test reports a failure.
const SAYING: &[&str] = &[
    "assert", "check", "compare", "ensure", "err", "expect", "fail", "fatal", "is", "must", "not", "ok", "panic",
    "raise", "reject", "require", "same", "should", "snapshot", "throw", "unwrap", "verify", "equal", "deep", "match",
    "plan",
];

fn says_something(facts: &Facts<'_>, test: &Test<'_>) -> bool {
    let (from, to) = (facts.tokens.start_of(test.line), facts.tokens.start_of(facts.line_after(test)));
    facts.tokens[from..to].iter().any(|token| token.text != test.name && says(token))
}

fn says(token: &Token<'_>) -> bool {
    let word = token.text.trim_start_matches('_').to_ascii_lowercase();
    token.kind == Kind::Word && SAYING.iter().any(|begin| word.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    fn found(path: &str, before: Option<&str>, after: &str) -> usize {
        let change = FileChange { path, before: before.map(str::as_bytes), after: Some(after.as_bytes()) };
        let text = Text::of(&change);
        empty(&[TestFile::of(&text).unwrap()], &["tests/test_a.py".to_owned()]).len()
    }

    #[test]
    fn new_tests_that_assert_nothing_are_found() {
        for (path, text) in [
            ("tests/test_a.py", "def test_a():\n    pass\n"),
            ("tests/test_a.py", "import a\n\n\ndef test_a():\n    a.add(1, 2)\n\n\ndef test_b():\n    print(a)\n"),
            ("a.test.js", "const test = require('node:test')\ntest('adds', () => {})\n"),
            ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tAdd(1, 2)\n}\n"),
            ("tests/test_a.py", ""),
            ("tests/test_a.py", "A = 1\n"),
            ("tests/test_a.sh", ". ./calc.sh\n"),
            ("tests/test_a.sh", ""),
            ("tests/test_a.c", "#include <assert.h>\n\nint main(void) {\n    add(1, 2);\n    return 0;\n}\n"),
        ] {
            assert!(found(path, None, text) > 0, "{path}: {text}");
        }
        for (path, text) in [
            ("tests/test_a.py", "def test_a():\n    assert add(1, 2) == 3\n"),
            ("tests/test_a.py", "def test_import():\n    import a\n\n\ndef test_a():\n    assert a.add(1, 2) == 3\n"),
            ("tests/test_a.py", "def test_a(self):\n    with self.assertRaises(ValueError):\n        add('a')\n"),
            ("tests/test_a.py", "def test_a():\n    check_sum(1, 2)\n"),
            ("a.test.js", "test('adds', () => { expect(add(1, 2)).toBe(3) })\n"),
            ("a.test.js", "test('adds', (t) => { t.is(add(1, 2), 3) })\n"),
            ("a.test.js", "test('adds', () => { if (add(1, 2) !== 3) throw new Error() })\n"),
            ("tests/test_b.py", "A = 1\n"),
            ("tests/helpers.sh", "sum() {\n  add 1 2\n}\n"),
            ("tests/test_a.sh", ". ./calc.sh\ntest \"$(add 1 2)\" = 3 || exit 1\n"),
            ("tests/test_a.c", "int main(void) {\n    return add(1, 2) != 3;\n}\n"),
            (
                "tests/test_a.c",
                "#include <assert.h>\n\nint main(void) {\n    assert(add(1, 2) == 3);\n    return 0;\n}\n",
            ),
            (
                "a.test.js",
                "const test = require('node:test')\ntest.describe('all', () => {\n  test('adds', () => { expect(add(1, 2)).toBe(3) })\n})\n",
            ),
            ("main_test.go", "package a\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n}\n"),
        ] {
            assert_eq!(found(path, None, text), 0, "{path}: {text}");
        }
        assert_eq!(found("tests/test_a.py", Some("def test_a():\n    run()\n"), "def test_a():\n    run(1)\n"), 0);
    }

    #[test]
    fn a_promised_test_is_missed_only_if_no_test_was_written() {
        let absent = ["tests/test_a.py".to_owned(), "lib/a.py".to_owned()];
        let change = |path: &'static str, after: Option<&'static [u8]>| FileChange { path, before: None, after };
        assert_eq!(unwritten(&absent, &[change("README.md", Some(b"x"))]).len(), 1);
        assert_eq!(unwritten(&absent, &[change("tests/test_other.py", Some(b"x"))]).len(), 0);
        assert_eq!(unwritten(&absent, &[change("tests/test_a.py", None)]).len(), 0, "it was removed");
        assert_eq!(unwritten(&absent[1..], &[change("README.md", Some(b"x"))]).len(), 0);
    }
}
