//! Installing and uninstalling, in homes that already have content.

use std::path::Path;

use serde_json::json;

use crate::kit::{TestContext, binary};
use crate::lived::{HOSTS, Host, Lived, put};
use crate::tree::{difference, stamps};

fn host(flag: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.flag == flag).unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Hosts whose settings are JSON with comments and TOML, in folders of both scopes; the slow tier tests all.
const SAMPLE: &[&str] = &["--claude", "--codex"];

#[test]
fn a_used_home_gets_every_byte_back() {
    gets_every_byte_back(HOSTS.iter().filter(|host| SAMPLE.contains(&host.flag)));
}

#[test]
#[ignore = "slow: minutes"]
fn a_used_home_gets_every_byte_back_from_any_host() {
    gets_every_byte_back(HOSTS.iter());
}

fn gets_every_byte_back(hosts: impl Iterator<Item = &'static Host>) {
    let lived = Lived::new();
    let old = lived.tree();
    for host in hosts {
        for scope in host.scopes() {
            lived.gsd(["install", host.flag, scope]).success();
            let installed = lived.tree();
            assert!(installed.len() > old.len() + 50, "{} {scope}", host.flag);
            let untouched = stamps(&lived.everything());
            let again = lived.gsd(["install", host.flag, scope, "--json"]).json();
            assert_eq!(again["hosts"][0]["outcome"], "unchanged", "{} {scope}", host.flag);
            let mut after = stamps(&lived.everything());
            // The lock files record their last owner.
            after.extend(
                untouched.iter().filter(|(path, _)| path.starts_with("/tmp")).map(|(p, s)| (p.clone(), s.clone())),
            );
            assert_eq!(after, untouched, "{} {scope}: the second install wrote something", host.flag);
            lived.gsd(["status", host.flag, scope]).success();
            lived.gsd(["uninstall", host.flag, scope]).success();
            assert_eq!(difference(&old, &lived.tree()), [""; 0], "{} {scope}", host.flag);
            assert!(!lived.state().join("gsd-tools/kept").exists(), "{} {scope}: kept bytes are left", host.flag);
        }
    }
}

#[test]
fn an_unused_home_is_empty_again_after_all_hosts() {
    is_empty_again_after_all_hosts("--global");
}

#[test]
#[ignore = "slow: minutes"]
fn an_unused_project_is_empty_again_after_all_hosts() {
    is_empty_again_after_all_hosts("--local");
}

fn is_empty_again_after_all_hosts(scope: &str) {
    let lived = Lived { context: crate::kit::TestContext::new() };
    let old = lived.tree();
    let report = lived.gsd(["--all", scope]).success();
    assert!(report.contains("type /gsd-help"), "{report}");
    assert!(lived.gsd(["--all", scope]).success().contains("already up to date"));
    lived.gsd(["--all", scope, "--uninstall"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0], "{scope}");
}

#[test]
#[ignore = "slow: minutes"]
fn hosts_can_be_uninstalled_from_a_used_home_in_any_order() {
    let lived = Lived::new();
    let old = lived.tree();
    lived.gsd(["--all", "--global"]).success();
    lived.gsd(["--all", "--local"]).success();
    for host in HOSTS {
        for scope in host.scopes() {
            lived.gsd(["uninstall", host.flag, scope]).success();
        }
    }
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn settings_are_edited_and_keep_what_their_owner_wrote() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--global"]).success();
    let path = lived.root(host("--claude"), "--global").join("settings.json");
    let text = read(&path);
    assert!(text.contains("\t// tabs and comments\n\t\"model\": \"opus\",\n"), "{text}");
    assert!(text.contains("mine.sh") && text.contains("gsd-tools"), "{text}");
    #[cfg(unix)]
    assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
}

#[test]
fn changes_by_a_person_after_the_install_survive_the_uninstall() {
    let lived = Lived::new();
    for host in HOSTS {
        lived.gsd(["install", host.flag, "--global"]).success();
    }
    let settings = lived.root(host("--claude"), "--global").join("settings.json");
    std::fs::write(&settings, read(&settings).replace("tabs and comments", "changed my mind")).unwrap();
    let config = lived.root(host("--codex"), "--global").join("config.toml");
    std::fs::write(&config, format!("{}\r\n[added]\r\nlater = true\r\n", read(&config))).unwrap();
    let rules = lived.root(host("--copilot"), "--global").join("copilot-instructions.md");
    std::fs::write(&rules, format!("{}\n- Be kind.\n", read(&rules))).unwrap();
    lived.gsd(["uninstall", "--all", "--global"]).success();
    assert!(read(&settings).contains("// changed my mind") && !read(&settings).contains("gsd"));
    assert!(read(&config).ends_with("[added]\r\nlater = true\r\n") && !read(&config).contains("hooks = true"));
    assert!(
        read(&rules).starts_with("# House rules")
            && read(&rules).contains("- Be kind.")
            && !read(&rules).contains("gsd")
    );
}

#[test]
fn a_second_install_after_a_persons_change_writes_nothing() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--global"]).success();
    let settings = lived.root(host("--claude"), "--global").join("settings.json");
    std::fs::write(&settings, read(&settings).replace("\"opus\"", "\"sonnet\"")).unwrap();
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    assert_eq!(report["hosts"][0]["outcome"], "unchanged", "{report}");
}

#[test]
fn a_removed_edit_is_restored_by_an_install() {
    let lived = Lived::new();
    let old = lived.tree();
    lived.gsd(["install", "--cursor", "--global"]).success();
    let hooks = lived.root(host("--cursor"), "--global").join("hooks.json");
    let installed = read(&hooks);
    std::fs::write(&hooks, host("--cursor").text("hooks.json")).unwrap();
    assert!(lived.gsd(["status", "--cursor", "--global"]).failure(1).is_empty());
    lived.gsd(["install", "--cursor", "--global"]).success();
    assert_eq!(read(&hooks), installed);
    lived.gsd(["uninstall", "--cursor", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn a_persons_script_with_the_same_name_stays() {
    let lived = Lived::new();
    let root = lived.root(host("--cline"), "--global");
    let (theirs, ours) = (root.join("hooks/PreToolUse"), root.join("hooks/TaskStart"));
    let report = lived.gsd(["install", "--cline", "--global"]).success();
    assert!(report.contains("a file of yours has this name: ~/.cline/hooks/PreToolUse"), "{report}");
    assert_eq!(read(&theirs), host("--cline").text("hooks/PreToolUse"));
    assert!(read(&ours).contains(" hook cancel session-start"), "{}", read(&ours));
    std::fs::write(&ours, "#!/bin/sh\nexit 0\n").unwrap();
    let report = lived.gsd(["install", "--cline", "--global", "--json"]).json();
    assert_eq!(report["hosts"][0]["gave_way"].as_array().unwrap().len(), 2, "{report}");
    lived.gsd(["uninstall", "--cline", "--global"]).success();
    assert!(theirs.is_file() && read(&ours).ends_with("exit 0\n"));
}

#[test]
fn a_changed_file_that_we_installed_is_set_aside_and_reported() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--global"]).success();
    let root = lived.root(host("--claude"), "--global");
    let (workflow, aside) = (root.join("gsd-core/VERSION"), root.join("gsd-local-patches/gsd-core/VERSION"));
    std::fs::write(&workflow, "my own").unwrap();
    let report = lived.gsd(["install", "--claude", "--global"]).success();
    assert!(report.contains("gsd-local-patches/gsd-core/VERSION"), "{report}");
    assert_eq!(read(&aside), "my own");
    assert_ne!(read(&workflow), "my own");
    std::fs::write(&workflow, "again, otherwise").unwrap();
    lived.gsd(["install", "--claude", "--global"]).success();
    assert_eq!(read(&aside), "my own", "an earlier change is not overwritten by a later one");
    let kept = std::fs::read_dir(aside.parent().unwrap()).unwrap().map(|entry| read(&entry.unwrap().path()));
    assert!(kept.into_iter().any(|text| text == "again, otherwise"));

    // The name with the digest is taken too, by a person's own work.
    let folder = aside.parent().unwrap();
    let second = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| *path != aside);
    let second = second.unwrap();
    std::fs::write(&second, "further work").unwrap();
    std::fs::write(&workflow, "again, otherwise").unwrap();
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let to = report["hosts"][0]["set_aside"][0]["to"].as_str().unwrap().trim_start_matches("~/").to_owned();
    assert_eq!(read(&lived.context.home().join(to)), "again, otherwise");
    assert_eq!((read(&second), read(&aside)), ("further work".into(), "my own".into()));
}

#[test]
fn an_edited_file_that_we_installed_is_kept_but_not_active_after_an_uninstall() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--global"]).success();
    let version = lived.root(host("--claude"), "--global").join("gsd-core/VERSION");
    std::fs::write(&version, "my own").unwrap();
    let report = lived.gsd(["uninstall", "--claude", "--global"]).success();
    let aside = "gsd-local-patches/gsd-core/VERSION";
    assert!(report.contains(&format!("~/.claude/{aside}")), "{report}");
    assert_eq!(read(&lived.root(host("--claude"), "--global").join(aside)), "my own");
    assert!(!version.exists());
}

#[test]
fn a_persons_file_at_our_path_is_set_aside_not_lost() {
    let lived = Lived::new();
    let root = lived.root(host("--claude"), "--global");
    put(&root.join("gsd-core/VERSION"), "theirs");
    put(&root.join("gsd-core/notes.md"), "theirs too");
    lived.gsd(["install", "--claude", "--global"]).success();
    assert_eq!(read(&root.join("gsd-local-patches/gsd-core/VERSION")), "theirs");
    lived.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(read(&root.join("gsd-local-patches/gsd-core/VERSION")), "theirs");
    assert_eq!(read(&root.join("gsd-core/notes.md")), "theirs too");
}

#[test]
fn a_host_whose_settings_do_not_parse_is_refused_and_the_others_continue() {
    let lived = Lived::new();
    put(&lived.root(host("--codex"), "--global").join("hooks.json"), "{\n  \"hooks\": {\n    oops\n");
    let old = lived.tree();
    let ran = lived.gsd(["install", "--codex", "--claude", "--global", "--json"]);
    assert_eq!(ran.code, 65, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let message = report["hosts"][0]["error"]["message"].as_str().unwrap();
    assert!(message.contains(".codex/hooks.json") && message.contains("line 3, column 5"), "{message}");
    assert_eq!(report["hosts"][1]["outcome"], "done");
    let changed = difference(&old, &lived.tree());
    assert!(changed.iter().all(|line| !line.contains(".codex/")), "{changed:#?}");
    let text = lived.gsd(["install", "--codex", "--claude", "--global"]);
    assert!(text.stderr.contains("line 3, column 5") && text.stderr.contains("1 of 2 hosts failed"), "{}", text.stderr);
    assert!(text.stdout.contains("Claude Code") && !text.stdout.contains("failed"), "{}", text.stdout);
}

#[test]
fn nothing_is_removed_from_a_broken_file() {
    let lived = Lived::new();
    lived.gsd(["install", "--codex", "--global"]).success();
    put(&lived.root(host("--codex"), "--global").join("hooks.json"), "{\n  \"hooks\": {\n    oops\n");
    let installed = lived.tree();
    let ran = lived.gsd(["uninstall", "--codex", "--global"]);
    assert_eq!(ran.code, 65, "{}", ran.stdout);
    assert_eq!(difference(&installed, &lived.tree()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn one_of_our_folders_that_is_a_link_to_elsewhere_is_refused_before_any_write() {
    let lived = Lived::new();
    let root = lived.root(host("--claude"), "--global");
    std::fs::create_dir_all(lived.everything().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(lived.everything().join("elsewhere"), root.join("gsd-core")).unwrap();
    let old = lived.tree();
    let ran = lived.gsd(["install", "--claude", "--global"]);
    assert_eq!(ran.code, 73, "{}", ran.stdout);
    assert!(ran.stderr.contains("leads out of its folder"), "{}", ran.stderr);
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_linked_root_is_installed_at_its_target() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    std::fs::create_dir_all(lived.everything().join("dotfiles/claude")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude", lived.context.home().join(".claude")).unwrap();
    let old = lived.tree();
    lived.gsd(["install", "--claude", "--global"]).success();
    assert!(lived.everything().join("dotfiles/claude/gsd-core/VERSION").is_file());
    assert!(lived.gsd(["install", "--claude", "--global"]).success().contains("already up to date"));
    lived.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

/// A host that reads the same folder of skills as another one.
const READER: &str = r#"
id = "NAME"
name = "Reader NAME"
arguments = "beside"
include = "read"
instruction-file = "AGENTS.md"
verified = { date = "2026-01-02", by = "secondary" }
home = { global = "~/.NAME", local = ".NAME" }
mention = { command = "/gsd-{name}" }
command = { keep = ["name", "description"] }
agent = { keep = ["name", "description"] }

[[place]]
items = ["command", "router"]
scopes = ["global"]
anchor = "~/.agents"
path = "skills/gsd-{name}/SKILL.md"
encoding = "markdown"

[[place]]
items = ["command", "router"]
scopes = ["local"]
anchor = "project"
path = ".agents/skills/gsd-{name}/SKILL.md"
encoding = "markdown"

[[place]]
items = ["agent"]
path = "agents/gsd-{name}.md"
encoding = "markdown"
"#;

/// An empty home of a person who added two hosts that share a folder.
fn with_two_readers() -> Lived {
    let lived = Lived { context: crate::kit::TestContext::new() };
    for name in ["first", "second"] {
        let file = format!(".config/gsd-tools/runtimes/{name}.toml");
        put(&lived.context.home().join(file), &READER.replace("NAME", name));
    }
    lived
}

#[test]
fn a_shared_folder_goes_with_the_last_of_its_owners() {
    for (scope, last) in
        [("--global", "--first"), ("--global", "--second"), ("--local", "--first"), ("--local", "--second")]
    {
        let lived = with_two_readers();
        let old = lived.tree();
        lived.gsd(["install", "--first", "--second", scope]).success();
        // The two write different words into the same files; neither treats the other's as a person's edit.
        for host in ["--first", "--second"] {
            lived.gsd(["status", host, scope]).success();
            let report = lived.gsd(["install", host, scope, "--json"]).json();
            assert_eq!(report["hosts"][0]["set_aside"], serde_json::json!([]), "{scope} {host}");
        }
        let first = if last == "--first" { "--second" } else { "--first" };
        lived.gsd(["uninstall", first, scope]).success();
        let folder = if scope == "--global" { lived.context.home() } else { lived.context.project() };
        assert!(folder.join(".agents/skills/gsd-help/SKILL.md").is_file(), "the other host still reads it");
        lived.gsd(["status", last, scope]).success();
        lived.gsd(["uninstall", last, scope]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0], "{scope}: {last} was the last");
    }
}

/// A host that has only its own agents, and reads only the home.
const HOMEBODY: &str = r#"
id = "homebody"
name = "Homebody"
arguments = "beside"
include = "read"
instruction-file = "AGENTS.md"
verified = { date = "2026-01-02", by = "secondary" }
home = { global = "~/.homebody", local = { none = "it reads the home alone" } }
mention = { command = "/skill:gsd-{name}" }
command = { keep = ["name", "description"] }
agent = { keep = [] }
spawn = { call = "Agent", prompt = "prompt", role = "Read {file} first: it is your role." }

[[place]]
items = ["command", "router"]
path = "skills/gsd-{name}/SKILL.md"
encoding = "markdown"

[[place]]
items = ["agent"]
path = "gsd-core/agents/gsd-{name}.md"
encoding = "markdown"
"#;

#[test]
fn a_host_without_a_place_in_a_project_says_so() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    put(&lived.context.home().join(".config/gsd-tools/runtimes/homebody.toml"), HOMEBODY);
    let old = lived.tree();
    for verb in ["install", "uninstall"] {
        let ran = lived.gsd([verb, "--homebody", "--local"]);
        let report = &ran.stderr;
        assert_eq!(ran.code, 2, "{report}");
        assert!(report.contains("Homebody cannot be installed in a project: it reads the home alone"), "{report}");
    }
    // `--all` means every host that supports the scope.
    lived.gsd(["--all", "--local"]).success();
    lived.gsd(["--all", "--local", "--uninstall"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
    lived.gsd(["install", "--homebody", "--global"]).success();
    lived.gsd(["status", "--homebody"]).success();
    lived.gsd(["status"]).success();
}

#[test]
fn an_agent_for_a_host_without_custom_agents_is_a_text_that_workflows_name() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    put(&lived.context.home().join(".config/gsd-tools/runtimes/homebody.toml"), HOMEBODY);
    lived.gsd(["install", "--homebody", "--global"]).success();
    let content = lived.context.home().join(".homebody/gsd-core");
    let role = read(&content.join("agents/gsd-planner.md"));
    assert!(!role.starts_with("---"), "a role is a text: {role:.80}");
    let workflow = read(&content.join("workflows/plan-phase.md"));
    let words = "Read ~/.homebody/gsd-core/agents/gsd-planner.md first: it is your role.\n";
    assert!(workflow.contains(&format!("prompt=\"\n{words}")), "{workflow}");
    let quick = read(&content.join("workflows/quick.md"));
    assert!(quick.contains("begin its prompt with \"Read ~/.homebody/gsd-core/agents/gsd-<name>.md"), "{quick}");
}

#[test]
fn a_dry_run_shows_the_lines_and_writes_nothing() {
    let lived = Lived::new();
    let old = lived.tree();
    let shown = lived.gsd(["install", "--claude", "--global", "--dry-run", "--verbose"]).success();
    assert!(shown.contains("+++ ~/.claude/settings.json") && shown.contains("+ ~/.claude/gsd-core/VERSION"), "{shown}");
    assert!(shown.contains("Nothing was written."), "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colour where no terminal is");
    assert!(shown.contains("    ~/.claude/settings.json\n      + "), "each key below its file: {shown}");
    let told = lived.gsd(["install", "--claude", "--global", "--dry-run", "--json"]).json();
    let plan = &told["hosts"][0]["plan"];
    let row = |key: &str| plan["settings"].as_array().unwrap().iter().find(|row| row["key"] == key).cloned();
    let hook = row("hooks.SessionStart[]").unwrap_or_else(|| panic!("{plan}"));
    assert_eq!((&hook["file"], &hook["what"]), (&json!("~/.claude/settings.json"), &json!("add")));
    assert!(hook["value"]["hooks"][0]["command"].as_str().unwrap().contains("gsd-tools"), "{hook}");
    let steps = plan["steps"].as_array().unwrap();
    assert!(steps.contains(&json!({ "path": "~/.claude/settings.json", "act": "merge" })), "{plan}");
    assert!(steps.len() > 50 && steps.is_sorted_by_key(|step| step["path"].to_string()), "{plan}");
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
    assert!(!lived.state().exists(), "not even a lock");
    lived.gsd(["install", "--claude", "--global"]).success();
    let installed = lived.tree();
    let shown = lived.gsd(["uninstall", "--claude", "--global", "--dry-run", "-v"]).success();
    assert!(shown.contains("- ~/.claude/gsd-core/VERSION"), "{shown}");
    assert_eq!(difference(&installed, &lived.tree()), [""; 0]);
}

#[test]
fn wrong_calls_are_usage_errors_with_the_nearest_name() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    assert!(lived.gsd(["install", "--cladue"]).failure(2).contains("did you mean `--claude`?"));
    assert!(lived.gsd(["--cladue", "--global"]).failure(2).contains("did you mean `--claude`?"));
    assert!(lived.gsd(["install", "--host", "gemnii"]).failure(2).contains("did you mean `gemini`?"));
    assert!(lived.gsd(["install", "--claude", "--dry-rnu"]).failure(2).contains("did you mean `--dry-run`?"));
    assert!(lived.gsd(["install"]).failure(2).contains("--detected"));
    for wrong in [
        &["install", "--claude", "--global", "--local"][..],
        &["install", "--claude", "--local", "--config-dir", "x"],
        &["install", "--claude", "--codex", "--config-dir", "x"],
        &["install", "--claude", "--config-dir", ""],
        &["install", "--claude", "--config-dir"],
    ] {
        let ran = lived.gsd_with(wrong, &[]);
        assert_eq!(ran.code, 2, "{wrong:?}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(lived.tree().keys().collect::<Vec<_>>(), ["/home", "/project"]);
}

#[test]
fn a_local_install_in_the_home_folder_is_refused() {
    let lived = Lived::new();
    let home = lived.context.home();
    let ran = lived.gsd(["--cwd", home.to_str().unwrap(), "install", "--claude", "--local"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}

#[test]
fn a_chosen_folder_replaces_the_usual_one() {
    let lived = with_two_readers();
    let old = lived.tree();
    lived.gsd(["--first", "--config-dir=elsewhere/first"]).success();
    lived.gsd(["--first", "--global"]).success();
    assert!(lived.context.project().join("elsewhere/first/agents").is_dir());
    lived.gsd(["uninstall", "--first", "--global"]).success();
    assert!(
        lived.context.home().join(".agents/skills/gsd-help/SKILL.md").is_file(),
        "the other install has skills there"
    );
    lived.gsd(["--first", "--config-dir", "elsewhere/first", "-u"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn permissions_can_be_left_out() {
    let lived = Lived::new();
    let settings = lived.root(host("--claude"), "--global").join("settings.json");
    lived.gsd(["install", "--claude", "--global"]).success();
    assert!(read(&settings).contains("\"permissions\""));
    lived.gsd(["install", "--claude", "--global", "--no-permissions"]).success();
    assert!(!read(&settings).contains("\"permissions\""), "{}", read(&settings));
    assert!(read(&settings).contains("gsd-tools"), "hooks are something else");
}

#[cfg(unix)]
#[test]
fn settings_that_a_person_made_read_only_stay_and_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let lived = Lived::new();
    let settings = lived.root(host("--claude"), "--global").join("settings.json");
    put(&settings, "{}");
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o444)).unwrap();
    let old = lived.tree();
    let ran = lived.gsd(["install", "--claude", "--global"]);
    assert_eq!(ran.code, 73);
    assert!(ran.stderr.contains("is read-only") && ran.stderr.contains("chmod u+w"), "{}", ran.stderr);
    let ran = lived.gsd(["install", "--claude", "--global", "--json-errors"]);
    assert!(ran.code == 73 && ran.stderr.contains("\"reason\":\"cannot_write\""), "{}", ran.stderr);
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_pipe_at_the_path_of_one_of_our_files_is_refused_at_once() {
    for place in ["gsd-file-manifest.json", "gsd-core/bin/gsd-tools", "settings.json"] {
        let lived = Lived::new();
        let pipe = lived.root(host("--claude"), "--global").join(place);
        std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&pipe);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = lived.context.command("timeout");
        command.env("XDG_STATE_HOME", lived.state()).arg("20").arg(binary()).args(["install", "--claude", "--global"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(73), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(place), "{output:?}");
    }
}

#[cfg(unix)]
#[test]
fn files_that_hosts_run_are_not_writable_by_everyone() {
    use std::os::unix::fs::PermissionsExt;
    let lived = Lived::new();
    let root = lived.root(host("--claude"), "--global");
    let mut command = lived.context.command("sh");
    command.args(["-c", "umask 000; exec \"$0\" install --claude --global"]).arg(binary());
    let output = command.env("XDG_STATE_HOME", lived.state()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for path in ["settings.json", "gsd-core/bin/gsd-tools", "gsd-core/bin", "skills/gsd-plan-phase/SKILL.md"] {
        let mode = std::fs::metadata(root.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o002, 0, "{path}: {mode:o}");
    }
}

#[test]
fn the_installed_program_runs_and_can_uninstall_itself() {
    let lived = Lived::new();
    let old = lived.tree();
    lived.gsd(["install", "--claude", "--local"]).success();
    let program = lived.root(host("--claude"), "--local").join("gsd-core/bin/gsd-tools");
    let run = |arguments: &[&str]| {
        let mut command = lived.context.command(&program);
        let output = command.env("XDG_STATE_HOME", lived.state()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["--version"]).starts_with("gsd-tools "));
    run(&["uninstall", "--claude", "--local"]);
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn line_endings_changed_by_git_do_not_count_as_a_persons_edit() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    let old = lived.tree();
    lived.gsd(["install", "--claude", "--local"]).success();
    let version = lived.root(host("--claude"), "--local").join("gsd-core/VERSION");
    std::fs::write(&version, read(&version).replace('\n', "\r\n")).unwrap();
    lived.gsd(["status", "--claude", "--local"]).success();
    let report = lived.gsd(["install", "--claude", "--local", "--json"]).json();
    assert_eq!(report["hosts"][0]["outcome"], "unchanged", "{report}");
    lived.gsd(["uninstall", "--claude", "--local"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn another_programs_manifest_of_the_same_name_survives() {
    let lived = Lived::new();
    let manifest = lived.root(host("--claude"), "--global").join("gsd-file-manifest.json");
    put(
        &manifest,
        "{\n  \"manifestVersion\": 2,\n  \"runtime\": \"another\",\n  \"files\": {\n    \"agents/x.md\": \"00\"\n  }\n}",
    );
    let old = lived.tree();
    lived.gsd(["install", "--claude", "--global"]).success();
    assert!(read(&manifest).contains("\"manifestVersion\": 2") && read(&manifest).contains("claude/global"));
    lived.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn status_reports_what_changed_since_the_install() {
    let lived = Lived::new();
    assert!(lived.gsd(["status"]).success().contains("Nothing is installed"));
    lived.gsd(["install", "--claude", "--global"]).success();
    let root = lived.root(host("--claude"), "--global");
    std::fs::write(root.join("gsd-core/VERSION"), "mine").unwrap();
    std::fs::remove_file(root.join("gsd-core/.gsd-runtime")).unwrap();
    let ran = lived.gsd(["status", "--json"]);
    assert_eq!(ran.code, 1);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        report["installs"][0]["drift"],
        serde_json::json!([
            { "what": "missing", "path": "~/.claude/gsd-core/.gsd-runtime" },
            { "what": "edited", "path": "~/.claude/gsd-core/VERSION" },
        ])
    );
}

#[test]
fn progress_is_shown_for_several_hosts_and_the_answer_is_clean() {
    let lived = Lived::new();
    let ran = lived.gsd(["install", "--claude", "--cursor", "--global", "--json"]);
    assert_eq!(ran.stderr, "[1 of 2] Claude Code\n[2 of 2] Cursor\n");
    serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap();
}

/// Rewrites the manifest as an earlier version of the program would have left it.
fn earlier(root: &Path, change: impl Fn(&mut serde_json::Value)) {
    let path = root.join("gsd-file-manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_str(&read(&path)).unwrap();
    let section = manifest["installs"].as_object_mut().unwrap().values_mut().next().unwrap();
    section["version"] = "0.0.1".into();
    change(section);
    std::fs::write(&path, serde_json::to_string_pretty(&manifest).unwrap()).unwrap();
}

const DIGEST_OF_OLD: &str = "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4";

#[test]
fn an_upgrade_replaces_unchanged_files_and_removes_obsolete_ones() {
    let lived = Lived::new();
    let old = lived.tree();
    lived.gsd(["install", "--claude", "--global"]).success();
    let new = lived.tree();
    let root = lived.root(host("--claude"), "--global");
    put(&root.join("gsd-core/VERSION"), "old");
    put(&root.join("gsd-core/retired/deep/gone.md"), "old");
    put(&root.join("gsd-core/retired/kept.md"), "a person changed it");
    earlier(&root, |section| {
        for path in ["gsd-core/VERSION", "gsd-core/retired/deep/gone.md", "gsd-core/retired/kept.md"] {
            section["files"][path] = DIGEST_OF_OLD.into();
        }
        let folders = section["folders"].as_array_mut().unwrap();
        folders.extend(["gsd-core/retired".into(), "gsd-core/retired/deep".into()]);
    });
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let report = &report["hosts"][0];
    assert_eq!((&report["updated"], &report["removed"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(report["set_aside"], serde_json::json!([]));
    assert_eq!(report["left"], serde_json::json!(["~/.claude/gsd-core/retired/kept.md"]));
    assert!(!root.join("gsd-core/retired/deep").exists());
    std::fs::remove_dir_all(root.join("gsd-core/retired")).unwrap();
    assert_eq!(difference(&new, &lived.tree()), [""; 0]);
    lived.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
#[ignore = "slow: minutes"]
fn a_used_home_loses_obsolete_edits() {
    let lived = Lived::new();
    let old = lived.tree();
    for host in HOSTS {
        lived.gsd(["install", host.flag, "--global"]).success();
    }
    let new = lived.tree();
    for host in HOSTS {
        lived.gsd(["install", host.flag, "--global", "--no-permissions"]).success();
    }
    let without = lived.tree();
    for host in HOSTS {
        lived.gsd(["install", host.flag, "--global"]).success();
    }
    assert_eq!(difference(&without, &lived.tree()), [""; 0], "a later install keeps the option");
    for host in HOSTS {
        lived.gsd(["install", host.flag, "--global", "--permissions"]).success();
    }
    assert_eq!(difference(&new, &lived.tree()), [""; 0]);
    lived.gsd(["uninstall", "--all", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
#[ignore = "slow: minutes"]
fn a_used_home_gets_its_files_back_without_the_kept_bytes() {
    let lived = Lived::new();
    let old = lived.tree();
    for scope in ["--global", "--local"] {
        lived.gsd(["install", "--all", scope]).success();
        // A project's manifest counts only together with the note that this computer wrote it.
        std::fs::remove_dir_all(lived.state().join("gsd-tools/kept")).unwrap();
        lived.gsd(["uninstall", "--all", scope]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0], "{scope}");
    }
}

#[test]
fn one_broken_manifest_does_not_hide_the_other_installs() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--codex", "--global"]).success();
    put(&lived.root(host("--claude"), "--global").join("gsd-file-manifest.json"), "{");
    let ran = lived.gsd(["status"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("gsd-file-manifest.json` cannot be used") && ran.stdout.contains("Codex"),
        "{}",
        ran.stdout
    );
    assert_eq!(lived.gsd(["uninstall", "--claude", "--global"]).code, 65);
    assert_eq!(lived.gsd(["install", "--claude", "--global"]).code, 65);
}

#[test]
fn a_newer_manifest_is_left_for_the_newer_program() {
    let lived = Lived::new();
    lived.gsd(["install", "--claude", "--global"]).success();
    earlier(&lived.root(host("--claude"), "--global"), |section| section["format"] = 99.into());
    let installed = lived.tree();
    let ran = lived.gsd(["uninstall", "--claude", "--global"]);
    assert_eq!(ran.code, 65);
    assert!(ran.stderr.contains("newer version"), "{}", ran.stderr);
    assert_eq!(difference(&installed, &lived.tree()), [""; 0]);
}

#[test]
fn skills_can_be_nested_under_their_routers_and_later_installs_keep_that() {
    let lived = Lived::new();
    let old = lived.tree();
    let root = lived.root(host("--claude"), "--global");
    let (flat, nested) = ("skills/gsd-plan-phase", "skills/gsd-ns-workflow/skills/plan-phase/SKILL.md");
    lived.gsd(["install", "--claude", "--global"]).success();
    let installed = lived.tree();
    for words in [&["install", "--claude", "--skills", "nested"][..], &["install", "--claude"]] {
        lived.gsd_with(words, &[]).success();
        assert!(!root.join(flat).exists() && root.join(nested).is_file());
        let router = read(&root.join("skills/gsd-ns-workflow/SKILL.md"));
        assert!(router.contains("`skills/plan-phase/SKILL.md`"), "{router}");
        lived.gsd(["status", "--claude"]).success();
    }
    lived.gsd(["install", "--claude", "--skills=flat"]).success();
    assert_eq!(difference(&installed, &lived.tree()), [""; 0]);
    lived.gsd(["install", "--claude", "--skills", "nested"]).success();
    lived.gsd(["uninstall", "--claude"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
    assert_eq!(lived.gsd(["install", "--claude", "--skills", "round"]).code, 2);
}

#[test]
fn a_plugin_is_written_to_an_empty_folder_and_its_use_with_an_install_is_reported() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    let folder = lived.context.project().join("plugin");
    let shown = lived.gsd(["package", "--claude-plugin", "plugin", "--dry-run", "--json"]).json();
    assert!(!folder.exists() && shown["files"].as_array().unwrap().len() > 50, "{shown}");
    lived.gsd(["package", "--claude-plugin", "plugin"]).success();
    assert!(folder.join(".claude-plugin/plugin.json").is_file() && folder.join("skills/help/SKILL.md").is_file());
    let help = read(&folder.join("skills/help/SKILL.md"));
    assert!(help.contains("${CLAUDE_PLUGIN_ROOT}") && !help.contains("~/.claude"), "{help}");
    let program = lived.context.command(folder.join("bin/gsd-tools")).arg("--version").output().unwrap();
    assert!(program.status.success());
    let again = lived.gsd(["package", "--claude-plugin=plugin"]);
    assert_eq!(again.code, 73, "{}", again.stderr);
    let unknown = lived.gsd(["package", "--host", "kilo", "other"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("no form of plugins is known for Kilo"), "{}", unknown.stderr);
    assert!(lived.gsd(["runtimes", "kilo"]).success().contains("no form of plugins is known"));
    assert!(lived.gsd(["runtimes", "codex"]).success().contains("gsd-tools package --host codex"));
}

#[test]
fn a_plugin_reports_what_it_leaves_out_and_how_it_is_loaded() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    for (host, manifest, lacking) in [
        ("claude", ".claude-plugin/plugin.json", &["permissions", "status-line"][..]),
        ("codex", ".codex-plugin/plugin.json", &["agents"]),
        ("gemini", "gemini-extension.json", &["permissions"]),
        ("copilot", "plugin.json", &["commands"]),
        ("cursor", ".cursor-plugin/plugin.json", &[]),
    ] {
        let folder = lived.context.project().join(host);
        let report = lived.gsd(["package", "--host", host, host, "--json"]).json();
        let left_out: Vec<&str> =
            report["left_out"].as_array().unwrap().iter().filter_map(|row| row["what"].as_str()).collect();
        assert_eq!(left_out, lacking, "{host}");
        let load = report["load"].as_array().unwrap();
        assert!(load[0].as_str().unwrap().contains(&*folder.to_string_lossy()), "{host}: {load:?}");
        let manifest: serde_json::Value = serde_json::from_str(&read(&folder.join(manifest))).unwrap();
        assert_eq!(manifest["name"], "gsd", "{host}");
        // No hook line and no text may name the machine that wrote the plugin.
        let here = lived.context.home().parent().unwrap().to_string_lossy().into_owned();
        for file in report["files"].as_array().unwrap() {
            let text = std::fs::read(folder.join(file.as_str().unwrap())).unwrap();
            let text = String::from_utf8_lossy(&text);
            assert!(file.as_str().unwrap().contains("bin/") || !text.contains(&here), "{host}: {file}");
            // Nor the folder of an install, which a plugin does not create.
            let installed = [format!("~/.{host}/gsd-core"), format!("$HOME/.{host}/gsd-core")];
            assert!(
                file.as_str().unwrap().contains("bin/") || !installed.iter().any(|name| text.contains(name)),
                "{host}: {file}"
            );
        }
    }
    let text = lived.gsd(["package", "--gemini-extension", "again"]).success();
    assert!(text.contains("left out: permissions") && text.contains("to load it: gemini extensions install"), "{text}");
}

#[test]
fn install_and_plugin_at_once_are_reported_for_every_host_that_lists_its_plugins() {
    let flags = "{\"enabledPlugins\": {\"gsd@market\": true, \"other@market\": true}}";
    let rules = "{\"gsd\": {\"overrides\": [\"/home/*\", \"!/home/x/*\"]}}";
    for (name, path, on, off) in [
        ("--claude", "settings.json", flags, "\"gsd@market\": false"),
        ("--copilot", "settings.json", flags, "\"gsd@market\": false"),
        ("--codex", "config.toml", "[plugins.\"gsd@market\"]\nenabled = true\n", "enabled = false"),
        ("--gemini", "extensions/extension-enablement.json", rules, "\"!/home/*\""),
        ("--cursor", "plugins/local/gsd/.cursor-plugin/plugin.json", "{}", ""),
    ] {
        let lived = Lived { context: crate::kit::TestContext::new() };
        let root = lived.root(host(name), "--global");
        let told = |words: &[&str]| lived.gsd_with(words, &[]).success().contains("registered twice");
        assert!(!told(&["install", name, "--dry-run"]), "{name}");
        if name == "--gemini" {
            put(&root.join("extensions/gsd/gemini-extension.json"), "{}");
        }
        put(&root.join(path), on);
        assert!(told(&["install", name]) && told(&["status", name]), "{name}");
        assert!(told(&["install", name, "--local", "--dry-run"]), "{name}: in a project too");
        let noted = read(&root.join(path));
        match name {
            "--cursor" => std::fs::remove_dir_all(root.join("plugins")).unwrap(),
            "--gemini" => put(&root.join(path), &noted.replace("\"/home/*\"", off)),
            "--codex" => put(&root.join(path), &noted.replace("enabled = true", off)),
            _ => put(&root.join(path), &noted.replace("\"gsd@market\": true", off)),
        }
        assert!(!told(&["status", name]) && !told(&["install", name]), "{name}");
    }
}

/// The entries that an install adds to the list of commands that run without asking, in the form of each host.
fn allowed(settings: &Path) -> Vec<String> {
    let text = read(settings);
    let texts = text.split('"').filter(|text| text.contains("gsd-tools") && !text.contains(" hook "));
    texts.map(str::to_owned).collect()
}

#[test]
fn calls_run_without_asking_by_exact_prefixes_and_no_rule_makes_a_host_ask() {
    for (flag, file) in [
        ("--claude", ".claude/settings.json"),
        ("--qwen", ".qwen/settings.json"),
        ("--codebuddy", ".codebuddy/settings.json"),
        ("--gemini", ".gemini/policies/gsd-tools.toml"),
        ("--opencode", ".config/opencode/opencode.json"),
        ("--kilo", ".config/kilo/kilo.json"),
    ] {
        let context = TestContext::new();
        context.gsd(["install", flag, "--global"]).success();
        let settings = context.home().join(file);
        let entries = allowed(&settings);
        let has = |call: &str| entries.iter().any(|entry| entry.contains(&format!("gsd-tools {call}")));
        for call in ["state", "commit", "gate run", "loop", "init", "worktree create"] {
            assert!(has(call), "{flag} {call}: {entries:?}");
        }
        for call in [
            "*",
            ":*",
            "run-with-timeout",
            "gate approve",
            "gate *",
            "gate:",
            "uninstall",
            "install",
            "hooks *",
            "recover",
        ] {
            assert!(!has(call), "{flag} {call}: {entries:?}");
        }
        let text = read(&settings);
        assert!(!text.contains("\"ask\"") && !text.contains("ask_user"), "{flag}: {text}");
        assert!(text.len() < 24_000, "{flag}: {} bytes", text.len());
    }
}
