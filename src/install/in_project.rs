//! The files in a project that an install put there. Whether git tracks them or not, they are not unfinished work.

use std::collections::BTreeSet;

use super::manifest::{self, Holdings, Manifest};
use crate::disk::{self, AbsolutePath, EntryKind};

/// How many levels below the project the folder of a host can be, such as `.config/name`.
const DEPTH: usize = 2;

/// The files that installs into `project` own, in whole or in part, relative to it. A manifest that cannot be read owns
/// nothing.
pub(crate) fn owned_in(project: &AbsolutePath) -> BTreeSet<String> {
    let mut owned = BTreeSet::new();
    look(project, "", DEPTH, &mut owned);
    owned
}

fn look(project: &AbsolutePath, folder: &str, deeper: usize, owned: &mut BTreeSet<String>) {
    let place = project.resolve(folder);
    if let Ok(text @ Some(_)) = disk::read_text(place.resolve(manifest::FILE))
        && let Ok(manifest) = Manifest::parse(text.as_deref())
    {
        let paths = |holdings: &Holdings| -> Vec<String> {
            holdings.files.keys().chain(holdings.shared.keys()).map(ToString::to_string).collect()
        };
        for section in manifest.installs.values() {
            owned.extend(paths(&section.holdings).iter().map(|path| below(folder, path)));
            owned.extend(paths(&section.project));
        }
        owned.insert(below(folder, manifest::FILE));
    }
    if deeper == 0 {
        return;
    }
    // Folders of hosts start with a dot; only folders below them need not.
    let is_place = |name: &str| name != ".git" && (name.starts_with('.') || !folder.is_empty());
    for entry in disk::list(&place).ok().flatten().unwrap_or_default() {
        if entry.kind == EntryKind::Folder && is_place(&entry.name) {
            look(project, &below(folder, &entry.name), deeper - 1, owned);
        }
    }
}

fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}
