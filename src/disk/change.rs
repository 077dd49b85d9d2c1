//! What should be on disk, and what must be there before. The rest of the program asks for a transaction with
//! these types. A [`ChangeSet`] is a value; nothing happens until a [`super::Hold`] applies it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{AbsolutePath, Digest};

/// Changes that belong together: all of them are made, or none.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeSet {
    changes: Vec<Change>,
    expected: BTreeMap<AbsolutePath, Before>,
}

/// One change to the disk.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The file will contain these bytes. Missing folders above it are made.
    WriteFile { path: AbsolutePath, bytes: Vec<u8>, access: Access, owner: Owner, before: Before },
    /// The file will be the program `source`: a hard link to it, or a copy.
    LinkProgram { path: AbsolutePath, source: PathBuf, before: Before },
    /// The file will be removed. A link to it stays.
    RemoveFile { path: AbsolutePath, owner: Owner, before: Digest },
    /// The folder will exist.
    MakeFolder { path: AbsolutePath },
    /// The folder will be removed if it is empty by then; otherwise it stays.
    RemoveFolder { path: AbsolutePath },
}

/// What must be at the path for the change to be made: a file with this digest, or nothing.
pub(crate) type Before = Option<Digest>;

/// Who owns a file; this decides how careful a write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's: links are followed wherever they lead, and the bytes must be on the disk before we continue.
    User,
    /// Ours, made from the program's own content: it must stay inside its root.
    Program,
}

/// The mode of a written file. An existing file keeps its mode, and becomes executable if asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Access {
    #[default]
    Usual,
    Executable,
    /// For the user only.
    Private,
}

impl ChangeSet {
    pub(crate) fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Writes `bytes` to a document of the user.
    pub(crate) fn write(&mut self, path: AbsolutePath, bytes: impl Into<Vec<u8>>, before: Before) {
        let (access, owner) = (Access::Usual, Owner::User);
        self.push(Change::WriteFile { path, bytes: bytes.into(), access, owner, before });
    }

    /// Removes a document of the user.
    pub(crate) fn remove(&mut self, path: AbsolutePath, before: Digest) {
        self.push(Change::RemoveFile { path, owner: Owner::User, before });
    }

    /// Makes the changes depend on a file they do not touch: it must still be as it was read.
    pub(crate) fn expect(&mut self, path: AbsolutePath, before: Before) {
        self.expected.insert(path, before);
    }

    /// The files that must be as they were read, in addition to those the changes name.
    pub(crate) fn expected(&self) -> impl Iterator<Item = (&AbsolutePath, Before)> {
        self.expected.iter().map(|(path, before)| (path, *before))
    }

    /// True if the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }
}

impl Extend<Change> for ChangeSet {
    fn extend<T: IntoIterator<Item = Change>>(&mut self, changes: T) {
        self.changes.extend(changes);
    }
}

impl IntoIterator for ChangeSet {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.changes.into_iter()
    }
}

impl Change {
    pub(crate) fn path(&self) -> &AbsolutePath {
        match self {
            Self::WriteFile { path, .. }
            | Self::LinkProgram { path, .. }
            | Self::RemoveFile { path, .. }
            | Self::MakeFolder { path }
            | Self::RemoveFolder { path } => path,
        }
    }
}
