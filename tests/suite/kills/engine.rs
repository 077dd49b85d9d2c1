//! `kill -9` of the process that runs a milestone, at any moment.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::bench::{Bench, Engine, says_landed};

/// The kills of one run.
const EACH: usize = 10;

/// How many runs are active at a time.
const WORKERS: u64 = 2;

/// The entries that come late in a run. The last entry of the log shows what a killed process was doing.
const LATE: [&str; 4] = ["candidate", "candidate-checked", "landed", "released"];

/// The entries of a run whose sessions do what they may not: their writes are put back, or undone as a whole.
const REFUSING: [&str; 3] = ["refused", "put-back", "restored"];

/// Pseudo-random numbers, the same for the same seed.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `most`.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % most.max(1)
    }
}

pub(super) fn seed() -> u64 {
    let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    std::env::var("GSD_KILLS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(clock)
}

/// How many kills are requested, if not the few of every test run.
pub(super) fn wanted() -> Option<usize> {
    std::env::var("GSD_KILLS").ok().map(|number| number.parse().expect("GSD_KILLS is a number"))
}

/// The stage of a run, judged by its last entry.
fn stage(last: Option<&str>) -> &'static str {
    match last {
        None | Some("started" | "resumed") => "start-up",
        Some("unit-started") => "session",
        Some("unit-ended" | "interrupted" | "cut-short") => "after a session",
        Some("refused") => "taking back",
        Some("put-back" | "restored") => "after putting back",
        Some("baseline") => "after the first checks",
        Some("accepted") => "checks",
        Some("checked" | "settled" | "mechanical") => "documents",
        Some("committing") => "commit",
        Some("committed") => "between units",
        Some("candidate") => "checks of the candidate",
        Some("candidate-checked") => "landing",
        Some("landed") => "release",
        Some("released" | "stopped") => "end",
        Some(_) => "other",
    }
}

/// The results of many runs.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) runs: usize,
    pub(super) kills: usize,
    /// Kills of the whole process tree, and the locks that they left in the person's repository.
    with_all: usize,
    locks: usize,
    pub(super) extra_sessions: usize,
    stages: BTreeMap<&'static str, usize>,
    pub(super) wrong: Vec<String>,
}

impl Tally {
    pub(super) fn table(&self, what: &str, seed: u64, took: Duration) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} kills of {what} over {} runs in {} s (seed {seed})",
            self.kills,
            self.runs,
            took.as_secs()
        );
        let _ = writeln!(text, "  sessions beyond those of a run without kills: {}", self.extra_sessions);
        if self.with_all > 0 {
            let _ = writeln!(
                text,
                "  of them with all processes: {}, locks to remove by hand: {}",
                self.with_all, self.locks
            );
        }
        for (stage, hit) in &self.stages {
            let _ = writeln!(text, "  {hit:5}  {stage}");
        }
        let _ = writeln!(text, "  runs that went wrong: {}", self.wrong.len());
        text
    }
}

/// The lock in the person's repository that a run asks to remove.
fn lock_to_remove(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("if no git is running, run `rm ")?;
    rest.split('`').next()
}

/// When a process is killed.
enum Moment {
    /// This long after its start.
    Time(Duration),
    /// This long after this many more entries of the log.
    Entries(usize, Duration),
    /// This long after this entry.
    Entry(&'static str, Duration),
}

impl Moment {
    fn of(chance: &mut Chance, number: usize, expected: &Expected) -> Self {
        let (shortly, whole) = (Duration::from_micros(chance.below(30_000)), expected.took);
        if expected.actor == CARELESS && number < REFUSING.len() {
            return Self::Entry(REFUSING[number], shortly);
        }
        if number >= EACH - LATE.len() {
            return Self::Entry(LATE[number + LATE.len() - EACH], shortly);
        }
        if chance.below(2) == 0 {
            let most = u64::try_from(whole.as_micros()).unwrap() / 4;
            return Self::Time(Duration::from_micros(chance.below(most)));
        }
        Self::Entries(1 + usize::try_from(chance.below(9)).unwrap(), shortly)
    }
}

/// Waits for the moment, and kills; returns the engine if the run ended before.
fn strike(bench: &Bench, mut engine: Engine, moment: &Moment, with_all: bool) -> Result<(), Engine> {
    let (began, before) = (Instant::now(), bench.log().len());
    let mut size = 0;
    let mut since = None;
    loop {
        if engine.is_over() {
            return Err(engine);
        }
        let grown = || bench.log_path().and_then(|log| Some(log.metadata().ok()?.len())).unwrap_or(0);
        let (has_come, rest) = match moment {
            Moment::Time(time) => (began.elapsed() >= *time, Duration::ZERO),
            Moment::Entries(..) | Moment::Entry(..) if since.is_some() => (true, Duration::ZERO),
            Moment::Entries(more, rest) if grown() != size => {
                size = grown();
                (bench.log().len() >= before + more, *rest)
            }
            Moment::Entry(name, rest) if grown() != size => {
                size = grown();
                (bench.log().iter().skip(before).any(|entry| entry["event"] == *name), *rest)
            }
            _ => (false, Duration::ZERO),
        };
        if has_come {
            let since = *since.get_or_insert_with(Instant::now);
            std::thread::sleep(rest.saturating_sub(since.elapsed()));
            if engine.is_over() {
                return Err(engine);
            }
            if with_all {
                engine.kill_with_all(bench);
            } else {
                engine.kill();
            }
            return Ok(());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// One run with several kills, until it ends.
fn one(chance: &mut Chance, expected: &Expected, tally: &Mutex<Tally>) {
    let bench = if expected.in_phases { Bench::in_phases(expected.actor) } else { Bench::new(expected.actor) };
    let bench = bench.with("FAKE_PAUSE_MS", chance.below(12));
    let (mut kills, mut with_all_killed, mut locks, mut is_recorded) = (0, 0, 0, false);
    let ended = loop {
        let engine = bench.start();
        if kills == EACH {
            let ended = engine.end();
            let Some(lock) = lock_to_remove(&ended.text) else { break ended };
            std::fs::remove_file(lock).unwrap();
            locks += 1;
            continue;
        }
        let moment = Moment::of(chance, kills, expected);
        // Every fourth kill, on average, takes git and the client down too.
        let with_all = chance.below(4) == 0;
        match strike(&bench, engine, &moment, with_all) {
            Ok(()) => {
                kills += 1;
                with_all_killed += usize::from(with_all);
                let log = bench.log();
                let last = log.last().and_then(|entry| entry["event"].as_str());
                // The log contains the message that should have been printed.
                let says = |entry: &serde_json::Value| entry["text"].as_str().is_some_and(says_landed);
                is_recorded = log.last().is_some_and(|entry| last == Some("stopped") && says(entry));
                *tally.lock().unwrap().stages.entry(stage(last)).or_default() += 1;
            }
            Err(engine) => {
                let ended = engine.end();
                // A git that was killed in the person's checkout has left a lock: the message says how to remove it.
                let Some(lock) = lock_to_remove(&ended.text) else { break ended };
                std::fs::remove_file(lock).unwrap();
                locks += 1;
            }
        }
    };
    let mut wrong = bench.wrong(&expected.tree);
    // If the kill came after that entry, the next call has nothing left to do.
    let says_so = says_landed(&ended.text) || (is_recorded && ended.text.contains("phases are complete"));
    if ended.code != Some(0) || !says_so {
        wrong.push(format!("it ended with {:?}: {}", ended.code, ended.text));
    }
    let extra = bench.count("unit-started").saturating_sub(expected.sessions);
    if extra > kills {
        wrong.push(format!("{extra} further sessions for {kills} kills"));
    }
    let mut tally = tally.lock().unwrap();
    tally.runs += 1;
    tally.kills += kills;
    tally.with_all += with_all_killed;
    tally.locks += locks;
    tally.extra_sessions += extra;
    if !wrong.is_empty() {
        let place = bench.context.keep();
        tally.wrong.push(format!("{}\n{}", place.display(), wrong.join("\n")));
    }
}

/// A run without kills.
pub(super) struct Expected {
    actor: &'static str,
    in_phases: bool,
    pub(super) tree: String,
    pub(super) sessions: usize,
    pub(super) took: Duration,
}

/// The agent that writes notes which are put back, and a preference that makes its first session for a second task not
/// count.
const CARELESS: &str = "careless";

pub(super) fn undisturbed() -> Expected {
    undisturbed_by("ideal", 7, false)
}

fn undisturbed_by(actor: &'static str, expected: usize, in_phases: bool) -> Expected {
    let began = Instant::now();
    let bench = if in_phases { Bench::in_phases(actor) } else { Bench::new(actor) };
    bench.run().complete();
    let took = began.elapsed();
    let (tree, sessions) = (bench.landed(), bench.count("unit-started"));
    assert_eq!(bench.wrong(&tree), Vec::<String>::new());
    assert_eq!(sessions, expected);
    Expected { actor, in_phases, tree, sessions, took }
}

#[test]
#[ignore = "slow: minutes"]
fn a_call_repeated_after_the_milestone_has_landed_says_so_and_does_nothing() {
    let bench = Bench::new("ideal").shape("1x1");
    bench.run().complete();
    let (landed, entries) = (bench.git(&["rev-parse", "main"]), bench.log().len());
    let again = bench.run();
    again.complete();
    assert!(again.text.contains(&landed), "{}", again.text);
    assert_eq!((bench.git(&["rev-parse", "main"]), bench.log().len()), (landed, entries));
    // Another brief is another milestone.
    std::fs::write(bench.context.home().join("brief.md"), "Make a second shelf.\n").unwrap();
    let next = bench.run();
    assert!(next.text.contains("M002"), "{}", next.text);
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_whose_process_is_killed_again_and_again_lands_the_same_once() {
    let expected = [undisturbed(), undisturbed_by(CARELESS, 9, false)];
    let tally = killed(&expected, "the engine");
    if wanted().unwrap_or_default() >= 100 {
        for stage in [
            "session",
            "taking back",
            "after putting back",
            "checks",
            "commit",
            "checks of the candidate",
            "landing",
            "release",
        ] {
            assert!(tally.stages.contains_key(stage), "no kill hit: {stage}");
        }
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_in_phases_whose_process_is_killed_again_and_again_lands_the_same_once() {
    killed(&[undisturbed_by("ideal", 6, true)], "the engine, in phases");
}

/// Kills runs like these again and again, and returns the results.
fn killed(expected: &[Expected], what: &str) -> Tally {
    let (seed, began) = (seed(), Instant::now());
    let total = wanted().unwrap_or(2 * EACH);
    let runs = u64::try_from(total.div_ceil(EACH)).unwrap();
    let (tally, given) = (Mutex::new(Tally::default()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..runs.min(WORKERS) {
            scope.spawn(|| {
                // Starts more runs, as some end before their last kill, until enough kills have hit.
                loop {
                    let enough = has_enough(tally.lock().unwrap().kills, total);
                    let number = given.fetch_add(1, Ordering::Relaxed);
                    if number >= runs && (enough || number >= 4 * runs) {
                        break;
                    }
                    let expected = &expected[usize::try_from(number).unwrap() % expected.len()];
                    one(&mut Chance::new(seed ^ (number << 32)), expected, &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    crate::clients::say(&tally.table(what, seed, began.elapsed()));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n\n"));
    assert!(has_enough(tally.kills, total), "{} kills", tally.kills);
    tally
}

/// True if this many kills are enough when `wanted` were requested.
fn has_enough(kills: usize, wanted: usize) -> bool {
    kills * 10 >= wanted * 8
}
