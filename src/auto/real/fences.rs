//! The fences of sessions and checks: where they may write.

use std::path::PathBuf;

use super::Real;
use crate::auto::caches::Caches;
use crate::auto::engine::EngineError;
use crate::auto::held_out::HeldOut;
use crate::auto::runner::own::{Staged, UNKNOWN_FOLDERS_HINT, unknown_folders};
use crate::auto::slot::RunSlot;
use crate::auto::unit::{Class, Unit};
use crate::disk::{self, AbsolutePath, Scratch};
use crate::failure::{Failure, Reason};
use crate::world::fence::Fence;

impl Real<'_> {
    /// Returns the paths that sessions and checks must not read.
    fn hidden(&self) -> impl Iterator<Item = AbsolutePath> {
        self.held_out.iter().flat_map(HeldOut::hidden)
    }

    /// Returns a fence around these folders for the client, or for programs outside of clients.
    fn fence_around(&self, writable: Vec<PathBuf>, client: Option<&str>, temporary: &AbsolutePath) -> Fence {
        let fence = Fence::around(writable).hiding(self.hidden().map(|place| place.as_path().to_path_buf()));
        fence.with_temporary(temporary.as_path()).for_user(self.world, client, &self.openings)
    }

    /// Makes a folder for temporary files of checks, which is removed with the value. `None` without fences.
    pub(super) fn temporary(&self) -> Result<Option<Scratch>, EngineError> {
        self.driver.is_fenced.then(|| self.new_temporary()).transpose()
    }

    /// Makes a folder for temporary files. Its path is short, since sockets are made in it, and has the name of the
    /// run, so that a later process finds it if this one dies.
    pub(super) fn new_temporary(&self) -> Result<Scratch, EngineError> {
        let number = self.temporaries.get() + 1;
        self.temporaries.set(number);
        Ok(Scratch::named(&self.world.temporary_folder(), &format!("{}-{number}", self.run))?)
    }

    /// Stages the user's files for the client of a session of `unit`. `None` without fences.
    pub(super) fn staged(&self, unit: &Unit) -> Result<Option<Staged>, EngineError> {
        if !self.driver.is_fenced {
            return Ok(None);
        }
        let given = self.caches_of(unit)?.map(|caches| caches.variables.as_slice()).unwrap_or_default();
        let staged = self.driver.runner.stage(self.world, &self.places.notes.resolve("client"), given)?;
        let staged = staged.ok_or_else(|| {
            Failure::new(Reason::Unknown, unknown_folders(&self.driver.runner)).hint(UNKNOWN_FOLDERS_HINT)
        })?;
        Ok(Some(staged))
    }

    /// Returns the caches of build tools for a unit that works on the project.
    pub(super) fn caches_of(&self, unit: &Unit) -> Result<Option<&Caches>, EngineError> {
        if unit.kind.class() == Class::Planning { Ok(None) } else { self.caches() }
    }

    /// Returns the caches of build tools. `None` without fences.
    pub(super) fn caches(&self) -> Result<Option<&Caches>, EngineError> {
        if !self.driver.is_fenced {
            return Ok(None);
        }
        if let Some(known) = self.caches.get() {
            return Ok(Some(known));
        }
        let found = Caches::of(self.world, &self.places.notes.resolve("caches"))?;
        Ok(Some(self.caches.get_or_init(|| found)))
    }

    /// Returns the variables of the slot that the run works in. Units that only plan get no cache: they could not write
    /// to it.
    pub(super) fn slot(&self, with_cache: bool) -> Result<Vec<(String, String)>, EngineError> {
        let milestone = self.run.rsplit_once('-').map_or(self.run.as_str(), |(milestone, _)| milestone);
        let slot = RunSlot { root: self.repository.root(), milestone, number: 0 };
        if !with_cache {
            return Ok(slot.variables(None));
        }
        let caches = self.places.notes.resolve("caches");
        let folder = caches.resolve(slot.folder());
        disk::make_folder(&caches)?;
        // A session may have left a link here.
        disk::clear_way(&folder, &caches)?;
        disk::make_folder(&folder)?;
        Ok(slot.variables(Some(&folder)))
    }

    /// Returns the fence of a session of `unit`. It may write in the worktree, or only in its planning folder; in its
    /// own repository, if its agent commits; in its client's view of the user's files; in the folder `temporary`; and,
    /// if it works on the project, in the caches of build tools.
    pub(super) fn fence_of_session(
        &self,
        unit: &Unit,
        temporary: &AbsolutePath,
        staged: &Staged,
    ) -> Result<Fence, EngineError> {
        let worktree = &self.places.worktree;
        let mut writable = vec![staged.folder().as_path().to_path_buf()];
        if unit.kind.class() == Class::Planning {
            let planning = worktree.resolve(self.layout.folder());
            // An earlier unit may have put a link there.
            disk::stays_within(&planning, worktree)?;
            disk::make_folder(&planning)?;
            writable.push(planning.as_path().to_path_buf());
        } else {
            writable.push(worktree.as_path().to_path_buf());
            writable.extend(self.caches()?.into_iter().flat_map(|caches| caches.writable.iter().cloned()));
        }
        if self.layout.lets_agents_commit() {
            writable.push(self.repository.place_of_session(&self.worktree)?.as_path().to_path_buf());
        }
        if !self.driver.runner.usage_file.is_empty() {
            disk::make_folder(&self.usage_folder())?;
            writable.push(self.usage_folder().as_path().to_path_buf());
        }
        Ok(self.fence_around(writable, Some(&self.driver.runner.name), temporary))
    }

    /// The only folder among the notes of a run that a session may write to.
    pub(super) fn usage_folder(&self) -> AbsolutePath {
        self.places.notes.resolve("usage")
    }

    /// Returns the fence of checks in `folder`. The client's files are outside of it.
    pub(super) fn fence_of_checks(
        &self,
        folder: &AbsolutePath,
        temporary: &AbsolutePath,
    ) -> Result<Fence, EngineError> {
        let mut writable = vec![folder.as_path().to_path_buf()];
        writable.extend(self.caches()?.into_iter().flat_map(|caches| caches.writable.iter().cloned()));
        Ok(self.fence_around(writable, None, temporary))
    }

    /// Returns the fence of the held-out check, which can read what sessions cannot.
    pub(super) fn fence_of_held_out(&self, temporary: &AbsolutePath) -> Fence {
        let nothing: [PathBuf; 0] = [];
        Fence::around(nothing).with_temporary(temporary.as_path()).sealed().for_user(self.world, None, &self.openings)
    }
}
