//! Contexts for workflows that are not ours.

use crate::acts::bundle;
use crate::failure::Failure;
use crate::frame::named::OptionalPhaseArgs;
use crate::frame::{Context, rows};
use crate::operations::bundle::BundleAnswer;
use crate::operations::facts::FactsCall;

rows! {
    /// Print the context for work on a phase: its folder and documents
    ///
    /// Used by the discuss-phase and transition workflows. Without a phase, reports on the project only.
    ///
    /// Example: `gsd-tools init phase-op 2.1 --pick expected_phase_dir`.
    PHASE_OP = "init phase-op": reads bundle("phase-op") = phase_op(OptionalPhaseArgs);

    /// Print the context for discussing the assumptions of a phase
    ///
    /// Example: `gsd-tools init discuss-phase-assumptions 2 --auto`.
    DISCUSS_PHASE_ASSUMPTIONS = "init discuss-phase-assumptions": reads bundle("discuss-phase-assumptions") = discuss_phase_assumptions(AssumptionsArgs);

    /// Print the context for work on the milestone: phase counts
    ///
    /// Example: `gsd-tools init milestone-op --pick all_phases_complete`.
    MILESTONE_OP = "init milestone-op": reads bundle("milestone-op") = milestone_op();

    /// Print the context for updating the documentation
    ///
    /// Example: `gsd-tools init docs-update`.
    DOCS_UPDATE = "init docs-update": reads bundle("docs-update") = docs_update();

    /// Print the context for moving to the next phase: active workstreams
    ///
    /// Example: `gsd-tools init transition --pick other_active_workstreams`.
    TRANSITION = "init transition": reads bundle("transition") = transition();
}

fn phase_op(context: &mut Context, arguments: &OptionalPhaseArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("phase-op").phase(arguments.phase()))
}

fn discuss_phase_assumptions(context: &mut Context, arguments: &AssumptionsArgs) -> Result<(), Failure> {
    let call = FactsCall::of("discuss-phase-assumptions").phase(arguments.phase.phase());
    answer(context, call.flag("auto", arguments.auto))
}

fn milestone_op(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("milestone-op"))
}

fn transition(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("transition"))
}

fn docs_update(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("docs-update"))
}

#[derive(Debug, clap::Args)]
pub(crate) struct AssumptionsArgs {
    #[command(flatten)]
    phase: OptionalPhaseArgs,
    /// Include the steps for running without questions
    #[arg(long)]
    auto: bool,
}

fn answer(context: &mut Context, call: FactsCall) -> Result<(), Failure> {
    let (report, token) = bundle::answer(context, |_| Ok(call), BundleAnswer::of)?;
    context.answer_for(token);
    context.emit(&report)
}
