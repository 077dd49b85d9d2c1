//! STATE.md of older projects: fields told twice, sessions, names and counts in other places.

use super::super::notes::{self, Evolution};
use super::super::position::{self, PhaseRequest};
use super::super::{advance, prune, read, rebuild, sync, update};
use super::*;

/// STATE.md after an operation.
fn after(view: &ProjectView, outcome: Outcome) -> String {
    let (_, edits) = outcome.unwrap();
    edits.texts.get(STATE).cloned().unwrap_or_else(|| view.text(STATE).unwrap().unwrap().to_string())
}

const AT_THE_TOP: &str = "# S\n\n**Status:** Complete\n**Last Activity:** 2026-01-01\n\n## Current Position\n\nPhase: 1 of 2 (A)\nPlan: 1 of 2\nStatus: In progress\nLast activity: 2026-01-12 — x\n";
const IN_TABLES: &str = "# S\n\n| Field | Value |\n|---|---|\n| Status | Complete |\n| Last Activity | 2026-01-01 |\n\n## Current Position\n\n| Field | Value |\n|---|---|\n| Phase | 1 of 2 (A) |\n| Plan | 1 of 2 |\n| Status | In progress |\n| Last activity | 2026-01-12 — x |\n";
const IN_CONFIGURATION: &str = "# S\n\n## Current Position\n\nPhase: 1 of 2 (A)\nPlan: 1 of 2\nStatus: In progress\nLast activity: 2026-01-12 — x\n\n## Configuration\n\n**Status:** Complete\n**Last Activity:** 2026-01-01\n";

#[test]
fn status_and_day_are_written_wherever_an_older_file_tells_them() {
    for text in [AT_THE_TOP, IN_TABLES, IN_CONFIGURATION] {
        let view = of_text(text);
        let acts: [Outcome; 4] = [
            printed_found(advance::advance(&view, &facts())),
            printed_found(position::begin(&view, phase("1", "A", 2), &facts())),
            printed_found(position::planned(&view, phase("1", "A", 2), &facts())),
            printed_found(position::complete(&view, Some("1"), &facts())),
        ];
        for outcome in acts {
            let written = after(&view, outcome);
            assert!(!written.contains("Complete\n") && !written.contains("| Complete |"), "{written}");
            assert!(!written.contains("2026-01-01"), "{written}");
        }
    }
    let view = of_text(IN_TABLES);
    let done = after(&view, printed_found(position::complete(&view, Some("1"), &facts())));
    assert!(done.contains("| Last Activity | 2026-01-15 |\n"), "the day alone: {done}");
    assert!(done.contains("| Last activity | 2026-01-15 — Phase 1 marked complete |\n"), "{done}");
    assert!(done.contains("status: completed\n"), "{done}");
}

#[test]
fn a_phase_begun_where_the_body_has_no_name_has_it_in_the_front_matter() {
    let text =
        "---\ncurrent_phase: 1\ncurrent_phase_name: Old\n---\n# S\n\n**Current Phase:** 1\n**Current Plan:** 1\n";
    let view = of_text(text);
    let written = after(&view, printed_found(position::begin(&view, phase("2", "New", 2), &facts())));
    assert!(written.contains("current_phase: 2\ncurrent_phase_name: New\n"), "{written}");
}

#[test]
fn a_phase_begun_again_keeps_its_name_and_its_position() {
    let text = "# S\n\n## Current Position\n\nPhase: 2 of 3 (Core) — EXECUTING\nPlan: 1 of 2\nStatus: Executing Phase 2\nLast activity: 2026-01-12 — x\n";
    let view = of_text(text);
    let request = PhaseRequest { phase: "2", name: Some("Other"), plans: Some(2) };
    let (report, edits) = printed_found(position::begin(&view, request, &facts())).unwrap();
    assert!(!report.contains("Current Position") && report.contains("\"phase_name\":\"Core\""), "{report}");
    let written = &edits.texts[STATE];
    assert!(written.contains("(Core) — EXECUTING\n") && written.contains("execution resumed"), "{written}");
}

#[test]
fn a_patched_phase_brings_number_and_name_along_in_every_field() {
    let text =
        "---\ncurrent_phase_name: Old\n---\n# S\n\n## Current Position\n\nPhase: 1 - Old\nCurrent Phase Name: Old\n";
    let view = of_text(text);
    let fields = [("Phase".to_owned(), "2 - New".to_owned())];
    let written = after(&view, printed(update::patch(&view, &fields, &facts())));
    assert!(
        written.contains("current_phase_name: New\n") && written.contains("Current Phase Name: New\n"),
        "{written}"
    );
}

#[test]
fn a_sync_brings_the_front_matter_in_line_with_the_body() {
    let text = "---\ncurrent_phase: 1\ncurrent_phase_name: Old\ncurrent_plan: 9\n---\n# S\n\n## Current Position\n\nPhase: 2 of 3 (Core)\nCurrent Plan: 2\nLast activity: 2026-01-12\n";
    let view = of_text(text);
    let written = after(&view, printed_found(sync::sync(&view, false, &facts())));
    assert!(written.contains("current_phase: 2\ncurrent_phase_name: Core\ncurrent_plan: 2\n"), "{written}");
}

#[test]
fn a_sync_without_the_bounds_of_the_milestone_tells_that_progress_was_skipped_and_counts_phases() {
    let state = "---\nmilestone: v9.9\n---\n# S\n\n## Current Position\n\nPhase: 1 of 2\nLast activity: 2026-01-15\n";
    let view = view(MemoryFiles::new([(STATE, state), (".planning/ROADMAP.md", "### Phase 1: A\n### Phase 2: B\n")]));
    for only_look in [true, false] {
        let (report, _) = sync::sync(&view, only_look, &facts()).unwrap().unwrap();
        assert_eq!(report.changes.len(), 1, "{:?}", report.changes);
        assert!(report.changes[0].starts_with("Progress: skipped"));
    }
    let written = after(&view, printed_found(sync::sync(&view, false, &facts())));
    assert!(written.contains("progress:\n  total_phases: 2\n"), "{written}");
}

#[test]
fn phases_of_other_milestones_are_no_count_of_one_that_the_roadmap_does_not_have() {
    let roadmap = "## v1.0 One\n\n### Phase 1: A\n\n## v2.0 Two\n\n### Phase 2: B\n";
    let json = |front: &str| {
        let state = format!("---\nmilestone: v9.9\n{front}---\n# S\n\nStatus: x\n");
        let view = view(MemoryFiles::new([(STATE, state.as_str()), (".planning/ROADMAP.md", roadmap)]));
        serde_json::to_value(read::json(&view, &facts()).unwrap().unwrap()).unwrap()
    };
    assert_eq!(json("").get("progress"), None);
    assert_eq!(json("progress:\n  total_phases: 7\n")["progress"]["total_phases"], 7, "what was counted before stays");
}

#[test]
fn a_rebuild_makes_the_front_matter_say_what_the_body_says() {
    let text =
        "---\ncurrent_phase: 2\ncurrent_phase_name: Core\n---\n# S\n\nCurrent Phase: 1\nCurrent Phase Name: Base\n";
    let view = of_text(text);
    let (report, edits) = rebuild::rebuild(&view, false, false, &facts()).unwrap().unwrap();
    assert_eq!(report.mutations, 2);
    let written = &edits.texts[STATE];
    assert!(written.contains("current_phase: 1\ncurrent_phase_name: Base\n"), "{written}");
    assert_eq!(written.matches("kind: front-matter-follows").count(), 2, "{written}");
}

#[test]
fn resolved_blockers_of_old_phases_are_pruned_and_open_ones_stay() {
    let text = "# S\n\n## Current Position\n\nPhase: 9 of 9 (X)\n\n## Blockers\n\n- ~~[Phase 1]: struck~~\n- Phase 2 [RESOLVED] marked\n- Phase 1: open\n- ~~Phase 8: new~~\n";
    let view = of_text(text);
    let (report, edits) = printed_found(prune::prune(&view, 3, false, &facts())).unwrap();
    assert!(report.contains("{\"section\":\"Blockers (resolved)\",\"entries_archived\":2}"), "{report}");
    assert!(edits.texts[STATE].ends_with("## Blockers\n\n- Phase 1: open\n- ~~Phase 8: new~~\n"));
    assert!(
        edits.texts[".planning/STATE-ARCHIVE.md"]
            .contains("### Blockers (resolved)\n\n- ~~[Phase 1]: struck~~\n- Phase 2")
    );
}

#[test]
fn a_session_section_gets_the_line_it_lacks_in_the_look_of_its_neighbours() {
    for newline in ["\n", "\r\n"] {
        let text = "# S\n\n## Session\n\n**Stopped at:** x\n".replace('\n', newline);
        let view = of_text(&text);
        let recorded = notes::record_session(&view, Some("here"), Some("a.md"), &facts());
        let (report, edits) = printed(recorded).unwrap();
        assert!(report.contains("Last session") && report.contains("Resume File"), "{report}");
        let lines = ["**Last session:** 2026-01-15T18:00:00.000Z", "**Stopped at:** here", "**Resume file:** a.md", ""];
        assert!(edits.texts[STATE].ends_with(&lines.join(newline)), "{}", edits.texts[STATE]);
    }
}

#[test]
fn the_evolution_of_the_roadmap_is_noted_among_what_was_learned() {
    let text = "# S\n\n### Roadmap Evolution\n\n- mine\n\n## Accumulated Context\n\n### Decisions\n\n- None\n";
    let view = of_text(text);
    let evolution = Evolution { phase: Some("2"), action: Some("added"), note: Some("why"), ..Evolution::default() };
    let (report, edits) = printed(notes::add_evolution(&view, evolution, &facts())).unwrap();
    assert!(report.contains("\"subsection_created\":true"), "{report}");
    let written = &edits.texts[STATE];
    assert!(written.contains("### Roadmap Evolution\n\n- mine\n\n## Accumulated"), "{written}");
    assert!(written.ends_with("- None\n\n### Roadmap Evolution\n\n- Phase 2 added: why\n"), "{written}");
}

#[test]
fn a_line_that_says_there_are_no_decisions_goes_with_the_first_one() {
    for placeholder in ["None yet", "No decisions yet.", "*No decisions recorded yet.*"] {
        let view = of_text(&format!("# S\n\n## Decisions\n\n{placeholder}\n"));
        let written = after(&view, printed(notes::add_decision(&view, Some("1"), Some("x"), None, &facts())));
        assert!(written.ends_with("## Decisions\n\n- [Phase 1]: x\n"), "{placeholder}: {written}");
    }
}

#[test]
fn totals_of_the_front_matter_go_before_those_of_the_body() {
    let text = "---\ntotal_phases: 6\ntotal_plans_in_phase: 7\n---\n# S\n\nTotal Phases: 9\nTotal Plans in Phase: 8\n";
    let snapshot = read::snapshot(&of_text(text)).unwrap().unwrap();
    assert_eq!((snapshot.total_phases, snapshot.total_plans_in_phase), (Some(6), Some(7)));
    let body = read::snapshot(&of_text("# S\n\nTotal Phases: 9\n")).unwrap().unwrap();
    assert_eq!(body.total_phases, Some(9));
}
