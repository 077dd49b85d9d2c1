//! Decides about a missing assertion: rewritten, changed, or gone.

use std::collections::{BTreeSet, HashSet};

use super::assertion::{Assertion, is_constant, names_something};
use super::file::TestFile;
use super::lexer::Token;
use super::span::Span as _;
use super::strength::Strength;
use super::stricter::is_stricter;

/// The most literals of new code in which a rewritten assertion is searched for.
const SEARCHED: usize = 20_000;

/// What happened to a missing assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Its meaning is kept in other words.
    Rewritten,
    /// It expects something else, or tolerates more.
    Changed,
    Gone,
}

/// The new code of the tests.
pub(super) struct NewCode<'a, 'text> {
    /// For each file and strength, the values in the new lines, in order, without those of weaker assertions.
    literals: Vec<[Vec<&'text str>; Strength::ALL.len()]>,
    words: BTreeSet<&'text str>,
    assertions: Vec<NewAssertion<'a, 'text>>,
    /// The new assertions without their values.
    shapes: HashSet<(usize, String)>,
    /// For each file, whether it is gone, and whether it is new.
    is_gone: Vec<bool>,
    is_new: Vec<bool>,
}

/// A new assertion, with properties of it that are used repeatedly.
struct NewAssertion<'a, 'text> {
    file: usize,
    assertion: &'a Assertion<'text>,
    strength: Strength,
    is_constant: bool,
    /// Whether it calls a function of the tests, which asserts itself.
    is_helper: bool,
    literals: Vec<&'text str>,
    callees: Vec<&'text str>,
}

impl NewAssertion<'_, '_> {
    fn is_as_good(&self, strength: Strength) -> bool {
        !self.is_constant && self.strength >= strength
    }

    fn names(&self, word: &str) -> bool {
        self.assertion.tokens.has_word(word)
    }
}

impl<'a, 'text> NewCode<'a, 'text> {
    pub(super) fn of(
        files: &'a [TestFile<'text>],
        assertions: &'a [(usize, &'a Assertion<'text>)],
        helpers: &HashSet<&str>,
    ) -> Self {
        let assertions: Vec<NewAssertion<'a, 'text>> = assertions
            .iter()
            .map(|(file, assertion)| NewAssertion {
                file: *file,
                assertion,
                strength: assertion.strength(),
                is_constant: is_constant(assertion, helpers),
                is_helper: assertion.tokens.first().is_some_and(|first| helpers.contains(first.text)),
                literals: assertion.literals().collect(),
                callees: assertion.callees().collect(),
            })
            .collect();
        let mut new = Self {
            literals: Vec::new(),
            words: BTreeSet::new(),
            assertions,
            shapes: HashSet::new(),
            is_gone: files.iter().map(|file| file.after.is_none()).collect(),
            is_new: files.iter().map(|file| file.before.is_none()).collect(),
        };
        for (number, file) in files.iter().enumerate() {
            let tokens: Vec<&Token<'text>> = file.new_tokens().collect();
            new.words.extend(tokens.iter().filter(|token| names_something(token)).map(|token| token.text));
            let outside = |strength: Strength| {
                let weaker: HashSet<(usize, usize)> = new
                    .assertions
                    .iter()
                    .filter(|other| other.file == number && !other.is_helper && !other.is_as_good(strength))
                    .flat_map(|other| other.assertion.tokens.iter().map(|token| (token.line, token.column)))
                    .collect();
                let literals = tokens.iter().filter(|token| token.is_literal());
                let literals = literals.filter(|token| !weaker.contains(&(token.line, token.column)));
                literals.map(|token| token.text).take(SEARCHED).collect()
            };
            new.literals.push(Strength::ALL.map(outside));
        }
        new.shapes = new.assertions.iter().map(|other| (other.file, shape(other.assertion))).collect();
        new
    }

    /// Decides what happened to an assertion of a file.
    pub(super) fn fate(&self, file: usize, gone: &Assertion<'text>) -> Fate {
        let literals: Vec<&str> = gone.literals().collect();
        let own = shape(gone);
        // A file that is gone may have moved to a new one.
        let places: Vec<usize> = if self.is_gone.get(file).copied().unwrap_or_default() {
            (0..self.is_new.len()).filter(|other| self.is_new[*other]).collect()
        } else {
            vec![file]
        };
        if !literals.is_empty() && places.iter().any(|place| self.shapes.contains(&(*place, own.clone()))) {
            let mut same =
                self.assertions.iter().filter(|new| places.contains(&new.file) && shape(new.assertion) == own);
            let asks_for_more = same.any(|new| is_stricter(gone, new.assertion));
            return if asks_for_more { Fate::Rewritten } else { Fate::Changed };
        }
        let callees: Vec<&str> = gone.callees().collect();
        let strength = gone.strength();
        let thrown = gone.thrown();
        if let Some(thrown) = thrown.as_ref().filter(|thrown| !thrown.is_empty()) {
            let has_all = |new: &NewAssertion<'_, '_>| {
                new.assertion.thrown().is_some_and(|own| thrown.iter().all(|name| own.contains(name)))
            };
            let loosens = |new: &NewAssertion<'_, '_>| {
                new.file == file && callees.iter().all(|name| new.names(name)) && new.assertion.catches_more(thrown)
            };
            if !self.assertions.iter().any(has_all) && self.assertions.iter().any(loosens) {
                return Fate::Changed;
            }
        }
        // Assertions about the same call and the same values.
        let mut instead = self.assertions.iter().filter(|new| {
            !(new.is_helper || callees.is_empty() && literals.is_empty())
                && callees.iter().all(|name| new.names(name))
                && has_together(&new.literals, &literals)
        });
        if let Some(first) = instead.next() {
            let is_as_good = |new: &NewAssertion<'_, '_>| {
                new.is_as_good(strength) && thrown.as_ref().is_none_or(|thrown| !new.assertion.catches_more(thrown))
            };
            let is_said = std::iter::once(first).chain(instead).any(is_as_good);
            return if is_said { Fate::Rewritten } else { Fate::Changed };
        }
        // A table or a helper: the values in one place, and elsewhere an assertion that takes them.
        let is_called = callees.iter().all(|name| self.words.contains(name));
        let place = self.literals.iter().enumerate().filter(|(_, all)| {
            let all = all.get(strength as usize).map_or(&[][..], Vec::as_slice);
            has_together(all, &literals)
        });
        let places: BTreeSet<usize> = place.map(|(file, _)| file).collect();
        let takes_them = |new: &NewAssertion<'_, '_>| {
            let is_about_it = callees.iter().any(|name| new.names(name));
            let compares_variables = new.callees.is_empty() && (places.contains(&new.file) || new.literals.is_empty());
            new.is_as_good(strength) && (is_about_it || compares_variables)
        };
        let says_it = is_called && !places.is_empty() && self.assertions.iter().any(takes_them);
        if says_it { Fate::Rewritten } else { Fate::Gone }
    }
}

/// True if some values are next to each other, in any order.
fn has_together(all: &[&str], wanted: &[&str]) -> bool {
    if wanted.is_empty() {
        return true;
    }
    // A list this long matches only in the same order.
    if wanted.len() > 32 {
        return all.windows(wanted.len()).any(|window| window == wanted);
    }
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    all.windows(wanted.len()).any(|window| {
        // Most windows are not worth sorting.
        window.first().is_some_and(|first| wanted.binary_search(first).is_ok()) && {
            let mut window = window.to_vec();
            window.sort_unstable();
            window == wanted
        }
    })
}

/// The assertion without its values.
fn shape(assertion: &Assertion<'_>) -> String {
    let parts = assertion.tokens.iter().map(|token| if token.is_literal() { "\u{2}" } else { token.text });
    parts.collect::<Vec<_>>().join("\u{1}")
}
