//! `auto run`, `auto next`, `auto pause`, `auto stop`: starting a run, and ending it.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::approvals::{Question, approve, known};
use super::brought::{Asking, self_running};
use super::held_out;
use super::phases::{SeenPhases, workflows};
use super::place::{LayoutWord, Place, Preferred, layout_word, log_error, newer_engine, refuses_sessions};
use super::texts::unit_of;
use super::views::{Seen, shape};
use crate::auto::asked::{Asked, Facts};
use crate::auto::brought::Brought;
use crate::auto::ceilings::Ceilings;
use crate::auto::decide::landed;
use crate::auto::engine::drive::{Drive, Settings};
use crate::auto::event::{ENGINE, Entry, Event, Means, Run, Time};
use crate::auto::gate::check::Check;
use crate::auto::held_out::HeldOut;
use crate::auto::landing::error::LandingError;
use crate::auto::landing::repository::Repository;
use crate::auto::landing::worktree::Worktree;
use crate::auto::layout::Layout as DocumentLayout;
use crate::auto::memory::Memory;
use crate::auto::phases::PhaseSettings;
use crate::auto::real::{Control, Driver, Parts, Places, Real, Wish, leftovers, orders};
use crate::auto::runner::own::{UNKNOWN_FOLDERS_HINT, unknown_folders};
use crate::auto::runner::table::{Profile, Runner, Runners};
use crate::auto::runner::version::version_of;
use crate::auto::set_up::{self, SetUp};
use crate::auto::slices::derive::Scope;
use crate::auto::slices::forecast::{self, Shape};
use crate::auto::slices::reading::{self, Extent};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::Unit;
use crate::commands::frame::context::openings::shown;
use crate::commands::frame::{CommandError, Context, error::Reason, listing};
use crate::disk::log::Log;
use crate::disk::{self, AbsolutePath, DiskError};
use crate::project::files::{Files, MemoryFiles};
use crate::project::milestone_layout::{ids, lookup};
use crate::project::self_running::SelfRunning;
use crate::text::shell::{Typed, typed};
use crate::text::words::of_word;
use crate::world::World;
use crate::world::fence::{Fencing, Openings};
use crate::world::signals::Requests;
use crate::world::tree::adopt_orphans;

/// How long the lock of the log is waited for. A run that was killed while it started a program has left it to that process,
/// until this one becomes another program.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// The note that names the branch which is about to be made, until the log does.
const BEGINNING: &str = "beginning";

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// The milestone; without it, the active one
    milestone: Option<String>,
    /// Read what the next milestone is to be from this file
    #[arg(long, visible_alias = "yolo", short = 'y', value_name = "FILE")]
    brief: Option<String>,
    #[command(flatten)]
    how: HowArgs,
}

/// With what, how far, and for how much.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HowArgs {
    /// The client that runs the sessions; without it, the one of the run, else the first that is installed
    #[arg(long)]
    runner: Option<String>,
    /// The program of the client, if it is not found by its name
    #[arg(long, value_name = "PROGRAM")]
    runner_program: Option<String>,
    /// The model, in the words of the client; an empty one is what the client would take
    #[arg(long)]
    model: Option<String>,
    /// `unattended` or `safe`: how much the client lets its agent do; a new run is `unattended`
    #[arg(long)]
    profile: Option<String>,
    /// `milestones` for those in `.gsd/`, `phases` for those in `.planning/`, where the project has both
    #[arg(long, value_parser = layout_word)]
    layout: Option<LayoutWord>,
    /// The branch that the work is for; without it, the one that is checked out
    #[arg(long)]
    target: Option<String>,
    /// Stop after this many units
    #[arg(long)]
    max_units: Option<u32>,
    /// Start at most this many sessions in all, counting those before; holds until another number is given
    #[arg(long)]
    max_sessions: Option<u32>,
    /// Spend at most this many US dollars
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// Spend at most this many US dollars in one session
    #[arg(long, value_name = "USD")]
    unit_budget: Option<f64>,
    /// Give a unit this many minutes
    #[arg(long)]
    unit_minutes: Option<u32>,
    /// Forecast what is not planned yet with this shape, such as `4x3`
    #[arg(long, value_parser = shape)]
    shape: Option<Shape>,
    /// Let a milestone land that changes nothing outside the planning folder
    #[arg(long)]
    allow_planning_only: bool,
    /// Accept what looks like a key in this file, until the milestone lands
    #[arg(long, value_name = "FILE")]
    allow_key: Vec<String>,
    /// Let sessions and checks write everywhere
    #[arg(long, conflicts_with = "fence")]
    no_fence: bool,
    /// Fence sessions and checks in again, in a run that was begun with `--no-fence`
    #[arg(long)]
    fence: bool,
    /// Start the client without settings of the project: neither its hooks nor its servers run
    #[arg(long, conflicts_with = "project_settings")]
    no_project_settings: bool,
    /// Start the client with settings of the project again, in a run that was begun without
    #[arg(long)]
    project_settings: bool,
    /// Run although another program keeps its state of this project in `.gsd/gsd.db`
    #[arg(long)]
    take_over: bool,
}

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

pub(super) fn run(context: &mut Context, arguments: &RunArgs) -> Result<(), CommandError> {
    drive(context, arguments, arguments.how.max_units, None)
}

#[derive(Debug, clap::Args)]
pub(super) struct DispatchArgs {
    /// The kind of unit, such as `validate`, `replan` or `execute-task`
    unit: String,
    /// What it is about, such as `M001/S01`; without it, what is next
    id: Option<String>,
    #[command(flatten)]
    how: HowArgs,
}

pub(super) fn dispatch(context: &mut Context, arguments: &DispatchArgs) -> Result<(), CommandError> {
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

pub(super) fn next(context: &mut Context, arguments: &RunArgs) -> Result<(), CommandError> {
    drive(context, arguments, Some(1), None)
}

/// What became of the beginning of a run.
enum Begun {
    Started(Box<Start>),
    /// Nobody approved what the repository brings for this milestone.
    NotApproved(String, Stop),
}

/// Where a run works, and for which milestone.
struct Start {
    milestone: String,
    repository: Repository,
    worktree: Worktree,
    brief: Option<(String, String)>,
    held_out: Option<HeldOut>,
    openings: Openings,
    /// The checks that run without a fence; `None` where there is one.
    approved: Option<BTreeSet<String>>,
    /// What a new run begins with.
    run: Option<Run>,
}

fn drive(
    context: &mut Context,
    arguments: &RunArgs,
    most_units: Option<u32>,
    asked: Option<Unit>,
) -> Result<(), CommandError> {
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
    let view = context.view_at(&start.worktree.folder);
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
) -> Result<Option<(String, Stop)>, CommandError> {
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
fn drop_orders(context: &Context, place: &Place) -> Result<(), CommandError> {
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
fn in_phases(context: &Context, place: &Place, driver: &Driver) -> Result<DocumentLayout, CommandError> {
    let seen = SeenPhases::of(context, place)?;
    let workflows = workflows(context, &driver.runner.name)?;
    Ok(DocumentLayout::Phases(PhaseSettings { workflows, ..seen.settings }))
}

fn now(world: &World) -> Time {
    Time { wall: world.now().milliseconds(), machine: world.uptime() }
}

/// A log that a newer program has begun or continued is not for this one.
fn refuse_newer_engine(context: &mut Context, place: &Place, memory: &Memory) -> Result<(), CommandError> {
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
fn has_landed(context: &Context, place: &Place, memory: &Memory, arguments: &RunArgs) -> Result<bool, CommandError> {
    if !memory.is_released || arguments.milestone.is_some() {
        return Ok(false);
    }
    let Some(brief) = &arguments.brief else { return Ok(memory.stop.is_none()) };
    let had_brief = memory.run.as_ref().is_some_and(|run| run.brief.is_some());
    let (asked, kept) = (disk::read_input(context.here().resolve(brief))?, disk::read_text(kept_brief(place))?);
    Ok(had_brief && asked.is_some() && asked == kept)
}

/// Where the text of the brief is kept.
fn kept_brief(place: &Place) -> AbsolutePath {
    place.folder().resolve("brief.md")
}

fn finish(context: &mut Context, log: &mut Log<'_>, memory: &Memory) -> Result<(), CommandError> {
    let milestone = memory.run.as_ref().map(|run| run.milestone.clone()).unwrap_or_default();
    let stop = landed(&milestone, memory);
    if memory.stop.is_none() {
        append(log, &Entry::new(now(context.world()), Event::Stopped(stop.clone())))?;
    }
    report(context, &milestone, stop, memory)
}

fn append(log: &mut Log<'_>, entry: &Entry) -> Result<(), CommandError> {
    Ok(log.append(entry)?)
}

fn report(context: &mut Context, milestone: &str, stop: Stop, memory: &Memory) -> Result<(), CommandError> {
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

/// Where a run works, and where its notes are.
fn places_of(place: &Place, worktree: &AbsolutePath) -> Places {
    Places {
        worktree: worktree.clone(),
        scratch: scratch_of(worktree),
        checkout: checkout_of(worktree),
        notes: place.folder(),
    }
}

/// Where candidates are checked out: beside the worktree.
fn scratch_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-candidate", worktree.name()))
}

/// Where the checks of units run.
fn checkout_of(worktree: &AbsolutePath) -> AbsolutePath {
    worktree.beside(&format!("{}-checks", worktree.name()))
}

/// Refuses a repository in which links lead a folder that a run works in elsewhere, before anything is done there.
fn check_places(repository: &Repository, worktree: &AbsolutePath) -> Result<(), LandingError> {
    let places = [worktree.clone(), scratch_of(worktree), checkout_of(worktree)];
    places.iter().try_for_each(|place| repository.check_place(place))
}

fn refuse_other_owner(place: &Place, means: &Means) -> Result<(), CommandError> {
    let database = place.root.resolve(lookup::DATABASE);
    if means.taken_over || !disk::exists(&database) {
        return Ok(());
    }
    let message = format!("`{database}` belongs to another program, which keeps its own state of this project");
    Err(CommandError::usage(message)
        .hint("stop that program, then run `gsd-tools auto run --take-over`; its database is not used"))
}

/// How sessions are run, and what is noted of it.
struct How {
    driver: Driver,
    /// Whether sessions are to be fenced, where the system can.
    wants_fence: bool,
    means: Means,
}

/// What the call says beside the client, or what the run that is unfinished was told before.
fn means(context: &Context, arguments: &RunArgs, memory: &Memory) -> Means {
    let (asked, before) = (&arguments.how, unfinished(memory));
    let kept = before.map(|run| run.means.clone()).unwrap_or_default();
    // Another client has other models, and is another program.
    let is_other = before.is_some_and(|run| asked.runner.as_ref().is_some_and(|runner| *runner != run.runner));
    let (model, program) = if is_other { (None, None) } else { (kept.model, kept.program) };
    // A path is from the folder of this call, wherever a later one is made.
    let place = |program: &String| {
        let is_path = program.contains(std::path::is_separator);
        if is_path { context.here().resolve(program).to_string() } else { program.clone() }
    };
    Means {
        model: asked.model.clone().or(model).filter(|model| !model.is_empty()),
        program: asked.runner_program.as_ref().map(place).or(program),
        planning_only: asked.allow_planning_only || kept.planning_only,
        taken_over: asked.take_over || kept.taken_over,
        without_settings: asked.no_project_settings || (kept.without_settings && !asked.project_settings),
        set_up: None,
        client: None,
    }
}

/// The run that is not finished.
fn unfinished(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}

/// Says what of an unfinished run a call changes.
fn say_changes(context: &mut Context, run: &Run, how: &How) {
    let own =
        |model: &Option<String>| model.as_ref().map_or("the client's own".to_owned(), |model| format!("`{model}`"));
    let found =
        |program: &Option<String>| program.as_ref().map_or("found by its name".to_owned(), |path| format!("`{path}`"));
    let fence = |is_fenced: bool| if is_fenced { "on" } else { "off" }.to_owned();
    let driver = &how.driver;
    let rows = [
        ("client", format!("`{}`", run.runner), format!("`{}`", driver.runner.name)),
        ("program of the client", found(&run.means.program), found(&how.means.program)),
        ("model", own(&run.means.model), own(&how.means.model)),
        ("profile", format!("`{}`", run.profile), format!("`{}`", driver.profile.word())),
        ("fence", fence(run.fenced), fence(how.wants_fence)),
        ("client's settings of the project", fence(!run.means.without_settings), fence(!how.means.without_settings)),
    ];
    for (what, before, now) in rows.iter().filter(|(_, before, now)| before != now) {
        context.tell(format!("Changed for this run: the {what} is {now}; it was {before}."));
    }
}

fn how(context: &mut Context, arguments: &RunArgs, memory: &Memory, means: Means) -> Result<How, CommandError> {
    let before = unfinished(memory);
    let wants_fence = !arguments.how.no_fence && (arguments.how.fence || before.is_none_or(|run| run.fenced));
    let runners = Runners::builtin().map_err(|error| CommandError::because(Reason::Unknown, &error))?;
    let runner = match arguments.how.runner.as_ref().or(before.map(|run| &run.runner)) {
        Some(name) => runners.find(name).map_err(|error| CommandError::because(Reason::Usage, &error))?,
        None => first_installed(context, &runners)?,
    };
    // Refused before there is a worktree: its sessions would fail.
    if runner.only_with.as_ref().is_some_and(|variable| !context.world().flag(variable)) {
        return Err(CommandError::usage(format!("`{}` works in no project of yours", runner.name))
            .hint(format!("run `{}`, or leave `--runner` out", typed!("gsd-tools {}", runner.name))));
    }
    let profile = arguments.how.profile.as_deref().or(before.map(|run| run.profile.as_str())).unwrap_or("unattended");
    let profile: Profile = of_word(profile).ok_or_else(|| {
        CommandError::usage(format!("`{profile}` is not a profile")).hint("the profiles are safe and unattended")
    })?;
    if means.without_settings && runner.without_project_settings.is_empty() {
        let message = format!("how {} is started without the settings of a project is not known", runner.title);
        return Err(CommandError::usage(message).hint(
            "leave `--no-project-settings` out and approve what the project has for it, or take another client",
        ));
    }
    let fencing = context.world().fencing();
    let can_fence = fencing != Fencing::Unavailable;
    match fencing {
        Fencing::Unavailable if wants_fence => {
            context.warn("this system cannot keep programs from writing outside the worktree");
        }
        Fencing::Partial if wants_fence => {
            context.warn("this kernel keeps programs from writing outside the worktree, but not from emptying a file there: Linux 6.2 does");
        }
        _ => {}
    }
    if can_fence && wants_fence && runner.own.is_none() {
        return Err(CommandError::usage(unknown_folders(runner)).hint(UNKNOWN_FOLDERS_HINT));
    }
    let world = context.world();
    let program = means.program.clone().or_else(|| runner.installed(world));
    let client =
        program.filter(|_| runner.version.is_some()).and_then(|program| version_of(world, Some(runner), &program));
    let warning = client.as_deref().and_then(|client| runner.warning_on(client));
    let runner = client.as_deref().map_or_else(|| runner.clone(), |client| runner.for_version(client));
    if let Some(warning) = warning {
        context.warn(warning);
    }
    let means = Means { client, ..means };
    let driver = Driver {
        runner,
        program: means.program.clone(),
        profile,
        model: means.model.clone(),
        calls: listing::unasked_calls(context.verbs()).into_iter().map(str::to_owned).collect(),
        without: context.session_variables()?,
        is_fenced: can_fence && wants_fence,
        leaves_settings_out: means.without_settings,
    };
    let how = How { driver, wants_fence, means };
    if let Some(run) = before {
        say_changes(context, run, &how);
    }
    Ok(how)
}

/// The first client of the table whose program is there.
fn first_installed<'a>(context: &Context, runners: &'a Runners) -> Result<&'a Runner, CommandError> {
    let is_there = |runner: &&Runner| runner.verified && runner.installed(context.world()).is_some();
    runners.iter().find(is_there).ok_or_else(|| {
        CommandError::usage("no client is installed that could run the sessions")
            .hint("install one, or name its program: `gsd-tools auto run --runner NAME --runner-program PROGRAM`")
    })
}

/// The ceilings of the run: those of before, with what the call says. A new run begins with those of the preferences.
fn ceilings(arguments: &RunArgs, memory: &Memory, preferred: &Preferred) -> Ceilings {
    let (asked, mut before) = (&arguments.how, memory.ceilings);
    if unfinished(memory).is_none() {
        let document = &preferred.document;
        before.money = document.budget_ceiling.unwrap_or(before.money);
        before.unit_money = document.per_unit_cost_cap_usd;
        before.unit_minutes = document.time_limits.hard.unwrap_or(before.unit_minutes);
        before.idle_minutes = document.time_limits.idle;
    }
    Ceilings {
        sessions: asked.max_sessions.or(before.sessions),
        money: asked.budget.unwrap_or(before.money),
        unit_money: asked.unit_budget.or(before.unit_money),
        unit_minutes: asked.unit_minutes.unwrap_or(before.unit_minutes),
        ..before
    }
}

/// The preferences as they are where the run works, or will.
fn preferred(context: &Context, place: &Place, memory: &Memory) -> Result<Preferred, CommandError> {
    Preferred::read(preference_files(context, place, memory)?.as_ref(), context)
}

/// Where the preferences of the project are read. What a session wrote that is not judged yet, or that is to be taken back,
/// says nothing: then they are those from before it.
fn preference_files(context: &Context, place: &Place, memory: &Memory) -> Result<Box<dyn Files>, CommandError> {
    if unfinished(memory).is_none() {
        return Ok(Place::files_at(context, &place.root));
    }
    let unjudged = memory.taking_back.as_ref().or(memory.current.as_ref().map(|operation| &operation.start));
    let Some(start) = unjudged else { return Ok(Place::files_at(context, &place.documents(memory))) };
    let repository = Repository::open(context.world(), &place.root, None)?;
    let mut texts = Vec::new();
    for path in ["PREFERENCES.md", "preferences.md"].map(|name| format!("{}/{name}", lookup::FOLDER)) {
        let found = repository.content(&start.tree, &path)?;
        texts.extend(found.map(|bytes| (path, String::from_utf8_lossy(&bytes).into_owned())));
    }
    Ok(Box::new(MemoryFiles::new(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())))))
}

/// Refuses to begin a run that would not do what a preference asks for; a run that has begun goes on, and says so. Names the
/// commands that are not run as checks.
fn check_preferences(
    context: &Context,
    preferred: &Preferred,
    facts: Facts<'_>,
    has_begun: bool,
) -> Result<(), CommandError> {
    let asked = Asked::of(&preferred.given, facts);
    let unmet: Vec<&String> = preferred.problems.iter().chain(&asked.unmet).collect();
    if has_begun {
        for line in unmet {
            context.tell(format!("Not followed: {line}"));
        }
    } else if let Some((first, rest)) = unmet.split_first() {
        let rest = rest.iter().fold(String::new(), |text, line| text + "\n" + line);
        return Err(CommandError::usage(format!("{first}{rest}"))
            .exits(64)
            .hint("remove what is named or change it, commit it, then run the command again"));
    }
    if preferred.document.time_limits.soft.is_some() {
        context.tell("Without effect here: `auto_supervisor.soft_timeout_minutes`; a unit ends at the hard one");
    }
    if asked.of_others > 0 {
        context.tell(format!("Preferences of other programs, without effect here: {}", asked.of_others));
    }
    let commands = preferred.document.verification_commands.iter().flat_map(|line| Check::all_of(line));
    for refused in commands.filter_map(Result::err) {
        let hint = refused.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        context.tell(format!("Not followed: {refused}{hint}"));
    }
    Ok(())
}

/// The call again, with what it says of a run that has not begun.
fn again(arguments: &RunArgs) -> Typed {
    let how = &arguments.how;
    let call = Typed::from("gsd-tools auto run");
    let call = arguments.milestone.as_ref().map_or_else(|| call.clone(), |milestone| call.clone().word(milestone));
    let layout = how.layout.map(LayoutWord::word);
    let valued = [
        ("--brief", arguments.brief.as_deref()),
        ("--runner", how.runner.as_deref()),
        ("--runner-program", how.runner_program.as_deref()),
        ("--model", how.model.as_deref()),
        ("--profile", how.profile.as_deref()),
        ("--layout", layout),
        ("--target", how.target.as_deref()),
    ];
    let given = valued.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
    let call = given.fold(call, |call, (flag, value)| call.word(flag).word(value));
    if how.no_fence { call.word("--no-fence") } else { call }
}

/// What a run is begun or continued with.
struct Opening<'a> {
    place: &'a Place,
    memory: &'a Memory,
    arguments: &'a RunArgs,
    layout: &'a DocumentLayout,
    how: &'a How,
    ceilings: Ceilings,
    preferred: &'a Preferred,
    set_up: &'a SetUp,
    running: &'a SelfRunning,
}

impl Opening<'_> {
    /// What the log is told of a run that begins or goes on.
    fn event(&self, start: &Start, world: &World) -> Event {
        let how = self.how;
        match &start.run {
            Some(run) => Event::Started(run.clone()),
            None => Event::Resumed {
                engine: ENGINE,
                process: world.process(),
                runner: how.driver.runner.name.clone(),
                profile: how.driver.profile.word().to_owned(),
                ceilings: self.ceilings,
                allowed_keys: self.arguments.how.allow_key.clone(),
                fenced: Some(how.wants_fence),
                means: how.means.clone(),
            },
        }
    }

    /// Has a person approve what the repository brings for a run that begins, or began, with the commit `base`. Gives the checks
    /// that run without a fence.
    fn approved(
        &self,
        context: &mut Context,
        repository: &Repository,
        (milestone, base): (&str, &str),
    ) -> Result<Result<Option<BTreeSet<String>>, Stop>, CommandError> {
        let (runner, is_fenced) = (&self.how.driver.runner, self.how.driver.is_fenced);
        let asking = Asking {
            repository,
            layout: self.layout,
            milestone,
            preferred: self.preferred,
            set_up: self.set_up,
            runner,
            running: self.running,
            leaves_settings_out: self.how.means.without_settings,
        };
        let mut items = asking.in_commit(base)?;
        let has_begun = unfinished(self.memory).is_some();
        if !is_fenced && has_begun {
            // What its planners wrote, and what the target has now.
            let documents = self.place.documents(self.memory);
            items.extend(asking.in_worktree(Place::files_at(context, &documents).as_ref())?);
            let tip = repository.tip()?.to_string();
            if tip != base {
                items.extend(asking.in_commit(&tip)?);
            }
        }
        let (brought, known) = (Brought::new(items), known(self.place)?);
        // What the run before has landed is no news.
        let before = self.memory.candidate.as_ref().filter(|_| self.memory.landed.is_some() && !has_begun);
        let landed = match before.filter(|_| !brought.without(&known).is_empty()) {
            Some(candidate) => {
                let earlier: BTreeSet<String> = Brought::new(asking.in_commit(&candidate.base)?).digests().collect();
                Brought::new(asking.in_commit(&candidate.commit)?).without(&earlier).digests().collect()
            }
            None => BTreeSet::new(),
        };
        let next = again(self.arguments);
        let can_leave_out = !runner.without_project_settings.is_empty();
        let question = Question { client: &runner.title, can_leave_out, next: &next };
        let stop = approve(context, self.place, (&brought, &known, &landed), question)?;
        Ok(match stop {
            Some(stop) => Err(stop),
            None => Ok((!is_fenced).then(|| asking.approved_checks(&brought))),
        })
    }
}

/// Enters the worktree of the run that is not finished, or of a new one.
fn started(context: &mut Context, opening: &Opening<'_>) -> Result<Begun, CommandError> {
    let Opening { place, memory, arguments, layout, how, preferred, .. } = *opening;
    let world = &context.world().clone();
    let unfinished = unfinished(memory);
    let asked = arguments.milestone.as_deref();
    if let (Some(run), Some(asked)) = (unfinished, asked)
        && !run.milestone.eq_ignore_ascii_case(asked)
    {
        let message = format!("the run of {} is not finished", run.milestone);
        return Err(CommandError::usage(message).hint("finish it first: `gsd-tools auto run`"));
    }
    let target = arguments.how.target.as_deref().or(unfinished.map(|run| run.target.as_str()));
    let repository = Repository::open(world, &place.root, target)?.with_documents(layout.folder());
    let facts = Facts { target: &repository.target().branch, model: how.means.model.as_deref() };
    check_preferences(context, preferred, facts, unfinished.is_some())?;
    let held_out = held_out::of(context, &repository, preferred, &how.driver)?;
    let hidden = held_out.as_ref().map(HeldOut::hidden);
    let openings = context.openings()?;
    if let Some(opened) = shown(&openings).filter(|_| how.driver.is_fenced) {
        context.tell(format!("Your preferences open in the fence: {opened}"));
    }
    let hidden = hidden.as_ref().map(<[_; 2]>::as_slice).unwrap_or_default();
    let repository = repository.hiding(world, hidden, &openings)?;
    match unfinished {
        Some(run) => continued(context, opening, run, (repository, held_out, openings)),
        None => begun(context, opening, (repository, held_out, openings)),
    }
}

/// Enters the worktree of the run that is not finished.
fn continued(
    context: &mut Context,
    opening: &Opening<'_>,
    run: &Run,
    (repository, held_out, openings): (Repository, Option<HeldOut>, Openings),
) -> Result<Begun, CommandError> {
    let Opening { place, memory, .. } = *opening;
    let start = commit_of(&run.base)?;
    if repository.tree_of(&start).is_err() {
        return Err(of_another_repository(place, run));
    }
    // What has landed is only to be cleared away.
    let approved = match &memory.landed {
        Some(_) => None,
        None => match opening.approved(context, &repository, (&run.milestone, &run.base))? {
            Ok(approved) => approved,
            Err(stop) => return Ok(Begun::NotApproved(run.milestone.clone(), stop)),
        },
    };
    let folder = AbsolutePath::parse(&run.worktree).map_err(DiskError::from)?;
    check_places(&repository, &folder)?;
    if memory.stop.as_ref().is_none_or(|stop| stop.cause == Cause::GitFailed) {
        leftovers::settle_git(context.world(), &repository, (&folder, &run.branch))?;
    }
    leftovers::remove_files(&repository, &folder, &place.folder())?;
    let worktree = if memory.landed.is_some() {
        // It is only to be removed, which may be half done.
        Worktree { folder, branch: Some(run.branch.clone()) }
    } else {
        repository.enter(&folder, &run.branch, &start, &run.milestone)?.worktree
    };
    let brief = run.brief.clone().map(|path| read_brief(place, &path)).transpose()?;
    let milestone = run.milestone.clone();
    let run = None;
    Ok(Begun::Started(Box::new(Start { milestone, repository, worktree, brief, held_out, openings, approved, run })))
}

/// Enters a worktree for a new run.
fn begun(
    context: &mut Context,
    opening: &Opening<'_>,
    (repository, held_out, openings): (Repository, Option<HeldOut>, Openings),
) -> Result<Begun, CommandError> {
    let Opening { place, arguments, layout, how, .. } = *opening;
    let world = &context.world().clone();
    let note = place.folder().resolve(BEGINNING);
    let asked = arguments.milestone.as_deref();
    if disk::canonical(&place.root)? != *repository.root() {
        let (project, root) = (place.root.clone(), repository.root().clone());
        return Err(LandingError::BelowRoot { project, root }.into());
    }
    repository.check_filters()?;
    let given = arguments.brief.as_deref().map(|file| brief_of(context, file)).transpose()?;
    let milestone = match layout {
        DocumentLayout::Milestones => milestone_of(&Seen::of(context)?, asked, given.is_some())?,
        DocumentLayout::Phases(_) => milestone_in_phases(context, place, asked, given.is_some())?,
    };
    planning_is_committed(context, &repository, layout)?;
    let folder = repository.root().resolve(format!("{}/worktrees/{milestone}", layout.folder()));
    check_places(&repository, &folder)?;
    let branch = layout.branch(&milestone);
    leftovers::settle_git(world, &repository, (&folder, &branch))?;
    leftovers::remove_files(&repository, &folder, &place.folder())?;
    let is_noted = disk::read_text(&note)?.is_some_and(|noted| noted == branch);
    repository.check_names(&branch, &[folder.clone(), scratch_of(&folder), checkout_of(&folder)], is_noted)?;
    let hooks = repository.idle_hooks()?;
    if !hooks.is_empty() {
        context.tell(format!("Hooks of this repository do not run here, the landing included: {}", hooks.join(", ")));
    }
    let base = repository.tip()?;
    let approved = match opening.approved(context, &repository, (&milestone, base.as_str()))? {
        Ok(approved) => approved,
        Err(stop) => return Ok(Begun::NotApproved(milestone, stop)),
    };
    let brief = given.map(|text| keep_brief(place, text)).transpose()?;
    disk::write_fleeting(&note, branch.as_bytes())?;
    let entered = repository.enter(&folder, &branch, &base, &milestone)?;
    let forecast = match layout {
        DocumentLayout::Milestones => {
            let files = Place::files_at(context, &entered.worktree.folder);
            let scope = Scope { milestone: Some(milestone.clone()), slice: None };
            let snapshot = reading::snapshot(files.as_ref(), Extent::Active(&scope));
            let shape = arguments.how.shape.unwrap_or_default();
            forecast::of(&snapshot, &milestone, &Seen::of(context)?.preferences, shape)
        }
        DocumentLayout::Phases(_) => SeenPhases::of(context, place)?.forecast()?,
    };
    let run = Run {
        id: format!("{milestone}-{}", world.now().milliseconds()),
        engine: ENGINE,
        process: world.process(),
        milestone: milestone.clone(),
        target: repository.target().branch.clone(),
        base: base.to_string(),
        branch,
        worktree: folder.to_string(),
        runner: how.driver.runner.name.clone(),
        profile: how.driver.profile.word().to_owned(),
        fenced: how.wants_fence,
        means: how.means.clone(),
        brief: brief.as_ref().map(|(path, _)| path.clone()),
        forecast: u32::try_from(forecast.sessions()).unwrap_or(u32::MAX),
        ceilings: opening.ceilings,
        allowed_keys: arguments.how.allow_key.clone(),
    };
    let worktree = entered.worktree;
    let run = Some(run);
    Ok(Begun::Started(Box::new(Start { milestone, repository, worktree, brief, held_out, openings, approved, run })))
}

/// The milestone that a call is about: the one that is named, the next one for a brief, else the active one.
fn milestone_of(seen: &Seen, asked: Option<&str>, has_brief: bool) -> Result<String, CommandError> {
    match (asked, has_brief, &seen.state.milestone) {
        (Some(asked), _, _) => ids::milestone_called(asked).ok_or_else(|| {
            CommandError::usage(format!("`{asked}` is not a milestone"))
                .hint("milestones have names such as `M001`; `gsd-tools auto status` shows the current one")
        }),
        (None, true, _) => Ok(next_milestone(seen)),
        (None, false, Some(active)) => Ok(active.id.clone()),
        (None, false, None) => Err(CommandError::usage("there is no milestone to work on")
            .hint("describe one in a file, then run `gsd-tools auto run --brief FILE`")),
    }
}

/// The milestone that STATE.md is at: a run in phases is about no other.
fn milestone_in_phases(
    context: &Context,
    place: &Place,
    asked: Option<&str>,
    has_brief: bool,
) -> Result<String, CommandError> {
    if has_brief {
        return Err(CommandError::usage("this project is in phases, and its roadmap says what they are for")
            .hint("add them to `.planning/ROADMAP.md`, then run `gsd-tools auto run` without `--brief`"));
    }
    let current = SeenPhases::of(context, place)?.milestone()?;
    match asked {
        Some(asked) if !asked.eq_ignore_ascii_case(&current) => {
            Err(CommandError::usage(format!("the project is at {current}, not at {asked}"))
                .hint("run `gsd-tools auto run` without a milestone"))
        }
        _ => Ok(current),
    }
}

fn commit_of(name: &str) -> Result<crate::auto::landing::id::Commit, CommandError> {
    let commit = crate::auto::landing::id::Commit::parse(name);
    commit.ok_or_else(|| CommandError::usage(format!("the log has `{name}` where a commit should be")))
}

/// The refusal of a run whose repository was removed, and another one made in its place.
fn of_another_repository(place: &Place, run: &Run) -> CommandError {
    let base = run.base.get(..12).unwrap_or(&run.base);
    let message = format!("the run of {} began in another repository: this one has no commit {base}", run.milestone);
    let log = place.log();
    let aside = typed!("mv {} {}", log, format!("{log}.old"));
    CommandError::usage(message).hint(format!("if that repository is gone, set the log of its run aside: `{aside}`"))
}

/// The text of a brief.
fn brief_of(context: &Context, file: &str) -> Result<String, CommandError> {
    let text = disk::read_input(context.here().resolve(file))?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| {
        CommandError::usage(format!("`{file}` is not there, or empty"))
            .hint("describe the milestone in it, then run again")
    })
}

/// Keeps a brief among the notes of the run, since the file may change while it goes on. Gives its name there, and its text. A
/// call that begins no run keeps none: the next one would be taken for the same call again.
fn keep_brief(place: &Place, text: String) -> Result<(String, String), CommandError> {
    let kept = kept_brief(place);
    disk::write_fleeting(&kept, text.as_bytes())?;
    Ok((kept.to_string(), text))
}

fn read_brief(place: &Place, path: &str) -> Result<(String, String), CommandError> {
    let text = disk::read_text(kept_brief(place))?.unwrap_or_default();
    Ok((path.to_owned(), text))
}

/// The first number that no milestone has.
fn next_milestone(seen: &Seen) -> String {
    ids::next(seen.snapshot.milestones.iter().map(|milestone| milestone.id.as_str()), 'M', 3)
}

/// What is planned has to be in the commit that the work begins with.
fn planning_is_committed(
    context: &Context,
    repository: &Repository,
    layout: &DocumentLayout,
) -> Result<(), CommandError> {
    let root = repository.root();
    let (folder, documents) = match layout {
        DocumentLayout::Milestones => (lookup::FOLDER, lookup::MILESTONES),
        DocumentLayout::Phases(_) => (layout.folder(), layout.folder()),
    };
    refuse_ignored(context.world(), root, layout)?;
    if !disk::is_folder(root.resolve(documents)) {
        return Ok(());
    }
    let world = context.world();
    let line = ["status", "--porcelain", "--untracked-files=all", "--", folder];
    let changed = world.git_differences(root.as_path(), line)?;
    if changed.text().is_empty() {
        return Ok(());
    }
    let message = format!("`{folder}` has changes that are not committed");
    Err(CommandError::usage(message).hint(format!(
        "run `{}`, then `{}`",
        typed!("git add {}", folder),
        typed!("git commit -m \"docs: plan\" -- {}", folder)
    )))
}

/// Refuses a project whose documents git ignores: those of units would be neither seen nor landed. The documents are asked
/// for by name, since a folder that is not there yet is not known to be one.
fn refuse_ignored(world: &World, root: &AbsolutePath, layout: &DocumentLayout) -> Result<(), CommandError> {
    let folder = layout.folder();
    let names = match layout {
        DocumentLayout::Milestones => ["milestones/M999/M999-ROADMAP.md", "REQUIREMENTS.md"],
        DocumentLayout::Phases(_) => ["phases/999-next/999-01-PLAN.md", "ROADMAP.md"],
    };
    for name in names.map(|name| format!("{folder}/{name}")) {
        if !world.git(root.as_path(), ["check-ignore", "--quiet", &name])?.success() {
            continue;
        }
        let told = world.git(root.as_path(), ["check-ignore", "--verbose", &name])?.text();
        // The file, the line and the pattern, then the path.
        let mut rule = told.split('\t').next().unwrap_or_default().splitn(3, ':');
        let (file, line) = (rule.next().unwrap_or_default(), rule.next().unwrap_or_default());
        let pattern = rule.next().unwrap_or_default();
        let message = format!("git ignores `{name}` by `{pattern}`, so the documents of a milestone could not land");
        return Err(
            CommandError::usage(message).hint(format!("remove line {line} of `{file}`, then run the command again"))
        );
    }
    Ok(())
}

/// What `auto pause` and `auto stop` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ControlReport {
    /// `pause` or `stop`.
    requested: &'static str,
    /// Whether the session that runs is ended at once.
    now: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ControlArgs {
    /// End the session that runs at once
    #[arg(long)]
    now: bool,
}

pub(super) fn pause(context: &mut Context, arguments: &ControlArgs) -> Result<(), CommandError> {
    control(context, Wish::Pause, arguments.now)
}

pub(super) fn stop(context: &mut Context, arguments: &ControlArgs) -> Result<(), CommandError> {
    control(context, Wish::Stop, arguments.now)
}

fn wish_word(wish: Wish) -> &'static str {
    match wish {
        Wish::Pause => "pause",
        Wish::Stop => "stop",
    }
}

fn control(context: &mut Context, wish: Wish, now: bool) -> Result<(), CommandError> {
    let place = Place::of(context)?;
    let memory = place.memory()?;
    refuses_sessions(context, &place, &memory, &format!("auto {}", wish_word(wish)))?;
    if memory.run.is_none() || memory.is_released {
        return Err(CommandError::usage("no run is going on here").hint("start one with `gsd-tools auto run`"));
    }
    if place.holder(context.disk(), &memory)?.is_none() {
        let message = "no process runs the run here: it is paused, or was interrupted";
        return Err(CommandError::usage(message).hint("continue it with `gsd-tools auto run`"));
    }
    Control { wish, now }.write(&place.folder())?;
    let requested = wish_word(wish);
    let report = ControlReport { requested, now };
    context.say(&report, None, |_| {
        let when = if now { "now" } else { "after the unit that runs" };
        format!("The run will {requested} {when}.\n\nNext  gsd-tools auto run\n")
    })
}
