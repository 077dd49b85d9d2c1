//! What should be on disk, and what must be there before. The rest of the program asks for a transaction with
//! these types. A [`ChangeSet`] is a value; nothing happens until a [`super::Hold`] applies it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{AbsolutePath, Digest, FileBytes};

/// Changes that belong together: all of them are made, or none.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeSet {
    changes: Vec<Change>,
    /// Where the change of a path is; the last one counts.
    places: BTreeMap<AbsolutePath, usize>,
    expected: BTreeMap<AbsolutePath, Before>,
}

/// One change to the disk.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The file will contain these bytes. Missing folders above it are made.
    WriteFile { path: AbsolutePath, bytes: FileBytes, access: Access, owner: Owner, before: Before },
    /// The file will be the program `source`, which had this digest: a hard link to it, or a copy.
    LinkProgram { path: AbsolutePath, source: PathBuf, digest: Digest, before: Before },
    /// The file will be removed. A link to it stays.
    RemoveFile { path: AbsolutePath, owner: Owner, before: Digest },
    /// The folder will exist; if it has to be made and a mode is given, with that mode.
    MakeFolder { path: AbsolutePath, mode: Option<u32> },
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
    /// These permission bits of a file that is restored, whatever the umask says.
    Exactly(u32),
}

impl ChangeSet {
    pub(crate) fn push(&mut self, change: Change) {
        self.places.insert(change.path().clone(), self.changes.len());
        self.changes.push(change);
    }

    /// Writes `bytes` to a document of the user.
    pub(crate) fn write(&mut self, path: AbsolutePath, bytes: impl Into<FileBytes>, before: Before) {
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

    /// These changes, decided for the state after `earlier`, as they are valid for the state before it.
    pub(crate) fn before(self, earlier: &Self) -> Self {
        let after = |change: Change| match earlier.places.get(change.path()) {
            Some(place) => change.after(&earlier.changes[*place]),
            None => change,
        };
        let changes = self.changes.into_iter().map(after).collect();
        let is_read = |path: &AbsolutePath| !earlier.places.contains_key(path);
        let expected = self.expected.into_iter().filter(|(path, _)| is_read(path)).collect();
        Self { changes, places: self.places, expected }
    }

    /// Adds changes that are valid for the same state as these, and count where both change the same path.
    pub(crate) fn merge(&mut self, later: Self) {
        for (path, before) in later.expected {
            self.expected.entry(path).or_insert(before);
        }
        for change in later.changes {
            match self.places.get(change.path()) {
                Some(place) => self.changes[*place] = change,
                None => self.push(change),
            }
        }
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
        changes.into_iter().for_each(|change| self.push(change));
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
    /// This change, if `earlier` was planned for the same path but not made.
    fn after(self, earlier: &Self) -> Self {
        let found = match earlier {
            Self::WriteFile { before, .. } | Self::LinkProgram { before, .. } => *before,
            Self::RemoveFile { before, .. } => Some(*before),
            Self::MakeFolder { .. } | Self::RemoveFolder { .. } => return self,
        };
        match self {
            Self::WriteFile { path, bytes, access, owner, .. } => {
                Self::WriteFile { path, bytes, access, owner, before: found }
            }
            Self::LinkProgram { path, source, digest, .. } => Self::LinkProgram { path, source, digest, before: found },
            Self::RemoveFile { path, owner, before } => {
                Self::RemoveFile { path, owner, before: found.unwrap_or(before) }
            }
            folder => folder,
        }
    }

    pub(crate) fn path(&self) -> &AbsolutePath {
        match self {
            Self::WriteFile { path, .. }
            | Self::LinkProgram { path, .. }
            | Self::RemoveFile { path, .. }
            | Self::MakeFolder { path, .. }
            | Self::RemoveFolder { path } => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_planned_one_after_the_other_are_valid_for_the_state_before_both() {
        let folder = AbsolutePath::parse(std::env::temp_dir()).unwrap();
        let (one, other, third) = (folder.resolve("a"), folder.resolve("b"), folder.resolve("c"));
        let [old, mid] = [Digest::of(b"old"), Digest::of(b"mid")];
        let mut first = ChangeSet::default();
        first.write(one.clone(), "mid", Some(old));
        first.expect(other.clone(), Some(old));
        let mut second = ChangeSet::default();
        second.expect(one.clone(), Some(mid));
        second.expect(third.clone(), None);
        second.write(one.clone(), "new", Some(mid));
        second.write(other.clone(), "b", Some(old));
        let second = second.before(&first);
        first.merge(second);
        let changes: Vec<_> = first.iter().collect();
        assert!(
            matches!(changes[0], Change::WriteFile { bytes, before, .. } if **bytes == *b"new" && *before == Some(old))
        );
        assert_eq!((changes.len(), changes[1].path()), (2, &other));
        assert_eq!(first.expected().collect::<Vec<_>>(), [(&other, Some(old)), (&third, None)]);
    }
}
