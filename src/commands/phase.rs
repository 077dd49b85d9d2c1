//! Phases: finding them, listing them.

use super::{CommandError, Context, Family};
use crate::operations::lookup::{self, PhaseFileKind};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Phases {
    /// Find the folder of a phase
    ///
    /// Example: `gsd-tools find-phase 2.1 --raw` prints `.planning/phases/02.1-search-hotfix`.
    FindPhase(PhaseArgs),
    /// Look over all phases
    #[command(subcommand)]
    Phases(PhasesCommand),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
}

impl PhaseArgs {
    /// The phase; leaving it out is wrong usage.
    fn required(&self) -> Result<&str, CommandError> {
        self.phase.as_deref().ok_or_else(|| CommandError::usage("phase identifier required"))
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum PhasesCommand {
    /// List the phases of the milestone
    ///
    /// Example: `gsd-tools phases list --type plans --phase 2`.
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List files instead of folders: `plans` or `summaries`
    #[arg(long = "type")]
    kind: Option<String>,
    /// Only the files of this phase
    #[arg(long)]
    phase: Option<String>,
    /// Phases of closed milestones too
    #[arg(long)]
    include_archived: bool,
}

impl Family for Phases {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::FindPhase(arguments) => find_phase(context, &arguments),
            Self::Phases(PhasesCommand::List(arguments)) => list(context, &arguments),
        }
    }
}

fn find_phase(context: &mut Context, arguments: &PhaseArgs) -> Result<(), CommandError> {
    let report = lookup::find_phase(&context.view(), arguments.required()?)?;
    let raw = report.directory.clone().unwrap_or_default();
    context.emit_raw(&report, raw)
}

fn list(context: &mut Context, arguments: &ListArgs) -> Result<(), CommandError> {
    let view = context.view();
    let kind = match arguments.kind.as_deref() {
        Some("plans") => PhaseFileKind::Plans,
        Some("summaries") => PhaseFileKind::Summaries,
        _ => {
            let report = lookup::list_phases(&view, arguments.include_archived)?;
            let raw = report.directories.join("\n");
            return context.emit_raw(&report, raw);
        }
    };
    let report = lookup::list_phase_files(&view, kind, arguments.phase.as_deref())?;
    let raw = report.files.join("\n");
    context.emit_raw(&report, raw)
}
