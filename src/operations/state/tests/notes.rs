//! Tests of decisions, blockers, metrics, sessions and progress.

use snapbox::str;

use super::super::notes::{self, Metric};
use super::*;

#[test]
fn a_decision_is_added_after_the_last_one() {
    check(
        "garden",
        |view| printed_found(notes::add_decision(view, None, Some("Drip\nlines"), Some("less work"), &facts())),
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
fn blockers_are_added_and_removed() {
    check(
        "ledger",
        |view| printed_found(notes::add_blocker(view, Some("Rates missing"), &facts())),
        str![[r#"
{"added":true,"blocker":"Rates missing"}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
-None
+- Rates missing

"#]],
    );
    check(
        "garden",
        |view| printed_found(notes::resolve_blocker(view, Some("frost"), &facts())),
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
fn a_session_and_a_metric_are_recorded() {
    check(
        "ledger",
        |view| printed_found(notes::record_session(view, Some("Plan 2"), Some("a.md"), &facts())),
        str![[r#"
{"recorded":true,"updated":["Last session","Stopped At","Resume File","gsd_state_version","state_head"],"created":true}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+stopped_at: Plan 2
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
-**Stopped At:** N/A
-**Resume File:** None
+**Last session:** 2026-01-15T18:00:00.000Z
+**Stopped At:** Plan 2
+**Resume File:** a.md

"#]],
    );
    let metric = Metric { phase: Some("2"), plan: Some("1"), duration: Some("5min"), tasks: Some("3"), files: None };
    check(
        "garden",
        |view| printed_found(notes::record_metric(view, metric, &facts())),
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
        |view| printed_found(notes::record_metric(view, metric, &facts())),
        str![[r#"
{"recorded":true,"phase":"2","plan":"1","duration":"5min","created":true}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
+
+## Performance Metrics
+
+| Plan | Duration | Tasks | Files |
+|------|----------|-------|-------|
+| Phase 2 P1 | 5min | 3 tasks | - files |

"#]],
    );
}

#[test]
fn a_missing_section_is_created_with_its_content() {
    let bare = of_text("# S\n");
    let (report, edits) = printed_found(notes::add_decision(&bare, Some("2"), Some("x"), None, &facts())).unwrap();
    assert_eq!(report, r#"{"added":true,"decision":"- [Phase 2]: x","created":true}"#);
    assert!(edits.texts[STATE].ends_with("# S\n\n## Decisions\n\n- [Phase 2]: x\n"), "{edits:?}");
    // In the section of accumulated context, if there is one.
    let kept = of_text("# S\r\n\r\n## Accumulated Context\r\n\r\n### Todos\r\n\r\n## End\r\n");
    let (report, edits) = printed_found(notes::add_blocker(&kept, Some("y"), &facts())).unwrap();
    assert_eq!(report, r#"{"added":true,"blocker":"y","created":true}"#);
    let written = &edits.texts[STATE];
    assert!(written.contains("### Todos\r\n\r\n### Blockers\r\n\r\n- y\r\n\r\n## End\r\n"), "{written}");
    let (report, edits) = printed_found(notes::record_session(&bare, None, Some("a.md"), &facts())).unwrap();
    assert!(report.starts_with(r#"{"recorded":true,"updated":["Last session","Resume File","#), "{report}");
    assert!(report.ends_with(r#""created":true}"#), "{report}");
    let lines = "**Last session:** 2026-01-15T18:00:00.000Z\n**Stopped at:** None\n**Resume file:** a.md\n";
    assert!(edits.texts[STATE].ends_with(&format!("# S\n\n## Session\n\n{lines}")), "{edits:?}");
    let again = printed_found(notes::record_session(&bare.after(&edits), Some("x"), None, &facts())).unwrap();
    assert!(!again.0.contains("created") && again.1.texts[STATE].matches("## Session").count() == 1, "{again:?}");
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
fn entries_are_read_from_the_heading_they_are_written_under() {
    for blockers in ["### Blockers/Concerns", "### Blockers", "## blockers", "### Concerns", "## Blockers/Concerns", ""]
    {
        for decisions in ["### Decisions", "## Decisions Made", "## Decisions", ""] {
            for empty in ["None yet.", "- None", "- ~~old~~ — gone", ""] {
                let head =
                    "# S\n\n## Current Position\n\nPhase: 2 of 5 (B)\nStatus: Executing\n\n## Accumulated Context\n";
                let text = format!(
                    "{head}\n{decisions}\n\n{blockers}\n\n{empty}\n\n## Session Continuity\n\nLast session: x\n"
                );
                let view = of_text(&text);
                let (_, edits) =
                    notes::add_blocker(&view, Some("The vendor key is missing"), &facts()).unwrap().unwrap();
                let view = view.after(&edits);
                let (_, edits) = notes::add_decision(&view, Some("2"), Some("Use sqlite"), Some("small"), &facts())
                    .unwrap()
                    .unwrap();
                let view = view.after(&edits);
                let snapshot = read::snapshot(&view).unwrap().unwrap();
                assert_eq!(snapshot.blockers, ["The vendor key is missing"], "{text}");
                assert_eq!(read::concerns(&view).unwrap(), snapshot.blockers, "{text}");
                let decision = snapshot.decisions.last().unwrap();
                assert_eq!((decision.phase.as_str(), decision.summary.as_str()), ("2", "Use sqlite"), "{text}");
                assert_eq!(decision.rationale, "small", "{text}");
                let (_, edits) = notes::resolve_blocker(&view, Some("vendor key"), &facts()).unwrap().unwrap();
                assert!(read::snapshot(&view.after(&edits)).unwrap().unwrap().blockers.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn a_blocker_that_is_struck_through_or_resolved_does_not_block() {
    for item in [
        "~~The alert is mute~~ — RESOLVED 2026-08-17",
        "The alert is mute (resolved)",
        "~~x~~",
        "RESOLVED: x",
        "[FIXED] x",
    ] {
        let text = format!("# S\n\n## Blockers\n\n- {item}\n- The key is missing\n");
        let snapshot = read::snapshot(&of_text(&text)).unwrap().unwrap();
        assert_eq!(
            (&snapshot.blockers, &snapshot.stopping),
            (&vec!["The key is missing".to_owned()], &snapshot.blockers),
            "{item}"
        );
    }
    for (status, item, stops) in
        [("Executing", "a", 0), ("Blocked on a", "a", 1), ("Executing", "BLOCKED: a", 1), ("x", "unblocked a", 0)]
    {
        let text = format!("# S\n\n## Current Position\n\nStatus: {status}\n\n### Blockers/Concerns\n\n- {item}\n");
        let snapshot = read::snapshot(&of_text(&text)).unwrap().unwrap();
        assert_eq!((snapshot.blockers.len(), snapshot.stopping.len()), (1, stops), "{status} {item}");
    }
}
