//! What verbs of STATE.md answer.

use serde::Serialize;

use crate::acts;
use crate::failure::Failure;
use crate::frame::Context;
use crate::operations::state::notes::NoteReport;
use crate::operations::state::{self, Facts};
use crate::project::view::{Edits, ProjectView};

pub(in crate::commands) fn note(
    context: &mut Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(NoteReport, Edits)>, Failure>,
) -> Result<(), Failure> {
    let report = acts::state::note(context, operation)?;
    context.emit_raw(&report, report.reason().is_none().to_string())
}

/// Answers that STATE.md is missing: with an error and a hint for a person, with `report` for a program.
pub(in crate::commands) fn absent(context: &mut Context, report: &impl Serialize) -> Result<(), Failure> {
    if context.shows_to_a_person() {
        return Err(state::no_state());
    }
    context.emit(report)
}
