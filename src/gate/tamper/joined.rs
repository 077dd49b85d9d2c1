//! Unchanged assertions that a new line before them turns into a part of something else, which never runs.

use std::collections::{HashMap, HashSet};

use super::facts::{Facts, NAMED_BY_TEXT};
use super::file::TestFile;
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;

/// Old assertions that are now part of what new code begins.
pub(super) fn in_file(file: &TestFile<'_>) -> Vec<Finding> {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return Vec::new() };
    let mut then: HashMap<String, HashSet<Option<&str>>> = HashMap::new();
    for (key, at) in starts(before) {
        then.entry(key).or_default().insert(joint(before, at).map(|(_, joint)| joint));
    }
    let mut found = Vec::new();
    for (key, at) in starts(after) {
        let Some(known) = then.get(&key) else { continue };
        let joint = joint(after, at).filter(|(_, joint)| !known.contains(&Some(*joint)));
        found.extend(joint.map(|(line, joint)| {
            let what = format!("`{joint}` here makes an assertion a part of something else, so that it is never made");
            (line, Weakening::LeftEarly, what)
        }));
    }
    let what = "assertions below are lines of a text now, and never made";
    let in_documents = in_documents(after, &then).into_iter();
    found.extend(in_documents.map(|line| (line, Weakening::LeftEarly, what.to_owned())));
    file.new_findings(found)
}

/// The keys of the assertions, and the token with which the statement of each begins.
fn starts(facts: &Facts<'_>) -> Vec<(String, usize)> {
    let tokens = &facts.tokens;
    let place = |first: &Token<'_>| {
        let mut at = tokens.place_of(first);
        // `self.assertEqual`, `await assert.rejects`
        while at >= 2 && tokens.is_mark(at - 1, ".") {
            at -= 2;
        }
        while at >= 1 && tokens.is_word(at - 1, "await") {
            at -= 1;
        }
        at
    };
    facts.assertions.iter().filter_map(|one| Some((one.key(), place(one.tokens.first()?)))).collect()
}

/// What makes the statement that begins at a token a part of another one, and its line.
fn joint<'text>(facts: &Facts<'text>, at: usize) -> Option<(usize, &'text str)> {
    let tokens = &facts.tokens;
    let get = |at: usize| tokens.get(at);
    let mut last = at.checked_sub(1)?;
    let line = get(at)?.line;
    // `late = lambda: (`
    while last > 0 && (tokens.is_mark(last, "(") || tokens.is_mark(last, "[")) {
        last -= 1;
    }
    let before = get(last)?;
    let is_continued = before.is_mark("\\") && before.line < line;
    match facts.language {
        Language::Shell | Language::Hashes => is_continued.then_some((before.line, "\\")),
        Language::Python => {
            let last = if is_continued { last.checked_sub(1)? } else { last };
            let word = get(last)?;
            let head = tokens.iter().take(last).rev().take_while(|token| token.line == word.line);
            let is_lambda = word.is_mark(":") && head.into_iter().any(|token| token.is_word("lambda"));
            let is_short = is_continued_word(word);
            (is_lambda || is_short).then_some((word.line, if is_lambda { "lambda" } else { word.text }))
        }
        Language::Script => {
            if !(before.is_mark(">") && last > 0 && tokens.is_mark(last - 1, "=")) {
                return short_circuit(tokens, last).map(|mark| (before.line, mark));
            }
            let mut first = last.checked_sub(2)?;
            if get(first)?.is_mark(")") {
                first = facts.partner(first)?;
            }
            let mut outside = first.checked_sub(1);
            while outside.and_then(get).is_some_and(|token| token.is_word("async")) {
                outside = outside.and_then(|at| at.checked_sub(1));
            }
            // An argument is called by the function that gets it, and a named function may be called by its name.
            let is_given = outside.is_some_and(|at| [",", "(", "[", ":"].iter().any(|mark| tokens.is_mark(at, mark)));
            let name = outside.filter(|at| tokens.is_mark(*at, "=")).and_then(|at| get(at - 1));
            (!is_given && !name.is_some_and(|name| is_used(tokens, name))).then_some((before.line, "=>"))
        }
        Language::Braces => is_continued
            .then_some((before.line, "\\"))
            .or_else(|| short_circuit(tokens, last).map(|mark| (before.line, mark))),
        Language::Rust => {
            let is_closure = before.is_mark("|")
                && last > 0
                && get(last - 1).is_some_and(|token| token.is_mark("|") || token.kind == Kind::Word);
            let assigned = tokens.iter().take(last).rev().take_while(|token| token.line == before.line);
            (is_closure && assigned.into_iter().any(|token| token.is_word("let"))).then_some((before.line, "|"))
        }
        Language::Go | Language::Ruby => None,
    }
}

/// True if a name is called, or passed to a function that makes a test: `sums()`, `test('sums', sums)`.
fn is_used(tokens: &[Token<'_>], name: &Token<'_>) -> bool {
    const NEAR: usize = 8;
    (1..tokens.len()).any(|at| {
        let is_other =
            |token: &&Token<'_>| token.is_word(name.text) && (token.line, token.column) != (name.line, name.column);
        let Some(_) = tokens.get(at).filter(is_other) else { return false };
        let before = tokens.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
        let next = |mark: &str| tokens.is_mark(at + 1, mark);
        let is_called = next("(") && !before.last().is_some_and(|word| word.is_word("function"));
        let makes = |token: &Token<'_>| token.kind == Kind::Word && NAMED_BY_TEXT.contains(&token.text);
        is_called || (next(")") || next(",")) && before.iter().any(makes)
    })
}

fn is_continued_word(word: &Token<'_>) -> bool {
    matches!(word.text, "and" | "or") && word.kind == Kind::Word
}

/// `x &&`, `x ||`, `x ??`
fn short_circuit(tokens: &[Token<'_>], last: usize) -> Option<&'static str> {
    let pair = (tokens.get(last.checked_sub(1)?)?, tokens.get(last)?);
    ["&", "|", "?"].into_iter().find(|mark| pair.0.is_mark(mark) && pair.1.is_mark(mark))
}

/// Old shell assertions that are now lines of a here-document: `: <<END`.
fn in_documents(after: &Facts<'_>, then: &HashMap<String, HashSet<Option<&str>>>) -> Vec<usize> {
    if after.language != Language::Shell {
        return Vec::new();
    }
    let tokens = &after.tokens;
    let mut found = Vec::new();
    for (at, four) in tokens.windows(4).enumerate() {
        let is_opening = four[0].is_mark("<") && four[1].is_mark("<") && !four[2].is_mark("<");
        if !is_opening || tokens.before(at, 1).is_some_and(|before| before.is_mark("<")) {
            continue;
        }
        let name = if four[2].is_mark("-") { &four[3] } else { &four[2] };
        let end = tokens.iter().skip(at + 3).find(|token| token.line > name.line && token.text == name.text);
        let end = end.map_or(usize::MAX, |token| token.line);
        let mut inside = after.assertions.iter().filter(|one| one.line > name.line && one.line < end);
        if inside.any(|one| then.contains_key(&one.key())) {
            found.push(four[0].line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    const PY: &str = "class A(T):\n    def test_a(self):\n@        self.assertEqual(add(1, 2), 3)\n";
    const JS: &str = "test('a', () => {\n@  assert.strictEqual(add(1, 2), 3)\n})\n";
    const SH: &str = ". ./calc.sh\n@test \"$(add 1 2)\" = 3 || fail add\n";
    const C: &str = "int main(void) {\n@    assert(add(1, 2) == 3);\n    return 0;\n}\n";
    const RS: &str = "#[test]\nfn a() {\n@    assert_eq!(add(1, 2), 3);\n}\n";

    fn found(path: &str, text: &str, line: &str) -> usize {
        let (before, after) = (text.replace('@', ""), text.replace('@', line));
        let text = Text { path, before: Some(before), after: Some(after) };
        in_file(&TestFile::of(&text).unwrap()).len()
    }

    #[test]
    fn an_assertion_absorbed_by_a_new_line_is_found() {
        for (path, text, line) in [
            ("tests/test_a.py", PY, "        case = lambda: \\\n"),
            ("tests/test_a.py", PY, "        case = (lambda:\n"),
            ("tests/test_a.py", PY, "        ready and \\\n"),
            ("test/a.test.js", JS, "  const sums = () =>\n"),
            ("test/a.test.js", JS, "  const sums = async (a) => (\n"),
            ("test/a.test.js", JS, "  ready &&\n"),
            ("tests/a.sh", SH, ": \\\n"),
            ("tests/a.sh", SH, "x=\\\n"),
            ("tests/a.sh", SH, ": <<'END'\n"),
            ("tests/a.sh", SH, "cat > /dev/null <<END\n"),
            ("tests/a.c", C, "#define SUMS \\\n"),
            ("tests/a.rs", RS, "    let _sums = ||\n"),
        ] {
            assert_eq!(found(path, text, line), 1, "{path}: {line}");
        }
        for (path, text, line) in [
            ("tests/test_a.py", PY, "        with self.subTest(1):\n    "),
            ("tests/test_a.py", PY, "        x = [1,\n             2]\n"),
            ("tests/test_a.py", PY, "        f = lambda: 1\n"),
            ("test/a.test.js", JS, "  const x = 1\n"),
            ("test/a.test.js", JS, "  const f = () => 1\n"),
            ("tests/a.sh", SH, "cat > a <<END\n3\nEND\n"),
            ("tests/a.sh", SH, "echo a \\\n  b\n"),
            ("tests/a.c", C, "    add(1, 1);\n"),
            ("tests/a.rs", RS, "    let sums = || 1;\n"),
        ] {
            assert_eq!(found(path, text, line), 0, "{path}: {line}");
        }
        let named = "const adds = () =>\n  assert.strictEqual(add(1, 2), 3)\n\ntest('a', adds)\n";
        let text = Text { path: "a.test.js", before: Some(JS.replace('@', "")), after: Some(named.to_owned()) };
        assert_eq!(in_file(&TestFile::of(&text).unwrap()), []);
        let unheard = "const adds = () =>\n  assert.strictEqual(add(1, 2), 3)\n\nvoid (adds)\n";
        let text = Text { path: "a.test.js", before: Some(JS.replace('@', "")), after: Some(unheard.to_owned()) };
        assert_eq!(in_file(&TestFile::of(&text).unwrap()).len(), 1);
        let concise = "test('a', () =>\n  assert.strictEqual(add(1, 2), 3))\n";
        let text = Text { path: "a.test.js", before: Some(JS.replace('@', "")), after: Some(concise.to_owned()) };
        assert_eq!(in_file(&TestFile::of(&text).unwrap()), []);
    }
}
