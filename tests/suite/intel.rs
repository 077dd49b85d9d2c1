//! Facts about the code: on and off, stamps, snapshots.

use crate::kit::TestContext;

const ON: &str = r#"{"intel":{"enabled":true}}"#;

#[test]
fn nothing_is_kept_unless_requested() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    for verb in ["status", "update", "diff", "snapshot", "validate", "api-surface"] {
        assert_eq!(context.gsd(["intel", verb]).json()["disabled"], true, "{verb}");
    }
    assert!(!context.project().join(".planning/intel").exists());
    assert!(context.gsd(["intel", "query"]).failure(1).contains("needs <TERM>"));
}

#[test]
fn a_stamp_reports_what_it_changed_and_an_unreadable_file_keeps_its_bytes() {
    let context = TestContext::new();
    let file = ".planning/intel/stack.json";
    context.write(file, "{\"_meta\": {\"version\": 1},\r\n \"languages\": [ \"rust\" ]}\r\n");
    let shown = context.gsd(["intel", "patch-meta", file, "--dry-run"]).json();
    assert!(shown["diff"].as_str().is_some_and(|diff| diff.contains("updated_at")), "{shown}");
    let report = context.gsd(["intel", "patch-meta", file]).json();
    assert_eq!(report["patched"], true);
    let fields: Vec<&str> =
        report["changed"].as_array().unwrap().iter().filter_map(|change| change["field"].as_str()).collect();
    assert_eq!(fields, ["_meta.version", "_meta.updated_at"]);
    assert!(context.read(file).ends_with(",\r\n \"languages\": [ \"rust\" ]}\r\n"));
    for broken in ["{", "[]", "{\"_meta\": 3}"] {
        context.write(file, broken);
        let report = context.gsd(["intel", "patch-meta", file]).json();
        assert!(report["patched"] == false && report["error"].is_string(), "{report}");
        assert_eq!(context.read(file), broken);
    }
    assert!(context.gsd(["intel", "patch-meta", "nope.json"]).json()["error"].as_str().unwrap().contains("nope.json"));
    assert!(context.gsd(["intel", "patch-meta", "../x.json"]).failure(1).contains("outside"));
    assert!(context.gsd(["intel", "patch-meta"]).failure(1).contains("needs <FILE>"));
}

#[test]
fn a_file_that_changed_since_the_snapshot_is_reported() {
    let context = TestContext::new();
    context.write(".planning/config.json", ON);
    context.write(".planning/intel/stack.json", "{}");
    assert_eq!(context.gsd(["intel", "diff"]).json()["no_baseline"], true);
    assert_eq!(context.gsd(["intel", "snapshot"]).json()["files"], 1);
    context.write(".planning/intel/stack.json", "{ }");
    context.write(".planning/intel/api-map.json", "{}");
    let report = context.gsd(["intel", "diff"]).json();
    assert_eq!((&report["changed"][0], &report["added"][0]), (&"stack.json".into(), &"api-map.json".into()));
    let page = context.gsd(["intel", "api-surface"]).json();
    assert_eq!(page["symbolCount"], 0);
    assert_eq!(context.gsd(["intel", "api-surface"]).json()["updated"], false);
}

#[test]
fn exports_are_read_from_a_file_and_a_missing_file_does_not_count_as_empty() {
    let context = TestContext::new();
    context.write("src/a.ts", "export const foo = 1;\n");
    assert_eq!(context.gsd(["intel", "extract-exports", "src/a.ts", "--pick", "exports"]).success(), "foo");
    let missing = ["--exit-contract=v2", "intel", "extract-exports", "src/b.ts"];
    assert!(context.gsd(missing).code == 80);
    assert!(context.gsd(["intel", "extract-exports", "src"]).failure(1).contains("src"));
}

#[test]
fn a_disabled_index_is_reported_and_an_enabled_one_is_checked() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    for call in [["intel", "status"], ["intel", "update"], ["intel", "validate"]] {
        assert_eq!(context.gsd(call).json()["disabled"], true, "{call:?}");
    }
    context.write(".planning/config.json", r#"{"intel":{"enabled":true}}"#);
    assert_eq!(context.gsd(["intel", "status"]).json()["overall_stale"], true);
    assert_eq!(context.gsd(["intel", "update"]).json()["action"], "spawn_agent");
    let files = context.gsd(["intel", "validate"]).json();
    assert_eq!((&files["valid"], files["errors"].as_array().unwrap().is_empty()), (&false.into(), false));
}
