//! The answer of the commands of a feature that is turned off.

use schemars::JsonSchema;
use serde::Serialize;

/// What every command of a feature answers while its setting is off.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DisabledReport {
    disabled: bool,
    /// How to turn it on.
    message: &'static str,
}

impl DisabledReport {
    pub(crate) fn new(message: &'static str) -> Self {
        Self { disabled: true, message }
    }
}
