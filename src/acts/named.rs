//! Phases and folders as they are named in arguments.

use super::Call;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::project::folder::PhaseFolder;
use crate::project::view::{NamedPhase, ProjectView};

/// The error for a phase that does not exist.
pub(crate) fn no_phase(typed: &str) -> Failure {
    Failure::new(Reason::PhaseNotFound, format!("there is no phase `{typed}`"))
        .hint("`gsd-tools roadmap analyze` lists the phases")
}

/// The phase that a gate is asked about: by its number, the name of its folder, or the path of its folder. A missing
/// one is an error, never a pass.
pub(crate) fn phase_named(call: &Call, view: &ProjectView, typed: &str) -> Result<NamedPhase, Failure> {
    if let Some(named) = view.phase_named(typed)? {
        return Ok(named);
    }
    if typed.contains(['/', '\\']) {
        // A path relative to the caller's folder, or one through a link.
        let path = disk::canonical(&call.here().resolve(typed))?;
        let inside = path.relative_to(&disk::canonical(call.root())?);
        if let Some(named) = inside.map(|inside| view.phase_named(inside.as_str())).transpose()?.flatten() {
            return Ok(named);
        }
    }
    let ambiguous = view.find_phase(typed)?.ambiguous;
    if !ambiguous.is_empty() {
        let message = format!("`{typed}` fits several phase folders: {}", ambiguous.join(", "));
        return Err(Failure::new(Reason::PhaseNotFound, message).hint("name one of the folders"));
    }
    Err(no_phase(typed))
}

/// The folder that a person named by its path.
pub(crate) fn folder_named(call: &Call, view: &ProjectView, typed: &str) -> Result<Option<PhaseFolder>, Failure> {
    match call.layout().inside(typed) {
        Some(path) => Ok(view.folder_at(&path, None)?),
        None => Ok(None),
    }
}

/// The folder of a phase, for checks whose answer has a word for a missing one.
pub(crate) fn folder_of(call: &Call, view: &ProjectView, typed: &str) -> Result<Option<PhaseFolder>, Failure> {
    match phase_named(call, view, typed) {
        Ok(phase) => Ok(phase.folder),
        Err(error) if error.reason == Reason::PhaseNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The subject of a report.
pub(crate) enum Subject {
    /// A folder given by its path: of a phase, or of a quick task.
    Folder(PhaseFolder),
    Phase(NamedPhase),
}

pub(crate) fn subject(call: &Call, typed: &str) -> Result<Subject, Failure> {
    let path = call.layout().relative(typed.trim_end_matches(['/', '\\']));
    let view = call.view();
    if let Some((parent, name)) = path.rsplit_once('/')
        && let Some(folder) = view.read_folders(parent, None)?.into_iter().find(|folder| folder.name == name)
    {
        return Ok(Subject::Folder(folder));
    }
    phase_named(call, &view, typed).map(Subject::Phase)
}
