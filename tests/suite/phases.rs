//! Removing phases with the binary: files of any kind move with all their bytes, or nothing moves.

use std::path::Path;

use crate::kit::TestContext;

const ROADMAP: &str = ".planning/ROADMAP.md";

/// Two phases; the second has a file that is not text.
fn project() -> TestContext {
    let context = TestContext::new();
    context.write(ROADMAP, "# R\r\n\r\n### Phase 1: A\r\n\r\n### Phase 2: B\r\n**Depends on**: Phase 1  \r\n");
    context.write(".planning/phases/01-a/01-01-PLAN.md", "one");
    context.write(".planning/phases/02-b/02-01-PLAN.md", "two");
    bytes(&context, ".planning/phases/02-b/shots/view.png", b"\x89PNG\r\n\0\xff");
    context
}

fn bytes(context: &TestContext, path: &str, bytes: &[u8]) {
    context.write(path, "");
    std::fs::write(context.project().join(path), bytes).unwrap();
}

fn there(context: &TestContext, path: &str) -> bool {
    Path::new(&context.project()).join(path).exists()
}

#[test]
fn removing_a_phase_moves_the_later_phases_with_all_their_bytes() {
    let context = project();
    let report = context.gsd(["phase", "remove", "1"]).json();
    assert_eq!(report["renamed_directories"][0]["to"], "01-b");
    assert_eq!(report["renamed_files"][0]["to"], "01-01-PLAN.md");
    assert_eq!(context.read(ROADMAP), "# R\r\n\r\n### Phase 1: B\r\n**Depends on**: Nothing  \r\n");
    assert_eq!(context.read(".planning/phases/01-b/01-01-PLAN.md"), "two");
    let shot = std::fs::read(context.project().join(".planning/phases/01-b/shots/view.png")).unwrap();
    assert_eq!(shot, b"\x89PNG\r\n\0\xff");
    assert!(!there(&context, ".planning/phases/01-a") && !there(&context, ".planning/phases/02-b"));
}

#[test]
fn a_missing_phase_is_not_removed() {
    let context = project();
    let before = context.read(ROADMAP);
    assert!(context.gsd(["phase", "remove", "99"]).failure(1).contains("there is no phase `99`"));
    assert!(context.gsd(["phase", "remove"]).failure(1).contains("needs <PHASE>"));
    context.write(".planning/phases/02-b/02-01-SUMMARY.md", "done");
    assert!(context.gsd(["phase", "remove", "2"]).failure(1).contains("--force"));
    assert_eq!(context.read(ROADMAP), before);
    assert!(there(&context, ".planning/phases/02-b/02-01-SUMMARY.md"));
}

#[cfg(unix)]
#[test]
fn a_completion_reports_if_changes_since_the_verification_are_unknown() {
    let context = project();
    let report = ".planning/phases/01-a/01-VERIFICATION.md";
    context.write(report, "---\nstatus: gaps_found\n---\n");
    let summary = context.project().join(".planning/phases/01-a/01-01-SUMMARY.md");
    std::os::unix::fs::symlink("nowhere.md", summary).unwrap();
    let refused = context.gsd(["--json-errors", "phase", "complete", "1"]).failure(1);
    assert!(refused.contains("\"verification_stale_check_indeterminate\":"), "{refused}");
    context.write(report, "---\nstatus: passed\n---\n");
    let told = context.gsd(["phase", "complete", "1"]).json();
    assert_eq!(told["verification_stale_check_indeterminate"], true, "{told}");
    let warned = told["warnings"].as_array().unwrap();
    assert!(warned.iter().any(|warning| warning.as_str().unwrap().contains("since the verification")), "{told}");
}

#[cfg(unix)]
#[test]
fn a_link_is_refused_and_nothing_moves() {
    let context = project();
    context.write("elsewhere.md", "mine");
    let link = context.project().join(".planning/phases/02-b/link.md");
    std::os::unix::fs::symlink(context.project().join("elsewhere.md"), link).unwrap();
    assert!(context.gsd(["phase", "remove", "1"]).failure(1).contains("link.md"));
    assert!(context.gsd(["phases", "clear", "--confirm", "--force"]).failure(1).contains("link.md"));
    assert!(there(&context, ".planning/phases/01-a/01-01-PLAN.md") && there(&context, ".planning/phases/02-b"));
}

#[cfg(unix)]
#[test]
fn clearing_archives_folders_and_keeps_their_modes() {
    use std::os::unix::fs::PermissionsExt;
    let context = project();
    context.write(".planning/phases/01-a/run.sh", "#!/bin/sh\n");
    let script = context.project().join(".planning/phases/01-a/run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(context.gsd(["phases", "clear"]).failure(1).contains("--confirm"));
    assert!(context.gsd(["phases", "clear", "--confirm", "--archive-version", "../x"]).failure(1).contains("../x"));
    assert!(context.gsd(["phases", "clear", "--confirm", "--archive-version", "v1.0"]).failure(1).contains("--force"));
    let forced = context.gsd(["phases", "clear", "--confirm", "--force", "--archive-version", "v1.0"]);
    assert_eq!(forced.json()["cleared"], 2);
    let moved = context.project().join(".planning/milestones/v1.0-phases/01-a/run.sh");
    assert_eq!(std::fs::metadata(&moved).unwrap().permissions().mode() & 0o111, 0o111);
    assert!(there(&context, ".planning/milestones/v1.0-phases/02-b/shots/view.png"));
    assert!(!there(&context, ".planning/phases/01-a"));
    assert_eq!(context.gsd(["phases", "clear", "--confirm"]).json()["cleared"], 0);
}

#[test]
fn a_batch_of_phases_is_added_whole() {
    let context = project();
    let before = context.read(ROADMAP);
    assert!(context.gsd(["phase", "add-batch", "--descriptions", "x"]).failure(1).contains("JSON list"));
    context.gsd(["phase", "add-batch", "Fine", "Line one\nand two"]).failure(1);
    assert_eq!(context.read(ROADMAP), before);
    assert_eq!(context.gsd(["phase", "add-batch", "Fine", "Good enough"]).json()["count"], 2);
    assert!(there(&context, ".planning/phases/04-good-enough/.gitkeep"));
    assert_eq!(context.gsd(["phase", "list-plans", "2"]).json()["plan_count"], 1);
    assert!(context.gsd(["phase", "tdd-applicable", "nope.md"]).failure(1).contains("nope.md"));
}

#[test]
fn a_roadmap_that_cannot_be_read_exits_1() {
    let context = project();
    assert_eq!(context.gsd(["roadmap", "validate"]).json()["warnings"].as_array().map(Vec::len), Some(0));
    context.write(ROADMAP, "");
    let ran = context.gsd(["roadmap", "validate"]);
    assert!(ran.code == 1 && ran.stdout.contains("V002"));
}

#[test]
fn phases_are_named_after_their_milestone_when_asked() {
    let context = project();
    context.write(
        ROADMAP,
        "# R\r\n\r\n## v2.0 B\r\n\r\n### Phase 1: A\r\n\r\n### Phase 2: B\r\n**Depends on**: Phase 1  \r\n",
    );
    assert!(context.gsd(["roadmap", "upgrade", "--convention", "bracket"]).failure(1).contains("milestone-prefixed"));
    let shown = context.gsd(["roadmap", "upgrade"]).json();
    assert_eq!((&shown["alreadyMigrated"], &shown["phases"][1]["newDir"]), (&false.into(), &"02-02-b".into()));
    assert!(there(&context, ".planning/phases/02-b/02-01-PLAN.md"));
    let done = context.gsd(["roadmap", "upgrade", "--apply"]).json();
    assert_eq!(done["roadmapEdits"], shown["roadmapEdits"]);
    assert!(context.read(ROADMAP).ends_with("### Phase 2-02: B\r\n**Depends on**: Phase 2-01  \r\n"));
    assert_eq!(context.read(".planning/phases/02-02-b/02-02-01-PLAN.md"), "two");
    let shot = std::fs::read(context.project().join(".planning/phases/02-02-b/shots/view.png")).unwrap();
    assert_eq!(shot, b"\x89PNG\r\n\0\xff");
    assert_eq!(context.gsd(["find-phase", "2-02", "--pick", "plans"]).success(), "02-02-01-PLAN.md");
    let again = context.gsd(["roadmap", "upgrade", "--apply"]).json();
    assert_eq!((&again["alreadyMigrated"], &again["updated"]), (&true.into(), &false.into()));
}

#[test]
fn a_phase_that_is_added_or_inserted_is_counted_in_state() {
    let context = project();
    context.write(
        ".planning/STATE.md",
        "---\nprogress:\n  total_phases: 2\n---\n\n# S\n\n**Current focus:** Phase 1 — A\n\n## Current Position\n\n\
         Phase: 1 of 2 (A) — EXECUTING\nStatus: In words of my own\n",
    );
    context.gsd(["phase", "add", "Team sharing"]).success();
    let state = context.read(".planning/STATE.md");
    assert!(state.contains("Phase: 1 of 3 (A) — EXECUTING\nStatus: In words of my own\n"), "{state}");
    assert!(state.contains("total_phases: 3\n") && state.contains("**Current focus:** Phase 1 — A\n"), "{state}");
    context.gsd(["phase", "insert", "1", "Hot fix"]).success();
    assert!(context.read(".planning/STATE.md").contains("Phase: 1 of 4 (A)"));
    context.gsd(["phase", "add-batch", "Fine", "Good"]).success();
    assert!(context.read(".planning/STATE.md").contains("Phase: 1 of 6 (A)"));
    context.gsd(["phase", "remove", "5"]).success();
    assert!(context.read(".planning/STATE.md").contains("Phase: 1 of 5 (A)"));
}

#[test]
fn a_name_may_begin_with_a_hyphen_and_a_wrong_flag_is_still_reported() {
    let context = project();
    let added = context.gsd(["phase", "add", "--watch flag", "--id", "PROJ-7"]).json();
    assert_eq!((&added["name"], &added["padded"]), (&"--watch flag".into(), &"PROJ-7".into()));
    assert_eq!(context.gsd(["phase", "insert", "1", "-v and -q", "--dry-run"]).json()["name"], "-v and -q");
    assert_eq!(context.gsd(["phase", "add", "--", "--watch"]).json()["name"], "--watch");
    assert_eq!(context.gsd(["generate-slug", "--watch flag", "--raw"]).success(), "watch-flag");
    assert_eq!(context.gsd(["generate-slug", "---text---", "--raw"]).success(), "text");
    assert_eq!(context.gsd(["--raw", "generate-slug", "---two words---"]).success(), "two-words");
    assert!(context.gsd(["phase", "add", "--watch flag", "--idd", "X"]).failure(1).contains("did you mean `--id`?"));
    assert!(context.gsd(["phase", "add", "--watch"]).failure(1).contains("unexpected argument `--watch`"));
}
