//! The folders that a run works in.

use crate::auto::landing::error::LandingError;
use crate::auto::landing::repository::Repository;
use crate::auto::real::Places;
use crate::commands::auto::place::Place;
use crate::disk::AbsolutePath;

/// Where candidates are checked out: beside the worktree.
pub(super) fn scratch_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-candidate", worktree.name()))
}

/// Where the checks of units run.
pub(super) fn checkout_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-checks", worktree.name()))
}

/// Refuses a repository in which links lead a folder that a run works in elsewhere, before anything is done there.
pub(super) fn check_places(repository: &Repository, worktree: &AbsolutePath) -> Result<(), LandingError> {
    let places = [worktree.clone(), scratch_of(worktree), checkout_of(worktree)];
    places.iter().try_for_each(|place| repository.check_place(place))
}

/// Where a run works, and where its notes are.
pub(super) fn places_of(place: &Place, worktree: &AbsolutePath) -> Places {
    Places {
        worktree: worktree.clone(),
        scratch: scratch_of(worktree),
        checkout: checkout_of(worktree),
        notes: place.folder(),
    }
}
