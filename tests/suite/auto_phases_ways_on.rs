//! The stops of a project in phases: a test runs what each of them prints, after the edit of a person that its text
//! asks for, and the phases are closed on the branch.

use serde_json::{Value, json};

use crate::auto::{compile, git};
use crate::auto_phases::{BASE, PASSED, ROADMAP, STATE, is_closed, project, whole_project};
use crate::auto_ways_on::{follow, stopped};
use crate::kit::{Ran, TestContext, binary};

/// Runs with sessions that do the work of their unit, and then what the first matching row says. An execution begins
/// with the calls of its workflow.
fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    let program = binary().to_string_lossy().into_owned();
    sessions(context, words, rows, &[("FAKE_GSD_TOOLS", &program)])
}

/// The same without these calls: a wave is made only of plans not executed yet, and not of the first one again.
fn sessions(context: &TestContext, words: &[&str], rows: &[Value], more: &[(&str, &str)]) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let place = context.home().join("script.json");
    let mut rows = rows.to_vec();
    rows.push(json!({ "steps": [{ "ideal": true }, { "tool": "Write" }] }));
    std::fs::write(&place, Value::from(rows).to_string()).unwrap();
    let words = words.iter().copied().chain(["--runner", "fake", "--runner-program", &agent]).map(str::to_owned);
    let words: Vec<String> = words.collect();
    let script = place.to_string_lossy();
    context.gsd_with(words, &[&[("FAKE_SCRIPT", &*script)], more].concat(), "")
}

/// A session that runs a script after the work and commits it.
fn also(unit: &str, attempt: u32, script: &str) -> Value {
    let script = format!("{script}; git add --all; git commit --quiet --message=more");
    json!({ "match": { "unit": unit, "attempt": attempt }, "steps": [{ "ideal": true }, { "sh": script }, { "tool": "Write" }] })
}

fn verified(status: &str) -> String {
    format!("sed -i 's/status: passed/status: {status}/' .planning/phases/01-shelf/01-VERIFICATION.md")
}

#[test]
fn gaps_are_planned_and_executed_by_the_printed_command() {
    let context = whole_project();
    let found = [also("execute-phase 1", 1, &verified("gaps_found"))];
    let stop = stopped(&run(&context, &["auto", "run"], &found), "gaps-found");
    assert_eq!(stop["next"], "gsd-tools auto dispatch plan-phase 1", "{stop:#}");
    let folder = ".planning/phases/01-shelf";
    let plan = format!(
        "sed 's/^plan: 01/plan: 02\\ngap_closure: true/; s/p01_01/p01_02/g' {folder}/01-01-PLAN.md > {folder}/01-02-PLAN.md"
    );
    // The report comes with the summary that it covers: otherwise it would be older by a second.
    let work = format!(
        "echo 'phase 01 ready' > src/p01_02.txt; sed s/p01_01/p01_02/ checks/p01_01.sh > checks/p01_02.sh; \
         sed 's/^plan: 01/plan: 02/' {folder}/01-01-SUMMARY.md > {folder}/01-02-SUMMARY.md; \
         echo Both. >> {folder}/01-VERIFICATION.md"
    );
    let rows = [also("plan-phase 1", 1, &plan), also("execute-phase 1", 1, &work)];
    let causes = follow(&context, &stop, |line| sessions(&context, line, &rows, &[]));
    assert_eq!(causes, ["gaps-found", "units-done"]);
    is_closed(&context);
    let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
    assert!(files.contains("01-02-SUMMARY.md") && files.contains("src/p01_02.txt"), "{files}");
}

/// What a person reads of a stop: its text, and its evidence.
fn said(stop: &Value) -> String {
    format!("{} {}", stop["text"].as_str().unwrap(), stop["evidence"])
}

#[test]
fn a_wait_for_a_person_ends_with_the_edit() {
    // A verification that a person has to complete while a run is under way: in its worktree.
    let context = whole_project();
    let needed = [also("execute-phase 1", 1, &verified("human_needed"))];
    let stop = stopped(&run(&context, &["auto", "run"], &needed), "human-needed");
    let worktree = context.project().join(".planning/worktrees/v1.0");
    let place = worktree.display().to_string();
    assert!(said(&stop).contains(&format!("write `status: passed` into its VERIFICATION.md in `{place}`")), "{stop:#}");
    assert!(said(&stop).contains("gsd-tools audit-uat --cwd"), "{stop:#}");
    context.gsd(["audit-uat", "--cwd", &place]).success();
    let again = stopped(&run(&context, &["auto", "run"], &[]), "human-needed");
    assert_eq!(again, stop, "nothing was done about it");
    let path = worktree.join(".planning/phases/01-shelf/01-VERIFICATION.md");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("human_needed", "passed")).unwrap();
    assert_eq!(follow(&context, &stop, |line| run(&context, line, &[])), ["human-needed"]);
    is_closed(&context);
}

fn commit(context: &TestContext) {
    git(context, &["add", "--all"]);
    git(context, &["commit", "--quiet", "--message=by hand"]);
}

/// What keeps a run in phases from starting: the documents, the cause, what its text names, and the edit of a person
/// that fixes it.
type Kept<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str, fn(&TestContext));

#[test]
fn phases_that_cannot_begin_continue_after_the_edit() {
    let handoff = ".planning/HANDOFF.json";
    let note = ".planning/.continue-here.md";
    let (roadmap, state) = ((".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE));
    let stated = STATE.replacen("---\n", "---\npaused_at: Task 2\n", 1);
    let empty = "# Roadmap\n\n## v1.0 Shelf\n";
    let rows: [Kept<'_>; 5] = [
        (
            &[roadmap, state, (handoff, "{\"next_action\": \"Mend\"}")],
            "paused",
            "remove `.planning/HANDOFF.json`",
            |context| {
                std::fs::remove_file(context.project().join(".planning/HANDOFF.json")).unwrap();
            },
        ),
        (&[roadmap, state, (note, "# Here\n")], "paused", "`status: resumed`", |context| {
            context.write(".planning/.continue-here.md", "---\nstatus: resumed\n---\n\n# Here\n");
        }),
        (&[roadmap, (".planning/STATE.md", &stated)], "paused", "remove from `.planning/STATE.md`", |context| {
            context.write(".planning/STATE.md", STATE);
        }),
        (
            &[(".planning/ROADMAP.md", empty), state],
            "no-milestone",
            "has no phases yet: add one, commit it",
            |context| {
                context.write(".planning/ROADMAP.md", ROADMAP);
            },
        ),
        (&[roadmap], "blocked", "STATE.md is missing", |context| {
            context.gsd(["state", "rebuild"]).success();
        }),
    ];
    for (files, cause, text, edit) in rows {
        let context = project(files);
        context.gsd(["install", "--global", "--claude"]).success();
        let stop = stopped(&run(&context, &["auto", "run"], &[]), cause);
        assert!(said(&stop).contains(text), "{stop:#}");
        edit(&context);
        commit(&context);
        assert_eq!(follow(&context, &stop, |line| run(&context, line, &[])), [cause]);
    }
}

#[test]
fn a_run_continues_once_a_person_completed_the_acceptance_test() {
    let roadmap = ROADMAP.replace("- [ ] **Phase 1", "- [x] **Phase 1");
    let state = STATE.replace("1 of 2 (Base)", "2 of 2 (Top)");
    let acceptance = format!("{BASE}/01-UAT.md");
    let context = project(&[
        (".planning/ROADMAP.md", &roadmap),
        (".planning/STATE.md", &state),
        (&format!("{BASE}/01-CONTEXT.md"), "# Base\n"),
        (&format!("{BASE}/01-01-PLAN.md"), "---\nwave: 1\n---\n"),
        (&format!("{BASE}/01-01-SUMMARY.md"), "---\nstatus: complete\n---\n"),
        (&format!("{BASE}/01-VERIFICATION.md"), PASSED),
        (&acceptance, "---\nstatus: testing\n---\n\n## Tests\n\n### 1. Look\nexpected: a file\nresult: [pending]\n"),
    ]);
    context.gsd(["install", "--global", "--claude"]).success();
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "human-needed");
    assert!(said(&stop).contains("into its UAT.md, commit it, then run again"), "{stop:#}");
    assert!(context.gsd(["audit-uat"]).success().contains("Look"));
    context
        .write(&acceptance, "---\nstatus: complete\n---\n\n## Tests\n\n### 1. Look\nexpected: a file\nresult: pass\n");
    commit(&context);
    assert_eq!(follow(&context, &stop, |line| run(&context, line, &[])), ["human-needed"]);
}

#[test]
fn a_phase_that_the_roadmap_does_not_list_can_still_be_closed() {
    let row = "- [ ] **Phase 1: Base** - the first file\n";
    let context = project(&[(".planning/ROADMAP.md", &ROADMAP.replace(row, "")), (".planning/STATE.md", STATE)]);
    let roadmap = std::fs::read_to_string(context.project().join(".planning/ROADMAP.md")).unwrap();
    context.write(".planning/ROADMAP.md", &roadmap.replace("### Phase 1: Base\n**Goal**: one file\n\n", ""));
    commit(&context);
    context.gsd(["install", "--global", "--claude"]).success();
    let ran = sessions(&context, &["auto", "run"], &[], &[]);
    let stop = stopped(&ran, "no-progress");
    assert!(ran.stderr.contains("close-phase needs a session: ROADMAP.md has no entry of phase 1"), "{}", ran.stderr);
    assert!(said(&stop).contains("missing: the tick of the phase in ROADMAP.md"), "{stop:#}");
    let path = context.project().join(".planning/worktrees/v1.0/.planning/ROADMAP.md");
    std::fs::write(path, ROADMAP.replace("- [ ] **Phase 1", "- [x] **Phase 1")).unwrap();
    assert_eq!(follow(&context, &stop, |line| sessions(&context, line, &[], &[])), ["no-progress"]);
    is_closed(&context);
}
