//! One assertion of a test: what it compares, and whether it can fail at all.

use std::collections::HashSet;

use super::lexer::{Kind, Language, Token, is_constant_word};
use super::span::Span as _;
use crate::text::words::word_list;

/// A statement that fails if something is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assertion<'text> {
    pub(super) line: usize,
    pub(super) language: Language,
    pub(super) tokens: Vec<Token<'text>>,
    /// Whether it applies to the result of a call before it: `command().assert().stdout("x")`.
    pub(super) of_receiver: bool,
}

/// Calls that assert, if they are not methods of an object.
pub(super) const ASSERTING_CALLS: &[&str] = word_list!(
    "strictEqual deepStrictEqual deepEqual notStrictEqual equal notEqual ok throws rejects doesNotThrow match is isnt
     cmp_ok is_deeply raises"
);

/// Methods of a test's `t` that assert.
pub(super) const METHODS_OF_T: &[&str] = word_list!(
    "Error Errorf Fatal Fatalf Fail FailNow is not ok equal equals same strictSame deepEqual true false truthy falsy
     throws rejects match notOk regex like snapshot fail plan"
);

/// The tokens of an assertion without the message that it shows on failure.
pub(super) fn without_message<'text>(tokens: &[Token<'text>], language: Language) -> Vec<Token<'text>> {
    let is_call = tokens.last().is_some_and(|last| last.is_mark(")")) && !is_statement(tokens, language);
    let mut depth = 0_i32;
    let mut commas = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        depth += token.turn();
        if token.is_mark(",") && depth == i32::from(is_call) {
            commas.push(index);
        }
    }
    // A comparison takes two values, a plain assertion one.
    let values = if compares_two(tokens) && is_call { 2 } else { 1 };
    let is_text =
        |comma: usize| tokens.get(comma + 1).is_some_and(|token| token.kind == Kind::Text || token.is_word("f"));
    match commas.get(values - 1) {
        Some(comma) if is_text(*comma) => {
            let close = tokens.len().saturating_sub(1);
            let mut kept: Vec<Token<'text>> = tokens.get(..*comma).unwrap_or_default().to_vec();
            kept.extend(is_call.then(|| tokens.get(close).copied()).flatten());
            kept
        }
        _ => tokens.to_vec(),
    }
}

/// True if it is Python's `assert` statement, which is not a call.
fn is_statement(tokens: &[Token<'_>], language: Language) -> bool {
    language == Language::Python && tokens.first().is_some_and(|first| first.is_word("assert"))
}

/// `assert (a == b, "why")`: a tuple, which is always true.
fn is_tuple(tokens: &[Token<'_>], language: Language) -> bool {
    if !is_statement(tokens, language) || !tokens.is_mark(1, "(") {
        return false;
    }
    let mut depth = 0_i32;
    let mut has_comma = false;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        depth += token.turn();
        has_comma |= token.is_mark(",") && depth == 1;
        if depth == 0 {
            return has_comma && at + 1 == tokens.len();
        }
    }
    false
}

/// True if the words of an assertion say that it takes two values.
fn compares_two(tokens: &[Token<'_>]) -> bool {
    let head =
        tokens.iter().take(3).filter(|token| token.kind == Kind::Word).map(|token| token.text.to_ascii_lowercase());
    head.into_iter().any(|word| {
        word_list!("eq ne equal same match throws rejects is in greater less like raises contain")
            .iter()
            .any(|part| word.contains(part))
            && word != "assert"
            && word != "expect"
    })
}

/// True if an assertion passes whatever the program does. A helper of the tests may be called with literals only.
pub(super) fn is_constant(assertion: &Assertion<'_>, helpers: &HashSet<&str>) -> bool {
    let is_helper = assertion.tokens.first().is_some_and(|first| helpers.contains(first.text));
    !is_helper && assertion.is_constant()
}

impl<'text> Assertion<'text> {
    /// The key of an assertion, by which two are the same: its tokens, without those that are only layout.
    pub(super) fn key(&self) -> String {
        let mut key = String::new();
        for (at, token) in self.tokens.iter().enumerate() {
            let closes = self.tokens.get(at + 1).is_none_or(Token::closes);
            if !(token.is_mark(";") || token.is_mark(",") && closes) {
                key.extend([token.text, "\u{1}"]);
            }
        }
        key
    }

    /// The errors that it expects, as names and messages; `None` if it expects none.
    pub(super) fn thrown(&self) -> Option<Vec<&'text str>> {
        const PARTS: &[&str] = &["throw", "raise", "rejects", "fails"];
        let says = |token: &Token<'_>| {
            let word = token.text.to_ascii_lowercase();
            let is_of_library =
                !word.contains("not") && !matches!(word.as_str(), "toraise" | "tothrowerrormatchingsnapshot");
            token.kind == Kind::Word && is_of_library && PARTS.iter().any(|part| word.contains(part))
        };
        let at = self.tokens.iter().rposition(says).filter(|_| !self.has_not())?;
        let names = |token: &&Token<'text>| {
            token.kind == Kind::Text
                || token.kind == Kind::Word && token.text.starts_with(|first: char| first.is_uppercase())
        };
        Some(self.tokens.iter().skip(at + 1).filter(names).map(|token| token.text).collect())
    }

    /// True if it expects fewer of these names and messages, and so accepts any error or more of them.
    pub(super) fn catches_more(&self, thrown: &[&str]) -> bool {
        const ANY: &[&str] = &["Exception", "Error", "Throwable", "BaseException", "StandardError", "RuntimeException"];
        let Some(own) = self.thrown() else { return false };
        let is_less = |name: &&str| ANY.contains(name) || thrown.contains(name);
        let has_all = thrown.iter().all(|name| own.contains(name));
        !thrown.is_empty() && !has_all && own.iter().all(is_less)
    }

    /// True if one of its words negates what it asks for.
    pub(super) fn has_not(&self) -> bool {
        ["not", "not_to", "to_not"].iter().any(|word| self.tokens.has_word(word))
    }

    pub(super) fn literals(&self) -> impl Iterator<Item = &'text str> {
        self.tokens.iter().filter(|token| token.is_literal()).map(|token| token.text)
    }

    /// The functions that it calls, other than assertions.
    pub(super) fn callees(&self) -> impl Iterator<Item = &'text str> {
        let of_itself = |word: &str| {
            let lower = word.to_ascii_lowercase();
            lower.contains("assert")
                || lower.starts_with("expect")
                || lower.starts_with("to")
                || matches!(word, "eq" | "eql" | "be")
                || METHODS_OF_T.contains(&word)
                || ASSERTING_CALLS.contains(&word)
        };
        self.tokens.get(1..).unwrap_or_default().called().filter(move |word| !of_itself(word))
    }

    /// True if it passes whatever the program does.
    pub(super) fn is_constant(&self) -> bool {
        let tokens = self.tokens.as_slice();
        if is_tuple(tokens, self.language) {
            return true;
        }
        // A condition, which is not a value, and an assertion on another call's result.
        if self.of_receiver || tokens.is_word(0, "if") {
            return false;
        }
        let always = |window: &[Token<'_>]| {
            let is_true = |token: &Token<'_>| matches!(token.text, "true" | "True" | "1") && token.kind != Kind::Text;
            let is_or = |token: &Token<'_>| token.is_word("or");
            window[0].is_mark("|") && window[1].is_mark("|") && is_true(&window[2])
                || is_or(&window[1]) && is_true(&window[2])
                || is_true(&window[0]) && is_or(&window[1])
        };
        if tokens.windows(3).any(always) {
            return true;
        }
        let values = self.values();
        // A shell expands variables in a string.
        let is_filled = |token: &Token<'_>| self.language == Language::Shell && token.text.contains(['$', '`']);
        let is_literal = |value: &[Token<'_>]| {
            !value.is_empty()
                && value.iter().all(|token| token.kind == Kind::Mark || token.is_literal())
                && !value.iter().any(is_filled)
        };
        let is_asserted = !values.is_empty() && values.iter().all(|value| is_literal(value));
        let says_false =
            values.len() == 1 && values.iter().flatten().any(|token| matches!(token.text, "false" | "False" | "0"));
        let is_same = match values.as_slice() {
            [one, other, ..] => one.said() == other.said() && (self.is_exact() || compares_two(tokens)),
            _ => false,
        };
        (is_asserted && !says_false) || is_same
    }

    /// The values that it compares: arguments, and the two sides of `==`.
    fn values(&self) -> Vec<Vec<Token<'text>>> {
        let mut values: Vec<Vec<Token<'text>>> = Vec::new();
        let mut depth = 0_i32;
        let is_call = self.tokens.is_mark(1, "(") && self.tokens.last().is_some_and(|last| last.is_mark(")"));
        let is_bare = self.tokens.is_word(0, "assert")
            && !(self.tokens.is_mark(1, "!") || self.tokens.is_mark(1, ".") || is_call);
        let base = i32::from(!is_bare);
        let mut before_was_equals = false;
        if is_bare {
            values.push(Vec::new());
        }
        for token in self.tokens.iter().skip(1) {
            let opens = token.turn() > 0;
            depth -= i32::from(token.closes());
            let is_equals = token.is_mark("=");
            if opens && depth + 1 == base {
                values.push(Vec::new());
            } else if depth == base && (token.is_mark(",") || is_equals) {
                // `==` and `===` separate once.
                if !before_was_equals {
                    values.push(Vec::new());
                }
            } else if depth >= base
                && let Some(value) = values.last_mut()
            {
                value.push(*token);
            }
            before_was_equals = is_equals;
            depth += i32::from(opens);
        }
        values.retain(|value| !value.is_empty());
        values
    }
}

/// True if a word names something of the program.
pub(super) fn names_something(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && !is_constant_word(token.text)
}

#[cfg(test)]
mod tests {
    use crate::gate::tamper::facts::Facts;
    use crate::gate::tamper::lexer::Language;

    #[test]
    fn assertions_that_always_pass_are_distinguished_from_others() {
        for (path, text) in [
            ("a.py", "assert True"),
            ("a.py", "assert 1 == 1"),
            ("a.py", "assert add(1, 2) == 3 or True"),
            ("a.py", "self.assertTrue(True)"),
            ("a.py", "self.assertEqual(x, x)"),
            ("a.py", "assert add(1) == add(1)"),
            ("a.js", "expect(true).toBe(true)"),
            ("a.js", "expect(a).toEqual(a)"),
            ("a.js", "assert.ok(add(1, 2) === 3 || true)"),
            ("a.js", "assert.equal(3, 3)"),
            ("a.rs", "assert!(true)"),
            ("a.rs", "assert_eq!(1, 1)"),
        ] {
            let facts = Facts::read(text, Language::of(path).unwrap());
            assert!(facts.assertions[0].is_constant(), "{text}");
        }
        for (path, text) in [
            ("a.py", "assert add(1, 2) == 3"),
            ("a.py", "assert x"),
            ("a.py", "assert not x"),
            ("a.py", "self.assertEqual(x, 3)"),
            ("a.py", "self.assertRaises(E, f)"),
            ("a.js", "expect(add(1, 2)).toBe(3)"),
            ("a.js", "expect(fn).toThrow()"),
            ("a.js", "assert.fail()"),
            ("a.js", "assert.throws(() => f(1))"),
            ("a.rs", "assert!(a == b)"),
            ("a.rs", "assert!(false, \"not reached\")"),
            ("a.rs", "assert_eq!(f(1), f(2))"),
        ] {
            let facts = Facts::read(text, Language::of(path).unwrap());
            assert!(!facts.assertions[0].is_constant(), "{text}");
        }
    }
}
