//! `auto run`, `auto next`, `auto dispatch`: a run from its beginning to its stop.

mod arguments;
mod brief;
mod control;
mod how;
mod opening;
mod places;
mod planned;
mod preferred;

use crate::acts::project;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use arguments::unfinished;
pub(super) use arguments::{DispatchArgs, RunArgs};
use brief::kept_brief;

use crate::failure::Failure;
#[cfg(test)]
pub(super) use control::ControlReport;
pub(super) use control::{ControlArgs, pause, stop};
use how::{How, ceilings, how, means};
use opening::{BEGINNING, Begun, Opening, started};
use places::places_of;
use preferred::{preference_files, preferred};

use super::brought::self_running;
use super::phases::{SeenPhases, workflows};
use super::place::{Place, log_error, newer_engine};
use super::texts::unit_of;
use super::views::Seen;
use crate::auto::decide::landed;
use crate::auto::engine::drive::{Drive, Settings};
use crate::auto::event::{ENGINE, Entry, Event, Means, Time};
use crate::auto::landing::repository::Repository;
use crate::auto::layout::Layout as DocumentLayout;
use crate::auto::memory::Memory;
use crate::auto::phases::PhaseSettings;
use crate::auto::real::{Control, Driver, Parts, Real, leftovers, orders};
use crate::auto::set_up::{self, SetUp};
use crate::auto::slices::derive::Scope;
use crate::auto::stop::Stop;
use crate::auto::unit::Unit;
use crate::commands::frame::Context;
use crate::disk;
use crate::disk::log::Log;
use crate::project::milestone_layout::lookup;
use crate::world::World;
use crate::world::signals::Requests;
use crate::world::tree::adopt_orphans;

/// How long the lock of the log is waited for. A run that was killed while it started a program has left it to that process,
/// until this one becomes another program.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// What a run came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunReport {
    milestone: String,
    /// Why it stopped, and the command that goes on.
    stop: Stop,
    sessions: u32,
    /// Output tokens and uncached input.
    tokens: u64,
    /// In US dollars, as the client says; left out where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    /// The commit that landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    landed: Option<String>,
}

pub(super) fn run(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    drive(context, arguments, arguments.how.max_units, None)
}

pub(super) fn dispatch(context: &mut Context, arguments: &DispatchArgs) -> Result<(), Failure> {
    let (place, id) = (Place::of(context)?, arguments.id.as_deref());
    place.refuses_two_layouts(arguments.how.layout)?;
    let (unit, milestone) = if place.is_in_phases(arguments.how.layout) {
        let seen = SeenPhases::of(context, &place)?;
        (seen.unit_of(&arguments.unit, id)?, seen.milestone()?)
    } else {
        let unit = unit_of(&Seen::whole(context)?, &arguments.unit, id)?;
        let milestone = unit.parts().0.to_owned();
        (unit, milestone)
    };
    let arguments = RunArgs { milestone: Some(milestone), brief: None, how: arguments.how.clone() };
    drive(context, &arguments, Some(1), Some(unit))
}

pub(super) fn next(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    drive(context, arguments, Some(1), None)
}

fn drive(
    context: &mut Context,
    arguments: &RunArgs,
    most_units: Option<u32>,
    asked: Option<Unit>,
) -> Result<(), Failure> {
    let place = Place::of(context)?;
    let disk = context.disk().patient_for(LOCK_PATIENCE);
    let mut log = disk.log(&place.log()).map_err(|error| log_error(&error))?;
    let memory = place.memory()?;
    refuse_newer_engine(context, &place, &memory)?;
    let means = means(context, arguments, &memory);
    refuse_other_owner(&place, &means)?;
    leftovers::end_programs(&memory)?;
    leftovers::remove_temporary(context.world(), &memory)?;
    if memory.run.is_none() || memory.is_released {
        drop_orders(context, &place)?;
    }
    if has_landed(context, &place, &memory, arguments)? {
        return finish(context, &mut log, &memory);
    }
    let mut how = how(context, arguments, &memory, means)?;
    Control::clear(&place.folder())?;
    place.refuses_two_layouts(arguments.how.layout)?;
    let is_in_phases = place.is_in_phases(arguments.how.layout);
    let layout = if is_in_phases { in_phases(context, &place, &how.driver)? } else { DocumentLayout::Milestones };
    if asked.is_none()
        && let Some((milestone, stop)) = not_begun(context, &place, &memory, (arguments, is_in_phases))?
    {
        // Nothing was begun, so that nothing is noted.
        return report(context, &milestone, stop, &Memory::default());
    }
    let preferred = preferred(context, &place, &memory)?;
    let command = preferred.document.git.worktree_post_create.clone();
    let set_up = SetUp::new(command, disk::read_text(place.root.resolve(set_up::INCLUDE))?);
    how.means.set_up = set_up.named();
    let ceilings = ceilings(arguments, &memory, &preferred);
    let running = self_running(context)?;
    let opening = Opening {
        place: &place,
        memory: &memory,
        arguments,
        layout: &layout,
        how: &how,
        ceilings,
        preferred: &preferred,
        set_up: &set_up,
        running: &running,
    };
    let start = match started(context, &opening)? {
        Begun::Started(start) => *start,
        Begun::NotApproved(milestone, stop) => return report(context, &milestone, stop, &Memory::default()),
    };
    say_set_up(context, &how);
    let world = context.world().clone();
    let now = now(&world);
    append(&mut log, &Entry::new(now, opening.event(&start, &world)))?;
    // From here on the log knows the branch.
    disk::remove_note(&place.folder().resolve(BEGINNING))?;
    forget_expired(context, &start.repository);
    let memory = place.memory()?;
    let preferences = Place::preferences(preference_files(context, &place, &memory)?.as_ref(), context)?;
    let settings = Settings {
        layout: layout.clone(),
        preferences: preferences.clone(),
        scope: Scope { milestone: Some(start.milestone.clone()), slice: None },
        most_units,
        asked,
        allows_planning_only: how.means.planning_only,
        ..Settings::default()
    };
    adopt_orphans();
    let places = places_of(&place, &start.worktree.folder);
    let run = memory.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
    let view = project::view_at(context, &start.worktree.folder);
    let (held_out, openings) = (start.held_out, start.openings);
    let mut tell = |line: &str| context.tell(line);
    let mut effects = Real::new(Parts {
        world: &world,
        log,
        repository: start.repository,
        worktree: start.worktree,
        places,
        driver: how.driver,
        preferences,
        set_up,
        running,
        approved: start.approved,
        layout,
        held_out,
        openings,
        view,
        run,
        brief: start.brief,
        signals: Requests::watch().ok(),
        told: &mut tell,
    });
    let mut drive = Drive::new(&mut effects, memory, &settings);
    let stop = drive.run();
    let memory = drive.memory().clone();
    let stop = stop?;
    report(context, &start.milestone, stop, &memory)
}

/// Why no run can begin now, with the milestone that is asked for; the next call may be about another one.
fn not_begun(
    context: &mut Context,
    place: &Place,
    memory: &Memory,
    (arguments, is_in_phases): (&RunArgs, bool),
) -> Result<Option<(String, Stop)>, Failure> {
    if is_in_phases {
        if memory.run.is_some() && !memory.is_released {
            return Ok(None);
        }
        let seen = SeenPhases::of(context, place)?;
        let stop = seen.stop()?;
        return stop.map(|stop| Ok((seen.milestone()?, stop))).transpose();
    }
    if arguments.brief.is_some() || unfinished(memory).is_some() {
        return Ok(None);
    }
    let milestone = arguments.milestone.as_deref();
    let stop = Seen::blocked(context, milestone)?;
    Ok(stop.map(|stop| (milestone.unwrap_or_default().to_owned(), stop)))
}

/// Forgets orders that came too late for the run that they were for: they are about no other.
fn drop_orders(context: &Context, place: &Place) -> Result<(), Failure> {
    for (id, order) in orders::waiting(&place.folder())? {
        context.tell(format!("Not followed, since the run had ended: {}", order.wish));
        orders::forget(&place.folder(), &id)?;
    }
    Ok(())
}

/// Ends what was kept of worktrees for 30 days. A run does not fail for it: the next one tries again.
fn forget_expired(context: &mut Context, repository: &Repository) {
    match repository.forget_expired(context.world().now().milliseconds()) {
        Ok(names) if names.is_empty() => {}
        Ok(names) => context.tell(format!("Removed from `refs/gsd/keep/`, kept for 30 days: {}", names.join(", "))),
        Err(error) => context.warn(format!("what `refs/gsd/keep/` has kept for 30 days is still there: {error}")),
    }
}

/// The layout of a project in phases, which needs the workflows of the client's host.
fn in_phases(context: &Context, place: &Place, driver: &Driver) -> Result<DocumentLayout, Failure> {
    let seen = SeenPhases::of(context, place)?;
    let workflows = workflows(context, &driver.runner.name)?;
    Ok(DocumentLayout::Phases(PhaseSettings { workflows, ..seen.settings }))
}

fn now(world: &World) -> Time {
    Time { wall: world.now().milliseconds(), machine: world.uptime() }
}

/// A log that a newer program has begun or continued is not for this one.
fn refuse_newer_engine(context: &mut Context, place: &Place, memory: &Memory) -> Result<(), Failure> {
    let newest = memory.engines.last().copied().unwrap_or(ENGINE);
    if newest > ENGINE {
        return Err(newer_engine(place, newest));
    }
    if newest < ENGINE {
        context.tell(format!(
            "The run was begun by an older gsd-tools (rules {newest}); it continues with rules {ENGINE}."
        ));
    }
    Ok(())
}

/// Whether what is asked for has landed: the process died before it could say so, or the same call is made again. A brief
/// that is to be worked on once more is given together with the name of a milestone.
fn has_landed(context: &Context, place: &Place, memory: &Memory, arguments: &RunArgs) -> Result<bool, Failure> {
    if !memory.is_released || arguments.milestone.is_some() {
        return Ok(false);
    }
    let Some(brief) = &arguments.brief else { return Ok(memory.stop.is_none()) };
    let had_brief = memory.run.as_ref().is_some_and(|run| run.brief.is_some());
    let (asked, kept) = (disk::read_input(context.here().resolve(brief))?, disk::read_text(kept_brief(place))?);
    Ok(had_brief && asked.is_some() && asked == kept)
}

fn finish(context: &mut Context, log: &mut Log<'_>, memory: &Memory) -> Result<(), Failure> {
    let milestone = memory.run.as_ref().map(|run| run.milestone.clone()).unwrap_or_default();
    let stop = landed(&milestone, memory);
    if memory.stop.is_none() {
        append(log, &Entry::new(now(context.world()), Event::Stopped(stop.clone())))?;
    }
    report(context, &milestone, stop, memory)
}

fn append(log: &mut Log<'_>, entry: &Entry) -> Result<(), Failure> {
    Ok(log.append(entry)?)
}

fn report(context: &mut Context, milestone: &str, stop: Stop, memory: &Memory) -> Result<(), Failure> {
    context.exit_with(stop.cause.code());
    let report = RunReport {
        milestone: milestone.to_owned(),
        sessions: memory.spent.sessions,
        tokens: memory.spent.tokens,
        usd: memory.spent.money,
        landed: memory.landed.clone(),
        stop,
    };
    context.say(&report, None, |_| {
        let shown = report.stop.evidence.iter().fold(String::new(), |text, line| text + "  " + line + "\n");
        format!("{}\n{shown}\nNext  {}\n", report.stop.text, report.stop.next)
    })
}

fn say_set_up(context: &Context, how: &How) {
    if let Some(named) = &how.means.set_up {
        context.tell(format!("Set-up of worktrees: {named}"));
    }
}

fn refuse_other_owner(place: &Place, means: &Means) -> Result<(), Failure> {
    let database = place.root.resolve(lookup::DATABASE);
    if means.taken_over || !disk::exists(&database) {
        return Ok(());
    }
    let message = format!("`{database}` belongs to another program, which keeps its own state of this project");
    Err(Failure::usage(message)
        .hint("stop that program, then run `gsd-tools auto run --take-over`; its database is not used"))
}
