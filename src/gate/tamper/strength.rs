//! How strict an assertion is: one value, a value near another, one of many, or only any value.

use super::assertion::Assertion;
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use crate::text::words::word_list;

/// From the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Any value but a few: it exists, it is true, it is not a certain one.
    Any,
    /// One of many: within bounds that the test names, smaller or greater, a part of something.
    Bounded,
    /// Nearly one value, as near as the library's default requires.
    Near,
    /// One value.
    Exact,
}

impl Strength {
    pub(super) const ALL: [Self; 4] = [Self::Any, Self::Bounded, Self::Near, Self::Exact];
}

/// Parts of words that compare as nearly the same.
const NEARLY: &[&str] = word_list!(
    "almost approx closeto close_to isclose allclose relative_eq abs_diff_eq ulps_eq float_eq double_eq within in_delta
     indelta in_epsilon inepsilon _near"
);

/// Those among them that always take the allowed distance as an argument.
const GIVEN: &[&str] = &["within", "delta", "epsilon", "_near"];

/// Names of arguments that give the allowed distance of a value.
const TOLERANCES: &[&str] = word_list!(
    "delta places tolerance epsilon atol rtol abs_tol rel_tol abs rel decimal max_relative max_ulps accuracy precision"
);

/// Parts of words that ask for an order, or for a part of a value.
const BOUNDING: &[&str] = word_list!(
    "less greater between above below atmost atleast at_most at_least contain include startswith endswith starts_with
     ends_with regex regexp subset superset inrange in_range"
);

impl Assertion<'_> {
    /// The strength of the assertion.
    pub(super) fn strength(&self) -> Strength {
        let words: Vec<String> = self.words().map(str::to_ascii_lowercase).collect();
        if let Some(near) = words.iter().find(|word| NEARLY.iter().any(|part| word.contains(part))) {
            let is_bounded = GIVEN.iter().any(|part| near.contains(part)) || self.has_tolerance();
            return if is_bounded { Strength::Bounded } else { Strength::Near };
        }
        if self.has_tolerance() {
            return Strength::Bounded;
        }
        let (equals, differs) = (self.has_equals(), self.has_differs());
        let is_report = self.language == Language::Go && self.tokens.is_word(0, "if");
        if is_report && equals {
            return Strength::Any;
        }
        let is_bounding = words.iter().any(|word| BOUNDING.iter().any(|part| word.contains(part)));
        let is = self.tokens.windows(2).any(|pair| pair[0].is_word("is") && !pair[1].is_word("not"));
        let is_be = self.language == Language::Ruby
            && self.tokens.windows(2).any(|pair| pair[0].is_word("be") && pair[1].is_mark("("));
        let is_exact = equals || is || is_be || (is_report && differs) || self.words().any(names_equality);
        if is_exact && !self.is_negated() && !self.has_choice() {
            let is_partial = words.iter().any(|word| matches!(word.as_str(), "tomatch" | "tomatchobject"));
            return if is_partial { Strength::Near } else { Strength::Exact };
        }
        let is_part = words.iter().any(|word| matches!(word.as_str(), "in" | "grep" | "match" | "assertin" | "like"));
        if is_bounding || is_part || is_exact && self.has_choice() || self.has_order() {
            return Strength::Bounded;
        }
        Strength::Any
    }

    /// True if it asks for exactly one value.
    pub(super) fn is_exact(&self) -> bool {
        self.strength() == Strength::Exact
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text)
    }

    /// True if an argument gives the allowed distance of a value.
    fn has_tolerance(&self) -> bool {
        let is_named = self.tokens.windows(3).any(|three| {
            three[0].kind == Kind::Word
                && TOLERANCES.contains(&three[0].text)
                && (three[1].is_mark("=") && !three[2].is_mark("=") || three[1].is_mark(":") && !three[2].is_mark(":"))
        });
        // `toBeCloseTo(3, -2)`, `assertAlmostEqual(x, 3, 0)`, `assertEquals(3.0, x, 10)`
        let is_given = self.tokens.iter().enumerate().any(|(at, token)| {
            let word = token.text.to_ascii_lowercase();
            let most = match word.as_str() {
                "tobecloseto" | "approx" | "closeto" | "approximately" => 1,
                "assertequals" if self.language == Language::Braces => 2,
                word if word.contains("almost") || word.contains("isclose") || word.contains("allclose") => 2,
                _ => return false,
            };
            token.kind == Kind::Word && {
                let values = self.values_from(at + 1);
                values.len() > most && values.last().is_some_and(|last| last.iter().all(|token| is_amount(token)))
            }
        });
        is_named || is_given
    }

    /// The arguments of the call whose bracket is at `open`.
    fn values_from(&self, open: usize) -> Vec<&[Token<'_>]> {
        let Some(rest) = self.tokens.get(open..).filter(|rest| rest.is_mark(0, "(")) else { return Vec::new() };
        let (mut depth, mut from, mut values) = (0_i32, 1, Vec::new());
        for (at, token) in rest.iter().enumerate() {
            depth += token.turn();
            if depth == 0 || depth == 1 && token.is_mark(",") {
                values.extend(rest.get(from..at).filter(|value| !value.is_empty()));
                from = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
        values
    }

    fn has_equals(&self) -> bool {
        let tokens = &self.tokens;
        let is_after = |at: usize, marks: [&str; 3]| {
            tokens.before(at, 1).is_some_and(|before| marks.iter().any(|mark| before.is_mark(mark)))
        };
        let doubled = tokens.find(&["=", "="]).any(|at| !is_after(at, ["!", "<", ">"]));
        if self.language != Language::Shell {
            return doubled;
        }
        let single = tokens.find(&["="]).any(|at| !tokens.is_mark(at + 1, "=") && !is_after(at, ["!", "=", "~"]));
        let is_called = |word: &str| tokens.has_word(word);
        let by_option = tokens.has(&["-", "eq"]);
        // `grep -x`, and a pattern anchored at both ends.
        let whole = is_called("grep")
            && tokens.iter().any(|token| {
                token.kind == Kind::Text && token.text.starts_with('^') && token.text.ends_with('$')
                    || token.kind == Kind::Word && token.text.len() < 5 && token.text.contains('x')
            });
        doubled || single || by_option || is_called("diff") || is_called("cmp") || whole
    }

    fn has_differs(&self) -> bool {
        self.tokens.has(&["!", "="])
    }

    /// True if it has `<` or `>` that is not part of an arrow or a type.
    fn has_order(&self) -> bool {
        let by_mark = self.tokens.windows(2).any(|pair| {
            let is_arrow = pair[1].is_mark(">") && (pair[0].is_mark("=") || pair[0].is_mark("-"));
            pair[1].kind == Kind::Mark && matches!(pair[1].text, "<" | ">") && !is_arrow
        });
        let by_option = self.tokens.windows(2).any(|pair| {
            pair[0].is_mark("-") && matches!(pair[1].text, "lt" | "le" | "gt" | "ge") && pair[1].kind == Kind::Word
        });
        by_mark || by_option
    }

    /// True if it passes if one of several conditions is true.
    fn has_choice(&self) -> bool {
        let is_or = |three: &[Token<'_>]| {
            let begins = three[0].kind == Kind::Mark && matches!(three[0].text, "(" | "," | "=" | "|");
            three[1].is_mark("|") && three[2].is_mark("|") && !begins
        };
        self.language != Language::Shell && (self.tokens.windows(3).any(is_or) || self.tokens.has_word("or"))
    }

    fn is_negated(&self) -> bool {
        if self.language == Language::Python {
            // `assert not x`; in a longer condition it is only a part.
            return self.words().nth(1) == Some("not");
        }
        self.has_not()
    }
}

/// True for a number, or a token in an expression of numbers.
fn is_amount(token: &Token<'_>) -> bool {
    token.kind == Kind::Number
        || token.kind == Kind::Mark && matches!(token.text, "-" | "." | "(" | ")" | "*" | "/" | "+")
}

/// True if a word says that two values are the same.
fn names_equality(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_negated = lower.contains("not") || lower.contains("ne_") || lower.ends_with("_ne");
    let is_named = ["equal", "_eq", "tobe", "tomatch", "tohave", "deep", "same", "matches"]
        .iter()
        .any(|part| lower.contains(part));
    let is_loose = word_list!(
        "tobetruthy tobedefined tobegreater tobeless tobenull tobefalsy tobenan tobeinstance tobetypeof tobecloseto"
    );
    let is_order = lower.contains("less") || lower.contains("greater");
    (is_named || matches!(word, "eq" | "eql"))
        && !is_negated
        && !is_order
        && !is_loose.iter().any(|loose| lower.starts_with(loose))
}

#[cfg(test)]
mod tests {
    use super::Strength::{Any, Bounded, Exact, Near};
    use crate::gate::tamper::facts::Facts;
    use crate::gate::tamper::lexer::Language;

    #[test]
    fn one_value_is_distinguished_from_nearly_one_and_from_one_of_many() {
        for (path, text, expected) in [
            ("a.py", "self.assertEqual(add(1, 2), 3)", Exact),
            ("a.py", "assert add(1, 2) == 3", Exact),
            ("a.py", "assert add(1, 2) == 3 and not x", Exact),
            ("a.py", "self.assertAlmostEqual(add(1, 2), 3)", Near),
            ("a.py", "assert add(1, 2) == pytest.approx(3)", Near),
            ("a.py", "assert add(1, 2) == pytest.approx(3, abs=9)", Bounded),
            ("a.py", "self.assertAlmostEqual(add(1, 2), 3, delta=1000)", Bounded),
            ("a.py", "self.assertAlmostEqual(add(1, 2), 3, -3)", Bounded),
            ("a.py", "self.assertLessEqual(add(1, 2), 3)", Bounded),
            ("a.py", "assert abs(add(1, 2) - 3) < 9", Bounded),
            ("a.py", "assert add(1, 2) == 3 or add(1, 2) == 4", Bounded),
            ("a.py", "self.assertTrue(add(1, 2), 3)", Any),
            ("a.py", "assert not add(1, 2) == 3", Any),
            ("a.py", "self.assertNotEqual(add(1, 2), 3)", Any),
            ("a.js", "assert.strictEqual(add(1, 2), 3)", Exact),
            ("a.js", "assert.ok(add(1, 2) === 3)", Exact),
            ("a.js", "expect(add(1, 2)).toBe(3)", Exact),
            ("a.js", "expect(run(() => 3)).toEqual([3])", Exact),
            ("a.js", "expect(add(1, 2)).toBeCloseTo(3)", Near),
            ("a.js", "expect(add(1, 2)).toBeCloseTo(3, -4)", Bounded),
            ("a.js", "expect(add(1, 2)).to.be.closeTo(3, 1000)", Bounded),
            ("a.js", "assert.ok(Math.abs(add(1, 2) - 3) < 1000)", Bounded),
            ("a.js", "expect(add(1, 2)).toBeLessThanOrEqual(3)", Bounded),
            ("a.js", "expect(add(1, 2)).not.toBe(3)", Any),
            ("a.js", "assert.ok(add(1, 2), 3)", Any),
            ("a.js", "assert.ok(add(1, 2) !== 3)", Any),
            ("a.rs", "assert_eq!(add(1, 2), 3)", Exact),
            ("a.rs", "assert!((add(1.0, 2.0) - 3.0).abs() < 9.0)", Bounded),
            ("a.rs", "assert_ne!(add(1, 2), 3)", Any),
            ("a.c", "assert(add(1, 2) == 3);", Exact),
            ("a.c", "assert(add(1, 2) <= 3);", Bounded),
            ("a.java", "assertEquals(3.0, add(1, 2), 1000);", Bounded),
            ("a.java", "assertEquals(3, add(1, 2));", Exact),
            ("a_test.go", "if got := Add(1, 2); got != 3 {\n  t.Fatal(1)\n}", Exact),
            ("a_test.go", "if got := Add(1, 2); got > 3 {\n  t.Fatal(1)\n}", Bounded),
            ("a_test.go", "assert.InDelta(t, 3, Add(1, 2), 9)", Bounded),
            ("a.sh", "test \"$(add 1 2)\" = 3 || fail", Exact),
            ("a.sh", "[ \"$(add 1 2)\" -eq 3 ]", Exact),
            ("a.sh", "test \"$(add 1 2)\" -le 3 || fail", Bounded),
            ("a.sh", "test \"$(add 1 2)\" != 3 || fail", Any),
            ("a.sh", "add 1 2 | grep -q 3", Bounded),
            ("a.sh", "add 1 2 | grep -qx 3", Exact),
            ("a_spec.rb", "expect(add(1, 2)).to eq(3)\n", Exact),
            ("a_spec.rb", "expect(add(1, 2)).to be_within(9).of(3)\n", Bounded),
        ] {
            let facts = Facts::read(text, Language::of(path).unwrap());
            assert_eq!(facts.assertions[0].strength(), expected, "{text}");
        }
    }
}
