//! What this computer stores about the history of a project's repository, so that a long one is walked once.
//!
//! For each of the last commits at which a query was made there is a file in the project's notes folder. Its contents
//! are valid for that commit wherever it is: in another worktree, on another branch, after a branch was rewritten. Only
//! the end of a shallow clone and grafts change them, which the file therefore names. A lost or unwritable file costs
//! only time.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::chains::Known;
use crate::disk::{self, AbsolutePath};
use crate::project::layout::Layout;
use crate::project::local_state::LocalState;
use crate::project::repository::GitPlace;
use crate::world::World;

/// The prefix of the notes that store which documents match the commit.
pub(super) const CLEAN: &str = "clean-";

/// The folder of these files, in that of the project's notes.
const FOLDER: &str = "commits";
/// How many commits are stored.
const MOST_COMMITS: usize = 8;
/// From how many of them a query about another commit is answered.
const MOST_BASES: usize = 4;
/// How many files are stored per commit.
const MOST_FILES: usize = 20_000;
/// The most bytes of a file that are read.
const MOST_BYTES: u64 = 8 << 20;
/// The version of the file format.
const FORM: u32 = 1;

/// The folder of the notes, and the history they are for.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    folder: AbsolutePath,
    history: String,
    /// False in sessions of a run, which do not write to the user's folders.
    is_kept: bool,
}

/// What is stored for a commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Note {
    form: u32,
    /// See [`GitPlace::history_mark`].
    history: String,
    /// How many commits lead to it, and the day of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commits: Option<(u64, Option<String>)>,
    /// How many commits came after some of its ancestors, by their hashes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) since: BTreeMap<String, u64>,
    /// When files were last committed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) times: Known,
}

impl Memory {
    /// Opens the notes; `None` without a folder that only this user can write to.
    pub(super) fn of(world: &World, layout: &Layout, place: &GitPlace) -> Option<Self> {
        let root = AbsolutePath::parse(layout.root()).ok()?;
        let folder = LocalState::of(&world.state_folder()?, &root).ok()?.file(FOLDER);
        let others_write = disk::is_everybodys(folder.as_path()) || folder.parent().is_some_and(disk::is_everybodys);
        let history = place.history_mark()?;
        (!others_write).then_some(Self { folder, history, is_kept: !world.is_unit() })
    }

    /// Reads the note of a commit.
    pub(super) fn note(&self, commit: &str) -> Option<Note> {
        let note: Note = self.read(&file_of(commit)?)?;
        (note.form == FORM && note.history == self.history).then_some(note)
    }

    /// The notes of other commits than `commit`, newest first.
    pub(super) fn bases(&self, commit: &str) -> Vec<(String, Note)> {
        let others = self.commits().into_iter().filter(|other| other != commit).take(MOST_BASES);
        others.filter_map(|other| self.note(&other).map(|note| (other, note))).collect()
    }

    /// Adds to the note of a commit. Results at a commit never change, so if two calls write at once, at worst the
    /// later one loses the other's results.
    pub(super) fn add(&self, commit: &str, add: impl FnOnce(&mut Note)) {
        let Some(name) = file_of(commit).filter(|_| self.is_kept) else { return };
        let mut note = self.note(commit).unwrap_or_default();
        add(&mut note);
        note.form = FORM;
        note.history.clone_from(&self.history);
        if note.times.len() <= MOST_FILES {
            let is_new = !disk::exists(self.folder.resolve(&name));
            self.write(&name, &note);
            if is_new {
                self.forget_old();
            }
        }
    }

    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = disk::read_up_to(self.folder.resolve(name), MOST_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes a note. If that fails, git is asked again next time.
    pub(super) fn write(&self, name: &str, value: &impl Serialize) {
        if let Ok(bytes) = serde_json::to_vec(value)
            && self.is_kept
            && bytes.len() as u64 <= MOST_BYTES
        {
            let _ = disk::write_fleeting(&self.folder.resolve(name), &bytes);
        }
    }

    /// The stored commits, newest note first.
    fn commits(&self) -> Vec<String> {
        let mut found = self.files(|name| name.strip_suffix(".json").is_some_and(is_commit));
        found.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        found.into_iter().filter_map(|(_, name)| Some(name.strip_suffix(".json")?.to_owned())).collect()
    }

    fn files(&self, is_meant: impl Fn(&str) -> bool) -> Vec<(Option<i64>, String)> {
        let entries = disk::list(&self.folder).ok().flatten().unwrap_or_default();
        let meant = entries.into_iter().filter(|entry| entry.is_file() && is_meant(&entry.name));
        meant.map(|entry| (disk::modified(&entry.path), entry.name)).collect()
    }

    /// Removes surplus notes, and files left by killed calls.
    fn forget_old(&self) {
        let commits = self.commits().into_iter().skip(MOST_COMMITS).filter_map(|commit| file_of(&commit));
        let mut others = self.files(|name| name.starts_with(CLEAN));
        others.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        let others = others.into_iter().skip(MOST_COMMITS).map(|(_, name)| name);
        for name in commits.chain(others) {
            let _ = disk::remove_note(&self.folder.resolve(Path::new(&name)));
        }
        let _ = disk::remove_left(&self.folder);
    }
}

fn file_of(commit: &str) -> Option<String> {
    is_commit(commit).then(|| format!("{commit}.json"))
}

/// True if this is the full hash of a commit, which is the name of a file here.
pub(super) fn is_commit(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
