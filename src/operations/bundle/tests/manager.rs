use super::told;
use crate::operations::bundle::ChainFacts;
use crate::operations::facts::FactsCall;
use serde_json::{Value, json};

const STATE: (&str, &str) = (".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n\nPhase: 3 of 5 (C)\n");

/// A shipped phase, three consecutive phases, and an independent one.
const ROADMAP: (&str, &str) = (
    ".planning/ROADMAP.md",
    "# R\n\n<details>\n<summary>✅ v1.0 A</summary>\n\n### Phase 1: A\n\n</details>\n\n### 🚧 v1.1 More\n\n\
     #### Phase 2: B\n**Depends on**: Phase 1\n\n#### Phase 3: C\n**Depends on**: Phase 2\n\n\
     #### Phase 4: D\n**Depends on**: Phase 3\n\n#### Phase 5: E (deferred)\n",
);

const PLAN: (&str, &str) = (".planning/phases/02-b/02-01-PLAN.md", "p");
const SUMMARY: (&str, &str) = (".planning/phases/02-b/02-01-SUMMARY.md", "s");
const PASSED: (&str, &str) = (".planning/phases/02-b/02-VERIFICATION.md", "---\nstatus: passed\n---\n");

fn manager(files: &[(&str, &str)]) -> Value {
    told(&[&[STATE, ROADMAP], files].concat(), FactsCall::of("manager"))
}

fn steps(told: &Value) -> Vec<String> {
    let actions = told["recommended_actions"].as_array().unwrap();
    actions.iter().map(|action| action["command"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_phase_lists_the_steps_that_can_be_done_now() {
    let fresh = manager(&[]);
    // A shipped phase blocks no other.
    assert_eq!(steps(&fresh), ["/gsd-discuss-phase 2", "/gsd-discuss-phase 5"]);
    assert_eq!(fresh["phases"][0]["dep_phases"], json!(["1"]));
    assert_eq!(fresh["phases"][3].get("dep_phases"), None);
    assert_eq!(fresh["phases"][0]["last_activity"], Value::Null);
    let planned = manager(&[PLAN]);
    assert_eq!(planned["recommended_actions"][0]["reason"], "1 plan ready, dependencies met");
    assert_eq!(planned["phases"][0]["last_activity"], "1970-01-01T00:00:00.000Z");
    assert_eq!(steps(&manager(&[PLAN, SUMMARY]))[0], "/gsd-execute-phase 2");
    let verified = manager(&[PLAN, SUMMARY, PASSED]);
    assert_eq!(steps(&verified)[0], "/gsd-discuss-phase 3");
    assert_eq!((&verified["completed_count"], &verified["all_complete"]), (&json!(1), &json!(false)));
}

#[test]
fn a_phase_in_execution_blocks_the_phases_it_is_linked_to() {
    let under_way = [
        PLAN,
        (".planning/phases/04-d/04-01-PLAN.md", "p"),
        (".planning/phases/04-d/04-02-PLAN.md", "p"),
        (".planning/phases/04-d/04-01-SUMMARY.md", "s"),
    ];
    assert_eq!(steps(&manager(&under_way)), ["/gsd-discuss-phase 5"]);
    let gathered = (".planning/phases/03-c/03-CONTEXT.md", "c");
    assert_eq!(
        steps(&manager(&[PLAN, gathered])),
        ["/gsd-execute-phase 2", "/gsd-plan-phase 3", "/gsd-discuss-phase 5"]
    );
}

#[test]
fn files_that_cannot_be_read_are_reported_in_warnings() {
    let config = (".planning/config.json", r#"{"manager": {"flags": {"plan": "--auto 3", "execute": "; rm -rf /"}}}"#);
    let told = manager(&[config, (".planning/WAITING.json", "{bad")]);
    assert_eq!(told["manager_flags"], json!({"discuss": "", "plan": "--auto 3", "execute": ""}));
    assert_eq!(told["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(told["waiting_signal"], Value::Null);
}

fn yolo(files: &[(&str, &str)], call: FactsCall) -> Value {
    told(&[&[STATE, ROADMAP], files].concat(), call)
}

/// A call in a clean working tree.
fn clean() -> FactsCall {
    FactsCall::of("yolo").with(ChainFacts { git_clean: Some(true), ..ChainFacts::default() })
}

#[test]
fn the_chain_begins_with_the_first_remaining_phase() {
    let told = yolo(&[PLAN, SUMMARY, PASSED, (".planning/phases/03-c/03-CONTEXT.md", "c")], clean());
    assert_eq!((&told["start_phase"], &told["start_step"]), (&json!("3"), &json!("plan")));
    assert_eq!(told["remaining_phases"][1]["command"], "discuss-phase 4 --auto");
    assert_eq!(told["deferred_phases"], json!(["5"]));
    assert_eq!((&told["missing_context"], &told["prerequisites_met"]), (&json!(["4"]), &json!(true)));
    assert_eq!(told["current_phase"], "3");
}

#[test]
fn reasons_against_the_chain_are_listed() {
    let blockers = |files: &[(&str, &str)], request| yolo(files, request)["blockers"].clone();
    assert_eq!(blockers(&[], clean().text(Some("3".to_owned()))), json!(["dependency"]));
    assert_eq!(blockers(&[], clean().text(Some("9".to_owned()))), json!(["unknown_phase"]));
    assert_eq!(blockers(&[], clean().flag("strict-context", true)), json!(["missing_context"]));
    assert_eq!(blockers(&[], FactsCall::of("yolo")), json!(["no_repository"]));
    let active = |updated: &str| {
        let text = format!(r#"{{"workflow": {{"yolo": {{"active": true, "updated_at": "{updated}"}}}}}}"#);
        yolo(&[(".planning/config.json", &text)], clean())
    };
    assert_eq!(active("1970-01-12T13:00:00Z")["blockers"], json!(["active_session"]));
    let stale = active("1970-01-02T13:00:00Z");
    assert_eq!((&stale["yolo"]["stale"], &stale["blockers"]), (&json!(true), &json!([])));
    let nothing = told(&[], clean());
    assert_eq!(nothing["blockers"], json!(["no_planning", "no_roadmap", "no_state"]));
    let broken = yolo(&[(".planning/config.json", "{bad")], clean());
    assert_eq!(broken["prerequisites"]["config_valid"], false);
    let done = [STATE, (".planning/ROADMAP.md", "### Phase 2: B\n"), PLAN, SUMMARY, PASSED];
    assert_eq!(told(&done, clean())["blockers"], json!(["nothing_remaining"]));
}
