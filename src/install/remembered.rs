//! Installs in folders that cannot be found otherwise: made with `--config-dir`, or while a variable moved the host's
//! folder.
//!
//! Each has a note in the user's state folder, written in the transaction of the install and removed in that of the
//! uninstall, so that `status` can list the install without an argument for its folder. A note only records where to
//! look: what is installed there is in the manifest.

use serde::{Deserialize, Serialize};

use super::target::ROOTS;
use super::{InstallError, Target};
use crate::disk::{self, AbsolutePath, Access, Change, ChangeSet, Digest, Owner, Snapshot};
use crate::emit::Anchor;
use crate::runtime::Scope;
use crate::world::World;

/// The location of an install.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// The host's id.
    pub(crate) runtime: String,
    pub(crate) root: String,
}

/// The path of the note about this install; `None` if it is in the usual folder or in a project.
pub(super) fn note(target: &Target) -> Option<AbsolutePath> {
    let is_elsewhere = target.scope == Scope::Global && !target.is_usual();
    let install = format!("{}\0{}", target.root, target.section_key(&Anchor::Root));
    let name = Digest::of(install.as_bytes()).to_string();
    is_elsewhere.then(|| target.roots_folder().resolve(format!("{}.json", &name[..16])))
}

/// Adds the change of the note to `changes`, for an install that will exist or be removed. The note must be in the
/// snapshot.
pub(super) fn change(target: &Target, installed: bool, snapshot: &Snapshot, changes: &mut ChangeSet) {
    let Some(path) = note(target) else { return };
    let note = Remembered { runtime: target.descriptor.id.to_string(), root: target.root.to_string() };
    // Serialising two strings cannot fail.
    let bytes = serde_json::to_string(&note).map(|text| text + "\n").unwrap_or_default().into_bytes();
    match (installed, snapshot.digest(&path)) {
        (true, Some(before)) if before == Digest::of(&bytes) => {}
        (true, before) => {
            let (access, owner) = (Access::Private, Owner::Program);
            changes.push(Change::WriteFile { path, bytes, access, owner, before });
        }
        (false, Some(before)) => {
            changes.push(Change::RemoveFile { path, owner: Owner::Program, before });
            changes.push(Change::RemoveFolder { path: target.roots_folder() });
        }
        (false, None) => {}
    }
}

/// The installs that have a note. A note that cannot be read is left out, because it must not stop a command.
pub(crate) fn remembered(world: &World) -> Result<Vec<Remembered>, InstallError> {
    let folder = super::state(world)?.resolve(ROOTS);
    let mut found = Vec::new();
    for entry in disk::list(&folder)?.unwrap_or_default() {
        let text = disk::read_text(folder.resolve(&entry.name)).ok().flatten();
        found.extend(text.and_then(|text| serde_json::from_str::<Remembered>(&text).ok()));
    }
    found.sort();
    Ok(found)
}
