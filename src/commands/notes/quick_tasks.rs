//! Quick tasks: the table in STATE.md.

use crate::acts::facts;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::notes::quick_tasks;
use crate::project::state::quick::QuickRow;

verbs! {
    "Quick tasks";

    /// Add a row to the quick tasks in STATE.md
    ///
    /// Fills in the date and the current commit.
    ///
    /// Example: `gsd-tools quick-tasks-append --task "Fix typo" --quick-id 260112-xyz --slug fix-typo --raw`.
    "quick-tasks-append": writes json(quick_tasks::AppendReport) = append(AppendArgs);

    /// Update an old quick task table in STATE.md to the current columns
    ///
    /// Example: `gsd-tools quick-tasks-migrate --pick migrated`.
    "quick-tasks-migrate": writes json(quick_tasks::MigrateReport) = quick_tasks_migrate();
}

#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// A description of the task
    words: Vec<String>,
    /// The description, as a flag
    #[arg(long)]
    task: Option<String>,
    /// The identifier of the task (default: the next number)
    #[arg(long)]
    quick_id: Option<String>,
    /// The part of the folder name after the identifier
    #[arg(long)]
    slug: Option<String>,
    /// The result of the task, if the table has a status column
    #[arg(long)]
    status: Option<String>,
}

fn quick_tasks_migrate(context: &mut Context) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    context.emit(&context.write(Target::Project, |view| quick_tasks::migrate(view, &facts))?)
}

fn append(context: &mut Context, arguments: &AppendArgs) -> Result<(), Failure> {
    let description = arguments.task.clone().unwrap_or_else(|| arguments.words.join(" "));
    if description.trim().is_empty() {
        return Err(Failure::usage("`quick-tasks-append` needs a description")
            .hint("`gsd-tools quick-tasks-append --task \"Fix typo\"`"));
    }
    let facts = facts::state_facts(context)?;
    let head = facts::short_commit(context);
    let directory = match (&arguments.quick_id, &arguments.slug) {
        (Some(id), Some(slug)) => Some(format!("[{id}-{slug}](./quick/{id}-{slug}/)")),
        _ => None,
    };
    let row = QuickRow {
        id: arguments.quick_id.as_deref(),
        description: &description,
        date: &facts.today,
        commit: head.as_deref(),
        status: arguments.status.as_deref(),
        directory: directory.as_deref(),
    };
    let report = context.write(Target::Project, |view| quick_tasks::append(view, &row, &facts))?;
    context.emit_raw(&report, &report.row)
}
