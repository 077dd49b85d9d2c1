//! An install or uninstall that fails or dies at some step leaves the old tree or the new one.
//!
//! Every step of the transaction itself is tried in the tests of the `disk` room. Here the whole program runs, so
//! the first steps, the last ones and a sample between are tried; with `GSD_CRASH_EVERY_STEP=1` all of them.

use crate::lived::Lived;
use crate::tree::{Tree, difference};

/// A host with two roots of its own and two shared files, one of them linked.
const INSTALL: &[&str] = &["install", "--codex", "--global"];
const UNINSTALL: &[&str] = &["uninstall", "--codex", "--global"];

/// The steps to try, up to `total`.
fn sample(total: u32) -> Vec<u32> {
    let every = std::env::var_os("GSD_CRASH_EVERY_STEP").is_some();
    (0..total).filter(|step| every || *step < 3 || step % 83 == 0 || *step + 5 > total).collect()
}

/// How many steps the command takes: the first step that is never reached.
fn count(prepare: &[&[&str]], command: &[&str]) -> u32 {
    let (mut low, mut high) = (0, 4096);
    while low < high {
        let middle = u32::midpoint(low, high);
        let (lived, ran) = struck(prepare, command, "GSD_KILL_AT", middle);
        drop(lived);
        if ran == 0 { high = middle } else { low = middle + 1 }
    }
    low
}

/// Runs the commands, the last one struck at a step. Gives its exit code.
fn struck(prepare: &[&[&str]], command: &[&str], how: &str, step: u32) -> (Lived, i32) {
    let lived = Lived::new();
    for command in prepare {
        lived.gsd_with(command, &[]).success();
    }
    let code = lived.gsd_with(command, &[(how, &step.to_string())]).code;
    (lived, code)
}

fn old_and_new(prepare: &[&[&str]], command: &[&str]) -> (Tree, Tree) {
    let lived = Lived::new();
    for command in prepare {
        lived.gsd_with(command, &[]).success();
    }
    let old = here(&lived, lived.tree());
    lived.gsd_with(command, &[]).success();
    (old, here(&lived, lived.tree()))
}

/// The tree with the folder of the test, which differs from run to run, taken out of it.
fn here(lived: &Lived, tree: Tree) -> Tree {
    let folder = lived.everything().to_string_lossy().into_owned();
    tree.into_iter()
        .map(|(path, what)| {
            let what = what.replace(&folder, "HERE");
            // A manifest names digests of files that name the folder.
            (path.clone(), if path.ends_with("gsd-file-manifest.json") { "manifest".to_owned() } else { what })
        })
        .collect()
}

fn strikes_leave_the_old_tree_or_the_new_one(prepare: &[&[&str]], command: &[&str]) {
    let (old, new) = old_and_new(prepare, command);
    assert_ne!(old, new);
    let total = count(prepare, command);
    assert!(total > 100, "only {total} steps");
    for how in ["GSD_FAULT_AT", "GSD_KILL_AT"] {
        for step in sample(total) {
            let (lived, code) = struck(prepare, command, how, step);
            let tree = here(&lived, lived.tree());
            if how == "GSD_FAULT_AT" && code != 0 {
                assert_eq!(difference(&old, &tree), [""; 0], "an error at step {step} was not undone");
            }
            // A read verb says so, and writes nothing.
            let status = lived.gsd(["status", "--codex", "--global"]);
            assert_eq!(here(&lived, lived.tree()), tree, "status wrote something after step {step}");
            let everything = crate::tree::tree(&lived.everything());
            let unfinished = everything.keys().any(|path| path.contains(".gsd-transaction"));
            assert_eq!(status.stdout.contains("interrupted"), unfinished, "step {step}: {}", status.stdout);
            lived.gsd(["recover"]).success();
            let tree = here(&lived, lived.tree());
            assert!(
                tree == old || tree == new,
                "torn by {how} at step {step}: {:#?}",
                difference(&new, &tree).into_iter().take(10).collect::<Vec<_>>()
            );
            assert!(code != 0 || tree == new, "step {step} succeeded and is not there");
        }
    }
}

#[test]
fn an_install_that_is_struck_leaves_the_old_tree_or_the_new_one() {
    strikes_leave_the_old_tree_or_the_new_one(&[], INSTALL);
}

#[test]
fn an_uninstall_that_is_struck_leaves_the_old_tree_or_the_new_one() {
    strikes_leave_the_old_tree_or_the_new_one(&[INSTALL], UNINSTALL);
}

#[test]
fn the_next_install_finishes_what_a_dead_one_left() {
    let (_, new) = old_and_new(&[], INSTALL);
    let (lived, code) = struck(&[], INSTALL, "GSD_KILL_AT", 200);
    assert_ne!(code, 0);
    lived.gsd_with(INSTALL, &[]).success();
    assert_eq!(difference(&new, &here(&lived, lived.tree())), [""; 0]);
}
