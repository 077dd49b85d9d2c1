//! Work that is paused and resumed: what is left for the next session, and what changes on disk.

use crate::kit::TestContext;
use crate::tree::tree;

const NOTE: &str = ".planning/phases/01-base/.continue-here.md";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "# R\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: g\n");
    context.write(
        ".planning/STATE.md",
        "# Project State\n\n## Current Position\n\nPhase: 1 of 1 (Base)\nStatus: Executing\n",
    );
    let blocks = ["current_state", "completed_work", "remaining_work", "decisions_made", "blockers", "context"];
    let blocks = blocks.map(|block| format!("<{block}>\nSome words.\n</{block}>\n\n")).concat();
    let front =
        "---\ncontext: phase\nphase: 01-base\ntask: 1\ntotal_tasks: 2\nstatus: in_progress\nlast_updated: x\n---\n\n";
    context.write(NOTE, &format!("{front}{blocks}<next_action>\nMend the test.\n</next_action>\n"));
    context
}

#[test]
fn a_handoff_is_written_read_and_cleared() {
    let context = project();
    let before = tree(&context.project());
    context.gsd(["handoff", "write", NOTE, "--dry-run"]).success();
    assert_eq!(tree(&context.project()), before);
    context.gsd(["handoff", "write", NOTE]).success();
    let body = |text: &str| text.split_once("\n---\n").unwrap().1.to_owned();
    let note = context.read(NOTE);
    assert!(body(&note).starts_with("\n<current_state>\nSome words.\n"), "{note}");
    let read = context.gsd(["handoff", "read"]).json();
    assert_eq!((&read["found"], &read["handoff"]["next_action"]), (&true.into(), &"Mend the test.".into()), "{read}");
    let next = context.gsd(["smart-entry", "--json"]).json();
    assert!(next.to_string().contains("resume-work"), "{next}");
    context.gsd(["handoff", "clear"]).success();
    assert!(!context.project().join(".planning/HANDOFF.json").exists());
    assert_eq!(body(&context.read(NOTE)), body(&note), "a note keeps its words");
    assert_eq!(context.gsd(["handoff", "read"]).json()["found"], false);
    let next = context.gsd(["smart-entry", "--json"]).json();
    assert!(!next["recommended"].to_string().contains("resume-work"), "{next}");
}

#[test]
fn a_note_without_a_next_step_is_refused() {
    let context = project();
    let note = context.read(NOTE).replace("Mend the test.", "");
    context.write(NOTE, &note);
    let before = tree(&context.project());
    assert!(context.gsd(["handoff", "write", NOTE]).failure(1).contains("next_action"));
    assert_eq!(tree(&context.project()), before);
}
