//! Small families: skills and folders of hosts, gates, points of the loop, the guide, programs with a time limit.

use crate::kit::TestContext;

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
fn a_host_tells_its_folder_of_skills_and_its_instruction_file() {
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
    assert_eq!(context.gsd(["project-instruction-file", "claude"]).success(), "CLAUDE.md\n");
    assert_eq!(context.gsd(["project-instruction-file"]).success(), "AGENTS.md\n");
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
    assert!(unknown.contains("did you mean `plan-phase`?") && unknown.contains("config, discuss-phase"), "{unknown}");
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
    for seconds in ["x", "-1", "0", "1e400"] {
        assert_eq!(context.gsd(["run-with-timeout", seconds, "true"]).code, 2, "{seconds}");
    }
}
