//! Moves the position from one plan to the next.

use schemars::JsonSchema;
use serde::Serialize;

use super::claim::{self, Conflict};
use super::fields::{
    PlanPosition, PlansOnDisk, close_with_mirror, is_executing, note_position, put_activity, put_day, put_mark,
    put_plan, put_status,
};
use super::{EditedState, Facts, StateEdit, Written, open};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::state::State;
use crate::project::state::edit::Set;
use crate::project::view::{Edits, ProjectView};

/// What `state advance-plan` answers; the fields depend on the case.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AdvanceReport {
    NextPlan(NextPlan),
    LastPlan(LastPlan),
    PlansLeft(PlansLeft),
    NoPosition(NoPosition),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NextPlan {
    pub(crate) advanced: bool,
    pub(crate) previous_plan: u64,
    pub(crate) current_plan: u64,
    pub(crate) total_plans: u64,
    pub(crate) updated: Vec<String>,
    pub(crate) milestone_conflict: Option<Conflict>,
}

/// Every plan of the phase is done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LastPlan {
    pub(crate) advanced: bool,
    pub(crate) reason: &'static str,
    pub(crate) current_plan: u64,
    pub(crate) total_plans: u64,
    pub(crate) status: &'static str,
    pub(crate) updated: Vec<String>,
    pub(crate) milestone_conflict: Option<Conflict>,
}

/// The position is on the last plan, but plans of the phase have no summary.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlansLeft {
    pub(crate) advanced: bool,
    pub(crate) phase_dir: String,
    pub(crate) outstanding_plans: Vec<String>,
    pub(crate) milestone_conflict: Option<Conflict>,
    pub(crate) reason: &'static str,
}

/// STATE.md does not name the current plan.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoPosition {
    pub(crate) error: String,
    pub(crate) reason: &'static str,
    pub(crate) phase_dir: Option<String>,
    pub(crate) disk: Option<PlansOnDisk>,
    pub(crate) suggested: Option<Suggestion>,
}

/// Lines that may contain the position.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Suggestion {
    pub(crate) current_plan: u64,
    pub(crate) total_plans: u64,
    pub(crate) lines: Vec<String>,
}

impl AdvanceReport {
    pub(crate) fn advanced(&self) -> bool {
        matches!(self, Self::NextPlan(_))
    }

    pub(crate) fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::NextPlan(report) => report.milestone_conflict.as_ref(),
            Self::LastPlan(report) => report.milestone_conflict.as_ref(),
            Self::PlansLeft(report) => report.milestone_conflict.as_ref(),
            Self::NoPosition(_) => None,
        }
    }
}

/// Moves the position to the next plan; after the last one, sets the phase to ready for verification. Nothing changes
/// if the position cannot be read or plans have no summary. `None` without STATE.md.
pub(crate) fn advance(view: &ProjectView, facts: &Facts) -> EditedState<AdvanceReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let phase = state.position().phase;
    let folder = phase.map(|phase| view.find_phase(phase)).transpose()?.and_then(|lookup| lookup.folder);
    let Some(plan) = PlanPosition::of(state) else {
        return Ok(Some((AdvanceReport::NoPosition(unreadable(view, folder.as_ref())?), Edits::default())));
    };
    let claimed = claim::renew(view, phase.unwrap_or_default(), facts)?;
    let conflict = claimed.conflict.clone();
    let disk = folder.as_ref().map(|folder| PlansOnDisk::of(view, folder)).transpose()?;
    let disk = disk.filter(|disk| disk.plan_count > 0);
    let all_done = disk.as_ref().is_some_and(|disk| disk.to_do.is_empty());
    let mut edit = StateEdit::new(state);
    let next = disk.as_ref().map_or(Some(plan.current + 1), |disk| disk.next_to_do(plan.current));
    if let Some(next) = next.filter(|next| *next <= plan.total && plan.current < plan.total && !all_done) {
        advance_field(&mut edit, state, next);
        match phase.filter(|_| is_executing(&state.position())) {
            Some(phase) => put_status(&mut edit, &format!("Executing Phase {phase}")),
            None => put_status(&mut edit, "Ready to execute"),
        }
        put_day(&mut edit, facts);
        note_position(&mut edit);
        let (written, mut edits) = close_with_mirror(view, edit, facts)?;
        claimed.edit(view, &mut edits)?;
        let report = NextPlan {
            advanced: true,
            previous_plan: plan.current,
            current_plan: next,
            total_plans: plan.total,
            updated: written.updated,
            milestone_conflict: conflict,
        };
        return Ok(Some((AdvanceReport::NextPlan(report), edits)));
    }
    if let Some(folder) = &folder {
        let outstanding = view.open_plans(folder)?;
        if !outstanding.is_empty() {
            let report = PlansLeft {
                advanced: false,
                phase_dir: folder.name.clone(),
                outstanding_plans: outstanding,
                milestone_conflict: conflict,
                reason: "plans_outstanding",
            };
            return Ok(Some((AdvanceReport::PlansLeft(report), Edits::default())));
        }
    }
    let total = disk.map_or(plan.total, |disk| disk.plan_count.max(plan.total));
    if plan.current < total {
        put_plan(&mut edit, total, Some(total));
    }
    put_status(&mut edit, "Phase complete — ready for verification");
    put_mark(&mut edit, "READY FOR VERIFICATION");
    put_day(&mut edit, facts);
    note_position(&mut edit);
    let (written, mut edits) = close_with_mirror(view, edit, facts)?;
    claimed.edit(view, &mut edits)?;
    let report = LastPlan {
        advanced: false,
        reason: "last_plan",
        current_plan: total,
        total_plans: total,
        status: "ready_for_verification",
        updated: written.updated,
        milestone_conflict: conflict,
    };
    Ok(Some((AdvanceReport::LastPlan(report), edits)))
}

/// Moves the position to the first plan of `folder` that is still to be done; if all are done, sets the phase to ready
/// for verification. A position in another phase stays. `None` without STATE.md.
pub(crate) fn follow_plans(view: &ProjectView, folder: &PhaseFolder, facts: &Facts) -> EditedState<Written> {
    edited(view, facts, |state, edit| {
        if !state.position().phase.is_some_and(|phase| folder.id().matches(phase)) {
            return Ok(());
        }
        let disk = PlansOnDisk::of(view, folder)?;
        if disk.plan_count > 0 {
            put_plan(edit, disk.first_to_do(), Some(disk.plan_count));
        }
        if disk.to_do.is_empty() {
            put_status(edit, "Phase complete — ready for verification");
            put_mark(edit, "READY FOR VERIFICATION");
            put_activity(edit, &format!("Phase {} executed", view.label(folder.token())?.number), facts);
        } else {
            put_day(edit, facts);
        }
        note_position(edit);
        Ok(())
    })
}

/// Writes the number of finished plans of `folder` into the tables of metrics. `None` without STATE.md.
pub(crate) fn count_plans(view: &ProjectView, folder: &PhaseFolder, facts: &Facts) -> EditedState<Written> {
    edited(view, facts, |_, edit| {
        let done = PlansOnDisk::of(view, folder)?.summarized_count;
        edit.put_phase_row(&view.label(folder.token())?.number, usize::try_from(done).unwrap_or(usize::MAX));
        Ok(())
    })
}

/// STATE.md with the edits that `act` makes.
fn edited(
    view: &ProjectView,
    facts: &Facts,
    act: impl FnOnce(&State<'_>, &mut StateEdit<'_, '_>) -> Result<(), FileError>,
) -> EditedState<Written> {
    let Some(state) = open(view)? else { return Ok(None) };
    let mut edit = StateEdit::new(state);
    act(state, &mut edit)?;
    close_with_mirror(view, edit, facts).map(Some)
}

/// Writes the number of the plan and keeps the text after it: `3 of 3 in current phase`.
fn advance_field(edit: &mut StateEdit<'_, '_>, state: &State<'_>, next: u64) {
    for label in ["Current Plan", "Plan"] {
        let Some(field) = state.field(label) else { continue };
        let digits = field.value.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0
            && edit.set(label, &format!("{next}{}", &field.value[digits..])) == Set::Changed
            && label != "Plan"
        {
            edit.note(label);
        }
    }
}

fn unreadable(view: &ProjectView, folder: Option<&PhaseFolder>) -> Result<NoPosition, FileError> {
    let disk = folder.map(|folder| PlansOnDisk::of(view, folder)).transpose()?;
    let suggested = disk.as_ref().filter(|disk| disk.plan_count > 0).map(|disk| {
        let current = disk.first_to_do();
        let lines = vec![format!("Current Plan: {current}"), format!("Total Plans in Phase: {}", disk.plan_count)];
        Suggestion { current_plan: current, total_plans: disk.plan_count, lines }
    });
    let path = view.layout().state();
    let error = format!("`{path}` does not name the current plan; write `Plan: N of M` under Current Position");
    Ok(NoPosition {
        error,
        reason: "plan_position_unreadable",
        phase_dir: folder.map(|folder| folder.name.clone()),
        disk,
        suggested,
    })
}
