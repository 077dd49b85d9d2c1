//! `init yolo`: facts for running all remaining phases unattended, and what blocks that.
//!
//! Reasons are part of the answer, so missing facts do not make the call fail.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::config;
use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::standing::Stage;
use crate::project::up_next;
use crate::text::time;

use super::manager::{Managed, ManagerEntry, Step};
use crate::operations::answers::answer::answer;
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::operations::facts::{Documents, FactBasis, Given, facts};

/// A session without an update for this many milliseconds is over. One that another session asks about is over sooner.
const STALE: i64 = 24 * 60 * 60 * 1000;
const STALE_FOR_OTHERS: i64 = 2 * 60 * 60 * 1000;

/// Facts about the chain from outside the project's files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChainFacts {
    /// True if the working tree has no changes; `None` outside a repository.
    pub(crate) git_clean: Option<bool>,
    /// The session's process named in the configuration has ended.
    pub(crate) session_gone: bool,
    /// When a workflow of the chain last began on this computer, in milliseconds since 1970.
    pub(crate) heard: Option<i64>,
    /// Whether another session of the host than this one runs it.
    pub(crate) is_of_another: bool,
    /// Whether agents of the host can start agents.
    pub(crate) agents_start_agents: bool,
}

/// What the chain would do, for its start and its view.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ChainPlan {
    /// The phase with which it begins or continues; `null` if none remains.
    pub(crate) start_phase: Option<String>,
    /// The command of its next step, without the prefix of commands.
    pub(crate) command: Option<String>,
    /// The phases that are neither complete nor deferred.
    pub(crate) remaining: Vec<String>,
    /// The session is marked as active, but nothing was heard of it for long.
    pub(crate) stale: bool,
    /// Why it cannot begin.
    pub(crate) blockers: Vec<Blocker>,
    /// What to know before it begins.
    pub(crate) warnings: Vec<String>,
}

impl ChainPlan {
    pub(crate) fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let chain = Chain::of(given)?;
        let start = chain.start.as_ref().map(RemainingPhase::of);
        Ok(Self {
            start_phase: start.as_ref().map(|phase| phase.number.clone()),
            command: start.map(|phase| phase.command),
            remaining: chain.remaining.iter().map(|task| task.phase.number.clone()).collect(),
            stale: chain.session.stale,
            warnings: chain.warnings(given.asked("strict-context")),
            blockers: chain.blockers,
        })
    }
}

/// What remains, where to begin, and what blocks the start.
struct Chain {
    remaining: Vec<ManagerEntry>,
    start: Option<ManagerEntry>,
    missing_context: Vec<String>,
    deferred: Vec<String>,
    session: Session,
    prerequisites: Prerequisites,
    blockers: Vec<Blocker>,
}

/// The last session of the chain, from the configuration.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Session {
    active: bool,
    started_at: Option<String>,
    start_phase: Option<String>,
    stop_condition: Option<String>,
    /// The session is marked as active, but its process has ended or it was last updated more than a day ago.
    stale: bool,
}

answer! {
    /// A phase that is not complete.
    struct RemainingPhase |task: ManagerEntry| with listed(&task.phase) {
        number, name, phase_dir = directory, has_context, has_research, plan_count, summary_count, disk_status = stage,
        verification_status,
        deps_satisfied: bool = task.is_unblocked,
        next_step: Step = next_step(&task.phase),
        /// The command of the next step, without the prefix of commands.
        command: String = match next_step(&task.phase) {
            Step::Verify => task.phase.standing.verification_command(&task.phase.number, ""),
            step => format!("{} {} --auto", step.command(), task.phase.number),
        },
    }
}

/// The conditions for starting the chain.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Prerequisites {
    planning_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    config_valid: bool,
    git_clean: bool,
    /// There is a phase that is not complete.
    remaining: bool,
    no_active_session: bool,
}

/// A reason why the chain cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Blocker {
    NoPlanning,
    NoRoadmap,
    NoState,
    ConfigInvalid,
    NoRepository,
    GitDirty,
    NothingRemaining,
    /// No phase is found in the roadmap, so that nothing is known to be complete.
    NoPhases,
    /// The last milestone is archived, and no other one has begun.
    MilestoneClosed,
    ActiveSession,
    /// The phase to start with does not remain.
    UnknownPhase,
    /// The phase to start with depends on one that is not complete.
    Dependency,
    MissingContext,
}

impl Blocker {
    /// Says what it is, and what to do about it. `prefix` is that of commands in the host.
    pub(crate) fn said(self, prefix: &str) -> (&'static str, String) {
        let project = || format!("`{prefix}new-project` makes it");
        match self {
            Self::NoPlanning => ("there is no project here", project()),
            Self::NoRoadmap => ("there is no ROADMAP.md", project()),
            Self::NoState => ("there is no STATE.md", "`gsd-tools validate health` says how to make it".to_owned()),
            Self::ConfigInvalid => ("config.json cannot be read", "`gsd-tools validate health` says where".to_owned()),
            Self::NoRepository => ("this is not a git repository", "`git init`, then commit".to_owned()),
            Self::GitDirty => ("there are uncommitted changes", "`gsd-tools git uncommitted` lists them".to_owned()),
            Self::NothingRemaining => ("no phase remains", format!("`{prefix}yolo` audits and closes the milestone")),
            Self::NoPhases => {
                ("no phase is found in ROADMAP.md", "`gsd-tools roadmap validate` says what is read of it".to_owned())
            }
            Self::MilestoneClosed => {
                ("the milestone is closed", format!("`{prefix}new-milestone` begins the next one"))
            }
            Self::ActiveSession => (
                "it runs already, perhaps in another session",
                "if that is gone: `gsd-tools yolo stop --reason crash`".to_owned(),
            ),
            Self::UnknownPhase => (
                "the phase to begin with does not remain",
                "`gsd-tools yolo status --pick remaining` lists those".to_owned(),
            ),
            Self::Dependency => (
                "the phase to begin with depends on one that is not complete",
                "begin with that one, or without `--from`".to_owned(),
            ),
            Self::MissingContext => ("a phase has no CONTEXT.md", format!("discuss it: `{prefix}discuss-phase`")),
        }
    }
}

facts! { |given, chain: Chain|
    /// The last session of the chain, from the configuration.
    yolo: Session = chain.session.clone();
    /// The current phase according to STATE.md.
    current_phase: Option<String> = given.view.state()?.and_then(|state| state.position().phase).map(str::to_owned);
    /// The phase with which the chain would begin.
    start_phase: Option<String> = chain.start.as_ref().map(|task| task.phase.number.clone());
    /// The step with which the chain would begin.
    start_step: Option<Step> = chain.start.as_ref().map(|task| next_step(&task.phase));
    /// The number of remaining phases.
    remaining_count: usize = chain.remaining.len();
    /// The phases that are neither complete nor deferred.
    remaining_phases: Vec<RemainingPhase> =
        chain.remaining.iter().map(RemainingPhase::of).collect();
    /// Remaining phases without a CONTEXT.md and without plans.
    missing_context: Vec<String> = chain.missing_context.clone();
    /// Phases that the roadmap marks as deferred; they do not count as remaining.
    deferred_phases: Vec<String> = chain.deferred.clone();
    /// The conditions for starting the chain.
    prerequisites: Prerequisites = chain.prerequisites.clone();
    /// True if the chain can begin.
    prerequisites_met: bool = chain.blockers.is_empty();
    /// Why the chain cannot begin.
    blockers: Vec<Blocker> = chain.blockers.clone();
    /// Each step can have a fresh agent: agents of the host can start those that a step needs.
    agent_per_step: bool = given.host.missing_agents.is_empty() && given.part::<ChainFacts>()?.agents_start_agents;
    /// Warnings before the chain begins.
    chain_warnings: Vec<String> = chain.warnings(given.asked("strict-context"));
}

impl FactBasis for ChainFacts {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self::default())
    }
}

impl FactBasis for Chain {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let (world, documents) = (given.part::<ChainFacts>()?, given.part::<Documents>()?);
        let tasks = &given.part::<Managed>()?.0;
        let deferred = deferred(given, tasks)?;
        let remains =
            |task: &&ManagerEntry| !task.phase.standing.is_complete() && !deferred.contains(&task.phase.number);
        let remaining: Vec<ManagerEntry> = tasks.iter().filter(remains).cloned().collect();
        let start = match &given.call.text {
            Some(typed) => remaining.iter().find(|task| PhaseId::new(typed).matches(&task.phase.number)),
            None => remaining.first(),
        };
        let without_context = |phase: &&PhaseFacts| {
            let work = &phase.standing.work;
            !work.has_context && work.plans.is_empty()
        };
        let missing_context: Vec<String> = remaining
            .iter()
            .map(|task| &task.phase)
            .filter(without_context)
            .map(|phase| phase.number.clone())
            .collect();
        let session = session(given, &world);
        let prerequisites = Prerequisites {
            planning_exists: documents.planning,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            config_valid: config_is_valid(given)?,
            git_clean: world.git_clean == Some(true),
            remaining: !remaining.is_empty(),
            no_active_session: !session.active || session.stale,
        };
        let lacks_context = given.asked("strict-context") && !missing_context.is_empty();
        let is_closed = remaining.is_empty() && up_next::is_said_over(given.view)?;
        let standing = (start, is_closed, tasks.is_empty());
        let blockers = blockers(&prerequisites, standing, lacks_context, world.git_clean);
        let start = start.cloned();
        Ok(Self { remaining, start, missing_context, deferred, session, prerequisites, blockers })
    }
}

impl Chain {
    fn warnings(&self, strict: bool) -> Vec<String> {
        let unasked = self.missing_context.iter().filter(|_| !strict);
        let unasked =
            unasked.map(|phase| format!("phase {phase} has no CONTEXT.md: the chain discusses it first, without you"));
        let interrupted = self.session.stale.then(|| "an earlier session was interrupted".to_owned());
        unasked.chain(interrupted).collect()
    }
}

/// The phases whose line in the roadmap contains `deferred`.
fn deferred(given: &Given<'_>, tasks: &[ManagerEntry]) -> Result<Vec<String>, FileError> {
    let roadmap = given.view.roadmap_or_empty()?;
    let says = |line: usize| roadmap.markdown().line(line).to_lowercase().contains("deferred");
    let is_deferred = |number: &str| {
        let bullet = roadmap.bullet(number).map(|bullet| bullet.line);
        bullet.into_iter().chain(roadmap.section(number).map(|section| section.heading_line)).any(says)
    };
    let numbers = tasks.iter().map(|task| task.phase.number.clone());
    Ok(numbers.filter(|number| is_deferred(number)).collect())
}

fn session(given: &Given<'_>, world: &ChainFacts) -> Session {
    let value = |key: &str| given.config.written(&format!("workflow.yolo.{key}"));
    let text = |key: &str| {
        let value = value(key).filter(|value| !value.is_null())?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let active = value("active").and_then(serde_json::Value::as_bool) == Some(true);
    let heard = text("updated_at").or_else(|| text("started_at"));
    let heard = heard.and_then(|moment| time::milliseconds(&moment)).max(world.heard);
    let most = if world.is_of_another { STALE_FOR_OTHERS } else { STALE };
    Session {
        active,
        started_at: text("started_at"),
        start_phase: text("start_phase"),
        stop_condition: text("stop_condition"),
        stale: active
            && (world.session_gone
                || heard.is_some_and(|heard| given.host.next.milliseconds.saturating_sub(heard) > most)),
    }
}

/// True if the configuration files can be read or do not exist.
fn config_is_valid(given: &Given<'_>) -> Result<bool, FileError> {
    let layout = given.view.layout();
    for path in [layout.root_config(), layout.config()] {
        if given.view.text(&path)?.is_some_and(|text| config::parse(&text).is_err()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is to be done next about a phase.
fn next_step(phase: &PhaseFacts) -> Step {
    match phase.stage() {
        Stage::Executed | Stage::Complete => Step::Verify,
        Stage::Planned | Stage::Partial => Step::Execute,
        _ if phase.standing.work.has_context => Step::Plan,
        _ => Step::Discuss,
    }
}

fn blockers(
    prerequisites: &Prerequisites,
    (start, is_closed, has_none): (Option<&ManagerEntry>, bool, bool),
    lacks_context: bool,
    git_clean: Option<bool>,
) -> Vec<Blocker> {
    let remaining = prerequisites.remaining;
    let found = [
        (!prerequisites.planning_exists, Blocker::NoPlanning),
        (!prerequisites.roadmap_exists, Blocker::NoRoadmap),
        (!prerequisites.state_exists, Blocker::NoState),
        (!prerequisites.config_valid, Blocker::ConfigInvalid),
        (git_clean.is_none(), Blocker::NoRepository),
        (git_clean == Some(false), Blocker::GitDirty),
        (prerequisites.roadmap_exists && !remaining && !is_closed && !has_none, Blocker::NothingRemaining),
        (prerequisites.roadmap_exists && !is_closed && has_none, Blocker::NoPhases),
        (is_closed, Blocker::MilestoneClosed),
        (!prerequisites.no_active_session, Blocker::ActiveSession),
        (remaining && start.is_none(), Blocker::UnknownPhase),
        (start.is_some_and(|task| !task.is_unblocked), Blocker::Dependency),
        (lacks_context, Blocker::MissingContext),
    ];
    found.into_iter().filter(|(holds, _)| *holds).map(|(_, blocker)| blocker).collect()
}
