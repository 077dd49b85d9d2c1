//! Where a host reads what an administrator places on a computer for everyone who uses it.

use std::path::{Path, PathBuf};

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

/// True if the folder has the mark of an administrator. That counts only at a place of [`managed_roots`]: a repository may
/// bring the file too.
pub(crate) fn is_marked_managed(root: &Path) -> bool {
    disk::is_file(root.join(CONTENT_FOLDER).join(MANAGED_MARKER))
}

/// What is missing for hooks to run that an administrator placed: of the program in `root` and these settings files. `None`
/// if nothing was placed there.
pub(crate) fn missing_of_managed(root: &Path, files: impl IntoIterator<Item = PathBuf>) -> Option<Vec<PathBuf>> {
    let program = root.join(CONTENT_FOLDER).join(format!("bin/gsd-tools{}", std::env::consts::EXE_SUFFIX));
    let needed = [program].into_iter().chain(files);
    is_marked_managed(root).then(|| needed.filter(|file| !disk::is_file(file)).collect())
}

/// The folders in which an administrator places what everyone on this computer uses.
pub(crate) fn managed_roots() -> impl Iterator<Item = &'static str> {
    HOST_MANAGED.iter().map(|(_, root, _)| here_of(root))
}

/// The folder in which an administrator places our program for this host, and the settings files; `None` if nothing can be
/// placed. Reads no descriptor: hooks ask it.
pub(crate) fn managed_places(host: &str) -> Option<(&'static str, impl Iterator<Item = &'static str>)> {
    let (_, root, files) = HOST_MANAGED.iter().find(|(id, ..)| *id == host)?;
    Some((here_of(root), files.iter().map(here_of)))
}

fn here_of(places: &PathsOfPlatforms) -> &'static str {
    let [linux, macos, windows] = places;
    here(linux, macos, windows)
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
    fn the_places_of_administrators_are_collected_from_every_descriptor() {
        let all = Registry::embedded().all().unwrap();
        let of = |path: &PlatformPath| [path.linux.clone(), path.macos.clone(), path.windows.clone()];
        let known = all.iter().filter_map(|host| {
            let form = host.managed.as_ref()?;
            Some((host.id.to_string(), of(&form.root), form.files.iter().map(|file| of(&file.at)).collect::<Vec<_>>()))
        });
        let gathered = HOST_MANAGED.iter().map(|(id, root, files)| {
            let files = files.iter().map(|places| places.map(str::to_owned)).collect();
            ((*id).to_owned(), root.map(str::to_owned), files)
        });
        let (mut known, mut gathered) = (known.collect::<Vec<_>>(), gathered.collect::<Vec<_>>());
        known.sort_unstable();
        gathered.sort_unstable();
        assert_eq!(known, gathered, "left: the descriptors; right: what the program was built with");
        assert_eq!(known.len(), 4);
    }
}
