//! Keeping STATE.md in order: `state validate`, `sync`, `prune`, `rebuild`, `milestone-switch`, signals.

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::state::{
    FailureReport, emit_found, emit_written, needs_planning, note, text_or_file, write, write_found,
};
use crate::operations::state::notes::{self, Evolution};
use crate::operations::state::signal::{self, Signal};
use crate::operations::state::{NO_STATE, prune, rebuild, switch, sync, validate};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum UpkeepCommand {
    /// Switch to a milestone: position and counters start over
    ///
    /// Example: `gsd-tools state milestone-switch --milestone v2.0 --name Teams`.
    MilestoneSwitch(SwitchArgs),
    /// Record how the roadmap changed
    ///
    /// Example: `gsd-tools state add-roadmap-evolution --phase 5 --action inserted --after 4 --note "Hot fix" --urgent`.
    AddRoadmapEvolution(EvolutionArgs),
    /// Record that the work waits for an answer
    ///
    /// Example: `gsd-tools state signal-waiting --type decision_point --question "Which?" --options "A|B" --phase 2`.
    SignalWaiting(WaitingArgs),
    /// Record that the work no longer waits
    ///
    /// Example: `gsd-tools state signal-resume --pick removed`.
    SignalResume,
    /// Check STATE.md against the disk
    ///
    /// Example: `gsd-tools state validate --strict` exits 1 where something does not agree.
    Validate(ValidateArgs),
    /// Update the counts in STATE.md
    ///
    /// Example: `gsd-tools state sync --verify` only tells what would change.
    Sync(SyncArgs),
    /// Archive entries of old phases in STATE-ARCHIVE.md
    ///
    /// Example: `gsd-tools state prune --keep-recent 3 --dry-run`.
    Prune(PruneArgs),
    /// Create a missing STATE.md, or update its table of phases from the disk
    ///
    /// A missing STATE.md is created from ROADMAP.md and the phase folders. In one that is there, the table of phases is
    /// updated, and a position that names no phase is filled in, with a log. With `--set-aside`, a STATE.md that cannot be
    /// read or parsed is kept under another name first.
    ///
    /// Example: `gsd-tools state rebuild --dry-run --verbose`.
    Rebuild(RebuildArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SwitchArgs {
    /// The version of the milestone, such as `v2.0`
    #[arg(long)]
    milestone: Option<String>,
    /// Its name; without it, the one in the roadmap
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvolutionArgs {
    /// The phase it is about; the phase at work without it
    #[arg(long)]
    phase: Option<String>,
    /// What was done with it, such as `inserted`
    #[arg(long)]
    action: Option<String>,
    /// The phase before it
    #[arg(long)]
    after: Option<String>,
    /// Why
    #[arg(long)]
    note: Option<String>,
    /// A file with the reason
    #[arg(long, conflicts_with = "note")]
    note_file: Option<String>,
    /// It could not wait
    #[arg(long)]
    urgent: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WaitingArgs {
    /// What kind of answer is waited for
    #[arg(long = "type")]
    kind: Option<String>,
    /// The question
    #[arg(long)]
    question: Option<String>,
    /// The possible answers, parted by `|`
    #[arg(long)]
    options: Option<String>,
    /// The phase it is about
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// Exit 1 where something does not agree
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// Only tell what would change
    #[arg(long)]
    verify: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PruneArgs {
    /// How many phases before the one at work stay
    #[arg(long, default_value_t = prune::KEPT)]
    keep_recent: u64,
    /// Only tell what would be moved
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArgs {
    /// Only tell what would change
    #[arg(long)]
    dry_run: bool,
    /// Print the log to standard error
    #[arg(long)]
    verbose: bool,
    /// Move a STATE.md that cannot be used to `STATE.md.broken-<time>` and create a new one
    #[arg(long)]
    set_aside: bool,
}

pub(in crate::commands) fn run(context: &mut Context, command: UpkeepCommand) -> Result<(), CommandError> {
    match command {
        UpkeepCommand::MilestoneSwitch(arguments) => milestone_switch(context, &arguments),
        UpkeepCommand::AddRoadmapEvolution(arguments) => {
            let text = text_or_file(context, arguments.note, arguments.note_file.as_deref())?;
            let evolution = Evolution {
                phase: arguments.phase.as_deref(),
                action: arguments.action.as_deref(),
                after: arguments.after.as_deref(),
                note: text.as_deref(),
                urgent: arguments.urgent,
            };
            note(context, |view, facts| notes::add_evolution(view, evolution, facts))
        }
        UpkeepCommand::SignalWaiting(arguments) => {
            let question = Signal {
                kind: arguments.kind.as_deref(),
                question: arguments.question.as_deref(),
                options: arguments.options.as_deref(),
                phase: arguments.phase.as_deref(),
            };
            let report = write(context, |view, facts| signal::wait(view, question, facts))?;
            context.emit_raw(&report, "true")
        }
        UpkeepCommand::SignalResume => {
            let report = write(context, |view, _| Ok(signal::resume(view)))?;
            let raw = report.removed.to_string();
            context.emit_raw(&report, raw)
        }
        UpkeepCommand::Validate(arguments) => match validate::validate(&context.view())? {
            Ok(report) => {
                if arguments.strict && !report.valid {
                    context.exit_with(1);
                }
                context.emit(&report)
            }
            Err(nothing) => {
                if arguments.strict {
                    context.exit_with(1);
                }
                context.emit(&nothing)
            }
        },
        UpkeepCommand::Sync(arguments) => {
            let report = write_found(context, |view, facts| sync::sync(view, arguments.verify, facts))?;
            emit_found(context, report.as_ref())
        }
        UpkeepCommand::Prune(arguments) => {
            let (keep, look) = (arguments.keep_recent, arguments.dry_run);
            let report = write_found(context, |view, facts| prune::prune(view, keep, look, facts))?;
            let raw = report.as_ref().is_some_and(prune::PruneReport::found);
            emit_written(context, report.as_ref(), raw)
        }
        UpkeepCommand::Rebuild(arguments) => {
            needs_planning(context, NO_STATE)?;
            let (look, set_aside) = (arguments.dry_run, arguments.set_aside);
            let report = write_found(context, |view, facts| rebuild::rebuild(view, look, set_aside, facts))?;
            if report.is_none() {
                let hint = "there is no ROADMAP.md with phases to create it from; restore one of the two from git";
                return context.emit(&FailureReport { error: NO_STATE.to_owned(), hint: Some(hint) });
            }
            if let Some(report) = report.as_ref().filter(|_| arguments.verbose) {
                report.log.iter().for_each(|line| context.tell(line));
            }
            let raw = report.as_ref().is_some_and(|report| report.mutations > 0);
            emit_written(context, report.as_ref(), raw)
        }
    }
}

fn milestone_switch(context: &mut Context, arguments: &SwitchArgs) -> Result<(), CommandError> {
    let Some(version) = arguments.milestone.as_deref().filter(|version| !version.trim().is_empty()) else {
        let error = "milestone required (--milestone <vX.Y>)".to_owned();
        return context.emit(&FailureReport::of(error));
    };
    needs_planning(context, "there is no project here to begin a milestone in")?;
    let name = arguments.name.as_deref();
    let report = write(context, |view, facts| switch::switch(view, version, name, facts))?;
    context.emit_raw(&report, "true")
}
