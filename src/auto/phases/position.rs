//! The position of a run in phases.

use crate::auto::decide::is_below;
use crate::auto::event::{Mechanical, Run};
use crate::auto::memory::Memory;
use crate::auto::phases::{FOLDER, PhaseSettings};
use crate::auto::position::{Position, RuleResult};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::project::files::FileError;
use crate::project::phase::short;
use crate::project::plan::PhasePlan;
use crate::project::standing::{NextStep, PhaseStanding};
use crate::project::up_next::{PhaseNext, UpNext};
use crate::project::verification::VerificationState;
use crate::project::view::ProjectView;
use crate::text::shell::{Typed, typed};

/// Returns the position of the run in `memory`.
pub(crate) fn of(view: &ProjectView, memory: &Memory, settings: &PhaseSettings) -> Result<Position, FileError> {
    let next = before_execution(view, UpNext::of(view, false)?)?;
    let missing = match memory.unit() {
        Some(unit) => missing(view, unit, memory)?,
        None => Vec::new(),
    };
    let mechanical = mechanical(&next, settings).filter(|step| !memory.fallbacks.contains_key(step));
    // Checks that were deferred until the milestone is done do not keep it from landing: they need what landed.
    let is_done = matches!(next, UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) | UpNext::Deferred(_));
    let rule = rule(&next, settings);
    Ok(Position {
        planning: FOLDER,
        blocked: None,
        ends: next.phase().filter(|phase| phase.step == NextStep::Close).map(|phase| format!("phase {}", phase.number)),
        asks: None,
        most_attempts: settings.discuss_passes.filter(|_| rule == DISCUSS),
        is_complete: is_done && memory.run.is_some() && !memory.is_released,
        mechanical,
        rule,
        finding: finding(&next, settings, memory),
        missing,
        claims_no_change: match memory.unit() {
            Some(unit) => changes_documents_alone(view, unit)?,
            None => false,
        },
    })
}

/// Returns the next step for a run. A run would stop after the plans of a phase for another phase's acceptance test, or
/// because a roadmap without phases has none to close: this stops it before a session is spent.
fn before_execution(view: &ProjectView, next: UpNext) -> Result<UpNext, FileError> {
    if next.phase().is_some()
        && let Some(roadmap) = view.roadmap()?
        && view.milestone()?.phase_ids(roadmap).is_empty()
    {
        return Ok(UpNext::NoPhases);
    }
    let Some(PhaseNext { step: NextStep::Execute, number, .. }) = next.phase() else { return Ok(next) };
    let open = view.open_acceptances()?.into_iter().find(|open| !open.is_deferred && short(&open.phase) != number);
    Ok(open.map_or(next, UpNext::Accept))
}

/// Returns what can be done without an agent now.
fn mechanical(next: &UpNext, settings: &PhaseSettings) -> Option<Mechanical> {
    let PhaseNext { step, number, .. } = next.phase()?;
    let phase = number.clone();
    match step {
        NextStep::Discuss if settings.skips_discussion => Some(Mechanical::WriteContext { phase }),
        NextStep::Close => Some(Mechanical::ClosePhase { phase }),
        _ => None,
    }
}

/// The rules, in their order.
pub(crate) const RULES: &[&str] =
    &[NO_ROADMAP, PAUSED, SKIP_DISCUSSION, DISCUSS, PLAN, EXECUTE, GAPS, HUMAN, CLOSE, DONE];

const NO_ROADMAP: &str = "no roadmap or state → stop";
const PAUSED: &str = "paused → stop";
const SKIP_DISCUSSION: &str = "no context, discussion skipped → write-context";
const DISCUSS: &str = "no context → discuss-phase";
const PLAN: &str = "no plan → plan-phase";
const EXECUTE: &str = "not executed or not verified → execute-phase";
const GAPS: &str = "gaps found → stop";
const HUMAN: &str = "human needed → stop";
const CLOSE: &str = "verified → close-phase";
const DONE: &str = "all phases done → land";

/// Returns the name of the rule that leads to the next step.
fn rule(next: &UpNext, settings: &PhaseSettings) -> &'static str {
    match next {
        UpNext::NoRoadmap | UpNext::NoMilestone | UpNext::NoState | UpNext::NoPhases | UpNext::Unseen(_) => NO_ROADMAP,
        UpNext::Paused(_) => PAUSED,
        UpNext::Accept(_) => HUMAN,
        UpNext::Phase(phase) => match phase.step {
            NextStep::Discuss if settings.skips_discussion => SKIP_DISCUSSION,
            NextStep::Discuss => DISCUSS,
            NextStep::Plan => PLAN,
            NextStep::Execute => EXECUTE,
            NextStep::PlanGaps => GAPS,
            NextStep::Verify => HUMAN,
            NextStep::Close => CLOSE,
        },
        UpNext::Deferred(_) | UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) => DONE,
    }
}

/// The command to continue once a person has done what the text of a stop asks for.
const AGAIN: &str = "gsd-tools auto run";

fn finding(next: &UpNext, settings: &PhaseSettings, memory: &Memory) -> RuleResult {
    let stop = |cause, command: Typed| RuleResult::Stop(Stop::new(cause, next.why(), command));
    let by_hand = |cause, what: &str| {
        let text = format!("{}: {what}{}", next.why(), then(memory));
        RuleResult::Stop(Stop::new(cause, text, AGAIN))
    };
    match next {
        UpNext::NoRoadmap | UpNext::NoMilestone => by_hand(Cause::NoMilestone, "write it"),
        UpNext::NoPhases => by_hand(Cause::NoMilestone, "add one"),
        UpNext::Unseen(_) => stop(Cause::NoMilestone, "gsd-tools roadmap validate".into()),
        UpNext::NoState => stop(Cause::Blocked, Typed::from("gsd-tools state rebuild").and(&place_of(memory))),
        UpNext::Paused(pause) => by_hand(Cause::Paused, &pause.end()),
        UpNext::Accept(_) | UpNext::Deferred(_) => person(by_hand(Cause::HumanNeeded, ACCEPTANCE), memory),
        UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) => stop(Cause::Complete, "gsd-tools progress".into()),
        UpNext::Phase(phase) => match phase.step {
            NextStep::Verify if phase.is_in_acceptance() => person(by_hand(Cause::HumanNeeded, ACCEPTANCE), memory),
            NextStep::Verify => person(by_hand(Cause::HumanNeeded, VERIFIED), memory),
            _ => phase_step(phase, settings, &stop),
        },
    }
}

/// What a person does about an acceptance test, and about a report that waits for one.
const ACCEPTANCE: &str = "make its tests, write their results and `status: complete` into its UAT.md";
const VERIFIED: &str = "make them, then write `status: passed` into its VERIFICATION.md";

/// Returns where a person makes the change that a run waits for, and what to do next.
fn then(memory: &Memory) -> String {
    match run_of(memory) {
        Some(run) => format!(" in `{}`, commit nothing there, then run again", run.worktree),
        None => ", commit it, then run again".to_owned(),
    }
}

fn run_of(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}

/// Returns the flag that points a command to the documents of the run.
fn place_of(memory: &Memory) -> Typed {
    run_of(memory).map_or(Typed::from(""), |run| typed!("--cwd {}", run.worktree))
}

/// Adds the command that lists what waits for a person.
fn person(finding: RuleResult, memory: &Memory) -> RuleResult {
    let list = format!("`{}` lists what is open", Typed::from("gsd-tools audit-uat").and(&place_of(memory)));
    match finding {
        RuleResult::Stop(stop) => RuleResult::Stop(stop.shown([list])),
        other => other,
    }
}

fn phase_step(phase: &PhaseNext, settings: &PhaseSettings, stop: &impl Fn(Cause, Typed) -> RuleResult) -> RuleResult {
    let dispatch = |kind| RuleResult::Dispatch(Unit::new(kind, phase.number.clone()));
    match phase.step {
        NextStep::Discuss if !settings.skips_discussion => dispatch(UnitKind::DiscussPhase),
        NextStep::Discuss | NextStep::Plan => dispatch(UnitKind::PlanPhase),
        // Executing an executed phase verifies it, and closes it if that could not be done without an agent.
        NextStep::Execute | NextStep::Close => dispatch(UnitKind::ExecutePhase),
        NextStep::PlanGaps => stop(Cause::GapsFound, typed!("gsd-tools auto dispatch plan-phase {}", phase.number)),
        NextStep::Verify => stop(Cause::HumanNeeded, AGAIN.into()),
    }
}

/// Returns what the unit should have written and has not.
fn missing(view: &ProjectView, unit: &Unit, memory: &Memory) -> Result<Vec<String>, FileError> {
    let folder = view.find_phase(&unit.id)?.folder;
    let standing = PhaseStanding::of(view, &unit.id, folder.as_ref())?;
    let work = &standing.work;
    let lacks = match unit.kind {
        UnitKind::DiscussPhase => (!work.has_context).then_some("the CONTEXT.md of the phase"),
        UnitKind::PlanPhase => work.plans.is_empty().then_some("a plan of the phase"),
        UnitKind::ExecutePhase if !work.is_executed() => Some("the SUMMARY.md of every plan"),
        // Gaps and checks that need a person are results for the next decision.
        UnitKind::ExecutePhase if standing.verification.state == VerificationState::Missing => {
            Some("the VERIFICATION.md of the phase")
        }
        // This session only has to tick the phase, and so would the next one.
        UnitKind::ExecutePhase
            if memory.fallbacks.contains_key(&Mechanical::ClosePhase { phase: unit.id.clone() })
                && standing.next_step(false) == Some(NextStep::Close) =>
        {
            Some("the tick of the phase in ROADMAP.md")
        }
        _ => None,
    };
    Ok(lacks.into_iter().map(str::to_owned).collect())
}

/// True if the plans of a unit's phase name no file outside the planning folder.
fn changes_documents_alone(view: &ProjectView, unit: &Unit) -> Result<bool, FileError> {
    let Some(folder) = view.find_phase(&unit.id)?.folder else { return Ok(true) };
    let is_outside = |file: &String| !is_below(file.trim_start_matches("./"), FOLDER);
    let texts = view.plan_texts(&folder)?;
    Ok(!texts.iter().any(|(_, text)| PhasePlan::parse(text).files_modified().iter().any(is_outside)))
}

/// Returns the progress of the work in one word.
pub(crate) fn word(next: &UpNext) -> &'static str {
    match next {
        UpNext::NoRoadmap | UpNext::NoMilestone | UpNext::NoState | UpNext::NoPhases | UpNext::Unseen(_) => {
            "pre-planning"
        }
        UpNext::Paused(_) => "paused",
        UpNext::Accept(_) => "blocked",
        UpNext::Phase(phase) => match phase.step {
            NextStep::Discuss => "discussing",
            NextStep::Plan => "planning",
            NextStep::Execute => "executing",
            NextStep::PlanGaps | NextStep::Verify => "blocked",
            NextStep::Close => "closing",
        },
        UpNext::Deferred(_) | UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) => "complete",
    }
}
