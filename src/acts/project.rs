//! Reading the project of a call, and the notes about it on this computer.

use std::ops::Deref;

use super::history::commit_times;
use super::{Call, facts};
use crate::disk::{self, AbsolutePath, Disk, Lock, PeerLock};
use crate::failure::Failure;
use crate::project::Project;
use crate::project::auto_run::Runs;
use crate::project::layout::Layout;
use crate::project::local_state::LocalState;
use crate::project::root;
use crate::project::view::ProjectView;
use crate::project::wave::WaveNote;

impl Call {
    /// The project as it is now. Writers wait while it is read, so that its documents are from one moment; if a writer
    /// was killed in the middle of a write, there is a warning.
    pub(crate) fn view(&self) -> Reading {
        let tree = AbsolutePath::parse(self.project().locked_tree()).ok();
        let lock = tree.as_ref().and_then(|tree| self.disk().share(tree));
        if let Some(tree) = tree
            && disk::is_unfinished(&tree).unwrap_or(false)
            && !self.warned_unfinished.replace(true)
        {
            self.warn(format!(
                "a write to `{tree}` was interrupted, and its files may be incomplete; run `gsd-tools recover`"
            ));
        }
        Reading { view: look_back(self), _lock: lock }
    }

    /// The notes about the project that this computer keeps outside of it.
    pub(crate) fn local_state(&self) -> Result<LocalState, Failure> {
        local_state_if_any(self)?.ok_or_else(|| {
            Failure::usage("no home folder, so there is no place for notes").hint("set HOME or XDG_STATE_HOME")
        })
    }

    /// Refuses a call outside of a project.
    pub(crate) fn needs_a_project(&self) -> Result<(), Failure> {
        if self.has_a_project() { Ok(()) } else { Err(none_here(self)) }
    }
}

/// The error of a command that needs a project, outside of one.
pub(super) fn none_here(call: &Call) -> Failure {
    let error = Failure::usage(format!("there is no project in `{}` (no .planning folder)", call.here()));
    match super::hosts::installed_command(call, "new-project").ok().flatten() {
        Some(start) => error.hint(format!("start one with `{start}` in your agent, or name one with --cwd")),
        None => error.hint("`gsd-tools install` adds the commands that start one to your agent"),
    }
}

/// As [`Call::local_state`]; `None` without a home folder.
pub(crate) fn local_state_if_any(call: &Call) -> Result<Option<LocalState>, Failure> {
    let folder = call.world().state_folder();
    Ok(folder.map(|folder| LocalState::of(&folder, call.root())).transpose()?)
}

/// The decision of `worktree create-wave` about a wave that is not merged yet; also `None` if the note cannot be read.
pub(crate) fn noted_wave(call: &Call) -> Option<WaveNote> {
    WaveNote::of_project(&call.world().state_folder()?, call.root())
}

/// The folder of an install for this project only.
pub(crate) fn install_folder(call: &Call) -> AbsolutePath {
    root::of_install(call.here(), call.world().home().as_deref())
}

/// The project of milestones of `auto` around the call, outside of planning folders, with its runs. The milestone of a
/// first run is only in its worktree.
pub(crate) fn milestones(call: &Call) -> Option<(AbsolutePath, Runs)> {
    if call.has_a_project() {
        return None;
    }
    let found = root::of_milestones(call.here(), call.world().home().as_deref());
    let is_found = found.is_some();
    let root = found.unwrap_or_else(|| call.root().clone());
    let runs = facts::runs(call, &root);
    (is_found || runs.unfinished.is_some()).then_some((root, runs))
}

/// Reads the project, using what earlier calls have learned. Sessions of a run do not write to the user's folders, and
/// neither does a rehearsal, so they read it without.
fn look_back(call: &Call) -> ProjectView {
    let (project, world) = (call.project(), call.world().clone());
    if world.is_unit() || call.is_rehearsal() {
        return look(call, &project);
    }
    let at = world.now().milliseconds();
    project.view_that_remembers(Box::new(move |layout, paths| commit_times(&world, layout, paths)), at)
}

/// Reads a project.
pub(super) fn look(call: &Call, project: &Project) -> ProjectView {
    let world = call.world().clone();
    project.view(Box::new(move |layout, paths| commit_times(&world, layout, paths)))
}

/// Returns a function that reads the project at `folder` each time it is called, whatever workstream the call is for.
pub(crate) fn view_at(call: &Call, folder: &AbsolutePath) -> Box<dyn Fn() -> ProjectView> {
    let (layout, world) = (Layout::new(folder.as_path(), None, None), call.world().clone());
    Box::new(move || {
        let world = world.clone();
        let project = Project::new(layout.clone(), world.state_folder());
        project.view(Box::new(move |layout, paths| commit_times(&world, layout, paths)))
    })
}

/// Finishes what a killed call left in the project: its half of a write, and its lock files. Returns the trees in which
/// a write was unfinished.
pub(crate) fn recover(call: &Call) -> Result<Vec<String>, Failure> {
    if !call.has_a_project() {
        return Ok(Vec::new());
    }
    let disk = call.disk();
    let hold = disk.hold([call.project().locked_tree()])?;
    // A lock file of a process that is gone is taken over, and removed when this value is dropped.
    drop(peer_locks(call.layout(), &disk)?);
    Ok(hold.recovered().iter().map(ToString::to_string).collect())
}

/// The lock files of other programs that write to the same documents; empty if there is nothing to share yet.
pub(crate) fn peer_locks(layout: &Layout, disk: &Disk) -> Result<Vec<PeerLock>, Failure> {
    let scope = layout.absolute(&layout.scope());
    if !disk::is_folder(&scope) {
        return Ok(Vec::new());
    }
    let mut locks = vec![disk.peer_planning_lock(&AbsolutePath::parse(&scope)?)?];
    let state = layout.absolute(&layout.state());
    if disk::is_file(&state) {
        locks.push(disk.peer_state_lock(&AbsolutePath::parse(&state)?)?);
    }
    Ok(locks)
}

/// A project that is being read.
pub(crate) struct Reading {
    view: ProjectView,
    /// `None` if no call ever wrote here, or if the lock was not available.
    _lock: Option<Lock>,
}

impl Deref for Reading {
    type Target = ProjectView;

    fn deref(&self) -> &ProjectView {
        &self.view
    }
}
