//! Test code that never runs, or not here: conditions that are never true, loops without iterations, code after the end
//! of its function, and tests that leave before they assert.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, Test};
use super::file::TestFile;
use super::finding::{Finding, Weakening};
use super::leaving::{leaving, unreachable};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use crate::text::words::word_list;

/// New code in a file that keeps tests from running.
pub(super) fn in_file(file: &TestFile<'_>) -> Vec<Finding> {
    let Some(after) = &file.after else { return Vec::new() };
    let lines = after.lines();
    let rounds = [loops(after), empty_tables(&lines)].concat();
    // The first finding for a line counts.
    let rules = [
        (
            conditions(after),
            Weakening::LeftEarly,
            "the condition is always the same, so that the code below it never runs",
        ),
        (rounds, Weakening::LeftEarly, "the loop has no rounds, so that what is in it never runs"),
        (unreachable(after, &lines), Weakening::LeftEarly, "the function ends here, before its other lines"),
        (leaving(file, after, &lines), Weakening::Skipped, "the test leaves by a condition before it asserts anything"),
        (excluded(file, after, &lines), Weakening::Skipped, "the test is compiled only under a condition"),
    ];
    let mut found: BTreeMap<usize, (Weakening, &'static str)> = BTreeMap::new();
    for (hits, kind, what) in rules {
        for line in hits.into_iter().filter(|line| file.added.contains(line)) {
            found.entry(line).or_insert((kind, what));
        }
    }
    found.into_iter().map(|(line, (kind, what))| Finding::new(file.path, line, kind, what)).collect()
}

fn is_falsy(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Number => token.text.trim_matches(['0', '.']).is_empty(),
        Kind::Word => matches!(token.text, "false" | "False" | "null" | "None" | "nil" | "undefined"),
        Kind::Text => token.text.is_empty(),
        Kind::Mark => false,
    }
}

/// True if a token is the same whatever the program does.
fn is_fixed(token: &Token<'_>) -> bool {
    let is_word = token.kind == Kind::Word && matches!(token.text, "not" | "and" | "or" | "test" | "is");
    match token.kind {
        Kind::Mark => !matches!(token.text, "$" | "`" | "@" | "<"),
        Kind::Text => !token.text.contains(['$', '`']),
        _ => token.is_literal() || is_word,
    }
}

/// Lines with a condition that is never true.
fn conditions(facts: &Facts<'_>) -> Vec<usize> {
    let tokens = &facts.tokens;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = tokens.before(at, 1);
        let is_first = before.is_none_or(|before| {
            before.line != token.line || before.kind == Kind::Mark && matches!(before.text, ";" | "{" | "(" | ">")
        });
        if is_short_circuit(tokens, at) && is_first {
            found.push(token.line);
        }
        let is_condition = token.kind == Kind::Word
            && matches!(token.text, "if" | "elif" | "elsif" | "while" | "until" | "unless")
            && !before.is_some_and(|before| before.is_mark(".") || before.is_mark("-"));
        if !is_condition {
            continue;
        }
        let is_of_preprocessor = before.is_some_and(|before| before.is_mark("#")) && facts.language == Language::Braces;
        let Some((from, to)) = condition(facts, at, is_of_preprocessor) else { continue };
        let inside = tokens.get(from..to).unwrap_or_default().iter();
        let inside: Vec<&Token<'_>> = inside.filter(|token| !token.is_mark("(") && !token.is_mark(")")).collect();
        let is_constant = inside.iter().any(|token| token.is_literal()) && inside.iter().all(|token| is_fixed(token));
        let is_single = inside.len() == 1;
        let holds = is_single && !inside.iter().any(|token| is_falsy(token));
        let is_turned = matches!(token.text, "until" | "unless");
        // `do { ... } while (0)`
        let ends_loop =
            token.text == "while" && (before.is_some_and(|before| before.is_mark("}")) || tokens.is_mark(to + 1, ";"));
        if is_constant && (holds == is_turned || !is_single) && !ends_loop {
            found.push(token.line);
        }
    }
    found
}

/// `false && ...`, `True or ...`
fn is_short_circuit(tokens: &[Token<'_>], at: usize) -> bool {
    let (Some(token), Some(next)) = (tokens.get(at), tokens.get(at + 1)) else { return false };
    let is_double = |mark: &str| next.is_mark(mark) && tokens.is_mark(at + 2, mark);
    let is_false = token.kind != Kind::Text && is_falsy(token);
    let is_true = matches!(token.text, "true" | "True") && token.kind == Kind::Word;
    is_false && (is_double("&") || next.is_word("and")) || is_true && (is_double("|") || next.is_word("or"))
}

/// The range of the condition whose word is at `at`.
fn condition(facts: &Facts<'_>, at: usize, is_of_preprocessor: bool) -> Option<(usize, usize)> {
    let tokens = &facts.tokens;
    let line = tokens.get(at)?.line;
    let until = |ends: &dyn Fn(&Token<'_>) -> bool| {
        let end = tokens.iter().skip(at + 1).take(60).position(|token| token.line != line || ends(token));
        end.map_or(tokens.len(), |count| at + 1 + count)
    };
    if is_of_preprocessor {
        return Some((at + 1, until(&|_| false)));
    }
    match facts.language {
        Language::Python => Some((at + 1, until(&|token| token.is_mark(":")))),
        Language::Go | Language::Rust => Some((at + 1, until(&|token| token.is_mark("{")))),
        Language::Shell | Language::Ruby | Language::Hashes => {
            let ends = |token: &Token<'_>| token.is_mark(";") || token.is_word("then") || token.is_word("do");
            Some((at + 1, until(&ends)))
        }
        Language::Script | Language::Braces => {
            facts.partner(at + 1).filter(|_| tokens.is_mark(at + 1, "(")).map(|close| (at + 2, close))
        }
    }
}

/// Lines with a loop over nothing.
fn loops(facts: &Facts<'_>) -> Vec<usize> {
    let tokens = &facts.tokens;
    let number = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Number)?.text.parse::<i64>().ok();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word("for")) {
        let is_here = |at: usize| tokens.get(at).is_some_and(|other| other.line == token.line);
        let of_shell = facts.language == Language::Shell && tokens.is_word(at + 2, "in") && {
            let is_empty =
                |at: usize| tokens.get(at).is_some_and(|word| word.kind == Kind::Text && word.text.is_empty());
            let behind = if is_empty(at + 3) { at + 4 } else { at + 3 };
            !is_here(behind) || tokens.is_mark(behind, ";")
        };
        // `for (i = 0; i < 0; i++)`
        let rest = (at..tokens.len().min(at + 16)).filter(|at| is_here(*at));
        let counts = rest.into_iter().any(|at| {
            tokens.is_mark(at, "=")
                && tokens.is_mark(at + 2, ";")
                && tokens.is_mark(at + 4, "<")
                && tokens.is_mark(at + 6, ";")
                && number(at + 1).is_some_and(|from| number(at + 5).is_some_and(|to| from >= to))
        });
        if of_shell || counts {
            found.push(token.line);
        }
    }
    found
}

/// Code, without blanks, that iterates over nothing. After `in` and `of`, up to the end of the loop head.
const NOTHING: &[&str] = &[
    " in[]:",
    " in():",
    " in{}:",
    " in set():",
    " in list():",
    " in dict():",
    " in tuple():",
    " in range(0):",
    " in range(0,0):",
    " in iter([]):",
    " in iter(()):",
    " of[])",
    " of new Set())",
    " of new Map())",
    " of new Array())",
    " of Array(0))",
    " in{})",
    " in[]{",
    " in 0..0{",
    " in[]do",
    " in 0...0",
    " range[]int{}{",
    " range[]string{}{",
    " range 0{",
    "range([]){",
    " of Object.keys({}))",
];

/// The same at the beginning of a statement.
const CALLED_ON_NOTHING: &[&str] = &["[].forEach(", "[].map(", "[].every(", "[].each"];

/// The same anywhere in a line.
const EMPTIED: &[&str] = word_list!(
    ".each([])( [:0] [0:0] .slice(0,0) .filter(()=>false) .take(0) .first(0) .limit(0) itertools.islice([],
     std::iter::empty"
);

fn empty_tables(lines: &[(usize, String)]) -> Vec<usize> {
    let is_empty = |code: &String| {
        let is_loop = code.starts_with("for") || code.contains("}for") || code.contains(" for ");
        is_loop && NOTHING.iter().any(|nothing| code.contains(nothing))
            || EMPTIED.iter().any(|nothing| code.contains(nothing))
            || CALLED_ON_NOTHING.iter().any(|nothing| code.trim_start_matches(';').starts_with(nothing))
            || code.contains("parametrize(") && code.contains(",[])")
    };
    lines.iter().filter(|(_, code)| is_empty(code)).map(|(line, _)| *line).collect()
}

/// Lines that restrict tests to some builds although all builds had them.
fn excluded(file: &TestFile<'_>, after: &Facts<'_>, lines: &[(usize, String)]) -> Vec<usize> {
    let mut found = Vec::new();
    match after.language {
        Language::Braces => {
            let mut open: Vec<(usize, bool)> = Vec::new();
            let was_there: BTreeSet<usize> =
                after.assertions.iter().map(|found| found.line).filter(|line| !file.added.contains(line)).collect();
            for (index, (line, code)) in lines.iter().enumerate() {
                if code.starts_with("#if") {
                    // `#ifndef A_H` and `#define A_H`
                    let name = code.strip_prefix("#ifndef ");
                    let next = lines.get(index + 1).map_or("", |(_, code)| code.as_str());
                    let is_guard = name.is_some_and(|name| next == format!("#define {name}"));
                    open.push((*line, is_guard));
                } else if code.starts_with("#endif")
                    && let Some((from, is_guard)) = open.pop()
                    && !is_guard
                    && was_there.range(from..*line).next().is_some()
                {
                    found.push(from);
                }
            }
        }
        Language::Rust => {
            let known = file.known();
            let is_condition = |code: &str| {
                code.starts_with("#[cfg(") && !code.contains("(test)") && !code.contains("(test,")
                    || code.starts_with("#[cfg_attr(") && code.contains("ignore")
            };
            let is_near = |line: usize, test: &Test<'_>| test.line > line && test.line <= line + 4;
            let is_of_known =
                |line: usize| after.tests.iter().any(|test| known.contains(test.name) && is_near(line, test));
            let conditions = lines.iter().filter(|(_, code)| is_condition(code)).map(|(line, _)| *line);
            found.extend(conditions.filter(|line| is_of_known(*line)));
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

    fn found(path: &str, before: &str, after: &str) -> Vec<usize> {
        let text = Text { path, before: Some(before.to_owned()), after: Some(after.to_owned()) };
        in_file(&TestFile::of(&text).unwrap()).into_iter().map(|finding| finding.line).collect()
    }

    /// A test in each language, with a line to replace `@` and another at the end.
    const TESTS: &[(&str, &str)] = &[
        ("tests/test_a.py", "class A(T):\n    def test_a(self):\n@        self.assertEqual(add(1, 2), 3)\n"),
        ("test/a.test.js", "test('a', () => {\n@  assert.equal(add(1, 2), 3)\n})\n"),
        ("tests/a.sh", ". ./a.sh\n@test \"$(add 1 2)\" = 3 || fail add\n"),
        ("tests/a.c", "#include <assert.h>\n\nint main(void) {\n@    assert(add(1, 2) == 3);\n    return 0;\n}\n"),
        ("a_test.go", "func TestA(t *testing.T) {\n@\tif Add(1, 2) != 3 {\n\t\tt.Fatal(1)\n\t}\n}\n"),
        ("tests/a.rs", "#[test]\nfn a() {\n@    assert_eq!(add(1, 2), 3);\n}\n"),
        ("spec/a_spec.rb", "it 'adds' do\n@  expect(add(1, 2)).to eq(3)\nend\n"),
    ];

    fn with(path: &str, line: &str) -> Vec<usize> {
        let (_, text) = TESTS.iter().find(|(other, _)| *other == path).unwrap();
        found(path, &text.replace('@', ""), &text.replace('@', line))
    }

    #[test]
    fn code_that_never_runs_is_found_in_each_language() {
        let (py, js, sh, c, go, rs, rb) = (0, 1, 2, 3, 4, 5, 6);
        for (language, line) in [
            (py, "        for _ in []:\n    "),
            (py, "        for _ in range(0):\n    "),
            (py, "        for _ in CASES[:0]:\n    "),
            (py, "        while 0:\n    "),
            (py, "        if 1 == 2:\n    "),
            (py, "        if not True:\n    "),
            (py, "        return None\n"),
            (py, "        if not os.environ.get('RUN'): return\n"),
            (py, "        if not os.environ.get('RUN'):\n            return\n"),
            (py, "        if add(1, 2) != 3:\n            return\n"),
            (js, "  for (const _ of []) \n"),
            (js, "  ;[].forEach(() => {})\n"),
            (js, "  for (let i = 0; i < 0; i++)\n"),
            (js, "  while (false)\n"),
            (js, "  if (!true)\n"),
            (js, "  if (1 === 2)\n"),
            (js, "  false &&\n"),
            (js, "  return undefined\n"),
            (js, "  if (!process.env.RUN) return\n"),
            (js, "  if (!process.env.RUN) { return }\n"),
            (sh, "for _ in; do\n"),
            (sh, "for _ in \"\"; do\n"),
            (sh, "while false; do\n"),
            (sh, "until true; do\n"),
            (sh, "if [ 1 = 2 ]; then\n"),
            (sh, "if false; then\n"),
            (sh, "false && "),
            (sh, "test -n \"$RUN\" || return\n"),
            (sh, "[ -z \"$RUN\" ] && exit 0\n"),
            (sh, "return 0\n"),
            (c, "    while (0)\n    "),
            (c, "    for (int i = 0; i < 0; i++)\n    "),
            (c, "    if (0 == 1)\n    "),
            (c, "    return 0;\n"),
            (c, "    exit(0);\n"),
            (c, "#if 0\n"),
            (c, "    if (!getenv(\"RUN\")) return 0;\n"),
            (go, "\tif os.Getenv(\"RUN\") == \"\" {\n\t\treturn\n\t}\n"),
            (go, "\treturn\n"),
            (go, "\tif 1 == 2 {\n"),
            (go, "\tfor range []int{} {\n"),
            (rs, "    for _ in 0..0 {\n"),
            (rs, "    while false {\n"),
            (rs, "    return;\n"),
            (rs, "    if std::env::var(\"RUN\").is_err() { return; }\n"),
            (rb, "  return unless ENV['RUN']\n"),
            (rb, "  [].each do\n"),
            (rb, "  if false\n"),
        ] {
            assert!(!with(TESTS[language].0, line).is_empty(), "{}: {line}", TESTS[language].0);
        }
        let c = "#include <assert.h>\nint main(void) {\n    assert(a == 1);\n    return 0;\n}\n";
        assert_eq!(found("tests/a.c", c, &c.replace("(void) {", "(void) { return 0;")), [2]);
        assert_eq!(
            found("tests/a.c", c, &c.replace("    assert(a == 1);", "#ifdef NEVER\n    assert(a == 1);\n#endif")),
            [3]
        );
        let rs = "#[test]\nfn a() {\n    assert_eq!(add(1, 2), 3);\n}\n";
        assert_eq!(found("tests/a.rs", rs, &format!("#[cfg(feature = \"slow\")]\n{rs}")), [1]);
    }

    #[test]
    fn loops_and_conditions_of_honest_tests_are_accepted() {
        let (py, js, sh, c, go, rs, rb) = (0, 1, 2, 3, 4, 5, 6);
        for (language, line) in [
            (py, "        for a, b in [(1, 2)]:\n            add(a, b)\n"),
            (py, "        while True:\n            break\n"),
            (py, "        cases = []\n"),
            (py, "        if os.environ.get('CI'):\n            print(1)\n"),
            (js, "  for (const a of [1, 2]) {\n    add(a, a)\n  }\n"),
            (js, "  const found = list.filter(() => true)\n"),
            (js, "  const add3 = (a) => {\n    return null\n  }\n"),
            (js, "  server.on('a', (b) => {\n    if (b) return\n    c(b)\n  })\n"),
            (js, "  do {\n    add(1, 2)\n  } while (false)\n"),
            (sh, "for a in 1 2; do\n  add $a $a\ndone\n"),
            (sh, "if [ $1 = 2 ]; then\n  echo a\nfi\n"),
            (sh, "wait_for() { test -f a && return 0; }\n"),
            (sh, "while :; do\n  break\ndone\n"),
            (sh, "test -d a || exit 1\n"),
            (c, "    for (int i = 0; i < 3; i++) add(i, i);\n"),
            (c, "    do {\n        add(1, 2);\n    } while (0);\n"),
            (c, "    while (1) { break; }\n"),
            (c, "#if 1\n#endif\n"),
            (c, "#ifdef WIDE\n    assert(wide(1) == 1);\n#endif\n"),
            (go, "\tfor _, c := range []int{1, 2} {\n\t\tAdd(c, c)\n\t}\n"),
            (rs, "    for _ in 0..3 {}\n"),
            (rs, "    let y = 1;\n    if x { return; }\n    loop { break; }\n"),
            (js, "  assert.equal(sum([].map(add)), 0)\n"),
            (rb, "  [1, 2].each { |a| add(a, a) }\n"),
        ] {
            assert_eq!(with(TESTS[language].0, line), Vec::<usize>::new(), "{}: {line}", TESTS[language].0);
        }
        let guard = "#ifndef A_H\n#define A_H\n#include <assert.h>\n";
        let header = "static void same(int a) { assert(a == 1); }\n";
        assert!(found("tests/a.h", header, &format!("{guard}{header}#endif\n")).is_empty());
    }
}
