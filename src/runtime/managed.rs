//! Where a host reads what an administrator places on a computer for everyone who uses it.

use std::path::Path;

use serde::Deserialize;

use super::terms::{CONTENT_FOLDER, Lack};
use crate::disk;

include!(concat!(env!("OUT_DIR"), "/host_managed.rs"));

/// The file next to a program by which it knows that an administrator placed it for everyone on the computer.
pub(crate) const MANAGED_MARKER: &str = ".gsd-managed";

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
        here(&self.linux, &self.macos, &self.windows)
    }
}

/// True if the folder has the mark of an administrator, and the program that answers its hooks. That counts only at a place of [`managed_roots`]: a repository may
/// bring the file too.
pub(crate) fn is_marked_managed(root: &Path) -> bool {
    let content = root.join(CONTENT_FOLDER);
    disk::is_file(content.join(MANAGED_MARKER))
        && disk::is_file(content.join("bin").join(format!("gsd-tools{}", std::env::consts::EXE_SUFFIX)))
}

/// The folders in which an administrator places what everyone on this computer uses.
pub(crate) fn managed_roots() -> impl Iterator<Item = &'static str> {
    HOST_MANAGED.iter().map(|(_, linux, macos, windows)| here(linux, macos, windows))
}

/// The folder in which an administrator places hooks for this host; `None` if the host has none. Reads no descriptor: hooks
/// ask it.
pub(crate) fn managed_root(host: &str) -> Option<&'static str> {
    let (_, linux, macos, windows) = HOST_MANAGED.iter().find(|(id, ..)| *id == host)?;
    Some(here(linux, macos, windows))
}

/// The one for the platform of this program.
fn here<'a>(linux: &'a str, macos: &'a str, windows: &'a str) -> &'a str {
    match std::env::consts::OS {
        "macos" => macos,
        "windows" => windows,
        _ => linux,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Registry;
    use super::*;

    #[test]
    fn the_folders_of_administrators_are_collected_from_every_descriptor() {
        let all = Registry::embedded().all().unwrap();
        let known = all.iter().filter_map(|host| {
            let root = &host.managed.as_ref()?.root;
            Some((host.id.as_str(), root.linux.as_str(), root.macos.as_str(), root.windows.as_str()))
        });
        let (mut known, mut gathered) = (known.collect::<Vec<_>>(), HOST_MANAGED.to_vec());
        known.sort_unstable();
        gathered.sort_unstable();
        assert_eq!(known, gathered, "left: the descriptors; right: what the program was built with");
        assert_eq!(known.len(), 4);
    }
}
