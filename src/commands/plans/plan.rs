//! `plan`: checks plans before and after they are executed, and records them in the documents of the project.

use crate::acts::checks::plan::{self, CheckedPlan};
use crate::acts::checks::source;
use crate::acts::plans;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::git::undo;
use crate::failure::Failure;
use crate::frame::named::{NonBlank, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::plans::lint::{self, PlanLimits};

verbs! {
    "Executed plans";
    groups { "plan": "Check, record and close plans"; }

    /// Check the plans of a phase before they are executed
    ///
    /// Reports errors and warnings of structure, size, words, threats, dependencies and verification commands, each with
    /// its line where that is known, and the requirements and decisions that no plan covers. Plans with a SUMMARY are
    /// skipped. Changes nothing.
    ///
    /// Example: `gsd-tools plan lint 2 --pick valid`.
    "plan lint": reads json(lint::LintReport) = lint(PhaseFolderArg);

    /// Record that a phase is planned: state, roadmap, and one commit
    ///
    /// Writes STATE.md and ROADMAP.md, and commits them with REQUIREMENTS.md and the documents of the phase. Prints the
    /// plans in the order of execution.
    ///
    /// Example: `gsd-tools plan record 2`.
    "plan record": acts [unasked] json(plans::RecordReport) = record(PhaseFolderArg);

    /// Check what executed plans left: summary, commits, files
    ///
    /// A plan is finished when it has a committed SUMMARY that is not blocked, at least one commit of its plan since
    /// the plan was written, and the files that the SUMMARY names. Changes nothing.
    ///
    /// Example: `gsd-tools plan check 02-01 02-02 --pick finished`.
    "plan check": reads json(PlanCheckReport) = check_plans(CheckArgs);

    /// Record executed plans: state, roadmap, requirements, and one commit
    ///
    /// Reads the SUMMARY. Moves the position, adds decisions, metrics and the session to STATE.md, updates ROADMAP.md,
    /// marks the requirements that no other open plan covers, and commits these documents with the SUMMARY. Closing a
    /// plan twice changes nothing. In the worktree of a wave only the SUMMARY is committed; close the plan in the main
    /// tree after the merge.
    ///
    /// Example: `gsd-tools plan close 02-01 --blocker "rate limit of the API is unknown"`.
    "plan close": acts [unasked] json(plans::CloseReport) = close(CloseArgs);

    /// Undo an executed plan: its commits and its records, in one commit
    ///
    /// Reverts the commits of the plan and removes its SUMMARY; STATE.md, ROADMAP.md, REQUIREMENTS.md and state.json say
    /// that the plan is to be done. All of it is one new commit, or nothing changes: files with changes that are not
    /// committed and conflicts with later commits are refused. The history is not rewritten.
    ///
    /// Example: `gsd-tools plan undo 02-01 --dry-run`.
    "plan undo": acts json(undo::UndoReport) = undo(UndoArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// The plan, such as `02-01`
    plan: NonBlank,
    /// Why, for the message of the commit
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

fn undo(context: &mut Context, arguments: &UndoArgs) -> Result<(), Failure> {
    let view = context.view();
    let typed: &str = &arguments.plan;
    let place = plans::places(&view, &[typed.to_owned()])?.swap_remove(0);
    drop(view);
    let report = undo::undo_plan(context, &place, arguments.reason.as_deref())?;
    context.emit_brief(&report)
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The plans, such as `02-01`
    #[arg(required = true)]
    plans: Vec<String>,
    /// Require that a failing test was committed before the code
    #[arg(long)]
    tdd: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CloseArgs {
    /// The plans, such as `02-01`
    #[arg(required = true)]
    plans: Vec<String>,
    /// Add this text to the blockers of STATE.md; repeat it for several
    #[arg(long, value_name = "TEXT")]
    blocker: Vec<String>,
}

fn lint(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let phase: &str = &arguments.phase;
    let view = context.view();
    let folder = plans::folder_of(context, &view, phase)?;
    let limits = PlanLimits::of(context.config()?);
    let report = lint::lint(&view, &folder, &limits, &source::tree_of(context))?;
    drop(view);
    context.emit_raw(&report, report.valid.to_string())
}

/// The answer of `plan check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct PlanCheckReport {
    /// Whether every requested plan is finished.
    finished: bool,
    plans: Vec<CheckedPlan>,
}

fn check_plans(context: &mut Context, arguments: &CheckArgs) -> Result<(), Failure> {
    let view = context.view();
    let places = plans::places(&view, &arguments.plans)?;
    let plans: Vec<CheckedPlan> =
        places.iter().map(|place| plan::checked(context, &view, place, arguments.tdd)).collect::<Result<_, _>>()?;
    drop(view);
    let report = PlanCheckReport { finished: plans.iter().all(|plan| plan.finished), plans };
    context.emit_raw(&report, report.finished.to_string())
}

fn record(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let report = plans::record(context, &arguments.phase)?;
    context.exit_with(u8::from(report.commit.has_failed()));
    context.emit_brief(&report)
}

fn close(context: &mut Context, arguments: &CloseArgs) -> Result<(), Failure> {
    let report = plans::close(context, &arguments.plans, &arguments.blocker)?;
    context.exit_with(u8::from(report.commit.has_failed()));
    context.emit_brief(&report)
}
