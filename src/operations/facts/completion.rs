//! Facts about how far a phase is: executed, verified, accepted.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Found, Given, Part, facts};
use crate::operations::overview::progress::PhaseStatus;
use crate::operations::verification::acceptance::acceptance;
use crate::project::files::FileError;
use crate::project::standing::PhaseStanding;

/// The state of a phase's work, and what to do next about its verification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "each is a field of the answer")]
pub(crate) struct Completion {
    /// Every plan has a summary.
    pub(crate) implementation_complete: bool,
    pub(crate) verification_status: &'static str,
    pub(crate) verification_passed: bool,
    phase_complete: bool,
    completion_status: &'static str,
    verification_next_action: Cow<'static, str>,
    pub(crate) verification_next_command: String,
    verification_stale_check_indeterminate: bool,
}

/// The completion of a phase, and whether a person accepted it.
#[derive(Debug, Serialize, JsonSchema)]
struct PhaseCompletion {
    #[serde(flatten)]
    completion: Completion,
    uat_passed: bool,
    uat_blockers: Vec<String>,
    ready_to_transition: bool,
}

/// The standing of the requested phase; an empty one if the phase does not exist.
pub(crate) struct Standing(PhaseStanding);

impl Part for Standing {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let found = given.part::<Found>()?;
        PhaseStanding::of(given.view, found.number(), found.folder()).map(Self)
    }
}

facts! { |given, standing: Standing|
    /// How far the phase is; null without a phase.
    phase_status: Option<PhaseStatus> = given.part::<Found>()?.is_there().then(|| PhaseStatus::of(&standing.0));
    /// How far the phase is; `Pending` without a phase.
    planned_phase_status: PhaseStatus = PhaseStatus::of(&standing.0);
    /// The state of the phase's work, its verification and its acceptance.
    phase_completion: PhaseCompletion = PhaseCompletion::of(given, &standing.0)?;
}

impl Completion {
    /// The completion of a phase with this standing, with the next command, which starts with `command_prefix`.
    pub(crate) fn of(standing: &PhaseStanding, number: &str, command_prefix: &str) -> Self {
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

impl PhaseCompletion {
    fn of(given: &Given<'_>, standing: &PhaseStanding) -> Result<Self, FileError> {
        let found = given.part::<Found>()?;
        let number = found.number();
        let completion = Completion::of(standing, number, &given.host.command_prefix);
        let acceptance = found.folder().map(|folder| acceptance(given.view, folder, number, true)).transpose()?;
        let uat_passed = acceptance.as_ref().is_some_and(|acceptance| acceptance.passed);
        Ok(Self {
            ready_to_transition: uat_passed && completion.verification_passed,
            completion,
            uat_passed,
            uat_blockers: acceptance.map(|acceptance| acceptance.blockers).unwrap_or_default(),
        })
    }
}
