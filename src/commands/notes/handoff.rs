//! Paused work: writing down where it was left, and taking it up again.

use crate::acts::facts;
use crate::acts::worktree::git::uncommitted_in;
use crate::acts::writing::Target;
use crate::commands::frame::{Context, verbs};
use crate::failure::Failure;
use crate::operations::notes::handoff::{self, Measured};
use crate::project::git_settings::names_no_filter;

verbs! {
    "Paused work";
    groups { "handoff": "Write, read and clear HANDOFF.json, the record of paused work"; }

    /// Write HANDOFF.json from a `.continue-here.md`
    ///
    /// Reads the blocks of that file and adds what can be measured: phase, plan, count of tasks, uncommitted files and
    /// commit. Brings the front matter of the file up to date. Refuses a file without a next action.
    ///
    /// Example: `gsd-tools handoff write .planning/phases/02-core/.continue-here.md --pick next_action`.
    "handoff write": writes json(handoff::WriteReport) = write(WriteArgs);

    /// Show paused work, and what has changed since
    ///
    /// Example: `gsd-tools handoff read --pick handoff.next_action`.
    "handoff read": reads json(handoff::ReadReport) = read();

    /// Remove the record of paused work
    ///
    /// Removes HANDOFF.json and each `.continue-here.md` outside of phases. Those of a phase stay, marked as resumed.
    ///
    /// Example: `gsd-tools handoff clear --pick removed`.
    "handoff clear": writes json(handoff::ClearReport) = clear();
}

#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// The `.continue-here.md` in the folder of the phase, or in the planning folder
    file: String,
}

fn write(context: &mut Context, arguments: &WriteArgs) -> Result<(), Failure> {
    let source = context.layout().relative(&arguments.file);
    let mut uncommitted = uncommitted(context);
    uncommitted.retain(|path| *path != source && *path != context.layout().handoff());
    let measured = Measured { now: context.world().now().to_string(), head: facts::commit(context), uncommitted };
    let report = context.write(Target::Project, |view| handoff::write(view, &source, measured))?;
    context.emit(&report)
}

fn read(context: &mut Context) -> Result<(), Failure> {
    let since = handoff::recorded_head(&context.view()).and_then(|head| facts::commits_since(context, &head));
    let uncommitted = uncommitted(context);
    let report = handoff::read(&context.view(), since, uncommitted)?;
    context.emit(&report)
}

fn clear(context: &mut Context) -> Result<(), Failure> {
    let report = context.write(Target::Project, handoff::clear)?;
    context.emit(&report)
}

/// The files that differ from the last commit, from the project's root. Outside of a repository there are none; where git
/// does not answer in one, the caller is told.
fn uncommitted(context: &Context) -> Vec<String> {
    let line = ["--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all"];
    let complaint = match context.world().git_differences(context.layout().root(), names_no_filter, line) {
        Ok(status) if status.success() => {
            return uncommitted_in(&status.text()).into_iter().map(|file| file.path).collect();
        }
        Ok(status) => status.error_text(),
        Err(error) => error.to_string(),
    };
    if facts::commit(context).is_some() {
        context.warn(format!("uncommitted files are left out, since git does not list them: {}", complaint.trim()));
    }
    Vec::new()
}
