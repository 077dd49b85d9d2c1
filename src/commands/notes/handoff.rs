//! Paused work: records where it stopped, and resumes it.

use crate::acts::facts;
use crate::acts::git::uncommitted;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::notes::handoff::{self, Measured};

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
    let mut uncommitted = uncommitted::listed(context);
    uncommitted.retain(|path| *path != source && *path != context.layout().handoff());
    let measured = Measured { now: context.world().now().to_string(), head: facts::commit(context), uncommitted };
    let report = context.write(Target::Project, |view| handoff::write(view, &source, measured))?;
    context.emit(&report)
}

fn read(context: &mut Context) -> Result<(), Failure> {
    let since = handoff::recorded_head(&context.view()).and_then(|head| facts::commits_since(context, &head));
    let uncommitted = uncommitted::listed(context);
    let report = handoff::read(&context.view(), since, uncommitted)?;
    context.emit(&report)
}

fn clear(context: &mut Context) -> Result<(), Failure> {
    let report = context.write(Target::Project, handoff::clear)?;
    context.emit(&report)
}
