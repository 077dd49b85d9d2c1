//! A tree of files in memory: read by a [`super::Snapshot`] and changed by a [`ChangeSet`], without a disk.

#![allow(clippy::unwrap_used, reason = "trees in memory are made by hand")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::found::{Found, FoundFile, is_image_of_program};
use super::{AbsolutePath, Access, Change, ChangeSet, Digest, DiskError, Entry, EntryKind};

/// Files and folders, without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryTree {
    files: BTreeMap<AbsolutePath, MemoryFile>,
    folders: BTreeSet<AbsolutePath>,
    looks: Looks,
}

/// Counts how often a snapshot looked at each file of a tree or of a copy of it. Ignored when trees are compared.
#[derive(Clone, Debug, Default)]
struct Looks(Rc<RefCell<BTreeMap<AbsolutePath, usize>>>);

impl PartialEq for Looks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Looks {}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MemoryFile {
    bytes: Vec<u8>,
    executable: bool,
}

impl MemoryTree {
    /// A tree with these files and the folders above them.
    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.write(&AbsolutePath::parse(path).unwrap(), text);
        }
        tree
    }

    pub(crate) fn write(&mut self, path: &AbsolutePath, bytes: impl Into<Vec<u8>>) {
        self.make_folders(path.parent());
        self.files.entry(path.clone()).or_default().bytes = bytes.into();
    }

    pub(crate) fn write_program(&mut self, path: &AbsolutePath, bytes: impl Into<Vec<u8>>) {
        self.write(path, bytes);
        self.files.entry(path.clone()).or_default().executable = true;
    }

    pub(crate) fn make_folder(&mut self, path: &AbsolutePath) {
        self.make_folders(Some(path.clone()));
    }

    pub(crate) fn remove(&mut self, path: &AbsolutePath) {
        self.files.remove(path);
    }

    pub(crate) fn bytes(&self, path: &AbsolutePath) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.bytes.as_slice())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&AbsolutePath, &[u8])> {
        self.files.iter().map(|(path, file)| (path, file.bytes.as_slice()))
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &AbsolutePath> {
        self.folders.iter()
    }

    /// Resets the counts of how often files were looked at.
    pub(crate) fn forget_looks(&self) {
        self.looks.0.borrow_mut().clear();
    }

    /// The files that were looked at more than once.
    pub(crate) fn looked_at_twice(&self) -> Vec<AbsolutePath> {
        let looks = self.looks.0.borrow();
        looks.iter().filter(|(_, count)| **count > 1).map(|(path, _)| path.clone()).collect()
    }

    pub(super) fn count_look(&self, path: &AbsolutePath) {
        if self.files.contains_key(path) {
            *self.looks.0.borrow_mut().entry(path.clone()).or_default() += 1;
        }
    }

    fn make_folders(&mut self, innermost: Option<AbsolutePath>) {
        self.folders.extend(std::iter::successors(innermost, AbsolutePath::parent));
    }

    pub(super) fn look(&self, path: &AbsolutePath) -> Found {
        match self.files.get(path) {
            Some(MemoryFile { bytes, executable }) => Found::File(FoundFile {
                digest: Digest::of(bytes),
                bytes: Some(bytes.clone().into()),
                executable: *executable,
                read_only: false,
                program: is_image_of_program(bytes),
                access: if *executable { Access::Executable } else { Access::Usual },
            }),
            None if self.folders.contains(path) => Found::Folder,
            None => Found::Absent,
        }
    }

    pub(super) fn list(&self, folder: &AbsolutePath) -> Option<Vec<Entry>> {
        let is_here = |path: &&AbsolutePath| path.parent().as_ref() == Some(folder);
        let entry = |path: &AbsolutePath, kind| Entry { name: path.name(), path: path.as_path().to_path_buf(), kind };
        let files = self.files.keys().filter(is_here).map(|path| entry(path, EntryKind::File));
        let folders = self.folders.iter().filter(is_here).map(|path| entry(path, EntryKind::Folder));
        let mut entries: Vec<Entry> = files.chain(folders).collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        self.folders.contains(folder).then_some(entries)
    }

    /// Makes all the changes, or none, by the rules of [`super::Hold::apply`].
    pub(crate) fn apply(&mut self, changes: &ChangeSet) -> Result<(), DiskError> {
        let mut after = self.clone();
        let mut seen = BTreeSet::new();
        for (path, before) in changes.expected() {
            self.expect(path, before)?;
        }
        for change in changes.iter() {
            let path = change.path();
            if !seen.insert(path) {
                return Err(DiskError::TwoChanges { path: path.as_path().to_path_buf() });
            }
            match change {
                Change::WriteFile { bytes, access, before, .. } => {
                    if self.bytes(path) != Some(bytes) {
                        self.expect(path, *before)?;
                    }
                    match access {
                        Access::Executable => after.write_program(path, &bytes[..]),
                        Access::Usual | Access::Private | Access::Exactly(_) => after.write(path, &bytes[..]),
                    }
                }
                Change::LinkProgram { source, before, .. } => {
                    let source = self.files.get(&AbsolutePath::parse(source)?).cloned();
                    let source = source.ok_or_else(|| DiskError::NotAFile { path: path.as_path().to_path_buf() })?;
                    if self.bytes(path) != Some(&source.bytes) {
                        self.expect(path, *before)?;
                    }
                    after.write(path, Vec::new());
                    after.files.insert(path.clone(), source);
                }
                Change::RemoveFile { before, .. } => {
                    if self.files.contains_key(path) {
                        self.expect(path, Some(*before))?;
                    }
                    after.remove(path);
                }
                Change::MakeFolder { .. } => after.make_folder(path),
                Change::RemoveFolder { .. } => {}
            }
        }
        let removed: BTreeSet<&AbsolutePath> = changes
            .iter()
            .filter_map(|change| if let Change::RemoveFolder { path } = change { Some(path) } else { None })
            .collect();
        for folder in removed.into_iter().rev() {
            if after.list(folder).is_some_and(|entries| entries.is_empty()) {
                after.folders.remove(folder);
            }
        }
        *self = after;
        Ok(())
    }

    fn expect(&self, path: &AbsolutePath, before: Option<Digest>) -> Result<(), DiskError> {
        let is_as_expected = self.look(path).digest() == before;
        if is_as_expected { Ok(()) } else { Err(DiskError::Changed { path: path.as_path().to_path_buf() }) }
    }
}
