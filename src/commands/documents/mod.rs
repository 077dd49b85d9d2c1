//! Single documents.

pub(crate) mod config;
pub(crate) mod frontmatter;
pub(crate) mod import;
pub(crate) mod instructions;
pub(crate) mod requirements;
mod settings;

use crate::disk::AbsolutePath;
use crate::failure::Failure;

/// The error for a missing file that a call names; a relative path was read from `start`.
pub(in crate::commands) fn file_not_found(path: &AbsolutePath, start: &AbsolutePath) -> Failure {
    Failure::usage(format!("file not found: `{path}`"))
        .hint(format!("check the path; a relative one starts at `{start}`"))
}
