//! Tests the guarantees of this module at every step: an error, a crash, a crash during the recovery from a crash.
//! Afterwards the tree must be the old one or the new one, in bytes, modes, links, and folders.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests prepare and inspect trees by hand")]

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

/// A home folder with two trees, a linked file, and a root that does not exist yet.
pub(super) struct Bench {
    /// Removed with the bench, by the process that made it.
    pub(super) _temporary: Option<tempfile::TempDir>,
    pub(super) home: AbsolutePath,
}

pub(super) type TreeTexts = BTreeMap<String, String>;

impl Bench {
    pub(super) fn new() -> Self {
        let temporary = crate::testing::folder();
        let home = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let bench = Self { _temporary: Some(temporary), home };
        bench.put("home/one/kept.md", "kept", 0o644);
        bench.put("home/one/settings.json", "{\n}", 0o640);
        bench.put("home/one/old/gone.md", "gone", 0o600);
        bench.put("home/one/old/deep/gone.md", "gone too", 0o644);
        bench.put("home/two/agents/a.toml", "a = 1\r\n", 0o444);
        bench.put("home/dotfiles/config.toml", "user = true", 0o644);
        symlink("../dotfiles/config.toml", bench.path("home/two/config.toml")).unwrap();
        std::fs::set_permissions(bench.path("home/one/old"), std::fs::Permissions::from_mode(0o700)).unwrap();
        bench.put("program", "#!/bin/sh\n", 0o755);
        bench
    }

    pub(super) fn path(&self, path: &str) -> AbsolutePath {
        self.home.resolve(path)
    }

    pub(super) fn put(&self, path: &str, text: &str, mode: u32) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn roots(&self) -> [AbsolutePath; 3] {
        ["home/one", "home/two", "home/.config/three"].map(|path| self.path(path))
    }

    /// Every kind of change, over three roots.
    pub(super) fn changes(&self) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let before = |path: &str| Digest::of_file(&self.path(path)).unwrap();
        let ours = |path: &str, access| Change::WriteFile {
            path: self.path(path),
            bytes: format!("new {path}").into(),
            access,
            owner: Owner::Program,
            before: before(path),
        };
        changes.write(self.path("home/one/settings.json"), "{\"a\":1}", before("home/one/settings.json"));
        changes.remove(self.path("home/one/old/gone.md"), before("home/one/old/gone.md").unwrap());
        changes.remove(self.path("home/one/old/deep/gone.md"), before("home/one/old/deep/gone.md").unwrap());
        changes.push(Change::RemoveFolder { path: self.path("home/one/old") });
        changes.push(Change::RemoveFolder { path: self.path("home/one/old/deep") });
        changes.push(Change::RemoveFolder { path: self.path("home/two/agents") });
        changes.push(ours("home/one/new/deep/file.md", Access::Usual));
        changes.push(ours("home/one/new/tool", Access::Executable));
        changes.write(self.path("home/two/config.toml"), "user = false", before("home/two/config.toml"));
        changes.push(ours("home/two/agents/a.toml", Access::Usual));
        changes.push(ours("home/.config/three/x/y", Access::Private));
        changes.push(Change::MakeFolder { path: self.path("home/.config/three/empty"), mode: None });
        let (path, source) = (self.path("home/.config/three/bin/tool"), self.path("program").as_path().to_path_buf());
        let digest = Digest::of_file(&AbsolutePath::parse(&source).unwrap()).unwrap().unwrap();
        changes.push(Change::LinkProgram { path, source, digest, before: None });
        changes
    }

    pub(super) fn disk(&self, faults: Faults) -> Disk {
        let holder = Holder { process: std::process::id(), folder: "/".into(), since: "now".into() };
        Disk::new(vec![self.path("state/locks").as_path().to_path_buf()], holder, faults)
    }

    fn apply(&self, faults: Faults) -> Result<(), DiskError> {
        self.disk(faults).hold(self.roots())?.apply(&self.changes())
    }

    pub(super) fn recover(&self) {
        self.disk(Faults::default()).hold(self.roots()).unwrap();
    }

    pub(super) fn tree(&self) -> TreeTexts {
        let mut tree = TreeTexts::new();
        walk(self.path("home").as_path(), "", &mut tree);
        tree
    }
}

fn walk(folder: &Path, name: &str, tree: &mut TreeTexts) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let what = if metadata.is_symlink() {
            format!("link to {}", std::fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            walk(&path, &name, tree);
            format!("folder {mode:o}")
        } else {
            format!("{mode:o} {:?}", String::from_utf8(std::fs::read(&path).unwrap()).unwrap())
        };
        tree.insert(name, what);
    }
}

/// The trees before and after the changes of [`Bench::changes`].
fn old_and_new() -> (TreeTexts, TreeTexts) {
    let bench = Bench::new();
    let old = bench.tree();
    bench.apply(Faults::default()).unwrap();
    (old, bench.tree())
}

/// How many steps there are at which a crash could happen.
fn total_steps() -> u32 {
    let bench = Bench::new();
    let disk = bench.disk(Faults::default());
    disk.hold(bench.roots()).unwrap().apply(&bench.changes()).unwrap();
    disk.faults.steps.taken()
}

#[test]
fn all_changes_are_made_and_nothing_else_is_left() {
    let (old, new) = old_and_new();
    assert_ne!(old, new);
    assert_eq!(new["/one/settings.json"], r#"640 "{\"a\":1}""#);
    assert_eq!(new["/two/config.toml"], "link to ../dotfiles/config.toml");
    assert_eq!(new["/dotfiles/config.toml"], r#"644 "user = false""#);
    assert_eq!(new["/two/agents/a.toml"], r#"444 "new home/two/agents/a.toml""#, "a folder in use stays");
    assert_eq!(new["/.config/three/x/y"], r#"600 "new home/.config/three/x/y""#);
    assert_eq!(new["/.config/three/bin/tool"], "755 \"#!/bin/sh\\n\"");
    assert!(new.contains_key("/.config/three/empty"));
    assert!(!new.keys().any(|path| path.starts_with("/one/old") || path.contains("gsd-")), "{new:#?}");
}

#[test]
fn an_error_at_any_step_leaves_the_old_tree_or_the_new_one() {
    let (old, new) = old_and_new();
    let mut failures = 0;
    for step in 0.. {
        let bench = Bench::new();
        let result = bench.apply(Faults::at(Some(step), None));
        if result.is_err() {
            failures += 1;
            assert_eq!(bench.tree(), old, "an error at step {step} was not undone");
            continue;
        }
        let untouched = !bench.tree().keys().any(|path| path.contains("gsd-"));
        bench.recover();
        assert_eq!(bench.tree(), new, "step {step} is after the commit");
        if untouched {
            assert!(failures > 40, "only {failures} steps were tried");
            break;
        }
    }
}

/// Not a real test: the process that dies, when the tests below run this binary again.
#[test]
fn dies_when_asked_to() {
    let Some(home) = std::env::var_os("GSD_CRASH_HOME") else { return };
    let home = AbsolutePath::parse(PathBuf::from(home)).unwrap();
    let bench = Bench { _temporary: None, home };
    let step = std::env::var("GSD_CRASH_STEP").unwrap().parse().unwrap();
    let faults = Faults::at(None, Some(step));
    if std::env::var_os("GSD_CRASH_RECOVERING").is_some() {
        bench.disk(faults).hold(bench.roots()).unwrap();
    } else {
        bench.apply(faults).unwrap();
    }
}

/// Runs [`dies_when_asked_to`]; returns whether it died.
fn dies(bench: &Bench, step: u32, recovering: bool) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "disk::crash_tests::dies_when_asked_to"]);
    child.env("GSD_CRASH_HOME", bench.home.as_path()).env("GSD_CRASH_STEP", step.to_string());
    if recovering {
        child.env("GSD_CRASH_RECOVERING", "1");
    }
    let output = child.output().unwrap();
    let died = std::os::unix::process::ExitStatusExt::signal(&output.status).is_some();
    assert!(died || output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    died
}

#[test]
fn a_death_at_any_step_leaves_the_old_tree_or_the_new_one() {
    let (old, new) = old_and_new();
    let (mut olds, mut news) = (0, 0);
    for step in 0.. {
        let bench = Bench::new();
        if !dies(&bench, step, false) {
            break;
        }
        bench.recover();
        let tree = bench.tree();
        assert!(tree == old || tree == new, "torn at step {step}: {tree:#?}");
        olds += u32::from(tree == old);
        news += u32::from(tree == new);
        assert!(news == 0 || tree == new, "step {step} went back behind the commit");
    }
    assert!(olds > 40 && news > 2, "{olds} deaths before the commit, {news} after");
}

#[test]
fn a_death_during_recovery_is_recovered_from() {
    let (old, new) = old_and_new();
    // While putting files in place, and while cleaning up.
    let total = total_steps();
    for first in [total * 2 / 3, total - 3] {
        for second in 0.. {
            let bench = Bench::new();
            assert!(dies(&bench, first, false));
            let died = dies(&bench, second, true);
            bench.recover();
            let tree = bench.tree();
            assert!(tree == old || tree == new, "torn at step {first}, then {second}: {tree:#?}");
            if !died {
                break;
            }
        }
    }
}

#[test]
fn any_one_of_the_roots_is_enough_to_find_the_others() {
    let (old, _) = old_and_new();
    let total = total_steps();
    for root in 0..3 {
        let bench = Bench::new();
        assert!(dies(&bench, total / 2, false));
        assert!(is_unfinished(&bench.roots()[root]).unwrap());
        let disk = bench.disk(Faults::default());
        let hold = disk.hold([bench.roots()[root].clone()]).unwrap();
        assert!(!hold.recovered().is_empty());
        assert_eq!(bench.tree(), old);
        assert!(!is_unfinished(&bench.roots()[root]).unwrap());
    }
}

#[test]
fn a_panic_is_undone() {
    let (old, _) = old_and_new();
    let bench = Bench::new();
    let disk = bench.disk(Faults::default());
    let hold = disk.hold(bench.roots()).unwrap();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        transaction::apply_then(&hold, &bench.changes(), || panic!("in the middle"))
    }));
    assert!(result.is_err());
    assert_eq!(bench.tree(), old);
}

#[test]
fn a_path_that_is_both_a_file_and_a_folder_stops_everything() {
    let bench = Bench::new();
    let mut changes = bench.changes();
    changes.write(bench.path("home/one/new/tool/below.md"), "x", None);
    let old = bench.tree();
    let error = bench.disk(Faults::default()).hold(bench.roots()).unwrap().apply(&changes).unwrap_err();
    assert!(matches!(error, DiskError::TwoChanges { .. }), "{error}");
    assert_eq!(bench.tree(), old);
}

#[test]
fn a_file_that_changed_since_it_was_read_stops_everything() {
    let bench = Bench::new();
    let changes = bench.changes();
    bench.put("home/one/settings.json", "the user was faster", 0o640);
    let old = bench.tree();
    let disk = bench.disk(Faults::default());
    let error = disk.hold(bench.roots()).unwrap().apply(&changes).unwrap_err();
    assert!(matches!(error, DiskError::Changed { .. }), "{error}");
    assert_eq!(bench.tree(), old);
}

#[test]
fn a_users_edit_after_a_crash_is_kept_by_the_rollback() {
    let (old, new) = old_and_new();
    let total = total_steps();
    for step in (total / 2..total).step_by(3) {
        let bench = Bench::new();
        assert!(dies(&bench, step, false));
        bench.put("home/one/settings.json", "typed after the crash", 0o640);
        bench.recover();
        let mut tree = bench.tree();
        assert_eq!(tree["/one/settings.json"], "640 \"typed after the crash\"");
        for other in [&old, &new] {
            tree.insert("/one/settings.json".into(), other["/one/settings.json"].clone());
            if &tree == other {
                break;
            }
        }
        assert!(tree == old || tree == new, "torn at step {step}");
    }
}

#[test]
fn our_link_that_leads_outside_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("home/elsewhere")).unwrap();
    symlink("../elsewhere", bench.path("home/one/new")).unwrap();
    let old = bench.tree();
    let error = bench.apply(Faults::default()).unwrap_err();
    assert!(matches!(error, DiskError::LeadsOut { .. }), "{error}");
    assert_eq!(bench.tree(), old);
    assert!(check(bench.roots(), &bench.changes()).is_err());
    std::fs::remove_file(bench.path("home/one/new")).unwrap();
    std::fs::create_dir(bench.path("home/one/real")).unwrap();
    symlink("real", bench.path("home/one/new")).unwrap();
    bench.apply(Faults::default()).unwrap();
    assert!(bench.path("home/one/real/deep/file.md").as_path().is_file(), "a link that stays inside is followed");
}

#[test]
fn a_path_outside_of_the_locked_trees_is_refused() {
    let bench = Bench::new();
    let mut changes = ChangeSet::default();
    changes.write(bench.path("home/elsewhere/x"), "x", None);
    let disk = bench.disk(Faults::default());
    let error = disk.hold(bench.roots()).unwrap().apply(&changes).unwrap_err();
    assert!(matches!(error, DiskError::LeadsOut { .. }), "{error}");
}

#[test]
fn a_file_in_the_way_of_a_folder_is_found_before_anything_is_written() {
    let bench = Bench::new();
    bench.put("home/one/new", "a file", 0o644);
    let error = check(bench.roots(), &bench.changes()).unwrap_err();
    assert!(matches!(&error, DiskError::NotAFolder { path } if path.ends_with("one/new")), "{error}");
}

#[test]
fn a_journal_that_this_computer_did_not_write_changes_nothing() {
    let bench = Bench::new();
    let victim = bench.path("home/dotfiles/config.toml");
    let digest = Digest::of_file(&victim).unwrap().unwrap();
    let folder = bench.path("home/one/.gsd-transaction");
    let kept = bench.path("home/one/kept.md");
    for (path, outside) in [
        (victim.clone(), true),
        (victim.clone(), false),
        (bench.path("home/one/way/config.toml"), false),
        (kept.clone(), false),
    ] {
        let digest = Digest::of_file(&path).unwrap().unwrap_or(digest);
        std::fs::create_dir_all(folder.resolve("backup")).unwrap();
        std::fs::write(folder.resolve("backup/0"), "evil").unwrap();
        let journal = journal::Journal {
            format: journal::Journal::FORMAT,
            id: "00".into(),
            roots: vec![journal::Root {
                path: journal::JournalPath(bench.path("home/one")),
                made: vec![],
                leave: vec![],
            }],
            entries: vec![journal::JournalEntry {
                number: 0,
                root: 0,
                path: journal::JournalPath(path),
                act: journal::Act::Write { before: Some(Digest::of(b"x")), after: digest, outside },
            }],
            absent: vec![],
        };
        std::fs::write(folder.resolve("journal.json"), journal.to_bytes().unwrap()).unwrap();
        let _ = std::fs::remove_file(bench.path("home/one/way"));
        symlink("../dotfiles", bench.path("home/one/way")).unwrap();
        let error = bench.disk(Faults::default()).hold(bench.roots()).map(drop).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        assert_eq!(std::fs::read(&victim).unwrap(), b"user = true");
        assert_eq!(std::fs::read(&kept).unwrap(), b"kept");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_folder_of_the_user_with_the_name_of_our_folder_keeps_its_contents() {
    for (file, name) in [
        ("home/one/.gsd-transaction/user.txt", "user.txt"),
        ("home/one/.gsd-transaction/new/notes.md", "new"),
        ("home/one.gsd-transaction/.gsd-transaction/user.txt", "user.txt"),
    ] {
        let bench = Bench::new();
        bench.put(file, "mine", 0o644);
        let error = bench.disk(Faults::default()).hold(bench.roots()).map(drop).unwrap_err();
        assert!(error.to_string().contains(name) && error.hint().is_some(), "{error}");
        assert_eq!(std::fs::read(bench.path(file)).unwrap(), b"mine");
    }
}

#[test]
fn an_empty_change_set_writes_nothing() {
    let bench = Bench::new();
    bench.apply(Faults::default()).unwrap();
    let disk = bench.disk(Faults::at(Some(0), None));
    let hold = disk.hold(bench.roots()).unwrap();
    let mut changes = ChangeSet::default();
    changes.write(bench.path("home/one/kept.md"), "kept", Some(Digest::of(b"kept")));
    changes.push(Change::MakeFolder { path: bench.path("home/one/new"), mode: None });
    changes.push(Change::RemoveFolder { path: bench.path("home/one/never") });
    changes.remove(bench.path("home/one/never.md"), Digest::of(b""));
    hold.apply(&changes).unwrap();
}

#[test]
fn a_root_that_becomes_empty_is_removed_with_the_folders_above_it() {
    let bench = Bench::new();
    let old = bench.tree();
    bench.put("home/.config/three/only.md", "only", 0o644);
    let full = bench.tree();
    let changes = |bench: &Bench| {
        let mut changes = ChangeSet::default();
        changes.remove(bench.path("home/.config/three/only.md"), Digest::of(b"only"));
        changes.push(Change::RemoveFolder { path: bench.path("home/.config/three") });
        changes.push(Change::RemoveFolder { path: bench.path("home/.config") });
        changes
    };
    for step in 0.. {
        let bench = Bench::new();
        bench.put("home/.config/three/only.md", "only", 0o644);
        let disk = bench.disk(Faults::at(Some(step), None));
        let result = disk.hold([bench.path("home/.config/three")]).unwrap().apply(&changes(&bench));
        let finished = result.is_ok() && !bench.tree().keys().any(|path| path.contains("gsd-"));
        drop(disk);
        bench.disk(Faults::default()).hold([bench.path("home/.config/three")]).unwrap();
        assert_eq!(bench.tree(), if result.is_ok() { old.clone() } else { full.clone() }, "step {step}");
        if finished {
            break;
        }
    }
    bench.put("home/.config/other", "the user's", 0o644);
    let disk = bench.disk(Faults::default());
    disk.hold([bench.path("home/.config/three")]).unwrap().apply(&changes(&bench)).unwrap();
    assert!(bench.path("home/.config/other").as_path().exists());
    assert!(!bench.path("home/.config/three").as_path().exists());
}

#[test]
fn a_single_file_is_old_or_new_too() {
    let old = Bench::new().tree();
    for step in 0.. {
        let bench = Bench::new();
        let mut changes = ChangeSet::default();
        changes.write(bench.path("home/one/kept.md"), "newer", Some(Digest::of(b"kept")));
        let disk = bench.disk(Faults::at(Some(step), None));
        let result = disk.hold(bench.roots()).unwrap().apply(&changes);
        let finished = !bench.tree().keys().any(|path| path.contains("gsd-"));
        drop(disk);
        bench.recover();
        let mut expected = old.clone();
        if result.is_ok() {
            expected.insert("/one/kept.md".into(), "644 \"newer\"".into());
        }
        assert_eq!(bench.tree(), expected, "step {step}");
        if result.is_ok() && finished {
            assert!(step > 3);
            break;
        }
    }
}
