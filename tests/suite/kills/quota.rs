//! A used-up quota: the run waits, whatever happens meanwhile, and continues from there.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::bench::{Bench, Ended, Engine};

fn bench(seconds: u64) -> Bench {
    Bench::new(&format!("quota:{seconds}")).shape("1x1")
}

/// Starts a run, and returns once the run waits for the quota.
fn holding(bench: &Bench) -> Engine {
    let engine = bench.start();
    bench.await_event("held", 1);
    engine
}

/// Asserts that the run waited once, lost no attempt, and continued in time in the same session.
fn went_on(bench: &Bench, ended: &Ended, late: i64) {
    ended.complete();
    let wall = |entry: &Value| entry["at"]["wall"].as_i64().unwrap();
    let (held, over) = (bench.events("held"), bench.events("hold-ended"));
    assert_eq!((held.len(), over.len(), bench.count("refused")), (1, 1, 0));
    let was_late = wall(&over[0]) - held[0]["until"].as_i64().unwrap();
    assert!((0..=late).contains(&was_late), "{was_late} ms late");
    let sessions = bench.events("unit-started");
    assert_eq!(sessions.len(), 4, "one session more");
    let of_task: Vec<&Value> = sessions.iter().filter(|entry| entry["unit"].to_string().contains("T01")).collect();
    assert_eq!((&of_task[0]["session"], &of_task[1]["resumed"]), (&of_task[1]["session"], &Value::from(true)));
    assert_eq!(of_task[1]["attempt"], 1);
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_without_a_quota_waits_for_it_and_loses_nothing() {
    let bench = bench(2);
    let ended = holding(&bench).end();
    went_on(&bench, &ended, 2_000);
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_was_halted_while_it_waited_continues_when_it_wakes() {
    let bench = bench(2);
    let engine = holding(&bench);
    engine.signal("STOP");
    std::thread::sleep(Duration::from_secs(4));
    engine.signal("CONT");
    let ended = engine.end();
    // It was halted for two of these seconds.
    went_on(&bench, &ended, 5_000);
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_was_killed_while_it_waited_keeps_the_original_wait() {
    let bench = bench(4);
    for _ in 0..3 {
        let engine = bench.start();
        bench.await_event("held", 1);
        std::thread::sleep(Duration::from_millis(300));
        engine.kill();
    }
    assert_eq!(bench.count("hold-ended"), 0, "it waited through all of them");
    let ended = bench.run();
    went_on(&bench, &ended, 5_000);
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_waits_for_an_hour_stops_at_once_and_keeps_waiting_after_a_restart() {
    let bench = bench(3600);
    let engine = holding(&bench);
    let asked = Instant::now();
    bench.context.gsd(["auto", "stop"]).success();
    let ended = engine.end();
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    ended.stopped(11, "stopped");
    let sessions = bench.count("unit-started");
    let engine = bench.start();
    bench.await_event("resumed", 1);
    std::thread::sleep(Duration::from_millis(500));
    engine.signal("TERM");
    engine.end().stopped(11, "paused");
    assert_eq!((bench.count("held"), bench.count("unit-started")), (1, sessions), "nothing was started");
}
