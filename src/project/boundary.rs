//! The trust boundary: everything that came with a repository is only data.
//!
//! A clone brings links, and a link may lead anywhere. A document of a project is read and written only if its real
//! path is below the project's root, or below the planning folder that a person trusted.

use std::path::{Path, PathBuf};

use crate::disk::{self, AbsolutePath, ChangeSet, DiskError, RealPaths};
use crate::failure::Explain;

use super::local_state::LocalState;

/// The name of the note with the folder outside the project that a person trusts.
pub(crate) const TRUSTED_PLANNING: &str = "trusted-planning.json";

/// Where the documents of a project may really be.
#[derive(Clone, Debug)]
pub(crate) struct Boundary {
    /// The root as the call found it, and its real path.
    roots: Vec<AbsolutePath>,
    planning: AbsolutePath,
    /// The target of the planning folder, if a person trusts it.
    trusted: Option<AbsolutePath>,
}

/// Why a path is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BoundaryError {
    #[error("the planning folder `{path}` is a link to `{to}`, outside the project, which only a person can allow")]
    Planning { path: AbsolutePath, to: AbsolutePath },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Explain for BoundaryError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Planning { .. } => {
                Some("if you put it there, type `gsd-tools trust planning` in a terminal".to_owned())
            }
            Self::Disk(error) => error.hint(),
        }
    }
}

impl Boundary {
    /// The boundary of the project at `root` with its planning folder at `planning`. The trusted target is a note below
    /// `state_folder`; an unreadable note means that nothing is trusted.
    pub(crate) fn of(root: &Path, planning: &Path, state_folder: Option<&Path>) -> Result<Self, DiskError> {
        let (root, planning) = (AbsolutePath::parse(root)?, AbsolutePath::parse(planning)?);
        let real = disk::canonical(&root)?;
        let is_link = disk::real(&planning)? != real.resolve(planning.name());
        let noted = || LocalState::of(state_folder?, &root).ok()?.read::<PathBuf>(TRUSTED_PLANNING).ok()?;
        let trusted = if is_link { noted().and_then(|path| AbsolutePath::parse(path).ok()) } else { None };
        let mut roots = vec![root, real];
        roots.dedup();
        Ok(Self { roots, planning, trusted })
    }

    /// Whether a path is in the project, wherever it leads.
    pub(crate) fn is_about(&self, path: &AbsolutePath) -> bool {
        self.roots.iter().any(|root| path.is_within(root))
    }

    /// Refuses a path in the project that leads out of it. A path outside the project passes: a person typed it, or the
    /// file is their own.
    pub(crate) fn check(&self, path: impl AsRef<Path>) -> Result<(), BoundaryError> {
        self.check_at(path, &mut RealPaths::default())
    }

    /// As [`Self::check`], but reuses the real paths of folders that other checks found at the same moment.
    pub(super) fn check_at(&self, path: impl AsRef<Path>, places: &mut RealPaths) -> Result<(), BoundaryError> {
        let path = AbsolutePath::parse(path).map_err(DiskError::from)?;
        if !self.is_about(&path) {
            return Ok(());
        }
        let real = places.of(&path)?;
        let may_be = self.roots.last().into_iter().chain(&self.trusted);
        if may_be.into_iter().any(|folder| real.is_within(folder)) {
            return Ok(());
        }
        let planning = disk::real(&self.planning)?;
        let root = self.roots.last().is_some_and(|root| planning.is_within(root));
        if !root && path.is_within(&self.planning) && self.trusted.as_ref() != Some(&planning) {
            return Err(BoundaryError::Planning { path: self.planning.clone(), to: planning });
        }
        Err(DiskError::LeadsOut { path: path.as_path().to_path_buf(), to: real.as_path().to_path_buf() }.into())
    }

    /// Refuses the changes if one of them would be made outside.
    pub(crate) fn check_all(&self, changes: &ChangeSet) -> Result<(), BoundaryError> {
        changes.iter().try_for_each(|change| self.check(change.path()))
    }
}
