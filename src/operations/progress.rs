//! How far the milestone is: counts per phase, one percentage, and the same as text.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::MilestoneScope;
use crate::project::phase;
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;

use super::roadmap::percent;

/// What `progress json` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgressReport {
    pub(crate) milestone_version: Option<String>,
    pub(crate) milestone_name: Option<String>,
    pub(crate) phases: Vec<PhaseProgress>,
    pub(crate) total_plans: usize,
    pub(crate) total_summaries: usize,
    /// None unless the milestone's scope is complete.
    pub(crate) percent: Option<usize>,
    pub(crate) phase_scope: MilestoneScope,
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

/// How far a phase is, by its plans, summaries and the word of its verification report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) enum PhaseStatus {
    Pending,
    Planned,
    #[serde(rename = "In Progress")]
    InProgress,
    Executed,
    #[serde(rename = "Needs Review")]
    NeedsReview,
    Complete,
}

impl PhaseStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Planned => "Planned",
            Self::InProgress => "In Progress",
            Self::Executed => "Executed",
            Self::NeedsReview => "Needs Review",
            Self::Complete => "Complete",
        }
    }
}

/// The status of a phase with these counts. The report counts as written: whether it is stale is not asked here.
pub(crate) fn phase_status(
    view: &ProjectView,
    folder: &PhaseFolder,
    plans: usize,
    summaries: usize,
) -> Result<PhaseStatus, FileError> {
    if plans == 0 {
        return Ok(PhaseStatus::Pending);
    }
    if summaries == 0 {
        return Ok(PhaseStatus::Planned);
    }
    if summaries < plans {
        return Ok(PhaseStatus::InProgress);
    }
    let report = folder.artifact_path("VERIFICATION").map(|path| view.text(&path)).transpose()?.flatten();
    let word = report.as_deref().and_then(|text| FrontMatter::parse(text)?.text("status"));
    Ok(match word.as_deref().map(str::trim) {
        Some("passed") => PhaseStatus::Complete,
        Some("human_needed") => PhaseStatus::NeedsReview,
        _ => PhaseStatus::Executed,
    })
}

/// The progress of the current milestone.
pub(crate) fn progress(view: &ProjectView) -> Result<ProgressReport, FileError> {
    let milestone = view.milestone()?;
    let mut phases = Vec::new();
    for folder in view.milestone_folders()? {
        let plans = view.current_plans(&folder)?.len();
        let summaries = folder.summaries().count();
        let status = phase_status(view, &folder, plans, summaries)?;
        let (number, name) = shown(&folder.name);
        phases.push(PhaseProgress { number, name, plans, summaries, status });
    }
    let total_plans = phases.iter().map(|phase| phase.plans).sum();
    let total_summaries = phases.iter().map(|phase| phase.summaries).sum();
    Ok(ProgressReport {
        percent: (milestone.scope == MilestoneScope::Complete).then(|| percent(total_summaries, total_plans)),
        milestone_version: milestone.version,
        milestone_name: milestone.name,
        phases,
        total_plans,
        total_summaries,
        phase_scope: milestone.scope,
    })
}

/// A folder's leading number and the words behind it; a name that starts otherwise is shown whole.
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
    pub(crate) percent: Option<usize>,
    pub(crate) completed: usize,
    pub(crate) total: usize,
}

impl ProgressReport {
    pub(crate) fn bar(&self) -> BarReport {
        BarReport {
            bar: self.line(20),
            percent: self.percent,
            completed: self.total_summaries,
            total: self.total_plans,
        }
    }

    /// A Markdown page with the bar and a row a phase.
    pub(crate) fn table(&self) -> String {
        let words = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut page = format!("# {} {}\n\n", words(&self.milestone_version), words(&self.milestone_name));
        // Writing to a string cannot fail.
        let _ = write!(page, "**Progress:** {}\n\n", self.line(10));
        page.push_str("| Phase | Name | Plans | Status |\n|-------|------|-------|--------|\n");
        for phase in &self.phases {
            let (number, name, status) = (&phase.number, &phase.name, phase.status.word());
            let _ = writeln!(page, "| {number} | {name} | {}/{} | {status} |", phase.summaries, phase.plans);
        }
        page
    }

    fn line(&self, cells: usize) -> String {
        let counts = format!("{}/{} plans", self.total_summaries, self.total_plans);
        match self.percent {
            Some(percent) => format!("{} {counts} ({percent}%)", bar(percent, cells)),
            None => format!("{} {counts}", bar(0, cells)),
        }
    }
}

/// A bar of `cells` cells, never full below a hundred.
pub(crate) fn bar(percent: usize, cells: usize) -> String {
    let filled = (percent.min(100) * cells + 50) / 100;
    let filled = if percent < 100 { filled.min(cells - 1) } else { cells };
    format!("[{}{}]", "█".repeat(filled), "░".repeat(cells - filled))
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
        assert_eq!(bar(60, 10), "[██████░░░░]");
        assert_eq!(bar(99, 10), "[█████████░]");
        assert_eq!(bar(100, 4), "[████]");
    }
}
