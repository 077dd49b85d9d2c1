//! `init code-review`, `review` and `discuss-phase-assumptions`: work on a phase that needs little more than its place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::overview::progress::PhaseStatus;
use crate::project::files::FileError;

use super::phase::{Phase, Title};
use super::sections::{Condition, SectionManifest};
use super::{Bundle, Complete, Settings};

/// What `init code-review` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CodeReviewReport {
    commit_docs: bool,
    phase_found: bool,
    phase_dir: Option<String>,
    phase_number: Option<String>,
    phase_name: Option<String>,
    padded_phase: Option<String>,
    #[serde(flatten)]
    title: Title,
    phase_status: Option<PhaseStatus>,
    fallow_enabled: bool,
    fallow_scope: Option<String>,
    fallow_profile: Option<String>,
    fallow_mcp: bool,
    /// How risky a change may be, by complexity and tests, before it is reported.
    fallow_max_crap: u32,
    reviewer_model: String,
    section_manifest: SectionManifest,
    /// What the workflow goes by, with the defaults of keys that are not set.
    settings: Settings,
}

/// The settings that the workflow goes by.
const SETTINGS: &[&str] =
    &["workflow.code_review", "workflow.code_review_depth", "workflow.code_review_depth_overrides"];

/// What `init review` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewReport {
    phase_dir: Option<String>,
    phase_number: Option<String>,
    padded_phase: Option<String>,
    #[serde(flatten)]
    title: Title,
    section_manifest: SectionManifest,
}

/// What `init discuss-phase-assumptions` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AssumptionsReport {
    commit_docs: bool,
    phase_found: bool,
    phase_dir: Option<String>,
    phase_number: Option<String>,
    phase_name: Option<String>,
    phase_slug: Option<String>,
    padded_phase: Option<String>,
    #[serde(flatten)]
    title: Title,
    has_research: bool,
    has_context: bool,
    has_plans: bool,
    has_verification: bool,
    plan_count: usize,
    roadmap_exists: bool,
    planning_exists: bool,
    section_manifest: SectionManifest,
}

impl Bundle<'_> {
    /// What reviewing the code of a phase starts from.
    pub(crate) fn code_review(&self, typed: Option<&str>, fix: bool) -> Result<Complete<CodeReviewReport>, FileError> {
        let found = self.phase_if_named(typed)?;
        let phase = found.as_ref();
        let enabled = self.config.flag("code_quality.fallow.enabled");
        let text = |key, otherwise: &str| Some(self.config.text(key).unwrap_or(otherwise).to_owned());
        let profile = text("code_quality.fallow.profile", "standard");
        let report = CodeReviewReport {
            commit_docs: self.commit_docs(),
            phase_found: phase.is_some(),
            phase_dir: phase.and_then(|phase| self.folder_path(phase)),
            phase_number: phase.map(|phase| phase.number.clone()),
            phase_name: phase.and_then(Phase::name_on_disk).map(str::to_owned),
            padded_phase: phase.map(Phase::padded),
            title: self.title(phase)?,
            phase_status: match phase {
                Some(phase) => Some(PhaseStatus::of(&self.standing(Some(phase), &phase.number)?)),
                None => None,
            },
            fallow_enabled: enabled,
            fallow_scope: text("code_quality.fallow.scope", "phase"),
            fallow_mcp: self.config.flag("code_quality.fallow.mcp"),
            fallow_max_crap: match profile.as_deref() {
                Some("minimal") => 50,
                Some("strict") => 15,
                _ => 30,
            },
            fallow_profile: profile,
            reviewer_model: self.model("gsd-code-reviewer"),
            settings: self.settings(SETTINGS),
            section_manifest: SectionManifest::of(
                "code-review",
                &[(Condition::StructuralPass, enabled), (Condition::Fix, fix)],
            ),
        };
        self.complete(report)
    }

    /// What a review of plans by others starts from.
    pub(crate) fn review(&self, typed: Option<&str>) -> Result<Complete<ReviewReport>, FileError> {
        let found = self.phase_if_named(typed)?;
        let phase = found.as_ref();
        let instances = self.config.entries("review.reviewer_instances").next().is_some();
        let report = ReviewReport {
            phase_dir: phase.and_then(|phase| self.folder_path(phase)),
            phase_number: phase.map(|phase| phase.number.clone()),
            padded_phase: phase.map(Phase::padded),
            title: self.title(phase)?,
            section_manifest: SectionManifest::of("review", &[(Condition::ReviewerInstances, instances)]),
        };
        self.complete(report)
    }

    /// What talking over the assumptions of a phase starts from.
    pub(crate) fn assumptions(
        &self,
        typed: Option<&str>,
        auto: bool,
    ) -> Result<Complete<AssumptionsReport>, FileError> {
        let found = self.phase_if_named(typed)?;
        let phase = found.as_ref();
        let has = |kind| self.artifact(phase, kind).is_some();
        let plan_count = self.plans(phase)?.len();
        let report = AssumptionsReport {
            commit_docs: self.commit_docs(),
            phase_found: phase.is_some(),
            phase_dir: phase.and_then(|phase| self.folder_path(phase)),
            phase_number: phase.map(|phase| phase.number.clone()),
            phase_name: phase.and_then(Phase::name_on_disk).map(str::to_owned),
            phase_slug: phase.and_then(Phase::slug),
            padded_phase: phase.map(Phase::padded),
            title: self.title(phase)?,
            has_research: has("RESEARCH"),
            has_context: has("CONTEXT"),
            has_plans: plan_count > 0,
            has_verification: has("VERIFICATION"),
            plan_count,
            roadmap_exists: self.roadmap_exists(),
            planning_exists: self.planning_exists(),
            section_manifest: SectionManifest::of("discuss-phase-assumptions", &[(Condition::Auto, auto)]),
        };
        self.complete(report)
    }

    fn phase_if_named(&self, typed: Option<&str>) -> Result<Option<Phase>, FileError> {
        Ok(typed.map(|typed| self.phase(typed)).transpose()?.flatten())
    }
}
