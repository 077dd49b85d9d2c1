//! Plans that were executed and never carried into the documents: the session ended in between.

use super::files::FileError;
use super::folder::{PhaseFolder, canonical_id, plan_id};
use super::view::ProjectView;

impl ProjectView {
    /// The identifiers of the plans of a folder that have a SUMMARY and whose line in the roadmap has an empty box.
    pub(crate) fn unclosed_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        let Some(text) = self.roadmap_text()? else { return Ok(Vec::new()) };
        let roadmap = self.parse_roadmap(&text);
        let Some(section) = roadmap.section(folder.token()) else { return Ok(Vec::new()) };
        let bullets = roadmap.plan_bullets(section);
        let is_open = |plan: &&String| bullets.iter().any(|bullet| bullet.is_about(plan) && !bullet.checked);
        let plans = self.current_plans(folder)?;
        let executed = plans.iter().filter(|plan| folder.summary_of(plan).is_some()).filter(is_open);
        Ok(executed.map(|plan| canonical_id(plan_id(plan)).to_owned()).collect())
    }
}
