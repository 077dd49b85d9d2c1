//! Todos: what is still to do besides the roadmap.

use super::{CommandError, Context, Family};
use crate::operations::todos;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Todos {
    /// List the pending todos
    ///
    /// Example: `gsd-tools list-todos api --raw` prints how many todos the area `api` has.
    ListTodos(ListArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only the todos of this area
    area: Option<String>,
}

impl Family for Todos {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::ListTodos(arguments) = self;
        let report = todos::list(&context.view(), arguments.area.as_deref())?;
        context.emit_raw(&report, report.count.to_string())
    }
}
