//! A log written by another version of the program.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bench::Bench;

fn hex(text: &[u8]) -> String {
    Sha256::digest(text).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Rewrites the log with changed entries, each chained to those before it.
fn rewrite(bench: &Bench, change: impl Fn(&mut Value)) {
    let mut last = hex(b"");
    let mut text = String::new();
    for mut entry in bench.log() {
        change(&mut entry);
        let entry = entry.to_string();
        last = hex(format!("{last}{entry}").as_bytes());
        writeln!(text, "{{\"digest\":\"{last}\",\"entry\":{entry}}}").unwrap();
    }
    std::fs::write(bench.log_path().unwrap(), text).unwrap();
}

/// A run that was killed in its second session.
fn killed() -> Bench {
    let bench = Bench::new("ideal").with("FAKE_PAUSE_MS", 30);
    let engine = bench.start();
    bench.await_event("unit-started", 2);
    engine.kill();
    bench
}

fn engine(entry: &mut Value, number: u64) {
    if entry.get("engine").is_some() {
        entry["engine"] = number.into();
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_log_of_an_older_engine_is_continued_with_a_message() {
    let bench = killed();
    rewrite(&bench, |entry| engine(entry, 0));
    let ended = bench.run();
    ended.complete();
    assert!(ended.text.contains("older gsd-tools"), "{}", ended.text);
    let resumed = bench.events("resumed");
    assert!(resumed.last().unwrap()["engine"].as_u64() > bench.events("started")[0]["engine"].as_u64());
    assert_eq!(bench.wrong(&super::engine::undisturbed().tree), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn a_log_of_a_newer_engine_is_refused_with_a_fix() {
    let bench = killed();
    let before = bench.log();
    for is_unknown in [false, true] {
        rewrite(&bench, |entry| {
            engine(entry, 99);
            if is_unknown && entry["event"] == "unit-ended" {
                entry["event"] = "a-word-of-the-future".into();
            }
        });
        let ended = bench.run();
        assert_eq!(ended.code, Some(1), "{}", ended.text);
        assert!(ended.text.contains("newer gsd-tools") && ended.text.contains("update-check"), "{}", ended.text);
        assert_eq!(bench.log().len(), before.len(), "nothing was added");
    }
}

#[test]
#[ignore = "slow: minutes"]
fn a_changed_log_is_refused_and_the_line_is_named() {
    let bench = killed();
    let path = bench.log_path().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"plan-milestone\"", "\"plan-milestonf\"", 1)).unwrap();
    let ended = bench.run();
    assert_eq!(ended.code, Some(1), "{}", ended.text);
    assert!(ended.text.contains("was modified") && ended.text.contains("line "), "{}", ended.text);
}
