//! `auto run`, `auto next`, `auto dispatch`, `auto pause`, `auto stop`.

use crate::acts::auto::control::control;
use crate::acts::auto::land::{self, WaitingWork, landing_word};
use crate::acts::auto::place::{LayoutWord, layout_word};
use crate::acts::auto::start;
use crate::acts::auto::start::card::{Consent, StartCard};
use crate::acts::auto::start::request::{Choices, RunRequest};
use crate::acts::auto::start::run_report::RunReport;
use crate::acts::caller::can_confirm;
use crate::auto::engine::ControlRequest as Wish;
use crate::auto::event::LandingMode;
use crate::auto::slices::forecast::Shape;
use crate::commands::auto::card::{end, shown, waits};
use crate::commands::auto::live::{Detail, Drawn};
use crate::commands::auto::views::shape;
use crate::failure::Failure;
use crate::frame::Context;

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// The milestone; without it, the active one
    milestone: Option<String>,
    /// File that describes the milestone
    #[arg(long, visible_alias = "yolo", value_name = "FILE")]
    brief: Option<String>,
    /// Begin a new milestone with a brief that has landed
    #[arg(long, requires = "brief")]
    again: bool,
    /// Run the milestones in the queue after it, each with its own ceilings
    #[arg(long, conflicts_with = "max_units")]
    all: bool,
    /// Run it in another process, which needs no terminal and outlives this one
    #[arg(long)]
    detach: bool,
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
    /// The model, as the client names it; an empty name means its default
    #[arg(long)]
    model: Option<String>,
    /// `unattended` (the default): the client never asks; `safe`: it allows only edits and the checks
    #[arg(long)]
    profile: Option<String>,
    /// Run `milestones` in `.gsd/` or `phases` in `.planning/`, if the project has both
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
    /// Do not ask before a new run; what a repository brings still has to be approved
    #[arg(long, short = 'y')]
    yes: bool,
    /// Show what the run would do and take, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Show what the sessions do, line by line
    #[arg(long, short = 'v')]
    verbose: bool,
    /// Show every entry of the log too
    #[arg(long)]
    debug: bool,
    /// What happens once the work is done: `branch` (the default) lands it, `ask` waits for `auto land`, `pr` opens a pull
    /// request
    #[arg(long, value_name = "HOW", value_parser = landing_word)]
    land: Option<LandingMode>,
    /// Run even if another program also manages this project, in `.gsd/gsd.db`
    #[arg(long)]
    take_over: bool,
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

#[derive(Debug, clap::Args)]
pub(super) struct ControlArgs {
    /// End the session that runs at once
    #[arg(long)]
    now: bool,
}

impl HowArgs {
    fn detail(&self) -> Detail {
        match (self.verbose, self.debug) {
            (_, true) => Detail::Entries,
            (true, false) => Detail::Sessions,
            (false, false) => Detail::Progress,
        }
    }

    fn choices(&self) -> Choices {
        Choices {
            runner: self.runner.clone(),
            runner_program: self.runner_program.clone(),
            model: self.model.clone(),
            profile: self.profile.clone(),
            layout: self.layout,
            target: self.target.clone(),
            max_sessions: self.max_sessions,
            budget: self.budget,
            unit_budget: self.unit_budget,
            unit_minutes: self.unit_minutes,
            shape: self.shape,
            allow_planning_only: self.allow_planning_only,
            allow_key: self.allow_key.clone(),
            no_fence: self.no_fence,
            fence: self.fence,
            no_project_settings: self.no_project_settings,
            project_settings: self.project_settings,
            take_over: self.take_over,
            land: self.land,
            reviewed: None,
            only_shows: self.dry_run,
            detaches: false,
        }
    }
}

impl RunArgs {
    fn request(&self) -> RunRequest {
        RunRequest {
            milestone: self.milestone.clone(),
            brief: self.brief.clone(),
            again: self.again,
            all: self.all,
            how: Choices { detaches: self.detach, ..self.how.choices() },
        }
    }
}

pub(super) fn run(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    if !arguments.all || arguments.detach {
        return drive(context, arguments, arguments.how.max_units);
    }
    // Who agrees to the first has agreed to all.
    let agreed = std::cell::Cell::new(arguments.how.yes);
    let consenting = |card: &StartCard| {
        let how = HowArgs { yes: agreed.get(), ..arguments.how.clone() };
        let consent = consent(context, &how, card)?;
        agreed.set(consent == Consent::Given);
        Ok(consent)
    };
    let drawn = Drawn::of(context, arguments.how.detail());
    let report = start::drive_all(context, &arguments.request(), &consenting);
    drop(drawn);
    let report = report?;
    show(context, &report)
}

pub(super) fn next(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    drive(context, arguments, Some(1))
}

fn drive(context: &mut Context, arguments: &RunArgs, most_units: Option<u32>) -> Result<(), Failure> {
    let consenting = |card: &StartCard| consent(context, &arguments.how, card);
    let drawn = Drawn::of(context, arguments.how.detail());
    let report = start::drive(context, &arguments.request(), (most_units, None), &consenting);
    drop(drawn);
    let report = report?;
    show(context, &report)
}

/// Shows the card of a new run at a terminal, and asks about it.
fn consent(context: &Context, how: &HowArgs, card: &StartCard) -> Result<Consent, Failure> {
    if how.dry_run {
        return Ok(Consent::OnlyShown);
    }
    if !can_confirm(context) {
        return Ok(Consent::Given);
    }
    context.tell(shown(card, context.screen()));
    if how.yes || Context::confirms("Proceed")? { Ok(Consent::Given) } else { Ok(Consent::Declined) }
}

pub(super) fn dispatch(context: &mut Context, arguments: &DispatchArgs) -> Result<(), Failure> {
    let DispatchArgs { unit, id, how } = arguments;
    let consenting = |card: &StartCard| consent(context, how, card);
    let drawn = Drawn::of(context, how.detail());
    let report = start::dispatch(context, (unit, id.as_deref()), how.choices(), &consenting);
    drop(drawn);
    let report = report?;
    show(context, &report)
}

fn show(context: &mut Context, report: &RunReport) -> Result<(), Failure> {
    if report.dry_run {
        return context.say(report, None, |screen| {
            let card = report.card.as_ref().map(|card| shown(card, screen)).unwrap_or_default();
            format!("{card}\nNothing was started.\n\nNext  {}\n", report.stop.next)
        });
    }
    context.exit_with(report.stop.cause.code());
    context.say(report, None, |screen| end(report, screen))
}

#[derive(Debug, clap::Args)]
pub(super) struct LandArgs {
    /// Do it without asking at a terminal
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(super) fn land(context: &mut Context, arguments: &LandArgs) -> Result<(), Failure> {
    let agrees = |waiting: &WaitingWork| {
        if !can_confirm(context) {
            return Ok(true);
        }
        context.tell(waits(waiting));
        Ok(arguments.yes || Context::confirms("Land it")?)
    };
    let report = land::land(context, &agrees)?;
    show(context, &report)
}

pub(super) fn pause(context: &mut Context, arguments: &ControlArgs) -> Result<(), Failure> {
    request(context, Wish::Pause, arguments.now)
}

pub(super) fn stop(context: &mut Context, arguments: &ControlArgs) -> Result<(), Failure> {
    request(context, Wish::Stop, arguments.now)
}

fn request(context: &mut Context, wish: Wish, now: bool) -> Result<(), Failure> {
    let report = control(context, wish, now)?;
    context.say(&report, None, |_| {
        let when = if now { "now" } else { "after the unit that runs" };
        format!("The run will {} {when}.\n\nNext  gsd-tools auto run\n", report.requested)
    })
}
