//! Maintains STATE.md: `state validate`, `sync`, `prune`, `rebuild`, `milestone-switch`, signals.

use super::answer::{absent, needs_planning, write, write_found};
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::operations::state::signal::{self, Signal};
use crate::operations::state::{NO_STATE, prune, rebuild, switch, sync, validate};
use crate::project::up_next::is_shipped_version;

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct SwitchArgs {
    /// The version of the milestone, such as `v2.0`
    #[arg(long)]
    milestone: Option<String>,
    /// The name of the milestone; default: the name in the roadmap
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct WaitingArgs {
    /// The kind of question; default: `decision_point`
    #[arg(long = "type")]
    kind: Option<String>,
    /// The question
    #[arg(long)]
    question: Option<String>,
    /// The possible answers, separated by `|`
    #[arg(long)]
    options: Option<String>,
    /// The phase of the question
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ValidateArgs {
    /// Exit 1 if there is a finding
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct SyncArgs {
    /// Show what would change without changing it
    #[arg(long)]
    verify: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct PruneArgs {
    /// How many phases before the current one to keep in STATE.md
    #[arg(long, default_value_t = prune::KEPT)]
    keep_recent: u64,
    /// Show what would be moved without moving it
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct RebuildArgs {
    /// Show what would change without changing it
    #[arg(long)]
    dry_run: bool,
    /// Print each change to standard error
    #[arg(long)]
    verbose: bool,
    /// Rename a STATE.md that cannot be parsed to `STATE.md.broken-<time>` and create a new one
    #[arg(long)]
    set_aside: bool,
}

pub(in crate::commands) fn signal_waiting(context: &mut Context, arguments: &WaitingArgs) -> Result<(), Failure> {
    let question = Signal {
        kind: arguments.kind.as_deref(),
        question: arguments.question.as_deref(),
        options: arguments.options.as_deref(),
        phase: arguments.phase.as_deref(),
    };
    let report = write(context, |view, facts| signal::wait(view, question, facts))?;
    context.emit_raw(&report, "true")
}

pub(in crate::commands) fn signal_resume(context: &mut Context) -> Result<(), Failure> {
    let report = write(context, |view, _| Ok(signal::resume(view)))?;
    let raw = report.removed.to_string();
    context.emit_raw(&report, raw)
}

pub(in crate::commands) fn sync(context: &mut Context, arguments: &SyncArgs) -> Result<(), Failure> {
    let report = write_found(context, |view, facts| sync::sync(view, arguments.verify, facts))?;
    context.emit(&report)
}

pub(in crate::commands) fn prune(context: &mut Context, arguments: &PruneArgs) -> Result<(), Failure> {
    let (keep, look) = (arguments.keep_recent, arguments.dry_run);
    let report = write_found(context, |view, facts| prune::prune(view, keep, look, facts))?;
    context.emit_raw(&report, report.found().to_string())
}

pub(in crate::commands) fn rebuild(context: &mut Context, arguments: &RebuildArgs) -> Result<(), Failure> {
    needs_planning(context, NO_STATE)?;
    let (look, set_aside) = (arguments.dry_run, arguments.set_aside);
    let report = write(context, |view, facts| {
        rebuild::rebuild(view, look, set_aside, facts)?.ok_or_else(|| {
            Failure::unknown(NO_STATE)
                .hint("there is no ROADMAP.md with phases to create it from; restore one of the two from git")
                .answered()
        })
    })?;
    if arguments.verbose {
        report.log.iter().for_each(|line| context.tell(line));
    }
    let raw = (report.mutations > 0).to_string();
    context.say(&report, Some(&raw), |screen| report.shown(screen))
}

pub(in crate::commands) fn validate(context: &mut Context, arguments: &ValidateArgs) -> Result<(), Failure> {
    match validate::validate(&context.view())? {
        Ok(report) => {
            if arguments.strict && !report.valid {
                context.exit_with(1);
            }
            context.say(&report, None, |screen| report.shown(screen))
        }
        Err(nothing) => {
            if arguments.strict {
                context.exit_with(1);
            }
            absent(context, &nothing)
        }
    }
}

pub(in crate::commands) fn milestone_switch(context: &mut Context, arguments: &SwitchArgs) -> Result<(), Failure> {
    let Some(version) = arguments.milestone.as_deref().filter(|version| !version.trim().is_empty()) else {
        return Err(Failure::refused("milestone required (--milestone <vX.Y>)"));
    };
    needs_planning(context, "there is no project here to begin a milestone in")?;
    let name = arguments.name.as_deref();
    if is_shipped(context, version.trim())? {
        let refused = Failure::new(Reason::Unknown, format!("milestone {} is shipped already", version.trim()));
        return Err(refused.hint("name the next one"));
    }
    let report = write(context, |view, facts| switch::switch(view, version, name, facts))?;
    context.emit_raw(&report, "true")
}

/// Whether the milestone `version` was shipped.
fn is_shipped(context: &Context, version: &str) -> Result<bool, Failure> {
    let view = context.view();
    Ok(is_shipped_version(&view, version)?)
}
