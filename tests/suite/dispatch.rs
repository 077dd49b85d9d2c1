//! How agents are started: hosts differ by their descriptors, and only calls declared to write do so.

use crate::kit::TestContext;

fn on(context: &TestContext, host: &str, arguments: &[&str]) -> String {
    context.gsd_with(arguments, &[("GSD_RUNTIME", host)], "").success()
}

#[test]
fn hosts_differ_by_their_descriptors() {
    let context = TestContext::new();
    let isolation = |host| on(&context, host, &["inspect-dispatch-isolation"]);
    assert_eq!(isolation("claude"), "harness-worktree\n");
    assert_eq!(isolation("codex"), "orchestrator-worktree\n");
    assert_eq!(isolation("nobody"), "none\n");
    assert_eq!(on(&context, "nobody", &["dispatch-capacity"]), "1\n");
    assert_eq!(on(&context, "cursor", &["dispatch-should-flatten"]), "false\n");
    assert!(!context.project().join(".gsd").exists());
}

#[test]
fn the_command_for_an_agent_in_a_worktree_is_given_if_the_host_has_no_isolation() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    let exec = |host, more: &[&str]| {
        let call = [&["dispatch-isolation", "--json", "--cwd-target", "../wt"], more].concat();
        context.gsd_with(call, &[("GSD_RUNTIME", host)], "").json()["exec"].clone()
    };
    let told = exec("codex", &["--prompt", "read {folder}"]);
    assert_eq!(told["command"], "codex");
    assert_eq!(told["args"], serde_json::json!(["exec", "--cd", "../wt", "read {folder}"]));
    assert_eq!(exec("opencode", &[])["args"], serde_json::json!(["run", "--dir", "../wt"]));
    assert_eq!(exec("claude", &[]), serde_json::Value::Null);
    assert_eq!(exec("codex", &["--force-isolation", "none"]), serde_json::Value::Null);
}

#[cfg(unix)]
#[test]
fn an_agent_is_started_as_the_major_version_of_its_program_expects() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    let program = context.home().join("bin/opencode");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let path = program.parent().unwrap().display().to_string();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
    let words = |version: &str| {
        std::fs::write(&program, format!("#!/bin/sh\necho {version}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let call = ["dispatch-isolation", "--json", "--cwd-target", "../wt", "--prompt", "do it"];
        let answer = context.gsd_with(call, &[("GSD_RUNTIME", "opencode"), ("PATH", &path)], "").json();
        assert_eq!(answer["exec"]["cwd"], "../wt", "{answer}");
        answer["exec"]["args"].clone()
    };
    assert_eq!(words("1.18.33"), serde_json::json!(["run", "--dir", "../wt", "do it"]));
    assert_eq!(words("v2.0.20"), serde_json::json!(["run", "--standalone", "do it"]));
}

#[test]
fn the_isolation_of_a_phase_is_noted_outside_of_the_project() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    assert_eq!(on(&context, "claude", &["dispatch-isolation", "--phase", "2"]), "harness-worktree\n");
    let recorded = || context.gsd(["record-dispatch-isolation", "--isolation", "none", "--dry-run"]).json();
    let path = recorded()["path"].as_str().unwrap().to_owned();
    assert!(!path.starts_with(context.project().to_str().unwrap()), "{path}");
    let text = || std::fs::read_to_string(&path).unwrap();
    let note = || serde_json::from_str::<serde_json::Value>(&text()).unwrap();
    assert_eq!((&note()["isolation"], &note()["phase"]), (&"harness-worktree".into(), &"2".into()));
    context.write(".planning/config.json", r#"{"workflow":{"use_worktrees":false}}"#);
    let forced = ["dispatch-isolation", "--force-isolation", "harness-worktree"];
    assert_eq!(on(&context, "claude", &forced), "none\n");
    assert_eq!(note()["harness_flag"], serde_json::Value::Null);
    context.gsd(["record-dispatch-isolation", "--isolation", "orchestrator-worktree"]).success();
    assert_eq!(note()["isolation"], "orchestrator-worktree");
    assert!(context.gsd(["dispatch-isolation", "--force-isolation", "bad"]).stderr.contains("ignored"));
    context.gsd(["record-dispatch-isolation", "--isolation", "orchestrator-worktree"]).success();
    let before = text();
    assert!(context.gsd(["record-dispatch-isolation"]).failure(1).contains("--isolation"));
    assert_eq!(text(), before);
}

#[test]
fn an_agent_that_is_not_installed_is_replaced_by_the_executor() {
    let context = TestContext::new();
    context.write(".claude/agents/mine.md", "---\nname: mine\n---\n");
    let resolved = |name: &str| context.gsd(["resolve-agent", "--name", name]).success();
    assert_eq!(resolved("mine"), "mine\n");
    assert_eq!(resolved("gsd-planner"), "gsd-executor\n");
    assert_eq!(resolved("../agents/mine"), "gsd-executor\n");
    context.write(".planning/config.json", r#"{"workflow": {"agent_hint_routing": false}}"#);
    assert_eq!(resolved("mine"), "gsd-executor\n");
    assert_eq!(context.gsd(["teams-status", "--active"]).failure(1), "");
    let teams = [("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1")];
    assert_eq!(context.gsd_with(["teams-status", "--active"], &teams, "").success(), "");
}
