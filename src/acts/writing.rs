//! The one way in which a call changes documents of a project: [`Call::write`].

use std::path::{Path, PathBuf};

use super::call::Written;
use super::{Call, project};
use crate::disk::{self, AbsolutePath, ChangeSet, Digest, DiskError};
use crate::failure::{Failure, Reason};
use crate::operations::answers::changes::{self, WholeFile};
use crate::operations::answers::token;
use crate::project::Project;
use crate::project::layout::Layout;
use crate::project::local_state::{LocalState, WrittenSettings};
use crate::project::view::{Edits, ProjectView};
use crate::project::workstream::{self, PointerEdit};

/// What a call locks and edits.
pub(crate) enum Target {
    /// The documents of the project, for the active workstream.
    Project,
    /// The same, also with the lock of another tree of the project, in which all edits are.
    Tree(PathBuf),
    /// The project together with files outside, in this folder.
    Beside(Option<AbsolutePath>),
    /// The project as a whole, and the files that store which workstream is active.
    Workstreams,
    /// The project of another folder.
    Of(Layout),
    /// Documents in the folder `below` of the project in `root`.
    Below { root: AbsolutePath, below: &'static str },
}

/// The writes of an operation: edits of documents, and files that are written together with them.
pub(crate) struct Writes {
    pub(crate) edits: Edits,
    pub(crate) beside: Vec<Beside>,
}

impl From<Edits> for Writes {
    fn from(edits: Edits) -> Self {
        Self { edits, beside: Vec::new() }
    }
}

impl From<Vec<Beside>> for Writes {
    fn from(beside: Vec<Beside>) -> Self {
        Self { edits: Edits::default(), beside }
    }
}

/// A file that is written together with documents of the project, but is not one of them.
pub(crate) struct Beside {
    pub(crate) path: AbsolutePath,
    pub(crate) before: Option<String>,
    /// `None` if it is removed.
    pub(crate) after: Option<String>,
}

impl Writes {
    /// Edits, and the files that store which workstream is active afterwards.
    pub(crate) fn with_pointer(edits: Edits, pointer: Vec<PointerEdit>) -> Result<Self, Failure> {
        let beside = pointer.into_iter().map(|PointerEdit { file, name }| {
            let path = AbsolutePath::parse(file).map_err(DiskError::from)?;
            let before = disk::read_text(&path)?;
            Ok(Beside { path, before, after: name.map(|name| format!("{name}\n")) })
        });
        Ok(Self { edits, beside: beside.collect::<Result<_, Failure>>()? })
    }
}

impl Call {
    /// Reads the project, runs `operation` on it, and writes its edits as one change: all of it or nothing.
    ///
    /// The locks are kept from before the first read until after the last write. If the operation has no edits, nothing
    /// is written; a rehearsal only shows them.
    pub(crate) fn write<R, W: Into<Writes>>(
        &self,
        target: Target,
        operation: impl FnOnce(&ProjectView) -> Result<(R, W), Failure>,
    ) -> Result<R, Failure> {
        if matches!(target, Target::Project) && self.is_for_a_person() && !self.starts_a_project.get() {
            self.needs_a_project()?;
        }
        let (project, trees) = target.resolve(self);
        let boundary = project.boundary()?;
        boundary.check(project.layout().absolute(project.layout().planning()))?;
        let disk = self.disk();
        let (report, edits, _peer) = disk.transact(trees, |hold, changes| {
            let peer = project::peer_locks(project.layout(), &disk)?;
            for tree in hold.recovered() {
                self.warn(format!(
                    "an interrupted write to `{tree}` was undone, or finished if it was already committed"
                ));
            }
            let view = project::look(self, &project);
            refuse_if_changed(self, &view)?;
            let (report, writes) = operation(&view).or_else(|failure| {
                if failure.answer.is_some() {
                    self.written.replace(Some(written(self, &view, &Edits::default())?));
                }
                Err(failure)
            })?;
            let Writes { edits, beside } = writes.into();
            refuse_to_start_a_project(self, project.layout(), &edits)?;
            self.written.replace(Some(written(self, &view, &edits)?));
            // A rehearsal fails if the command would.
            let mut wanted = if edits.is_empty() { ChangeSet::default() } else { project.changes(&view, &edits)? };
            for file in beside.into_iter().filter(|file| file.before != file.after) {
                boundary.check(&file.path)?;
                bring_along(self, file, &mut wanted);
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
            note_settings(self, project.layout(), &edits);
        }
        Ok(report)
    }
}

impl Target {
    /// The project that is edited, and the trees that are locked.
    fn resolve(self, call: &Call) -> (Project, Vec<PathBuf>) {
        let of = |layout: Layout| Project::new(layout, call.world().state_folder());
        let outside = match &self {
            // A rehearsal does not write there.
            Self::Beside(tree) if !call.is_rehearsal() => tree.as_ref().map(|tree| tree.as_path().to_path_buf()),
            Self::Workstreams => {
                call.workstream_pointer().session.as_ref().and_then(|file| file.parent()).map(Path::to_path_buf)
            }
            _ => None,
        };
        let (project, tree) = match self {
            Self::Project | Self::Beside(_) => (call.project(), None),
            Self::Tree(tree) => (call.project(), Some(tree)),
            Self::Workstreams => (of(call.layout().scoped(None)), None),
            Self::Of(layout) => (of(layout), None),
            Self::Below { root, below } => {
                (of(Layout::new(root.as_path(), None, None)), Some(root.resolve(below).as_path().to_path_buf()))
            }
        };
        let tree = tree.unwrap_or_else(|| project.locked_tree());
        (project, [tree].into_iter().chain(outside).collect())
    }
}

/// Adds a file to the changes, and to the answer about them.
fn bring_along(call: &Call, Beside { path, before, after }: Beside, changes: &mut ChangeSet) {
    let shown = call.layout().inside(&path.to_string()).unwrap_or_else(|| path.to_string());
    let (fields, diff) = match &after {
        Some(after) if path.as_path().extension().is_some_and(|extension| extension == "json") => {
            changes::of_json_file(&shown, before.as_deref(), after)
        }
        _ => {
            let file = WholeFile { path: &shown, before: before.as_deref(), after: after.as_deref() };
            (vec![file.changed()], file.diff())
        }
    };
    if let Some(written) = call.written.borrow_mut().as_mut() {
        written.changed.extend(fields);
        written.nothing = false;
        if let Some(lines) = &mut written.diff {
            lines.push_str(&diff);
        }
    }
    let digest = before.map(|before| Digest::of(before.as_bytes()));
    match (after, digest) {
        (Some(after), digest) => changes.write(path, after, digest),
        (None, Some(digest)) => changes.remove(path, digest),
        (None, None) => {}
    }
}

/// Leaves a note for the hooks of this session that it changed the settings itself. Without the note they only report
/// the change.
fn note_settings(call: &Call, layout: &Layout, edits: &Edits) {
    let written = [layout.config(), layout.root_config()].iter().find_map(|file| edits.texts.get(file));
    let session = workstream::session_key(|name| call.world().variable(name));
    let (Some(text), Some(folder)) = (written, call.world().state_folder()) else { return };
    let notes = AbsolutePath::parse(layout.root()).ok().and_then(|root| LocalState::of(&folder, &root).ok());
    let Some(file) = notes.map(|notes| notes.file(WrittenSettings::NOTE)) else { return };
    // Outside of any session, the note is only needed to replace one of a session.
    let is_needed = session.is_some() || disk::is_file(&file);
    if let (true, Ok(note)) = (is_needed, serde_json::to_string(&WrittenSettings::new(text, session))) {
        let _ = disk::write_fleeting(&file, note.as_bytes());
    }
}

/// The part of the answer about `edits`.
fn written(call: &Call, view: &ProjectView, edits: &Edits) -> Result<Written, Failure> {
    let diff = if call.is_rehearsal() { Some(changes::diff(view, edits)?) } else { None };
    Ok(Written { changed: changes::changed_fields(view, edits)?, nothing: edits.is_empty(), diff })
}

/// Refuses edits that would create the project's folder, except for the commands that start a project: a call in the
/// wrong folder would create one there.
fn refuse_to_start_a_project(call: &Call, layout: &Layout, edits: &Edits) -> Result<(), Failure> {
    let planning = layout.planning();
    let mut made = edits.texts.keys().chain(&edits.folders).chain(&edits.bare_folders).chain(edits.moves.keys());
    let is_below = |path: &String| Path::new(path).starts_with(planning);
    if call.starts_a_project.get() || disk::is_folder(layout.absolute(planning)) || !made.any(is_below) {
        return Ok(());
    }
    Err(project::none_here(call))
}

/// Compares the token of an earlier answer, if the caller gave one, with the documents as they are now.
fn refuse_if_changed(call: &Call, view: &ProjectView) -> Result<(), Failure> {
    let Some(given) = call.flags.if_match.as_deref() else { return Ok(()) };
    let seen = token::parse(given)?;
    if token::of(view, seen)? == given {
        return Ok(());
    }
    Err(Failure::new(Reason::DocumentChanged, "the project changed since it was read; nothing was written")
        .hint("read again, and call with the new token"))
}
