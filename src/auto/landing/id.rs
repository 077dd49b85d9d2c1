//! Names of commits and trees, and paths as git stores them.

use std::fmt;
use std::path::{Path, PathBuf};

/// True if the text is a full object name of SHA-1 or SHA-256.
fn is_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! object_name {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(String);

        impl $name {
            /// Returns `None` if the text is not a full object name.
            pub(crate) fn parse(text: &str) -> Option<Self> {
                let text = text.trim();
                is_name(text).then(|| Self(text.to_owned()))
            }

            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }

            /// Its first twelve digits.
            pub(crate) fn short(&self) -> &str {
                self.0.get(..12).unwrap_or(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

object_name! {
    /// The name of a commit.
    Commit
}

object_name! {
    /// The name of a tree: all files of a commit or worktree, with their content. Evidence is for one tree.
    Tree
}

/// A path relative to the root of the repository, as the bytes that git stores.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GitPath(Vec<u8>);

impl GitPath {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path in a worktree.
    pub(crate) fn below(&self, root: &Path) -> PathBuf {
        root.join(path_of(&self.0))
    }

    /// The folders that contain it, outermost first.
    pub(crate) fn folders(&self) -> impl Iterator<Item = Self> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        ends.filter_map(|(end, _)| self.0.get(..end).map(Self::of))
    }

    /// The last segment.
    pub(crate) fn name(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }

    /// True if it is `folder` or below it; everything is below the empty path.
    pub(crate) fn is_within(&self, folder: &str) -> bool {
        let folder = folder.trim_end_matches('/').as_bytes();
        let rest = self.0.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl fmt::Display for GitPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(formatter)
    }
}

/// Formats the path as text, since it is printed with the values that contain it.
impl fmt::Debug for GitPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

/// Converts the bytes that git writes into a path on this machine.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// A file in one state: its mode and the object name of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) mode: String,
    pub(super) id: String,
}

impl FileState {
    /// The mode of a link to a commit of another repository.
    const SUBMODULE: &str = "160000";
    /// The mode of a symbolic link.
    pub(super) const LINK: &str = "120000";

    pub(super) fn is_link(&self) -> bool {
        self.mode == Self::LINK
    }

    /// `None` for a missing file.
    pub(super) fn of(mode: &str, id: &str) -> Option<Self> {
        mode.bytes().any(|digit| digit != b'0').then(|| Self { mode: mode.to_owned(), id: id.to_owned() })
    }

    pub(super) fn is_submodule(&self) -> bool {
        self.mode == Self::SUBMODULE
    }
}

/// How a path changed between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathChange {
    Added,
    Deleted,
    Modified,
}

/// One of two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// A path that differs between two states. A rename is a removal and an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: GitPath,
    pub(crate) status: PathChange,
    pub(super) before: Option<FileState>,
    pub(super) after: Option<FileState>,
}

impl Changed {
    pub(super) fn between(path: GitPath, before: Option<FileState>, after: Option<FileState>) -> Self {
        let status = match (&before, &after) {
            (None, _) => PathChange::Added,
            (_, None) => PathChange::Deleted,
            _ => PathChange::Modified,
        };
        Self { path, status, before, after }
    }

    /// True if it is a symbolic link now.
    pub(crate) fn is_link(&self) -> bool {
        self.after.as_ref().is_some_and(FileState::is_link)
    }

    pub(super) fn is_about_submodule(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(FileState::is_submodule)
    }
}

/// Splits records that git separates by NUL.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_path_is_within_whole_folders() {
        let path = GitPath::of(b".gsd/a/b.md");
        assert!(
            path.is_within(".gsd") && path.is_within(".gsd/") && path.is_within("") && path.is_within(".gsd/a/b.md")
        );
        assert!(!path.is_within(".gs") && !path.is_within(".gsd/a/b") && !path.is_within("a"));
        let folders: Vec<String> = path.folders().map(|folder| folder.to_string()).collect();
        assert_eq!((folders.join(" ").as_str(), path.name()), (".gsd .gsd/a", &b"b.md"[..]));
    }

    #[test]
    fn only_a_full_lowercase_name_names_an_object() {
        assert!(Commit::parse(&"a".repeat(40)).is_some() && Tree::parse(&format!("{}\n", "0".repeat(64))).is_some());
        for text in ["", "HEAD", "main", &"a".repeat(39), &"A".repeat(40), &"g".repeat(40), "-x"] {
            assert_eq!(Commit::parse(text), None, "{text}");
        }
    }
}
