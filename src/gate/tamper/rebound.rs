//! Names that old tests call and that now refer to something else: because of another import, an argument, a loop, or a
//! write into the table of names.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Text;

use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use crate::gate::pins::Pins;
use crate::project::check_files::{Role, role_of};

/// New lines of an existing file that make its assertions test something else.
pub(super) fn in_file(pins: &Pins, file: &TestFile<'_>, texts: &[Text<'_>]) -> Vec<Finding> {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return Vec::new() };
    if file.role != TestRole::Tests {
        return Vec::new();
    }
    let known: HashSet<String> = before.keys().collect();
    let asserted: BTreeSet<&str> = before
        .assertions
        .iter()
        .flat_map(|assertion| &assertion.tokens)
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect();
    // Names from elsewhere are tools of the tests: `mock`, `json`.
    let then: BTreeMap<&str, String> = brought(before)
        .into_iter()
        .filter(|(name, from, _)| {
            asserted.contains(name) && (is_of_project(pins, texts, from) || is_of_tests(pins, from))
        })
        .map(|(name, from, _)| (name, from))
        .collect();
    let mut found = Vec::new();
    let mut add = |line: usize, name: &str, how: String| {
        if name == "*" || reaches(after, &known, line, name) {
            let what = format!("`{name}` {how}: the test would test something else");
            found.push((line, Weakening::StubbedSubject, what));
        }
    };
    let now = brought(after);
    for (name, from, line) in &now {
        let is_project = || is_of_project(pins, texts, from);
        match then.get(name) {
            Some(old) if old != from => {
                let stays = now.iter().any(|(other, other_from, _)| other == name && other_from == old);
                if stays || top(old) != top(from) && !is_project() {
                    add(*line, name, format!("came from `{old}` and comes from `{from}` now"));
                }
            }
            None if *name == "*" && !then.is_empty() && !is_project() => {
                add(*line, name, format!("of `{from}` may take the place of what is tested"));
            }
            _ => {}
        }
    }
    for (line, name) in bindings(after, &then) {
        let from = then.get(name).map_or("", String::as_str);
        let is_kept = now.iter().any(|(other, ..)| *other == name);
        if is_kept || !texts.iter().any(|text| is_fixture_of(text, name, from)) {
            add(line, name, format!("came from `{from}` and is something else from here on"));
        }
    }
    file.new_findings(found)
}

/// True if an existing assertion uses a name in the scope of a binding on a line: in its function, from there on;
/// everywhere if the binding is outside a function, or goes through the table of names.
fn reaches(facts: &Facts<'_>, known: &HashSet<String>, line: usize, name: &str) -> bool {
    let tokens = &facts.tokens;
    let is_declared = |word: &Token<'_>| word.is_word("global") && tokens.on_line(word.line).has_word(name);
    let is_of_all = tokens.iter().any(is_declared)
        || tokens.on_line(line).iter().any(|token| {
            matches!(token.text, "globals" | "vars" | "__dict__" | "modules" | "__builtins__" | "setattr")
        });
    let column = tokens.column_of(line);
    let begins =
        |token: &&Token<'_>| matches!(token.text, "def" | "async") && tokens.first_of(token.line) == Some(*token);
    let function = tokens
        .iter()
        .filter(begins)
        .rfind(|word| word.line == line || word.line < line && word.column < column)
        .filter(|_| !is_of_all);
    let (from, to) = function.map_or((0, usize::MAX), |function| {
        let ends = |token: &&Token<'_>| {
            token.line > line && token.column <= function.column && !token.is_mark(")") && !token.is_mark("]")
        };
        (line, tokens.iter().find(ends).map_or(usize::MAX, |token| token.line))
    });
    facts
        .assertions
        .iter()
        .any(|one| one.line >= from && one.line < to && one.tokens.has_word(name) && known.contains(&one.key()))
}

/// True if a source defines a fixture with a name, and imports the module from which that name came.
fn is_fixture_of(text: &Text<'_>, name: &str, from: &str) -> bool {
    let after = text.after.as_deref().unwrap_or_default();
    let makes = Language::of(text.path) == Some(Language::Python)
        && after.contains("fixture")
        && after.contains(&format!("def {name}("));
    makes && brought(&Facts::read(after, Language::Python)).iter().any(|(_, other, _)| top(other) == top(from))
}

/// The first part of the name of a module.
fn top(module: &str) -> &str {
    module.trim_start_matches('.').split(['.', '/']).next().unwrap_or_default()
}

/// True if a module belongs to the project, as it was or as it is now, and not to its tests.
fn is_of_project(pins: &Pins, texts: &[Text<'_>], module: &str) -> bool {
    let is_changed = |text: &Text<'_>| {
        let path = text.path.rsplit_once('.').map_or(text.path, |(path, _)| path);
        role_of(text.path) != Some(Role::Test) && path.split('/').any(|part| part == top(module))
    };
    module.starts_with('.') || pins.modules.contains(top(module)) || texts.iter().any(is_changed)
}

/// True if a module belongs to the tests of the project.
fn is_of_tests(pins: &Pins, module: &str) -> bool {
    let sources = pins.files.keys().filter_map(|path| path.strip_suffix(".py"));
    sources.into_iter().any(|path| path.split('/').any(|part| part == top(module)))
}

/// The names that a Python source imports, with module and line.
pub(super) fn brought<'text>(facts: &Facts<'text>) -> Vec<(&'text str, String, usize)> {
    let mut found = Vec::new();
    if facts.language != Language::Python {
        return found;
    }
    let tokens = &facts.tokens;
    for (at, token) in tokens.iter().enumerate() {
        let is_behind = |mark: &str| tokens.before(at, 1).is_some_and(|before| before.is_mark(mark));
        if token.kind != Kind::Word || !(tokens.begins_line(at) || is_behind(";") || is_behind(":")) {
            continue;
        }
        let line = statement(tokens, at);
        match token.text {
            "from" => {
                let Some(import) = line.iter().position(|token| token.is_word("import")) else { continue };
                let from: String = line.iter().take(import).skip(1).map(|token| token.text).collect();
                let names = line.get(import + 1..).unwrap_or_default();
                for (at, name) in names.iter().enumerate() {
                    let is_name = name.kind == Kind::Word && name.text != "as" || name.is_mark("*");
                    let has_new_name = names.before(at, 1).is_some_and(|before| before.is_word("as"));
                    if is_name && !names.is_word(at + 1, "as") {
                        let original = names.before(at, 2).filter(|_| has_new_name);
                        let original = original.map_or(String::new(), |name| format!(".{}", name.text));
                        found.push((name.text, format!("{from}{original}"), name.line));
                    }
                }
            }
            "import" => {
                for part in line.get(1..).unwrap_or_default().split(|token| token.is_mark(",")) {
                    let Some(first) = part.first() else { continue };
                    let alias = part.iter().position(|token| token.is_word("as")).and_then(|at| part.get(at + 1));
                    let from: String =
                        part.iter().take_while(|token| !token.is_word("as")).map(|token| token.text).collect();
                    found.push((alias.map_or(first.text, |alias| alias.text), from, first.line));
                }
            }
            _ => {}
        }
    }
    found
}

/// The tokens of a statement, with parentheses closed.
fn statement<'a, 'text>(tokens: &'a [Token<'text>], at: usize) -> &'a [Token<'text>] {
    let rest = tokens.get(at..).unwrap_or_default();
    let mut depth = 0_i32;
    let mut line = rest.first().map_or(0, |first| first.line);
    let end = rest.iter().position(|token| {
        let ends = depth == 0 && (token.line != line || token.is_mark(";"));
        if token.is_mark("\\") {
            line = token.line + 1;
        }
        depth += i32::from(token.is_mark("(")) - i32::from(token.is_mark(")"));
        ends
    });
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
}

/// Places where some names are bound other than by a definition, a simple assignment or an import.
fn bindings<'text>(facts: &Facts<'text>, wanted: &BTreeMap<&str, String>) -> Vec<(usize, &'text str)> {
    let tokens = &facts.tokens;
    let is_mark = |at: usize, mark: &str| tokens.is_mark(at, mark);
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.turn() > 0 && facts.partner(at).is_some() {
            open.push(at);
        } else if token.closes() {
            open.pop();
        }
        if !wanted.contains_key(token.text) {
            continue;
        }
        let before = tokens.before(at, 1);
        let line = tokens.on_line(token.line);
        let of_names = ["globals", "locals", "vars", "__dict__", "modules", "__builtins__"];
        let writes_names = || line.iter().any(|other| of_names.contains(&other.text));
        let is_bound = match (facts.language, token.kind) {
            (Language::Python, Kind::Text) => {
                writes_names()
                    && (before.is_some_and(|before| before.is_mark("["))
                        && is_mark(at + 1, "]")
                        && is_mark(at + 2, "=")
                        || line.has_word("setattr")
                        || is_mark(at + 1, ":"))
            }
            (Language::Python, Kind::Word) => {
                let assigns = is_mark(at + 1, "=") && !is_mark(at + 2, "=");
                let given_to = open.last().filter(|open| is_mark(**open, "(")).and_then(|open| open.checked_sub(1));
                let is_parameter = given_to.is_some_and(|name| {
                    tokens[name].text.starts_with("test")
                        && tokens.before(name, 1).is_some_and(|word| word.is_word("def"))
                }) && before
                    .is_some_and(|before| before.kind == Kind::Mark && "(,*".contains(before.text));
                let is_renamed = before.is_some_and(|before| before.is_word("as")) && !line.has_word("import");
                let head = &line[..line.partition_point(|other| other.column < token.column)];
                let is_name =
                    |other: &Token<'_>| other.kind == Kind::Word && other.text != "in" || "(,*".contains(other.text);
                let loop_at = head.iter().rposition(|other| other.is_word("for"));
                let is_looped = loop_at.is_some_and(|from| head[from + 1..].iter().all(is_name));
                is_mark(at + 1, ":") && is_mark(at + 2, "=")
                    || is_parameter
                    || is_renamed
                    || is_looped
                    || assigns
                        && (open.is_empty()
                            && !head.is_empty()
                            && head.iter().all(|other| other.kind == Kind::Word || "=,*".contains(other.text))
                            && !is_mark(at + 2, "=")
                            || given_to.is_some() && writes_names())
            }
            _ => false,
        };
        if is_bound {
            found.push((token.line, token.text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::check::Source;
    use crate::gate::discovery::Discovery;
    use crate::gate::pins::Planned;
    use crate::project::files::MemoryFiles;

    const PY: &str = "import unittest\n\nfrom calc import add, sub\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
        self.assertEqual(add(1, 2), 3)\n";

    fn found(from: &str, to: &str) -> usize {
        assert!(PY.contains(from), "{from}");
        let text = Text { path: "tests/test_a.py", before: Some(PY.to_owned()), after: Some(PY.replace(from, to)) };
        let texts = [text.clone(), Text { path: "sums.py", before: None, after: Some(String::new()) }];
        let files = [("calc.py", ""), ("src/core/sums.py", "")];
        let paths = files.map(|(path, _)| path.to_owned());
        let discovery = Discovery { source: Source::TaskPlan, checks: Vec::new(), refused: Vec::new() };
        let planned =
            Planned { discovery: &discovery, earlier: &[], paths: &paths, expected: &[], plan: "", is_fix: false };
        let pins = Pins::of(&MemoryFiles::new(files), planned).unwrap();
        in_file(&pins, &TestFile::of(&text).unwrap(), &texts).len()
    }

    #[test]
    fn a_tested_name_bound_to_something_else_is_found() {
        for (from, to) in [
            ("sub\n", "sub\nfrom operator import add\n"),
            ("sub\n", "sub\nfrom operator import sub as add\n"),
            ("sub\n", "sub\nfrom operator import *\n"),
            ("from calc", "from operator"),
            ("(self)", "(self, add=lambda a, b: a + b)"),
            ("(self)", "(self, add)"),
            ("        self", "        (add := int.__add__)\n        self"),
            ("        self", "        for add in [int.__add__]:\n            pass\n        self"),
            ("        self", "        for _, add in CASES:\n            pass\n        self"),
            ("        self", "        with fake() as add:\n            self"),
            ("        self", "        globals()[\"add\"] = int.__add__\n        self"),
            ("        self", "        globals().update(add=int.__add__)\n        self"),
            ("        self", "        other = add = int.__add__\n        self"),
            ("        self", "        other, add = fakes\n        self"),
            (
                "    def",
                "    def setUp(self):\n        global add\n        with fake() as add:\n            pass\n\n    def",
            ),
        ] {
            assert!(found(from, to) > 0, "{to}");
        }
        for (from, to) in [
            ("from calc", "from calc.sums"),
            ("from calc", "from core"),
            ("from calc", "from sums"),
            ("from calc import add, sub", "from calc import (\n    add,\n    sub,\n)"),
            ("sub\n", "sub\nfrom operator import mul\n"),
            ("        self", "        run(add=1)\n        self"),
            ("        self", "        for a, b in CASES:\n            self.assertEqual(add(a, b), 3)\n        self"),
            ("        self", "        names = {\"add\": add}\n        self"),
            ("        self", "        def check(add):\n            return add\n        self"),
            // No existing assertion uses the name here.
            (
                "3)\n",
                "3)\n\n    def test_b(self):\n        for add in CASES:\n            self.assertEqual(len(add), 3)\n",
            ),
            ("3)\n", "3)\n\n    def test_b(self, sub):\n        self.assertEqual(sub, 3)\n"),
            (
                "3)\n",
                "3)\n\n    def test_b(self):\n        from operator import sub\n        self.assertEqual(sub(3, 0), 3)\n",
            ),
            ("3)\n", "3)\n        with open('a') as add:\n            add.read()\n"),
        ] {
            assert_eq!(found(from, to), 0, "{to}");
        }
    }
}
