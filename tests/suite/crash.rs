//! An install or uninstall that fails or dies at some step leaves the old tree or the new one.
//!
//! The tests of the `disk` room try every step of the transaction itself. Here the whole program runs, so only the
//! first steps, the last ones and a sample in between are tried; `GSD_CRASH_EVERY_STEP=1` tries all.

use crate::lived::Lived;
use crate::tree::{Kept, Tree, difference};

/// A host with two roots and two shared files, one of them a link.
const INSTALL: &[&str] = &["install", "--codex", "--global"];
const UNINSTALL: &[&str] = &["uninstall", "--codex", "--global"];

/// The steps to try, up to `total`.
fn sample(total: u32) -> Vec<u32> {
    let every = std::env::var_os("GSD_CRASH_EVERY_STEP").is_some();
    (0..total).filter(|step| every || *step < 3 || step % 83 == 0 || *step + 5 > total).collect()
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
        for command in prepare {
            lived.gsd_with(command, &[]).success();
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
            let status = self.lived.gsd(["status", "--codex", "--global"]);
            assert_eq!(here(&self.lived), tree, "status wrote something after step {step}");
            let everything = crate::tree::tree(&self.lived.everything());
            let unfinished = everything.keys().any(|path| path.contains(".gsd-transaction"));
            assert_eq!(status.stdout.contains("interrupted"), unfinished, "step {step}: {}", status.stdout);
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
