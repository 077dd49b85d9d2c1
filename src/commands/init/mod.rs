//! `init`: the context bundle a workflow asks for at its start.

mod facts;

use super::{CommandError, Context, Family};
use crate::operations::bundle::{Bundle, ExecutePhaseRequest, PlanPhaseRequest};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Inits {
    /// Give a workflow everything it needs at its start, in one answer
    #[command(subcommand)]
    Init(InitCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum InitCommand {
    /// What executing a phase starts from: its plans, what is left of them, models and branch
    ///
    /// Example: `gsd-tools init execute-phase 2 --pick runnable_plans`.
    ExecutePhase(ExecutePhaseArgs),
    /// What planning a phase starts from: its documents, models and switches
    ///
    /// Example: `gsd-tools init plan-phase 2 --pick has_context`.
    PlanPhase(PlanPhaseArgs),
    /// Where the documents of a phase stand
    ///
    /// Example: `gsd-tools init phase-op 2.1 --pick expected_phase_dir`.
    PhaseOp(PhaseArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
    /// The phase, in place of the word
    #[arg(long = "phase", value_name = "PHASE", conflicts_with = "phase")]
    named: Option<String>,
}

impl PhaseArgs {
    fn optional(&self) -> Option<&str> {
        self.phase.as_deref().or(self.named.as_deref()).filter(|phase| !phase.trim().is_empty())
    }

    /// The phase; leaving it out is wrong usage.
    fn required(&self, workflow: &str) -> Result<&str, CommandError> {
        self.optional().ok_or_else(|| {
            CommandError::usage(format!("`init {workflow}` needs a phase"))
                .hint(format!("name one, as in `gsd-tools init {workflow} 2`"))
        })
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecutePhaseArgs {
    #[command(flatten)]
    phase: PhaseArgs,
    /// Execute only this wave
    #[arg(long, num_args = 0..=1, value_name = "NUMBER")]
    #[expect(clippy::option_option, reason = "the flag may stand without its value")]
    wave: Option<Option<String>>,
    /// Look the state over too
    #[arg(long)]
    validate: bool,
    /// Write tests first, whatever is configured
    #[arg(long)]
    tdd: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct PlanPhaseArgs {
    #[command(flatten)]
    phase: PhaseArgs,
    /// How finely the phase is cut, whatever is configured
    #[arg(long)]
    granularity: Option<String>,
    /// A product requirements document that takes the place of the discussion
    #[arg(long, value_name = "FILE")]
    prd: Option<String>,
    /// Decision records that take the place of the discussion
    #[arg(long, value_name = "GLOB")]
    ingest: Option<String>,
    /// Only look into this phase
    #[arg(long, value_name = "PHASE")]
    research_phase: Option<String>,
    /// Look the state over too
    #[arg(long)]
    validate: bool,
    /// Write tests first, whatever is configured
    #[arg(long)]
    tdd: bool,
    /// Plan again with what reviewers said
    #[arg(long)]
    reviews: bool,
    /// Plan in pieces
    #[arg(long)]
    chunked: bool,
}

impl Family for Inits {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Init(command) = self;
        match command {
            InitCommand::ExecutePhase(arguments) => execute_phase(context, &arguments),
            InitCommand::PlanPhase(arguments) => plan_phase(context, &arguments),
            InitCommand::PhaseOp(arguments) => phase_op(context, &arguments),
        }
    }
}

/// Gathers what a bundle is made of, makes it, and answers with it.
fn answer<R: serde::Serialize, E: Into<CommandError>>(
    context: &mut Context,
    make: impl FnOnce(&Bundle<'_>) -> Result<R, E>,
) -> Result<(), CommandError> {
    let view = context.view();
    let facts = context.facts()?;
    let report = make(&Bundle { view: &view, config: context.config()?, facts: &facts }).map_err(Into::into)?;
    context.emit(&report)
}

fn execute_phase(context: &mut Context, arguments: &ExecutePhaseArgs) -> Result<(), CommandError> {
    let phase = arguments.phase.required("execute-phase")?;
    let request = ExecutePhaseRequest { one_wave: arguments.wave.is_some(), tdd: arguments.tdd };
    answer(context, |bundle| bundle.execute_phase(phase, &request))
}

fn plan_phase(context: &mut Context, arguments: &PlanPhaseArgs) -> Result<(), CommandError> {
    let phase = arguments.phase.required("plan-phase")?;
    let request = PlanPhaseRequest {
        granularity: arguments.granularity.clone(),
        prd: arguments.prd.is_some(),
        ingest: arguments.ingest.is_some(),
        research_only: arguments.research_phase.is_some(),
        tdd: arguments.tdd,
        reviews: arguments.reviews,
        chunked: arguments.chunked,
    };
    answer(context, |bundle| bundle.plan_phase(phase, &request))
}

fn phase_op(context: &mut Context, arguments: &PhaseArgs) -> Result<(), CommandError> {
    answer(context, |bundle| bundle.phase_op(arguments.optional()))
}
