//! A file with tests, before and after, and which of its lines are new.

use std::collections::BTreeSet;

use super::Text;
use super::facts::Facts;
use super::finding::{Finding, Weakening};
use super::lexer::{Language, Token};
use super::lines;
use super::span::Span as _;
use crate::project::check_files::{Format, Role, config_of, role_of};

/// A file with tests, before and after.
#[derive(Debug)]
pub(super) struct TestFile<'text> {
    pub(super) path: &'text str,
    pub(super) role: TestRole,
    pub(super) before: Option<Facts<'text>>,
    pub(super) after: Option<Facts<'text>>,
    /// The lines of the new text that are not in the old one.
    pub(super) added: BTreeSet<usize>,
}

/// How a file is related to the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestRole {
    Tests,
    /// It runs before the tests.
    Setup,
    /// The tests are in the file that they test.
    Inside,
}

/// Longer texts are data.
const LONGEST: usize = 1 << 20;

impl<'text> TestFile<'text> {
    pub(super) fn of(text: &'text Text<'_>) -> Option<Self> {
        let language = Language::of(text.path)?;
        let role = if config_of(text.path).is_some_and(|row| row.format == Format::Code) {
            TestRole::Setup
        } else if role_of(text.path) == Some(Role::Test) {
            TestRole::Tests
        } else if language == Language::Rust {
            TestRole::Inside
        } else {
            return None;
        };
        let part = |text: &'text Option<String>| text.as_deref().filter(|text| text.len() <= LONGEST);
        let (before, after) = (part(&text.before), part(&text.after));
        let read = |text: &'text str| {
            let facts = Facts::read(text, language);
            if role == TestRole::Inside { inside(facts) } else { Some(facts) }
        };
        let file = Self {
            path: text.path,
            role,
            before: before.and_then(read),
            after: after.and_then(read),
            added: lines::added(before.unwrap_or_default(), after.unwrap_or_default()),
        };
        (file.before.is_some() || file.after.is_some()).then_some(file)
    }

    /// The tokens of the lines that are new.
    pub(super) fn new_tokens<'a>(&'a self) -> impl Iterator<Item = &'a Token<'text>> + use<'a, 'text> {
        let tokens = self.after.iter().flat_map(|facts| &facts.tokens);
        tokens.filter(|token| self.added.contains(&token.line))
    }

    /// The names of the tests that existed before.
    pub(super) fn known(&self) -> BTreeSet<&'text str> {
        self.before.iter().flat_map(Facts::names).collect()
    }

    /// The findings on those of these lines that are new.
    pub(super) fn new_findings(&self, all: impl IntoIterator<Item = (usize, Weakening, String)>) -> Vec<Finding> {
        let new = all.into_iter().filter(|(line, ..)| self.added.contains(line));
        new.map(|(line, kind, what)| Finding::new(self.path, line, kind, what)).collect()
    }
}

/// The names of all tests on one side of files.
pub(super) fn names_of<'a, 'text: 'a>(sides: impl Iterator<Item = &'a Option<Facts<'text>>>) -> BTreeSet<&'text str> {
    sides.flatten().flat_map(Facts::names).collect()
}

/// The part of a source that is compiled only for tests; `None` if it has none.
fn inside(facts: Facts<'_>) -> Option<Facts<'_>> {
    let from = facts.tokens.find(&["#", "[", "cfg", "(", "test", ")", "]"]).next()?;
    Some(facts.from(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_test_part_of_a_source_is_read() {
        let source = "fn a() { assert!(true); }\n#[cfg(test)]\nmod tests {\n#[test] fn b() { assert!(c()); }\n}\n";
        let text = Text { path: "src/a.rs", before: Some(source.to_owned()), after: Some("fn a() {}\n".to_owned()) };
        let file = TestFile::of(&text).unwrap();
        let before = file.before.unwrap();
        assert_eq!((before.assertions.len(), before.tests[0].name, file.after.is_none()), (1, "b", true));
    }
}
