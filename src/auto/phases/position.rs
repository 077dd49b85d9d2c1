//! Where a run in phases stands.

use crate::auto::position::{Finding, Position};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::project::files::FileError;
use crate::project::standing::{NextStep, PhaseStanding};
use crate::project::up_next::{PhaseNext, UpNext};
use crate::project::verification::VerificationState;
use crate::project::view::ProjectView;

/// The folder of the documents.
const PLANNING: &str = ".planning";

/// The position; `unit` is that of the current operation. Where phases are planned without a discussion, a phase without
/// a CONTEXT.md is planned.
pub(crate) fn of(view: &ProjectView, unit: Option<&Unit>, skips_discussion: bool) -> Result<Position, FileError> {
    let next = UpNext::of(view, skips_discussion)?;
    let missing = match unit {
        Some(unit) => missing(view, unit)?,
        None => Vec::new(),
    };
    Ok(Position {
        planning: PLANNING,
        blocked: None,
        // Checks that were put off until the milestone is done do not keep it from landing: they need what landed.
        is_complete: matches!(next, UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) | UpNext::Deferred(_)),
        mechanical: None,
        rule: rule(&next),
        finding: finding(&next),
        missing,
        claims_no_change: false,
    })
}

/// What the rule is called that leads to the next step.
fn rule(next: &UpNext) -> &'static str {
    match next {
        UpNext::NoRoadmap | UpNext::NoState => "no roadmap → stop",
        UpNext::Paused(_) => "paused → stop",
        UpNext::Accept(_) => "human needed → stop",
        UpNext::Phase(phase) => match phase.step {
            NextStep::Discuss => "no context → discuss-phase",
            NextStep::Plan => "no plan → plan-phase",
            NextStep::Execute => "plan without summary → execute-phase",
            NextStep::PlanGaps => "gaps found → stop",
            NextStep::Verify => "human needed → stop",
            NextStep::Close => "verified → execute-phase",
        },
        UpNext::Deferred(_) | UpNext::NoPhases | UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) => {
            "all phases done → land"
        }
    }
}

fn finding(next: &UpNext) -> Finding {
    let stop = |cause, command: &str| Finding::Stop(Stop::new(cause, next.why(), command));
    match next {
        UpNext::NoRoadmap | UpNext::NoPhases => stop(Cause::NoMilestone, "gsd-tools progress"),
        UpNext::NoState => stop(Cause::Blocked, "gsd-tools state rebuild"),
        UpNext::Paused(_) => stop(Cause::Paused, "gsd-tools smart-entry"),
        UpNext::Accept(_) | UpNext::Deferred(_) => stop(Cause::HumanNeeded, "gsd-tools audit-uat"),
        UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) => stop(Cause::Complete, "gsd-tools progress"),
        UpNext::Phase(phase) => phase_step(phase, &stop),
    }
}

fn phase_step(phase: &PhaseNext, stop: &impl Fn(Cause, &str) -> Finding) -> Finding {
    let dispatch = |kind| Finding::Dispatch(Unit::new(kind, phase.number.clone()));
    match phase.step {
        NextStep::Discuss => dispatch(UnitKind::DiscussPhase),
        NextStep::Plan => dispatch(UnitKind::PlanPhase),
        // Executing an executed phase verifies and closes it.
        NextStep::Execute | NextStep::Close => dispatch(UnitKind::ExecutePhase),
        NextStep::PlanGaps => stop(Cause::GapsFound, &format!("gsd-tools verification status {}", phase.number)),
        NextStep::Verify => stop(Cause::HumanNeeded, "gsd-tools audit-uat"),
    }
}

/// What the unit should have left and has not.
fn missing(view: &ProjectView, unit: &Unit) -> Result<Vec<String>, FileError> {
    let folder = view.find_phase(&unit.id)?.folder;
    let standing = PhaseStanding::in_project(view, &unit.id, folder.as_ref())?;
    let work = &standing.work;
    let lacks = match unit.kind {
        UnitKind::DiscussPhase => (!work.has_context).then_some("the CONTEXT.md of the phase"),
        UnitKind::PlanPhase => work.plans.is_empty().then_some("a plan of the phase"),
        UnitKind::ExecutePhase if !work.is_executed() => Some("the SUMMARY.md of every plan"),
        // Gaps and checks that need a person are results, which the next decision looks at.
        UnitKind::ExecutePhase if standing.verification.state == VerificationState::Missing => {
            Some("the VERIFICATION.md of the phase")
        }
        _ => None,
    };
    Ok(lacks.into_iter().map(str::to_owned).collect())
}
