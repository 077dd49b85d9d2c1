//! Determines which manifests in projects were written on this computer.
//!
//! A manifest lists what may be replaced and removed. One in a project may have come with the repository, so it only
//! counts if the user's state folder has its digest. Manifests in the user's own folders always count.

use super::manifest::{self, Manifest};
use super::{InstallError, Target, remembered};
use crate::disk::{AbsolutePath, Access, Change, ChangeSet, Digest, Owner, Snapshot};
use crate::runtime::Scope;

/// A manifest, and whether its entries are ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundManifest {
    /// Without its entries if it was not written on this computer.
    pub(crate) manifest: Manifest,
    /// Its entries if it came with the repository.
    pub(crate) claimed: Option<Manifest>,
    /// The folder in which it was written, if the project has moved since.
    pub(crate) moved_from: Option<AbsolutePath>,
}

/// Reads the manifest of a folder; an empty one if it does not exist.
pub(crate) fn read(
    target: &Target,
    folder: &AbsolutePath,
    snapshot: &mut Snapshot,
) -> Result<FoundManifest, InstallError> {
    let path = folder.resolve(manifest::FILE);
    let text = snapshot.read_text(&path)?;
    snapshot.look(&note(target, folder))?;
    let manifest =
        Manifest::parse(text.as_deref()).map_err(|source| InstallError::Manifest { path: path.clone(), source })?;
    let Some(text) = text.filter(|_| is_in_project(target, folder) && !manifest.installs.is_empty()) else {
        return Ok(FoundManifest { manifest, ..FoundManifest::default() });
    };
    let written = Digest::of(text.as_bytes());
    if notes(target, folder, written, snapshot)? {
        return Ok(FoundManifest { manifest, ..FoundManifest::default() });
    }
    let moved_from = moved_from(target, written, snapshot)?;
    if moved_from.is_some() {
        return Ok(FoundManifest { manifest, claimed: None, moved_from });
    }
    Ok(FoundManifest { manifest: manifest.without_installs(), claimed: Some(manifest), moved_from })
}

/// True if a note has this digest of the manifest in `folder`.
fn notes(
    target: &Target,
    folder: &AbsolutePath,
    written: Digest,
    snapshot: &mut Snapshot,
) -> Result<bool, InstallError> {
    let noted = snapshot.read_text(&note(target, folder))?;
    Ok(noted.is_some_and(|noted| noted.trim() == written.to_string()))
}

/// The folder of an install of this host that is no longer there, if the manifest in it was exactly this one: its project
/// was moved or renamed.
fn moved_from(target: &Target, written: Digest, snapshot: &mut Snapshot) -> Result<Option<AbsolutePath>, InstallError> {
    for place in remembered::in_folder(&target.roots_folder())? {
        let is_of_this = place.runtime == target.descriptor.id.as_str() && place.scope == Scope::Local;
        let Ok(root) = AbsolutePath::parse(&place.root) else { continue };
        if is_of_this && !place.is_there() && notes(target, &root, written, snapshot)? {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

/// Adds the changes of the notes of a moved project: those of the folder where it was are removed.
pub(crate) fn forget_moved(target: &Target, from: &AbsolutePath, snapshot: &Snapshot, changes: &mut ChangeSet) {
    for path in [note(target, from), remembered::note_at(target, from)] {
        let before = snapshot.digest(&path);
        changes.extend(before.map(|before| Change::RemoveFile { path, owner: Owner::Program, before }));
    }
}

/// The path of the note that the manifest in `folder` is ours.
pub(crate) fn note(target: &Target, folder: &AbsolutePath) -> AbsolutePath {
    target.notes_folder().resolve(&Digest::of(folder.to_string().as_bytes()).to_string()[..32])
}

/// Makes the changes valid only while the manifest in `folder` and its note are as they were read.
pub(crate) fn expect(target: &Target, folder: &AbsolutePath, snapshot: &Snapshot, changes: &mut ChangeSet) {
    for path in [folder.resolve(manifest::FILE), note(target, folder)] {
        let before = snapshot.digest(&path);
        changes.expect(path, before);
    }
}

/// Adds the change of the note to `changes`: the manifest in `folder` will have this text, or be removed.
pub(crate) fn change(
    target: &Target,
    folder: &AbsolutePath,
    text: Option<&str>,
    snapshot: &Snapshot,
    changes: &mut ChangeSet,
) {
    if !is_in_project(target, folder) {
        return;
    }
    let path = note(target, folder);
    match (text, snapshot.digest(&path)) {
        (Some(text), before) => {
            let bytes = format!("{}\n", Digest::of(text.as_bytes())).into();
            changes.push(Change::WriteFile { path, bytes, access: Access::Private, owner: Owner::Program, before });
        }
        (None, Some(before)) => {
            changes.push(Change::RemoveFile { path, owner: Owner::Program, before });
            changes.push(Change::RemoveFolder { path: target.notes_folder() });
        }
        (None, None) => {}
    }
}

fn is_in_project(target: &Target, folder: &AbsolutePath) -> bool {
    target.scope == Scope::Local && folder.is_within(&target.project)
}
