//! `auto abandon`.

use crate::acts::auto::abandon::{self, AbandonReport};
use crate::failure::Failure;
use crate::frame::Context;

#[derive(Debug, clap::Args)]
pub(super) struct AbandonArgs {
    /// The milestone; without it, that of the unfinished run
    milestone: Option<String>,
    /// Do it without asking at a terminal
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(super) fn abandon(context: &mut Context, arguments: &AbandonArgs) -> Result<(), Failure> {
    let report = abandon::abandon(context, arguments.milestone.as_deref(), arguments.yes)?;
    context.say(&report, None, |_| shown(&report))
}

fn shown(report: &AbandonReport) -> String {
    let AbandonReport { milestone, ended, removed, kept, left, .. } = report;
    let head = match (ended, removed.is_empty()) {
        (true, _) => format!("The run of {milestone} has ended for good."),
        (false, false) => format!("What an earlier run had left of {milestone} is removed."),
        (false, true) => format!("Nothing is left of {milestone}."),
    };
    let mut lines = vec![head];
    if !removed.is_empty() {
        lines.push(format!("Removed: {}", removed.join(", ")));
    }
    match kept.as_slice() {
        [] if *ended => lines.push("There was nothing to keep.".to_owned()),
        [] => {}
        kept => {
            lines.push("Kept for 30 days:".to_owned());
            lines.extend(kept.iter().map(|reference| format!("  {reference}")));
        }
    }
    lines.extend(report.show.iter().map(|command| format!("Look at it:    {command}")));
    lines.extend(report.restore.iter().map(|command| format!("Bring it back: {command}")));
    lines.extend(left.iter().map(|line| format!("Still there: {line}")));
    format!("{}\n\nNext  {}\n", lines.join("\n"), report.next)
}
