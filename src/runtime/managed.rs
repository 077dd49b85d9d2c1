//! Where a host reads what an administrator places on a computer for everyone who uses it.

use serde::Deserialize;

use super::terms::Lack;

/// The places of a host's managed settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ManagedForm {
    /// The folder that takes the place of the user's: for our program, and for commands and agents if the host reads
    /// them there.
    pub(crate) root: PlatformPath,
    /// Whether the host reads commands and agents in `root`.
    #[serde(default)]
    pub(crate) content: bool,
    #[serde(rename = "file")]
    pub(crate) files: Vec<ManagedFile>,
    /// Features of an install that an administrator cannot place.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
}

/// A settings file of the host that an administrator places elsewhere.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ManagedFile {
    /// Where an install has it, below the host's folder.
    pub(crate) path: String,
    pub(crate) at: PlatformPath,
    /// Whether the host has only this one file, so that it may have other settings too.
    #[serde(default)]
    pub(crate) shared: bool,
}

/// An absolute path on each platform, with `/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PlatformPath {
    pub(crate) linux: String,
    pub(crate) macos: String,
    pub(crate) windows: String,
}

impl PlatformPath {
    /// The path on the platform of this program.
    pub(crate) fn here(&self) -> &str {
        match std::env::consts::OS {
            "macos" => &self.macos,
            "windows" => &self.windows,
            _ => &self.linux,
        }
    }
}
