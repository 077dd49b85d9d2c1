//! The position of a run in slices.

use super::derive::{Phase, Standing};
use super::look::Look;
use super::rules;
use super::snapshot::SliceTask;
use super::{artifact, captures, guards};
use crate::auto::event::Mechanical;
use crate::auto::position::{Position, RuleResult};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::auto::unit_hooks;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::unit_hooks::HookAction;
use crate::text::shell::{Typed, typed};

/// Returns the position; `unit` is that of the current operation.
pub(crate) fn of(look: &Look<'_>, unit: Option<&Unit>) -> Position {
    let hook = hook(look);
    let has_hook = hook.is_some() || unit.is_some_and(|unit| unit_hooks::is_ahead(look.preferences, look.memory, unit));
    let between = hook.or_else(|| captures::session(look));
    let is_between = between.is_some();
    let (rule, finding) =
        between.or_else(|| rules::first(look)).unwrap_or_else(|| ("no rule", RuleResult::Stop(unhandled(look))));
    // A slice is not closed while something that came up in it is open.
    let mechanical = captures::mechanical(look).or_else(|| if is_between { None } else { mechanical(look) });
    let mechanical = mechanical.filter(|_| !has_hook);
    Position {
        planning: lookup::FOLDER,
        blocked: captures::halt(look).or_else(|| blocked(look)),
        is_complete: is_complete(look) && !has_hook,
        mechanical,
        rule,
        finding,
        missing: unit.map(|unit| artifact::missing(unit, look.snapshot)).unwrap_or_default(),
        claims_no_change: unit.is_some_and(|unit| claims_no_change(look, unit)),
        most_attempts: None,
        ends: ends(look),
        asks: unit.and_then(|unit| task_of(look, unit)?.waits_for()).map(|question| question.text.clone()),
    }
}

/// Returns the hook that is due after the last unit.
fn hook(look: &Look<'_>) -> Option<(&'static str, RuleResult)> {
    let (unit, hook) = unit_hooks::due(look.preferences, look.memory)?;
    let found = match hook.action {
        HookAction::Prompt(_) => RuleResult::Dispatch(unit_hooks::session_of(hook, unit)),
        HookAction::Command(_) | HookAction::Text { .. } => RuleResult::Hook,
    };
    Some(("hooks after a unit", found))
}

fn task_of<'a>(look: &Look<'a>, unit: &Unit) -> Option<&'a SliceTask> {
    let (milestone, slice, task) = unit.parts();
    look.snapshot.task(milestone, slice?, task?)
}

/// Returns the slice if all its tasks are done.
fn ends(look: &Look<'_>) -> Option<String> {
    let slice = look.state.slice.as_ref().filter(|_| look.state.phase == Phase::Summarizing)?;
    Some(format!("slice {}", slice.id))
}

fn is_complete(look: &Look<'_>) -> bool {
    let Some(run) = &look.memory.run else { return false };
    if rules::waits_for_rewrite(look) {
        return false;
    }
    let mut entries = look.state.registry.iter();
    entries.any(|entry| entry.id.eq_ignore_ascii_case(&run.milestone) && entry.standing == Standing::Complete)
}

/// Also true if the plan depends on something untrue: a blocked task changes nothing.
fn claims_no_change(look: &Look<'_>, unit: &Unit) -> bool {
    let is_planned = unit.kind == UnitKind::ExecuteTask;
    task_of(look, unit)
        .and_then(|task| task.summary)
        .is_some_and(|summary| summary.claims_no_change || is_planned && summary.has_blocker)
}

/// Returns what can be done without an agent now.
pub(crate) fn mechanical(look: &Look<'_>) -> Option<Mechanical> {
    if !look.preferences.is_mechanical {
        return None;
    }
    let milestone = look.state.milestone.as_ref()?.id.clone();
    let step = match look.state.phase {
        Phase::Summarizing => Mechanical::CompleteSlice { milestone, slice: look.state.slice.as_ref()?.id.clone() },
        // The last acceptance test comes first: its verdict is part of what is validated.
        Phase::ValidatingMilestone if look.due_uat().is_none() && guards::missing_summaries(look).is_none() => {
            if look.preferences.skip_milestone_validation {
                Mechanical::PassValidation { milestone }
            } else {
                Mechanical::ValidateMilestone { milestone }
            }
        }
        Phase::CompletingMilestone if guards::of_completion(look).is_none() => {
            Mechanical::CompleteMilestone { milestone }
        }
        _ => return None,
    };
    (!look.memory.fallbacks.contains_key(&step)).then_some(step)
}

pub(crate) fn blocked(look: &Look<'_>) -> Option<Stop> {
    if look.state.phase != Phase::Blocked {
        return parked(look);
    }
    let blockers = &look.state.blockers;
    let text = blockers.first().cloned().unwrap_or_else(|| "nothing can be done".to_owned());
    let validation = look.milestone().and_then(|milestone| milestone.validation.as_ref());
    let needs_remediation = validation.and_then(|found| found.verdict()) == Some("needs-remediation");
    let (cause, next) = match look.milestone().filter(|_| needs_remediation) {
        Some(milestone) => (Cause::NeedsRemediation, typed!("gsd-tools auto dispatch validate {}", milestone.id)),
        None => (Cause::Blocked, way_out(look)),
    };
    Some(Stop::new(cause, text, next).shown(blockers.iter().skip(1).cloned()))
}

/// Returns the command that ends a wait for another milestone. Everything else that blocks is in documents that a
/// person corrects.
fn way_out(look: &Look<'_>) -> Typed {
    let mut awaited = look.state.registry.iter().flat_map(|entry| &entry.waits_for);
    match awaited.find_map(|id| look.snapshot.milestone(id)) {
        Some(milestone) if milestone.is_parked => typed!("gsd-tools auto unpark {}", milestone.id),
        Some(milestone) => typed!("gsd-tools auto run {}", milestone.id),
        None => Typed::from("gsd-tools auto run"),
    }
}

/// Returns a stop if the milestone of the run is parked, by a person or by its validation; without a run, for the first
/// of the remaining ones.
fn parked(look: &Look<'_>) -> Option<Stop> {
    let is_left = look.state.milestone.is_none() && look.state.phase == Phase::PrePlanning;
    let left = || look.state.registry.iter().find(|entry| entry.standing == Standing::Parked).filter(|_| is_left);
    let id = match &look.memory.run {
        Some(run) => &run.milestone,
        None => &left()?.id,
    };
    let milestone = look.snapshot.milestone(id)?;
    if milestone.is_parked {
        let next = typed!("gsd-tools auto unpark {}", id);
        let stop = Stop::new(Cause::Parked, format!("{id} is parked"), next);
        let end = || format!("`{}` ends its run for good", typed!("gsd-tools auto abandon {}", id));
        return Some(stop.shown(look.memory.run.is_some().then(end)));
    }
    let verdict = milestone.validation.as_ref().and_then(|validation| validation.verdict());
    if verdict != Some("needs-attention") || look.state.milestone.is_some() {
        return None;
    }
    let text = format!("the validation of {id} says `needs-attention`");
    // A person should not sign for work that was never done.
    let unverified = milestone.validation.as_ref().and_then(|validation| validation.unverified());
    let (text, next) = match unverified {
        Some(task) => (
            format!("{text}: there is no record that {task} was checked"),
            typed!("gsd-tools auto dispatch execute-task {}", task),
        ),
        None => (text, typed!("gsd-tools auto verdict {} pass --rationale \"checked by hand\"", id)),
    };
    Some(Stop::new(Cause::NeedsAttention, text, next).shown([format!("{id}-VALIDATION.md")]))
}

fn unhandled(look: &Look<'_>) -> Stop {
    if look.state.registry.is_empty() {
        return Stop::new(Cause::NoMilestone, "there is no milestone", "gsd-tools auto run --brief BRIEF.md");
    }
    let text = format!("no rule applies in the phase {}", look.state.phase.word());
    Stop::new(Cause::Unhandled, text, "gsd-tools auto rules --explain")
}
