//! How a command reaches the project: the view it reads, and the facts that need git.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::Context;
use super::context::Written;
use super::history::commit_times;
use crate::disk::{self, AbsolutePath, ChangeSet, Digest, Disk, DiskError, Hold, Lock, PeerLock};
use crate::failure::{Failure, Reason};
use crate::operations::answers::changes::{self, WholeFile};
use crate::operations::answers::token;
use crate::project::Project;
use crate::project::layout::Layout;
use crate::project::local_state::{LocalState, WrittenSettings};
use crate::project::next::{Around, Next};
use crate::project::view::{Edits, ProjectView};
use crate::project::wave::WaveNote;
use crate::project::workstream::{self, Pointer, PointerEdit};
use crate::text::nearest::nearest;
use crate::text::shell::typed;

impl Context {
    /// The project of this call.
    pub(crate) fn project(&self) -> Project {
        self.project_of(self.layout().clone())
    }

    fn project_of(&self, layout: Layout) -> Project {
        Project::new(layout, self.world().state_folder())
    }

    /// What this computer keeps about the project outside of it.
    pub(crate) fn local_state(&self) -> Result<LocalState, Failure> {
        self.local_state_if_any()?.ok_or_else(|| {
            Failure::usage("no home folder, so there is no place for notes").hint("set HOME or XDG_STATE_HOME")
        })
    }

    /// As [`Self::local_state`]; `None` where there is no home folder.
    pub(crate) fn local_state_if_any(&self) -> Result<Option<LocalState>, Failure> {
        let folder = self.world().state_folder();
        Ok(folder.map(|folder| LocalState::of(&folder, self.root())).transpose()?)
    }

    /// Refuses to tell or change the whole project where its documents are those of workstreams and none is active: what
    /// stands in the project's own folder then is old.
    pub(crate) fn needs_a_workstream(&self, command: &str) -> Result<(), Failure> {
        let layout = self.layout();
        if layout.workstream().is_some() {
            return Ok(());
        }
        let names = self.workstreams()?;
        if names.is_empty() {
            return Ok(());
        }
        let (reason, why) = match self.workstream_pointer().stored() {
            Some(name) => (Reason::WorkstreamModeMarkerUnresolved, format!("the active one, `{name}`, is gone")),
            None => (Reason::WorkstreamModeNoneActive, "none is active".to_owned()),
        };
        let message = format!("`{command}` needs a workstream, and {why}");
        let error = Failure::new(reason, message);
        let error = error.hint(format!("choose one with `--ws`: {}", names.join(", ")));
        Err(match Next::of(&self.view(), &Around::default())? {
            next @ Next::ChooseWorkstream(_) => {
                let call = next.call(|_| true).typed(str::to_owned);
                error.hint(format!("activate one for every call: `{call}`"))
            }
            _ => error,
        })
    }

    /// The names of the project's workstreams.
    pub(crate) fn workstreams(&self) -> Result<Vec<String>, Failure> {
        let layout = self.layout();
        let entries = disk::list(layout.absolute(&layout.workstreams()))?.unwrap_or_default();
        let mut names: Vec<String> =
            entries.into_iter().filter(disk::Entry::is_folder).map(|entry| entry.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Refuses a workstream that is not there.
    pub(super) fn refuses_a_missing_workstream(&self) -> Result<(), Failure> {
        let names = self.workstreams()?;
        let Some(missing) = self.layout().workstream().filter(|active| !names.iter().any(|name| name == active)) else {
            return Ok(());
        };
        Err(no_workstream(missing, &names, "this project has no workstreams; leave out `--ws`"))
    }

    /// Refuses to a person a workstream that an argument names and that is not there. Programs get their JSON.
    pub(in crate::commands) fn tells_a_person_of_a_missing_workstream(&self, name: &str) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return Ok(());
        }
        self.needs_a_project()?;
        let none = format!(
            "this project has no workstreams; create one: `{}`",
            typed!("gsd-tools workstream create {}", name)
        );
        Err(no_workstream(name, &self.workstreams()?, &none))
    }

    /// What `worktree create-wave` decided about a wave that is not merged yet; none also where the note cannot be read.
    pub(crate) fn noted_wave(&self) -> Option<WaveNote> {
        WaveNote::of_project(&self.world().state_folder()?, self.root())
    }

    /// The project as it stands now. Writers are held off for as long as it is looked at, so that its documents are
    /// of one moment; what a writer that died left is told.
    pub(crate) fn view(&self) -> Reading {
        let tree = AbsolutePath::parse(self.project().locked_tree()).ok();
        let lock = tree.as_ref().and_then(|tree| self.disk().share(tree));
        if let Some(tree) = tree
            && disk::is_unfinished(&tree).unwrap_or(false)
        {
            self.tell_unfinished(&tree);
        }
        Reading { view: self.look_back(), _lock: lock }
    }

    /// What only reads may leave out what earlier calls were told. Sessions of a run write nowhere in the user's folders, and
    /// neither does a rehearsal.
    fn look_back(&self) -> ProjectView {
        if self.world().is_unit() || self.is_rehearsal() {
            return self.look();
        }
        let (world, at) = (self.world().clone(), self.world().now().milliseconds());
        self.project().view_that_remembers(Box::new(move |layout, paths| commit_times(&world, layout, paths)), at)
    }

    fn look(&self) -> ProjectView {
        self.look_at(&self.project())
    }

    /// Reads the project at `folder` whenever it is called, whatever workstream the call is for.
    pub(in crate::commands) fn view_at(&self, folder: &AbsolutePath) -> Box<dyn Fn() -> ProjectView> {
        let (layout, world) = (Layout::new(folder.as_path(), None, None), self.world().clone());
        Box::new(move || {
            let world = world.clone();
            let project = Project::new(layout.clone(), world.state_folder());
            project.view(Box::new(move |layout, paths| commit_times(&world, layout, paths)))
        })
    }

    fn look_at(&self, project: &Project) -> ProjectView {
        let world = self.world().clone();
        project.view(Box::new(move |layout, paths| commit_times(&world, layout, paths)))
    }

    /// Finishes what a call that died left in the project: its half of a write, and its lock files. Gives the trees in
    /// which a write was unfinished.
    pub(in crate::commands) fn recover_project(&self) -> Result<Vec<String>, Failure> {
        if !self.has_a_project() {
            return Ok(Vec::new());
        }
        let disk = self.disk();
        let hold = disk.hold([self.project().locked_tree()])?;
        // A lock file of a process that is gone is taken over, and goes with this value.
        drop(peer_locks(self.layout(), &disk)?);
        Ok(hold.recovered().iter().map(ToString::to_string).collect())
    }

    /// Reads the project, runs `operation` on it, and makes its edits as one change: all of them or none.
    ///
    /// The lock is held from before the first read to after the last write. Where the operation wants no edits, nothing
    /// is written.
    pub(crate) fn update<R>(
        &self,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits), Failure>,
    ) -> Result<R, Failure> {
        if self.is_for_a_person() && !self.starts_a_project() {
            self.needs_a_project()?;
        }
        self.update_in(self.project().locked_tree(), operation)
    }

    /// As [`Self::update`], for the project of another folder.
    pub(in crate::commands) fn update_at<R>(
        &self,
        layout: Layout,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits), Failure>,
    ) -> Result<R, Failure> {
        let project = self.project_of(layout);
        self.update_project(&project, project.locked_tree(), operation)
    }

    /// As [`Self::update`], for documents in the folder `below` of a project that stands in `root`.
    pub(in crate::commands) fn update_below<R>(
        &self,
        root: &AbsolutePath,
        below: &str,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits), Failure>,
    ) -> Result<R, Failure> {
        let project = self.project_of(Layout::new(root.as_path(), None, None));
        self.update_project(&project, root.resolve(below).as_path().to_path_buf(), operation)
    }

    /// As [`Self::update`], for the project as a whole and for what says which workstream is active.
    pub(in crate::commands) fn update_workstreams<R>(
        &self,
        operation: impl FnOnce(&ProjectView, &Pointer) -> Result<(R, Edits, Vec<PointerEdit>), Failure>,
    ) -> Result<R, Failure> {
        let project = self.project_of(self.layout().scoped(None));
        let pointer = self.workstream_pointer();
        let outside = pointer.session.as_ref().and_then(|file| file.parent()).map(Path::to_path_buf);
        let trees = [project.locked_tree()].into_iter().chain(outside);
        self.transact(&project, trees, |view| {
            let (report, edits, stored) = operation(view, &pointer)?;
            let beside = stored.into_iter().map(|PointerEdit { file, name }| {
                let path = AbsolutePath::parse(file).map_err(DiskError::from)?;
                let before = disk::read_text(&path)?;
                Ok(Beside { path, before, after: name.map(|name| format!("{name}\n")) })
            });
            let beside: Vec<Beside> = beside.collect::<Result<_, Failure>>()?;
            Ok((report, edits, beside))
        })
    }

    /// As [`Self::update`], together with files outside the project, in the folders `trees`.
    pub(in crate::commands) fn update_beside<R>(
        &self,
        trees: impl IntoIterator<Item = AbsolutePath>,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits, Vec<Beside>), Failure>,
    ) -> Result<R, Failure> {
        let project = self.project();
        // A rehearsal writes nothing there.
        let outside = trees.into_iter().filter(|_| !self.is_rehearsal()).map(|tree| tree.as_path().to_path_buf());
        self.transact(&project, [project.locked_tree()].into_iter().chain(outside), operation)
    }

    fn tell_recovered(&self, hold: &Hold<'_>) {
        for tree in hold.recovered() {
            self.warn(format!("an interrupted write to `{tree}` was undone, or finished if it was already committed"));
        }
    }

    /// As [`Self::update`], with the lock of another tree; the edits stay inside it.
    pub(in crate::commands) fn update_in<R>(
        &self,
        tree: PathBuf,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits), Failure>,
    ) -> Result<R, Failure> {
        self.update_project(&self.project(), tree, operation)
    }

    fn update_project<R>(
        &self,
        project: &Project,
        tree: PathBuf,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits), Failure>,
    ) -> Result<R, Failure> {
        self.transact(project, [tree], |view| operation(view).map(|(report, edits)| (report, edits, Vec::new())))
    }

    /// Takes the locks of a writer, looks at the project, runs `operation` on it, and makes what it wants as one change; a
    /// rehearsal only shows it.
    fn transact<R>(
        &self,
        project: &Project,
        trees: impl IntoIterator<Item = PathBuf>,
        operation: impl FnOnce(&ProjectView) -> Result<(R, Edits, Vec<Beside>), Failure>,
    ) -> Result<R, Failure> {
        let boundary = project.boundary()?;
        boundary.check(project.layout().absolute(project.layout().planning()))?;
        let disk = self.disk();
        let (report, edits, _peer) = disk.transact(trees, |hold, changes| {
            let peer = peer_locks(project.layout(), &disk)?;
            self.tell_recovered(hold);
            let view = self.look_at(project);
            self.refuse_if_changed(&view)?;
            let (report, edits, beside) = operation(&view)?;
            self.refuse_to_start_a_project(project.layout(), &edits)?;
            self.note_written(self.written(&view, &edits)?);
            // A rehearsal fails where the command would.
            let mut wanted = if edits.is_empty() { ChangeSet::default() } else { project.changes(&view, &edits)? };
            for file in beside.into_iter().filter(|file| file.before != file.after) {
                boundary.check(&file.path)?;
                self.bring_along(file, &mut wanted);
            }
            if !self.is_rehearsal() {
                if let Some(notes) = project.touched_notes(&edits) {
                    hold.include(&notes)?;
                }
                *changes = wanted;
            }
            Ok::<_, Failure>((report, edits, peer))
        })?;
        if !self.is_rehearsal() {
            self.note_settings(project.layout(), &edits);
        }
        Ok(report)
    }

    /// Adds a file to the changes, and to what the answer says of them.
    fn bring_along(&self, Beside { path, before, after }: Beside, changes: &mut ChangeSet) {
        let shown = self.layout().inside(&path.to_string()).unwrap_or_else(|| path.to_string());
        let (fields, diff) = match &after {
            Some(after) if path.as_path().extension().is_some_and(|extension| extension == "json") => {
                changes::of_json_file(&shown, before.as_deref(), after)
            }
            _ => {
                let file = WholeFile { path: &shown, before: before.as_deref(), after: after.as_deref() };
                (vec![file.changed()], file.diff())
            }
        };
        self.note_also_written(fields, &diff);
        let digest = before.map(|before| Digest::of(before.as_bytes()));
        match (after, digest) {
            (Some(after), digest) => changes.write(path, after, digest),
            (None, Some(digest)) => changes.remove(path, digest),
            (None, None) => {}
        }
    }

    /// Leaves word for the hooks of this session that the change of the settings is no news to it. That it could not be
    /// left only means that they tell of it.
    fn note_settings(&self, layout: &Layout, edits: &Edits) {
        let written = [layout.config(), layout.root_config()].iter().find_map(|file| edits.texts.get(file));
        let session = workstream::session_key(|name| self.world().variable(name));
        let (Some(text), Some(folder)) = (written, self.world().state_folder()) else { return };
        let notes = AbsolutePath::parse(layout.root()).ok().and_then(|root| LocalState::of(&folder, &root).ok());
        let Some(file) = notes.map(|notes| notes.file(WrittenSettings::NOTE)) else { return };
        // A change of nobody's session only has to take the place of the note of one.
        let is_needed = session.is_some() || disk::is_file(&file);
        if let (true, Ok(note)) = (is_needed, serde_json::to_string(&WrittenSettings::new(text, session))) {
            let _ = disk::write_fleeting(&file, note.as_bytes());
        }
    }

    /// What there is to tell of `edits`.
    fn written(&self, view: &ProjectView, edits: &Edits) -> Result<Written, Failure> {
        let diff = if self.is_rehearsal() { Some(changes::diff(view, edits)?) } else { None };
        Ok(Written { changed: changes::changed_fields(view, edits)?, nothing: edits.is_empty(), diff })
    }

    /// Refuses edits that would make the project's folder, except for the commands that start a project: a call in the
    /// wrong folder would leave one there.
    fn refuse_to_start_a_project(&self, layout: &Layout, edits: &Edits) -> Result<(), Failure> {
        let planning = layout.planning();
        let mut made = edits.texts.keys().chain(&edits.folders).chain(&edits.bare_folders).chain(edits.moves.keys());
        let is_below = |path: &String| Path::new(path).starts_with(planning);
        if self.starts_a_project() || disk::is_folder(layout.absolute(planning)) || !made.any(is_below) {
            return Ok(());
        }
        Err(self.no_project())
    }

    /// Holds the token of an earlier answer, where the caller gave one, against what stands there now.
    fn refuse_if_changed(&self, view: &ProjectView) -> Result<(), Failure> {
        let Some(given) = self.expected_token() else { return Ok(()) };
        let seen = token::parse(given).map_err(|error| Failure::because(Reason::Usage, &error))?;
        if token::of(view, seen)? == given {
            return Ok(());
        }
        Err(Failure::new(Reason::DocumentChanged, "the project changed since it was read; nothing was written")
            .hint("read again, and call with the new token"))
    }
}

/// The lock files of other programs that write to the same documents; none where there is nothing to share yet.
fn peer_locks(layout: &Layout, disk: &Disk) -> Result<Vec<PeerLock>, Failure> {
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

/// A file that is written together with documents of the project, and is none of them.
pub(in crate::commands) struct Beside {
    pub(in crate::commands) path: AbsolutePath,
    pub(in crate::commands) before: Option<String>,
    /// None where it goes.
    pub(in crate::commands) after: Option<String>,
}

/// A project that is being looked at.
pub(crate) struct Reading {
    view: ProjectView,
    /// None where nobody can write, or nobody ever did.
    _lock: Option<Lock>,
}

impl Deref for Reading {
    type Target = ProjectView;

    fn deref(&self) -> &ProjectView {
        &self.view
    }
}

/// The error about a workstream that is not there; `none` is the hint where there are no workstreams.
fn no_workstream(missing: &str, names: &[String], none: &str) -> Failure {
    let unknown = Failure::usage(format!("there is no workstream `{missing}`"));
    match (nearest(missing, names.iter().map(String::as_str)), names.is_empty()) {
        (_, true) => unknown.hint(none),
        (Some(near), _) => unknown.hint(format!("did you mean `{near}`? The workstreams are {}", names.join(", "))),
        (None, _) => unknown.hint(format!("the workstreams are {}", names.join(", "))),
    }
}
