//! What was on disk when we looked: the starting point of every plan.

use std::collections::BTreeMap;
use std::io;

use super::found::{Found, FoundFile, KeptBytes, is_image_of_program};
use super::tree::Tree;
use super::{AbsolutePath, Access, Change, ChangeSet, DOCUMENT_LIMIT, Digest, DiskError, Entry, SETTINGS_LIMIT};

/// What was found at each path that was looked at, at one moment. No file is opened twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    tree: Tree,
    found: BTreeMap<AbsolutePath, Found>,
}

impl Snapshot {
    /// A snapshot of a tree that is not on disk.
    #[cfg(all(test, unix))]
    pub(crate) fn in_memory(tree: super::MemoryTree) -> Self {
        Self { tree: Tree::Memory(tree), found: BTreeMap::new() }
    }

    /// Looks at each path.
    #[cfg(test)]
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a AbsolutePath>) -> Result<Self, DiskError> {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.look(path)?;
        }
        Ok(snapshot)
    }

    /// Looks at a path and keeps the bytes of a document.
    pub(crate) fn look(&mut self, path: &AbsolutePath) -> Result<&Found, DiskError> {
        if !self.found.contains_key(path) {
            self.found.insert(path.clone(), self.tree.look(path, KeptBytes::Documents)?);
        }
        Ok(&self.found[path])
    }

    /// Looks at a path and keeps its bytes, whatever kind of file it is.
    pub(crate) fn read(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, DOCUMENT_LIMIT)
    }

    /// Like [`Self::read`], for settings.
    pub(crate) fn read_settings(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, SETTINGS_LIMIT)
    }

    /// The text of a document; `None` if the file does not exist. An error if something else is there.
    pub(crate) fn read_text(&mut self, path: &AbsolutePath) -> Result<Option<String>, DiskError> {
        self.read(path)?;
        match self.found(path) {
            Found::Absent => Ok(None),
            Found::File(file) => {
                super::text(path.as_path(), file.bytes.as_deref().unwrap_or_default().to_vec()).map(Some)
            }
            Found::Folder => Err(DiskError::io("read", path.as_path())(io::ErrorKind::IsADirectory.into())),
            Found::Other => Err(DiskError::NotAFile { path: path.as_path().to_path_buf() }),
        }
    }

    fn read_up_to(&mut self, path: &AbsolutePath, limit: u64) -> Result<Option<&[u8]>, DiskError> {
        match self.found.get(path) {
            Some(Found::File(FoundFile { bytes: Some(bytes), .. })) if bytes.len() as u64 > limit => {
                return Err(DiskError::TooLarge { path: path.as_path().to_path_buf(), limit });
            }
            None | Some(Found::File(FoundFile { bytes: None, .. })) => {
                self.found.insert(path.clone(), self.tree.look(path, KeptBytes::UpTo(limit))?);
            }
            Some(_) => {}
        }
        Ok(self.bytes(path))
    }

    /// What was found; a path that was never looked at counts as absent.
    pub(crate) fn found(&self, path: &AbsolutePath) -> &Found {
        self.found.get(path).unwrap_or(&Found::Absent)
    }

    /// The file at a path that was looked at.
    pub(crate) fn file(&self, path: &AbsolutePath) -> Option<&FoundFile> {
        match self.found(path) {
            Found::File(file) => Some(file),
            Found::Absent | Found::Folder | Found::Other => None,
        }
    }

    /// The bytes of a file that was [`Self::read`].
    pub(crate) fn bytes(&self, path: &AbsolutePath) -> Option<&[u8]> {
        self.file(path)?.bytes.as_deref()
    }

    pub(crate) fn digest(&self, path: &AbsolutePath) -> Option<Digest> {
        self.found(path).digest()
    }

    /// Makes the snapshot look as if the changes were made, so that further changes can be planned for that state. Folders
    /// that would be made or removed, and entries of listed folders, stay as they were found.
    pub(crate) fn assume(&mut self, changes: &ChangeSet) {
        for change in changes.iter() {
            let path = change.path().clone();
            let known = self.file(&path).cloned();
            let found = match change {
                Change::WriteFile { bytes, access, .. } => Found::File(FoundFile {
                    digest: bytes.digest(),
                    executable: *access == Access::Executable || known.as_ref().is_some_and(|file| file.executable),
                    read_only: known.as_ref().is_some_and(|file| file.read_only),
                    program: is_image_of_program(bytes),
                    bytes: Some(bytes.clone()),
                    access: known.map_or(*access, |file| file.access),
                }),
                Change::LinkProgram { digest, .. } => Found::File(FoundFile {
                    digest: *digest,
                    bytes: None,
                    executable: true,
                    read_only: false,
                    program: true,
                    access: Access::Executable,
                }),
                Change::RemoveFile { .. } => Found::Absent,
                Change::MakeFolder { .. } | Change::RemoveFolder { .. } => continue,
            };
            self.found.insert(path, found);
        }
    }

    /// The entries of a folder, sorted by name; `None` if the folder does not exist.
    pub(crate) fn list(&self, folder: &AbsolutePath) -> Result<Option<Vec<Entry>>, DiskError> {
        self.tree.list(folder)
    }

    /// True if a file, or a link to one, is at `path`. Does not open it.
    pub(crate) fn is_file(&self, path: &AbsolutePath) -> bool {
        self.found.get(path).map_or_else(|| self.tree.is_file(path), |found| matches!(found, Found::File(_)))
    }

    /// True if a folder, or a link to one, is at `path`.
    pub(crate) fn is_folder(&self, path: &AbsolutePath) -> bool {
        self.tree.is_folder(path)
    }

    /// True if `path`, with links followed, is inside `folder`.
    pub(crate) fn is_inside(&self, path: &AbsolutePath, folder: &AbsolutePath) -> bool {
        self.tree.is_inside(path, folder)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    #[test]
    fn a_snapshot_keeps_what_it_saw() {
        let temporary = crate::testing::folder();
        let folder = AbsolutePath::parse(temporary.path()).unwrap();
        let path = folder.resolve("a");
        std::fs::write(&path, "one").unwrap();
        let mut snapshot = Snapshot::of([&path, &folder, &folder.resolve("b")]).unwrap();
        assert_eq!(snapshot.read(&path).unwrap(), Some(&b"one"[..]));
        std::fs::write(&path, "two").unwrap();
        assert_eq!(snapshot.digest(&path), Some(Digest::of(b"one")));
        assert_eq!(snapshot.found(&folder), &Found::Folder);
        assert_eq!(snapshot.found(&folder.resolve("b")), &Found::Absent);
    }

    #[test]
    fn a_look_keeps_the_bytes_of_documents_and_a_read_those_of_programs_too() {
        let temporary = crate::testing::folder();
        let folder = AbsolutePath::parse(temporary.path()).unwrap();
        let (text, program) = (folder.resolve("a"), folder.resolve("b"));
        std::fs::write(&text, "MU").unwrap();
        std::fs::write(&program, b"\x7fELF and more").unwrap();
        let mut snapshot = Snapshot::of([&text, &program]).unwrap();
        assert_eq!(snapshot.bytes(&text), Some(&b"MU"[..]));
        assert_eq!(
            (snapshot.bytes(&program), snapshot.digest(&program)),
            (None, Some(Digest::of(b"\x7fELF and more")))
        );
        assert!(snapshot.file(&program).unwrap().program && !snapshot.file(&text).unwrap().program);
        assert_eq!(snapshot.read(&program).unwrap(), Some(&b"\x7fELF and more"[..]));
        assert!(snapshot.read_text(&folder).is_err(), "a folder is not an absent text");
    }
}
