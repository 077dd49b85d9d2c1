//! Audits: what an acknowledgement writes, and how wrong calls fail.

use crate::kit::TestContext;

const TODO: &str = "---\r\ntitle: \"A\"   # kept\r\narea: ui\r\n---\r\n\r\nfix it  \r\n";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    context.write(".planning/todos/pending/a.md", TODO);
    context
}

#[test]
fn an_acknowledgement_adds_its_lines_and_the_page_counts_it() {
    let context = project();
    assert!(context.gsd(["audit-open"]).success().contains("**1 item require decisions before close.**"));
    let call = [
        "audit-open",
        "acknowledge",
        "--category",
        "todos",
        "--milestone",
        "v1.0",
        "--filename",
        "a.md",
        "--at",
        "2026-02-03",
    ];
    assert_eq!(context.gsd(call).json()["acknowledged"], true);
    let noted = "audit_acknowledged:\r\n  milestone: v1.0\r\n  at: 2026-02-03\r\n---\r\n\r\nfix it  \r\n";
    assert_eq!(context.read(".planning/todos/pending/a.md"), TODO.replacen("---\r\n\r\nfix it  \r\n", noted, 1));
    let report = context.gsd(["audit-open", "--json"]).json();
    assert_eq!((&report["counts"]["total"], &report["acknowledged"]["todos"]), (&0.into(), &1.into()));
}

#[test]
fn wrong_calls_are_refused_and_write_nothing() {
    let context = project();
    context.gsd(["audit-open", "zzz"]).failure(1);
    context.gsd(["audit-open", "acknowledge"]).failure(1);
    let told = context.gsd(["audit-open", "acknowledge", "--category", "zzz", "--milestone", "v1"]).failure(1);
    assert!(told.contains("deferred_items"), "{told}");
    let outside = ["audit-open", "acknowledge", "--category", "todos", "--milestone", "v1", "--filename", "../a.md"];
    context.gsd(outside).failure(1);
    context.write(".planning/todos/pending/a.md", "---\ntitle: never closed\n");
    let broken = ["audit-open", "acknowledge", "--category", "todos", "--milestone", "v1", "--filename", "a.md"];
    assert!(context.gsd(broken).failure(1).contains("line 1"));
    assert_eq!(context.read(".planning/todos/pending/a.md"), "---\ntitle: never closed\n");
    assert_eq!(context.gsd(["audit-uat"]).json()["summary"]["total_items"], 0, "git keeps no empty folder of phases");
}

#[test]
fn checks_for_a_person_wait_until_the_milestone_ends() {
    const FOLDER: &str = ".planning/phases/01-base";
    let context = TestContext::new();
    context.write(
        ".planning/ROADMAP.md",
        "# R\n\n- [ ] **Phase 1: Base** - b\n- [ ] **Phase 2: Next** - n\n\n### Phase 1: Base\n**Goal**: g\n\n### Phase 2: Next\n**Goal**: n\n",
    );
    context.write(
        ".planning/STATE.md",
        "---\nmilestone: v1.0\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\nPlan: 1 of 1\nStatus: Executing\n",
    );
    context.write(&format!("{FOLDER}/01-01-PLAN.md"), "---\nphase: 01-base\nplan: 01\n---\n");
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "---\nphase: 01-base\n---\n");
    let report = "---\nstatus: human_needed\nhuman_verification:\n  - test: \"Open the page\"\n    expected: \"It is blue\"\n    why_human: \"looks\"\n---\n";
    context.write(&format!("{FOLDER}/01-VERIFICATION.md"), report);
    let refused = context.gsd(["phase", "complete", "1"]).failure(1);
    assert!(refused.contains("need a person"), "{refused}");
    let tests = context.gsd(["verification", "defer-human", "1", "--tests-only"]).json();
    assert_eq!((&tests["added"], &tests["deferred"]), (&1.into(), &serde_json::json!([])));
    context.gsd(["phase", "complete", "1"]).failure(1);
    let deferred = context.gsd(["verification", "defer-human", "1"]).json();
    assert_eq!((&deferred["added"], &deferred["deferred"][0]["name"]), (&0.into(), &"Open the page".into()));
    let asked = context.gsd(["uat", "render-checkpoint", "--file", &format!("{FOLDER}/01-UAT.md"), "--raw"]).success();
    assert!(asked.contains("Test 1: Open the page") && asked.contains("It is blue"), "{asked}");
    let completed = context.gsd(["phase", "complete", "1"]).json();
    assert_eq!(completed["checks_deferred"][0]["test"], 1);
    assert!(context.read(".planning/ROADMAP.md").contains("- [x] **Phase 1: Base**"));
    assert_eq!(context.gsd(["audit-uat"]).json()["deferred_checks"][0]["expected"], "It is blue");
    let uat = context.read(&format!("{FOLDER}/01-UAT.md")).replace("[pending]", "pass");
    context.write(&format!("{FOLDER}/01-UAT.md"), &uat);
    let settled = context.gsd(["verification", "settle-human", "1"]).json();
    assert_eq!((&settled["status"], &settled["open"]), (&"passed".into(), &serde_json::json!([])));
    assert_eq!(context.gsd(["audit-uat"]).json()["deferred_checks"], serde_json::json!([]));
    let again = context.gsd(["verification", "defer-human", "1"]).failure(1);
    assert!(again.contains("`passed`"), "{again}");
}

#[test]
fn what_a_summary_leaves_to_a_person_is_open_until_an_acceptance_test_covers_it() {
    const FOLDER: &str = ".planning/phases/01-base";
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "# R\n\n- [x] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: g\n");
    context.write(".planning/STATE.md", "---\nstatus: executing\ncurrent_phase: 1\n---\n\n# Project State\n");
    context.write(&format!("{FOLDER}/01-01-PLAN.md"), "---\nphase: 01-base\nplan: 01\n---\n");
    context.write(
        &format!("{FOLDER}/01-01-SUMMARY.md"),
        "---\nstatus: complete\ncoverage:\n  - id: D1\n    description: The logo is sharp\n    human_judgment: true\n    \
         rationale: eyes\n---\n",
    );
    context.write(&format!("{FOLDER}/01-VERIFICATION.md"), "---\nphase: 01-base\nstatus: passed\n---\n\n# V\n");
    let said = || {
        let audit = context.gsd(["audit-uat"]).json();
        let open = context.gsd(["audit-open", "--json"]).json();
        let complete = context.gsd(["phase", "complete", "1", "--dry-run"]).json();
        let close = context.gsd(["milestone", "complete", "v1.0", "--dry-run"]);
        let warned = close.stderr.contains("The logo is sharp");
        let close = close.json();
        let listed = close["checks_open"].as_array().map_or(0, Vec::len);
        let of_phase = complete["warnings"].to_string().contains("01-01-SUMMARY.md: nobody checked");
        (audit["summary"]["total_items"].clone(), open["counts"]["uat_gaps"].clone(), of_phase, listed, warned)
    };
    assert_eq!(said(), (1.into(), 1.into(), true, 1, true));
    let call = "audit-open acknowledge --category uat_gaps --milestone v1.0 --phase 1 --file 01-01-SUMMARY.md";
    let words: Vec<&str> = call.split(' ').collect();
    assert_eq!(context.gsd_with(&words, &[], "").json()["acknowledged"], true);
    assert_eq!(context.gsd(["audit-open", "--json"]).json()["has_open_items"], false);
    // The note in the SUMMARY is newer than the report.
    context.write(&format!("{FOLDER}/01-VERIFICATION.md"), "---\nphase: 01-base\nstatus: passed\n---\n\n# V, again\n");
    context.write(
        &format!("{FOLDER}/01-UAT.md"),
        "---\nstatus: complete\nsource: [01-01-SUMMARY.md]\n---\n\n## Tests\n\n### 1. The logo is sharp\nresult: pass\n",
    );
    assert_eq!(said(), (0.into(), 0.into(), false, 0, false));
}
