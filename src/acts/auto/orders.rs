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
use crate::text::shell::{Typed, typed};

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
    /// The command that continues; omitted if a run in another process continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) next: Option<Typed>,
    /// The command that ends the run of the milestone instead; only for a milestone that was parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) end: Option<Typed>,
}

impl OrderReport {
    /// Adds the commands with which a person continues. A parked milestone waits until it is unparked.
    fn with_ways_on(self, call: &Call, memory: &Memory, wish: &Wish) -> Result<Self, Failure> {
        let run = memory.run.as_ref().filter(|_| !memory.is_released);
        let Wish::Park { milestone: parked, .. } = wish else {
            // A run begins only with documents that are committed.
            let folder = lookup::FOLDER;
            let commits =
                || typed!("git add {} && git commit -m \"docs: note\" -- {} && gsd-tools auto run", folder, folder);
            let next = if run.is_none() && self.updated { commits() } else { NEXT.into() };
            return Ok(Self { next: Some(next), ..self });
        };
        let is_of_run = run.is_some_and(|run| run.milestone.eq_ignore_ascii_case(parked));
        let is_another =
            || Ok::<_, Failure>(Seen::of(call)?.state.milestone.is_some_and(|active| active.id != *parked));
        let continues = if run.is_some() { !is_of_run } else { is_another()? };
        let next = if continues { NEXT.into() } else { typed!("gsd-tools auto unpark {}", parked) };
        Ok(Self { next: Some(next), end: is_of_run.then(|| typed!("gsd-tools auto abandon {}", parked)), ..self })
    }
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
        let report =
            OrderReport { updated: false, waits: true, files: Vec::new(), reason: None, next: None, end: None };
        return report.with_ways_on(call, &memory, &named.order.wish);
    }
    if taken_back(call, place, &named.order.wish)? {
        let report =
            OrderReport { updated: true, waits: false, files: Vec::new(), reason: None, next: None, end: None };
        return report.with_ways_on(call, &memory, &named.order.wish);
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
        let report = OrderReport { updated: false, waits, files, reason, next: None, end: None };
        return report.with_ways_on(call, &memory, &named.order.wish);
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
    let report = OrderReport { updated, waits: false, files: paths(&changes), reason, next: None, end: None };
    report.with_ways_on(call, &memory, &named.order.wish)
}

/// Takes back an order to park the milestone that still waits; returns whether there was one.
fn taken_back(call: &Call, place: &RunPlace, wish: &Wish) -> Result<bool, Failure> {
    let Wish::Unpark { milestone } = wish else { return Ok(false) };
    let mut found = false;
    for (id, order) in waiting::waiting(&place.folder())? {
        if matches!(&order.wish, Wish::Park { milestone: parked, .. } if parked == milestone) {
            found = true;
            if !call.is_rehearsal() {
                waiting::forget(&place.folder(), &id)?;
            }
        }
    }
    Ok(found)
}

/// Leaves the order for the active run; `None` if that has ended without taking the order.
fn left(call: &Call, place: &RunPlace, named: &NamedOrder) -> Result<Option<OrderReport>, Failure> {
    let memory = place.memory()?;
    if memory.landed.is_some() {
        // A thought is for the next milestone too: it is written once the run has ended.
        return if matches!(named.order.wish, Wish::Capture { .. }) { Ok(None) } else { Err(nothing_to_steer()) };
    }
    if taken_back(call, place, &named.order.wish)? {
        let (files, reason) = (Vec::new(), None);
        return Ok(Some(OrderReport { updated: true, waits: false, files, reason, next: None, end: None }));
    }
    let files = RunPlace::files_at(call, &place.documents(&memory));
    let changes = orders::changes(files.as_ref(), &named.order)?.map_err(|error| refused(&error))?;
    let report = |updated: bool| OrderReport {
        updated,
        waits: !updated && !changes.is_empty(),
        files: paths(&changes),
        reason: nothing(&changes),
        next: None,
        end: None,
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
    if !wish.may_be_passed_on() {
        caller::refuses_agents(call, command)?;
    }
    refuses_units(call, command)?;
    let place = RunPlace::of(call)?.needs_milestones(command)?;
    refuses_sessions(call, &place, &place.memory()?, command)?;
    let (now, passed_on) = (call.world().now(), call.agent_session()?.is_some());
    let id = format!("{:015}-{}", now.milliseconds(), call.world().process());
    let named = NamedOrder { id, order: Order { at: now.to_string(), passed_on, wish } };
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
