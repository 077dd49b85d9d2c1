//! The progress of the milestone: counts per phase, one percentage, and the same as text.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{self, Overview, total_plans, total_summaries};
use crate::operations::answers::answer::{FactOf as _, answer};
use crate::operations::facts::listed::{self, PhaseFacts, PhaseStatus};
use crate::project::files::FileError;
use crate::project::phase;
use crate::project::standing::PhaseStanding;
use crate::project::state::edit::bar;
use crate::project::verification;
use crate::project::view::ProjectView;

answer! {
    /// What `progress json` answers.
    pub(crate) struct ProgressReport |overview: Overview| with figures(overview) {
        milestone_version, milestone_name,
        phases: Vec<PhaseProgress> = overview.phases.iter().map(PhaseProgress::of).collect(),
        total_plans, total_summaries, percent, phase_scope,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems,
    }
}

answer! {
    /// One phase of [`ProgressReport`].
    pub(crate) struct PhaseProgress |phase: PhaseFacts| with listed(phase) {
        number, name, plans = plan_count, summaries = summary_count, status = phase_status,
    }
}

/// The progress of the current milestone.
pub(crate) fn progress(view: &ProjectView) -> Result<Overview, FileError> {
    let folders = view.milestone_folders()?;
    verification::look_ahead(view, &folders)?;
    let mut phases = Vec::new();
    for folder in folders {
        let (number, name) = shown(&folder.name);
        phases.push(PhaseFacts::new(number, name, PhaseStanding::of_folder(view, &folder)?));
    }
    Overview::new(view, view.milestone()?, phases)
}

/// A folder's leading number and the words after it. A name without a leading number is shown whole.
fn shown(name: &str) -> (&str, String) {
    let length = name.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = name[..length].trim_end_matches('.');
    if phase::leading_integer(name).is_none() || number.is_empty() {
        return (name, String::new());
    }
    (number, name[number.len()..].trim_start_matches('-').replace('-', " "))
}

answer! {
    /// What `progress bar` answers.
    pub(crate) struct BarReport |overview: Overview| with figures(overview) {
        bar: String = overview.line(),
        percent, completed = total_summaries, total = total_plans,
    }
}

impl Overview {
    /// A Markdown page with the bar and a row for each phase.
    pub(crate) fn progress_table(&self) -> String {
        let mut page = format!("# {}\n\n", self.named());
        // Writing to a string cannot fail.
        let _ = write!(page, "**Progress:** {}\n\n", self.line());
        page.push_str("| Phase | Name | Plans | Status |\n|-------|------|-------|--------|\n");
        for phase in &self.phases {
            let (number, name) = (&phase.number, phase.name.replace('|', "\\|"));
            let status = PhaseStatus::of(&phase.standing).word();
            let work = &phase.standing.work;
            let _ = writeln!(page, "| {number} | {name} | {}/{} | {status} |", work.summaries, work.plans.len());
        }
        page
    }

    fn line(&self) -> String {
        let counts = self.measured.counts;
        let phases = format!("{}/{} phases", counts.completed_phases, counts.total_phases);
        let shares = format!("{}/{} plans, {phases}", total_summaries::of(self), total_plans::of(self));
        if !self.measured.is_known {
            return shares;
        }
        let percent = counts.percent();
        format!("{} {shares} ({percent}%)", bar(percent))
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
