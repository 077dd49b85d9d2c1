//! What every command that writes must satisfy: it supports a dry run, and it refuses if the file changed since its
//! caller read it.

use crate::kit::TestContext;
use crate::tree::tree;

const STATE: &str = "# Project State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\nStatus: Planning\n";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/STATE.md", STATE);
    context
}

#[test]
fn a_rehearsal_shows_the_change_and_makes_none() {
    let context = project();
    let before = tree(&context.project());
    let report = context.gsd(["state", "update", "Status", "Busy", "--dry-run"]).json();
    assert_eq!((&report["updated"], &report["would_update"]), (&false.into(), &true.into()));
    assert_eq!(report["changed"][0]["old"], "Planning");
    assert!(report["diff"].as_str().unwrap().contains("-Status: Planning\n+Status: Busy\n"), "{report}");
    let diff = context.gsd(["state", "--dry-run", "--raw", "update", "Status", "Busy"]).success();
    assert!(diff.starts_with("--- a/.planning/STATE.md\n+++ b/.planning/STATE.md\n@@"), "{diff}");
    assert_eq!(tree(&context.project()), before);
}

#[test]
fn a_command_that_cannot_be_rehearsed_says_so_instead_of_running() {
    let context = project();
    let before = tree(&context.project());
    assert!(context.gsd(["dispatch-isolation", "--dry-run"]).failure(1).contains("--dry-run"));
    assert!(context.gsd(["commit", "x", "--if-match", "a"]).failure(1).contains("--if-match"));
    // A verb that reads has nothing to rehearse: it reports that the flag has no meaning, and fails for a strict
    // caller.
    let read = context.gsd(["state", "json", "--dry-run"]);
    assert!(read.code == 0 && read.stderr.contains("does not know `--dry-run`"), "{}", read.stderr);
    assert!(context.gsd(["state", "json", "--dry-run", "--exit-contract=v2"]).failure(64).contains("--dry-run"));
    assert_eq!(tree(&context.project()), before);
}

#[test]
fn a_write_is_refused_if_another_write_came_after_the_read() {
    let context = project();
    let token = context.gsd(["state", "json", "--pick", "token"]).success();
    context.gsd(["state", "update", "Status", "First", "--if-match", &token]).json();
    let after = tree(&context.project());
    let told = context.gsd(["state", "update", "Status", "Second", "--if-match", &token]);
    assert!(told.failure(1).contains("read again"));
    let told = context.gsd(["state", "update", "Status", "Second", "--if-match", &token, "--exit-contract=v2"]);
    assert!(told.failure(75).contains("changed since it was read"));
    assert_eq!(tree(&context.project()), after);
    let token = context.gsd(["init", "progress", "--pick", "token"]).success();
    context.gsd(["state", "update", "Status", "Third", "--if-match", &token]).json();
    assert!(
        context.gsd(["state", "update", "Status", "x", "--if-match", "yesterday"]).failure(1).contains("not a token")
    );
    assert!(context.gsd(["state", "update", "Status", "x", "--if-match"]).failure(1).contains("needs a value"));
}

#[test]
fn a_rehearsal_shows_no_secret() {
    let context = project();
    context.write(".planning/config.json", "{\n  \"firecrawl\": \"fc-aaaaaaaaaaaa\",\n  \"mode\": \"yolo\"\n}\n");
    for flags in [&["--dry-run"][..], &["--dry-run", "--raw"], &[]] {
        let set = [&["config-set-model-profile", "budget"], flags].concat();
        let shown = context.gsd_with(set, &[], "").success();
        assert!(!shown.contains("fc-aaaa"), "{shown}");
    }
    let set = context.gsd(["config-set", "brave_search", "sk-0123456789"]).success();
    assert!(!set.contains("sk-0123") && set.contains("****6789"), "{set}");
}

#[test]
fn no_change_is_reported_and_under_the_second_contract_it_is_not_a_success() {
    let context = project();
    context.gsd(["state", "update", "Status", "Busy"]).json();
    let before = tree(&context.project());
    let report = context.gsd(["state", "update", "Status", "Busy"]).json();
    assert_eq!(report["updated"], false);
    assert!(report["reason"].is_string());
    let _ = context.gsd(["state", "update", "Status", "Busy", "--exit-contract=v2"]).failure(80);
    assert_eq!(tree(&context.project()), before);
}
