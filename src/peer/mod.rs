//! What the scripts of other programs expect of ours, and nobody else: the older form of a failure with `is_answer`. Only
//! `commands` uses it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// An answer that is only a failure: the call itself was right.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailureReport {
    error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<Failure> for FailureReport {
    fn from(failure: Failure) -> Self {
        Self { error: failure.message, hint: failure.hints.into_iter().next() }
    }
}
