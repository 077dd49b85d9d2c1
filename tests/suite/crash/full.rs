//! A full disk below home, project and state: a call that fails for it changes nothing and says so, and works once
//! there is space.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{INSTALL_THREE, OLDER, UNDO, UPDATE, here, of_another_program};
use crate::clients::say;
use crate::kit::{Ran, TestContext, binary};
use crate::lived::Lived;
use crate::tree::{Kept, difference};

/// The space that is left, in kilobytes.
const LEFT: &[u64] = &[0, 32, 256, 1024, 4096, 8192, 16384, 32768];

/// A home on a disk of limited size, with the program on it; unmounted when this value is dropped.
struct SmallHome {
    lived: Option<Lived>,
    root: PathBuf,
    program: PathBuf,
}

impl SmallHome {
    fn new() -> Option<Self> {
        let context = TestContext::new();
        let root = context.everything();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1g", "tmpfs"]).arg(&root).output();
        if !mount.is_ok_and(|mount| mount.status.success()) {
            say("installs on a full disk: not run (only root can mount a small one)");
            return None;
        }
        for folder in ["home", "project", "tmp"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let program = root.join("tmp/gsd-tools");
        std::fs::copy(binary(), &program).unwrap();
        Some(Self { lived: Some(Lived::within(context)), root, program })
    }

    fn lived(&self) -> &Lived {
        self.lived.as_ref().unwrap()
    }

    fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.lived().context.command(&self.program);
        command.args(words).env("XDG_STATE_HOME", self.lived().state()).envs(variables.iter().copied());
        Ran::from(command.stdin(Stdio::null()).output().unwrap())
    }

    fn filler(&self) -> PathBuf {
        self.root.join("tmp/fill")
    }

    /// Fills the disk up to this many kilobytes.
    fn fill(&self, left: u64) {
        let free = free(&self.root);
        let count = free.saturating_sub(left);
        let fallocate = Command::new("fallocate").args(["-l", &format!("{count}K")]).arg(self.filler()).status();
        assert!(fallocate.unwrap().success());
        assert!(free >= left && self::free(&self.root) <= left, "{left}");
    }
}

impl Drop for SmallHome {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.root).status();
        drop(self.lived.take());
    }
}

/// The free kilobytes of the disk of a folder.
fn free(folder: &Path) -> u64 {
    let ran = Command::new("df").args(["-k", "--output=avail"]).arg(folder).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().lines().nth(1).unwrap().trim().parse().unwrap()
}

/// Runs a command with less and less space missing, and returns what is wrong and how often it failed.
fn filled(home: &SmallHome, prepare: &[&[&str]], command: &[&str]) -> (Vec<String>, usize) {
    for words in prepare {
        home.run(words, if command == UPDATE { &[OLDER] } else { &[] }).success();
    }
    let (old, mut kept) = (here(home.lived()), Kept::of(&home.lived().everything()));
    home.run(command, &[]).success();
    let new = here(home.lived());
    let (mut wrong, mut failed) = (Vec::new(), 0);
    for left in LEFT {
        kept.put_back();
        home.fill(*left);
        let ran = home.run(command, &[]);
        let tree = here(home.lived());
        let status = home.run(&["status", "--json"], &[]);
        std::fs::remove_file(home.filler()).unwrap();
        let name = format!("{} with {left} kB", command.join(" "));
        let told = format!("{}{}", ran.stdout, ran.stderr);
        let expected = if ran.code == 0 { &new } else { &old };
        failed += usize::from(ran.code != 0);
        if tree != *expected {
            let lines = difference(expected, &tree).into_iter().take(5).collect::<Vec<_>>().join("\n");
            wrong.push(format!("{name}: exit {}: {told}\n{lines}", ran.code));
        }
        if ran.code != 0 && !(ran.code == 74 && told.contains("No space left") && told.contains("make room")) {
            wrong.push(format!("{name}: exit {}: {told}", ran.code));
        }
        if ![0, 1].contains(&status.code) {
            wrong.push(format!("{name}: status: {status:?}"));
        }
        if ran.code == 0 && told.contains("panicked") {
            wrong.push(format!("{name}: {told}"));
        }
        let again = home.run(command, &[]);
        let is_over = ran.code == 0 && command == UNDO;
        if (again.code != 0 && !is_over) || here(home.lived()) != new {
            wrong.push(format!("{name}: again with space: exit {}: {}{}", again.code, again.stdout, again.stderr));
        }
    }
    (wrong, failed)
}

fn on_a_full_disk(lay: fn(Lived) -> Lived, prepare: &[&[&str]], command: &[&str]) {
    let Some(mut home) = SmallHome::new() else { return };
    home.lived = home.lived.take().map(lay);
    let (wrong, failed) = filled(&home, prepare, command);
    say(&format!("{}: {failed} of {} failed for want of space", command.join(" "), LEFT.len()));
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(failed > 2, "{failed}");
}

#[test]
#[ignore = "slow: root"]
fn an_install_on_a_full_disk_changes_nothing() {
    on_a_full_disk(|lived| lived, &[], INSTALL_THREE);
}

#[test]
#[ignore = "slow: root"]
fn an_update_on_a_full_disk_changes_nothing() {
    on_a_full_disk(|lived| lived, &[INSTALL_THREE], UPDATE);
}

#[test]
#[ignore = "slow: root"]
fn an_undo_on_a_full_disk_changes_nothing() {
    on_a_full_disk(|lived| lived, &[INSTALL_THREE], UNDO);
}

#[test]
#[ignore = "slow: root"]
fn an_install_over_another_program_on_a_full_disk_changes_nothing() {
    on_a_full_disk(of_another_program, &[], INSTALL_THREE);
}
