//! Records of work in STATE.md: metrics, decisions, blockers, sessions, changes of the roadmap.

use super::answer::note;
use crate::acts::state::text_or_file;
use crate::failure::Failure;
use crate::frame::Context;
use crate::operations::state::notes::{self, Evolution};

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct BlockerArgs {
    /// The blocker
    #[arg(long)]
    text: Option<String>,
    /// Read the blocker from this file
    #[arg(long, conflicts_with = "text")]
    text_file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ResolveArgs {
    /// Part of the text of the blocker; case does not matter
    #[arg(long)]
    text: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct SessionArgs {
    /// Where work stopped
    #[arg(long)]
    stopped_at: Option<String>,
    /// The file to resume from, or `None`
    #[arg(long)]
    resume_file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct EvolutionArgs {
    /// The phase that changed; default: the current phase
    #[arg(long)]
    phase: Option<String>,
    /// The change, such as `inserted`
    #[arg(long)]
    action: Option<String>,
    /// The phase before the changed one
    #[arg(long)]
    after: Option<String>,
    /// The reason
    #[arg(long)]
    note: Option<String>,
    /// Read the reason from this file
    #[arg(long, conflicts_with = "note")]
    note_file: Option<String>,
    /// Mark the change as urgent
    #[arg(long)]
    urgent: bool,
}

pub(in crate::commands) fn add_blocker(context: &mut Context, arguments: &BlockerArgs) -> Result<(), Failure> {
    let text = text_or_file(context, arguments.text.as_deref(), arguments.text_file.as_deref())?;
    note(context, |view, facts| notes::add_blocker(view, text.as_deref(), facts))
}

pub(in crate::commands) fn resolve_blocker(context: &mut Context, arguments: &ResolveArgs) -> Result<(), Failure> {
    note(context, |view, facts| notes::resolve_blocker(view, arguments.text.as_deref(), facts))
}

pub(in crate::commands) fn record_session(context: &mut Context, arguments: &SessionArgs) -> Result<(), Failure> {
    let is_told = |text: &&str| !text.trim().is_empty();
    let stopped_at = arguments.stopped_at.as_deref().filter(is_told);
    let resume_file = arguments.resume_file.as_deref().filter(is_told);
    if stopped_at.is_none() && resume_file.is_none() {
        return Err(Failure::usage("`state record-session` needs --stopped-at or --resume-file")
            .hint("`gsd-tools state record-session --stopped-at \"Task 2 of plan 02-01\"`"));
    }
    note(context, |view, facts| notes::record_session(view, stopped_at, resume_file, facts))
}

pub(in crate::commands) fn add_evolution(context: &mut Context, arguments: &EvolutionArgs) -> Result<(), Failure> {
    let text = text_or_file(context, arguments.note.as_deref(), arguments.note_file.as_deref())?;
    let evolution = Evolution {
        phase: arguments.phase.as_deref(),
        action: arguments.action.as_deref(),
        after: arguments.after.as_deref(),
        note: text.as_deref(),
        urgent: arguments.urgent,
    };
    note(context, |view, facts| notes::add_evolution(view, evolution, facts))
}
