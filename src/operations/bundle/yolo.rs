//! `init yolo`: what running all remaining phases by themselves starts from, and what stands in the way of it.
//!
//! Reasons are part of the answer, so nothing that is missing makes the call fail.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::config;
use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::standing::Stage;
use crate::project::state::State;
use crate::text::time;

use super::manager::{ManagedPhase, Step};
use super::{Automation, Bundle, Complete};

/// A session that has not been heard of for so many milliseconds is over.
const STALE: i64 = 24 * 60 * 60 * 1000;

/// What is asked of the chain, and what only the world knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct YoloRequest<'text> {
    /// The phase to start with, instead of the first that remains.
    pub(crate) from: Option<&'text str>,
    /// A phase without a CONTEXT.md stands in the way.
    pub(crate) strict_context: bool,
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    /// Whether the working tree has no changes; none where there is no repository.
    pub(crate) git_clean: Option<bool>,
    /// The process of the session in the configuration no longer runs.
    pub(crate) session_gone: bool,
}

/// What `init yolo` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct YoloBundle {
    milestone_version: Option<String>,
    milestone_name: Option<String>,
    #[serde(flatten)]
    automation: Automation,
    yolo: Session,
    /// The phase STATE.md stands at.
    current_phase: Option<String>,
    /// The phase the chain would begin with.
    start_phase: Option<String>,
    start_step: Option<Step>,
    phase_count: usize,
    completed_count: usize,
    remaining_count: usize,
    remaining_phases: Vec<RemainingPhase>,
    /// Remaining phases without a CONTEXT.md and without plans.
    missing_context: Vec<String>,
    /// Phases that the roadmap calls deferred; they do not remain.
    deferred_phases: Vec<String>,
    prerequisites: Prerequisites,
    prerequisites_met: bool,
    /// What stands in the way.
    blockers: Vec<Blocker>,
    warnings: Vec<String>,
    planning_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
}

/// The last session of the chain, as the configuration tells it.
#[derive(Debug, Serialize, JsonSchema)]
struct Session {
    active: bool,
    started_at: Option<String>,
    start_phase: Option<String>,
    stop_condition: Option<String>,
    /// It calls itself active, and its process is gone or it has not been heard of for a day.
    stale: bool,
}

/// A phase that is not complete.
#[derive(Debug, Serialize, JsonSchema)]
struct RemainingPhase {
    number: String,
    name: String,
    phase_dir: Option<String>,
    has_context: bool,
    has_research: bool,
    plan_count: usize,
    summary_count: usize,
    disk_status: Stage,
    verification_status: &'static str,
    deps_satisfied: bool,
    next_step: Step,
    /// The command of the next step, without what stands before commands.
    command: String,
}

#[derive(Debug, Serialize, JsonSchema)]
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
enum Blocker {
    NoPlanning,
    NoRoadmap,
    NoState,
    ConfigInvalid,
    NoRepository,
    GitDirty,
    NothingRemaining,
    ActiveSession,
    /// The phase to start with does not remain.
    UnknownPhase,
    /// The phase to start with depends on one that is not complete.
    Dependency,
    MissingContext,
}

impl Bundle<'_> {
    /// What remains, where to begin, and what stands in the way.
    pub(crate) fn yolo(&self, request: YoloRequest<'_>) -> Result<Complete<YoloBundle>, FileError> {
        let milestone = self.milestone()?;
        let phases = self.managed_phases(request.now)?;
        let deferred = self.deferred(&phases)?;
        let remains = |phase: &&ManagedPhase| phase.disk_status != Stage::Complete && !deferred.contains(&phase.number);
        let remaining: Vec<&ManagedPhase> = phases.iter().filter(remains).collect();
        let start = match request.from {
            Some(typed) => remaining.iter().find(|phase| PhaseId::new(typed).matches(&phase.number)).copied(),
            None => remaining.first().copied(),
        };
        let without_context = |phase: &&&ManagedPhase| !phase.has_context && phase.plan_count == 0;
        let missing_context: Vec<String> =
            remaining.iter().filter(without_context).map(|phase| phase.number.clone()).collect();
        let session = self.session(request);
        let documents = self.documents();
        let prerequisites = Prerequisites {
            planning_exists: documents.planning,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            config_valid: self.config_is_valid()?,
            git_clean: request.git_clean == Some(true),
            remaining: !remaining.is_empty(),
            no_active_session: !session.active || session.stale,
        };
        let blockers = blockers(&prerequisites, start, &missing_context, request);
        let mut warnings: Vec<String> = Vec::new();
        if !request.strict_context {
            let told =
                |phase: &String| format!("phase {phase} has no CONTEXT.md: the chain discusses it first, without you");
            warnings.extend(missing_context.iter().map(told));
        }
        if session.stale {
            warnings.push("an earlier session was interrupted".to_owned());
        }
        let report = YoloBundle {
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            automation: self.automation(),
            yolo: session,
            current_phase: self.current_phase()?,
            start_phase: start.map(|phase| phase.number.clone()),
            start_step: start.map(next_step),
            phase_count: phases.len(),
            completed_count: phases.iter().filter(|phase| phase.disk_status == Stage::Complete).count(),
            remaining_count: remaining.len(),
            remaining_phases: remaining.iter().map(|phase| self.remaining(phase)).collect::<Result<_, _>>()?,
            missing_context,
            deferred_phases: deferred,
            prerequisites_met: blockers.is_empty(),
            planning_exists: prerequisites.planning_exists,
            roadmap_exists: prerequisites.roadmap_exists,
            state_exists: prerequisites.state_exists,
            prerequisites,
            blockers,
            warnings,
        };
        self.complete(report)
    }

    fn remaining(&self, phase: &ManagedPhase) -> Result<RemainingPhase, FileError> {
        let id = PhaseId::new(&phase.number);
        let folders = self.view.phase_folders()?;
        let folder = folders.iter().find(|folder| folder.is_of(&id));
        let step = next_step(phase);
        let follow_up = &phase.completion.verification_next_command;
        Ok(RemainingPhase {
            number: phase.number.clone(),
            name: phase.name.clone(),
            phase_dir: folder.map(|folder| self.shown(&folder.path)),
            has_context: phase.has_context,
            has_research: phase.has_research,
            plan_count: phase.plan_count,
            summary_count: phase.summary_count,
            disk_status: phase.disk_status,
            verification_status: phase.completion.verification_status,
            deps_satisfied: phase.deps_satisfied,
            next_step: step,
            command: match step {
                Step::Verify => follow_up.strip_prefix(&self.facts.command_prefix).unwrap_or(follow_up).to_owned(),
                step => format!("{} {} --auto", step.command(), phase.number),
            },
        })
    }

    /// The phases whose line in the roadmap says that they are deferred.
    fn deferred(&self, phases: &[ManagedPhase]) -> Result<Vec<String>, FileError> {
        let text = self.view.roadmap_text()?.unwrap_or_default();
        let roadmap = self.view.parse_roadmap(&text);
        let says = |line: usize| roadmap.markdown().line(line).to_lowercase().contains("deferred");
        let is_deferred = |number: &str| {
            let bullet = roadmap.bullet(number).map(|bullet| bullet.line);
            bullet.into_iter().chain(roadmap.section(number).map(|section| section.heading_line)).any(says)
        };
        let numbers = phases.iter().map(|phase| phase.number.clone());
        Ok(numbers.filter(|number| is_deferred(number)).collect())
    }

    fn session(&self, request: YoloRequest<'_>) -> Session {
        let value = |key: &str| self.config.written(&format!("workflow.yolo.{key}"));
        let text = |key: &str| {
            let value = value(key).filter(|value| !value.is_null())?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let active = value("active").and_then(serde_json::Value::as_bool) == Some(true);
        let heard = text("updated_at").or_else(|| text("started_at"));
        let heard = heard.and_then(|moment| time::milliseconds(&moment));
        Session {
            active,
            started_at: text("started_at"),
            start_phase: text("start_phase"),
            stop_condition: text("stop_condition"),
            stale: active
                && (request.session_gone || heard.is_some_and(|heard| request.now.saturating_sub(heard) > STALE)),
        }
    }

    /// Whether the files of the configuration can be read; none is as good.
    fn config_is_valid(&self) -> Result<bool, FileError> {
        let layout = self.view.layout();
        for path in [layout.root_config(), layout.config()] {
            if self.view.text(&path)?.is_some_and(|text| config::parse(&text).is_err()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn current_phase(&self) -> Result<Option<String>, FileError> {
        let text = self.view.state_text()?;
        Ok(text.as_deref().and_then(|text| State::parse(text).position().phase.map(str::to_owned)))
    }
}

/// What is to be done next about a phase.
fn next_step(phase: &ManagedPhase) -> Step {
    match phase.disk_status {
        Stage::Executed | Stage::Complete => Step::Verify,
        Stage::Planned | Stage::Partial => Step::Execute,
        _ if phase.has_context => Step::Plan,
        _ => Step::Discuss,
    }
}

fn blockers(
    prerequisites: &Prerequisites,
    start: Option<&ManagedPhase>,
    missing_context: &[String],
    request: YoloRequest<'_>,
) -> Vec<Blocker> {
    let remaining = prerequisites.remaining;
    let found = [
        (!prerequisites.planning_exists, Blocker::NoPlanning),
        (!prerequisites.roadmap_exists, Blocker::NoRoadmap),
        (!prerequisites.state_exists, Blocker::NoState),
        (!prerequisites.config_valid, Blocker::ConfigInvalid),
        (request.git_clean.is_none(), Blocker::NoRepository),
        (request.git_clean == Some(false), Blocker::GitDirty),
        (prerequisites.roadmap_exists && !remaining, Blocker::NothingRemaining),
        (!prerequisites.no_active_session, Blocker::ActiveSession),
        (remaining && start.is_none(), Blocker::UnknownPhase),
        (start.is_some_and(|phase| !phase.deps_satisfied), Blocker::Dependency),
        (request.strict_context && !missing_context.is_empty(), Blocker::MissingContext),
    ];
    found.into_iter().filter(|(stands, _)| *stands).map(|(_, blocker)| blocker).collect()
}
