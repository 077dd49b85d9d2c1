//! `init`: the context bundle a workflow asks for at its start.

mod code;
mod facts;

use super::{CommandError, Context, Family};
use crate::operations::bundle::{Bundle, ExecutePhaseRequest, PlanPhaseRequest, QuickRequest};

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
    /// What starting a project starts from: what is there already, code and documents
    ///
    /// Example: `gsd-tools init new-project --pick is_brownfield`.
    NewProject(AutoArgs),
    /// What a small task starts from: its identifier, folder and branch
    ///
    /// Example: `gsd-tools init quick "Fix the login" --research --pick task_dir`.
    Quick(QuickArgs),
    /// What taking work up again starts from
    ///
    /// Example: `gsd-tools init resume --pick interrupted_agent_id`.
    Resume,
    /// What accepting a phase starts from: how far it is executed, verified and tested
    ///
    /// Example: `gsd-tools init verify-work 2 --pick phase_completion.ready_to_transition`.
    VerifyWork(PhaseArgs),
    /// Where the documents of a phase stand
    ///
    /// Example: `gsd-tools init phase-op 2.1 --pick expected_phase_dir`.
    PhaseOp(PhaseArgs),
    /// What closing a milestone starts from
    ///
    /// Example: `gsd-tools init milestone-op --pick all_phases_complete`.
    MilestoneOp,
    /// Where the work stands: every phase of the milestone, the current and the next one
    ///
    /// Example: `gsd-tools init progress --pick next_phase.number`.
    Progress(ProgressArgs),
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

#[derive(Debug, clap::Args)]
pub(crate) struct AutoArgs {
    /// Ask no questions
    #[arg(long)]
    auto: bool,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are yes or no")]
pub(crate) struct QuickArgs {
    /// The task, in plain words
    #[arg(allow_hyphen_values = true)]
    words: Vec<String>,
    /// Talk it over first
    #[arg(long)]
    discuss: bool,
    /// Look into it first
    #[arg(long)]
    research: bool,
    /// Check the plan and the result
    #[arg(long)]
    validate: bool,
    /// All three
    #[arg(long)]
    full: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// Hold the record against reality
    #[arg(long)]
    forensic: bool,
}

impl Family for Inits {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Init(command) = self;
        match command {
            InitCommand::ExecutePhase(arguments) => execute_phase(context, &arguments),
            InitCommand::PlanPhase(arguments) => plan_phase(context, &arguments),
            InitCommand::NewProject(arguments) => new_project(context, &arguments),
            InitCommand::Quick(arguments) => quick(context, arguments),
            InitCommand::Resume => resume(context),
            InitCommand::VerifyWork(arguments) => verify_work(context, &arguments),
            InitCommand::PhaseOp(arguments) => phase_op(context, &arguments),
            InitCommand::MilestoneOp => milestone_op(context),
            InitCommand::Progress(arguments) => progress(context, &arguments),
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

fn verify_work(context: &mut Context, arguments: &PhaseArgs) -> Result<(), CommandError> {
    let phase = arguments.required("verify-work")?;
    answer(context, |bundle| bundle.verify_work(phase))
}

fn new_project(context: &mut Context, arguments: &AutoArgs) -> Result<(), CommandError> {
    let code = context.code_facts()?;
    answer(context, |bundle| bundle.new_project(arguments.auto, &code))
}

fn quick(context: &mut Context, arguments: QuickArgs) -> Result<(), CommandError> {
    let world = context.world();
    let mut words = arguments.words;
    // What looks like a flag and is none of ours belongs to the task, and so do words after it; our own flags do not.
    let mut lift = |flag: &str| {
        let before = words.len();
        words.retain(|word| word != flag);
        words.len() < before
    };
    let request = QuickRequest {
        discuss: lift("--discuss") || arguments.discuss,
        research: lift("--research") || arguments.research,
        validate: lift("--validate") || arguments.validate,
        full: lift("--full") || arguments.full,
        description: (!words.is_empty()).then(|| words.join(" ")),
        day: world.today(),
        second: world.second_of_day(),
        timestamp: world.now().to_string(),
    };
    answer(context, |bundle| bundle.quick(&request))
}

fn progress(context: &mut Context, arguments: &ProgressArgs) -> Result<(), CommandError> {
    context.needs_a_workstream("init progress")?;
    answer(context, |bundle| bundle.progress(arguments.forensic))
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of the method has one lifetime, the closure any"
)]
fn resume(context: &mut Context) -> Result<(), CommandError> {
    answer(context, |bundle| bundle.resume())
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of the method has one lifetime, the closure any"
)]
fn milestone_op(context: &mut Context) -> Result<(), CommandError> {
    answer(context, |bundle| bundle.milestone_op())
}
