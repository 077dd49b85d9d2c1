//! The stops that need more than one honest session to continue: a verdict, a new validation, or a person's edit. The
//! test makes the edit as the text of the stop says, and then runs what the stop prints.

use serde_json::{Value, json};

use crate::auto::{git, project};
use crate::auto_ways_on::{BEGIN, TASK, also, follow, goes_on, run, stopped};
use crate::kit::TestContext;
use crate::scripted;

const MILESTONE: &str = ".gsd/milestones/M001";
const SLICE: &str = ".gsd/milestones/M001/slices/S01";
const WORKTREE: &str = ".gsd/worktrees/M001";

/// A repository with a brief and these files in its one commit.
fn project_of(files: &[(&str, &str)]) -> TestContext {
    let context = project();
    for (path, text) in files {
        context.write(path, text);
    }
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=documents"]);
    context
}

fn preferring(text: &str) -> TestContext {
    project_of(&[(".gsd/PREFERENCES.md", &format!("---\nversion: 1\n{text}---\n"))])
}

/// A session that only runs a script.
fn only(unit: &str, script: &str) -> Value {
    json!({ "match": { "unit": unit }, "steps": [{ "sh": script }] })
}

/// Changes a document of the run as a person would.
fn edit(context: &TestContext, path: &str, change: impl Fn(String) -> String) {
    let place = context.project().join(WORKTREE).join(path);
    let text = std::fs::read_to_string(&place).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed, "{path}");
    std::fs::write(place, changed).unwrap();
}

#[test]
fn a_failed_or_undecided_acceptance_test_continues_with_a_verdict() {
    let result = format!("{SLICE}/S01-UAT-RESULT.md");
    let fails = also("run-uat M001/S01", &format!("sed -i s/PASS/FAIL/ {result}"));
    let silent = only("run-uat M001/S01", &format!("echo \"# Attempt $GSD_UNIT_ATTEMPT\" > {result}"));
    for (cause, row) in [("uat-failed", fails), ("uat-exhausted", silent)] {
        let context = preferring("uat_dispatch: true\n");
        let stop = stopped(&run(&context, BEGIN, &[row]), cause);
        let next = "gsd-tools auto verdict M001/S01 pass --rationale \"checked by hand\"";
        assert_eq!(stop["next"], next, "{stop:#}");
        assert_eq!(goes_on(&context, &stop), [cause]);
        assert!(git(&context, &["show", &format!("main:{result}")]).contains("decided_by: person"), "{cause}");
    }
}

#[test]
fn a_milestone_that_built_nothing_lands_when_a_person_allows_it() {
    let context = preferring("verification_commands: [\"test -f README.md\"]\n");
    let plan = "sed -i 's#sh checks/[a-z0-9_]*.sh#grep -q P README.md#' .gsd/milestones/M001/slices/*/*-PLAN.md \
                .gsd/milestones/M001/slices/*/tasks/*-PLAN.md";
    let work = "rm -rf src checks; T=${GSD_UNIT_ID##*/}; S=${GSD_UNIT_ID%/*}; S=${S##*/}; printf -- '---\\nid: %s\\nparent: \
                %s\\nmilestone: M001\\nkey_files: []\\nno_change: it was there\\nverification_result: passed\\n---\\n\\n# It was \
                there\\n\\n**It was there**\\n\\n## What Happened\\n\\nThe check was run.\\n' $T $S \
                > .gsd/milestones/M001/slices/$S/tasks/$T-SUMMARY.md";
    let rows = [also("plan-*", plan), also("execute-task *", work)];
    let stop = stopped(&run(&context, BEGIN, &rows), "no-implementation");
    assert_eq!(stop["next"], "gsd-tools auto run --allow-planning-only", "{stop:#}");
    assert_eq!(goes_on(&context, &stop), ["no-implementation"]);
    let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
    assert!(files.contains("M001-SUMMARY.md") && !files.contains("src/"), "{files}");
}

#[test]
fn a_validation_without_the_planned_evidence_is_repeated_and_passes() {
    let context = project();
    let class = format!(
        "printf '\\n## Verification Classes\\n\\n- Operational: restart under load\\n' >> {MILESTONE}/M001-ROADMAP.md"
    );
    let stop = stopped(&run(&context, BEGIN, &[also("plan-milestone M001", &class)]), "no-operational-evidence");
    assert_eq!(stop["next"], "gsd-tools auto dispatch validate M001", "{stop:#}");
    let row = format!(
        "printf '\\n| Class | Shown by |\\n|---|---|\\n| Operational | met: restarted ten times |\\n' >> {MILESTONE}/M001-VALIDATION.md"
    );
    let rows = [also("validate-milestone M001", &row)];
    let causes = follow(&context, &stop, |line| run(&context, line, &rows));
    assert_eq!(causes, ["no-operational-evidence", "units-done"]);
}

#[test]
fn a_validation_that_asks_for_more_continues_with_the_printed_command() {
    let context = preferring("mechanical:\n  enabled: false\n");
    let script = format!("sed -i 's/^verdict: pass/verdict: needs-remediation/' {MILESTONE}/M001-VALIDATION.md");
    let stop = stopped(&run(&context, BEGIN, &[also("validate-milestone M001", &script)]), "needs-remediation");
    goes_on(&context, &stop);
}

#[test]
fn a_slice_ticked_by_a_person_is_closed_and_its_tasks_still_run() {
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--max-units", "5"]].concat(), &[]), "units-done");
    edit(&context, &format!("{MILESTONE}/M001-ROADMAP.md"), |text| text.replace("- [ ] **S02", "- [x] **S02"));
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "missing-summary");
    assert_eq!(stop["next"], "gsd-tools auto dispatch complete M001/S02", "{stop:#}");
    let causes = goes_on(&context, &stop);
    assert_eq!(causes[..3], ["missing-summary", "units-done", "needs-attention"]);
    let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files.lines().filter(|path| path.ends_with("-VERIFY.json")).count(), 4, "{files}");
}

#[test]
fn a_milestone_without_a_context_continues_once_it_was_discussed() {
    for (cause, name) in [("needs-discussion", "CONTEXT-DRAFT"), ("no-context", "ROADMAP")] {
        let context = project_of(&[(&format!("{MILESTONE}/M001-{name}.md"), "# M001: A shelf\n\nFiles.\n")]);
        let stop = stopped(&run(&context, &["auto", "run"], &[]), cause);
        assert_eq!(stop["next"], "gsd-tools auto discuss M001", "{stop:#}");
        // The prompt that the printed command gives an agent names the folder and the document.
        let prompt = context.gsd(["auto", "discuss", "M001"]).json();
        let expected = prompt["expected"].to_string();
        assert!(expected.contains("M001-CONTEXT.md"), "{prompt:#}");
        let folder = context.project().join(WORKTREE);
        assert!(prompt["text"].as_str().unwrap().contains(&*folder.to_string_lossy()), "{prompt:#}");
        std::fs::write(folder.join(MILESTONE).join("M001-CONTEXT.md"), "# M001: A shelf\n\nFiles, one a task.\n")
            .unwrap();
        assert_eq!(goes_on(&context, &stop), [cause]);
    }
}

#[test]
fn without_a_milestone_the_printed_command_begins_with_the_brief() {
    let context = project();
    let status = context.gsd(["auto", "status"]).json();
    let stop = &status["next"]["stop"];
    assert_eq!(stop["cause"], "no-milestone", "{status:#}");
    context.write("BRIEF.md", "Make a shelf of files.\n");
    assert_eq!(goes_on(&context, stop), ["no-milestone"]);
}

#[test]
fn a_slice_that_needs_discussion_continues_once_its_context_is_written() {
    let context = preferring("phases:\n  require_slice_discussion: true\n");
    let stop = stopped(&run(&context, BEGIN, &[]), "slice-needs-discussion");
    assert!(stop["text"].as_str().unwrap().starts_with("M001/S01 has no CONTEXT.md"), "{stop:#}");
    assert_eq!(stop["next"], "gsd-tools auto discuss M001/S01", "{stop:#}");
    for slice in ["S01", "S02"] {
        let folder = context.project().join(WORKTREE).join(MILESTONE).join("slices").join(slice);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{slice}-CONTEXT.md")), "# The shelf\n\nOne file a task.\n").unwrap();
    }
    assert_eq!(goes_on(&context, &stop), ["slice-needs-discussion"]);
}

#[test]
fn a_client_without_its_model_or_a_tool_continues_later() {
    let rows = [
        (
            "auth",
            json!({ "match": { "unit": TASK }, "steps": [], "terminal": { "status": 401, "text": "invalid x-api-key" }, "exit": 1 }),
        ),
        (
            "denied",
            json!({ "match": { "unit": TASK }, "steps": [{ "sh": "echo \"$GSD_UNIT_ATTEMPT\" > x" }, { "denied": "Bash" }] }),
        ),
    ];
    for (cause, row) in rows {
        let context = project();
        let stop = stopped(&run(&context, BEGIN, &[row]), cause);
        assert_eq!(goes_on(&context, &stop), [cause]);
    }
}

#[test]
fn a_run_that_a_person_paused_or_stopped_continues() {
    for (word, cause) in [("pause", "paused"), ("stop", "stopped")] {
        let context = project();
        // A folder that no fenced session may write to signals when the person acts.
        let script = scripted::meanwhile(&context, &["auto", word]);
        let stop = stopped(&run(&context, &[BEGIN, &["--no-fence"]].concat(), &[also(TASK, &script)]), cause);
        assert_eq!(goes_on(&context, &stop), [cause]);
    }
}

#[test]
fn files_too_large_to_keep_stay_until_the_printed_command_removes_them() {
    let context = project_of(&[(".gitignore", "*.large\n")]);
    let stop = stopped(&run(&context, BEGIN, &[also(TASK, "truncate -s 65M src/a.large")]), "unproved");
    assert!(stop["text"].as_str().unwrap().contains("src/a.large"), "{stop:#}");
    assert_eq!(goes_on(&context, &stop), ["unproved"]);
    assert!(!context.project().join(WORKTREE).exists());
    assert_eq!(git(&context, &["branch", "--list"]), "* main");
}
