//! What was done to the worktree or the repository while a run went on, as an end of the run with a command that goes on.

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::landing::error::LandingError;
use crate::auto::stop::{Cause, Stop};
use crate::disk::{self, AbsolutePath};
use crate::text::shell::shell_word;

const AGAIN: &str = "gsd-tools auto run";

impl Real<'_> {
    /// The end that an error comes to, where somebody changed what the run works in; else the error. Git that finds no folder
    /// to work in says that it is not there itself.
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
    let place = shell_word(&folder.to_string());
    Stop::new(
        Cause::WorktreeDamaged,
        format!("the worktree `{folder}` is missing: it was moved or removed"),
        format!("git worktree remove --force --force {place}"),
    )
    .shown([
        "the branch has everything that was committed; `gsd-tools auto run` makes the worktree again after that command".to_owned(),
        "if you moved it, move it back instead".to_owned(),
    ])
}

/// The end that an error of git work comes to; `None` for one that says nothing about the worktree or the repository.
pub(super) fn stop_of(error: &LandingError, text: String) -> Option<Stop> {
    let at = |folder: &AbsolutePath| shell_word(&folder.to_string());
    let then = || "`gsd-tools auto run` continues after that command".to_owned();
    let damaged = |next: String| Stop::new(Cause::WorktreeDamaged, text.clone(), next).shown([then()]);
    Some(match error {
        LandingError::Missing { folder } => missing(folder),
        LandingError::Replaced { folder } => damaged(format!("rm -rf {}/.git", at(folder))),
        LandingError::Embedded { folder, path } => {
            damaged(format!("rm -rf {}", shell_word(&format!("{folder}/{path}/.git"))))
        }
        LandingError::BranchLeft { folder, expected, .. } => {
            damaged(format!("git -C {} switch --force {}", at(folder), shell_word(expected)))
        }
        LandingError::InProgress { operation, folder } => {
            let end = if *operation == "bisect" { "reset" } else { "--abort" };
            damaged(format!("git -C {} {operation} {end}", at(folder)))
        }
        LandingError::NoBranch { .. }
        | LandingError::NoIdentity { .. }
        | LandingError::Unsigned { .. }
        | LandingError::Submodule { .. }
        | LandingError::OwnSettings
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
