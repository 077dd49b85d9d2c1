//! Reading a project's files: from the disk, or from memory in tests.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::disk::Digest;
use crate::failure::Explain;

/// A file that exists but cannot be read. A missing file is not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{path}`: {reason}")]
pub(crate) struct FileError {
    /// Relative to the project's root.
    pub(crate) path: String,
    pub(crate) reason: String,
    /// What a person can do about it, if anything.
    pub(crate) hint: Option<String>,
}

impl Explain for FileError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }

    fn unread(&self) -> Option<&str> {
        Some(&self.path)
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FolderEntry {
    pub(crate) name: String,
    pub(crate) is_folder: bool,
}

/// A document that was looked up: the key of its answer, and the answer if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looked {
    pub(super) key: u64,
    pub(crate) known: Option<u8>,
}

/// A result that is computed while other work continues; calling it waits for it.
pub(crate) type Pending<T> = Box<dyn FnOnce() -> T + Send>;

/// The files of a project, by paths relative to its root, with `/`.
pub(crate) trait Files: Debug + Send + Sync {
    /// The text of a file; `None` if it does not exist.
    fn read(&self, path: &str) -> Result<Option<String>, FileError>;

    /// The entries of a folder, sorted by name; `None` if the folder does not exist.
    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError>;

    /// When each file last changed, in seconds since 1970: its commit if it is committed and clean, else the time on
    /// the disk. `None` if neither is known.
    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>>;

    /// Starts to compute [`Self::changed_at`]; calling the result waits for it.
    fn ask_changed(&self, paths: &[String]) -> Pending<Vec<Option<i64>>> {
        let times = self.changed_at(paths);
        Box::new(move || times)
    }

    /// When the bytes of a file last changed on this disk, in milliseconds since 1970. Commits do not count.
    fn touched_at(&self, path: &str) -> Option<i64>;

    /// The SHA-256 of a regular file's bytes as lower-case hexadecimal; `None` if the file does not exist inside the
    /// root.
    fn digest(&self, path: &str) -> Result<Option<String>, FileError>;

    /// Looks up the answer that an earlier call may have stored for a question about the document at `path`; `None` if
    /// answers about it cannot be stored.
    fn look(&self, _question: u8, _path: &str) -> Option<Looked> {
        None
    }

    /// Stores the answer about a document that was looked up before it was read.
    fn note(&self, _looked: Looked, _answer: u8) {}

    fn exists(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        matches!(self.list(folder), Ok(Some(entries)) if entries.iter().any(|entry| entry.name == name))
    }
}

/// The SHA-256 of `bytes` as lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

/// Files in memory. Every file has changed at the second of its position in `order`, or at zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryFiles {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) changed: BTreeMap<String, i64>,
}

impl MemoryFiles {
    pub(crate) fn new<'text>(files: impl IntoIterator<Item = (&'text str, &'text str)>) -> Self {
        Self {
            texts: files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect(),
            changed: BTreeMap::new(),
        }
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Result<Option<String>, FileError> {
        Ok(self.texts.get(path).cloned())
    }

    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut entries: Vec<FolderEntry> = self
            .texts
            .keys()
            .filter_map(|file| file.strip_prefix(&prefix))
            .map(|inside| match inside.split_once('/') {
                Some((folder, _)) => FolderEntry { name: folder.to_owned(), is_folder: true },
                None => FolderEntry { name: inside.to_owned(), is_folder: false },
            })
            .collect();
        entries.dedup();
        entries.sort();
        entries.dedup();
        Ok((!entries.is_empty()).then_some(entries))
    }

    fn touched_at(&self, path: &str) -> Option<i64> {
        self.texts.contains_key(path).then(|| self.changed.get(path).copied().unwrap_or(0) * 1000)
    }

    fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        Ok(self.texts.get(path).map(|text| sha256(text.as_bytes())))
    }

    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        paths
            .iter()
            .map(|path| self.texts.contains_key(path).then(|| self.changed.get(path).copied().unwrap_or(0)))
            .collect()
    }
}
