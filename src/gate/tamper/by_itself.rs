//! Tests, new or old, that test what they brought themselves: a part of the program that they replace for all tests, a
//! stub instead of the function in question, a copy of the function; and new tests that no runner runs.

use std::collections::{BTreeMap, BTreeSet};

use super::Text;
use super::assertion::Assertion;
use super::facts::{Facts, Test};
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::imports::imports;
use super::lexer::{Kind, Language, Token};
use super::rebound::brought;
use super::span::Span as _;
use super::taken::{Definition, definitions};
use crate::gate::check::Check;
use crate::gate::pins::{Pins, module_of};
use crate::project::check_files::role_of;
use crate::text::words::word_list;

pub(super) fn in_file(pins: &Pins, file: &TestFile<'_>, texts: &[Text<'_>]) -> Vec<Finding> {
    let Some(after) = file.after.as_ref().filter(|_| file.role != TestRole::Inside) else { return Vec::new() };
    let own = own_modules(pins, texts);
    let modules = modules(&own, after);
    let mut found = Vec::new();
    let mut add = |line: usize, kind: Weakening, what: String| found.push((line, kind, what));
    for (line, name) in replaced_for_all(pins, after, &modules, texts) {
        let what = format!("`{name}` of the program is replaced here for all tests");
        add(line, Weakening::StubbedSubject, what);
    }
    for (line, name) in stubbed_and_asserted(&own, after, &modules) {
        add(line, Weakening::StubbedSubject, format!("`{name}` is a stub here, and the test asks about it"));
    }
    if file.before.is_none() && file.role == TestRole::Tests {
        for (line, name) in copies(after, &modules, texts) {
            let what = format!("`{name}` is written in the test itself, so that the one of the program is not tested");
            add(line, Weakening::StubbedSubject, what);
        }
        for (line, name) in not_run(pins, after) {
            add(line, Weakening::NotCollected, format!("no runner runs the new test `{name}`"));
        }
        for (line, name) in not_called(after, texts) {
            let what = format!("nothing calls `{name}`, so that the new test in it never runs");
            add(line, Weakening::NotCollected, what);
        }
    }
    file.new_findings(found)
}

/// The modules of the program, including those that the work adds.
fn own_modules<'text>(pins: &'text Pins, texts: &'text [Text<'_>]) -> BTreeSet<&'text str> {
    let made = texts.iter().filter(|text| text.after.is_some()).filter_map(|text| module_of(text.path));
    pins.modules.iter().map(String::as_str).chain(made).collect()
}

/// The names under which a test knows modules of the program.
fn modules<'text>(own: &BTreeSet<&str>, facts: &Facts<'text>) -> BTreeSet<&'text str> {
    let mut found = BTreeSet::new();
    match facts.language {
        Language::Python => {
            for (at, token) in facts.tokens.iter().enumerate().filter(|(_, token)| token.is_word("import")) {
                let line = facts.tokens.on_line(token.line);
                let (head, behind) = line.split_at(at - facts.tokens.start_of(token.line));
                // `from a import b` imports what may be a module.
                let from = head.iter().find(|other| other.kind == Kind::Word && other.text != "from");
                for part in behind[1..].split(|one| one.is_mark(",")) {
                    let Some(first) = part.first() else { continue };
                    let top = from.map_or(first.text, |from| from.text);
                    if own.contains(top) {
                        found.extend(part.iter().rfind(|one| one.kind == Kind::Word).map(|one| one.text));
                        found.insert(first.text);
                    }
                }
            }
        }
        Language::Script => {
            let own = imports(facts).into_iter().filter(|(_, import)| import.from.starts_with('.'));
            found.extend(own.map(|(name, _)| name));
        }
        _ => {}
    }
    found
}

/// Functions around tests; a replacement in one of them lasts for all tests that follow.
const AROUND: &[&str] = word_list!(
    "setUp setUpClass setUpModule setup_module setup_class setup_method asyncSetUp before beforeEach beforeAll"
);

/// Members of program modules that get another value outside of a single test: those that a test of this file calls,
/// and those that stay replaced for the tests of other files. A member that is restored after each test, or that is
/// replaced by something that does nothing, is a dependency of the tested code: a clock, a log.
fn replaced_for_all<'text>(
    pins: &Pins,
    facts: &Facts<'text>,
    modules: &BTreeSet<&str>,
    texts: &[Text<'_>],
) -> Vec<(usize, &'text str)> {
    if modules.is_empty() {
        return Vec::new();
    }
    let all = definitions(facts);
    let is_set =
        |five: &[Token<'_>]| matches!(five[0].text, "setattr" | "defineProperty") && modules.contains(five[2].text);
    let sets: Vec<(usize, &'text str)> =
        facts.member_calls().filter(|five| is_set(five)).map(|five| (five[0].line, five[4].text)).collect();
    if sets.is_empty() && all.iter().all(|one| one.owner.is_none()) {
        return Vec::new();
    }
    let made = made_by_work(facts.language, texts);
    let asked: BTreeSet<&str> = facts.assertions.iter().flat_map(Assertion::callees).collect();
    let is_alone = facts.language == Language::Script && pins.checks.iter().all(|check| is_one_by_one(pins, check));
    // In `self.calc.add = ...` the owner is something else.
    let is_direct = |one: &&Definition<'_, '_>| {
        one.owner.is_some_and(|owner| modules.contains(owner))
            && one.body.first().is_some_and(|first| first.text == one.name)
    };
    let members: Vec<&Definition<'_, 'text>> = all.iter().filter(is_direct).collect();
    let is_put_back = |line: usize, name: &str| {
        let later = |token: &&Token<'_>| {
            token.kind == Kind::Text && token.text == name && token.line != line && puts_back(facts, token.line)
        };
        members.iter().any(|one| one.name == name && one.line != line)
            || sets.iter().any(|(other, set)| *set == name && *other != line)
            || facts.tokens.iter().any(|token| later(&token))
    };
    let counts = |line: usize, name: &str| {
        let around = enclosing(facts, &all, line);
        let is_for_all = around.is_none_or(|name| AROUND.contains(&name));
        let stays = around.is_none() || !is_put_back(line, name);
        let is_heard = made.contains(name) || !members.iter().any(|one| one.line == line && is_quiet(one));
        is_for_all && (asked.contains(name) || stays && is_heard && !is_alone)
    };
    let is_defined = |name: &str| all.iter().any(|one| one.owner.is_none() && one.name == name);
    let is_callable = |one: &&&Definition<'_, '_>| {
        let mut value = one.body.iter().skip_while(|token| !token.is_mark("=")).skip(1);
        let first = value.clone().find(|token| token.kind == Kind::Word);
        let makes = first.is_some_and(|first| {
            matches!(first.text, "lambda" | "function" | "Mock" | "MagicMock" | "mock" | "async")
                || is_defined(first.text)
        });
        let is_arrow = one.body.has(&["=", ">"]);
        let is_value = value.next().is_some_and(|first| first.kind == Kind::Number || first.kind == Kind::Text);
        !is_value && (makes || is_arrow || made.contains(one.name))
    };
    let assigned = members.iter().filter(is_callable).map(|one| (one.line, one.name));
    assigned.chain(sets.iter().copied()).filter(|(line, name)| counts(*line, name)).collect()
}

/// True if a check runs each test file in its own process.
fn is_one_by_one(pins: &Pins, check: &Check) -> bool {
    let is_named = |word: &str| check.program() == word || check.arguments().iter().any(|other| other == word);
    let is_script = ["npm", "pnpm", "yarn", "bun"].contains(&check.program());
    let has = |tool: &str| pins.tools.contains(tool);
    ["jest", "vitest", "--test"].into_iter().any(is_named)
        || is_script && (has("jest") || has("vitest") || has("--test"))
}

/// True if the new value of a member does nothing: `lambda line: None`, `() => {}`, `jest.fn()`.
fn is_quiet(one: &Definition<'_, '_>) -> bool {
    match one.body {
        [.., word, open, close] if open.is_mark("(") && close.is_mark(")") => {
            matches!(word.text, "fn" | "Mock" | "MagicMock" | "AsyncMock" | "stub" | "spy")
        }
        [.., mark, open, close] if open.is_mark("{") && close.is_mark("}") => mark.is_mark(">") || mark.is_mark(")"),
        [.., mark, none] => mark.is_mark(":") && none.is_word("None"),
        _ => false,
    }
}

/// True if a line says what is done after a test.
fn puts_back(facts: &Facts<'_>, line: usize) -> bool {
    let mut on_line = facts.tokens.on_line(line).iter();
    on_line.any(|token| matches!(token.text, "addCleanup" | "addClassCleanup" | "addModuleCleanup" | "after"))
}

/// The innermost function or test around a line.
fn enclosing<'text>(facts: &Facts<'text>, all: &[Definition<'_, 'text>], line: usize) -> Option<&'text str> {
    let column_of = |line: usize| facts.tokens.column_of(line);
    let column = column_of(line);
    let tests = facts.tests.iter().map(|test| (test.line, test.name));
    let hooks = facts.tokens.windows(2).filter(|pair| AROUND.contains(&pair[0].text) && pair[1].is_mark("("));
    let hooks = hooks.map(|pair| (pair[0].line, pair[0].text));
    let begins = |token: &Token<'_>| matches!(token.text, "def" | "function") || token.is_mark(">");
    let functions = all.iter().filter(|one| one.owner.is_none());
    let functions = functions.filter(|one| facts.tokens.on_line(one.line).iter().any(begins));
    let functions = functions.map(|one| (one.line, one.name));
    let outer = tests.chain(hooks).chain(functions).filter(|(at, _)| *at < line && column_of(*at) < column);
    outer.max_by_key(|(at, _)| *at).map(|(_, name)| name)
}

/// Members that a test replaces with a stub and then makes assertions about.
fn stubbed_and_asserted<'text>(
    own: &BTreeSet<&str>,
    facts: &Facts<'text>,
    modules: &BTreeSet<&str>,
) -> Vec<(usize, &'text str)> {
    let mut stubs: Vec<(usize, &'text str, &'text str)> = Vec::new();
    if facts.language == Language::Python {
        for three in facts.tokens.windows(3).filter(|three| three[0].is_word("patch") && three[1].is_mark("(")) {
            let target = three[2].text.rsplit_once('.').filter(|_| three[2].kind == Kind::Text);
            let Some((module, name)) = target else { continue };
            if own.contains(module.split('.').next().unwrap_or_default()) {
                stubs.push((three[2].line, module.rsplit('.').next().unwrap_or(module), name));
            }
        }
    }
    // `mock.method(calc, 'add', () => 3)`, `mock.patch.object(calc, "add", ...)`
    for five in facts.member_calls().filter(|five| modules.contains(five[2].text)) {
        let is_one = matches!(five[0].text, "method" | "spyOn" | "object" | "stub" | "replace");
        let next = facts.tokens.get(facts.tokens.place_of(&five[4]) + 1);
        let answers = || facts.tokens.on_line(five[4].line).iter().any(|token| ANSWERING.contains(&token.text));
        if is_one && next.is_some_and(|next| next.is_mark(",") || five[0].text == "object" || answers()) {
            stubs.push((five[4].line, five[2].text, five[4].text));
        }
    }
    let asks = |line: usize, owner: &str, name: &str| {
        let Some(test) = facts.test_at(line) else { return false };
        let lines = test.line.min(line)..facts.line_after(test);
        let mut inside = facts.assertions.iter().filter(|one| lines.contains(&one.line));
        inside.any(|one| calls_of(&one.tokens, name, |word| word == owner || modules.contains(word)))
    };
    stubs
        .into_iter()
        .filter(|(line, owner, name)| asks(*line, owner, name))
        .map(|(line, _, name)| (line, name))
        .collect()
}

/// Calls that give a spy, which otherwise calls through, its own answer.
const ANSWERING: &[&str] =
    &["mockReturnValue", "mockImplementation", "mockResolvedValue", "returns", "resolves", "callsFake"];

/// True if tokens call a name directly, or as the member of its module.
fn calls_of(tokens: &[Token<'_>], name: &str, is_owner: impl Fn(&str) -> bool) -> bool {
    tokens.find(&[name, "("]).any(|at| {
        let is_member = tokens.before(at, 1).is_some_and(|dot| dot.is_mark("."));
        !is_member || tokens.before(at, 2).is_some_and(|word| is_owner(word.text))
    })
}

/// Modules with which a test runs a program or loads a module.
const RUNNING: &[&str] = &["subprocess", "runpy", "importlib", "child_process", "node:child_process"];

/// Functions that a new test defines and makes assertions about, and that the work defines too. A function that calls
/// the program is only another way to test it.
fn copies<'text>(facts: &Facts<'text>, modules: &BTreeSet<&str>, texts: &[Text<'_>]) -> Vec<(usize, &'text str)> {
    let asked: BTreeSet<&str> = facts.assertions.iter().flat_map(Assertion::callees).collect();
    let mut programs: BTreeSet<&str> = modules.clone();
    let of_python = brought(facts).into_iter().filter(|(_, from, _)| RUNNING.contains(&from.as_str()));
    programs.extend(of_python.map(|(name, ..)| name));
    if facts.language != Language::Python {
        let of_others = imports(facts).into_iter().filter(|(_, import)| RUNNING.contains(&import.from));
        programs.extend(of_others.map(|(name, _)| name));
    }
    let leads_on = |one: &Definition<'_, '_>| {
        one.body.windows(2).any(|pair| {
            pair[0].kind == Kind::Word
                && pair[0].text != one.name
                && programs.contains(pair[0].text)
                && (pair[1].is_mark("(") || pair[1].is_mark("."))
        })
    };
    let mut own: BTreeMap<&'text str, usize> = BTreeMap::new();
    let all = definitions(facts);
    for one in all.iter().filter(|one| one.owner.is_none() && asked.contains(one.name) && !leads_on(one)) {
        own.entry(one.name).or_insert(one.line);
    }
    if own.is_empty() || !matches!(facts.language, Language::Python | Language::Script | Language::Shell) {
        return Vec::new();
    }
    let made = made_by_work(facts.language, texts);
    own.into_iter().filter(|(name, _)| made.contains(*name)).map(|(name, line)| (line, name)).collect()
}

/// The functions in files of the work, other than its tests.
pub(super) fn made_by_work(language: Language, texts: &[Text<'_>]) -> BTreeSet<String> {
    let mut made: BTreeSet<String> = BTreeSet::new();
    for text in texts.iter().filter(|text| role_of(text.path).is_none() && Language::of(text.path) == Some(language)) {
        let code = Facts::read(text.after.as_deref().unwrap_or_default(), language);
        let functions = definitions(&code).into_iter().filter(|one| !one.body.iter().take(3).any(Token::is_literal));
        made.extend(functions.map(|one| one.name.to_owned()));
    }
    made
}

/// Functions of a new JavaScript or shell test that contain a test, and whose names appear nowhere else.
fn not_called<'text>(facts: &Facts<'text>, texts: &[Text<'_>]) -> Vec<(usize, &'text str)> {
    if !matches!(facts.language, Language::Script | Language::Shell) {
        return Vec::new();
    }
    let own_lines: BTreeSet<usize> = match facts.language {
        Language::Shell => facts.assertions.iter().map(|one| one.line).collect(),
        _ => facts.tests.iter().map(|test| test.line).collect(),
    };
    let mentions = |name: &str| {
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        let all = texts.iter().filter_map(|text| text.after.as_deref());
        all.map(|after| after.split(|letter: char| !is_of_name(letter)).filter(|word| *word == name).count())
            .sum::<usize>()
    };
    let is_function = |one: &Definition<'_, '_>| {
        let is_one = |first: &Token<'_>| {
            facts.language == Language::Shell || first.is_word("function") || one.body.has(&["=", ">"])
        };
        facts.tokens.first_of(one.line).is_some_and(|first| first.column == 0 && is_one(first))
    };
    let holds = |one: &Definition<'_, '_>| {
        // Indentation means nothing in a language with braces.
        let open = facts.tokens.iter().position(|token| token.line >= one.line && token.is_mark("{"));
        let close = open.and_then(|open| facts.partner(open));
        let last = close.and_then(|close| facts.tokens.get(close)).map_or(one.line, |token| token.line);
        own_lines.iter().any(|line| *line > one.line && *line <= last)
    };
    // A runner may call a function whose name begins like a test.
    let all = definitions(facts).into_iter().filter(|one| one.owner.is_none() && !one.name.starts_with("test"));
    let dead = all.filter(|one| is_function(one) && holds(one) && mentions(one.name) < 2);
    dead.map(|one| (one.line, one.name)).collect()
}

/// New Python tests that no runner of the checks runs: in a class that is not a test class, or under a condition that
/// is true only if the file is run directly.
fn not_run<'text>(pins: &Pins, facts: &Facts<'text>) -> Vec<(usize, &'text str)> {
    if facts.language != Language::Python {
        return Vec::new();
    }
    let is_under_main = |test: &Test<'_>| {
        let main = facts.tokens.iter().rfind(|token| token.is_word("__name__") && token.line < test.line);
        main.is_some_and(|main| {
            let first = facts.tokens.first_of(main.line);
            let is_head = first.is_some_and(|first| first.is_word("if") && first.column == 0);
            let mut between = facts.tokens.iter().filter(|token| token.line > main.line && token.line <= test.line);
            is_head && between.all(|token| token.column > 0)
        })
    };
    // If the checks run pytest, it runs plain classes too.
    let is_by_unittest = pins.tools.contains("unittest") && !pins.tools.contains("pytest");
    let is_plain = |test: &Test<'_>| {
        let column = facts.tokens.column_of(test.line);
        let is_outer = |token: &&Token<'_>| token.line < test.line && token.column < column && token.is_word("class");
        let class = facts.tokens.iter().rfind(is_outer);
        let mut bases = class.iter().flat_map(|class| facts.tokens.on_line(class.line)).skip(2);
        bases.all(|token| token.kind == Kind::Mark || token.text == "object")
    };
    // A mixin is used by a test class.
    let has_case = facts.tokens.iter().any(|token| token.text.contains("TestCase") && token.column > 0)
        && facts.tests.iter().any(|test| !is_plain(test) && !is_under_main(test));
    let is_missed = |test: &&Test<'text>| {
        is_under_main(test) || is_by_unittest && !has_case && is_plain(test) && test.name != "testmod"
    };
    facts.tests.iter().filter(is_missed).map(|test| (test.line, test.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::discovery::{Wanted, discover};
    use crate::gate::pins::Planned;
    use crate::project::files::MemoryFiles;

    fn found(path: &str, before: Option<&str>, after: &str) -> Vec<Weakening> {
        let files = MemoryFiles::new([("calc.py", ""), ("src/calc.js", "")]);
        let verify = ["python3 -m unittest discover -s tests".to_owned()];
        let discovery = discover(&files, Wanted { preference: &[], verify: &verify }).unwrap();
        let paths = ["calc.py".to_owned(), "src/calc.js".to_owned()];
        let planned =
            Planned { discovery: &discovery, earlier: &[], paths: &paths, expected: &[], plan: "", is_fix: false };
        let pins = Pins::of(&files, planned).unwrap();
        let text = Text { path, before: before.map(str::to_owned), after: Some(after.to_owned()) };
        let code =
            "def add(a, b):\n    return a - b\n\n\ndef now():\n    return 1\n\n\ndef mul(a, b):\n    return a * b\n"
                .to_owned();
        let js = "exports.add = (a, b) => a - b\nexports.now = () => 1\nconst mul = (a, b) => a * b\n".to_owned();
        let texts = [
            text.clone(),
            Text { path: "calc.py", before: Some(String::new()), after: Some(code) },
            Text { path: "src/calc.js", before: Some(String::new()), after: Some(js) },
            Text {
                path: "farewell.py",
                before: None,
                after: Some("def farewell(name):\n    return name\n".to_owned()),
            },
        ];
        in_file(&pins, &TestFile::of(&text).unwrap(), &texts).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn replacements_that_tests_bring_for_the_program_are_found() {
        use Weakening::StubbedSubject;
        let case =
            "\n\nclass Mul(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(calc.mul(2, 3), 6)\n";
        for text in [
            "import calc\n\ncalc.add = lambda a, b: a + b\n".to_owned(),
            "import calc as c\n\n\ndef add(a, b):\n    return a\n\n\nc.add = add\n".to_owned(),
            "import calc\n\nsetattr(calc, 'add', print)\n".to_owned(),
            "import calc\n\ncalc.old = lambda a, b: a + b\n".to_owned(),
            "import calc as c\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        with mock.patch('calc.mul', return_value=6):\n\
             \x20           self.assertEqual(c.mul(2, 3), 6)\n"
                .to_owned(),
            "import calc\n\n\nclass A(T):\n    def setUp(self):\n        calc.add = lambda a, b: a + b\n".to_owned(),
            "import unittest\n\n\ndef mul(a, b):\n    return a * b\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
             self.assertEqual(mul(2, 3), 6)\n"
                .to_owned(),
            "import calc\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        with mock.patch('calc.mul', return_value=6):\n\
             \x20           self.assertEqual(calc.mul(2, 3), 6)\n"
                .to_owned(),
            "import operator\n\nimport calc\n\n\ndef mul(a, b):\n    return operator.mul(a, b)\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
             self.assertEqual(mul(2, 3), 6)\n"
                .to_owned(),
            "import calc\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        with mock.patch.object(calc, 'mul', lambda a, b: 6):\n\
             \x20           self.assertEqual(calc.mul(2, 3), 6)\n"
                .to_owned(),
            // The same for a module that the work makes.
            "import farewell\n\n\nclass A(T):\n    def test_a(self):\n        with mock.patch('farewell.farewell', return_value=6):\n\
             \x20           self.assertEqual(farewell.farewell(2), 6)\n"
                .to_owned(),
        ] {
            assert_eq!(found("tests/test_b.py", None, &text), [StubbedSubject], "{text}");
        }
        for text in [
            format!("import calc{case}"),
            format!("import calc\n\ncalc.LIMIT = 3\n{case}"),
            format!("import sys\n\nsys.exit = print\n{case}"),
            format!("import calc\n\n\nclass A(T):\n    def setUp(self):\n        self.calc.add = lambda a, b: a + b\n{case}"),
            "import calc\n\n\nclass A(T):\n    def test_a(self):\n        calc.read = lambda: 1\n        self.assertEqual(calc.mul(2, 3), 6)\n"
                .to_owned(),
            "import calc\n\n\nclass A(T):\n    def test_a(self):\n        with mock.patch('calc.read', return_value=6):\n            \
             self.assertEqual(calc.mul(2, 3), 6)\n"
                .to_owned(),
            // Dependencies of the tested code: a clock that is restored, a log that does nothing.
            format!("import calc{case}\n    def setUp(self):\n        self.now = calc.now\n        calc.now = lambda: 5\n\n    def tearDown(self):\n        calc.now = self.now\n"),
            format!("import calc{case}\n    def setUp(self):\n        self.addCleanup(setattr, calc, 'now', calc.now)\n        calc.now = lambda: 5\n"),
            format!("import calc\n\ncalc.log = lambda line: None\n{case}"),
            "import calc\n\n\nclass A(T):\n    def test_a(self):\n        with mock.patch('calc.now', return_value=6) as now:\n            \
             self.assertEqual(self.clock.now(), calc.mul(2, 3))\n        now.assert_called_once()\n"
                .to_owned(),
            // Another way to call the program.
            "import calc\n\n\ndef mul(*numbers):\n    return calc.mul(*numbers)\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
             self.assertEqual(mul(2, 3), 6)\n"
                .to_owned(),
            "import subprocess\n\n\ndef mul(*numbers):\n    return subprocess.check_output(['calc', *numbers])\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
             self.assertEqual(mul('2', '3'), b'6')\n"
                .to_owned(),
        ] {
            assert_eq!(found("tests/test_b.py", None, &text), [], "{text}");
        }
        let js = "const calc = require('../src/calc.js')\n";
        assert_eq!(found("test/b.test.js", None, &format!("{js}calc.add = (a, b) => a + b\n")), [StubbedSubject]);
        assert_eq!(found("test/b.test.js", None, &format!("{js}calc.old = (a, b) => a + b\n")), [StubbedSubject]);
        assert_eq!(found("test/b.test.js", None, &format!("{js}calc.log = () => {{}}\ncalc.warn = jest.fn()\n")), []);
        assert_eq!(found("test/b.test.js", None, &format!("{js}calc.limit = 3\n")), []);
        assert_eq!(found("test/b.test.js", None, "const fs = require('fs')\nfs.read = () => 1\n"), []);
        let copy = "const mul = (a, b) => a * b\ntest('mul', () => {\n  assert.equal(mul(2, 3), 6)\n})\n";
        assert_eq!(found("test/b.test.js", None, copy), [StubbedSubject]);
        let stub = |line: &str| format!("{js}test('mul', () => {{\n  {line}\n  assert.equal(calc.mul(2, 3), 6)\n}})\n");
        for line in ["mock.method(calc, 'mul', () => 6)", "jest.spyOn(calc, 'mul').mockReturnValue(6)"] {
            assert_eq!(found("test/b.test.js", None, &stub(line)), [StubbedSubject], "{line}");
        }
        for line in ["mock.method(calc, 'now', () => 6)", "jest.spyOn(calc, 'mul')"] {
            assert_eq!(found("test/b.test.js", None, &stub(line)), [], "{line}");
        }
        let clock = "const { now } = calc\nbeforeEach(() => {\n  calc.now = () => 5\n})\nafterEach(() => {\n  calc.now = now\n})\n";
        assert_eq!(found("test/b.test.js", None, &format!("{js}{clock}")), []);
        let other = format!(
            "{js}const mul = (...numbers) => calc.mul(...numbers)\ntest('mul', () => {{\n  assert.equal(mul(2, 3), 6)\n}})\n"
        );
        assert_eq!(found("test/b.test.js", None, &other), []);
    }

    #[test]
    fn new_tests_in_functions_that_nothing_calls_are_found() {
        use Weakening::NotCollected;
        let test = "  test('mul', () => {\n    assert.equal(calc.mul(2, 3), 6)\n  })\n";
        let js = |head: &str, end: &str| format!("const calc = require('../src/calc.js')\n\n{head}\n{test}{end}\n");
        assert_eq!(found("test/b.test.js", None, &js("function products() {", "}")), [NotCollected]);
        assert_eq!(found("test/b.test.js", None, &js("const products = () => {", "}")), [NotCollected]);
        let flat = js("function products() {", "}").replace("\n  ", "\n");
        assert_eq!(found("test/b.test.js", None, &flat), [NotCollected]);
        assert_eq!(found("test/b.test.js", None, &js("function products() {", "}\n\nproducts()")), []);
        assert_eq!(found("test/b.test.js", None, &js("describe('products', () => {", "})")), []);
        let sh = |more: &str| format!(". ./calc.sh\nproducts() {{\n  test \"$(mul 2 3)\" = 6 || fail mul\n}}\n{more}");
        assert_eq!(found("tests/test_b.sh", None, &sh("")), [NotCollected]);
        assert_eq!(found("tests/test_b.sh", None, &sh("products\n")), []);
        let by_name = "test_products() {\n  test \"$(mul 2 3)\" = 6 || fail mul\n}\n";
        assert_eq!(found("tests/test_b.sh", None, by_name), []);
    }

    #[test]
    fn new_tests_that_no_runner_runs_are_found() {
        use Weakening::NotCollected;
        let body = "    def test_a(self):\n        assert calc.mul(2, 3) == 6\n";
        for (text, expected) in [
            (format!("class A:\n{body}"), vec![NotCollected]),
            (format!("class A(object):\n{body}"), vec![NotCollected]),
            (format!("class A(unittest.TestCase):\n{body}"), vec![]),
            (format!("class A(Base):\n{body}"), vec![]),
            (
                format!("class Mixin:\n{body}\n\nclass A(Mixin, unittest.TestCase):\n{}", body.replace("_a", "_b")),
                vec![],
            ),
            ("def test_a():\n    assert calc.mul(2, 3) == 6\n".to_owned(), vec![NotCollected]),
            (
                format!(
                    "if __name__ == '__main__':\n    class A(unittest.TestCase):\n    {}",
                    body.replace("\n    ", "\n        ")
                ),
                vec![NotCollected],
            ),
            (
                format!("class A(unittest.TestCase):\n{body}\n\nif __name__ == '__main__':\n    unittest.main()\n"),
                vec![],
            ),
        ] {
            assert_eq!(found("tests/test_b.py", None, &text), expected, "{text}");
        }
    }
}
