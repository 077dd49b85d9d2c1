//! What should be on disk, and what must be there before: the only language in which the rest of the program
//! asks for a write. A [`ChangeSet`] is a value; nothing happens until a [`super::Hold`] applies it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{AbsolutePath, Digest};

/// Changes that belong together: all of them happen, or none.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeSet {
    changes: Vec<Change>,
    expected: BTreeMap<AbsolutePath, Before>,
}

/// One thing that should be different.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The file holds these bytes. Missing folders above it are made.
    WriteFile { path: AbsolutePath, bytes: Vec<u8>, access: Access, owner: Owner, before: Before },
    /// The file is the program `source`: a hard link to it, else a copy.
    LinkProgram { path: AbsolutePath, source: PathBuf, before: Before },
    /// The file is gone. A link to it stays where it is.
    RemoveFile { path: AbsolutePath, owner: Owner, before: Digest },
    /// The folder exists.
    MakeFolder { path: AbsolutePath },
    /// The folder is gone if nothing is in it then; else it stays.
    RemoveFolder { path: AbsolutePath },
}

/// What has to be at the path for the change to be right: the digest of the file, or nothing.
pub(crate) type Before = Option<Digest>;

/// Who a file belongs to decides how careful a write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's: a link is followed to wherever it leads, and the bytes are on the disk before we go on.
    User,
    /// Ours, made from the program's own content: it has to stay inside its root.
    Program,
}

/// The mode of a written file. A file that is there already keeps its own, and gains execution if asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Access {
    #[default]
    Usual,
    Executable,
    /// For nobody but the user.
    Private,
}

impl ChangeSet {
    pub(crate) fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// A document of the user's will hold `bytes`.
    pub(crate) fn write(&mut self, path: AbsolutePath, bytes: impl Into<Vec<u8>>, before: Before) {
        let (access, owner) = (Access::Usual, Owner::User);
        self.push(Change::WriteFile { path, bytes: bytes.into(), access, owner, before });
    }

    /// A document of the user's will be gone.
    pub(crate) fn remove(&mut self, path: AbsolutePath, before: Digest) {
        self.push(Change::RemoveFile { path, owner: Owner::User, before });
    }

    /// The changes are right only while this file, which they leave alone, is as it was read.
    pub(crate) fn expect(&mut self, path: AbsolutePath, before: Before) {
        self.expected.insert(path, before);
    }

    /// What has to be as it was read, beside what the changes themselves name.
    pub(crate) fn expected(&self) -> impl Iterator<Item = (&AbsolutePath, Before)> {
        self.expected.iter().map(|(path, before)| (path, *before))
    }

    /// Whether nothing is to be changed.
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
