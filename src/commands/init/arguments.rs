//! Words and flags of each `init` verb.

use std::ops::Deref;

use clap::builder::NonEmptyStringValueParser;

use crate::frame::named::{NonBlank, OptionalPhaseArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct ExecutePhaseArgs {
    #[command(flatten)]
    pub(super) phase: ContextPhaseArg,
    /// Include the steps for executing only this wave
    #[arg(long, num_args = 0..=1, value_name = "NUMBER")]
    #[expect(clippy::option_option, reason = "the flag may stand without its value")]
    pub(super) wave: Option<Option<String>>,
    /// Check STATE.md against the files too
    #[arg(long)]
    pub(super) validate: bool,
    /// Write tests first, whatever the configuration says
    #[arg(long)]
    pub(super) tdd: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct PlanPhaseArgs {
    #[command(flatten)]
    pub(super) phase: ContextPhaseArg,
    /// Use this granularity, whatever the configuration says
    #[arg(long)]
    pub(super) granularity: Option<String>,
    /// Use this product requirements document instead of a discussion
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    pub(super) prd: Option<String>,
    /// Use these decision records instead of a discussion
    #[arg(long, value_name = "GLOB", num_args = 0..=1, default_missing_value = "")]
    pub(super) ingest: Option<String>,
    /// Research this phase without planning it
    #[arg(long, value_name = "PHASE", num_args = 0..=1, default_missing_value = "")]
    pub(super) research_phase: Option<String>,
    /// Check STATE.md against the files too
    #[arg(long)]
    pub(super) validate: bool,
    /// Write tests first, whatever the configuration says
    #[arg(long)]
    pub(super) tdd: bool,
    /// Include the steps for planning again with the comments of reviewers
    #[arg(long)]
    pub(super) reviews: bool,
    /// Include the steps for planning a large phase in several agent runs
    #[arg(long)]
    pub(super) chunked: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AutoArgs {
    /// Include the steps for running without questions
    #[arg(long)]
    pub(super) auto: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct QuickArgs {
    /// The task, in your own words
    #[arg(allow_hyphen_values = true)]
    pub(super) words: Vec<String>,
    /// Include the steps for discussing the task first
    #[arg(long)]
    pub(super) discuss: bool,
    /// Include the steps for researching the task first
    #[arg(long)]
    pub(super) research: bool,
    /// Include the steps for checking the plan and the result
    #[arg(long)]
    pub(super) validate: bool,
    /// Same as `--discuss --research --validate`
    #[arg(long)]
    pub(super) full: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuickBatchArgs {
    /// Include the steps for researching the tasks first
    #[arg(long)]
    pub(super) research: bool,
    /// Include the steps for checking the results
    #[arg(long)]
    pub(super) validate: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitProgressArgs {
    /// Include the steps for checking STATE.md against the files and git
    #[arg(long)]
    pub(super) forensic: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewMilestoneArgs {
    /// Include the steps for numbering phases from 1 again
    #[arg(long)]
    pub(super) reset_phase_numbers: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OnboardArgs {
    /// Require only the short version of the code map
    #[arg(long)]
    pub(super) fast: bool,
    /// Ask questions as plain text instead of menus
    #[arg(long)]
    pub(super) text: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CodeReviewArgs {
    #[command(flatten)]
    pub(super) phase: OptionalPhaseArgs,
    /// Include the steps for fixing what the review finds
    #[arg(long)]
    pub(super) fix: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TodosArgs {
    /// List only todos of this area
    pub(super) area: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DebugArgs {
    /// Include the steps for finding the cause without fixing it
    #[arg(long)]
    pub(super) diagnose: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AutonomousArgs {
    /// Include the steps for reviewing plans until no reviewer finds a defect
    #[arg(long)]
    pub(super) converge: bool,
    /// Same as `--converge`, with other hosts as reviewers
    #[arg(long)]
    pub(super) cross_ai: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitUpdateArgs {
    /// Include the steps for updating to a pre-release
    #[arg(long)]
    pub(super) next: bool,
    /// Same as `--next`
    #[arg(long)]
    pub(super) rc: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceArgs {
    /// The name of the workspace
    pub(super) name: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct YoloArgs {
    /// Start with this phase instead of the first open one
    #[arg(long)]
    pub(super) from: Option<String>,
    /// Require a CONTEXT.md for every phase
    #[arg(long)]
    pub(super) strict_context: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkflowArgs {
    /// The workflow, such as `ui-review`
    pub(super) name: NonBlank,
    /// The phase, if the workflow works on one, and flags of the workflow
    #[arg(allow_hyphen_values = true)]
    pub(super) words: Vec<String>,
}

/// The phase of the requested context. Workflows pass what they have: white space means a missing phase, which the
/// answer reports.
#[derive(Debug, clap::Args)]
pub(super) struct ContextPhaseArg {
    /// The phase, such as `3` or `3.1`
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    phase: Option<String>,
    /// The phase, as a flag
    #[arg(long = "phase", id = "phase_flag", value_name = "PHASE", overrides_with = "phase")]
    flag: Option<NonBlank>,
}

impl Deref for ContextPhaseArg {
    type Target = str;

    fn deref(&self) -> &str {
        self.flag.as_deref().or(self.phase.as_deref()).unwrap_or_default()
    }
}
