//! How verbs write STATE.md, and their answers.

use crate::acts::facts;
use crate::acts::files;
use crate::acts::writing::Target;
use serde::Serialize;

use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::operations::state::notes::NoteReport;
use crate::operations::state::{self, Facts, LOST_STATE, NO_STATE, NO_STATE_CURE};
use crate::project::view::{Edits, ProjectView};

pub(in crate::commands) fn write<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(R, Edits), Failure>,
) -> Result<R, Failure> {
    let facts = facts::state_facts(context)?;
    context.write(Target::Project, |view| operation(view, &facts).map_err(told))
}

/// As [`write()`], for operations that cannot answer anything without STATE.md.
pub(in crate::commands) fn write_found<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(R, Edits)>, Failure>,
) -> Result<R, Failure> {
    write(context, |view, facts| operation(view, facts)?.ok_or_else(|| state::no_state().answered()))
}

pub(in crate::commands) fn note(
    context: &mut Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(NoteReport, Edits)>, Failure>,
) -> Result<(), Failure> {
    let report = write(context, |view, facts| {
        operation(view, facts)?.ok_or_else(|| Failure::refused(NO_STATE).hint(NO_STATE_CURE))
    })?;
    if let Some(reason) = report.reason() {
        context.warn(format!("STATE.md was not changed: {reason}"));
    }
    let raw = report.reason().is_none().to_string();
    context.emit_raw(&report, raw)
}

/// Refuses a call that would create `.planning/` in a folder without a project.
pub(in crate::commands) fn needs_planning(context: &Context, message: &str) -> Result<(), Failure> {
    if context.has_a_project() {
        return Ok(());
    }
    let prefix = context.command_prefix()?;
    let hint = format!("there is no `.planning/` here; {prefix}new-project creates one");
    Err(Failure::new(Reason::Usage, message).hint(hint))
}

/// Adds a hint to the error about an unreadable STATE.md.
fn told(failure: Failure) -> Failure {
    let is_lost = failure.unread.as_deref().is_some_and(|path| path.ends_with("STATE.md"));
    if is_lost { failure.hint(LOST_STATE) } else { failure }
}

/// Answers that STATE.md is missing: with an error and a hint for a person, with `report` for a program.
pub(in crate::commands) fn absent(context: &mut Context, report: &impl Serialize) -> Result<(), Failure> {
    if context.shows_to_a_person() {
        return Err(state::no_state());
    }
    context.emit(report)
}

pub(in crate::commands) fn text_or_file(
    context: &Context,
    text: Option<&str>,
    file: Option<&str>,
) -> Result<Option<String>, Failure> {
    let Some(file) = file else { return Ok(text.map(str::to_owned)) };
    let path = context.here().resolve(file);
    match files::read(context, &path)? {
        Some(text) => Ok(Some(text)),
        None => Err(Failure::usage(format!("there is no file `{path}`"))),
    }
}
