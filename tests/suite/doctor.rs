//! `doctor`: what it finds in installs, hooks, clients, a project and its runs, and what `--fix` repairs.

use serde_json::Value;

use crate::kit::TestContext;
use crate::lived::put;
use crate::tree::{Tree, difference, tree};

/// The codes of the findings, with whether `--fix` repairs them.
fn codes(report: &Value) -> Vec<(String, bool)> {
    let areas = report["areas"].as_array().unwrap();
    let findings = areas.iter().flat_map(|area| area["findings"].as_array().unwrap());
    findings.map(|finding| (finding["code"].as_str().unwrap().to_owned(), finding["fixable"] == true)).collect()
}

fn has(report: &Value, code: &str, fixable: bool) -> bool {
    codes(report).contains(&(code.to_owned(), fixable))
}

fn doctor(context: &TestContext) -> Value {
    serde_json::from_str(&context.gsd(["doctor", "--json"]).stdout).unwrap()
}

fn without_state(context: &TestContext) -> Tree {
    let mut home = tree(&context.home());
    home.retain(|path, _| !path.contains(".local"));
    home
}

#[test]
fn nothing_to_look_at_is_not_called_healthy() {
    let context = TestContext::new();
    let told = context.gsd(["doctor", "--text"]).success();
    assert_eq!(told.matches("nothing here to check").count(), 5, "{told}");
    let report = doctor(&context);
    assert!(report["areas"].as_array().unwrap().iter().all(|area| area["looked_at"] == serde_json::json!([])));
}

#[test]
fn installs_that_lack_something_are_repaired_in_one_call_that_can_be_undone() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--codex", "--cursor", "--global"]).success();
    assert_eq!(codes(&doctor(&context)), []);
    let whole = without_state(&context);
    std::fs::remove_dir_all(context.home().join(".claude/agents")).unwrap();
    std::fs::remove_file(context.home().join(".codex/gsd-core/bin/gsd-tools")).unwrap();
    put(&context.home().join(".cursor/hooks.json"), "{\"version\": 1, \"hooks\": {}}\n");
    let broken = without_state(&context);

    let failed = context.gsd(["doctor", "--text"]);
    assert_eq!(failed.code, 1, "something does not work");
    let failed = failed.stdout;
    assert!(failed.contains("34 files: missing") && failed.contains("doctor --fix` repairs"), "{failed}");
    let report = doctor(&context);
    for code in ["file-missing", "hooks-without-program", "edit-missing"] {
        assert!(has(&report, code, true), "{code}: {:?}", codes(&report));
    }
    let rehearsed = context.gsd(["doctor", "--fix", "--dry-run", "--json"]).stdout;
    assert!(rehearsed.contains("\"dry_run\": true") && without_state(&context) == broken, "{rehearsed}");

    let fixed: Value = context.gsd(["doctor", "--fix", "--json"]).json();
    assert_eq!((&fixed["errors"], &fixed["fixable"]), (&0.into(), &0.into()), "{fixed}");
    assert_eq!(fixed["fixed"].as_array().unwrap().len(), codes(&report).iter().filter(|(_, fixable)| *fixable).count());
    // The settings that the person rewrote meanwhile are merged, not put back.
    let left = difference(&whole, &without_state(&context));
    assert!(left.iter().all(|line| line.contains(" /.cursor/")), "{left:?}");
    let calls = context.gsd(["history", "--json"]).json();
    assert_eq!((&calls["calls"][0]["verb"], calls["calls"].as_array().unwrap().len()), (&"fix".into(), 2));
    context.gsd(["undo"]).success();
    assert_eq!(difference(&broken, &without_state(&context)), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_program_that_is_another_one_or_cannot_be_run_is_put_back() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--codex", "--global"]).success();
    let whole = without_state(&context);
    let program = |folder: &str| context.home().join(folder).join("gsd-core/bin/gsd-tools");
    let bytes = std::fs::read(program(".claude")).unwrap();
    std::fs::remove_file(program(".claude")).unwrap();
    put(&program(".claude"), "#!/bin/sh\nexit 3\n");
    // The program may be a link to the one that runs this test.
    std::fs::remove_file(program(".codex")).unwrap();
    std::fs::write(program(".codex"), bytes).unwrap();
    std::fs::set_permissions(program(".codex"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let report = doctor(&context);
    assert_eq!(codes(&report).iter().filter(|(code, _)| code == "hooks-without-program").count(), 2, "{report}");
    let fixed: Value = serde_json::from_str(&context.gsd(["doctor", "--fix", "--json"]).stdout).unwrap();
    assert!(!has(&fixed, "hooks-without-program", true), "{fixed}");
    let mut after = without_state(&context);
    after.retain(|path, _| !path.contains("gsd-local-patches"));
    assert_eq!(difference(&whole, &after), [""; 0]);
}

#[test]
fn a_repair_leaves_edits_of_a_person_alone() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let agent = |name: &str| context.home().join(format!(".claude/agents/gsd-{name}.md"));
    put(&agent("planner"), "my planner");
    std::fs::remove_file(agent("executor")).unwrap();
    assert!(has(&doctor(&context), "file-changed", false));
    let fixed = context.gsd(["doctor", "--fix", "--json"]).stdout;
    let fixed: Value = serde_json::from_str(&fixed).unwrap();
    assert!(has(&fixed, "file-changed", false) && !has(&fixed, "file-missing", true), "{fixed}");
    assert_eq!(std::fs::read_to_string(agent("planner")).unwrap(), "my planner");
    assert!(agent("executor").exists());
}

#[test]
fn a_project_is_repaired_with_the_installs() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: One\n**Goal**: x\n");
    context.write(".planning/.lock", "{\"pid\": 4194303}");
    context.gsd(["install", "--claude", "--global"]).success();
    std::fs::remove_file(context.home().join(".claude/agents/gsd-planner.md")).unwrap();
    let before = tree(&context.project());
    let report = doctor(&context);
    for code in ["lock-forgotten", "W003", "file-missing"] {
        assert!(has(&report, code, true), "{code}: {:?}", codes(&report));
    }
    assert_eq!(tree(&context.project()), before, "a check writes nothing");
    let fixed = context.gsd(["doctor", "--fix", "--json"]).stdout;
    let fixed: Value = serde_json::from_str(&fixed).unwrap();
    assert_eq!(fixed["fixable"], 0, "{fixed}");
    assert!(context.project().join(".planning/config.json").exists());
    assert!(!context.project().join(".planning/.lock").exists());
    context.gsd(["undo"]).success();
    assert!(!context.project().join(".planning/config.json").exists(), "one call, one undo");
    assert!(!context.home().join(".claude/agents/gsd-planner.md").exists());
    // Without anything to repair in an install, the project is repaired all the same.
    let other = TestContext::new();
    other.write(".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: One\n**Goal**: x\n");
    let _ = other.gsd(["doctor", "--fix", "--json"]);
    assert!(other.project().join(".planning/config.json").exists());
}

#[cfg(unix)]
#[test]
fn hooks_are_run_only_if_the_user_installed_them() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let settings = context.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    put(&settings, &text.replacen("gsd-tools hook ", "gsd-tools hook nonsense ", 1));
    let report = doctor(&context);
    assert!(has(&report, "hook-without-answer", false), "{:?}", codes(&report));
    let called = context.home().join(".local/state/gsd-tools/hooks-called");
    assert!(!called.exists(), "the host did not call them");
    put(&settings, &text);
    assert_eq!(codes(&doctor(&context)), []);

    // A program that came with a repository is not started, whatever its settings name.
    let marker = context.home().join("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", marker.display());
    context.write(".claude/gsd-core/bin/gsd-tools", &script);
    let program = context.project().join(".claude/gsd-core/bin/gsd-tools");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = "\\\"$CLAUDE_PROJECT_DIR\\\"/.claude/gsd-core/bin/gsd-tools hook claude PreToolUse";
    let hook = format!("{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}");
    context.write(".claude/settings.json", &format!("{{\"hooks\": {{\"PreToolUse\": [{hook}]}}}}"));
    doctor(&context);
    assert!(!marker.exists());
}

#[cfg(unix)]
#[test]
fn a_client_of_another_major_version_is_named() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let bin = context.home().join("bin");
    put(&bin.join("claude"), "#!/bin/sh\necho '3.0.1 (Claude Code)'\n");
    std::fs::set_permissions(bin.join("claude"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", path.as_str())];
    let told = context.gsd_with(["doctor", "--text"], &variables, "").success();
    assert!(told.contains("Claude Code is 3.0.1 (Claude Code)") && told.contains("1 warning"), "{told}");
    // A program of npm is not run: its package says the version.
    let package = context.home().join("lib/node_modules/claude");
    put(&package.join("package.json"), "{\"version\": \"2.9.0\"}");
    put(&package.join("cli.js"), "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(package.join("cli.js"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(bin.join("claude")).unwrap();
    std::os::unix::fs::symlink(package.join("cli.js"), bin.join("claude")).unwrap();
    let told = context.gsd_with(["doctor", "--text"], &variables, "").success();
    assert!(told.contains("Claude Code 2.9.0") && !told.contains("warning"), "{told}");
}

#[test]
fn a_part_that_cannot_be_checked_does_not_hide_the_others() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    std::fs::remove_file(context.home().join(".claude/agents/gsd-planner.md")).unwrap();
    context.write(".planning/config.json", "{ not json");
    for document in ["STATE.md", "ROADMAP.md"] {
        std::fs::write(context.project().join(".planning").join(document), b"# caf\xe9\n").unwrap();
    }
    let report = doctor(&context);
    assert!(has(&report, "file-missing", true), "{report}");
    let project = &report["areas"][3];
    assert!(project["area"] == "project" && !project["findings"].as_array().unwrap().is_empty(), "{report}");
    let fixed: Value = serde_json::from_str(&context.gsd(["doctor", "--fix", "--json"]).stdout).unwrap();
    assert!(!has(&fixed, "file-missing", true), "{fixed}");
    assert_eq!(context.read(".planning/config.json"), "{ not json", "what does not parse is never written");
}

#[test]
fn documents_that_block_runs_and_other_programs_are_named() {
    let context = TestContext::new();
    context.write(".gsd/milestones/M001/M001-ROADMAP.md", "");
    std::fs::write(context.project().join(".gsd/milestones/M001/M001-ROADMAP.md"), b"# M001: caf\xe9\n").unwrap();
    let report = doctor(&context);
    assert!(has(&report, "document-unreadable", false), "{report}");
    put(&context.home().join(".claude/gsd-core/VERSION"), "1.14.0\n");
    put(
        &context.home().join(".claude/gsd-file-manifest.json"),
        "{\"manifestVersion\": 2, \"version\": \"1.14.0\", \"timestamp\": \"2026-01-01T00:00:00.000Z\", \"mode\": \
         \"full\", \"runtime\": \"claude\", \"scope\": \"global\", \"files\": {}}",
    );
    let report = doctor(&context);
    assert!(has(&report, "other-program", false), "{report}");
}

#[test]
fn a_repair_of_nothing_says_so() {
    let context = TestContext::new();
    let fix = |words: &str| context.gsd_with(words.split(' '), &[], "").stdout;
    assert!(fix("doctor --fix").contains("Nothing was repaired: there is no finding."));
    context.gsd(["install", "--claude", "--global"]).success();
    put(&context.home().join(".claude/agents/gsd-planner.md"), "my planner");
    let told = fix("doctor --fix");
    assert!(told.contains("Nothing was repaired: `--fix` repairs none of these findings."), "{told}");
    assert!(fix("doctor --fix --dry-run").contains("Nothing would be repaired"));
    std::fs::remove_file(context.home().join(".claude/agents/gsd-executor.md")).unwrap();
    let told = fix("doctor --fix --dry-run");
    let would = told.split_once("Would repair 1 finding:").unwrap_or_else(|| panic!("{told}")).1;
    assert!(would.contains("~/.claude/agents/gsd-executor.md: Claude Code (global): missing"), "{told}");
    assert!(!told.contains("Nothing"), "{told}");
}

#[test]
fn disabled_hooks_are_found_among_the_hooks() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    context.gsd(["hooks", "off"]).success();
    let report = doctor(&context);
    for area in report["areas"].as_array().unwrap() {
        let is_about = area["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == "hooks-off");
        assert_eq!(is_about, area["area"] == "hooks", "{area}");
    }
    let told = context.gsd(["doctor"]).success();
    assert!(told.contains("Hooks: Claude Code (global): 8 hooks\n    ○ hooks are disabled for all hosts"), "{told}");
    assert!(!told.contains("✓ Hooks"), "{told}");
}
