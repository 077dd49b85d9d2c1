//! The verbs that look: status, forecast, rules.

use crate::acts::facts;
use crate::acts::project;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::phases::SeenPhases;
use super::place::Place;
use crate::auto::decide::{Situation, Step, decide};
use crate::auto::event::Time;
use crate::auto::memory::Memory;
use crate::auto::preferences::{Pipeline, Preferences, Profile};
use crate::auto::slices::derive::{Phase, Scope, State, derive};
use crate::auto::slices::forecast::{self, Forecast, Shape};
use crate::auto::slices::look::{Facts, Look};
use crate::auto::slices::position;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::slices::snapshot::Snapshot;
use crate::auto::status::{self, StatusReport};
use crate::auto::stop::Stop;
use crate::commands::frame::Context;
use crate::failure::Failure;
use crate::operations::state;
use crate::operations::state::next::NextReport;
use crate::project::files::sha256;
use crate::text::screen::Screen;
use crate::text::shell::Typed;
use crate::text::words::of_word;

/// What was read for a look.
pub(super) struct Seen {
    pub(super) memory: Memory,
    pub(super) snapshot: Snapshot,
    pub(super) state: State,
    pub(super) preferences: Preferences,
}

impl Seen {
    pub(super) fn of(context: &Context) -> Result<Self, Failure> {
        Self::read(context, false)
    }

    /// As [`Self::of`], with every slice of every milestone.
    pub(super) fn whole(context: &Context) -> Result<Self, Failure> {
        Self::read(context, true)
    }

    /// What a run that has not begun waits for: of the milestone that is asked for, or the active one.
    pub(super) fn blocked(context: &Context, milestone: Option<&str>) -> Result<Option<Stop>, Failure> {
        let memory = Place::of(context)?.memory()?;
        let seen = Self::at(context, memory, milestone.map(str::to_owned), false)?;
        let look = Look { memory: &Memory::default(), ..seen.look() };
        Ok(if seen.state.phase == Phase::Blocked { position::blocked(&look) } else { None })
    }

    fn read(context: &Context, is_whole: bool) -> Result<Self, Failure> {
        let memory = Place::of(context)?.memory()?;
        let milestone = memory.run.as_ref().filter(|_| memory.landed.is_none()).map(|run| run.milestone.clone());
        Self::at(context, memory, milestone, is_whole)
    }

    fn at(context: &Context, memory: Memory, milestone: Option<String>, is_whole: bool) -> Result<Self, Failure> {
        let files = Place::of(context)?.files(context, &memory);
        let preferences = Place::preferences(files.as_ref(), context)?;
        let scope = Scope { milestone, slice: None };
        let extent = if is_whole { Extent::All } else { Extent::Active(&scope) };
        let snapshot = reading::snapshot(files.as_ref(), extent);
        let state = derive(&snapshot, &scope, &preferences);
        Ok(Self { memory, snapshot, state, preferences })
    }

    fn look(&self) -> Look<'_> {
        Look {
            snapshot: &self.snapshot,
            state: &self.state,
            preferences: &self.preferences,
            memory: &self.memory,
            facts: Facts {
                has_brief: self.memory.run.as_ref().is_some_and(|run| run.brief.is_some()),
                ..Facts::default()
            },
        }
    }

    /// The next step, and the rule that leads to it. A run that stopped would be started again.
    fn step(&self, now: Time) -> (Step, &'static str) {
        let memory = Memory { stop: None, ..self.memory.clone() };
        let look = Look { memory: &memory, ..self.look() };
        let unit = memory.current.as_ref().map(|operation| &operation.start.unit);
        let position = position::of(&look, unit);
        let situation = Situation {
            position: &position,
            memory: &memory,
            is_unsaved: false,
            needs_baseline: false,
            check_retries: self.preferences.verification_retries,
            can_resume: false,
            has_held_out: false,
        };
        (decide(&situation, now), position.rule)
    }
}

pub(super) fn status(context: &mut Context) -> Result<(), Failure> {
    let place = Place::of(context)?;
    if place.is_in_phases(None) {
        let (world, seen) = (context.world(), SeenPhases::of(context, &place)?);
        let memory = place.memory()?;
        let holder = place.holder(context.disk(), &memory)?;
        let report = seen.status(Time { wall: world.now().milliseconds(), machine: world.uptime() })?;
        let report = StatusReport { step: Some(next_step(context, &place)?), ..report.held_by(holder, &memory) };
        return context.say(&report, None, |screen| shown(&report, screen));
    }
    let seen = Seen::of(context)?;
    let world = context.world();
    let now = Time { wall: world.now().milliseconds(), machine: world.uptime() };
    let (step, rule) = seen.step(now);
    let fingerprint = sha256(format!("{:?}", seen.snapshot).as_bytes());
    let report = StatusReport::of(&seen.look(), &step, rule, fingerprint);
    let report = report.held_by(place.holder(context.disk(), &seen.memory)?, &seen.memory);
    let report = StatusReport { step: Some(next_step(context, &place)?), ..report };
    context.say(&report, None, |screen| shown(&report, screen))
}

/// What comes next in the project, as every other view shows it.
fn next_step(context: &Context, place: &Place) -> Result<NextReport, Failure> {
    let facts = state::Facts { runs: facts::runs(context, &place.root), ..facts::next_facts(context)? };
    if context.has_a_project() {
        return Ok(NextReport::in_project(&context.view(), &facts)?);
    }
    Ok(NextReport::in_project(&project::view_at(context, &place.root)(), &facts)?)
}

/// How many lines of what led to a stop a person is shown.
const EVIDENCE: usize = 8;

/// The status for a person.
fn shown(report: &StatusReport, screen: Screen) -> String {
    use crate::text::screen::Tone;
    let mut lines = Vec::new();
    let active = [&report.active.milestone, &report.active.slice, &report.active.task];
    let active: Vec<&str> = active.into_iter().flatten().map(String::as_str).collect();
    let place = if active.is_empty() { "no active milestone".to_owned() } else { active.join("/") };
    lines.push(format!("{}  {}", screen.paint(Tone::Strong, &place), report.phase));
    let names = if report.layout == "planning" { ["phases", "plans"] } else { ["slices", "tasks"] };
    for (name, share) in names.into_iter().zip([report.progress.slices, report.progress.tasks]) {
        lines.extend(share.map(|[done, total]| format!("  {done}/{total} {name}")));
    }
    let set_up = report.session.as_ref().and_then(|session| session.set_up.as_ref());
    lines.extend(set_up.map(|set_up| format!("  set-up of worktrees: {set_up}")));
    let warning = report.session.as_ref().and_then(|session| session.client_warning.as_ref());
    lines.extend(warning.map(|warning| format!("  {warning}")));
    lines.extend(report.blockers.iter().map(|blocker| format!("  {blocker}")));
    // One that the work waits for is what is next.
    let answered_by_default = report.questions.iter().filter(|question| !question.waits);
    lines.extend(answered_by_default.map(|question| {
        format!("  {} asks: {} (continues with `{}`)", question.task, question.text, question.recommended)
    }));
    lines.push(String::new());
    let unit = report.next.unit_type.zip(report.next.unit_id.as_ref()).map(|(kind, id)| format!("{kind} {id}"));
    if let Some(unit) = unit.as_ref().filter(|_| report.next.action == "running") {
        lines.push(format!("Running  {unit}"));
        return lines.join("\n") + "\n";
    }
    // Why a run stopped is what a person needs to know, also where the next call would try again.
    let ended = report.session.as_ref().and_then(|session| session.stop.as_ref());
    let ended = ended.filter(|stop| stop.cause.code() != 0 && !stop.cause.is_in_documents());
    let (why, call) = match (&report.next.stop, ended) {
        (Some(_), None) if report.session.is_none() && report.step.is_some() => {
            let step = report.step.clone().unwrap_or_default();
            (step.why, Typed::of_quoted(step.command))
        }
        (Some(stop), _) => (stop.text.clone(), stop.next.clone()),
        (None, Some(stop)) => (format!("The last run stopped: {}", stop.text), stop.next.clone()),
        (None, None) if report.next.action == "recover" => {
            ("The run was interrupted; it continues where it was.".to_owned(), Typed::from("gsd-tools auto run"))
        }
        (None, None) => (String::new(), Typed::from("gsd-tools auto run")),
    };
    if !why.is_empty() {
        lines.push(why);
    }
    let evidence = report.next.stop.as_ref().or(ended).map(|stop| stop.evidence.as_slice()).unwrap_or_default();
    lines.extend(evidence.iter().take(EVIDENCE).map(|line| format!("  {line}")));
    if call.as_str() != "gsd-tools auto status" {
        lines.push(format!("Next  {}", screen.paint(Tone::Command, call.as_str())));
    }
    if call.as_str() == "gsd-tools auto run" && report.next.stop.is_none() && report.next.action != "recover" {
        let step = match report.next.action {
            "commit" => "commits what has changed",
            "gate" => "runs the checks",
            "land" => "merges the milestone, checks it, and lands it",
            other => report.next.mechanical.unwrap_or(other),
        };
        lines.push(format!("      {}", unit.unwrap_or_else(|| step.to_owned())));
    }
    lines.join("\n") + "\n"
}

/// The sessions that are left.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlanReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    milestone: Option<String>,
    sessions: usize,
    /// Sessions by kind of unit.
    by_unit: BTreeMap<&'static str, usize>,
    /// Whether plans are missing, so that their size is an assumption.
    assumed: bool,
    /// The most sessions that a run starts.
    most_sessions: u32,
}

#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// The milestone; without it, the active one
    milestone: Option<String>,
    /// Slices and tasks a slice, where nothing is planned yet, such as `4x3`
    #[arg(long, value_parser = shape)]
    shape: Option<Shape>,
}

/// `4x3`.
pub(super) fn shape(text: &str) -> Result<Shape, String> {
    let (slices, tasks) = text.split_once('x').ok_or("write it as `4x3`: slices, x, tasks in each")?;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=99).contains(number));
    match (number(slices), number(tasks)) {
        (Some(slices), Some(tasks)) => Ok(Shape { slices, tasks }),
        _ => Err("both numbers have to be between 1 and 99".to_owned()),
    }
}

pub(super) fn plan(context: &mut Context, arguments: &PlanArgs) -> Result<(), Failure> {
    let place = Place::of(context)?;
    if place.is_in_phases(None) {
        let seen = SeenPhases::of(context, &place)?;
        return tell_plan(context, Some(seen.milestone()?), &seen.forecast()?, &seen.memory);
    }
    let seen = Seen::of(context)?;
    let active = seen.state.milestone.as_ref().map(|milestone| milestone.id.clone());
    let milestone = arguments.milestone.clone().or(active);
    let id = milestone.clone().unwrap_or_default();
    if let Some(asked) = &arguments.milestone
        && seen.snapshot.milestone(asked).is_none()
    {
        return Err(Failure::usage(format!("there is no milestone `{asked}`"))
            .hint("`gsd-tools auto status` lists the milestones"));
    }
    let is_finished = milestone.is_none() && !seen.state.registry.is_empty() && arguments.shape.is_none();
    let forecast = if is_finished {
        Forecast::default()
    } else {
        forecast::of(&seen.snapshot, &id, &seen.preferences, arguments.shape.unwrap_or_default())
    };
    tell_plan(context, milestone, &forecast, &seen.memory)
}

fn tell_plan(
    context: &mut Context,
    milestone: Option<String>,
    forecast: &Forecast,
    memory: &Memory,
) -> Result<(), Failure> {
    let sessions = forecast.sessions();
    let most = memory.ceilings.most_sessions(u32::try_from(sessions).unwrap_or(u32::MAX));
    let report = PlanReport {
        milestone,
        sessions,
        by_unit: forecast.by_kind.iter().map(|(kind, count)| (kind.word(), *count)).collect(),
        assumed: forecast.is_assumed,
        most_sessions: most,
    };
    context.say(&report, None, |_| {
        let rows = report.by_unit.iter().map(|(kind, count)| format!("  {count:>3}  {kind}\n"));
        if sessions == 0 {
            return "Nothing is left to do. Another milestone begins with `gsd-tools auto run --brief FILE`.\n"
                .to_owned();
        }
        let assumed = if report.assumed { " (partly assumed: not everything is planned yet)" } else { "" };
        format!("{sessions} sessions{assumed}, at most {most}\n{}", rows.collect::<String>())
    })
}

#[derive(Debug, clap::Args)]
pub(super) struct RulesArgs {
    /// `simple` or `classic`; without it, the one of the project
    #[arg(long)]
    pipeline: Option<String>,
    /// Show for each rule whether it applies here, and why not
    #[arg(long)]
    explain: bool,
    /// Show the rules as well that a preference has to turn on
    #[arg(long)]
    all: bool,
}

pub(super) fn rules(context: &mut Context, arguments: &RulesArgs) -> Result<(), Failure> {
    let place = Place::of(context)?;
    let report = if place.is_in_phases(None) && arguments.pipeline.is_none() {
        SeenPhases::of(context, &place)?.rules(arguments.explain)?
    } else {
        let mut seen = Seen::of(context)?;
        if let Some(word) = &arguments.pipeline {
            seen.preferences = Preferences::of(pipeline(word)?, Profile::Balanced);
        }
        status::rules(&seen.look(), arguments.explain, arguments.all)
    };
    context.say(&report, None, |_| {
        let mut text = String::new();
        for row in &report {
            let mark = if row.matched == Some(true) { "> " } else { "  " };
            let _ = writeln!(text, "{mark}{}", row.rule);
            if let Some(why) = &row.why {
                let _ = writeln!(text, "      {why}");
            }
        }
        text
    })
}

pub(super) fn pipeline(word: &str) -> Result<Pipeline, Failure> {
    of_word(word).ok_or_else(|| {
        Failure::usage(format!("`{word}` is not a pipeline")).hint("the pipelines are simple and classic")
    })
}

pub(super) fn profile(word: &str) -> Result<Profile, Failure> {
    of_word(word).ok_or_else(|| {
        Failure::usage(format!("`{word}` is not a profile"))
            .hint("the profiles are budget, balanced, quality and burn-max")
    })
}
