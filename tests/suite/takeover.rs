//! An install where another program of the same name was installed: files that its manifest lists are removed, the
//! user's stay, and after our uninstall only the user's are left.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::TestContext;
use crate::lived::{Lived, put};
use crate::tree::difference;

/// Digests of the texts below.
const OLD: &str = "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4";

/// Its registration of a hook in the root.
pub(crate) fn hook(root: &Path) -> Value {
    let command = format!("\"node\" \"{}/hooks/gsd-read-guard.js\"", root.display());
    json!({"matcher": "Write", "hooks": [{"type": "command", "command": command, "timeout": 5}]})
}

/// Creates the files that the other program would have left; every listed file contains the word `old`.
pub(crate) fn lay(root: &Path, runtime: &str, scope: &str, files: &[&str], elsewhere: &[(&Path, &str)]) {
    let listed: serde_json::Map<String, Value> = files
        .iter()
        .chain(elsewhere.iter().map(|(_, path)| path))
        .map(|path| ((*path).to_owned(), OLD.into()))
        .collect();
    for path in files {
        put(&root.join(path), "old");
    }
    for (base, path) in elsewhere {
        put(&base.join(path), "old");
    }
    let manifest = json!({
        "manifestVersion": 2, "version": "1.14.0", "timestamp": "2026-01-02T03:04:05.678Z", "mode": "full",
        "runtime": runtime, "scope": scope, "files": listed,
    });
    put(&root.join("gsd-file-manifest.json"), &serde_json::to_string_pretty(&manifest).unwrap());
    put(&root.join("gsd-install-state.json"), "{\n  \"schemaVersion\": 1,\n  \"appliedMigrations\": []\n}\n");
    put(&root.join(".gsd-profile"), "full\n");
    put(&root.join("hooks/package.json"), "{\"type\":\"commonjs\"}\n");
    std::fs::create_dir_all(root.join(".gsd-staging/user-artifacts")).unwrap();
}

fn empty() -> Lived {
    Lived { context: TestContext::new() }
}

#[test]
fn another_programs_install_is_removed_and_only_the_users_files_stay() {
    for (scope, settings) in [("--global", "settings.json"), ("--local", "settings.local.json")] {
        let lived = empty();
        let root = match scope {
            "--global" => lived.context.home().join(".claude"),
            _ => lived.context.project().join(".claude"),
        };
        let mine =
            "{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"mine.sh\"}]}";
        put(&root.join(settings), &format!("{mine}\n    ]\n  }}\n}}\n"));
        put(&root.join("agents/reviewer.md"), "mine");
        put(&root.join("skills/gsd-mine/SKILL.md"), "mine");
        let old = lived.tree();
        let files = ["gsd-core/VERSION", "gsd-core/bin/lib/a.cjs", "skills/gsd-help/SKILL.md", "agents/gsd-gone.md"];
        lay(&root, "claude", scope.trim_start_matches('-'), &files, &[]);
        put(&root.join(settings), &format!("{mine},\n      {}\n    ]\n  }}\n}}\n", hook(&root)));
        let theirs = lived.tree();

        let shown = lived.gsd(["install", "--claude", scope, "--dry-run", "-v"]).success();
        assert!(shown.contains("replaces gsd-core 1.14.0"), "{shown}");
        assert!(shown.lines().any(|line| line.ends_with("agents/gsd-gone.md") && line.starts_with("- ")), "{shown}");
        assert_eq!(difference(&theirs, &lived.tree()), [""; 0], "a dry run writes nothing");

        let report = lived.gsd(["install", "--claude", scope, "--json"]).json();
        let report = &report["hosts"][0];
        assert_eq!(report["taken_over"][0]["version"], "1.14.0", "{report}");
        assert_eq!(report["set_aside"], json!([]), "what its manifest vouches for is no person's work");
        assert!(!root.join("agents/gsd-gone.md").exists() && !root.join("gsd-install-state.json").exists());
        let again = lived.gsd(["install", "--claude", scope, "--json"]).json();
        assert_eq!(
            (&again["hosts"][0]["outcome"], &again["hosts"][0]["taken_over"]),
            (&"unchanged".into(), &json!([]))
        );
        lived.gsd(["status", "--claude", scope]).success();
        lived.gsd(["uninstall", "--claude", scope]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0], "{scope}");
    }
}

#[test]
fn changed_files_are_set_aside_and_unknown_ones_are_left() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    lay(&root, "claude", "global", &["agents/gsd-gone.md", "skills/gsd-help/SKILL.md"], &[]);
    put(&root.join("agents/gsd-gone.md"), "old, and more of mine");
    put(&root.join("hooks/package.json"), "{\"type\": \"module\", \"name\": \"mine\"}");
    put(&root.join("commands/gsd-help.md"), "in the name of a command of theirs");
    put(&root.join("commands/gsd-own.md"), "mine");
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let aside = &report["hosts"][0]["set_aside"];
    assert_eq!(
        aside,
        &json!([
            {"path": "~/.claude/agents/gsd-gone.md", "to": "~/.claude/gsd-local-patches/agents/gsd-gone.md"},
            {"path": "~/.claude/commands/gsd-help.md", "to": "~/.claude/gsd-local-patches/commands/gsd-help.md"},
        ])
    );
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    assert_eq!(read("gsd-local-patches/agents/gsd-gone.md"), "old, and more of mine");
    assert!(!root.join("agents/gsd-gone.md").exists());
    assert_eq!(read("commands/gsd-own.md"), "mine");
    assert!(read("hooks/package.json").contains("mine"));
}

#[test]
fn without_a_manifest_of_this_host_nothing_is_touched() {
    for (runtime, scope) in [("cursor", "global"), ("claude", "local")] {
        let lived = empty();
        let root = lived.context.home().join(".claude");
        lay(&root, runtime, scope, &["agents/gsd-gone.md"], &[]);
        let old = lived.tree();
        lived.gsd(["install", "--claude", "--global"]).success();
        assert_eq!(std::fs::read_to_string(root.join("agents/gsd-gone.md")).unwrap(), "old");
        lived.gsd(["uninstall", "--claude", "--global"]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0], "{runtime} {scope}");
    }
}

#[test]
fn files_in_a_shared_folder_are_removed_only_if_their_bytes_match() {
    let lived = empty();
    let (root, shared) = (lived.context.home().join(".codex"), lived.context.home().join(".agents"));
    put(&shared.join("skills/own/SKILL.md"), "mine");
    put(&root.join("config.toml"), "model = \"m\"\n");
    let old = lived.tree();
    lay(
        &root,
        "codex",
        "global",
        &["agents/gsd-a.toml"],
        &[(&shared, "skills/gsd-a/SKILL.md"), (&shared, "skills/gsd-b/SKILL.md")],
    );
    put(&shared.join("skills/gsd-b/SKILL.md"), "another host's by now");
    let block = "# GSD Agent Configuration — managed by gsd-core installer\n# GSD codex_hooks ownership: section\n\n\
                 [features]\nhooks = true\n\n[agents]\nmax_depth = 1\n\n";
    put(&root.join("config.toml"), &format!("model = \"m\"\n\n{block}"));
    put(&root.join("hooks.json"), &format!("{{\"hooks\": {{\"SessionStart\": [{}]}}}}", hook(&root)));
    lived.gsd(["install", "--codex", "--global"]).success();
    assert!(!shared.join("skills/gsd-a").exists());
    lived.gsd(["uninstall", "--codex", "--global"]).success();
    std::fs::remove_dir_all(shared.join("skills/gsd-b")).unwrap();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn settings_of_the_users_that_do_not_parse_stop_the_take_over() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    lay(&root, "claude", "global", &["hooks/gsd-read-guard.js"], &[]);
    put(&root.join("settings.local.json"), &format!("{{\n  \"hooks\": {{\"Stop\": [{}]}},,\n}}", hook(&root)));
    let old = lived.tree();
    let told = lived.gsd(["install", "--claude", "--global"]);
    assert_eq!(told.code, 65, "{}", told.stdout);
    assert!(told.stderr.contains("settings.local.json` does not parse: line 2"), "{}", told.stderr);
    assert_eq!(difference(&old, &lived.tree()), [""; 0], "its scripts are still named there");
}

#[test]
fn removed_permissions_are_reported() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    lay(&root, "claude", "global", &["agents/gsd-gone.md"], &[]);
    put(&root.join("settings.json"), "{\"permissions\": {\"allow\": [\"Read(STATE.md)\", \"Bash(ls)\"]}}");
    let told = lived.gsd(["install", "--claude", "--global"]).success();
    assert!(told.contains("removed its permissions: Read(STATE.md)\n"), "{told}");
    let settings = std::fs::read_to_string(root.join("settings.json")).unwrap();
    assert!(settings.contains("Bash(ls)") && !settings.contains("Read(STATE.md)"), "{settings}");
}

#[cfg(unix)]
#[test]
fn targets_of_links_stay() {
    use std::os::unix::fs::symlink;
    let lived = empty();
    let (home, root) = (lived.context.home(), lived.context.home().join(".claude"));
    put(&home.join("dotfiles/hooks/gsd-read-guard.js"), "old");
    put(&home.join("dotfiles/gone.md"), "old");
    std::fs::create_dir_all(root.join("agents")).unwrap();
    symlink(home.join("dotfiles/gone.md"), root.join("agents/gsd-gone.md")).unwrap();
    let files = ["agents/gsd-other.md", "hooks/gsd-read-guard.js", "agents/gsd-gone.md"];
    lay(&root, "claude", "global", &files[..1], &[]);
    std::fs::remove_dir_all(root.join("hooks")).unwrap();
    symlink(home.join("dotfiles/hooks"), root.join("hooks")).unwrap();
    let manifest = root.join("gsd-file-manifest.json");
    let mut text: Value = serde_json::from_str(&std::fs::read_to_string(&manifest).unwrap()).unwrap();
    for file in files {
        text["files"][file] = OLD.into();
    }
    put(&manifest, &text.to_string());
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let elsewhere = &report["hosts"][0]["elsewhere"];
    assert_eq!(elsewhere, &json!(["~/.claude/agents/gsd-gone.md", "~/.claude/hooks/gsd-read-guard.js"]), "{report}");
    assert!(!root.join("agents/gsd-other.md").exists());
    assert!(home.join("dotfiles/hooks/gsd-read-guard.js").is_file() && home.join("dotfiles/gone.md").is_file());
    assert!(root.join("agents/gsd-gone.md").is_symlink() && root.join("hooks").is_symlink());
}

/// Adds files with the paths, and one with the bytes, of our install.
fn as_ours(root: &Path) {
    put(&root.join("gsd-core/.gsd-runtime"), "claude\n");
    put(&root.join("gsd-core/VERSION"), "1.14.0");
    put(&root.join("gsd-core/bin/lib/a.cjs"), "old");
    put(&root.join("hooks/gsd-statusline.js"), "old");
}

#[test]
fn an_uninstall_leaves_the_install_of_another_program_alone_and_does_not_count_it() {
    for with_manifest in [true, false] {
        let lived = empty();
        let root = lived.context.home().join(".claude");
        lay(&root, "claude", "global", &["agents/gsd-planner.md"], &[]);
        as_ours(&root);
        let open = lived.context.home().join(".config/opencode");
        lay(&open, "opencode", "global", &["gsd-core/bin/lib/a.cjs"], &[]);
        let entry = json!({"~/.config/opencode/gsd-core/*": "allow"});
        let settings = json!({"permission": {"read": entry, "external_directory": entry}});
        put(&open.join("opencode.json"), &serde_json::to_string_pretty(&settings).unwrap());
        if !with_manifest {
            std::fs::remove_file(root.join("gsd-file-manifest.json")).unwrap();
            std::fs::remove_file(open.join("gsd-file-manifest.json")).unwrap();
        }
        let theirs = lived.tree();
        for flag in ["--claude", "--opencode"] {
            let report = lived.gsd(["uninstall", flag, "--global", "--yes", "--json"]).json();
            assert_eq!(report["hosts"][0]["outcome"], "unchanged", "{flag}: {report}");
            assert!(!report.to_string().contains("rm -r"), "the folder is in use: {report}");
        }
        assert_eq!(difference(&theirs, &lived.tree()), [""; 0], "manifest: {with_manifest}");
        let status = lived.gsd(["status"]).success();
        assert!(!status.contains("rm -r") && !status.contains("manifest is missing, but"), "{status}");

        lived.gsd(["install", "--claude", "--local"]).success();
        lived.gsd(["uninstall", "--detected", "--yes"]).success();
        assert_eq!(difference(&theirs, &lived.tree()), [""; 0], "only ours, in the project, is removed");
    }
}

#[test]
fn status_names_the_installs_of_other_programs_and_what_replaces_them() {
    let lived = empty();
    let (home, project) = (lived.context.home(), lived.context.project());
    lay(&home.join(".claude"), "claude", "global", &["gsd-core/VERSION", "gsd-core/bin/lib/a.cjs"], &[]);
    lay(&home.join(".codex"), "codex", "global", &["get-shit-done/VERSION"], &[]);
    lay(&home.join(".gemini"), "gemini", "global", &["get-shit-done/bin/shared/a.manifest.json"], &[]);
    put(&project.join(".cursor/get-shit-done/VERSION"), "1.20.5\n");
    put(&home.join(".gsd/agent/managed-resources.json"), "{\"gsdVersion\": \"2.47.0\"}");
    put(&project.join(".gsd-path/guard_hook.py"), "");
    put(&project.join(".hermes/gsd-file-manifest.json"), "{\"version\": \"1.6.1\", \"files\": {}}");
    let text = lived.gsd(["status"]).success();
    let line = "GSD Core 1.14.0 in ~/.claude (not ours); `gsd-tools install --claude --global` replaces it";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(line), "{text}");
    let status = lived.gsd(["status", "--json"]).json();
    let found = |program: &str, scope: &str| {
        let others = status["others"].as_array().unwrap();
        let other = others.iter().find(|other| other["program"] == program && other["scope"] == scope);
        other.unwrap_or_else(|| panic!("{program}: {status}")).clone()
    };
    let core = found("gsd-core", "global");
    assert_eq!(core["root"], json!(home.join(".claude")));
    assert_eq!((&core["version"], &core["runtime"]), (&json!("1.14.0"), &json!("claude")));
    assert_eq!(core["replaced_by"], "gsd-tools install --claude --global");
    assert_eq!(found("get-shit-done-redux", "global")["runtime"], "gemini");
    assert_eq!(found("get-shit-done-cc", "global")["runtime"], "codex");
    let unlisted = found("get-shit-done-cc", "local");
    assert_eq!((&unlisted["version"], &unlisted["replaced_by"]), (&json!("1.20.5"), &Value::Null));
    for (program, scope, version) in [("gsd-pi", "global", "2.47.0"), ("gsd-core", "local", "1.6.1")] {
        let other = found(program, scope);
        assert_eq!((&other["version"], &other["replaced_by"]), (&json!(version), &Value::Null), "{program}");
        assert!(other["stays"].is_string(), "{program}");
    }
    assert_eq!(found("gsd-path", "local")["replaced_by"], Value::Null);
    assert_eq!(status["installs"], json!([]));
    lived.gsd(["install", "--claude", "--global"]).success();
    let status = lived.gsd(["status", "--claude", "--global", "--json"]).json();
    assert_eq!(status["others"], json!([]), "it is replaced");
    lived.gsd(["status", "--text"]).success();
}

#[test]
fn the_plugin_of_another_program_is_named_and_an_install_warns_of_doubled_commands() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    put(&root.join("settings.json"), "{\"enabledPlugins\": {\"gsd-core@gsd-core\": true}}");
    let versions = json!({"version": 2, "plugins": {"gsd-core@gsd-core": [{"scope": "user", "version": "1.14.0"}]}});
    put(&root.join("plugins/installed_plugins.json"), &versions.to_string());
    let status = lived.gsd(["status", "--json"]).json();
    assert_eq!(status["others"].as_array().unwrap().len(), 1, "{status}");
    let other = &status["others"][0];
    assert_eq!((&other["program"], &other["version"]), (&json!("gsd-core"), &json!("1.14.0")));
    let told = lived.gsd(["install", "--claude", "--global"]).success();
    assert!(told.contains("`claude plugin disable gsd-core@gsd-core`"), "{told}");
    put(&root.join("settings.json"), "{\"enabledPlugins\": {\"gsd-core@gsd-core\": false}}");
    let told = lived.gsd(["install", "--claude", "--global"]).success();
    assert!(!told.contains("plugin"), "{told}");
}

/// Sets the time of the last change a day after that of the other files.
fn changed_later(path: &Path) {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(86400);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
}

#[test]
fn files_that_the_manifest_does_not_list_are_removed_if_they_are_certainly_of_that_program() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    let text = "---\nname: x\n---\nRead ~/.claude/get-shit-done/workflows/x.md\n";
    let listed = ["get-shit-done/VERSION", "skills/gsd-help/SKILL.md", "agents/gsd-planner.md"];
    let mine = [("commands/gsd-own.md", text), ("commands/gsd-mine.md", "mine"), ("agents/gsd-edited.md", text)];
    for (path, text) in mine {
        put(&root.join(path), text);
    }
    changed_later(&root.join("commands/gsd-own.md"));
    changed_later(&root.join("agents/gsd-edited.md"));
    let old = lived.tree();
    lay(&root, "claude", "global", &listed, &[]);
    for path in ["commands/gsd-help.md", "commands/gsd-gone.md", "commands/gsd/planner.md"] {
        put(&root.join(path), text);
    }
    put(&root.join("hooks/gsd-statusline.js"), "old");
    let theirs = lived.tree();

    let shown = lived.gsd(["install", "--claude", "--global", "--dry-run"]).success();
    assert!(!shown.contains("not certain") && !shown.contains("like this"), "{shown}");
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let host = &report["hosts"][0];
    assert_eq!(host["set_aside"], json!([]), "{host}");
    assert_eq!(host["taken_over"][0]["program"], "get-shit-done-cc");
    let (now, is_file) = (lived.tree(), |what: &String| what.starts_with("file"));
    let gone = theirs.iter().filter(|(path, what)| is_file(what) && !now.contains_key(*path)).count();
    assert_eq!(host["removed"], json!(gone), "{host}");
    let status = lived.gsd(["status", "--claude", "--global", "--json"]).json();
    assert_eq!(host["files"], status["installs"][0]["files"]);
    let history = lived.gsd(["history", "--json"]).json();
    assert_eq!(history["calls"][0]["installs"][0]["replaced"], json!(["get-shit-done-cc 1.14.0"]), "{history}");

    lived.gsd(["undo", "--yes"]).success();
    assert_eq!(difference(&theirs, &lived.tree()), [""; 0], "an undo brings everything back");
    lived.gsd(["install", "--claude", "--global"]).success();
    lived.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn files_that_are_set_aside_do_not_count_as_installed() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    lay(&root, "claude", "global", &["agents/gsd-gone.md", "agents/gsd-planner.md"], &[]);
    put(&root.join("agents/gsd-gone.md"), "old, and more of mine");
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let host = &report["hosts"][0];
    assert_eq!(host["set_aside"].as_array().unwrap().len(), 1, "{host}");
    let status = lived.gsd(["status", "--claude", "--global", "--json"]).json();
    assert_eq!(host["files"], status["installs"][0]["files"]);
}

#[test]
fn permissions_that_may_be_the_users_stay_and_are_reported() {
    let lived = empty();
    let root = lived.context.home().join(".claude");
    lay(&root, "claude", "global", &["agents/gsd-gone.md"], &[]);
    let permissions = json!({"allow": ["Write(.planning/*)", "Bash(ls)"], "deny": ["Read(.env)", "Read(./mine)"]});
    put(&root.join("settings.json"), &json!({"permissions": permissions}).to_string());
    let report = lived.gsd(["install", "--claude", "--global", "--json"]).json();
    let other = &report["hosts"][0]["taken_over"][0];
    assert_eq!(other["permissions"], json!(["Write(.planning/*)"]));
    assert_eq!(other["unsure"], json!(["permissions.deny Read(.env) in ~/.claude/settings.json"]));
    let settings = std::fs::read_to_string(root.join("settings.json")).unwrap();
    assert!(settings.contains("Read(.env)") && !settings.contains("Write(.planning"), "{settings}");
}

#[test]
fn a_skill_in_a_shared_folder_that_was_edited_stays_and_is_reported() {
    let lived = empty();
    let (root, shared) = (lived.context.home().join(".codex"), lived.context.home().join(".agents"));
    lay(&root, "codex", "global", &["agents/gsd-a.toml"], &[(&shared, "skills/gsd-a/SKILL.md")]);
    put(&shared.join("skills/gsd-a/SKILL.md"), "old, and more of mine");
    let report = lived.gsd(["install", "--codex", "--global", "--json"]).json();
    assert_eq!(report["hosts"][0]["left"], json!(["~/.agents/skills/gsd-a/SKILL.md"]), "{report}");
    assert!(shared.join("skills/gsd-a/SKILL.md").is_file());
}

#[test]
fn older_forms_in_settings_are_removed() {
    let lived = empty();
    let root = lived.context.home().join(".codex");
    let mine = "# mine\nmodel = \"m\"\n\n[mcp_servers.mine]\ncommand = \"/opt/mine\"\n";
    put(&root.join("config.toml"), mine);
    let agent = lived.context.home().join(".copilot/copilot-instructions.md");
    put(&agent, "# Mine\n\nBe short.\n");
    let old = lived.tree();
    lay(&root, "codex", "global", &["get-shit-done/VERSION"], &[]);
    let tables = "# GSD Agent Configuration — managed by get-shit-done installer\n\
                  # GSD codex_hooks ownership: section\n\n\
                  [agents.gsd-a]\ndescription = \"d\"\nconfig_file = \"agents/gsd-a.toml\"\n";
    put(&root.join("config.toml"), &format!("[features]\ncodex_hooks = true\n\n{mine}\n{tables}"));
    lay(agent.parent().unwrap(), "copilot", "global", &["get-shit-done/VERSION"], &[]);
    let block = "<!-- GSD Configuration — managed by get-shit-done installer -->\nx\n<!-- /GSD Configuration -->\n";
    put(&agent, &format!("# Mine\n\nBe short.\n\n{block}"));
    put(&agent.with_file_name("hooks").join("gsd-session.json"), "{\"version\": 1}");
    lived.gsd(["install", "--codex", "--copilot", "--global"]).success();
    let settings = std::fs::read_to_string(root.join("config.toml")).unwrap();
    assert!(!settings.contains("agents.gsd-a") && !settings.contains("codex_hooks"), "{settings}");
    lived.gsd(["uninstall", "--codex", "--copilot", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}
