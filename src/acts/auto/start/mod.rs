//! `auto run`, `auto next`, `auto dispatch`: a run from its beginning to its stop.

pub(crate) mod brief;
pub(crate) mod card;
pub(crate) mod detached;
pub(crate) mod how;
pub(crate) mod opening;
pub(crate) mod places;
pub(crate) mod planned;
mod preferred;
mod queue;
pub(crate) mod request;
pub(crate) mod run_report;

use crate::acts::project;
use std::time::Duration;

use brief::{BriefRead, refuse_another_brief};
use card::{Consent, Consenting, StartCard};
use request::{Choices, RunRequest, unfinished};

use crate::failure::Failure;
use detached::start_detached;
use how::{How, ceilings, how, means};
use opening::{Begun, Opening, of_another_repository, started};
use places::places_of;
use preferred::{preference_files, preferred};
use run_report::{LandedMilestone, RunReport, report};

use super::accounts::{of_place, summary};
use super::brought::self_running;
use super::leftover::leftovers;
use super::phases::{SeenPhases, workflows};
use super::place::{BEGINNING, Preferred, RunPlace, log_error, newer_engine};
use super::report::of_request;
use super::seen::Seen;
use super::texts::unit_of;
use crate::acts::Call;
use crate::auto::account::RunAccount;
use crate::auto::decide::landed;
use crate::auto::engine::drive::{Drive, Settings};
use crate::auto::environments::Environments;
use crate::auto::event::{ENGINE, Entry, Event, Means, Run, Time};
use crate::auto::landing::repository::Repository;
use crate::auto::layout::Layout as DocumentLayout;
use crate::auto::memory::Memory;
use crate::auto::phases::PhaseSettings;
use crate::auto::preferences::Preferences;
use crate::auto::real::{Control, Driver, Parts, Real, leftovers as left_running, orders};
use crate::auto::runs::LoggedRun;
use crate::auto::set_up::{self, SetUp};
use crate::auto::slices::derive::Scope;
use crate::auto::status::leftover_lines;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::Unit;
use crate::auto::unit_hooks;
use crate::disk;
use crate::disk::log::Log;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::messages::{MessageChannel, MessageSettings};
use crate::text::shell::typed;
use crate::text::time;
use crate::world::World;
use crate::world::signals::Requests;
use crate::world::tree::adopt_orphans;

/// How long to wait for the lock of the log. A run that was killed while it started a program has left the lock to that
/// process until it becomes the program.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Runs the milestone, and then those in the queue, until one of them stops.
pub(crate) fn drive_all(call: &Call, request: &RunRequest, consenting: Consenting<'_>) -> Result<RunReport, Failure> {
    let mut report = drive(call, request, (None, None), consenting)?;
    let mut landed_before: Vec<LandedMilestone> = Vec::new();
    while report.stop.cause == Cause::Complete
        && let Some(commit) = report.landed.clone()
    {
        landed_before.push(LandedMilestone { milestone: report.milestone.clone(), commit });
        if RunPlace::of_run(call)?.is_in_phases(request.how.layout) {
            break;
        }
        let seen = Seen::of(call)?;
        let is_new = |id: &String| landed_before.iter().all(|landed| !landed.milestone.eq_ignore_ascii_case(id));
        let Some(next) = seen.state.milestone.map(|milestone| milestone.id).filter(is_new) else {
            let waiting = seen.state.blockers.iter().map(|blocker| format!("not begun: {blocker}"));
            report.stop = report.stop.clone().shown(report.stop.evidence.iter().cloned().chain(waiting));
            break;
        };
        call.tell(format!("{} has landed; the next one is {next}.", report.milestone));
        let request = RunRequest { milestone: Some(next), brief: None, again: false, ..request.clone() };
        report = drive(call, &request, (None, None), consenting)?;
    }
    landed_before.retain(|landed| landed.milestone != report.milestone);
    Ok(RunReport { landed_before, ..report })
}

/// Runs one named unit.
pub(crate) fn dispatch(
    call: &Call,
    (unit, id): (&str, Option<&str>),
    how: Choices,
    consenting: Consenting<'_>,
) -> Result<RunReport, Failure> {
    let place = RunPlace::of(call)?;
    place.refuses_two_layouts(how.layout)?;
    let (unit, milestone) = if place.is_in_phases(how.layout) {
        let seen = SeenPhases::of(call, &place)?;
        (seen.unit_of(unit, id)?, seen.milestone()?)
    } else {
        let unit = unit_of(&Seen::whole(call)?, unit, id)?;
        if unit.kind.needs_a_person() {
            let message = format!("`{}` is a conversation, which no run holds", unit.kind.word());
            return Err(Failure::usage(message).hint(format!("run `{}`", typed!("gsd-tools auto discuss {}", unit.id))));
        }
        let milestone = unit.parts().0.to_owned();
        (unit, milestone)
    };
    let request = RunRequest { milestone: Some(milestone), brief: None, again: false, all: false, how };
    drive(call, &request, (Some(1), Some(unit)), consenting)
}

/// Begins or continues a run, until it stops or `most_units` have run.
pub(crate) fn drive(
    call: &Call,
    request: &RunRequest,
    (most_units, asked): (Option<u32>, Option<Unit>),
    consenting: Consenting<'_>,
) -> Result<RunReport, Failure> {
    let place = RunPlace::of_run(call)?;
    let brief = brief_of(call, &place, request)?;
    let disk = call.disk().patient_for(LOCK_PATIENCE);
    let mut log = disk.log(&place.log()).map_err(|error| log_error(&error))?;
    let memory = memory_for(call, &place, request, brief.as_ref())?;
    let means = means(call, request, &memory);
    refuse_other_owner(&place, &means)?;
    if !request.how.only_shows {
        clear(call, &place, &memory)?;
    }
    if let Some(report) = landed_already(call, (&place, &mut log), &memory, (request, brief.as_ref()))? {
        return summarized(call, &place, report);
    }
    let mut how = how(call, request, &memory, means)?;
    place.refuses_two_layouts(request.how.layout)?;
    let is_in_phases = place.is_in_phases(request.how.layout);
    let layout = if is_in_phases { in_phases(call, &place, &how.driver)? } else { DocumentLayout::Milestones };
    if asked.is_none()
        && let Some((milestone, stop)) = not_begun(call, &place, &memory, (request, is_in_phases))?
    {
        // Nothing was begun, so nothing is recorded.
        return Ok(report(&milestone, stop, &Memory::default()));
    }
    let preferred = preferred(call, &place, &memory)?;
    let set_up = set_up_of(&place, &preferred)?;
    how.means.set_up = set_up.named();
    let running = self_running(call)?;
    let opening = Opening {
        place: &place,
        memory: &memory,
        request,
        brief: brief.as_ref(),
        layout: &layout,
        how: &how,
        ceilings: ceilings(request, &memory, &preferred),
        preferred: &preferred,
        set_up: &set_up,
        running: &running,
        consenting,
    };
    let start = match started(call, &opening)? {
        Begun::Started(start) => *start,
        Begun::NotApproved(milestone, stop) => return Ok(report(&milestone, stop, &Memory::default())),
        Begun::NotWanted(card, consent) => return Ok(not_wanted(request, *card, consent)),
        Begun::Elsewhere(milestone) => {
            // The other process takes it.
            drop(log);
            return start_detached(call, &place, (request, most_units), &milestone);
        }
    };
    say_set_up(call, (&how, &start.environments), &preferred.messages);
    let world = call.world().clone();
    append(&mut log, &Entry::new(now(&world), opening.event(&start, &world)))?;
    // From here on the branch is in the log.
    disk::remove_note(&place.folder().resolve(BEGINNING))?;
    forget_expired(call, &start.repository);
    let memory = place.memory()?;
    say_leftovers(call, &place, &memory)?;
    let preferences = preferences_of(call, &place, &memory, &preferred)?;
    let settings = settings_of(&start.milestone, &layout, &preferences, &how);
    let settings = Settings { most_units, asked, ..settings };
    adopt_orphans();
    let places = places_of(&place, &start.worktree.folder);
    let run = memory.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
    let view = project::view_at(call, &start.worktree.folder);
    let (held_out, openings) = (start.held_out, start.openings);
    let mut tell = |line: &str| call.tell(line);
    let report_of = || of_request(call, &run);
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
        environments: start.environments,
        approved: start.approved,
        layout,
        held_out,
        openings,
        view,
        run: run.clone(),
        report: &report_of,
        brief: start.brief,
        signals: Requests::watch().ok(),
        told: &mut tell,
        messages: preferred.messages.clone(),
        signal: call.terminal.signal,
    });
    let mut drive = Drive::new(&mut effects, memory, &settings);
    let stop = drive.run();
    let memory = drive.memory().clone();
    say_removed(call, &place);
    let stop = stop?;
    summarized(call, &place, report(&start.milestone, stop, &memory))
}

/// The settings of a run that do not depend on this call.
fn settings_of(milestone: &str, layout: &DocumentLayout, preferences: &Preferences, how: &How) -> Settings {
    Settings {
        layout: layout.clone(),
        preferences: preferences.clone(),
        scope: Scope { milestone: Some(milestone.to_owned()), slice: None },
        allows_planning_only: how.means.planning_only,
        ..Settings::default()
    }
}

/// The set-up of the worktrees of a run.
fn set_up_of(place: &RunPlace, preferred: &Preferred) -> Result<SetUp, Failure> {
    let command = preferred.document.worktree_post_create.clone();
    Ok(SetUp::new(command, disk::read_text(place.root.resolve(set_up::INCLUDE))?))
}

/// The preferences as they are where the run works, with exactly the hooks that were checked and approved.
fn preferences_of(
    call: &Call,
    place: &RunPlace,
    memory: &Memory,
    preferred: &Preferred,
) -> Result<Preferences, Failure> {
    let preferences = RunPlace::preferences(preference_files(call, place, memory)?.as_ref(), call)?;
    Ok(Preferences { hooks: unit_hooks::followed(&preferred.hooks), ..preferences })
}

/// Why no run can begin now, with the milestone concerned; the next call may be about another one.
fn not_begun(
    call: &Call,
    place: &RunPlace,
    memory: &Memory,
    (request, is_in_phases): (&RunRequest, bool),
) -> Result<Option<(String, Stop)>, Failure> {
    if is_in_phases {
        if memory.run.is_some() && !memory.is_released {
            return Ok(None);
        }
        let seen = SeenPhases::of(call, place)?;
        let stop = seen.stop()?;
        return stop.map(|stop| Ok((seen.milestone()?, stop))).transpose();
    }
    if request.brief.is_some() || unfinished(memory).is_some() {
        return Ok(None);
    }
    let milestone = request.milestone.as_deref();
    let stop = Seen::blocked(call, milestone)?;
    Ok(stop.map(|stop| (milestone.unwrap_or_default().to_owned(), stop)))
}

/// Ends and removes what the process before has left, with requests and orders that came too late for it.
fn clear(call: &Call, place: &RunPlace, memory: &Memory) -> Result<(), Failure> {
    left_running::end_programs(memory)?;
    left_running::remove_temporary(call.world(), memory)?;
    drop_orders(call, place, memory)?;
    Ok(Control::clear(&place.folder())?)
}

/// Discards orders that came too late for their run: they apply to no other.
fn drop_orders(call: &Call, place: &RunPlace, memory: &Memory) -> Result<(), Failure> {
    if memory.run.is_some() && !memory.is_released {
        return Ok(());
    }
    for (id, order) in orders::waiting(&place.folder())? {
        call.tell(format!("Not followed, since the run had ended: {}", order.wish));
        orders::forget(&place.folder(), &id)?;
    }
    Ok(())
}

/// The state of the run that a call is about. Refuses a run of another repository, and another brief.
fn memory_for(
    call: &Call,
    place: &RunPlace,
    request: &RunRequest,
    brief: Option<&BriefRead>,
) -> Result<Memory, Failure> {
    if let Some(run) = place.stranded()?.and_then(|memory| memory.run) {
        return Err(of_another_repository(&run));
    }
    let memory = place.memory()?;
    refuse_newer_engine(call, place, &memory)?;
    refuse_another_brief(place, &memory, request, brief)?;
    Ok(memory)
}

/// The report of work that has landed: just now, so that only the report is missing, or by an earlier call.
fn landed_already(
    call: &Call,
    (place, log): (&RunPlace, &mut Log<'_>),
    memory: &Memory,
    (request, brief): (&RunRequest, Option<&BriefRead>),
) -> Result<Option<RunReport>, Failure> {
    if has_landed(place, memory, request, brief)? {
        return finish(call, log, memory).map(Some);
    }
    landed_before(call, place, request, brief)
}

/// Says that the folder of the call was the worktree of the run, which is removed now.
fn say_removed(call: &Call, place: &RunPlace) {
    if !disk::is_folder(call.here()) {
        let root = typed!("cd {}", place.root);
        call.tell(format!("The folder of this call was removed with the worktree of the run: `{root}`"));
    }
}

/// Names what earlier runs have left, and branches that no run made.
fn say_leftovers(call: &Call, place: &RunPlace, memory: &Memory) -> Result<(), Failure> {
    let (rows, _) = leftovers(call.world(), place, (&place.entries()?, memory.run.as_ref()))?;
    for line in leftover_lines(&rows) {
        call.tell(line);
    }
    Ok(())
}

/// Removes what was kept of worktrees for 30 days. A failure does not fail the run: the next one tries again.
fn forget_expired(call: &Call, repository: &Repository) {
    match repository.forget_expired(call.world().now().milliseconds()) {
        Ok(names) if names.is_empty() => {}
        Ok(names) => call.tell(format!("Removed from `refs/gsd/keep/`, kept for 30 days: {}", names.join(", "))),
        Err(error) => call.warn(format!("what `refs/gsd/keep/` has kept for 30 days is still there: {error}")),
    }
}

/// The layout of a project in phases, which needs the workflows of the client's host.
fn in_phases(call: &Call, place: &RunPlace, driver: &Driver) -> Result<DocumentLayout, Failure> {
    let seen = SeenPhases::of(call, place)?;
    let workflows = workflows(call, &driver.runner.name)?;
    Ok(DocumentLayout::Phases(PhaseSettings { workflows, ..seen.settings }))
}

fn now(world: &World) -> Time {
    Time { wall: world.now().milliseconds(), machine: world.uptime() }
}

/// Refuses a log that a newer program has begun or continued.
fn refuse_newer_engine(call: &Call, place: &RunPlace, memory: &Memory) -> Result<(), Failure> {
    let newest = memory.engines.last().copied().unwrap_or(ENGINE);
    if newest > ENGINE {
        return Err(newer_engine(place, newest));
    }
    if newest < ENGINE {
        call.tell(format!(
            "The run was begun by an older gsd-tools (rules {newest}); it continues with rules {ENGINE}."
        ));
    }
    Ok(())
}

/// The brief of a call, refused if it is missing, or if the project's roadmap says what its phases are for.
fn brief_of(call: &Call, place: &RunPlace, request: &RunRequest) -> Result<Option<BriefRead>, Failure> {
    let brief = request.brief.as_deref().map(|file| BriefRead::of(call, place, file)).transpose()?;
    if brief.is_some() && place.is_in_phases(request.how.layout) {
        return Err(planned::brief_in_phases());
    }
    Ok(brief)
}

/// True if the requested work has landed, and the process died before it could report it.
fn has_landed(
    place: &RunPlace,
    memory: &Memory,
    request: &RunRequest,
    brief: Option<&BriefRead>,
) -> Result<bool, Failure> {
    if !memory.is_released || memory.stop.is_some() || request.milestone.is_some() || request.again {
        return Ok(false);
    }
    brief.map_or(Ok(true), |brief| brief.is_of_run(place, memory))
}

/// The report of a brief that a run of this project has landed. To work on it once more, the call names a milestone or
/// has `--again`.
fn landed_before(
    call: &Call,
    place: &RunPlace,
    request: &RunRequest,
    brief: Option<&BriefRead>,
) -> Result<Option<RunReport>, Failure> {
    let Some(brief) = brief.filter(|_| request.milestone.is_none() && !request.again) else { return Ok(None) };
    let entries = place.entries()?;
    let (runs, _) = place.runs_here(&entries)?;
    // That of an unfinished run is continued.
    let runs: Vec<_> = runs.into_iter().filter(LoggedRun::is_over).collect();
    let Some(found) = brief.landed(place, &runs)? else { return Ok(None) };
    let Some((commit, at)) = found.landing() else { return Ok(None) };
    let Run { milestone, target, .. } = found.run;
    let day = time::day_in_words(at).map(|day| format!(" on {day}")).unwrap_or_default();
    let short = commit.get(..7).unwrap_or(commit);
    let line = ["merge-base", "--is-ancestor", commit, &format!("refs/heads/{target}")];
    let is_in_target = call.world().git(place.root.as_path(), line)?.success();
    let gone = if is_in_target { String::new() } else { format!("; `{target}` no longer has that commit") };
    let text = format!("this brief landed as {short}{day} ({milestone}){gone}");
    let stop = Stop::new(Cause::Complete, text, request.command().word("--again"));
    Ok(Some(report(milestone, stop, &found.memory())))
}

fn finish(call: &Call, log: &mut Log<'_>, memory: &Memory) -> Result<RunReport, Failure> {
    let milestone = memory.run.as_ref().map(|run| run.milestone.clone()).unwrap_or_default();
    let stop = landed(&milestone, memory);
    if memory.stop.is_none() {
        append(log, &Entry::new(now(call.world()), Event::Stopped(stop.clone())))?;
    }
    Ok(report(&milestone, stop, memory))
}

fn append(log: &mut Log<'_>, entry: &Entry) -> Result<(), Failure> {
    Ok(log.append(entry)?)
}

/// The report with what the run did and took.
fn summarized(call: &Call, place: &RunPlace, report: RunReport) -> Result<RunReport, Failure> {
    let accounts = of_place(place)?;
    let is_it = |account: &&RunAccount| {
        report.landed.is_some() && account.landing.as_ref().map(|landing| &landing.commit) == report.landed.as_ref()
    };
    // The same brief may have landed before other runs.
    let account = accounts.iter().rfind(is_it).or(accounts.last());
    Ok(RunReport { summary: account.map(|account| summary(call, place, account)).transpose()?, ..report })
}

/// The report of a run that a person did not want, or only wanted to see.
fn not_wanted(request: &RunRequest, card: StartCard, consent: Consent) -> RunReport {
    let text = if consent == Consent::OnlyShown { "dry run: nothing was started" } else { "nothing was started" };
    let stop = Stop::new(Cause::NotWanted, text, request.command());
    let report = report(&card.milestone, stop, &Memory::default());
    RunReport { dry_run: consent == Consent::OnlyShown, card: Some(card), ..report }
}

fn say_set_up(call: &Call, (how, environments): (&How, &Environments), messages: &MessageSettings) {
    environments.lines().for_each(|line| call.tell(line));
    if let Some(named) = &how.means.set_up {
        call.tell(format!("Set-up of worktrees: {named}"));
    }
    say_unheard(call, messages);
}

/// Names the channels of messages that this process cannot use.
fn say_unheard(call: &Call, messages: &MessageSettings) {
    let is_without = |channel: &MessageChannel| channel.needs_a_terminal() && !call.world().terminal().stderr;
    let channels: Vec<String> =
        messages.channels().into_iter().filter(is_without).map(|channel| format!("`{}`", channel.word())).collect();
    if !channels.is_empty() {
        call.tell(format!("No messages by {}: this run has no terminal", channels.join(", ")));
    }
}

fn refuse_other_owner(place: &RunPlace, means: &Means) -> Result<(), Failure> {
    let database = place.root.resolve(lookup::DATABASE);
    if means.taken_over || !disk::exists(&database) {
        return Ok(());
    }
    let message = format!("`{database}` belongs to another program, which keeps its own state of this project");
    Err(Failure::usage(message)
        .hint("stop that program, then run `gsd-tools auto run --take-over`; its database is not used"))
}
