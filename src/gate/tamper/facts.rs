//! What the source of a test contains: which tests it has, and what they assert.

use std::ops::RangeBounds;

use super::assertion::{ASSERTING_CALLS, Assertion, METHODS_OF_T, without_message};
use super::lexer::{Kind, Language, Token, compact_lines, tokens};
use super::span::Span as _;

/// The tests and assertions in a source.
#[derive(Debug)]
pub(super) struct Facts<'text> {
    pub(super) language: Language,
    pub(super) tokens: Vec<Token<'text>>,
    pub(super) tests: Vec<Test<'text>>,
    pub(super) assertions: Vec<Assertion<'text>>,
    /// For each bracket, the index of its partner.
    partners: Vec<Option<usize>>,
}

/// A test with its name. It extends to the line before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test<'text> {
    pub(super) name: &'text str,
    pub(super) line: usize,
}

impl<'text> Facts<'text> {
    pub(super) fn read(text: &'text str, language: Language) -> Self {
        let mut tokens = tokens(text, language);
        if language == Language::Braces {
            name_macros(&mut tokens);
        }
        let partners = partners(&tokens);
        let mut facts = Self { language, tokens, tests: Vec::new(), assertions: Vec::new(), partners };
        facts.tests = facts.find_tests();
        facts.assertions = facts.find_assertions();
        facts
    }

    /// The same facts from a token on.
    pub(super) fn from(mut self, at: usize) -> Self {
        let line = self.tokens.get(at).map_or(0, |token| token.line);
        self.tokens.drain(..at);
        self.tests.retain(|test| test.line >= line);
        self.assertions.retain(|found| found.line >= line);
        self.partners = partners(&self.tokens);
        self
    }

    /// The partner of a bracket.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    /// The code of each line without blanks, comments and the contents of strings, with the line number.
    pub(super) fn lines(&self) -> Vec<(usize, String)> {
        compact_lines(&self.tokens)
    }

    /// The names of the tests.
    pub(super) fn names(&self) -> impl Iterator<Item = &'text str> {
        self.tests.iter().map(|test| test.name)
    }

    /// The keys of the assertions.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.assertions.iter().map(Assertion::key)
    }

    /// True if there is an assertion on one of some lines.
    pub(super) fn asserts_in(&self, lines: impl RangeBounds<usize>) -> bool {
        self.assertions.iter().any(|one| lines.contains(&one.line))
    }

    /// Calls with the name of an object's member, each as five tokens: `spyOn(calc, 'add'`.
    pub(super) fn member_calls(&self) -> impl Iterator<Item = &[Token<'text>]> {
        let is_one = |five: &&[Token<'_>]| five[1].is_mark("(") && five[3].is_mark(",") && five[4].kind == Kind::Text;
        self.tokens.windows(5).filter(is_one)
    }

    /// The line on which the next test begins.
    pub(super) fn line_after(&self, test: &Test<'_>) -> usize {
        self.tests.iter().map(|other| other.line).filter(|line| *line > test.line).min().unwrap_or(usize::MAX)
    }

    /// The test that begins on a line or at most six lines after it, else the last one before it.
    pub(super) fn test_at(&self, line: usize) -> Option<&Test<'text>> {
        let next = self.tests.partition_point(|test| test.line < line);
        let is_near = |test: &&Test<'_>| test.line <= line + 6;
        self.tests.get(next).filter(is_near).or_else(|| self.tests.get(next.checked_sub(1)?))
    }
}

/// Words that begin a test whose name is a string.
pub(super) const NAMED_BY_TEXT: &[&str] =
    &["it", "test", "specify", "xit", "fit", "xtest", "ftest", "xspecify", "scenario", "example"];

impl<'text> Facts<'text> {
    fn find_tests(&self) -> Vec<Test<'text>> {
        let (tokens, language) = (&self.tokens, self.language);
        let mut found = Vec::new();
        let word = |at: usize| tokens.word(at);
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
            let named = match token.text {
                "fn" if language == Language::Rust => word(at + 1).filter(|_| self.has_test_attribute(at)),
                "def" | "func" | "function" | "fun" | "void" if language != Language::Rust => {
                    let begins =
                        if language == Language::Go { &["Test", "Fuzz", "Example"][..] } else { &["test", "Test"] };
                    word(at + 1).filter(|name| begins.iter().any(|begin| name.text.starts_with(begin)))
                }
                text if NAMED_BY_TEXT.contains(&text) => {
                    let is_method = at > 0 && tokens.is_mark(at - 1, ".");
                    let of_context =
                        is_method && at > 1 && word(at - 2).is_some_and(|owner| ["t", "Deno"].contains(&owner.text));
                    (!is_method || of_context).then(|| self.text_of_call(at)).flatten()
                }
                "Test" | "ParameterizedTest" | "Fact" | "Theory" if language == Language::Braces && at > 0 => {
                    let is_attribute = tokens.is_mark(at - 1, "@") || tokens.is_mark(at - 1, "[");
                    let names = (at + 1..tokens.len().min(at + 24)).filter(|next| tokens.is_mark(next + 1, "("));
                    names.filter_map(word).find(|name| name.line > token.line).filter(|_| is_attribute)
                }
                // `test_x() {`
                text if language == Language::Shell && text.starts_with("test_") => {
                    Some(token).filter(|_| tokens.is_mark(at + 1, "(") && tokens.is_mark(at + 2, ")"))
                }
                _ => None,
            };
            found.extend(named.map(|name| Test { name: name.text, line: token.line }));
        }
        found
    }

    /// The string that a call begins with, after `.each(...)` and the like.
    fn text_of_call(&self, at: usize) -> Option<&Token<'text>> {
        let tokens = &self.tokens;
        let mut next = at + 1;
        loop {
            let token = tokens.get(next)?;
            if token.is_mark(".") {
                next += 2;
            } else if token.is_mark("(") {
                let first = tokens.get(next + 1)?;
                // `test(name, () => ...)`, as in a loop over cases
                let is_named =
                    first.kind == Kind::Word && self.language == Language::Script && tokens.is_mark(next + 2, ",");
                if first.kind == Kind::Text || is_named {
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

    /// True if the attributes before `fn` make it a test.
    fn has_test_attribute(&self, at: usize) -> bool {
        let tokens = &self.tokens;
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
                if inside.iter().any(is_test) && !inside.has_word("cfg") {
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

/// Replaces the name of a macro that only renames an assertion with the assertion's name: `#define CHECK(x) assert(x)`.
fn name_macros<'text>(tokens: &mut [Token<'text>]) {
    let is_defined = |eleven: &[Token<'_>]| {
        eleven[0].is_mark("#")
            && eleven[1].is_word("define")
            && eleven[3].is_mark("(")
            && eleven[5].is_mark(")")
            && eleven[6].kind == Kind::Word
            && eleven[6].text.to_ascii_lowercase().contains("assert")
            && eleven[7].is_mark("(")
            && eleven[8].is_word(eleven[4].text)
            && eleven[9].is_mark(")")
            && eleven[9].line == eleven[0].line
            && eleven[10].line > eleven[0].line
    };
    let macros: Vec<(&'text str, &'text str, usize)> = tokens
        .windows(11)
        .filter(|eleven| is_defined(eleven))
        .map(|eleven| (eleven[2].text, eleven[6].text, eleven[0].line))
        .collect();
    for (name, assertion, line) in macros {
        // A macro that is defined twice, or undefined, may be anything.
        let defined = |pair: &&[Token<'_>]| matches!(pair[0].text, "define" | "undef") && pair[1].is_word(name);
        if tokens.windows(2).filter(defined).count() == 1 {
            let calls = tokens.iter_mut().filter(|token| token.line > line && token.is_word(name));
            calls.for_each(|token| token.text = assertion);
        }
    }
}

/// Finds the partner of each bracket.
fn partners(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.turn() != 0) {
        if !token.closes() {
            open.push(at);
        } else if let Some(other) = open.pop() {
            partners[other] = Some(at);
            partners[at] = Some(other);
        }
    }
    partners
}

/// Shell commands that compare.
const COMPARING: &[&str] = &["[", "test", "diff", "cmp", "grep"];

impl<'text> Facts<'text> {
    fn find_assertions(&self) -> Vec<Assertion<'text>> {
        let (tokens, language) = (&self.tokens, self.language);
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
                    found.push(Assertion {
                        line: token.line,
                        language,
                        tokens: without_message(inside, language),
                        of_receiver: is_asked_of_call(tokens, at, language),
                    });
                    at = to.max(at + 1);
                }
                None => at += 1,
            }
        }
        found
    }
}

/// True if an assertion is a method of the value that a call or a variable before it gives, and not of a library.
fn is_asked_of_call(tokens: &[Token<'_>], at: usize, language: Language) -> bool {
    let back = match tokens.get(..at).unwrap_or_default() {
        _ if language == Language::Shell => return false,
        [.., dot] if dot.is_mark(".") => 2,
        [.., line, arrow] if line.is_mark("-") && arrow.is_mark(">") => 3,
        _ => return false,
    };
    let owner = tokens.before(at, back);
    owner.is_some_and(|owner| owner.is_mark(")") || owner.text.starts_with('$') && owner.text != "$this")
}

/// True if an assertion begins at a token.
fn begins(tokens: &[Token<'_>], at: usize, language: Language) -> bool {
    let Some(token) = tokens.word(at) else { return false };
    let before = tokens.before(at, 2).filter(|_| tokens.is_mark(at - 1, "."));
    // Imports and declarations are not assertions.
    let declares = tokens.before(at, 1).is_some_and(|before| {
        matches!(
            before.text,
            "import" | "from" | "def" | "fn" | "function" | "func" | "const" | "let" | "var" | "use" | "class"
        )
    });
    let is_called = tokens.is_mark(at + 1, "(") || (language == Language::Rust && tokens.is_mark(at + 1, "!"));
    let lower = token.text.to_ascii_lowercase();
    if declares {
        return false;
    }
    if lower.contains("assert") {
        // `assert.equal(`, `assertEqual(`, `assert!(`, `assert x`
        return is_called
            || (tokens.is_mark(at + 1, ".") && tokens.is_mark(at + 3, "("))
            || (token.text == "assert"
                // `#include <assert.h>`
                && !tokens.is_mark(at + 1, ".")
                && matches!(language, Language::Python | Language::Braces | Language::Ruby | Language::Hashes));
    }
    if token.text == "expect" || lower.starts_with("expect_") {
        return is_called || tokens.is_mark(at + 1, ".");
    }
    if token.text == "require" && language == Language::Go {
        return tokens.is_mark(at + 1, ".");
    }
    if let Some(owner) = before {
        let is_raises = token.text == "raises" && owner.text == "pytest";
        return is_called && (is_raises || (owner.text == "t" && METHODS_OF_T.contains(&token.text)));
    }
    let is_import = tokens.is_mark(at + 1, "(") && ASSERTING_CALLS.contains(&token.text);
    is_import && !matches!(language, Language::Rust | Language::Go | Language::Python)
}

impl Facts<'_> {
    /// The range of the assertion whose word is at `at`.
    fn extent(&self, at: usize) -> (usize, usize) {
        let (tokens, language) = (&self.tokens, self.language);
        let Some(word) = tokens.get(at) else { return (at, at + 1) };
        let is_statement =
            word.text == "assert" && !tokens.get(at + 1).is_some_and(|next| next.is_mark(".") || next.is_mark("!"));
        if is_statement && language == Language::Python {
            return (at, logical_end(tokens, at));
        }
        let limit = tokens.len().min(at + 8);
        let Some(open) = (at..limit).find(|index| tokens.is_mark(*index, "(")) else {
            return (at, logical_end(tokens, at));
        };
        let mut end = self.partner(open).map_or(tokens.len(), |close| close + 1);
        // `expect(x).not.toBe(y)`
        while tokens.is_mark(end, ".") {
            end += 2;
            if tokens.is_mark(end, "(") {
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
            let before = (at.saturating_sub(60)..at).rev().take_while(|index| !tokens.is_mark(*index, "}"));
            before.filter(|index| tokens.is_word(*index, "if")).last()
        };
        let from = if is_report { condition() } else { None };
        // The words of the report are not part of the assertion.
        from.map_or((at, end.min(tokens.len())), |from| (from, at.saturating_sub(2).max(from + 1)))
    }
}

/// The end of a statement that ends with its line, with all brackets closed.
fn logical_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_i32;
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if depth <= 0 && token.line != line && !tokens.is_mark(index - 1, "\\") {
            return index;
        }
        line = token.line;
        depth += token.turn();
    }
    tokens.len()
}

/// The range of a shell line that compares something.
fn shell_assertion(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let token = tokens.get(at)?;
    // `@test "adds" {` begins a test.
    if !tokens.begins_line(at) || token.is_mark("@") {
        return None;
    }
    let line = tokens.on_line(token.line);
    let end = at + line.len();
    let compares = line.iter().any(|token| token.kind != Kind::Text && COMPARING.contains(&token.text))
        || line.first().is_some_and(|first| first.text.starts_with("assert"));
    compares.then_some((at, end))
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
    fn tests_are_found_in_each_language() {
        assert_eq!(
            tests_of("a.py", "def test_a():\n  pass\nclass T:\n  def testB(self): pass\n  def help(self): pass\n"),
            ["test_a", "testB"]
        );
        let script = "describe('d', () => { it('a', f); test.each([1, 2])('b %i', f); it.skip(\"c\", f); /x/.test('no'); t.test('e', f) })";
        assert_eq!(tests_of("a.ts", script), ["a", "b %i", "c", "e"]);
        assert_eq!(tests_of("a.js", "for (const { name } of all) test(name, () => {})\ntest(() => {})"), ["name"]);
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
