//! The position moved: a phase begun, planned, advanced, completed.

use schemars::JsonSchema;
use serde::Serialize;

use super::claim::{self, Conflict};
use super::notes::Refusal;
use super::{Facts, Rule, StateEdit, StateError, Written, close, mirror, open};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::phase::PhaseId;
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

/// Puts the position on the first plan of a phase and claims the milestone for it. Begun again, a phase keeps its plan.
/// `None` without STATE.md.
pub(crate) fn begin(
    view: &ProjectView,
    request: PhaseRequest<'_>,
    facts: &Facts,
) -> Result<Option<(BeginReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let phase = request.phase;
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    let known = state.position();
    let again = known.phase.is_some_and(|known| PhaseId::new(phase).matches(known)) && is_executing(&known);
    let plans = request.plans.map_or_else(|| plans_on_disk(view, phase), |plans| Ok(Some(plans)))?;
    let name = name_for(&request, &known);
    let status = format!("Executing Phase {phase}");
    let goes_on = again && state.field("Status").is_some_and(|field| field.value.eq_ignore_ascii_case(&status));
    put_noted(&mut edit, "Status", &status, "Status");
    let how = if goes_on { "resumed (wave continue)" } else { "started" };
    put_activity(&mut edit, &format!("Phase {phase} execution {how}"), facts);
    let focus = name.map_or_else(|| format!("Phase {phase}"), |name| format!("Phase {phase} — {name}"));
    edit.set_noted("Current focus", &focus, "Current focus");
    put_phase(&mut edit, phase, name, Some("EXECUTING"));
    let plan = state.field("Plan").and_then(|field| PlanPosition::parse(field.value)).filter(|_| again);
    match (plan, plans) {
        (Some(plan), Some(total)) if plan.total == total => {}
        (Some(plan), Some(total)) if plan.current <= total => put_plan(&mut edit, plan.current, Some(total)),
        (Some(_), None) => {}
        (_, total) => put_plan(&mut edit, 1, total),
    }
    note_position(&mut edit);
    let claimed = claim::take(view, phase, facts)?;
    let written = close(view, edit, Rule::Refresh, facts)?;
    let mut edits = written.edits(view)?;
    claimed.edit(view, &mut edits)?;
    mirror::refresh(&mut edits, view, facts)?;
    let report = BeginReport {
        updated: written.updated,
        phase: phase.to_owned(),
        phase_name: request.name.map(str::to_owned),
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
}

/// Says that a phase is planned and ready to be executed. `None` without STATE.md.
pub(crate) fn planned(
    view: &ProjectView,
    request: PhaseRequest<'_>,
    facts: &Facts,
) -> Result<Option<(PlannedReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let phase = request.phase;
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    put_status(&mut edit, "Ready to execute");
    put_activity(&mut edit, &format!("Phase {phase} planning complete"), facts);
    put_phase(&mut edit, phase, name_for(&request, &state.position()), Some("READY TO EXECUTE"));
    if let Some(plans) = request.plans {
        edit.set_noted("Total Plans in Phase", &plans.to_string(), "Total Plans in Phase");
    }
    note_position(&mut edit);
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    Ok(Some((PlannedReport { updated: written.updated, phase: phase.to_owned(), plan_count: request.plans }, edits)))
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
}

/// Says that a phase is complete; without one, the phase at work. What is no number of a phase is refused. `None`
/// without STATE.md.
pub(crate) fn complete(
    view: &ProjectView,
    phase: Option<&str>,
    facts: &Facts,
) -> Result<Option<(CompleteReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let state = State::parse(&text);
    let named = |phase: &&str| Position::parse(phase).is_some();
    let Some(phase) = phase.or(state.position().phase).filter(named) else {
        let refusal = Refusal { error: "phase required: --phase <N>" };
        return Ok(Some((CompleteReport::Refused(refusal), Edits::default())));
    };
    let mut edit = StateEdit::new(&state);
    put_phase(&mut edit, phase, None, Some("COMPLETE"));
    note_position(&mut edit);
    put_noted(&mut edit, "Status", &format!("Phase {phase} complete"), "Status");
    put_activity(&mut edit, &format!("Phase {phase} marked complete"), facts);
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    let report = Completed { updated: written.updated, phase: phase.to_owned() };
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

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct PlansOnDisk {
    pub(crate) plan_count: u64,
    pub(crate) summarized_count: u64,
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
    let mut edit = StateEdit::new(&state);
    if plan.current < plan.total {
        let next = plan.current + 1;
        advance_field(&mut edit, &state, next);
        put_status(&mut edit, "Ready to execute");
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
        let outstanding = outstanding(view, folder)?;
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
    put_status(&mut edit, "Phase complete — ready for verification");
    put_day(&mut edit, facts);
    note_position(&mut edit);
    let (written, mut edits) = close_with_mirror(view, edit, facts)?;
    claimed.edit(view, &mut edits)?;
    let report = LastPlan {
        advanced: false,
        reason: "last_plan",
        current_plan: plan.current,
        total_plans: plan.total,
        status: "ready_for_verification",
        updated: written.updated,
        milestone_conflict: conflict,
    };
    Ok(Some((AdvanceReport::LastPlan(report), edits)))
}

/// Puts the position on the first plan of `folder` without a summary; once every plan has one, says that the phase is
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
        let total = u64::try_from(view.current_plans(folder)?.len()).unwrap_or(0);
        let open = u64::try_from(outstanding(view, folder)?.len()).unwrap_or(0);
        if total > 0 {
            put_plan(&mut edit, (total - open + 1).min(total), Some(total));
        }
        if open == 0 {
            put_status(&mut edit, "Phase complete — ready for verification");
        }
        put_day(&mut edit, facts);
        note_position(&mut edit);
    }
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

/// Makes the edits of a transition: position, status, activity, session, and the tables of what was done. Close it with
/// [`Rule::Measure`], on a view in which the roadmap knows that the phase is complete.
pub(crate) fn move_on(edit: &mut StateEdit<'_, '_>, transition: &Transition<'_>, facts: &Facts) {
    let done = transition.completed;
    edit.put_phase_row(done, transition.plans);
    let position = edit.state().position();
    let is_same = position.phase.is_some_and(|phase| PhaseId::new(done).matches(phase));
    let (at, name) = transition.next.unwrap_or((done, position.name.filter(|_| is_same)));
    match position.total.filter(|_| edit.state().field("Phase").is_some()) {
        Some(total) => {
            let shown = name.map(|name| format!(" ({name})")).unwrap_or_default();
            edit.set("Phase", &format!("{at} of {total}{shown}"));
            set_explicit_phase(edit, at, name);
        }
        None if transition.next.is_none() => put_phase_line(edit, at, "", None),
        None => put_phase_line(edit, at, &name.map(|name| format!(" — {name}")).unwrap_or_default(), name),
    }
    if edit.set("Current Plan", "Not started") == Set::Absent || edit.state().field("Plan").is_some() {
        edit.put("Plan", "Not started");
    }
    if transition.next.is_some() {
        put_noted(edit, "Status", "Ready to plan", "Status");
        put_activity(edit, &format!("Phase {done} complete, transitioned to Phase {at}"), facts);
        edit.set_noted("Stopped at", &format!("Phase {done} complete, ready to plan Phase {at}"), "Stopped At");
    } else {
        put_noted(edit, "Status", "All phases complete", "Status");
        put_activity(edit, &format!("Phase {done} complete"), facts);
        edit.set_noted("Stopped at", &format!("Phase {done} complete — all phases complete"), "Stopped At");
    }
    note_position(edit);
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

/// The name of a request; without one, that of the position, where it is the same phase.
fn name_for<'a>(request: &PhaseRequest<'a>, known: &Position<'a>) -> Option<&'a str> {
    let same = known.phase.is_some_and(|known| PhaseId::new(request.phase).matches(known));
    request.name.or(known.name.filter(|_| same))
}

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

/// Writes `3 (Sync) — EXECUTING`, and the explicit fields of older files.
fn put_phase(edit: &mut StateEdit<'_, '_>, phase: &str, name: Option<&str>, mark: Option<&str>) {
    let mut tail = name.map(|name| format!(" ({name})")).unwrap_or_default();
    if let Some(mark) = mark {
        tail.push_str(" — ");
        tail.push_str(mark);
    }
    put_phase_line(edit, phase, &tail, name);
}

fn put_phase_line(edit: &mut StateEdit<'_, '_>, phase: &str, tail: &str, name: Option<&str>) {
    let explicit = edit.state().field("Current Phase").is_some();
    if !explicit || edit.state().field("Phase").is_some() {
        edit.put("Phase", &format!("{phase}{tail}"));
    }
    set_explicit_phase(edit, phase, name);
}

fn set_explicit_phase(edit: &mut StateEdit<'_, '_>, phase: &str, name: Option<&str>) {
    edit.set_noted("Current Phase", phase, "Current Phase");
    if let Some(name) = name {
        edit.set_noted("Current Phase Name", name, "Current Phase Name");
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

fn plans_on_disk(view: &ProjectView, phase: &str) -> Result<Option<u64>, FileError> {
    let Some(folder) = view.find_phase(phase)?.folder else { return Ok(None) };
    let count = u64::try_from(view.current_plans(&folder)?.len()).unwrap_or(0);
    Ok((count > 0).then_some(count))
}

/// The plans of a phase without a summary.
fn outstanding(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
    let plans = view.current_plans(folder)?;
    Ok(plans.into_iter().filter(|plan| folder.summary_of(plan).is_none()).collect())
}

fn unreadable(view: &ProjectView, folder: Option<&PhaseFolder>) -> Result<NoPosition, FileError> {
    let disk = match folder {
        Some(folder) => {
            let all = u64::try_from(view.current_plans(folder)?.len()).unwrap_or(0);
            let open = u64::try_from(outstanding(view, folder)?.len()).unwrap_or(0);
            Some(PlansOnDisk { plan_count: all, summarized_count: all - open })
        }
        None => None,
    };
    let suggested = disk.filter(|disk| disk.plan_count > 0).map(|disk| {
        let current = (disk.summarized_count + 1).min(disk.plan_count);
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
