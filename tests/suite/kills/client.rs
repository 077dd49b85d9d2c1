//! `kill -9` of the client in the middle of its session.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::bench::{Bench, signal_to};
use super::engine::{Chance, Expected, Tally, seed, undisturbed, wanted};

/// The kills of one run, and the most for one unit.
const EACH: usize = 6;
const OF_A_UNIT: usize = 3;

fn one(chance: &mut Chance, expected: &Expected, tally: &Mutex<Tally>) {
    let bench = Bench::new("ideal").with("FAKE_PAUSE_MS", 20 + chance.below(30));
    let mut engine = bench.start();
    let (mut kills, mut sessions) = (0, 0);
    let mut units: Vec<String> = Vec::new();
    while !engine.is_over() && kills < EACH {
        let started = bench.events("unit-started");
        let unit = started.last().map(|entry| entry["unit"].to_string()).unwrap_or_default();
        let is_enough = units.iter().filter(|killed| **killed == unit).count() >= OF_A_UNIT;
        if started.len() == sessions || is_enough || chance.below(4) == 0 {
            sessions = started.len();
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        sessions = started.len();
        std::thread::sleep(Duration::from_millis(chance.below(90)));
        if let Some(client) = bench.client() {
            // It may end meanwhile.
            let killed = std::process::Command::new("kill").args(["-9", &client.to_string()]).output().unwrap();
            if killed.status.success() {
                kills += 1;
                units.push(unit);
            }
        }
    }
    let ended = engine.end();
    let mut wrong = bench.wrong(&expected.tree);
    if ended.code != Some(0) {
        wrong.push(format!("it ended with {:?}: {}", ended.code, ended.text));
    }
    let extra = bench.count("unit-started").saturating_sub(expected.sessions);
    if extra > kills {
        wrong.push(format!("{extra} further sessions for {kills} kills"));
    }
    if bench.count("refused") > 0 {
        wrong.push("an attempt was lost".to_owned());
    }
    let mut tally = tally.lock().unwrap();
    tally.runs += 1;
    tally.kills += kills;
    tally.extra_sessions += extra;
    if !wrong.is_empty() {
        let place = bench.context.keep();
        tally.wrong.push(format!("{}\n{}", place.display(), wrong.join("\n")));
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_whose_client_is_killed_again_and_again_lands_the_same_and_loses_no_attempt() {
    let (seed, began, expected) = (seed(), Instant::now(), undisturbed());
    let total = wanted().map_or(EACH / 2, |total| total / 5);
    let (tally, given) = (Mutex::new(Tally::default()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while tally.lock().unwrap().kills < total {
                    let number = given.fetch_add(1, Ordering::Relaxed);
                    assert!(usize::try_from(number).unwrap() < 4 + total, "the client is never hit");
                    one(&mut Chance::new(seed ^ (number << 32)), &expected, &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    crate::clients::say(&tally.table("the client", seed, began.elapsed()));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n\n"));
}

#[test]
#[ignore = "slow: minutes"]
fn a_client_that_is_always_killed_stops_the_run() {
    let bench = Bench::new("hang").shape("1x1");
    let mut engine = bench.start();
    let mut seen = 0;
    while !engine.is_over() {
        if bench.count("unit-started") > seen
            && let Some(client) = bench.client()
        {
            seen += 1;
            signal_to(client, "9");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    engine.end().stopped(12, "stuck");
    assert!(seen <= 7, "{seen}");
    assert!(bench.processes().is_empty(), "{:?}", bench.processes());
}
