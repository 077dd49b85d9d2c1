//! The settings of a project that apply to plans.

use super::threats::ThreatLevel;
use crate::project::config::Config;

/// The project's settings for plans.
#[derive(Clone, Debug)]
pub(crate) struct PlanLimits {
    /// True if decisions must be cited.
    pub(super) decisions_are_checked: bool,
    /// True if a plan needs a threat model.
    pub(super) needs_threats: bool,
    /// The severity from which a threat must be mitigated.
    pub(super) block_on: Option<ThreatLevel>,
    /// The number of tokens that a plan should stay below.
    pub(super) smart_zone_tokens: u64,
    /// True if people verify at the end of a phase and not in between.
    pub(super) people_look_at_the_end: bool,
}

impl PlanLimits {
    pub(crate) fn of(config: &Config) -> Self {
        let block_on = config.text("workflow.security_block_on").unwrap_or("high");
        Self {
            decisions_are_checked: config.flag("workflow.context_coverage_gate"),
            needs_threats: config.flag("workflow.security_enforcement"),
            block_on: ThreatLevel::of(block_on),
            smart_zone_tokens: config.number("workflow.smart_zone_tokens").unwrap_or(100_000),
            people_look_at_the_end: config.text("workflow.human_verify_mode") != Some("mid-flight"),
        }
    }
}
