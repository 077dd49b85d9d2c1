//! Where the sessions and the checks of a run may write, when they are fenced.

use std::path::{Path, PathBuf};

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::held_out::HeldOut;
use crate::auto::runner::own::all_but;
use crate::auto::unit::{Class, Unit};
use crate::disk::{self, AbsolutePath, Scratch};
use crate::world::fence::Fence;

/// A folder for temporary files.
pub(super) enum Temporary {
    /// The one of the system.
    Shared(PathBuf),
    /// One that is made for a session or for checks, and removed afterwards: what a run has to keep is in the other one.
    Own { _removed_with: Scratch, folder: AbsolutePath },
}

impl Temporary {
    fn folder(&self) -> &Path {
        match self {
            Self::Shared(folder) => folder,
            Self::Own { folder, .. } => folder.as_path(),
        }
    }

    /// The variable that names it, where programs would look elsewhere.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        match self {
            Self::Shared(_) => Vec::new(),
            Self::Own { folder, .. } => vec![("TMPDIR".to_owned(), folder.to_string())],
        }
    }
}

impl Real<'_> {
    /// What no session and no check may write to: the repository with all its worktrees but the one that the work is done
    /// in, and what this program keeps.
    fn kept(&self) -> Result<Vec<AbsolutePath>, EngineError> {
        let state = self.world.state_folder().and_then(|folder| AbsolutePath::parse(folder).ok());
        let kept = [Some(self.repository.root().clone()), Some(self.repository.common().clone()), state];
        let kept = kept.into_iter().flatten().chain(self.hidden());
        Ok(kept.map(|place| disk::real(&place)).collect::<Result<_, _>>()?)
    }

    /// What no session and no check may read.
    fn hidden(&self) -> impl Iterator<Item = AbsolutePath> {
        self.held_out.iter().flat_map(HeldOut::hidden)
    }

    fn fence_around(&self, writable: Vec<PathBuf>) -> Fence {
        Fence::around(writable).hiding(self.hidden().map(|place| place.as_path().to_path_buf()))
    }

    /// The system's folder for temporary files, unless it holds what no session and no check may write to.
    fn shared_temporary(&self) -> Result<Option<PathBuf>, EngineError> {
        let shared = self.world.temporary_folder();
        let real = AbsolutePath::parse(&shared).ok().map(|folder| disk::real(&folder)).transpose()?;
        let holds_what_is_kept = self.kept()?.iter().any(|kept| real.as_ref().is_some_and(|real| kept.is_within(real)));
        Ok((!holds_what_is_kept).then_some(shared))
    }

    /// Where temporary files of checks go. `None` where nothing is fenced.
    pub(super) fn temporary(&self) -> Result<Option<Temporary>, EngineError> {
        if !self.driver.is_fenced {
            return Ok(None);
        }
        if let Some(shared) = self.shared_temporary()? {
            return Ok(Some(Temporary::Shared(shared)));
        }
        disk::make_folder(&self.places.notes)?;
        let scratch = Scratch::new(self.places.notes.as_path())?;
        let folder = scratch.make_folder("tmp")?;
        Ok(Some(Temporary::Own { _removed_with: scratch, folder }))
    }

    /// Where a session of `unit` may write: in the worktree, or only in its planning folder; where git keeps what its agent commits, if it may; in what belongs to the client;
    /// where temporary files go, which is `temporary` at least; and, if it is to work on the project, where build tools keep what they fetched.
    pub(super) fn fence_of_session(&self, unit: &Unit, temporary: &AbsolutePath) -> Result<Fence, EngineError> {
        let (kept, worktree) = (self.kept()?, &self.places.worktree);
        let mut writable = self.driver.runner.own_places(self.world, &kept)?;
        if unit.kind.class() == Class::Planning {
            let planning = worktree.resolve(self.layout.folder());
            // A unit before may have put a link there.
            disk::stays_within(&planning, worktree)?;
            disk::make_folder(&planning)?;
            writable.push(planning.as_path().to_path_buf());
        } else {
            writable.push(worktree.as_path().to_path_buf());
            self.add_caches(&kept, &mut writable)?;
        }
        if self.layout.lets_agents_commit() {
            let places = self.repository.places_of_commits(&self.worktree)?;
            writable.extend(places.iter().map(|place| place.as_path().to_path_buf()));
        }
        if !self.driver.runner.usage_file.is_empty() {
            disk::make_folder(&self.usage_folder())?;
            writable.push(self.usage_folder().as_path().to_path_buf());
        }
        writable.push(self.shared_temporary()?.unwrap_or_else(|| temporary.as_path().to_path_buf()));
        Ok(self.fence_around(writable))
    }

    /// The only folder among the notes of a run that a session may write to.
    pub(super) fn usage_folder(&self) -> AbsolutePath {
        self.places.notes.resolve("usage")
    }

    /// Where checks in `folder` may write. What belongs to the client is not among it.
    pub(super) fn fence_of_checks(&self, folder: &AbsolutePath, temporary: &Temporary) -> Result<Fence, EngineError> {
        let mut writable = vec![folder.as_path().to_path_buf(), temporary.folder().to_path_buf()];
        self.add_caches(&self.kept()?, &mut writable)?;
        Ok(self.fence_around(writable))
    }

    fn add_caches(&self, kept: &[AbsolutePath], writable: &mut Vec<PathBuf>) -> Result<(), EngineError> {
        for cache in self.world.build_caches() {
            all_but(kept, cache, writable)?;
        }
        Ok(())
    }
}
