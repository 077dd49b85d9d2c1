//! Results that once counted as success wrongly: documents with content that no program reads; decisions, gaps and
//! checks that were skipped; a branch that already existed.

use serde_json::{Value, json};

use crate::kit::TestContext;

const PLAN: &str = "---\nphase: 01-a\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: []\n\
    autonomous: true\nmust_haves:\n---\n\n<task type=\"auto\"><name>N</name><files>f</files><action>a</action>\
    <verify><automated>v</automated></verify><done>d</done></task>\n";

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let ran = context.command("git").args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_document_with_a_nul_byte_is_not_valid() {
    let context = TestContext::new();
    let at = ".planning/phases/01-a/01-01-PLAN.md";
    let structure = || context.gsd(["verify", "plan-structure", at]).json();
    let fields = || context.gsd(["frontmatter", "validate", at, "--schema", "plan"]).json();
    context.write(at, PLAN);
    assert_eq!(
        (&structure()["valid"], &fields()["valid"], &fields()["errors"]),
        (&json!(true), &json!(true), &json!([]))
    );
    context.write(at, &format!("{PLAN}a\0b"));
    for answer in [structure(), fields()] {
        let error = answer["errors"][0].as_str().unwrap();
        assert_eq!(answer["valid"], false);
        assert!(error.contains(at) && error.contains(&format!("byte {}", PLAN.len() + 1)), "{error}");
    }
    for (file, schema, front) in [
        ("01-01-SUMMARY.md", "summary", "phase: 1\nplan: 1\nsubsystem: x\ntags: []\nduration: 1\ncompleted: 1"),
        ("01-VERIFICATION.md", "verification", "phase: 1\nverified: x\nstatus: passed\nscore: 1/1"),
    ] {
        let at = format!(".planning/phases/01-a/{file}");
        context.write(&at, &format!("---\n{front}\n---\n\0"));
        assert_eq!(context.gsd(["frontmatter", "validate", &at, "--schema", schema]).json()["valid"], false, "{file}");
    }
}

#[test]
fn decisions_that_cannot_be_read_do_not_count_as_covered() {
    let context = TestContext::new();
    let (phase, file) = (".planning/phases/01-a", ".planning/phases/01-a/01-CONTEXT.md");
    context.write(&format!("{phase}/01-01-PLAN.md"), "<task><done>D-01</done></task>");
    let check = |verb: &str| context.gsd(["check", verb, phase, file]).json();
    for (decisions, total) in
        [("- **D-01:** SQLite\n- D-02: no server\n", 1), ("- **D-01 SQLite\n", 0), ("- Use SQLite\n- No server\n", 0)]
    {
        context.write(file, &format!("<decisions>\n{decisions}</decisions>\n"));
        let plans = check("decision-coverage-plan");
        assert_eq!(
            (&plans["passed"], &plans["skipped"], &plans["reason"], &plans["total"]),
            (&json!(false), &json!(false), &json!("could-not-parse"), &json!(total)),
            "{decisions}"
        );
        assert_eq!(check("decision-coverage-verify")["reason"], "could-not-parse");
    }
    context.write(file, "<decisions>\n- **D-01:** before or after the sub-command?\n</decisions>\n");
    let asked = check("decision-coverage-plan");
    assert_eq!(asked["passed"], true);
    assert!(asked["warnings"][0].as_str().unwrap().contains("D-01"), "{asked}");
}

/// The open items of one file of the phase, as name, result and category.
fn open_items(context: &TestContext, file: &str) -> Vec<String> {
    let report = context.gsd(["audit-uat"]).json();
    let results = report["results"].as_array().unwrap().clone();
    assert_eq!(report["summary"]["total_files"], results.len());
    let of_file = results.into_iter().find(|result| result["file"] == file);
    let items = of_file.and_then(|result| result["items"].as_array().cloned()).unwrap_or_default();
    let told = |item: &Value| {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}, {}", text("name"), text("result"), text("category"))
    };
    items.iter().map(told).collect()
}

#[test]
fn items_that_a_phase_left_for_later_are_open() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-UAT.md", "---\nstatus: testing\n---\n### 1. A\nresult: [pending]\n");
    context.write(
        ".planning/phases/01-a/deferred-items.md",
        "- one\n- two\n  status: open\n- three\n  status: resolved\n- four\n  status: acknowledged\n",
    );
    let open = open_items(&context, "deferred-items.md");
    assert_eq!(open, ["one: unresolved, deferred", "two: unresolved, deferred"]);
    let report = context.gsd(["audit-uat"]).json();
    assert_eq!((&report["summary"]["total_files"], &report["summary"]["total_items"]), (&json!(2), &json!(3)));
    assert_eq!(report["results"][1]["type"], "deferred");
}

#[test]
fn gaps_in_a_table_are_open() {
    let context = TestContext::new();
    context.write(
        ".planning/phases/01-a/01-UAT.md",
        "---\nstatus: partial\n---\n## Gaps\n\n- truth: Listed\n  status: failed\n\n\
        | truth | status | reason | test |\n|---|---|---|---|\n| Mail | failed | lost | 2 |\n| Old | resolved | | |\n| New | | | |\n",
    );
    let open = open_items(&context, "01-UAT.md");
    assert_eq!(open, ["Listed: failed, unknown", "Mail: failed, unknown", "New: unknown, unknown"]);
    context.write(
        ".planning/phases/01-a/01-UAT.md",
        "---\nstatus: partial\n---\n## Gaps\n\n| What | Why |\n|--|--|\n| Mail | lost |\n",
    );
    assert_eq!(open_items(&context, "01-UAT.md"), ["Mail — lost: unknown, unknown"]);
}

#[test]
fn checks_that_wait_for_a_person_may_be_a_list() {
    let context = TestContext::new();
    let report = "---\nstatus: human_needed\nhuman_verification: []\n---\n## Human Verification Required\n\n";
    context.write(".planning/phases/01-a/01-VERIFICATION.md", &format!("{report}1. Look at it\n2. Listen\n- Feel\n"));
    let open = open_items(&context, "01-VERIFICATION.md");
    let expected = ["Look at it", "Listen", "Feel"].map(|name| format!("{name}: human_needed, human_uat"));
    assert_eq!(open, expected);
}

#[test]
fn a_quoted_false_is_not_a_boolean() {
    let context = TestContext::new();
    let entry = "---\ncoverage:\n  - id: D1\n    description: a\n    human_judgment: FLAG\n    verification:\n\
        \x20     - kind: unit\n        ref: t#x\n        status: pass\n---\n";
    context.write("t", "the test x\n");
    let classify = |flag: &str| {
        context.write(".planning/S.md", &entry.replace("FLAG", flag));
        context.gsd(["uat", "classify-coverage", "--summary", ".planning/S.md"]).json()
    };
    assert_eq!(classify("false")["all_auto_covered"], true);
    for quoted in ["\"false\"", "'false'"] {
        let report = classify(quoted);
        assert_eq!((&report["all_auto_covered"], &report["auto_passed"]), (&json!(false), &json!([])), "{quoted}");
        assert_eq!(report["present"][0]["reason"], "validation_failed");
        assert_eq!(report["errors"][0]["code"], "invalid_human_judgment");
    }
}

#[test]
fn a_branch_that_already_exists_gets_no_commit() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    context.write("sub/a.txt", "one\n");
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"], &["branch", "b1"]]
    {
        git(&context, &[&["-C", "sub"], arguments].concat());
    }
    git(&context, &["init", "-q", "--bare", "remote.git"]);
    git(&context, &["-C", "sub", "remote", "add", "origin", "../remote.git"]);
    context.write("sub/a.txt", "two\n");
    for rehearsal in [&["--dry-run"][..], &[]] {
        let call = [&["pr-subrepo", "message", "--repo", "sub", "--branch", "b1"], rehearsal].concat();
        let error = context.gsd_with(call, &[], "").failure(1);
        assert!(error.contains("already has a branch `b1`"), "{error}");
    }
    assert_eq!(git(&context, &["-C", "sub", "log", "-1", "--format=%s", "b1"]), "first");
    assert_eq!(git(&context, &["-C", "sub", "branch", "--show-current"]), "main");
    assert_eq!(git(&context, &["-C", "remote.git", "branch", "--list"]), "");
}

#[test]
fn a_plan_with_checks_that_prove_nothing_gets_warnings() {
    let context = TestContext::new();
    context.write(".planning/REQUIREMENTS.md", "- [ ] **A-1**: x\n");
    let at = ".planning/phases/01-a/01-01-PLAN.md";
    let plan = PLAN.replace("must_haves:", "requirements: [A-1, B-9]\nmust_haves:");
    context.write(at, &plan.replace("<automated>v</automated>", "<automated>npm test || true</automated>"));
    let report = context.gsd(["verify", "plan-structure", at]).json();
    assert_eq!((&report["valid"], report["warnings"].as_array().unwrap().len()), (&json!(true), 2), "{report}");
    assert!(report["warnings"][0].as_str().unwrap().contains("B-9"), "{report}");
    assert!(report["warnings"][1].as_str().unwrap().contains("npm test || true"), "{report}");
}

#[test]
fn plans_of_one_wave_that_write_one_file_get_a_warning() {
    let context = TestContext::new();
    for number in ["01", "02"] {
        let plan = PLAN.replace("files_modified: []", "files_modified: [src/a.rs]");
        context.write(&format!(".planning/phases/01-a/01-{number}-PLAN.md"), &plan);
    }
    let warnings = context.gsd(["phase-plan-index", "1"]).json()["warnings"].clone();
    assert!(warnings[0].as_str().unwrap().contains("src/a.rs"), "{warnings}");
}

#[test]
fn the_command_of_a_check_is_looked_up() {
    let context = TestContext::new();
    let check = |command: &str| {
        let plan = PLAN.replace("<automated>v</automated>", &format!("<automated>{command}</automated>"));
        context.write(".planning/phases/01-a/01-01-PLAN.md", &plan);
        context.gsd(["check", "verify-command-paths", "1"]).json()
    };
    context.write("package.json", r#"{"scripts": {"test": "x"}}"#);
    context.write("tools/check.py", "");
    for (command, verdict, blockers) in [
        ("python3 tools/check.py", "resolved", 0),
        ("python3 tools/none.py", "broken", 1),
        ("npm test", "resolved", 0),
        ("npm run nope", "broken", 1),
        ("python3 -m unittest", "not_checked", 0),
    ] {
        let report = check(command);
        assert_eq!(
            (&report["commands"][0]["status"], &report["counts"]["blocker"]),
            (&json!(verdict), &json!(blockers)),
            "{command}"
        );
        let room = report["commands"][0].to_string().len();
        assert!(room < 180, "{room} bytes: {report}");
    }
}

#[test]
fn a_phase_is_checked_for_its_own_requirements() {
    let context = TestContext::new();
    context.write(
        ".planning/ROADMAP.md",
        "### Phase 1: A\n**Requirements**: A-1\n\n### Phase 2: B\n**Requirements**: B-1, B-2\n",
    );
    context.write(".planning/REQUIREMENTS.md", "- [x] **A-1**: x\n- [ ] **B-1**: y\n- [ ] **B-2**: y\n");
    context.write(".planning/phases/02-b/02-01-PLAN.md", "---\nrequirements: [B-1]\n---\n");
    let answer = context.gsd(["check", "gap-analysis.plan-post", "2"]);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(report["counts"], json!({"total": 2, "covered": 1, "uncovered": 1}));
    assert_eq!(report["message"], "No plan of phase 2 names B-2");
    assert_eq!(answer.stdout.matches("| Source | Item |").count(), 1);
}

#[test]
fn a_summary_reports_its_coverage_as_data() {
    let context = TestContext::new();
    context.write(
        ".planning/S.md",
        "---\ncoverage:\n  - id: D1\n    description: \"a, b\"\n    human_judgment: true\n    verification: [{kind: unit, ref: t#x}]\n---\n",
    );
    let told = context.gsd(["summary-extract", ".planning/S.md", "--fields", "coverage"]).json();
    let expected = json!([{"id": "D1", "description": "a, b", "human_judgment": true, "verification": [{"kind": "unit", "ref": "t#x"}]}]);
    assert_eq!(told["coverage"], expected);
}

#[test]
fn new_code_that_lets_people_choose_is_not_a_breaking_change() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n**Goal**: The path can be chosen by a flag\n");
    let scan = || context.gsd(["assumption-delta", "scan", "1"]).json();
    assert_eq!(scan(), json!({"detected": false, "signals": []}));
    context.write(".planning/phases/00-x/00-01-SUMMARY.md", "");
    assert_eq!(scan()["detected"], true);
}
