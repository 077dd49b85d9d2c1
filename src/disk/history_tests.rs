//! Tests of kept transactions: what is recorded, and what undoing them does.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests prepare and inspect trees by hand")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::crash_tests::{Bench, TreeTexts};
use super::history::{History, HistoryError, Keeping, Kept};
use super::*;

fn history(bench: &Bench) -> History {
    History::in_state(&bench.path("state"))
}

fn apply(bench: &Bench, changes: &ChangeSet, faults: Faults) -> Result<Keeping, DiskError> {
    bench
        .disk(faults)
        .hold(bench.roots())?
        .apply_kept(changes, Keep { history: &history(bench), what: &"a change".into() })
}

fn keep(bench: &Bench, changes: &ChangeSet) -> u64 {
    match apply(bench, changes, Faults::default()).unwrap() {
        Keeping::Kept(number) => number,
        other => panic!("{other:?}"),
    }
}

/// Makes one more write, which settles what earlier calls left.
fn touch(bench: &Bench, text: &str) {
    let mut changes = ChangeSet::default();
    let path = bench.path("home/one/touched");
    let before = Digest::of_file(&path).unwrap();
    changes.write(path, text, before);
    keep(bench, &changes);
}

/// The changes that undo it, or the files that were changed since.
fn undone(kept: &Kept) -> Result<ChangeSet, Vec<AbsolutePath>> {
    let mut changed = Vec::new();
    let back = kept.take_back::<HistoryError>(|file, _| {
        changed.push(file.path.clone());
        Ok(())
    });
    let back = back.unwrap();
    if changed.is_empty() { Ok(back) } else { Err(changed) }
}

fn take_back(bench: &Bench, kept: &Kept) {
    let changes = undone(kept).unwrap();
    let roots: Vec<AbsolutePath> = kept.roots().cloned().collect();
    bench.disk(Faults::default()).hold(roots).unwrap().apply(&changes).unwrap();
}

fn numbers(bench: &Bench) -> Vec<u64> {
    history(bench).list().unwrap().into_iter().map(|summary| summary.unwrap().number).collect()
}

/// The tree without the effect of [`touch`].
fn contents(bench: &Bench) -> TreeTexts {
    bench.tree().into_iter().filter(|(path, _)| path != "/one/touched").collect()
}

#[test]
fn every_kind_of_change_can_be_undone_to_the_byte() {
    let bench = Bench::new();
    let old = contents(&bench);
    assert!(history(&bench).list().unwrap().is_empty());
    let number = keep(&bench, &bench.changes());
    let new = contents(&bench);
    let kept = history(&bench).read(number).unwrap();
    assert_eq!((kept.summary.what.as_str(), kept.summary.at.as_str()), (Some("a change"), "now"));
    assert_eq!(history(&bench).list().unwrap().remove(0).unwrap(), kept.summary);
    let files: BTreeMap<_, _> = kept.files().map(|file| (file.path.clone(), (file.before, file.after))).collect();
    assert_eq!(files.len(), kept.summary.files);
    let of = |path: &str| files[&bench.path(path)];
    assert_eq!(of("home/one/settings.json"), (Some(&b"{\n}"[..]), Some(Digest::of(b"{\"a\":1}"))));
    assert_eq!(of("home/one/old/gone.md"), (Some(&b"gone"[..]), None));
    assert_eq!(of("home/one/new/tool").0, None);
    assert_eq!(of("home/two/config.toml").0, Some(&b"user = true"[..]), "by the name that the user knows");
    // And an undo can itself be undone.
    let back = keep(&bench, &undone(&kept).unwrap());
    assert_eq!(contents(&bench), old);
    take_back(&bench, &history(&bench).read(back).unwrap());
    assert_eq!(contents(&bench), new);
}

#[test]
fn a_file_that_was_changed_since_is_left_to_the_caller() {
    let bench = Bench::new();
    let number = keep(&bench, &bench.changes());
    bench.put("home/one/settings.json", "typed since", 0o640);
    bench.put("home/one/old/gone.md", "made since", 0o644);
    let tree = bench.tree();
    let mut changed = undone(&history(&bench).read(number).unwrap()).unwrap_err();
    changed.sort();
    assert_eq!(changed, ["home/one/old/gone.md", "home/one/settings.json"].map(|path| bench.path(path)));
    assert_eq!(bench.tree(), tree);
}

#[test]
fn a_link_with_a_new_target_counts_as_a_change() {
    let bench = Bench::new();
    let number = keep(&bench, &bench.changes());
    bench.put("home/elsewhere/config.toml", "user = false", 0o644);
    std::fs::remove_file(bench.path("home/two/config.toml")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/config.toml", bench.path("home/two/config.toml")).unwrap();
    let changed = undone(&history(&bench).read(number).unwrap()).unwrap_err();
    assert_eq!(changed, [bench.path("home/two/config.toml")]);
}

#[test]
fn a_file_that_changes_between_the_check_and_the_undo_stops_it() {
    let bench = Bench::new();
    let kept = history(&bench).read(keep(&bench, &bench.changes())).unwrap();
    let changes = undone(&kept).unwrap();
    bench.put("home/one/settings.json", "typed since", 0o640);
    let disk = bench.disk(Faults::default());
    let error = disk.hold(kept.roots()).unwrap().apply(&changes).unwrap_err();
    assert!(matches!(error, DiskError::Changed { .. }), "{error}");
}

#[test]
fn kept_files_are_private_to_the_user_and_ignored_in_other_places() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let number = keep(&bench, &bench.changes());
    for entry in walkdir::WalkDir::new(bench.path("state/history")) {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if entry.file_type().is_dir() { 0o700 } else { 0o600 }, "{entry:?}");
    }
    let allow = |mode| std::fs::set_permissions(bench.path("state/history"), std::fs::Permissions::from_mode(mode));
    allow(0o777).unwrap();
    assert!(history(&bench).list().is_err() && history(&bench).read(number).is_err());
    let mut changes = ChangeSet::default();
    changes.write(bench.path("home/one/more"), "x", None);
    let keeping = apply(&bench, &changes, Faults::default()).unwrap();
    let Keeping::Failed(error) = keeping else { panic!("{keeping:?}") };
    assert!(error.to_string().contains("state/history"), "{error}");
    assert!(bench.path("home/one/more").as_path().exists());
    allow(0o700).unwrap();
    let record = bench.path("state/history").resolve(format!("{number}.json"));
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"outside\":true", "\"outside\":false")).unwrap();
    assert!(matches!(history(&bench).read(number), Err(HistoryError::Broken { .. })), "it reaches out of its trees");
}

#[test]
fn a_lost_image_is_detected() {
    let bench = Bench::new();
    let number = keep(&bench, &bench.changes());
    let image = bench.path("state/history/images").resolve(Digest::of(b"kept").to_string());
    assert!(!image.as_path().exists(), "of a file that was not changed");
    let image = bench.path("state/history/images").resolve(Digest::of(b"gone").to_string());
    std::fs::write(&image, [0; 4]).unwrap();
    assert!(matches!(history(&bench).read(number), Err(HistoryError::Broken { .. })));
}

#[test]
fn the_oldest_are_removed_first_by_number_and_by_size() {
    let bench = Bench::new();
    let few = history(&bench).of_at_most(3, 100);
    let write = |text: &str| {
        let mut changes = ChangeSet::default();
        let path = bench.path("home/one/file");
        let before = Digest::of_file(&path).unwrap();
        changes.write(path, text, before);
        bench
            .disk(Faults::default())
            .hold(bench.roots())
            .unwrap()
            .apply_kept(&changes, Keep { history: &few, what: &"a change".into() })
            .unwrap()
    };
    let images = || std::fs::read_dir(bench.path("state/history/images")).unwrap().count();
    for number in 1..=5 {
        assert!(matches!(write(&number.to_string()), Keeping::Kept(kept) if kept == number));
    }
    assert_eq!((numbers(&bench), images()), (vec![3, 4, 5], 3));
    write(&"x".repeat(90));
    assert_eq!(numbers(&bench), [4, 5, 6]);
    // Ninety bytes that existed before it, in addition to the three of the others.
    write(&"y".repeat(90));
    assert_eq!((numbers(&bench), images()), (vec![5, 6, 7], 3));
    write(&"z".repeat(200));
    assert_eq!((numbers(&bench), images()), (vec![8], 1), "of two times ninety bytes the first goes");
    assert!(matches!(write("small"), Keeping::TooLarge));
    let list = few.list().unwrap();
    assert!(!list.last().unwrap().as_ref().unwrap().is_whole);
    assert!(matches!(
        few.read(9).unwrap().take_back::<HistoryError>(|_, _| Ok(())),
        Err(HistoryError::NotWhole { number: 9 })
    ));
    assert!(matches!(few.read(1), Err(HistoryError::Unknown { number: 1 })));
}

#[test]
fn an_unreadable_record_hides_no_other_and_is_removed_in_its_turn() {
    let bench = Bench::new();
    touch(&bench, "one");
    std::fs::write(bench.path("state/history/1.json"), "{").unwrap();
    touch(&bench, "two");
    let list = history(&bench).list().unwrap();
    assert!(matches!(&list[..], [Err(HistoryError::Broken { number: 1, .. }), Ok(_)]), "{list:?}");
    for number in 0..40 {
        touch(&bench, &number.to_string());
    }
    assert_eq!(numbers(&bench).len(), 32);
}

/// Not a real test: the process that dies.
#[test]
fn dies_while_it_keeps() {
    let Some(home) = std::env::var_os("GSD_KEEP_HOME") else { return };
    let bench = Bench { _temporary: None, home: AbsolutePath::parse(PathBuf::from(home)).unwrap() };
    let step = std::env::var("GSD_KEEP_STEP").unwrap().parse().unwrap();
    apply(&bench, &bench.changes(), Faults::at(None, Some(step))).unwrap();
}

/// Checks what a crash or an error at a step may leave: nothing, a change that can be undone, or one that cannot.
fn check(bench: &Bench, old: &TreeTexts, new: &TreeTexts, step: u32) -> (bool, bool) {
    bench.recover();
    touch(bench, "after");
    let tree = contents(bench);
    assert!(tree == *old || tree == *new, "torn at step {step}");
    let kept = numbers(bench).len() > 1;
    assert!(!kept || tree == *new, "what was not done is kept at step {step}");
    if kept {
        let first = numbers(bench)[0];
        take_back(bench, &history(bench).read(first).unwrap());
        assert_eq!(contents(bench), *old, "step {step}");
    }
    let left = std::fs::read_dir(bench.path("state/history")).unwrap();
    let left: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.ends_with(".pending")), "{left:?}");
    (tree == *new, kept)
}

#[test]
fn a_death_at_any_step_records_no_change_that_was_not_made() {
    let bench = Bench::new();
    let old = contents(&bench);
    keep(&bench, &bench.changes());
    let new = contents(&bench);
    let (mut undone, mut done_and_kept) = (0, 0);
    for step in 0.. {
        let bench = Bench::new();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "disk::history_tests::dies_while_it_keeps"]);
        child.env("GSD_KEEP_HOME", bench.home.as_path()).env("GSD_KEEP_STEP", step.to_string());
        if child.output().unwrap().status.success() {
            break;
        }
        let (is_done, is_kept) = check(&bench, &old, &new, step);
        assert_eq!(is_done, is_kept, "what was done is kept, step {step}");
        undone += u32::from(!is_done);
        done_and_kept += u32::from(is_kept);
    }
    assert!(undone > 40 && done_and_kept > 2, "{undone} {done_and_kept}");
}

#[test]
fn an_error_at_any_step_records_no_change_that_was_not_made() {
    let bench = Bench::new();
    let old = contents(&bench);
    keep(&bench, &bench.changes());
    let new = contents(&bench);
    let (mut failed, mut not_kept) = (0, 0);
    for step in 0.. {
        let bench = Bench::new();
        let result = apply(&bench, &bench.changes(), Faults::at(Some(step), None));
        failed += u32::from(result.is_err());
        not_kept += u32::from(matches!(result, Ok(Keeping::Failed(_))));
        let (is_done, is_kept) = check(&bench, &old, &new, step);
        assert_eq!(is_done, result.is_ok(), "step {step}");
        if matches!(result, Ok(Keeping::Kept(_))) {
            assert!(is_kept);
            if step > 100 {
                break;
            }
        }
    }
    assert!(failed > 40 && not_kept > 5, "{failed} {not_kept}");
}

#[test]
fn what_could_not_be_cleaned_up_is_known_from_each_tree_and_the_call_is_kept() {
    let mut left_something = 0;
    for step in 0.. {
        let bench = Bench::new();
        let result = apply(&bench, &bench.changes(), Faults::at(Some(step), None));
        let is_left = |root: &AbsolutePath| is_unfinished(root).unwrap();
        let left: Vec<AbsolutePath> = bench.roots().into_iter().filter(is_left).collect();
        if matches!(result, Ok(Keeping::Kept(_))) && !left.is_empty() {
            left_something += 1;
            for root in bench.roots() {
                let known = history(&bench).pending_with(&root).unwrap();
                assert!(left.iter().all(|left| known.contains(left)), "step {step}: {left:?} {root}");
            }
            bench.put("home/one/settings.json", "typed since", 0o640);
            bench.recover();
            history(&bench).settle_pending(&bench.disk(Faults::default())).unwrap();
            assert_eq!(numbers(&bench).len(), 1, "step {step}");
        } else if matches!(result, Ok(Keeping::Kept(_))) && step > 100 {
            break;
        }
    }
    assert!(left_something > 2, "{left_something}");
}
