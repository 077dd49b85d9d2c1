//! Findings are kept in the right folder, for as long as they are valid, and a broken file does not count as a finding.

use serde_json::Value;

use crate::kit::{Ran, TestContext};

const NOW: &str = "1767225600000";

fn at(context: &TestContext, now: &str, arguments: &[&str]) -> Ran {
    context.gsd_with(arguments, &[("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", now)], "")
}

fn key_of(context: &TestContext) -> String {
    let plan = context.gsd(["research-plan", "--input", "in.json"]).json();
    plan["items"][0]["key"].as_str().unwrap().to_owned()
}

fn put(context: &TestContext, key: &str, source: &str, more: &[&str]) -> Ran {
    let call = ["research-store", "put", key, "--content", "- é", "--source", source, "--provider", "context7"];
    let call: Vec<&str> =
        call.into_iter().chain(["--confidence", "HIGH", "--kind", "docs"]).chain(more.iter().copied()).collect();
    at(context, NOW, &call)
}

#[test]
fn a_finding_is_kept_for_a_day_and_requested_again_after_that() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# App\n");
    context.write("in.json", r#"{"questions": [{"text": "How?", "kind": "docs", "library": "x"}]}"#);
    let key = key_of(&context);
    assert_eq!(context.gsd(["research-store", "get", &key]).json()["hit"], false);
    let file = format!(".planning/research/.cache/{key}.json");
    assert_eq!(put(&context, &key, "http://x", &["--dry-run"]).json()["dry_run"], true);
    assert!(!context.project().join(&file).exists());
    let told = put(&context, &key, "http://x", &[]).json();
    assert_eq!((&told["ttl"], &told["changed"][0]["file"]), (&86_400_000.into(), &Value::from(file.as_str())));
    let plan = |now: &str| at(&context, now, &["research-plan", "--input", "in.json"]).json()["items"][0].clone();
    assert_eq!((plan(NOW)["fetch"].clone(), plan(NOW)["cache"]["stale"].clone()), (Value::Null, false.into()));
    let later = plan("1767398400000");
    assert_eq!((&later["fetch"]["provider"], &later["cache"]["stale"]), (&"context7".into(), &true.into()));
    context.write(&file, "{bad");
    assert_eq!(context.gsd(["research-store", "get", &key]).json()["hit"], false);
}

#[test]
fn curated_findings_are_kept_in_the_users_own_folder() {
    let context = TestContext::new();
    let key = "b".repeat(64);
    let file = context.home().join(".gsd/research-cache").join(format!("{key}.json"));
    assert_eq!(put(&context, &key, "curated", &["--dry-run"]).json()["dry_run"], true);
    assert!(!file.exists());
    assert_eq!(put(&context, &key, "curated", &[]).json()["ttl"], 30 * 86_400_000_i64);
    assert!(file.is_file() && !context.project().join(".planning/research").exists());
    let kept = at(&context, NOW, &["research-store", "get", &key]).json();
    assert_eq!((&kept["hit"], &kept["entry"]["content"]), (&true.into(), &"- é".into()));
}

#[test]
fn an_agent_adds_findings_to_its_project_only() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# App\n");
    let key = "c".repeat(64);
    let as_agent = |source: &str| {
        let call = ["research-store", "put", &key, "--content", "x", "--source", source, "--provider", "context7"];
        let call: Vec<&str> = call.into_iter().chain(["--confidence", "HIGH", "--kind", "docs"]).collect();
        context.gsd_with(&call, &[("CLAUDECODE", "1")], "")
    };
    let refused = as_agent("curated").failure(77);
    assert!(refused.contains("CLAUDECODE is set") && !context.home().join(".gsd").exists(), "{refused}");
    assert_eq!(as_agent("http://x").json()["source"], "http://x");
}

#[test]
fn an_invalid_key_or_plan_writes_nothing() {
    let context = TestContext::new();
    for key in ["zz", "../../../x", &"A".repeat(64)] {
        let _ = put(&context, key, "curated", &[]).failure(1);
        let _ = context.gsd(["research-store", "get", key]).failure(1);
    }
    let _ = put(&context, &"a".repeat(64), "x", &["--confidence", "SURE"]).failure(1);
    assert!(!context.home().join(".gsd").exists() && !context.project().join(".planning").exists());
    for (text, why) in [("{bad", "not valid JSON"), ("[]", "`questions`"), (r#"{"questions": [null]}"#, "question 1")] {
        context.write("in.json", text);
        let told = context.gsd(["research-plan", "--input", "in.json"]).failure(1);
        assert!(told.contains(why) && told.contains("in.json"), "{told}");
    }
    let _ = context.gsd(["research-plan", "--input", "gone.json"]).failure(1);
    let _ = context.gsd(["research-plan"]).failure(1);
}
