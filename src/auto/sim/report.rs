//! Simulates an entire milestone in memory, and reports its cost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Simulated;
use super::actor::{Actor, Ideal};
use super::made;
use crate::auto::ceilings::Ceilings;
use crate::auto::engine::EngineError;
use crate::auto::engine::drive::Settings;
use crate::auto::memory::Memory;
use crate::auto::preferences::Preferences;
use crate::auto::slices::derive::Scope;
use crate::auto::slices::forecast::{self, Shape};
use crate::auto::slices::reading::{self, Extent};
use crate::auto::stop::Stop;
use crate::auto::unit::UnitKind;
use crate::project::files::MemoryFiles;

/// The milestone that is simulated.
pub(crate) const MILESTONE: &str = "M001";

/// The settings of a simulation.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) shape: Shape,
    pub(crate) preferences: Preferences,
    /// Whether the session that plans the milestone leaves its first slice to another one.
    pub(crate) skips_first_slice: bool,
    pub(crate) reassesses_last: bool,
    pub(crate) last_slice_has_no_uat: bool,
    /// Whether summaries are too short for mechanical steps.
    pub(crate) is_thin: bool,
    /// The process dies at this effect and is started again.
    pub(crate) dies_at: Option<u64>,
}

impl Options {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            preferences: Preferences::default(),
            skips_first_slice: false,
            reassesses_last: false,
            last_slice_has_no_uat: false,
            is_thin: false,
            dies_at: None,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            preferences: self.preferences.clone(),
            last_slice_has_no_uat: self.last_slice_has_no_uat,
            reassesses_last: self.reassesses_last,
            ..Settings::default()
        }
    }

    pub(crate) fn ideal(&self) -> Ideal {
        Ideal {
            plans_first_slice: self.preferences.plans_first_slice && !self.skips_first_slice,
            is_thin: self.is_thin,
            ..Ideal::of(self.shape)
        }
    }
}

/// The cost of a simulated milestone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SimReport {
    /// Slices, and tasks in each of them.
    pub(crate) shape: [usize; 2],
    pub(crate) pipeline: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) sessions: usize,
    /// The forecast of sessions before the first one.
    pub(crate) forecast: usize,
    /// Sessions by kind of unit.
    pub(crate) by_unit: BTreeMap<&'static str, usize>,
    /// Sessions that neither plan nor carry out: research, assessments, validation and summaries.
    pub(crate) ceremony: usize,
    /// Steps done without a session, by kind.
    pub(crate) mechanical: BTreeMap<&'static str, u32>,
    /// The characters of all prompts.
    pub(crate) prompt_chars: usize,
    /// Identifies all files that landed; null if nothing did.
    pub(crate) tree_hash: Option<String>,
    pub(crate) stop: Stop,
    /// The exit code of a run with this end.
    pub(crate) exit: u8,
}

/// Returns a project with one milestone that has a context, and nothing else.
pub(crate) fn project() -> MemoryFiles {
    let (path, text) = made::context(MILESTONE);
    MemoryFiles::new([(path.as_str(), text.as_str()), ("README.md", "# Simulated\n")])
}

/// Runs the milestone with an agent that does what it is asked for.
pub(crate) fn simulate(options: &Options) -> Result<SimReport, EngineError> {
    let (report, _) = simulate_with(options, options.ideal())?;
    Ok(report)
}

/// Like [`simulate`], with another agent; also returns the resulting project.
pub(crate) fn simulate_with(
    options: &Options,
    actor: impl Actor + 'static,
) -> Result<(SimReport, Simulated), EngineError> {
    let mut simulated = Simulated::new(project(), actor);
    let forecast = forecast_of(&simulated, options);
    let sessions = u32::try_from(forecast).unwrap_or(u32::MAX);
    simulated.begin(MILESTONE, false, sessions, &Ceilings::default());
    simulated.dies_at = options.dies_at;
    let settings = options.settings();
    let stop = to_its_end(&mut simulated, &settings)?;
    Ok((report(options, &simulated, stop, forecast), simulated))
}

/// Continues until the run stops, also after a death, which comes once.
pub(super) fn to_its_end(simulated: &mut Simulated, settings: &Settings) -> Result<Stop, EngineError> {
    loop {
        match simulated.go_on(settings) {
            Err(EngineError::Died) => simulated.dies_at = None,
            ended => return ended,
        }
    }
}

fn forecast_of(simulated: &Simulated, options: &Options) -> usize {
    let snapshot = reading::snapshot(&simulated.files, Extent::Active(&Scope::default()));
    forecast::of(&snapshot, MILESTONE, &options.preferences, options.shape).sessions()
}

fn is_ceremony(kind: UnitKind) -> bool {
    matches!(
        kind,
        UnitKind::ResearchMilestone
            | UnitKind::ResearchSlice
            | UnitKind::ReassessRoadmap
            | UnitKind::CompleteSlice
            | UnitKind::ValidateMilestone
            | UnitKind::CompleteMilestone
    )
}

fn report(options: &Options, simulated: &Simulated, stop: Stop, forecast: usize) -> SimReport {
    let memory = Memory::of(&simulated.log);
    let mut by_unit: BTreeMap<&'static str, usize> = BTreeMap::new();
    for unit in &simulated.sessions {
        *by_unit.entry(unit.kind.word()).or_default() += 1;
    }
    SimReport {
        shape: [options.shape.slices, options.shape.tasks],
        pipeline: options.preferences.pipeline.word(),
        profile: options.preferences.profile.word(),
        sessions: simulated.sessions.len(),
        forecast,
        by_unit,
        ceremony: simulated.sessions.iter().filter(|unit| is_ceremony(unit.kind)).count(),
        mechanical: memory.mechanical,
        prompt_chars: simulated.prompt_characters,
        tree_hash: simulated.landed_hash(),
        exit: stop.cause.code(),
        stop,
    }
}
