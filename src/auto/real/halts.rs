//! Turns changes to the worktree or repository during a run into a stop with a command to continue.

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::landing::error::LandingError;
use crate::auto::stop::{Cause, Stop};
use crate::disk::{self, AbsolutePath};
use crate::failure::Explain;
use crate::text::shell::{Typed, typed};

const AGAIN: &str = "gsd-tools auto run";

impl Real<'_> {
    /// Returns the stop for an error that is caused by changes to the worktree or repository; else the error. If its
    /// folder is missing, git reports that git itself is missing.
    pub(super) fn stop_by(&self, error: EngineError) -> Result<Stop, EngineError> {
        if !disk::is_folder(&self.places.worktree) {
            return Ok(missing(&self.places.worktree));
        }
        match error {
            EngineError::Stopped(stop) => Ok(*stop),
            error => Err(error),
        }
    }
}

fn missing(folder: &AbsolutePath) -> Stop {
    Stop::new(
        Cause::WorktreeDamaged,
        format!("the worktree `{folder}` is missing: it was moved or removed"),
        typed!("git worktree remove --force --force {}", folder),
    )
    .shown([
        "the branch has everything that was committed; `gsd-tools auto run` makes the worktree again after that command".to_owned(),
        "if you moved it, move it back instead".to_owned(),
    ])
}

/// Returns the stop for an error of git work; `None` for one that is unrelated to the worktree and the repository.
pub(super) fn stop_of(error: &LandingError, text: String) -> Option<Stop> {
    let then = || "`gsd-tools auto run` continues after that command".to_owned();
    let damaged = |next: Typed| Stop::new(Cause::WorktreeDamaged, text.clone(), next).shown([then()]);
    Some(match error {
        LandingError::Missing { folder } => missing(folder),
        LandingError::Replaced { folder } => damaged(typed!("rm -rf {}", format!("{folder}/.git"))),
        LandingError::Embedded { folder, path } => damaged(typed!("rm -rf {}", format!("{folder}/{path}/.git"))),
        LandingError::BranchLeft { folder, expected, .. } => {
            damaged(typed!("git -C {} switch --force {}", folder, expected))
        }
        LandingError::InProgress { operation, folder } => {
            let end = if *operation == "bisect" { "reset" } else { "--abort" };
            damaged(typed!("git -C {} {} {}", folder, operation, end))
        }
        LandingError::NoBranch { .. }
        | LandingError::NoIdentity { .. }
        | LandingError::Unsigned { .. }
        | LandingError::Submodule { .. }
        | LandingError::Answer { .. }
        | LandingError::Locked { .. }
        | LandingError::Git { .. }
        | LandingError::GitKilled { .. }
        | LandingError::Moved { .. }
        | LandingError::Unrestored { .. } => Stop::new(Cause::GitFailed, text, AGAIN)
            .shown(error.hint().into_iter().filter(|hint| !hint.contains(AGAIN))),
        _ => return None,
    })
}
