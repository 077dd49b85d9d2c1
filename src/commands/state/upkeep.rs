//! Maintains STATE.md: `state validate`, `sync`, `prune`, `rebuild`, `milestone-switch`, signals.

use crate::acts::state::{needs_planning, write, write_found};
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::operations::state::{NO_STATE, rebuild, switch, sync, validate};
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

pub(in crate::commands) fn sync(context: &mut Context, arguments: &SyncArgs) -> Result<(), Failure> {
    let report = write_found(context, |view, facts| sync::sync(view, arguments.verify, facts))?;
    context.emit(&report)
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
    let report = validate::validate(&context.view());
    if arguments.strict && !report.as_ref().is_ok_and(|report| report.valid) {
        context.exit_with(1);
    }
    let report = report?;
    context.say(&report, None, |screen| report.shown(screen))
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
