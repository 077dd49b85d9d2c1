//! The test gate and the build gate: they run exactly the command that a person approved, and nothing else.

use crate::acts::checks::gate::{self, ShowReport};
use crate::commands::small::timeout::Seconds;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::gates::command::Gate;
use crate::text::screen::{Cell, Tone};
use crate::text::shell::typed;

verbs! {
    "Build and test" (own);
    groups { "gate": "Run the build and test commands that a person approved"; }

    /// Run the approved build or test command and print the result
    ///
    /// The command comes from `workflow.build_command` or `workflow.test_command`, from the approval, or from a file
    /// such as `package.json`. It runs in the project root, and only if a person approved it.
    ///
    /// A command whose test runner is not installed is `not_run`, with what is `missing` and how to install it.
    ///
    /// Exit codes: 0 passed, 1 failed, 77 not approved, 78 not run, 124 timed out.
    ///
    /// Example: `gsd-tools gate run test`.
    "gate run": runs [unasked] json(gate::RunReport) = run(RunArgs);

    /// Approve the build or test command of a project on this computer
    ///
    /// Shows the command and asks for confirmation. Only a person at a terminal can approve. Saved outside the project.
    ///
    /// Example: `gsd-tools gate approve test`.
    "gate approve": runs json(gate::ApprovalReport) = approve(ApproveArgs);

    /// Remove the approval of the build or test command
    ///
    /// Agents can no longer run it through `gate run` until a person approves it again.
    ///
    /// Example: `gsd-tools gate revoke test`.
    "gate revoke": runs json(gate::ApprovalReport) = revoke(GateArgs);

    /// Show a gate's command, its source and whether it is approved
    ///
    /// Example: `gsd-tools gate show test --pick command`.
    "gate show": reads json(ShowReport) = show(ShowArgs);

    /// List the build and test gates with their commands
    ///
    /// Example: `gsd-tools gate list`.
    "gate list": reads json([ShowReport; 2]) = list();
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The gate
    gate: Gate,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
    /// Stop after this time; `0` for no limit (default: `workflow.test_gate_timeout` (600) for tests, 300 for builds)
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The gate
    gate: Gate,
    /// The command to approve (default: the one that the project defines)
    command: Option<String>,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// The gate
    gate: Gate,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The gate
    gate: Gate,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
}

fn show(context: &mut Context, arguments: &ShowArgs) -> Result<(), Failure> {
    context.emit(&gate::shown(context, arguments.gate, arguments.phase.as_deref())?)
}

fn list(context: &mut Context) -> Result<(), Failure> {
    let report = [gate::shown(context, Gate::Build, None)?, gate::shown(context, Gate::Test, None)?];
    context.show(&report, |screen| {
        let row = |gate: &ShowReport| {
            let state = match (&gate.command, gate.approved) {
                (None, _) => Cell::new(Tone::Faint, "no command"),
                (Some(_), true) => Cell::new(Tone::Good, "approved"),
                (Some(_), false) => Cell::new(
                    Tone::Warning,
                    format!("not approved: `{}`", typed!("gsd-tools gate approve {}", gate.gate.word())),
                ),
            };
            vec![Cell::from(gate.gate.word()), Cell::from(gate.command.as_deref().unwrap_or("-")), state]
        };
        screen.table("", &report.iter().map(row).collect::<Vec<_>>())
    })
}

fn run(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    let limit = arguments.timeout.map(Seconds::span);
    let (report, code) = gate::run(context, arguments.gate, arguments.phase.as_deref(), limit)?;
    context.exit_with(code);
    context.emit(&report)
}

fn approve(context: &mut Context, ApproveArgs { gate, command, phase }: &ApproveArgs) -> Result<(), Failure> {
    context.emit(&gate::approve(context, *gate, command.as_deref(), phase.as_deref())?)
}

fn revoke(context: &mut Context, arguments: &GateArgs) -> Result<(), Failure> {
    context.emit(&gate::revoke(context, arguments.gate)?)
}
