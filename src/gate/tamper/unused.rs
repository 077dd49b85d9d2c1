//! Assertions that can be removed without loss: those of an exact copy of a test that stays, and those of a helper that
//! no test calls any more, because it was never called or its code is now in the tests themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::assertion::Assertion;
use super::collected::CALLED_BY_NAME;
use super::facts::{Facts, Test};
use super::file::{TestFile, TestRole};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use super::taken::definitions;

/// Assertions that may be removed.
#[derive(Debug, Default)]
pub(super) struct Unused<'text> {
    /// The assertions of copies, by file and key.
    of_copies: HashMap<(usize, String), usize>,
    copies: usize,
    /// Helpers that are gone, by file and line, with the values passed to each call of them.
    helpers: BTreeMap<(usize, usize), Helper<'text>>,
}

#[derive(Debug)]
struct Helper<'text> {
    last_line: usize,
    /// The file of each call, and the names and values passed to it.
    calls: Vec<(usize, Vec<&'text str>)>,
}

impl<'text> Unused<'text> {
    pub(super) fn of(files: &[TestFile<'text>]) -> Self {
        let mut unused = Self::default();
        for (number, file) in files.iter().enumerate().filter(|(_, file)| file.role != TestRole::Setup) {
            unused.copies_in(number, file);
            unused.helpers_in(number, file, files);
        }
        unused
    }

    /// How many tests were exact copies of others.
    pub(super) fn copies(&self) -> usize {
        self.copies
    }

    /// True if an assertion that is gone from a file is not missed. `added` are the new ones.
    pub(super) fn has(&mut self, file: usize, gone: &Assertion<'text>, added: &[(usize, &Assertion<'text>)]) -> bool {
        if let Some(count @ 1..) = self.of_copies.get_mut(&(file, gone.key())) {
            *count -= 1;
            return true;
        }
        let helper = self.helpers.range(..=(file, gone.line)).next_back();
        let helper = helper.filter(|((other, _), helper)| *other == file && helper.last_line >= gone.line);
        helper.is_some_and(|(_, helper)| {
            helper.calls.iter().all(|(place, given)| {
                added.iter().any(|(other, assertion)| {
                    let says = |word: &&str| assertion.tokens.iter().any(|token| token.text == *word);
                    other == place && assertion.strength() >= gone.strength() && given.iter().all(says)
                })
            })
        })
    }

    fn copies_in(&mut self, number: usize, file: &TestFile<'text>) {
        let (Some(before), Some(after)) = (&file.before, &file.after) else { return };
        // The effect of the same shell commands may depend on their place.
        if before.language == Language::Shell {
            return;
        }
        let kept: BTreeSet<String> = after.tests.iter().map(|test| said(after, test)).collect();
        let names: BTreeSet<&str> = after.names().collect();
        for test in before.tests.iter().filter(|test| !names.contains(test.name)) {
            let own = said(before, test);
            let is_copy = kept.contains(&own)
                && before.tests.iter().any(|other| names.contains(other.name) && said(before, other) == own);
            if is_copy {
                self.copies += 1;
                let last = extent(before, test).last().map_or(0, |token| token.line);
                for one in before.assertions.iter().filter(|one| one.line >= test.line && one.line <= last) {
                    *self.of_copies.entry((number, one.key())).or_default() += 1;
                }
            }
        }
    }

    fn helpers_in(&mut self, number: usize, file: &TestFile<'text>, files: &[TestFile<'text>]) {
        let Some(before) = &file.before else { return };
        // A shell continues after a call of a missing function.
        if matches!(before.language, Language::Shell | Language::Hashes) {
            return;
        }
        let now = files.iter().flat_map(|file| &file.after);
        let there: BTreeSet<&str> = now.flat_map(definitions).map(|one| one.name).collect();
        for one in definitions(before).into_iter().filter(|one| one.owner.is_none() && !there.contains(one.name)) {
            let last_line = one.body.last().map_or(one.line, |token| token.line);
            let asserts = before.asserts_in(one.line..=last_line);
            let has_tests = before.tests.iter().any(|test| (one.line..=last_line).contains(&test.line));
            let is_called_by_name = CALLED_BY_NAME.contains(&one.name) || one.name.starts_with("pytest_");
            if !asserts || has_tests || is_called_by_name || !is_plain_function(before, one.line) {
                continue;
            }
            let name = one.name;
            let mut given = Vec::new();
            for (place, file) in files.iter().enumerate() {
                let all = file.before.iter().flat_map(|facts| calls(facts, name));
                given.extend(all.map(|values| (place, values)));
            }
            self.helpers.insert((number, one.line), Helper { last_line, calls: given });
        }
    }
}

/// True if a top-level line begins a function without a mark above it.
fn is_plain_function(facts: &Facts<'_>, line: usize) -> bool {
    let own = facts.tokens.on_line(line);
    let is_word = |token: &Token<'_>| {
        matches!(token.text, "def" | "function" | "fn" | "func" | "fun" | "define") && token.kind == Kind::Word
    };
    let is_arrow = own.has(&["=", ">"]) && (own.is_mark(3, "(") || own.is_word(3, "async"));
    let is_function = own.iter().take(4).any(is_word) || is_arrow || facts.language == Language::Braces;
    own.first().is_some_and(|first| first.column == 0 && !first.is_word("class"))
        && is_function
        && marks_above(facts, line).is_none()
}

/// The line of marks right above another line.
fn marks_above<'a, 'text>(facts: &'a Facts<'text>, line: usize) -> Option<&'a [Token<'text>]> {
    let above = facts.tokens.on_line(facts.tokens.before(facts.tokens.start_of(line), 1)?.line);
    (above.is_mark(0, "@") || above.is_mark(0, "#")).then_some(above)
}

/// The names and values passed to each call of a function.
fn calls<'text>(facts: &Facts<'text>, name: &str) -> Vec<Vec<&'text str>> {
    let tokens = &facts.tokens;
    let declares = |word: &Token<'_>| matches!(word.text, "def" | "function" | "fn" | "func");
    let given = |at: usize| {
        let close = facts.partner(at + 1).unwrap_or(tokens.len());
        let inside = tokens.get(at + 2..close).unwrap_or_default();
        let says =
            |token: &&Token<'_>| token.kind != Kind::Mark && !matches!(token.text, "self" | "case" | "t" | "this");
        inside.iter().filter(says).map(|token| token.text).collect()
    };
    tokens.find(&[name, "("]).filter(|at| !tokens.before(*at, 1).is_some_and(declares)).map(given).collect()
}

/// All tokens of a test.
fn extent<'a, 'text>(facts: &'a Facts<'text>, test: &Test<'text>) -> &'a [Token<'text>] {
    let tokens = &facts.tokens;
    tokens.block(tokens.start_of(test.line), test.line, tokens.column_of(test.line))
}

/// The text of a test without its name, together with its group and the marks before it.
fn said(facts: &Facts<'_>, test: &Test<'_>) -> String {
    let inside = extent(facts, test);
    let column = inside.first().map_or(0, |first| first.column);
    let begin = facts.tokens.start_of(test.line);
    let outside = facts.tokens.iter().take(begin).rfind(|token| token.column < column);
    let group = outside.map_or(&[][..], |token| facts.tokens.on_line(token.line));
    let mut own = marks_above(facts, test.line).unwrap_or_default().to_vec();
    // A function that it calls may have the same name.
    let name = inside.iter().position(|token| token.text == test.name);
    own.extend(inside.iter().enumerate().filter(|(at, _)| Some(*at) != name).map(|(_, token)| *token));
    format!("{}\u{2}{}", group.said(), own.said())
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::super::compare::compare;
    use super::*;

    fn found(texts: &[(&str, &str, &str)]) -> (Vec<String>, usize) {
        let side = |text: &str| (text != "-").then(|| text.to_owned());
        let texts: Vec<_> =
            texts.iter().map(|(path, before, after)| Text { path, before: side(before), after: side(after) }).collect();
        let files: Vec<_> = texts.iter().filter_map(TestFile::of).collect();
        let compared = compare(&files);
        (compared.findings.iter().map(ToString::to_string).collect(), compared.rewritten)
    }

    #[test]
    fn one_of_several_exact_copies_is_enough() {
        let copy =
            |name: &str, sum: &str| format!("    def test_{name}(self):\n        self.assertEqual(add(1, 2), {sum})\n");
        let two = format!("class A(T):\n{}{}", copy("a", "3"), copy("b", "3"));
        let one = format!("class A(T):\n{}", copy("a", "3"));
        assert_eq!(found(&[("tests/test_a.py", &two, &one)]), (vec![], 1));
        let other = format!("class A(T):\n{}{}", copy("a", "3"), copy("b", "4"));
        assert_eq!(found(&[("tests/test_a.py", &other, &one)]).0.len(), 2);
        // In another class it may be another test.
        let apart = format!("class A(T):\n{}class B(U):\n{}", copy("a", "3"), copy("b", "3"));
        assert_eq!(found(&[("tests/test_a.py", &apart, &one)]).0.len(), 2);
        let marked = format!("class A(T):\n{}    @slow\n{}", copy("a", "3"), copy("b", "3"));
        assert_eq!(found(&[("tests/test_a.py", &marked, &one)]).0.len(), 2);
        let test = |name: &str| format!("test('{name}', () => {{\n  assert.equal(add(1, 2), 3)\n}})\n");
        let two = format!("{}{}", test("a"), test("b"));
        assert_eq!(found(&[("a.test.js", &two, &test("a"))]), (vec![], 1));
        let two = format!("{}{}", test("add"), test("b"));
        assert_eq!(found(&[("a.test.js", &two, &test("add"))]), (vec![], 1));
    }

    #[test]
    fn a_helper_that_no_test_needs_may_be_removed() {
        let helper = "def check_sum(case, got, want):\n    case.assertEqual(got, want)\n";
        let test = "class A(T):\n    def test_a(self):\n        check_sum(self, add(1, 2), 3)\n";
        let inlined = "class A(T):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n";
        assert_eq!(found(&[("tests/old.py", helper, "-")]).0, Vec::<String>::new());
        let both =
            |after: &'static str| found(&[("tests/helpers.py", helper, "-"), ("tests/test_a.py", test, after)]).0;
        assert_eq!(both(inlined), Vec::<String>::new());
        for after in [
            "class A(T):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 4)\n",
            "class A(T):\n    def test_a(self):\n        self.assertIsNotNone(add(1, 2), 3)\n",
            "class A(T):\n    def test_a(self):\n        pass\n",
            test,
        ] {
            let lost = both(after);
            assert!(
                lost.iter().any(|line| line.contains("the file is gone; 1 assertion of it in no other one")),
                "{after} {lost:?}"
            );
        }
        // A helper that still exists and asserts nothing was not removed.
        let empty = "def check_sum(case, got, want):\n    pass\n";
        assert_eq!(found(&[("tests/helpers.py", helper, empty)]).0.len(), 1);
        let hook = "def tearDownModule():\n    assert left() == 0\n";
        assert_eq!(found(&[("tests/test_a.py", hook, "x = 1\n")]).0.len(), 1);
        let shell = "check() {\n  test \"$1\" = \"$2\" || exit 1\n}\n";
        assert_eq!(found(&[("tests/helpers.sh", shell, "-")]).0.len(), 1);
    }
}
