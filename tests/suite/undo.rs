//! Past calls of installs: `history`, `undo`, `redo`, and updates with the edits of a person.

use serde_json::Value;

use crate::kit::TestContext;
use crate::lived::put;
use crate::tree::{Tree, tree};

/// The home without our state folder.
fn home(context: &TestContext) -> Tree {
    let mut home = tree(&context.home());
    home.retain(|path, _| !path.contains(".local"));
    home
}

fn calls(context: &TestContext) -> Vec<Value> {
    context.gsd(["history", "--json"]).json()["calls"].as_array().unwrap().clone()
}

#[test]
fn a_call_for_several_hosts_is_taken_back_and_made_again_as_one() {
    let context = TestContext::new();
    put(&context.home().join(".claude/settings.json"), "{\n  \"model\": \"opus\"\n}");
    put(&context.home().join(".codex/config.toml"), "model = 'x' # mine\r\n");
    let before = home(&context);
    let told = context.gsd(["install", "--claude", "--codex", "--global"]).success();
    assert!(told.contains("Undo: `gsd-tools undo`"), "{told}");
    let after = home(&context);
    let listed = calls(&context);
    assert_eq!((listed.len(), listed[0]["installs"].as_array().unwrap().len()), (1, 2));

    let rehearsed = context.gsd(["undo", "--dry-run", "--json"]).json();
    assert_eq!(home(&context), after);
    let done = context.gsd(["undo", "--json"]).json();
    assert_eq!((&rehearsed["removed"], &rehearsed["restored"]), (&done["removed"], &done["restored"]));
    assert_eq!(home(&context), before);
    assert!(context.gsd(["undo"]).failure(1).contains("no call in the history can be taken back"));
    context.gsd(["redo"]).success();
    assert_eq!(home(&context), after);
    context.gsd(["undo"]).success();
    assert_eq!(home(&context), before);
    let listed = calls(&context);
    assert_eq!((&listed[0]["verb"], &listed[0]["takes_back"]), (&"undo".into(), &1.into()));
    assert_eq!(listed[3]["taken_back_by"], 4);
}

#[test]
fn edits_since_are_kept_by_an_undo() {
    let context = TestContext::new();
    let settings = context.home().join(".claude/settings.json");
    put(&settings, "{\n  \"model\": \"opus\"\n}\n");
    context.gsd(["install", "--claude", "--global"]).success();
    let text = std::fs::read_to_string(&settings).unwrap();
    put(&settings, &text.replace("\"model\": \"opus\"", "\"model\": \"sonnet\",\n  \"mine\": true"));
    let agent = context.home().join(".claude/agents/gsd-planner.md");
    put(&agent, "my planner");
    let report = context.gsd(["undo", "--json"]).json();
    assert_eq!(report["merged"], serde_json::json!(["~/.claude/settings.json"]));
    assert_eq!(report["set_aside"][0]["path"], "~/.claude/agents/gsd-planner.md");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), "{\n  \"model\": \"sonnet\",\n  \"mine\": true\n}\n");
    assert!(!agent.exists());
    let saved = context.home().join(".claude/gsd-local-patches/agents/gsd-planner.md");
    assert_eq!(std::fs::read_to_string(saved).unwrap(), "my planner");
}

#[test]
fn a_call_that_later_ones_build_on_is_taken_back_after_them() {
    let context = TestContext::new();
    let before = home(&context);
    context.gsd(["install", "--claude", "--global"]).success();
    context.gsd(["install", "--cursor", "--global"]).success();
    context.gsd(["install", "--claude", "--global", "--no-permissions"]).success();
    let refused = context.gsd(["undo", "1"]).failure(1);
    assert!(
        refused.contains("call 3 changed the same install after call 1") && refused.contains("gsd-tools undo 3"),
        "{refused}"
    );
    for number in ["3", "1", "2"] {
        context.gsd(["undo", number]).success();
    }
    assert_eq!(home(&context), before);
    assert!(context.gsd(["undo", "1"]).failure(1).contains("already taken back by call"));
    assert!(context.gsd(["undo", "9"]).failure(1).contains("no call 9"));
    // A record that cannot be read is not passed over.
    let record = context.home().join(".local/state/gsd-tools/history/2.json");
    let text = std::fs::read_to_string(&record).unwrap();
    put(&record, "{");
    assert!(context.gsd(["undo", "2"]).failure(1).contains("the record of transaction 2 cannot be read"));
    assert!(context.gsd(["history"]).stderr.contains("transaction 2"));
    put(&record, &text);
    context.gsd(["redo", "1"]).success();
    assert!(context.home().join(".claude/gsd-core").exists());
}

#[test]
fn an_agent_takes_nothing_back() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    for verb in ["undo", "redo"] {
        let refused = context.gsd_with([verb], &[("CLAUDECODE", "1")], "").failure(77);
        assert!(refused.contains("needs a person"), "{refused}");
    }
    context.gsd_with(["undo", "--dry-run"], &[("CLAUDECODE", "1")], "").success();
}

/// An install by an earlier version.
fn older(context: &TestContext, words: &[&str]) {
    context.gsd_with(words.iter().copied(), &[("GSD_AS_VERSION", "0.0.9")], "").success();
}

#[test]
fn an_update_keeps_the_options_and_the_edits_of_an_install() {
    let context = TestContext::new();
    older(&context, &["install", "--claude", "--global", "--no-permissions"]);
    let agents = context.home().join(".claude/agents");
    let read = |name: &str| std::fs::read_to_string(agents.join(name)).unwrap();
    assert!(read("gsd-planner.md").ends_with("<!-- 0.0.9 -->\n"));
    // One edit far from the change of the version, one in the same place.
    let mine = read("gsd-planner.md").replacen("---\n", "---\n# mine\n", 1);
    put(&agents.join("gsd-planner.md"), &mine);
    put(&agents.join("gsd-executor.md"), &read("gsd-executor.md").replace("<!-- 0.0.9 -->", "mine too"));
    let checked = context.gsd(["update", "--check", "--json"]);
    assert_eq!(checked.code, 1);
    let answer: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(answer["installs"][0]["state"], "outdated");

    let report = context.gsd(["update", "--json"]).json();
    let host = &report["hosts"][0];
    assert_eq!(
        (&host["from_version"], &host["edited"]),
        (&"0.0.9".into(), &serde_json::json!(["~/.claude/agents/gsd-planner.md"]))
    );
    assert_eq!(host["set_aside"][0]["path"], "~/.claude/agents/gsd-executor.md");
    assert_eq!(read("gsd-planner.md"), mine.replace("<!-- 0.0.9 -->\n", ""));
    let settings = std::fs::read_to_string(context.home().join(".claude/settings.json")).unwrap();
    assert!(!settings.contains("permissions"), "{settings}");
    assert_eq!(calls(&context)[0]["verb"], "update");

    // A second one changes nothing, and taking it back restores the edited files of the earlier version.
    assert_eq!(context.gsd(["update", "--json"]).json()["hosts"][0]["outcome"], "unchanged");
    let later = read("gsd-planner.md").replacen("# mine\n", "# mine\n# later\n", 1);
    put(&agents.join("gsd-planner.md"), &later);
    let mine = mine.replacen("# mine\n", "# mine\n# later\n", 1);
    context.gsd(["undo"]).success();
    assert_eq!(read("gsd-planner.md"), mine);
    assert!(read("gsd-executor.md").ends_with("mine too\n"));
}

#[test]
fn all_places_are_known_and_a_project_that_moved_is_found_again() {
    let context = TestContext::new();
    let [one, other] = ["one", "other"].map(|name| context.home().join("work").join(name));
    for project in [&one, &other] {
        put(&project.join(".planning/PROJECT.md"), "# P\n");
        let at = project.to_str().unwrap();
        context.gsd(["--cwd", at, "install", "--claude", "--local"]).success();
    }
    context.gsd(["install", "--codex", "--global"]).success();
    let folder = context.home().join("elsewhere");
    context.gsd(["install", "--cursor", "--config-dir", folder.to_str().unwrap()]).success();
    let installs = context.gsd(["status", "--all", "--json"]).json()["installs"].as_array().unwrap().len();
    assert_eq!(installs, 4);
    assert_eq!(context.gsd(["status", "--json"]).json()["installs"].as_array().unwrap().len(), 2);

    let moved = context.home().join("moved");
    std::fs::rename(&other, &moved).unwrap();
    let told = context.gsd(["status", "--all"]).success();
    assert!(told.contains("the folder is gone"), "{told}");
    let at = moved.to_str().unwrap();
    let status = context.gsd(["--cwd", at, "status", "--local", "--json"]).json();
    assert_eq!(status["installs"][0]["from_repository"], false, "{status}");
    context.gsd(["--cwd", at, "update", "--local"]).success();
    assert!(!context.gsd(["status", "--all"]).success().contains("gone"));

    let told = context.gsd(["uninstall", "--all", "--yes"]).success();
    assert_eq!(told.matches("removed").count(), 4, "{told}");
    assert_eq!(context.gsd(["status", "--all", "--json"]).json()["installs"], serde_json::json!([]));
    assert!(!one.join(".claude").exists() && !moved.join(".claude").exists());
}

#[test]
fn a_plan_is_applied_exactly_or_not_at_all() {
    let context = TestContext::new();
    let settings = context.home().join(".claude/settings.json");
    put(&settings, "{\n  \"model\": \"opus\"\n}\n");
    let before = home(&context);
    context.gsd(["install", "--claude", "--cursor", "--global", "--plan", "team.plan"]).success();
    assert_eq!(home(&context), before);
    let plan = context.read("team.plan");
    assert!(!plan.contains("opus") && plan.contains("+ permissions.allow[]"), "a plan has no contents");
    let printed = context.gsd(["install", "--claude", "--cursor", "--global", "--plan", "-"]).success();
    assert_eq!(printed, plan);

    // Something changed since: nothing is written, and it is named.
    put(&settings, "{\n  \"model\": \"sonnet\"\n}\n");
    let refused = context.gsd(["apply", "team.plan"]).failure(75);
    assert!(
        refused.contains("settings.json` has changed")
            && refused.contains("gsd-tools install --claude --cursor --global --plan FILE"),
        "{refused}"
    );
    put(&settings, "{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(home(&context), before);
    // A plan for another place is not that of an install.
    let elsewhere = plan.replace("/.cursor", "/.elsewhere");
    context.write("other.plan", &elsewhere);
    context.gsd(["apply", "other.plan"]).failure(75);
    assert_eq!(home(&context), before);

    context.gsd(["apply", "team.plan", "--dry-run"]).success();
    assert_eq!(home(&context), before);
    context.gsd(["apply", "team.plan"]).success();
    let applied = home(&context);
    context.gsd(["undo"]).success();
    context.gsd(["install", "--claude", "--cursor", "--global"]).success();
    assert_eq!(home(&context), applied);

    // It is done already: nothing is left to write.
    let done = context.gsd(["apply", "team.plan", "--json"]).json();
    assert!(done["hosts"].as_array().unwrap().iter().all(|host| host["outcome"] == "unchanged"), "{done}");
    assert_eq!(home(&context), applied);
    context.write("notes.json", "{}\n");
    assert!(context.gsd(["apply", "notes.json"]).failure(65).contains("is not a plan"));
    let refused = context.gsd(["install", "--claude", "--global", "--plan", "notes.json"]).failure(73);
    assert!(refused.contains("exists and is not a plan"), "{refused}");
    let refused = context.gsd(["install", "--claude", "--global", "--plan", "none/of/plan.json"]).failure(73);
    assert!(refused.contains("there is no folder") && !context.project().join("none").exists(), "{refused}");
    assert!(context.gsd(["apply", "none.plan"]).failure(2).contains("there is no file"));

    context.gsd(["uninstall", "--claude", "--global", "--plan", "away.plan"]).success();
    let refused = context.gsd_with(["apply", "away.plan"], &[("CLAUDECODE", "1")], "").failure(77);
    assert!(refused.contains("needs a person"), "{refused}");
    context.gsd(["apply", "away.plan"]).success();
    assert!(!context.home().join(".claude/gsd-core").exists());
}

#[test]
fn a_difference_is_shown_without_writing() {
    let context = TestContext::new();
    put(&context.home().join(".claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n");
    let before = home(&context);
    let shown = context.gsd(["install", "--claude", "--global", "--diff"]).success();
    assert!(shown.contains("+++ ~/.claude/settings.json") && shown.contains("Nothing was written"), "{shown}");
    assert_eq!(home(&context), before);
}

#[test]
fn a_saved_version_that_was_edited_stays_where_it_is() {
    let context = TestContext::new();
    context.gsd(["install", "--cursor", "--global"]).success();
    let root = context.home().join(".cursor");
    let agent = std::fs::read_dir(root.join("agents")).unwrap().next().unwrap().unwrap().path();
    put(&agent, "mine");
    context.gsd(["install", "--cursor", "--global"]).success();
    let saved = root.join("gsd-local-patches/agents").join(agent.file_name().unwrap());
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), "mine");
    put(&saved, "mine, and more");
    let report = context.gsd(["undo", "--json"]).json();
    let shown = format!("~/.cursor/gsd-local-patches/agents/{}", agent.file_name().unwrap().display());
    assert_eq!((&report["kept"], &report["set_aside"]), (&serde_json::json!([shown]), &serde_json::json!([])));
    assert_eq!(std::fs::read_to_string(&agent).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), "mine, and more");
    assert!(!root.join("gsd-local-patches/gsd-local-patches").exists());
}

#[cfg(unix)]
#[test]
fn a_saved_version_has_the_mode_of_the_edited_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let context = TestContext::new();
    let root = context.home().join(".cursor");
    for (verb, bits) in [("uninstall", 0o700), ("undo", 0o600), ("install", 0o640)] {
        context.gsd(["install", "--cursor", "--global"]).success();
        let agent = std::fs::read_dir(root.join("agents")).unwrap().next().unwrap().unwrap().path();
        put(&agent, &format!("mine before the {verb}"));
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(bits)).unwrap();
        let words: &[&str] = if verb == "undo" { &[verb, "--yes"] } else { &[verb, "--cursor", "--global", "--yes"] };
        context.gsd_with(words, &[], "").success();
        let folder = root.join("gsd-local-patches/agents");
        let saved = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_it = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap().ends_with(&format!(" {verb}"));
        let modes: Vec<u32> = saved.filter(is_it).map(|path| mode(&path)).collect();
        assert_eq!(modes, [bits], "{verb}");
    }
}

#[test]
fn a_redo_makes_only_again_what_was_taken_back() {
    let context = TestContext::new();
    context.gsd(["install", "--cursor", "--global"]).success();
    let after = home(&context);
    let refused = |number: &str| {
        let refused = context.gsd(["redo", number]).failure(1);
        assert!(refused.contains("has nothing that can be made again"), "{refused}");
        assert_eq!(home(&context), after, "redo {number}");
    };
    refused("1");
    context.gsd(["undo"]).success();
    context.gsd(["redo", "1"]).success();
    assert_eq!(home(&context), after);
    for number in ["1", "2", "3"] {
        refused(number);
    }
}

#[test]
fn a_call_is_taken_back_after_all_later_ones_of_its_install() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let agent = context.home().join(".claude/agents/gsd-planner.md");
    std::fs::remove_file(&agent).unwrap();
    context.gsd(["update", "--yes"]).success();
    assert!(agent.exists());
    // The second call left the manifest as it was, and is a later call all the same.
    for more in [&[][..], &["--dry-run"]] {
        let refused = context.gsd_of_many(&[&["undo", "1"], more].concat(), &[]).failure(1);
        assert!(refused.contains("call 2 changed the same install after call 1"), "{refused}");
        assert!(refused.contains("gsd-tools undo 2"), "{refused}");
    }
    // What the second call did is gone already: it counts as taken back, and the first is next.
    std::fs::remove_file(&agent).unwrap();
    context.gsd(["undo", "--yes"]).success();
    context.gsd(["undo", "--yes"]).success();
    assert!(!context.home().join(".claude").exists());
    let verbs: Vec<_> = calls(&context).iter().map(|call| call["verb"].clone()).collect();
    assert_eq!(verbs, ["undo", "undo", "update", "install"]);
    context.gsd(["undo", "--yes"]).failure(1);
    context.gsd(["redo", "--yes"]).success();
    assert!(context.home().join(".claude/skills").exists());
}

#[test]
fn installs_of_other_projects_are_named_with_them() {
    let context = TestContext::new();
    let other = context.home().join("other");
    std::fs::create_dir_all(&other).unwrap();
    context.gsd(["install", "--claude", "--local", "--cwd", other.to_str().unwrap()]).success();
    std::fs::write(other.join(".claude/agents/gsd-planner.md"), "mine").unwrap();
    context.gsd(["install", "--cursor", "--local"]).success();
    let shown = context.gsd(["status", "--all", "--text"]).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("~/other/.claude/agents/gsd-planner.md"), "{shown}");
    assert!(shown.contains("gsd-tools install --claude --local --cwd ~/other"), "{shown}");
    // A path with a space is printed so that a shell passes it as it is.
    let odd = context.home().join("my other");
    std::fs::create_dir_all(&odd).unwrap();
    context.gsd(["install", "--claude", "--local", "--cwd", odd.to_str().unwrap()]).success();
    std::fs::remove_file(odd.join(".claude/agents/gsd-planner.md")).unwrap();
    let status = context.gsd(["status", "--all", "--json"]);
    let fix = format!("--cwd \\\"{}\\\"", odd.display());
    assert!(status.stdout.contains(&fix), "{fix}: {}", status.stdout);
    assert!(!context.gsd(["status", "--cursor", "--text"]).success().contains("Claude"));
    assert!(context.gsd(["history", "--text"]).success().contains("Claude Code (local, ~/other)"));
    let said = context.gsd(["uninstall", "--all", "--yes"]).success();
    assert!(said.contains("~/other/.claude"), "{said}");
    assert!(!context.project().join(".cursor").exists());
}
