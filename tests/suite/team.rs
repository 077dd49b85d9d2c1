//! One install for all who clone a project: what git sees of it, its lock, and the check of CI.

use std::path::{Path, PathBuf};

use crate::kit::TestContext;
use crate::lived::put;
use crate::tree::tree;

fn git(context: &TestContext, folder: &Path, words: &[&str]) -> String {
    let mut command = context.command("git");
    let ran = command.args(["-c", "user.name=A", "-c", "user.email=a@example.com"]).args(words).current_dir(folder);
    let ran = ran.output().unwrap();
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A colleague with a home folder and a clone of the project.
struct Colleague {
    context: TestContext,
}

impl Colleague {
    fn first() -> Self {
        let this = Self { context: TestContext::new() };
        this.git(&["init", "-q", "."]);
        put(&this.project().join("README.md"), "# x\n");
        this.git(&["add", "."]);
        this.git(&["commit", "-qm", "begin"]);
        this
    }

    fn clone_of(other: &Self) -> Self {
        let context = TestContext::new();
        let from = other.project().to_str().unwrap().to_owned();
        git(&context, &context.everything(), &["clone", "-q", &from, context.project().to_str().unwrap()]);
        Self { context }
    }

    fn project(&self) -> PathBuf {
        self.context.project()
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.context, &self.project(), words)
    }

    fn commit_all(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", "gsd"]);
    }
}

const HOSTS: [&str; 5] = ["--claude", "--codex", "--cursor", "--copilot", "--gemini"];

#[test]
fn nothing_that_differs_between_two_colleagues_is_committed() {
    let one = Colleague::first();
    let hosts = HOSTS.iter().copied();
    one.context
        .gsd_of_many(&["install"].into_iter().chain(hosts).chain(["--local"]).collect::<Vec<_>>(), &[])
        .success();
    one.commit_all();
    let files = one.git(&["ls-files"]);
    for private in ["gsd-file-manifest.json", "settings.local.json", "bin/gsd-tools\n"] {
        assert!(!files.contains(private), "{private}");
    }
    let other = Colleague::clone_of(&one);
    // The program is missing: no hook that was committed fails.
    let hooks = std::fs::read_to_string(other.project().join(".codex/hooks.json")).unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&hooks).unwrap();
    let command = hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let ran = other.context.command("sh").args(["-c", &command]).current_dir(other.project()).output().unwrap();
    assert!(ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    let before = tree(&other.project());
    let hosts = HOSTS.iter().copied();
    let install: Vec<&str> = ["install"].into_iter().chain(hosts).chain(["--local"]).collect();
    other.context.gsd_of_many(&install, &[]).success();
    assert_eq!(other.git(&["status", "--short"]), "", "an install in a clone changes no committed file");
    // Taking it back leaves the clone as it came.
    other.context.gsd(["undo"]).success();
    assert_eq!(tree(&other.project()), before);
}

#[test]
fn a_lock_pins_version_and_content_and_ci_sees_what_differs() {
    let one = Colleague::first();
    assert!(one.context.gsd(["lock"]).failure(1).contains("nothing is installed in this project"));
    assert!(one.context.gsd(["status", "--check"]).failure(2).contains("gsd-tools lock"));
    one.context.gsd(["install", "--claude", "--codex", "--local", "--skills", "nested"]).success();
    one.context.gsd(["lock", "--dry-run"]).success();
    assert!(!one.project().join("gsd-tools.lock").exists());
    one.context.gsd(["lock"]).success();
    assert_eq!(one.context.gsd(["lock", "--json"]).json()["changed"], false);
    one.context.gsd(["status", "--check"]).success();
    one.commit_all();

    // Two clones: CI, which installs nothing, and a colleague, who installs what is pinned.
    let ci = Colleague::clone_of(&one);
    let report = ci.context.gsd(["status", "--check", "--json"]).json();
    assert_eq!((&report["passed"], &report["hosts"][0]["state"]), (&true.into(), &"same".into()));
    let other = Colleague::clone_of(&one);
    other.context.gsd(["install", "--local"]).success();
    assert_eq!(other.git(&["status", "--short"]), "");
    assert!(other.project().join(".claude/gsd-core/bin/gsd-tools").exists());

    // Red: an edited file, a lost one, an entry that is gone, all named.
    put(&ci.project().join(".claude/agents/gsd-planner.md"), "mine");
    std::fs::remove_file(ci.project().join(".codex/agents/gsd-planner.toml")).unwrap();
    put(&ci.project().join(".codex/hooks.json"), "{}");
    let red = ci.context.gsd(["status", "--check", "--text"]);
    assert_eq!(red.code, 1);
    for named in [".claude/agents/gsd-planner.md", ".codex/agents/gsd-planner.toml", ".codex/hooks.json"] {
        assert!(red.stdout.contains(named), "{named}: {}", red.stdout);
    }
    ci.git(&["checkout", "-q", "."]);
    ci.context.gsd(["status", "--check"]).success();

    // Versions apart: refused before anything is written, and CI says so.
    let lock = one.project().join("gsd-tools.lock");
    let text = std::fs::read_to_string(&lock).unwrap();
    put(&lock, &text.replace("\"version\": \"0.1.0\"", "\"version\": \"9.9.9\""));
    let before = tree(&one.project());
    for call in [["install", "--local"], ["update", "--local"]] {
        let refused = one.context.gsd(call);
        assert!(refused.code != 0 && refused.stderr.contains("pins version 9.9.9"), "{refused:?}");
    }
    assert_eq!(tree(&one.project()), before);
    assert!(one.context.gsd(["status", "--check", "--text"]).stdout.contains("pins version 9.9.9"));
    one.context.gsd(["lock"]).success();
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), text, "the pin moves to this program");
    // What came with a repository is not believed: no host is not a pass, and a version is not a command.
    let odd = text.replace("0.1.0", "1`; rm -rf x");
    let empty = "{\"format\": 1, \"version\": \"0.1.0\", \"hosts\": {}}";
    for (broken, why) in [(empty, "lists no host"), (odd.as_str(), "is not a name")] {
        put(&lock, broken);
        let refused = one.context.gsd(["status", "--check"]).failure(65);
        assert!(refused.contains(why), "{refused}");
    }
    put(&lock, "{\"format\": 1,\n<<<<<<< ours\n");
    assert!(one.context.gsd(["status", "--check"]).failure(65).contains("gsd-tools.lock"));
}

#[test]
fn an_ignored_install_passes_the_check_and_a_forgotten_one_does_not() {
    let one = Colleague::first();
    one.context.gsd(["install", "--claude", "--local"]).success();
    one.context.gsd(["lock"]).success();
    put(&one.project().join(".gitignore"), "/.claude/\n");
    one.commit_all();
    let ci = Colleague::clone_of(&one);
    let report = ci.context.gsd(["status", "--check", "--json"]).json();
    assert_eq!(report["hosts"][0]["state"], "ignored", "{report}");
    put(&ci.project().join(".gitignore"), "");
    let red = ci.context.gsd(["status", "--check", "--json"]);
    assert!(red.code == 1 && red.stdout.contains("\"missing\""), "{red:?}");
    ci.context.gsd(["install", "--local"]).success();
    ci.context.gsd(["status", "--check"]).success();
}

#[test]
fn a_clone_is_installed_and_uninstalled_without_a_rest() {
    let one = Colleague::first();
    one.context.gsd_of_many(&[&["install"], &HOSTS[..], &["--local"]].concat(), &[]).success();
    one.context.gsd(["lock"]).success();
    one.commit_all();
    let other = Colleague::clone_of(&one);
    // Before it is installed, status names the call that does it.
    let shown = other.context.gsd(["status", "--text"]).success();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("came with this repository") && shown.contains("`gsd-tools install --local`"), "{shown}");
    let said = other.context.gsd(["install", "--local"]);
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains("not certain"), "{}", said.stdout);
    assert_eq!(other.git(&["status", "--porcelain"]), "");
    other.context.gsd(["uninstall", "--all", "--local", "--yes"]).success();
    // The hosts' folders came with the clone.
    let left = tree(&other.project())
        .into_iter()
        .filter(|(path, what)| !path.starts_with("/.git/") && what.starts_with("file"));
    assert_eq!(left.map(|(path, _)| path).collect::<Vec<_>>(), ["/README.md", "/gsd-tools.lock"]);
}
