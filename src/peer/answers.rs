//! Failures as answers: to other programs the older form, to a person at a terminal an error.

use schemars::JsonSchema;
use serde::Serialize;

use super::refused;
use crate::failure::Failure;
use crate::frame::{Answer, Context};
use crate::project::plan::MustHave;

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
    error: &'static str,
    path: &'a str,
}

impl<'a> MissingFile<'a> {
    /// `path` as it was typed.
    pub(crate) fn at(path: &'a str) -> Self {
        Self { error: "File not found", path }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoPhase<'a> {
    error: &'static str,
    phase: &'a str,
}

impl<'a> NoPhase<'a> {
    /// `phase` as it was typed.
    pub(crate) fn named(phase: &'a str) -> Self {
        Self { error: "Phase not found", phase }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoMustHave<'a> {
    error: String,
    path: &'a str,
}

impl<'a> NoMustHave<'a> {
    /// `path` as it was typed.
    pub(crate) fn of(list: MustHave, path: &'a str) -> Self {
        Self { error: format!("No must_haves.{} found in frontmatter", list.key()), path }
    }
}

/// Closes a call. A failure that counts as an answer is printed in the older form; to a person, an answer that says what
/// failed is an error, with how to learn what the verb needs.
pub(crate) fn finish(mut context: Context, result: Result<(), Failure>) -> Answer {
    let (verb, is_shown) = (context.verb, context.shows_to_a_person());
    let result = match result {
        Err(failure) if failure.is_answer && !is_shown => context.emit(&FailureReport::from(failure)),
        Err(failure) if failure.is_answer && failure.hints.is_empty() => Err(failure.hint(refused::described(verb))),
        other => other,
    };
    let mut answer = context.finish(result);
    if let (true, Ok(code)) = (is_shown, &answer.outcome)
        && let Some(error) = refused::failure_in(&answer.stdout, verb)
    {
        let error = if *code == 0 { error } else { error.exits(*code) };
        answer = Answer { warnings: answer.warnings, ..Answer::failed(error) };
    }
    answer
}
