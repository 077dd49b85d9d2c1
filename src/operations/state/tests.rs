//! Each command as a value: a project, a request, and the report with the lines it changes. And for all of them at
//! once: nothing but what is meant changes.

#![allow(clippy::disallowed_methods, reason = "tests read their projects by hand")]

use std::path::Path;

use proptest::prelude::*;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use snapbox::{assert_data_eq, str};

use super::notes::{self, Metric};
use super::position::{self, PhaseRequest, Transition};
use super::update;
use super::*;
use crate::project::files::MemoryFiles;
use crate::project::layout::Layout;
use crate::project::state::index::{COUNTERS, KEYS};

const STATE: &str = ".planning/STATE.md";

fn facts() -> Facts {
    Facts {
        now: "2026-01-15T18:00:00.000Z".into(),
        milliseconds: 1_768_500_000_000,
        today: "2026-01-15".into(),
        head: Some("0123456789abcdef0123456789abcdef01234567".into()),
        session: Some("session-a".into()),
        process: 7,
    }
}

/// The files of a fixture project.
fn fixture(name: &str) -> MemoryFiles {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/projects").join(name);
    let mut files = MemoryFiles::default();
    for entry in walkdir::WalkDir::new(&root) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            files.texts.insert(path, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    files
}

fn view(files: MemoryFiles) -> ProjectView {
    ProjectView::new(Layout::new("/p", None, None), Box::new(files))
}

fn of_text(state: &str) -> ProjectView {
    view(MemoryFiles::new([(STATE, state)]))
}

type Outcome = Result<(String, Edits), StateError>;

/// An operation's answer with its report printed.
fn printed<R: Serialize>(result: Result<(R, Edits), StateError>) -> Outcome {
    result.map(|(report, edits)| (serde_json::to_string(&report).unwrap(), edits))
}

fn printed_found<R: Serialize>(result: Result<Option<(R, Edits)>, StateError>) -> Outcome {
    printed(result.map(|found| match found {
        Some((report, edits)) => (Some(report), edits),
        None => (None, Edits::default()),
    }))
}

/// The report, and the lines of STATE.md that change; the front matter's clock is left out.
fn shown(view: &ProjectView, outcome: Outcome) -> String {
    let (report, edits) = outcome.unwrap();
    let mut text = format!("{report}\n");
    let before = view.text(STATE).unwrap().unwrap_or_default();
    let after = edits.texts.get(STATE).map_or(before.as_ref(), String::as_str);
    for change in TextDiff::from_lines(before.as_ref(), after).iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        match change.tag() {
            ChangeTag::Equal => {}
            _ if line.starts_with("last_updated:") || line.starts_with("state_head:") => {}
            ChangeTag::Delete => text.push_str(&format!("-{line}\n")),
            ChangeTag::Insert => text.push_str(&format!("+{line}\n")),
        }
    }
    text
}

fn check(project: &str, request: impl FnOnce(&ProjectView) -> Outcome, expected: impl snapbox::IntoData) {
    let view = view(fixture(project));
    assert_data_eq!(shown(&view, request(&view)), expected);
}

fn phase<'a>(phase: &'a str, name: &'a str, plans: u64) -> PhaseRequest<'a> {
    PhaseRequest { phase, name: Some(name), plans: Some(plans) }
}

#[test]
fn a_begun_phase_takes_the_position() {
    check(
        "garden",
        |view| printed_found(position::begin(view, phase("3", "Ernte", 4), &facts())),
        str![[r#"
{"updated":["Status","Last Activity","Current focus","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"],"phase":"3","phase_name":"Ernte","plan_count":4,"milestone_conflict":null}
+current_phase: 3
+current_phase_name: Ernte
+last_activity: 2026-01-15
+last_activity_desc: Phase 3 execution started
-**Current focus:** Phase 2 — Gießen 💧
+**Current focus:** Phase 3 — Ernte
-Phase: 2 of 3 (Gießen 💧)
-Plan: 1 of 2 in current phase
-Status: In progress   
-Last activity: 2026-01-12 — Completed 02-01
+Phase: 3 (Ernte) — EXECUTING
+Plan: 1 of 4
+Status: Executing Phase 3   
+Last activity: 2026-01-15 — Phase 3 execution started

"#]],
    );
}

#[test]
fn a_phase_begun_in_older_fields_fills_them() {
    check(
        "ledger",
        |view| printed_found(position::begin(view, phase("2", "Reports", 1), &facts())),
        str![[r#"
{"updated":["Status","Last Activity","Last Activity Description","Current Phase","Current Phase Name","Total Plans in Phase","Current Position","last_activity","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"],"phase":"2","phase_name":"Reports","plan_count":1,"milestone_conflict":null}
+gsd_state_version: "1.0"
+current_phase: 2
+current_phase_name: Reports
+current_plan: 1
+status: executing
+last_activity: 2026-01-15
+last_activity_desc: Phase 2 execution started
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-**Status:** Not started
-**Current Phase:** 1
-**Current Phase Name:** Core
+**Status:** Executing Phase 2
+**Current Phase:** 2
+**Current Phase Name:** Reports
-**Total Plans in Phase:** 2
-**Last Activity:** 2026-01-02
-**Last Activity Description:** Workstream created
+**Total Plans in Phase:** 1
+**Last Activity:** 2026-01-15
+**Last Activity Description:** Phase 2 execution started

"#]],
    );
}

#[test]
fn a_phase_begun_again_keeps_its_plan() {
    let text = "## Current Position\n\nPhase: 3 (Sync) — EXECUTING\nPlan: 2 of 2\nStatus: Ready to execute\nLast activity: 2026-01-15 — Phase 3 execution started\n";
    let view = of_text(text);
    let request = PhaseRequest { phase: "03", name: None, plans: None };
    assert_data_eq!(
        shown(&view, printed_found(position::begin(&view, request, &facts()))),
        str![[r#"
{"updated":["Status","Last Activity","Current Position","Current Phase","last_activity","Last Activity Description","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans"],"phase":"03","phase_name":null,"plan_count":null,"milestone_conflict":null}
+---
+gsd_state_version: "1.0"
+current_phase: 03
+current_phase_name: Sync
+status: executing
+last_activity: 2026-01-15
+last_activity_desc: Phase 03 execution started
+progress:
+  total_phases: 0
+  completed_phases: 0
+  total_plans: 0
+  completed_plans: 0
+---
+
-Phase: 3 (Sync) — EXECUTING
+Phase: 03 (Sync) — EXECUTING
-Status: Ready to execute
-Last activity: 2026-01-15 — Phase 3 execution started
+Status: Executing Phase 03
+Last activity: 2026-01-15 — Phase 03 execution started

"#]]
    );
}

#[test]
fn a_text_without_a_position_gets_one() {
    let view = of_text("# Project State\n\nNotes.\n");
    assert_data_eq!(
        shown(&view, printed_found(position::begin(&view, phase("1", "Base", 2), &facts()))),
        str![[r#"
{"updated":["Status","Last Activity","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans"],"phase":"1","phase_name":"Base","plan_count":2,"milestone_conflict":null}
+---
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Base
+status: executing
+last_activity: 2026-01-15
+last_activity_desc: Phase 1 execution started
+progress:
+  total_phases: 0
+  completed_phases: 0
+  total_plans: 0
+  completed_plans: 0
+---
+
+
+## Current Position
+
+Phase: 1 (Base) — EXECUTING
+Plan: 1 of 2
+Status: Executing Phase 1
+Last activity: 2026-01-15 — Phase 1 execution started

"#]]
    );
}

#[test]
fn a_planned_phase_is_ready_to_execute() {
    check(
        "garden",
        |view| printed_found(position::planned(view, phase("3", "Ernte", 4), &facts())),
        str![[r#"
{"updated":["Status","Last Activity","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"],"phase":"3","plan_count":4}
+current_phase: 3
+current_phase_name: Ernte
+last_activity: 2026-01-15
+last_activity_desc: Phase 3 planning complete
-Phase: 2 of 3 (Gießen 💧)
+Phase: 3 (Ernte) — READY TO EXECUTE
-Status: In progress   
-Last activity: 2026-01-12 — Completed 02-01
+Status: Ready to execute   
+Last activity: 2026-01-15 — Phase 3 planning complete

"#]],
    );
}

#[test]
fn a_complete_phase_says_so() {
    check(
        "garden",
        |view| printed_found(position::complete(view, None, &facts())),
        str![[r#"
{"updated":["Current Position","Status","Last Activity","last_activity","Last Activity Description","state_head"],"phase":"2"}
+current_phase: 2
+last_activity: 2026-01-15
+last_activity_desc: Phase 2 marked complete
-Phase: 2 of 3 (Gießen 💧)
+Phase: 2 — COMPLETE
-Status: In progress   
-Last activity: 2026-01-12 — Completed 02-01
+Status: Phase 2 complete   
+Last activity: 2026-01-15 — Phase 2 marked complete

"#]],
    );
}

#[test]
fn the_next_plan_keeps_what_follows_its_number() {
    check(
        "garden",
        |view| printed_found(position::advance(view, &facts())),
        str![[r#"
{"advanced":true,"previous_plan":1,"current_plan":2,"total_plans":2,"updated":["Plan","Status","Current Position","state_head"],"milestone_conflict":null}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
-Plan: 1 of 2 in current phase
-Status: In progress   
+Plan: 2 of 2 in current phase
+Status: Ready to execute   

"#]],
    );
}

#[test]
fn older_fields_advance_too() {
    check(
        "ledger",
        |view| printed_found(position::advance(view, &facts())),
        str![[r#"
{"advanced":true,"previous_plan":1,"current_plan":2,"total_plans":2,"updated":["Current Plan","Status","Current Position","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"],"milestone_conflict":null}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 2
+status: executing
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-**Status:** Not started
+**Status:** Ready to execute
-**Current Plan:** 1
+**Current Plan:** 2

"#]],
    );
}

#[test]
fn plans_without_a_summary_hold_the_position() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: 2 of 2");
    files.texts.insert(STATE.into(), text);
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(position::advance(&view, &facts()))),
        str![[r#"
{"advanced":false,"phase_dir":"02-gießen","outstanding_plans":["02-02-PLAN.md"],"milestone_conflict":null,"reason":"plans_outstanding"}

"#]]
    );
}

#[test]
fn behind_the_last_plan_comes_verification() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: 2 of 2");
    files.texts.insert(STATE.into(), text);
    files.texts.insert(".planning/phases/02-gießen/02-02-SUMMARY.md".into(), String::new());
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(position::advance(&view, &facts()))),
        str![[r#"
{"advanced":false,"reason":"last_plan","current_plan":2,"total_plans":2,"status":"ready_for_verification","updated":["Status","Current Position","progress.completed_plans","state_head"],"milestone_conflict":null}
-status: executing # set by hand
+current_phase: 2
+current_phase_name: "Gießen 💧"
+status: verifying # set by hand
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
-  completed_plans: 2
+  completed_plans: 3
-Status: In progress   
+Status: Phase complete — ready for verification   

"#]]
    );
}

#[test]
fn an_unreadable_position_is_told_with_a_way_out() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: soon, 2");
    files.texts.insert(STATE.into(), text);
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(position::advance(&view, &facts()))),
        str![[r#"
{"error":"no field of `.planning/STATE.md` tells which plan is at work; write `Plan: N of M` under Current Position","reason":"plan_position_unreadable","phase_dir":"02-gießen","disk":{"plan_count":2,"summarized_count":1},"suggested":{"current_plan":2,"total_plans":2,"lines":["Current Plan: 2","Total Plans in Phase: 2"]}}

"#]]
    );
}

#[test]
fn a_transition_moves_on_and_counts_what_was_done() {
    check(
        "garden",
        |view| {
            let text = open(view)?.unwrap();
            let state = State::parse(&text);
            let mut edit = StateEdit::new(&state);
            let transition = Transition { completed: "2", plans: 2, next: Some(("3", Some("Ernte"))) };
            position::move_on(&mut edit, &transition, &facts());
            let written = close(view, edit, Rule::Measure, &facts())?;
            let edits = written.edits(view)?;
            printed(Ok((written.updated, edits)))
        },
        str![[r#"
["Status","Last Activity","Stopped At","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"]
-status: executing # set by hand
+current_phase: 3
+current_phase_name: Ernte
+status: planning # set by hand
-stopped_at: Completed 02-01-PLAN.md
+stopped_at: Phase 2 complete, ready to plan Phase 3
+last_activity: 2026-01-15
+last_activity_desc: Phase 2 complete, transitioned to Phase 3
-Phase: 2 of 3 (Gießen 💧)
-Plan: 1 of 2 in current phase
-Status: In progress   
-Last activity: 2026-01-12 — Completed 02-01
+Phase: 3 of 3 (Ernte)
+Plan: Not started
+Status: Ready to plan   
+Last activity: 2026-01-15 — Phase 2 complete, transitioned to Phase 3
-- Total plans completed: 2
+- Total plans completed: 3
+| 2     | 2     | -     | -        |
-Stopped at: Completed 02-01-PLAN.md
+Stopped at: Phase 2 complete, ready to plan Phase 3

"#]],
    );
}

#[test]
fn a_decision_goes_behind_the_last_one() {
    check(
        "garden",
        |view| printed(notes::add_decision(view, None, Some("Drip\nlines"), Some("less work"), &facts())),
        str![[r#"
{"added":true,"decision":"- [Phase 2]: Drip lines — less work"}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
+- [Phase 2]: Drip lines — less work

"#]],
    );
}

#[test]
fn blockers_come_and_go() {
    check(
        "ledger",
        |view| printed(notes::add_blocker(view, Some("Rates missing"), &facts())),
        str![[r#"
{"added":true,"blocker":"Rates missing"}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-None
+- Rates missing

"#]],
    );
    check(
        "garden",
        |view| printed(notes::resolve_blocker(view, Some("frost"), &facts())),
        str![[r#"
{"resolved":true,"blocker":"frost"}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
-- Frost bis Mai
-	* (tabbed note)

"#]],
    );
}

#[test]
fn a_session_and_a_metric_are_noted() {
    check(
        "ledger",
        |view| printed(notes::record_session(view, Some("Plan 2"), Some("a.md"), &facts())),
        str![[r#"
{"recorded":true,"updated":["Stopped At","Resume File","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+stopped_at: Plan 2
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-**Stopped At:** N/A
-**Resume File:** None
+**Stopped At:** Plan 2
+**Resume File:** a.md

"#]],
    );
    let metric = Metric { phase: Some("2"), plan: Some("1"), duration: Some("5min"), tasks: Some("3"), files: None };
    check(
        "garden",
        |view| printed(notes::record_metric(view, metric, &facts())),
        str![[r#"
{"recorded":true,"phase":"2","plan":"1","duration":"5min"}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
+**Per-Plan Metrics:**
+
+| Plan | Duration | Tasks | Files |
+|------|----------|-------|-------|
+| Phase 2 P1 | 5min | 3 tasks | - files |
+

"#]],
    );
    check(
        "ledger",
        |view| printed(notes::record_metric(view, metric, &facts())),
        str![[r#"
{"recorded":false,"reason":"Performance Metrics section not found in STATE.md"}

"#]],
    );
}

#[test]
fn progress_is_counted_from_disk_and_roadmap() {
    check(
        "garden",
        |view| printed_found(notes::update_progress(view, &facts())),
        str![[r#"
{"updated":true,"percent":33,"completed":2,"total":3,"bar":"[███░░░░░░░] 33%"}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01

"#]],
    );
    check(
        "ledger",
        |view| printed_found(notes::update_progress(view, &facts())),
        str![[r#"
{"updated":true,"percent":0,"completed":1,"total":3,"bar":"[░░░░░░░░░░] 0%"}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0

"#]],
    );
}

#[test]
fn fields_are_set_wherever_they_stand() {
    let set = |field: &'static str, value: &'static str| {
        move |view: &ProjectView| printed(update::update(view, field, value, &facts()))
    };
    check(
        "garden",
        set("core value", "Alles | lebt"),
        str![[r#"
{"updated":true,"preserved":["state_head"]}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
-**Core value:** Nothing   withers.  
+**Core value:** Alles | lebt  

"#]],
    );
    check(
        "ledger",
        set("owner", "Ada | Bob | Cy"),
        str![[r#"
{"updated":true,"preserved":["state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-| Owner | Ada /| Bob |
+| Owner | Ada /| Bob /| Cy |

"#]],
    );
    check(
        "ledger",
        set("progress", "50%"),
        str![[r#"
{"updated":true,"preserved":["state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-| Progress | 0% |
+| Progress | 50% |

"#]],
    );
    check(
        "ledger",
        set("Stopped_At", "Plan 2"),
        str![[r#"
{"updated":true,"preserved":["Stopped At","state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans","progress.percent"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+stopped_at: Plan 2
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+progress:
+  total_phases: 2
+  completed_phases: 0
+  total_plans: 3
+  completed_plans: 1
+  percent: 0
-**Stopped At:** N/A
+**Stopped At:** Plan 2

"#]],
    );
    check(
        "garden",
        set("milestone", "v1.1"),
        str![[r#"
{"updated":true,"preserved":["state_head"]}
-milestone: v1.0  # the first
+milestone: v1.1  # the first
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01

"#]],
    );
    check(
        "garden",
        set("paused_at", "2026-01-14"),
        str![[r#"
{"updated":true,"preserved":["state_head"]}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+paused_at: 2026-01-14
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01

"#]],
    );
    check(
        "garden",
        set("Nope", "x"),
        str![[r#"
{"updated":false,"reason":"Field /"Nope/" not found in STATE.md","preserved":[]}

"#]],
    );
    check(
        "garden",
        set("progress.percent", "90"),
        str![[r#"
{"updated":false,"reason":"Field /"progress.percent/" not found in STATE.md","preserved":[]}

"#]],
    );
    check(
        "garden",
        set("tags", "x"),
        str![[r#"
{"updated":false,"reason":"Field /"tags/" not found in STATE.md","preserved":[]}

"#]],
    );
}

#[test]
fn a_percentage_set_by_hand_is_the_percentage() {
    check(
        "garden",
        |view| printed(update::update(view, "Progress", "[█████░░░░░] 50%", &facts())),
        str![[r#"
{"updated":true,"preserved":["progress.percent","state_head"]}
+current_phase: 2
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-12
+last_activity_desc: Completed 02-01
-  percent: 33
+  percent: 50
-Progress: [███░░░░░░░] 33%
+Progress: [█████░░░░░] 50%

"#]],
    );
}

#[test]
fn the_index_follows_what_changed_and_nothing_else() {
    let text = "---\nstatus: verifying\nlast_activity: 2026-03-01\nstopped_at: by hand\n---\n\n## Current Position\n\nPhase: 2 (B)\nStatus: In progress\nLast activity: 2026-02-01 — x\n\n## Session\n\nStopped at: elsewhere\n\n## Blockers\n";
    let view = of_text(text);
    assert_data_eq!(
        shown(&view, printed(notes::add_blocker(&view, Some("y"), &facts()))),
        str![[r#"
{"added":true,"blocker":"y"}
+last_activity_desc: x
+progress:
+  total_phases: 0
+  completed_phases: 0
+  total_plans: 0
+  completed_plans: 0
+gsd_state_version: "1.0"
+current_phase: 2
+current_phase_name: B
+
+- y

"#]]
    );
    assert_data_eq!(
        shown(&view, printed(update::update(&view, "Status", "Stopped", &facts()))),
        str![[r#"
{"updated":true,"preserved":["state_head","progress.total_phases","progress.completed_phases","progress.total_plans","progress.completed_plans"]}
-status: verifying
+status: paused
+last_activity_desc: x
+progress:
+  total_phases: 0
+  completed_phases: 0
+  total_plans: 0
+  completed_plans: 0
+gsd_state_version: "1.0"
+current_phase: 2
+current_phase_name: B
-Status: In progress
+Status: Stopped

"#]]
    );
}

#[test]
fn claims_hold_for_hours_and_against_others_alone() {
    let claim = |phase: &str, session: &str, age: i64| {
        let updated = facts().milliseconds - age;
        format!("{{\"phase\":\"{phase}\",\"session\":{session},\"pid\":1,\"updated_at\":{updated}}}")
    };
    let hour = 60 * 60 * 1000;
    for (text, conflicts) in [
        (claim("2", "\"session-b\"", hour), true),
        (claim("2", "null", hour), true),
        (claim("03", "\"session-b\"", hour), false),
        (claim("2", "\"session-a\"", hour), false),
        (claim("2", "\"session-b\"", 5 * hour), false),
        (claim("2", "\"session-b\"", -hour), false),
        ("torn".to_owned(), false),
    ] {
        let view = view(MemoryFiles::new([(STATE, "# S\n"), (".planning/milestone.lock", text.as_str())]));
        let (report, edits) = position::begin(&view, phase("3", "C", 1), &facts()).unwrap().unwrap();
        assert_eq!(report.milestone_conflict.is_some(), conflicts, "{text}");
        assert_eq!(edits.texts.contains_key(".planning/milestone.lock"), !conflicts, "{text}");
    }
}

#[test]
fn the_mirror_keeps_what_is_not_ours_and_is_never_torn_further() {
    let begin = |mirror: &str| {
        let mut files = fixture("garden");
        files.texts.insert(".planning/state.json".into(), mirror.into());
        let view = view(files);
        let (_, edits) = position::begin(&view, phase("3", "Ernte", 1), &facts()).unwrap().unwrap();
        edits.texts.get(".planning/state.json").cloned()
    };
    let kept = begin("{\r\n\t\"mine\" : [1,2],\r\n\t\"contract\":\"1.0.0\"\r\n}").unwrap();
    assert!(kept.starts_with("{\r\n\t\"mine\" : [1,2],\r\n\t\"contract\":\"1.0.0\",\r\n\t\"flavor\""), "{kept}");
    assert!(kept.contains("Phase 3 of 3"), "{kept}");
    assert_eq!(begin("{torn"), None);
}

/// Every command with a request that makes sense on any of the projects, and parts of the body's lines it may change.
fn every_command(view: &ProjectView) -> Vec<(&'static str, Outcome, &'static [&'static str])> {
    const POSITION: &[&str] =
        &["Phase", "Plan", "Status", "Last activity", "Last Activity", "Current", "Total Plans in Phase", "Progress"];
    let facts = facts();
    let metric =
        Metric { phase: Some("2"), plan: Some("1"), duration: Some("5min"), tasks: Some("3"), files: Some("4") };
    vec![
        ("begin", printed_found(position::begin(view, phase("3", "Ernte 🍎", 4), &facts)), POSITION),
        ("planned", printed_found(position::planned(view, phase("3", "Ernte 🍎", 4), &facts)), POSITION),
        ("complete", printed_found(position::complete(view, Some("2"), &facts)), POSITION),
        ("advance", printed_found(position::advance(view, &facts)), POSITION),
        ("update", printed(update::update(view, "Status", "Paused — später", &facts)), &["Status"]),
        (
            "patch",
            printed_found(update::patch(view, &[("Stopped at".into(), "x".into())], &facts)),
            &["Stopped at", "Stopped At"],
        ),
        ("decision", printed(notes::add_decision(view, None, Some("Ünï"), None, &facts)), &["Ünï", "None"]),
        ("blocker", printed(notes::add_blocker(view, Some("Ünï"), &facts)), &["Ünï", "None", "Progress"]),
        ("resolve", printed(notes::resolve_blocker(view, Some("frost"), &facts)), &["Frost", "* (tabbed", "Progress"]),
        (
            "session",
            printed(notes::record_session(view, Some("x"), Some("y"), &facts)),
            &["Last session", "Stopped", "Resume"],
        ),
        ("metric", printed(notes::record_metric(view, metric, &facts)), &["Plan", "------", "Phase 2 P1"]),
        ("progress", printed_found(notes::update_progress(view, &facts)), &["Progress"]),
    ]
}

/// Asserts that the lines outside what a command means keep their bytes, line breaks included.
fn assert_only_meant_lines_change(before: &str, after: &str, command: &str, meant: &[&str]) {
    let front = |text: &str| {
        text.len() - crate::text::front_matter::FrontMatter::parse(text).map_or(text, |front| front.body()).len()
    };
    let (front_before, front_after) = (front(before), front(after));
    for change in TextDiff::from_lines(&before[..front_before], &after[..front_after]).iter_all_changes() {
        let key = change.value().trim_start().split(':').next().unwrap_or_default();
        let ours =
            KEYS.contains(&key) || COUNTERS.contains(&key) || (front_before == 0 && change.value().trim() == "---");
        assert!(change.tag() == ChangeTag::Equal || ours, "{command}: {change:?}");
    }
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    for change in TextDiff::from_lines(&before[front_before..], &after[front_after..]).iter_all_changes() {
        let line = change.value();
        let is_blank = line.trim().is_empty();
        let is_meant = meant.iter().any(|part| line.contains(part)) || (is_blank && change.tag() == ChangeTag::Insert);
        assert!(
            change.tag() == ChangeTag::Equal
                || is_meant
                || line.trim_end() == before.lines().last().unwrap_or_default(),
            "{command}: {change:?}"
        );
        if change.tag() == ChangeTag::Insert && line.ends_with('\n') {
            assert_eq!(line.ends_with("\r\n"), newline == "\r\n", "{command}: {change:?}");
        }
    }
}

#[test]
fn nothing_but_what_is_meant_changes() {
    for project in ["garden", "ledger"] {
        for crlf in [false, true] {
            for mark in ["", "\u{feff}"] {
                let mut files = fixture(project);
                let text = format!("{mark}{}", files.texts[STATE]);
                let text = if crlf { text.replace('\n', "\r\n") } else { text };
                files.texts.insert(STATE.into(), text.clone());
                let view = view(files);
                for (command, outcome, meant) in every_command(&view) {
                    let (_, edits) = outcome.unwrap_or_else(|error| panic!("{command}: {error}"));
                    if let Some(after) = edits.texts.get(STATE) {
                        assert_only_meant_lines_change(&text, after, &format!("{project} {command}"), meant);
                        assert_eq!(State::parse(after).problem(), None, "{project} {command}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_state_is_read_and_written_without_loss(
        front in "(status: [a-z]{0,6}( # c)?\n|mine: [ -~é]{0,8}\n|# note\n|progress:\n  total_plans: [0-9]\n){0,3}",
        body in proptest::collection::vec(prop_oneof![
            Just("## Current Position"), Just("Phase: 2 of 3 (B)"), Just("**Status:** In progress"), Just("| Status | x |"),
            Just("## Decisions"), Just("- [Phase 1]: a"), Just("None yet."), Just(""), Just("text ünï "), Just("```"),
            Just("## Session"), Just("Stopped at:"), Just("## Blockers"), Just("* b"), Just("  more"),
            Just("## Performance Metrics"), Just("| Plan | Duration |"), Just("|---|---|"), Just("Plan: 1 of 2"),
            Just("Progress: [██] 20%"),
        ], 0..24),
        newline in prop_oneof![Just("\n"), Just("\r\n")],
        ends in any::<bool>(),
    ) {
        let mut lines: Vec<&str> = Vec::new();
        if !front.is_empty() {
            lines.push("---");
            lines.extend(front.lines());
            lines.push("---");
        }
        lines.extend(body);
        let mut text = lines.join(newline);
        if ends {
            text.push_str(newline);
        }
        let view = of_text(&text);
        let _ = read::json(&view, &facts()).unwrap();
        let _ = read::snapshot(&view).unwrap();
        for (command, outcome, _) in every_command(&view) {
            match outcome {
                Err(StateError::Garbled { .. }) => prop_assert!(State::parse(&text).problem().is_some()),
                Err(error) => prop_assert!(false, "{command}: {error}"),
                Ok((_, edits)) => {
                    let Some(after) = edits.texts.get(STATE) else { continue };
                    prop_assert!(State::parse(after).problem().is_none(), "{command}: {after}");
                    // Whatever is unknown stays, in its order.
                    let unknown = |text: &str| text.lines().filter(|line| line.starts_with("mine:") || line.starts_with("text") || line.starts_with("# note") || line.starts_with("```")).map(str::to_owned).collect::<Vec<_>>();
                    prop_assert_eq!(unknown(&text), unknown(after), "{}", command);
                }
            }
        }
    }
}
