//! Clearing a wave: work of a person, of an agent that still runs, and of another session is not touched, and no work
//! is forgotten.

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext};
use crate::waves::{PHASE, create, execute, git, on, project};

/// A number that no process has: it is above what a system assigns.
const NO_PROCESS: u32 = 2_147_483_646;

fn cleanup(context: &TestContext, host: &str, more: &[&str]) -> Ran {
    on(context, host, &[&["worktree", "cleanup-wave"], more].concat())
}

/// The answer of a cleanup that left something.
fn left(context: &TestContext, host: &str, more: &[&str]) -> Value {
    let ran = cleanup(context, host, more);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn reason(answer: &Value, branch: &str) -> Value {
    let entries = answer["result"]["entries"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let entry = entries.iter().find(|entry| entry["branch"].as_str().unwrap().starts_with(branch));
    entry.unwrap_or_else(|| panic!("{branch} in {answer}"))["reason"].clone()
}

fn branches(context: &TestContext) -> String {
    git(context, "", &["branch", "--format=%(refname:short)"])
}

/// Makes a worktree for an executor as a host does; returns its path.
fn host_worktree(context: &TestContext, name: &str) -> String {
    let place = format!(".claude/worktrees/agent-{name}");
    git(context, "", &["worktree", "add", "-q", "-b", &format!("worktree-agent-{name}"), &place]);
    place
}

fn lock(context: &TestContext, place: &str, process: u32) {
    let reason = format!("an agent a1 (pid {process} start Mon Nov 23)");
    git(context, "", &["worktree", "lock", "--reason", &reason, place]);
}

fn commit(context: &TestContext, place: &str, file: &str, message: &str) {
    context.write(&format!("{place}/{file}"), "work\n");
    git(context, place, &["add", "-A"]);
    git(context, place, &["commit", "-qm", message]);
}

const OURS: &str = ".planning/worktrees/01-01";

#[test]
fn untracked_files_that_git_does_not_show_count_as_work_too() {
    let context = project();
    git(&context, "", &["config", "status.showUntrackedFiles", "no"]);
    create(&context, "codex");
    context.write(&format!("{OURS}/src/precious.txt"), "precious\n");
    let answer = left(&context, "codex", &[]);
    assert_eq!(reason(&answer, "agent-01-01"), "worktree_dirty", "{answer}");
    assert_eq!(context.read(&format!("{OURS}/src/precious.txt")), "precious\n");
    cleanup(&context, "codex", &["--keep-work"]).json();
    assert_eq!(context.read("src/precious.txt"), "precious\n");
}

#[test]
fn a_wave_is_merged_only_on_the_branch_and_in_the_tree_it_began_in() {
    let context = project();
    git(&context, "", &["branch", "other"]);
    create(&context, "codex");
    commit(&context, OURS, "a.txt", "feat(01-01): a");
    let refused = |more: &[&str], reason: &str, cure: &str| {
        let answer = left(&context, "codex", more);
        assert_eq!(answer["reason"], reason, "{answer}");
        assert!(answer["hint"].as_str().unwrap().contains(cure), "{answer}");
        assert!(context.project().join(OURS).is_dir() && branches(&context).contains("agent-01-01"));
    };
    git(&context, "", &["checkout", "-q", "--detach"]);
    refused(&[], "wrong_branch", "git switch main");
    git(&context, "", &["switch", "-q", "other"]);
    refused(&[], "wrong_branch", "git switch main");
    git(&context, "", &["switch", "-q", "main"]);
    let root = context.project().display().to_string();
    refused(&["--cwd", OURS], "wrong_tree", &root);
    git(&context, "", &["worktree", "add", "-q", "-b", "mine", "../mine"]);
    refused(&["--cwd", "../mine"], "wrong_tree", &root);
    // The branch itself may be renamed.
    git(&context, "", &["branch", "-m", "main", "trunk"]);
    cleanup(&context, "codex", &[]).json();
    assert!(context.project().join("a.txt").exists());
}

#[test]
fn a_manifest_is_not_merged_if_no_branch_is_checked_out() {
    let context = project();
    context.write("wave.json", "{\"worktrees\": []}\n");
    let base = git(&context, "", &["rev-parse", "HEAD"]);
    let made =
        ["worktree", "create", "--manifest", "wave.json", "--agent-id", "a", "--branch", "agent-a", "--path", "t"];
    context.gsd_with(made.into_iter().chain(["--base", &base, "--root", "."]), &[], "").success();
    commit(&context, "t", "a.txt", "work");
    git(&context, "", &["checkout", "-q", "--detach"]);
    assert_eq!(left(&context, "claude", &["--manifest", "wave.json"])["reason"], "wrong_branch");
    assert!(branches(&context).contains("agent-a"));
}

#[test]
fn a_worktree_of_a_person_is_not_part_of_a_wave() {
    for host in ["codex", "claude"] {
        let context = project();
        create(&context, host);
        git(&context, "", &["worktree", "add", "-q", "-b", "agent-try", "../try"]);
        commit(&context, "../try", "try.txt", "feat(01-01): an experiment of my own");
        cleanup(&context, host, &[]).json();
        assert!(!context.project().join("try.txt").exists(), "{host}");
        assert!(
            context.project().join("../try/try.txt").exists() && branches(&context).contains("agent-try"),
            "{host}"
        );
    }
}

#[test]
fn a_wave_in_worktrees_of_a_host_is_merged_from_another_host_too() {
    let context = project();
    create(&context, "claude");
    let place = host_worktree(&context, "1");
    commit(&context, &place, "a.txt", "feat(01-01): a");
    cleanup(&context, "codex", &[]).json();
    assert!(context.project().join("a.txt").exists());
    assert_eq!(branches(&context), "main");
}

#[test]
fn a_worktree_in_which_a_process_works_stays_until_its_plan_is_finished() {
    let context = project();
    create(&context, "claude");
    let (alive, gone, idle) =
        (host_worktree(&context, "1"), host_worktree(&context, "2"), host_worktree(&context, "3"));
    commit(&context, &alive, "a.txt", "feat(01-01): the first of three");
    commit(&context, &gone, "b.txt", "feat(01-02): b");
    lock(&context, &alive, std::process::id());
    lock(&context, &gone, NO_PROCESS);
    lock(&context, &idle, std::process::id());
    for more in [&[][..], &["--keep-work"]] {
        let answer = left(&context, "claude", more);
        assert_eq!(reason(&answer, "worktree-agent-1"), "worktree_in_use", "{answer}");
        assert!(!context.project().join("a.txt").exists());
    }
    assert!(context.project().join("b.txt").exists(), "the process that locked it is gone");
    execute(&context, &alive, 1, "last.txt");
    context.gsd(["--cwd", &alive, "plan", "close", "01-01"]).success();
    cleanup(&context, "claude", &[]).json();
    assert!(context.project().join("last.txt").exists());
    assert_eq!(branches(&context), "main\nworktree-agent-3", "every plan is accounted for: that agent is somebody's");
}

#[test]
fn an_executor_without_a_commit_that_still_runs_keeps_the_wave_open() {
    let context = project();
    create(&context, "claude");
    let place = host_worktree(&context, "1");
    lock(&context, &place, std::process::id());
    assert_eq!(reason(&left(&context, "claude", &["--keep-work"]), "worktree-agent-1"), "worktree_in_use");
    git(&context, "", &["worktree", "unlock", &place]);
    commit(&context, &place, "a.txt", "feat(01-01): a");
    cleanup(&context, "claude", &[]).json();
    assert!(context.project().join("a.txt").exists());
}

/// Calls in the session of this name, some minutes from now.
fn in_session(context: &TestContext, session: &str, minutes: i64, arguments: &[&str]) -> Ran {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let now = (i64::try_from(now).unwrap() + minutes * 60_000).to_string();
    let variables =
        [("GSD_RUNTIME", "codex"), ("CODEX_THREAD_ID", session), ("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", &now)];
    context.gsd_with(arguments, &variables, "")
}

#[test]
fn the_wave_of_another_session_is_left_until_that_session_is_quiet_or_ended() {
    const CREATE: &[&str] = &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"];
    const KEEP: &[&str] = &["worktree", "cleanup-wave", "--keep-work"];
    let context = project();
    in_session(&context, "one", 0, CREATE).success();
    context.write(&format!("{OURS}/half.txt"), "half\n");
    for refused in [in_session(&context, "two", 1, KEEP), in_session(&context, "two", 1, &KEEP[..2])] {
        assert!(refused.stdout.contains("wave_in_use"), "{}", refused.stdout);
        assert!(refused.failure(1).contains("--take-over"));
    }
    let refused = in_session(&context, "two", 1, CREATE);
    assert!(
        refused.stdout.contains("wave_open") && refused.stdout.contains("Only if it has ended"),
        "{}",
        refused.stdout
    );
    assert_eq!(context.read(&format!("{OURS}/half.txt")), "half\n");
    assert_eq!(git(&context, "", &["worktree", "list"]).lines().count(), 3);
    let dirty = in_session(&context, "one", 1, &KEEP[..2]);
    assert!(dirty.stdout.contains("worktree_dirty"), "its own session: {}", dirty.stdout);
    // The session has ended: a person says so, or nothing has changed for a while.
    in_session(&context, "two", 10, &[KEEP, &["--dry-run"]].concat()).failure(1);
    let quiet = in_session(&context, "two", 10, &[KEEP, &["--dry-run"]].concat());
    assert!(quiet.stdout.contains("worktree_dirty"), "{}", quiet.stdout);
    in_session(&context, "two", 1, &[KEEP, &["--take-over"]].concat()).success();
    assert_eq!(context.read("half.txt"), "half\n");
}

#[test]
fn a_lock_of_a_dead_process_shows_that_the_session_has_ended() {
    let context = project();
    let session = |name: &str, arguments: &[&str]| {
        context.gsd_with(arguments, &[("GSD_RUNTIME", "claude"), ("CLAUDE_CODE_SESSION_ID", name)], "")
    };
    session("one", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"]).success();
    let refused = session("two", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"]);
    assert!(refused.failure(1).contains("another session"), "no executor has started yet");
    let place = host_worktree(&context, "1");
    context.write(&format!("{place}/half.txt"), "half\n");
    lock(&context, &place, NO_PROCESS);
    session("two", &["worktree", "cleanup-wave", "--keep-work"]).success();
    assert_eq!(context.read("half.txt"), "half\n");
}

#[test]
fn commits_whose_worktree_is_gone_are_not_forgotten() {
    for (host, by_git) in [("codex", true), ("claude", true), ("codex", false), ("claude", false)] {
        let context = project();
        create(&context, host);
        let place = if host == "codex" { OURS.to_owned() } else { host_worktree(&context, "1") };
        commit(&context, &place, "a.txt", "feat(01-01): a");
        let branch = git(&context, &place, &["symbolic-ref", "--short", "HEAD"]);
        if by_git {
            git(&context, "", &["worktree", "remove", "--force", &place]);
        } else {
            std::fs::remove_dir_all(context.project().join(&place)).unwrap();
        }
        let answer = left(&context, host, &[]);
        assert_eq!(reason(&answer, &branch), "worktree_missing", "{answer}");
        assert_eq!(reason(&left(&context, host, &[]), &branch), "worktree_missing", "the wave stays noted");
        git(&context, "", &["merge", "-q", "--no-ff", &branch]);
        cleanup(&context, host, &[]).json();
        assert!(cleanup(&context, host, &[]).failure(2).contains("no wave is recorded"));
        assert!(!git(&context, "", &["worktree", "list"]).contains("prunable"));
    }
}

#[test]
fn a_merged_worktree_that_cannot_be_removed_does_not_block_the_next_wave() {
    let context = project();
    create(&context, "codex");
    commit(&context, OURS, "a.txt", "feat(01-01): a");
    git(&context, "", &["worktree", "lock", OURS]);
    assert_eq!(reason(&left(&context, "codex", &[]), "agent-01-01"), "worktree_locked");
    let next = ["worktree", "create-wave", "--phase", "1", "--plans", "01-02,01-03"];
    assert!(on(&context, "codex", &next).failure(1).contains("wave_open"));
    git(&context, "", &["merge", "-q", "--no-ff", &git(&context, OURS, &["symbolic-ref", "--short", "HEAD"])]);
    on(&context, "codex", &next).success();
    assert!(context.project().join(OURS).is_dir(), "somebody locked it");
}

#[test]
fn work_of_an_executor_without_a_commit_of_its_plan_is_not_forgotten() {
    let context = project();
    create(&context, "claude");
    let place = host_worktree(&context, "1");
    context.write(&format!("{place}/half.txt"), "half\n");
    assert_eq!(reason(&left(&context, "claude", &[]), "worktree-agent-1"), "worktree_dirty");
    let other = host_worktree(&context, "2");
    commit(&context, &other, "b.txt", "build b");
    let answer = left(&context, "claude", &["--keep-work"]);
    assert_eq!(reason(&answer, "worktree-agent-1"), "ok", "{answer}");
    assert_eq!(reason(&answer, "worktree-agent-2"), "plan_unknown", "{answer}");
    assert_eq!(context.read("half.txt"), "half\n");
    git(&context, "", &["merge", "-q", "--no-ff", "worktree-agent-2"]);
    cleanup(&context, "claude", &[]).json();
}

#[test]
fn work_of_an_agent_that_no_plan_claims_is_named() {
    let context = project();
    create(&context, "claude");
    for (number, file) in [(1, "a.txt"), (2, "b.txt")] {
        let place = host_worktree(&context, &number.to_string());
        commit(&context, &place, file, &format!("feat(01-0{number}): build"));
    }
    let other = host_worktree(&context, "other");
    context.write(&format!("{other}/theirs.txt"), "theirs\n");
    let ran = cleanup(&context, "claude", &["--keep-work"]);
    assert!(ran.stderr.contains("worktree-agent-other"), "{}", ran.stderr);
    assert_eq!(ran.json()["result"]["warnings"][0]["code"], "worktree_unclaimed");
    assert_eq!(context.read(&format!("{other}/theirs.txt")), "theirs\n");
}

#[test]
fn an_empty_worktree_is_not_called_merged() {
    let context = project();
    create(&context, "codex");
    commit(&context, OURS, "a.txt", "feat(01-01): a");
    let answer = cleanup(&context, "codex", &[]).json();
    let statuses: Vec<&Value> =
        answer["result"]["entries"].as_array().unwrap().iter().map(|entry| &entry["status"]).collect();
    assert_eq!(statuses, [&json!("merged_removed"), &json!("removed_empty")]);
}

#[test]
fn a_plan_may_remove_what_it_announced_from_a_folder_of_the_repository() {
    let context = TestContext::new();
    context.write("app/.planning/config.json", "{}");
    context.write("app/.planning/ROADMAP.md", "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Core** - first\n");
    context.write("app/src/old.txt", "old\n");
    context.write("src/old.txt", "of another project\n");
    for (number, more) in [(1, "files_deleted: [./src/old.txt]\n"), (2, "")] {
        let text = crate::waves::plan(number, &format!("{number}.txt"), more);
        context.write(&format!("app/{PHASE}/01-0{number}-PLAN.md"), &text);
    }
    git(&context, "", &["init", "-q", "-b", "main"]);
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "first"]);
    let call = |host: &str, arguments: &[&str]| on(&context, host, &[&["--cwd", "app"], arguments].concat());
    let wave = ["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"];
    let hosted = call("claude", &wave).json();
    let prompt = hosted["side_by_side"][0]["prompt"].as_str().unwrap();
    assert!(prompt.contains("`app`") && prompt.contains("cd app && {test command}"), "{prompt}");
    call("claude", &["worktree", "cleanup-wave"]).json();

    let wave = call("codex", &wave).json();
    let tree = "app/.planning/worktrees/01-01";
    let prompt = wave["side_by_side"][0]["prompt"].as_str().unwrap();
    assert!(prompt.contains(&format!("{tree}/app`")), "{prompt}");
    let called_there = on(&context, "codex", &["--cwd", &format!("{tree}/app"), "worktree", "cleanup-wave"]);
    assert!(called_there.stdout.contains("wrong_tree"), "one note: {}{}", called_there.stdout, called_there.stderr);
    git(&context, tree, &["rm", "-q", "src/old.txt"]);
    git(&context, tree, &["commit", "-qm", "feat(01-01): remove"]);
    let refused = call("codex", &["worktree", "cleanup-wave"]);
    assert!(refused.stdout.contains("branch_contains_deletions"), "{}", refused.stdout);
    git(&context, tree, &["revert", "--no-edit", "HEAD"]);
    git(&context, tree, &["rm", "-q", "app/src/old.txt"]);
    git(&context, tree, &["commit", "-qm", "feat(01-01): remove ours"]);
    call("codex", &["worktree", "cleanup-wave"]).success();
    assert!(!context.project().join("app/src/old.txt").exists() && context.project().join("src/old.txt").exists());
}
