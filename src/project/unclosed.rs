//! How far the plans of a phase are, by their SUMMARYs: which are still to be done, and which were executed and never
//! carried into the documents because the session ended in between.

use super::files::FileError;
use super::folder::{PhaseFolder, canonical_id, plan_id};
use super::plan::PhaseSummary;
use super::view::ProjectView;

impl ProjectView {
    /// Whether nothing is left to do about a plan: it has a SUMMARY, and that does not say `blocked`. One that says
    /// `halted` gives its plan up, which settles it as well.
    pub(crate) fn is_settled(&self, folder: &PhaseFolder, plan: &str) -> Result<bool, FileError> {
        let Some(summary) = folder.summary_of(plan) else { return Ok(false) };
        Ok(!self.text(&folder.join(summary))?.as_deref().is_some_and(is_blocked))
    }

    /// The current plans of a folder that are not settled, in order.
    pub(crate) fn open_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        let mut open = Vec::new();
        for plan in self.current_plans(folder)? {
            if !self.is_settled(folder, &plan)? {
                open.push(plan);
            }
        }
        Ok(open)
    }

    /// The identifiers of the settled plans of a folder whose line in the roadmap has an empty box.
    pub(crate) fn unclosed_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        let Some(text) = self.roadmap_text()? else { return Ok(Vec::new()) };
        let roadmap = self.parse_roadmap(&text);
        let Some(section) = roadmap.section(folder.token()) else { return Ok(Vec::new()) };
        let bullets = roadmap.plan_bullets(section);
        let is_open = |plan: &&String| bullets.iter().any(|bullet| bullet.is_about(plan) && !bullet.checked);
        let plans = self.current_plans(folder)?;
        let mut unclosed = Vec::new();
        for plan in plans.iter().filter(is_open) {
            if self.is_settled(folder, plan)? {
                unclosed.push(canonical_id(plan_id(plan)).to_owned());
            }
        }
        Ok(unclosed)
    }
}

/// Whether a SUMMARY says that its plan is still to be done. Every SUMMARY of a project is asked, and most do not hold the
/// word at all, so that they need no parsing.
fn is_blocked(summary: &str) -> bool {
    let front = summary.trim_start().split("\n---").next().unwrap_or_default();
    front.to_ascii_lowercase().contains("blocked") && PhaseSummary::parse(summary).is_blocked()
}
