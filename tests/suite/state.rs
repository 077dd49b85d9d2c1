//! STATE.md through the binary: every verb is wired, fails as it should, and keeps the rest of the file.

use crate::kit::{Ran, TestContext, repository};

/// The files of a fixture project, in its own repository.
fn project(name: &str) -> TestContext {
    let context = TestContext::new();
    let from = repository().join("tests/projects").join(name);
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&from).unwrap().to_string_lossy().replace('\\', "/");
            context.write(&path, &std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    context
}

const STATE: &str = ".planning/STATE.md";

/// Runs at a fixed time in a named session.
fn run<const N: usize>(context: &TestContext, arguments: [&str; N]) -> Ran {
    let environment = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", "tests")];
    context.gsd_with(arguments, &environment, "")
}

#[test]
fn state_without_a_subcommand_loads() {
    let context = project("garden");
    let loaded = run(&context, ["state"]).json();
    assert_eq!(loaded, run(&context, ["state", "load"]).json());
    assert_eq!(loaded["state_exists"], true);
    assert_eq!(loaded["config_exists"], false);
    assert_eq!(loaded["state_raw"], context.read(STATE));
    let lines = run(&context, ["state", "load", "--raw"]).success();
    assert!(lines.starts_with("model_profile=balanced\ncommit_docs=true\n") && lines.ends_with("\nstate_exists=true"));
    assert_eq!(lines.lines().count(), 12);
}

#[test]
fn the_index_and_single_values_are_read() {
    let context = project("garden");
    let index = run(&context, ["state", "json"]).json();
    assert_eq!((&index["current_phase"], &index["current_phase_name"]), (&"2".into(), &"Gießen 💧".into()));
    assert_eq!(index["progress"]["percent"], 33);
    assert_eq!(run(&context, ["state", "get", "Status", "--raw"]).success(), "executing");
    assert_eq!(run(&context, ["state", "get", "milestone_name", "--raw"]).success(), "Früchte");
    assert_eq!(run(&context, ["state", "get", "owner", "--raw"]).success(), "Zoë: gardener");
    assert!(run(&context, ["state", "get", "Accumulated Context"]).success().contains("Schläuche"));
    assert!(run(&context, ["state", "get", "Nope"]).json()["error"].is_string());
    assert!(run(&context, ["state", "get", "a", "b"]).failure(1).contains("`b`"));
    let snapshot = run(&context, ["state-snapshot"]).json();
    let told = (&snapshot["progress_percent"], &snapshot["session"]["stopped_at"]);
    assert_eq!(told, (&serde_json::Value::Null, &"Completed 02-01-PLAN.md".into()), "a bar is no number");
    let text = context.read(STATE);
    let bar = text.lines().find(|line| line.starts_with("Progress:")).unwrap();
    context.write(STATE, &text.replace(bar, "Progress: 33% of it"));
    assert_eq!(run(&context, ["state-snapshot"]).json()["progress_percent"], 33);
    // Without an index the words are the person's.
    context.write(STATE, "# S\n\nStatus: In progress\n");
    assert_eq!(run(&context, ["state", "get", "Status", "--raw"]).success(), "In progress");
    assert_eq!(run(&context, ["state-snapshot", "--pick", "status"]).success(), "In progress");
    context.write(STATE, "# S\n");
    assert!(run(&context, ["state", "get", "Status"]).json()["error"].is_string());
}

#[test]
fn one_verb_after_another_keeps_the_state_consistent() {
    let context = project("garden");
    let begun = run(&context, ["state", "begin-phase", "--phase", "2", "--name", "Gießen 💧", "--plans", "2"]).json();
    assert_eq!(begun["milestone_conflict"], serde_json::Value::Null);
    let claim: serde_json::Value = serde_json::from_str(&context.claims()[0]).unwrap();
    assert_eq!((&claim["phase"], &claim["session"]), (&"2".into(), &"gsd-session-key-tests".into()));
    assert!(context.read(STATE).contains("\nPlan: 2 of 2\n"), "the first plan has its summary");
    let left = run(&context, ["state", "advance-plan"]).json();
    assert_eq!(
        (&left["reason"], &left["outstanding_plans"][0]),
        (&"plans_outstanding".into(), &"02-02-PLAN.md".into())
    );
    context.write(".planning/phases/02-gießen/02-02-SUMMARY.md", "---\nstatus: complete\n---\n");
    assert_eq!(run(&context, ["state", "advance-plan", "--pick", "status"]).success(), "ready_for_verification");
    assert_eq!(run(&context, ["state", "json", "--pick", "status"]).success(), "verifying");
    assert_eq!(run(&context, ["state", "update-progress", "--raw"]).success(), "[███░░░░░░░] 33%");
    assert_eq!(run(&context, ["state", "complete-phase", "2", "--pick", "phase"]).success(), "2");
    assert_eq!(run(&context, ["state", "planned-phase", "--phase", "3", "--name", "Ernte", "--raw"]).success(), "true");
    let text = context.read(STATE);
    assert!(
        text.contains("\nPhase: 3 of 3 (Ernte) — READY TO EXECUTE\n") && text.contains("current_phase: 3\n"),
        "{text}"
    );
    let mirror: serde_json::Value = serde_json::from_str(&context.read(".planning/state.json")).unwrap();
    assert_eq!(mirror["next"]["reason"], "Phase 3 of 3 · 33% · executing");
    assert_eq!(mirror["phases"][1]["name"], "Gießen 💧");
}

#[test]
fn another_session_gets_a_warning_about_the_claim() {
    let context = project("garden");
    let _ = run(&context, ["state", "begin-phase", "--phase", "2"]).success();
    let environment = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000001"), ("CLAUDE_SESSION_ID", "B")];
    let begun = context.gsd_with(["state", "begin-phase", "--phase", "3"], &environment, "");
    assert!(begun.stderr.contains("warning: ") && begun.stderr.contains("gsd-session-key-tests"), "{}", begun.stderr);
    let conflict = &begun.json()["milestone_conflict"];
    assert_eq!((&conflict["locked_phase"], &conflict["session"]), (&"2".into(), &"claude-session-id-B".into()));
}

#[test]
fn notes_are_added_and_removed() {
    let context = project("garden");
    context.write("why.txt", "Luft\nund Licht\n");
    let added = run(&context, ["state", "add-decision", "--summary", "- Hügel", "--rationale-file", "why.txt"]).json();
    assert_eq!(added["decision"], "- [Phase 2]: - Hügel — Luft und Licht");
    assert_eq!(run(&context, ["state", "add-blocker", "--text", "Wespen", "--raw"]).success(), "true");
    assert_eq!(run(&context, ["state", "resolve-blocker", "--text", "FROST", "--raw"]).success(), "true");
    assert_eq!(run(&context, ["state", "resolve-blocker", "--text", "zzz", "--raw"]).success(), "false");
    let metric =
        ["state", "record-metric", "--phase", "2", "--plan", "1", "--duration", "5min", "--tasks", "3", "--files", "4"];
    assert_eq!(run(&context, metric).json()["recorded"], true);
    let session = ["state", "record-session", "--stopped-at", "Mitte", "--resume-file", "a.md", "--raw"];
    assert_eq!(run(&context, session).success(), "true");
    let text = context.read(STATE);
    for line in [
        "- [Phase 2]: - Hügel — Luft und Licht",
        "- Wespen",
        "| Phase 2 P1 | 5min | 3 tasks | 4 files |",
        "Last session: 2026-01-15T18:00:00.000Z",
        "Stopped at: Mitte",
        "Resume file: a.md",
        "stopped_at: Mitte",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    assert!(!text.contains("Frost"), "{text}");
}

#[test]
fn a_missing_argument_is_an_answer_or_a_usage_error() {
    let context = project("garden");
    for (arguments, error) in [
        (["state", "add-decision"], "summary required"),
        (["state", "add-blocker"], "text required"),
        (["state", "resolve-blocker"], "text required"),
        (["state", "record-metric"], "`state record-metric` needs --phase, --plan and --duration"),
    ] {
        assert_eq!(run(&context, arguments).json()["error"], error);
    }
    for arguments in [
        ["state", "begin-phase"],
        ["state", "planned-phase"],
        ["state", "update"],
        ["state", "patch"],
        ["state", "record-session"],
        ["state", "zzz"],
    ] {
        assert!(!run(&context, arguments).failure(1).is_empty());
    }
    let before = context.read(STATE);
    assert!(!run(&context, ["state", "record-session", "--stopped-at", ""]).failure(1).is_empty());
    assert_eq!(context.read(STATE), before);
    assert!(run(&context, ["state", "patch", "--Status"]).failure(1).contains("--Status"));
    assert!(run(&context, ["state", "patch", "[1]"]).failure(1).contains("field"));
}

#[test]
fn fields_are_patched_as_flags_and_as_json() {
    let context = project("garden");
    let flags =
        run(&context, ["state", "patch", "--Status", "Paused", "--Nope", "x", "--Last activity", "2026-02-01 — y"])
            .json();
    assert_eq!(flags["updated"][0], "Status");
    assert_eq!(flags["failed"], serde_json::json!(["Nope"]));
    run(&context, ["state", "patch", "--Core value", "first", "--Core value", "last"]).success();
    assert!(context.read(STATE).contains("**Core value:** last"));
    let object = run(&context, ["state", "patch", r#"{"Resume file": "b.md", "owner": "Ada"}"#]).json();
    assert_eq!(object["failed"], serde_json::json!([]));
    let text = context.read(STATE);
    assert!(
        text.contains(
            "
Resume file: b.md"
        ) && text.contains(
            "
owner: Ada
"
        ),
        "{text}"
    );
    assert!(
        text.contains("\nstatus: paused # set by hand\n") && text.contains("\nlast_activity: 2026-02-01\n"),
        "{text}"
    );
}

#[test]
fn a_missing_state_is_reported() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# P\n");
    assert!(run(&context, ["state", "get"]).failure(1).contains("STATE.md not found"));
    for verb in ["json", "advance-plan", "update-progress"] {
        assert_eq!(run(&context, ["state", verb]).json()["error"], "STATE.md not found", "{verb}");
    }
    assert_eq!(run(&context, ["state", "begin-phase", "--phase", "1"]).json()["error"], "STATE.md not found");
    assert_eq!(run(&context, ["state", "update", "Status", "x"]).json()["updated"], false);
    assert_eq!(run(&context, ["state", "json", "--raw"]).success(), "STATE.md not found");
    assert_eq!(run(&context, ["state", "patch", "--Status", "x"]).json()["failed"], serde_json::json!(["Status"]));
    assert_eq!(run(&context, ["state", "patch", "--Status", "x", "--raw"]).success(), "false");
    // Reported before other missing things, and never as a bare word.
    for verb in ["add-decision", "add-blocker", "resolve-blocker", "record-metric", "add-roadmap-evolution"] {
        let told = run(&context, ["state", verb, "--raw"]).json();
        assert_eq!(told["error"], "STATE.md not found", "{verb}");
    }
    let strict = run(&context, ["state", "validate", "--strict"]);
    assert_eq!(strict.code, 1);
    assert_eq!(run(&context, ["state-snapshot"]).json()["error"], "STATE.md not found");
    assert!(!context.project().join(".planning/STATE.md").exists());
    assert_eq!(context.claims(), [""; 0]);
}

#[test]
fn a_folder_without_a_project_does_not_become_one() {
    let context = TestContext::new();
    for arguments in [["state", "milestone-switch", "--milestone", "v2.0"], ["state", "patch", "--Status", "x"]] {
        let told = run(&context, arguments).failure(1);
        assert!(told.contains("new-project"), "{told}");
        assert!(!context.project().join(".planning").exists());
    }
    context.write(".planning/PROJECT.md", "# P\n");
    assert_eq!(run(&context, ["state", "milestone-switch", "--milestone", "v2.0", "--raw"]).success(), "true");
    assert!(context.read(STATE).contains("milestone: v2.0"));
    // The roadmap is checked before anything is written.
    context.write(".planning/ROADMAP.md", "# R\n\n## ✅ v1.0 A\n\n- [x] **Phase 1: A**\n\n## v2.1 B\n");
    assert_eq!(run(&context, ["state", "milestone-switch", "--milestone", "v2.1", "--raw"]).success(), "true");
    assert!(run(&context, ["state", "milestone-switch", "--milestone", "v1.0"]).failure(1).contains("shipped already"));
    assert!(context.read(STATE).contains("milestone: v2.1"));
}

#[test]
fn a_broken_state_is_read_but_not_written_to() {
    let context = project("garden");
    let broken = context.read(STATE).replacen("\n---\n", "\n", 1);
    context.write(STATE, &broken);
    assert_eq!(run(&context, ["state", "json", "--pick", "current_phase_name"]).success(), "Gießen 💧");
    assert_eq!(run(&context, ["state-snapshot", "--pick", "current_phase"]).success(), "2");
    let told = run(&context, ["state", "update", "Status", "Paused"]).failure(1);
    assert!(told.contains(STATE) && told.contains("line 1"), "{told}");
    assert!(!run(&context, ["state", "begin-phase", "--phase", "3"]).failure(1).is_empty());
    assert_eq!(context.read(STATE), broken);
}

#[test]
fn smart_entry_answers_in_two_lines_or_in_json() {
    let context = project("garden");
    let told = run(&context, ["smart-entry"]).success();
    assert_eq!(told, "Phase 2 of 3 · 33% · executing\nRecommended: progress-next → /gsd-progress --next");
    let entry = run(&context, ["smart-entry", "--json"]).json();
    assert_eq!((&entry["situation"], &entry["signals"]["has_git"]), (&"executing".into(), &false.into()));
    assert_eq!(run(&TestContext::new(), ["smart-entry", "--json", "--pick", "situation"]).success(), "no-project");
}

#[test]
fn upkeep_is_wired_and_a_call_that_only_looks_writes_nothing() {
    let context = project("garden");
    let before = context.read(STATE);
    run(&context, ["state", "sync", "--verify"]).json();
    run(&context, ["state", "prune", "--keep-recent", "1", "--dry-run"]).json();
    run(&context, ["state", "rebuild", "--dry-run", "--verbose"]).json();
    run(&context, ["state", "validate"]).json();
    assert_eq!(context.read(STATE), before);
    assert!(run(&context, ["state", "prune", "--keep-recent", "x"]).failure(1).contains("--keep-recent"));
    assert_eq!(run(&context, ["state", "milestone-switch"]).json()["error"], "milestone required (--milestone <vX.Y>)");
    assert_eq!(context.read(STATE), before);
    let waiting = [".planning/WAITING.json", "state", "signal-waiting"];
    assert_eq!(run(&context, [waiting[1], waiting[2], "--options", "A|B", "--raw"]).success(), "true");
    assert!(context.read(waiting[0]).contains("\"B\""));
    assert_eq!(run(&context, ["state", "signal-resume", "--raw"]).success(), "true");
    assert_eq!(run(&context, ["state", "signal-resume"]).json()["removed"], false);
}

#[test]
fn strict_validation_fails_on_any_mismatch() {
    let context = project("garden");
    context.write(STATE, "# Project State\n\nPhase: 77\n");
    assert_eq!(run(&context, ["state", "validate"]).json()["valid"], false);
    assert_eq!(run(&context, ["state", "validate", "--strict"]).code, 1);
}

/// A milestone whose two phases were closed, and a phase that was inserted afterwards.
fn with_an_inserted_phase() -> TestContext {
    let context = TestContext::new();
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [x] **Phase 1: A** (completed 2026-01-02)\n- [ ] **Phase 2: B**\n\n### Phase 1: A\n**Goal**: g\n\n### Phase 2: B\n**Goal**: g\n",
    );
    context.write(
        ".planning/STATE.md",
        "---\nstatus: executing\ncurrent_phase: 2\n---\n\n# Project State\n\n## Current Position\n\nPhase: 2 of 2 (B) — EXECUTING\nPlan: 1 of 1\nStatus: Executing Phase 2\n",
    );
    for (folder, phase) in [("01-a", "01"), ("02-b", "02")] {
        context.write(&format!(".planning/phases/{folder}/{phase}-01-PLAN.md"), "---\n---\n");
        context.write(&format!(".planning/phases/{folder}/{phase}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
        context.write(&format!(".planning/phases/{folder}/{phase}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    }
    context.gsd(["phase", "complete", "2"]).success();
    assert!(context.read(".planning/STATE.md").contains("All phases complete"));
    context.gsd(["phase", "insert", "2", "Hot fix"]).success();
    assert!(context.read(".planning/STATE.md").contains("Phase: 2.1"), "{}", context.read(".planning/STATE.md"));
    context
}

#[test]
fn no_removed_phase_keeps_the_position() {
    let context = with_an_inserted_phase();
    context.gsd(["phase", "remove", "2.1"]).success();
    let state = context.read(".planning/STATE.md");
    assert!(!state.contains("2.1 of") && state.contains("Phase: 2 of 2 (B) — COMPLETE"), "{state}");
    assert!(state.contains("Status: All phases complete"), "{state}");
    let entry = context.gsd(["smart-entry", "--json"]).success();
    assert!(!entry.contains("2.1") && entry.contains("complete-milestone"), "{entry}");
}

#[test]
fn a_position_whose_phase_was_removed_is_found_again() {
    for call in [&["state", "sync"][..], &["state", "rebuild"]] {
        let context = with_an_inserted_phase();
        let roadmap = context.read(".planning/ROADMAP.md");
        let kept: Vec<&str> = roadmap.lines().filter(|line| !line.contains("2.1")).collect();
        context.write(".planning/ROADMAP.md", &(kept.join("\n") + "\n"));
        let folders = std::fs::read_dir(context.project().join(".planning/phases")).unwrap().flatten();
        for folder in folders.filter(|folder| folder.file_name().to_string_lossy().starts_with("02.1")) {
            std::fs::remove_dir_all(folder.path()).unwrap();
        }
        context.gsd_with(call, &[], "").success();
        let state = context.read(".planning/STATE.md");
        assert!(state.contains("Phase: 2 of 2 (B) — COMPLETE"), "{call:?}: {state}");
    }
}
