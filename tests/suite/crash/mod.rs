//! An install, update, undo or uninstall that fails or dies at some step leaves the old tree or the new one.
//!
//! The tests of the `disk` room try every step of the transaction itself. Here the whole program runs, so only the
//! first steps, the last ones and a sample in between are tried; `GSD_CRASH_EVERY_STEP=1` tries all, `=7` every seventh.

#[cfg(target_os = "linux")]
mod full;
#[cfg(unix)]
mod killed;

use crate::lived::{Lived, put};
use crate::takeover::{hook, lay};
use crate::tree::{Kept, Tree, difference};

/// A host with two roots and two shared files, one of them a link.
const INSTALL: &[&str] = &["install", "--codex", "--global"];
const UNINSTALL: &[&str] = &["uninstall", "--codex", "--global"];

/// Three hosts in one call.
const INSTALL_THREE: &[&str] = &["install", "--codex", "--claude", "--cursor", "--global"];
const UPDATE: &[&str] = &["update", "--yes"];
const UNDO: &[&str] = &["undo", "--yes"];

/// Makes an install as an earlier version would.
const OLDER: (&str, &str) = ("GSD_AS_VERSION", "0.0.9");

/// A home in which another program is installed for the three hosts, with one of its files edited and a hook in settings
/// of the user.
fn of_another_program(lived: Lived) -> Lived {
    let files = ["gsd-core/VERSION", "gsd-core/bin/lib/a.cjs", "skills/gsd-help/SKILL.md", "agents/gsd-gone.md"];
    let (home, shared) = (lived.context.home(), lived.context.home().join(".agents"));
    lay(&home.join(".claude"), "claude", "global", &files, &[]);
    lay(&home.join(".codex"), "codex", "global", &files, &[(&shared, "skills/gsd-a/SKILL.md")]);
    lay(&home.join(".cursor"), "cursor", "global", &files, &[]);
    put(&home.join(".claude/agents/gsd-gone.md"), "old, and more of mine");
    let settings =
        serde_json::json!({"hooks": {"Stop": [hook(&home.join(".claude"))]}, "permissions": {"allow": ["Bash(ls)"]}});
    put(&home.join(".claude/settings.local.json"), &settings.to_string());
    lived
}

/// The steps to try, up to `total`.
fn sample(total: u32) -> Vec<u32> {
    let every: u32 = std::env::var("GSD_CRASH_EVERY_STEP").map_or(83, |every| every.parse().unwrap_or(1).max(1));
    (0..total).filter(|step| *step < 3 || step % every == 0 || *step + 5 > total).collect()
}

/// A home in which a command is interrupted again and again; everything is restored before each run.
struct Bench {
    lived: Lived,
    kept: Kept,
    command: &'static [&'static str],
    old: Tree,
    new: Tree,
    /// The number of steps that the command takes.
    total: u32,
}

impl Bench {
    fn new(lived: Lived, prepare: &[&[&str]], command: &'static [&'static str]) -> Self {
        for words in prepare {
            let variables: &[_] = if command == UPDATE { &[OLDER] } else { &[] };
            lived.gsd_with(words, variables).success();
        }
        let (old, mut kept) = (here(&lived), Kept::of(&lived.everything()));
        let ran = lived.gsd_with(command, &[("GSD_FAULT_AT", "count")]);
        let total = ran.stderr.split_once("the call took ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let total = total.unwrap_or_else(|| panic!("no number of steps: {}", ran.stderr));
        ran.success();
        let new = here(&lived);
        kept.put_back();
        assert_ne!(old, new);
        assert!(total > 100, "only {total} steps");
        Self { lived, kept, command, old, new, total }
    }

    /// Restores everything and runs the command, interrupted at a step. Returns its exit code.
    fn strike(&mut self, how: &str, step: u32) -> i32 {
        self.kept.put_back();
        self.lived.gsd_with(self.command, &[(how, &step.to_string())]).code
    }

    fn strikes_leave_the_old_tree_or_the_new_one(&mut self, how: &str) {
        // The step after the last one is never reached.
        for step in sample(self.total).into_iter().chain([self.total]) {
            let code = self.strike(how, step);
            // An error while the old files are being set aside does not stop an install.
            let may_succeed = step == self.total || how == "GSD_FAULT_AT";
            assert!(code != 0 || may_succeed, "{how} at step {step} of {}", self.total);
            assert!(code == 0 || step < self.total, "{how} at step {step} of {}", self.total);
            let tree = here(&self.lived);
            if how == "GSD_FAULT_AT" && code != 0 {
                assert_eq!(difference(&self.old, &tree), [""; 0], "an error at step {step} was not undone");
            }
            // A read-only verb reports it, and writes nothing.
            let status = self.lived.gsd(["status", "--codex", "--claude", "--cursor", "--global"]);
            assert_eq!(here(&self.lived), tree, "status wrote something after step {step}");
            let everything = crate::tree::tree(&self.lived.everything());
            let left: Vec<_> = everything.keys().filter(|path| path.contains(".gsd-transaction")).collect();
            assert_eq!(
                status.stdout.contains("interrupted"),
                !left.is_empty(),
                "step {step}: {left:?} {}",
                status.stdout
            );
            self.lived.gsd(["recover"]).success();
            let tree = here(&self.lived);
            assert!(
                tree == self.old || tree == self.new,
                "torn by {how} at step {step}: {:#?}",
                difference(&self.new, &tree).into_iter().take(10).collect::<Vec<_>>()
            );
            assert!(code != 0 || tree == self.new, "step {step} succeeded and is not there");
        }
    }
}

/// The tree without the digests of a manifest, which contains timestamps.
fn here(lived: &Lived) -> Tree {
    let is_manifest = |path: &str| path.ends_with("gsd-file-manifest.json");
    let mut tree = lived.tree();
    for (_, what) in tree.iter_mut().filter(|(path, _)| is_manifest(path)) {
        "manifest".clone_into(what);
    }
    tree
}

#[test]
#[ignore = "slow: minutes"]
fn an_install_that_fails_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[], INSTALL).strikes_leave_the_old_tree_or_the_new_one("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_install_that_is_killed_leaves_the_old_tree_or_the_new_one() {
    // This one is on the disk, whose file system may order writes differently from memory.
    Bench::new(Lived::on_disk(), &[], INSTALL).strikes_leave_the_old_tree_or_the_new_one("GSD_KILL_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_uninstall_that_fails_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL], UNINSTALL).strikes_leave_the_old_tree_or_the_new_one("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_uninstall_that_is_killed_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL], UNINSTALL).strikes_leave_the_old_tree_or_the_new_one("GSD_KILL_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn the_next_install_finishes_what_a_killed_one_left() {
    let mut bench = Bench::new(Lived::new(), &[], INSTALL);
    assert_ne!(bench.strike("GSD_KILL_AT", 200), 0);
    bench.lived.gsd_with(INSTALL, &[]).success();
    assert_eq!(difference(&bench.new, &here(&bench.lived)), [""; 0]);
}

#[test]
#[ignore = "slow: minutes"]
fn an_undo_that_fails_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL_THREE], UNDO).strikes_leave_the_old_tree_or_the_new_one("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_undo_that_is_killed_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL_THREE], UNDO).strikes_leave_the_old_tree_or_the_new_one("GSD_KILL_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_install_over_another_program_that_fails_leaves_the_old_tree_or_the_new_one() {
    let lived = of_another_program(Lived::new());
    Bench::new(lived, &[], INSTALL_THREE).strikes_leave_the_old_tree_or_the_new_one("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_install_over_another_program_that_is_killed_leaves_the_old_tree_or_the_new_one() {
    let lived = of_another_program(Lived::new());
    Bench::new(lived, &[], INSTALL_THREE).strikes_leave_the_old_tree_or_the_new_one("GSD_KILL_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_update_that_fails_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL_THREE], UPDATE).strikes_leave_the_old_tree_or_the_new_one("GSD_FAULT_AT");
}

#[test]
#[ignore = "slow: minutes"]
fn an_update_that_is_killed_leaves_the_old_tree_or_the_new_one() {
    Bench::new(Lived::new(), &[INSTALL_THREE], UPDATE).strikes_leave_the_old_tree_or_the_new_one("GSD_KILL_AT");
}

/// Sends a signal after some milliseconds; returns the exit code, or the number of the signal that ended it.
fn signalled(lived: &Lived, words: &[&str], signal: &str, after: u64) -> Option<i32> {
    let mut command = lived.context.command(crate::kit::binary());
    command.args(words).env("XDG_STATE_HOME", lived.state());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(after));
    let _ = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    child.wait().unwrap().code()
}

#[test]
#[ignore = "slow: minutes"]
fn a_signal_takes_back_what_was_done() {
    let bench = Bench::new(Lived::new(), &[], INSTALL_THREE);
    let (mut undone, mut done) = (0, 0);
    for number in 0..30 {
        let signal = ["-INT", "-TERM"][number % 2];
        let mut kept = Kept::of(&bench.lived.everything());
        let code = signalled(&bench.lived, INSTALL_THREE, signal, 20 + 40 * u64::try_from(number).unwrap());
        let tree = here(&bench.lived);
        let everything = crate::tree::tree(&bench.lived.everything());
        assert!(!everything.keys().any(|path| path.contains(".gsd-transaction")), "{signal} {number} left a journal");
        assert!(tree == bench.old || tree == bench.new, "{signal} {number}: torn");
        match code {
            Some(0) => done += 1,
            Some(130 | 143) | None => undone += 1,
            other => panic!("{signal} {number}: {other:?}"),
        }
        assert_eq!(code == Some(0), tree == bench.new, "{signal} {number}: {code:?}");
        kept.put_back();
    }
    println!("{undone} undone, {done} done");
    assert!(undone > 3, "{undone} of 30 were undone");
}
