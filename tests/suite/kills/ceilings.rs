//! The limits of a run: active without a flag, stored on disk, and not reset by another process or a restart.

use std::time::Duration;

use super::bench::Bench;

#[test]
#[ignore = "slow: minutes"]
fn a_second_run_reports_which_process_runs_the_first() {
    let bench = Bench::new("hang").shape("1x1");
    let engine = bench.start();
    bench.await_event("unit-started", 1);
    let sessions = bench.count("unit-started");
    let mut line = vec!["auto".to_owned(), "next".to_owned()];
    line.extend(bench.line().into_iter().skip(2));
    for words in [bench.line(), line] {
        let second = bench.context.gsd_with(words, &[], "");
        let told = second.failure(75);
        assert!(told.contains(&format!("process {}", engine.id())), "{told}");
    }
    assert_eq!((bench.count("unit-started"), bench.count("resumed")), (sessions, 0));
    engine.kill();
    std::thread::sleep(Duration::from_millis(50));
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_used_its_sessions_stops_again_at_once_however_often_it_is_started() {
    let bench = Bench::new("ideal").flag("--max-sessions").flag("3");
    for _ in 0..3 {
        let ended = bench.run();
        ended.stopped(13, "ceiling");
        assert!(ended.text.contains("gsd-tools auto run --max-sessions 5"), "{}", ended.text);
        assert_eq!(bench.count("unit-started"), 3);
    }
    // The command that it names.
    let bench = Bench { flags: ["--max-sessions", "9"].map(str::to_owned).to_vec(), ..bench };
    bench.run().complete();
}

#[test]
#[ignore = "slow: minutes"]
fn kills_do_not_reset_the_session_limit_of_a_run() {
    let bench = Bench::new("hang").shape("1x1").flag("--max-sessions").flag("4");
    for number in 1..=4 {
        let engine = bench.start();
        bench.await_event("unit-started", number);
        engine.kill();
    }
    bench.run().stopped(13, "ceiling");
    assert_eq!(bench.count("unit-started"), 4);
    assert!(bench.of_units().is_empty(), "{:?}", bench.of_units());
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_stops_within_one_model_call_of_its_cost_limit() {
    let bench = Bench::new("spender").shape("1x1");
    let ended = bench.run();
    ended.stopped(13, "ceiling");
    assert!(ended.text.contains("gsd-tools auto run --budget 50"), "{}", ended.text);
    let spent = bench.events("unit-ended").last().unwrap()["money"].as_f64().unwrap();
    assert!((25.0..=27.0).contains(&spent), "{spent} USD");
    // The cost is on disk: another start spends nothing more.
    bench.run().stopped(13, "ceiling");
    assert_eq!(bench.count("unit-started"), 1);
}

#[test]
#[ignore = "slow: minutes"]
fn the_cost_of_a_session_whose_run_was_killed_is_counted() {
    let bench = Bench::new("spender").shape("1x1").flag("--budget").flag("30");
    let engine = bench.start();
    bench.await_event("unit-started", 1);
    std::thread::sleep(Duration::from_millis(1_500));
    engine.kill();
    bench.run().stopped(13, "ceiling");
    let first = bench.events("interrupted")[0]["money"].as_f64().unwrap();
    let second = bench.events("unit-ended")[0]["money"].as_f64().unwrap();
    assert!(first >= 1.0, "{first}");
    assert!((30.0..=33.0).contains(&(first + second)), "{first} + {second} USD");
}

#[test]
#[ignore = "slow: minutes"]
fn an_agent_that_works_is_never_stopped_however_many_steps_it_takes() {
    let bench = Bench::new("steps:200").shape("1x1");
    bench.run().complete();
    let tools = bench.events("unit-ended").iter().map(|entry| entry["tool_calls"].as_u64().unwrap()).max();
    assert!(tools >= Some(200), "{tools:?}");
    assert_eq!((bench.count("refused"), bench.count("unit-started")), (0, 3));
}

#[test]
#[ignore = "slow: minutes"]
fn an_agent_that_repeats_the_same_writes_is_stopped_at_the_second_attempt() {
    let bench = Bench::new("churn").shape("1x1");
    bench.run().stopped(12, "no-progress");
    assert_eq!(bench.count("unit-started"), 2);
}

#[test]
#[ignore = "slow: minutes"]
fn agents_that_run_away_are_stopped_and_leave_nothing() {
    // Each actor, its exit code and cause, and the most sessions it may have.
    let cases = [
        ("hang", 12, "no-progress", 2),
        ("flood", 12, "no-progress", 2),
        ("chatter", 12, "no-progress", 2),
        ("drip", 13, "ceiling", 1),
    ];
    for (actor, code, cause, sessions) in cases {
        let bench = Bench::new(actor).shape("1x1");
        let bench = bench.with("GSD_TEST_MODE", 1).with("GSD_UNIT_MS", 4_000).with("GSD_IDLE_MS", 1_500);
        bench.run().stopped(code, cause);
        assert!(bench.count("unit-started") <= sessions, "{actor}: {}", bench.count("unit-started"));
        assert!(bench.processes().is_empty(), "{actor}: {:?}", bench.processes());
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_client_that_only_retries_is_stopped_and_the_run_waits_instead() {
    let bench = Bench::new("retry-storm").shape("1x1");
    let engine = bench.start();
    bench.await_event("held", 1);
    assert!(bench.of_units().is_empty(), "{:?}", bench.of_units());
    engine.signal("TERM");
    engine.end().stopped(11, "paused");
    assert_eq!((bench.count("unit-started"), bench.count("refused")), (1, 0));
}
