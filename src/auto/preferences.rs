//! What a project wants from the pipeline, with defaults.

pub(crate) use crate::project::milestone_layout::preferences::Profile;
use crate::project::milestone_layout::preferences::{self as document, InlineLevel};
use crate::project::milestone_layout::unit_hooks::UnitHook;
use crate::text::words::words;

words! {
    /// Which steps a milestone takes.
    #[derive(Hash, serde::Serialize, schemars::JsonSchema)]
    pub(crate) enum Pipeline {
        /// Research is part of planning, and mechanical steps run without an agent.
        Simple = "simple",
        /// Every step has a separate session.
        Classic = "classic",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preferences {
    pub(crate) pipeline: Pipeline,
    pub(crate) profile: Profile,
    pub(crate) skip_research: bool,
    pub(crate) skip_slice_research: bool,
    pub(crate) reassess_after_slice: bool,
    pub(crate) skip_reassess: bool,
    pub(crate) skip_milestone_validation: bool,
    pub(crate) require_slice_discussion: bool,
    pub(crate) progressive_planning: bool,
    pub(crate) gate_evaluation: bool,
    pub(crate) uat_dispatch: bool,
    pub(crate) uat_accept_partial: bool,
    /// Slices, validations and milestones are closed without a session.
    pub(crate) is_mechanical: bool,
    /// The minimum length in characters of a slice summary made without an agent; 0 for no limit.
    pub(crate) min_summary_characters: usize,
    /// Whether the session that plans a milestone plans its first slice too.
    pub(crate) plans_first_slice: bool,
    /// Whether a task without evidence keeps its milestone from passing.
    pub(crate) requires_evidence: bool,
    pub(crate) inlining: InlineLevel,
    /// The commands that check the work; if empty, they are detected.
    pub(crate) verification_commands: Vec<String>,
    /// How often a unit with failing checks is tried again.
    pub(crate) verification_retries: u32,
    /// The hooks before and after units.
    pub(crate) hooks: Vec<UnitHook>,
}

impl Preferences {
    /// Returns the defaults of a pipeline and profile.
    pub(crate) fn of(pipeline: Pipeline, profile: Profile) -> Self {
        // The last profile is the classic pipeline with everything in it.
        let pipeline = if profile == Profile::BurnMax { Pipeline::Classic } else { pipeline };
        let is_classic = pipeline == Pipeline::Classic;
        let is_budget = profile == Profile::Budget;
        Self {
            pipeline,
            profile,
            skip_research: !is_classic || is_budget,
            skip_slice_research: !is_classic || matches!(profile, Profile::Budget | Profile::Balanced),
            reassess_after_slice: is_classic && !is_budget,
            skip_reassess: false,
            skip_milestone_validation: is_classic && is_budget,
            require_slice_discussion: false,
            progressive_planning: false,
            gate_evaluation: false,
            uat_dispatch: false,
            uat_accept_partial: false,
            is_mechanical: !is_classic,
            min_summary_characters: 200,
            plans_first_slice: !is_classic,
            requires_evidence: true,
            inlining: InlineLevel::Paths,
            verification_commands: Vec::new(),
            verification_retries: 2,
            hooks: Vec::new(),
        }
    }
}

impl Preferences {
    /// Returns the preferences of a project, with defaults for what it does not set. `pipeline` comes from the call.
    pub(crate) fn resolved(document: &document::Preferences, pipeline: Option<Pipeline>) -> Self {
        let base = Self::of(pipeline.unwrap_or(Pipeline::Simple), document.token_profile);
        let phases = &document.phases;
        Self {
            skip_research: phases.skip_research.unwrap_or(base.skip_research),
            skip_slice_research: phases.skip_slice_research.unwrap_or(base.skip_slice_research),
            reassess_after_slice: phases.reassess_after_slice.unwrap_or(base.reassess_after_slice),
            skip_reassess: phases.skip_reassess.unwrap_or(base.skip_reassess),
            skip_milestone_validation: phases.skip_milestone_validation.unwrap_or(base.skip_milestone_validation),
            require_slice_discussion: phases.require_slice_discussion.unwrap_or(false),
            progressive_planning: phases.progressive_planning.unwrap_or(false),
            gate_evaluation: document.gate_evaluation,
            uat_dispatch: document.uat_dispatch,
            uat_accept_partial: document.uat_accept_partial,
            is_mechanical: document.mechanical.enabled.unwrap_or(base.is_mechanical),
            min_summary_characters: document.mechanical.min_summary_chars,
            plans_first_slice: document
                .plan_inline_s01
                .unwrap_or(base.plans_first_slice && phases.require_slice_discussion != Some(true)),
            requires_evidence: document.verification_require_evidence,
            inlining: document.inline_level,
            verification_commands: document.verification_commands.clone(),
            verification_retries: document.verification_max_retries,
            ..base
        }
    }
}

impl Default for Preferences {
    fn default() -> Self {
        Self::of(Pipeline::Simple, Profile::Balanced)
    }
}
