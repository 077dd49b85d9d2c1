//! What all commands share: common flags, failures, help, exit codes.

use std::process::Stdio;

use crate::kit::{TestContext, binary};

#[test]
fn an_answer_is_indented_json_without_a_final_newline() {
    let answer = TestContext::new().gsd(["verify-path-exists", "nope"]).success();
    assert_eq!(answer, "{\n  \"exists\": false,\n  \"type\": null\n}");
}

#[test]
fn raw_and_pick_work_at_any_position() {
    let context = TestContext::new();
    context.write("a.txt", "x");
    assert_eq!(context.gsd(["--raw", "verify-path-exists", "a.txt"]).success(), "true");
    assert_eq!(context.gsd(["query", "verify-path-exists", "--pick", "type", "a.txt"]).success(), "file");
    let told = context.gsd(["verify-path-exists", "a.txt", "--pick", "nope"]).failure(1);
    assert!(told.contains("exists, type"), "{told}");
}

#[test]
fn answers_about_missing_things_have_a_bare_form_too() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-CONTEXT.md", "x");
    let bare = |arguments: &[&str]| context.gsd_with(arguments.iter().copied().chain(["--raw"]), &[], "").success();
    assert_eq!(bare(&["state", "json"]), "STATE.md not found");
    assert_eq!(bare(&["requirements", "mark-complete", "A-1"]), "no requirements file");
    assert_eq!(bare(&["agent-skills"]), "");
    assert_eq!(bare(&["check-commit"]), "allowed");
    assert_eq!(bare(&["milestone", "archive-quick", "v1.0"]), "0 quick task directories archived");
    assert_eq!(bare(&["scaffold", "context", "--phase", "1"]), "exists");
    assert!(bare(&["gap-analysis", "--phase-dir", ".planning/phases/01-a"]).starts_with("## "));
    assert_eq!(bare(&["config-ensure-section"]), "created");
    assert_eq!(bare(&["config-ensure-section"]), "exists");
    assert_eq!(bare(&["config-set", "mode", "yolo", "--dry-run"]), "mode=yolo (dry run)");
    context.write(".planning/config.json", "{\"depth\": \"standard\"}\n");
    assert!(bare(&["migrate-config"]).ends_with("config.json\n  depth → granularity"));
}

#[test]
fn picking_from_text_is_reported() {
    let ran = TestContext::new().gsd(["verify-path-exists", "x", "--raw", "--pick", "a.b", "--json-errors"]);
    assert!(ran.stdout.is_empty());
    assert!(ran.failure(1).contains("\"reason\":\"pick_field_absent\""));
}

#[test]
fn a_wrong_word_suggests_the_right_one() {
    let context = TestContext::new();
    let told = context.gsd(["verify-path-exist", "x"]).failure(1);
    assert!(told.starts_with("Error: unknown command") && told.contains("`verify-path-exists`"), "{told}");
    assert!(context.gsd(["--nope"]).failure(1).contains("unknown flag"));
    assert!(context.gsd([]).failure(1).contains("no command"));
}

#[test]
fn failures_are_json_on_request() {
    let context = TestContext::new();
    let told = context.gsd(["nope", "--json-errors"]).failure(1);
    let envelope: serde_json::Value = serde_json::from_str(told.trim_end()).unwrap();
    assert_eq!(envelope["ok"], false);
    assert_eq!(envelope["reason"], "sdk_unknown_command");
    assert_eq!(context.gsd_with(["nope"], &[("GSD_JSON_ERRORS", "1")], "").failure(1), told);
}

#[test]
fn the_second_contract_has_a_code_per_failure() {
    let context = TestContext::new();
    assert!(!context.gsd(["nope", "--exit-contract=v2"]).failure(64).is_empty());
    assert!(!context.gsd_with(["verify-path-exists"], &[("GSD_EXIT_CONTRACT", "v2")], "").failure(64).is_empty());
    assert!(context.gsd(["nope", "--exit-contract=v9"]).failure(1).contains("v9"));
}

#[test]
fn wrong_flags_and_surplus_words_are_refused() {
    let context = TestContext::new();
    let v2 = "--exit-contract=v2";
    assert!(context.gsd(["verify-path-exists", "a", "--bogus", v2]).failure(64).contains("--bogus"));
    assert!(context.gsd(["verify-path-exists", "a", "b", v2]).failure(64).contains("`b`"));
    assert!(context.gsd(["phase", "add", "A phase", "--bogus"]).failure(1).contains("--bogus"));
    assert!(context.gsd(["verify-path-exists"]).failure(1).contains("<PATH>"));
    assert!(context.gsd(["generate-slug", " "]).failure(1).contains("`<TEXT>` needs a value"));
    assert!(context.gsd(["phases", "list", "--type", "plan"]).failure(1).contains("plans, summaries, all"));
}

#[test]
fn the_reason_is_usage_for_any_missing_argument() {
    let context = TestContext::new();
    for call in [
        &["graphify", "query"][..],
        &["intel", "query"],
        &["learnings", "query"],
        &["extract-messages"],
        &["detect-custom-files"],
        &["write-profile"],
        &["requirements", "mark-complete"],
        &["check", "predicate", "--predicate"],
        &["generate-slug", " "],
        &["commit"],
    ] {
        let error = context.gsd_with([call, &["--json-errors"]].concat(), &[], "").failure(1);
        assert!(error.contains(r#""reason":"usage""#), "{call:?}: {error}");
    }
}

#[test]
fn help_wins_over_work() {
    let context = TestContext::new();
    let all = context.gsd(["help", "--all"]).success();
    assert!(all.contains("verify-path-exists") && all.contains("--exit-contract"), "{all}");
    let one = context.gsd(["verify-path-exists", "x", "-h"]).success();
    assert!(one.contains("Usage: gsd-tools verify-path-exists <PATH>") && one.contains("Example:"), "{one}");
}

#[test]
fn the_version_is_ours() {
    let version = TestContext::new().gsd(["--version"]).success();
    assert_eq!(version, format!("gsd-tools {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn another_folder_must_exist() {
    let context = TestContext::new();
    context.write("deep/a.txt", "x");
    assert_eq!(context.gsd(["--cwd", "deep", "verify-path-exists", "a.txt", "--raw"]).success(), "true");
    assert!(context.gsd(["--cwd=gone", "verify-path-exists", "a.txt"]).failure(1).contains("gone"));
    assert!(context.gsd(["--project-dir", "deep", "verify-path-exists", "a"]).failure(1).contains(".planning"));
    context.write("deep/.planning/STATE.md", "");
    assert_eq!(context.gsd(["--project-dir", "deep", "verify-path-exists", "a.txt", "--raw"]).success(), "true");
}

#[test]
fn a_reader_that_goes_away_is_not_a_failure() {
    let context = TestContext::new();
    let mut child =
        context.command(binary()).arg("--help").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_agent_cannot_force_and_stays_in_its_project() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: A\n\n**Goal**: x\n");
    context.write(".planning/phases/01-a/01-01-SUMMARY.md", "x");
    context.write("sub/a.txt", "x");
    let beside = context.project().parent().unwrap().join("beside");
    std::fs::create_dir_all(beside.join(".planning")).unwrap();
    let beside = beside.to_str().unwrap();
    let agent = |arguments: &[&str]| context.gsd_with(arguments, &[("CLAUDECODE", "1")], "");
    for refused in [
        &["phase", "remove", "1", "--force"][..],
        &["--cwd", beside, "roadmap", "analyze"],
        &["roadmap", "analyze", "--project-dir", beside],
        &["check", "ui.plan-gate", "1", "--cwd", ".."],
    ] {
        let told = agent(refused).failure(77);
        assert!(told.contains("needs a person") && told.contains("CLAUDECODE is set"), "{refused:?}: {told}");
    }
    assert!(context.project().join(".planning/phases/01-a").exists());
    for allowed in [&["--cwd", "sub", "roadmap", "analyze"][..], &["roadmap", "analyze", "--project-dir", "."]] {
        assert_ne!(context.gsd_with(allowed, &[], "").code, 77, "{allowed:?}: a person may");
    }
    assert_eq!(agent(&["--cwd", "sub", "roadmap", "analyze"]).code, 0);
    for harmless in [&["init", "edit-phase", "1", "--force"][..], &["phase", "remove", "1", "--force", "--dry-run"]] {
        assert_ne!(agent(harmless).code, 77, "{harmless:?} changes nothing");
    }
    assert!(context.project().join(".planning/phases/01-a").exists());
    assert_ne!(agent(&["commit", "say --force", "--dry-run", "--", "--force"]).code, 77);
    let _ = context.gsd_with(["--cwd", beside, "roadmap", "analyze"], &[], "").json();
    let _ = context.gsd(["phase", "remove", "1", "--force"]).json();
    assert!(!context.project().join(".planning/phases/01-a").exists(), "a person may force it");
}

#[test]
fn a_pick_that_does_not_fit_the_answer_shows_what_the_answer_has() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}\n");
    let told = context.gsd(["intel", "status", "--pick", "stale"]).failure(1);
    assert!(told.starts_with("Error: cannot pick `stale`: the answer is: the code index is disabled"), "{told}");
    assert!(told.contains("hint: the answer has: disabled, message"), "{told}");
    // A single word is a code, not a reason.
    let told = context.gsd(["workstream", "set", "nope", "--pick", "set"]).failure(1);
    assert!(told.contains("the answer has no such field"), "{told}");
}

#[test]
fn a_person_gets_an_exit_code_for_each_kind_of_failure() {
    let context = TestContext::new();
    let code = |call: &str, variables: &[(&str, &str)]| context.at_a_terminal(call, variables, "").status.code();
    assert_eq!(code("nope", &[]), Some(64));
    assert_eq!(code("config-get nope --exit-contract=v1", &[]), Some(1));
    assert_eq!(code("nope", &[("CLAUDECODE", "1")]), Some(1), "an agent runs the call in a terminal");
    assert_eq!(context.gsd(["nope"]).code, 1, "a program calls");
    let page = context.gsd(["help", "exit-codes"]).success();
    assert!(
        page.contains("1   64  config_invalid_key, sdk_unknown_command") && page.contains("130  a question"),
        "{page}"
    );
}

#[test]
fn errors_and_warnings_fit_a_narrow_terminal() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{broken");
    let shown = context.at_a_terminal_of(60, "config-get mode --color never", &[], "");
    let shown = String::from_utf8(shown.stdout).unwrap().replace("\r\n", "\n");
    // A path that does not fit gets its own line.
    assert!(shown.starts_with("Error:") && shown.contains("\n  hint: "), "{shown}");
    let path = |line: &&str| line.contains('/');
    let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 60 && !path(line)).collect();
    assert_eq!(wide, [""; 0], "{shown}");
}

#[test]
fn failures_of_an_install_are_json_on_request() {
    let context = TestContext::new();
    std::fs::create_dir_all(context.home().join(".claude")).unwrap();
    std::fs::write(context.home().join(".claude/settings.json"), "{ broken").unwrap();
    let call = ["install", "--claude", "--global"];
    let text = context.gsd(call);
    assert!(text.stdout.is_empty() && text.stderr.contains("  hint: "), "{text:?}");
    let ran = context.gsd_with(call.into_iter().chain(["--json-errors"]), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (65, ""));
    let envelope: serde_json::Value = serde_json::from_str(ran.stderr.trim_end()).unwrap();
    assert!(envelope["message"].as_str().unwrap().contains("settings.json"), "{envelope}");
    assert_eq!((&envelope["ok"], envelope["hints"].as_array().unwrap().len()), (&false.into(), 1), "{envelope}");
}
