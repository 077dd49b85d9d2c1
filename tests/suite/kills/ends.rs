//! However a run is ended, nothing of its unit is left.

use std::time::{Duration, Instant};

use super::bench::{Bench, Engine};

/// How long anything of a unit may live after the run was asked to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The ways in which a run is ended from outside, with the cause that it then names.
const WAYS: [(&str, &str); 5] =
    [("pause", "paused"), ("stop", "stopped"), ("TERM", "paused"), ("INT", "paused"), ("HUP", "paused")];

fn ask(bench: &Bench, engine: &Engine, way: &str) {
    match way {
        "pause" => drop(bench.context.gsd(["auto", "pause", "--now"]).success()),
        "stop" => drop(bench.context.gsd(["auto", "stop", "--now"]).success()),
        signal => engine.signal(signal),
    }
}

/// That nothing of the units lives so long after `since`.
fn nothing_lives(bench: &Bench, since: Instant, what: &str) {
    loop {
        let left = bench.of_units();
        if left.is_empty() {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "{what}: {left:?} after {:?}", since.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An agent that hangs with a daemon beside it; one that also ignores what asks it to end.
fn in_session(actor: &str) -> (Bench, Engine) {
    let bench = Bench::new(actor).shape("1x1");
    let engine = bench.start();
    bench.await_that("the daemon", || bench.of_units().values().any(|line| line.starts_with("sleep 600")));
    (bench, engine)
}

#[test]
fn a_run_that_is_ended_in_a_session_leaves_nothing_of_it() {
    for actor in ["hang", "hang-hard"] {
        for (way, cause) in WAYS {
            let (bench, engine) = in_session(actor);
            ask(&bench, &engine, way);
            nothing_lives(&bench, Instant::now(), &format!("{actor}, {way}"));
            let ended = engine.end();
            ended.stopped(11, cause);
            assert_eq!(bench.count("refused"), 0);
            assert!(bench.processes().is_empty(), "{:?}", bench.processes());
        }
    }
}

#[test]
fn a_run_that_is_ended_in_a_check_leaves_nothing_of_it_and_checks_again() {
    for (way, cause) in WAYS {
        let bench = Bench::new("slow-check:3000").shape("1x1");
        let engine = bench.start();
        bench.await_that("the check", || bench.of_units().values().any(|line| line.starts_with("sleep 600")));
        ask(&bench, &engine, way);
        nothing_lives(&bench, Instant::now(), way);
        engine.end().stopped(11, cause);
        assert_eq!(bench.count("checked"), 0, "a check that was broken off says nothing");
        if way == "stop" {
            bench.run().complete();
            assert_eq!(bench.count("unit-started"), 3, "the work is not done again");
            assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
            assert!(!bench.git(&["ls-tree", "-r", "--name-only", "main"]).contains("checked.txt"));
        }
    }
}

#[test]
fn what_a_run_left_that_was_killed_is_gone_a_second_after_the_next_begins() {
    for actor in ["hang", "hang-hard"] {
        let (bench, engine) = in_session(actor);
        engine.kill();
        assert!(!bench.of_units().is_empty(), "the daemon lives on");
        let old = bench.of_units();
        let next = Bench { actor: "ideal".to_owned(), ..bench };
        let (engine, since) = (next.start(), Instant::now());
        next.await_that("their end", || old.keys().all(|id| !next.of_units().contains_key(id)));
        assert!(since.elapsed() < PATIENCE, "{:?}", since.elapsed());
        engine.end().complete();
        assert_eq!(next.wrong(&next.landed()), Vec::<String>::new());
    }
}

#[test]
fn a_check_whose_run_was_killed_is_ended_and_what_it_wrote_does_not_land() {
    let bench = Bench::new("slow-check:1500").shape("1x1");
    let engine = bench.start();
    bench.await_that("the check", || bench.of_units().values().any(|line| line.starts_with("sleep 1.5")));
    engine.kill();
    let old = bench.of_units();
    assert!(!old.is_empty());
    let (engine, since) = (bench.start(), Instant::now());
    bench.await_that("their end", || old.keys().all(|id| !bench.of_units().contains_key(id)));
    assert!(since.elapsed() < PATIENCE, "{:?}", since.elapsed());
    engine.end().complete();
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
    assert!(!bench.git(&["ls-tree", "-r", "--name-only", "main"]).contains("checked.txt"));
    assert_eq!(bench.count("unit-started"), 3);
}

#[test]
fn a_run_that_is_paused_without_haste_ends_its_unit_first() {
    let bench = Bench::new("sleeper:800");
    let engine = bench.start();
    bench.await_that("a task", || bench.count("unit-started") == 3 && bench.client().is_some());
    bench.context.gsd(["auto", "pause"]).success();
    engine.end().stopped(11, "paused");
    assert_eq!(bench.count("unit-started"), 3);
    assert_eq!(bench.events("committed").len(), bench.events("committing").len());
    assert_eq!(bench.count("cut-short") + bench.count("set-aside"), 0);
    bench.run().complete();
}
