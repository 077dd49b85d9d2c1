//! However a run ends, nothing of its unit is left.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::bench::{Bench, Engine};

/// How long the processes of a unit may live after the run was asked to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The ways to end a run from outside, with the cause that it then reports.
const WAYS: [(&str, &str); 5] =
    [("pause", "paused"), ("stop", "stopped"), ("TERM", "paused"), ("INT", "paused"), ("HUP", "paused")];

fn ask(bench: &Bench, engine: &Engine, way: &str) {
    match way {
        "pause" => drop(bench.context.gsd(["auto", "pause", "--now"]).success()),
        "stop" => drop(bench.context.gsd(["auto", "stop", "--now"]).success()),
        signal => engine.signal(signal),
    }
}

/// How often a duration is measured before it counts as too long: other tests use the same processors.
const TRIES: usize = 4;

/// Asserts that one of the tries is fast enough.
fn in_time(what: &str, each: impl Fn() -> Duration) {
    let mut times = Vec::new();
    while times.len() < TRIES {
        times.push(each());
        if times.last() < Some(&PATIENCE) {
            return;
        }
    }
    panic!("{what}: {times:?}");
}

/// How long it takes until no process of the units lives.
fn until_nothing_lives(bench: &Bench) -> Duration {
    let since = Instant::now();
    bench.await_that("the end of the unit", || bench.of_units().is_empty());
    since.elapsed()
}

/// How long the next run takes to end these processes, left by a killed run. Until then it writes no log entry.
fn until_gone(next: &Bench, old: &BTreeMap<u32, String>) -> (Engine, Duration) {
    let (engine, since) = (next.start(), Instant::now());
    next.await_that("their end", || {
        let has_begun = next.count("resumed") > 0;
        let lives = old.keys().any(|id| next.of_units().contains_key(id));
        assert!(!(has_begun && lives), "it begins before they have ended");
        !lives
    });
    (engine, since.elapsed())
}

/// A run whose agent hangs and has started a daemon; one actor also ignores signals that ask it to end.
fn in_session(actor: &str) -> (Bench, Engine) {
    let bench = Bench::new(actor).shape("1x1");
    let engine = bench.start();
    bench.await_that("the daemon", || bench.of_units().values().any(|line| line.starts_with("sleep 600")));
    (bench, engine)
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_is_ended_in_a_session_leaves_nothing_of_it() {
    for actor in ["hang", "hang-hard"] {
        for (way, cause) in WAYS {
            in_time(&format!("{actor}, {way}"), || {
                let (bench, engine) = in_session(actor);
                ask(&bench, &engine, way);
                let time = until_nothing_lives(&bench);
                engine.end().stopped(11, cause);
                assert_eq!(bench.count("refused"), 0);
                assert!(bench.processes().is_empty(), "{:?}", bench.processes());
                time
            });
        }
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_is_ended_in_a_check_leaves_nothing_of_it_and_checks_again() {
    for (way, cause) in WAYS {
        in_time(way, || {
            let bench = Bench::new("slow-check:3000").shape("1x1");
            let engine = bench.start();
            bench.await_that("the check", || bench.of_units().values().any(|line| line.starts_with("sleep 600")));
            ask(&bench, &engine, way);
            let time = until_nothing_lives(&bench);
            engine.end().stopped(11, cause);
            assert_eq!(bench.count("checked"), 0, "a check that was broken off says nothing");
            if way == "stop" {
                bench.run().complete();
                assert_eq!(bench.count("unit-started"), 3, "the work is not done again");
                assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
                assert!(!bench.git(&["ls-tree", "-r", "--name-only", "main"]).contains("checked.txt"));
            }
            time
        });
    }
}

#[test]
#[ignore = "slow: minutes"]
fn ctrl_c_reaches_git_too_and_still_pauses_the_run() {
    let bench = Bench::new("ideal");
    let mut paused = 0;
    for number in 1..=5 {
        let before = bench.log().len();
        let engine = bench.start_in_group();
        bench.await_that("some steps", || bench.log().len() > before + number);
        let group = format!("-{}", engine.id());
        assert!(std::process::Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        engine.end().stopped(11, "paused");
        paused += 1;
        assert!(bench.processes().is_empty(), "{:?}", bench.processes());
    }
    assert_eq!(paused, bench.count("stopped"));
    bench.run().complete();
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn ctrl_c_in_the_middle_of_any_call_of_git_pauses_the_run() {
    let bench = Bench::new("ideal");
    let programs = bench.context.home().join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let marks = bench.context.home().join("marks");
    std::fs::create_dir_all(&marks).unwrap();
    let git = programs.join("git");
    let paths = std::env::var("PATH").unwrap();
    // The second and the fifth call with each of these words are interrupted with their whole process group.
    let script = format!(
        r#"#!/bin/sh
PATH='{paths}'
for word in add write-tree commit-tree update-ref merge-tree; do
  case " $* " in *" $word "*)
    echo >> '{marks}/'$word
    case "$(wc -l < '{marks}/'$word | tr -d ' ')" in 2|5) trap - INT; kill -INT 0; sleep 5;; esac;;
  esac
done
exec git "$@"
"#,
        marks = marks.display(),
    );
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let bench = Bench { variables: vec![("PATH", format!("{}:{paths}", programs.display()))], ..bench };
    let mut paused = 0;
    loop {
        let ended = bench.start_in_group().end();
        if ended.code == Some(0) {
            break;
        }
        // Before it handles signals, they end the program as they end any other.
        if ended.code.is_none() && bench.log().is_empty() {
            continue;
        }
        ended.stopped(11, "paused");
        paused += 1;
        assert!(paused <= 10, "{}", ended.text);
    }
    assert!(paused >= 4, "only {paused} calls were interrupted");
    assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn processes_of_a_killed_run_are_gone_a_second_after_the_next_begins() {
    for actor in ["hang", "hang-hard"] {
        in_time(actor, || {
            let (bench, engine) = in_session(actor);
            engine.kill();
            let old = bench.of_units();
            assert!(old.len() > 1, "the client and its daemon live on: {old:?}");
            let next = Bench { actor: "ideal".to_owned(), ..bench };
            let (engine, time) = until_gone(&next, &old);
            engine.end().complete();
            assert_eq!(next.wrong(&next.landed()), Vec::<String>::new());
            time
        });
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_check_whose_run_was_killed_is_ended_and_what_it_wrote_does_not_land() {
    in_time("the check", || {
        let bench = Bench::new("slow-check:1500").shape("1x1");
        let engine = bench.start();
        bench.await_that("the check", || bench.of_units().values().any(|line| line.starts_with("sleep 1.5")));
        engine.kill();
        let old = bench.of_units();
        assert!(!old.is_empty());
        let (engine, time) = until_gone(&bench, &old);
        engine.end().complete();
        assert_eq!(bench.wrong(&bench.landed()), Vec::<String>::new());
        assert!(!bench.git(&["ls-tree", "-r", "--name-only", "main"]).contains("checked.txt"));
        assert_eq!(bench.count("unit-started"), 3);
        time
    });
}

#[test]
#[ignore = "slow: minutes"]
fn a_run_that_is_paused_without_now_ends_its_unit_first() {
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
