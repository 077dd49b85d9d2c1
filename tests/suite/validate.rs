//! The health of a project: what a repair changes, what it does not touch, and how wrong calls fail.

use crate::kit::TestContext;

const CONFIG: &str = "{\r\n    \"zzz\" : 1,\r\n    \"workflow\": {\"research\": false}\r\n}";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# P\n\n## What This Is\n\n## Core Value\n\n## Requirements\n");
    context.write(".planning/ROADMAP.md", "- [ ] **Phase 1: A** - a\n\n### Phase 1: A\n");
    context.write(".planning/STATE.md", "## Current Position\nPhase: 1 of 1 (A)\nStatus: Executing\n");
    context.write(".planning/config.json", CONFIG);
    context
}

#[test]
fn a_repair_adds_two_keys_and_a_second_one_adds_nothing() {
    let context = project();
    let found = context.gsd(["validate", "health"]).json();
    assert_eq!((found["status"].as_str(), found["repairable_count"].as_u64()), (Some("degraded"), Some(2)));
    assert_eq!(context.read(".planning/config.json"), CONFIG, "looking changes nothing");
    let repaired = context.gsd(["validate", "health", "--repair"]).json();
    assert_eq!(repaired["repairs_performed"].as_array().unwrap().len(), 2);
    let written = context.read(".planning/config.json");
    assert!(written.starts_with("{\r\n    \"zzz\" : 1,\r\n    \"workflow\": {\"research\": false"), "{written}");
    let again = context.gsd(["validate", "health", "--repair"]).json();
    assert_eq!((again["status"].as_str(), again.get("repairs_performed")), (Some("healthy"), None));
    assert_eq!(context.read(".planning/config.json"), written);
}

#[test]
fn a_configuration_that_does_not_parse_is_reported_and_left() {
    let context = project();
    context.write(".planning/config.json", "{\"a\": 1,,}");
    let found = context.gsd(["validate", "health", "--repair"]).json();
    assert_eq!((found["status"].as_str(), found["errors"][0]["code"].as_str()), (Some("broken"), Some("E005")));
    assert_eq!(found["repairs_performed"][0]["success"], false);
    assert_eq!(context.read(".planning/config.json"), "{\"a\": 1,,}");
}

#[test]
fn wrong_calls_are_refused() {
    let context = project();
    context.gsd(["validate"]).failure(1);
    context.gsd(["validate", "zzz"]).failure(1);
    context.gsd(["validate", "context", "--tokens-used", "1"]).failure(1);
    for (used, window) in [("x", "10"), ("-5", "10"), ("1.5", "10"), ("1", "0")] {
        context.gsd(["validate", "context", "--tokens-used", used, "--context-window", window]).failure(1);
    }
    let full =
        context.gsd(["validate", "context", "--tokens-used", "699", "--context-window", "1000", "--json"]).json();
    assert_eq!((full["percent"].as_u64(), full["state"].as_str()), (Some(70), Some("warning")));
    let past = context.gsd(["validate", "context", "--tokens-used", "18446744073709551615", "--context-window", "1"]);
    assert!(past.success().starts_with("Context utilization: 100% (critical)\n"));
}

#[test]
fn a_project_without_a_roadmap_is_not_consistent() {
    let context = project();
    assert_eq!(context.gsd(["validate", "consistency", "--raw"]).success(), "passed");
    std::fs::remove_file(context.project().join(".planning/ROADMAP.md")).unwrap();
    assert_eq!(context.gsd(["validate", "consistency", "--raw"]).success(), "failed");
}

#[test]
fn a_dry_run_of_a_repair_claims_no_success() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# P\n");
    let report = context.gsd(["validate", "health", "--repair", "--dry-run"]).json();
    assert_eq!(report["repairs_performed"], serde_json::Value::Null, "{report:#}");
    let planned = report["repairs_planned"].as_array().unwrap();
    assert!(planned.contains(&serde_json::json!({"action": "createConfig", "path": "config.json"})), "{report:#}");
    assert!(!context.project().join(".planning/config.json").exists());
}
