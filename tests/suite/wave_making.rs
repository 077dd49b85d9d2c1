//! Making a wave: its plans by number, all worktrees or none, and no other wave forgotten.

use serde_json::{Value, json};

use crate::kit::TestContext;
use crate::waves::{PHASE, create, execute, git, on, plan, project, session_start, start, start_agent};

fn wave(context: &TestContext, host: &str, plans: &str) -> Value {
    on(context, host, &["worktree", "create-wave", "--phase", "1", "--plans", plans]).json()
}

/// The note of the wave, with its path.
fn note(context: &TestContext) -> Option<(std::path::PathBuf, String)> {
    let mut files = walkdir::WalkDir::new(context.home()).into_iter().map(Result::unwrap);
    let path = files.find(|file| file.file_name() == "wave.json")?.into_path();
    let text = std::fs::read_to_string(&path).unwrap();
    Some((path, text))
}

#[test]
fn plans_with_a_name_after_their_number_are_one_plan_everywhere() {
    let context = project();
    for (number, name) in [(1, "store"), (2, "screen")] {
        let path = format!("{PHASE}/01-0{number}");
        git(&context, "", &["mv", &format!("{path}-PLAN.md"), &format!("{path}-{name}-PLAN.md")]);
    }
    git(&context, "", &["commit", "-qm", "docs(01): names"]);
    let answer = wave(&context, "claude", "01-01,01-02-screen");
    assert_eq!(answer["side_by_side"][0]["plan"], "01-01-store", "the name of its file: {answer}");
    assert!(start(&context, "01-01-store", None).contains("ISOLATION_MISSING"));
    assert!(start(&context, "01-01", None).contains("ISOLATION_MISSING"));
    let named_by_plan = |isolation| start_agent(&context, "rust-expert", "01-01", isolation);
    assert!(named_by_plan(None).contains("ISOLATION_MISSING"), "an agent of `agent_hint` executes a plan too");
    assert!(!named_by_plan(Some("worktree")).contains("ISOLATION_MISSING"));
    let waits = "Interrupted: 01-01, 01-02 are in worktrees that are not merged";
    assert!(session_start(&context).contains(waits), "{}", session_start(&context));
    for (number, file) in [(1, "a.txt"), (2, "b.txt")] {
        let place = format!(".claude/worktrees/agent-{number}");
        git(&context, "", &["worktree", "add", "-q", "-b", &format!("worktree-agent-{number}"), &place]);
        execute(&context, &place, number, file);
        context.gsd(["--cwd", &place, "plan", "close", &format!("01-0{number}")]).success();
    }
    let merged = on(&context, "claude", &["worktree", "cleanup-wave"]).json();
    assert_eq!(merged["result"]["entries"].as_array().unwrap().len(), 2, "{merged}");
    assert!(context.project().join("a.txt").exists() && context.project().join("b.txt").exists());
    assert_eq!(context.gsd(["plan", "check", "01-01", "01-02"]).json()["finished"], true);
}

#[test]
fn a_plan_that_changes_a_submodule_gets_no_worktree() {
    let context = project();
    std::fs::create_dir(context.project().join("lib")).unwrap();
    for words in [&["init", "-q", "."][..], &["commit", "-q", "--allow-empty", "-m", "start"]] {
        git(&context, "lib", words);
    }
    let from = context.project().join("lib").to_string_lossy().into_owned();
    git(&context, "", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "a.txt"]);
    git(&context, "", &["commit", "-qm", "chore: add lib"]);
    let answer = wave(&context, "codex", "01-01,01-02,01-03");
    let turn = &answer["in_turn"][0];
    assert_eq!(turn["plan"], "01-01", "{answer}");
    assert!(turn["why"].as_str().unwrap().contains("the submodule a.txt"), "{answer}");
}

#[test]
fn the_note_of_an_open_wave_is_not_overwritten() {
    let context = project();
    create(&context, "codex");
    let (path, before) = note(&context).unwrap();
    let recorded = ["record-dispatch-isolation", "--isolation", "none", "--phase", "9"];
    assert_eq!(context.gsd(recorded).json()["recorded"], false);
    on(&context, "claude", &["dispatch-isolation", "--phase", "9"]).success();
    assert_eq!(note(&context).unwrap().1, before);
    std::fs::write(&path, before.replacen('"', "", 1)).unwrap();
    let broken = note(&context).unwrap().1;
    assert!(on(&context, "claude", &["dispatch-isolation"]).failure(1).contains("wave.json"));
    assert!(on(&context, "codex", &["worktree", "cleanup-wave"]).failure(1).contains("wave.json"));
    assert_eq!(note(&context).unwrap().1, broken);
    std::fs::write(&path, before).unwrap();
    on(&context, "codex", &["worktree", "cleanup-wave"]).json();
    on(&context, "claude", &["dispatch-isolation", "--phase", "1"]).success();
    assert!(on(&context, "claude", &["worktree", "cleanup-wave"]).failure(2).contains("no wave is recorded"));
}

#[test]
fn ignored_documents_are_looked_up_from_the_root_of_the_project() {
    let context = project();
    context.write(".gitignore", "/.planning\n");
    context.write("src/x.txt", "x\n");
    git(&context, "", &["add", ".gitignore", "src"]);
    git(&context, "", &["commit", "-qm", "ignore"]);
    git(&context, "", &["rm", "-rq", "--cached", ".planning"]);
    git(&context, "", &["commit", "-qm", "keep documents here"]);
    for folder in [".", "src"] {
        let arguments = ["--cwd", folder, "worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"];
        let answer = on(&context, "codex", &arguments).json();
        assert_eq!(answer["in_turn"][0]["why"], "planning documents are not committed here", "{folder}: {answer}");
    }
}

#[test]
fn plans_run_in_turn_if_git_does_not_show_untracked_files() {
    let context = project();
    std::fs::write(context.project().join(".git/index"), "no index").unwrap();
    let answer = wave(&context, "codex", "01-01,01-02");
    assert_eq!(answer["side_by_side"], json!([]));
    assert!(answer["in_turn"][0]["why"].as_str().unwrap().contains("git cannot list uncommitted changes"), "{answer}");
}

#[test]
fn a_wave_is_made_as_a_whole_or_not_at_all() {
    let context = project();
    let base = git(&context, "", &["rev-parse", "HEAD"]);
    let branch = format!("agent-01-02-{}", &base[..7]);
    git(&context, "", &["branch", &branch]);
    let refused = on(&context, "codex", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"]);
    assert!(refused.stdout.contains("worktree_add_failed"), "{}", refused.stdout);
    let cure = format!("git branch -d {branch}");
    assert!(refused.failure(1).contains(&cure));
    assert_eq!(git(&context, "", &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&context, "", &["branch", "--format=%(refname:short)"]), format!("{branch}\nmain"));
    assert!(note(&context).is_none() && !context.project().join(".planning/worktrees").exists());
    git(&context, "", &["branch", "-d", &branch]);
    assert_eq!(wave(&context, "codex", "01-01,01-02")["side_by_side"].as_array().unwrap().len(), 2);
}

#[test]
fn a_wave_is_made_of_open_plans_that_do_not_wait_for_each_other() {
    let context = project();
    assert_eq!(
        wave(&context, "codex", "01-01,01-01")["in_turn"],
        json!([{"plan": "01-01", "why": "the only plan of the wave"}])
    );
    let waits = plan(2, "b.txt", "").replace("depends_on: []", "depends_on: [01-01]").replace("wave: 1", "wave: 2");
    context.write(&format!("{PHASE}/01-02-PLAN.md"), &waits);
    context.write(&format!("{PHASE}/01-03-PLAN.md"), &plan(3, "src/*.txt", ""));
    context.write(&format!("{PHASE}/01-04-PLAN.md"), &plan(4, "src/deep", ""));
    git(&context, "", &["add", "-A"]);
    git(&context, "", &["commit", "-qm", "docs(01): more plans"]);
    let answer = wave(&context, "claude", "01-01,01-02,01-03,01-04");
    let beside: Vec<&str> =
        answer["side_by_side"].as_array().unwrap().iter().map(|side| side["plan"].as_str().unwrap()).collect();
    assert_eq!(beside, ["01-01", "01-03"], "{answer}");
    let in_turn: Vec<&str> =
        answer["in_turn"].as_array().unwrap().iter().map(|turn| turn["plan"].as_str().unwrap()).collect();
    assert_eq!(in_turn, ["01-04", "01-02"], "{answer}");
    on(&context, "claude", &["worktree", "cleanup-wave"]).json();
    execute(&context, "", 1, "a.txt");
    let done = on(&context, "claude", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-03"]);
    assert!(done.failure(1).contains("has a SUMMARY"));
}

#[test]
fn folders_are_words_of_a_shell_in_the_prompt() {
    let context = project();
    let spaced = context.project().join("a b");
    std::fs::create_dir(&spaced).unwrap();
    let clone = context.command("git").args(["clone", "-q", ".", "a b/demo"]).output().unwrap();
    assert!(clone.status.success());
    git(&context, "a b/demo", &["remote", "remove", "origin"]);
    let arguments = ["--cwd", "a b/demo", "worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"];
    let answer = on(&context, "codex", &arguments).json();
    let prompt = answer["side_by_side"][0]["prompt"].as_str().unwrap();
    assert!(prompt.contains("git -C \"/") && prompt.contains("cd \"/") && prompt.contains("--cwd \"/"), "{prompt}");
}
