//! What a person orders: `auto steer`, `auto answer`, `auto verdict`, `auto park`, `auto unpark`.

use schemars::JsonSchema;
use serde::Serialize;

use super::place::{Held, Place};
use super::views::Seen;
use crate::auto::event::{Entry, Event, Time};
use crate::auto::memory::Memory;
use crate::auto::real::orders as waiting;
use crate::auto::slices::orders::{self, Change, Order, Wish};
use crate::commands::frame::{CommandError, Context};
use crate::project::milestone_layout::lookup;
use crate::project::view::Edits;

/// What became of an order.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OrderReport {
    /// Whether the documents changed.
    updated: bool,
    /// Whether the run follows the order later: one that goes on in another process after its unit, or the next one.
    waits: bool,
    /// The documents that say so now, or will.
    files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Debug, clap::Args)]
pub(super) struct SteerArgs {
    /// What is to be different from now on
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    change: Vec<String>,
}

pub(super) fn steer(context: &mut Context, arguments: &SteerArgs) -> Result<(), CommandError> {
    let change = arguments.change.join(" ");
    if change.trim().is_empty() {
        return Err(CommandError::usage("there is no text").hint("name the change: `gsd-tools auto steer \"...\"`"));
    }
    let place = Place::of(context)?.needs_milestones()?;
    let memory = place.memory()?;
    let is_running = memory.run.is_some() && !memory.is_released;
    if !is_running && !place.is_in_phases(None) && Seen::of(context)?.state.milestone.is_none() {
        let message = "no milestone is under way, so there is nothing to change";
        return Err(
            CommandError::usage(message).hint("describe the next one in a file: `gsd-tools auto run --brief FILE`")
        );
    }
    follow(context, "auto steer", Wish::Steer { change })
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

pub(super) fn answer(context: &mut Context, arguments: &AnswerArgs) -> Result<(), CommandError> {
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
    /// What the verdict rests on
    #[arg(long, value_name = "TEXT")]
    rationale: String,
}

pub(super) fn verdict(context: &mut Context, arguments: &VerdictArgs) -> Result<(), CommandError> {
    if arguments.rationale.trim().is_empty() {
        return Err(CommandError::usage("`--rationale` is empty").hint("give the reason for the verdict"));
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

pub(super) fn park(context: &mut Context, arguments: &ParkArgs) -> Result<(), CommandError> {
    let milestone = arguments.milestone.to_ascii_uppercase();
    follow(context, "auto park", Wish::Park { milestone, why: arguments.why.clone() })
}

#[derive(Debug, clap::Args)]
pub(super) struct UnparkArgs {
    /// The milestone
    milestone: String,
}

pub(super) fn unpark(context: &mut Context, arguments: &UnparkArgs) -> Result<(), CommandError> {
    follow(context, "auto unpark", Wish::Unpark { milestone: arguments.milestone.to_ascii_uppercase() })
}

/// Brings an order into the documents, or leaves it for the run that goes on.
fn follow(context: &mut Context, command: &str, wish: Wish) -> Result<(), CommandError> {
    context.refuses_agents(command)?;
    super::place::refuses_units(context, command)?;
    let place = Place::of(context)?.needs_milestones()?;
    let memory = place.memory()?;
    let now = context.world().now();
    let order = Order { at: now.to_string(), wish };
    let id = format!("{:015}-{}", now.milliseconds(), context.world().process());
    let folder = place.documents(&memory);
    let files = Place::files_at(context, &folder);
    let disk = context.disk();
    let report = match place.hold(&disk, &memory)? {
        Held::Running => {
            let changes = orders::changes(files.as_ref(), &order)?.map_err(|error| refused(&error))?;
            if !context.is_rehearsal() && !changes.is_empty() {
                waiting::leave(&place.folder(), &id, &order)?;
            }
            OrderReport {
                updated: false,
                waits: !changes.is_empty(),
                files: paths(&changes),
                reason: nothing(&changes),
            }
        }
        Held::Free(Some(_)) if means_kept_attempt(&memory, &order.wish) => {
            if !context.is_rehearsal() {
                waiting::leave(&place.folder(), &id, &order)?;
            }
            OrderReport { updated: false, waits: true, files: Vec::new(), reason: None }
        }
        Held::Free(mut log) => {
            let changes = context.update_below(&folder, lookup::FOLDER, |view| {
                let changes = orders::changes(files.as_ref(), &order)?.map_err(|error| refused(&error))?;
                let mut edits = Edits::default();
                for change in &changes {
                    match change {
                        Change::Write { path, text } => edits.write(view, path, text.clone())?,
                        Change::Remove(path) => edits.removals.push(path.clone()),
                    }
                }
                Ok((changes, edits))
            })?;
            if let Some(log) = log.as_mut().filter(|_| !context.is_rehearsal() && !changes.is_empty()) {
                let at = Time { wall: now.milliseconds(), machine: context.world().uptime() };
                let event = Event::Ordered { id, order: order.clone(), refused: None };
                log.append(&Entry { at, event })?;
            }
            OrderReport {
                updated: !changes.is_empty(),
                waits: false,
                files: paths(&changes),
                reason: nothing(&changes),
            }
        }
    };
    let said = order.wish.to_string();
    let is_kept = report.files.is_empty();
    context.say(&report, None, |_| match (&report.reason, report.waits) {
        (Some(reason), _) => format!("Nothing changed: {reason}.\n"),
        (None, true) if is_kept => {
            format!("{said}\nThe next run brings back what the last attempt left.\n\nNext  gsd-tools auto run\n")
        }
        (None, true) => format!("{said}\nThe run follows it after the unit that runs.\n"),
        (None, false) => format!("{said}\n\nNext  gsd-tools auto run\n"),
    })
}

/// Whether an order makes a task count of which the last attempt was taken back.
fn means_kept_attempt(memory: &Memory, wish: &Wish) -> bool {
    matches!(wish, Wish::Verdict { id, passed: true, .. } if memory.kept_of_task(id).is_some())
}

fn refused(error: &orders::OrderError) -> CommandError {
    CommandError::usage(error.to_string()).exits(1).hint(error.hint())
}

fn nothing(changes: &[Change]) -> Option<&'static str> {
    changes.is_empty().then_some("the documents say so already")
}

fn paths(changes: &[Change]) -> Vec<String> {
    let path = |change: &Change| match change {
        Change::Write { path, .. } | Change::Remove(path) => path.clone(),
    };
    changes.iter().map(path).collect()
}
