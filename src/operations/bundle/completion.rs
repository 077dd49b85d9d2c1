//! How far a phase is on its way to being done: executed, verified, accepted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::verification::{self, Verification};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;

use super::Bundle;

/// The state of a phase's work, and what is to be done next about its verification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "each is a field of the answer")]
pub(super) struct Completion {
    /// Every plan has a summary.
    pub(super) implementation_complete: bool,
    pub(super) verification_status: &'static str,
    pub(super) verification_passed: bool,
    phase_complete: bool,
    completion_status: &'static str,
    verification_next_action: String,
    pub(super) verification_next_command: String,
    verification_stale_check_indeterminate: bool,
}

impl Bundle<'_> {
    /// The completion of the phase that commands call `number`, which has so many plans.
    pub(super) fn completion(
        &self,
        folder: Option<&PhaseFolder>,
        plans: usize,
        number: &str,
    ) -> Result<Completion, FileError> {
        let implementation_complete = plans > 0 && folder.is_some_and(|folder| folder.summaries().count() >= plans);
        let mut verification = match folder {
            Some(folder) => verification::status(self.view, folder)?,
            None => Verification::missing(number),
        };
        number.clone_into(&mut verification.phase);
        let passed = verification.passed();
        Ok(Completion {
            implementation_complete,
            verification_status: verification.word(),
            verification_passed: passed,
            phase_complete: passed,
            completion_status: match (passed, implementation_complete) {
                (true, _) => "complete",
                (false, true) => "executed",
                (false, false) => "incomplete",
            },
            verification_next_action: verification.next_action(),
            verification_next_command: verification.next_command(&self.facts.command_prefix),
            verification_stale_check_indeterminate: verification.indeterminate,
        })
    }
}
