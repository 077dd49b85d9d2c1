//! Tests that exist and cannot fail because of the code around them: a mark that makes them something else, a `yield`,
//! a class that runs its tests itself, an end that drops what was raised, an expected failure.

use std::collections::BTreeSet;

use super::assertion::Assertion;
use super::facts::{Facts, Test};
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use super::taken::definitions;
use crate::text::words::word_list;

/// Python marks with which a function is not a test any more.
const OTHERS: &[&str] =
    &["property", "cached_property", "contextmanager", "asynccontextmanager", "fixture", "yield_fixture", "overload"];

/// Methods with which a test class is run. One that a project writes itself may run nothing.
const RUNNING: &[&str] = word_list!(
    "run debug __call__ __getattribute__ __getattr__ __new__ __init_subclass__ _callTestMethod _callSetUp _callTearDown
     doCleanups countTestCases"
);

pub(super) fn in_file(file: &TestFile<'_>) -> Vec<Finding> {
    let Some(after) = file.after.as_ref().filter(|_| file.role != TestRole::Setup) else { return Vec::new() };
    let mut found = Vec::new();
    let known = file.known();
    // A fixture may have the name of a test. It counts as a test if it was one, or asserts.
    for test in after.tests.iter().filter(|test| known.contains(test.name) || asserts(after, test)) {
        for (line, mark) in marks_above(after, test) {
            let what = format!("`{mark}` makes `{}` something that no runner takes for a test", test.name);
            found.push((line, Weakening::NotCollected, what));
        }
        if let Some(line) = yields(after, test) {
            let what = format!("`{}` is a generator by this, and what is in it is never run", test.name);
            found.push((line, Weakening::LeftEarly, what));
        }
    }
    for (line, name) in runs_itself(after) {
        let what = format!("`{name}` decides here how the tests of this class are run");
        found.push((line, Weakening::PatchedRunner, what));
    }
    let swallowed = |line, what: &str| (line, Weakening::SwallowedFailure, what.to_owned());
    found.extend(forgets(after).into_iter().map(|line| swallowed(line, "leaving in `finally` forgets what failed")));
    let asked_for = [asked_for(file, after), given(file, after), panics(file, after)].concat().into_iter();
    found.extend(asked_for.map(|line| swallowed(line, "the failure of an assertion is asked for here")));
    for (line, name) in replaced(file, after) {
        found.push((line, Weakening::NotCollected, format!("the test `{name}` becomes something else here")));
    }
    file.new_findings(found)
}

/// True if something is asserted in a test.
fn asserts(facts: &Facts<'_>, test: &Test<'_>) -> bool {
    let tokens = &facts.tokens;
    let from = tokens.start_of(test.line);
    let end = from + tokens.block(from, test.line, tokens.column_of(test.line)).len();
    facts.asserts_in(test.line..tokens.get(end).map_or(usize::MAX, |token| token.line))
}

/// The marks right above a test that make it something else, with their lines.
fn marks_above<'text>(facts: &Facts<'text>, test: &Test<'text>) -> Vec<(usize, &'text str)> {
    if facts.language != Language::Python {
        return Vec::new();
    }
    let mut found = Vec::new();
    let begin = facts.tokens.start_of(test.line);
    let mut at = begin;
    while let Some(last) = facts.tokens.before(at, 1) {
        let from = facts.tokens.start_of(last.line);
        if !facts.tokens.is_mark(from, "@") {
            break;
        }
        let line = &facts.tokens[from..at];
        let name = line.iter().take_while(|token| !token.is_mark("(")).last();
        found.extend(name.filter(|name| OTHERS.contains(&name.text)).map(|name| (name.line, name.text)));
        at = from;
    }
    found
}

/// The line of a `yield` in a test itself, or of the mark of a generator.
fn yields(facts: &Facts<'_>, test: &Test<'_>) -> Option<usize> {
    let begin = facts.tokens.start_of(test.line);
    let rest = facts.tokens.get(begin..)?;
    if facts.language == Language::Script {
        return facts.tokens.on_line(test.line).has(&["function", "*"]).then_some(test.line);
    }
    if facts.language != Language::Python {
        return None;
    }
    let column = rest.first()?.column;
    let inside = rest.iter().take_while(|token| token.line == test.line || token.column > column);
    // A function inside of it may be a generator.
    let mut inner: Option<usize> = None;
    for token in inside.filter(|token| token.line > test.line) {
        let first = facts.tokens.first_of(token.line);
        if inner.is_some_and(|inner| token.column <= inner && first == Some(token)) {
            inner = None;
        }
        match token.text {
            "def" | "lambda" | "class" if inner.is_none() => inner = Some(first?.column),
            "yield" if inner.is_none() && token.is_word("yield") => return Some(token.line),
            _ => {}
        }
    }
    None
}

/// Methods of classes with tests that decide how these tests are run.
fn runs_itself<'text>(facts: &Facts<'text>) -> Vec<(usize, &'text str)> {
    if facts.language != Language::Python {
        return Vec::new();
    }
    let class_of = |line: usize, column: usize| {
        let before = facts.tokens.iter().take_while(|token| token.line < line);
        let class = before.filter(|token| token.is_word("class") && token.column < column).last()?;
        // A class without a base is run by a runner that does not call such a method.
        facts.tokens.on_line(class.line).has_mark("(").then_some(class.line)
    };
    // The same applies to a class whose base is not named as a test case, if its own tests call the method.
    let is_case = |class: usize| facts.tokens.on_line(class).iter().any(|token| token.text.contains("Case"));
    let is_called = |name: &str| facts.tokens.has(&["self", ".", name, "("]);
    let with_tests: BTreeSet<usize> =
        facts.tests.iter().filter_map(|test| class_of(test.line, facts.tokens.column_of(test.line))).collect();
    let methods = definitions(facts).into_iter().filter(|one| one.owner.is_none() && RUNNING.contains(&one.name));
    let own = methods.filter(|one| {
        class_of(one.line, one.column)
            .is_some_and(|class| with_tests.contains(&class) && (is_case(class) || !is_called(one.name)))
    });
    own.map(|one| (one.line, one.name)).collect()
}

/// Lines that leave from `finally`.
fn forgets(facts: &Facts<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, token) in facts.tokens.iter().enumerate().filter(|(_, token)| token.is_word("finally")) {
        let rest = facts.tokens.get(at + 1..).unwrap_or_default();
        let inside: Vec<&Token<'_>> = match facts.language {
            Language::Python => {
                let column = facts.tokens.column_of(token.line);
                rest.iter().take_while(|other| other.line == token.line || other.column > column).collect()
            }
            Language::Script | Language::Braces => {
                let mut depth = 0_i32;
                let body = rest.iter().take_while(|other| {
                    depth += i32::from(other.is_mark("{")) - i32::from(other.is_mark("}"));
                    depth > 0
                });
                body.collect()
            }
            _ => continue,
        };
        // A function inside of it returns something else.
        let has_function = inside.iter().any(|token| matches!(token.text, "def" | "function") || token.is_mark(">"));
        let leaves = inside.iter().find(|token| matches!(token.text, "return" | "break" | "continue"));
        found.extend(leaves.filter(|_| !has_function).map(|token| token.line));
    }
    found
}

/// Lines with `#[should_panic]` at a test that has an existing assertion.
fn panics(file: &TestFile<'_>, after: &Facts<'_>) -> Vec<usize> {
    let Some(before) = file.before.as_ref().filter(|facts| facts.language == Language::Rust) else { return Vec::new() };
    let marks = |facts: &Facts<'_>| facts.tokens.iter().filter(|token| token.is_word("should_panic")).count();
    if marks(after) <= marks(before) {
        return Vec::new();
    }
    let known: BTreeSet<String> = before.keys().collect();
    let holds = |line: &usize| {
        let Some(test) = after.test_at(*line) else { return false };
        let lines = test.line..after.line_after(test);
        after.assertions.iter().any(|one| lines.contains(&one.line) && known.contains(&one.key()))
    };
    file.new_tokens().filter(|token| token.is_word("should_panic")).map(|token| token.line).filter(holds).collect()
}

/// New assertions that expect an existing one to fail: `assert.throws(() => assert.equal(...))`.
fn given(file: &TestFile<'_>, after: &Facts<'_>) -> Vec<usize> {
    let Some(before) = &file.before else { return Vec::new() };
    let raises = |one: &&Assertion<'_>| {
        one.tokens.iter().any(|token| {
            word_list!(
                "throws rejects toThrow toThrowError assertRaises assertRaisesRegex raises assertThrows
                 assertThrowsExactly"
            )
            .contains(&token.text)
        })
    };
    let holds = |one: &&Assertion<'_>| {
        let inside = one.tokens.get(1..).unwrap_or_default();
        before.assertions.iter().any(|known| {
            let (name, values) = known.tokens.split_first().map_or(("", &[][..]), |(first, rest)| (first.text, rest));
            let is_same =
                |window: &[Token<'_>]| window.iter().zip(&known.tokens).all(|(one, other)| one.text == other.text);
            // `assertRaises(AssertionError, self.assertEqual, add(1, 2), 3)`
            let is_handed_on = name.starts_with("assert")
                && name.len() > "assert".len()
                && inside.has_word(name)
                && values
                    .iter()
                    .filter(|token| token.is_literal())
                    .all(|value| inside.iter().any(|token| token.text == value.text));
            inside.windows(known.tokens.len().max(1)).any(is_same) || is_handed_on
        })
    };
    let new = after.assertions.iter().filter(|one| file.added.contains(&one.line));
    new.filter(raises).filter(holds).map(|one| one.line).collect()
}

/// Lines with a new `with` that accepts the failure of an existing assertion below it.
fn asked_for(file: &TestFile<'_>, after: &Facts<'_>) -> Vec<usize> {
    let Some(before) = file.before.as_ref().filter(|facts| facts.language == Language::Python) else {
        return Vec::new();
    };
    let known: BTreeSet<String> = before.keys().collect();
    let is_raising =
        |token: &Token<'_>| matches!(token.text, "assertRaises" | "raises" | "assertRaisesRegex" | "suppress");
    let guards = file.added.iter().filter_map(|line| {
        let line = after.tokens.on_line(*line);
        line.first().filter(|first| first.is_word("with") && line.iter().any(is_raising))
    });
    let around = guards.filter(|guard| {
        let body = after.tokens.iter().skip_while(|token| token.line <= guard.line);
        let last = body.take_while(|token| token.column > guard.column).last().map_or(0, |token| token.line);
        after.assertions.iter().any(|one| one.line > guard.line && one.line <= last && known.contains(&one.key()))
    });
    around.map(|guard| guard.line).collect()
}

/// New code that replaces an existing test with something else.
fn replaced<'text>(file: &TestFile<'text>, after: &Facts<'text>) -> Vec<(usize, &'text str)> {
    let Some(before) = file.before.as_ref().filter(|facts| facts.language == Language::Python) else {
        return Vec::new();
    };
    let known: BTreeSet<&str> = before.names().collect();
    let tokens = &after.tokens;
    let mut found: Vec<(usize, &'text str)> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| file.added.contains(&token.line)) {
        let line = tokens.on_line(token.line);
        // `Calc.test_a = ...`, `test_a = property(test_a)`; not `test_a == ...`, nor an argument.
        let assigns = tokens.is_mark(at + 1, "=") && !tokens.is_mark(at + 2, "=");
        let is_argument = || line.iter().any(|other| other.column < token.column && other.is_mark("("));
        if known.contains(token.text) && assigns && !line.is_word(0, "def") && !is_argument() {
            found.push((token.line, token.text));
        } else if token.text == "setattr" && tokens.is_mark(at + 1, "(") {
            let asserting = line
                .iter()
                .find(|other| other.kind == Kind::Text && (other.text.starts_with("assert") || other.text == "fail"));
            let named = line.iter().filter(|other| known.contains(other.text));
            found.extend(named.chain(asserting).map(|other| (other.line, other.text)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    const PY: &str = "class A(T):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n";
    const JS: &str = "test('a', () => {\n  assert.strictEqual(add(1, 2), 3)\n})\n";

    fn found(path: &str, before: &str, after: &str) -> Vec<Weakening> {
        let text = Text { path, before: Some(before.to_owned()), after: Some(after.to_owned()) };
        in_file(&TestFile::of(&text).unwrap()).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn code_around_a_test_that_keeps_it_from_failing_is_found() {
        use Weakening::{LeftEarly, NotCollected, PatchedRunner, SwallowedFailure};
        let of_py = |from: &str, to: &str| {
            assert!(PY.contains(from));
            found("tests/test_a.py", PY, &PY.replace(from, to))
        };
        for (from, to, kind) in [
            ("    def", "    @property\n    def", NotCollected),
            ("    def", "    @pytest.fixture()\n    def", NotCollected),
            ("    def", "    @slow\n    @contextlib.contextmanager\n    def", NotCollected),
            ("3)\n", "3)\n        yield\n", LeftEarly),
            ("    def", "    def run(self, result=None):\n        pass\n\n    def", PatchedRunner),
            (
                "        self",
                "        try:\n            add(1, 1)\n        finally:\n            return\n        self",
                SwallowedFailure,
            ),
            ("        self", "        with self.assertRaises(AssertionError):\n            self", SwallowedFailure),
            ("3)\n", "3)\n\n\nA.test_a = A.test_b\n", NotCollected),
            ("3)\n", "3)\n    test_a = property(test_a)\n", NotCollected),
            ("3)\n", "3)\n\n\nsetattr(A, 'test_a', None)\n", NotCollected),
            (
                "3)\n",
                "3)\n\n    def setUp(self):\n        setattr(self, \"assert\" + \"Equal\", print)\n",
                NotCollected,
            ),
        ] {
            assert_eq!(of_py(from, to), [kind], "{to}");
        }
        for (from, to) in [
            ("    def", "    @slow\n    def"),
            ("    def", "    @pytest.mark.parametrize('a', [1])\n    def"),
            ("        self", "        def each():\n            yield 1\n        self"),
            ("class A(T):\n    def", "class A:\n    def run(self):\n        pass\n\n    def"),
            (
                "    def",
                "    def run(self, *words):\n        return start(words)\n\n    def test_b(self):\n        self.run(1)\n\n    def",
            ),
            ("    def", "    def start(self):\n        pass\n\n    def"),
            ("3)\n", "3)\n\n\nclass Fake:\n    def run(self):\n        return 1\n"),
            (
                "        self",
                "        try:\n            add(1, 1)\n        finally:\n            close()\n        self",
            ),
            ("3)\n", "3)\n        with self.assertRaises(TypeError):\n            add('a', 2)\n"),
            ("3)\n", "3)\n        check(test_a=1)\n"),
            ("class A", "@pytest.fixture\ndef test_client():\n    yield client()\n\n\nclass A"),
            ("class A", "@pytest.fixture\ndef test_numbers():\n    return [1]\n\n\nclass A"),
            ("class A", "def test_cases():\n    yield 1, 2\n\n\nclass A"),
        ] {
            assert_eq!(of_py(from, to), [], "{to}");
        }
        assert_eq!(found("test/a.test.js", JS, &JS.replace("() =>", "function* ()")), [LeftEarly]);
        assert_eq!(found("test/a.test.js", JS, &JS.replace("() =>", "function ()")), []);
        let left = JS.replace("  assert", "  try { add(1, 1) } finally { return }\n  assert");
        assert_eq!(found("test/a.test.js", JS, &left), [SwallowedFailure]);
        let wrapped =
            JS.replace("  assert.strictEqual(add(1, 2), 3)", "  assert.throws(() => assert.strictEqual(add(1, 2), 3))");
        assert_eq!(found("test/a.test.js", JS, &wrapped), [SwallowedFailure]);
        let throws = JS.replace("3)\n", "3)\n  assert.throws(() => add(1n, 2), TypeError)\n");
        assert_eq!(found("test/a.test.js", JS, &throws), []);
        let rust = "#[test]\nfn a() {\n    assert_eq!(add(1, 2), 3);\n}\n";
        let panics = |attribute: &str| rust.replace("fn a", &format!("{attribute}\nfn a"));
        assert_eq!(found("tests/a.rs", rust, &panics("#[should_panic]")), [SwallowedFailure]);
        assert_eq!(found("tests/a.rs", rust, &panics("#[should_panic(expected = \"left\")]")), [SwallowedFailure]);
        assert_eq!(found("tests/a.rs", rust, &panics("#[rustfmt::skip]")), []);
        let more = format!("{rust}\n#[test]\n#[should_panic]\nfn b() {{\n    div(1, 0);\n}}\n");
        assert_eq!(found("tests/a.rs", rust, &more), []);
        let handed = "self.assertRaises(AssertionError, self.assertEqual, add(1, 2), 3)";
        assert_eq!(of_py("self.assertEqual(add(1, 2), 3)", handed), [SwallowedFailure]);
    }
}
