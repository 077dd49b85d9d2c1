//! What an administrator places on a computer for everyone who uses it: the same files as an install, at the host's
//! places for managed settings.

use std::path::PathBuf;

use super::{InstallError, Installer, shared};
use crate::disk::{self, AbsolutePath};
use crate::emit::{self, Contents, EmitOptions, ProfileNote};
use crate::library::{CommandProfile, ItemKind};
use crate::runtime::{CONTENT_FOLDER, Descriptor, MANAGED_MARKER, ManagedForm, Scope, missing_of_managed};
use crate::text::shell::typed;
use crate::world::World;

/// The text of the marker of a managed program.
const MARKER_TEXT: &str = "An administrator placed this folder. Its program writes nothing into the homes of users.\n";

/// A file for an administrator to place.
#[derive(Clone, Debug)]
pub(crate) struct ManagedPlacement {
    /// Where it belongs: absolute, with `/`.
    pub(crate) place: String,
    pub(crate) what: ManagedContents,
    /// Whether other settings may be in the same file.
    pub(crate) shared: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum ManagedContents {
    Text(String),
    Program,
}

impl Installer<'_> {
    /// The files that an administrator places for this host, sorted by place.
    pub(crate) fn managed(
        &self,
        descriptor: &Descriptor,
        form: &ManagedForm,
        (nested, profile): (bool, &CommandProfile),
    ) -> Result<Vec<ManagedPlacement>, InstallError> {
        let flags = || typed!("--{} --global", descriptor.id);
        let library = self.profiles.within(profile, self.library);
        let library = library.map_err(|source| InstallError::Profile { source, flags: flags() })?;
        let note = ProfileNote { names: profile.to_string(), flags: flags().to_string() };
        let root = form.root.here();
        let options = EmitOptions {
            unasked: self.unasked.clone(),
            nested,
            profile: (!profile.is_full()).then_some(note),
            ..EmitOptions::outside_homes(root, &self.version)
        };
        let mut placements = Vec::new();
        for artifact in emit::emit_all(&library, descriptor, Scope::Global, &options) {
            let elsewhere = form.files.iter().find(|file| file.path == artifact.path);
            let is_needed = form.content || artifact.kind == ItemKind::Program;
            let (place, shared) = match elsewhere {
                Some(file) => (file.at.here().to_owned(), file.shared),
                None if is_needed && artifact.kind != ItemKind::Settings => {
                    (format!("{root}/{}", artifact.path), false)
                }
                None => continue,
            };
            let what = match artifact.contents {
                Contents::Whole(text) => ManagedContents::Text(text),
                Contents::Binary => ManagedContents::Program,
                Contents::Shared(file) => {
                    let path = AbsolutePath::parse(&place)?;
                    let made = shared::make(file.format, "", &file.edits);
                    ManagedContents::Text(made.map_err(|source| InstallError::shared(&path, source))?.0)
                }
            };
            placements.push(ManagedPlacement { place, what, shared });
        }
        placements.push(ManagedPlacement {
            place: format!("{root}/{CONTENT_FOLDER}/{MANAGED_MARKER}"),
            what: ManagedContents::Text(MARKER_TEXT.to_owned()),
            shared: false,
        });
        placements.sort_by(|left, right| left.place.cmp(&right.place));
        Ok(placements)
    }
}

/// What an administrator placed on this computer for a host.
#[derive(Clone, Debug)]
pub(crate) struct PlacedByAdministrator {
    pub(crate) version: String,
    /// The folder that takes the place of the user's.
    pub(crate) root: AbsolutePath,
    /// Whether the host reads commands and agents there.
    pub(crate) has_commands: bool,
    /// Files without which its hooks do not run.
    pub(crate) missing: Vec<PathBuf>,
}

/// What an administrator placed here for this host; `None` if nothing is there, or nothing can be placed for it.
pub(crate) fn placed_by_administrator(descriptor: &Descriptor, world: &World) -> Option<PlacedByAdministrator> {
    let form = descriptor.managed.as_ref()?;
    let root = AbsolutePath::parse(world.system_path(form.root.here())).ok()?;
    let files = form.files.iter().map(|file| world.system_path(file.at.here()));
    let missing = missing_of_managed(root.as_path(), files)?;
    let version = disk::read_text(root.resolve(CONTENT_FOLDER).resolve("VERSION")).ok()??.trim().to_owned();
    Some(PlacedByAdministrator { version, root, has_commands: form.content, missing })
}
