//! Desired against actual: what the library and a host's descriptor say should stand where, and what stands there.
//!
//! ```text
//! artifacts + manifest + snapshot -> plan -> changes -> one transaction, the new manifest in it
//! ```
//!
//! The plan is made before anything is written; an install after an install is an empty plan; an uninstall is the
//! plan for nothing and gives back every byte.

pub(crate) mod custom;
mod error;
#[cfg(all(test, unix))]
mod kept_tests;
mod manifest;
mod plan;
mod predecessor;
mod registered;
mod shared;
mod situation;
mod status;
mod target;
mod vouch;

pub(crate) use error::InstallError;
pub(crate) use plan::{Act, InstallPlan};
pub(crate) use registered::{RegisteredHook, UnknownHooks, registered};
pub(crate) use situation::Program;
pub(crate) use status::{Drift, Status, has_plugin, status, unfinished};
pub(crate) use target::Target;

use std::collections::BTreeSet;

use crate::disk::history::History;
use crate::disk::{self, AbsolutePath, Digest, Disk};
use crate::emit::{self, Anchor, Artifact, EmitOptions};
use crate::library::Library;
use crate::runtime::{Registry, Scope};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;
use crate::world::World;
use situation::Situation;

/// What every install of a call shares.
#[derive(Debug)]
pub(crate) struct Installer<'a> {
    pub(crate) world: &'a World,
    pub(crate) disk: &'a Disk,
    pub(crate) registry: &'a Registry,
    pub(crate) library: &'a Library,
    pub(crate) program: Program,
    /// Whether hosts are told to let our program run without asking.
    pub(crate) permissions: bool,
    /// How calls of our program begin that run without asking.
    pub(crate) unasked: Vec<String>,
    /// Whether commands stand below routers; without it, as in the install that is there.
    pub(crate) nested: Option<bool>,
}

/// What is to be done with a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Install,
    Uninstall,
}

impl Wish {
    /// What is done, in the words that a kept transaction has.
    fn of(self, target: &Target) -> String {
        let word = match self {
            Self::Install => "install",
            Self::Uninstall => "uninstall",
        };
        format!("{word} {}", target.section_key(&Anchor::Root))
    }
}

impl Installer<'_> {
    /// Decides what would be done and finds what stands in its way, without writing.
    pub(crate) fn plan(&self, wish: Wish, target: &Target) -> Result<InstallPlan, InstallError> {
        let plan = self.look_and_plan(wish, target)?;
        disk::check(self.roots(target)?, &plan.changes)?;
        Ok(plan)
    }

    /// Finishes what an earlier call left unfinished in the folders of the install.
    pub(crate) fn settle(&self, target: &Target) -> Result<(), InstallError> {
        let unfinished = unfinished(target, self.world)?;
        if !unfinished.is_empty() {
            self.disk.hold(&unfinished)?;
        }
        Ok(())
    }

    /// Brings the host's folders to what the library says, or to what they were before us, or changes nothing.
    pub(crate) fn perform(&self, wish: Wish, target: &Target) -> Result<InstallPlan, InstallError> {
        let hold = self.disk.hold(self.roots(target)?)?;
        let plan = self.look_and_plan(wish, target)?;
        hold.apply_kept(&plan.changes, &History::in_state(&target.state), &wish.of(target))?;
        Ok(plan)
    }

    fn look_and_plan(&self, wish: Wish, target: &Target) -> Result<InstallPlan, InstallError> {
        let nested = self.nested(target)?;
        let wanted = self.wanted(wish, target, nested)?;
        let artifacts = wanted.as_deref().unwrap_or_default();
        let (neighbours, state) = (self.neighbours(target)?, state(self.world)?);
        let mut situation = Situation::look(target, artifacts, neighbours, &state, self.program.clone())?;
        situation.made = self.made_by_others(target)?;
        let plan = InstallPlan::between(wanted.as_deref(), target, &situation, nested)?;
        if target.scope == Scope::Local {
            // A link that came with the project may lead into the user's own folders.
            for change in plan.changes.iter().filter(|change| change.path().is_within(&target.project)) {
                disk::stays_within(change.path(), &target.project)?;
            }
        }
        Ok(plan)
    }

    /// What should stand there; `None` for nothing.
    fn wanted(&self, wish: Wish, target: &Target, nested: bool) -> Result<Option<Vec<Artifact>>, InstallError> {
        if wish == Wish::Uninstall {
            return Ok(None);
        }
        let mut options = EmitOptions::new(&target.home, env!("CARGO_PKG_VERSION"));
        options.permissions = self.permissions;
        options.unasked.clone_from(&self.unasked);
        options.nested = nested;
        options.status_line = target.scope == Scope::Global || !self.has_own_status_line(target)?;
        options.existing = emit::alternatives(&target.descriptor)
            .filter(|path| disk::is_file(target.root.resolve(path)))
            .map(str::to_owned)
            .collect();
        Ok(Some(emit::emit_all(self.library, &target.descriptor, target.scope, &options)))
    }

    /// Whether commands stand below routers: as asked for, else as an earlier install was asked to.
    fn nested(&self, target: &Target) -> Result<bool, InstallError> {
        let remembered = || {
            let manifest = vouch::read(target, &target.root)?.manifest;
            Ok(manifest.installs.get(&target.section_key(&Anchor::Root)).is_some_and(|section| section.nested))
        };
        self.nested.map_or_else(remembered, Ok)
    }

    /// Whether the user's own settings have a status line, which a project's would win over.
    fn has_own_status_line(&self, target: &Target) -> Result<bool, InstallError> {
        let Some(line) = &target.descriptor.status_line else { return Ok(false) };
        let Some(file) = target.descriptor.files.get(&line.file) else { return Ok(false) };
        let global = Target::resolve(target.descriptor.clone(), Scope::Global, &target.project, None, self.world)?;
        let path = file.path(Scope::Global, |path| disk::is_file(global.root.resolve(path)));
        let Some(text) = disk::read_text(global.root.resolve(path))? else { return Ok(false) };
        // A file that does not parse is the global install's matter; here it says nothing.
        let document = JsonDocument::parse(&text, JsonDialect::CommentsAndTrailingCommas);
        Ok(document.is_ok_and(|document| document.value(&line.path).is_some()))
    }

    /// The trees that an install may write in, for their locks.
    fn roots(&self, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
        let mut roots = target.possible_roots(&state(self.world)?);
        let manifest = vouch::read(target, &target.root)?.manifest;
        // An earlier version may have used a folder that the host's descriptor no longer names.
        let section = manifest.installs.get(&target.section_key(&Anchor::Root));
        roots.extend(section.iter().flat_map(|section| &section.homes).map(|home| target.user.resolve(home)));
        roots.extend(predecessor::folders(target)?);
        Ok(roots)
    }

    /// Folders above the roots of other hosts that installs of ours made: whoever goes last takes them along.
    fn made_by_others(&self, target: &Target) -> Result<BTreeSet<AbsolutePath>, InstallError> {
        let mut made = BTreeSet::new();
        if target.scope == Scope::Local {
            return Ok(made);
        }
        let first_folder = |root: &AbsolutePath| {
            let below = root.relative_to(&target.user)?.to_string();
            below.split('/').next().map(str::to_owned)
        };
        let Some(ours) = first_folder(&target.root) else { return Ok(made) };
        for descriptor in self.registry.all()?.into_iter().filter(|other| other.id != target.descriptor.id) {
            // A host whose folder cannot be told has no part in this one.
            let Ok(other) = Target::resolve(descriptor, Scope::Global, &target.project, None, self.world) else {
                continue;
            };
            if first_folder(&other.root).as_ref() != Some(&ours) {
                continue;
            }
            // A manifest that cannot be read is the matter of its own host.
            let manifest = vouch::read(&other, &other.root).unwrap_or_default().manifest;
            for section in manifest.installs.values() {
                let above = std::iter::successors(Some(other.root.clone()), AbsolutePath::parent);
                made.extend(above.take(section.holdings.folders_above));
            }
        }
        Ok(made)
    }

    /// The folders of the other hosts in the project of a local install.
    fn neighbours(&self, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
        let mut folders = Vec::new();
        if target.scope == Scope::Local {
            for descriptor in self.registry.all()? {
                if let Some(local) = descriptor.home.local.folder() {
                    folders.push(disk::canonical(&target.project.resolve(local))?);
                }
            }
        }
        folders.retain(|folder| *folder != target.root);
        folders.sort();
        folders.dedup();
        Ok(folders)
    }
}

/// Where the user's state is kept.
fn state(world: &World) -> Result<AbsolutePath, InstallError> {
    let folder = world.state_folder().ok_or(InstallError::NoHome)?;
    Ok(disk::canonical(&AbsolutePath::parse(folder)?)?)
}

impl Program {
    /// The program that runs, its links resolved.
    pub(crate) fn running(world: &World) -> Result<Self, InstallError> {
        let path = disk::real(&AbsolutePath::parse(world.executable()?)?)?;
        let digest = Digest::of_file(&path)?.ok_or_else(|| InstallError::NoProgram { path: path.clone() })?;
        Ok(Self { path: path.as_path().to_path_buf(), digest })
    }
}
