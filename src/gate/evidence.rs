//! What running the checks on a tree showed.

use serde::{Deserialize, Serialize};

use super::check::Source;
use super::runners::{TestsRun, tests_run_by};
use crate::disk::Digest;
use crate::text::terminal::without_colours;
use crate::text::test_output::TestOutput;
use crate::text::words::read_words;

/// What running the checks on one tree showed. It is valid for that tree only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// The git tree that the checks ran on.
    pub(crate) tree: String,
    pub(crate) source: Source,
    pub(crate) checks: Vec<CheckRun>,
}

read_words! {
    /// How a check ended.
    #[derive(Serialize, Hash)]
    pub(crate) enum CheckVerdict {
        Pass = "pass",
        Fail = "fail",
        /// It exceeded its time.
        TimedOut = "timed-out",
        /// It could not be started.
        NotStarted = "not-started",
        /// It did not end the same way each time on the same tree.
        Flaky = "flaky",
    }
}

/// One check that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckRun {
    pub(crate) command: String,
    /// As in a shell: 124 if its time ran out, 127 if it could not be started, 128 plus the number of a signal.
    pub(crate) exit_code: i32,
    pub(crate) duration_ms: u64,
    /// The digest of all its output, each stream separately.
    pub(crate) digest: Digest,
    /// The end of its output, standard output before standard error, without colours.
    pub(crate) tail: String,
    pub(crate) verdict: CheckVerdict,
    /// How often it was run on this tree.
    pub(crate) runs: u32,
    /// The tests counted in its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<TestCounts>,
    /// The process ids of what it started and what could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) survivors: Vec<u32>,
}

/// The counts of tests in an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestCounts {
    pub(crate) ran: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failing: Vec<String>,
    /// Whether a test file could not be loaded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unloaded: bool,
}

impl TestCounts {
    /// Reads the counts; `None` if the output does not mention tests. An output that says that there were none counts:
    /// none ran.
    pub(super) fn of(output: &str) -> Option<Self> {
        let seen = TestOutput::read(output);
        let (ran, failed, skipped) = (seen.ran(), seen.fail, seen.skipped);
        let is_there = ran > 0 || skipped > 0 || seen.says_none || !seen.failing.is_empty();
        let is_unloaded = seen.is_unloaded;
        is_there.then_some(Self { ran, failed, skipped, failing: seen.failing, is_unloaded })
    }
}

impl CheckRun {
    /// An earlier run that passed and of which only the test counts are known.
    pub(crate) fn counted(command: &str, counts: TestCounts) -> Self {
        Self {
            command: command.to_owned(),
            exit_code: 0,
            duration_ms: 0,
            digest: Digest::of(&[]),
            tail: String::new(),
            verdict: CheckVerdict::Pass,
            runs: 1,
            counts: Some(counts),
            survivors: Vec::new(),
        }
    }

    /// True if it failed and names the failing tests, so that another failed run can be compared with it.
    pub(crate) fn names_failures(&self) -> bool {
        let names = |counts: &TestCounts| !counts.failing.is_empty() && !counts.is_unloaded;
        self.failed() && self.counts.as_ref().is_some_and(names)
    }

    pub(crate) fn passed(&self) -> bool {
        self.verdict == CheckVerdict::Pass
    }

    /// True if it failed each time.
    pub(crate) fn failed(&self) -> bool {
        !matches!(self.verdict, CheckVerdict::Pass | CheckVerdict::Flaky)
    }

    /// True if it passed without running a test although its command is meant to run tests. Such a check is not
    /// evidence: a runner with nothing to run succeeds.
    pub(crate) fn shows_nothing(&self) -> bool {
        if !self.passed() {
            return false;
        }
        match (tests_run_by(&self.command), &self.counts) {
            (TestsRun::Itself | TestsRun::ByOthers, Some(counts)) => counts.ran == 0,
            // Each of these prints something for every run.
            (TestsRun::Itself, None) => self.tail.trim().is_empty(),
            _ => false,
        }
    }

    /// Identifies the failure: the same command with the same output, apart from times, addresses and the order of
    /// lines, is the same failure. `folder` is where it ran.
    pub(super) fn failure(&self, folder: &str) -> Digest {
        let mut text = format!("{}\n{}\n", self.command, self.exit_code);
        let mut lines: Vec<String> = self.tail.lines().map(|line| normal(&line.replace(folder, "."))).collect();
        lines.sort_unstable();
        lines.dedup();
        text.push_str(&lines.join("\n"));
        Digest::of(text.as_bytes())
    }
}

impl Evidence {
    pub(crate) fn of(&self, command: &str) -> Option<&CheckRun> {
        self.checks.iter().find(|check| check.command == command)
    }
}

/// Units of time that are written directly after a number.
const UNITS: &[&str] = &["ns", "us", "\u{b5}s", "ms", "s", "m", "sec", "secs", "second", "seconds"];

/// A line of output without the parts that differ from run to run: times, addresses, process ids.
fn normal(line: &str) -> String {
    let line = without_colours(line);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '.' || letter == '\u{b5}';
    let mut normal = String::with_capacity(line.len());
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        if !is_part(first) {
            normal.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        let number = word.trim_end_matches(|letter: char| letter.is_alphabetic());
        let unit = &word[number.len()..];
        let is_number = !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        let next =
            behind.trim_start_matches(' ').split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let is_time = is_number && (UNITS.contains(&unit) || unit.is_empty() && UNITS.contains(&next));
        let is_address =
            word.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|digit| digit.is_ascii_hexdigit()));
        let is_process = is_number && normal.ends_with("pid ");
        normal.push_str(if is_time || is_address || is_process { "#" } else { word });
        rest = behind;
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, verdict: CheckVerdict, tail: &str) -> CheckRun {
        CheckRun {
            command: command.to_owned(),
            exit_code: i32::from(verdict != CheckVerdict::Pass),
            duration_ms: 1,
            digest: Digest::of(tail.as_bytes()),
            tail: tail.to_owned(),
            verdict,
            runs: 1,
            counts: TestCounts::of(tail),
            survivors: Vec::new(),
        }
    }

    #[test]
    fn the_same_failure_is_recognised_despite_other_times_and_order() {
        let failure = |tail: &str| run("x", CheckVerdict::Fail, tail).failure("/w/1");
        let one = failure("FAIL adds (3ms)\nat /w/1/a.js:3\nin 0.31s, 4 ms, 1.2 seconds\n");
        assert_eq!(
            one,
            run(
                "x",
                CheckVerdict::Fail,
                "\u{1b}[31min 7.5s, 11 ms, 2 seconds\u{1b}[0m\nFAIL adds (4ms)\nat /w/2/a.js:3\n"
            )
            .failure("/w/2")
        );
        assert_ne!(one, failure("FAIL subs (3ms)\n"));
        assert_ne!(failure("expected 3, got 4"), failure("expected 3, got 5"));
        assert_eq!(failure("at 0x7f00aa pid 77"), failure("at 0x1f pid 9"));
        assert_ne!(failure("a"), run("y", CheckVerdict::Fail, "a").failure("/w/1"));
    }

    #[test]
    fn a_test_runner_that_ran_no_test_shows_nothing() {
        use CheckVerdict::{Fail, Pass};
        for (command, tail) in [
            ("python3 -m unittest tests.test_a", "Ran 0 tests in 0.000s\n\nOK\n"),
            ("python3 -B -m unittest discover -s tests", "Ran 2 tests in 0.0s\n\nOK (skipped=2)\n"),
            ("pytest -q", "no tests ran in 0.01s\n"),
            ("poetry run pytest", "collected 0 items\n"),
            ("node --test", "# tests 0\n# pass 0\n"),
            ("cargo test index", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n"),
            ("go test ./...", "?   \ta\t[no test files]\n"),
            ("npx jest --passWithNoTests", "No tests found, exiting with code 0\n"),
            ("npm test", "> node --test\n\n# tests 0\n"),
            ("cd app && make test", "Ran 0 tests in 0.000s\n\nOK\n"),
            ("python3 -m pytest", ""),
        ] {
            assert!(run(command, Pass, tail).shows_nothing(), "{command}: {tail}");
            assert!(!run(command, Fail, tail).shows_nothing(), "{command}: {tail}");
        }
        for (command, tail) in [
            ("python3 -m unittest", "Ran 1 test in 0.000s\n\nOK\n"),
            ("python3 -m pytest", "1 passed, 3 skipped in 0.1s\n"),
            ("cargo test", "running 0 tests\n\nrunning 2 tests\n\ntest result: ok. 2 passed; 0 failed\n"),
            ("cargo test --no-run", "    Finished `test` profile\n"),
            ("go test ./...", "ok  \ta\t0.1s\n?   \tb\t[no test files]\n"),
            ("npm test", ""),
            ("npm run lint", "# tests 0\n"),
            ("sh check.sh", "Ran 0 tests in 0.0s\n"),
            ("sh check.sh", ""),
            ("cargo clippy", ""),
            ("test -f a", ""),
        ] {
            assert!(!run(command, Pass, tail).shows_nothing(), "{command}: {tail}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_output_gives_a_failure(tail in "(?s).{0,80}") {
            let _ = run("x", CheckVerdict::Fail, &tail).failure("x");
        }
    }
}
