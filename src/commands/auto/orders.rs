//! What a person orders: `auto steer`, `auto answer`, `auto verdict`, `auto park`, `auto unpark`.

use crate::acts::caller;
use crate::acts::writing::Target;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::place::{Held, Place, log_error};
use super::views::Seen;
use crate::auto::event::{Entry, Event, Time};
use crate::auto::memory::Memory;
use crate::auto::real::orders as waiting;
use crate::auto::slices::orders::{self, Change, Order, Wish};
use crate::commands::frame::Context;
use crate::disk::log::{Log, read_log};
use crate::failure::Failure;
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
    /// The command that goes on; left out where a run goes on in another process.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

/// What goes on after an order that no process follows.
const NEXT: &str = "gsd-tools auto run";

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
    /// What the verdict rests on
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

/// How long the answer of a run that is between two units is waited for: it may be about to end.
const ANSWER: Duration = Duration::from_secs(5);

/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// An order, and the name that it is left under.
struct Named {
    id: String,
    order: Order,
}

/// Brings an order into the documents, or leaves it for the run that goes on.
fn follow(context: &mut Context, command: &str, wish: Wish) -> Result<(), Failure> {
    caller::refuses_agents(context, command)?;
    super::place::refuses_units(context, command)?;
    let place = Place::of(context)?.needs_milestones()?;
    super::place::refuses_sessions(context, &place, &place.memory()?, command)?;
    let now = context.world().now();
    let id = format!("{:015}-{}", now.milliseconds(), context.world().process());
    let named = Named { id, order: Order { at: now.to_string(), wish } };
    // Nobody is waited for: a run that has the log is told at once.
    let (at_once, patient) = (context.disk().patient_for(Duration::ZERO), context.disk());
    let report = match place.hold(&at_once, &place.memory()?)? {
        Held::Free(log) => written(context, &place, &named, log)?,
        Held::Running => match left(context, &place, &named)? {
            Some(report) => report,
            None => match place.hold(&patient, &place.memory()?)? {
                Held::Free(log) => written(context, &place, &named, log)?,
                Held::Running => {
                    let message = "another run began meanwhile, so the order was not given";
                    return Err(Failure::usage(message).exits(75).hint("`gsd-tools auto status` shows where it is"));
                }
            },
        },
    };
    let said = named.order.wish.to_string();
    context.say(&report, None, |_| match (&report.reason, report.waits, report.updated) {
        (Some(reason), ..) => format!("Nothing changed: {reason}.\n"),
        (None, true, _) if report.files.is_empty() => {
            format!("{said}\nThe next run brings back what the last attempt left.\n\nNext  {NEXT}\n")
        }
        (None, true, _) => match report.next {
            Some(next) => format!("{said}\nThe next run follows it after the unfinished unit.\n\nNext  {next}\n"),
            None => format!("{said}\nThe run follows it after the unit that runs.\n"),
        },
        (None, false, _) => {
            format!("{said}\n{}", report.next.map(|next| format!("\nNext  {next}\n")).unwrap_or_default())
        }
    })
}

/// Writes the order into the documents, since no run goes on: what was read before that was certain may be gone.
fn written(
    context: &mut Context,
    place: &Place,
    named: &Named,
    log: Option<Box<Log<'_>>>,
) -> Result<OrderReport, Failure> {
    let memory = place.memory()?;
    let is_unfinished = memory.run.is_some() && !memory.is_released;
    if matches!(named.order.wish, Wish::Steer { .. })
        && !is_unfinished
        && !place.is_in_phases(None)
        && Seen::of(context)?.state.milestone.is_none()
    {
        return Err(nothing_to_steer());
    }
    if is_unfinished && means_kept_attempt(&memory, &named.order.wish) {
        // The run itself brings back what it has taken back.
        if !context.is_rehearsal() {
            waiting::leave(&place.folder(), &named.id, &named.order)?;
        }
        return Ok(OrderReport { updated: false, waits: true, files: Vec::new(), reason: None, next: Some(NEXT) });
    }
    let folder = place.documents(&memory);
    let files = Place::files_at(context, &folder);
    if is_unfinished && (memory.current.is_some() || memory.taking_back.is_some()) {
        // What is written into a unit that is not finished is taken for the work of its session, or taken back with it.
        let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
        let waits = !changes.is_empty();
        if waits && !context.is_rehearsal() {
            waiting::leave(&place.folder(), &named.id, &named.order)?;
        }
        let (files, reason) = (paths(&changes), nothing(&changes));
        return Ok(OrderReport { updated: false, waits, files, reason, next: Some(NEXT) });
    }
    let changes = context.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
        let mut edits = Edits::default();
        for change in &changes {
            match change {
                Change::Write { path, text } => edits.write(view, path, text.clone())?,
                Change::Remove(path) => edits.removals.push(path.clone()),
            }
        }
        Ok((changes, edits))
    })?;
    if let Some(mut log) = log.filter(|_| is_unfinished && !context.is_rehearsal() && !changes.is_empty()) {
        let at = Time { wall: context.world().now().milliseconds(), machine: context.world().uptime() };
        let event = Event::Ordered { id: named.id.clone(), order: named.order.clone(), refused: None };
        log.append(&Entry::new(at, event))?;
    }
    let (updated, reason) = (!changes.is_empty(), nothing(&changes));
    // A milestone that is parked waits for a person.
    let next = (!matches!(named.order.wish, Wish::Park { .. })).then_some(NEXT);
    Ok(OrderReport { updated, waits: false, files: paths(&changes), reason, next })
}

/// Leaves the order for the run that goes on; `None` if that has ended and nobody took the order.
fn left(context: &Context, place: &Place, named: &Named) -> Result<Option<OrderReport>, Failure> {
    let memory = place.memory()?;
    if memory.landed.is_some() {
        return Err(nothing_to_steer());
    }
    let files = Place::files_at(context, &place.documents(&memory));
    let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
    let report = |updated: bool| OrderReport {
        updated,
        waits: !updated && !changes.is_empty(),
        files: paths(&changes),
        reason: nothing(&changes),
        next: None,
    };
    if context.is_rehearsal() || changes.is_empty() {
        return Ok(Some(report(false)));
    }
    let notes = place.folder();
    waiting::leave(&notes, &named.id, &named.order)?;
    if memory.current.is_some() {
        return Ok(Some(report(false)));
    }
    let mut waited = Duration::ZERO;
    while waited < ANSWER {
        if !waiting::waits(&notes, &named.id) {
            return dealt_with(place, named).map(|()| Some(report(true)));
        }
        if place.holder(context.disk(), &place.memory()?)?.is_none() {
            if !waiting::waits(&notes, &named.id) {
                return dealt_with(place, named).map(|()| Some(report(true)));
            }
            waiting::forget(&notes, &named.id)?;
            return Ok(None);
        }
        context.world().pause(LOOK);
        waited += LOOK;
    }
    Ok(Some(report(false)))
}

/// What the run made of the order: an error if it could not follow it.
fn dealt_with(place: &Place, named: &Named) -> Result<(), Failure> {
    let entries = read_log::<Entry>(&place.log()).map_err(|error| log_error(&error))?;
    let entries = entries.map(|found| found.entries).unwrap_or_default();
    let why = entries.into_iter().rev().find_map(|entry| match entry.event {
        Event::Ordered { id, refused, .. } if id == named.id => Some(refused),
        _ => None,
    });
    match why.flatten() {
        Some(why) => Err(Failure::usage(format!("the run could not follow it: {why}"))
            .exits(1)
            .hint("`gsd-tools auto status` shows where the milestone is")),
        None => Ok(()),
    }
}

fn nothing_to_steer() -> Failure {
    Failure::usage("no milestone is under way, so there is nothing to change")
        .hint("describe the next one in a file: `gsd-tools auto run --brief FILE`")
}

/// Whether an order makes a task count of which the last attempt was taken back.
fn means_kept_attempt(memory: &Memory, wish: &Wish) -> bool {
    matches!(wish, Wish::Verdict { id, passed: true, .. } if memory.kept_of_task(id).is_some())
}

fn refused(error: &orders::OrderError) -> Failure {
    Failure::usage(error.to_string()).exits(1).hint(error.hint())
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
