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
fn hook(root: &Path) -> Value {
    let command = format!("\"node\" \"{}/hooks/gsd-read-guard.js\"", root.display());
    json!({"matcher": "Write", "hooks": [{"type": "command", "command": command, "timeout": 5}]})
}

/// Creates the files that the other program would have left; every listed file contains the word `old`.
fn lay(root: &Path, runtime: &str, scope: &str, files: &[&str], elsewhere: &[(&Path, &str)]) {
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
