//! What a call needs: files of the project by their paths, and why one is missing.

use crate::operations::plans::calls::{Call, entered};
use crate::operations::plans::commands::PlannedTree;
use crate::operations::plans::found::Weight;
use crate::project::files::FileError;

/// Something that a call needs and that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) weight: Weight,
    pub(super) why: String,
}

impl Missing {
    pub(super) fn surely(why: String) -> Self {
        Self { weight: Weight::Error, why }
    }

    pub(super) fn maybe(why: String) -> Self {
        Self { weight: Weight::Warning, why }
    }
}

pub(super) type Sought = Result<Option<Missing>, FileError>;

/// True if only a shell can determine what a word means.
pub(super) fn is_open(word: &str) -> bool {
    word.contains(['$', '`', '*', '?', '{', '<', '>', '~', '%']) || word.is_empty()
}

/// True if a path has one of these extensions.
pub(super) fn has_end(path: &str, ends: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && ends.contains(&end))
}

/// A path in the project, relative to the folder of a call; `None` if it leads outside or is unknown.
pub(super) fn whole(path: &str, call: &Call) -> Option<String> {
    if is_open(path) {
        return None;
    }
    entered(&call.folder, path).map(|path| path.trim_end_matches('/').to_owned()).filter(|path| !path.is_empty())
}

/// Reports a file that is run but does not exist.
pub(super) fn file(path: &str, call: &Call, tree: &PlannedTree<'_>) -> Option<Missing> {
    let whole = whole(path, call)?;
    let ends = ["", ".js", ".mjs", ".cjs", ".json", ".ts", "/index.js"];
    let is_there = ends.iter().any(|end| tree.has(&format!("{whole}{end}")))
        || tree.is_folder(&whole)
        || tree.plans_inside(&whole);
    (!is_there && !call.is_after_build).then(|| {
        Missing::surely(format!("`{path}` does not exist, and neither this plan nor an earlier one writes it"))
    })
}
