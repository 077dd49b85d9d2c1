//! The chain that runs all remaining phases unattended.

use crate::acts::yolo::{self, YoloReport};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::bundle::Blocker;
use crate::project::config::YOLO_STOPS;
use crate::text::screen::counted;

verbs! {
    "Unattended phases" (own);
    groups { "yolo": "Run all remaining phases in the session, without asking"; }

    /// Start the chain that runs all remaining phases
    ///
    /// Sets `mode` to yolo and `workflow.auto_advance`, and remembers what they were; `yolo stop` puts that back. Starts no
    /// agent: the command `yolo` of a host calls it and does the work. Exit codes: 10 something prevents it, which is
    /// named.
    ///
    /// Example: `gsd-tools yolo start --from 3`.
    "yolo start": writes [unasked] json(YoloReport) = start(StartArgs);

    /// Stop the chain, and put back what its start changed
    ///
    /// From then on no workflow starts the next one until a person asks for that again. Also for a chain that broke off.
    ///
    /// Example: `gsd-tools yolo stop --reason user_stop`.
    "yolo stop": writes [unasked] json(YoloReport) = stop(StopArgs);

    /// Show whether the chain runs, and what remains
    ///
    /// Example: `gsd-tools yolo status --pick active`.
    "yolo status": reads json(YoloReport) = status();
}

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// The phase to begin with; without it, the first that remains
    #[arg(long, value_name = "PHASE")]
    from: Option<String>,
    /// Leave the milestone open at the end
    #[arg(long)]
    no_close: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {
    /// Why it stops; without it, `user_stop` for one that runs
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(YOLO_STOPS.iter().copied()))]
    reason: Option<String>,
}

fn start(context: &mut Context, arguments: &StartArgs) -> Result<(), Failure> {
    let report = yolo::start(context, arguments.from.clone(), !arguments.no_close)?;
    show(context, &report)
}

fn stop(context: &mut Context, arguments: &StopArgs) -> Result<(), Failure> {
    let report = yolo::stop(context, arguments.reason.as_deref())?;
    show(context, &report)
}

fn status(context: &mut Context) -> Result<(), Failure> {
    let report = yolo::report(context)?;
    show(context, &report)
}

fn show(context: &mut Context, report: &YoloReport) -> Result<(), Failure> {
    let prefix = context.command_prefix()?.to_owned();
    context.say(report, None, |_| {
        let YoloReport { active, started_at, stop_condition, next, plan, .. } = report;
        let since = started_at.as_deref().unwrap_or("an unknown time");
        let head = match (active, stop_condition) {
            (true, _) if plan.stale => format!("The chain that was started at {since} broke off."),
            (true, _) => format!("The chain runs since {since}."),
            (false, Some(reason)) => format!("The chain does not run; it last stopped with {reason}."),
            (false, None) => "The chain does not run.".to_owned(),
        };
        let mut lines = vec![head];
        if !plan.remaining.is_empty() {
            lines.push(format!("{} to go: {}", counted(plan.remaining.len(), "phase"), plan.remaining.join(", ")));
        }
        lines.extend(plan.blockers.iter().map(|blocker| match (blocker, blocker.said(&prefix)) {
            (Blocker::NothingRemaining, (_, cure)) => format!("No phase remains: {cure}."),
            (Blocker::MilestoneClosed, (_, cure)) => format!("The milestone is closed: {cure}."),
            (_, (what, cure)) => format!("It cannot begin: {what}; {cure}."),
        }));
        lines.extend(plan.warnings.iter().cloned());
        lines.push(format!("\nNext  {prefix}{next}"));
        lines.join("\n") + "\n"
    })
}
