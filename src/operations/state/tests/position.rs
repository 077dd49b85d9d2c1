//! Tests that move, claim and mirror the position.

use crate::failure::Failure;
use snapbox::{assert_data_eq, str};

use super::super::advance;
use super::super::position::{self, PhaseRequest, Transition};
use super::*;

#[test]
fn a_started_phase_becomes_the_position() {
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
+Phase: 3 of 3 (Ernte) — EXECUTING
+Plan: 1 of 4
+Status: Executing Phase 3   
+Last activity: 2026-01-15 — Phase 3 execution started

"#]],
    );
}

#[test]
fn a_phase_started_in_older_fields_fills_them() {
    check(
        "ledger",
        |view| printed_found(position::begin(view, phase("2", "Reports", 1), &facts())),
        str![[r#"
{"updated":["Status","Last Activity","Last Activity Description","Current Phase","Current Phase Name","Total Plans in Phase","Current Position","gsd_state_version","last_activity","state_head"],"phase":"2","phase_name":"Reports","plan_count":1,"milestone_conflict":null}
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
fn a_phase_started_again_keeps_its_plan() {
    let text = "## Current Position\n\nPhase: 3 (Sync) — EXECUTING\nPlan: 2 of 2\nStatus: Ready to execute\nLast activity: 2026-01-15 — Phase 3 execution started\n";
    let view = of_text(text);
    let request = PhaseRequest { phase: "03", name: None, plans: None };
    assert_data_eq!(
        shown(&view, printed_found(position::begin(&view, request, &facts()))),
        str![[r#"
{"updated":["Status","Current Position","gsd_state_version","state_head"],"phase":"3","phase_name":"Sync","plan_count":null,"milestone_conflict":null}
+---
+gsd_state_version: "1.0"
+current_phase: 3
+current_phase_name: Sync
+status: executing
+last_activity: 2026-01-15
+last_activity_desc: Phase 3 execution started
+---
+
-Status: Ready to execute
+Status: Executing Phase 3

"#]]
    );
}

#[test]
fn a_phase_that_is_being_executed_is_resumed() {
    let text = "## Current Position\n\nPhase: 3 (Sync) — EXECUTING\nPlan: 2 of 2\nStatus: Executing Phase 3\nLast activity: 2026-01-14 — x\n";
    let (_, edits) = position::begin(&of_text(text), phase("3", "Sync", 2), &facts()).unwrap().unwrap();
    let written = &edits.texts[STATE];
    let resumed = "Plan: 2 of 2\nStatus: Executing Phase 3\nLast activity: 2026-01-15 — Phase 3 execution resumed (wave continue)\n";
    assert!(written.contains(resumed), "{written}");
}

#[test]
fn a_text_without_a_position_gets_one() {
    let view = of_text("# Project State\n\nNotes.\n");
    assert_data_eq!(
        shown(&view, printed_found(position::begin(&view, phase("1", "Base", 2), &facts()))),
        str![[r#"
{"updated":["Status","Last Activity","Current Position","gsd_state_version","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"],"phase":"1","phase_name":"Base","plan_count":2,"milestone_conflict":null}
+---
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Base
+status: executing
+last_activity: 2026-01-15
+last_activity_desc: Phase 1 execution started
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
{"updated":["Status","Last Activity","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"],"phase":"3","plan_count":4,"roadmap_updated":true,"reopened":false}
+current_phase: 3
+current_phase_name: Ernte
+last_activity: 2026-01-15
+last_activity_desc: Phase 3 planning complete
-Phase: 2 of 3 (Gießen 💧)
+Phase: 3 of 3 (Ernte) — READY TO EXECUTE
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
+current_phase_name: "Gießen 💧"
+last_activity: 2026-01-15
+last_activity_desc: Phase 2 marked complete
-Phase: 2 of 3 (Gießen 💧)
+Phase: 2 of 3 (Gießen 💧) — COMPLETE
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
        |view| printed_found(advance::advance(view, &facts())),
        str![[r#"
{"advanced":true,"previous_plan":1,"current_plan":2,"total_plans":2,"updated":["Status","Current Position","state_head"],"milestone_conflict":null}
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
        |view| printed_found(advance::advance(view, &facts())),
        str![[r#"
{"advanced":true,"previous_plan":1,"current_plan":2,"total_plans":2,"updated":["Current Plan","Status","Current Position","gsd_state_version","state_head"],"milestone_conflict":null}
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
fn a_status_in_a_persons_own_words_stays_and_a_day_without_text_is_updated() {
    for own in ["Blocked by the API", "Wartet auf Zoë"] {
        let text =
            format!("## Current Position\n\nPhase: 3 (Sync)\nPlan: 1 of 2\nStatus: {own}\nLast activity: 2026-01-12\n");
        let view = of_text(&text);
        let (_, edits) = advance::advance(&view, &facts()).unwrap().unwrap();
        let written = &edits.texts[STATE];
        assert!(written.contains(&format!("Plan: 2 of 2\nStatus: {own}\nLast activity: 2026-01-15\n")), "{written}");
        let (_, edits) = position::planned(&view, phase("3", "Sync", 2), &facts()).unwrap().unwrap();
        let written = &edits.texts[STATE];
        assert!(written.contains(&format!("READY TO EXECUTE\nPlan: 1 of 2\nStatus: {own}\n")), "{written}");
    }
}

#[test]
fn a_text_that_names_no_phase_is_not_completed() {
    let view = of_text("## Current Position\n\nPhase: Not started\n");
    for named in [None, Some("x"), Some("")] {
        let refused = position::complete(&view, named, &facts()).unwrap_err();
        assert_eq!(refused, Failure::refused("`state complete-phase` needs --phase"));
    }
}

#[test]
fn plans_without_a_summary_keep_the_position() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: 2 of 2");
    files.texts.insert(STATE.into(), text);
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(advance::advance(&view, &facts()))),
        str![[r#"
{"advanced":false,"phase_dir":"02-gießen","outstanding_plans":["02-02-PLAN.md"],"milestone_conflict":null,"reason":"plans_outstanding"}

"#]]
    );
}

#[test]
fn verification_comes_after_the_last_plan() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: 2 of 2");
    files.texts.insert(STATE.into(), text);
    files.texts.insert(".planning/phases/02-gießen/02-02-SUMMARY.md".into(), String::new());
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(advance::advance(&view, &facts()))),
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
fn an_unreadable_position_is_reported_with_a_fix() {
    let mut files = fixture("garden");
    let text = files.texts[STATE].replace("Plan: 1 of 2", "Plan: soon, 2");
    files.texts.insert(STATE.into(), text);
    let view = view(files);
    assert_data_eq!(
        shown(&view, printed_found(advance::advance(&view, &facts()))),
        str![[r#"
{"error":"`.planning/STATE.md` does not name the current plan; write `Plan: N of M` under Current Position","reason":"plan_position_unreadable","phase_dir":"02-gießen","disk":{"plan_count":2,"summarized_count":1},"suggested":{"current_plan":2,"total_plans":2,"lines":["Current Plan: 2","Total Plans in Phase: 2"]}}

"#]]
    );
}

#[test]
fn a_transition_moves_on_and_counts_what_was_done() {
    check(
        "garden",
        |view| {
            let mut edit = StateEdit::new(open(view)?.unwrap());
            let transition = Transition { completed: "2", plans: 2, next: Some(("3", Some("Ernte"))) };
            position::move_on(view, &mut edit, &transition, &facts()).unwrap();
            let written = close(view, edit, Rule::Measure, &facts())?;
            let edits = written.edits(view)?;
            printed(Ok((written.updated, edits)))
        },
        str![[r#"
["Current focus","Status","Last Activity","Stopped At","Current Position","Current Phase","Current Phase Name","last_activity","Last Activity Description","state_head"]
-status: executing # set by hand
+current_phase: 3
+current_phase_name: Ernte
+status: planning # set by hand
-stopped_at: Completed 02-01-PLAN.md
+stopped_at: Phase 2 complete, ready to plan Phase 3
+last_activity: 2026-01-15
+last_activity_desc: Phase 2 complete, transitioned to Phase 3
-**Current focus:** Phase 2 — Gießen 💧
+**Current focus:** Phase 3 — Ernte
-Phase: 2 of 3 (Gießen 💧)
-Plan: 1 of 2 in current phase
-Status: In progress   
-Last activity: 2026-01-12 — Completed 02-01
+Phase: 3 of 3 (Ernte) — READY TO PLAN
+Plan: Not started
+Status: Ready to plan   
+Last activity: 2026-01-15 — Phase 2 complete, transitioned to Phase 3
-- Total plans completed: 2
+- Total plans completed: 3
+| 2 | 2 | - | - |
-Stopped at: Completed 02-01-PLAN.md
+Stopped at: Phase 2 complete, ready to plan Phase 3

"#]],
    );
}

#[test]
fn claims_are_valid_for_hours_and_only_against_other_sessions() {
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
        let unit = Facts { is_unit: true, ..facts() };
        let (report, edits) = position::begin(&view, phase("3", "C", 1), &unit).unwrap().unwrap();
        assert!(report.milestone_conflict.is_none() && !edits.texts.contains_key(".planning/milestone.lock"));
    }
}

#[test]
fn the_mirror_keeps_foreign_keys_and_a_broken_file_is_not_changed() {
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
