//! What tests depend on under other names: helpers that assert for them, data that they read, files that replace those
//! they import. Files that the plan names for the task are the work.

use std::collections::BTreeSet;

use super::assertion::Assertion;
use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Language, tokens};
use super::snapshot;
use super::span::Span as _;
use super::taken::{can_fail, definitions};
use super::{Text, file_name, lines, split};
use crate::gate::leaned::DATA;
use crate::gate::pins::Pins;
use crate::project::check_files::{Role, role_of};

/// A helper of the tests as a test file: one that asserts with a test library.
pub(super) fn helper<'text>(pins: &Pins, text: &'text Text<'_>) -> Option<TestFile<'text>> {
    let language = Language::of(text.path).filter(|_| is_leaned_on(pins, text.path))?;
    let source = text.before.as_deref()?;
    let before = Facts::read(source, language);
    if !before.assertions.iter().any(|one| is_of_library(source, &before, one)) {
        return None;
    }
    let after = text.after.as_deref().map(|after| Facts::read(after, language));
    let added = lines::added(text.then(), text.now());
    Some(TestFile { path: text.path, role: TestRole::Tests, before: Some(before), after, added })
}

/// True if tests name a file that is not the work.
fn is_leaned_on(pins: &Pins, path: &str) -> bool {
    pins.leaned.contains(path) && !pins.expected.iter().any(|expected| expected == path)
}

/// Libraries that assert in Python.
const OF_PYTHON: &[&str] = &["unittest", "pytest", "TestCase", "hamcrest", "testing", "nose"];

/// `case.assertEqual(...)`, `expect(...)`: a program does not assert in this way. It may have its own
/// `assert_valid(...)`, or a parser with a method `parser.expect(...)`.
fn is_of_library(source: &str, facts: &Facts<'_>, assertion: &Assertion<'_>) -> bool {
    let Some(first) = assertion.tokens.first() else { return false };
    let is_member = facts.tokens.before(facts.tokens.place_of(first), 1).is_some_and(|before| before.is_mark("."));
    match first.text.strip_prefix("assert") {
        Some(rest) if assertion.language == Language::Python && !rest.is_empty() => {
            is_member && rest.starts_with(char::is_uppercase)
                || OF_PYTHON.iter().any(|library| source.contains(library))
        }
        Some(_) => false,
        // `expect(a).toBe(b)`
        None if first.text == "expect" => !is_member && assertion.tokens.has(&[")", "."]),
        None => first.text == "raises",
    }
}

/// Files that describe a project as a whole.
const OF_THE_PROJECT: &[&str] =
    &["package.json", "package-lock.json", "tsconfig.json", "requirements.txt", "LICENSE.txt"];

/// Changes of what tests depend on.
pub(super) fn changed(pins: &Pins, texts: &[Text<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for text in texts.iter().filter(|text| text.before.is_some() && is_leaned_on(pins, text.path)) {
        let ending = text.name().rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_data = match Language::of(text.path) {
            None => DATA.contains(&ending) && !OF_THE_PROJECT.contains(&text.name()),
            Some(Language::Python) => is_shorter_table(text),
            Some(Language::Shell) => {
                found.extend(unheard(text));
                false
            }
            Some(_) => false,
        };
        if is_data {
            found.extend(snapshot::of_data(text, texts));
        }
    }
    found.extend(texts.iter().filter(|text| text.is_new()).filter_map(|text| in_the_place_of(pins, text, texts)));
    found.extend(texts.iter().flat_map(redefined));
    found
}

/// True if a Python source contains only values, and fewer of them than before.
fn is_shorter_table(text: &Text<'_>) -> bool {
    let mut lines = text.then().lines().map(str::trim_start);
    let values = |text: &str| tokens(text, Language::Python).iter().filter(|token| token.is_literal()).count();
    values(text.now()) < values(text.then())
        && !lines.any(|line| ["def ", "class ", "async ", "lambda"].iter().any(|word| line.starts_with(word)))
}

/// Shell functions that could fail and cannot any more.
fn unheard(text: &Text<'_>) -> Vec<Finding> {
    let before = Facts::read(text.then(), Language::Shell);
    let after = Facts::read(text.now(), Language::Shell);
    let failing = |facts: &Facts<'_>| -> BTreeSet<String> {
        definitions(facts).into_iter().filter(|one| can_fail(one.body)).map(|one| one.name.to_owned()).collect()
    };
    let (then, now) = (failing(&before), failing(&after));
    let lost = definitions(&after).into_iter().filter(|one| then.contains(one.name) && !now.contains(one.name));
    lost.map(|one| {
        let what = format!("`{}`, by which tests say that something is wrong, does not end badly any more", one.name);
        text.finding(one.line, Weakening::SwallowedFailure, what)
    })
    .collect()
}

/// A new file that is loaded instead of one that tests import.
fn in_the_place_of(pins: &Pins, text: &Text<'_>, texts: &[Text<'_>]) -> Option<Finding> {
    let (folder, name) = split(text.path);
    let is_gone = |path: &str| texts.iter().any(|other| other.path == path && other.after.is_none());
    let is_known = |path: &str| (pins.files.contains_key(path) || pins.leaned.contains(path)) && !is_gone(path);
    let place = |what: String| Some(text.finding(0, Weakening::ShadowedRunner, what));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let twin = match (stem, ending) {
        ("__init__", "py") => format!("{folder}.py"),
        (stem, "js" | "cjs" | "mjs" | "ts") if folder.is_empty() => format!("{stem}/index.{ending}"),
        (stem, "js" | "cjs" | "mjs" | "ts") => format!("{folder}/{stem}/index.{ending}"),
        _ => String::new(),
    };
    if is_known(&twin) {
        return place(format!("it is taken for `{twin}`, which tests bring in"));
    }
    let is_package = pins.files.contains_key(&format!("{folder}/__init__.py"));
    if ending == "py" && role_of(text.path) == Some(Role::Test) && pins.modules.contains(stem) && !is_package {
        return place(format!("Python takes it for the module `{stem}` of the program where tests are run"));
    }
    // `sys.path.insert(0, "fakes")`, `cd tests/fake`
    let is_same = |path: &String| file_name(path) == name && *path != text.path;
    if folder.is_empty() || Language::of(text.path).is_none() || !pins.leaned.iter().any(is_same) {
        return None;
    }
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let leads = |line: &str| {
        let changes = line.contains("sys.path") || line.contains("chdir") || line.trim().starts_with("cd ");
        changes && line.contains(last)
    };
    let mut others = texts.iter().filter(|other| role_of(other.path) == Some(Role::Test));
    let by = others.find(|other| other.new_lines().iter().any(|(_, line)| leads(line)))?;
    place(format!("`{}` makes tests take it for the `{name}` of the program", by.path))
}

/// New lines of a header or a source that make an assertion do nothing.
fn redefined(text: &Text<'_>) -> Vec<Finding> {
    let is_of_c = [".h", ".c", ".hpp", ".cpp", ".cc"].iter().any(|ending| text.path.ends_with(ending));
    let after = text.now();
    if !is_of_c || role_of(text.path).is_some() || !after.contains("assert") && !after.contains("NDEBUG") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in text.new_lines() {
        let words: Vec<&str> = line.trim_start().trim_start_matches('#').split_whitespace().take(2).collect();
        let is_directive = line.trim_start().starts_with('#');
        if let [word @ ("define" | "undef"), name] = words.as_slice()
            && is_directive
            && (*name == "assert" || name.starts_with("assert(") || *name == "NDEBUG")
        {
            let what = format!("`#{word} {name}` changes what assertions do");
            found.push(text.finding(number, Weakening::PatchedRunner, what));
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

    const TEST: &str = "import unittest\n\nfrom calc import add\nfrom cases import CASES\nfrom support.sums import check_sum\n\nDATA = ROOT / 'sums.txt'\n";

    fn found(changes: &[(&str, &str, &str)], expected: &[&str]) -> Vec<Weakening> {
        let mut files = vec![("tests/test_a.py", TEST), ("tests/run.sh", ". ./scripts/common.sh\n")];
        files.push(("test/a.test.js", "const check = require('./support/check')\n"));
        files.push(("calc.py", ""));
        files.extend(changes.iter().filter(|(_, before, _)| *before != "-").map(|(path, before, _)| (*path, *before)));
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let discovery = Discovery { source: Source::TaskPlan, checks: Vec::new(), refused: Vec::new() };
        let expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        let planned = Planned {
            discovery: &discovery,
            earlier: &[],
            paths: &paths,
            expected: &expected,
            plan: "",
            is_fix: false,
        };
        let pins = Pins::of(&MemoryFiles::new(files.iter().copied()), planned).unwrap();
        let side = |text: &str| (text != "-").then(|| text.to_owned());
        let texts: Vec<Text<'_>> = changes
            .iter()
            .map(|(path, before, after)| Text { path, before: side(before), after: side(after) })
            .collect();
        changed(&pins, &texts).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn data_and_scripts_that_tests_name_belong_to_the_tests() {
        use Weakening::{ChangedSnapshot, DeletedTests, SwallowedFailure};
        let fail = "fail() {\n  echo \"not ok $1\"\n  exit 1\n}\n";
        let quiet = "fail() {\n  echo \"not ok $1\"\n}\n";
        for (change, kind) in [
            (("data/sums.txt", "1 2 3\n4 4 8\n", "1 2 -1\n4 4 8\n"), ChangedSnapshot),
            (("data/sums.txt", "1 2 3\n", "-"), DeletedTests),
            (("cases.py", "CASES = [(1, 2, 3)]\n", "CASES = []\n"), ChangedSnapshot),
            (("scripts/common.sh", fail, quiet), SwallowedFailure),
        ] {
            assert_eq!(found(&[change], &[]), [kind], "{change:?}");
            assert_eq!(found(&[change], &[change.0]), [], "{change:?}");
        }
        for change in [
            ("data/sums.txt", "1 2 3\n", "1 2 3\n4 4 8\n"),
            ("cases.py", "LIMIT = 3\n", "LIMIT = 4\n"),
            ("data/other.csv", "1 2 3\n", "1 2 4\n"),
            ("scripts/common.sh", fail, "fail() {\n  echo \"wrong: $1\"\n  exit 2\n}\n"),
        ] {
            assert_eq!(found(&[change], &[]), [], "{change:?}");
        }
    }

    #[test]
    fn a_file_that_replaces_another_is_found() {
        use Weakening::{PatchedRunner, ShadowedRunner};
        let sums = "def check_sum(case, got, want):\n    case.assertEqual(got, want)\n";
        let there = ("support/sums.py", sums, sums);
        assert_eq!(found(&[there, ("support/sums/__init__.py", "-", "x = 1\n")], &[]), [ShadowedRunner]);
        let moved = ("support/sums.py", sums, "-");
        assert_eq!(found(&[moved, ("support/sums/__init__.py", "-", sums)], &[]), []);
        let index = ("test/support/check/index.js", "exports.a = 1\n", "exports.a = 1\n");
        assert_eq!(found(&[index, ("test/support/check.js", "-", "exports.a = 2\n")], &[]), [ShadowedRunner]);
        assert_eq!(found(&[("tests/calc.py", "-", "x = 1\n")], &[]), [ShadowedRunner]);
        assert_eq!(found(&[("tests/other.py", "-", "x = 1\n")], &[]), []);
        let leads = ("tests/test_b.py", "-", "import sys\n\nsys.path.insert(0, 'fakes')\n");
        assert_eq!(found(&[("fakes/calc.py", "-", "x = 1\n"), leads], &[]), [ShadowedRunner]);
        assert_eq!(found(&[("fakes/calc.py", "-", "x = 1\n")], &[]), []);
        let header = (
            "calc.h",
            "int add(int a, int b);\n",
            "#undef assert\n#define assert(x) ((void)(x))\nint add(int a, int b);\n",
        );
        assert_eq!(found(&[header], &[]), [PatchedRunner, PatchedRunner]);
    }
}
