//! The project as a whole.

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::operations::overview::inspect;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Planning {
    /// Look at the project as a whole
    #[command(subcommand)]
    Planning(PlanningCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum PlanningCommand {
    /// Give phases, plans, tasks, requirements and progress in one answer, with what could not be told
    ///
    /// Example: `gsd-tools planning inspect --pick progress.accepted_phases.completed`.
    Inspect,
}

impl Family for Planning {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Planning(PlanningCommand::Inspect) = self;
        let report = inspect::inspect(&context.view())?;
        context.emit(&report)
    }
}
