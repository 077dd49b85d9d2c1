//! The progress of a phase's plans, from their SUMMARYs: which plans still have to be done, and which were executed but
//! never recorded in the documents because the session ended in between.

use std::fmt;

use super::files::FileError;
use super::folder::{PhaseFolder, canonical_id, plan_id};
use super::plan::{PhaseSummary, is_surely_done};
use super::view::{PlanProgress, ProjectView, once};

/// The codes for [`PlanProgress`] in stored answers.
const DONE: u8 = 0;
const HALTED: u8 = 1;
const TO_DO: u8 = 2;

impl ProjectView {
    /// The progress of a plan in a folder, from its SUMMARY.
    pub(crate) fn plan_progress(&self, folder: &PhaseFolder, plan: &str) -> Result<PlanProgress, FileError> {
        let Some(summary) = folder.summary_of(plan) else { return Ok(PlanProgress::ToDo) };
        let said = self.told(b's', &folder.join(summary), |text| match text.map_or(PlanProgress::Done, progress) {
            PlanProgress::Done => DONE,
            PlanProgress::Halted => HALTED,
            PlanProgress::ToDo => TO_DO,
        })?;
        Ok(match said {
            DONE => PlanProgress::Done,
            HALTED => PlanProgress::Halted,
            _ => PlanProgress::ToDo,
        })
    }

    /// Whether a plan will not be executed any more: it is done, or halted.
    pub(crate) fn is_settled(&self, folder: &PhaseFolder, plan: &str) -> Result<bool, FileError> {
        Ok(self.plan_progress(folder, plan)? != PlanProgress::ToDo)
    }

    /// Whether a plan was executed to its end.
    pub(crate) fn is_done(&self, folder: &PhaseFolder, plan: &str) -> Result<bool, FileError> {
        Ok(self.plan_progress(folder, plan)? == PlanProgress::Done)
    }

    /// The current plans of a folder that are not done, in order: those to be executed, and halted ones.
    pub(crate) fn open_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        self.plans_that(folder, |progress| progress != PlanProgress::Done)
    }

    /// The current plans of a folder that are to be executed, in order.
    pub(crate) fn plans_to_do(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        self.plans_that(folder, |progress| progress == PlanProgress::ToDo)
    }

    /// The current plans of a folder whose progress is wanted, in order.
    fn plans_that(
        &self,
        folder: &PhaseFolder,
        is_wanted: impl Fn(PlanProgress) -> bool,
    ) -> Result<Vec<String>, FileError> {
        let facts = self.facts_of(folder);
        let plans = self.plans_in(folder, &facts)?;
        let find = || plans.iter().map(|plan| self.plan_progress(folder, plan)).collect();
        let progress = once(&facts.progress, find)?;
        let wanted = plans.iter().zip(progress).filter(|(_, progress)| is_wanted(**progress));
        Ok(wanted.map(|(plan, _)| plan.clone()).collect())
    }

    /// The SUMMARYs of a folder that leave the progress of their plan unclear: those with an unknown status, whose plan
    /// counts as halted, and empty ones. Each has its reason.
    pub(crate) fn unclear_summaries(&self, folder: &PhaseFolder) -> Result<Vec<UnclearSummary>, FileError> {
        let mut unclear = Vec::new();
        for file in folder.summaries() {
            let path = folder.join(file);
            let text = self.text(&path)?.unwrap_or_default();
            let status = PhaseSummary::parse(&text).unknown_status();
            if status.is_some() || text.trim().is_empty() {
                unclear.push(UnclearSummary { path, status });
            }
        }
        Ok(unclear)
    }

    /// The identifiers of the plans of a folder that are done but have an empty box in the roadmap.
    pub(crate) fn unclosed_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        let Some(roadmap) = self.roadmap()? else { return Ok(Vec::new()) };
        let Some(section) = roadmap.section(folder.token()) else { return Ok(Vec::new()) };
        let bullets = roadmap.plan_bullets(section);
        let is_open = |plan: &&String| bullets.iter().any(|bullet| bullet.is_about(plan) && !bullet.checked);
        let plans = self.current_plans(folder)?;
        let mut unclosed = Vec::new();
        for plan in plans.iter().filter(is_open) {
            if self.is_done(folder, plan)? {
                unclosed.push(canonical_id(plan_id(plan)).to_owned());
            }
        }
        Ok(unclosed)
    }
}

/// A SUMMARY that leaves the progress of its plan unclear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnclearSummary {
    pub(crate) path: String,
    /// Its status; `None` if the file is empty.
    pub(crate) status: Option<String>,
}

impl UnclearSummary {
    /// The text to write in it.
    pub(crate) const CURE: &str = "write `status: complete` in it, or `halted` or `blocked` where it is not";
}

impl fmt::Display for UnclearSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.status {
            Some(status) => write!(formatter, "`{}` has a status that is not known: {status}", self.path),
            None => write!(formatter, "`{}` is empty", self.path),
        }
    }
}

/// The progress of a plan from the text of its SUMMARY. Every SUMMARY of a project is asked, and most contain none of
/// the words, so they need no parsing.
fn progress(summary: &str) -> PlanProgress {
    if is_surely_done(summary) {
        return PlanProgress::Done;
    }
    let summary = PhaseSummary::parse(summary);
    if summary.is_blocked() {
        PlanProgress::ToDo
    } else if summary.is_halted() {
        PlanProgress::Halted
    } else {
        PlanProgress::Done
    }
}
