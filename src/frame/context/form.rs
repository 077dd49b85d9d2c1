//! The form of an answer: JSON for a program, or a view for a person.

use serde::Serialize;

use super::Context;
use crate::failure::Failure;
use crate::text::screen::Screen;

impl Context {
    /// Whether the answer is text for a person: a person reads it at a terminal, or `--text` was given, and no other
    /// form was requested.
    pub(crate) fn shows_to_a_person(&self) -> bool {
        is_read_by_a_person(self) && !self.call.is_rehearsal()
    }
}

fn is_read_by_a_person(context: &Context) -> bool {
    let asked = context.globals.raw || wants_json(context);
    context.globals.text || (!asked && context.is_for_a_person())
}

/// Whether a person is at the terminal that shows the answer, so that it can be drawn again and questions be asked.
pub(crate) fn shows_at_a_terminal(context: &Context) -> bool {
    context.shows_to_a_person() && context.is_for_a_person()
}

/// The screen for the page of an answer that was made as JSON; `None` if it stays JSON.
pub(crate) fn screen_for_a_page(context: &Context) -> Option<Screen> {
    let is_page = context.is_report && !context.globals.own_json && is_read_by_a_person(context);
    is_page.then(|| context.screen())
}

/// Whether the answer is to be JSON, whatever form the command has.
pub(crate) fn wants_json(context: &Context) -> bool {
    context.globals.json || context.globals.pick.is_some()
}

/// As [`Context::emit`], for an answer that is JSON at a terminal too, unless `--text` was given.
pub(crate) fn emit_data(context: &mut Context, report: &impl Serialize) -> Result<(), Failure> {
    context.emit(report)?;
    context.is_report = context.globals.text;
    Ok(())
}
