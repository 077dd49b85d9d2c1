//! The progress of the milestone: counts per phase, one percentage, and the same as text.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::phase;
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::state::edit::bar;
use crate::project::verification::{self, VerificationState};
use crate::project::view::ProjectView;

use crate::project::figures::{Counts, Measured};
use crate::text::words::words;

/// What `progress json` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgressReport {
    pub(crate) milestone_version: Option<String>,
    pub(crate) milestone_name: Option<String>,
    pub(crate) phases: Vec<PhaseProgress>,
    pub(crate) total_plans: usize,
    pub(crate) total_summaries: usize,
    /// The part of the milestone that is done, in percent; null unless the milestone's scope is complete.
    pub(crate) percent: Option<u64>,
    pub(crate) phase_scope: MilestoneScope,
    /// What may hide phases of the milestone and so makes the figures uncertain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
    #[serde(skip)]
    counts: Counts,
}

/// One phase of [`ProgressReport`].
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseProgress {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) plans: usize,
    pub(crate) summaries: usize,
    pub(crate) status: PhaseStatus,
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
}

/// The progress of the current milestone.
pub(crate) fn progress(view: &ProjectView) -> Result<ProgressReport, FileError> {
    let milestone = view.milestone()?;
    let folders = view.milestone_folders()?;
    verification::look_ahead(view, &folders)?;
    let mut phases = Vec::new();
    for folder in folders {
        let standing = PhaseStanding::of(view, folder.token(), Some(&folder))?;
        let (number, name) = shown(&folder.name);
        let (plans, summaries) = (standing.work.plans.len(), standing.work.summaries);
        phases.push(PhaseProgress { number, name, plans, summaries, status: PhaseStatus::of(&standing) });
    }
    let Measured { counts, percent, problems } = Measured::of(view, &milestone)?;
    Ok(ProgressReport {
        percent,
        milestone_version: milestone.version,
        milestone_name: milestone.name,
        total_plans: phases.iter().map(|phase| phase.plans).sum(),
        total_summaries: phases.iter().map(|phase| phase.summaries).sum(),
        phases,
        phase_scope: milestone.scope,
        problems,
        counts,
    })
}

/// A folder's leading number and the words after it. A name without a leading number is shown whole.
fn shown(name: &str) -> (String, String) {
    let length = name.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = name[..length].trim_end_matches('.');
    if phase::leading_integer(name).is_none() || number.is_empty() {
        return (name.to_owned(), String::new());
    }
    (number.to_owned(), name[number.len()..].trim_start_matches('-').replace('-', " "))
}

/// What `progress bar` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BarReport {
    pub(crate) bar: String,
    pub(crate) percent: Option<u64>,
    pub(crate) completed: usize,
    pub(crate) total: usize,
}

impl ProgressReport {
    pub(crate) fn bar(&self) -> BarReport {
        BarReport { bar: self.line(), percent: self.percent, completed: self.total_summaries, total: self.total_plans }
    }

    /// A Markdown page with the bar and a row for each phase.
    pub(crate) fn table(&self) -> String {
        let words = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut page = format!("# {} {}\n\n", words(&self.milestone_version), words(&self.milestone_name));
        // Writing to a string cannot fail.
        let _ = write!(page, "**Progress:** {}\n\n", self.line());
        page.push_str("| Phase | Name | Plans | Status |\n|-------|------|-------|--------|\n");
        for phase in &self.phases {
            let (number, name, status) = (&phase.number, &phase.name, phase.status.word());
            let _ = writeln!(page, "| {number} | {name} | {}/{} | {status} |", phase.summaries, phase.plans);
        }
        page
    }

    fn line(&self) -> String {
        let phases = format!("{}/{} phases", self.counts.completed_phases, self.counts.total_phases);
        let counts = format!("{}/{} plans, {phases}", self.total_summaries, self.total_plans);
        match self.percent {
            Some(percent) => format!("{} {counts} ({percent}%)", bar(percent)),
            None => format!("{} {counts}", bar(0)),
        }
    }
}

/// What `progress table` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TableReport {
    pub(crate) rendered: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_at_a_hundred() {
        assert_eq!([60, 99, 100].map(bar), ["[██████░░░░]", "[█████████░]", "[██████████]"]);
    }
}
