//! Marks that keep tests from running, or that hide their failures.

use std::collections::{BTreeSet, HashMap};

use super::Text;
use super::by_itself::made_by_work;
use super::cleaning::only_cleans;
use super::facts::{Facts, NAMED_BY_TEXT};
use super::file::{TestFile, TestRole, names_of};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, compact_lines, tokens};
use super::span::Span as _;
use crate::gate::pins::Pins;
use crate::gate::runners::is_variable_of_runners;
use crate::project::check_files::Role;
use crate::text::words::word_list;

/// Code, without blanks and string contents, that keeps tests from running. A pattern that begins with a letter begins
/// a word. In this order: JavaScript, Rust, Python, Go, Java, PHP and others, Rust again, C#, Java again, and options
/// of several.
const SKIPPING: &[&str] = word_list!(
    r#"it.skip test.skip describe.skip suite.skip context.skip specify.skip t.skip( this.skip( .skip("" .skip.each
       xit( xtest( xdescribe( xcontext( xspecify( it.todo test.todo describe.todo t.todo( .todo("" it.failing test.failing
       test.fails it.fails test.fixme describe.fixme .skipIf( .runIf( skip:true todo:true skip:"" todo:""
       #[ignore ,ignore)] #[cfg(any())] #[cfg(never)]
       mark.skip mark.xfail pytest.skip( pytest.xfail( pytest.importorskip( unittest.skip unittest.expectedFailure @skip
       @expectedFailure self.skipTest( cls.skipTest( __unittest_skip__ SkipTest __test__=False
       t.Skip( t.Skipf( t.SkipNow(
       @Disabled @Ignore Assumptions.assume assumeTrue(
       pending( skip_if( markTestSkipped( markTestIncomplete(
       #[cfg(not(test))]
       Fact(Skip= Theory(Skip= Fact(Explicit=true ,Ignore("" [Ignore("" [Ignore] Assert.Ignore( Assert.Inconclusive(
       Skip.If( Skip.IfNot(
       @EnabledIf @DisabledIf @EnabledOn @DisabledOn
       ctx.skip( test.fail() .config(enabled=false"#
);

/// Words of Ruby that begin a group or a test that does not run; a text, a block or a name follows them.
const RUBY_WORDS: &[&str] =
    word_list!("xit xspecify xexample xdescribe xcontext xscenario xfeature fit fdescribe fcontext fspecify");

/// The mark in a line of Ruby that keeps a test, or the other tests, from running.
fn mark_of_ruby(code: &str) -> Option<&'static str> {
    const OPTIONS: &[(&str, &str)] = &[
        (",:skip", ":skip"),
        (",skip:", "skip:"),
        (",:pending", ":pending"),
        (",pending:", "pending:"),
        (",:focus", ":focus"),
        (",focus:true", "focus:true"),
    ];
    let bare = code.strip_prefix("RSpec.").unwrap_or(code);
    let begins = |word: &&&str| {
        bare.strip_prefix(**word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['"', '{', '(', ' ']))
    };
    let is_test =
        ["it", "specify", "describe", "context", "example", "scenario", "feature"].iter().any(|word| begins(&word));
    let option = OPTIONS.iter().find(|(option, _)| is_test && bare.contains(option)).map(|(_, shown)| *shown);
    let statement = ["skip", "pending"].into_iter().find(|word| {
        bare.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest == "\"\"" || rest.starts_with("(\"\""))
    });
    RUBY_WORDS.iter().find(begins).copied().or(option).or(statement)
}

/// Marks that keep all other tests from running.
const ONLY: &[&str] = word_list!(
    r#"it.only test.only describe.only suite.only context.only specify.only .only("" .only.each fit( ftest( fdescribe(
       fcontext( only:true"#
);

/// Ends of a process that report success, and conditions that are never true.
const LEAVING: &[&str] = &[
    "process.exit(0)",
    "process.exit()",
    "process.exitCode=0",
    "process.reallyExit(",
    "Deno.exit(0)",
    "raise SystemExit(0)",
    "sys.exit(0)",
    "sys.exit()",
    "os._exit(",
    "_exit(0)",
    "_Exit(0)",
    "quick_exit(0)",
    "syscall.Exit(0)",
    "runtime.Goexit()",
    "exit!",
    "__attribute__((constructor",
    "gnu::constructor",
    "os.Exit(0)",
    "process::exit(0)",
    "System.exit(0)",
    "if False:",
    "if(false)",
    "if 0:",
    "if false{",
    "while False:",
    "if(0)",
];

/// Code that hides failures.
const SWALLOWING: &[&str] = &[
    "catch{}",
    "catch(e){}",
    "catch(_){}",
    "catch(err){}",
    "catch(error){}",
    ".catch(()=>{})",
    ".catch(()=>null)",
    "contextlib.suppress(",
    "with suppress(",
    "except:pass",
    "except Exception:pass",
    "rescue nil",
    "catch_unwind(",
    "@Test(expected=AssertionError",
    "@Test(expected=Throwable",
    "#define NDEBUG",
    "#undef assert",
];

/// Code that changes the runner itself.
const OF_THE_RUNNER: &[&str] = word_list!(
    r#"pytest_collection_modifyitems pytest_runtest_ pytest_sessionfinish pytest_ignore_collect pytest_collection_finish
       pytest_collect_file pytest_collect_directory pytest_pycollect_ pytest_make_collect_report pytest_deselected
       pytest_cmdline_main pytest_cmdline_preparse pytest_load_initial_conftests pytest_pyfunc_call collect_ignore
       pytest_exception_interact pytest_report_ pytest_assertrepr_compare exitstatus TestCase.assert TestCase.run
       TestCase.fail sys.modules[ require.cache[ globalThis.expect global.expect globalThis.it= global.it=
       globalThis.test= global.test= assert.equal= assert.strictEqual= assert.ok= assert.deepStrictEqual= process.on(""
       atexit.register( deselected Object.assign(assert Object.assign(expect Object.defineProperty(assert
       setattr(unittest"#
);

/// Code in test setup that changes the program.
const PATCHING: &[&str] = word_list!(
    "setattr( monkeypatch. mock.patch mocker.patch builtins. jest.mock( vi.mock( jest.spyOn( vi.spyOn( mock.module(
     expect.extend("
);

fn has(code: &str, pattern: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let begins_word = pattern.starts_with(is_of_word);
    code.match_indices(pattern).any(|(at, _)| !begins_word || !code[..at].ends_with(is_of_word))
}

/// True if JavaScript code changes the runner, or what the tests import.
pub(super) fn is_of_runner(text: &str) -> bool {
    let lines = compact_lines(&tokens(text, Language::Script));
    let lists = [OF_THE_RUNNER, PATCHING, SKIPPING, ONLY];
    lines.iter().any(|(_, code)| lists.iter().any(|patterns| first_of(code, patterns).is_some()))
}

fn first_of(code: &str, patterns: &[&'static str]) -> Option<&'static str> {
    patterns.iter().copied().find(|pattern| has(code, pattern))
}

/// The findings for new lines of one file.
pub(super) fn in_file(file: &TestFile<'_>, texts: &[Text<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(after) = &file.after else { return found };
    let all = after.lines();
    for (index, (line, code)) in all.iter().enumerate().filter(|(_, (line, _))| file.added.contains(line)) {
        let mut add = |kind, what: String| found.push(Finding::new(file.path, *line, kind, what));
        if let Some(pattern) = first_of(code, LEAVING) {
            add(Weakening::LeftEarly, format!("`{}` ends a test before it can fail", plain(pattern)));
        }
        if let Some(pattern) = first_of(code, SWALLOWING)
            && !only_cleans(after, *line)
        {
            add(Weakening::SwallowedFailure, format!("`{}` hides a failure", plain(pattern)));
        }
        let next = all.get(index + 1);
        let is_empty_handler = |code: &str| matches!(code, "pass" | "continue" | "return" | "...");
        let is_empty = match code.rsplit_once(':') {
            Some((_, "")) => next.is_some_and(|(_, next)| is_empty_handler(next)),
            Some((_, handler)) => is_empty_handler(handler) && first_of(code, SWALLOWING).is_none(),
            None => false,
        };
        if after.language == Language::Python && code.starts_with("except") && is_empty && !only_cleans(after, *line) {
            add(Weakening::SwallowedFailure, "`except` with nothing in it hides a failure".to_owned());
        }
        if after.language == Language::Shell {
            continue;
        }
        if let Some(pattern) = first_of(code, OF_THE_RUNNER) {
            add(Weakening::PatchedRunner, format!("`{}` changes what the runner does", plain(pattern)));
        } else if file.role == TestRole::Setup
            && let Some(pattern) = first_of(code, PATCHING)
            && !only_sets_surroundings(after, *line, code)
            && !is_asked_for(file, after, *line, texts)
        {
            add(Weakening::PatchedRunner, format!("`{}` in code that runs before every test", plain(pattern)));
        }
    }
    found
}

/// True if a line of test setup only sets an environment variable of the program, or its working folder.
fn only_sets_surroundings(facts: &Facts<'_>, line: usize, code: &str) -> bool {
    let set = facts.tokens.on_line(line).windows(3);
    let mut set = set.filter(|three| matches!(three[0].text, "setenv" | "delenv") && three[1].is_mark("("));
    let is_plain = set.all(|three| three[2].kind == Kind::Text && !is_variable_of_runners(three[2].text));
    let counted = ["monkeypatch.setenv(", "monkeypatch.delenv(", "monkeypatch.chdir("];
    let harmless: usize = counted.iter().map(|call| code.matches(call).count()).sum();
    is_plain && harmless > 0 && harmless == code.matches("monkeypatch.").count() && !has(code, "setattr(")
}

/// True if a line is in a new Python fixture that only tests asking for it get, and that replaces nothing that the work
/// made or changed.
fn is_asked_for(file: &TestFile<'_>, facts: &Facts<'_>, line: usize, texts: &[Text<'_>]) -> bool {
    if facts.language != Language::Python {
        return false;
    }
    let tokens = &facts.tokens;
    let (start, column) = (tokens.start_of(line), tokens.column_of(line));
    let is_outer = |at: &usize| tokens.is_word(*at, "def") && tokens[*at].column < column && tokens.begins_line(*at);
    let Some(function) = (0..start).rev().find(is_outer) else { return false };
    let Some(name) = tokens.get(function + 1) else { return false };
    // The decorators right above it.
    let from =
        tokens.iter().take(function).rposition(|token| token.column == 0 && !token.is_mark("@") && !token.is_mark(")"));
    let marks = tokens.get(from.map_or(0, |from| from + 1)..function).unwrap_or_default();
    let is_fixture = marks.has_word("fixture");
    let is_for_all = marks.has_word("autouse");
    let was_there = file.before.iter().any(|before| before.tokens.has_word(name.text));
    if !is_fixture || is_for_all || was_there {
        return false;
    }
    let Some(open) = (start..tokens.len()).find(|at| tokens.is_mark(*at, "(")) else { return false };
    let close = facts.partner(open).unwrap_or(tokens.len());
    let target = tokens.get(open..close).unwrap_or_default().iter().find(|token| token.kind == Kind::Text);
    let made = made_by_work(Language::Python, texts);
    target.is_some_and(|target| !made.contains(target.text.rsplit('.').next().unwrap_or_default()))
}

/// What a condition checks if a test cannot run everywhere: the system, or a tool or library that may be missing.
const SURROUNDINGS: &[&str] = word_list!(
    "sys.platform os.name platform.system sys.version_info shutil.which find_spec( process.platform os.platform()
     runtime.GOOS runtime.GOARCH RUBY_PLATFORM @EnabledOn @DisabledOn @EnabledIf"
);

/// Skips tests if a library is missing.
const IMPORT_OR_SKIP: &str = "pytest.importorskip(";

/// True if a mark skips a test only on some systems.
fn is_of_surroundings(code: &str, above: &str, pattern: &str) -> bool {
    let asks = |code: &str| SURROUNDINGS.iter().any(|word| code.contains(word));
    pattern == IMPORT_OR_SKIP || asks(code) || above.starts_with("if") && asks(above)
}

/// A pattern as it is shown.
fn plain(pattern: &str) -> String {
    pattern.replace("\"\"", "...")
}

/// The mark in a line that keeps a test, or the other tests, from running.
fn mark_of(code: &str, language: Language) -> Option<&'static str> {
    let by_option = || {
        let is_set = |option: &str| {
            ["{", ","].iter().filter_map(|before| code.split_once(&format!("{before}{option}"))).any(|(head, value)| {
                let is_of_test =
                    NAMED_BY_TEXT.iter().chain(&["describe", "suite"]).any(|word| has(head, &format!("{word}(")));
                is_of_test && !value.starts_with("false") && !value.starts_with("undefined")
            })
        };
        [("skip:", "skip:"), ("todo:", "todo:"), ("skip}", "skip"), ("skip,", "skip")]
            .into_iter()
            .find(|(option, _)| language == Language::Script && is_set(option))
            .map(|(_, shown)| shown)
    };
    let by_language = || match language {
        Language::Ruby => mark_of_ruby(code),
        // A command of bats.
        Language::Shell => Some("skip").filter(|word| code == *word || code == "skip\"\""),
        _ => None,
    };
    first_of(code, SKIPPING).or_else(|| first_of(code, ONLY)).or_else(by_option).or_else(by_language)
}

/// A mark that keeps a test from running.
struct SkipMark {
    line: usize,
    pattern: &'static str,
    test: String,
    is_of_surroundings: bool,
    /// Whether it depends on the system, and not on a library.
    is_of_system: bool,
}

fn marks(facts: &Facts<'_>) -> Vec<SkipMark> {
    let lines = facts.lines();
    let found = lines.iter().enumerate().filter_map(|(at, (line, code))| {
        let pattern = mark_of(code, facts.language)?;
        let above = at.checked_sub(1).and_then(|at| lines.get(at)).map_or("", |(_, code)| code.as_str());
        let test = facts.test_at(*line).map_or(String::new(), |test| test.name.to_owned());
        let first = facts.tokens.first_of(*line);
        // A mark for the whole file skips more than one test.
        let is_of_file =
            facts.language == Language::Python && first.is_some_and(|first| first.column == 0 && !first.is_mark("@"));
        let is_of_surroundings = !is_of_file && is_of_surroundings(code, above, pattern);
        let is_of_system = is_of_surroundings && pattern != IMPORT_OR_SKIP;
        Some(SkipMark { line: *line, pattern, test, is_of_surroundings, is_of_system })
    });
    found.collect()
}

/// Tests that are skipped now and were not before, in all files at once.
pub(super) fn skipped(pins: &Pins, files: &[TestFile<'_>]) -> Vec<Finding> {
    let mut there: HashMap<(&str, String), usize> = HashMap::new();
    let mut gone: HashMap<&str, usize> = HashMap::new();
    let before_names = names_of(files.iter().map(|file| &file.before));
    let after_names = names_of(files.iter().map(|file| &file.after));
    for mark in files.iter().filter_map(|file| file.before.as_ref()).flat_map(marks) {
        // A renamed test keeps its mark.
        if !after_names.contains(mark.test.as_str()) {
            *gone.entry(mark.pattern).or_default() += 1;
        }
        *there.entry((mark.pattern, mark.test)).or_default() += 1;
    }
    let marked: BTreeSet<String> =
        files.iter().filter_map(|file| file.after.as_ref()).flat_map(marks).map(|mark| mark.test).collect();
    // Next to a new test that runs everywhere, another one may be for some systems only.
    let has_real_one = after_names.iter().any(|name| !before_names.contains(name) && !marked.contains(*name));
    let has_others = !before_names.is_empty() || pins.files.values().any(|pin| pin.role == Role::Test);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.role != TestRole::Setup) {
        for SkipMark { line, pattern, test, is_of_surroundings, is_of_system } in file.after.iter().flat_map(marks) {
            if let Some(count @ 1..) = there.get_mut(&(pattern, test.clone())) {
                *count -= 1;
                continue;
            }
            if !before_names.contains(test.as_str())
                && let Some(count @ 1..) = gone.get_mut(pattern)
            {
                *count -= 1;
                continue;
            }
            let is_new = !test.is_empty() && !before_names.contains(test.as_str());
            // A new file for a library that may be missing is accepted; a file that the plan promises has to test
            // something.
            let is_promised = pins.expected.iter().any(|path| path == file.path);
            let needs_library = pattern == IMPORT_OR_SKIP && file.before.is_none() && !is_promised;
            if is_new && (is_of_surroundings && has_real_one || has_others && (is_of_system || needs_library)) {
                continue;
            }
            let is_only = ONLY.contains(&pattern)
                || matches!(pattern, "fit" | "fdescribe" | "fcontext" | "fspecify" | ":focus" | "focus:true");
            let kind = if is_only { Weakening::OnlyOthersSkipped } else { Weakening::Skipped };
            let of_test = if test.is_empty() { String::new() } else { format!(" at the test `{test}`") };
            let effect =
                if is_only { "makes the runner leave out all other tests" } else { "makes the runner leave it out" };
            found.push(Finding::new(file.path, line, kind, format!("`{}`{of_test} {effect}", plain(pattern))));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_for_every_test_is_distinguished_from_fixtures_that_a_test_asks_for() {
        let found = |before: Option<&str>, after: &str| {
            let conftest =
                Text { path: "tests/conftest.py", before: before.map(str::to_owned), after: Some(after.to_owned()) };
            let code = "def add(a, b):\n    return a - b\n".to_owned();
            let texts = [conftest.clone(), Text { path: "calc.py", before: None, after: Some(code) }];
            in_file(&TestFile::of(&conftest).unwrap(), &texts).len()
        };
        let fixture = |mark: &str, name: &str| {
            format!(
                "import calc\n\n\n@pytest.fixture{mark}\ndef fixed(monkeypatch):\n    monkeypatch.setattr(calc, \"{name}\", None)\n"
            )
        };
        assert_eq!(found(None, &fixture("", "now")), 0);
        assert_eq!(found(None, &fixture("(scope=\"session\")", "now")), 0);
        assert_eq!(found(None, &fixture("(autouse=True)", "now")), 1);
        assert_eq!(found(None, &fixture("", "add")), 1);
        assert_eq!(found(Some("def fixed():\n    return 1\n"), &fixture("", "now")), 1);
        assert_eq!(found(None, "def pytest_configure(config):\n    mock.patch(\"calc.now\").start()\n"), 1);
    }

    #[test]
    fn a_mark_begins_a_word() {
        assert!(has("it.skip(\"\"", "it.skip") && has("@pytest.mark.skip", "mark.skip") && has("a;fit(\"\")", "fit("));
        assert!(!has("profit(\"\")", "fit(") && !has("exit(1)", "xit(") && !has("edit.skip(1)", "it.skip"));
    }
}
