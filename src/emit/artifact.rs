//! The files that should exist, and where: the values that an installation is made of.

use serde::{Deserialize, Serialize};

use crate::library::ItemKind;
use crate::text::edit::FileFormat;
use crate::text::fragment::Marked;
use crate::text::json::JsonEdit;
use crate::text::toml::TomlEdit;
use crate::text::yaml::YamlEdit;

/// One file of an installation, ours or the host's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) anchor: Anchor,
    /// The path below the anchor, with `/`; never with `..`.
    pub(crate) path: String,
    pub(crate) contents: Contents,
    pub(crate) executable: bool,
    pub(crate) kind: ItemKind,
}

impl Artifact {
    /// True if a file of the user's with the same path is kept, and ours is left out. The host chooses the names of
    /// scripts, so theirs and ours may have the same.
    pub(crate) fn gives_way(&self) -> bool {
        self.executable && matches!(self.contents, Contents::Whole(_))
    }
}

/// The folder that a path is relative to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Anchor {
    /// The host's own folder for the scope.
    Root,
    /// A folder of the user's home that several hosts read, such as `.agents`.
    Home(String),
    /// The project's folder.
    Project,
}

/// The contents of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Contents {
    /// The whole file is ours.
    Whole(String),
    /// The running program.
    Binary,
    /// A file of the user's or the host's; only these changes in it are ours.
    Shared(SharedFile),
}

/// Our changes to one shared file. No two artifacts name the same file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedFile {
    pub(crate) format: FileFormat,
    pub(crate) edits: Vec<SharedEdit>,
}

/// One change to a shared file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SharedEdit {
    Json(JsonEdit),
    Toml(TomlEdit),
    Yaml(YamlEdit),
    Marked(MarkedText),
}

/// Our block between two marker lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MarkedText {
    pub(crate) open: String,
    pub(crate) close: String,
    pub(crate) body: String,
}

impl MarkedText {
    pub(crate) fn marked(&self) -> Marked {
        Marked::new(self.open.as_str(), self.close.as_str())
    }
}
