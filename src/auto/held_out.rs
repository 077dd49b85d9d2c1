//! The check that no session can read: which one a repository has, and whether it can be kept from sessions at all.

use crate::disk::{self, AbsolutePath, DiskError};
use crate::project::milestone_layout::held_out::HeldOutEntry;
use crate::project::repository::repository_of;

/// The variable that names the folder, in the command of the check and nowhere else.
pub(crate) const VARIABLE: &str = "GSD_HELD_OUT";

/// The check of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldOut {
    /// The folder, without links.
    pub(crate) folder: AbsolutePath,
    /// A line for a shell.
    pub(crate) command: String,
    /// The preferences that name both, without links.
    preferences: AbsolutePath,
}

/// Why a run with such an entry cannot begin.
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

/// What a run needs beside the folder.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    /// The root of the repository, and of its main worktree.
    pub(crate) roots: Vec<AbsolutePath>,
    /// What sessions and checks have to read.
    pub(crate) needed: Vec<AbsolutePath>,
    /// Where sessions and checks may write.
    pub(crate) writable: Vec<AbsolutePath>,
    /// The preferences.
    pub(crate) preferences: AbsolutePath,
}

impl HeldOut {
    /// The check among the entries that is for this repository; `None` where none is.
    pub(crate) fn of(entries: &[HeldOutEntry], around: &Around) -> Result<Option<Self>, HeldOutError> {
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

    /// What sessions, checks and filters cannot read.
    pub(crate) fn hidden(&self) -> [AbsolutePath; 2] {
        [self.folder.clone(), self.preferences.clone()]
    }
}
