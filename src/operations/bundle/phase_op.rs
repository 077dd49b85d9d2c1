//! `init phase-op`: where the documents of one phase stand.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;

use super::phase::{Artifacts, Identity, Title};
use super::{Automation, Bundle, Complete};

/// What `init phase-op` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseOpReport {
    commit_docs: bool,
    brave_search: bool,
    firecrawl: bool,
    exa_search: bool,
    #[serde(flatten)]
    automation: Automation,
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    title: Title,
    has_research: bool,
    has_context: bool,
    context_scope: MilestoneScope,
    has_plans: bool,
    has_verification: bool,
    has_reviews: bool,
    plan_count: usize,
    roadmap_exists: bool,
    planning_exists: bool,
    state_path: Option<String>,
    roadmap_path: Option<String>,
    requirements_path: Option<String>,
    #[serde(flatten)]
    artifacts: Artifacts,
}

impl Bundle<'_> {
    /// Where the documents of a phase stand; without a phase, those of the project.
    pub(crate) fn phase_op(&self, typed: Option<&str>) -> Result<Complete<PhaseOpReport>, FileError> {
        let phase = typed.map(|typed| self.phase(typed)).transpose()?.flatten();
        let phase = phase.as_ref();
        let layout = self.view.layout();
        let has = |kind| self.artifact(phase, kind).is_some();
        let plan_count = self.plans(phase)?.len();
        let report = PhaseOpReport {
            commit_docs: self.commit_docs(),
            brave_search: self.config.flag("brave_search"),
            firecrawl: self.config.flag("firecrawl"),
            exa_search: self.config.flag("exa_search"),
            automation: self.automation(),
            identity: self.identity(phase),
            title: self.title(phase)?,
            has_research: has("RESEARCH"),
            has_context: has("CONTEXT"),
            // A folder that cannot be read is an error here, so what is told of it is whole.
            context_scope: MilestoneScope::Complete,
            has_plans: plan_count > 0,
            has_verification: has("VERIFICATION"),
            has_reviews: has("REVIEWS"),
            plan_count,
            roadmap_exists: self.roadmap_exists(),
            planning_exists: self.scope_exists(),
            state_path: self.shown_if_there(&layout.state()),
            roadmap_path: self.shown_if_there(&layout.roadmap()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            artifacts: self.artifacts(phase),
        };
        self.complete(report)
    }
}
