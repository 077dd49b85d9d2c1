//! Tests that a plan promises: that the unit wrote one, and that the new ones can fail.

use std::collections::BTreeSet;

use super::FileChange;
use super::facts::{Facts, Test};
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use crate::project::check_files::{Role, role_of};

/// A test that the plan names and that is not there, where the unit wrote no test at all. `absent` are the files that the
/// plan names and that the tree of the unit lacks. One that the unit removed was there.
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

/// New tests of which none can fail but by an exception. Where one of them asserts something, the others may be there to be
/// run alone.
pub(super) fn empty(files: &[TestFile<'_>]) -> Vec<Finding> {
    let names = |facts: &Option<Facts<'_>>| -> BTreeSet<String> {
        facts.iter().flat_map(|facts| &facts.tests).map(|test| test.name.to_owned()).collect()
    };
    let known: BTreeSet<String> = files.iter().flat_map(|file| names(&file.before)).collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.role != TestRole::Setup) {
        let Some(facts) = file.after.as_ref().filter(|facts| is_judged(facts.language)) else { continue };
        for test in facts.tests.iter().filter(|test| !known.contains(test.name)) {
            let inside = tokens_of(facts, test);
            // It prepares a run, or has the next ones inside.
            if facts.language == Language::Go && test.name == "TestMain" || is_open(&inside) {
                continue;
            }
            if says_something(&inside, test) {
                return Vec::new();
            }
            let what = format!("the new test `{}` asserts nothing", test.name);
            found.push(Finding::new(file.path, test.line, Weakening::EmptyTest, what));
        }
    }
    found
}

/// Whether tests of a language are found by their beginnings alone.
fn is_judged(language: Language) -> bool {
    matches!(language, Language::Python | Language::Script | Language::Rust | Language::Go)
}

/// The beginnings of words by which a test says that something is not as it should be.
const SAYING: &[&str] = &[
    "assert", "check", "compare", "ensure", "err", "expect", "fail", "fatal", "is", "must", "not", "ok", "panic",
    "raise", "reject", "require", "same", "should", "snapshot", "throw", "unwrap", "verify", "equal", "deep", "match",
    "plan",
];

/// The tokens of a test, up to the next one.
fn tokens_of<'a, 'text>(facts: &'a Facts<'text>, test: &Test<'_>) -> Vec<&'a Token<'text>> {
    let next = facts.tests.iter().map(|other| other.line).filter(|line| *line > test.line).min();
    let is_inside = |token: &&Token<'_>| token.line >= test.line && next.is_none_or(|next| token.line < next);
    facts.tokens.iter().filter(is_inside).collect()
}

/// Whether the next test begins before this one ends.
fn is_open(tokens: &[&Token<'_>]) -> bool {
    let count = |mark: &str| tokens.iter().filter(|token| token.is_mark(mark)).count();
    count("{") > count("}")
}

fn says_something(inside: &[&Token<'_>], test: &Test<'_>) -> bool {
    inside.iter().any(|token| {
        let word = token.text.trim_start_matches('_').to_ascii_lowercase();
        token.kind == Kind::Word && token.text != test.name && SAYING.iter().any(|begin| word.starts_with(begin))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    fn found(path: &str, before: Option<&str>, after: &str) -> usize {
        let change = FileChange { path, before: before.map(str::as_bytes), after: Some(after.as_bytes()) };
        let text = Text::of(&change);
        empty(&[TestFile::of(&text).unwrap()]).len()
    }

    #[test]
    fn new_tests_that_assert_nothing_are_found() {
        for (path, text) in [
            ("tests/test_a.py", "def test_a():\n    pass\n"),
            ("tests/test_a.py", "import a\n\n\ndef test_a():\n    a.add(1, 2)\n\n\ndef test_b():\n    print(a)\n"),
            ("a.test.js", "const test = require('node:test')\ntest('adds', () => {})\n"),
            ("a.test.js", "test('all', () => {\n  test('adds', () => {})\n})\n"),
            ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tAdd(1, 2)\n}\n"),
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
            ("tests/test_a.py", "A = 1\n"),
            ("a.test.js", "test('all', () => {\n  test('adds', (t) => { t.is(add(1, 2), 3) })\n})\n"),
            ("main_test.go", "package a\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n"),
        ] {
            assert_eq!(found(path, None, text), 0, "{path}: {text}");
        }
        assert_eq!(found("tests/test_a.py", Some("def test_a():\n    run()\n"), "def test_a():\n    run(1)\n"), 0);
    }

    #[test]
    fn a_promised_test_is_missed_only_where_no_test_was_written() {
        let absent = ["tests/test_a.py".to_owned(), "lib/a.py".to_owned()];
        let change = |path: &'static str, after: Option<&'static [u8]>| FileChange { path, before: None, after };
        assert_eq!(unwritten(&absent, &[change("README.md", Some(b"x"))]).len(), 1);
        assert_eq!(unwritten(&absent, &[change("tests/test_other.py", Some(b"x"))]).len(), 0);
        assert_eq!(unwritten(&absent, &[change("tests/test_a.py", None)]).len(), 0, "it was removed");
        assert_eq!(unwritten(&absent[1..], &[change("README.md", Some(b"x"))]).len(), 0);
    }
}
