//! The held-out check, which sessions cannot read: finds the one for a repository, and verifies that it can be hidden
//! from sessions.

use crate::disk::{self, AbsolutePath, DiskError};
use crate::project::milestone_layout::held_out::HeldOutEntry;
use crate::project::repository::repository_of;

/// The variable that names the folder, set only for the command of the check.
pub(crate) const VARIABLE: &str = "GSD_HELD_OUT";

/// The held-out check of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldOut {
    /// The folder, without links.
    pub(crate) folder: AbsolutePath,
    /// A shell command line.
    pub(crate) command: String,
    /// The preferences file that names both, without links.
    preferences: AbsolutePath,
}

/// Why a run with such an entry cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeldOutError {
    #[error("two entries of `held_out` are for this repository")]
    Two,
    #[error("`{folder}` is not an absolute path")]
    Relative { folder: String },
    #[error("`{folder}` is not a folder")]
    Missing { folder: AbsolutePath },
    #[error("`{folder}` is in the repository `{root}`, so that sessions can read it there")]
    InRepository { folder: AbsolutePath, root: AbsolutePath },
    #[error("`{folder}` holds `{other}`, which sessions and checks need")]
    Holds { folder: AbsolutePath, other: AbsolutePath },
    #[error("`{folder}` is in `{other}`, where sessions and checks may write")]
    Writable { folder: AbsolutePath, other: AbsolutePath },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The paths around the folder that are checked.
#[derive(Clone, Debug)]
pub(crate) struct PathsAround {
    /// The roots of the repository and of its main worktree.
    pub(crate) roots: Vec<AbsolutePath>,
    /// The paths that sessions and checks have to read.
    pub(crate) needed: Vec<AbsolutePath>,
    /// The paths that sessions and checks may write.
    pub(crate) writable: Vec<AbsolutePath>,
    /// The preferences file.
    pub(crate) preferences: AbsolutePath,
}

impl HeldOut {
    /// Returns the entry for this repository, if any.
    pub(crate) fn of(entries: &[HeldOutEntry], around: &PathsAround) -> Result<Option<Self>, HeldOutError> {
        let roots = around.roots.iter().map(disk::real).collect::<Result<Vec<_>, _>>()?;
        let mut own = entries.iter().filter(|entry| {
            let root = AbsolutePath::parse(&entry.repository).ok().and_then(|root| disk::real(&root).ok());
            root.is_some_and(|root| roots.contains(&root))
        });
        let Some(entry) = own.next() else { return Ok(None) };
        if own.next().is_some() {
            return Err(HeldOutError::Two);
        }
        let named =
            AbsolutePath::parse(&entry.folder).map_err(|_| HeldOutError::Relative { folder: entry.folder.clone() })?;
        if !disk::is_folder(&named) {
            return Err(HeldOutError::Missing { folder: named });
        }
        let folder = disk::real(&named)?;
        if let Some(root) = repository_of(&folder) {
            return Err(HeldOutError::InRepository { folder, root });
        }
        for other in roots.iter().chain(&around.needed).map(disk::real) {
            let other = other?;
            if other.is_within(&folder) {
                return Err(HeldOutError::Holds { folder, other });
            }
        }
        for other in around.writable.iter().map(disk::real) {
            let other = other?;
            if folder.is_within(&other) {
                return Err(HeldOutError::Writable { folder, other });
            }
        }
        let preferences = disk::real(&around.preferences)?;
        Ok(Some(Self { folder, command: entry.command.clone(), preferences }))
    }

    /// The paths that sessions, checks and filters cannot read.
    pub(crate) fn hidden(&self) -> [AbsolutePath; 2] {
        [self.folder.clone(), self.preferences.clone()]
    }
}
