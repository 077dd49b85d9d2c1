//! Orders of a person: `auto steer`, `auto capture`, `auto answer`, `auto verdict`, `auto park`, `auto unpark`.

use crate::acts::auto::orders;

use crate::auto::slices::orders::Wish;
use crate::failure::Failure;
use crate::frame::Context;

#[derive(Debug, clap::Args)]
pub(super) struct SteerArgs {
    /// What is to be different from now on
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    change: Vec<String>,
}

pub(super) fn steer(context: &mut Context, arguments: &SteerArgs) -> Result<(), Failure> {
    let change = arguments.change.join(" ");
    if change.trim().is_empty() {
        return Err(Failure::usage("there is no text").hint("name the change: `gsd-tools auto steer \"...\"`"));
    }
    follow(context, "auto steer", Wish::Steer { change })
}

#[derive(Debug, clap::Args)]
pub(super) struct CaptureArgs {
    /// The thought
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    text: Vec<String>,
}

pub(super) fn capture(context: &mut Context, arguments: &CaptureArgs) -> Result<(), Failure> {
    let text = arguments.text.join(" ");
    if text.trim().is_empty() {
        return Err(Failure::usage("there is no text").hint("write the thought down: `gsd-tools auto capture \"...\"`"));
    }
    follow(context, "auto capture", Wish::Capture { text })
}

#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    /// The task that asks, such as `M001/S01/T02`
    task: String,
    /// The option that is chosen, such as `a`
    choice: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

pub(super) fn answer(context: &mut Context, arguments: &AnswerArgs) -> Result<(), Failure> {
    let AnswerArgs { task, choice, why } = arguments;
    let wish = Wish::Answer { task: task.to_ascii_uppercase(), choice: choice.clone(), why: why.clone() };
    follow(context, "auto answer", wish)
}

#[derive(Debug, clap::Args)]
pub(super) struct VerdictArgs {
    /// A task, slice or milestone: `M001/S01/T02`, `M001/S01`, `M001`
    id: String,
    /// `pass` or `fail`
    #[arg(value_parser = ["pass", "fail"])]
    verdict: String,
    /// The reasons for the verdict
    #[arg(long, value_name = "TEXT")]
    rationale: String,
}

pub(super) fn verdict(context: &mut Context, arguments: &VerdictArgs) -> Result<(), Failure> {
    if arguments.rationale.trim().is_empty() {
        return Err(Failure::usage("`--rationale` is empty").hint("give the reason for the verdict"));
    }
    let passed = arguments.verdict == "pass";
    let wish = Wish::Verdict { id: arguments.id.to_ascii_uppercase(), passed, why: arguments.rationale.clone() };
    follow(context, "auto verdict", wish)
}

#[derive(Debug, clap::Args)]
pub(super) struct ParkArgs {
    /// The milestone
    milestone: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

pub(super) fn park(context: &mut Context, arguments: &ParkArgs) -> Result<(), Failure> {
    let milestone = arguments.milestone.to_ascii_uppercase();
    follow(context, "auto park", Wish::Park { milestone, why: arguments.why.clone() })
}

#[derive(Debug, clap::Args)]
pub(super) struct UnparkArgs {
    /// The milestone
    milestone: String,
}

pub(super) fn unpark(context: &mut Context, arguments: &UnparkArgs) -> Result<(), Failure> {
    follow(context, "auto unpark", Wish::Unpark { milestone: arguments.milestone.to_ascii_uppercase() })
}

/// Carries out an order, and reports the result.
fn follow(context: &mut Context, command: &str, wish: Wish) -> Result<(), Failure> {
    let said = wish.to_string();
    let report = orders::follow(context, command, wish)?;
    let end = report.end.as_ref().map(|end| format!("  or  {end}, which ends its run for good\n")).unwrap_or_default();
    let next = report.next.as_ref().map(|next| format!("\nNext  {next}\n{end}")).unwrap_or_default();
    context.say(&report, None, |_| match (&report.reason, report.waits) {
        (Some(reason), _) => format!("Nothing changed: {reason}.\n"),
        (None, true) if report.files.is_empty() => {
            format!("{said}\nThe next run brings back what the last attempt left.\n{next}")
        }
        (None, true) if report.next.is_some() => {
            format!("{said}\nRecorded; the next run follows it after the unfinished unit.\n{next}")
        }
        (None, true) => format!("{said}\nRecorded; the run follows it after its unit.\n"),
        (None, false) => format!("{said}\n{next}"),
    })
}
