//! Hosts that a user describes: the example of the guide is installed unchanged, and faults in a descriptor are
//! reported with their place and a fix, while the other hosts continue to work.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext, repository};
use crate::lived::{Lived, put};
use crate::tree::difference;

/// The descriptor in the guide.
fn example() -> String {
    let guide = std::fs::read_to_string(repository().join("docs/own-host.md")).unwrap();
    let block = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_else(|| panic!("the guide has no example")).to_owned()
}

/// A home with this descriptor of a host named Lantern.
fn with(descriptor: &str) -> Lived {
    let lived = Lived { context: TestContext::new() };
    put(&file(&lived), descriptor);
    lived
}

fn file(lived: &Lived) -> std::path::PathBuf {
    lived.context.home().join(".config/gsd-tools/runtimes/lantern.toml")
}

/// The same host with its own spelling of commands, worktrees for its agents, and teams.
fn with_agents() -> String {
    let spelled = example().replace("command = \"/gsd-{name}\"", "command = \"@gsd-{name}\"");
    spelled.replace("instruction-file = \"AGENTS.md\"", "instruction-file = \"LANTERN.md\"")
        + "\n[dispatch]\nnamed = true\nisolation = \"harness-worktree\"\nisolation-flag = 'place=\"apart\"'\n\
           start-commit = { file = \"settings\", path = [\"trees\", \"from\"] }\nteams-variable = \"LANTERN_TEAMS\"\n"
}

type Call = fn(&Lived, &[&str], &str) -> Ran;

/// Calls the program that was installed for the host.
fn installed(lived: &Lived, arguments: &[&str], stdin: &str) -> Ran {
    let mut command = lived.context.command(lived.context.home().join(".lantern/gsd-core/bin/gsd-tools"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    Ran::from(child.wait_with_output().unwrap())
}

/// An event in the project of the test.
fn event(lived: &Lived, more: &Value) -> String {
    let mut event = json!({ "session_id": "s", "hook_event_name": "E", "cwd": lived.context.project() });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event.to_string()
}

/// A project with a phase of two plans, the first of them done, and one commit for the second.
fn begin_a_plan(lived: &Lived) {
    let context = &lived.context;
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: A**\n\n### Phase 1: A\n");
    context.write(".planning/STATE.md", "---\nstatus: executing\ncurrent_phase: 1\n---\n\n# Project State\n");
    context.write(".planning/phases/01-a/01-01-PLAN.md", "---\nphase: 01-a\nplan: 01\n---\n");
    context.write(".planning/phases/01-a/01-01-SUMMARY.md", "---\nphase: 01-a\n---\n");
    context.write(".planning/phases/01-a/01-02-PLAN.md", "---\nphase: 01-a\nplan: 02\n---\n");
    for arguments in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "feat(01-02): read notes"]] {
        assert!(context.command("git").args(arguments).status().unwrap().success());
    }
}

#[test]
fn the_guide_prints_the_page_that_faults_of_a_descriptor_name() {
    let context = TestContext::new();
    let page = std::fs::read_to_string(repository().join("docs/own-host.md")).unwrap();
    assert_eq!(context.gsd(["guide", "own-host"]).success(), page);
}

#[test]
fn verbs_of_a_project_know_the_host() {
    let lived = with(&with_agents());
    let home = lived.context.home();
    lived.gsd(["install", "--lantern", "--global"]).success();
    begin_a_plan(&lived);
    let by_variable: Call = |lived, arguments, _| lived.context.gsd_with(arguments, &[("GSD_RUNTIME", "lantern")], "");
    for call in [installed as Call, by_variable] {
        let plan = call(&lived, &["init", "plan-phase", "1"], "").json();
        assert_eq!((&plan["agents_installed"], &plan["missing_agents"]), (&json!(true), &json!([])));
        assert_eq!(plan["agents_dir"], json!(home.join(".lantern/agents")));
        for spelling in [&["guide"][..], &["verification", "status", "1"]] {
            let text = call(&lived, spelling, "").success();
            let without_paths = text.replace("/gsd-core/bin/gsd-tools", "");
            assert!(text.contains("@gsd-") && !without_paths.contains("/gsd-"), "{text}");
        }
        let teams = call(&lived, &["teams-status"], "").json();
        assert_eq!((&teams["runtime"], &teams["source"]), (&json!("lantern"), &json!("off: flag absent")));
    }
    let teams = lived.context.gsd_with(["teams-status"], &[("GSD_RUNTIME", "lantern"), ("LANTERN_TEAMS", "1")], "");
    assert_eq!(teams.json()["active"], true);
    let gsd = |arguments: &[&str]| lived.context.gsd_with(arguments, &[], "");
    let skills = home.join(".lantern/skills").display().to_string();
    assert_eq!(gsd(&["skills-root", "lantern-cli", "--raw"]).success(), skills);
    assert_eq!(gsd(&["project-instruction-file", "lantern"]).success(), "LANTERN.md\n");
    let effort = gsd(&["effort", "sync", "--runtime", "lantern"]).json();
    assert_eq!(effort["agents_dir"], json!(home.join(".lantern/agents")));
    let state = gsd(&["capability", "state", "--runtime", "lantern"]).json();
    assert_eq!(state["runtimeConfigDir"], json!(home.join(".lantern")));
    assert!(state["capabilities"].as_array().unwrap().iter().any(|row| row["id"] == "lantern"));
    let set = installed(&lived, &["worktree", "set-baseref"], "").json();
    assert_eq!(set["changed"], true);
    let settings: Value = serde_json::from_str(&lived.context.read(".lantern/settings.json")).unwrap();
    assert_eq!(settings["trees"]["from"], "head");
}

#[test]
fn hooks_know_the_host_that_calls_them() {
    let lived = with(&with_agents());
    lived.gsd(["install", "--lantern", "--global"]).success();
    begin_a_plan(&lived);
    let said = |event_word: &str, more: &Value| {
        let ran = installed(&lived, &["hook", "standard", event_word], &event(&lived, more));
        assert_eq!(ran.stderr, "");
        ran.success()
    };
    let start = said("session-start", &json!({}));
    assert!(
        start.contains("Interrupted: 01-02 has no SUMMARY (1 commit). Continue with `@gsd-execute-phase 1`."),
        "{start}"
    );
    assert!(said("status-line", &json!({})).contains("Phase 1 · executing"));
    let spawn = |input: Value| said("before-tool", &json!({ "tool_name": "Task", "tool_input": input }));
    installed(&lived, &["dispatch-isolation"], "").success();
    let denied = spawn(json!({ "subagent_type": "gsd-executor", "prompt": "x" }));
    assert!(denied.contains("ISOLATION_MISSING") && denied.contains("place="), "{denied}");
    assert_eq!(spawn(json!({ "subagent_type": "gsd-executor", "prompt": "x", "place": "apart" })), "");
}

#[test]
fn a_broken_descriptor_is_reported_only_by_verbs_of_its_host() {
    let lived = with(&example());
    lived.gsd(["install", "--lantern", "--claude", "--global"]).success();
    begin_a_plan(&lived);
    let broken = example().replace("instruction-file =", "instructions-file =");
    let line = broken.lines().position(|line| line.starts_with("instructions-file")).unwrap() + 1;
    std::fs::write(file(&lived), &broken).unwrap();
    let place = format!("lantern.toml` cannot be used: line {line}, column 1: unknown field `instructions-file`");
    for call in [
        &["init", "plan-phase", "1"][..],
        &["skills-root", "lantern"],
        &["project-instruction-file", "lantern"],
        &["effort", "sync", "--runtime", "lantern"],
        &["capability", "state", "--runtime", "lantern"],
        &["teams-status"],
    ] {
        let told = installed(&lived, call, "");
        assert_eq!(told.code, 65, "{call:?}: {}", told.stdout);
        assert!(told.stderr.contains(&place) && told.stderr.contains("did you mean"), "{call:?}: {}", told.stderr);
    }
    // Hooks of the host still work, without its facts.
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": ".env" } });
    let denied = installed(&lived, &["hook", "standard", "before-tool"], &event(&lived, &read));
    assert_eq!(denied.stderr, "");
    assert!(denied.success().contains("SECRET_READ"));
    let start = installed(&lived, &["hook", "standard", "session-start"], &event(&lived, &json!({})));
    assert_eq!(start.stderr, "");
    assert!(start.success().contains("Continue with `/gsd-execute-phase 1`"));
    // Another host is not affected.
    let of_claude = [("GSD_RUNTIME", "claude")];
    for call in
        [&["init", "plan-phase", "1"][..], &["teams-status"], &["capability", "state"], &["worktree", "base-check"]]
    {
        let told = lived.context.gsd_with(call, &of_claude, "");
        assert_eq!(told.stderr, "", "{call:?}");
        told.success();
    }
}

#[test]
fn the_example_of_the_guide_installs_lists_and_uninstalls_without_a_trace() {
    let lived = with(&example());
    let home = lived.context.home();
    let settings = "{\n  // mine\n  \"allow\": [\"shell(ls)\"],\n  \"hooks\": {}\n}";
    put(&home.join(".lantern/settings.json"), settings);
    put(&home.join(".lantern/skills/own/SKILL.md"), "mine");
    let old = lived.tree();

    let table = lived.gsd(["runtimes"]).success();
    let row: Vec<&str> = table.lines().find(|line| line.starts_with("lantern ")).unwrap().split_whitespace().collect();
    assert_eq!(row[1..], ["yes", "yes", "yes", "yes", "~", "yes", "yes", "-", "-", "-", "yes", "yes", "-", "untested"]);
    let page = lived.gsd(["runtimes", "lantern-cli"]).success();
    for words in ["Described by a descriptor that you added.", "the screen has no line for a program", "LANTERN_HOME"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for scope in ["--global", "--local"] {
        assert!(lived.gsd(["install", "--lantern", scope]).success().contains("type /gsd-help"));
        assert!(lived.gsd(["install", "--lantern", scope]).success().contains("already up to date"));
        lived.gsd(["status", "--lantern", scope]).success();
    }
    let skill = std::fs::read_to_string(home.join(".lantern/skills/gsd-help/SKILL.md")).unwrap();
    assert!(
        skill.starts_with("---\nname: gsd-help\n") && skill.contains("\ndisable-model-invocation: true\n"),
        "{skill}"
    );
    let edited = std::fs::read_to_string(home.join(".lantern/settings.json")).unwrap();
    for words in
        ["// mine", "shell(ls)", "hook standard before-tool", "hook standard session-start", "\"shell|save_file\""]
    {
        assert!(edited.contains(words), "{words}: {edited}");
    }
    lived.gsd(["uninstall", "--lantern", "--local"]).success();
    lived.gsd(["uninstall", "--lantern", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn a_broken_descriptor_is_reported_with_its_place_and_stops_no_other_host() {
    let broken = example().replace("instruction-file =", "instructions-file =");
    let line = broken.lines().position(|line| line.starts_with("instructions-file")).unwrap() + 1;
    let lived = with(&broken);
    let old = lived.tree();
    let place = format!("lantern.toml` cannot be used: line {line}, column 1: unknown field `instructions-file`");
    for call in [["install", "--lantern", "--global"], ["uninstall", "lantern", "--local"]] {
        let told = lived.gsd(call);
        assert_eq!(told.code, 65, "{}", told.stderr);
        assert!(
            told.stderr.contains(&place) && told.stderr.contains("did you mean `instruction-file`?"),
            "{}",
            told.stderr
        );
    }
    assert!(lived.gsd(["runtimes", "lantern"]).failure(65).contains(&place));

    let all = lived.gsd(["install", "--all", "--global"]);
    assert!(all.stderr.contains(&place), "{}", all.stderr);
    assert!(!all.success().contains("Lantern"));
    let status = lived.gsd(["status"]);
    assert!(status.stderr.contains(&place), "{}", status.stderr);
    status.success();
    lived.gsd(["uninstall", "--all", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);

    let table = lived.gsd(["runtimes"]).success();
    assert!(
        table.contains(&format!("line {line}, column 1: unknown field")) && !table.contains("\nlantern "),
        "{table}"
    );
    let report = lived.gsd(["runtimes", "--json"]).json();
    assert_eq!((&report["broken"][0]["line"], &report["broken"][0]["column"]), (&line.into(), &1.into()));

    std::fs::write(file(&lived), b"\xff\xfe").unwrap();
    assert!(lived.gsd(["install", "--lantern"]).failure(65).contains("UTF-8"));
}

#[test]
fn a_users_descriptor_replaces_ours() {
    let lived = Lived { context: TestContext::new() };
    let ours = std::fs::read_to_string(repository().join("src/runtime/descriptors/trae.toml")).unwrap();
    let theirs = ours.replace("~/.trae", "~/.trae-elsewhere");
    put(&lived.context.home().join(".config/gsd-tools/runtimes/trae.toml"), &theirs);
    let old = lived.tree();
    lived.gsd(["install", "--trae", "--global"]).success();
    assert!(lived.context.home().join(".trae-elsewhere/skills/gsd-help/SKILL.md").is_file());
    assert!(!lived.context.home().join(".trae").exists());
    lived.gsd(["uninstall", "--trae", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}
