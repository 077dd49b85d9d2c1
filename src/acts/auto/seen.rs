//! What a view of a milestone reads, and what it shows: status, forecast, rules.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::accounts::{of_entries, titled};
use super::leftover::leftovers;
use super::phases::SeenPhases;
use super::place::RunPlace;
use crate::acts::{Call, facts, project};
use crate::auto::decide::{Situation, Step, decide};
use crate::auto::event::Time;
use crate::auto::memory::Memory;
use crate::auto::preferences::{Pipeline, Preferences, Profile};
use crate::auto::slices::derive::{Phase, Scope, State, derive};
use crate::auto::slices::forecast::{self, Forecast, Shape};
use crate::auto::slices::look::{Look, OutsideFacts};
use crate::auto::slices::position;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::slices::snapshot::Snapshot;
use crate::auto::status::{self, RuleRow, StatusReport};
use crate::auto::stop::{Cause, Stop};
use crate::failure::Failure;
use crate::operations::state;
use crate::operations::state::next::NextReport;
use crate::project::files::sha256;
use crate::text::shell::typed;
use crate::text::words::of_word;

/// What was read for a view.
pub(crate) struct Seen {
    pub(crate) memory: Memory,
    pub(crate) snapshot: Snapshot,
    pub(crate) state: State,
    pub(crate) preferences: Preferences,
}

impl Seen {
    pub(crate) fn of(call: &Call) -> Result<Self, Failure> {
        Self::read(call, false)
    }

    /// As [`Self::of`], with every slice of every milestone.
    pub(crate) fn whole(call: &Call) -> Result<Self, Failure> {
        Self::read(call, true)
    }

    /// As [`Self::whole`], in the checkout of the user, whatever a run works on.
    pub(crate) fn without_run(call: &Call) -> Result<Self, Failure> {
        Self::at(call, Memory::default(), None, true)
    }

    /// What a run that has not begun waits for: in the requested milestone, or the active one.
    pub(crate) fn blocked(call: &Call, milestone: Option<&str>) -> Result<Option<Stop>, Failure> {
        let memory = RunPlace::of(call)?.memory()?;
        let seen = Self::at(call, memory, milestone.map(str::to_owned), false)?;
        let look = Look { memory: &Memory::default(), ..seen.look() };
        Ok(if seen.state.phase == Phase::Blocked { position::blocked(&look) } else { None })
    }

    fn read(call: &Call, is_whole: bool) -> Result<Self, Failure> {
        let memory = RunPlace::of(call)?.memory()?;
        let milestone = memory.run.as_ref().filter(|_| memory.landed.is_none()).map(|run| run.milestone.clone());
        Self::at(call, memory, milestone, is_whole)
    }

    fn at(call: &Call, memory: Memory, milestone: Option<String>, is_whole: bool) -> Result<Self, Failure> {
        let files = RunPlace::of(call)?.files(call, &memory);
        let preferences = RunPlace::preferences(files.as_ref(), call)?;
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
            facts: OutsideFacts {
                has_brief: self.memory.run.as_ref().is_some_and(|run| run.brief.is_some()),
                ..OutsideFacts::default()
            },
        }
    }

    /// The next step, and the rule that leads to it. A stopped run would be started again.
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

/// The next step in the project, as every other view shows it.
fn next_step(call: &Call, place: &RunPlace) -> Result<NextReport, Failure> {
    let facts = state::Facts { runs: facts::runs(call, &place.root), ..facts::next_facts(call)? };
    if call.has_a_project() {
        return Ok(NextReport::in_project(&call.view(), &facts)?);
    }
    Ok(NextReport::in_project(&project::view_at(call, &place.root)(), &facts)?)
}

/// The remaining sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionPlanReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    milestone: Option<String>,
    pub(crate) sessions: usize,
    /// Sessions by kind of unit.
    pub(crate) by_unit: BTreeMap<&'static str, usize>,
    /// Whether plans are missing, so that their size is an assumption.
    pub(crate) assumed: bool,
    /// The most sessions that a run starts.
    pub(crate) most_sessions: u32,
}

/// How far the milestone is, and what a run would do next.
pub(crate) fn status(call: &Call) -> Result<StatusReport, Failure> {
    let place = RunPlace::of(call)?;
    let world = call.world();
    if place.is_in_phases(None) {
        let seen = SeenPhases::of(call, &place)?;
        let memory = place.memory()?;
        let holder = place.holder(call.disk(), &memory)?;
        let report = seen.status(Time { wall: world.now().milliseconds(), machine: world.uptime() })?;
        return around(call, &place, &memory, report.held_by(holder, &memory));
    }
    let seen = Seen::of(call)?;
    let now = Time { wall: world.now().milliseconds(), machine: world.uptime() };
    let (step, rule) = seen.step(now);
    let fingerprint = sha256(format!("{:?}", seen.snapshot).as_bytes());
    let report = StatusReport::of(&seen.look(), &step, rule, fingerprint);
    let report = report.held_by(place.holder(call.disk(), &seen.memory)?, &seen.memory);
    around(call, &place, &seen.memory, report)
}

/// Adds to a status what is around the run: the next step in the project, what earlier runs have left, and a run in
/// another repository, which has to be ended before another one begins.
fn around(call: &Call, place: &RunPlace, memory: &Memory, mut report: StatusReport) -> Result<StatusReport, Failure> {
    let (entries, unfinished) = (place.entries()?, memory.run.as_ref().filter(|_| !memory.is_released));
    (report.leftovers, report.entries_of_another_repository) = leftovers(call.world(), place, (&entries, unfinished))?;
    if let Some(run) = place.stranded_in(&entries)?.and_then(|memory| memory.run) {
        let text = format!("the run of {} began in another repository, which was here before", run.milestone);
        let next = typed!("gsd-tools auto abandon {}", run.milestone);
        report.next = status::NextReport::of(
            &Step::Stop(Stop::new(Cause::Blocked, text, next)),
            report.next.rule.unwrap_or_default(),
        );
    }
    if let Some(account) = of_entries(place, &entries)?.last() {
        let milestone = &account.run.milestone;
        let row = report.registry.iter().find(|row| row.id == *milestone);
        let title = row.map(|row| row.title.clone()).filter(|title| !title.is_empty() && title != milestone);
        report.run = Some(titled(call, place, account, title)?);
    }
    Ok(StatusReport { step: Some(next_step(call, place)?), ..report })
}

/// The remaining sessions of a milestone; `shape` is assumed for parts that are not planned yet.
pub(crate) fn plan(call: &Call, asked: Option<&str>, shape: Option<Shape>) -> Result<SessionPlanReport, Failure> {
    let place = RunPlace::of(call)?;
    if place.is_in_phases(None) {
        let seen = SeenPhases::of(call, &place)?;
        return Ok(SessionPlanReport::of(Some(seen.milestone()?), &seen.forecast()?, &seen.memory));
    }
    let seen = Seen::of(call)?;
    let active = seen.state.milestone.as_ref().map(|milestone| milestone.id.clone());
    let milestone = asked.map(str::to_owned).or(active);
    let id = milestone.clone().unwrap_or_default();
    if let Some(asked) = asked
        && seen.snapshot.milestone(asked).is_none()
    {
        return Err(Failure::usage(format!("there is no milestone `{asked}`"))
            .hint("`gsd-tools auto status` lists the milestones"));
    }
    let is_finished = milestone.is_none() && !seen.state.registry.is_empty() && shape.is_none();
    let forecast = if is_finished {
        Forecast::default()
    } else {
        forecast::of(&seen.snapshot, &id, &seen.preferences, shape.unwrap_or_default())
    };
    Ok(SessionPlanReport::of(milestone, &forecast, &seen.memory))
}

impl SessionPlanReport {
    fn of(milestone: Option<String>, forecast: &Forecast, memory: &Memory) -> Self {
        let sessions = forecast.sessions();
        Self {
            milestone,
            sessions,
            by_unit: forecast.by_kind.iter().map(|(kind, count)| (kind.word(), *count)).collect(),
            assumed: forecast.is_assumed,
            most_sessions: memory.ceilings.most_sessions(u32::try_from(sessions).unwrap_or(u32::MAX)),
        }
    }
}

/// The rules that decide what a run does next, of the project's pipeline or of the requested one.
pub(crate) fn rules(
    call: &Call,
    asked: Option<&str>,
    is_explained: bool,
    with_all: bool,
) -> Result<Vec<RuleRow>, Failure> {
    let place = RunPlace::of(call)?;
    if place.is_in_phases(None) && asked.is_none() {
        return SeenPhases::of(call, &place)?.rules(is_explained);
    }
    let mut seen = Seen::of(call)?;
    if let Some(word) = asked {
        seen.preferences = Preferences::of(pipeline(word)?, Profile::Balanced);
    }
    Ok(status::rules(&seen.look(), is_explained, with_all))
}

/// The pipeline of this name.
pub(crate) fn pipeline(word: &str) -> Result<Pipeline, Failure> {
    of_word(word).ok_or_else(|| {
        Failure::usage(format!("`{word}` is not a pipeline")).hint("the pipelines are simple and classic")
    })
}
