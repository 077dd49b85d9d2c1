//! Reads the output of a test run, from any test runner.

use super::terminal::without_colours;

/// How many tests ran, and which of them failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOutput {
    /// All tests that the output counts.
    pub(crate) tests: u64,
    pub(crate) pass: u64,
    pub(crate) fail: u64,
    /// Skipped, ignored, to do, or expected to fail.
    pub(crate) skipped: u64,
    /// The names of the failed tests, each once. A test file that could not be loaded is included.
    pub(crate) failing: Vec<String>,
    /// Whether a test file could not be loaded, so that its tests did not run.
    pub(crate) is_unloaded: bool,
    /// Whether a runner reports that there was no test to run, and nothing else mentions one.
    pub(crate) says_none: bool,
}

/// Counts for output with one line per test and no summary.
#[derive(Default)]
struct LineCounts {
    pass: u64,
    fail: u64,
    skipped: u64,
    /// Results of a TAP stream that are not nested in another one.
    tap: [u64; 3],
    /// Packages whose tests passed but were not counted.
    packages: u64,
    /// Lines that report that there was no test.
    none: u64,
}

impl TestOutput {
    pub(crate) fn read(output: &str) -> Self {
        let output = without_colours(output);
        let mut seen = Self::default();
        let mut lines = LineCounts::default();
        for whole in output.lines() {
            let line = whole.trim();
            if let Some(name) = failing_test(line) {
                seen.is_unloaded |= is_file_of_tests(name);
                if !seen.failing.iter().any(|known| known == name) {
                    seen.failing.push(name.to_owned());
                }
            }
            seen.is_unloaded |= says_unloaded(line);
            lines.count(whole);
            seen.count(line);
        }
        if seen.tests == 0 && seen.skipped == 0 {
            let [tap_pass, tap_fail, tap_skipped] = lines.tap;
            seen.pass = lines.pass + tap_pass;
            seen.fail = lines.fail + tap_fail;
            seen.skipped = lines.skipped + tap_skipped;
            seen.tests = seen.pass + seen.fail;
        }
        let mentions = seen.ran() > 0 || lines.packages > 0 || !seen.failing.is_empty();
        seen.says_none = lines.none > 0 && !mentions;
        seen
    }

    /// How many tests were executed.
    pub(crate) fn ran(&self) -> u64 {
        let counted = self.pass.saturating_add(self.fail);
        if counted > 0 { counted } else { self.tests.saturating_sub(self.skipped) }
    }

    /// Takes the numbers from a summary line.
    fn count(&mut self, line: &str) {
        if let Some((word, number)) =
            line.strip_prefix("# ").or(line.strip_prefix("ℹ ")).and_then(|rest| rest.split_once(' '))
            && let Ok(number) = number.trim().parse::<u64>()
        {
            // TAP: `# tests 3`; the same with another mark.
            let field = match word {
                "tests" => &mut self.tests,
                "pass" => &mut self.pass,
                "fail" | "cancelled" => &mut self.fail,
                "skipped" | "skip" | "todo" => &mut self.skipped,
                _ => return,
            };
            *field = field.saturating_add(number);
            return;
        }
        if self.count_alone(line) {
            return;
        }
        // `test result: FAILED. 0 passed; 1 failed`, `Tests: 1 failed, 2 total`, `=== 1 failed, 2 passed in 0.1s ===`,
        // `ok | 3 passed | 0 failed (10ms)`.
        let sums_up = line.starts_with("test result:")
            || line.starts_with("Tests")
            || line.starts_with("ok | ")
            || line.starts_with("FAILED | ")
            || line.trim_matches('=').trim().starts_with(|first: char| first.is_ascii_digit()) && line.contains(" in ");
        if !sums_up {
            return;
        }
        let of = |label: &str| number_before(line, label).unwrap_or(0);
        let (pass, fail) = (of("passed"), of("failed").saturating_add(of("errors")).saturating_add(of("error")));
        let skipped = ["skipped", "ignored", "todo", "xfailed"].iter().map(|label| of(label)).sum();
        self.add(pass, fail, skipped);
    }

    /// Reads a line that gives one number, or that is the whole summary of its program; returns whether it is such a
    /// line.
    fn count_alone(&mut self, line: &str) -> bool {
        // `Ran 3 tests in 0.001s`, and after it `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
        if let Some(rest) = line.strip_prefix("Ran ")
            && let Some((number, rest)) = rest.split_once(' ')
            && rest.starts_with("test")
            && let Ok(number) = number.parse()
        {
            self.add(number, 0, 0);
            return true;
        }
        if line.starts_with("OK (skipped=") || line.starts_with("FAILED (") || line.starts_with("OK (expected") {
            let of = |label: &str| number_behind(line, label);
            let fail = of("failures=").saturating_add(of("errors="));
            let skipped = of("skipped=").saturating_add(of("expected failures="));
            self.pass = self.pass.saturating_sub(fail.saturating_add(skipped));
            self.fail = self.fail.saturating_add(fail);
            self.tests = self.tests.saturating_sub(skipped);
            self.skipped = self.skipped.saturating_add(skipped);
            return true;
        }
        if let Some((tests, fail, skipped)) = examples(line) {
            self.add(tests.saturating_sub(fail).saturating_sub(skipped), fail, skipped);
            return true;
        }
        // `3 passing (10ms)`, `1 failing`, `2 pending`; ` 3 pass`, ` 1 fail`, ` 2 skip`.
        let mut words = line.split_whitespace();
        let (Some(number), Some(word)) = (words.next().and_then(|word| word.parse().ok()), words.next()) else {
            return false;
        };
        let is_alone = words.next().is_none_or(|word| word.starts_with('('));
        match word {
            "passing" | "pass" if is_alone => self.add(number, 0, 0),
            "failing" | "fail" if is_alone => self.add(0, number, 0),
            "pending" | "skip" | "todo" if is_alone => self.add(0, 0, number),
            _ => return false,
        }
        true
    }

    fn add(&mut self, pass: u64, fail: u64, skipped: u64) {
        self.pass = self.pass.saturating_add(pass);
        self.fail = self.fail.saturating_add(fail);
        self.skipped = self.skipped.saturating_add(skipped);
        self.tests = self.tests.saturating_add(pass).saturating_add(fail);
    }
}

impl LineCounts {
    fn count(&mut self, whole: &str) {
        // `--- FAIL: name (0.00s)`; lines of subtests are indented.
        let line = whole.trim();
        self.none += u64::from(says_none(line));
        self.packages += u64::from(line.starts_with("ok  \t") && !line.contains("[no tests to run]"));
        self.pass += u64::from(line.starts_with("--- PASS: "));
        self.fail += u64::from(line.starts_with("--- FAIL: "));
        self.skipped += u64::from(line.starts_with("--- SKIP: "));
        let (is_ok, rest) = match (whole.strip_prefix("ok "), whole.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return,
        };
        // `ok     package 0.1s` of another program has no number.
        if !rest.starts_with(|first: char| first.is_ascii_digit()) {
            return;
        }
        let directive = rest.split_once(" # ").map(|(_, directive)| directive.to_uppercase()).unwrap_or_default();
        let is_excused = directive.starts_with("SKIP") || directive.starts_with("TODO");
        self.tap[if is_excused { 2 } else { usize::from(!is_ok) }] += 1;
    }
}

/// How runners report, at the start of a line, that they had nothing to run.
const NONE: &[&str] = &[
    "Ran 0 tests",
    "NO TESTS RAN",
    "collected 0 items",
    "no tests ran",
    "no tests collected",
    "# tests 0",
    "\u{2139} tests 0",
    "1..0",
    "running 0 tests",
    "test result: ok. 0 passed; 0 failed; 0 ignored",
    "testing: warning: no tests to run",
    "No tests found",
    "No test files found",
    "No test suite found",
    "No test modules found",
    "No tests executed",
    "No tests were found",
    "No test is available",
    "No examples found",
    "0 passing",
    "0 pass",
    "0 examples, 0 failures",
    "0 runs, 0 assertions",
    "0 tests, 0 assertions",
    "ok | 0 passed | 0 failed",
    "There are no tests to run",
    "There are no tests",
];

/// True if a line reports that there was no test.
fn says_none(line: &str) -> bool {
    let line = line.trim_matches('=').trim();
    let begins = |words: &str| {
        // `1..0` and `0 pass` must not be the start of another number or word.
        line.strip_prefix(words)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '.'))
    };
    NONE.iter().any(|words| begins(words)) || line.ends_with("[no test files]") || line.ends_with("[no tests to run]")
}

/// Reads `3 examples, 1 failure, 1 pending`, `3 runs, 5 assertions, 1 failures, 0 errors, 1 skips`, `OK (3 tests, 5
/// assertions)`: tests, failures, and skipped ones.
fn examples(line: &str) -> Option<(u64, u64, u64)> {
    if let Some(rest) = line.strip_prefix("OK (") {
        let (number, rest) = rest.split_once(" test")?;
        return rest.contains("assertion").then(|| number.parse().ok())?.map(|tests| (tests, 0, 0));
    }
    let (number, rest) = line.split_once(' ')?;
    let tests: u64 = number.parse().ok()?;
    let is_summary =
        ["examples, ", "example, ", "runs, ", "run, ", "tests, "].iter().any(|word| rest.starts_with(word))
            && rest.contains(" failure");
    let of = |labels: [&str; 2]| labels.iter().find_map(|label| number_before(line, label)).unwrap_or(0);
    let fail = of(["failures", "failure"]).saturating_add(of(["errors", "error"]));
    is_summary.then(|| (tests, fail, of(["skips", "pending"])))
}

/// The number before a word.
fn number_before(line: &str, label: &str) -> Option<u64> {
    let mut before = None;
    for word in line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word == label {
            return before?;
        }
        before = Some(word.parse::<u64>().ok());
    }
    None
}

/// The number directly after a text; zero if it does not occur.
fn number_behind(line: &str, label: &str) -> u64 {
    let Some((before, rest)) = line.split_once(label) else { return 0 };
    // `failures=` is also the end of `expected failures=`.
    if label == "failures=" && before.ends_with("expected ") {
        return number_behind(rest, label);
    }
    let length = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..length].parse().unwrap_or(0)
}

/// The name of the test that failed according to a line.
fn failing_test(line: &str) -> Option<&str> {
    // TAP: `not ok 1 - name`; a test marked as still to do does not count.
    if let Some(rest) = line.strip_prefix("not ok ") {
        let name = rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches([' ', '-']);
        let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
        let excused = ["TODO", "SKIP"].iter().any(|word| directive.to_uppercase().starts_with(word));
        return (!excused && !name.trim().is_empty()).then(|| name.trim());
    }
    // `test name ... FAILED`
    if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
        return Some(name.trim());
    }
    // `--- FAIL: name (0.00s)`
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return rest.split(" (").next().map(str::trim);
    }
    // `FAIL: name (module.Class.name)`, `ERROR: ...`
    if let Some(rest) = line.strip_prefix("FAIL: ").or(line.strip_prefix("ERROR: ")) {
        return rest.split_once(" (").map(|(name, _)| name.trim());
    }
    // `FAILED file::name - reason`, `FAIL file > name`, `FAIL file [ file ]`, `ERROR file - reason`
    if let Some(rest) = ["FAILED ", "FAIL ", "ERROR "].iter().find_map(|word| line.strip_prefix(word)) {
        let name = rest.split(" - ").next().unwrap_or(rest).trim();
        let name = name.split_once(" [ ").map_or(name, |(name, _)| name);
        return (name.contains("::") || name.contains(" > ") || is_file_of_tests(name)).then_some(name);
    }
    // `✕ name (3 ms)`, `✖ name (3ms)`, `× name 3ms`
    let rest = ["✕ ", "✖ ", "× "].iter().find_map(|mark| line.strip_prefix(mark))?;
    let name = rest.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)")).map_or(rest, |(name, _)| name);
    Some(name.trim())
}

/// True if a whole file failed, as runners name one that they could not load.
fn is_file_of_tests(name: &str) -> bool {
    const ENDINGS: &[&str] = &["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "rb", "php"];
    let is_path = !name.contains(char::is_whitespace) && !name.contains("::");
    is_path && name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// True if a line reports that a test file could not be loaded.
fn says_unloaded(line: &str) -> bool {
    line.contains("unittest.loader._FailedTest") || line.contains("Test suite failed to run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_file_that_could_not_be_loaded_is_named() {
        for (output, name) in [
            ("ERROR: tests.test_b (unittest.loader._FailedTest.tests.test_b)\nRan 1 test in 0.0s\n", "tests.test_b"),
            ("not ok 1 - tests/b.test.js\n# tests 1\n# fail 1\n", "tests/b.test.js"),
            ("\u{2716} ./tests/b.test.mjs (40.1ms)\n\u{2139} tests 1\n", "./tests/b.test.mjs"),
            ("ERROR tests/test_b.py - ImportError: no module\n1 error in 0.1s\n", "tests/test_b.py"),
            (" FAIL  tests/b.test.ts [ tests/b.test.ts ]\n", "tests/b.test.ts"),
        ] {
            let seen = TestOutput::read(output);
            assert!(seen.is_unloaded && seen.failing == [name], "{output}: {seen:?}");
        }
        for output in [
            "ERROR: test_a (tests.test_b.B.test_a)\n",
            "not ok 1 - adds\n",
            "FAILED tests/test_b.py::test_a - assert 1 == 2\n",
            "ERROR tests/test_b.py::test_a - fixture\n",
            " FAIL  tests/b.test.ts > adds\n",
            "tests/test_b.py is fine\n",
        ] {
            assert!(!TestOutput::read(output).is_unloaded, "{output}");
        }
    }

    #[test]
    fn the_summaries_of_the_common_runners_are_counted() {
        for (output, expected) in [
            ("# tests 3\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n", (1, 1, 1)),
            ("ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0\n", (2, 0, 0)),
            ("TAP version 13\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n    ok 1 - inside\n1..3\n", (1, 1, 1)),
            (
                "test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\
                 test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
                (4, 1, 2),
            ),
            ("==== 1 failed, 2 passed, 1 skipped, 3 xfailed, 1 error in 0.10s ====\n", (2, 2, 4)),
            ("\u{1b}[32m3 passed\u{1b}[0m in 0.01s\n", (3, 0, 0)),
            ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", (2, 2, 1)),
            ("Ran 3 tests in 0.001s\n\nOK (skipped=1, expected failures=1)\n", (1, 0, 2)),
            ("Ran 1 test in 0.000s\n\nOK\n", (1, 0, 0)),
            ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", (0, 0, 2)),
            ("Tests:       1 failed, 1 skipped, 2 passed, 4 total\n", (2, 1, 1)),
            (" Test Files  1 passed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n", (2, 1, 1)),
            ("  3 passing (10ms)\n  2 pending\n  1 failing\n", (3, 1, 2)),
            (" 3 pass\n 1 fail\n 2 skip\n", (3, 1, 2)),
            ("ok | 3 passed | 1 failed (10ms)\n", (3, 1, 0)),
            ("--- PASS: A (0.00s)\n    --- PASS: A/b (0.00s)\n--- SKIP: C (0.00s)\nok  \tx\t0.1s\n", (2, 0, 1)),
            ("ok  \texample.com/a\t0.003s\nPASS\n", (0, 0, 0)),
            ("1 file passed in 3 words\nRan away\n", (0, 0, 0)),
        ] {
            let seen = TestOutput::read(output);
            assert_eq!((seen.pass, seen.fail, seen.skipped), expected, "{output}");
        }
    }

    #[test]
    fn a_runner_that_had_nothing_to_run_is_recognised() {
        for output in [
            "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nOK\n",
            "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
            "collected 0 items\n\n==== no tests ran in 0.01s ====\n",
            "no tests ran in 0.01s\n",
            "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n",
            "\u{2139} tests 0\n\u{2139} pass 0\n",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n   Doc-tests a\n\nrunning 0 tests\n",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0s\n",
            "?   \texample.com/a\t[no test files]\n",
            "ok  \texample.com/a\t0.003s [no tests to run]\ntesting: warning: no tests to run\nPASS\n",
            "No tests found, exiting with code 0\n",
            "No test files found, exiting with code 0\n",
            "  0 passing (1ms)\n",
            "0 examples, 0 failures\n",
            "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n",
            "ok | 0 passed | 0 failed (0ms)\n",
        ] {
            let seen = TestOutput::read(output);
            assert!(seen.says_none && seen.ran() == 0, "{output}: {seen:?}");
        }
        for output in [
            "Ran 10 tests in 0.1s\n\nOK\n",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed\n\nrunning 1 test\n\ntest result: ok. 1 passed; 0 failed\n",
            "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.003s\n",
            "# tests 07\n# pass 7\n",
            "1..01\nok 1 - a\n",
            "all fine\n",
            "we found no tests ran badly\n",
            "",
        ] {
            assert!(!TestOutput::read(output).says_none, "{output}");
        }
    }

    #[test]
    fn summaries_that_count_examples_runs_and_assertions_are_read() {
        for (output, expected) in [
            ("3 examples, 1 failure, 1 pending\n", (1, 1, 1)),
            ("5 runs, 9 assertions, 1 failures, 1 errors, 1 skips\n", (2, 2, 1)),
            ("OK (3 tests, 5 assertions)\n", (3, 0, 0)),
            ("4 tests, 9 assertions, 0 failures\n", (4, 0, 0)),
            ("3 tests, all of them mine\n", (0, 0, 0)),
        ] {
            let seen = TestOutput::read(output);
            assert_eq!((seen.pass, seen.fail, seen.skipped), expected, "{output}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_read(output in "(?s)(.|\\n|(not )?ok [0-9]|# tests [0-9]{1,22}|[0-9]+ passed in |FAILED \\(failures=){0,40}") {
            let seen = TestOutput::read(&output);
            proptest::prop_assert!(seen.ran() <= seen.tests.max(seen.pass.saturating_add(seen.fail)));
        }
    }
}
