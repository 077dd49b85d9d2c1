//! Learnings in the user's own folder: listed, searched, copied from a project, removed.

use crate::acts::files;
use crate::acts::research::learnings::{folder, read, remove};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::research::learnings;

verbs! {
    "Learnings";
    groups { "learnings": "List, collect and remove learnings from all projects"; }

    /// List learnings from all projects, newest first
    ///
    /// Reads `~/.gsd/knowledge`.
    ///
    /// Example: `gsd-tools learnings list --pick count`.
    "learnings list": reads json(learnings::ListReport) = learnings_list();

    /// List the learnings that have a tag
    ///
    /// Example: `gsd-tools learnings query --tag testing`.
    "learnings query": reads json(learnings::ListReport) = query(QueryArgs);

    /// Add the learnings of this project to the store for all projects
    ///
    /// Reads the LEARNINGS.md files of the project and writes new entries to `~/.gsd/knowledge`. Entries that exist are
    /// skipped.
    ///
    /// Example: `gsd-tools learnings copy --pick created`.
    "learnings copy": acts json(learnings::CopyReport) = copy();

    /// Remove old learnings
    ///
    /// Example: `gsd-tools learnings prune --older-than 90d`.
    "learnings prune": acts json(learnings::PruneReport) = prune(PruneArgs);

    use crate::peer::small::DELETE_LEARNING;
}

#[derive(Debug, clap::Args)]
pub(crate) struct QueryArgs {
    /// The tag, in lower case
    #[arg(long)]
    tag: NonBlank,
    /// More words; only the tag is used
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PruneArgs {
    /// Remove entries older than this, such as `90d`
    #[arg(long)]
    older_than: NonBlank,
}

fn learnings_list(context: &mut Context) -> Result<(), Failure> {
    list(context, None)
}

fn query(context: &mut Context, arguments: &QueryArgs) -> Result<(), Failure> {
    list(context, Some(&arguments.tag))
}

fn list(context: &mut Context, tag: Option<&str>) -> Result<(), Failure> {
    let store = read(&folder(context)?)?;
    // The limit is for agents, which search for a subject and put the result into their prompt.
    let most = tag.and(context.config()?.number("learnings.max_inject"));
    context.emit(&learnings::list(store, tag, most))
}

fn copy(context: &mut Context) -> Result<(), Failure> {
    let lessons = learnings::in_documents(&context.view())?;
    let project = context.root().name();
    let (now, folder) = (context.world().now(), folder(context)?);
    let report = files::change(context, &[&folder], |changes| {
        let store = read(&folder)?;
        let (report, entries) = learnings::new_entries(&store, lessons, &project, now.milliseconds(), &now.to_string());
        for entry in entries {
            let text = serde_json::to_string_pretty(&entry)? + "\n";
            changes.write(folder.resolve(format!("{}.json", entry.id)), text, None);
        }
        Ok(report)
    })?;
    context.emit(&if context.is_rehearsal() { report.rehearsed() } else { report })
}

fn prune(context: &mut Context, arguments: &PruneArgs) -> Result<(), Failure> {
    let typed: &str = &arguments.older_than;
    let days = learnings::days(typed).ok_or_else(|| {
        Failure::usage(format!("`{typed}` is not a number of days"))
            .hint("`gsd-tools learnings prune --older-than 90d`")
    })?;
    let (now, folder) = (context.world().now().milliseconds(), folder(context)?);
    let report = files::change(context, &[&folder], |changes| {
        let store = read(&folder)?;
        let (report, files) = learnings::outdated(store, days, now);
        remove(&folder, &files, changes)?;
        Ok(report)
    })?;
    context.emit(&if context.is_rehearsal() { report.rehearsed() } else { report })
}
