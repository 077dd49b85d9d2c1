//! `init plan-phase`: what planning a phase starts from.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::agents::models;
use crate::operations::overview::progress::PhaseStatus;
use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;

use super::phase::{Aim, Artifacts, Identity, StateValidation, Title};
use super::sections::{Condition, SectionManifest};
use super::verify_commands::VerifyCommand;
use super::{Automation, Bundle, Complete, Settings};

/// What was asked besides the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanPhaseRequest {
    pub(crate) granularity: Option<String>,
    /// A product requirements document takes the place of the discussion.
    pub(crate) prd: bool,
    /// So do architecture decision records.
    pub(crate) ingest: bool,
    pub(crate) research_only: bool,
    pub(crate) tdd: bool,
    /// The state is held against the disk.
    pub(crate) validate: bool,
    pub(crate) reviews: bool,
    pub(crate) chunked: bool,
}

/// What `init plan-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanPhaseReport {
    researcher_model: String,
    planner_model: String,
    checker_model: String,
    tdd_mode: bool,
    granularity: String,
    research_enabled: bool,
    plan_checker_enabled: bool,
    nyquist_validation_enabled: bool,
    commit_docs: bool,
    text_mode: bool,
    #[serde(flatten)]
    automation: Automation,
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    title: Title,
    phase_req_ids: Option<String>,
    phase_status: PhaseStatus,
    has_research: bool,
    has_context: bool,
    context_scope: MilestoneScope,
    has_reviews: bool,
    has_plans: bool,
    plan_count: usize,
    planning_exists: bool,
    roadmap_exists: bool,
    state_path: Option<String>,
    roadmap_path: Option<String>,
    requirements_path: Option<String>,
    patterns_path: Option<String>,
    #[serde(flatten)]
    artifacts: Artifacts,
    #[serde(flatten)]
    validation: Option<StateValidation>,
    section_manifest: SectionManifest,
    #[serde(flatten)]
    aim: Aim,
    /// What the agents go by, with the defaults of keys that are not set.
    settings: Settings,
    /// Commands that verified the phase before, so that they are not invented anew.
    prior_verify_commands: Vec<VerifyCommand>,
}

/// The settings that planners and checkers go by.
const SETTINGS: &[&str] = &[
    "workflow.human_verify_mode",
    "workflow.security_enforcement",
    "workflow.security_asvs_level",
    "workflow.security_block_on",
    "workflow.smart_zone_tokens",
    "workflow.plan_bounce",
    "workflow.specless_probe_fallback",
    "planning.chunked_parallel",
];

impl Bundle<'_> {
    /// What planning `typed` starts from.
    pub(crate) fn plan_phase(
        &self,
        typed: &str,
        request: &PlanPhaseRequest,
    ) -> Result<Complete<PlanPhaseReport>, FileError> {
        let phase = self.phase(typed)?;
        let phase = phase.as_ref();
        let layout = self.view.layout();
        let plan_count = self.plans(phase)?.len();
        let has = |kind| self.artifact(phase, kind).is_some();
        let decided = [
            (Condition::Reviews, request.reviews),
            (Condition::RequirementsDocument, request.prd),
            (Condition::DecisionRecords, request.ingest),
            (Condition::ResearchOnly, request.research_only),
            (Condition::Chunked, request.chunked || self.config.flag("workflow.plan_chunked")),
        ];
        let section_manifest = SectionManifest::of("plan-phase", &decided);
        let report = PlanPhaseReport {
            researcher_model: self.model("gsd-phase-researcher"),
            planner_model: self.model("gsd-planner"),
            checker_model: self.model("gsd-plan-checker"),
            tdd_mode: request.tdd || self.config.flag("workflow.tdd_mode"),
            granularity: models::granularity(self.config, "planning", request.granularity.as_deref()).granularity,
            research_enabled: self.config.flag("workflow.research"),
            plan_checker_enabled: self.config.flag("workflow.plan_check"),
            nyquist_validation_enabled: self.config.flag("workflow.nyquist_validation"),
            commit_docs: self.commit_docs(),
            text_mode: self.config.flag("workflow.text_mode"),
            automation: self.automation(),
            identity: self.identity(phase),
            title: self.title(phase)?,
            phase_req_ids: phase.and_then(|phase| phase.entry.as_ref()?.requirements.clone()),
            phase_status: PhaseStatus::of(&self.standing(phase, typed)?),
            has_research: has("RESEARCH"),
            has_context: has("CONTEXT"),
            context_scope: MilestoneScope::Complete,
            has_reviews: has("REVIEWS"),
            has_plans: plan_count > 0,
            plan_count,
            planning_exists: self.scope_exists(),
            roadmap_exists: self.roadmap_exists(),
            state_path: self.shown_if_there(&layout.state()),
            roadmap_path: self.shown_if_there(&layout.roadmap()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            patterns_path: self.artifact(phase, "PATTERNS"),
            artifacts: self.artifacts(phase),
            validation: if request.validate { self.validation(typed, plan_count)? } else { None },
            section_manifest,
            aim: self.aim(phase),
            settings: self.settings(SETTINGS),
            prior_verify_commands: match phase {
                Some(phase) => self.earlier_verify_commands(&phase.number)?,
                None => Vec::new(),
            },
        };
        self.complete(report)
    }
}
