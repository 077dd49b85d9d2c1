//! STATE.md of older projects: duplicate fields, sessions, names and counts in other places.

use super::super::notes::{self, Evolution};
use super::super::position::{self, PhaseRequest};
use super::super::{advance, prune, read, rebuild, sync, update};
use super::*;

/// STATE.md after an operation.
fn after(view: &ProjectView, outcome: StateEdited) -> String {
    let (_, edits) = outcome.unwrap();
    edits.texts.get(STATE).cloned().unwrap_or_else(|| view.text(STATE).unwrap().unwrap().to_string())
}

const AT_THE_TOP: &str = "# S\n\n**Status:** Complete\n**Last Activity:** 2026-01-01\n\n## Current Position\n\nPhase: 1 of 2 (A)\nPlan: 1 of 2\nStatus: In progress\nLast activity: 2026-01-12 — x\n";
const IN_TABLES: &str = "# S\n\n| Field | Value |\n|---|---|\n| Status | Complete |\n| Last Activity | 2026-01-01 |\n\n## Current Position\n\n| Field | Value |\n|---|---|\n| Phase | 1 of 2 (A) |\n| Plan | 1 of 2 |\n| Status | In progress |\n| Last activity | 2026-01-12 — x |\n";
const IN_CONFIGURATION: &str = "# S\n\n## Current Position\n\nPhase: 1 of 2 (A)\nPlan: 1 of 2\nStatus: In progress\nLast activity: 2026-01-12 — x\n\n## Configuration\n\n**Status:** Complete\n**Last Activity:** 2026-01-01\n";

#[test]
fn status_and_day_are_written_wherever_an_older_file_has_them() {
    for text in [AT_THE_TOP, IN_TABLES, IN_CONFIGURATION] {
        let view = of_text(text);
        let acts: [StateEdited; 4] = [
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
fn a_started_phase_has_its_name_in_the_front_matter_if_the_body_has_none() {
    let text =
        "---\ncurrent_phase: 1\ncurrent_phase_name: Old\n---\n# S\n\n**Current Phase:** 1\n**Current Plan:** 1\n";
    let view = of_text(text);
    let written = after(&view, printed_found(position::begin(&view, phase("2", "New", 2), &facts())));
    assert!(written.contains("current_phase: 2\ncurrent_phase_name: New\n"), "{written}");
}

#[test]
fn a_phase_started_again_keeps_its_name_and_its_position() {
    let text = "# S\n\n## Current Position\n\nPhase: 2 of 3 (Core) — EXECUTING\nPlan: 1 of 2\nStatus: Executing Phase 2\nLast activity: 2026-01-12 — x\n";
    let view = of_text(text);
    let request = PhaseRequest { phase: "2", name: Some("Other"), plans: Some(2) };
    let (report, edits) = printed_found(position::begin(&view, request, &facts())).unwrap();
    assert!(!report.contains("Current Position") && report.contains("\"phase_name\":\"Core\""), "{report}");
    let written = &edits.texts[STATE];
    assert!(written.contains("(Core) — EXECUTING\n") && written.contains("execution resumed"), "{written}");
}

#[test]
fn a_patched_phase_updates_number_and_name_in_every_field() {
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
fn a_sync_of_an_unknown_milestone_reports_skipped_progress_and_counts_phases() {
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
fn phases_of_other_milestones_are_not_counted_for_an_unknown_milestone() {
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
fn a_rebuild_updates_the_front_matter_from_the_body() {
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
fn a_session_section_gets_missing_lines_in_the_style_of_its_neighbours() {
    for newline in ["\n", "\r\n"] {
        let text = "# S\n\n## Session\n\n**Stopped at:** x\n".replace('\n', newline);
        let view = of_text(&text);
        let recorded = notes::record_session(&view, Some("here"), Some("a.md"), &facts());
        let (report, edits) = printed_found(recorded).unwrap();
        assert!(report.contains("Last session") && report.contains("Resume File"), "{report}");
        let lines = ["**Last session:** 2026-01-15T18:00:00.000Z", "**Stopped at:** here", "**Resume file:** a.md", ""];
        assert!(edits.texts[STATE].ends_with(&lines.join(newline)), "{}", edits.texts[STATE]);
    }
}

#[test]
fn the_evolution_of_the_roadmap_is_recorded_in_the_accumulated_context() {
    let text = "# S\n\n### Roadmap Evolution\n\n- mine\n\n## Accumulated Context\n\n### Decisions\n\n- None\n";
    let view = of_text(text);
    let evolution = Evolution { phase: Some("2"), action: Some("added"), note: Some("why"), ..Evolution::default() };
    let (report, edits) = printed_found(notes::add_evolution(&view, evolution, &facts())).unwrap();
    assert!(report.contains("\"subsection_created\":true"), "{report}");
    let written = &edits.texts[STATE];
    assert!(written.contains("### Roadmap Evolution\n\n- mine\n\n## Accumulated"), "{written}");
    assert!(written.ends_with("- None\n\n### Roadmap Evolution\n\n- Phase 2 added: why\n"), "{written}");
}

#[test]
fn a_placeholder_for_no_decisions_is_removed_with_the_first_one() {
    for placeholder in ["None yet", "No decisions yet.", "*No decisions recorded yet.*"] {
        let view = of_text(&format!("# S\n\n## Decisions\n\n{placeholder}\n"));
        let written = after(&view, printed_found(notes::add_decision(&view, Some("1"), Some("x"), None, &facts())));
        assert!(written.ends_with("## Decisions\n\n- [Phase 1]: x\n"), "{placeholder}: {written}");
    }
}

#[test]
fn totals_of_the_front_matter_win_over_those_of_the_body() {
    let text = "---\ntotal_phases: 6\ntotal_plans_in_phase: 7\n---\n# S\n\nTotal Phases: 9\nTotal Plans in Phase: 8\n";
    let snapshot = read::snapshot(&of_text(text)).unwrap().unwrap();
    assert_eq!((snapshot.total_phases, snapshot.total_plans_in_phase), (Some(6), Some(7)));
    let body = read::snapshot(&of_text("# S\n\nTotal Phases: 9\n")).unwrap().unwrap();
    assert_eq!(body.total_phases, Some(9));
}

#[test]
fn values_only_in_the_front_matter_stay_when_the_counts_are_set() {
    let front = "---\ncurrent_phase: 2\ncurrent_phase_name: Core\ncurrent_plan: 2\nstopped_at: here\nstatus: executing\nprogress:\n  total_phases: 9\n---\n";
    let text = format!("{front}# S\n\n## Notes\n\nLast Activity: 2026-01-01\n");
    let roadmap = (".planning/ROADMAP.md", "### Phase 2: Core\n");
    for files in [vec![(STATE, text.as_str())], vec![(STATE, text.as_str()), roadmap]] {
        let view = view(MemoryFiles::new(files));
        let written = after(&view, printed_found(sync::sync(&view, false, &facts())));
        for line in ["current_phase: 2\n", "current_phase_name: Core\n", "current_plan: 2\n", "stopped_at: here\n"] {
            assert!(written.contains(line), "{line}: {written}");
        }
        assert!(written.contains("Last Activity: 2026-01-15"), "{written}");
    }
    // An existing field is the one that counts.
    let told = text.replace("## Notes\n", "## Current Position\n\nPhase: 3\nCurrent Plan: None\n");
    let view = of_text(&told);
    let written = after(&view, printed_found(sync::sync(&view, false, &facts())));
    assert!(written.contains("current_phase: 3\n") && !written.contains("current_plan"), "{written}");
}

#[test]
fn a_last_activity_written_by_a_person_stays_when_a_plan_is_done() {
    let at_top = "# S\n\n**Last Activity:** Halfway through the refactor\n\n## Current Position\n\nPhase: 1 of 2 (A)\nPlan: 1 of 2\nStatus: In progress\nLast activity: 2026-01-12\n";
    for top in ["Halfway through the refactor", "2026-01-02 and more", "2026-01-02"] {
        let view = of_text(&at_top.replace("Halfway through the refactor", top));
        let written = after(&view, printed_found(advance::advance(&view, &facts())));
        let kept = format!("**Last Activity:** {top}\n");
        assert_eq!(written.contains(&kept), top != "2026-01-02", "{written}");
        assert!(written.contains("\nLast activity: 2026-01-15\n"), "{written}");
    }
}

#[test]
fn the_activity_of_the_position_has_its_day_and_text_wherever_a_description_is() {
    let text = IN_CONFIGURATION.to_owned() + "**Last Activity Description:** old\n";
    let view = of_text(&text);
    let written = after(&view, printed_found(position::begin(&view, phase("2", "B", 2), &facts())));
    for line in [
        "\nLast activity: 2026-01-15 — Phase 2 execution started\n",
        "\n**Last Activity:** 2026-01-15\n",
        "\n**Last Activity Description:** Phase 2 execution started\n",
    ] {
        assert!(written.contains(line), "{written}");
    }
}

#[test]
fn the_name_of_another_phase_does_not_stay_when_the_position_is_set() {
    let patch = |body: &str, value: &str| {
        let text =
            format!("---\ncurrent_phase: 16\ncurrent_phase_name: Hotkey\n---\n# S\n\n## Current Position\n\n{body}\n");
        let view = of_text(&text);
        let fields = [("Phase".to_owned(), value.to_owned())];
        after(&view, printed(update::patch(&view, &fields, &facts())))
    };
    let bodies =
        ["Phase: 16", "Phase: 16 — Hotkey", "**Phase:** 16 of 20 (Hotkey)", "Phase: 16\nCurrent Phase Name: Hotkey"];
    for body in bodies {
        let named = patch(body, "17 — Brand New");
        assert!(named.contains("current_phase: 17\ncurrent_phase_name: Brand New\n"), "{named}");
        let bare = patch(body, "17");
        assert!(bare.contains("current_phase: 17\n") && !bare.contains("Hotkey"), "{bare}");
        let same = patch(body, "16 (Hotkey) — EXECUTING");
        assert!(same.contains("current_phase_name: Hotkey\n"), "{same}");
    }
}

#[test]
fn a_current_phase_without_a_word_after_it_keeps_its_line() {
    let text = "# S\n\n## Current Position\n\nPhase: 2 — Closer-ruling (D1a)\nPlan: 1 of 2\nStatus: Executing Phase 2\nLast activity: 2026-01-12 — x\n";
    let view = of_text(text);
    let request = PhaseRequest { phase: "2", name: Some("A Different Name"), plans: Some(2) };
    let written = after(&view, printed_found(position::begin(&view, request, &facts())));
    assert!(written.contains("\nPhase: 2 — Closer-ruling (D1a)\nPlan: 1 of 2\n"), "{written}");
    let view = of_text(&text.replace("Executing Phase 2", "Ready to plan"));
    let begun = after(&view, printed_found(position::begin(&view, request, &facts())));
    assert!(begun.contains("— EXECUTING\n"), "one that was not begun gets its word: {begun}");
}

#[test]
fn a_position_that_says_the_same_in_other_words_keeps_its_line() {
    let complete = |line: &str| {
        let roadmap = (
            ".planning/ROADMAP.md",
            "### Phase 1: A\n\n### Phase 2: Core\n### Phase 3: C\n### Phase 4: D\n### Phase 5: E\n",
        );
        let text = format!("# S\n\n## Current Position\n\nPhase: {line}\nStatus: In progress\n");
        let view = view(MemoryFiles::new([(STATE, text.as_str()), roadmap]));
        let written = after(&view, printed_found(position::complete(&view, Some("2"), &facts())));
        written.lines().find_map(|line| line.strip_prefix("Phase: ")).unwrap().to_owned()
    };
    for line in ["2 — COMPLETE", "2 of 5 (Core) — COMPLETE", "02 (core) – Complete", "2 (Core) — COMPLETE"] {
        assert_eq!(complete(line), line, "number, name and word agree");
    }
    for line in ["2", "2 — EXECUTING", "2 of 5 (Other) — COMPLETE", "1 (A) — COMPLETE", "2 of 4 (Core) — COMPLETE"]
    {
        assert_eq!(complete(line), "2 of 5 (Core) — COMPLETE", "{line}");
    }
}

#[test]
fn a_planned_phase_has_the_words_that_other_programs_use_in_both_places() {
    for text in [AT_THE_TOP, IN_TABLES, IN_CONFIGURATION] {
        let view = of_text(&format!("---\nstatus: planning\n---\n{text}"));
        let written = after(&view, printed_found(position::planned(&view, phase("1", "A", 2), &facts())));
        assert_eq!(written.matches("Ready to execute").count(), 2, "{written}");
        assert!(written.contains("status: executing\n"), "{written}");
    }
}

#[test]
fn the_first_row_replaces_a_placeholder_line() {
    for none in ["None yet", "*None yet*", "\nNone yet.", "No metrics yet"] {
        let text = format!(
            "# S\n\n## Performance Metrics\n\n| Plan | Duration | Tasks | Files |\n|---|---|---|---|\n{none}\n\n**Recent Trend:**\n- Trend: Stable\n"
        );
        let view = of_text(&text);
        let metric =
            notes::Metric { phase: Some("1"), plan: Some("2"), duration: Some("5min"), tasks: None, files: None };
        let written = after(&view, printed_found(notes::record_metric(&view, metric, &facts())));
        assert!(written.contains("|---|---|---|---|\n| Phase 1 P2 | 5min |"), "{written}");
        assert!(!written.contains(none.trim()) && written.contains("- Trend: Stable\n"), "{written}");
    }
}

#[test]
fn a_snapshot_takes_the_session_from_a_section_of_the_second_level() {
    let session = |text: &str| read::snapshot(&of_text(text)).unwrap().unwrap().session;
    let fields = "Last session: 2026-01-01\nStopped at: here\nResume file: x\n";
    let told = session(&format!("# S\n\n## Session Continuity\n\n{fields}"));
    assert_eq!((told.last_date.as_deref(), told.stopped_at.as_deref()), (Some("2026-01-01"), Some("here")));
    for text in [format!("# S\n\n## Notes\n\n### Session\n\n{fields}"), format!("# S\n\n{fields}")] {
        let told = session(&text);
        assert_eq!((told.last_date, told.stopped_at, told.resume_file), (None, None, None), "{text}");
    }
}
