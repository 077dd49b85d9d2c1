//! Failures as answers: to other programs the older form, to a person at a terminal an error.

use schemars::JsonSchema;
use serde::Serialize;

use super::refused;
use crate::failure::{Answered, Failure};
use crate::frame::context::screen_for_a_page;
use crate::frame::{Answer, Context, page};

/// An answer that is only a failure: the call itself was valid.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailureReport {
    error: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<Failure> for FailureReport {
    fn from(failure: Failure) -> Self {
        Self { error: failure.message, hint: failure.hints.into_iter().next() }
    }
}

/// The answer for a file that does not exist.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MissingFile<'a> {
    error: &'a str,
    path: &'a str,
}

// The next have no description: it would be in the schemas.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoPhase<'a> {
    error: &'a str,
    phase: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoField<'a> {
    error: &'a str,
    field: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoMustHave<'a> {
    error: &'a str,
    path: &'a str,
}

/// Answers a failure in the form that programs know.
fn answer(context: &mut Context, failure: Failure) -> Result<(), Failure> {
    match failure.answer.as_deref() {
        Some(Answered::About { error, key: "path", name: path }) => context.emit(&MissingFile { error, path }),
        Some(Answered::About { error, key: "plan", name: path }) => context.emit(&NoMustHave { error, path }),
        Some(Answered::About { error, key: "phase", name: phase }) => context.emit(&NoPhase { error, phase }),
        Some(Answered::About { error, name: field, .. }) => context.emit(&NoField { error, field }),
        _ => context.emit(&FailureReport::from(failure)),
    }
}

/// Closes a call. A failure that counts as an answer is printed in the older form; to a person, an answer that says what
/// failed is an error, with how to learn what the verb needs, and other answers that are JSON are a page.
pub(crate) fn finish(mut context: Context, result: Result<(), Failure>) -> Answer {
    let (verb, is_shown) = (context.verb, context.shows_to_a_person());
    let result = match result {
        Err(failure) if failure.answer.is_some() && !is_shown => answer(&mut context, failure),
        Err(failure) if failure.answer.is_some() && failure.hints.is_empty() => {
            Err(failure.hint(refused::described(verb)))
        }
        other => other,
    };
    let screen = screen_for_a_page(&context);
    let mut closed = context.finish(result);
    if let (true, Ok(code)) = (is_shown || screen.is_some(), &closed.outcome)
        && let Some(error) = refused::failure_in(&closed.stdout, verb)
    {
        let error = if *code == 0 { error } else { error.exits(*code) };
        return Answer { warnings: closed.warnings, ..Answer::failed(error) };
    }
    if let Some(page) = screen.and_then(|screen| page::of_answer(&closed.stdout, screen)) {
        closed.stdout = page;
    }
    closed
}
