//! How STATE.md is written, and what its verbs have in common.

use super::Call;
use super::facts;
use super::files;
use super::writing::Target;
use crate::failure::{Failure, Reason};
use crate::operations::state::claim::Conflict;
use crate::operations::state::notes::NoteReport;
use crate::operations::state::{self, Facts, LOST_STATE, NO_STATE, NO_STATE_CURE};
use crate::project::view::{Edits, ProjectView};

pub(crate) fn write<R>(
    call: &Call,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(R, Edits), Failure>,
) -> Result<R, Failure> {
    let facts = facts::state_facts(call)?;
    call.write(Target::Project, |view| operation(view, &facts).map_err(told))
}

/// As [`write()`], for operations that cannot answer anything without STATE.md.
pub(crate) fn write_found<R>(
    call: &Call,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(R, Edits)>, Failure>,
) -> Result<R, Failure> {
    write(call, |view, facts| operation(view, facts)?.ok_or_else(|| state::no_state().answered()))
}

/// Refuses a call that would create `.planning/` in a folder without a project.
pub(crate) fn needs_planning(call: &Call, message: &str) -> Result<(), Failure> {
    if call.has_a_project() {
        return Ok(());
    }
    let prefix = call.command_prefix()?;
    let hint = format!("there is no `.planning/` here; {prefix}new-project creates one");
    Err(Failure::new(Reason::Usage, message).hint(hint))
}

/// Adds a hint to the error about an unreadable STATE.md.
fn told(failure: Failure) -> Failure {
    let is_lost = failure.unread.as_deref().is_some_and(|path| path.ends_with("STATE.md"));
    if is_lost { failure.hint(LOST_STATE) } else { failure }
}

pub(crate) fn text_or_file(call: &Call, text: Option<&str>, file: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(file) = file else { return Ok(text.map(str::to_owned)) };
    let path = call.here().resolve(file);
    match files::read(call, &path)? {
        Some(text) => Ok(Some(text)),
        None => Err(Failure::usage(format!("there is no file `{path}`"))),
    }
}

/// Adds to STATE.md or takes from it, and warns where nothing changed.
pub(crate) fn note(
    call: &Call,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(NoteReport, Edits)>, Failure>,
) -> Result<NoteReport, Failure> {
    let report = write(call, |view, facts| {
        operation(view, facts)?.ok_or_else(|| Failure::refused(NO_STATE).hint(NO_STATE_CURE))
    })?;
    if let Some(reason) = report.reason() {
        call.warn(format!("STATE.md was not changed: {reason}"));
    }
    Ok(report)
}

/// Warns that another session works on a phase of the milestone.
pub(crate) fn warn_of(call: &Call, conflict: Option<&Conflict>) {
    if let Some(conflict) = conflict {
        let who = conflict.locked_session.as_deref().unwrap_or("a session without a name");
        call.warn(format!(
            "{who} claims phase {} of this milestone while this session moves to phase {}; STATE.md has one position for both",
            conflict.locked_phase, conflict.phase
        ));
    }
}
