//! A process that is halted, as by a machine that sleeps, for longer than a unit may take.

use std::time::Duration;

use super::bench::Bench;

/// How long a unit may take, in milliseconds, and how long its process is halted.
const UNIT: u64 = 8_000;
const STANDSTILL: Duration = Duration::from_millis(UNIT + 1_500);

fn bench(actor: &str) -> Bench {
    Bench::new(actor).shape("1x1").with("GSD_TEST_MODE", 1).with("GSD_UNIT_MS", UNIT)
}

/// Halts the run while it is in its first task; if `is_done`, at least until its client has ended.
fn halted_in_a_task(bench: &Bench, is_done: bool) -> super::bench::Ended {
    let engine = bench.start();
    bench.await_that("the task", || {
        bench.events("unit-started").last().is_some_and(|entry| entry["unit"].to_string().contains("T01"))
            && bench.client().is_some()
    });
    engine.signal("STOP");
    std::thread::sleep(STANDSTILL);
    if is_done {
        bench.await_that("the end of the client", || bench.client().is_none());
    }
    engine.signal("CONT");
    engine.end()
}

#[test]
#[ignore = "slow: minutes"]
fn a_unit_that_ended_while_the_run_was_halted_counts() {
    let bench = bench("sleeper:1000");
    halted_in_a_task(&bench, true).complete();
    assert_eq!((bench.count("cut-short"), bench.count("refused")), (0, 0));
    assert_eq!(bench.count("unit-started"), 3, "no session twice");
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn a_unit_whose_time_passed_while_the_run_was_halted_continues_and_loses_no_attempt() {
    let bench = bench("sleeper:30000");
    halted_in_a_task(&bench, false).complete();
    assert_eq!((bench.count("cut-short"), bench.count("refused")), (1, 0));
    let attempts = bench.events("unit-started");
    assert!(attempts.iter().all(|entry| entry["attempt"] == 1), "{attempts:#?}");
    assert_eq!(attempts.len(), 4, "one session more");
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn a_unit_that_took_its_time_awake_reached_its_ceiling() {
    let bench = bench("sleeper:30000");
    let ended = bench.run();
    ended.stopped(13, "ceiling");
    assert!(ended.text.contains("--unit-minutes"), "{}", ended.text);
    assert_eq!(bench.count("cut-short"), 0);
    assert!(bench.of_units().is_empty(), "{:?}", bench.of_units());
    // A restart by a person gives the unit the same time again.
    bench.run().complete();
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}
