//! Answers in the form that scripts written for other programs expect: an older form of a failure, with `is_answer`.
//! Only `commands` uses it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

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
