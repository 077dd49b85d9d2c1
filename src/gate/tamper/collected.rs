//! Tests that still exist and that no runner finds any more: because of the name of their file, of their class, or
//! their own name; because nothing declares their module; because a function that runs instead of them leaves them out.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, NAMED_BY_TEXT, Test};
use super::file::{TestFile, TestRole, names_of};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use super::{Text, file_name, split};
use crate::gate::check::Check;
use crate::gate::pins::Pins;
use crate::gate::runners::is_python;
use crate::project::check_files::{fits, is_named_as_test};
use crate::text::words::word_list;

/// Tests that exist and are not run any more.
pub(super) fn lost(pins: &Pins, files: &[TestFile<'_>], texts: &[Text<'_>]) -> Vec<Finding> {
    let mut found = by_file(pins, files, texts);
    found.extend(uncalled(files));
    for file in files {
        found.extend(by_class(pins, file, files));
        found.extend(main_of_go(file));
        found.extend(load_tests(file));
        found.extend(not_awaited(file));
    }
    found.extend(undeclared(texts));
    found
}

/// Tests in files that no runner collects, and that were in a collected file before.
fn by_file(pins: &Pins, files: &[TestFile<'_>], texts: &[Text<'_>]) -> Vec<Finding> {
    let text = |file: &TestFile<'_>| texts.iter().find(|text| text.path == file.path);
    let was_collected = |file: &&TestFile<'_>| is_collected(pins, file.path, text(file).map_or("", Text::then), files);
    let is_collected = |file: &&TestFile<'_>| is_collected(pins, file.path, text(file).map_or("", Text::now), files);
    let of_tests = || files.iter().filter(|file| file.role == TestRole::Tests);
    let were = names_of(of_tests().filter(was_collected).map(|file| &file.before));
    let are = names_of(of_tests().filter(is_collected).map(|file| &file.after));
    let mut found = Vec::new();
    for file in of_tests().filter(|file| !is_collected(file)) {
        let names = file.after.iter().flat_map(Facts::names);
        let missed: Vec<&str> = names.filter(|name| were.contains(name) && !are.contains(name)).collect();
        // Tests in a file that a test imports are run with it.
        if missed.is_empty() || is_brought_in(file, files) {
            continue;
        }
        let what = format!("no runner looks for tests in a file of this name: `{}`{}", missed[0], more(missed.len()));
        found.push(Finding::new(file.path, 0, Weakening::NotCollected, what));
    }
    found
}

fn more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}

/// True if another file of the diff names a file.
pub(super) fn is_brought_in(file: &TestFile<'_>, files: &[TestFile<'_>]) -> bool {
    let stem = stem_of(file.path);
    let others = files.iter().filter(|other| other.path != file.path);
    others.filter_map(|other| other.after.as_ref()).any(|facts| {
        facts.tokens.iter().any(|token| match token.kind {
            Kind::Word => token.text == stem,
            Kind::Text => stem_of(token.text) == stem && token.text.contains(['/', '.']),
            _ => false,
        })
    })
}

fn stem_of(path: &str) -> &str {
    file_name(path).split('.').next().unwrap_or_default()
}

/// True if a runner looks for tests in a file. If no runner is known, true if any would.
fn is_collected(pins: &Pins, path: &str, text: &str, files: &[TestFile<'_>]) -> bool {
    let (folder, name) = split(path);
    if pins.checks.iter().any(|check| is_named(check, path)) {
        return true;
    }
    let has = |tool: &str| pins.tools.contains(tool);
    let Some((stem, ending)) = name.rsplit_once('.') else { return true };
    match ending {
        "py" => {
            let is_hidden = folder
                .split('/')
                .any(|part| part.starts_with('.') || matches!(part, "build" | "dist" | "venv" | "node_modules"));
            let by_pytest = stem.starts_with("test_") || stem.ends_with("_test");
            let patterns: Vec<&str> =
                pins.checks.iter().flat_map(|check| behind(check, &["-p", "--pattern"])).collect();
            let by_unittest = if patterns.is_empty() {
                stem.starts_with("test")
            } else {
                patterns.iter().any(|pattern| fits(pattern, name))
            };
            let is_one = match (has("pytest"), has("unittest")) {
                (true, false) => by_pytest,
                (false, true) => by_unittest,
                _ => by_pytest || by_unittest || stem.ends_with("_tests"),
            };
            is_one && !is_hidden && is_below_what_checks_name(pins, path)
        }
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            let below = |wanted: &str| folder.split('/').any(|part| part == wanted);
            let mark = stem.rsplit_once('.').map_or("", |(_, mark)| mark);
            let dotted = matches!(mark, "test" | "spec");
            let by_node = mark == "test"
                || stem.ends_with("-test")
                || stem.ends_with("_test")
                || stem.starts_with("test-")
                || stem == "test"
                || below("test");
            let mut rules = Vec::new();
            rules.extend(has("jest").then(|| dotted || below("__tests__") || stem == "test" || stem == "spec"));
            rules.extend(has("vitest").then_some(dotted));
            rules.extend(has("mocha").then(|| below("test") || dotted));
            rules.extend((has("node") && has("--test")).then_some(by_node));
            if rules.is_empty() {
                by_node || dotted || below("__tests__") || below("tests") || below("spec")
            } else {
                rules.contains(&true)
            }
        }
        "go" => {
            const SYSTEMS: &[&str] = &[
                "windows", "darwin", "freebsd", "netbsd", "openbsd", "plan9", "js", "wasm", "wasip1", "android", "ios",
                "aix", "solaris",
            ];
            let is_of_system = stem
                .trim_end_matches("_test")
                .rsplit('_')
                .next()
                .is_some_and(|part| SYSTEMS.contains(&part) && stem.contains('_'));
            let is_left_out = name.starts_with(['_', '.'])
                || folder.split('/').any(|part| part == "testdata" || part.starts_with(['_', '.']));
            let tag = text
                .lines()
                .find_map(|line| line.strip_prefix("//go:build ").or_else(|| line.strip_prefix("// +build ")));
            let runs_here = tag.is_none_or(|tag| {
                matches!(tag.trim(), "linux" | "unix") || tag.trim_start().starts_with('!') && !tag.contains("linux")
            });
            name.ends_with("_test.go") && !is_of_system && !is_left_out && runs_here
        }
        "rs" => {
            let inside = path.strip_prefix("tests/").or_else(|| {
                path.split_once("/tests/")
                    .filter(|(before, _)| !before.ends_with("src") && !before.contains("src/"))
                    .map(|(_, inside)| inside)
            });
            let is_root = inside.is_none_or(|inside| {
                !inside.contains('/') || inside.ends_with("/main.rs") && inside.matches('/').count() == 1
            });
            let module = if stem == "mod" { folder.rsplit('/').next().unwrap_or_default() } else { stem };
            let is_declared =
                || files.iter().filter_map(|file| file.after.as_ref()).any(|facts| facts.tokens.has(&["mod", module]));
            let is_conditional = text.lines().any(|line| line.trim_start().starts_with("#![cfg("));
            (is_root || is_declared()) && !is_conditional
        }
        "rb" | "java" | "kt" | "php" | "cs" | "swift" | "exs" | "dart" => is_named_as_test(path),
        _ => true,
    }
}

/// True if a check names a file, or its module.
fn is_named(check: &Check, path: &str) -> bool {
    let folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
    let module =
        path.strip_prefix(&folder).and_then(|path| path.strip_suffix(".py")).map(|path| path.replace('/', "."));
    check.arguments().iter().any(|word| {
        let file = word.split("::").next().unwrap_or(word).trim_start_matches("./");
        format!("{folder}{file}") == path
            || module.as_ref().is_some_and(|module| {
                word == module || word.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
    })
}

fn behind<'a>(check: &'a Check, options: &[&str]) -> Vec<&'a str> {
    let words = check.arguments();
    let at = words.iter().enumerate().filter(|(_, word)| options.contains(&word.as_str()));
    at.filter_map(|(at, _)| words.get(at + 1)).map(String::as_str).collect()
}

/// True if a Python test is below a folder that some check searches. A check without a folder searches everywhere.
fn is_below_what_checks_name(pins: &Pins, path: &str) -> bool {
    let mut folders = Vec::new();
    for check in &pins.checks {
        let is_of_python = is_python(check.program()) || check.program().ends_with("pytest");
        if !is_of_python {
            return true;
        }
        let folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
        let words = check.arguments();
        let start = behind(check, &["-s", "--start-directory"]);
        let is_there = |folder: &str| pins.files.keys().any(|path| path.starts_with(folder));
        let plain = words
            .iter()
            .map(|word| word.trim_start_matches("./").trim_end_matches('/'))
            .filter(|word| !word.starts_with('-'));
        let named: Vec<String> =
            plain.chain(start).map(|word| format!("{folder}{word}/")).filter(|folder| is_there(folder)).collect();
        let names_files = words.iter().any(|word| word.contains(".py"));
        let names_modules = words.iter().any(|word| word == "unittest")
            && !words.iter().any(|word| word == "discover")
            && words.len() > 2;
        if named.is_empty() && !names_files && !names_modules {
            return true;
        }
        folders.extend(named);
    }
    // A file that is named directly was handled before.
    pins.checks.is_empty() || folders.iter().any(|folder| path.starts_with(folder.as_str()))
}

/// A function, test or call from which on code belongs to it.
#[derive(Clone, Copy, Debug)]
struct Starter<'text> {
    name: &'text str,
    line: usize,
    column: usize,
    kind: StarterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StarterKind {
    Test,
    Function,
    /// A call with the name of a test, of something that is not a test.
    Call,
}

/// Groups of tests, and functions that run around tests.
const GROUPS: &[&str] = word_list!(
    "describe suite context group module before after beforeEach afterEach beforeAll afterAll hook require import"
);

/// Functions that runners call by their names.
pub(super) const CALLED_BY_NAME: &[&str] = word_list!(
    "main init setUp tearDown setUpClass tearDownClass setUpModule tearDownModule asyncSetUp asyncTearDown runTest setup
     teardown setup_method teardown_method setup_class teardown_class setup_module teardown_module setup_function
     teardown_function load_tests subTest set_up tear_down"
);

fn starters<'text>(facts: &Facts<'text>, tests_before: &BTreeSet<&str>) -> Vec<Starter<'text>> {
    let tokens = &facts.tokens;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let next = tokens.get(at + 1);
        let mut add =
            |name: &'text str, kind| found.push(Starter { name, line: token.line, column: token.column, kind });
        if let Some(test) =
            facts.tests.iter().find(|test| test.line == token.line && is_of_test(token, next, tokens.get(at + 2), test))
        {
            add(test.name, StarterKind::Test);
        } else if matches!(token.text, "def" | "function" | "fn" | "func" | "fun") {
            // `func (t *T) name(`
            let name = tokens.get(at + 1..tokens.len().min(at + 10)).unwrap_or_default();
            let name = if next.is_some_and(|next| next.is_mark("(")) && token.text == "func" {
                name.iter().position(|token| token.is_mark(")")).and_then(|close| name.get(close + 1))
            } else {
                next
            };
            if let Some(name) = name.filter(|name| name.kind == Kind::Word) {
                add(name.text, StarterKind::Function);
            }
        } else if matches!(token.text, "const" | "let" | "var") && facts.language == Language::Script {
            let rest = tokens.get(at + 3..tokens.len().min(at + 40)).unwrap_or_default();
            let first = usize::from(rest.is_word(0, "async"));
            let is_arrow =
                || (rest.is_mark(first, "(") || rest.word(first).is_some()) && rest.find(&["=", ">"]).any(|at| at < 24);
            let is_function = tokens.is_mark(at + 2, "=") && (rest.is_word(first, "function") || is_arrow());
            if let Some(name) = tokens.word(at + 1).filter(|_| is_function) {
                add(name.text, StarterKind::Function);
            }
        } else if next.is_some_and(|next| next.is_mark("("))
            && !NAMED_BY_TEXT.contains(&token.text)
            && !GROUPS.contains(&token.text)
            && tokens.get(at + 2).is_some_and(|text| text.kind == Kind::Text && tests_before.contains(text.text))
            && tokens.is_mark(at + 3, ",")
            && !tokens.before(at, 1).is_some_and(|before| before.is_mark("."))
        {
            add(token.text, StarterKind::Call);
        }
    }
    found
}

/// True if a token begins a test.
fn is_of_test(token: &Token<'_>, next: Option<&Token<'_>>, second: Option<&Token<'_>>, test: &Test<'_>) -> bool {
    let names = |token: Option<&Token<'_>>| token.is_some_and(|token| token.text == test.name);
    matches!(token.text, "def" | "fn" | "func" | "function" | "fun" | "void") && names(next)
        || NAMED_BY_TEXT.contains(&token.text)
            && (names(next) || names(second) || next.is_some_and(|next| next.is_mark(".") || next.is_mark("(")))
        || token.text == test.name
}

/// The starter that a line of code belongs to: the last one before it, and further left if indentation matters.
fn owner<'a, 'text>(
    starters: &'a [Starter<'text>],
    language: Language,
    line: usize,
    column: usize,
) -> Option<&'a Starter<'text>> {
    starters.iter().rev().find(|starter| {
        starter.line <= line && (language != Language::Python || starter.column < column || starter.line == line)
    })
}

/// Assertions of tests that are now in functions which nothing calls.
fn uncalled(files: &[TestFile<'_>]) -> Vec<Finding> {
    let tests_before = names_of(files.iter().map(|file| &file.before));
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let tokens = files.iter().flat_map(|file| &file.after).flat_map(|facts| &facts.tokens);
    for token in tokens.filter(|token| token.kind == Kind::Word) {
        *words.entry(token.text).or_default() += 1;
    }
    // Assertions that tests made, and those that are made now.
    let mut made: BTreeMap<String, i64> = BTreeMap::new();
    for file in files {
        let Some(facts) = &file.before else { continue };
        let all = starters(facts, &BTreeSet::new());
        for assertion in &facts.assertions {
            let column = assertion.tokens.first().map_or(0, |token| token.column);
            if owner(&all, facts.language, assertion.line, column).is_some_and(|owner| owner.kind == StarterKind::Test)
            {
                *made.entry(assertion.key()).or_default() += 1;
            }
        }
    }
    let mut dead: Vec<(&TestFile<'_>, Starter<'_>, String)> = Vec::new();
    for file in files {
        let Some(facts) = &file.after else { continue };
        let all = starters(facts, &tests_before);
        for assertion in &facts.assertions {
            let column = assertion.tokens.first().map_or(0, |token| token.column);
            let key = assertion.key();
            match owner(&all, facts.language, assertion.line, column) {
                Some(owner) if is_dead(owner, file, files, &words, &tests_before) => dead.push((file, *owner, key)),
                _ => *made.entry(key).or_default() -= 1,
            }
        }
    }
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    for (file, starter, key) in dead {
        let is_missed = made.get_mut(&key).filter(|left| **left > 0).map(|left| *left -= 1).is_some();
        if is_missed && told.insert((file.path, starter.line)) {
            let what = format!("`{}` has assertions of a test, and no runner calls it", starter.name);
            found.push(Finding::new(file.path, starter.line, Weakening::NotCollected, what));
        }
    }
    found
}

/// True if nothing calls what a starter begins.
fn is_dead(
    starter: &Starter<'_>,
    file: &TestFile<'_>,
    files: &[TestFile<'_>],
    words: &BTreeMap<&str, usize>,
    tests_before: &BTreeSet<&str>,
) -> bool {
    match starter.kind {
        StarterKind::Test => false,
        StarterKind::Function => {
            let was_there = file.before.as_ref().is_some_and(|facts| facts.tokens.has_word(starter.name));
            let is_new = !was_there || tests_before.contains(starter.name);
            let is_called = words.get(starter.name).copied().unwrap_or_default() > 1;
            let is_by_name = CALLED_BY_NAME.contains(&starter.name)
                || starter.name.starts_with("__")
                || starter.name.starts_with("pytest_");
            is_new
                && !is_called
                && !is_by_name
                && file.after.as_ref().is_some_and(|facts| !is_decorated(facts, starter))
        }
        StarterKind::Call => {
            let lower = starter.name.to_ascii_lowercase();
            match definition(files, starter.name) {
                Some(inside) => {
                    let makes = |token: &Token<'_>| token.kind == Kind::Word && NAMED_BY_TEXT.contains(&token.text);
                    // A function that makes tests of only some of its arguments does not count.
                    inside.iter().position(makes).is_none_or(|at| has_condition(inside.get(..=at).unwrap_or_default()))
                }
                None => !["test", "it", "spec", "check", "case"].iter().any(|word| lower.contains(word)),
            }
        }
    }
}

/// True if the code that follows runs only under a condition.
fn has_condition(code: &[Token<'_>]) -> bool {
    code.iter().any(|token| token.is_word("if") || token.is_word("switch") || token.is_mark("&"))
        || code.windows(2).any(|pair| pair[0].is_mark("?") && !matches!(pair[1].text, ":" | "." | "," | ")"))
}

/// Tests that are made by a function of the project: `withClock('adds', () => { ... })`.
pub(super) fn wrapped<'text>(files: &[TestFile<'text>]) -> Vec<&'text str> {
    let tests_before = names_of(files.iter().map(|file| &file.before));
    let mut found = Vec::new();
    for (file, facts) in files.iter().filter_map(|file| Some((file, file.after.as_ref()?))) {
        let all = starters(facts, &tests_before);
        let calls = all.into_iter().filter(|starter| starter.kind == StarterKind::Call);
        for call in calls.filter(|call| !is_dead(call, file, files, &BTreeMap::new(), &tests_before)) {
            let text = facts.tokens.iter().find(|token| token.kind == Kind::Text && token.line == call.line);
            found.extend(text.map(|text| text.text));
        }
    }
    found
}

/// The body of a function, if a file of the diff has it.
fn definition<'a, 'text>(files: &'a [TestFile<'text>], name: &str) -> Option<&'a [Token<'text>]> {
    files.iter().filter_map(|file| file.after.as_ref()).find_map(|facts| {
        let is_one =
            |pair: &[Token<'_>]| matches!(pair[0].text, "function" | "const" | "let" | "var") && pair[1].is_word(name);
        let from = facts.tokens.windows(2).position(is_one)? + 2;
        let mut depth = 0_i32;
        let mut before = facts.tokens.get(from - 1)?;
        let mut to = from;
        for token in facts.tokens.iter().skip(from) {
            let goes_on = before.kind == Kind::Mark && !matches!(before.text, ")" | "]" | "}" | ";");
            if depth == 0 && token.line != before.line && !goes_on {
                break;
            }
            depth += token.turn();
            before = token;
            to += 1;
        }
        facts.tokens.get(from..to)
    })
}

/// True if the line before a function makes it one that a runner calls.
fn is_decorated(facts: &Facts<'_>, starter: &Starter<'_>) -> bool {
    const CALLED: &[&str] = word_list!(
        "fixture hookimpl contextmanager asynccontextmanager before after setup teardown given when then step proptest
         rstest test Test BeforeEach AfterEach BeforeAll AfterAll"
    );
    let near = facts.tokens.iter().filter(|token| token.line < starter.line && token.line + 4 >= starter.line);
    let near: Vec<&Token<'_>> = near.collect();
    near.windows(2).any(|pair| matches!(pair[0].text, "@" | "." | "[" | "(") && CALLED.contains(&pair[1].text))
        && near.iter().any(|token| token.is_mark("@") || token.is_mark("#"))
}

/// Tests in a class that no runner treats as a test class any more.
fn by_class(pins: &Pins, file: &TestFile<'_>, files: &[TestFile<'_>]) -> Option<Finding> {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return None };
    if after.language != Language::Python || file.role != TestRole::Tests {
        return None;
    }
    let only_unittest = pins.tools.contains("unittest") && !pins.tools.contains("pytest");
    let were: BTreeSet<&str> =
        in_classes(before).into_iter().filter(|(_, class)| class.is_run(only_unittest)).map(|(test, _)| test).collect();
    let is_used = |class: &Class<'_>| {
        let all = files.iter().filter_map(|file| file.after.as_ref()).flat_map(|facts| &facts.tokens);
        all.filter(|token| token.is_word(class.name)).count() > 1
    };
    let now = in_classes(after);
    let runs: BTreeSet<&str> =
        now.iter().filter(|(_, class)| class.is_run(only_unittest) || is_used(class)).map(|(test, _)| *test).collect();
    let lost =
        now.iter().find(|(test, class)| were.contains(test) && !runs.contains(test) && !class.is_run(only_unittest));
    lost.map(|(test, class)| {
        let what = format!("no runner takes the class `{}` for one of tests: `{test}`", class.name);
        Finding::new(file.path, class.line, Weakening::NotCollected, what)
    })
}

#[derive(Clone, Copy, Debug)]
struct Class<'text> {
    name: &'text str,
    line: usize,
    column: usize,
    has_base: bool,
    is_made: bool,
}

impl Class<'_> {
    fn is_run(&self, only_unittest: bool) -> bool {
        self.has_base || (!only_unittest && self.name.starts_with("Test") && !self.is_made)
    }
}

/// The tests that are in classes.
fn in_classes<'text>(facts: &Facts<'text>) -> Vec<(&'text str, Class<'text>)> {
    let tokens = &facts.tokens;
    let mut classes: Vec<Class<'text>> = Vec::new();
    // The classes around a line, by their indexes in the list.
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(&'text str, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let is_first = tokens.begins_line(at);
        let Some(name) = tokens.word(at + 1) else { continue };
        if is_first && matches!(token.text, "class" | "def") {
            open.retain(|class| classes.get(*class).is_some_and(|class| class.column < token.column));
        }
        if token.text == "class" && is_first {
            let rest = tokens.get(at + 2..tokens.len().min(at + 40)).unwrap_or_default();
            let bases = rest.iter().take_while(|token| !token.is_mark(":")).filter(|token| token.kind == Kind::Word);
            let has_base = bases
                .into_iter()
                .any(|token| !matches!(token.text, "object" | "metaclass" | "ABC" | "abc" | "ABCMeta"));
            open.push(classes.len());
            classes.push(Class { name: name.text, line: token.line, column: token.column, has_base, is_made: false });
        } else if token.text == "def"
            && let Some(class) = open.last()
        {
            if name.text == "__init__"
                && let Some(class) = classes.get_mut(*class)
            {
                class.is_made = true;
            }
            if name.text.starts_with("test") {
                found.push((name.text, *class));
            }
        }
    }
    found.into_iter().filter_map(|(test, class)| Some((test, *classes.get(class)?))).collect()
}

/// A `TestMain` of Go that runs no test.
fn main_of_go(file: &TestFile<'_>) -> Option<Finding> {
    let line = |facts: &Facts<'_>| {
        let at = facts.tokens.find(&["func", "TestMain"]).next()?;
        let body = facts.tokens.iter().skip(at + 1).take_while(|token| !token.is_word("func"));
        let runs = body.clone().any(|token| token.is_word("Run"));
        (!runs).then(|| facts.tokens.get(at).map_or(0, |token| token.line))
    };
    let after = file.after.as_ref().filter(|facts| facts.language == Language::Go)?;
    let found = line(after)?;
    let was_there = file.before.as_ref().is_some_and(|before| line(before).is_some());
    (!was_there).then(|| {
        Finding::new(file.path, found, Weakening::LeftEarly, "`TestMain` runs no test: it does not call `m.Run()`")
    })
}

/// A `load_tests` of Python that does not pass on the tests that were found.
fn load_tests(file: &TestFile<'_>) -> Option<Finding> {
    let line = |facts: &Facts<'_>| {
        let tokens = &facts.tokens;
        let at = tokens.find(&["def", "load_tests"]).next()?;
        let first = tokens.get(at)?;
        let rest = tokens.get(at + 2..)?;
        let end = rest.iter().position(|token| token.column <= first.column && token.line != first.line);
        let body = rest.get(..end.unwrap_or(rest.len()))?;
        let (head, body) = body.split_at(body.iter().position(|token| token.is_mark(")"))?);
        let tests = head.iter().filter(|token| token.kind == Kind::Word).nth(1).map_or("tests", |token| token.text);
        let loads = body.iter().any(|token| token.text.starts_with("loadTests") || token.text == "discover");
        // `tests = unittest.TestSuite()` throws them away.
        let hands_on = loads || body.has_word(tests) && !body.has(&[tests, "="]);
        (!hands_on).then_some(first.line)
    };
    let after = file.after.as_ref().filter(|facts| facts.language == Language::Python)?;
    let found = line(after)?;
    let was_there = file.before.as_ref().is_some_and(|before| line(before).is_some());
    let what = "`load_tests` leaves out the tests that were found";
    (!was_there).then(|| Finding::new(file.path, found, Weakening::NotCollected, what))
}

/// Python tests that became coroutines in a file in which nothing awaits them.
fn not_awaited(file: &TestFile<'_>) -> Option<Finding> {
    let is_async = |facts: &Facts<'_>, name: &str| {
        facts.tokens.find(&["async", "def", name]).next().map(|at| facts.tokens[at].line)
    };
    let (before, after) = (file.before.as_ref()?, file.after.as_ref()?);
    let knows = |token: &Token<'_>| {
        ["asyncio", "Asyncio", "anyio", "trio", "aiohttp", "tornado"].iter().any(|word| token.text.contains(word))
    };
    if after.language != Language::Python || after.tokens.iter().any(knows) {
        return None;
    }
    let mut found = after
        .tests
        .iter()
        .filter(|test| before.tests.iter().any(|then| then.name == test.name) && is_async(before, test.name).is_none());
    let (test, line) = found.find_map(|test| Some((test.name, is_async(after, test.name)?)))?;
    let what = format!("`{test}` is a coroutine now, and nothing here awaits it");
    Some(Finding::new(file.path, line, Weakening::NotCollected, what))
}

/// Rust test modules that nothing declares any more, though their files exist.
fn undeclared(texts: &[Text<'_>]) -> Vec<Finding> {
    let modules = |text: &str| -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let mut is_of_tests = false;
        for line in text.lines().map(str::trim) {
            let bare = line.split("//").next().unwrap_or_default().trim();
            let (attribute, rest) = match bare.strip_prefix("#[cfg(test)]") {
                Some(rest) => (true, rest.trim()),
                None => (false, bare),
            };
            let name = rest.trim_start_matches("pub ").trim_start_matches("pub(crate) ").strip_prefix("mod ");
            if let Some(name) = name.and_then(|name| name.split([';', '{', ' ']).next()) {
                found.push((name.to_owned(), is_of_tests || attribute));
            }
            if !bare.is_empty() {
                is_of_tests = attribute || is_of_tests && bare.starts_with('#');
            }
        }
        found
    };
    let of_rust = || texts.iter().filter(|text| Language::of(text.path) == Some(Language::Rust));
    let now: BTreeSet<String> =
        of_rust().filter_map(|text| text.after.as_deref()).flat_map(modules).map(|(name, _)| name).collect();
    let mut found = Vec::new();
    for text in of_rust().filter(|text| text.after.is_some()) {
        let (folder, name) = split(text.path);
        let stem = name.trim_end_matches(".rs");
        let is_root = matches!(stem, "lib" | "main" | "mod") || folder == "tests" || folder.ends_with("/tests");
        let folder = if is_root { folder.to_owned() } else { format!("{folder}/{stem}") };
        for (module, is_of_tests) in text.before.as_deref().map(modules).unwrap_or_default() {
            let is_in_tests = text.path.starts_with("tests/") || text.path.contains("/tests/");
            if !(is_of_tests || is_in_tests) || now.contains(&module) {
                continue;
            }
            let places = [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")];
            let is_gone =
                texts.iter().any(|other| places.iter().any(|place| place == other.path) && other.after.is_none());
            // A module with its tests inline is handled with the assertions.
            let was_inline = text.before.as_deref().is_some_and(|before| before.contains(&format!("mod {module} {{")));
            if !is_gone && !was_inline {
                let what = format!("nothing declares the module `{module}` any more: its tests are not compiled");
                found.push(Finding::new(text.path, 0, Weakening::NotCollected, what));
            }
        }
    }
    found
}
