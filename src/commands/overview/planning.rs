//! The project as a whole.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::operations::overview::inspect;

verbs! {
    "The whole project";
    groups { "planning": "Look at the project as a whole"; }

    /// Give phases, plans, tasks, requirements and progress in one answer, with what could not be told
    ///
    /// Example: `gsd-tools planning inspect --pick progress.accepted_phases.completed`.
    "planning inspect": reads json(inspect::InspectReport) = inspect();
}

fn inspect(context: &mut Context) -> Result<(), CommandError> {
    context.emit(&inspect::inspect(&context.view())?)
}
