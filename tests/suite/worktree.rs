//! Worktrees of agents: finished work is merged and removed, unfinished work never is.

use std::path::PathBuf;

use crate::kit::TestContext;

const BRANCH: &str = "worktree-agent-a1";

/// A repository with one commit, a manifest, and a worktree made for an agent.
struct Wave {
    context: TestContext,
    base: String,
}

impl Wave {
    fn new(files: &str) -> Self {
        let context = TestContext::new();
        context.write("keep.txt", "keep\n");
        context.write("wave.json", "{\n  \"note\": 1.0,\n  \"worktrees\": []\n}\n");
        let wave = Self { context, base: String::new() };
        wave.git(&["init", "-q", "-b", "main"]);
        std::fs::write(wave.context.project().join(".git/info/exclude"), "/wave.json\n/trees/\n").unwrap();
        wave.git(&["add", "."]);
        wave.git(&["commit", "-qm", "first"]);
        let base = wave.git(&["rev-parse", "HEAD"]);
        let wave = Self { base, ..wave };
        let made = wave.make(BRANCH, "trees/a1", files);
        assert_eq!(made.code, 0, "{}{}", made.stdout, made.stderr);
        wave
    }

    fn make(&self, branch: &str, path: &str, files: &str) -> crate::kit::Ran {
        self.context.gsd_with(
            ["worktree", "create", "--manifest", "wave.json", "--agent-id", "a1", "--path", path, "--branch", branch]
                .into_iter()
                .chain(["--base", self.base.as_str(), "--root", ".", "--files", files]),
            &[],
            "",
        )
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in("", arguments)
    }

    fn git_in(&self, folder: &str, arguments: &[&str]) -> String {
        let folder = self.context.project().join(folder);
        let output = self.context.command("git").current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn tree(&self) -> PathBuf {
        self.context.project().join("trees/a1")
    }

    fn work(&self, file: &str) {
        self.context.write(&format!("trees/a1/{file}"), "work\n");
        self.git_in("trees/a1", &["add", "-A"]);
        self.git_in("trees/a1", &["commit", "-qm", "work"]);
    }

    /// The reason why the one worktree was blocked.
    fn blocked(&self) -> String {
        let ran = self.context.gsd(["worktree", "cleanup-wave", "--manifest", "wave.json"]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["result"]["entries"][0]["status"], "blocked");
        assert!(self.tree().is_dir(), "a blocked worktree stays");
        report["result"]["entries"][0]["reason"].as_str().unwrap().to_owned()
    }
}

#[test]
fn finished_work_is_merged_and_its_worktree_removed() {
    let wave = Wave::new("a.txt");
    assert!(wave.context.read("wave.json").starts_with("{\n  \"note\": 1.0,"));
    wave.work("b.txt");
    let report = wave.context.gsd(["worktree", "cleanup-wave", "--manifest", "wave.json"]).json();
    assert_eq!(report["result"]["entries"][0]["status"], "merged_removed");
    assert_eq!(report["result"]["warnings"][0]["path"], "b.txt");
    assert!(!wave.tree().exists() && wave.context.project().join("b.txt").exists());
    assert_eq!(wave.git(&["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn an_ignored_file_that_exists_only_there_keeps_its_worktree_and_is_named() {
    let wave = Wave::new("");
    let ignored = "/wave.json\n/trees/\n.env*\nnode_modules/\n/target/\nnotes/\n*.pyc\n";
    std::fs::write(wave.context.project().join(".git/info/exclude"), ignored).unwrap();
    for file in [".env.local", ".env", "notes/deep/a.md", "node_modules/x/.env", "target/debug/b", "c.pyc"] {
        wave.context.write(&format!("trees/a1/{file}"), "KEY=1\n");
    }
    wave.context.write(".env", "KEY=1\n");
    wave.work("b.txt");
    let clean = || {
        let ran = wave.context.gsd(["worktree", "cleanup-wave", "--manifest", "wave.json"]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        (ran.code, report["result"]["entries"][0].clone())
    };
    let (code, entry) = clean();
    assert_eq!((code, &entry["status"], &entry["reason"]), (1, &"merged".into(), &"ignored_files_kept".into()));
    let named: Vec<&str> = entry["stderr"].as_str().unwrap().lines().collect();
    assert_eq!(named[..named.len() - 1], [".env.local", "notes/deep/a.md"]);
    assert!(wave.tree().join(".env.local").exists() && wave.context.project().join("b.txt").exists());
    for file in [".env.local", "notes/deep/a.md"] {
        std::fs::remove_file(wave.tree().join(file)).unwrap();
    }
    let (code, entry) = clean();
    assert_eq!((code, &entry["status"]), (0, &"merged_removed".into()), "what is made anew holds nothing up");
}

#[test]
fn unfinished_or_surprising_work_is_left_alone() {
    let wave = Wave::new("");
    wave.context.write("trees/a1/new.txt", "uncommitted\n");
    assert_eq!(wave.blocked(), "worktree_dirty");
    std::fs::remove_file(wave.tree().join("new.txt")).unwrap();
    std::fs::remove_file(wave.tree().join("keep.txt")).unwrap();
    wave.work("b.txt");
    assert_eq!(wave.blocked(), "branch_contains_deletions");
    wave.git_in("trees/a1", &["checkout", "-q", "-b", "other"]);
    assert_eq!(wave.blocked(), "branch_mismatch");
}

#[test]
fn a_conflict_leaves_both_sides_as_they_were() {
    let wave = Wave::new("");
    wave.work("same.txt");
    wave.context.write("same.txt", "mine\n");
    wave.git(&["add", "."]);
    wave.git(&["commit", "-qm", "mine"]);
    assert_eq!(wave.blocked(), "merge_failed");
    assert_eq!(wave.context.read("same.txt"), "mine\n");
    assert_eq!(wave.git(&["status", "--porcelain"]), "");
    // A merge that a person has begun is not ours to abort.
    let merge = wave.context.command("git").args(["merge", BRANCH]).output().unwrap();
    assert!(!merge.status.success());
    assert_eq!(wave.blocked(), "merge_failed");
    assert!(wave.context.project().join(".git/MERGE_HEAD").exists());
}

#[test]
fn a_worktree_is_made_only_where_it_can_be_removed_again() {
    let wave = Wave::new("");
    let reason = |ran: crate::kit::Ran| {
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()["reason"].clone()
    };
    assert_eq!(reason(wave.make("main", "trees/b", "")), "invalid_entry");
    assert_eq!(reason(wave.make("agent-b", "../b", "")), "unsafe_path_traversal");
    assert_eq!(reason(wave.make("agent-b", "/b", "")), "path_outside_root");
    assert_eq!(reason(wave.make(BRANCH, "trees/b", "")), "worktree_add_failed");
    wave.context.write("wave.json", "{bad");
    assert_eq!(reason(wave.make("agent-b", "trees/b", "")), "invalid_manifest_json");
    assert_eq!(wave.context.read("wave.json"), "{bad");
    assert!(!wave.context.project().join("trees/b").exists());
    assert!(wave.context.gsd(["worktree", "create"]).failure(2).contains("--manifest"));
    assert!(wave.context.gsd(["worktree", "cleanup-wave"]).failure(2).contains("--manifest"));
}

#[cfg(unix)]
#[test]
fn an_orphan_is_removed_only_if_nothing_would_be_lost() {
    let wave = Wave::new("");
    // No process has this number: it is above what a system assigns.
    wave.git(&["worktree", "lock", "--reason", "2147483646", "trees/a1"]);
    let reap = || wave.context.gsd(["worktree", "reap-orphans"]).json()["entries"][0]["reason"].clone();
    assert_eq!(reap(), "lock_too_fresh");
    // Files that git is configured not to show are still work.
    wave.git(&["config", "status.showUntrackedFiles", "no"]);
    let lock = std::fs::File::options().append(true).open(wave.context.project().join(".git/worktrees/a1/locked"));
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    lock.unwrap().set_modified(hour_ago).unwrap();
    wave.context.write("trees/a1/new.txt", "uncommitted\n");
    assert_eq!(reap(), "worktree_dirty");
    assert_eq!(wave.context.read("trees/a1/new.txt"), "uncommitted\n");
    wave.work("new.txt");
    assert_eq!(reap(), "branch_not_merged");
    wave.git(&["merge", "-q", BRANCH]);
    // Git ignores a file of this name, and the one in the main tree is a different file.
    wave.context.write("trees/a1/wave.json", "mine\n");
    assert_eq!(reap(), "ignored_files");
    std::fs::remove_file(wave.tree().join("wave.json")).unwrap();
    assert_eq!(reap(), "pid_dead_and_merged");
    assert!(!wave.tree().exists());
}

#[test]
fn the_base_of_worktrees_is_set_without_changing_other_settings() {
    let wave = Wave::new("");
    let settings = "{\n  // mine\n  \"model\": \"x\"\n}\n";
    wave.context.write(".claude/settings.local.json", settings);
    assert_eq!(wave.context.gsd(["worktree", "set-baseref"]).json()["changed"], true);
    let written = wave.context.read(".claude/settings.local.json");
    assert!(written.starts_with("{\n  // mine\n  \"model\": \"x\"") && written.contains("\"baseRef\": \"head\""));
    assert_eq!(wave.context.gsd(["worktree", "set-baseref"]).json()["skipped"], "already-head");
    let check = |mode: &str| wave.context.gsd(["worktree", "base-check", "--mode", mode]).json()["reason"].clone();
    assert_eq!(check("orchestrator-worktree"), "baseref-head");
    assert_eq!(check("harness-worktree"), "fork-ref-unknown");
    wave.context.write(".claude/settings.local.json", "{bad");
    assert!(wave.context.gsd(["worktree", "set-baseref"]).failure(1).contains("settings.local.json"));
    assert_eq!(wave.context.read(".claude/settings.local.json"), "{bad");
}
