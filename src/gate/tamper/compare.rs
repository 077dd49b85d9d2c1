//! Tests and assertions before and after, in all files of a diff at once, so that moved ones are not missed.

use std::collections::{HashMap, HashSet};

use super::assertion::{Assertion, is_constant};
use super::collected;
use super::facts::{Facts, Test};
use super::fate::{Fate, NewCode};
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Token};
use super::taken::definitions;
use super::unused::Unused;

/// The result of comparing tests.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) findings: Vec<Finding>,
    /// How many assertions are now cases of others, as in a table.
    pub(super) rewritten: usize,
}

/// The most missing assertions that are examined one by one.
const JUDGED: usize = 300;

pub(super) fn compare(files: &[TestFile<'_>]) -> Compared {
    let removed = missing(files, before, after);
    let added = missing(files, after, before);
    let helpers = helpers(files);
    let new = NewCode::of(files, &added, &helpers);
    let mut compared = Compared::default();
    let mut lost: Vec<(usize, &Assertion<'_>, Weakening)> = Vec::new();
    let mut unused = Unused::of(files);
    compared.rewritten += unused.copies();
    for (number, (file, assertion)) in removed.iter().enumerate() {
        if unused.has(*file, assertion, &added) {
            continue;
        }
        match if number < JUDGED { new.fate(*file, assertion) } else { Fate::Gone } {
            Fate::Rewritten => compared.rewritten += 1,
            Fate::Changed => lost.push((*file, assertion, Weakening::ChangedExpectation)),
            Fate::Gone => lost.push((*file, assertion, Weakening::RemovedAssertion)),
        }
    }
    let missed = missed_tests(files, compared.rewritten);
    for (number, file) in files.iter().enumerate() {
        let of_file = lost.iter().filter(|(index, ..)| *index == number);
        let tests = missed.iter().filter(|(index, _)| *index == number).map(|(_, test)| *test);
        compared.findings.extend(lost_in(file, of_file.map(|(_, assertion, kind)| (*assertion, *kind)), tests));
    }
    for (file, assertion) in added.iter().filter(|(_, assertion)| is_constant(assertion, &helpers)) {
        if let Some(file) = files.get(*file).filter(|file| file.role != TestRole::Setup) {
            let what = format!("`{}` holds whatever the program does", shown(&assertion.tokens));
            compared.findings.push(Finding::new(file.path, assertion.line, Weakening::ConstantAssertion, what));
        }
    }
    compared
}

/// Functions that the tests define, some of which may be called like assertions.
fn helpers<'text>(files: &[TestFile<'text>]) -> HashSet<&'text str> {
    let all = files.iter().filter_map(|file| file.after.as_ref()).flat_map(definitions);
    all.filter(|one| one.owner.is_none()).map(|one| one.name).collect()
}

fn before<'a, 'text>(file: &'a TestFile<'text>) -> &'a [Assertion<'text>] {
    file.before.as_ref().map_or(&[], |facts| &facts.assertions)
}

fn after<'a, 'text>(file: &'a TestFile<'text>) -> &'a [Assertion<'text>] {
    file.after.as_ref().map_or(&[], |facts| &facts.assertions)
}

type AssertionsOf<'a, 'text> = fn(&'a TestFile<'text>) -> &'a [Assertion<'text>];

/// The assertions that one side has and the other has not, with the index of the file.
fn missing<'a, 'text>(
    files: &'a [TestFile<'text>],
    side: AssertionsOf<'a, 'text>,
    other: AssertionsOf<'a, 'text>,
) -> Vec<(usize, &'a Assertion<'text>)> {
    let mut there: HashMap<String, usize> = HashMap::new();
    for assertion in files.iter().flat_map(other) {
        *there.entry(assertion.key()).or_default() += 1;
    }
    let all = files.iter().enumerate().flat_map(|(number, file)| side(file).iter().map(move |found| (number, found)));
    all.filter(|(_, assertion)| match there.get_mut(&assertion.key()) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    })
    .collect()
}

/// Tests that are gone without a replacement, with the index of the file. As many as there are assertions that became
/// cases of others are not missed.
fn missed_tests<'a, 'text>(files: &'a [TestFile<'text>], rewritten: usize) -> Vec<(usize, &'a Test<'text>)> {
    let mut there: HashMap<&str, usize> = HashMap::new();
    let mut count = (0_usize, 0_usize);
    let names = files.iter().flat_map(|file| &file.after).flat_map(Facts::names);
    for name in names.chain(collected::wrapped(files)) {
        *there.entry(name).or_default() += 1;
        count.1 += 1;
    }
    let mut lost = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for test in file.before.iter().flat_map(|facts| &facts.tests) {
            count.0 += 1;
            match there.get_mut(test.name) {
                Some(left @ 1..) => *left -= 1,
                _ => lost.push((number, test)),
            }
        }
    }
    if count.0.saturating_sub(count.1) > rewritten { lost } else { Vec::new() }
}

/// The findings for a file in which tests or assertions are gone.
fn lost_in<'a>(
    file: &TestFile<'_>,
    assertions: impl Iterator<Item = (&'a Assertion<'a>, Weakening)>,
    tests: impl Iterator<Item = &'a Test<'a>>,
) -> Vec<Finding> {
    let (assertions, tests): (Vec<_>, Vec<_>) = (assertions.collect(), tests.collect());
    if assertions.is_empty() && tests.is_empty() {
        return Vec::new();
    }
    let had = file.before.as_ref().map_or(0, |facts| facts.tests.len());
    let has = file.after.as_ref().map_or(0, |facts| facts.tests.len());
    // If nothing is left, one line says it all.
    if file.role != TestRole::Setup && (file.after.is_none() || had > 0 && has == 0) {
        let how = if file.after.is_none() { "is gone" } else { "has no test any more" };
        let count = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let lost = match (had, assertions.len()) {
            (0, lost) => format!("; {} of it in no other one", count(lost, "assertion")),
            (had, 0) => format!(", and with it {}", count(had, "test")),
            (had, lost) => {
                format!(", and with it {}, of which {} in no other one", count(had, "test"), count(lost, "assertion"))
            }
        };
        let what = format!("the file {how}{lost}");
        return vec![Finding::new(file.path, 0, Weakening::DeletedTests, what)];
    }
    let of_tests = tests.iter().map(|test| {
        Finding::new(file.path, test.line, Weakening::DeletedTests, format!("the test `{}` is gone", short(test.name)))
    });
    let of_assertions = assertions.iter().map(|(assertion, kind)| {
        let shown = shown(&assertion.tokens);
        let what = if *kind == Weakening::ChangedExpectation {
            format!("`{shown}` expects something else now")
        } else {
            format!("the assertion `{shown}` is gone")
        };
        Finding::new(file.path, assertion.line, *kind, what)
    });
    of_tests.chain(of_assertions).collect()
}

/// The tokens as they may have been written.
fn shown(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut before: Option<&Token<'_>> = None;
    for token in tokens {
        let is_tight = token.kind == Kind::Mark && "().,;:[]!?".contains(token.text);
        let was_tight = before.is_none_or(|before| before.kind == Kind::Mark && "(.[!".contains(before.text));
        let doubles = before
            .is_some_and(|before| before.kind == Kind::Mark && token.kind == Kind::Mark && before.text == token.text);
        if !is_tight && !was_tight && !doubles {
            text.push(' ');
        }
        if token.kind == Kind::Text {
            text.extend(["\"", token.text, "\""]);
        } else {
            text.push_str(token.text);
        }
        before = Some(token);
    }
    short(&text.replace('`', "'")).to_owned()
}

/// The part of a text that a message shows.
fn short(text: &str) -> &str {
    const LONGEST: usize = 100;
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(LONGEST).map_or(line.len(), |(at, _)| at);
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tamper::Text;

    fn kinds(path: &str, before: &str, after: &str) -> (Vec<Weakening>, usize) {
        let text = Text { path, before: Some(before.to_owned()), after: Some(after.to_owned()) };
        let files: Vec<_> = TestFile::of(&text).into_iter().collect();
        let compared = compare(&files);
        (compared.findings.into_iter().map(|finding| finding.kind).collect(), compared.rewritten)
    }

    #[test]
    fn a_table_with_the_values_of_the_assertions_is_equivalent() {
        let before = "def test_a():\n    assert add(1, 2) == 3\ndef test_b():\n    assert add(2, 2) == 4\n";
        let table = "@p.mark.parametrize('a,b,c', [\n    (1, 2, 3),\n    (2, 2, 4),\n])\ndef test_a(a, b, c):\n    assert add(a, b) == c\n";
        assert_eq!(kinds("test_a.py", before, table), (vec![], 2));
        let shorter = table.replace("    (2, 2, 4),\n", "");
        assert_eq!(kinds("test_a.py", before, &shorter).0, [Weakening::RemovedAssertion]);
        let other = table.replace("(2, 2, 4)", "(2, 2, 5)");
        assert_eq!(kinds("test_a.py", before, &other).0, [Weakening::RemovedAssertion]);
        let loose = table.replace("== c", "is not None");
        // Both assertions, and the test that is missing with them.
        assert_eq!(kinds("test_a.py", before, &loose).0.len(), 3);
    }

    #[test]
    fn another_value_in_the_same_assertion_is_a_changed_expectation() {
        let before = "test('a', () => { expect(add(1, 2)).toBe(3) })\n";
        let after = before.replace("toBe(3)", "toBe(4)");
        assert_eq!(kinds("a.test.js", before, &after).0, [Weakening::ChangedExpectation]);
        // Also if the old values appear elsewhere in new code.
        let hidden = format!("const unused = [1, 2, 3]\n{after}");
        assert_eq!(kinds("a.test.js", before, &hidden).0, [Weakening::ChangedExpectation]);
    }

    #[test]
    fn an_assertion_is_shown_as_it_may_have_been_written() {
        let text = Text {
            path: "a.test.js",
            before: Some("test('a', () => { assert.equal(add(1, 'x'), 3) })".to_owned()),
            after: None,
        };
        let files: Vec<_> = TestFile::of(&text).into_iter().collect();
        let found = files[0].before.as_ref().unwrap();
        assert_eq!(shown(&found.assertions[0].tokens), "assert.equal(add(1, \"x\"), 3)");
    }
}
