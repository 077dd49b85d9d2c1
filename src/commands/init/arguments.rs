//! What the words and flags of each workflow are.

use crate::commands::frame::named::{NonBlank, PhaseArg};

#[derive(Debug, clap::Args)]
pub(crate) struct OptionalPhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
    /// The phase, in place of the word
    #[arg(long = "phase", value_name = "PHASE", conflicts_with = "phase")]
    named: Option<String>,
}

impl OptionalPhaseArgs {
    pub(super) fn phase(&self) -> Option<&str> {
        self.phase.as_deref().or(self.named.as_deref()).filter(|phase| !phase.trim().is_empty())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecutePhaseArgs {
    #[command(flatten)]
    pub(super) phase: PhaseArg,
    /// Execute only this wave
    #[arg(long, num_args = 0..=1, value_name = "NUMBER")]
    #[expect(clippy::option_option, reason = "the flag may stand without its value")]
    pub(super) wave: Option<Option<String>>,
    /// Look the state over too
    #[arg(long)]
    pub(super) validate: bool,
    /// Write tests first, whatever is configured
    #[arg(long)]
    pub(super) tdd: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct PlanPhaseArgs {
    #[command(flatten)]
    pub(super) phase: PhaseArg,
    /// How finely the phase is cut, whatever is configured
    #[arg(long)]
    pub(super) granularity: Option<String>,
    /// A product requirements document that takes the place of the discussion
    #[arg(long, value_name = "FILE")]
    pub(super) prd: Option<String>,
    /// Decision records that take the place of the discussion
    #[arg(long, value_name = "GLOB")]
    pub(super) ingest: Option<String>,
    /// Only look into this phase
    #[arg(long, value_name = "PHASE")]
    pub(super) research_phase: Option<String>,
    /// Look the state over too
    #[arg(long)]
    pub(super) validate: bool,
    /// Write tests first, whatever is configured
    #[arg(long)]
    pub(super) tdd: bool,
    /// Plan again with what reviewers said
    #[arg(long)]
    pub(super) reviews: bool,
    /// Plan in pieces
    #[arg(long)]
    pub(super) chunked: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AutoArgs {
    /// Ask no questions
    #[arg(long)]
    pub(super) auto: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct QuickArgs {
    /// The task, in plain words
    #[arg(allow_hyphen_values = true)]
    pub(super) words: Vec<String>,
    /// Talk it over first
    #[arg(long)]
    pub(super) discuss: bool,
    /// Look into it first
    #[arg(long)]
    pub(super) research: bool,
    /// Check the plan and the result
    #[arg(long)]
    pub(super) validate: bool,
    /// All three
    #[arg(long)]
    pub(super) full: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuickBatchArgs {
    /// Look into the tasks first
    #[arg(long)]
    pub(super) research: bool,
    /// Check the results
    #[arg(long)]
    pub(super) validate: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// Hold the record against reality
    #[arg(long)]
    pub(super) forensic: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewMilestoneArgs {
    /// Begin again at phase 1
    #[arg(long)]
    pub(super) reset_phase_numbers: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OnboardArgs {
    /// A few documents of the code map are enough to begin with
    #[arg(long)]
    pub(super) fast: bool,
    /// Ask in plain text, without menus
    #[arg(long)]
    pub(super) text: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CodeReviewArgs {
    #[command(flatten)]
    pub(super) phase: OptionalPhaseArgs,
    /// Fix what is found
    #[arg(long)]
    pub(super) fix: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AssumptionsArgs {
    #[command(flatten)]
    pub(super) phase: OptionalPhaseArgs,
    /// Ask no questions
    #[arg(long)]
    pub(super) auto: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TodosArgs {
    /// Only todos of this area
    pub(super) area: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DebugArgs {
    /// Find the cause, change nothing
    #[arg(long)]
    pub(super) diagnose: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AutonomousArgs {
    /// Review plans until nobody finds anything more
    #[arg(long)]
    pub(super) converge: bool,
    /// The same, with other hosts as reviewers
    #[arg(long)]
    pub(super) cross_ai: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// The version that comes next, before it is released
    #[arg(long)]
    pub(super) next: bool,
    /// The same
    #[arg(long)]
    pub(super) rc: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceArgs {
    /// The workspace
    pub(super) name: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct YoloArgs {
    /// The phase to start with, instead of the first that remains
    #[arg(long)]
    pub(super) from: Option<String>,
    /// A phase without a CONTEXT.md stands in the way
    #[arg(long)]
    pub(super) strict_context: bool,
}
