//! Checks whether a test still tests the program, and not its own stub.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::imports::{Import, imports};
use super::lexer::{Kind, Language};
use super::taken::definitions;
use super::{file_name, resolved, split};
use crate::project::check_files::{Role, role_of};

pub(super) fn in_file(file: &TestFile<'_>) -> Vec<Finding> {
    let Some(after) = &file.after else { return Vec::new() };
    let mut found = mocked(file, after);
    found.extend(reads_itself(file));
    if let Some(before) = &file.before
        && file.role == TestRole::Tests
    {
        let (then, now) = (imports(before), imports(after));
        for (name, import) in &then {
            if is_test_side(file.path, import.from, after.language) {
                continue;
            }
            // If a name is imported and then defined, the definition counts.
            let here =
                || defined(after, name).filter(|_| defined(before, name).is_none()).map(|line| (line, "this file"));
            let stub = match now.get(name) {
                Some(other) if is_test_side(file.path, other.from, after.language) => Some((other.line, other.from)),
                _ => here(),
            };
            if let Some((line, place)) = stub {
                let what = format!(
                    "`{name}` came from `{}` and comes from {place} now: the test would test a stub",
                    import.from
                );
                found.push(Finding::new(file.path, line, Weakening::StubbedSubject, what));
            }
        }
    }
    found
}

/// True if a module that a test names is itself a part of the tests.
fn is_test_side(path: &str, from: &str, language: Language) -> bool {
    let is_test_word = |word: &str| {
        let word = word.to_ascii_lowercase();
        ["stub", "fake", "mock", "double"].iter().any(|part| word.contains(part))
    };
    if language != Language::Script {
        return from.starts_with("test") || is_test_word(from);
    }
    if !from.starts_with('.') {
        return false;
    }
    let resolved = resolved(split(path).0, from);
    let has_ending = Language::of(&resolved).is_some();
    let resolved = if has_ending { resolved } else { format!("{resolved}.js") };
    role_of(&resolved) == Some(Role::Test) || is_test_word(&resolved)
}

/// The line on which a file defines a name without passing it on.
fn defined(facts: &Facts<'_>, name: &str) -> Option<usize> {
    let all = definitions(facts);
    let mut of_name = all.iter().filter(|one| one.owner.is_none() && one.name == name);
    of_name.find(|one| !one.body.iter().any(|token| token.is_word(name) || token.is_word("import"))).map(|one| one.line)
}

/// New calls that replace what the file tests with a stub.
fn mocked(file: &TestFile<'_>, after: &Facts<'_>) -> Vec<Finding> {
    if file.role != TestRole::Tests {
        return Vec::new();
    }
    let subject = subject(file.path);
    let brought = imports(after);
    let mut found = Vec::new();
    let calls = after.tokens.windows(3).filter(|window| window[1].is_mark("(") && window[2].kind == Kind::Text);
    for call in calls.filter(|window| file.added.contains(&window[0].line)) {
        let target = call[2].text;
        let last = |text: &str, mark: char| text.rsplit(mark).next().unwrap_or_default().to_owned();
        let is_stub = match call[0].text {
            "mock" | "doMock" | "module" | "unstable_mockModule" if after.language == Language::Script => {
                let name = last(target, '/');
                name.split('.').next() == Some(subject) && target.starts_with('.')
            }
            // `patch("calc.add")`, if the test imports `add` from `calc`
            "patch" | "setattr" => {
                let name = last(target, '.');
                target.rsplit_once('.').is_some_and(|(module, _)| {
                    let module = last(module, '.');
                    module == subject
                        && brought.get(name.as_str()).is_some_and(|import| last(import.from, '.') == module)
                })
            }
            _ => false,
        };
        if is_stub {
            let what = format!("`{target}` is what this file tests, and it is replaced by a stub");
            found.push(Finding::new(file.path, call[0].line, Weakening::StubbedSubject, what));
        }
    }
    found.extend(replaced(file, after, &brought, subject));
    found
}

/// Calls that give a member of something another value: `patch.object(calc, "add")`, `spyOn(calc, 'add')`.
const REPLACING: &[&str] =
    &["object", "setattr", "spyOn", "stub", "method", "replace", "replaceProperty", "defineProperty", "allow"];

/// New code that replaces a function which the file's tests call, in the module that the file tests.
fn replaced(
    file: &TestFile<'_>,
    after: &Facts<'_>,
    brought: &BTreeMap<&str, Import<'_>>,
    subject: &str,
) -> Vec<Finding> {
    let Some(before) = &file.before else { return Vec::new() };
    let is_called =
        |name: &str| before.assertions.iter().any(|assertion| assertion.callees().any(|callee| callee == name));
    let is_of_subject = |owner: &str| {
        let from =
            brought.get(owner).map(|import| import.from.rsplit(['/', '.']).find(|part| *part != "js" && *part != "ts"));
        owner == subject || from.flatten() == Some(subject)
    };
    let calls = after
        .member_calls()
        .filter(|five| REPLACING.contains(&five[0].text) && is_of_subject(five[2].text) && is_called(five[4].text));
    let calls = calls.map(|five| (five[0].line, five[4].text));
    let assigned = definitions(after).into_iter().filter(|one| {
        one.owner.is_some_and(is_of_subject)
            && is_called(one.name)
            // Its own name appears before the `=`.
            && one.body.iter().filter(|token| token.is_word(one.name)).count() < 2
    });
    let all = calls.chain(assigned.map(|one| (one.line, one.name)));
    let what = |name: &str| format!("`{name}` is what this file tests, and it is replaced by a stub");
    file.new_findings(all.map(|(line, name)| (line, Weakening::StubbedSubject, what(name))))
}

/// The name of what a file tests: `test_calc.py` tests `calc`.
fn subject(path: &str) -> &str {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let stem = stem.strip_prefix("test_").or(stem.strip_prefix("test-")).unwrap_or(stem);
    stem.strip_suffix("_test").or(stem.strip_suffix("-test")).or(stem.strip_suffix("_spec")).unwrap_or(stem)
}

/// New lines of a test that read the test file itself.
fn reads_itself(file: &TestFile<'_>) -> Vec<Finding> {
    let names = ["__file__", "__filename", "file!()"];
    let reads = ["read", "open(", "cat", "include_str"];
    let of_folder = ["dirname", "parent", "resolve(", "join("];
    let lines = file.after.iter().flat_map(Facts::lines).filter(|(_, code)| {
        names.iter().any(|name| code.contains(name))
            && reads.iter().any(|read| code.contains(read))
            && !of_folder.iter().any(|folder| code.contains(folder))
    });
    let what = "the test reads its own source";
    file.new_findings(lines.map(|(line, _)| (line, Weakening::ReadsItself, what.to_owned())))
}
