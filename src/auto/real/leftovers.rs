//! Cleans up after a process that died during a run: programs that still run, and files that were to replace others.

use std::time::{Duration, Instant};

use crate::auto::engine::EngineError;
use crate::auto::event::Run;
use crate::auto::landing::repository::Repository;
use crate::auto::memory::Memory;
use crate::auto::phases;
use crate::disk::{self, AbsolutePath, DiskError, Scratch};
use crate::failure::{Failure, Reason};
use crate::project::milestone_layout::lookup;
use crate::text::shell::Typed;
use crate::world::World;
use crate::world::tree::Mark;

/// How long to wait for a git that still runs. If killed, it would leave its locks.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the mark of checks on a commit outside of units: a candidate, or the commit that the run started from. It
/// includes the place, since another clone of the repository has the same commits and may have a separate run.
pub(super) fn mark_of_commit(worktree: &str, commit: &str) -> Mark {
    Mark::of(&format!("checks {worktree} {commit}"))
}

/// Returns the mark of the set-up of a run's worktree.
pub(super) fn mark_of_set_up(worktree: &str, run: &str) -> Mark {
    Mark::of(&format!("set-up {worktree} {run}"))
}

/// Ends all programs that sessions, set-ups and checks left, according to the log. This precedes everything else.
pub(crate) fn end_programs(memory: &Memory) -> Result<(), EngineError> {
    let of_session = memory.current.as_ref().and_then(|operation| Mark::parse(&operation.start.mark));
    let of_run = |run: &Run| {
        let of_candidate = memory.candidate.as_ref().map(|candidate| mark_of_commit(&run.worktree, &candidate.commit));
        let of_base = (!memory.has_baseline).then(|| mark_of_commit(&run.worktree, &run.base));
        let of_set_up = run.means.set_up.is_some().then(|| mark_of_set_up(&run.worktree, &run.id));
        [of_candidate, of_base, of_set_up]
    };
    let of_run = memory.run.as_ref().map(of_run).into_iter().flatten().flatten();
    let of_hook = memory.hooking.as_ref().and_then(|hook| Mark::parse(&hook.mark));
    let mut marks = of_session.into_iter().chain(of_hook).chain(of_run);
    marks.try_for_each(|mark| end_all(Some(mark)))
}

pub(super) fn end_all(mark: Option<Mark>) -> Result<(), EngineError> {
    let left = mark.map(|mark| mark.end_all()).unwrap_or_default();
    if left.is_empty() {
        return Ok(());
    }
    let left: Vec<String> = left.iter().map(u32::to_string).collect();
    let message = format!("processes of an earlier session could not be ended: {}", left.join(", "));
    let kill = left.iter().fold(Typed::from("kill -KILL"), Typed::word);
    Err(Failure::new(Reason::Unknown, message).hint(format!("run `{kill}`")).into())
}

/// Removes the temporary files of sessions and checks of the run.
pub(crate) fn remove_temporary(world: &World, memory: &Memory) -> Result<(), DiskError> {
    let run = memory.run.as_ref().map(|run| &run.id);
    run.map_or(Ok(()), |run| Scratch::forget_all(&world.temporary_folder(), run))
}

/// Waits for a git in this repository that a dead process had started, and removes the locks of one that died too.
pub(crate) fn settle_git(
    world: &World,
    repository: &Repository,
    (folder, branch): (&AbsolutePath, &str),
) -> Result<(), EngineError> {
    let (mark, until) = (repository.mark(), Instant::now() + PATIENCE);
    while mark.is_in_use() && Instant::now() < until {
        world.pause(Duration::from_millis(20));
    }
    // Other systems do not show whether one runs.
    if cfg!(unix) && !mark.is_in_use() {
        repository.remove_locks(folder, branch)?;
    }
    Ok(())
}

/// Removes files that were to replace others and were never moved into place.
pub(crate) fn remove_files(
    repository: &Repository,
    worktree: &AbsolutePath,
    notes: &AbsolutePath,
) -> Result<(), DiskError> {
    for documents in [lookup::FOLDER, phases::FOLDER].map(|folder| worktree.resolve(folder)) {
        // A session may have put a link there.
        if disk::passes_no_link(&documents, repository.root()).is_ok() {
            disk::remove_left_below(&documents)?;
        }
    }
    let around = worktree.parent().filter(|around| repository.check_place(around).is_ok());
    // The engine writes `.git` in the worktree itself.
    let own = Some(worktree).filter(|worktree| repository.check_place(worktree).is_ok());
    for folder in [notes].into_iter().chain(around.as_ref()).chain(own).chain([repository.common()]) {
        disk::remove_left(folder)?;
    }
    Ok(())
}
