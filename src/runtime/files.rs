//! The part of a descriptor about the host's own files: which there are, and what we write into them.

use serde::Deserialize;

use super::terms::{Scalar, Scope};
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::words::words;

/// A file of the host that we share with others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HostFile {
    pub(crate) format: HostFormat,
    /// The format the client really loads, if known: it ignores a file that uses more than this.
    pub(crate) loads: Option<HostFormat>,
    /// What its reader refuses although the format allows it.
    #[serde(default)]
    pub(crate) refuses: Vec<FormDetail>,
    /// Below the host's folder.
    pub(crate) path: String,
    /// Used instead of `path` if it exists.
    pub(crate) instead: Option<String>,
    pub(crate) local_path: Option<String>,
    /// The local file is private: not shared with the project.
    #[serde(default)]
    pub(crate) local_private: bool,
}

impl HostFile {
    /// The path of the file below the host's folder; `exists` returns whether a file is there.
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

/// A detail of a JSON text on which readers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FormDetail {
    ByteOrderMark,
}

/// The format of such a file, and what its reader accepts.
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

/// A value that the host needs in one of its files.
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
    /// True if the edit is repeated for each prefix of calls that run without asking, inserted as `{call}`.
    pub(crate) fn names_calls(&self) -> bool {
        let in_value = matches!(&self.value, Scalar::Text(text) if text.contains("{call}"));
        in_value || self.path.iter().any(|part| part.contains("{call}"))
    }
}

/// How an edit treats an existing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EditForm {
    Append,
    Set,
    SetIfAbsent,
}

words! {
    /// What an edit or a file is for; a person can leave it out by this name.
    pub(crate) enum Purpose {
        /// Lets our program and our files be used without asking.
        Permissions = "permissions",
        /// Makes our hooks run.
        Hooks = "hooks",
        /// Keeps our commands from filling the model's list with one row each.
        Listing = "listing",
    }
}

/// One of our own small files that the host reads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OwnFile {
    pub(crate) purpose: Purpose,
    #[serde(default = "super::terms::both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    /// Below the host's folder.
    pub(crate) path: String,
    /// With `{binary}`, `{absolute-binary}` and `{content}`, as in the values of edits.
    pub(crate) text: String,
}
