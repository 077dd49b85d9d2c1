//! Front matter, requirements, todos and acceptance tests: what is written, what is refused, what stays unchanged.

use crate::kit::TestContext;

const PLAN: &str = "---\r\nwave: 1 # first\r\nmust_haves:\r\n  artifacts:\r\n    - path: a.ts\r\n---\r\n\r\n- x\r\n# T";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/P.md", PLAN);
    context
}

#[test]
fn fields_are_read_as_strings() {
    let context = project();
    let get = |arguments: &[&str]| context.gsd_with([&["frontmatter", "get"], arguments].concat(), &[], "");
    assert_eq!(get(&[".planning/P.md"]).json()["must_haves"]["artifacts"][0], "path: a.ts");
    assert_eq!(get(&[".planning/P.md", "--field", "wave"]).json()["wave"], "1");
    assert_eq!(get(&[".planning/P.md", "--field", "wave", "--raw"]).success(), "\"1\"");
    assert_eq!(get(&[".planning/P.md", "--field", "zzz"]).json()["error"], "Field not found");
    assert_eq!(get(&["P.md", "--cwd", ".planning", "--pick", "wave"]).success(), "1");
    assert_eq!(get(&["nope.md"]).json()["error"], "File not found");
    for (text, warns) in [
        ("---\nwave: 1\nx\n", true),
        ("---\n\n# A rule above a text\n\nnote: here\n", false),
        ("---\nWords without a key\n", false),
        ("---\nwave: 1\n---\n", false),
    ] {
        context.write("rule.md", text);
        let told = get(&["rule.md"]).stderr;
        assert_eq!(told.contains("never closed"), warns, "{text}: {told}");
    }
    assert!(get(&[".planning"]).failure(1).contains("cannot read"));
}

#[test]
fn setting_a_field_keeps_the_rest_of_the_file() {
    let context = project();
    let set = ["frontmatter", "set", ".planning/P.md", "--field", "wave", "--value", "3"];
    assert_eq!(context.gsd(set).json()["value"], 3);
    assert_eq!(context.read(".planning/P.md"), PLAN.replace("wave: 1", "wave: 3"));
    let merged =
        context.gsd(["frontmatter", "merge", ".planning/P.md", "--data", r#"{"wave":null,"tags":["a","b: c"]}"#]);
    assert_eq!(merged.json()["fields"], serde_json::json!(["wave", "tags"]));
    let after = PLAN.replace("wave: 1 # first\r\n", "").replace("a.ts\r\n---", "a.ts\r\ntags: [a, \"b: c\"]\r\n---");
    assert_eq!(context.read(".planning/P.md"), after);
    assert!(!context.project().join(".gsd-transaction").exists());
}

#[test]
fn a_file_outside_the_planning_folder_can_be_set_too() {
    let context = project();
    context.write("docs/a.md", "# T\n");
    let set = ["frontmatter", "set", "a.md", "--field", "x", "--value", "1", "--cwd", "docs", "--raw"];
    assert_eq!(context.gsd(set).success(), "true");
    assert_eq!(context.read("docs/a.md"), "---\nx: 1\n---\n\n# T\n");
}

#[test]
fn a_field_that_cannot_be_set_safely_is_refused_and_unchanged() {
    let context = project();
    let set = |file: &str, field: &str| context.gsd(["frontmatter", "set", file, "--field", field, "--value", "x"]);
    assert!(set(".planning/P.md", "must_haves").json()["error"].as_str().unwrap().contains("list of maps"));
    assert_eq!(context.read(".planning/P.md"), PLAN);
    for (text, told) in [("---\na: [x\nb: 1\n---\n", "line 2"), ("---\na: 1\n", "never closed")] {
        context.write(".planning/bad.md", text);
        assert!(set(".planning/bad.md", "b").failure(1).contains(told));
        assert_eq!(context.read(".planning/bad.md"), text);
    }
    context.write("../outside.md", "# T\n");
    let of_agent = ["frontmatter", "set", "../outside.md", "--field", "a", "--value", "x"];
    let refused = context.gsd_with(of_agent, &[("CLAUDECODE", "1")], "").failure(77);
    assert!(refused.contains("outside the project"), "{refused}");
    assert_eq!(context.read("../outside.md"), "# T\n");
    assert_eq!(set("nope.md", "a").json()["error"], "File not found");
    assert!(context.gsd(["frontmatter", "merge", ".planning/P.md", "--data", "[1]"]).failure(1).contains("object"));
}

#[test]
fn a_schema_reports_what_is_missing() {
    let context = project();
    let validate = ["frontmatter", "validate", ".planning/P.md", "--schema"];
    let told = context.gsd_with(validate.iter().chain(&["plan"]), &[], "").json();
    assert_eq!(told["present"], serde_json::json!(["wave", "must_haves"]));
    assert_eq!(context.gsd_with(validate.iter().chain(&["plan", "--raw"]), &[], "").success(), "invalid");
    assert!(context.gsd_with(validate.iter().chain(&["uat"]), &[], "").failure(1).contains("verification"));
}

#[test]
fn requirements_are_completed_and_opened_again() {
    let text =
        "- [ ] **A-1**: a\r\n- [x] **A-2**: b\r\n\r\n| Requirement | Status |\r\n|---|---|\r\n| A-1 | Pending |\r\n";
    let context = project();
    let mark = |ids: &str| context.gsd(["requirements", "mark-complete", ids]);
    assert_eq!(mark("A-1").json()["reason"], "REQUIREMENTS.md not found");
    context.write(".planning/REQUIREMENTS.md", text);
    let told = mark("[A-1, A-2, Z-9]").json();
    assert_eq!((&told["marked_complete"][0], &told["not_found"][0]), (&"A-1".into(), &"Z-9".into()));
    let done = text.replace("[ ]", "[x]").replace("Pending", "Complete");
    assert_eq!(context.read(".planning/REQUIREMENTS.md"), done);
    let again = context.gsd(["requirements", "mark-complete", "A-1", "A-2", "--raw"]).success();
    assert_eq!(again, "0/2 requirements marked complete");
    assert_eq!(context.gsd(["requirements", "revert-phase", "A-1"]).json()["reverted"][0], "A-1");
    assert_eq!(context.read(".planning/REQUIREMENTS.md"), text.replace("Pending", "Gaps Found"));
    let ready = context.gsd(["requirements", "ready-ids", ".planning/P.md", "A-1,A-2"]).json();
    assert_eq!(ready["ready"].as_array().unwrap().len(), 2);
    assert!(context.gsd(["requirements", "mark-complete"]).failure(1).contains("needs a requirement"));
}

#[test]
fn todos_are_listed_and_counted() {
    let context = project();
    context.write(".planning/todos/pending/a.md", "---\ntitle: \"T: x\"\narea: api\n---\n");
    context.write(".planning/todos/pending/b.md", "# nothing said\n");
    let all = context.gsd(["list-todos"]).json();
    assert_eq!(all["todos"][0]["title"], "T: x");
    assert_eq!(all["todos"][1]["area"], "general");
    assert_eq!(context.gsd(["list-todos", "api", "--raw"]).success(), "1");
    context.write(".planning/ROADMAP.md", "### Phase 2: The API\n");
    assert_eq!(context.gsd(["todo", "match-phase", "2", "--pick", "matches[0].file"]).success(), "a.md");
}

#[test]
fn a_todo_is_completed_once_and_a_dry_run_works_before() {
    let context = project();
    let text = "---\r\ntitle: x\r\n---\r\nbody";
    context.write(".planning/todos/pending/a.md", text);
    let rehearsed = context.gsd(["todo", "complete", "a.md", "--dry-run"]).json();
    assert_eq!(rehearsed["would_move"]["target"], ".planning/todos/completed/a.md");
    assert_eq!(context.read(".planning/todos/pending/a.md"), text);
    assert_eq!(context.gsd(["todo", "complete", "a.md", "--raw"]).success(), "completed");
    let done = context.read(".planning/todos/completed/a.md");
    assert!(done.starts_with("---\r\ntitle: x\r\ncompleted: 20") && done.ends_with("\r\n---\r\nbody"), "{done}");
    assert!(!context.project().join(".planning/todos/pending/a.md").exists());
    assert!(context.gsd(["todo", "complete", "a.md"]).failure(1).contains("`a.md`"));
    context.write(".planning/todos/pending/a.md", "new");
    assert!(context.gsd(["todo", "complete", "a.md"]).failure(1).contains("already exists"));
    assert_eq!(context.read(".planning/todos/completed/a.md"), done);
    assert!(context.gsd(["todo", "complete", "../x.md"]).failure(1).contains("plain file name"));
}

#[test]
fn the_current_test_is_shown_to_the_person() {
    let context = project();
    context.write(
        ".planning/U.md",
        "## Current Test\n\nnumber: 2\nname: Log in\nexpected: |\n  See\n  this\nawaiting: user\n",
    );
    let told = context.gsd(["uat", "render-checkpoint", "--file", ".planning/U.md"]).json();
    assert_eq!((told["test_number"].as_u64(), told["test_name"].as_str()), (Some(2), Some("Log in")));
    let text = context.gsd(["uat", "render-checkpoint", "--file", ".planning/U.md", "--raw"]).success();
    assert_eq!(told["checkpoint"], text.as_str());
    assert!(text.contains("**Test 2: Log in**\n\nSee\nthis\n"), "{text}");
    assert!(context.gsd(["uat", "render-checkpoint", "--file", "nope.md"]).failure(1).contains("nope.md"));
    assert!(context.gsd(["uat", "render-checkpoint", "--file", "../x.md"]).failure(1).contains("outside"));
    assert!(context.gsd(["uat", "render-checkpoint"]).failure(1).contains("--file"));
}

#[test]
fn a_project_in_the_other_layout_is_imported_and_stays_unchanged() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["from-gsd2"]).json()["success"], false);
    assert_eq!(context.gsd(["from-gsd2", "--path", "nope"]).json()["success"], false);
    assert!(!context.project().join("nope").exists());
    let roadmap = "# M001: MVP\n\n## Slices\n\n- [ ] **S01: First** `depends:[]`\n";
    context.write("sub/.gsd/milestones/M001/M001-ROADMAP.md", roadmap);
    let shown = context.gsd(["from-gsd2", "--path", "sub", "--dry-run"]).json();
    assert_eq!((&shown["success"], &shown["dryRun"]), (&true.into(), &true.into()));
    assert!(!context.project().join("sub/.planning").exists());
    let report = context.gsd(["from-gsd2", "--path", "sub"]).json();
    assert_eq!((&report["success"], &report["filesWritten"]), (&true.into(), &4.into()));
    assert!(context.read("sub/.planning/ROADMAP.md").contains("- [ ] **Phase 1: First** - First\n"));
    assert_eq!(context.read("sub/.gsd/milestones/M001/M001-ROADMAP.md"), roadmap);
    context.write("sub/.planning/PROJECT.md", "mine");
    let refused = context.gsd(["from-gsd2", "--path", "sub"]).json();
    assert!(refused["error"].as_str().unwrap().contains("--force archives"));
    let report = context.gsd(["from-gsd2", "--path", "sub", "--force"]).json();
    let kept = format!("sub/{}/PROJECT.md", report["kept"].as_str().unwrap());
    assert_eq!(context.read(&kept), "mine");
    let analysis = context.gsd(["roadmap", "analyze", "--cwd", "sub"]).json();
    assert_eq!((&analysis["phase_count"], &analysis["next_phase"]), (&1.into(), &"1".into()));
}
