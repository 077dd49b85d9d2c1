//! `init quick`: a small task outside the phases.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::text::slug_within;

use super::execute_phase::fill;
use super::sections::{Condition, SectionManifest};
use super::{Automation, Bundle, Complete, Moment};

/// Longest part of a folder's name that comes from the task's text.
const LONGEST_SLUG: usize = 40;

/// What was asked, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuickRequest {
    /// The task, in the user's words.
    pub(crate) description: Option<String>,
    pub(crate) discuss: bool,
    pub(crate) research: bool,
    pub(crate) validate: bool,
    /// All three.
    pub(crate) full: bool,
    pub(crate) moment: Moment,
}

/// What `init quick` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuickReport {
    planner_model: String,
    executor_model: String,
    checker_model: String,
    verifier_model: String,
    researcher_model: String,
    reviewer_model: String,
    commit_docs: bool,
    #[serde(flatten)]
    automation: Automation,
    branch_name: Option<String>,
    quick_id: String,
    slug: Option<String>,
    description: Option<String>,
    date: String,
    timestamp: String,
    quick_dir: String,
    task_dir: Option<String>,
    roadmap_exists: bool,
    planning_exists: bool,
    section_manifest: SectionManifest,
}

impl Bundle<'_> {
    /// What a small task starts from.
    pub(crate) fn quick(&self, request: &QuickRequest) -> Result<Complete<QuickReport>, FileError> {
        let folder = self.view.layout().quick();
        let id = quick_id(&request.moment.day, request.moment.second);
        let slug = request.description.as_deref().filter(|text| !text.trim().is_empty()).map(|text| {
            // A description may have no letter and no digit.
            Some(slug_within(text, LONGEST_SLUG)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "quick".to_owned())
        });
        let named = slug.as_deref();
        let decided = [
            (Condition::Discuss, request.full || request.discuss),
            (Condition::Research, request.full || request.research),
            (Condition::Validate, request.full || request.validate),
        ];
        let section_manifest = SectionManifest::of("quick", &decided);
        let branch = |template| {
            let values = [("{num}", id.as_str()), ("{quick}", &id), ("{slug}", named.unwrap_or("quick"))];
            fill(template, &values)
        };
        let report = QuickReport {
            planner_model: self.model("gsd-planner"),
            executor_model: self.model("gsd-executor"),
            checker_model: self.model("gsd-plan-checker"),
            verifier_model: self.model("gsd-verifier"),
            researcher_model: self.model("gsd-phase-researcher"),
            reviewer_model: self.model("gsd-code-reviewer"),
            commit_docs: self.commit_docs(),
            automation: self.automation(),
            branch_name: self.config.text("git.quick_branch_template").and_then(branch),
            task_dir: named.map(|slug| self.shown(&format!("{folder}/{id}-{slug}"))),
            slug,
            quick_id: id,
            description: request.description.clone(),
            date: request.moment.day.clone(),
            timestamp: request.moment.timestamp.clone(),
            quick_dir: self.shown(&folder),
            roadmap_exists: self.roadmap_exists(),
            planning_exists: self.planning_exists(),
            section_manifest,
        };
        self.complete(report)
    }
}

/// The day as six digits, and the time in steps of two seconds as three letters and digits: sorts by time, and is
/// typed easily.
fn quick_id(day: &str, second: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digits: String = day.chars().filter(char::is_ascii_digit).skip(2).collect();
    let step = second / 2;
    let letter = |place: u32| char::from(DIGITS[(step / 36_u32.pow(place) % 36) as usize]);
    format!("{digits}-{}{}{}", letter(2), letter(1), letter(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_tells_day_and_time() {
        assert_eq!(quick_id("2026-01-02", 0), "260102-000");
        assert_eq!(quick_id("2026-01-02", 3), "260102-001");
        assert_eq!(quick_id("2026-01-02", 71), "260102-00z");
        assert_eq!(quick_id("2026-01-02", 86_399), "260102-xbz");
    }
}
