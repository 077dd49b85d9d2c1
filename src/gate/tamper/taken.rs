//! Definitions in tests that take the name of something else: of an assertion, of a function that makes tests, of the
//! code under test, or of an earlier test.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, NAMED_BY_TEXT};
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::imports::imports;
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;

/// A definition of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition<'a, 'text> {
    pub(super) name: &'text str,
    /// The `x` of `x.name = ...`.
    pub(super) owner: Option<&'text str>,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The value of the definition.
    pub(super) body: &'a [Token<'text>],
}

/// Definitions that take a name from the test library, or from the code under test.
pub(super) fn names(files: &[TestFile<'_>]) -> Vec<Finding> {
    let known: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.before.as_ref())
        .flat_map(|facts| definitions(facts).into_iter().filter(|one| one.owner.is_none()).map(|one| one.name))
        .collect();
    let mut found = Vec::new();
    for file in files {
        let Some(after) = &file.after else { continue };
        let asserting: BTreeSet<&str> = files
            .iter()
            .filter(|other| {
                other.path == file.path || other.before.as_ref().is_some_and(|then| then.language == after.language)
            })
            .filter_map(|other| other.before.as_ref())
            .flat_map(asserting_words)
            .collect();
        let called = file.before.as_ref().map(called_bare).unwrap_or_default();
        let brought: BTreeSet<&str> = imports(after).into_keys().collect();
        for one in definitions(after).into_iter().filter(|one| file.added.contains(&one.line)) {
            if one.owner.is_none() && known.contains(one.name) {
                continue;
            }
            let names = |word: &str| one.body.has_word(word);
            let leads_on = ["super", "require", "import", "extend"].into_iter().any(names)
                || brought.iter().any(|word| *word != one.name && names(word));
            if asserting.contains(one.name) && !leads_on && !(after.language == Language::Shell && can_fail(one.body)) {
                let what = format!("`{}`, by which tests assert or are made, is defined again here", one.name);
                found.push(Finding::new(file.path, one.line, Weakening::PatchedRunner, what));
            } else if one.owner.is_none()
                && file.role != TestRole::Setup
                && called.contains(one.name)
                && !names(one.name)
                && !leads_on
                && !(after.language == Language::Shell && says_failure(one.name) && can_fail(one.body))
            {
                let what = format!(
                    "`{}` is called by these tests, and it is defined here now: they would test a stub",
                    one.name
                );
                found.push(Finding::new(file.path, one.line, Weakening::StubbedSubject, what));
            }
        }
    }
    found
}

/// Tests and test classes that are replaced by a later definition of the same name.
pub(super) fn twice(files: &[TestFile<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.role != TestRole::Setup) {
        let Some(after) = file.after.as_ref().filter(|facts| last_definition_counts(facts.language)) else { continue };
        let before = file.before.as_ref().map(scoped).unwrap_or_default();
        let then = file.before.iter().flat_map(|facts| facts.names().chain(classes(facts)));
        let tests: BTreeSet<&str> = then.chain(after.names()).collect();
        for (key, lines) in scoped(after) {
            let then = before.get(&key).map_or(0, Vec::len);
            let Some(last) = lines.last().filter(|_| lines.len() > 1 && lines.len() > then) else { continue };
            if tests.contains(key.1) {
                let what = format!("`{}` is defined again here, so that the test before it is never run", key.1);
                found.push(Finding::new(file.path, *last, Weakening::NotCollected, what));
            }
        }
        found.extend(deleted(file, after, &tests));
    }
    found
}

/// `del Calc.test_add`
fn deleted<'a>(
    file: &'a TestFile<'_>,
    after: &'a Facts<'_>,
    tests: &'a BTreeSet<&str>,
) -> impl Iterator<Item = Finding> + 'a {
    let calls = file.new_tokens();
    let calls = calls.filter(|token| matches!(token.text, "del" | "delattr" | "remove_method" | "undef" | "unset"));
    calls.filter_map(|token| {
        let mut rest = after.tokens.on_line(token.line).iter().filter(|other| other.column > token.column);
        let test = rest.find(|other| tests.contains(other.text))?;
        let what = format!("`{}` is removed here, so that it is never run", test.text);
        Some(Finding::new(file.path, token.line, Weakening::NotCollected, what))
    })
}

fn last_definition_counts(language: Language) -> bool {
    matches!(language, Language::Python | Language::Ruby | Language::Shell)
}

fn classes<'a, 'text>(facts: &'a Facts<'text>) -> impl Iterator<Item = &'text str> + 'a {
    facts
        .tokens
        .windows(2)
        .filter(|pair| pair[0].is_word("class") && pair[1].kind == Kind::Word)
        .map(|pair| pair[1].text)
}

/// The lines on which names are defined, by their class, which is empty outside of classes.
fn scoped<'text>(facts: &Facts<'text>) -> BTreeMap<(&'text str, &'text str, usize), Vec<usize>> {
    let mut found: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut open: Vec<(&'text str, usize)> = Vec::new();
    for one in definitions(facts) {
        open.retain(|(_, column)| *column < one.column);
        // An open function is a scope too.
        let scope = open.last().map_or("", |(name, _)| name);
        if one.owner.is_none() {
            found.entry((scope, one.name, one.column)).or_default().push(one.line);
            open.push((one.name, one.column));
        }
    }
    found
}

/// Words with which the tests of a file assert, and with which they are made.
fn asserting_words<'text>(facts: &Facts<'text>) -> BTreeSet<&'text str> {
    let is_new_word = |word: &str| word.len() > 1 && !matches!(word, "if" | "test" | "diff" | "cmp" | "grep");
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for assertion in &facts.assertions {
        if facts.language == Language::Shell {
            let behind = assertion.tokens.windows(2).filter(|pair| pair[0].is_mark("|"));
            words.extend(behind.map(|pair| pair[1]).filter(|word| word.kind == Kind::Word).map(|word| word.text));
        }
        words.extend(assertion.tokens.word(0).map(|first| first.text).filter(|word| is_new_word(word)));
        // `assert.equal`, `self.assertEqual`
        let method = assertion.tokens.word(2).filter(|_| assertion.tokens.is_mark(1, "."));
        words.extend(method.map(|method| method.text));
    }
    words.retain(|word| !matches!(*word, "exit" | "return" | "true" | "false" | "echo" | "printf" | "then"));
    if facts.language == Language::Script || facts.language == Language::Ruby {
        let makes = |word: &&str| NAMED_BY_TEXT.contains(word) || matches!(*word, "describe" | "suite" | "context");
        words.extend(facts.tokens.called().filter(makes));
    }
    words
}

/// The functions that the tests of a file call by name only and that come from elsewhere. In Python and JavaScript, the
/// names that a file imports say more.
fn called_bare<'text>(facts: &Facts<'text>) -> BTreeSet<&'text str> {
    let mut called = BTreeSet::new();
    match facts.language {
        Language::Python | Language::Script => {}
        Language::Shell => {
            for (at, token) in facts.tokens.iter().enumerate() {
                let is_command = facts.tokens.begins_line(at)
                    || ["(", "|", ";", "&", "!"].iter().any(|mark| facts.tokens.is_mark(at - 1, mark));
                if token.kind == Kind::Word && is_command {
                    called.insert(token.text);
                } else if token.kind == Kind::Text {
                    called.extend(token.text.split("$(").skip(1).filter_map(first_word));
                }
            }
            for word in [
                "if", "for", "while", "until", "case", "then", "do", "test", "set", "exit", "return", "echo", "fi",
                "done",
            ] {
                called.remove(word);
            }
        }
        _ => {
            for assertion in &facts.assertions {
                let calls = assertion.tokens.windows(3).filter(|three| {
                    three[1].kind == Kind::Word
                        && three[2].is_mark("(")
                        && !(three[0].kind == Kind::Mark && matches!(three[0].text, "." | ">" | "#" | "!"))
                });
                let callees: BTreeSet<&str> = assertion.callees().collect();
                called.extend(calls.map(|three| three[1].text).filter(|word| callees.contains(word)));
            }
        }
    }
    called
}

fn first_word(text: &str) -> Option<&str> {
    let word = text.trim_start().split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next()?;
    Some(word).filter(|word| !word.is_empty())
}

fn says_failure(name: &str) -> bool {
    ["fail", "die", "error", "abort", "assert", "check", "not_ok"].iter().any(|word| name.contains(word))
}

/// True if a shell function can fail.
pub(super) fn can_fail(body: &[Token<'_>]) -> bool {
    body.windows(2).any(|pair| {
        let ends = pair[0].is_word("exit") || pair[0].is_word("return");
        ends && pair[1].text != "0" && (pair[1].kind != Kind::Mark || pair[1].text == "$")
    }) || body.iter().any(|token| token.is_word("false") || token.is_word("kill"))
        || body
            .windows(2)
            .any(|pair| pair[0].kind == Kind::Word && pair[1].is_mark("=") && pair[0].text.contains("fail"))
}

/// The definitions in a source.
pub(super) fn definitions<'a, 'text>(facts: &'a Facts<'text>) -> Vec<Definition<'a, 'text>> {
    let tokens = &facts.tokens;
    let is_mark = |at: usize, mark: &str| tokens.is_mark(at, mark);
    let mut found = Vec::new();
    let mut closes = 0;
    for (at, token) in tokens.iter().enumerate() {
        if facts.language == Language::Python && (token.is_mark("(") || token.is_mark("[")) {
            closes = facts.partner(at).unwrap_or_default().max(closes);
        }
        // `add=1` of a call that spans several lines
        if token.kind != Kind::Word || at < closes {
            continue;
        }
        let before = tokens.before(at, 1);
        let is_first = tokens.begins_line(at) || is_mark(at - 1, ";") || is_mark(at - 1, "{");
        let word = |at: usize| tokens.word(at);
        let assigns = |at: usize| is_mark(at, "=") && !is_mark(at + 1, "=") && !is_mark(at + 1, ">");
        let (name, owner) = match (facts.language, token.text) {
            (Language::Python | Language::Ruby, "def" | "class")
            | (Language::Script, "function" | "class")
            | (Language::Shell, "function" | "alias")
            | (Language::Rust, "fn")
            | (Language::Go, "func")
            | (Language::Hashes, "sub" | "def") => (word(at + 1), None),
            (Language::Script, "const" | "let" | "var") => {
                let is_function = |at: usize| is_mark(at, "=") || is_mark(at, ":");
                let brings = (at + 2..at + 6).any(|at| tokens.is_word(at, "require"));
                (word(at + 1).filter(|_| is_function(at + 2) && !brings), None)
            }
            (Language::Rust, "macro_rules") => (word(at + 2), None),
            (Language::Rust, "let") => (word(at + 1).filter(|_| assigns(at + 2) && is_mark(at + 3, "|")), None),
            (Language::Braces, "define") if before.is_some_and(|before| before.is_mark("#")) => (word(at + 1), None),
            (Language::Shell, _) => (Some(token).filter(|_| is_mark(at + 1, "(") && is_mark(at + 2, ")")), None),
            // `static int add(int a, int b) {`
            (Language::Braces, name) if is_mark(at + 1, "(") => {
                let is_body = facts.partner(at + 1).is_some_and(|close| is_mark(close + 1, "{"));
                let is_typed = before.is_some_and(|before| {
                    before.is_mark("*")
                        || before.kind == Kind::Word && !matches!(before.text, "return" | "new" | "else")
                });
                let is_control = matches!(name, "if" | "for" | "while" | "switch" | "catch");
                (Some(token).filter(|_| is_body && is_typed && !is_control), None)
            }
            (Language::Python | Language::Script | Language::Ruby, _) if is_first && is_mark(at + 1, ".") => {
                // `x.name = ...`, `x.y.name = ...`
                let end = (at + 2..tokens.len().min(at + 9)).step_by(2).find(|next| !is_mark(next + 1, "."));
                let name = end.filter(|end| assigns(end + 1)).and_then(word);
                let owner = end.and_then(|end| tokens.get(end.saturating_sub(2))).map(|owner| owner.text);
                (name, owner)
            }
            (Language::Go, _) if is_first && is_mark(at + 1, ":") && is_mark(at + 2, "=") => (Some(token), None),
            (Language::Python | Language::Script | Language::Ruby | Language::Go, _) if is_first && assigns(at + 1) => {
                (Some(token), None)
            }
            _ => (None, None),
        };
        if let Some(name) = name {
            let body = body(tokens, at, token);
            found.push(Definition { name: name.text, owner, line: token.line, column: token.column, body });
        }
    }
    found
}

/// The tokens of a definition that begins at a token: its line, and the deeper lines right below it.
fn body<'a, 'text>(tokens: &'a [Token<'text>], at: usize, first: &Token<'text>) -> &'a [Token<'text>] {
    const LONGEST: usize = 400;
    let column = tokens.column_of(first.line);
    tokens[..tokens.len().min(at + 2 + LONGEST)].block(at + 2, first.line, column)
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    fn found(path: &str, before: &str, after: &str) -> Vec<Weakening> {
        let text = Text { path, before: Some(before.to_owned()), after: Some(after.to_owned()) };
        let files = [TestFile::of(&text).unwrap()];
        let mut found: Vec<_> = names(&files).into_iter().chain(twice(&files)).map(|finding| finding.kind).collect();
        found.dedup();
        found
    }

    const PY: &str = "import unittest\n\nfrom calc import add\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n";
    const JS: &str = "const test = require('node:test')\nconst assert = require('node:assert')\n\ntest('a', () => {\n  assert.strictEqual(add(1, 2), 3)\n})\n";
    const SH: &str = ". ./calc.sh\ntest \"$(add 1 2)\" = 3 || fail add\n";
    const C: &str = "#include <assert.h>\n#include \"../calc.h\"\n\nint main(void) {\n    assert(add(1, 2) == 3);\n    return 0;\n}\n";
    const GO: &str = "package a\n\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 3, Add(1, 2))\n}\n";
    const RS: &str = "use a::add;\n\n#[test]\nfn a() {\n    assert_eq!(add(1, 2), 3);\n}\n";

    #[test]
    fn a_definition_that_takes_the_name_of_an_assertion_or_of_the_subject_is_found() {
        use Weakening::{NotCollected, PatchedRunner, StubbedSubject};
        for (path, text, from, to, kind) in [
            (
                "tests/test_a.py",
                PY,
                "    def test_a",
                "    def assertEqual(self, a, b):\n        pass\n\n    def test_a",
                PatchedRunner,
            ),
            ("tests/test_a.py", PY, "    def test_a", "    assertEqual = print\n\n    def test_a", PatchedRunner),
            ("tests/test_a.py", PY, "        self.", "        self.assertEqual = print\n        self.", PatchedRunner),
            ("tests/test_a.py", PY, ", 3)\n", ", 3)\n\n    def test_a(self):\n        pass\n", NotCollected),
            ("tests/test_a.py", PY, ", 3)\n", ", 3)\n\n\nclass A(unittest.TestCase):\n    pass\n", NotCollected),
            ("tests/test_a.py", PY, ", 3)\n", ", 3)\n\n\ndel A.test_a\n", NotCollected),
            (
                "test/a.test.js",
                JS,
                "const assert = require('node:assert')",
                "const assert = { strictEqual() {} }",
                PatchedRunner,
            ),
            ("test/a.test.js", JS, "const test = require('node:test')", "const test = () => {}", PatchedRunner),
            ("test/a.test.js", JS, "const test = require('node:test')", "function test(name, run) {}", PatchedRunner),
            ("test/a.test.js", JS, "\ntest(", "\nassert.strictEqual = () => {}\ntest(", PatchedRunner),
            ("tests/a.sh", SH, ". ./calc.sh", "fail() { :; }\n. ./calc.sh", PatchedRunner),
            ("tests/a.sh", SH, ". ./calc.sh", "function fail { echo a; }\n. ./calc.sh", PatchedRunner),
            ("tests/a.sh", SH, "calc.sh\n", "calc.sh\nadd() { echo 3; }\n", StubbedSubject),
            ("tests/a.sh", SH, "calc.sh\n", "calc.sh\nalias add='echo 3 #'\n", StubbedSubject),
            ("tests/a.c", C, "int main", "#define add(a, b) ((a) + (b))\n\nint main", StubbedSubject),
            ("tests/a.c", C, "int main", "static int add(int a, int b) { return a + b; }\n\nint main", StubbedSubject),
            ("tests/a.c", C, "int main", "#define assert(x) ((void)0)\n\nint main", PatchedRunner),
            ("a_test.go", GO, "func TestA", "func Add(a, b int) int { return a + b }\n\nfunc TestA", StubbedSubject),
            ("tests/a.rs", RS, "use a::add;", "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}", StubbedSubject),
            (
                "tests/a.rs",
                RS,
                "use a::add;",
                "use a::add;\nmacro_rules! assert_eq { ($($t:tt)*) => {} }",
                PatchedRunner,
            ),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(found(path, text, &text.replacen(from, to, 1)), [kind], "{to}");
        }
    }

    #[test]
    fn helpers_and_wrappers_are_accepted() {
        for (path, text, from, to) in [
            (
                "tests/test_a.py",
                PY,
                "    def test_a",
                "    def assertSum(self, a, b, c):\n        self.assertEqual(add(a, b), c)\n\n    def test_a",
            ),
            (
                "tests/test_a.py",
                PY,
                "    def test_a",
                "    def assertEqual(self, a, b):\n        super().assertEqual(a, b)\n\n    def test_a",
            ),
            ("tests/test_a.py", PY, "        self.", "        expected = 3\n        self."),
            (
                "tests/test_a.py",
                PY,
                ", 3)\n",
                ", 3)\n\n\nclass B(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add(2, 2), 4)\n",
            ),
            ("test/a.test.js", JS, "require('node:assert')", "require('node:assert/strict')"),
            (
                "test/a.test.js",
                JS,
                "const test = require('node:test')",
                "const nodeTest = require('node:test')\nconst test = (name, run) => nodeTest(name, async () => run())",
            ),
            (
                "test/a.test.js",
                JS,
                "const test = require('node:test')",
                "const base = require('node:test')\nconst test = base.extend({})",
            ),
            ("test/a.test.js", JS, "\ntest(", "\nconst sum = (a, b) => add(a, b)\ntest("),
            ("tests/a.sh", SH, ". ./calc.sh", "fail() { echo \"$1\"; exit 1; }\n. ./calc.sh"),
            ("tests/a.sh", SH, "calc.sh\n", "calc.sh\nsum() { add \"$@\"; }\n"),
            ("tests/a.c", C, "int main", "static int sum(int a, int b) { return add(a, b); }\n\nint main"),
            ("a_test.go", GO, "func TestA", "func sum(a, b int) int { return Add(a, b) }\n\nfunc TestA"),
            ("tests/a.rs", RS, "use a::add;", "fn add(a: i32, b: i32) -> i32 {\n    a::add(a, b)\n}"),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(found(path, text, &text.replacen(from, to, 1)), [], "{to}");
        }
    }
}
