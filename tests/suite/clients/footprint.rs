//! What an install put into a home and a project, to check it after the uninstall.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Paths that an install created, files and folders.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    created: BTreeSet<PathBuf>,
}

impl Footprint {
    pub(crate) fn between(before: &BTreeSet<PathBuf>, after: BTreeSet<PathBuf>) -> Self {
        Self { created: after.into_iter().filter(|path| !before.contains(path)).collect() }
    }

    /// The paths that are still there and ours: a client may have written into a file or folder that we had created.
    pub(crate) fn left(&self, is_ours: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        self.created
            .iter()
            .filter(|path| {
                if path.is_dir() {
                    return std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
                }
                std::fs::read(path).is_ok_and(|bytes| is_ours(&String::from_utf8_lossy(&bytes)))
            })
            .cloned()
            .collect()
    }
}

/// All paths below `folders`.
pub(crate) fn paths_below(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    folders.iter().flat_map(walkdir::WalkDir::new).flatten().map(walkdir::DirEntry::into_path).collect()
}

/// True if `path` is in our own state folder, which outlives an uninstall.
pub(crate) fn is_state(path: &Path) -> bool {
    path.to_string_lossy().contains("/.local/state")
}
