//! The trust boundary: everything that came with a repository is only data.
//!
//! A clone brings links, and a link may lead anywhere. A document of a project is read and written only if its real
//! path is below the project's root, or below the planning folder that a person trusted.
//!
//! The page for users is SECURITY.md. What enforces it:
//!
//! - `DiskFiles` asks this module for every read of a document, `Project::changes` and `files::change` for every
//!   write, `HookProject` for the hooks, and `files::read` and `files::output` for the files that a call names.
//! - `disk::read_up_to` opens regular files only, up to a size.
//! - `install::vouch` trusts the manifest of a project only if the state folder has its digest, and `disk::recover` a
//!   journal only if the lock outside the tree names it.
//! - `Program::git` does not start git in a folder of a clone that looks like a bare repository,
//!   `root::repository_of_others` finds whose repository a `.git` leads to, and `files::hold_to_project` refuses
//!   folders outside the project.
//! - `Program::apart` starts look-up programs in the home folder, with an environment from an allow-list.
//! - An unsafe value of a setting is dropped in `Config::read`, so no reader sees it; a name with characters that a
//!   shell acts on is refused in `ProjectView::folder_at`.
//! - What a host runs without asking is `listing::unasked_calls`, in the form of rule that its descriptor gives. The
//!   hook `permission_guard` refuses lines that a host's rules do not understand: it accepts only what `PlainLine`
//!   parses. Real clients are asked which lines of `tests/clients/spellings.toml` get past their rules.

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
