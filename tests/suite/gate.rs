//! `gate`: runs exactly the command that a person approved, reports how it ended, and runs nothing else.

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext, binary};

const NOT_APPROVED: i32 = 77;
const NO_COMMAND: i32 = 78;

fn project(config: &str) -> TestContext {
    let context = TestContext::new();
    context.write(".planning/config.json", config);
    context
}

fn with_test(command: &str) -> TestContext {
    project(&json!({"workflow": {"test_command": command}}).to_string())
}

/// Runs a gate; returns its exit code and its answer.
fn run(context: &TestContext, arguments: &[&str]) -> (i32, Value) {
    let ran: Ran = context.gsd_with(["gate", "run"].iter().chain(arguments), &[], "");
    assert!(ran.stdout.len() <= 4096, "{} bytes", ran.stdout.len());
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr)))
}

#[test]
fn an_unapproved_command_does_not_run() {
    let context = with_test("touch ran");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!(
        (code, &answer["status"], &answer["command"]),
        (NOT_APPROVED, &json!("not_approved"), &json!("touch ran"))
    );
    assert_eq!(answer["hint"], "a person has to approve it once, in a terminal: gsd-tools gate approve test");
    assert!(!context.project().join("ran").exists());
    let (code, answer) = run(&context, &["build"]);
    assert_eq!((code, &answer["status"], &answer["command"]), (NO_COMMAND, &json!("not_run"), &Value::Null));
    context.gsd(["gate", "run", "deploy"]).failure(2);
    context.gsd(["gate", "run", "test", "--timeout", "soon"]).failure(2);
    assert_eq!(run(&context, &["test", "--timeout", "0"]).0, NOT_APPROVED);
    let shown = context.gsd(["gate", "show", "test"]).json();
    assert_eq!((&shown["approved"], &shown["source"]), (&json!(false), &json!("workflow.test_command")));
    assert_eq!(context.gsd(["gate", "list"]).json().as_array().unwrap().len(), 2);
}

#[test]
fn only_a_person_approves() {
    let context = with_test("true");
    let refused = context.gsd(["gate", "approve", "test"]).failure(NOT_APPROVED);
    assert!(refused.contains("not a terminal") && refused.contains("gsd-tools gate approve test"), "{refused}");
    let refused = context.gsd_with(["gate", "approve", "test"], &[("CLAUDECODE", "1")], "y").failure(NOT_APPROVED);
    assert!(refused.contains("CLAUDECODE is set"), "{refused}");
    assert_eq!(run(&context, &["test"]).0, NOT_APPROVED);
    assert!(!context.project().join(".gsd").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn neither_the_terminal_of_an_agent_nor_a_no_counts_as_approval() {
    for (variables, keys, code, why) in [
        (&[("GEMINI_CLI", "1")][..], "y", NOT_APPROVED, "GEMINI_CLI is set"),
        (&[("CODEX_THREAD_ID", "x")], "y", NOT_APPROVED, "CODEX_THREAD_ID is set"),
        (&[], "n", 1, "not approved; nothing was changed"),
        (&[], "\n", 1, "not approved; nothing was changed"),
    ] {
        let context = with_test("true");
        let ran = context.at_a_terminal("gate approve test", variables, keys);
        let text = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(ran.status.code(), Some(code), "{text}");
        assert!(text.contains(why), "{text}");
        assert_eq!(run(&context, &["test"]).0, NOT_APPROVED);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_approved_command_runs_and_its_result_is_reported() {
    let context = with_test("echo CI=$CI; pwd; echo seen >&2; exit 0");
    context.approve("test");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!((code, &answer["status"], &answer["exit_code"]), (0, &json!("passed"), &json!(0)));
    assert_eq!(answer["tail"], format!("CI=1\n{}\nseen", context.project().display()));
    assert!(answer["seconds"].is_f64() && answer.get("hint").is_none());
    assert!(context.gsd(["gate", "show", "test"]).json()["approved_at"].is_string());

    let context = with_test("seq 1 1000; exit 3");
    context.approve("test");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!((code, &answer["status"], &answer["exit_code"]), (1, &json!("failed"), &json!(3)));
    let tail = answer["tail"].as_str().unwrap();
    assert!(tail.starts_with("961\n") && tail.ends_with("\n1000"), "{tail}");

    let context = with_test("yes \\\"\\\"\\\"\\\" | tr '\\\"' '\\001' | head -c 1000000");
    context.approve("test");
    assert_eq!(run(&context, &["test"]).0, 0, "an output that swells in JSON still fits");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_whose_time_is_up_ends_with_everything_it_started() {
    let context = with_test("echo begun; (sleep 30; touch late) & sleep 30");
    context.approve("test");
    let (code, answer) = run(&context, &["test", "--timeout", "0.5"]);
    assert_eq!((code, &answer["status"], &answer["exit_code"]), (124, &json!("timed_out"), &Value::Null));
    assert_eq!(answer["tail"], "begun");
    assert!(answer["seconds"].as_f64().unwrap() < 20.0);
}

#[cfg(target_os = "linux")]
#[test]
fn another_command_or_project_needs_its_own_approval() {
    let context = with_test("exit 0");
    context.approve("test");
    assert_eq!(run(&context, &["test"]).0, 0);
    context.gsd(["config-set", "workflow.test_command", "exit 0; touch ran"]).success();
    assert_eq!(run(&context, &["test"]).0, NOT_APPROVED);
    assert!(!context.project().join("ran").exists());
    context.gsd(["config-set", "workflow.build_command", "exit 0"]).success();
    assert_eq!(run(&context, &["build"]).0, NOT_APPROVED, "the approval is of the other gate");
    context.gsd(["config-set", "workflow.test_command", "exit 0"]).success();
    assert_eq!(run(&context, &["test"]).0, 0);
    assert_eq!(context.gsd(["gate", "revoke", "test"]).json()["approved"], false);
    assert_eq!(run(&context, &["test"]).0, NOT_APPROVED);
}

#[cfg(target_os = "linux")]
#[test]
fn a_project_without_a_manifest_has_a_gate() {
    let context = project("{}");
    let form = "| Property | Value |\n|---|---|\n| Full command | `echo from the plan` |\n";
    context.write(".planning/phases/01-a/01-VALIDATION.md", form);
    let shown = context.gsd(["gate", "show", "test"]).json();
    assert_eq!((&shown["command"], &shown["source"]), (&json!("echo from the plan"), &json!("01-VALIDATION.md")));
    let ran = context.at_a_terminal("gate approve test 'echo by hand'", &[], "y");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    let (code, answer) = run(&context, &["test", "--phase", ".planning/phases/01-a"]);
    assert_eq!((code, &answer["tail"], &answer["source"]), (0, &json!("by hand"), &json!("approved")));
    context.gsd(["config-set", "workflow.test_command", "exit 0"]).success();
    let ran = context.at_a_terminal("gate approve test 'echo other'", &[], "y");
    assert!(
        String::from_utf8_lossy(&ran.stdout).contains("takes precedence"),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_watches_is_approved_as_it_will_run() {
    let context = project("{}");
    context.write("package.json", r#"{"scripts": {"test": "vitest", "other": "vitest"}}"#);
    for (typed, runs) in [("'npm test'", "CI=true npm test"), ("'npm run other'", "CI=true npm run other")] {
        let ran = context.at_a_terminal(&format!("gate approve test {typed}"), &[], "y");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && text.contains(&format!("    {runs}")), "{text}");
        let shown = context.gsd(["gate", "show", "test"]).json();
        assert_eq!((&shown["approved"], &shown["command"]), (&json!(true), &json!(runs)));
        assert_ne!(run(&context, &["test"]).0, NOT_APPROVED);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn approvals_are_stored_outside_the_project_and_apply_in_its_worktrees() {
    let context = with_test("pwd");
    let git = |arguments: &[&str]| {
        let ran = context.command("git").args(arguments).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "x"]);
    context.approve("test");
    assert_eq!(git(&["status", "--porcelain"]), "");
    let beside = context.project().parent().unwrap().join("beside");
    git(&["worktree", "add", "-q", beside.to_str().unwrap()]);
    let ran = context.command(binary()).current_dir(&beside).args(["gate", "run", "test"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&answer["status"], &answer["tail"]), (&json!("passed"), &json!(beside.to_str().unwrap())));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_whose_runner_is_not_installed_is_not_run() {
    let context = with_test("gsd-no-such-runner --all");
    context.approve("test");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!((code, &answer["status"], &answer["exit_code"]), (NO_COMMAND, &json!("not_run"), &json!(127)));
    assert_eq!(answer["missing"], "gsd-no-such-runner");
    let hint = answer["hint"].as_str().unwrap();
    assert!(
        hint.contains("install `gsd-no-such-runner`") && hint.contains("config-set workflow.test_command"),
        "{hint}"
    );
    let context =
        with_test("echo \"E   ModuleNotFoundError: No module named 'requests'\"; echo '1 error in 0.1s'; exit 2");
    context.approve("test");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!((code, &answer["status"], answer.get("missing")), (1, &json!("failed"), None), "{answer}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_gate_that_names_only_planning_files_says_so() {
    let context = project("{}");
    context.write("src/a.js", "");
    context.write("fail.sh", "echo '[warn] .planning/config.json'; for name; do echo \"[warn] $name\"; done; exit 1\n");
    let package = |script: &str| json!({"scripts": {"lint": "prettier --check .", "test": script}}).to_string();
    context.write("package.json", &package("x"));
    context.gsd(["config-set", "workflow.test_command", "sh fail.sh"]).success();
    context.approve("test");
    let (code, answer) = run(&context, &["test"]);
    assert_eq!((code, &answer["only_planning"]), (1, &json!([".planning/config.json"])), "{answer}");
    let hint = answer["hint"].as_str().unwrap();
    assert!(hint.contains("`.planning/`") && hint.contains("`.prettierignore`"), "{hint}");
    let new = context.gsd(["init", "new-project"]).json();
    assert_eq!(new["planning_checks"][0]["ignore_file"], ".prettierignore");
    assert_eq!(new["test_command"], "sh fail.sh");
    context.gsd(["config-set", "workflow.test_command", "sh fail.sh src/a.js"]).success();
    context.approve("test");
    let (_, answer) = run(&context, &["test"]);
    assert_eq!((answer.get("only_planning"), answer.get("hint")), (None, None), "{answer}");
}
