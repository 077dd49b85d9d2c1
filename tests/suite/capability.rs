//! `capability` and `loop`: features are switched in the user's own files, byte for byte, and the loop follows.

use serde_json::Value;

use crate::kit::TestContext;

const CONFIG: &str = ".planning/config.json";
const SURFACE: &str = ".claude/.gsd-surface.json";

fn project(config: &str) -> TestContext {
    let context = TestContext::new();
    context.write(CONFIG, config);
    context
}

fn surface(context: &TestContext) -> Option<String> {
    std::fs::read_to_string(context.home().join(SURFACE)).ok()
}

fn write_surface(context: &TestContext, text: &str) {
    std::fs::create_dir_all(context.home().join(".claude")).unwrap();
    std::fs::write(context.home().join(SURFACE), text).unwrap();
}

fn features_at(context: &TestContext, point: &str) -> Vec<String> {
    let report = context.gsd(["loop", "render-hooks", point]).json();
    let hooks = report["activeHooks"].as_array().unwrap().iter();
    hooks.map(|hook| hook["capId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_feature_is_hidden_and_shown_again_and_the_loop_follows() {
    const ALL: [&str; 11] = [
        "ai-integration",
        "research",
        "ui",
        "pattern-mapper",
        "ai-integration",
        "assumption-delta",
        "schema-gate",
        "security",
        "drift",
        "drift",
        "ui",
    ];
    let others: Vec<&str> = ALL.into_iter().filter(|feature| *feature != "ai-integration").collect();
    let context = project("{}");
    assert_eq!(features_at(&context, "plan:pre"), ALL);
    let told = context.gsd(["capability", "disable", "ai-integration"]).json();
    assert_eq!((&told["enabled"], &told["surfaced"]), (&Value::Bool(false), &Value::Bool(false)));
    assert_eq!(told["changed"][0]["created"], true);
    let made = surface(&context).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["disabledClusters"], Value::from(vec!["ai-integration"]));
    assert_eq!(features_at(&context, "plan:pre"), others);
    let again = context.gsd(["capability", "disable", "ai-integration"]).json();
    assert_eq!((&again["updated"], surface(&context)), (&Value::Bool(false), Some(made)));
    let _ = context.gsd(["capability", "enable", "ai-integration"]).json();
    assert_eq!(features_at(&context, "plan:pre"), ALL);
}

#[test]
fn both_files_change_only_where_they_must() {
    let context = project("{\r\n  \"mine\": 1.50,\r\n  \"workflow\": {\"ui_review\": true}\r\n}");
    write_surface(&context, "{\"own\": [1,  2], \"disabledClusters\": [\"x\"]}");
    let call = ["capability", "set", "ui", "--off", "--gate", "workflow.ui_review=false", "--dry-run"];
    let rehearsed = context.gsd(call).json();
    assert_eq!(rehearsed["dry_run"], true);
    let diff = rehearsed["diff"].as_str().unwrap();
    assert!(diff.contains("ui_review\": false") && diff.contains(".gsd-surface.json"), "{diff}");
    assert_eq!(surface(&context).unwrap(), "{\"own\": [1,  2], \"disabledClusters\": [\"x\"]}");
    let call = ["capability", "set", "ui", "--off", "--gate", "workflow.ui_review=false"];
    assert_eq!(context.gsd(call).json()["changed"].as_array().unwrap().len(), 2);
    assert_eq!(context.read(CONFIG), "{\r\n  \"mine\": 1.50,\r\n  \"workflow\": {\"ui_review\": false}\r\n}");
    let after = surface(&context).unwrap();
    assert!(after.starts_with("{\"own\": [1,  2], "), "{after}");
}

#[test]
fn a_call_that_fails_changes_nothing() {
    for (call, why) in [
        (&["disable", "drift"][..], "has no workflows"),
        (&["disable", "uii"], "did you mean `ui`"),
        (&["set", "ui", "--off", "--gate", "workflow.nope=true"], "has no gate"),
        (&["set", "ui", "--off", "--gate", "workflow.ui_phase=maybe"], "has to be `true` or `false`"),
        (&["set", "ui", "--on", "--off"], "cannot be used with"),
        (&["install", "https://example.com/feature"], "installed from folders only"),
    ] {
        let context = project("{}");
        let call: Vec<&str> = std::iter::once("capability").chain(call.iter().copied()).collect();
        let told = context.gsd_with(&call, &[], "").failure(1);
        assert!(told.contains(why), "{call:?}: {told}");
        assert_eq!((surface(&context), context.read(CONFIG)), (None, "{}".to_owned()), "{call:?}");
    }
}

#[test]
fn a_file_that_does_not_parse_is_never_written() {
    let context = project("{}");
    write_surface(&context, "{bad");
    let call = ["capability", "set", "ui", "--off", "--gate", "workflow.ui_phase=false"];
    let told = context.gsd(call).failure(1);
    assert!(told.contains(".gsd-surface.json") && told.contains("cannot edit"), "{told}");
    assert_eq!((surface(&context).as_deref(), context.read(CONFIG).as_str()), (Some("{bad"), "{}"));
    let seen = context.gsd(["loop", "render-hooks", "verify:pre"]);
    assert!(seen.stderr.contains("ignored"), "{}", seen.stderr);
    let context = project("{bad");
    let call = ["capability", "set", "ui", "--off", "--gate", "workflow.ui_phase=false"];
    let _ = context.gsd(call).failure(1);
    assert_eq!((surface(&context), context.read(CONFIG)), (None, "{bad".to_owned()));
}

#[test]
fn a_host_is_identified_by_its_folder_or_its_name() {
    let context = project("{}");
    let folder = context.home().join("elsewhere");
    let call = ["capability", "disable", "ai-integration", "--config-dir", folder.to_str().unwrap()];
    let _ = context.gsd(call).json();
    assert!(folder.join(".gsd-surface.json").is_file() && surface(&context).is_none());
    let report = context.gsd(["loop", "render-hooks", "plan:pre", "--config-dir", folder.to_str().unwrap()]).json();
    assert_eq!(report["activeHooks"].as_array().unwrap().len(), 9);
    assert_eq!(features_at(&context, "plan:pre").len(), 11);
    let asks = |feature: &str| context.gsd(["loop", "render-hooks", "plan:pre", "--active-cap", feature]).success();
    assert_eq!(
        [asks("security"), asks("mempalace")],
        ["true\n", "false\n"],
        "the work of `mempalace` is not installed"
    );
}

#[test]
fn a_built_in_feature_is_neither_installed_nor_removed() {
    let context = project("{}");
    let run = |call: &str| context.gsd_with(call.split(' '), &[], "");
    for call in ["capability install ui", "capability update ui", "capability remove ui", "capability trust revoke ui"]
    {
        assert!(run(call).failure(1).contains("built in"), "{call}");
    }
    for call in ["capability trust list", "capability trust list --json", "capability outdated --json"] {
        assert_eq!(run(call).json(), Value::Array(Vec::new()), "{call}");
    }
    assert!(run("capability outdated").success().starts_with("ID  Source"));
    let rows = run("capability list").json();
    let states = run("capability state").json()["capabilities"].clone();
    let names = |list: &Value| {
        list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&rows), names(&states));
    assert!(names(&rows).contains(&"ui".to_owned()));
}
