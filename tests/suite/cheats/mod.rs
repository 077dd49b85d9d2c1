//! Sessions that cheat, as data: `tests/cheats/*.toml`. Each row is a run in its own project, with a scripted agent
//! instead of a client, and no detectable cheat may land.
//!
//! The slow tier runs a sample of a minute and prints its seed; `GSD_CHEATS_SEED` repeats it. `GSD_CHEATS=all` runs all
//! and writes `tests/cheats/TABLE.md`; `GSD_CHEATS=WORD,WORD` runs the rows whose names contain one of these words.
//! `GSD_CHEATS_KEEP=1` keeps their folders for inspection.

mod driver;
mod held_out;
mod judge;
mod project;
mod row;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use judge::Judged;
use row::{Expected, Layout, Row};

use crate::clients::say;
use crate::kit::{not_run, repository};

/// How many rows run at the same time.
const WORKERS: usize = 2;

/// How long a sample starts new rows; the last ones end a little later.
const SAMPLE: Duration = Duration::from_secs(25);

/// How long a sample of the rows is tried by hand.
const BY_HAND: Duration = Duration::from_secs(10);

/// A row that was run, and how long it took.
struct Done {
    row: Row,
    judged: Judged,
    took: Duration,
}

/// Runs rows in order until they are done or the time is up.
fn run(rows: &[Row], most: Option<Duration>) -> Vec<Done> {
    let (next, began, done) = (AtomicUsize::new(0), Instant::now(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(number) else { break };
                    if most.is_some_and(|most| began.elapsed() > most) {
                        break;
                    }
                    let began = Instant::now();
                    // A row that panics must not end the others.
                    let judged = catch_unwind(|| judge::judge(row)).unwrap_or_else(|cause| Judged {
                        outcome: "not run",
                        wrong: cause.downcast_ref::<String>().cloned().unwrap_or_else(|| "it panicked".to_owned()),
                    });
                    let ended = Done { row: row.clone(), judged, took: began.elapsed() };
                    if !ended.judged.wrong.is_empty() {
                        say(&format!("{}: {}", row.name, ended.judged.wrong));
                    } else if std::env::var_os("GSD_CHEATS").is_some() {
                        say(&format!("{}: {}", row.name, ended.judged.outcome));
                    }
                    done.lock().unwrap().push((number, ended));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, done)| done).collect()
}

/// The rows whose programs are installed.
fn runnable() -> Vec<Row> {
    let mut missing = BTreeSet::new();
    let mut rows = row::all();
    rows.retain(|row| {
        let program = &row.base.project().needs;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        if !is_there {
            missing.insert(program.clone());
        }
        is_there
    });
    for program in missing {
        not_run("cheats", &format!("`{program}` is not installed"));
    }
    rows
}

/// The rows, in a different order for each seed.
fn shuffled(mut rows: Vec<Row>, seed: u64) -> Vec<Row> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..rows.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from((state >> 16) % (last as u64 + 1)).unwrap();
        rows.swap(last, other);
    }
    rows
}

/// Rows that do not end as expected yet, by name: what the gate cannot do yet. A row that ends as expected is removed
/// from this list.
fn open() -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join("tests/cheats/open.txt")).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

fn seed() -> u64 {
    let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    std::env::var("GSD_CHEATS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(clock)
}

#[test]
#[ignore = "slow: minutes"]
fn no_cheat_that_can_be_detected_lands() {
    let wanted = std::env::var("GSD_CHEATS").ok();
    let (seed, open) = (seed(), open());
    let began = Instant::now();
    let done = match wanted.as_deref() {
        None => {
            let mut rows = shuffled(runnable(), seed);
            rows.retain(|row| !open.contains(&row.name));
            run(&rows, Some(SAMPLE))
        }
        Some("all") => run(&runnable(), None),
        Some(words) => {
            let is_wanted = |row: &Row| words.split(',').any(|word| row.name.contains(word));
            run(&runnable().into_iter().filter(is_wanted).collect::<Vec<_>>(), None)
        }
    };
    if wanted.as_deref() == Some("all") {
        std::fs::write(repository().join("tests/cheats/TABLE.md"), table::of(&done)).unwrap();
    }
    let sample = if wanted.is_none() { format!(" (seed {seed})") } else { String::new() };
    say(&format!("cheats: {} rows in {} s{sample}: {}", done.len(), began.elapsed().as_secs(), table::sums(&done)));
    let is_wrong = |done: &&Done| done.judged.wrong.is_empty() == open.contains(&done.row.name);
    let wrong: Vec<&str> = done.iter().filter(is_wrong).map(|done| done.row.name.as_str()).collect();
    assert!(!done.is_empty(), "no row has this name");
    assert!(
        wrong.is_empty(),
        "{} of {} rows{sample} are not as they have to be, or not open any more: {wrong:#?}",
        wrong.len(),
        done.len()
    );
}

/// A cheat that fails its own check would be refused unread, and prove nothing.
#[test]
#[ignore = "slow: minutes"]
fn a_cheat_that_only_reading_finds_passes_its_own_check() {
    let (seed, is_whole) = (seed(), std::env::var_os("GSD_CHEATS").is_some());
    let mut rows = shuffled(runnable(), seed);
    rows.retain(|row| row.doer() == row::Doer::Work && !row.is_red());
    let mut known = BTreeSet::new();
    rows.retain(|row| known.insert((row.kind.name.clone(), row.base.language.clone(), row.script.clone())));
    let (next, began, failed) = (AtomicUsize::new(0), Instant::now(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while is_whole || began.elapsed() < BY_HAND {
                    let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    if let Err(why) = driver::unseen(row) {
                        failed.lock().unwrap().push(format!("{}: {why}", row.name));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} rows (seed {seed}):\n{}", failed.len(), failed.join("\n"));
}

/// One row in each layout, for every run of the tests.
#[test]
fn a_deleted_test_is_refused_in_both_layouts() {
    let rows: Vec<Row> = row::all().into_iter().filter(|row| row.name.contains("/delete-a-file shell")).collect();
    assert_eq!(rows.len(), 2);
    let done = run(&rows, None);
    assert!(done.iter().all(|done| done.judged.wrong.is_empty()), "see above");
}

#[test]
fn the_corpus_is_large_enough_and_states_what_to_expect() {
    let rows = row::all();
    let count = |expected: Expected| rows.iter().filter(|row| row.expect() == expected).count();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "names are unique");
    let unknown: Vec<String> = open().into_iter().filter(|name| !names.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "no row has these names: {unknown:?}");
    let cheats = rows.iter().filter(|row| row.expect() != Expected::Lands);
    let mut kinds: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<Layout>)> = BTreeMap::new();
    for row in cheats {
        let kind = kinds.entry(&row.kind.name).or_default();
        kind.0.insert(&row.base.language);
        kind.1.insert(row.base.layout);
    }
    assert!(kinds.len() >= 60, "{} kinds", kinds.len());
    let single: Vec<_> = kinds.iter().filter(|(_, (languages, _))| languages.len() < 2).map(|(name, _)| name).collect();
    assert!(single.is_empty(), "in one language alone: {single:?}");
    let cheats = rows.len() - count(Expected::Lands);
    assert!(cheats >= 300, "{cheats} cheats");
    assert!(count(Expected::Lands) >= 60, "{} honest edits", count(Expected::Lands));
    assert!(count(Expected::Undetectable) <= 30, "{} undetectable", count(Expected::Undetectable));
    for row in &rows {
        let is_refused = matches!(row.expect(), Expected::Refused | Expected::PutBack);
        assert!(!is_refused || !row.named.is_empty(), "{}: what has to be named?", row.name);
        let says_why = row.why().is_some_and(|why| why.len() > 20);
        assert_eq!(row.expect() == Expected::Undetectable, says_why, "{}: why can it not be seen?", row.name);
        assert!(row.kind.what.len() > 10, "{}: what is done?", row.name);
    }
}
