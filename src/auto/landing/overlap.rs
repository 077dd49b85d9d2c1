//! Changes of a person in places that a candidate would write to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::error::LandingError;
use super::git::Git;
use super::id::{Changed, Commit, FileState, GitPath, PathChange, records};
use crate::disk::{self, AbsolutePath, EntryKind, Scratch};

/// How the files of a worktree conflict with changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Overlap {
    /// Staged or unstaged changes to the same files.
    pub(super) dirty: Vec<GitPath>,
    /// Files that git does not track, in places that the changes also write. Ignored ones count.
    pub(super) untracked: Vec<GitPath>,
    /// Files that already have their new content while their index does not: a call was killed while it landed them.
    pub(super) same: Vec<Changed>,
    /// Files that git was about to write when it was killed: they are missing, or contain the first part of their new
    /// content. Only if a landing was started here, or next to files in `same`. They contain nothing that a person
    /// wrote.
    pub(super) half: Vec<Changed>,
}

/// A tracked file whose index differs from the commit, or whose content differs from the index.
#[derive(Debug)]
struct Dirty {
    index: Option<FileState>,
    is_as_indexed: bool,
}

/// Compares the worktree of `git`, which is at the commit before `changes`, with the changes. `is_begun` says that a
/// call was killed while it landed them there.
pub(super) fn overlap(
    git: &Git,
    folder: &AbsolutePath,
    changes: &[Changed],
    is_begun: bool,
) -> Result<Overlap, LandingError> {
    let dirty = dirty(git)?;
    let removed: BTreeSet<&GitPath> =
        changes.iter().filter(|change| change.status == PathChange::Deleted).map(|change| &change.path).collect();
    let mut found = Overlap::default();
    // Files that may already have their new content, which is compared below.
    let mut doubtful: Vec<(&Changed, bool)> = Vec::new();
    for change in changes {
        if let Some(state) = dirty.get(&change.path) {
            let is_old = state.index == change.before;
            match (state.index == change.after, state.is_as_indexed) {
                (true, true) => {}
                (false, false) if is_old => doubtful.push((change, true)),
                _ => found.dirty.push(change.path.clone()),
            }
            continue;
        }
        let around = change.path.folders().find(|folder| dirty.contains_key(folder));
        let within = first_within(&dirty, &change.path);
        if let Some(path) = around.as_ref().or(within) {
            found.dirty.push(path.clone());
        } else if change.status == PathChange::Added {
            match in_the_way(folder, &change.path, &removed)?.as_slice() {
                [] => {}
                [only] if only == &change.path => doubtful.push((change, false)),
                paths => found.untracked.extend(paths.iter().cloned()),
            }
        }
    }
    let paths: Vec<&GitPath> = doubtful.iter().map(|(change, _)| &change.path).collect();
    let contents = contents(git, &paths)?;
    let is_same = |change: &Changed| {
        contents.as_ref().is_some_and(|contents| contents.get(&change.path) == change.after.as_ref())
    };
    let (same, others): (Vec<_>, Vec<_>) = doubtful.into_iter().partition(|(change, _)| is_same(change));
    found.same = same.into_iter().map(|(change, _)| change.clone()).collect();
    for (change, is_tracked) in others {
        if (is_begun || !found.same.is_empty()) && is_half(git, folder, change)? {
            found.half.push(change.clone());
        } else if is_tracked {
            found.dirty.push(change.path.clone());
        } else {
            found.untracked.push(change.path.clone());
        }
    }
    for paths in [&mut found.dirty, &mut found.untracked] {
        paths.sort();
        paths.dedup();
    }
    Ok(found)
}

/// True if the file is missing, or is the first part of its new content.
fn is_half(git: &Git, folder: &AbsolutePath, change: &Changed) -> Result<bool, LandingError> {
    let Some(after) = &change.after else { return Ok(false) };
    let place = change.path.below(folder.as_path());
    if disk::is_link(&place) || after.is_link() {
        return Ok(false);
    }
    // A file that is too large to read was not only just started.
    let Ok(begun) = disk::read_bytes(&place) else { return Ok(false) };
    let whole = git.ask(["cat-file", "blob", after.id.as_str()])?;
    Ok(begun.is_none_or(|begun| begun.len() < whole.len() && whole.starts_with(&begun)))
}

/// Writes these files with their content in `commit`.
pub(super) fn write_whole(git: &Git, commit: &Commit, files: &[Changed]) -> Result<(), LandingError> {
    if files.is_empty() {
        return Ok(());
    }
    let scratch = Scratch::new(&git.world().temporary_folder())?;
    let aside = git.with_index(scratch.path("index"));
    aside.ask(["read-tree", commit.as_str()])?;
    let paths = files.iter().flat_map(|file| file.path.as_bytes().iter().copied().chain([0])).collect();
    aside.tell(["checkout-index", "--force", "--quiet", "-z", "--stdin"], paths).map(drop)
}

/// True if the index already has all of the changes, and the files match the index.
pub(super) fn is_in_place(git: &Git, changes: &[Changed]) -> Result<bool, LandingError> {
    let dirty = dirty(git)?;
    let is_there = |change: &Changed| {
        dirty.get(&change.path).is_some_and(|state| state.is_as_indexed && state.index == change.after)
    };
    Ok(changes.iter().all(is_there))
}

fn dirty(git: &Git) -> Result<BTreeMap<GitPath, Dirty>, LandingError> {
    let line = ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=dirty"];
    let answer = git.ask(line)?;
    Ok(records(&answer).filter_map(dirty_record).collect())
}

/// Parses `1 XY SUBMODULE MODE-OF-HEAD MODE-OF-INDEX MODE-OF-FILE OBJECT-OF-HEAD OBJECT-OF-INDEX PATH`, or, for a file
/// in conflict, `u` with ten fields before the path.
fn dirty_record(record: &[u8]) -> Option<(GitPath, Dirty)> {
    let (kind, rest) = record.split_at_checked(2)?;
    let count = if kind == b"u " { 10 } else { 8 };
    if kind != b"1 " && kind != b"u " {
        return None;
    }
    let fields: Vec<&[u8]> = rest.splitn(count, |byte| *byte == b' ').collect();
    let path = GitPath::of(fields.get(count - 1)?);
    if kind == b"u " {
        return Some((path, Dirty { index: None, is_as_indexed: false }));
    }
    let text = |field: usize| fields.get(field).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    // States, submodule, three modes, two objects, path.
    let index = FileState::of(&text(3)?, &text(6)?);
    Some((path, Dirty { index, is_as_indexed: text(0)?.ends_with('.') }))
}

/// Returns the first path in `dirty` that is below `folder`.
fn first_within<'a>(dirty: &'a BTreeMap<GitPath, Dirty>, folder: &GitPath) -> Option<&'a GitPath> {
    let start = GitPath::of(&[folder.as_bytes(), b"/"].concat());
    let (first, _) = dirty.range(&start..).next()?;
    first.as_bytes().starts_with(start.as_bytes()).then_some(first)
}

/// Returns the untracked files in the way of a new file: at its path, at the path of a folder around it, or in a folder
/// at its path. `removed` are tracked files that the change removes.
fn in_the_way(
    folder: &AbsolutePath,
    path: &GitPath,
    removed: &BTreeSet<&GitPath>,
) -> Result<Vec<GitPath>, LandingError> {
    for around in path.folders() {
        let place = around.below(folder.as_path());
        if disk::is_link(&place) || (disk::exists(&place) && !disk::is_folder(&place)) {
            return Ok(if removed.contains(&around) { Vec::new() } else { vec![around] });
        }
        if !disk::exists(&place) {
            return Ok(Vec::new());
        }
    }
    let place = path.below(folder.as_path());
    if disk::is_link(&place) || !disk::is_folder(&place) {
        let is_there = disk::is_link(&place) || disk::exists(&place);
        return Ok(if is_there { vec![path.clone()] } else { Vec::new() });
    }
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, Vec<u8>)> = vec![(place, path.as_bytes().to_vec())];
    while let Some((place, name)) = open.pop() {
        for entry in disk::list(&place)?.unwrap_or_default() {
            let below = [&name, &b"/"[..], entry.file_name()].concat();
            if entry.kind == EntryKind::Folder {
                open.push((entry.path, below));
            } else if !removed.contains(&GitPath::of(&below)) {
                found.push(GitPath::of(&below));
            }
        }
    }
    Ok(found)
}

/// Returns the states of files on disk, through a temporary index; `None` if git cannot store one of them.
fn contents(git: &Git, paths: &[&GitPath]) -> Result<Option<BTreeMap<GitPath, FileState>>, LandingError> {
    if paths.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let scratch = Scratch::new(&git.world().temporary_folder())?;
    let aside = git.with_index(scratch.path("index"));
    let input = paths.iter().flat_map(|path| path.as_bytes().iter().copied().chain([0])).collect();
    if aside.tell(["update-index", "--add", "--remove", "-z", "--stdin"], input).is_err() {
        return Ok(None);
    }
    let answer = aside.ask(["ls-files", "--stage", "-z"])?;
    let entry = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let (head, path) = record.split_at_checked(tab)?;
        let head = String::from_utf8_lossy(head).into_owned();
        let mut words = head.split(' ');
        Some((GitPath::of(path.get(1..)?), FileState::of(words.next()?, words.next()?)?))
    };
    Ok(Some(records(&answer).filter_map(entry).collect()))
}
