//! Tests of switching milestones, counting again, pruning old entries, and findings.

use snapbox::str;

use super::super::notes::Evolution;
use super::super::{notes, prune, rebuild, switch, sync, validate};
use super::*;
use crate::project::figures::MilestoneCounts;

const PHASES: &[(&str, &str)] = &[
    (".planning/phases/01-a/01-01-PLAN.md", "x"),
    (".planning/phases/01-a/01-01-SUMMARY.md", "x"),
    (".planning/phases/02-b/02-01-PLAN.md", "x"),
    (".planning/phases/02-b/02-02-PLAN.md", "x"),
];

fn with_phases(state: &str) -> ProjectView {
    view(MemoryFiles::new(PHASES.iter().copied().chain([(STATE, state)])))
}

fn findings(view: &ProjectView) -> Vec<(&'static str, String)> {
    let report = validate::validate(view).unwrap();
    report.warnings.into_iter().map(|finding| (finding.code, finding.message)).collect()
}

#[test]
fn a_milestone_switch_keeps_everything_not_about_the_old_milestone() {
    let text = "---\r\nmilestone: v1.0\r\nowner: me\r\nstopped_at: x\r\nprogress:\r\n  percent: 60\r\n---\r\n# Project State\r\n\r\n## Current Position\r\n\r\nPhase: 2 of 5 (B)\r\nStatus: In progress\r\nMood: good\r\nProgress: [██████░░░░] 60%\r\n\r\n## Session\r\n\r\nStopped at: x\r\n";
    let view = of_text(text);
    let (report, edits) = switch::switch(&view, "v2.0", Some("Teams"), &facts()).unwrap();
    assert_eq!((report.version.as_str(), report.name.as_str()), ("v2.0", "Teams"));
    assert_eq!(
        edits.texts[STATE],
        "---\r\ngsd_state_version: \"1.0\"\r\nmilestone: v2.0\r\nmilestone_name: Teams\r\nstatus: planning\r\nowner: me\r\nlast_updated: \"2026-01-15T18:00:00.000Z\"\r\nlast_activity: 2026-01-15\r\nprogress:\r\n  percent: 0\r\n  total_phases: 0\r\n  completed_phases: 0\r\n  total_plans: 0\r\n  completed_plans: 0\r\n---\r\n# Project State\r\n\r\n## Current Position\r\n\r\nPhase: Not started (defining requirements)\r\nPlan: —\r\nStatus: Defining requirements\r\nLast activity: 2026-01-15 — Milestone v2.0 started\r\nMood: good\r\n\r\n## Session\r\n\r\nStopped at: x\r\n"
    );
}

#[test]
fn a_milestone_switch_creates_a_state_and_refuses_a_broken_one() {
    let none = view(MemoryFiles::default());
    let (_, edits) = switch::switch(&none, "v1.0", None, &facts()).unwrap();
    assert!(edits.texts[STATE].contains("# Project State\n\n## Current Position\n\nPhase: Not started"), "{edits:?}");
    let (_, blank) = switch::switch(&of_text("\n"), "v1.0", None, &facts()).unwrap();
    assert_eq!(blank.texts[STATE], edits.texts[STATE]);
    let broken = of_text("---\nmilestone: v1.0\n# Project State\n");
    let refused = switch::switch(&broken, "v2.0", None, &facts()).unwrap_err();
    assert!(refused.message.contains("is not written to: line 1 is "), "{refused:?}");
}

#[test]
fn a_change_of_the_roadmap_is_recorded_once() {
    let view = of_text("## Accumulated Context\n\n### Decisions\n\n- x\n\n## End\n");
    let evolution = Evolution { phase: Some("5"), action: Some("inserted"), note: Some("y"), ..Evolution::default() };
    let (report, edits) = notes::add_evolution(&view, evolution, &facts()).unwrap().unwrap();
    assert_eq!(report.reason(), None);
    let text = &edits.texts[STATE];
    assert!(text.contains("- x\n\n### Roadmap Evolution\n\n- Phase 5 inserted: y\n\n## End\n"), "{text}");
    let (report, edits) = notes::add_evolution(&of_text(text), evolution, &facts()).unwrap().unwrap();
    assert!(report.reason() == Some("duplicate") && edits.is_empty());
}

#[test]
fn counts_may_become_lower_when_counted_again() {
    let view = with_phases(
        "---\nprogress:\n  total_plans: 9\n  completed_plans: 7\n---\n# S\n\n## Current Position\n\nPhase: 2\nTotal Plans in Phase: 7\nLast activity: 2026-01-02 — x\n",
    );
    let (report, edits) = sync::sync(&view, true, &facts()).unwrap().unwrap();
    assert!(!report.synced && report.dry_run && edits.is_empty());
    let (report, edits) = sync::sync(&view, false, &facts()).unwrap().unwrap();
    assert_eq!(
        report.changes,
        ["Total Plans in Phase: 7 -> 2", "Last Activity: 2026-01-02 — x -> 2026-01-15"],
        "{edits:?}"
    );
    // Without a roadmap the number of phases is unknown.
    assert!(edits.texts[STATE].contains("completed_plans: 7\n"), "{edits:?}");
    let again = view.after(&edits);
    let (report, edits) = sync::sync(&again, false, &facts()).unwrap().unwrap();
    assert!(report.changes.is_empty() && edits.is_empty(), "{edits:?}");
}

#[test]
fn an_outdated_index_is_updated_from_the_body() {
    let text = "---\nmilestone: v1.0\nstatus: planning\nstopped_at: then\n---\n# S\n\n## Current Position\n\nPhase: 1\nStatus: Paused\nLast activity: 2026-01-02\n\n## Session\n\nStopped at: now\n";
    let roadmap = "# R\n\n## v1.0 A\n\n### Phase 1: A\n";
    let view = view(MemoryFiles::new([(STATE, text), (".planning/ROADMAP.md", roadmap)]));
    let (_, edits) = sync::sync(&view, false, &facts()).unwrap().unwrap();
    let written = &edits.texts[STATE];
    assert!(written.contains("\nstatus: paused\nstopped_at: now\n"), "{written}");
}

#[test]
fn old_entries_are_archived_with_the_lines_that_belong_to_them() {
    let text = "# S\n\n## Current Position\n\nPhase: 5\n\n## Performance Metrics\n\n| Phase | Plans |\n|---|---|\n| 1 | 2 |\n| 4 | 1 |\n\n### Decisions\n\n- [Phase 1.1]: a\n  because\n- [Phase 3]: b\n- no phase\n";
    let view = view(MemoryFiles::new([(STATE, text), (".planning/STATE-ARCHIVE.md", "mine\r\n")]));
    let (report, edits) = prune::prune(&view, 3, true, &facts()).unwrap().unwrap();
    assert!(report.found() && edits.is_empty());
    let (_, edits) = prune::prune(&view, 3, false, &facts()).unwrap().unwrap();
    assert!(edits.texts[STATE].contains("|---|---|\n| 4 | 1 |\n\n### Decisions\n\n- [Phase 3]: b\n- no phase\n"));
    assert_eq!(
        edits.texts[".planning/STATE-ARCHIVE.md"],
        "mine\r\n\r\n## Pruned 2026-01-15 (phases 1-2, kept recent 3)\r\n\r\n### Decisions\r\n\r\n- [Phase 1.1]: a\r\n  because\r\n\r\n### Performance Metrics\r\n\r\n| Phase | Plans |\r\n|---|---|\r\n| 1 | 2 |\r\n"
    );
    let (report, edits) = prune::prune(&view, 5, false, &facts()).unwrap().unwrap();
    assert!(!report.found() && edits.is_empty());
}

#[test]
fn the_table_of_phases_is_rebuilt_once_and_logged() {
    let view = with_phases(
        "# S\n\n## Performance Metrics\n\n| Phase | Plans | Total |\n|---|---|---|\n| 1 | 1 | 20min |\n| 9 | 1 | 2h |\n",
    );
    let (planned, none) = rebuild::rebuild(&view, true, false, &facts()).unwrap().unwrap();
    assert!(none.is_empty());
    assert_eq!(planned.would_change.len(), planned.mutations);
    assert_eq!(planned.would_change[0].section, "Performance Metrics");
    let (report, edits) = rebuild::rebuild(&view, false, false, &facts()).unwrap().unwrap();
    assert!(report.would_change.is_empty() && report.mutations == planned.mutations);
    assert!(report.rebuilt);
    let text = &edits.texts[STATE];
    assert!(text.contains("| 1 | 1 | 20min |\n| 02 | 2 | - |\n\n## Rebuild Log\n\n- timestamp: "), "{text}");
    assert!(text.contains("before: | 1 | 1 | 20min | \\n | 9 | 1 | 2h |\n"), "{text}");
    let (report, edits) = rebuild::rebuild(&view.after(&edits), false, false, &facts()).unwrap().unwrap();
    assert!(!report.rebuilt && edits.is_empty());
}

#[test]
fn a_rebuild_that_another_program_undid_is_not_logged_again() {
    let mut text = "# S\n\n## Performance Metrics\n\n| Phase | Plans |\n|---|---|\n| 1 | 1 |\n".to_owned();
    for _ in 0..3 {
        let view = with_phases(&text);
        let (report, edits) = rebuild::rebuild(&view, false, false, &facts()).unwrap().unwrap();
        assert!(report.rebuilt && !report.log.is_empty());
        let written = &edits.texts[STATE];
        assert_eq!(written.matches("- timestamp: ").count(), 1, "{written}");
        assert!(written.contains("| 02 | 2 |\n"), "{written}");
        text = written.replacen("| 02 | 2 |\n", "", 1);
    }
    let other = with_phases(&text.replacen("| 1 | 1 |\n", "| 1 | 1 |\n| 7 | 1 |\n", 1));
    let (_, edits) = rebuild::rebuild(&other, false, false, &facts()).unwrap().unwrap();
    assert_eq!(edits.texts[STATE].matches("- timestamp: ").count(), 2, "something else is");
}

#[test]
fn a_shelved_phase_gets_no_row_and_keeps_one_that_a_person_wrote() {
    let text = "# S\n\n## Performance Metrics\n\n| Phase | Plans |\n|---|---|\n| 999.1 | 7 |\n";
    let files = PHASES.iter().copied().chain([(STATE, text)]);
    let shelves = [(".planning/phases/999.1-dark/.gitkeep", ""), (".planning/phases/999.2-x/999.2-01-PLAN.md", "x")];
    let view = view(MemoryFiles::new(files.chain(shelves)));
    let (_, edits) = rebuild::rebuild(&view, false, false, &facts()).unwrap().unwrap();
    let text = &edits.texts[STATE];
    assert!(text.contains("|---|---|\n| 999.1 | 7 |\n| 01 | 1 |\n| 02 | 2 |\n\n## Rebuild Log\n"), "{text}");
}

#[test]
fn a_progress_table_closes_phases_wherever_it_is() {
    let table = "| Phase | Status |\n|---|---|\n| 1. A | Complete |\n| 2. B | Not started |\n\n";
    let counted = |before: &str, behind: &str| {
        let roadmap = format!(
            "# R\n\n## Milestones\n\n- 🚧 **v1.0 A** - x\n\n## Phases\n\n### 🚧 v1.0 A\n\n#### Phase 1: A\n#### Phase 2: B\n\n{before}### 📋 v2.0 B\n\n#### Phase 3: C\n\n## Progress\n\n{behind}"
        );
        let files = MemoryFiles::new([(STATE, "# S\n"), (".planning/ROADMAP.md", roadmap.as_str())]);
        let counts = MilestoneCounts::of(&view(files)).unwrap();
        (counts.completed_phases, counts.total_phases, counts.percent())
    };
    assert_eq!(counted("", table), (1, 2, 50), "the roadmap closes a phase wherever it says so");
    // No plan is known: only the phases show the progress of the milestone.
    assert_eq!(counted(table, ""), (1, 2, 50));
}

#[test]
fn a_state_that_agrees_with_the_disk_has_no_findings() {
    assert_eq!(findings(&with_phases("# S\nPhase: 2\nStatus: Executing Phase 2\nTotal Plans in Phase: 2\n")), []);
    assert!(validate::validate(&view(MemoryFiles::default())).is_err());
}

#[test]
fn each_way_to_disagree_has_its_code() {
    let codes = |state: &str| -> Vec<&str> { findings(&with_phases(state)).iter().map(|(code, _)| *code).collect() };
    assert_eq!(codes("# S\nPhase: 2\nTotal Plans in Phase: 7\n"), ["S005"]);
    assert_eq!(codes("# S\nPhase: 2\nCurrent Phase: 1\n"), ["S003"]);
    assert_eq!(codes("# S\nPhase: 7\n"), ["S004"]);
    assert_eq!(codes("# S\n"), ["S002"]);
    assert_eq!(codes("---\nstatus: bananas\n---\n# S\nPhase: 2\nStatus: In progress\n"), ["S008"]);
    assert_eq!(codes("---\ncurrent_phase: two\n---\n# S\nPhase: 2\n"), ["S009"]);
    assert_eq!(codes("---\ncurrent_phase: 2\n---\n# S\nPhase: 2\n"), [""; 0]);
    assert_eq!(codes("---\nstatus: bananas\n---\n# S\nPhase: 2\n"), ["S008"]);
    let own = "---\nstatus: Blocked by the API\n---\n# S\nPhase: 2\nStatus: Blocked by the API\n";
    assert_eq!(codes(own), [""; 0], "what a person writes is theirs");
    assert_eq!(codes("# S\nPhase: 1\nStatus: executing\n"), ["S007"]);
    assert_eq!(codes("# S\0\nPhase: 2\n"), ["S001"]);
    assert_eq!(codes("---\na: 1\n# S\nPhase: 2\n"), ["S001"]);
    let passed = MemoryFiles::new([
        (STATE, "# S\nPhase: 1\nStatus: executing\n"),
        (".planning/phases/01-a/01-01-PLAN.md", "x"),
        (".planning/phases/01-a/01-VERIFICATION.md", "---\nstatus: passed\n---\n"),
    ]);
    assert_eq!(findings(&view(passed))[0].0, "S006");
    let planned_later = MemoryFiles::new([
        (STATE, "# S\nPhase: 7\nStatus: Ready to plan\n"),
        (".planning/ROADMAP.md", "### Phase 7: G\n"),
        (".planning/phases/01-a/01-01-PLAN.md", "x"),
    ]);
    assert_eq!(findings(&view(planned_later)), [], "a phase that nobody has begun has no folder yet");
}

#[test]
fn a_phase_that_is_still_to_be_planned_needs_no_folder() {
    let codes = |phase: &str, roadmap: &str| -> Vec<String> {
        let state = format!("# S\nPhase: {phase}\n");
        let files = view(MemoryFiles::new([(STATE, state.as_str()), (".planning/ROADMAP.md", roadmap)]));
        findings(&files).iter().map(|(code, _)| (*code).to_owned()).collect()
    };
    let roadmap = "# R\n\n### Phase 1: A\n\n### Phase 2: B\n";
    assert_eq!(codes("1 of 2 (A) — READY TO PLAN", roadmap), [""; 0]);
    assert_eq!(codes("1 of 2 (A) — READY TO EXECUTE", roadmap), ["S004"]);
    assert_eq!(codes("3 of 3 (C) — READY TO PLAN", roadmap), ["S004"]);
    assert_eq!(codes("1 of 2 (A) — READY TO PLAN", ""), ["S004"]);
}

#[test]
fn between_milestones_the_position_names_no_phase() {
    let codes = |status: &str, roadmap: &str| -> Vec<String> {
        let state = format!("# S\nPhase: Milestone v1.0 complete\nStatus: {status}\n");
        let files = view(MemoryFiles::new([(STATE, state.as_str()), (".planning/ROADMAP.md", roadmap)]));
        findings(&files).iter().map(|(code, _)| (*code).to_owned()).collect()
    };
    let done = "# R\n\n- [x] **Phase 1: A** - a\n\n### Phase 1: A\n";
    assert_eq!(codes("Awaiting next milestone", done), [""; 0]);
    assert_eq!(codes("Defining requirements", ""), [""; 0]);
    assert_eq!(codes("Defining requirements", "# R\n\n### Phase 1: A\n"), ["S002"], "a phase could be begun");
    assert_eq!(codes("In progress", done), ["S002"]);
}

#[test]
fn a_finding_says_what_to_do() {
    let report = validate::validate(&with_phases("# S\nPhase: 7\n")).unwrap();
    assert_data_eq!(
        serde_json::to_string(&report).unwrap(),
        str![[
            r#"{"valid":false,"warnings":[{"code":"S004","severity":"warning","message":"the current phase cannot be checked: phase 7 has no folder","remedy":{"action":"advise","risk":"none","args":{"command":"correct current_phase, or create the folder of the phase"}}}],"scope":"complete"}"#
        ]]
    );
}
