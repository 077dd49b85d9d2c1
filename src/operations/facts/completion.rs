//! Facts about how far a phase is: executed, verified, accepted.

use schemars::JsonSchema;
use serde::Serialize;

use super::listed::{Completion, PhaseFacts, PhaseStatus};
use super::{AskedPhase, FactBasis, Given, facts};
use crate::operations::verification::acceptance::acceptance;
use crate::project::files::FileError;
use crate::project::standing::PhaseStanding;

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

impl FactBasis for Standing {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let found = given.part::<AskedPhase>()?;
        PhaseStanding::of(given.view, found.number(), found.folder()).map(Self)
    }
}

facts! { |given, standing: Standing|
    /// How far the phase is; null without a phase.
    phase_status: Option<PhaseStatus> = given.part::<AskedPhase>()?.is_there().then(|| PhaseStatus::of(&standing.0));
    /// How far the phase is; `Pending` without a phase.
    planned_phase_status: PhaseStatus = PhaseStatus::of(&standing.0);
    /// The state of the phase's work, its verification and its acceptance.
    phase_completion: PhaseCompletion = PhaseCompletion::of(given, &standing.0)?;
}

impl PhaseCompletion {
    fn of(given: &Given<'_>, standing: &PhaseStanding) -> Result<Self, FileError> {
        let found = given.part::<AskedPhase>()?;
        let number = found.number();
        let command_prefix = given.host.command_prefix.clone();
        let phase = PhaseFacts { command_prefix, ..PhaseFacts::new(number, "", standing.clone()) };
        let completion = Completion::of(&phase);
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
