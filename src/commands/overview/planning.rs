//! `planning inspect`: the whole project as data.

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::overview::inspect;

verbs! {
    "Project";
    groups { "planning": "Show the whole project as data"; }

    /// Show phases, plans, tasks, requirements and progress as one answer
    ///
    /// Reads all documents of the project. What cannot be determined is listed with the reason, instead of being
    /// guessed.
    ///
    /// Example: `gsd-tools planning inspect --pick progress.accepted_phases.completed`.
    "planning inspect": reads json(inspect::InspectReport) = inspect();
}

fn inspect(context: &mut Context) -> Result<(), Failure> {
    context.emit(&inspect::inspect(&context.view())?)
}
