//! Tests of setting fields by name, and of the index that is updated with them.

use snapbox::{assert_data_eq, str};

use super::super::{notes, update};
use super::*;

fn set(field: &'static str, value: &'static str) -> impl Fn(&ProjectView) -> StateEdited {
    move |view: &ProjectView| printed(update::update(view, field, value, &facts()))
}

#[test]
fn fields_of_the_body_are_set_wherever_they_are() {
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
{"updated":true,"preserved":["gsd_state_version","state_head"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
-| Owner | Ada /| Bob |
+| Owner | Ada /| Bob /| Cy |

"#]],
    );
    check(
        "ledger",
        set("progress", "50%"),
        str![[r#"
{"updated":true,"preserved":["gsd_state_version","state_head"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
-| Progress | 0% |
+| Progress | 50% |

"#]],
    );
    check(
        "ledger",
        set("Stopped_At", "Plan 2"),
        str![[r#"
{"updated":true,"preserved":["gsd_state_version","state_head"]}
+gsd_state_version: "1.0"
+current_phase: 1
+current_phase_name: Core
+current_plan: 1
+status: Not started
+stopped_at: Plan 2
+last_activity: 2026-01-02
+last_activity_desc: Workstream created
-**Stopped At:** N/A
+**Stopped At:** Plan 2

"#]],
    );
}

#[test]
fn keys_of_the_front_matter_are_set_if_they_have_no_field() {
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
{"updated":false,"reason":"STATE.md has no field `Nope`","preserved":[]}

"#]],
    );
    check(
        "garden",
        set("progress.percent", "90"),
        str![[r#"
{"updated":false,"reason":"STATE.md has no field `progress.percent`","preserved":[]}

"#]],
    );
    check(
        "garden",
        set("tags", "x"),
        str![[r#"
{"updated":false,"reason":"STATE.md has no field `tags`","preserved":[]}

"#]],
    );
}

#[test]
fn a_derived_key_is_not_reported_as_set() {
    for key in ["last_updated", "state_head", "milestone_name"] {
        let outcome = set(key, "x")(&view(fixture("garden"))).unwrap();
        assert!(outcome.0.starts_with(r#"{"updated":false,"#) && outcome.1.is_empty(), "{key}: {outcome:?}");
    }
}

#[test]
fn without_state_md_no_field_can_be_patched() {
    let fields = [("Status".to_owned(), "x".to_owned()), ("Nope".to_owned(), "y".to_owned())];
    let (report, edits) = update::patch(&view(MemoryFiles::default()), &fields, &facts()).unwrap();
    assert!(report.updated.is_empty() && report.failed == ["Status", "Nope"] && edits.is_empty());
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
fn the_index_is_updated_only_for_changed_fields() {
    let text = "---\nstatus: verifying\nlast_activity: 2026-03-01\nstopped_at: by hand\n---\n\n## Current Position\n\nPhase: 2 (B)\nStatus: In progress\nLast activity: 2026-02-01 — x\n\n## Session\n\nStopped at: elsewhere\n\n## Blockers\n";
    let view = of_text(text);
    assert_data_eq!(
        shown(&view, printed_found(notes::add_blocker(&view, Some("y"), &facts()))),
        str![[r#"
{"added":true,"blocker":"y"}
+gsd_state_version: "1.0"
+current_phase: 2
+current_phase_name: B
+last_activity_desc: x
+
+- y

"#]]
    );
    assert_data_eq!(
        shown(&view, printed(update::update(&view, "Status", "Stopped", &facts()))),
        str![[r#"
{"updated":true,"preserved":["gsd_state_version","state_head"]}
-status: verifying
+gsd_state_version: "1.0"
+current_phase: 2
+current_phase_name: B
+status: paused
+last_activity_desc: x
-Status: In progress
+Status: Stopped

"#]]
    );
}
