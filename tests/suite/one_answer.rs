//! Facts that several views show: each view gives the same one.

use std::fs;

use crate::answers::project;
use crate::kit::TestContext;

/// What a person sees at a terminal without colours.
fn seen(context: &TestContext, call: &str) -> String {
    let output = context.at_a_terminal_of(120, call, &[("NO_COLOR", "1")], "");
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

/// The exit code of a person's call.
fn code(context: &TestContext, call: &str) -> i32 {
    context.at_a_terminal_of(120, call, &[("NO_COLOR", "1")], "").status.code().unwrap()
}

/// The command behind `Next`.
fn next(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("Next")).map_or("", str::trim)
}

/// The next command of the dashboard, after a look that the other views name the same.
fn agreed(context: &TestContext) -> String {
    let dashboard = seen(context, "");
    let shown = next(&dashboard).to_owned();
    assert_eq!(next(&seen(context, "smart-entry")), shown, "{dashboard}");
    let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "Status", "cwd": context.project(),
        "workspace": { "current_dir": context.project(), "project_dir": context.project() } });
    let line = context.gsd_with(["hook", "standard", "status-line"], &[("NO_COLOR", "1")], &payload.to_string());
    let line = line.success();
    assert!(line.contains(&format!("→ {shown} ")), "{line} against {dashboard}");
    shown
}

#[test]
fn every_view_names_one_next_command() {
    assert_eq!(agreed(&project("clinic")), "/gsd-verify-work 1");
    assert_eq!(agreed(&project("ledger")), "/gsd-execute-phase 1");
    let notes = project("notes");
    assert_eq!(agreed(&notes), "/gsd-verify-work 2", "its acceptance test is begun");
    assert!(seen(&notes, "").contains("The acceptance test of phase 2 (Core) is not finished: 1 test"));
    fs::remove_file(notes.project().join(".planning/STATE.md")).unwrap();
    assert_eq!(agreed(&notes), "gsd-tools state rebuild");
    fs::remove_file(notes.project().join(".planning/ROADMAP.md")).unwrap();
    assert_eq!(agreed(&notes), "/gsd-new-project");
    let empty = TestContext::new();
    empty.write(".planning/config.json", "{}");
    assert_eq!(agreed(&empty), "/gsd-new-project");
    assert!(empty.gsd(["smart-entry"]).success().contains("/gsd-new-project"), "an agent learns the same");
}

#[test]
fn work_that_a_session_handed_on_is_seen_by_every_view() {
    for (file, text) in [
        (".planning/HANDOFF.json", "{\"next_action\": \"Write the second test\"}"),
        (".planning/phases/02-writing-notes/.continue-here.md", "# Here\n"),
    ] {
        let context = project("pocket");
        context.write(file, text);
        agreed(&context);
        let page = seen(&context, "");
        assert!(page.contains("Work is paused"), "{page}");
        let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "E", "cwd": context.project() });
        let note = context.gsd_with(["hook", "standard", "session-start"], &[], &payload.to_string()).success();
        assert!(note.contains("Paused: `") && note.contains(file), "{note}");
    }
}

#[test]
fn a_verified_phase_counts_once_it_is_closed() {
    let context = project("pocket");
    let folder = ".planning/phases/02-writing-notes/02";
    context.write(&format!("{folder}-01-PLAN.md"), "---\nphase: 02-writing-notes\nwave: 1\n---\n");
    context.write(&format!("{folder}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
    context.write(&format!("{folder}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    let page = seen(&context, "");
    assert!(page.contains("verified, not closed yet") && page.contains("1/3 phases") && page.contains("33%"), "{page}");
    assert!(seen(&context, "phase complete 2").starts_with("Phase 2 (Writing Notes) is complete\n"));
    assert!(seen(&context, "phase complete 2").contains("nothing changed"));
    assert!(seen(&context, "").contains("2/3 phases"));
}

#[test]
fn a_completed_milestone_is_complete_in_every_view() {
    let context = project("pocket");
    for (phase, folder) in [("2", "02-writing-notes/02"), ("3", "03-sync/03")] {
        let folder = format!(".planning/phases/{folder}");
        context.write(&format!("{folder}-01-PLAN.md"), "---\nwave: 1\n---\n");
        context.write(&format!("{folder}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
        context.write(&format!("{folder}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
        context.gsd(["phase", "complete", phase]).success();
    }
    assert!(seen(&context, "").contains("All phases are complete: complete milestone v1.0"));
    context.gsd(["milestone", "complete", "v1.0", "--confirm"]).success();
    let roadmap = context.read(".planning/ROADMAP.md");
    assert!(!roadmap.to_lowercase().contains("in progress") && roadmap.contains("✅ v1.0 First light"), "{roadmap}");
    agreed(&context);
    assert!(seen(&context, "").contains("Milestone v1.0 is complete and archived"));
}

#[test]
fn open_tests_are_counted_once() {
    let context = project("workshop");
    assert!(seen(&context, "").contains("1 open test · 1 deferred item"));
    assert!(seen(&context, "audit-uat").starts_with("1 open test, 1 deferred item\n"));
    let clinic = project("clinic");
    let page = seen(&clinic, "audit-uat");
    assert!(page.starts_with("2 open tests\n") && page.contains("○  Open the list"), "{page}");
    assert!(!page.contains("test: ") && seen(&clinic, "").contains("2 open tests"), "{page}");
}

#[test]
fn a_phase_has_one_mark_in_every_view() {
    for name in ["clinic", "workshop", "pocket", "notes", "garden"] {
        let context = project(name);
        let marks = |call: &str| -> String {
            let page = seen(&context, call);
            page.lines()
                .filter_map(|line| line.trim_start().chars().next())
                .filter(|sign| "✓▸○".contains(*sign))
                .collect()
        };
        let shown = marks("");
        assert!(!shown.is_empty());
        for call in ["stats", "progress", "roadmap analyze"] {
            assert_eq!(marks(call), shown, "{name}: {call}");
        }
    }
}

#[test]
fn a_person_gets_plain_lines_where_a_program_gets_json() {
    let context = project("pocket");
    for (call, said) in [
        ("config-set mode yolo", "mode is now yolo\n"),
        ("config-get mode", "yolo\n"),
        ("config-get granularity", "standard"),
        ("state update \"Stopped at\" Here", "Stopped at is now Here\n"),
        ("state validate", "STATE.md"),
        ("state rebuild", "STATE.md"),
        ("roadmap validate", "ROADMAP.md"),
        ("gate list", "build"),
        ("workstream list", "This project has no workstreams\n"),
        ("recover", "nothing to recover"),
        ("phase add Search", "Added phase 04: Search\n"),
    ] {
        let page = seen(&context, call);
        assert!(page.contains(said) && !page.contains('{'), "`{call}`: {page}");
    }
    assert!(context.gsd(["workstream", "list"]).success().starts_with('{'));
    assert_eq!(code(&context, "state rebuild --dry-run"), 0, "a rehearsal is no failure");
}

#[test]
fn a_person_without_a_project_gets_one_message() {
    let context = TestContext::new();
    for call in
        ["phase add x", "state update Status x", "todo complete x", "config list", "config-get mode", "workstream list"]
    {
        let told = seen(&context, call);
        assert!(told.contains("Error: there is no project in `") && told.contains("hint:"), "`{call}`: {told}");
        assert_eq!(code(&context, call), 64, "{call}");
    }
}

#[test]
fn a_roadmap_that_is_missing_or_none_is_refused() {
    let context = project("pocket");
    context.write(".planning/ROADMAP.md", "\njust words\n");
    let told = context.gsd(["phase", "add", "Search"]).failure(1);
    assert!(told.contains(".planning/ROADMAP.md`, line 2") && told.contains("hint:"), "{told}");
    fs::remove_file(context.project().join(".planning/ROADMAP.md")).unwrap();
    let state = context.read(".planning/STATE.md");
    assert!(context.gsd(["phase", "complete", "1"]).failure(1).contains("there is no `.planning/ROADMAP.md`"));
    assert_eq!(context.read(".planning/STATE.md"), state);
}

#[test]
fn an_area_without_todos_is_named_with_those_that_have_some() {
    let page = seen(&project("workshop"), "list-todos nope");
    assert!(page.contains("the area `nope`; the areas are code, ui"), "{page}");
}

#[test]
fn a_repair_is_told_in_words_of_a_person() {
    let context = project("pocket");
    context.write(".planning/config.json", "{ broken");
    let page = seen(&context, "validate health --repair");
    assert!(page.contains("config.json was not changed") && !page.contains("resetConfig"), "{page}");
    assert_eq!(code(&context, "validate health --repair"), 1);
}
