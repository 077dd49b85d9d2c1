//! What a transaction is about to do, written down first so that any later call can undo it.
//!
//! Each root of a transaction has a `.gsd-transaction/` while it runs:
//!
//! ```text
//! new/N         the bytes that entry N will put in place     made.json     the folders made for the root itself
//! backup/N      the file that entry N replaced or removed    journal.json  this journal; `done.json` once committed
//! ```
//!
//! The first root leads: its journal has every entry, and renaming it to `done.json` is the commit. The journals of the
//! other roots name all roots and their own entries. The location of the bytes is computed, never read, so that a planted
//! journal cannot reach outside the roots that contain it.

use std::path::PathBuf;

use super::{AbsolutePath, Digest, DiskError, atomic, read_bytes};

pub(super) const FOLDER: &str = ".gsd-transaction";
pub(super) const NEW: &str = "new";
pub(super) const BACKUP: &str = "backup";
pub(super) const JOURNAL: &str = "journal.json";
pub(super) const DONE: &str = "done.json";
pub(super) const MADE: &str = "made.json";

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    pub(super) format: u32,
    /// Distinguishes this transaction from all others.
    pub(super) id: String,
    /// In path order; the first leads.
    pub(super) roots: Vec<Root>,
    pub(super) entries: Vec<JournalEntry>,
    /// Which roots have nothing left to do; known only to a call that finishes another call's work.
    #[serde(skip)]
    pub(super) absent: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Root {
    pub(super) path: JournalPath,
    /// Folders made for this root, including itself, outermost first; removed if the transaction fails.
    pub(super) made: Vec<JournalPath>,
    /// Folders to remove with this root at the end if nothing else is in them, outermost first.
    pub(super) leave: Vec<JournalPath>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalEntry {
    /// Its place among all entries of the transaction, which names its files.
    pub(super) number: usize,
    /// Index of the root whose `.gsd-transaction/` serves this entry.
    pub(super) root: usize,
    /// The real location of the bytes, with links followed.
    pub(super) path: JournalPath,
    pub(super) act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Act {
    MakeFolder {
        mode: Option<u32>,
    },
    /// `outside`: a link of the user led out of the root.
    Write {
        before: Option<Digest>,
        after: Digest,
        outside: bool,
    },
    Remove {
        before: Digest,
        outside: bool,
    },
    RemoveFolder {
        mode: Option<u32>,
    },
}

/// An absolute path in a journal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JournalPath(pub(super) AbsolutePath);

impl serde::Serialize for JournalPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_path().serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for JournalPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = PathBuf::deserialize(deserializer)?;
        AbsolutePath::parse(path).map(Self).map_err(serde::de::Error::custom)
    }
}

impl Journal {
    pub(super) const FORMAT: u32 = 2;

    /// Reads the journal with this name from a root's folder.
    pub(super) fn read(root: &AbsolutePath, name: &str) -> Result<Option<Self>, DiskError> {
        let path = root.resolve(FOLDER).resolve(name);
        let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
        let bad = |reason: String| DiskError::BadJournal { path: path.as_path().to_path_buf(), reason };
        let journal: Self = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        journal.check().map_err(bad)?;
        Ok(Some(journal))
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, DiskError> {
        serde_json::to_vec(self).map_err(|source| DiskError::Unwritable { source })
    }

    pub(super) fn is_absent(&self, root: usize) -> bool {
        self.absent.get(root).copied().unwrap_or(false)
    }

    pub(super) fn folder(&self, root: usize) -> AbsolutePath {
        self.roots[root].path.0.resolve(FOLDER)
    }

    /// Where the new bytes of an entry are staged.
    pub(super) fn staged(&self, entry: &JournalEntry) -> AbsolutePath {
        self.folder(entry.root).resolve(NEW).resolve(entry.number.to_string())
    }

    /// Where the file that an entry replaced or removed is kept.
    pub(super) fn backup(&self, entry: &JournalEntry) -> AbsolutePath {
        self.folder(entry.root).resolve(BACKUP).resolve(entry.number.to_string())
    }

    /// The journal of one root: the leader's has every entry, that of another root its own entries.
    pub(super) fn of_root(&self, root: usize) -> Self {
        let is_its = |entry: &&JournalEntry| root == 0 || entry.root == root;
        Self { entries: self.entries.iter().filter(is_its).cloned().collect(), ..self.clone() }
    }

    /// A name next to `path` that only this transaction uses, for bytes that come from another file system.
    pub(super) fn beside(&self, path: &AbsolutePath) -> AbsolutePath {
        path.beside(&format!(".{}.gsd-{}", path.name(), self.id))
    }

    /// Refuses a journal that could reach outside its roots.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.format != Self::FORMAT {
            return Err(format!("its format is {}, this program knows {}", self.format, Self::FORMAT));
        }
        if self.roots.is_empty() || self.id.is_empty() || !self.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("it has no root or no transaction".to_owned());
        }
        for root in &self.roots {
            let above = |folder: &JournalPath| root.path.0.is_within(&folder.0);
            if !root.made.iter().chain(&root.leave).all(above) {
                return Err(format!("a folder it made or leaves is not above `{}`", root.path.0));
            }
        }
        for entry in &self.entries {
            let Some(root) = self.roots.get(entry.root) else {
                return Err(format!("`{}` is in none of its roots", entry.path.0));
            };
            let outside = matches!(entry.act, Act::Write { outside: true, .. } | Act::Remove { outside: true, .. });
            if !outside && !entry.path.0.is_within(&root.path.0) {
                return Err(format!("`{}` is outside of `{}`", entry.path.0, root.path.0));
            }
        }
        Ok(())
    }
}

/// The folders made for a root before its journal existed.
pub(super) fn read_made(root: &AbsolutePath) -> Result<Vec<JournalPath>, DiskError> {
    let path = root.resolve(FOLDER).resolve(MADE);
    let Some(bytes) = read_bytes(&path)? else { return Ok(Vec::new()) };
    let made: Vec<JournalPath> = serde_json::from_slice(&bytes)
        .map_err(|error| DiskError::BadJournal { path: path.as_path().to_path_buf(), reason: error.to_string() })?;
    Ok(made.into_iter().filter(|folder| root.is_within(&folder.0)).collect())
}

/// Writes a file of a transaction folder completely or not at all, whatever happens.
pub(super) fn write_durably(path: &AbsolutePath, bytes: &[u8]) -> Result<(), DiskError> {
    atomic::write(path, bytes, super::Access::Usual)
}
