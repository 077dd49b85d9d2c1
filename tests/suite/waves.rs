//! Parallel executors of a wave: the decision, the guard that reads it, the merge, and the closing of plans.

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext};

pub(crate) const PHASE: &str = ".planning/phases/01-core";

pub(crate) fn plan(number: u8, files: &str, more: &str) -> String {
    format!(
        "---\nphase: 01-core\nplan: 0{number}\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [{files}]\n\
         autonomous: true\nrequirements: [A-{number}]\n{more}---\n\n<objective>\nBuild {files}\n</objective>\n"
    )
}

fn summary(number: u8, files: &str) -> String {
    format!(
        "---\nphase: 01-core\nplan: 0{number}\nkey-files:\n  created: [{files}]\n  modified: []\nkey-decisions:\n  - \"Text \
         files: easy to read\"\nduration: 12min\nstatus: complete\n---\n\n# Phase 1 Plan {number}: Part {number} \
         Summary\n\n**It works**\n\n## Self-Check: PASSED\n"
    )
}

/// A project with three plans in one wave, all committed.
pub(crate) fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap: Demo\n\n## Phases\n\n- [ ] **Phase 1: Core** - first\n- [ ] **Phase 2: More** - then\n\n## Phase \
         Details\n\n### Phase 1: Core\n**Goal**: Works\n**Requirements**: A-1, A-2\n**Plans**: 3 plans\n\nPlans:\n- [ ] \
         01-01-PLAN.md\n- [ ] 01-02-PLAN.md\n- [ ] 01-03-PLAN.md\n\n### Phase 2: More\n**Goal**: More\n\n## Progress\n\n| \
         Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Core | 0/3 | Planned |  |\n| 2. More | 0/0 \
         | Not started |  |\n",
    );
    context.write(
        ".planning/REQUIREMENTS.md",
        "# Requirements\n\n- [ ] **A-1**: one\n- [ ] **A-2**: two\n- [ ] **A-3**: three\n\n## Traceability\n\n| \
         Requirement | Phase | Status |\n|---|---|---|\n| A-1 | Phase 1 | Pending |\n| A-2 | Phase 1 | Pending |\n| A-3 | \
         Phase 1 | Pending |\n",
    );
    context.write(
        ".planning/STATE.md",
        "# Project State\n\n## Current Position\n\nPhase: 1 of 2 (Core)\nPlan: 0 of 3\nStatus: Ready to execute\nLast \
         activity: 2026-01-01\n\n## Performance Metrics\n\n## Accumulated Context\n\n### Decisions\n\nNone yet.\n\n## \
         Session Continuity\n\nLast session: x\nStopped at: y\nResume file: None\n",
    );
    context.write("keep.txt", "keep\n");
    for (number, files) in [(1, "a.txt"), (2, "b.txt"), (3, "a.txt")] {
        context.write(&format!("{PHASE}/01-0{number}-PLAN.md"), &plan(number, files, ""));
    }
    git(&context, "", &["init", "-q", "-b", "main"]);
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "docs(01): plans"]);
    context
}

pub(crate) fn git(context: &TestContext, folder: &str, arguments: &[&str]) -> String {
    let output = context.command("git").current_dir(context.project().join(folder)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn on(context: &TestContext, host: &str, arguments: &[&str]) -> Ran {
    context.gsd_with(arguments, &[("GSD_RUNTIME", host)], "")
}

pub(crate) fn create(context: &TestContext, host: &str) -> Value {
    on(context, host, &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02,01-03"]).json()
}

/// The answer of the guards to the start of an executor.
pub(crate) fn start(context: &TestContext, plan: &str, isolation: Option<&str>) -> String {
    start_agent(context, "gsd-executor", plan, isolation)
}

/// As [`start`], for the agent that a plan names instead.
pub(crate) fn start_agent(context: &TestContext, agent: &str, plan: &str, isolation: Option<&str>) -> String {
    let mut input = json!({
        "subagent_type": agent,
        "description": "Execute",
        "prompt": format!("[gsd:dispatch phase=1 plan={plan}]\nExecute plan {plan}"),
    });
    if let Some(isolation) = isolation {
        input["isolation"] = isolation.into();
    }
    let payload = json!({
        "session_id": "s1",
        "cwd": context.project(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": input,
    });
    context.gsd_with(["hook", "standard", "before-tool"], &[("GSD_RUNTIME", "claude")], &payload.to_string()).success()
}

/// Does in `folder` what an executor of the plan does.
pub(crate) fn execute(context: &TestContext, folder: &str, number: u8, file: &str) {
    let at = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    context.write(&at(file), "work\n");
    git(context, folder, &["add", file]);
    git(context, folder, &["commit", "-qm", &format!("feat(01-0{number}): build {file}")]);
    context.write(&at(&format!("{PHASE}/01-0{number}-SUMMARY.md")), &summary(number, file));
}

#[test]
fn plans_that_share_no_file_get_worktrees_and_the_others_wait() {
    let context = project();
    let wave = create(&context, "claude");
    assert_eq!(wave["isolation"], "harness-worktree");
    let beside: Vec<&str> =
        wave["side_by_side"].as_array().unwrap().iter().map(|side| side["plan"].as_str().unwrap()).collect();
    assert_eq!(beside, ["01-01", "01-02"]);
    assert_eq!(wave["side_by_side"][0]["argument"], "isolation=\"worktree\"");
    assert!(wave["side_by_side"][0]["prompt"].as_str().unwrap().contains(&git(&context, "", &["rev-parse", "HEAD"])));
    assert_eq!(wave["in_turn"][0]["plan"], "01-03");
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "", "the decision must not show up in git");
    assert!(!context.project().join(".gsd").exists());
    // A host without worktrees, and a project that turns them off.
    assert_eq!(create(&context, "gemini")["isolation"], "none");
    context.write(".planning/config.json", r#"{"workflow":{"use_worktrees":false}}"#);
    let wave = create(&context, "claude");
    assert_eq!((wave["isolation"].as_str(), wave["in_turn"].as_array().unwrap().len()), (Some("none"), 3));
    assert!(wave["in_turn"][0]["why"].as_str().unwrap().contains("workflow.use_worktrees"));
}

/// The text that a new session receives.
pub(crate) fn session_start(context: &TestContext) -> String {
    let payload = json!({"session_id": "s", "cwd": context.project(), "source": "startup"});
    context
        .gsd_with(["hook", "standard", "session-start"], &[("GSD_RUNTIME", "claude")], &payload.to_string())
        .success()
}

#[test]
fn plans_that_run_in_turn_leave_no_note() {
    let context = project();
    let notes = || {
        let files = walkdir::WalkDir::new(context.home()).into_iter().map(Result::unwrap);
        files.filter(|file| file.file_name() == "wave.json").count()
    };
    create(&context, "claude");
    assert_eq!(notes(), 1);
    let alone = on(&context, "claude", &["worktree", "create-wave", "--phase", "1", "--plans", "01-03"]).json();
    assert_eq!((&alone["side_by_side"], alone["in_turn"].as_array().unwrap().len()), (&json!([]), 1));
    assert_eq!(notes(), 0, "the note of a wave that nothing ends");
    assert_eq!(start(&context, "01-01", None), "");
}

#[test]
fn the_guard_reads_the_decision_and_following_it_works() {
    let context = project();
    assert_eq!(start(&context, "01-01", None), "", "without a decision nobody is refused");
    create(&context, "claude");
    let refused = start(&context, "01-01", None);
    assert!(refused.contains("ISOLATION_MISSING") && refused.contains("isolation=\\\"worktree\\\""), "{refused}");
    assert_eq!(start(&context, "01-01", Some("worktree")), "");
    assert_eq!(start(&context, "01-03", None), "", "a plan in turn starts in the main tree");
    let session = || session_start(&context);
    let waits = "Interrupted: 01-01, 01-02 are in worktrees that are not merged. Continue with `/gsd-execute-phase 1`.";
    assert!(session().contains(waits), "{}", session());
    on(&context, "claude", &["worktree", "cleanup-wave"]).json();
    assert_eq!(start(&context, "01-01", None), "", "the decision ends with the wave");
    assert!(!session().contains("interrupted"), "{}", session());
}

#[test]
fn a_wave_in_worktrees_of_the_host_is_found_merged_and_closed() {
    let context = project();
    context.gsd(["state", "begin-phase", "--phase", "1", "--name", "Core", "--plans", "3"]).success();
    create(&context, "claude");
    for (number, file) in [(1, "a.txt"), (2, "b.txt")] {
        let place = format!(".claude/worktrees/agent-{number}");
        git(&context, "", &["worktree", "add", "-q", "-b", &format!("worktree-agent-{number}"), &place]);
        execute(&context, &place, number, file);
        let closed = context.gsd(["--cwd", &place, "plan", "close", &format!("01-0{number}")]).json();
        assert_eq!((&closed["in_worktree"], &closed["next_plan"]), (&json!(true), &json!(null)), "{closed}");
        assert_eq!(git(&context, &place, &["status", "--porcelain"]), "");
    }
    // Another user's agent is not part of the wave.
    git(&context, "", &["worktree", "add", "-q", "-b", "worktree-agent-other", ".claude/worktrees/other"]);
    // The host created a branch, and then failed to create its worktree.
    git(&context, "", &["branch", "worktree-agent-failed"]);
    let merged = on(&context, "claude", &["worktree", "cleanup-wave"]).json();
    assert_eq!(merged["result"]["entries"].as_array().unwrap().len(), 2, "{merged}");
    assert!(context.project().join("a.txt").exists() && context.project().join("b.txt").exists());
    assert_eq!(git(&context, "", &["branch", "--format=%(refname:short)"]), "main\nworktree-agent-other");
    git(&context, "", &["worktree", "remove", ".claude/worktrees/other"]);

    let checked = context.gsd(["plan", "check", "01-01", "01-02"]).json();
    assert_eq!(checked["finished"], true, "{checked}");
    let session = || session_start(&context);
    let waits = "Interrupted: 01-01, 01-02 were executed and not closed. Continue with `/gsd-execute-phase 1`.";
    assert!(session().contains(waits), "{}", session());
    let closed = context.gsd(["plan", "close", "01-01", "01-02"]).json();
    assert_eq!(closed["next_plan"], "01-03");
    assert_eq!(closed["closed"][0]["requirements_completed"], json!(["A-1"]), "{closed}");
    let state = context.read(".planning/STATE.md");
    assert!(state.contains("Plan: 3 of 3"), "{state}");
    assert!(!session().contains("interrupted"), "{}", session());
    assert!(state.contains("[Phase 01]: Text files — easy to read"), "{state}");
    assert!(state.contains("| Phase 01 P02 | 12min |") && state.contains("Completed 01-02-PLAN.md"), "{state}");
    assert!(context.read(".planning/ROADMAP.md").contains("| 1. Core | 2/3 |"));
    assert!(context.read(".planning/REQUIREMENTS.md").contains("- [x] **A-2**"));
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "");
    let log = git(&context, "", &["log", "--format=%s", "--grep=^docs(01-0"]);
    assert_eq!(log.lines().count(), 2, "one SUMMARY each: {log}");
    assert_eq!(git(&context, "", &["log", "-1", "--format=%s"]), "docs(01): complete plans 01-01, 01-02");
    assert!(on(&context, "claude", &["worktree", "cleanup-wave"]).failure(2).contains("create-wave"));
}

#[test]
fn a_wave_in_our_own_worktrees_leaves_nothing() {
    let context = project();
    let wave = create(&context, "codex");
    assert_eq!(wave["isolation"], "orchestrator-worktree");
    let place = ".planning/worktrees/01-01";
    assert!(wave["side_by_side"][0]["prompt"].as_str().unwrap().contains(place), "{wave}");
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "", "our worktrees must not show up in git");
    for (number, file) in [(1, "a.txt"), (2, "b.txt")] {
        let place = format!(".planning/worktrees/01-0{number}");
        execute(&context, &place, number, file);
        context.gsd(["--cwd", &place, "plan", "close", &format!("01-0{number}")]).success();
    }
    let again = on(&context, "codex", &["worktree", "create-wave", "--phase", "1", "--plans", "01-03"]);
    assert!(again.failure(1).contains("cleanup-wave"), "an open wave is not forgotten");
    on(&context, "codex", &["worktree", "cleanup-wave"]).json();
    assert!(!context.project().join(".planning/worktrees").exists());
    assert_eq!(git(&context, "", &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(&context, "", &["worktree", "list"]).lines().count(), 1);
    assert!(context.project().join("b.txt").exists());
}

#[test]
fn a_host_that_starts_agents_in_a_folder_gets_one_even_with_uncommitted_files() {
    let context = project();
    context.gsd(["state", "begin-phase", "--phase", "1", "--plans", "3"]).success();
    assert!(git(&context, "", &["status", "--porcelain"]).contains("STATE.md"));
    let wave = create(&context, "qwen");
    assert_eq!(wave["isolation"], "orchestrator-worktree");
    let folder = context.project().join(".planning/worktrees/01-02");
    assert_eq!(wave["side_by_side"][1]["argument"], format!("working_dir=\"{}\"", folder.display()));
    let prompt = wave["side_by_side"][1]["prompt"].as_str().unwrap();
    assert!(prompt.contains(&format!("Worktree: `{}`", folder.display())) && !prompt.contains("git -C"), "{prompt}");
    assert!(folder.join("README.md").is_file() || folder.join(".planning").is_dir());
}

#[test]
fn the_work_of_an_interrupted_executor_is_kept() {
    let context = project();
    create(&context, "codex");
    let place = ".planning/worktrees/01-01";
    context.write(&format!("{place}/a.txt"), "done\n");
    git(&context, place, &["add", "-A"]);
    git(&context, place, &["commit", "-qm", "feat(01-01): one task"]);
    context.write(&format!("{place}/half.txt"), "half\n");
    let blocked = on(&context, "codex", &["worktree", "cleanup-wave"]);
    assert_eq!(blocked.code, 1);
    assert!(blocked.stdout.contains("worktree_dirty"), "{}", blocked.stdout);
    assert!(context.project().join(place).is_dir());
    on(&context, "codex", &["worktree", "cleanup-wave", "--keep-work"]).json();
    assert_eq!(context.read("half.txt"), "half\n");
    let log = git(&context, "", &["log", "--format=%s", "--no-merges", "--topo-order", "-2"]);
    assert_eq!(log, "wip(01-01): keep what an interrupted executor left uncommitted\nfeat(01-01): one task");
    assert_eq!(git(&context, "", &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn an_executor_that_died_before_its_first_commit_leaves_nothing() {
    let context = project();
    create(&context, "claude");
    for name in ["dead", "alive", "new"] {
        let place = format!(".claude/worktrees/agent-{name}");
        git(&context, "", &["worktree", "add", "-q", "-b", &format!("worktree-agent-{name}"), &place]);
    }
    // No process has this number: it is above what a system assigns.
    let gone = "an agent (pid 2147483646 start now)";
    git(&context, "", &["worktree", "lock", "--reason", gone, ".claude/worktrees/agent-dead"]);
    git(&context, "", &["worktree", "lock", ".claude/worktrees/agent-alive"]);
    // A worktree of a person.
    git(&context, "", &["worktree", "add", "-q", "-b", "agent-mine", "../mine"]);
    git(&context, "", &["branch", "agent-idea"]);
    on(&context, "claude", &["worktree", "cleanup-wave", "--keep-work"]).json();
    let branches = git(&context, "", &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "agent-idea\nagent-mine\nmain\nworktree-agent-alive\nworktree-agent-new");
}

#[test]
fn a_conflict_that_a_person_resolved_is_cleaned_up() {
    let context = project();
    create(&context, "codex");
    execute(&context, ".planning/worktrees/01-01", 1, "keep.txt");
    context.gsd(["--cwd", ".planning/worktrees/01-01", "plan", "close", "01-01"]).success();
    context.write("keep.txt", "mine\n");
    git(&context, "", &["commit", "-qam", "mine"]);
    assert!(on(&context, "codex", &["worktree", "cleanup-wave"]).stdout.contains("merge_failed"));
    let branch = git(&context, ".planning/worktrees/01-01", &["symbolic-ref", "--short", "HEAD"]);
    git(&context, "", &["merge", "-q", "-X", "ours", &branch]);
    on(&context, "codex", &["worktree", "cleanup-wave"]).json();
    assert_eq!(git(&context, "", &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn closing_a_plan_in_the_main_tree_is_one_commit_and_happens_once() {
    let context = project();
    assert!(context.gsd(["plan", "close", "01-01"]).failure(1).contains("01-01-SUMMARY.md"));
    assert!(context.gsd(["plan", "close", "09-01"]).failure(1).contains("phase-plan-index"));
    execute(&context, "", 1, "a.txt");
    let before = git(&context, "", &["rev-parse", "HEAD"]);
    let checked = context.gsd(["plan", "check", "1-1"]).json();
    assert!(checked["plans"][0]["findings"][0].as_str().unwrap().contains("not committed"), "{checked}");
    context.write(&format!("{PHASE}/deferred-items.md"), "- an old defect elsewhere\n");
    let payload = context.gsd(["init", "execute-phase", "1"]).json();
    assert_eq!(payload["unclosed_plans"], json!(["01-01"]), "executed, and not in the documents yet");
    let closed = context.gsd(["plan", "close", "1-1", "--blocker", "rate limit unknown"]).json();
    assert_eq!(context.gsd(["init", "execute-phase", "1"]).json()["unclosed_plans"], json!(null));
    assert_eq!(closed["commit"]["committed"], true, "{closed}");
    assert_eq!(git(&context, "", &["rev-list", "--count", &format!("{before}..HEAD")]), "1");
    assert_eq!(git(&context, "", &["log", "-1", "--format=%s"]), "docs(01-01): complete Part 1 plan");
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "");
    assert!(context.read(".planning/STATE.md").contains("rate limit unknown"));
    let state = context.read(".planning/STATE.md");
    let again = context.gsd(["plan", "close", "01-01"]).json();
    assert_eq!(again["commit"]["reason"], "nothing_to_commit", "{again}");
    assert_eq!(context.read(".planning/STATE.md"), state);
    assert!(closed.to_string().len() < 700, "{closed}");
}

#[test]
fn a_plan_is_finished_by_work_and_not_by_the_commit_that_closes_it() {
    let context = project();
    let finding = |plan: &str| {
        let checked = context.gsd(["plan", "check", plan]).json();
        (checked["finished"] == true, checked["plans"][0]["findings"][0].as_str().unwrap_or_default().to_owned())
    };
    let path = |number: u8| format!("{PHASE}/01-0{number}-SUMMARY.md");
    context.write("a.txt", "as before\n");
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "chore: a file"]);
    context.write(&path(1), &summary(1, "a.txt"));
    context.gsd(["plan", "close", "01-01"]).success();
    let (finished, what) = finding("01-01");
    assert!(!finished && what.contains("no commit has the scope `(01-01)`"), "{what}");
    context.write("a.txt", "new\n");
    git(&context, "", &["commit", "-qam", "feat(01-01): a"]);
    assert_eq!(finding("01-01"), (true, String::new()));
    // A plan that only writes documents has no other commits.
    let documents = plan(2, ".planning/DECISIONS.md", "");
    context.write(&format!("{PHASE}/01-02-PLAN.md"), &documents);
    context.write(".planning/DECISIONS.md", "# D\n");
    context.write(&path(2), &summary(2, ".planning/DECISIONS.md"));
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "docs(01-02): decide"]);
    assert_eq!(finding("01-02"), (true, String::new()));
}

#[test]
fn a_plan_with_an_empty_summary_is_not_closed() {
    let context = project();
    let path = format!("{PHASE}/01-01-SUMMARY.md");
    let head = git(&context, "", &["rev-parse", "HEAD"]);
    for (text, why) in [(" \n", "is empty"), ("---\nstatus: blocked\n\n# Phase 1 Plan 1: A Summary\n", "not closed")] {
        context.write(&path, text);
        let refused = context.gsd(["plan", "close", "01-01"]).failure(1);
        assert!(refused.contains(&path) && refused.contains(why) && refused.contains("plan check 01-01"), "{refused}");
        let checked = context.gsd(["plan", "check", "01-01"]).json();
        assert!(checked["plans"][0]["findings"][0].as_str().unwrap().contains(why), "{checked}");
    }
    assert_eq!(git(&context, "", &["rev-parse", "HEAD"]), head);
}

#[test]
fn without_a_state_nothing_is_dropped_silently() {
    let context = project();
    execute(&context, "", 1, "a.txt");
    let blocked = ["plan", "close", "01-01", "--blocker", "rate limit"];
    assert!(context.gsd(blocked).success().contains("01-01"));
    let state = context.read(".planning/STATE.md");
    assert_eq!(state.matches("rate limit").count(), 1);
    context.gsd(blocked).success();
    assert_eq!(context.read(".planning/STATE.md"), state, "closing it again adds nothing");
    std::fs::remove_file(context.project().join(".planning/STATE.md")).unwrap();
    let head = git(&context, "", &["rev-parse", "HEAD"]);
    let refused = context.gsd(blocked).failure(1);
    assert!(refused.contains("STATE.md not found") && refused.contains("state rebuild"), "{refused}");
    assert_eq!(git(&context, "", &["rev-parse", "HEAD"]), head);
    let warned = context.gsd(["plan", "close", "01-01"]).json();
    let warning = warned["closed"][0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("STATE.md not found") && warning.contains("state rebuild"), "{warned}");
    let recorded = context.gsd(["plan", "record", "1"]).json();
    assert!(recorded["warnings"].to_string().contains("state rebuild"), "{recorded}");
}

#[test]
fn a_halted_plan_completes_no_requirement() {
    let context = project();
    execute(&context, "", 1, "a.txt");
    let path = format!("{PHASE}/01-01-SUMMARY.md");
    context.write(&path, &summary(1, "a.txt").replace("status: complete", "status: halted"));
    let closed = context.gsd(["plan", "close", "01-01"]).json();
    assert_eq!(closed["closed"][0]["status"], "halted");
    assert_eq!(closed["closed"][0]["requirements_completed"], json!([]));
    assert!(context.read(".planning/REQUIREMENTS.md").contains("- [ ] **A-1**"));
    assert!(context.read(".planning/STATE.md").contains("Halted 01-01-PLAN.md"));
}

#[test]
fn recording_plans_is_one_call_and_one_commit() {
    let context = project();
    let roadmap = context.read(".planning/ROADMAP.md");
    let bare = roadmap.replace("- [ ] 01-01-PLAN.md\n- [ ] 01-02-PLAN.md\n- [ ] 01-03-PLAN.md\n", "- [ ] TBD\n");
    context.write(".planning/ROADMAP.md", &bare);
    let linted = context.gsd(["plan", "lint", "1"]).json();
    assert_eq!(linted["valid"], false, "{linted}");
    assert_eq!(linted["errors"][0]["plan"], "01-01");
    let recorded = context.gsd(["plan", "record", "1"]).json();
    assert_eq!(recorded["plans"][2]["id"], "01-03");
    assert_eq!(recorded["commit"]["committed"], true);
    let roadmap = context.read(".planning/ROADMAP.md");
    assert!(roadmap.contains("- [ ] 01-02-PLAN.md — Build b.txt\n") && !roadmap.contains("TBD"), "{roadmap}");
    assert!(context.read(".planning/STATE.md").contains("READY TO EXECUTE"));
    assert_eq!(git(&context, "", &["log", "-1", "--format=%s"]), "docs(01): create phase plan");
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "");
    assert!(context.gsd(["plan", "record", "2"]).failure(1).contains("phases list"));
}
