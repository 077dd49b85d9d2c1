//! How far a phase is on its way to being done: executed, verified, accepted.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::standing::PhaseStanding;

use super::Bundle;
use super::phase::Phase;

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
    verification_next_action: Cow<'static, str>,
    pub(super) verification_next_command: String,
    verification_stale_check_indeterminate: bool,
}

impl Completion {
    /// The completion of a phase that stands so, with the command that comes next behind `command_prefix`.
    pub(super) fn of(standing: &PhaseStanding, number: &str, command_prefix: &str) -> Self {
        let verification = &standing.verification;
        let complete = standing.is_complete();
        let implementation_complete = standing.work.is_executed();
        Self {
            implementation_complete,
            verification_status: verification.word(),
            verification_passed: verification.passed(),
            phase_complete: complete,
            completion_status: match (complete, implementation_complete) {
                (true, _) => "complete",
                (false, true) => "executed",
                (false, false) => "incomplete",
            },
            verification_next_action: standing.verification_action(),
            verification_next_command: standing.verification_command(number, command_prefix),
            verification_stale_check_indeterminate: verification.indeterminate,
        }
    }
}

impl Bundle<'_> {
    /// The standing of a phase; where there is none that commands call `typed`, that of nothing.
    pub(super) fn standing(&self, phase: Option<&Phase>, typed: &str) -> Result<PhaseStanding, FileError> {
        let number = phase.map_or(typed, |phase| phase.number.as_str());
        PhaseStanding::in_project(self.view, number, phase.and_then(|phase| phase.folder.as_ref()))
    }
}
