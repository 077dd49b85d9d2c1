//! Small verbs outside the main loop: the confidence in findings, the guard of commits, repositories inside the
//! project, the effort of agents.

use crate::kit::TestContext;

fn repository(context: &TestContext, folder: &str) {
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first", "--allow-empty"]] {
        let folder = context.project().join(folder);
        assert!(context.command("git").current_dir(folder).args(arguments).status().unwrap().success());
    }
}

#[test]
fn the_guard_keeps_planning_files_out_and_leaves_hooks_of_others_alone() {
    let context = TestContext::new();
    context.write(".planning/config.json", r#"{"commit_docs":false}"#);
    context.write("code.txt", "x\n");
    assert!(context.gsd(["commit-docs-guard", "enable"]).failure(1).contains("git"));
    repository(&context, "");
    assert_eq!(context.gsd(["commit-docs-guard", "enable"]).json()["action"], "written");
    assert_eq!(context.gsd(["commit-docs-guard", "enable"]).json()["action"], "already_enabled");
    let commit = |file: &str| {
        context.write(file, "new\n");
        let git = |arguments: &[&str]| context.command("git").args(arguments).output().unwrap().status.success();
        assert!(git(&["add", "-f", file]));
        git(&["commit", "-qm", "x"])
    };
    assert!(commit("code.txt"));
    assert!(!commit(".planning/STATE.md"));
    let hook = ".git/hooks/pre-commit";
    assert_eq!(context.gsd(["commit-docs-guard", "disable"]).json()["action"], "removed");
    assert_eq!(context.gsd(["commit-docs-guard", "disable"]).json()["action"], "noop");
    context.write(hook, "#!/bin/sh\nmine\n");
    assert!(context.gsd(["commit-docs-guard", "enable"]).failure(1).contains("pre-commit"));
    assert!(context.gsd(["commit-docs-guard", "disable"]).failure(1).contains("pre-commit"));
    assert_eq!(context.read(hook), "#!/bin/sh\nmine\n");
    context.write(hook, "#!/bin/sh\n# gsd-core:commit-docs-guard\nand mine\n");
    let kept = context.gsd(["commit-docs-guard", "disable"]).json()["kept"].as_str().unwrap().to_owned();
    assert!(std::fs::read_to_string(kept).unwrap().contains("and mine"));
}

#[test]
fn files_are_committed_to_the_repository_that_contains_them() {
    let context = TestContext::new();
    context.write("sub/f.txt", "one\n");
    context.write("sub/staged.txt", "one\n");
    context.write(".planning/config.json", "{}");
    repository(&context, "sub");
    let call = ["commit-to-subrepo", "m", "--files", "sub/f.txt", "other.txt", "sub/../.planning/config.json"];
    assert!(context.gsd(call).failure(1).contains("sub_repos"));
    context.write(".planning/config.json", r#"{"planning":{"sub_repos":["sub"]}}"#);
    context.write("sub/f.txt", "two\n");
    context.write("sub/staged.txt", "two\n");
    assert!(context.command("git").args(["-C", "sub", "add", "staged.txt"]).status().unwrap().success());
    let report = context.gsd(call).json();
    assert_eq!((&report["committed"], &report["repos"]["sub"]["files"][0]), (&true.into(), &"sub/f.txt".into()));
    assert_eq!(report["unmatched"].as_array().unwrap().len(), 2);
    let staged = context.command("git").args(["-C", "sub", "diff", "--cached", "--name-only"]).output().unwrap();
    assert_eq!(String::from_utf8(staged.stdout).unwrap(), "staged.txt\n");
    let again = context.gsd(["commit-to-subrepo", "m", "--files", "sub/f.txt"]).json();
    assert_eq!(again["repos"]["sub"]["reason"], "nothing_to_commit");
    assert!(context.gsd(["commit-to-subrepo", "m"]).failure(1).contains("--files"));
    assert!(context.gsd(["commit-to-subrepo"]).failure(1).contains("<MESSAGE>"));
}

#[test]
fn agents_get_the_effort_of_the_configuration_only_when_asked() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["effort", "sync"]).json()["synced"], 0);
    let folder = context.home().join(".claude/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let agent = "---\r\nname: gsd-executor\r\neffort: low # mine\r\n---\r\n\r\nbody\r\n";
    std::fs::write(folder.join("gsd-executor.md"), agent).unwrap();
    std::fs::write(folder.join("gsd-verifier.md"), "no front matter\n").unwrap();
    std::fs::write(folder.join("mine.md"), "---\nname: mine\n---\n").unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let shown = context.gsd(["effort", "sync"]).json();
    assert_eq!((&shown["synced"], &shown["skipped"], &shown["dry_run"]), (&1.into(), &1.into(), &true.into()));
    assert_eq!(read("gsd-executor.md"), agent);
    let done = context.gsd(["effort", "sync", "--apply"]).json();
    let change = &done["changes"][0];
    assert_eq!((&change["agent"], &change["from"]), (&"gsd-executor".into(), &"low".into()));
    let to = change["to"].as_str().unwrap();
    assert_eq!(read("gsd-executor.md"), agent.replace("effort: low", &format!("effort: {to}")));
    assert_eq!(context.gsd(["effort", "sync", "--apply"]).json()["synced"], 0);
    let elsewhere = context.gsd(["effort", "sync", "--runtime", "claude", "--config-dir", "elsewhere"]).json();
    assert_eq!(elsewhere["reason"], "agents directory not found");
    assert!(elsewhere["agents_dir"].as_str().unwrap().ends_with("/project/elsewhere/agents"), "{elsewhere}");
    context.gsd(["effort", "sync", "--runtime", "nobody"]).failure(1);
    assert_eq!(read("mine.md"), "---\nname: mine\n---\n");
}

#[test]
fn the_confidence_in_a_finding_depends_on_its_source() {
    let context = TestContext::new();
    let confidence = |arguments: &[&str]| {
        let call = [&["classify-confidence", "--pick", "confidence", "--provider"], arguments].concat();
        context.gsd_with(call, &[], "").success()
    };
    assert_eq!(confidence(&["websearch"]), "LOW");
    assert_eq!(confidence(&["websearch", "--verified"]), "MEDIUM");
    assert!(context.gsd(["classify-confidence"]).failure(1).contains("--provider"));
    assert!(context.gsd(["classify-confidence", "--provider", "x", "--package", "p"]).failure(1).contains("ecosystem"));
}

#[test]
fn quick_tasks_are_recorded_if_there_is_a_table_for_them() {
    let context = TestContext::new();
    assert!(context.gsd(["quick-tasks-append", "x"]).failure(1).contains("there is no STATE.md"));
    context
        .write(".planning/STATE.md", "# S\n\n### Quick Tasks Completed\n\n| Task | Owner |\n|---|---|\n| a | me |\n");
    assert!(context.gsd(["quick-tasks-append", "--task", "x"]).failure(1).contains("Task | Owner"));
    assert!(context.gsd(["quick-tasks-append"]).failure(1).contains("--task"));
    assert_eq!(context.gsd(["quick-tasks-migrate"]).json()["migrated"], true);
    let again = context.gsd(["quick-tasks-migrate"]).json();
    assert_eq!((&again["migrated"], &again["updated"]), (&false.into(), &false.into()));
    let row = context.gsd(["quick-tasks-append", "Fix", "it", "--status", "done", "--raw"]).success();
    assert!(row.starts_with("| 2 | Fix it | 20") && row.ends_with(" | — | done | — |"), "{row}");
    let state = context.read(".planning/STATE.md");
    assert!(
        state.contains("| 1 | a · Owner: me | — | — | — | — |\n") && state.ends_with(&format!("{row}\n")),
        "{state}"
    );
}

#[test]
fn estimates_are_compared_with_the_actual_effort_of_plans() {
    let context = TestContext::new();
    for plan in ["01", "02", "03"] {
        let path = format!(".planning/phases/01-a/01-{plan}");
        context.write(&format!("{path}-PLAN.md"), "---\nestimate:\n  tokens: 100\n---\n");
        context.write(&format!("{path}-SUMMARY.md"), "---\nactuals:\n  tokens: 200\n---\n");
    }
    assert_eq!(context.gsd(["estimate-calibration", "--pick", "sample_count"]).success(), "0");
    let learned = context.gsd(["estimate-calibrate"]).json();
    assert_eq!((&learned["factor"], &learned["written"]), (&2.into(), &true.into()));
    assert_eq!(context.gsd(["estimate-calibrate"]).json()["updated"], false);
    let told = context.gsd(["estimate-check", "--tokens", "60000"]).json();
    assert_eq!((&told["calibrated_tokens"], &told["over_budget"]), (&120_000.into(), &true.into()));
    assert_eq!(context.gsd(["estimate-check", "--tokens", "60000", "--calibrated"]).json()["over_budget"], false);
    for wrong in ["0", "abc", "1e5", "+5", "-1"] {
        assert!(context.gsd(["estimate-check", "--tokens", wrong]).failure(1).contains("number of tokens"), "{wrong}");
    }
    assert!(context.gsd(["estimate-check"]).failure(1).contains("--tokens"));
    context.write(".planning/estimation-calibration.json", "{bad");
    let renewed = context.gsd(["estimate-calibrate"]).json();
    assert!(renewed["problem"].as_str().unwrap().contains("estimation-calibration.json"), "{renewed}");
    assert!(context.read(".planning/estimation-calibration.json").contains("samples"));
    let kept = std::fs::read_dir(context.project().join(".planning")).unwrap().flatten();
    let is_kept = |path: &std::path::Path| std::fs::read_to_string(path).is_ok_and(|text| text == "{bad");
    assert_eq!(kept.filter(|entry| is_kept(&entry.path())).count(), 1, "what was there is kept");
}

#[test]
fn a_task_is_read_from_a_file_or_from_the_call() {
    let context = TestContext::new();
    let task = "<task tdd=\"true\" tracker-id=\"A-1\"><files>a.rs</files><behavior>x</behavior></task>";
    context.write("plan.md", task);
    assert_eq!(
        context.gsd(["task", "is-behavior-adding", "plan.md", "--pick", "is_behavior_adding"]).success(),
        "true"
    );
    assert_eq!(
        context.gsd(["task", "is-behavior-adding", "--task-content", task]).json()["reason"],
        serde_json::Value::Null
    );
    assert!(context.gsd(["task", "is-behavior-adding", "nope.md"]).failure(1).contains("nope.md"));
    assert!(context.gsd(["task", "is-behavior-adding"]).failure(1).contains("needs <FILE>"));
    assert_eq!(
        context.gsd(["task", "resolve-content", "--plan", "plan.md", "--task-id", "A-1"]).json()["resolved"],
        false
    );
    assert!(context.gsd(["task", "resolve-content", "--plan", "plan.md", "--task-id", "B"]).failure(1).contains("`B`"));
    assert!(context.gsd(["task", "resolve-content"]).failure(1).contains("--task-id"));
}
