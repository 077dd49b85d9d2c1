//! Small families: skills and folders of hosts, gates, points of the loop, the guide, programs with a time limit.

use crate::kit::{Ran, TestContext};
use crate::lived::{HOSTS, Lived};

#[test]
fn the_skills_of_an_agent_become_a_block() {
    let context = TestContext::new();
    context.write(".planning/config.json", r#"{"agent_skills": {"gsd-planner": [".skills/a", ".skills/none"]}}"#);
    context.write(".skills/a/SKILL.md", "x");
    let ran = context.gsd(["agent-skills", "gsd-planner"]);
    assert!(ran.stderr.contains(".skills/none"), "{}", ran.stderr);
    let block = ran.success();
    assert!(
        block.starts_with("<agent_skills>\n") && block.ends_with("- @.skills/a/SKILL.md\n</agent_skills>"),
        "{block}"
    );
    assert_eq!(context.gsd(["agent-skills", "gsd-executor"]).success(), "");
    let report = context.gsd(["agent-skills", "gsd-planner", "--json"]).json();
    assert_eq!((&report["skills_count"], &report["degraded"]), (&2.into(), &false.into()));
}

#[test]
fn the_skills_folder_and_the_instruction_file_of_a_host_are_reported() {
    let context = TestContext::new();
    let root = format!("{}/.claude/skills", context.home().display());
    assert_eq!(context.gsd(["skills-root", "claude", "--raw"]).success(), root);
    let moved = [("CLAUDE_CONFIG_DIR", "/elsewhere")];
    assert_eq!(context.gsd_with(["skills-root", "claude", "--raw"], &moved, "").success(), "/elsewhere/skills");
    let shared = format!("{}/.agents/skills", context.home().display());
    assert_eq!(
        context.gsd(["skills-root", "codex", "--raw"]).success(),
        shared,
        "where people are told to keep theirs"
    );
    assert!(!context.gsd(["skills-root", "zzz"]).failure(1).is_empty());
    let written = context.gsd(["generate-claude-md"]).json()["claude_md_path"].as_str().unwrap().to_owned();
    let named = context.gsd(["project-instruction-file", "claude"]).success();
    assert!(written.ends_with(&format!("/{}", named.trim_end())), "{named} is not {written}");
    assert_eq!(context.gsd(["project-instruction-file"]).success(), "AGENTS.md\n");
}

#[test]
fn every_call_of_an_installed_program_answers_for_its_host() {
    let lived = Lived::new();
    let context = &lived.context;
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: A**\n\n### Phase 1: A\n");
    context.write(".planning/STATE.md", "---\nstatus: planning\ncurrent_phase: 1\n---\n\n# Project State\n");
    lived.gsd(["install", "--all", "--global"]).success();
    let calls = [
        "resolve-model gsd-executor --raw",
        "resolve-model gsd-code-reviewer",
        "resolve-execution gsd-debugger",
        "project-instruction-file",
        "dispatch-isolation",
        "effort sync",
        "agent-skills gsd-planner --json",
        "smart-entry --json",
        "init execute-phase 1",
        "init plan-phase 1",
        "capability state",
    ];
    let mut models = std::collections::BTreeSet::new();
    for host in HOSTS {
        let name = host.flag.trim_start_matches('-');
        let configured = if name == "codex" { "claude" } else { "codex" };
        context.write(".planning/config.json", &format!(r#"{{"runtime": "{configured}"}}"#));
        let program = lived.root(host, "--global").join("gsd-core/bin/gsd-tools");
        for call in calls {
            let asked = |named: Option<&str>| {
                let mut command = context.command(&program);
                command.args(call.split(' ')).envs(named.map(|name| ("GSD_RUNTIME", name)));
                Ran::from(command.output().unwrap())
            };
            let (installed, named) = (asked(None), asked(Some(name)));
            assert_eq!(installed.stdout, named.stdout, "{name} {call}");
            assert_eq!(installed.code, named.code, "{name} {call}: {}", installed.stderr);
            if call.starts_with("resolve-model gsd-executor") {
                models.insert(installed.stdout.clone());
            }
        }
    }
    assert!(models.len() > 1, "hosts have models of different names: {models:?}");
}

#[test]
fn auto_mode_has_a_source() {
    let context = TestContext::new();
    let source = || context.gsd(["check.auto-mode", "--pick", "source"]).success();
    assert_eq!(source(), "none");
    context.write(".planning/config.json", r#"{"workflow": {"auto_advance": true}}"#);
    assert_eq!(source(), "auto_advance");
    context.write(".planning/config.json", r#"{"workflow": {"auto_advance": true, "_auto_chain_active": true}}"#);
    assert_eq!(source(), "both");
}

#[test]
fn a_chain_is_recorded_outside_the_project_and_a_stop_wins() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}\n");
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    let git = |line: &str| {
        let output = context.command("git").args(line.split(' ')).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for line in ["init -q", "add .", "commit -q -m first"] {
        git(line);
    }
    let source = || context.gsd(["check", "auto-mode", "--pick", "source"]).success();
    let planned = |field| context.gsd(["init", "plan-phase", "1", "--pick", field]).success();
    let started = context.gsd_with(["auto-chain", "start"], &[("CLAUDE_CODE_SESSION_ID", "s-1")], "").json();
    assert_eq!((&started["active"], &started["source"]), (&true.into(), &"auto_chain".into()));
    assert_eq!(started["session"], "claude-code-session-id-s-1");
    assert_eq!((source(), planned("auto_chain_active")), ("auto_chain".into(), "true".into()));
    assert_eq!(context.gsd(["init", "new-project", "--pick", "auto_chain_active"]).success(), "true");
    context.gsd(["auto-chain", "stop"]).success();
    assert_eq!(git("status --porcelain"), "", "nothing of it is in the project");
    let old = r#"{"mode": "yolo", "workflow": {"auto_advance": true, "_auto_chain_active": true}}"#;
    context.write(".planning/config.json", old);
    assert_eq!(source(), "stopped");
    assert_eq!((planned("auto_chain_active"), planned("auto_advance")), ("false".into(), "false".into()));
    assert_eq!(context.gsd(["init", "new-project", "--pick", "mode"]).success(), "yolo");
    context.gsd(["auto-chain", "start"]).success();
    assert_eq!(source(), "both");
}

#[test]
fn a_chain_that_was_left_for_a_day_is_over() {
    let context = TestContext::new();
    let at = |hours: i64, call: &[&str]| {
        let now = (1_768_176_000_000 + hours * 3_600_000).to_string();
        context.gsd_with(call, &[("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", &now)], "").json()
    };
    at(0, &["auto-chain", "start"]);
    assert_eq!(at(23, &["check", "auto-mode"])["active"], true);
    assert_eq!(at(25, &["check", "auto-mode"])["active"], false);
    let folder = context.home().join(".local/state/gsd-tools/projects");
    let note = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path().join("auto-chain.json");
    std::fs::write(&note, "{").unwrap();
    let refused = context.gsd(["check", "auto-mode"]).failure(1);
    assert!(refused.contains("auto-chain.json") && refused.contains("gsd-tools auto-chain stop"), "{refused}");
    context.gsd(["auto-chain", "stop"]).success();
    assert_eq!(context.gsd(["check", "auto-mode", "--pick", "source"]).success(), "stopped");
}

#[test]
fn a_point_of_the_loop_must_exist() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["loop", "render-hooks", "execute:pre"]).json()["activeHooks"], serde_json::json!([]));
    assert!(context.gsd(["loop", "render-hooks", "plan:mid"]).failure(1).contains("plan:pre"));
}

#[test]
fn the_guide_has_an_overview_and_topics() {
    let context = TestContext::new();
    let brief = context.gsd(["guide"]).success();
    let full = context.gsd(["guide", "--full"]).success();
    assert!(brief.len() < full.len() && brief.contains("plan-phase"), "{brief}");
    let topic = context.gsd(["guide", "/gsd-plan-phase"]).success();
    assert!(topic.contains("plan-phase"), "{topic}");
    let unknown = context.gsd(["guide", "plan-fase"]).failure(2);
    assert!(
        unknown.contains("did you mean `gsd-tools guide plan-phase`?") && unknown.contains("config, debug"),
        "{unknown}"
    );
    let elsewhere = context.gsd_with(["guide", "plan-phase"], &[("GSD_RUNTIME", "codex")], "").success();
    assert!(elsewhere.starts_with("$gsd-plan-phase N"), "{elsewhere}");
    context.write(".planning/config.json", "{ broken");
    assert_eq!(context.gsd(["guide", "plan-phase"]).success(), topic);
    assert!(context.gsd(["guide", "a", "b"]).failure(2).contains("`b`"));
}

#[test]
fn a_program_is_run_with_our_streams_and_its_own_code() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["run-with-timeout", "9", "--", "sh", "-c", "echo --raw; exit 3"]).code, 3);
    assert_eq!(context.gsd_with(["run-with-timeout", "9", "cat"], &[], "in").success(), "in");
    assert_eq!(context.gsd(["run-with-timeout", "0.05", "sleep", "60"]).code, 124);
    assert_eq!(context.gsd(["run-with-timeout", "9", "gsd-no-such-program"]).code, 127);
    for seconds in ["x", "-1", "1e400"] {
        assert_eq!(context.gsd(["run-with-timeout", seconds, "true"]).code, 2, "{seconds}");
    }
}

#[test]
fn the_matrix_of_hosts_fits_the_screen_and_a_host_has_a_page() {
    let context = TestContext::new();
    let table = context.gsd(["runtimes"]).success();
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let report = context.gsd(["runtimes", "--json"]).json();
    let hosts = report["runtimes"].as_array().unwrap();
    for host in hosts {
        let id = host["id"].as_str().unwrap();
        assert!(table.lines().any(|line| line.starts_with(&format!("{id} "))), "{id}: {table}");
        assert_eq!(host["features"].as_array().unwrap().len(), 13, "{id}");
        let page = context.gsd(["runtimes", id]).success();
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        for feature in host["features"].as_array().unwrap() {
            let line = |line: &str| {
                let support = match feature["support"].as_str().unwrap() {
                    "native" => "supported",
                    "emulated" => "emulated",
                    _ => "not supported",
                };
                let rest = line.trim_start().strip_prefix(feature["what"].as_str().unwrap());
                rest.is_some_and(|rest| rest.trim_start().starts_with(support))
            };
            assert!(page.lines().any(line), "{feature}: {page}");
            assert!(!feature["note"].as_str().unwrap().is_empty(), "{feature}");
        }
    }
    assert!(hosts.len() >= 6);
}

#[test]
fn the_page_of_a_host_shows_paths_as_the_environment_sets_them() {
    let context = TestContext::new();
    let page = context.gsd(["runtimes", "claude-code"]).success();
    assert!(page.starts_with("Claude Code (claude, claude-code)\nVerified with client "), "{page}");
    assert!(page.contains(" ~/.claude/skills/gsd-<name>/SKILL.md\n"), "{page}");
    assert!(page.contains(" .claude/settings.local.json\n"), "{page}");
    let moved = context.gsd_with(["runtimes", "claude"], &[("CLAUDE_CONFIG_DIR", "/elsewhere")], "").success();
    assert!(moved.contains(" /elsewhere/skills/gsd-<name>/SKILL.md\n"), "{moved}");
    assert!(context.gsd(["runtimes", "cluade"]).failure(2).contains("did you mean `claude`?"));
}
