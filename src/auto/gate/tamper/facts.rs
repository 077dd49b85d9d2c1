//! What the source of a test says: which tests it has, and what they assert.

use super::lexer::{Kind, Language, Token, is_constant_word, tokens};

/// What the source of a test says.
#[derive(Debug)]
pub(super) struct Facts<'text> {
    pub(super) language: Language,
    pub(super) tokens: Vec<Token<'text>>,
    pub(super) tests: Vec<Test<'text>>,
    pub(super) assertions: Vec<Assertion<'text>>,
}

/// A test by its name. It goes to the line before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test<'text> {
    pub(super) name: &'text str,
    pub(super) line: usize,
}

/// A statement that fails where something is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assertion<'text> {
    pub(super) line: usize,
    pub(super) tokens: Vec<Token<'text>>,
}

impl<'text> Facts<'text> {
    pub(super) fn read(text: &'text str, language: Language) -> Self {
        let tokens = tokens(text, language);
        let source = Source { tokens: &tokens, partners: partners(&tokens), language };
        let (tests, assertions) = (source.tests(), source.assertions());
        Self { language, tokens, tests, assertions }
    }

    /// The test that a line belongs to, or that comes right after it.
    pub(super) fn test_at(&self, line: usize) -> Option<&Test<'text>> {
        let next = self.tests.partition_point(|test| test.line < line);
        let is_near = |test: &&Test<'_>| test.line <= line + 6;
        self.tests.get(next).filter(is_near).or_else(|| self.tests.get(next.checked_sub(1)?))
    }

    /// Whether a test asserts anything.
    pub(super) fn asserts(&self, test: &Test<'_>) -> bool {
        let next = self.tests.get(self.tests.partition_point(|other| other.line <= test.line));
        let first = self.assertions.get(self.assertions.partition_point(|found| found.line < test.line));
        first.is_some_and(|found| next.is_none_or(|next| found.line < next.line))
    }
}

/// The tokens of a source, and which brackets belong together.
struct Source<'a, 'text> {
    tokens: &'a [Token<'text>],
    partners: Vec<Option<usize>>,
    language: Language,
}

impl Source<'_, '_> {
    fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }
}

/// Words that begin a test whose name is a string.
const NAMED_BY_TEXT: &[&str] =
    &["it", "test", "specify", "xit", "fit", "xtest", "ftest", "xspecify", "scenario", "example"];

impl<'text> Source<'_, 'text> {
    fn tests(&self) -> Vec<Test<'text>> {
        let (tokens, language) = (self.tokens, self.language);
        let mut found = Vec::new();
        let word = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word);
        let is_mark = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is_mark(mark));
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
            let named = match token.text {
                "fn" if language == Language::Rust => word(at + 1).filter(|_| self.has_test_attribute(at)),
                "def" | "func" | "function" | "fun" | "void" if language != Language::Rust => {
                    word(at + 1).filter(|name| name.text.starts_with("test") || name.text.starts_with("Test"))
                }
                text if NAMED_BY_TEXT.contains(&text) => {
                    let is_method = at > 0 && is_mark(at - 1, ".");
                    let of_context =
                        is_method && at > 1 && word(at - 2).is_some_and(|owner| ["t", "Deno"].contains(&owner.text));
                    (!is_method || of_context).then(|| self.text_of_call(at)).flatten()
                }
                "Test" | "ParameterizedTest" | "Fact" | "Theory" if language == Language::Braces && at > 0 => {
                    let is_attribute = is_mark(at - 1, "@") || is_mark(at - 1, "[");
                    let names = (at + 1..tokens.len().min(at + 24)).filter(|next| is_mark(next + 1, "("));
                    names.filter_map(word).find(|name| name.line > token.line).filter(|_| is_attribute)
                }
                // `test_x() {`
                text if language == Language::Shell && text.starts_with("test_") => {
                    Some(token).filter(|_| is_mark(at + 1, "(") && is_mark(at + 2, ")"))
                }
                _ => None,
            };
            found.extend(named.map(|name| Test { name: name.text, line: token.line }));
        }
        found
    }

    /// The string that a call begins with, behind `.each(...)` and the like.
    fn text_of_call(&self, at: usize) -> Option<&Token<'text>> {
        let tokens = self.tokens;
        let mut next = at + 1;
        loop {
            let token = tokens.get(next)?;
            if token.is_mark(".") {
                next += 2;
            } else if token.is_mark("(") {
                let first = tokens.get(next + 1)?;
                if first.kind == Kind::Text {
                    return Some(first);
                }
                next = self.partner(next)? + 1;
            } else {
                // `it "does x" do`, `test.each`table``
                return Some(token).filter(|token| token.kind == Kind::Text);
            }
            if next > at + 400 {
                return None;
            }
        }
    }

    /// Whether the attributes before `fn` make it a test.
    fn has_test_attribute(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let mut at = at;
        while let Some(before) = at.checked_sub(1) {
            let Some(token) = tokens.get(before) else { return false };
            if token.is_mark("]") {
                let Some(open) = self.partner(before) else { return false };
                let inside = tokens.get(open..before).unwrap_or_default();
                let is_test = |token: &Token<'_>| {
                    token.kind == Kind::Word
                        && matches!(token.text, "test" | "rstest" | "test_case" | "proptest" | "quickcheck")
                };
                if inside.iter().any(is_test) && !inside.iter().any(|token| token.is_word("cfg")) {
                    return true;
                }
                at = open.saturating_sub(1);
            } else if matches!(token.text, "pub" | "async" | "unsafe" | "const" | ")" | "(" | "crate") {
                at = before;
            } else {
                return false;
            }
        }
        false
    }
}

/// For each bracket the other one of its pair.
fn partners(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
        match token.text {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                if let Some(other) = open.pop() {
                    if let Some(place) = partners.get_mut(other) {
                        *place = Some(at);
                    }
                    if let Some(place) = partners.get_mut(at) {
                        *place = Some(other);
                    }
                }
            }
            _ => {}
        }
    }
    partners
}

/// Calls that assert, where they are not methods of something.
const ASSERTING_CALLS: &[&str] = &[
    "strictEqual",
    "deepStrictEqual",
    "deepEqual",
    "notStrictEqual",
    "equal",
    "notEqual",
    "ok",
    "throws",
    "rejects",
    "doesNotThrow",
    "match",
    "is",
    "isnt",
    "cmp_ok",
    "is_deeply",
    "raises",
];

/// Methods of the `t` of a test that assert.
const METHODS_OF_T: &[&str] = &[
    "Error",
    "Errorf",
    "Fatal",
    "Fatalf",
    "Fail",
    "FailNow",
    "is",
    "not",
    "ok",
    "equal",
    "equals",
    "same",
    "strictSame",
    "deepEqual",
    "true",
    "false",
    "truthy",
    "falsy",
    "throws",
    "rejects",
    "match",
    "notOk",
    "regex",
    "like",
    "snapshot",
    "fail",
    "plan",
];

/// Commands of a shell that compare.
const COMPARING: &[&str] = &["[", "test", "diff", "cmp", "grep"];

impl<'text> Source<'_, 'text> {
    fn assertions(&self) -> Vec<Assertion<'text>> {
        let (tokens, language) = (self.tokens, self.language);
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let extent = if language == Language::Shell {
                shell_assertion(tokens, at)
            } else if begins(tokens, at, language) {
                Some(self.extent(at))
            } else {
                None
            };
            match extent {
                Some((from, to)) => {
                    let inside = tokens.get(from..to).unwrap_or_default();
                    found.push(Assertion { line: token.line, tokens: without_message(inside) });
                    at = to.max(at + 1);
                }
                None => at += 1,
            }
        }
        found
    }
}

/// Whether an assertion begins at a token.
fn begins(tokens: &[Token<'_>], at: usize, language: Language) -> bool {
    let Some(token) = tokens.get(at).filter(|token| token.kind == Kind::Word) else { return false };
    let is_mark = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is_mark(mark));
    let before = at.checked_sub(2).and_then(|at| tokens.get(at)).filter(|_| is_mark(at - 1, "."));
    // What is brought in or declared asserts nothing.
    let declares = at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|before| {
        matches!(
            before.text,
            "import" | "from" | "def" | "fn" | "function" | "func" | "const" | "let" | "var" | "use" | "class"
        )
    });
    let is_called = is_mark(at + 1, "(") || (language == Language::Rust && is_mark(at + 1, "!"));
    let lower = token.text.to_ascii_lowercase();
    if declares {
        return false;
    }
    if lower.contains("assert") {
        // `assert.equal(`, `assertEqual(`, `assert!(`, `assert x`
        return is_called
            || (is_mark(at + 1, ".") && is_mark(at + 3, "("))
            || (token.text == "assert"
                && matches!(language, Language::Python | Language::Braces | Language::Ruby | Language::Hashes));
    }
    if token.text == "expect" || lower.starts_with("expect_") {
        return is_called || is_mark(at + 1, ".");
    }
    if token.text == "require" && language == Language::Go {
        return is_mark(at + 1, ".");
    }
    if let Some(owner) = before {
        let is_raises = token.text == "raises" && owner.text == "pytest";
        return is_called && (is_raises || (owner.text == "t" && METHODS_OF_T.contains(&token.text)));
    }
    let is_import = is_mark(at + 1, "(") && ASSERTING_CALLS.contains(&token.text);
    is_import && !matches!(language, Language::Rust | Language::Go | Language::Python)
}

impl Source<'_, '_> {
    /// From where to where the assertion goes whose word is at `at`.
    fn extent(&self, at: usize) -> (usize, usize) {
        let (tokens, language) = (self.tokens, self.language);
        let Some(word) = tokens.get(at) else { return (at, at + 1) };
        let is_statement =
            word.text == "assert" && !tokens.get(at + 1).is_some_and(|next| next.is_mark(".") || next.is_mark("!"));
        if is_statement && language == Language::Python {
            return (at, logical_end(tokens, at));
        }
        let limit = tokens.len().min(at + 8);
        let Some(open) = (at..limit).find(|index| tokens.get(*index).is_some_and(|token| token.is_mark("("))) else {
            return (at, logical_end(tokens, at));
        };
        let mut end = self.partner(open).map_or(tokens.len(), |close| close + 1);
        // `expect(x).not.toBe(y)`
        while tokens.get(end).is_some_and(|token| token.is_mark(".")) {
            end += 2;
            if tokens.get(end).is_some_and(|token| token.is_mark("(")) {
                end = self.partner(end).map_or(tokens.len(), |close| close + 1);
            }
        }
        if language == Language::Ruby {
            end = end.max(logical_end(tokens, at));
        }
        // `if got != want { t.Errorf(...) }`: what is asserted is the condition.
        let is_report =
            language == Language::Go && tokens.get(at.saturating_sub(2)).is_some_and(|owner| owner.text == "t");
        let condition = || {
            let before = (at.saturating_sub(60)..at)
                .rev()
                .take_while(|index| !tokens.get(*index).is_some_and(|token| token.is_mark("}")));
            before.filter(|index| tokens.get(*index).is_some_and(|token| token.is_word("if"))).last()
        };
        let from = if is_report { condition() } else { None };
        // The words of the report are not what is asserted.
        from.map_or((at, end.min(tokens.len())), |from| (from, at.saturating_sub(2).max(from + 1)))
    }
}

/// The end of a statement that ends with its line, brackets closed.
fn logical_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_i32;
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if depth <= 0 && token.line != line && !tokens.get(index - 1).is_some_and(|before| before.is_mark("\\")) {
            return index;
        }
        line = token.line;
        if token.kind == Kind::Mark {
            depth +=
                i32::from(matches!(token.text, "(" | "[" | "{")) - i32::from(matches!(token.text, ")" | "]" | "}"));
        }
    }
    tokens.len()
}

/// A line of a shell that compares something.
fn shell_assertion(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let token = tokens.get(at)?;
    let is_first = at == 0 || tokens.get(at - 1).is_none_or(|before| before.line != token.line);
    if !is_first {
        return None;
    }
    let end =
        tokens.iter().skip(at).position(|other| other.line != token.line).map_or(tokens.len(), |count| at + count);
    let line = tokens.get(at..end)?;
    let compares = line.iter().any(|token| token.kind != Kind::Text && COMPARING.contains(&token.text))
        || line.first().is_some_and(|first| first.text.starts_with("assert"));
    compares.then_some((at, end))
}

/// An assertion without the words that it shows where it fails.
fn without_message<'text>(tokens: &[Token<'text>]) -> Vec<Token<'text>> {
    let is_call = tokens.last().is_some_and(|last| last.is_mark(")"));
    let mut depth = 0_i32;
    let mut commas = Vec::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == i32::from(is_call) => commas.push(index),
            _ => {}
        }
    }
    // Two values are compared, one is true by itself.
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

/// Whether the words of an assertion say that it takes two values.
fn compares_two(tokens: &[Token<'_>]) -> bool {
    let head =
        tokens.iter().take(3).filter(|token| token.kind == Kind::Word).map(|token| token.text.to_ascii_lowercase());
    head.into_iter().any(|word| {
        [
            "eq", "ne", "equal", "same", "match", "throws", "rejects", "is", "in", "greater", "less", "like", "raises",
            "contain",
        ]
        .iter()
        .any(|part| word.contains(part))
            && word != "assert"
            && word != "expect"
    })
}

impl<'text> Assertion<'text> {
    /// What makes two assertions the same: their tokens, without what only sets them.
    pub(super) fn key(&self) -> String {
        let mut key = String::new();
        for (at, token) in self.tokens.iter().enumerate() {
            let next = self.tokens.get(at + 1);
            let closes = next.is_none_or(|next| next.kind == Kind::Mark && matches!(next.text, ")" | "]" | "}"));
            if token.kind == Kind::Mark && (token.text == ";" || token.text == "," && closes) {
                continue;
            }
            key.push_str(token.text);
            key.push('\u{1}');
        }
        key
    }

    pub(super) fn literals(&self) -> impl Iterator<Item = &'text str> {
        self.tokens.iter().filter(|token| token.is_literal()).map(|token| token.text)
    }

    /// What it calls, apart from itself.
    pub(super) fn callees(&self) -> impl Iterator<Item = &'text str> {
        let calls = self.tokens.windows(2).skip(1).filter(|pair| pair[0].kind == Kind::Word && pair[1].is_mark("("));
        let of_itself = |word: &str| {
            let lower = word.to_ascii_lowercase();
            lower.contains("assert")
                || lower.starts_with("expect")
                || lower.starts_with("to")
                || METHODS_OF_T.contains(&word)
                || ASSERTING_CALLS.contains(&word)
        };
        calls.map(|pair| pair[0].text).filter(move |word| !of_itself(word))
    }

    /// Whether it asks for one value, and not only for any of many.
    pub(super) fn is_exact(&self) -> bool {
        let compares = |pair: &[Token<'_>]| pair[0].is_mark("=") && pair[1].is_mark("=");
        let is_exact = |word: &str| {
            let lower = word.to_ascii_lowercase();
            let is_negated = lower.contains("not") || lower.contains("ne_") || lower.ends_with("_ne");
            let named =
                ["equal", "_eq", "tobe", "tomatch", "tohave", "deep", "same"].iter().any(|part| lower.contains(part));
            let is_loose = ["tobetruthy", "tobedefined", "tobegreater", "tobeless", "tobenull", "tobefalsy", "tobenan"];
            (named || word == "is" || word == "eq")
                && !is_negated
                && !is_loose.iter().any(|loose| lower.starts_with(loose))
        };
        let is_negated = self.tokens.iter().any(|token| token.is_word("not") || token.is_word("not_to"));
        let words = self.tokens.iter().filter(|token| token.kind == Kind::Word);
        !is_negated && (self.tokens.windows(2).any(compares) || words.clone().any(|token| is_exact(token.text)))
    }

    /// Whether it holds whatever the program does.
    pub(super) fn is_constant(&self) -> bool {
        let tokens = self.tokens.as_slice();
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
        let is_literal = |value: &[Token<'_>]| {
            !value.is_empty() && value.iter().all(|token| token.kind == Kind::Mark || token.is_literal())
        };
        let texts = |value: &[Token<'text>]| value.iter().map(|token| token.text).collect::<Vec<_>>();
        let is_asserted = !values.is_empty() && values.iter().all(|value| is_literal(value));
        let says_false =
            values.len() == 1 && values.iter().flatten().any(|token| matches!(token.text, "false" | "False" | "0"));
        let is_same = match values.as_slice() {
            [one, other, ..] => {
                !one.is_empty() && texts(one) == texts(other) && (self.is_exact() || compares_two(tokens))
            }
            _ => false,
        };
        (is_asserted && !says_false) || is_same
    }

    /// The values that it is about: arguments, and the two sides of `==`.
    fn values(&self) -> Vec<Vec<Token<'text>>> {
        let mut values: Vec<Vec<Token<'text>>> = Vec::new();
        let mut depth = 0_i32;
        let is_bare = self.tokens.first().is_some_and(|first| first.is_word("assert"))
            && !self.tokens.get(1).is_some_and(|next| next.is_mark("!") || next.is_mark("."));
        let is_bare = is_bare
            && !self
                .tokens
                .last()
                .is_some_and(|last| last.is_mark(")") && self.tokens.get(1).is_some_and(|next| next.is_mark("(")));
        let base = i32::from(!is_bare);
        let mut before_was_equals = false;
        if is_bare {
            values.push(Vec::new());
        }
        for token in self.tokens.iter().skip(1) {
            let opens = token.kind == Kind::Mark && matches!(token.text, "(" | "[" | "{");
            let closes = token.kind == Kind::Mark && matches!(token.text, ")" | "]" | "}");
            depth -= i32::from(closes);
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

/// Whether a word names something of the program.
pub(super) fn names_something(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && !is_constant_word(token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(path: &str, text: &str) -> Vec<String> {
        let facts = Facts::read(text, Language::of(path).unwrap());
        facts.tests.iter().map(|test| test.name.to_owned()).collect()
    }

    fn asserted(path: &str, text: &str) -> Vec<String> {
        let facts = Facts::read(text, Language::of(path).unwrap());
        facts.assertions.iter().map(|found| found.key().replace('\u{1}', " ").trim().to_owned()).collect()
    }

    #[test]
    fn tests_are_found_by_the_forms_of_each_language() {
        assert_eq!(
            tests_of("a.py", "def test_a():\n  pass\nclass T:\n  def testB(self): pass\n  def help(self): pass\n"),
            ["test_a", "testB"]
        );
        let script = "describe('d', () => { it('a', f); test.each([1, 2])('b %i', f); it.skip(\"c\", f); /x/.test('no'); t.test('e', f) })";
        assert_eq!(tests_of("a.ts", script), ["a", "b %i", "c", "e"]);
        let rust = "#[cfg(test)]\nmod t { #[test] fn a() {} #[tokio::test]\n#[ignore]\npub async fn b() {} fn help() {} #[cfg(test)] fn no() {} }";
        assert_eq!(tests_of("a.rs", rust), ["a", "b"]);
        assert_eq!(tests_of("a_test.go", "func TestA(t *testing.T) {}\nfunc help() {}"), ["TestA"]);
        assert_eq!(tests_of("ATest.java", "@Test\npublic void adds() {\n}\n@Test\nvoid subs() {}"), ["adds", "subs"]);
        assert_eq!(tests_of("a.bats", "@test \"adds\" {\n}\ntest_b() {\n}"), ["adds", "test_b"]);
        assert_eq!(tests_of("a_spec.rb", "it 'adds' do\nend\ndef test_b\nend"), ["adds", "test_b"]);
    }

    #[test]
    fn assertions_are_found_whole_and_without_their_messages() {
        assert_eq!(
            asserted(
                "a.py",
                "assert add(1,\n  2) == 3, \"why\"\nself.assertEqual(a, b, 'why')\nwith pytest.raises(E):\n  f()\nx = 1"
            ),
            ["assert add ( 1 , 2 ) = = 3", "assertEqual ( a , b )", "raises ( E )"]
        );
        assert_eq!(
            asserted(
                "a.js",
                "import assert from 'x'\nassert.equal(add(1, 2), 3, 'm');\nexpect(a({b: 1}))\n  .not.toBe(2)\nok(x)\nassert(a, 'm')"
            ),
            [
                "assert . equal ( add ( 1 , 2 ) , 3 )",
                "expect ( a ( { b : 1 } ) ) . not . toBe ( 2 )",
                "ok ( x )",
                "assert ( a )"
            ]
        );
        assert_eq!(
            asserted("a.rs", "assert_eq!(add(1, 2), 3, \"m {}\", x); assert!(a,); debug_assert!(b, \"m\")"),
            ["assert_eq ! ( add ( 1 , 2 ) , 3 )", "assert ! ( a )", "debug_assert ! ( b )"]
        );
        assert_eq!(
            asserted(
                "a_test.go",
                "if got := add(1, 2); got != 3 {\n  t.Errorf(\"got %d\", got)\n}\nrequire.Equal(t, a, b)"
            ),
            ["if got : = add ( 1 , 2 ) got ! = 3 {", "require . Equal ( t , a , b )"]
        );
        assert_eq!(asserted("a.sh", "x=$(add 1 2)\n[ \"$x\" = 3 ] || exit 1\necho ok\n"), ["[ $x = 3 ] | | exit 1"]);
    }

    #[test]
    fn what_always_holds_is_told_from_what_may_not() {
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

    proptest::proptest! {
        #[test]
        fn any_text_has_facts(text in "(?s)(.|assert|expect\\(|it\\(|#\\[test\\]|fn |def test|[(){}\\[\\],='\"\\n]){0,60}", kind in 0..5_usize) {
            let language = [Language::Python, Language::Rust, Language::Script, Language::Shell, Language::Go][kind];
            let facts = Facts::read(&text, language);
            for found in &facts.assertions {
                let _ = (found.key(), found.is_constant(), found.is_exact(), found.callees().count());
            }
        }
    }
}
