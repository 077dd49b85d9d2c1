//! A phase is completed whole or not at all, whatever happens to the process; and nothing is lost between processes
//! that write at once: `GSD_WRITES_EACH` sets how often each of the eight writes each of the two documents.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Instant;

use crate::kit::{Ran, TestContext, binary, repository};
use crate::tree::{Kept, Tree, difference, stamps, tree};

const FOLDER: &str = ".planning/phases/02-writing-notes";
const COMPLETE: &[&str] = &["phase", "complete", "2"];

/// A project whose second phase is executed and verified, and claimed by the session of the test.
fn executed() -> TestContext {
    let context = TestContext::new();
    let from = repository().join("tests/projects/pocket");
    for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&from).unwrap().to_string_lossy().replace('\\', "/");
            context.write(&path, &std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    context.write(&format!("{FOLDER}/02-01-PLAN.md"), "---\nphase: 02-writing-notes\nplan: 01\nwave: 1\n---\n");
    context.write(&format!("{FOLDER}/02-01-SUMMARY.md"), "---\nstatus: complete\n---\n\n# Done\n");
    context.write(&format!("{FOLDER}/02-VERIFICATION.md"), "---\nstatus: passed\n---\n\n# Verified\n");
    context.write(
        ".planning/milestone.lock",
        "{\n  \"phase\": \"2\",\n  \"session\": \"gsd-session-key-tests\",\n  \"pid\": 1,\n  \"updated_at\": 1768500000000\n}\n",
    );
    // A project is found from a folder inside it if both are in one repository.
    assert!(context.command("git").args(["init", "-q"]).status().unwrap().success());
    context
}

fn run(context: &TestContext, arguments: &[&str], extra: &[(&str, &str)]) -> Ran {
    let mut environment = vec![("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", "tests")];
    environment.extend_from_slice(extra);
    context.gsd_with(arguments, &environment, "")
}

fn documents(context: &TestContext) -> Tree {
    tree(&context.project().join(".planning"))
}

fn old_and_new() -> (Tree, Tree) {
    let context = executed();
    let old = documents(&context);
    let _ = run(&context, COMPLETE, &[]).success();
    let new = documents(&context);
    let changed: BTreeSet<&str> =
        old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path)).map(String::as_str).collect();
    let expected = ["ROADMAP.md", "REQUIREMENTS.md", "STATE.md", "state.json", "milestone.lock"];
    for name in expected {
        assert!(changed.contains(format!("/{name}").as_str()), "{name} is no part of it");
    }
    (old, new)
}

fn is_unfinished(context: &TestContext) -> bool {
    documents(context).keys().any(|path| path.contains(".gsd-transaction"))
}

/// A verb that reads still answers, reports the unfinished write, and writes nothing.
fn look(context: &TestContext, when: &str) {
    let before = stamps(&context.project().join(".planning"));
    let ran = run(context, &["roadmap", "analyze"], &[]);
    assert_eq!(stamps(&context.project().join(".planning")), before, "a reader wrote something {when}");
    assert_eq!(ran.stderr.contains("interrupted"), is_unfinished(context), "{when}: {}", ran.stderr);
    assert!(ran.json()["phases"].is_array(), "{when}");
}

#[test]
#[ignore = "slow: minutes"]
fn completing_a_phase_that_fails_leaves_the_old_documents_or_the_new_ones() {
    completing_a_phase_leaves_the_old_documents_or_the_new_ones("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn completing_a_phase_that_dies_leaves_the_old_documents_or_the_new_ones() {
    completing_a_phase_leaves_the_old_documents_or_the_new_ones("GSD_KILL_AT");
}

fn completing_a_phase_leaves_the_old_documents_or_the_new_ones(how: &str) {
    let (old, new) = old_and_new();
    let context = executed();
    let mut kept = Kept::of(&context.everything());
    let mut torn_before_recovery = false;
    for step in 0.. {
        assert!(step < 200, "it never succeeds");
        let when = format!("after {how}={step}");
        kept.put_back();
        let code = run(&context, COMPLETE, &[(how, &step.to_string())]).code;
        let struck = documents(&context);
        if how == "GSD_FAULT_AT" && code != 0 {
            assert_eq!(difference(&old, &struck), [""; 0], "an error was not undone {when}");
        }
        torn_before_recovery |= struck != old && struck != new;
        look(&context, &when);
        // From a folder inside the project, as an agent may.
        let below = context.project().join(FOLDER);
        let _ = run(&context, &["--cwd", below.to_str().unwrap(), "recover"], &[]).success();
        let tree = documents(&context);
        assert!(tree == old || tree == new, "torn {when}: {:#?}", difference(&new, &tree));
        look(&context, &format!("recovered, {when}"));
        if code == 0 {
            assert_eq!(difference(&new, &tree), [""; 0], "{when}");
            assert!(step > 12, "only {step} steps");
            break;
        }
    }
    assert!(torn_before_recovery || how == "GSD_FAULT_AT", "no step was in the middle");
}

#[test]
#[ignore = "slow: minutes"]
fn the_next_verb_that_writes_finishes_what_a_killed_one_left() {
    let (old, new) = old_and_new();
    let next = ["config-set", "workflow.research", "true"];
    let context = executed();
    let mut kept = Kept::of(&context.everything());
    let mut after_next = |tree: &Tree| {
        kept.put_back();
        if *tree == new {
            let _ = run(&context, COMPLETE, &[]).success();
        }
        let _ = run(&context, &next, &[]).success();
        documents(&context)
    };
    let ends = [after_next(&old), after_next(&new)];
    for step in 0.. {
        assert!(step < 200, "it never succeeds");
        kept.put_back();
        let code = run(&context, COMPLETE, &[("GSD_KILL_AT", &step.to_string())]).code;
        let unfinished = is_unfinished(&context);
        let ran = run(&context, &next, &[]);
        assert_eq!(ran.stderr.contains("interrupted"), unfinished, "step {step}: {}", ran.stderr);
        let _ = ran.success();
        let tree = documents(&context);
        // The lock files of the killed call are gone too.
        assert!(ends.contains(&tree), "torn at step {step}: {:#?}", difference(&ends[1], &tree));
        if code == 0 {
            break;
        }
    }
}

#[cfg(unix)]
#[test]
#[ignore = "slow: minutes"]
fn a_call_that_is_killed_anywhere_leaves_the_old_documents_or_the_new_ones() {
    const ROUNDS: u32 = 50;
    let (old, new) = old_and_new();
    let context = executed();
    let mut kept = Kept::of(&context.everything());
    let whole = {
        let started = Instant::now();
        let _ = run(&context, COMPLETE, &[]).success();
        started.elapsed()
    };
    for round in 0..ROUNDS {
        kept.put_back();
        let mut child = context
            .command(binary())
            .args(COMPLETE)
            .envs([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", "tests")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * round / ROUNDS);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        look(&context, &format!("in round {round}"));
        let _ = run(&context, &["recover"], &[]).success();
        let tree = documents(&context);
        assert!(tree == old || tree == new, "torn in round {round}: {:#?}", difference(&new, &tree));
        assert!(!status.success() || tree == new, "round {round} succeeded and is not there");
    }
}

#[test]
#[ignore = "slow: minutes"]
fn nothing_is_lost_between_processes_that_write_at_once() {
    const WRITERS: usize = 8;
    let each: usize = std::env::var("GSD_WRITES_EACH").map_or(12, |count| count.parse().unwrap());
    let context = executed();
    // The first write updates what is derived.
    let _ = run(&context, &["state", "add-decision", "--phase", "2", "--summary", "One"], &[]).success();
    let before = context.read(".planning/STATE.md");
    let decision = |writer: usize, number: usize| format!("Choice {number} of writer {writer}");
    let done = std::sync::atomic::AtomicUsize::new(0);
    let busy = || done.load(std::sync::atomic::Ordering::Relaxed) < WRITERS;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (context, done) = (&context, &done);
            scope.spawn(move || {
                // Counted even if it fails: the others wait for all.
                struct Done<'a>(&'a std::sync::atomic::AtomicUsize);
                impl Drop for Done<'_> {
                    fn drop(&mut self) {
                        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                }
                let _done = Done(done);
                for number in 0..each {
                    let feature = format!("features.writer_{writer}_{number}");
                    assert_eq!(run(context, &["config-set", &feature, "true"], &[]).json()["updated"], true);
                    let summary = decision(writer, number);
                    let added = run(context, &["state", "add-decision", "--phase", "2", "--summary", &summary], &[]);
                    assert_eq!(added.json()["added"], true);
                }
            });
        }
        scope.spawn(|| {
            while busy() {
                // Reads the files as any other program does.
                let state = context.read(".planning/STATE.md");
                assert!(
                    state.starts_with("---\n") && state.trim_end().ends_with(before.trim_end().lines().last().unwrap())
                );
                let config: serde_json::Value = serde_json::from_str(&context.read(".planning/config.json")).unwrap();
                assert_eq!(config["workflow"]["research"], false);
                let ran = run(&context, &["state", "json"], &[]);
                assert!(!ran.stderr.contains("interrupted"), "{}", ran.stderr);
                assert_eq!(ran.json()["milestone"], "v1.0");
            }
        });
    });
    let after = context.read(".planning/STATE.md");
    for (writer, number) in (0..WRITERS).flat_map(|writer| (0..each).map(move |number| (writer, number))) {
        let line = format!("- [Phase 2]: {}", decision(writer, number));
        assert_eq!(after.lines().filter(|known| *known == line).count(), 1, "{line}");
    }
    let others: Vec<&str> = after.lines().filter(|line| !line.starts_with("- [Phase 2]: Choice ")).collect();
    let body = |lines: Vec<&str>| lines.join("\n").split_once("# Project State").unwrap().1.to_owned();
    assert_eq!(body(others), body(before.lines().collect()));
    let config: serde_json::Value = serde_json::from_str(&context.read(".planning/config.json")).unwrap();
    for (writer, number) in (0..WRITERS).flat_map(|writer| (0..each).map(move |number| (writer, number))) {
        assert_eq!(config["features"][format!("writer_{writer}_{number}")], true);
    }
    assert_eq!(config["workflow"]["research"], false);
    let left: Vec<String> =
        documents(&context).into_keys().filter(|path| path.contains(".lock") || path.contains(".gsd")).collect();
    assert_eq!(left, ["/milestone.lock"]);
}
