//! The pinned installs of a project: what its lock says of them, and how its files compare.

use std::fmt::Write as _;

use super::lock_file::{LockFile, LockedHost};
use super::manifest::InstallOptions;
use super::{InstallError, InstallManner, Installer, Target, shared};
use crate::disk::{self, Digest, Snapshot};
use crate::emit::{Anchor, Artifact, Contents};
use crate::library::CommandProfile;
use crate::runtime::Scope;

/// How the files of a project compare with a pinned install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LockState {
    /// As pinned.
    Same,
    /// None of its files is there.
    Absent,
    /// These files differ or are missing.
    Differs(Vec<String>),
    /// This program makes other files than the pinned ones, although its version is the same.
    OtherBuild,
}

impl Installer<'_> {
    /// What the lock of the project says of a local install; refuses another version of the program than the pinned one.
    pub(super) fn pin(&self, target: &Target) -> Result<Option<LockedHost>, InstallError> {
        if target.scope != Scope::Local {
            return Ok(None);
        }
        let Some(lock) = LockFile::read(&target.project)? else { return Ok(None) };
        let pin = lock.hosts.get(target.descriptor.id.as_str()).cloned();
        if pin.is_some() {
            lock.must_be_for(&self.version)?;
        }
        Ok(pin)
    }

    /// The lock of these local installs, with the layout and the profile that each has.
    pub(crate) fn lock(&self, targets: Vec<(Target, (bool, CommandProfile))>) -> Result<LockFile, InstallError> {
        let locked = targets.into_iter().map(|(target, (nested, profile))| {
            let content = content(&self.pinned(&target, nested, &profile)?);
            Ok((target.descriptor.id.to_string(), LockedHost { nested, profile, content }))
        });
        let hosts = locked.collect::<Result<_, InstallError>>()?;
        Ok(LockFile { format: LockFile::FORMAT, version: self.version.clone(), hosts })
    }

    /// Compares the files of a project with a pinned install.
    pub(crate) fn compare(&self, target: &Target, pin: &LockedHost) -> Result<LockState, InstallError> {
        let artifacts = self.pinned(target, pin.nested, &pin.profile)?;
        if content(&artifacts) != pin.content {
            return Ok(LockState::OtherBuild);
        }
        let (mut differ, mut found) = (Vec::new(), false);
        for artifact in &artifacts {
            let path = target.folder(&artifact.anchor).resolve(&artifact.path);
            let is_same = match &artifact.contents {
                Contents::Whole(text) => {
                    let digest = Digest::of_file(&path)?;
                    found |= digest.is_some();
                    digest == Some(Digest::of(text.as_bytes()))
                }
                Contents::Shared(file) => {
                    let text = disk::read_text(&path)?.unwrap_or_default();
                    let made = shared::make(file.format, &text, &file.edits);
                    made.is_ok_and(|(after, _)| after == text)
                }
                Contents::Binary => true,
            };
            if !is_same {
                differ.push(target.shown(&path));
            }
        }
        Ok(match (found, differ.is_empty()) {
            (false, _) => LockState::Absent,
            (true, true) => LockState::Same,
            (true, false) => LockState::Differs(differ),
        })
    }

    /// The files of a local install that a team shares: not those of one computer.
    fn pinned(&self, target: &Target, nested: bool, profile: &CommandProfile) -> Result<Vec<Artifact>, InstallError> {
        let options = InstallOptions { nested, profile: profile.clone(), ..InstallOptions::default() };
        let manner = InstallManner { version: &self.version, options: &options, keeps_edits: false };
        let library = self.profiles.within(profile, self.library);
        let library = library.map_err(|source| InstallError::Profile { source, flags: target.flags() })?;
        let mut artifacts = self.wanted(&library, target, manner, &mut Snapshot::default())?;
        let is_private = |artifact: &Artifact| {
            let files = target.descriptor.files.values().filter_map(|file| file.local_path.as_ref());
            artifact.anchor == Anchor::Root && files.into_iter().any(|private| *private == artifact.path)
        };
        artifacts.retain(|artifact| artifact.contents != Contents::Binary && !is_private(artifact));
        Ok(artifacts)
    }
}

/// The digest of the files that only we own.
fn content(artifacts: &[Artifact]) -> Digest {
    let mut text = String::new();
    for artifact in artifacts {
        if let Contents::Whole(whole) = &artifact.contents {
            let _ = writeln!(text, "{:?} {} {}", artifact.anchor, artifact.path, Digest::of(whole.as_bytes()));
        }
    }
    Digest::of(text.as_bytes())
}
