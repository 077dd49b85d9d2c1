//! Plans, their summaries, templates and their checks: words and flags reach what they name.

use crate::kit::TestContext;

const PLAN: &str = "---\nphase: 02-core\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [src/a.ts]\n\
    autonomous: true\nrequirements: [A-1]\nmust_haves:\n  artifacts:\n    - path: src/a.ts\n      contains: foo\n  key_links:\n\
    \x20   - from: src/a.ts\n      to: ./b\n---\n\n<objective>\nBuild `src/a.ts` and `src/none.ts`\n</objective>\n\n\
    <task type=\"auto\"><name>N</name><files>f</files><action>a</action><verify>v</verify><done>d</done></task>\n";

const PATH: &str = ".planning/phases/02-core/02-01-PLAN.md";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(PATH, PLAN);
    context.write(".planning/phases/02-core/02-02-PLAN.md", &PLAN.replace("depends_on: []", "depends_on: [\"01\"]"));
    context.write("src/a.ts", "import './b';\nexport const foo = 1;\n");
    context
}

#[test]
fn the_index_reports_waves_and_plans_that_can_run() {
    let context = project();
    let index = context.gsd(["phase-plan-index", "2"]).json();
    assert_eq!(index["waves"]["1"][0], "02-01");
    assert_eq!(index["plans"][1]["wave"], 2);
    assert_eq!(index["plans"][0]["objective"], "Build `src/a.ts` and `src/none.ts`");
    assert_eq!(index["runnable"].as_array().unwrap().len(), 2);
    assert!(context.gsd(["phase-plan-index"]).failure(1).contains("<PHASE>"));
    context.write(PATH, &PLAN.replace("depends_on: []", "depends_on: [02-02]"));
    assert!(context.gsd(["phase-plan-index", "2"]).failure(1).contains("02-01, 02-02"));
}

#[test]
fn the_parts_of_a_summary_are_extracted() {
    let context = project();
    context.write(".planning/S.md", "---\nkey-decisions:\n  - \"A: b\"\n---\n# S Summary\n\n**Line**\n");
    let whole = context.gsd(["summary-extract", ".planning/S.md"]).json();
    assert_eq!(whole["one_liner"], "Line");
    assert_eq!(whole["decisions"][0]["rationale"], "b");
    let part = context.gsd(["summary-extract", ".planning/S.md", "--fields", "one_liner, patterns"]).json();
    assert_eq!(part.as_object().unwrap().keys().collect::<Vec<_>>(), ["path", "one_liner", "patterns"]);
    assert_eq!(context.gsd(["summary-extract", "nope.md"]).json()["error"], "File not found");
}

#[test]
fn checks_have_a_one_word_answer_for_scripts() {
    let context = project();
    assert_eq!(context.gsd(["verify", "plan-structure", PATH, "--raw"]).success(), "valid");
    assert_eq!(context.gsd(["verify", "artifacts", PATH, "--raw"]).success(), "valid");
    assert_eq!(context.gsd(["verify", "key-links", PATH, "--raw"]).success(), "valid");
    assert_eq!(context.gsd(["verify", "references", PATH, "--raw"]).success(), "invalid");
    assert_eq!(context.gsd(["verify", "references", PATH]).json()["missing"][0], "src/none.ts");
    assert_eq!(context.gsd(["verify", "phase-completeness", "2", "--raw"]).success(), "incomplete");
    assert_eq!(context.gsd(["verify", "phase-completeness", "9"]).json()["error"], "Phase not found");
    assert_eq!(context.gsd(["verify", "plan-structure", "nope.md"]).json()["path"], "nope.md");
    let told = context.gsd(["verify", "artifacts", "src/a.ts"]).json();
    assert_eq!(told["error"], "No must_haves.artifacts found in frontmatter");
}

#[test]
fn a_summary_is_checked_against_its_claims() {
    let context = project();
    context.write("S.md", "`src/a.ts` `src/none.ts`\n## Self-Check: PASSED\n");
    assert_eq!(context.gsd(["verify-summary", "S.md", "--raw"]).success(), "failed");
    let told = context.gsd(["verify-summary", "S.md", "--check-count", "1"]).json();
    assert_eq!((&told["passed"], &told["checks"]["self_check"]), (&true.into(), &"passed".into()));
    assert_eq!(context.gsd(["verify-summary", "nope.md"]).json()["checks"]["summary_exists"], false);
    assert!(context.gsd(["verify-summary"]).failure(1).contains("<FILE>"));
}

#[test]
fn commits_are_looked_up_in_the_repository() {
    let context = project();
    assert_eq!(context.gsd(["verify", "commits", "HEAD"]).json()["invalid"][0], "HEAD", "there is no repository");
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "init"]] {
        assert!(context.command("git").args(arguments).status().unwrap().success());
    }
    let told = context.gsd(["verify", "commits", "HEAD", "deadbeef", "HEAD:src/a.ts"]).json();
    assert_eq!(told["valid"], serde_json::json!(["HEAD"]));
    assert_eq!(told["total"], 3);
    assert!(context.gsd(["verify", "commits"]).failure(1).contains("<COMMITS>"));
}

#[test]
fn a_template_is_picked_and_filled_once() {
    let context = project();
    let picked = context.gsd(["template", "select", "02-01-PLAN.md", "--cwd", ".planning/phases/02-core", "--raw"]);
    assert_eq!(picked.success(), "templates/summary-minimal.md");
    assert!(context.gsd(["template", "select", "nope.md"]).json()["error"].is_string());
    let fill = ["template", "fill", "plan", "--phase", "2", "--plan", "3", "--type", "tdd", "--wave", "2", "--fields"];
    let arguments = fill.iter().copied().chain(["{\"autonomous\":false}"]);
    let made = context.gsd_with(arguments.clone(), &[], "").json();
    assert_eq!(made["path"], ".planning/phases/02-core/02-03-PLAN.md");
    let text = context.read(".planning/phases/02-core/02-03-PLAN.md");
    for line in ["plan: 03", "type: tdd", "wave: 2", "autonomous: false", "# Phase 2 Plan 03: [Title]"] {
        assert!(text.lines().any(|known| known == line), "{line} in {text}");
    }
    assert_eq!(context.gsd_with(arguments, &[], "").json()["error"], "the file already exists");
    let summary = ["template", "fill", "summary", "--phase", "2", "--name", "UI", "--raw"];
    assert_eq!(context.gsd(summary).success(), ".planning/phases/02-core/02-01-SUMMARY.md");
    assert!(context.read(".planning/phases/02-core/02-01-SUMMARY.md").contains("# Phase 2: UI Summary"));
    assert!(context.gsd(["template", "fill", "poem", "--phase", "2"]).failure(1).contains("verification"));
    assert!(context.gsd(["template", "fill", "plan", "--phase", "2", "--fields", "[1]"]).failure(1).contains("object"));
}

/// A repository whose plan 01-01 is executed and closed: two commits of code, its SUMMARY, its records.
fn executed_plan(prefix: &str) -> TestContext {
    let context = TestContext::new();
    let git = |line: &[&str]| {
        let output = context.command("git").args(line).output().unwrap();
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let commit = |subject: &str| {
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", subject]);
    };
    git(&["init", "-q"]);
    context.write(".planning/config.json", "{}\n");
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] **Phase 1: A** - a\n\n### Phase 1: A\n**Requirements**: A-1\n**Plans**: 1 plan\n\nPlans:\n- [ ] 01-01-PLAN.md\n",
    );
    context.write(".planning/REQUIREMENTS.md", "# R\n\n- [ ] **A-1**: one\n");
    context.write(
        ".planning/STATE.md",
        "---\nstatus: planning\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 1 (A)\nPlan: 1 of 1\nStatus: Ready to execute\n",
    );
    context.write(".planning/phases/01-a/01-01-PLAN.md", "---\nphase: 01-a\nplan: 01\nrequirements: [A-1]\n---\n");
    context.write("kept.txt", "kept\n");
    commit("docs(01): plan");
    context.write(&format!("{prefix}a.txt"), "one\n");
    commit("feat(01-01): first");
    context.write(&format!("{prefix}a.txt"), "one\ntwo\n");
    context.write("kept.txt", "changed\n");
    context
        .write(".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n\n# Phase 1 Plan 1: A Summary\n");
    commit("feat(01-01): second");
    context.gsd(["plan", "close", "01-01"]).success();
    context
}

fn git_says(context: &TestContext, line: &[&str]) -> String {
    let output = context.command("git").args(line).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_plan_is_undone_with_its_records_in_one_commit() {
    let context = executed_plan("src/");
    assert!(context.read(".planning/ROADMAP.md").contains("- [x] 01-01-PLAN.md"));
    let before = git_says(&context, &["rev-parse", "HEAD"]);
    let rehearsed = context.gsd(["plan", "undo", "1-1", "--dry-run"]).json();
    let summary = ".planning/phases/01-a/01-01-SUMMARY.md";
    assert_eq!(rehearsed["files"], serde_json::json!([summary, "kept.txt", "src/a.txt"]));
    assert_eq!(
        (git_says(&context, &["rev-parse", "HEAD"]), context.read("kept.txt").as_str()),
        (before.clone(), "changed\n")
    );
    // A file of the user that has nothing to do with the plan stays unchanged.
    context.write("mine.txt", "mine\n");
    let undone = context.gsd(["plan", "undo", "01-01", "--reason", "it was the wrong way"]).json();
    assert!(undone["commits"].as_array().unwrap().len() >= 2, "{undone}");
    assert_eq!(undone["requirements_reopened"], serde_json::json!(["A-1"]));
    assert_eq!(git_says(&context, &["rev-parse", "HEAD^"]), before);
    assert_eq!(git_says(&context, &["status", "--porcelain"]), "?? mine.txt");
    assert_eq!(context.read("kept.txt"), "kept\n");
    assert!(!context.project().join("src/a.txt").exists());
    assert!(!context.project().join(".planning/phases/01-a/01-01-SUMMARY.md").exists());
    assert!(context.read(".planning/ROADMAP.md").contains("- [ ] 01-01-PLAN.md"));
    assert!(context.read(".planning/REQUIREMENTS.md").contains("- [ ] **A-1**"));
    assert!(context.read(".planning/STATE.md").contains("READY TO EXECUTE"));
    let message = git_says(&context, &["log", "-1", "--format=%B"]);
    assert!(message.starts_with("revert(01-01): ") && message.contains("it was the wrong way"), "{message}");
    assert!(message.contains("Reverts: "), "{message}");
    assert!(context.gsd(["plan", "undo", "01-01"]).failure(1).contains("no commit of plan 01-01 is left"));
}

#[test]
fn a_plan_is_not_half_undone() {
    let refused = |spoil: &dyn Fn(&TestContext), wanted: &str| {
        let context = executed_plan("");
        spoil(&context);
        let (head, status) =
            (git_says(&context, &["rev-parse", "HEAD"]), git_says(&context, &["status", "--porcelain"]));
        for call in [&["plan", "undo", "01-01", "--dry-run"][..], &["plan", "undo", "01-01"]] {
            let said = context.gsd_with(call, &[], "").failure(1);
            assert!(said.contains(wanted), "{said}");
        }
        assert_eq!(git_says(&context, &["rev-parse", "HEAD"]), head);
        assert_eq!(git_says(&context, &["status", "--porcelain"]), status);
    };
    refused(&|context| context.write("a.txt", "not committed\n"), "`a.txt` has changes that are not committed");
    refused(
        &|context| {
            let state = context.read(".planning/STATE.md") + "\nmine\n";
            context.write(".planning/STATE.md", &state);
        },
        "`.planning/STATE.md` has changes that are not committed",
    );
    refused(
        &|context| {
            context.write("a.txt", "one\nthree\n");
            git_says(context, &["commit", "-q", "-a", "-m", "feat: later"]);
        },
        "later commits changed what",
    );
}

#[test]
fn a_summary_that_names_missing_files_is_detected() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n\nPlans:\n- [ ] 01-01-PLAN.md\n");
    context.write(".planning/STATE.md", "# Project State\n\n## Current Position\n\nPhase: 1 of 1 (A)\nPlan: 1 of 1\n");
    context.write(".planning/phases/01-a/01-01-PLAN.md", "---\nphase: 01-a\nplan: 01\n---\n");
    let git = |line: &str| git_says(&context, &line.split(' ').collect::<Vec<_>>());
    git("init -q");
    git("add .");
    git("commit -q -m first");
    let head = git("rev-parse HEAD");
    let path = ".planning/phases/01-a/01-01-SUMMARY.md";
    context.write(
        path,
        &format!(
            "---\nkey-files:\n  created: [src/none.rs]\n  modified: [src/other.rs]\nplan_head_before: {head}\nstatus: complete\n---\n\n\
             # Phase 1 Plan 1: A Summary\n\n## Self-Check: PASSED\n"
        ),
    );
    let report = context.gsd(["verify-summary", path]).json();
    let missing = serde_json::json!(["src/none.rs", "src/other.rs"]);
    assert_eq!((&report["passed"], &report["checks"]["files_created"]["missing"]), (&false.into(), &missing));
    assert_eq!(report["checks"]["commits_exist"], false, "where the work began is none of its commits");
    let closed = context.gsd(["plan", "close", "01-01", "--dry-run"]).json();
    let warnings = closed["closed"][0]["warnings"].to_string();
    assert!(warnings.contains("names files that are not there: src/none.rs, src/other.rs"), "{closed}");
}

#[test]
fn a_lint_names_the_line_of_each_fault_and_checks_quick_plans_against_their_text() {
    let context = project();
    context.write("package.json", "{\"scripts\": {\"test\": \"vitest run\"}}\n");
    let check = "<verify><automated>npm run nosuch</automated><fails_when>it fails</fails_when></verify>";
    let plan = PLAN.replace("<verify>v</verify>", check).replace("wave: 1", "wave: two");
    context.write(".planning/phases/03-more/03-01-PLAN.md", &plan);
    let linted = context.gsd(["plan", "lint", "3"]).json();
    assert_eq!(linted["valid"], false);
    for part in
        ["`wave: two`", "no script `nosuch`", "says nothing", "`f`, which `files_modified`", "no <threat_model>"]
    {
        let errors = linted["errors"].as_array().unwrap();
        let error = errors.iter().find(|error| error["finding"].as_str().unwrap().contains(part));
        let error = error.unwrap_or_else(|| panic!("{part}: {linted:#}"));
        let line = error["line"].as_u64().unwrap_or(1);
        assert!(error["plan"] == "03-01" && (1..=plan.lines().count() as u64).contains(&line), "{error}");
    }
    context.write(".planning/config.json", "{\"workflow\": {\"security_enforcement\": false}}\n");
    assert!(!context.gsd(["plan", "lint", "3"]).json()["errors"].to_string().contains("threat_model"));
    let structure = |path: &str| context.gsd(["verify", "plan-structure", path]).json();
    context.write(".planning/quick/1-a/1-PLAN.md", &plan);
    let quick = structure(".planning/quick/1-a/1-PLAN.md");
    assert!(quick["errors"].to_string().contains("no script `nosuch`") && quick["valid"] == false, "{quick:#}");
    // The verb's answer for plans of phases is unchanged.
    assert_eq!(structure(".planning/phases/03-more/03-01-PLAN.md")["valid"], true);
}
