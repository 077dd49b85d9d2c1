//! Files that a command is told of by path: reading them, and the answer where there is none.

use serde::Serialize;

use super::{CommandError, Context};
use crate::disk;
use crate::project::view::{Edits, ProjectView};

/// The answer about a file that is not there.
#[derive(Debug, Serialize)]
pub(super) struct MissingFile<'a> {
    error: &'static str,
    path: &'a str,
}

impl<'a> MissingFile<'a> {
    /// `path` as it was typed.
    pub(super) fn at(path: &'a str) -> Self {
        Self { error: "File not found", path }
    }
}

impl Context {
    /// The text of a file by its path from the current folder.
    pub(super) fn text_from_here(&self, path: &str) -> Result<Option<String>, CommandError> {
        Ok(disk::read_text(self.here().resolve(path))?)
    }

    /// The text of a file by its path from the project's root.
    pub(super) fn text_from_root(&self, path: &str) -> Result<Option<String>, CommandError> {
        Ok(disk::read_text(self.root().resolve(path))?)
    }

    /// As [`Self::update`], for an operation on one file of the project, named by its path from the current folder.
    /// The file need not be a document of the project; outside of the project nothing is written.
    pub(super) fn update_file<R>(
        &self,
        path: &str,
        operation: impl FnOnce(&ProjectView, &str) -> Result<(R, Edits), CommandError>,
    ) -> Result<R, CommandError> {
        let file = self.here().resolve(path);
        let Some(inside) = file.relative_to(self.root()) else {
            return Err(CommandError::usage(format!("`{path}` is outside the project"))
                .hint(format!("the project is `{}`", self.root())));
        };
        let planning = self.project().locked_tree();
        let tree = if file.as_path().starts_with(&planning) { planning } else { self.root().as_path().to_path_buf() };
        self.update_in(tree, |view| operation(view, inside.as_str()))
    }
}
