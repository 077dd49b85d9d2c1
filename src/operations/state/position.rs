//! The position moved: a phase begun, planned, advanced, completed.

use schemars::JsonSchema;
use serde::Serialize;

use super::claim::{self, Conflict};
use super::notes::Refusal;
use super::{Facts, Rule, StateEdit, StateError, Written, close, mirror, open};
use crate::operations::roadmap;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::phase::{self, PhaseId};
use crate::project::standing;
use crate::project::state::edit::Set;
use crate::project::state::index::is_day;
use crate::project::state::{POSITION, Position, State, is_of_programs, meaningful};
use crate::project::view::{Edits, ProjectView};

/// The phase a command speaks of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseRequest<'a> {
    /// As typed.
    pub(crate) phase: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) plans: Option<u64>,
}

/// What `state begin-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BeginReport {
    pub(crate) updated: Vec<String>,
    pub(crate) phase: String,
    pub(crate) phase_name: Option<String>,
    pub(crate) plan_count: Option<u64>,
    pub(crate) milestone_conflict: Option<Conflict>,
}

/// Puts the position on the first plan of a phase that is not done and claims the milestone for it. Begun again, a phase
/// keeps its plan. `None` without STATE.md.
pub(crate) fn begin(
    view: &ProjectView,
    request: PhaseRequest<'_>,
    facts: &Facts,
) -> Result<Option<(BeginReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    let known = state.position();
    let again = known.phase.is_some_and(|known| PhaseId::new(request.phase).matches(known)) && is_executing(&known);
    let disk = plans_on_disk(view, request.phase)?;
    let plans = request.plans.or(disk.as_ref().map(|disk| disk.plan_count));
    let place = Place::of(view, &state, request)?;
    let phase = place.number.as_str();
    let status = format!("Executing Phase {phase}");
    let goes_on = again && state.field("Status").is_some_and(|field| field.value.eq_ignore_ascii_case(&status));
    put_noted(&mut edit, "Status", &status, "Status");
    let how = if goes_on { "resumed (wave continue)" } else { "started" };
    put_activity(&mut edit, &format!("Phase {phase} execution {how}"), facts);
    edit.set_noted("Current focus", &place.focus(), "Current focus");
    put_phase(&mut edit, &place, EXECUTING);
    let plan = state.field("Plan").and_then(|field| PlanPosition::parse(field.value)).filter(|_| again);
    let first_open = disk.as_ref().map_or(1, PlansOnDisk::first_to_do);
    match (plan, plans) {
        (Some(_), None) => {}
        (plan, total) => {
            let is_to_do = |at: &u64| disk.as_ref().is_none_or(|disk| disk.to_do.contains(at));
            let current = plan.map(|plan| plan.current).filter(is_to_do).unwrap_or(first_open);
            // A plan beyond the last one is of another count; the phase starts over.
            let current = total.map_or(current, |total| match plan.filter(|plan| plan.current > total) {
                Some(_) => first_open.min(total),
                None => current.min(total),
            });
            if plan.is_none_or(|plan| (plan.current, Some(plan.total)) != (current, total)) {
                put_plan(&mut edit, current, total);
            }
        }
    }
    note_position(&mut edit);
    let claimed = claim::take(view, phase, facts)?;
    let written = close(view, edit, Rule::Refresh, facts)?;
    let mut edits = written.edits(view)?;
    claimed.edit(view, &mut edits)?;
    mirror::refresh(&mut edits, view, facts)?;
    let report = BeginReport {
        updated: written.updated,
        phase: place.number,
        phase_name: place.name,
        plan_count: request.plans,
        milestone_conflict: claimed.conflict,
    };
    Ok(Some((report, edits)))
}

/// What `state planned-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlannedReport {
    pub(crate) updated: Vec<String>,
    pub(crate) phase: String,
    pub(crate) plan_count: Option<u64>,
    /// The roadmap lists the plans now.
    pub(crate) roadmap_updated: bool,
    /// The phase was closed and has a plan to execute again.
    pub(crate) reopened: bool,
}

/// Says that a phase is planned and ready to be executed, in STATE.md and in the roadmap. One that was closed is open
/// again. `None` without STATE.md.
pub(crate) fn planned(
    view: &ProjectView,
    request: PhaseRequest<'_>,
    facts: &Facts,
) -> Result<Option<(PlannedReport, Edits)>, StateError> {
    if open(view)?.is_none() {
        return Ok(None);
    }
    let mut edits = Edits::default();
    let reopened = roadmap::note_planned(view, request.phase, request.plans, &facts.today, &mut edits)?;
    let roadmap_updated = !edits.is_empty();
    let after = view.after(&edits);
    let Some(text) = open(&after)? else { return Ok(None) };
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    let place = Place::of(&after, &state, request)?;
    // Planned is not begun: "Ready to execute" is what stands between two plans of a phase at work.
    put_status(&mut edit, "Planning complete");
    put_activity(&mut edit, &format!("Phase {} planning complete", place.number), facts);
    put_phase(&mut edit, &place, "READY TO EXECUTE");
    if reopened {
        edit.set_noted("Current focus", &place.focus(), "Current focus");
    }
    let disk = plans_on_disk(&after, request.phase)?;
    if let Some(plans) = request.plans {
        edit.set_noted("Total Plans in Phase", &plans.to_string(), "Total Plans in Phase");
    }
    if let Some(disk) = disk.filter(|disk| reopened || disk.summarized_count > 0) {
        put_plan(&mut edit, disk.first_to_do(), Some(disk.plan_count));
    }
    note_position(&mut edit);
    // What was counted as complete no longer is.
    let rule = if reopened { Rule::Recount } else { Rule::Refresh };
    let written = close(&after, edit, rule, facts)?;
    edits.write(view, &view.layout().state(), written.text)?;
    mirror::refresh(&mut edits, view, facts)?;
    let report = PlannedReport {
        updated: written.updated,
        phase: place.number,
        plan_count: request.plans,
        roadmap_updated,
        reopened,
    };
    Ok(Some((report, edits)))
}

/// What `state complete-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum CompleteReport {
    Complete(Completed),
    /// Neither the call nor STATE.md names a phase.
    Refused(Refusal),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Completed {
    pub(crate) updated: Vec<String>,
    pub(crate) phase: String,
    /// Present and true where the position is at a later phase: nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Marks a phase complete, by default the current one. Refuses what is not a phase number; a position at a later phase
/// does not move back. `None` without STATE.md.
pub(crate) fn complete(
    view: &ProjectView,
    phase: Option<&str>,
    facts: &Facts,
) -> Result<Option<(CompleteReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let named = |phase: &&str| Position::parse(phase).is_some();
    let Some(phase) = phase.or(state.position().phase).filter(named) else {
        let refusal = Refusal::new("phase required: --phase <N>");
        return Ok(Some((CompleteReport::Refused(refusal), Edits::default())));
    };
    let place = Place::of(view, &state, PhaseRequest { phase, name: None, plans: None })?;
    if let Some(later) = state.position().phase.filter(|at| phase::compare(at, phase).is_gt()) {
        let note = format!("the position is at phase {later}, which comes after phase {}; nothing to do", place.number);
        let report = Completed { updated: Vec::new(), phase: place.number, idempotent: Some(true), note: Some(note) };
        return Ok(Some((CompleteReport::Complete(report), Edits::default())));
    }
    let mut edit = StateEdit::new(&state);
    put_phase(&mut edit, &place, "COMPLETE");
    note_position(&mut edit);
    put_noted(&mut edit, "Status", &format!("Phase {} complete", place.number), "Status");
    put_activity(&mut edit, &format!("Phase {} marked complete", place.number), facts);
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    let report = Completed { updated: written.updated, phase: place.number, idempotent: None, note: None };
    Ok(Some((CompleteReport::Complete(report), edits)))
}

/// What `state advance-plan` answers; the fields are those of the case.
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

/// STATE.md does not tell which plan is at work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoPosition {
    pub(crate) error: String,
    pub(crate) reason: &'static str,
    pub(crate) phase_dir: Option<String>,
    pub(crate) disk: Option<PlansOnDisk>,
    pub(crate) suggested: Option<Suggestion>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PlansOnDisk {
    pub(crate) plan_count: u64,
    pub(crate) summarized_count: u64,
    /// The places among the plans of those that are still to be done, from 1.
    #[serde(skip)]
    to_do: Vec<u64>,
}

/// Lines that would tell the position.
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

/// Moves the position to the next plan; behind the last, says that the phase is ready to be verified. A position that
/// cannot be read, and plans without a summary, change nothing. `None` without STATE.md.
pub(crate) fn advance(view: &ProjectView, facts: &Facts) -> Result<Option<(AdvanceReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let phase = state.position().phase;
    let folder = phase.map(|phase| view.find_phase(phase)).transpose()?.and_then(|lookup| lookup.folder);
    let Some(plan) = PlanPosition::of(&state) else {
        return Ok(Some((AdvanceReport::NoPosition(unreadable(view, folder.as_ref())?), Edits::default())));
    };
    let claimed = claim::renew(view, phase.unwrap_or_default(), facts)?;
    let conflict = claimed.conflict.clone();
    let disk = folder.as_ref().map(|folder| PlansOnDisk::of(view, folder)).transpose()?;
    let disk = disk.filter(|disk| disk.plan_count > 0);
    let all_done = disk.as_ref().is_some_and(|disk| disk.to_do.is_empty());
    let mut edit = StateEdit::new(&state);
    let next = disk.as_ref().map_or(Some(plan.current + 1), |disk| disk.next_to_do(plan.current));
    if let Some(next) = next.filter(|next| *next <= plan.total && plan.current < plan.total && !all_done) {
        advance_field(&mut edit, &state, next);
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

/// Puts the position on the first plan of `folder` that is still to be done; where none is, says that the phase is
/// ready to be verified. A position in another phase stays. `None` without STATE.md.
pub(crate) fn follow_plans(
    view: &ProjectView,
    folder: &PhaseFolder,
    facts: &Facts,
) -> Result<Option<(Written, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    if state.position().phase.is_some_and(|phase| folder.id().matches(phase)) {
        let disk = PlansOnDisk::of(view, folder)?;
        if disk.plan_count > 0 {
            put_plan(&mut edit, disk.first_to_do(), Some(disk.plan_count));
        }
        if disk.to_do.is_empty() {
            put_status(&mut edit, "Phase complete — ready for verification");
            put_mark(&mut edit, "READY FOR VERIFICATION");
            put_activity(&mut edit, &format!("Phase {} executed", view.label(folder.token())?.number), facts);
        } else {
            put_day(&mut edit, facts);
        }
        note_position(&mut edit);
    }
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    Ok(Some((written, edits)))
}

/// Writes into the tables of metrics how many plans of `folder` are done. `None` without STATE.md.
pub(crate) fn count_plans(
    view: &ProjectView,
    folder: &PhaseFolder,
    facts: &Facts,
) -> Result<Option<(Written, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    let done = PlansOnDisk::of(view, folder)?.summarized_count;
    edit.put_phase_row(&view.label(folder.token())?.number, usize::try_from(done).unwrap_or(usize::MAX));
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    Ok(Some((written, edits)))
}

/// One phase completed and the next one up: what `phase complete` says in STATE.md.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition<'a> {
    /// The completed phase, as typed.
    pub(crate) completed: &'a str,
    /// How many plans it had.
    pub(crate) plans: usize,
    /// Number and name of the next phase; `None` if it was the last one.
    pub(crate) next: Option<(&'a str, Option<&'a str>)>,
}

/// Makes the edits of a transition: position, focus, status, activity, session, and the tables of what was done. A position
/// at a phase that comes after the completed one stays. Close it with [`Rule::Measure`], on `view`, in which the roadmap
/// knows that the phase is complete.
pub(crate) fn move_on(
    view: &ProjectView,
    edit: &mut StateEdit<'_, '_>,
    transition: &Transition<'_>,
    facts: &Facts,
) -> Result<(), FileError> {
    let done = transition.completed;
    edit.put_phase_row(done, transition.plans);
    if edit.state().position().phase.is_some_and(|at| phase::compare(at, done).is_gt()) {
        return Ok(());
    }
    let (at, name) = transition.next.unwrap_or((done, None));
    let place = Place::of(view, edit.state(), PhaseRequest { phase: at, name, plans: None })?;
    let at = place.number.as_str();
    put_phase(edit, &place, if transition.next.is_some() { READY_TO_PLAN } else { "COMPLETE" });
    if transition.next.is_some()
        && (edit.set("Current Plan", "Not started") == Set::Absent || edit.state().field("Plan").is_some())
    {
        edit.put("Plan", "Not started");
    }
    let done = view.label(done)?.number;
    if transition.next.is_some() {
        edit.set_noted("Current focus", &place.focus(), "Current focus");
        put_noted(edit, "Status", "Ready to plan", "Status");
        put_activity(edit, &format!("Phase {done} complete, transitioned to Phase {at}"), facts);
        edit.set_noted("Stopped at", &format!("Phase {done} complete, ready to plan Phase {at}"), "Stopped At");
    } else {
        edit.set_noted("Current focus", ALL_COMPLETE, "Current focus");
        put_noted(edit, "Status", ALL_COMPLETE, "Status");
        put_activity(edit, &format!("Phase {done} complete"), facts);
        edit.set_noted("Stopped at", &format!("Phase {done} complete — all phases complete"), "Stopped At");
    }
    note_position(edit);
    Ok(())
}

/// Puts the position of a STATE.md that has none where the work is by roadmap and disk: on the first phase that is not
/// closed. `activity` is what happened. Returns the phase; `None` if the roadmap has none.
pub(super) fn fill_position(
    view: &ProjectView,
    edit: &mut StateEdit<'_, '_>,
    activity: &str,
    facts: &Facts,
) -> Result<Option<String>, FileError> {
    let Some(text) = view.roadmap_text()? else { return Ok(None) };
    let known = view.parse_roadmap(&text);
    let ids: Vec<String> = view.milestone_in(&known)?.phase_ids(&known).into_iter().map(str::to_owned).collect();
    let open = ids.iter().find(|id| !standing::is_closed(&known, id));
    let Some(at) = open.or(ids.last()) else { return Ok(None) };
    let place = Place::of(view, edit.state(), PhaseRequest { phase: at, name: None, plans: None })?;
    let disk = plans_on_disk(view, at)?;
    let number = &place.number;
    let (mark, status) = match &disk {
        _ if open.is_none() => ("COMPLETE", ALL_COMPLETE.to_owned()),
        None => (READY_TO_PLAN, "Ready to plan".to_owned()),
        Some(disk) if disk.summarized_count == 0 => ("READY TO EXECUTE", "Ready to execute".to_owned()),
        Some(disk) if disk.summarized_count < disk.plan_count => (EXECUTING, format!("Executing Phase {number}")),
        Some(_) => ("READY FOR VERIFICATION", "Phase complete — ready for verification".to_owned()),
    };
    put_phase(edit, &place, mark);
    match disk.filter(|_| open.is_some()) {
        Some(disk) => put_plan(edit, disk.first_to_do(), Some(disk.plan_count)),
        None if open.is_some() && edit.state().field("Plan").is_some() => drop(edit.put("Plan", "Not started")),
        None => {}
    }
    edit.put("Status", &status);
    edit.set("Current focus", &if open.is_some() { place.focus() } else { ALL_COMPLETE.to_owned() });
    put_activity(edit, activity, facts);
    Ok(Some(place.line(mark)))
}

/// Moves the position to a phase that `edits` add after everything was complete. Where something else is left to do, it
/// stays; so does a STATE.md with a line that keeps it from being edited, since the roadmap can be changed without it.
pub(crate) fn go_on(view: &ProjectView, edits: &mut Edits, facts: &Facts) -> Result<(), StateError> {
    let after = view.after(edits);
    let text = match open(&after) {
        Err(StateError::Garbled { .. }) => None,
        opened => opened?,
    };
    if let Some(text) = text {
        let state = State::parse(&text);
        let mut edit = StateEdit::new(&state);
        if is_all_complete(&state) && fill_position(&after, &mut edit, "Phase added", facts)?.is_some() {
            let written = close(&after, edit, Rule::Recount, facts)?;
            edits.write(view, &view.layout().state(), written.text)?;
        }
    }
    mirror::refresh(edits, view, facts)
}

/// Whether STATE.md says that nothing is left to do.
pub(crate) fn is_all_complete(state: &State<'_>) -> bool {
    state.value("Status").is_some_and(|status| status.eq_ignore_ascii_case(ALL_COMPLETE))
}

fn close_with_mirror(
    view: &ProjectView,
    edit: StateEdit<'_, '_>,
    facts: &Facts,
) -> Result<(Written, Edits), StateError> {
    let written = close(view, edit, Rule::Refresh, facts)?;
    let mut edits = written.edits(view)?;
    mirror::refresh(&mut edits, view, facts)?;
    Ok((written, edits))
}

fn is_executing(position: &Position<'_>) -> bool {
    position.mark.is_some_and(|mark| mark.eq_ignore_ascii_case("executing"))
}

/// A phase as the position shows it.
#[derive(Clone, Debug)]
struct Place {
    number: String,
    name: Option<String>,
    /// How many phases there are.
    total: Option<u64>,
}

impl Place {
    /// The place of the phase that a call speaks of. Number and name are the roadmap's; where it has no name, the name is
    /// that of the call, or else of the position, where it is the same phase.
    fn of(view: &ProjectView, state: &State<'_>, request: PhaseRequest<'_>) -> Result<Self, FileError> {
        let label = view.label(request.phase)?;
        let known = state.position();
        let same = known.phase.is_some_and(|known| PhaseId::new(request.phase).matches(known));
        let otherwise = request.name.or(known.name.filter(|_| same)).map(str::to_owned);
        let written = known.total.and_then(|total| total.parse().ok());
        // A phase that the roadmap does not name keeps the spelling it has.
        let spelled = known.phase.filter(|_| same && label.name.is_none() && label.number == request.phase);
        Ok(Self {
            number: spelled.map_or(label.number, str::to_owned),
            name: label.name.or(otherwise),
            total: view.last_number()?.max(written),
        })
    }

    /// `3 of 5 (Sync) — EXECUTING`.
    fn line(&self, mark: &str) -> String {
        let total = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let name = self.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        format!("{}{total}{name} — {mark}", self.number)
    }

    /// `Phase 3 — Sync`.
    fn focus(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" — {name}")).unwrap_or_default();
        format!("Phase {}{name}", self.number)
    }
}

/// The word of the position for a phase whose plans are being executed.
const EXECUTING: &str = "EXECUTING";

/// The status once nothing is left to do.
const ALL_COMPLETE: &str = "All phases complete";

/// The word of the position for a phase of the roadmap that has no plan.
pub(super) const READY_TO_PLAN: &str = "READY TO PLAN";

fn put_noted(edit: &mut StateEdit<'_, '_>, label: &str, value: &str, name: &str) {
    if edit.put(label, value) == Set::Changed {
        edit.note(name);
    }
}

/// Writes the status a step of the work leads to. One that a person wrote in words of their own stays.
fn put_status(edit: &mut StateEdit<'_, '_>, status: &str) {
    let written = edit.state().field("Status").map(|field| field.value);
    if written.is_none_or(is_of_programs) {
        put_noted(edit, "Status", status, "Status");
    }
}

/// Writes the day of the last activity where it is told alone: a description would be of something else.
fn put_day(edit: &mut StateEdit<'_, '_>, facts: &Facts) {
    let state = edit.state();
    let described = state.value("Last Activity Description").is_some();
    let written = state.field("Last activity").map(|field| field.value).filter(|_| !described);
    if written.is_some_and(|value| meaningful(value).is_none_or(is_day)) {
        edit.set_noted("Last activity", &facts.today, "Last Activity");
    }
}

/// Writes day and text of the last activity, into one field or into the two of older files.
fn put_activity(edit: &mut StateEdit<'_, '_>, text: &str, facts: &Facts) {
    if edit.state().field("Last Activity Description").is_some() {
        put_noted(edit, "Last activity", &facts.today, "Last Activity");
        edit.set_noted("Last Activity Description", text, "Last Activity Description");
    } else {
        put_noted(edit, "Last activity", &format!("{} — {text}", facts.today), "Last Activity");
    }
}

/// Writes `3 of 5 (Sync) — EXECUTING`, and the explicit fields of older files.
fn put_phase(edit: &mut StateEdit<'_, '_>, place: &Place, mark: &str) {
    let explicit = edit.state().field("Current Phase").is_some();
    if !explicit || edit.state().field("Phase").is_some() {
        edit.put("Phase", &place.line(mark));
    }
    edit.set_noted("Current Phase", &place.number, "Current Phase");
    if let Some(name) = &place.name {
        edit.set_noted("Current Phase Name", name, "Current Phase Name");
    }
}

/// Replaces the word behind the phase; a phase without one stays so.
fn put_mark(edit: &mut StateEdit<'_, '_>, mark: &str) {
    let Some(field) = edit.state().field("Phase") else { return };
    let Some(old) = Position::parse(field.value).and_then(|position| position.mark) else { return };
    if let Some(rest) = field.value.strip_suffix(old) {
        edit.set("Phase", &format!("{rest}{mark}"));
    }
}

fn put_plan(edit: &mut StateEdit<'_, '_>, current: u64, total: Option<u64>) {
    let explicit = edit.state().field("Current Plan").is_some();
    let shown = total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    if !explicit || edit.state().field("Plan").is_some() {
        edit.put("Plan", &format!("{current} of {shown}"));
    }
    edit.set_noted("Current Plan", &current.to_string(), "Current Plan");
    if total.is_some() {
        edit.set_noted("Total Plans in Phase", &shown, "Total Plans in Phase");
    }
}

fn note_position(edit: &mut StateEdit<'_, '_>) {
    if edit.touches(POSITION) {
        edit.note("Current Position");
    }
}

/// Which plan of how many is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanPosition {
    current: u64,
    pub(crate) total: u64,
}

impl PlanPosition {
    /// From `Current Plan` and `Total Plans in Phase`, `Current Plan: 2 of 3`, or `Plan: 2 of 3`.
    pub(crate) fn of(state: &State<'_>) -> Option<Self> {
        let number = |label: &str| state.value(label)?.parse().ok();
        if let (Some(current), Some(total)) = (number("Current Plan"), number("Total Plans in Phase")) {
            return Some(Self { current, total });
        }
        ["Current Plan", "Plan"].iter().find_map(|label| Self::parse(state.value(label)?))
    }

    /// `2 of 3`, whatever follows.
    fn parse(value: &str) -> Option<Self> {
        let (current, rest) = value.split_once(" of ")?;
        let digits = rest.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        Some(Self { current: current.trim().parse().ok()?, total: rest.trim_start()[..digits].parse().ok()? })
    }
}

/// Writes the number of the plan and keeps what follows it: `3 of 3 in current phase`.
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

impl PlansOnDisk {
    fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, FileError> {
        let (plans, open) = (view.current_plans(folder)?, view.open_plans(folder)?);
        let to_do: Vec<u64> = (1..).zip(&plans).filter(|(_, plan)| open.contains(plan)).map(|(at, _)| at).collect();
        let count = |plans: &[String]| u64::try_from(plans.len()).unwrap_or(0);
        Ok(Self { plan_count: count(&plans), summarized_count: count(&plans) - count(&open), to_do })
    }

    /// The place of the first plan that is still to be done; of the last one where all are.
    fn first_to_do(&self) -> u64 {
        self.to_do.first().copied().unwrap_or(self.plan_count)
    }

    /// The place of the next plan to do after the one at `current`.
    fn next_to_do(&self, current: u64) -> Option<u64> {
        self.to_do.iter().copied().find(|at| *at > current)
    }
}

/// The plans of a phase, if it has any.
fn plans_on_disk(view: &ProjectView, phase: &str) -> Result<Option<PlansOnDisk>, FileError> {
    let Some(folder) = view.find_phase(phase)?.folder else { return Ok(None) };
    Ok(Some(PlansOnDisk::of(view, &folder)?).filter(|disk| disk.plan_count > 0))
}

fn unreadable(view: &ProjectView, folder: Option<&PhaseFolder>) -> Result<NoPosition, FileError> {
    let disk = folder.map(|folder| PlansOnDisk::of(view, folder)).transpose()?;
    let suggested = disk.as_ref().filter(|disk| disk.plan_count > 0).map(|disk| {
        let current = disk.first_to_do();
        let lines = vec![format!("Current Plan: {current}"), format!("Total Plans in Phase: {}", disk.plan_count)];
        Suggestion { current_plan: current, total_plans: disk.plan_count, lines }
    });
    let path = view.layout().state();
    let error =
        format!("no field of `{path}` tells which plan is at work; write `Plan: N of M` under Current Position");
    Ok(NoPosition {
        error,
        reason: "plan_position_unreadable",
        phase_dir: folder.map(|folder| folder.name.clone()),
        disk,
        suggested,
    })
}
