//! Where installs are: each has a note in the user's state folder, written in the transaction of the install and removed
//! in that of the uninstall. A note only records where to look: what is installed there is in the manifest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::ROOTS;
use super::{InstallError, Target};
use crate::disk::{self, AbsolutePath, Access, Change, ChangeSet, Digest, FileBytes, Owner, Snapshot};
use crate::emit::Anchor;
use crate::runtime::{Registry, Scope};
use crate::world::World;

/// The location of an install.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Remembered {
    /// The host's id.
    pub(crate) runtime: String,
    pub(crate) root: String,
    #[serde(default = "global")]
    pub(crate) scope: Scope,
    /// The project of a local install.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
}

/// The scope in notes that have none.
fn global() -> Scope {
    Scope::Global
}

impl Remembered {
    pub(super) fn of(target: &Target) -> Self {
        Self {
            runtime: target.descriptor.id.to_string(),
            root: target.root.to_string(),
            scope: target.scope,
            project: (target.scope == Scope::Local).then(|| target.project.to_string()),
        }
    }

    /// True if the folder of the install is there.
    pub(crate) fn is_there(&self) -> bool {
        AbsolutePath::parse(&self.root).is_ok_and(|root| disk::is_folder(&root))
    }

    /// The install. A host that is no longer known is an error. `project` is that of the call: installs in another
    /// one are named with it.
    pub(crate) fn target(
        &self,
        registry: &Registry,
        project: &AbsolutePath,
        world: &World,
    ) -> Result<Target, InstallError> {
        let descriptor = registry.find(&self.runtime)?;
        if let Some(own) = &self.project {
            let own = AbsolutePath::parse(own)?;
            let target = Target::resolve(descriptor, self.scope, &own, None, world)?;
            return Ok(if target.project == *project { target } else { target.seen_from_elsewhere() });
        }
        let usual = Target::resolve(descriptor.clone(), self.scope, project, None, world);
        match usual {
            Ok(usual) if usual.root.to_string() == self.root => Ok(usual),
            _ => Target::resolve(descriptor, self.scope, project, Some(&self.root), world),
        }
    }
}

/// The path of the note about this install.
pub(super) fn note(target: &Target) -> AbsolutePath {
    note_at(target, &target.root)
}

/// The path of the note about an install of the same host and scope in another folder.
pub(super) fn note_at(target: &Target, root: &AbsolutePath) -> AbsolutePath {
    let install = format!("{root}\0{}", target.section_key(&Anchor::Root));
    let name = Digest::of(install.as_bytes()).to_string();
    target.roots_folder().resolve(format!("{}.json", &name[..16]))
}

/// Adds the change of the note to `changes`, for an install that will exist or be removed. The note must be in the
/// snapshot.
pub(super) fn change(target: &Target, installed: bool, snapshot: &Snapshot, changes: &mut ChangeSet) {
    let path = note(target);
    // Serialising a few texts cannot fail.
    let text = serde_json::to_string(&Remembered::of(target)).map(|text| text + "\n");
    let bytes = FileBytes::from(text.unwrap_or_default());
    match (installed, snapshot.digest(&path)) {
        (true, Some(before)) if before == bytes.digest() => {}
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
    in_folder(&super::state(world)?.resolve(ROOTS))
}

/// The same, for the folder of the notes.
pub(super) fn in_folder(folder: &AbsolutePath) -> Result<Vec<Remembered>, InstallError> {
    let mut found = Vec::new();
    for entry in disk::list(folder)?.unwrap_or_default() {
        let text = disk::read_text(folder.resolve(&entry.name)).ok().flatten();
        found.extend(text.and_then(|text| serde_json::from_str::<Remembered>(&text).ok()));
    }
    found.sort();
    Ok(found)
}
