//! The folders that a run works in.

use crate::acts::auto::place::RunPlace;
use crate::auto::landing::error::LandingError;
use crate::auto::landing::repository::Repository;
use crate::auto::real::Places;
use crate::disk::AbsolutePath;

/// The folder in which candidates are checked out: next to the worktree.
pub(crate) fn scratch_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-candidate", worktree.name()))
}

/// The folder in which the checks of units run.
pub(crate) fn checkout_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-checks", worktree.name()))
}

/// Refuses a repository in which a link redirects a folder that a run works in, before anything is done there.
pub(crate) fn check_places(repository: &Repository, worktree: &AbsolutePath) -> Result<(), LandingError> {
    let places = [worktree.clone(), scratch_of(worktree), checkout_of(worktree)];
    places.iter().try_for_each(|place| repository.check_place(place))
}

/// The folders of a run and of its notes.
pub(crate) fn places_of(place: &RunPlace, worktree: &AbsolutePath) -> Places {
    Places {
        worktree: worktree.clone(),
        scratch: scratch_of(worktree),
        checkout: checkout_of(worktree),
        notes: place.folder(),
    }
}
