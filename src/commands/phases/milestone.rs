//! `milestone`: completes a milestone and archives its quick tasks.

use crate::acts::facts;
use crate::acts::hosts;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::milestones::complete::{self, CompleteRequest};
use crate::project::milestone::is_same_version;

verbs! {
    "Milestones";
    groups { "milestone": "Complete and archive milestones"; }

    /// Complete a milestone: archive its documents and phases
    ///
    /// Copies ROADMAP.md and REQUIREMENTS.md to the archive, moves the phase folders there, adds an entry to
    /// MILESTONES.md and updates STATE.md. Nothing is deleted or overwritten.
    ///
    /// Example: `gsd-tools milestone complete v1.0 --name "MVP" --dry-run` shows the changes; `--confirm` makes them.
    "milestone complete": destroys json(complete::CompleteReport, complete::RehearsalReport) = complete(CompleteArgs);

    /// Archive the folders of all quick tasks under a milestone
    ///
    /// Moves their rows of STATE.md to the archive too.
    ///
    /// Example: `gsd-tools milestone archive-quick v1.0`.
    "milestone archive-quick": writes json(complete::QuickReport, complete::QuickRehearsalReport)
        = archive_quick(QuickArgs);
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(crate) struct CompleteArgs {
    /// The milestone, such as `v1.0`
    version: NonBlank,
    /// The name of the milestone
    #[arg(long, num_args = 0..)]
    name: Vec<String>,
    /// Confirm: make the changes
    #[arg(long)]
    confirm: bool,
    /// Do not move the phase folders
    #[arg(long)]
    no_archive_phases: bool,
    /// Archive the quick tasks too
    #[arg(long)]
    archive_quick: bool,
    /// Complete it even if phases are open or cannot be read
    #[arg(long)]
    force: bool,
    /// With `--dry-run`: show the lines that would change too
    #[arg(long)]
    diff: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuickArgs {
    /// The milestone, such as `v1.0`
    version: NonBlank,
}

fn complete(context: &mut Context, arguments: &CompleteArgs) -> Result<(), Failure> {
    let version: &str = &arguments.version;
    if !arguments.confirm && !context.is_rehearsal() {
        let message = format!("`milestone complete` archives the phases of {version}; nothing was changed");
        return Err(Failure::usage(message).hint("pass --confirm to do it, or --dry-run to see what would move"));
    }
    let name = arguments.name.join(" ");
    let next_command = hosts::installed_command(context, "new-milestone")?;
    let facts = facts::state_facts(context)?;
    let request = CompleteRequest {
        version,
        name: Some(name.as_str()),
        archive_phases: !arguments.no_archive_phases,
        archive_quick: arguments.archive_quick,
        force: arguments.force,
        next_command: next_command.as_deref(),
    };
    // This warning comes first: it may be the reason why the milestone is refused.
    let current = context.view().state_version()?;
    if let Some(other) = current.filter(|current| !is_same_version(current, version)) {
        context.warn(format_args!("STATE.md is at milestone `{other}`, not at `{version}`"));
    }
    let completion = context.write(Target::Project, |view| complete::complete(view, request, &facts))?;
    if !completion.checks_open().is_empty() {
        context.warn(format_args!("checks did not pass or wait for a person: {}", completion.checks_open().join("; ")));
    }
    if context.is_rehearsal() {
        if !arguments.diff {
            context.leave_out_diff();
        }
        return context.emit(&completion.rehearsed());
    }
    context.emit(&completion.done(&facts.today))
}

fn archive_quick(context: &mut Context, arguments: &QuickArgs) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    let report = context.write(Target::Project, |view| complete::archive_quick(view, &arguments.version, &facts))?;
    if context.is_rehearsal() {
        return context.emit(&report.rehearsed());
    }
    let noun = if report.archived == 1 { "directory" } else { "directories" };
    let raw = format!("{} quick task {noun} archived", report.archived);
    context.emit_raw(&report, raw)
}
