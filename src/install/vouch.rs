//! Which manifests in projects this computer wrote itself.
//!
//! A manifest says what may be replaced and removed. One in a project may have come with the repository, so it counts only
//! where the user's state folder has its digest. The user's own folders are theirs whole.

use super::manifest::{self, Manifest};
use super::{InstallError, Target};
use crate::disk::{AbsolutePath, Access, Change, ChangeSet, Digest, Owner, Snapshot};
use crate::runtime::Scope;

/// A manifest, and whether what it lists is ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundManifest {
    /// Without what it lists, where nobody here wrote it.
    pub(crate) manifest: Manifest,
    /// What it lists where it came with the repository.
    pub(crate) claimed: Option<Manifest>,
}

/// Reads the manifest of a folder; an empty one if there is none.
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
        return Ok(FoundManifest { manifest, claimed: None });
    };
    let noted = snapshot.read_text(&note(target, folder))?;
    if noted.is_some_and(|noted| noted.trim() == Digest::of(text.as_bytes()).to_string()) {
        return Ok(FoundManifest { manifest, claimed: None });
    }
    Ok(FoundManifest { manifest: manifest.without_installs(), claimed: Some(manifest) })
}

/// Where it is noted that the manifest in `folder` is ours.
pub(crate) fn note(target: &Target, folder: &AbsolutePath) -> AbsolutePath {
    target.notes_folder().resolve(&Digest::of(folder.to_string().as_bytes()).to_string()[..32])
}

/// Makes the changes hold only while the manifest in `folder`, and the word for it, are as they were read.
pub(crate) fn expect(target: &Target, folder: &AbsolutePath, snapshot: &Snapshot, changes: &mut ChangeSet) {
    for path in [folder.resolve(manifest::FILE), note(target, folder)] {
        let before = snapshot.digest(&path);
        changes.expect(path, before);
    }
}

/// Adds to `changes` that the manifest in `folder` will have this text, or be gone.
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
            let bytes = format!("{}\n", Digest::of(text.as_bytes())).into_bytes();
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
