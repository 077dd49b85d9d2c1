//! The held-out check of a repository, found and refused before a run begins or continues.

use super::place::Preferred;
use crate::acts::Call;
use crate::acts::user;
use crate::auto::held_out::{HeldOut, PathsAround};
use crate::auto::landing::repository::Repository;
use crate::auto::real::Driver;
use crate::disk::{AbsolutePath, DiskError};
use crate::failure::Failure;
use crate::project::milestone_layout::held_out::KEY;
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::project::repository::main_worktree;

const CORRECT: &str = "correct or remove that entry, then run the command again";

/// The check that the user's preferences name for this repository. It is refused if sessions could read it.
pub(crate) fn of(
    call: &Call,
    repository: &Repository,
    preferred: &Preferred,
    driver: &Driver,
) -> Result<Option<HeldOut>, Failure> {
    let Some((line, entries)) = &preferred.held_out else { return Ok(None) };
    let refused = |why: &dyn std::fmt::Display, hint: &str| {
        let message = format!("`{}` line {line}: `{KEY}`: {why}", PreferenceSource::Global.file());
        Failure::usage(message).exits(64).hint(hint)
    };
    let entries = entries.as_ref().map_err(|why| refused(why, CORRECT))?;
    if entries.is_empty() {
        return Ok(None);
    }
    let around = around(call, repository).map_err(Failure::from)?;
    let Some(held_out) = HeldOut::of(entries, &around).map_err(|error| refused(&error, CORRECT))? else {
        return Ok(None);
    };
    if driver.is_fenced {
        return Ok(Some(held_out));
    }
    let why = "without a fence every session could read the held-out check of this repository";
    Err(refused(&why, "run without `--no-fence`, or with `--fence`; on a system without a fence remove that entry"))
}

fn around(call: &Call, repository: &Repository) -> Result<PathsAround, DiskError> {
    let world = call.world();
    let paths = |paths: Vec<std::path::PathBuf>| -> Vec<AbsolutePath> {
        paths.into_iter().filter_map(|path| AbsolutePath::parse(path).ok()).collect()
    };
    let root = repository.root().clone();
    let roots = main_worktree(&root).into_iter().chain([root]).collect();
    let needed = [world.home(), world.state_folder(), Some(world.temporary_folder()), world.executable().ok()];
    let mut needed = paths(needed.into_iter().flatten().collect());
    needed.push(repository.common().clone());
    // Everything else that sessions write to is in the state folder, which is needed.
    let writable = paths(vec![world.temporary_folder()]);
    let preferences = user::file(call.world(), "PREFERENCES.md").unwrap_or_default();
    Ok(PathsAround { roots, needed, writable, preferences: AbsolutePath::parse(preferences)? })
}
