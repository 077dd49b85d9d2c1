//! Facts about a phase in a list of phases.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::answers::answer::{answer, facts_of};
use crate::project::milestone::MilestoneScope;
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::verification::VerificationState;
use crate::text::words::words;

/// A phase, and what the facts about it are read from.
#[derive(Clone, Debug)]
pub(crate) struct PhaseFacts {
    /// Number and name as the list has them.
    pub(crate) number: String,
    pub(crate) name: String,
    /// What its section in the roadmap says.
    pub(crate) goal: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) depends_on: Option<String>,
    /// The folder as answers show it.
    pub(crate) directory: Option<String>,
    /// What comes before the name of a command.
    pub(crate) command_prefix: String,
    pub(crate) standing: PhaseStanding,
}

impl PhaseFacts {
    /// A phase of which neither its section is read nor its folder shown.
    pub(crate) fn new(number: impl Into<String>, name: impl Into<String>, standing: PhaseStanding) -> Self {
        let (number, name, command_prefix) = (number.into(), name.into(), String::new());
        Self { number, name, goal: None, mode: None, depends_on: None, directory: None, command_prefix, standing }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.standing.stage()
    }

    /// There is something left to do about it.
    pub(crate) fn is_open(&self) -> bool {
        self.standing.work.is_open()
    }

    /// It is complete for a person, who sees that it is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.standing.is_complete() && !self.is_open()
    }
}

facts_of! { |phase: PhaseFacts|
    /// The number of the phase.
    number: String = phase.number.clone();
    /// The name of the phase.
    name: String = phase.name.clone();
    /// What the phase is to reach, by its section in the roadmap.
    goal: Option<String> = phase.goal.clone();
    /// The mode of the phase, by its section in the roadmap.
    mode: Option<String> = phase.mode.clone();
    /// What the phase depends on, in the words of its section in the roadmap.
    depends_on: Option<String> = phase.depends_on.clone();
    /// The folder of the phase.
    directory: Option<String> = phase.directory.clone();
    /// The number of active plans of the phase.
    plan_count: usize = phase.standing.work.plans.len();
    /// How many summaries the phase has.
    summary_count: usize = phase.standing.work.summaries;
    /// The phase has a CONTEXT.md.
    has_context: bool = phase.standing.work.has_context;
    /// The phase has a RESEARCH.md.
    has_research: bool = phase.standing.work.has_research;
    /// How far the phase is.
    stage: Stage = phase.stage();
    /// How far the phase is.
    disk_status: DiskStatus = DiskStatus::of(phase.stage());
    /// How far the phase is.
    phase_status: PhaseStatus = PhaseStatus::of(&phase.standing);
    /// The roadmap marks the phase as done.
    roadmap_complete: bool = phase.standing.work.is_closed_by_roadmap();
    /// Something is left to do: the roadmap does not mark the phase as done, or a plan has no summary.
    open: bool = phase.is_open();
    /// The state of the verification of the phase.
    verification_status: &'static str = phase.standing.verification.word();
    /// The state of the phase's work, and what is to be done next about its verification.
    completion: Completion = Completion::of(phase);
    /// How much is known about the phase.
    context_scope: MilestoneScope = MilestoneScope::Complete;
}

answer! {
    /// The state of a phase's work, and what is to be done next about its verification.
    pub(crate) struct Completion |phase: PhaseFacts| with self(phase) {
        /// Every plan has a summary.
        implementation_complete: bool = phase.standing.work.is_executed(),
        verification_status,
        verification_passed: bool = phase.standing.verification.passed(),
        phase_complete: bool = phase.standing.is_complete(),
        completion_status: &'static str = match () {
            () if phase.standing.is_complete() => "complete",
            () if phase.standing.work.is_executed() => "executed",
            () => "incomplete",
        },
        verification_next_action: Cow<'static, str> = phase.standing.verification_action(),
        verification_next_command: String = phase.standing.verification_command(&phase.number, &phase.command_prefix),
        verification_stale_check_indeterminate: bool = phase.standing.verification.indeterminate,
    }
}

words! {
    /// The status of a phase, in the words of progress and statistics.
    #[derive(Serialize, JsonSchema)]
    pub(crate) enum PhaseStatus {
        Pending = "Pending",
        Planned = "Planned",
        InProgress = "In Progress",
        Executed = "Executed",
        NeedsReview = "Needs Review",
        Complete = "Complete",
    }
}

impl PhaseStatus {
    /// The status for a standing.
    pub(crate) fn of(standing: &PhaseStanding) -> Self {
        let waits_for_person = standing.verification.state == VerificationState::HumanNeeded;
        match standing.stage() {
            Stage::NoDirectory | Stage::Empty | Stage::Discussed | Stage::Researched => Self::Pending,
            Stage::Planned => Self::Planned,
            Stage::Partial => Self::InProgress,
            Stage::Executed if waits_for_person => Self::NeedsReview,
            Stage::Executed => Self::Executed,
            Stage::Complete => Self::Complete,
        }
    }

    /// The word in lists that say `Not Started` where nothing is planned.
    pub(crate) fn word_in_list(self) -> &'static str {
        if self == Self::Pending { "Not Started" } else { self.word() }
    }
}

/// How far a phase is, in fewer words than its stage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiskStatus {
    NoDirectory,
    Empty,
    Discussed,
    Researched,
    Planned,
    Partial,
    Complete,
}

impl DiskStatus {
    fn of(stage: Stage) -> Self {
        match stage {
            Stage::NoDirectory => Self::NoDirectory,
            Stage::Empty => Self::Empty,
            Stage::Discussed => Self::Discussed,
            Stage::Researched => Self::Researched,
            Stage::Planned => Self::Planned,
            Stage::Partial | Stage::Executed => Self::Partial,
            Stage::Complete => Self::Complete,
        }
    }
}
