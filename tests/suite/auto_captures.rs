//! Captures: thoughts of a person during the work, triaged between two units, and what follows from each class.

use serde_json::{Value, json};

use crate::auto::{compile, git, project, report};
use crate::auto_ways_on::{BEGIN, goes_on, run, stopped};
use crate::kit::{Ran, TestContext, binary};
use crate::scripted;

const WORKTREE: &str = ".gsd/worktrees/M001";
const PLAN: &str = ".gsd/milestones/M001/slices/S01/S01-PLAN.md";

/// A run that has planned the milestone and done so many of its units.
fn begun(units: &str) -> TestContext {
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--max-units", units]].concat(), &[]), "units-done");
    context
}

fn capture(context: &TestContext, text: &str) {
    let answer = context.gsd(["auto", "capture", text]).json();
    assert!(answer["updated"] == true && answer["next"] == "gsd-tools auto run", "{answer:#}");
}

fn in_worktree(context: &TestContext, path: &str) -> String {
    std::fs::read_to_string(context.project().join(WORKTREE).join(path)).unwrap_or_default()
}

/// The units whose sessions started, each as its kind and identifier.
fn sessions(context: &TestContext) -> Vec<String> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    let started = rows.filter(|entry| entry["event"] == "unit-started");
    started.map(|entry| format!("{} {}", entry["unit"]["kind"], entry["unit"]["id"]).replace('"', "")).collect()
}

fn landed(context: &TestContext, ran: &Ran) -> String {
    assert_eq!(report(ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    git(context, &["show", "main:.gsd/CAPTURES.md"])
}

#[test]
fn a_capture_is_triaged_and_its_quick_task_lands_with_its_mark() {
    let context = begun("3");
    capture(&context, "add a label to the shelf");
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(status["captures"], 1, "{status:#}");
    let shown = context.at_a_terminal("auto status", &[], "");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("1 capture open"), "{shown:?}");
    let ran = run(&context, &["auto", "run"], &[]);
    let captures = landed(&context, &ran);
    for line in ["**Status:** resolved", "**Classification:** quick-task", "**Executed:** 20", "**Milestone:** M001"] {
        assert!(captures.contains(line), "{line}: {captures}");
    }
    let sessions = sessions(&context);
    let quick: Vec<&String> = sessions.iter().filter(|unit| unit.starts_with("quick-task M001/S01/CAP-")).collect();
    assert_eq!(quick.len(), 1, "{sessions:?}");
    assert_eq!(sessions.iter().filter(|unit| *unit == "triage-captures M001/S01").count(), 1, "{sessions:?}");
    let id = quick[0].rsplit('/').next().unwrap().to_owned();
    let file = format!("main:src/{}.txt", id.to_lowercase().replace('-', "_"));
    assert_eq!(git(&context, &["show", &file]), format!("{id} ready"));
    // Its checks were those of the work before it, and their record is with it.
    let record = git(&context, &["show", &format!("main:.gsd/milestones/M001/slices/S01/tasks/{id}-VERIFY.json")]);
    assert!(record.contains("sh checks/s01_t01.sh") && record.contains("\"passed\": true"), "{record}");
    assert_eq!(context.gsd(["auto", "status"]).json()["captures"], Value::Null);
}

#[test]
fn an_injected_capture_is_a_task_that_runs() {
    // The last task of the slice is done when the capture arrives: the slice waits for it.
    let context = begun("2");
    let meanwhile = scripted::meanwhile(&context, &["auto", "capture", "inject: a third file"]);
    let row = scripted::also("execute-task M001/S01/T02", None, &meanwhile);
    let ran = run(&context, &["auto", "run"], &[row]);
    let captures = landed(&context, &ran);
    assert!(captures.contains("**Resolution:** added as M001/S01/T03"), "{captures}");
    let plan = git(&context, &["show", &format!("main:{PLAN}")]);
    assert!(plan.contains("- [x] **T03: inject: a third file** `est:30m`"), "{plan}");
    let (task, files) = (plan.find("**T03").unwrap(), plan.find("## Files Likely Touched").unwrap());
    assert!(task < files && plan.contains("  - Verify: sh checks/s01_t01.sh && sh checks/s01_t02.sh"), "{plan}");
    let names = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
    for name in ["tasks/T03-PLAN.md", "tasks/T03-SUMMARY.md", "src/s01_t03.txt"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    let sessions = sessions(&context);
    let at = |unit: &str| sessions.iter().position(|found| found == unit).unwrap();
    assert!(at("triage-captures M001/S01") < at("execute-task M001/S01/T03"), "{sessions:?}");
    assert!(at("execute-task M001/S01/T03") < at("plan-slice M001/S02"), "{sessions:?}");
}

#[test]
fn notes_are_resolved_put_off_thoughts_reach_the_planner_and_a_replan_is_triggered() {
    let context = begun("2");
    for text in ["note: the shelf is nice", "defer: sort the shelf", "replan: start with the second file"] {
        capture(&context, text);
    }
    let once = run(&context, &["auto", "run", "--max-units", "1"], &[]);
    stopped(&once, "units-done");
    let captures = in_worktree(&context, ".gsd/CAPTURES.md");
    assert_eq!(captures.matches("**Status:** resolved").count(), 3, "{captures}");
    let trigger = in_worktree(&context, ".gsd/milestones/M001/slices/S01/S01-REPLAN-TRIGGER.md");
    for line in
        ["**Source:** capture", "replan: start with the second file", "**Rationale:** as its", "**Triggered:** 20"]
    {
        assert!(trigger.contains(line), "{line}: {trigger}");
    }
    let prompt = context.gsd(["auto", "prompt", "plan-slice", "M001/S02", "--raw"]).success();
    assert!(prompt.contains("defer: sort the shelf") && !prompt.contains("the shelf is nice"), "{prompt}");
    assert_eq!(context.gsd(["auto", "status"]).json()["next"]["unit_type"], "replan-slice");
    landed(&context, &run(&context, &["auto", "run"], &[]));
}

#[test]
fn a_stop_word_pauses_the_run_without_a_session_and_the_printed_command_continues() {
    let context = begun("2");
    let meanwhile = scripted::meanwhile(&context, &["auto", "capture", "Wait: the shelf is too small"]);
    let ran = run(&context, &["auto", "run"], &[scripted::also("execute-task M001/S01/T01", None, &meanwhile)]);
    let stop = stopped(&ran, "paused");
    assert!(stop["evidence"][0].as_str().unwrap().contains("Wait: the shelf is too small"), "{stop:#}");
    assert!(stop["text"].as_str().unwrap().starts_with("CAP-") && ran.code == 11, "{stop:#}");
    assert_eq!(sessions(&context).last().unwrap(), "execute-task M001/S01/T01");
    assert_eq!(goes_on(&context, &stop), ["paused"]);
    let captures = git(&context, &["show", "main:.gsd/CAPTURES.md"]);
    assert!(captures.contains("**Classification:** stop") && captures.contains("a person continued it"), "{captures}");
    assert!(!sessions(&context).iter().any(|unit| unit.starts_with("triage")));
}

#[test]
fn a_stop_by_triage_asks_the_person_and_the_printed_command_continues() {
    for class in ["stop", "backtrack"] {
        let context = begun("2");
        capture(&context, &format!("please {class}: the wrong shelf"));
        let ran = run(&context, &["auto", "run"], &[]);
        let stop = stopped(&ran, "captured");
        let shown = stop.to_string();
        assert!(
            ran.code == 10 && shown.contains("the wrong shelf") && shown.contains("as its first word says"),
            "{shown}"
        );
        assert_eq!(sessions(&context).last().unwrap(), "triage-captures M001/S01");
        assert_eq!(goes_on(&context, &stop), ["captured"]);
        let captures = git(&context, &["show", "main:.gsd/CAPTURES.md"]);
        assert!(captures.contains(&format!("**Classification:** {class}")), "{captures}");
        assert!(captures.contains("**Status:** resolved"), "{captures}");
    }
}

#[test]
fn a_slice_is_not_closed_while_a_capture_asks_the_person_to_stop() {
    for class in ["stop", "backtrack"] {
        let context = begun("2");
        let meanwhile = scripted::meanwhile(&context, &["auto", "capture", &format!("please {class}: a wrong shelf")]);
        let ran = run(&context, &["auto", "run"], &[scripted::also("execute-task M001/S01/T02", None, &meanwhile)]);
        let stop = stopped(&ran, "captured");
        assert_eq!(in_worktree(&context, ".gsd/milestones/M001/slices/S01/S01-SUMMARY.md"), "", "{}", ran.stderr);
        assert_eq!(goes_on(&context, &stop), ["captured"]);
    }
}

#[test]
fn a_triage_without_a_known_or_possible_class_does_not_count() {
    let context = begun("2");
    capture(&context, "nonsense: what is this");
    let ran = run(&context, &["auto", "run"], &[]);
    let stop = stopped(&ran, "no-progress");
    assert!(stop.to_string().contains("`nonsense` is none of quick-task, inject, defer"), "{stop:#}");
    assert!(in_worktree(&context, ".gsd/CAPTURES.md").contains("**Status:** pending"), "it is taken back");
    // A slice without a plan gets no task.
    let context = begun("4");
    capture(&context, "inject: too early");
    let ran = run(&context, &["auto", "run"], &[]);
    let stop = stopped(&ran, "no-progress");
    assert!(stop.to_string().contains("`inject` needs a plan of the slice"), "{stop:#}");
}

#[test]
fn a_capture_that_another_session_resolves_is_set_back() {
    let resolves = "sed -i 's/^.*Status:.*$/**Status:** resolved/' .gsd/CAPTURES.md";
    // A session that plans the milestone sees a thought without a class.
    let context = begun("1");
    capture(&context, "note: later");
    let ran =
        run(&context, &["auto", "run", "--max-units", "1"], &[scripted::also("plan-milestone M001", None, resolves)]);
    stopped(&ran, "units-done");
    assert!(ran.stderr.contains("put back, since the unit may not change it: .gsd/CAPTURES.md"), "{}", ran.stderr);
    assert!(in_worktree(&context, ".gsd/CAPTURES.md").contains("**Status:** pending"));
    // A quick task sees the other one.
    capture(&context, "one more file");
    capture(&context, "and another");
    let ran = run(&context, &["auto", "run"], &[scripted::also("quick-task M001/S01/*", None, resolves)]);
    landed(&context, &ran);
    assert_eq!(sessions(&context).iter().filter(|unit| unit.starts_with("quick-task")).count(), 2);
}

#[test]
fn a_run_that_is_killed_in_a_triage_or_a_quick_task_does_each_once() {
    for unit in ["triage-captures M001/S01", "quick-task M001/S01/*"] {
        let context = begun("2");
        capture(&context, "one more file");
        let marker = context.home().join("marker");
        let script = format!("[ -e {0} ] || {{ touch {0}; sleep 60; }}", marker.display());
        let rows = json!([
            { "match": { "unit": unit }, "steps": [{ "ideal": true }, { "sh": script }, { "tool": "Write" }] },
            { "steps": [{ "ideal": true }, { "tool": "Write" }] }
        ]);
        let path = context.home().join("rows.json");
        std::fs::write(&path, rows.to_string()).unwrap();
        let agent = compile::fake_agent().to_string_lossy().into_owned();
        let words = ["auto", "run", "--runner", "fake", "--runner-program", &agent];
        let mut first = context.command(binary());
        first.args(words).env("FAKE_SHAPE", "2x2").env("FAKE_SCRIPT", &path);
        first.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut first = first.spawn().unwrap();
        let began = std::time::Instant::now();
        while !marker.exists() {
            assert!(began.elapsed().as_secs() < 120, "{unit}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        first.kill().unwrap();
        first.wait().unwrap();
        let ran = run(&context, &["auto", "run"], &[]);
        let captures = landed(&context, &ran);
        assert_eq!(captures.matches("**Executed:**").count(), 1, "{captures}");
        let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
        let rows = log["entries"].as_array().unwrap().iter().map(|row| &row["entry"]);
        let of_quick =
            rows.filter(|entry| entry["message"].as_str().is_some_and(|text| text.contains("GSD-Task: M001/S01/CAP-")));
        assert_eq!(of_quick.count(), 1, "one commit");
    }
}

#[test]
fn a_project_in_phases_has_no_captures() {
    let context = TestContext::new();
    context
        .write(".planning/ROADMAP.md", "# Roadmap\n\n## Milestones\n\n- v1.0\n\n## Phases\n\n- [ ] **Phase 1: A**\n");
    context.write(".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n");
    let refused = context.gsd(["auto", "capture", "a thought"]);
    let why = "`auto capture` is for milestones in slices, and this project is in phases";
    assert!(refused.code != 0 && refused.stderr.contains(why), "{}", refused.stderr);
    assert!(!context.project().join(".gsd").exists());
}
