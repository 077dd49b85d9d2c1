//! What small commands answer about a project under way: one fact each, from a committed copy of a fixture.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::{TestContext, repository};

/// A repository with a committed copy of one of `tests/projects`.
pub(crate) fn project(name: &str) -> TestContext {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap().path();
            let to = to.join(entry.file_name().unwrap());
            if entry.is_dir() { copy(&entry, &to) } else { std::fs::copy(&entry, to).map(drop).unwrap() }
        }
    }
    let context = TestContext::new();
    copy(&repository().join("tests/projects").join(name), &context.project());
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"]] {
        assert!(context.command("git").args(arguments).status().unwrap().success());
    }
    context
}

/// Runs each call and checks one place of its answer.
fn hold<const N: usize>(context: &TestContext, facts: [(&str, &str, Value); N]) {
    for (call, place, fact) in facts {
        let answer = context.gsd_with(call.split(' '), &[], "").json();
        assert_eq!(answer.pointer(place), Some(&fact), "`{place}` of `{call}` in {answer:#}");
    }
}

#[test]
fn questions_about_phases_are_answered_from_folders_and_roadmap() {
    let garden = project("garden");
    let facts = [
        ("find-phase 2", "/plans", json!(["02-01-PLAN.md", "02-02-PLAN.md"])),
        ("find-phase 7", "/found", json!(false)),
        ("phases list", "/directories", json!(["01-beete", "02-gießen", "03-ernte"])),
        ("phase mvp-mode 1", "/active", json!(false)),
        ("phase next-decimal 2", "/next", json!("02.1")),
        ("roadmap get-phase 1", "/goal", json!("soil")),
        ("roadmap milestone-scope", "/phases", json!(["1", "2", "3"])),
        ("stats", "/phases/1/status", json!("In Progress")),
        ("history-digest", "/phases/x/name", json!("beete")),
        ("workstream progress", "/mode", json!("flat")),
        ("planning inspect", "/phases/0/goal/value", json!("soil")),
    ];
    hold(&garden, facts);
}

#[test]
fn checks_report_what_they_found() {
    let pocket = project("pocket");
    let folder = ".planning/phases/02-writing-notes";
    let honoured = format!("check decision-coverage-verify {folder} {folder}/02-CONTEXT.md");
    let facts = [
        (honoured.as_str(), "/skipped", json!(true)),
        ("check verify-context-drift 2", "/block", json!(false)),
        ("check verify-schema-drift 2", "/drift_detected", json!(false)),
        ("verify context-drift 1", "/stale_artifacts", json!([])),
        ("verify schema-drift 1", "/schema_files", json!([])),
        ("drift-guard phase-status", "/verdict", json!("consistent")),
        ("drift-guard phase-status --phase 1", "/roadmapStatus", json!("Complete")),
        ("validate agents", "/agents_found", json!(false)),
        ("user-story validate --story x", "/valid", json!(false)),
        ("agent classify-failure --text quota", "/class", json!("quota-exceeded")),
        ("resolve-dispatch-type --requested x --json", "/requested", json!("x")),
        ("runtime-identity", "/version", json!(env!("CARGO_PKG_VERSION"))),
    ];
    hold(&pocket, facts);
    let file = pocket.gsd(["verification", "resolve-file", ".planning/phases/01-storage"]).json();
    let file = file["verification_file"].as_str().unwrap();
    assert_eq!(Path::new(file), pocket.project().join(".planning/phases/01-storage/01-VERIFICATION.md"));
}

#[test]
fn workflows_get_the_facts_they_start_from() {
    let pocket = project("pocket");
    let facts = [
        ("init code-review 1", "/phase_name", json!("storage")),
        ("init complete-milestone", "/git_create_tag", json!(true)),
        ("init debug", "/diagnose", json!(false)),
        ("init debug --diagnose", "/diagnose", json!(true)),
        ("init discuss-phase-assumptions 2", "/has_context", json!(true)),
        ("init ingest-docs", "/has_git", json!(true)),
        ("init map-codebase", "/existing_maps", json!([])),
        ("init milestone-op", "/completed_phases", json!(1)),
        ("init new-milestone", "/current_milestone", json!("v1.0")),
        ("init quick-batch", "/roadmap_exists", json!(true)),
        ("init resume", "/has_interrupted_agent", json!(false)),
        ("init review 1", "/padded_phase", json!("01")),
        ("init todos", "/todo_count", json!(0)),
        ("init transition", "/other_active_workstreams", json!([])),
    ];
    hold(&pocket, facts);
}

#[test]
fn bare_answers_end_as_a_shell_expects() {
    let pocket = project("pocket");
    let file = pocket.project().join(".planning/config.json");
    assert_eq!(pocket.gsd(["config-path"]).success().trim_end(), file.to_str().unwrap());
    assert_eq!(pocket.gsd(["generate-slug", "Hello, World!", "--raw"]).success(), "hello-world");
    let day = pocket.gsd(["current-timestamp", "date", "--raw"]).success();
    assert!(day.len() == 10 && day.starts_with("20"), "{day}");
}

#[test]
fn a_worktree_is_noted_in_the_manifest_of_its_wave() {
    let pocket = project("pocket");
    let base = pocket.command("git").args(["rev-parse", "HEAD"]).output().unwrap().stdout;
    let base = String::from_utf8(base).unwrap();
    let place = pocket.project().join("../a1");
    let (place, base) = (place.to_str().unwrap(), base.trim());
    let call = ["worktree", "record-agent", "--manifest", "wave.json", "--agent-id", "a1", "--path", place];
    let call = call.into_iter().chain(["--branch", "agent-a1", "--base", base]).collect::<Vec<_>>();
    pocket.write("wave.json", r#"{"worktrees":[]}"#);
    let noted = pocket.gsd_with(&call, &[], "").json();
    assert_eq!((&noted["ok"], &noted["entry"]["branch"]), (&json!(true), &json!("agent-a1")));
    assert!(pocket.read("wave.json").contains("agent-a1"));
}

#[test]
fn the_schema_of_a_command_is_printed_and_an_unknown_command_is_reported() {
    let context = TestContext::new();
    let schema = context.gsd(["schema", "phase", "add"]).json();
    assert_eq!(schema["title"], "gsd-tools phase add");
    assert_eq!(schema["properties"]["changed"]["items"]["$ref"], "#/$defs/ChangedField");
    assert!(context.gsd(["schema", "phase"]).failure(1).contains("next-decimal"));
    assert!(context.gsd(["schema", "phse", "add"]).failure(1).contains("phase add"));
}
