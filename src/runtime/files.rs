//! The part of a descriptor that is about the host's own files: which there are, and what we put into them.

use serde::Deserialize;

use super::terms::{Scalar, Scope};
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::words::words;

/// A file of the host that is not ours alone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HostFile {
    pub(crate) format: HostFormat,
    /// What the client was seen to load, where that is known: of a file that is more than this it loads nothing.
    pub(crate) loads: Option<HostFormat>,
    /// Below the host's folder.
    pub(crate) path: String,
    /// Used in its place if it is there.
    pub(crate) instead: Option<String>,
    pub(crate) local_path: Option<String>,
    /// The local file is one that a project does not share.
    #[serde(default)]
    pub(crate) local_private: bool,
}

impl HostFile {
    /// Where the file is, below the host's folder, if `exists` says which files are there.
    pub(crate) fn path(&self, scope: Scope, exists: impl Fn(&str) -> bool) -> &str {
        let usual = match (scope, &self.local_path) {
            (Scope::Local, Some(local)) => local,
            _ => &self.path,
        };
        match &self.instead {
            Some(instead) if exists(instead) => instead,
            _ => usual,
        }
    }
}

/// How such a file is written, and what its reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostFormat {
    Json,
    JsonWithComments,
    JsonWithCommentsAndTrailingCommas,
    Toml,
    Yaml,
    Markdown,
}

impl HostFormat {
    /// The format in which such a file is edited.
    pub(crate) fn to_file_format(self) -> FileFormat {
        match self {
            Self::Json => FileFormat::Json(JsonDialect::Strict),
            Self::JsonWithComments => FileFormat::Json(JsonDialect::Comments),
            Self::JsonWithCommentsAndTrailingCommas => FileFormat::Json(JsonDialect::CommentsAndTrailingCommas),
            Self::Toml => FileFormat::Toml,
            Self::Yaml => FileFormat::Yaml,
            Self::Markdown => FileFormat::Markdown,
        }
    }
}

/// A value the host needs in one of its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FileEdit {
    pub(crate) purpose: Purpose,
    #[serde(default = "super::terms::both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    /// One of `files`.
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
    pub(crate) how: EditForm,
    pub(crate) value: Scalar,
}

impl FileEdit {
    /// Whether the edit is made once for each beginning of a call that runs without asking, by `{call}`.
    pub(crate) fn names_calls(&self) -> bool {
        let in_value = matches!(&self.value, Scalar::Text(text) if text.contains("{call}"));
        in_value || self.path.iter().any(|part| part.contains("{call}"))
    }
}

/// How an edit treats what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EditForm {
    Append,
    Set,
    SetIfAbsent,
}

words! {
    /// What an edit or a file is for; a person can leave it out by that.
    pub(crate) enum Purpose {
        /// Our program and our files can be used without asking.
        Permissions = "permissions",
        /// Our hooks run.
        Hooks = "hooks",
        /// The model is not shown a row for each of our commands.
        Listing = "listing",
    }
}

/// A small file of our own that the host reads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OwnFile {
    pub(crate) purpose: Purpose,
    #[serde(default = "super::terms::both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    /// Below the host's folder.
    pub(crate) path: String,
    /// With `{binary}`, `{absolute-binary}` and `{content}`, as values of edits.
    pub(crate) text: String,
}
