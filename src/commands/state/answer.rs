//! How verbs of STATE.md write it, and what they answer.

use crate::acts::facts;
use crate::acts::files;
use crate::acts::writing::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::Context;
use crate::failure::{Failure, Reason};
use crate::operations::state::notes::NoteReport;
use crate::operations::state::{self, Facts, LOST_STATE, NO_STATE, NO_STATE_CURE};
use crate::project::view::{Edits, ProjectView};

/// An answer that is only a failure: the call itself was right.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct FailureReport {
    pub(in crate::commands) error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) hint: Option<&'static str>,
}

impl FailureReport {
    pub(in crate::commands) fn of(error: impl Into<String>) -> Self {
        let error = error.into();
        Self { hint: (error == NO_STATE).then_some(NO_STATE_CURE), error }
    }
}

pub(in crate::commands) fn write<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(R, Edits), Failure>,
) -> Result<R, Failure> {
    let facts = facts::state_facts(context)?;
    context.write(Target::Project, |view| operation(view, &facts).map_err(told))
}

/// As [`write()`], for operations that have nothing to say without STATE.md.
pub(in crate::commands) fn write_found<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(R, Edits)>, Failure>,
) -> Result<Option<R>, Failure> {
    write(context, |view, facts| {
        Ok(match operation(view, facts)? {
            Some((report, edits)) => (Some(report), edits),
            None => (None, Edits::default()),
        })
    })
}

pub(in crate::commands) fn note(
    context: &mut Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(NoteReport, Edits), Failure>,
) -> Result<(), Failure> {
    let report = write(context, operation)?;
    if let Some(reason) = report.reason() {
        context.warn(format!("STATE.md was not changed: {reason}"));
    }
    if let NoteReport::Refused(_) = &report {
        return context.emit(&report);
    }
    let raw = report.done().to_string();
    context.emit_raw(&report, raw)
}

/// Refuses a call that would make `.planning/` out of nothing.
pub(in crate::commands) fn needs_planning(context: &Context, message: &str) -> Result<(), Failure> {
    if context.has_a_project() {
        return Ok(());
    }
    let prefix = context.command_prefix()?;
    let hint = format!("there is no `.planning/` here; {prefix}new-project creates one");
    Err(Failure::new(Reason::Usage, message).hint(hint))
}

/// A STATE.md that cannot be read is reported with what to do about it.
fn told(failure: Failure) -> Failure {
    let is_lost = failure.unread.as_deref().is_some_and(|path| path.ends_with("STATE.md"));
    if is_lost { failure.hint(LOST_STATE) } else { failure }
}

/// The answer where there is no STATE.md: an error with its cure for a person, `report` for a program.
pub(in crate::commands) fn absent(context: &mut Context, report: &impl Serialize) -> Result<(), Failure> {
    if context.shows_to_a_person() {
        return Err(state::no_state());
    }
    context.emit(report)
}

pub(in crate::commands) fn emit_found<R: Serialize>(context: &mut Context, report: Option<&R>) -> Result<(), Failure> {
    match report {
        Some(report) => context.emit(report),
        None => absent(context, &FailureReport::of(NO_STATE)),
    }
}

pub(in crate::commands) fn emit_written<R: Serialize>(
    context: &mut Context,
    report: Option<&R>,
    raw: bool,
) -> Result<(), Failure> {
    match report {
        Some(report) => context.emit_raw(report, raw.to_string()),
        None => emit_found::<()>(context, None),
    }
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
