//! The milestone and its phases: what `progress`, `stats` and `roadmap analyze` say in common.

use super::measure::Measure;
use crate::operations::answers::answer::facts_of;
use crate::operations::facts::listed::PhaseFacts;
use crate::project::figures::Measured;
use crate::project::files::FileError;
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::view::ProjectView;

/// The milestone, with the phases that an answer lists.
#[derive(Debug)]
pub(crate) struct Overview {
    pub(crate) milestone: Milestone,
    pub(crate) phases: Vec<PhaseFacts>,
    pub(crate) measured: Measured,
}

facts_of! { |overview: Overview|
    /// The version of the milestone.
    milestone_version: Option<String> = overview.milestone.version.clone();
    /// The name of the milestone.
    milestone_name: Option<String> = overview.milestone.name.clone();
    /// The number of phases.
    phase_count: usize = overview.phases.len();
    /// The number of complete phases.
    completed_phases: usize = overview.phases.iter().filter(|phase| phase.standing.is_complete()).count();
    /// How many plans the phases have.
    total_plans: usize = overview.phases.iter().map(|phase| phase.standing.work.plans.len()).sum();
    /// How many summaries the phases have.
    total_summaries: usize = overview.phases.iter().map(|phase| phase.standing.work.summaries).sum();
    /// The part of the milestone that is done, in percent; null unless the milestone's scope is complete.
    percent: Option<u64> = overview.measured.percent;
    /// How sure it is that these are the phases of the milestone.
    phase_scope: MilestoneScope = overview.milestone.scope;
    /// What may hide phases of the milestone and so makes the figures uncertain.
    problems: Vec<String> = overview.measured.problems.clone();
}

impl Overview {
    pub(crate) fn new(view: &ProjectView, milestone: Milestone, phases: Vec<PhaseFacts>) -> Result<Self, FileError> {
        let measured = Measured::of(view, &milestone)?;
        Ok(Self { milestone, phases, measured })
    }

    /// The progress of the milestone.
    pub(crate) fn measure(&self) -> Measure<'_> {
        Measure {
            is_known: self.measured.is_known,
            scope: self.milestone.scope,
            counts: self.measured.counts,
            problems: &self.measured.problems,
        }
    }

    /// Version and name of the milestone, each empty where there is none.
    pub(crate) fn named(&self) -> String {
        let words = |text: &Option<String>| text.clone().unwrap_or_default();
        format!("{} {}", words(&self.milestone.version), words(&self.milestone.name))
    }
}
