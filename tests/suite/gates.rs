//! Gates and drift: what they ask git and the disk, and that a wrong call never passes.

use crate::kit::TestContext;

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let ran =
        context.command("git").args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_source_outgrows_its_map() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    assert_eq!(context.gsd(["verify", "codebase-drift"]).json()["reason"], "no-structure-md");
    git(&context, &["init", "-q"]);
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-qm", "a"]);
    let commit = git(&context, &["rev-parse", "HEAD"]);
    context.write(".planning/codebase/STRUCTURE.md", &format!("---\nlast_mapped_commit: {commit}\n---\n- src/\n"));
    for file in ["lib/a.ts", "app/é.ts", "web/c.ts", "src/d.ts"] {
        context.write(file, "x");
    }
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-qm", "b"]);
    let drift = context.gsd(["check", "verify-codebase-drift", "2"]).json();
    assert_eq!((&drift["block"], &drift["elements"][0]["path"]), (&true.into(), &"app/é.ts".into()));
    context.write(".planning/codebase/STRUCTURE.md", "---\nlast_mapped_commit: --output=x\n---\n");
    assert_eq!(context.gsd(["verify", "codebase-drift"]).json()["reason"], "unresolvable-mapped-commit");
    assert!(!context.project().join("x").exists());
}

#[test]
fn a_gate_that_is_called_wrongly_fails() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-SECURITY.md", "---\nthreats_open: 0\n---\n");
    let wanted = r#"{"kind":"artifact-frontmatter-equals","artifact":"SECURITY.md","field":"threats_open","equals":0}"#;
    let ran = context.gsd(["check", "predicate", "--predicate", wanted, "--phase-dir", ".planning/phases/01-a"]).json();
    assert_eq!(ran["block"], false);
    context.gsd(["check", "predicate", "--predicate", wanted, "--phase-dir", "../.."]).failure(1);
    context.gsd(["check", "predicate", "--predicate", "{bad"]).failure(1);
    context.gsd(["check", "predicate"]).failure(1);
    context.gsd(["check", "zzz"]).failure(1);
    context.gsd(["check", "ui-plan-gate"]).failure(1);
    context.gsd(["check", "gap-analysis-plan-post", "99"]).failure(1);
    assert_eq!(context.gsd(["check", "decision-coverage-plan"]).json()["passed"], false);
}

#[test]
fn user_interface_files_are_looked_for_in_the_commits_of_the_phase() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: UI\n**Goal**: Two screens\n");
    context.write(".planning/phases/01-ui/01-01-PLAN.md", "---\nphase: 1\n---\n");
    let ask = |phase: &str| context.gsd(["check", "ui-safety-gate", phase]).json();
    assert_eq!(ask("1")["hasUiFiles"], false, "without a repository nothing is known to have changed");
    git(&context, &["init", "-q"]);
    let commit = |file: &str, subject: &str| {
        context.write(file, "x");
        git(&context, &["add", "-A"]);
        git(&context, &["commit", "-qm", subject]);
    };
    commit("a.txt", "init");
    assert_eq!(ask("1")["hasUiFiles"], false);
    commit("src/App.tsx", "feat(01-01): the app");
    commit("b.txt", "docs(phase-1): note it");
    for phase in ["1", ".planning/phases/01-ui"] {
        let told = ask(phase);
        assert_eq!((&told["hasUiFiles"], &told["block"]), (&true.into(), &true.into()), "{phase}");
    }
    context.write(".planning/phases/01-ui/01-UI-SPEC.md", "x");
    assert_eq!(ask("1")["block"], false);
}

#[test]
fn tests_first_are_shown_by_records_and_commits() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-01-PLAN.md", "---\ntype: tdd\n---\n");
    let red = |path: &str| context.gsd(["check", "tdd-red-evidence", path]).json();
    assert_eq!(red("gone.json")["reason"], "unreadable_record");
    context.write("red.json", "{bad");
    assert_eq!(red("red.json")["reason"], "unreadable_record");
    let output = "not ok 1 - adds\\n# tests 1\\n# pass 0\\n# fail 1";
    context.write(
        "red.json",
        &format!(r#"{{"command": "t", "exitCode": 1, "targetTest": "adds", "output": "{output}"}}"#),
    );
    assert_eq!((&red("red.json")["passed"], &red("red.json")["block"]), (&true.into(), &false.into()));
    let review = || context.gsd(["check", "tdd-review-checkpoint", ".planning/phases/01-a"]).json();
    assert_eq!(review()["violations"], 1);
    git(&context, &["init", "-q"]);
    for subject in ["test(01-01): red", "feat(01-01): green"] {
        git(&context, &["commit", "-q", "--allow-empty", "-m", subject]);
    }
    assert_eq!(review()["violations"], 0);
}

#[test]
fn commands_of_plans_are_looked_up_on_the_disk() {
    let context = TestContext::new();
    let plan = "<task><name>T</name><verify><automated>cd app && npm run x</automated></verify></task>\n\
                <task><automated>cd ../.. && npm test</automated></task>\n";
    context.write(".planning/phases/01-a/01-01-PLAN.md", plan);
    let ask = |check: &str, phase: &str| context.gsd_with(check.split(' ').chain([phase]), &[], "").json();
    assert_eq!(ask("check verify-command-paths", "1")["status"], "broken");
    context.write("app/package.json", r#"{"scripts": {"x": "y"}}"#);
    let told = ask("check verify-command-paths", ".planning/phases/01-a");
    assert_eq!((&told["status"], &told["commands"][1]["reason"]), (&"ok".into(), &"outside_root".into()));
    assert_eq!(ask("check verify-failure-directions", "1")["counts"]["blocker"], 2);
    assert_eq!(ask("check verify-command-paths", "9")["status"], "unresolvable");
    assert_eq!(context.gsd(["check", "verify-failure-directions"]).json()["status"], "unresolvable");
}

#[test]
fn the_check_of_a_prohibition_must_exist() {
    let context = TestContext::new();
    context.write("tests/auth.rs", "x");
    let ask = |path: &str| {
        let request =
            format!(r#"{{"prohibition": {{"verification": "test"}}, "check": {{"passed": true, "path": "{path}"}}}}"#);
        context.gsd(["check", "prohibition-enforcement", "--json", &request]).json()["status"].clone()
    };
    assert_eq!(
        [ask("tests/auth.rs"), ask("tests/gone.rs"), ask("../../etc/passwd")],
        ["enforced", "unverified", "unverified"]
    );
    context.write("request.json", r#"{"prohibition": {}}"#);
    assert_eq!(context.gsd(["check", "prohibition-enforcement", "request.json"]).json()["flagged"], true);
    context.gsd(["check", "prohibition-enforcement", "gone.json"]).failure(1);
    context.gsd(["check", "prohibition-enforcement", "--json", "{bad"]).failure(1);
    context.gsd(["check", "prohibition-enforcement"]).failure(1);
}

#[test]
fn external_apis_are_decided_before_a_phase_is_verified() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-01-PLAN.md", "---\nphase: 1\n---\nIntegrate the Stripe API.\n");
    let blocks = |phase: &str| context.gsd(["check", "api-coverage-verify-pre", phase]).json()["block"].clone();
    assert_eq!([blocks("1"), blocks(".planning/phases/01-a")], [true, true]);
    assert_eq!(blocks("9"), true, "a phase that is not there");
    context
        .write(".planning/phases/01-a/01-COVERAGE.md", "| Capability | Decision |\n|---|---|\n| pay | INTEGRATE |\n");
    assert_eq!(blocks("1"), false);
}

#[test]
fn small_questions_of_workflows_are_answered() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n**Goal**: A second provider\n");
    let scan = |phase: &str| context.gsd(["assumption-delta", "scan", phase]).json();
    assert_eq!((&scan("1")["detected"], &scan("9")["skipped"]), (&true.into(), &true.into()));
    let given = context.gsd(["assumption-delta", "scan", "1", "--terms", "zzz"]).json();
    assert_eq!(given, serde_json::json!({"detected": false, "signals": []}));
    let once = |command: &str| context.gsd(["normalize-test-command", command]).success();
    assert_eq!([once("npx vitest"), once("npm test")], ["npx vitest run", "npm test"]);
    context.write("package.json", r#"{"scripts": {"test": "vitest"}}"#);
    assert_eq!(once("npm test"), "CI=true npm test");
}

#[test]
fn a_prompt_is_cut_until_it_fits_or_left_empty() {
    let context = TestContext::new();
    for (file, text) in
        [("i.md", "Ask".to_owned()), ("r.md", "# R\n".to_owned()), ("p/02-01-PLAN.md", "x".repeat(8000))]
    {
        context.write(file, &text);
    }
    let call = |budget: &str, plan: &str| {
        let line = format!(
            "prompt-budget --budget {budget} --instructions-file i.md --roadmap-file r.md --plan-file {plan} \
             --context-file gone.md --output-prompt out/o.md --output-metadata out/m.json"
        );
        context.gsd_with(line.split_whitespace(), &[], "")
    };
    let metadata = || serde_json::from_str::<serde_json::Value>(&context.read("out/m.json")).unwrap();
    assert_eq!(call("9000", "p/02-01-PLAN.md").success(), "");
    assert!(context.read("out/o.md").contains("### 02-01-PLAN.md\n\nxxx"));
    assert_eq!(metadata()["noteInjected"], false);
    assert_eq!(call("1000", "p/02-01-PLAN.md").success(), "");
    assert!(context.read("out/o.md").contains("<note>") && metadata()["planTruncationPct"].as_f64().unwrap() > 50.0);
    let _ = call("100", "p/02-01-PLAN.md").failure(2);
    assert_eq!((context.read("out/o.md").as_str(), &metadata()["hardFailed"]), ("", &true.into()));
    assert!(call("100", "gone.md").failure(1).contains("gone.md"));
    let _ = call("0", "p/02-01-PLAN.md").failure(1);
}

#[test]
fn a_project_without_phases_reports_no_external_programs_and_a_missing_phase_blocks() {
    let context = TestContext::new();
    let ask = |phase: &str| context.gsd(["check", "api-coverage.verify-pre", phase]).json();
    assert_eq!(ask("1")["block"], false);
    context.write(".planning/phases/01-a/01-01-PLAN.md", "x");
    let missing = ask("9");
    assert_eq!((&missing["block"], &missing["phase_lookup_failed"]), (&true.into(), &true.into()));
    assert_eq!(ask("1")["block"], false);
}

#[test]
fn a_plan_without_front_matter_names_its_schema_files_in_a_line() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-01-PLAN.md", "# Plan\n\nfiles_modified: [prisma/schema.prisma]\n");
    context.write(".planning/phases/01-a/01-01-SUMMARY.md", "# Summary\n");
    let ask =
        |environment: &[(&str, &str)]| context.gsd_with(["check", "verify.schema-drift", "1"], environment, "").json();
    assert_eq!(ask(&[])["block"], true);
    let skipped = ask(&[("GSD_SKIP_SCHEMA_CHECK", "true")]);
    assert_eq!(
        (&skipped["block"], &skipped["drift_detected"], &skipped["skipped"]),
        (&false.into(), &true.into(), &true.into())
    );
}

#[test]
fn an_index_of_the_code_replaces_a_search_and_what_lsp_misses_blocks() {
    let context = TestContext::new();
    let authority = |config: &str| {
        context.write(".planning/config.json", config);
        context.gsd(["drift-guard", "authority", "--raw"]).success()
    };
    assert_eq!(authority("{}"), "grep");
    assert_eq!(authority(r#"{"intel": {"enabled": true}}"#), "intel");
    let chosen = |authority: &str| {
        format!(r#"{{"intel": {{"enabled": true}}, "plan_review": {{"source_grounding_authority": "{authority}"}}}}"#)
    };
    assert_eq!(authority(&chosen("grep")), "intel");
    assert_eq!(authority(&chosen("lsp")), "lsp");
    let severity = |authority: &str| {
        let call = ["drift-guard", "severity", "--status", "MISSING", "--authority", authority];
        context.gsd(call).json()["hardBlock"].clone()
    };
    assert_eq!((severity("lsp"), severity("intel")), (true.into(), false.into()));
    let refused = context.gsd(["drift-guard", "severity", "--status", "MISSING", "--authority", "zzz"]).failure(1);
    assert!(refused.contains("grep, intel, treesitter, lsp, scip"), "{refused}");
}

#[test]
fn gaps_are_looked_for_among_the_requirements_that_the_caller_names() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n**Requirements**: A-1\n");
    context.write(
        ".planning/REQUIREMENTS.md",
        "- [ ] **A-1**: x\n\n| ID | Text |\n|---|---|\n| A-10 | y |\n| A-2 | z |\n",
    );
    context.write(".planning/phases/01-a/01-01-PLAN.md", "## Must Haves\n\nA-2, D-API\n");
    context.write(".planning/phases/01-a/01-CONTEXT.md", "<decisions>\n- **D-7:** other\n</decisions>\n");
    context.write(".planning/phases/01-a/CONTEXT.md", "<decisions>\n- **D-API:** x\n- **D-1:** y\n</decisions>\n");
    let rows = |answer: serde_json::Value| -> Vec<String> {
        let table = answer["table"].as_str().unwrap().to_owned();
        table.lines().filter(|line| line.contains(".md |")).map(|line| line.split(" | ").skip(1).collect()).collect()
    };
    let folder = ".planning/phases/01-a";
    let all = rows(context.gsd(["gap-analysis", "--phase-dir", folder]).json());
    assert_eq!(
        all,
        ["A-1✗ Not covered |", "A-2✓ Covered |", "A-10✗ Not covered |", "D-1✗ Not covered |", "D-API✓ Covered |"]
    );
    let decisions = &all[3..];
    for (list, wanted) in [
        ("A-1..A-2", &["A-1✗ Not covered |", "A-2✓ Covered |"][..]),
        ("A-2\nZ-1", &["A-2✓ Covered |", "Z-1⚠ Missing from REQUIREMENTS.md |"]),
        ("TBD", &[]),
        ("", &[]),
    ] {
        let expected: Vec<String> = wanted.iter().map(ToString::to_string).chain(decisions.iter().cloned()).collect();
        assert_eq!(
            rows(context.gsd(["gap-analysis", "--phase-dir", folder, "--phase-req-ids", list]).json()),
            expected
        );
        assert_eq!(rows(context.gsd(["check", "gap-analysis.plan-post", "1", list]).json()), expected, "{list}");
    }
    assert_eq!(rows(context.gsd(["check", "gap-analysis.plan-post", "1"]).json())[0], "A-1✗ Not covered |");
}
