//! A person's orders: written into the documents, or left for an active run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::place::{RunHold, RunPlace, log_error, refuses_sessions, refuses_units};
use super::seen::Seen;
use crate::acts::writing::Target;
use crate::acts::{Call, caller};
use crate::auto::event::{Entry, Event, Time};
use crate::auto::memory::Memory;
use crate::auto::real::orders as waiting;
use crate::auto::slices::orders::{self, Order, OrderedChange, Wish};
use crate::disk::log::{Log, read_log};
use crate::failure::Failure;
use crate::project::milestone_layout::lookup;
use crate::project::view::Edits;

/// The result of an order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OrderReport {
    /// Whether the documents changed.
    pub(crate) updated: bool,
    /// Whether the order is followed later: by an active run in another process after its unit, or by the next run.
    pub(crate) waits: bool,
    /// The documents that contain the change, or will contain it.
    pub(crate) files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// The command that continues; omitted if a run in another process continues, or if the milestone was parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<&'static str>,
}

/// The command that continues after an order if no run is active.
pub(crate) const NEXT: &str = "gsd-tools auto run";

/// How long to wait for the answer of a run that is between two units: it may be about to end.
const ANSWER: Duration = Duration::from_secs(5);

/// How often to look for the answer.
const LOOK: Duration = Duration::from_millis(50);

/// An order, and the name under which it is left.
struct NamedOrder {
    id: String,
    order: Order,
}

/// Writes the order into the documents, since no run is active. Everything is read again here, because earlier reads
/// may be outdated.
fn written(
    call: &Call,
    place: &RunPlace,
    named: &NamedOrder,
    log: Option<Box<Log<'_>>>,
) -> Result<OrderReport, Failure> {
    let memory = place.memory()?;
    let is_unfinished = memory.run.is_some() && !memory.is_released;
    if matches!(named.order.wish, Wish::Steer { .. })
        && !is_unfinished
        && !place.is_in_phases(None)
        && Seen::of(call)?.state.milestone.is_none()
    {
        return Err(nothing_to_steer());
    }
    if is_unfinished && means_kept_attempt(&memory, &named.order.wish) {
        // The run itself restores what it has taken back.
        if !call.is_rehearsal() {
            waiting::leave(&place.folder(), &named.id, &named.order)?;
        }
        return Ok(OrderReport { updated: false, waits: true, files: Vec::new(), reason: None, next: Some(NEXT) });
    }
    let folder = place.documents(&memory);
    let files = RunPlace::files_at(call, &folder);
    if is_unfinished && (memory.current.is_some() || memory.taking_back.is_some()) {
        // A change in an unfinished unit would count as its session's work, or be taken back with it.
        let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
        let waits = !changes.is_empty();
        if waits && !call.is_rehearsal() {
            waiting::leave(&place.folder(), &named.id, &named.order)?;
        }
        let (files, reason) = (paths(&changes), nothing(&changes));
        return Ok(OrderReport { updated: false, waits, files, reason, next: Some(NEXT) });
    }
    let changes = call.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
        let mut edits = Edits::default();
        for change in &changes {
            match change {
                OrderedChange::Write { path, text } => edits.write(view, path, text.clone())?,
                OrderedChange::Remove(path) => edits.removals.push(path.clone()),
            }
        }
        Ok((changes, edits))
    })?;
    if let Some(mut log) = log.filter(|_| is_unfinished && !call.is_rehearsal() && !changes.is_empty()) {
        let at = Time { wall: call.world().now().milliseconds(), machine: call.world().uptime() };
        let event = Event::Ordered { id: named.id.clone(), order: named.order.clone(), refused: None };
        log.append(&Entry::new(at, event))?;
    }
    let (updated, reason) = (!changes.is_empty(), nothing(&changes));
    // A parked milestone waits for a person.
    let next = (!matches!(named.order.wish, Wish::Park { .. })).then_some(NEXT);
    Ok(OrderReport { updated, waits: false, files: paths(&changes), reason, next })
}

/// Leaves the order for the active run; `None` if that has ended without taking the order.
fn left(call: &Call, place: &RunPlace, named: &NamedOrder) -> Result<Option<OrderReport>, Failure> {
    let memory = place.memory()?;
    if memory.landed.is_some() {
        return Err(nothing_to_steer());
    }
    let files = RunPlace::files_at(call, &place.documents(&memory));
    let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
    let report = |updated: bool| OrderReport {
        updated,
        waits: !updated && !changes.is_empty(),
        files: paths(&changes),
        reason: nothing(&changes),
        next: None,
    };
    if call.is_rehearsal() || changes.is_empty() {
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
        if place.holder(call.disk(), &place.memory()?)?.is_none() {
            if !waiting::waits(&notes, &named.id) {
                return dealt_with(place, named).map(|()| Some(report(true)));
            }
            waiting::forget(&notes, &named.id)?;
            return Ok(None);
        }
        call.world().pause(LOOK);
        waited += LOOK;
    }
    Ok(Some(report(false)))
}

/// Reads how the run handled the order: an error if it could not follow it.
fn dealt_with(place: &RunPlace, named: &NamedOrder) -> Result<(), Failure> {
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

/// True if an order accepts a task whose last attempt was taken back.
fn means_kept_attempt(memory: &Memory, wish: &Wish) -> bool {
    matches!(wish, Wish::Verdict { id, passed: true, .. } if memory.kept_of_task(id).is_some())
}

fn refused(error: &orders::OrderError) -> Failure {
    Failure::usage(error.to_string()).exits(1).hint(error.hint())
}

fn nothing(changes: &[OrderedChange]) -> Option<&'static str> {
    changes.is_empty().then_some("the documents say so already")
}

fn paths(changes: &[OrderedChange]) -> Vec<String> {
    let path = |change: &OrderedChange| match change {
        OrderedChange::Write { path, .. } | OrderedChange::Remove(path) => path.clone(),
    };
    changes.iter().map(path).collect()
}

/// Writes an order into the documents, or leaves it for the active run.
pub(crate) fn follow(call: &Call, command: &str, wish: Wish) -> Result<OrderReport, Failure> {
    caller::refuses_agents(call, command)?;
    refuses_units(call, command)?;
    let place = RunPlace::of(call)?.needs_milestones()?;
    refuses_sessions(call, &place, &place.memory()?, command)?;
    let now = call.world().now();
    let id = format!("{:015}-{}", now.milliseconds(), call.world().process());
    let named = NamedOrder { id, order: Order { at: now.to_string(), wish } };
    // Do not wait for the lock: a run that has the log gets the order at once.
    let (at_once, patient) = (call.disk().patient_for(Duration::ZERO), call.disk());
    Ok(match place.hold(&at_once, &place.memory()?)? {
        RunHold::Free(log) => written(call, &place, &named, log)?,
        RunHold::Running => match left(call, &place, &named)? {
            Some(report) => report,
            None => match place.hold(&patient, &place.memory()?)? {
                RunHold::Free(log) => written(call, &place, &named, log)?,
                RunHold::Running => {
                    let message = "another run began meanwhile, so the order was not given";
                    return Err(Failure::usage(message).exits(75).hint("`gsd-tools auto status` shows where it is"));
                }
            },
        },
    })
}
