//! A full disk: the run stops, says where, and continues once there is space again.

use std::process::Command;

use super::bench::Bench;
use crate::clients::say;

/// A shell line that limits files to this many blocks of 512 bytes. The limit shows as an error, as on a full disk, and
/// not as the signal that would end the program.
fn no_file_longer_than(blocks: u32) -> String {
    format!("trap '' XFSZ; ulimit -f {blocks}")
}

#[test]
#[ignore = "slow: minutes"]
fn a_log_that_cannot_be_written_stops_the_run_and_is_reported() {
    // The log of a whole run is longer than this, and every other file is shorter.
    let bench = Bench::new("ideal");
    let whole = {
        let bench = Bench::new("ideal");
        bench.run().complete();
        bench.log_path().unwrap().metadata().unwrap().len()
    };
    let blocks = u32::try_from(whole / 512 / 2).unwrap();
    let ended = bench.start_after(&no_file_longer_than(blocks)).end();
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    assert!(ended.text.contains("auto/log.jsonl") && ended.text.contains("make room"), "{}", ended.text);
    assert!(bench.of_units().is_empty(), "{:?}", bench.of_units());
    let before = bench.count("unit-started");
    assert!(before > 0, "{}", ended.text);
    bench.run().complete();
    let expected = super::engine::undisturbed();
    assert_eq!(bench.wrong(&expected.tree), Vec::<String>::new());
    assert!(bench.count("unit-started") <= expected.sessions + 1);
}

/// A small disk mounted on a folder; unmounted when this value is dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(folder: std::path::PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&folder).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&folder).output();
        let mounted = mount.is_ok_and(|mount| mount.status.success());
        if !mounted {
            // The tests above need no mount.
            say("a full disk below the worktree: not run (only root can mount a small one)");
        }
        mounted.then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A run whose agent fills the disk of its worktree after the first task, for which it must write outside the worktree.
fn filling() -> Bench {
    Bench::new("filler").shape("1x1").flag("--no-fence")
}

/// Checks that the run reported the full disk, and that it continues once there is space.
fn goes_on_with_room(bench: Bench, ended: &super::bench::Ended, disk: &SmallDisk) {
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    assert!(ended.text.contains("make room on the disk"), "{}", ended.text);
    assert_eq!(bench.git(&["rev-list", "--count", "main"]), "1");
    std::fs::remove_file(disk.0.join("fill")).unwrap();
    let bench = Bench { actor: "ideal".to_owned(), ..bench };
    bench.run().complete();
    let sessions = bench.count("unit-started");
    assert!(sessions <= 4, "{sessions}");
}

#[test]
#[ignore = "slow: root"]
fn a_checkout_without_disk_space_stops_the_run_and_is_reported() {
    let bench = filling();
    let Some(disk) = SmallDisk::mount(bench.context.project().join(".gsd/worktrees")) else { return };
    let ended = bench.run();
    // Git gives the reason if it creates a file, but not if it writes to one.
    let is_named = ended.text.contains("M001-checks") && ended.text.contains("No space left on device");
    assert!(is_named || ended.text.contains("unable to write file"), "{}", ended.text);
    goes_on_with_room(bench, &ended, &disk);
}

#[test]
#[ignore = "slow: root"]
fn a_document_that_cannot_be_written_stops_the_run_and_is_reported() {
    let bench = filling();
    let worktrees = bench.context.project().join(".gsd/worktrees");
    let Some(disk) = SmallDisk::mount(worktrees.clone()) else { return };
    // The checks have their own disk, which is unmounted when the run continues.
    let Some(of_checks) = SmallDisk::mount(worktrees.join("M001-checks")) else { return };
    let ended = bench.run();
    assert!(ended.text.contains("T01-VERIFY.json`: No space left"), "{}", ended.text);
    drop(of_checks);
    goes_on_with_room(bench, &ended, &disk);
}

#[test]
#[ignore = "slow: minutes"]
fn an_agent_that_cannot_write_does_not_count_and_its_error_is_shown() {
    let bench = Bench::new("ideal").shape("1x1");
    let full = Bench { actor: "full".to_owned(), ..bench };
    let ended = full.run();
    ended.stopped(12, "no-progress");
    assert!(ended.text.contains("fake-agent: src/large.txt: No space left on device"), "{}", ended.text);
    Bench { actor: "ideal".to_owned(), ..full }.run().complete();
}
