//! Runs checks as separate programs, with limits, and leaves nothing of them running.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::check::{Check, Source};
use super::evidence::{CheckRun, CheckVerdict, Evidence, TestCounts};
use crate::disk::{Digest, Digester};
use crate::project::declared_commands::missing::{Missing, missing};
use crate::text::terminal::{last, without_colours};
use crate::world::output::{Line, Stream};
use crate::world::process::{Ask, Ended, Next, Process};
use crate::world::{Program, World, WorldError};

/// Exit codes as shells use them.
const OUT_OF_TIME: i32 = 124;
const NOT_STARTED: i32 = 127;
const SIGNAL: i32 = 128;

/// How long a check may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(600);

/// How often a running check is interrupted to ask whether checks are still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// How often a failed check is run again on the same tree.
const AGAIN: u32 = 2;

/// The limits of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// How many bytes of each stream are kept, from its end.
    pub(crate) output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(120), output: 10 * 1024 }
    }
}

/// Where checks run.
#[derive(Clone, Copy)]
pub(crate) struct CheckPlace<'a> {
    /// The root of a checked-out tree.
    pub(crate) folder: &'a Path,
    /// Variables of the unit's slot: its ports, its caches, its database.
    pub(crate) variables: &'a [(String, String)],
    /// Puts a program inside a fence, if there is one.
    pub(crate) fence: Option<&'a dyn Fn(Program) -> Program>,
    pub(crate) limits: Limits,
    /// True if no more checks are wanted: a running one is stopped.
    pub(crate) is_over: Option<&'a dyn Fn() -> bool>,
}

impl<'a> CheckPlace<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self { folder, variables: &[], fence: None, limits: Limits::default(), is_over: None }
    }
}

impl fmt::Debug for CheckPlace<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Place");
        shown.field("folder", &self.folder).field("variables", &self.variables).field("limits", &self.limits);
        shown.field("is_fenced", &self.fence.is_some()).finish()
    }
}

/// Runs checks on the tree that is checked out in a place. A check that fails is run again to see whether it is flaky,
/// unless it failed before the work too, as `before` shows.
pub(crate) fn run_checks(
    world: &World,
    checks: &[Check],
    source: Source,
    tree: &str,
    place: &CheckPlace<'_>,
    before: Option<&Evidence>,
) -> Evidence {
    let was_red = |check: &Check| before.and_then(|before| before.of(check.command())).is_some_and(CheckRun::failed);
    let run = |check: &Check| {
        let first = run_check(world, check, place);
        if was_red(check) { first } else { again(first, place, || run_check(world, check, place)) }
    };
    let is_over = |_: &&Check| place.is_over.is_some_and(|is_over| is_over());
    let checks = checks.iter().take_while(|check| !is_over(check)).map(run).collect();
    Evidence { tree: tree.to_owned(), source, checks }
}

/// Runs a failed check again until it fails twice in the same way or turns out to be flaky.
fn again(first: CheckRun, place: &CheckPlace<'_>, run: impl Fn() -> CheckRun) -> CheckRun {
    // Each run of a check that does not end takes all of its time.
    if matches!(first.verdict, CheckVerdict::Pass | CheckVerdict::NotStarted | CheckVerdict::TimedOut) {
        return first;
    }
    let folder = place.folder.to_string_lossy();
    let mut last = first;
    for _ in 0..AGAIN {
        let next = run();
        let runs = last.runs + 1;
        if next.passed() {
            return CheckRun { verdict: CheckVerdict::Flaky, runs, ..last };
        }
        let is_same = next.failure(&folder) == last.failure(&folder);
        last = CheckRun { runs, ..next };
        if is_same {
            break;
        }
    }
    last
}

/// Runs one check until it ends or its time is up. Everything that it started is ended.
pub(crate) fn run_check(world: &World, check: &Check, place: &CheckPlace<'_>) -> CheckRun {
    let folder = check.folder().map_or_else(|| place.folder.to_path_buf(), |folder| place.folder.join(folder.as_str()));
    // Programs that watch for changes or ask questions see from it that no person is present.
    let mut program = Program::new(check.program()).arguments(check.arguments()).folder(&folder).variable("CI", "1");
    for (name, value) in place.variables.iter().chain(check.variables()) {
        program = program.variable(name, value);
    }
    let program = place.fence.map_or_else(|| program.clone(), |fence| fence(program.clone()));
    run_program(world, check.command(), &program, place)
}

/// As [`run_check`], for a program prepared for its place; `command` is the name in the report.
pub(crate) fn run_program(world: &World, command: &str, program: &Program, place: &CheckPlace<'_>) -> CheckRun {
    let mut heard = [HeardStream::default(), HeardStream::default()];
    let started = Instant::now();
    let ended = world.start(program).and_then(|mut process| {
        let ended = heard_out(&mut process, place, &mut heard)?;
        Ok((ended, process.ran_for()))
    });
    let [out, err] = heard;
    let mut run = CheckRun {
        command: command.to_owned(),
        exit_code: NOT_STARTED,
        duration_ms: milliseconds(started.elapsed()),
        digest: Digest::of(&[]),
        tail: String::new(),
        verdict: CheckVerdict::NotStarted,
        runs: 1,
        counts: None,
        survivors: Vec::new(),
    };
    match ended {
        Ok(((ended, survivors), took)) => {
            (run.exit_code, run.verdict) = match ended {
                Ended::Code(0) => (0, CheckVerdict::Pass),
                Ended::Code(code) => (code, CheckVerdict::Fail),
                Ended::Signal(signal) => (SIGNAL.saturating_add(signal), CheckVerdict::Fail),
                Ended::OutOfTime => (OUT_OF_TIME, CheckVerdict::TimedOut),
            };
            run.duration_ms = milliseconds(took);
            run.survivors = survivors;
            let (out, err) = (out.end(place.limits.output), err.end(place.limits.output));
            run.digest = Digest::of(format!("{}\n{}\n", out.digest, err.digest).as_bytes());
            run.tail = [out.text, err.text].join("");
            // A test file has the same name in every checkout.
            run.counts = TestCounts::of(&run.tail.replace(&*place.folder.to_string_lossy(), "."));
            if let Some(missing) = missing_in(&run) {
                // Report first what is not installed; a second run would not change it.
                run.verdict = CheckVerdict::NotStarted;
                run.tail = format!("`{}` is not installed: {}\n{}", missing.what, missing.cure, run.tail);
            }
        }
        Err(error) => run.tail = said(&error),
    }
    run
}

/// What a failed check did not find, if it tested nothing because of that.
fn missing_in(run: &CheckRun) -> Option<Missing> {
    let is_red = run.verdict == CheckVerdict::Fail;
    is_red.then(|| missing(&run.command, Some(run.exit_code), &run.tail)).flatten()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// An error with its cause.
fn said(error: &WorldError) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Reads the output of a program until it ends or its time is up. Returns how it ended, and the processes that could
/// not be ended.
fn heard_out(
    process: &mut Process,
    place: &CheckPlace<'_>,
    heard: &mut [HeardStream; 2],
) -> Result<(Ended, Vec<u32>), WorldError> {
    let limits = place.limits;
    let is_over = || place.is_over.is_some_and(|is_over| is_over());
    let mut looked = Instant::now();
    let mut hear = |line: &Line| {
        let [out, err] = &mut *heard;
        let heard = match line.stream {
            Stream::Stdout => out,
            Stream::Stderr => err,
        };
        heard.take(&line.bytes, limits.output);
    };
    let until = Instant::now() + limits.time;
    let (ended, survivors) = loop {
        match process.next(until.min(looked + LOOK))? {
            Next::Line(line) => hear(&line),
            Next::Ended(ended) => return Ok((ended, Vec::new())),
            Next::Nothing => {}
        }
        // A program that never stops writing does not reach `Next::Nothing`.
        let now = Instant::now();
        let is_over = now >= looked + LOOK && {
            looked = now;
            is_over()
        };
        if is_over || now >= until {
            break (Ended::OutOfTime, process.stop(Ask::Terminate, GRACE)?.survivors);
        }
    };
    while let Next::Line(line) = process.next(Instant::now())? {
        hear(&line);
    }
    Ok((ended, survivors))
}

/// What was read from one stream.
#[derive(Debug, Default)]
struct HeardStream {
    digester: Digester,
    kept: Vec<u8>,
}

struct HeardEnd {
    digest: Digest,
    text: String,
}

impl HeardStream {
    fn take(&mut self, line: &[u8], most: usize) {
        self.digester.take(line);
        self.digester.take(b"\n");
        let line = &line[line.len().saturating_sub(most)..];
        self.kept.extend_from_slice(line);
        self.kept.push(b'\n');
        // Not at every line, because it moves the kept bytes to the front.
        if self.kept.len() > most.saturating_mul(2) {
            self.kept.drain(..self.kept.len() - most);
        }
    }

    fn end(self, most: usize) -> HeardEnd {
        let text = without_colours(&String::from_utf8_lossy(&self.kept));
        HeardEnd { digest: self.digester.digest(), text: last(&text, most).to_owned() }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::CheckVerdict::{Fail, Flaky, Pass};
    use super::*;
    use std::path::PathBuf;

    struct TestTree(tempfile::TempDir);

    impl TestTree {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = crate::testing::folder();
            for (path, text) in files {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn path(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }

        fn run(&self, command: &str, limits: Limits) -> CheckRun {
            let folder = self.path();
            run_check(
                &World::real(),
                &Check::parse(command).unwrap(),
                &CheckPlace { limits, ..CheckPlace::new(&folder) },
            )
        }
    }

    /// True if a process has ended, even if its parent has not reaped it yet.
    fn is_gone(number: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
        let is_there = || crate::disk::process_lives(number.trim().parse().unwrap());
        status.map_or_else(|_| !is_there(), |status| status.contains(") Z "))
    }

    #[test]
    fn a_check_has_its_exit_code_its_output_and_its_test_counts() {
        let tree = TestTree::new(&[(
            "web/a.sh",
            "echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo \"$A $CI\" >&2; pwd; exit 3",
        )]);
        let run = tree.run("cd web && A=x sh a.sh", Limits::default());
        assert_eq!((run.exit_code, run.verdict, run.runs), (3, CheckVerdict::Fail, 1));
        assert!(run.tail.ends_with("\nx 1\n") && run.tail.contains("/web\n"), "{}", run.tail);
        let counts = run.counts.clone().unwrap();
        assert_eq!((counts.ran, counts.failed, counts.failing), (2, 1, vec!["b".to_owned()]));
        assert_eq!(run.digest, tree.run("cd web && A=x sh a.sh", Limits::default()).digest);
        assert_ne!(run.digest, tree.run("cd web && A=y sh a.sh", Limits::default()).digest);
    }

    #[test]
    fn a_missing_program_is_127_and_not_evidence() {
        let run = TestTree::new(&[]).run("gsd-no-such-program x", Limits::default());
        assert_eq!((run.exit_code, run.verdict), (127, CheckVerdict::NotStarted));
        assert!(run.tail.contains("`gsd-no-such-program` is not installed"), "{}", run.tail);
    }

    #[test]
    fn a_check_whose_runner_is_not_installed_did_not_start() {
        let tree = TestTree::new(&[("a.sh", "echo 'sh: 1: vitest: not found' >&2; exit 127"), ("b.sh", "exit 127")]);
        let run = tree.run("sh a.sh", Limits::default());
        assert_eq!((run.exit_code, run.verdict), (127, CheckVerdict::NotStarted));
        assert!(run.tail.starts_with("`vitest` is not installed: "), "{}", run.tail);
        assert_eq!(tree.run("sh b.sh", Limits::default()).verdict, Fail);
    }

    #[test]
    fn a_check_that_does_not_end_is_stopped_with_everything_it_started() {
        let tree =
            TestTree::new(&[("a.sh", "sleep 600 & echo $! > left; echo begun; while :; do echo y; sleep 0.01; done")]);
        let started = Instant::now();
        let run = tree.run("sh a.sh", Limits { time: Duration::from_millis(400), output: 20 });
        assert_eq!((run.exit_code, run.verdict), (124, CheckVerdict::TimedOut));
        assert!(run.tail.len() <= 20 && run.tail.ends_with("y\n"), "{}", run.tail);
        assert!(started.elapsed() < Duration::from_secs(100));
        let left = std::fs::read_to_string(tree.path().join("left")).unwrap();
        assert!(run.survivors.is_empty() && is_gone(&left));
    }

    #[test]
    fn processes_that_a_check_leaves_running_end_with_it() {
        let tree = TestTree::new(&[("a.sh", "sleep 60 >/dev/null 2>&1 & echo $! > left")]);
        assert!(tree.run("sh a.sh", Limits::default()).passed());
        let left = std::fs::read_to_string(tree.path().join("left")).unwrap();
        assert!(is_gone(&left));
    }

    #[test]
    fn ten_kilobytes_of_each_stream_are_kept() {
        let script = "i=0; while [ $i -lt 2000 ]; do echo \"out $i line\"; echo \"err $i line\" >&2; i=$((i+1)); done";
        let run = TestTree::new(&[("a.sh", script)]).run("sh a.sh", Limits::default());
        assert!(run.tail.len() <= 2 * 10 * 1024 && run.tail.len() > 10 * 1024);
        assert!(run.tail.contains("out 1999 line\n") && run.tail.ends_with("err 1999 line\n"));
    }

    #[test]
    fn a_failed_check_is_run_again_and_named_flaky_if_it_then_passes() {
        let once = "if [ -e seen ]; then exit 0; fi; : > seen; echo first; exit 1";
        let counted = "echo x >> runs; wc -l < runs; exit 1";
        let tree =
            TestTree::new(&[("once.sh", once), ("same.sh", "echo no; exit 1"), ("other.sh", counted), ("good.sh", "")]);
        let checks: Vec<Check> =
            ["sh once.sh", "sh same.sh", "sh other.sh", "sh good.sh"].map(|line| Check::parse(line).unwrap()).to_vec();
        let folder = tree.path();
        let place = CheckPlace::new(&folder);
        let evidence = run_checks(&World::real(), &checks, Source::TaskPlan, "t", &place, None);
        let seen: Vec<_> = evidence.checks.iter().map(|run| (run.verdict, run.runs)).collect();
        assert_eq!(seen, [(Flaky, 2), (Fail, 2), (Fail, 3), (Pass, 1)]);
        assert!(evidence.checks[0].tail.contains("first"));
        let after = run_checks(&World::real(), &checks[1..2], Source::TaskPlan, "t2", &place, Some(&evidence));
        assert_eq!((after.checks[0].verdict, after.checks[0].runs), (Fail, 1), "it was red before");
    }

    #[test]
    fn a_fence_is_put_around_the_program_and_the_slot_is_in_its_environment() {
        let tree = TestTree::new(&[("a.sh", "echo $FENCE $PORT")]);
        let folder = tree.path();
        let variables = [("PORT".to_owned(), "4100".to_owned())];
        let fence = |program: Program| program.variable("FENCE", "on");
        let place = CheckPlace { variables: &variables, fence: Some(&fence), ..CheckPlace::new(&folder) };
        let run = run_check(&World::real(), &Check::parse("sh a.sh").unwrap(), &place);
        assert_eq!(run.tail, "on 4100\n");
    }
}
