//! Moves the position: a phase is started, planned, advanced or completed.

use schemars::JsonSchema;
use serde::Serialize;

use super::claim::{self, Conflict};
use super::fields::{
    PlanPosition, PlansOnDisk, close_with_mirror, is_executing, note_position, plans_on_disk, put_activity,
    put_new_status, put_plan, put_status,
};
use super::{EditedState, Facts, Rule, StateEdit, close, mirror, open};
use crate::failure::Failure;
use crate::operations::roadmap::analyze;
use crate::project::files::FileError;
use crate::project::label::total_for;
use crate::project::phase::{self, PhaseId};
use crate::project::standing;
use crate::project::state::edit::Set;
use crate::project::state::{Position, State};
use crate::project::view::{Edits, ProjectView};
use crate::text::splice::with_parts;

/// The phase that a command is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseRequest<'a> {
    /// The phase as typed.
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

/// Moves the position to the first plan of a phase that is not done, and claims the milestone for it. A phase that is
/// started again keeps its plan. `None` without STATE.md.
pub(crate) fn begin(view: &ProjectView, request: PhaseRequest<'_>, facts: &Facts) -> EditedState<BeginReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let mut edit = StateEdit::new(state);
    let known = state.position();
    let is_at = |phase: &str| PhaseId::new(request.phase).matches(phase);
    let executing = |status: &str| status.strip_prefix("Executing Phase ").is_some_and(|phase| is_at(phase.trim()));
    let said = state.field("Status").is_some_and(|field| executing(field.value));
    let again = known.phase.is_some_and(is_at) && (is_executing(&known) || (known.mark.is_none() && said));
    let disk = plans_on_disk(view, request.phase)?;
    let plans = request.plans.or(disk.as_ref().map(|disk| disk.plan_count));
    // A phase in execution keeps its name.
    let name = known.name.filter(|_| again).or(request.name);
    let place = ShownPhase::of(view, state, PhaseRequest { name, ..request })?;
    let phase = place.number.as_str();
    let status = format!("Executing Phase {phase}");
    let goes_on = again && state.field("Status").is_some_and(|field| field.value.eq_ignore_ascii_case(&status));
    put_new_status(&mut edit, &status);
    let how = if goes_on { "resumed (wave continue)" } else { "started" };
    put_activity(&mut edit, &format!("Phase {phase} execution {how}"), facts);
    edit.set_noted("Current focus", &place.focus(), "Current focus");
    // A phase that continues without a word after it needs none.
    put_phase(&mut edit, &place, Some(EXECUTING).filter(|_| !again || known.mark.is_some()));
    let plan = state.field("Plan").and_then(|field| PlanPosition::parse(field.value)).filter(|_| again);
    let first_open = disk.as_ref().map_or(1, PlansOnDisk::first_to_do);
    match (plan, plans) {
        (Some(_), None) => {}
        (plan, total) => {
            let is_to_do = |at: &u64| disk.as_ref().is_none_or(|disk| disk.to_do.contains(at));
            let current = plan.map(|plan| plan.current).filter(is_to_do).unwrap_or(first_open);
            // A plan number above the total belongs to another count; the phase starts over.
            let current = total.map_or(current, |total| match plan.filter(|plan| plan.current > total) {
                Some(_) => first_open.min(total),
                None => current.min(total),
            });
            if plan.is_none_or(|plan| (plan.current, Some(plan.total)) != (current, total)) {
                put_plan(&mut edit, current, total);
            }
        }
    }
    // Resumed work keeps its position.
    if !goes_on {
        note_position(&mut edit);
    }
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
    /// The roadmap now lists the plans.
    pub(crate) roadmap_updated: bool,
    /// The phase was closed and again has a plan to execute.
    pub(crate) reopened: bool,
}

/// Marks a phase as planned and ready to execute, in STATE.md and in the roadmap. A closed phase is reopened. `None`
/// without STATE.md.
pub(crate) fn planned(view: &ProjectView, request: PhaseRequest<'_>, facts: &Facts) -> EditedState<PlannedReport> {
    if open(view)?.is_none() {
        return Ok(None);
    }
    let mut edits = Edits::default();
    let reopened = analyze::note_planned(view, request.phase, request.plans, &facts.today, &mut edits)?;
    let roadmap_updated = !edits.is_empty();
    let after = view.after(&edits);
    let Some(state) = open(&after)? else { return Ok(None) };
    let mut edit = StateEdit::new(state);
    let place = ShownPhase::of(&after, state, request)?;
    put_status(&mut edit, "Ready to execute");
    put_activity(&mut edit, &format!("Phase {} planning complete", place.number), facts);
    put_phase(&mut edit, &place, Some("READY TO EXECUTE"));
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
    // Counts of completed work can become lower.
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
pub(crate) struct Completed {
    pub(crate) updated: Vec<String>,
    pub(crate) phase: String,
    /// Present and true if the position is at a later phase: nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Marks a phase complete, by default the current one. Refuses text that is not a phase number; a position at a later
/// phase does not move back. `None` without STATE.md.
pub(crate) fn complete(view: &ProjectView, phase: Option<&str>, facts: &Facts) -> EditedState<Completed> {
    let Some(state) = open(view)? else { return Ok(None) };
    let named = |phase: &&str| Position::parse(phase).is_some();
    let Some(phase) = phase.or(state.position().phase).filter(named) else {
        return Err(Failure::refused("`state complete-phase` needs --phase"));
    };
    let place = ShownPhase::of(view, state, PhaseRequest { phase, name: None, plans: None })?;
    if let Some(later) = state.position().phase.filter(|at| phase::compare(at, phase).is_gt()) {
        let note = format!("the position is at phase {later}, which comes after phase {}; nothing to do", place.number);
        let report = Completed { updated: Vec::new(), phase: place.number, idempotent: Some(true), note: Some(note) };
        return Ok(Some((report, Edits::default())));
    }
    let mut edit = StateEdit::new(state);
    put_phase(&mut edit, &place, Some("COMPLETE"));
    note_position(&mut edit);
    put_new_status(&mut edit, &format!("Phase {} complete", place.number));
    put_activity(&mut edit, &format!("Phase {} marked complete", place.number), facts);
    let (written, edits) = close_with_mirror(view, edit, facts)?;
    let report = Completed { updated: written.updated, phase: place.number, idempotent: None, note: None };
    Ok(Some((report, edits)))
}

/// The transition from a completed phase to the next one, as `phase complete` writes it to STATE.md.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition<'a> {
    /// The completed phase, as typed.
    pub(crate) completed: &'a str,
    /// The number of its plans.
    pub(crate) plans: usize,
    /// Number and name of the next phase; `None` if it was the last one.
    pub(crate) next: Option<(&'a str, Option<&'a str>)>,
}

/// Makes the edits of a transition: position, focus, status, activity, session, and the tables of finished work. A
/// position at a later phase stays. Close it with [`Rule::Measure`], on a `view` in which the roadmap marks the phase
/// as complete.
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
    let place = ShownPhase::of(view, edit.state(), PhaseRequest { phase: at, name, plans: None })?;
    let at = place.number.as_str();
    let disk = plans_on_disk(view, at)?.filter(|_| transition.next.is_some());
    let begun = Begun::of(disk.as_ref(), at);
    put_phase(edit, &place, Some(if transition.next.is_some() { begun.mark } else { "COMPLETE" }));
    if let Some(disk) = &disk {
        put_plan(edit, disk.first_to_do(), Some(disk.plan_count));
    } else if transition.next.is_some()
        && (edit.set("Current Plan", "Not started") == Set::Absent || edit.state().field("Plan").is_some())
    {
        edit.put("Plan", "Not started");
    }
    let done = view.label(done)?.number;
    if transition.next.is_some() {
        edit.set_noted("Current focus", &place.focus(), "Current focus");
        put_new_status(edit, &begun.status);
        put_activity(edit, &format!("Phase {done} complete, transitioned to Phase {at}"), facts);
        let stopped = format!("Phase {done} complete, ready to {} Phase {at}", begun.verb);
        edit.set_noted("Stopped at", &stopped, "Stopped At");
    } else {
        edit.set_noted("Current focus", ALL_COMPLETE, "Current focus");
        put_new_status(edit, ALL_COMPLETE);
        put_activity(edit, &format!("Phase {done} complete"), facts);
        edit.set_noted("Stopped at", &format!("Phase {done} complete — all phases complete"), "Stopped At");
    }
    note_position(edit);
    Ok(())
}

/// Sets the position of a STATE.md that has none from roadmap and disk: to the first phase that is not closed.
/// `activity` describes what happened. Returns the phase; `None` if the roadmap has none.
pub(crate) fn fill_position(
    view: &ProjectView,
    edit: &mut StateEdit<'_, '_>,
    activity: &str,
    facts: &Facts,
) -> Result<Option<String>, FileError> {
    let Some(known) = view.roadmap()? else { return Ok(None) };
    let ids: Vec<String> = view.milestone()?.phase_ids(known).into_iter().map(str::to_owned).collect();
    let open = ids.iter().find(|id| !standing::is_closed(known, id));
    let Some(at) = open.or(ids.last()) else { return Ok(None) };
    let place = ShownPhase::of(view, edit.state(), PhaseRequest { phase: at, name: None, plans: None })?;
    // The number of phases is that of the roadmap, even if it is lower than in the lost position.
    let place = ShownPhase { total: view.last_number()?, ..place };
    let disk = plans_on_disk(view, at)?;
    let number = &place.number;
    let (mark, status) = if open.is_none() {
        ("COMPLETE", ALL_COMPLETE.to_owned())
    } else {
        let begun = Begun::of(disk.as_ref(), number);
        (begun.mark, begun.status)
    };
    put_phase(edit, &place, Some(mark));
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

/// The phase of the position, if neither the roadmap nor a folder has it although there are others.
pub(crate) fn lost_phase<'text>(view: &ProjectView, state: &State<'text>) -> Result<Option<&'text str>, FileError> {
    let Some(phase) = state.position().phase else { return Ok(None) };
    let Some(roadmap) = view.roadmap()? else { return Ok(None) };
    let id = PhaseId::new(phase);
    // A phase with a name cannot be a removed number.
    let is_number = phase.starts_with(|first: char| first.is_ascii_digit());
    let is_listed = roadmap.named_phases().any(|known| id.matches(known));
    let is_whole = !view.milestone()?.phase_ids(roadmap).is_empty();
    let is_lost = is_number && is_whole && !is_listed && view.find_phase(phase)?.folder.is_none();
    Ok(is_lost.then_some(phase))
}

/// Updates STATE.md after `edits` add phases: if everything was complete, the position moves to the first new phase;
/// otherwise it stays and only the number of phases changes. A STATE.md that cannot be edited because of a line stays
/// as it is, since the roadmap can be changed without it.
pub(crate) fn go_on(view: &ProjectView, edits: &mut Edits, facts: &Facts) -> Result<(), Failure> {
    let after = view.after(edits);
    let state = match open(&after) {
        Err(failure) if failure.unread.is_none() => None,
        opened => opened?,
    };
    if let Some(state) = state {
        let mut edit = StateEdit::new(state);
        if is_all_complete(state) && fill_position(&after, &mut edit, "Phase added", facts)?.is_some() {
            let written = close(&after, edit, Rule::Recount, facts)?;
            edits.write(view, &view.layout().state(), written.text)?;
        } else {
            let raised = raise_total(&after, &mut edit)?;
            let written = close(&after, edit, Rule::Refresh, facts)?;
            if raised || written.followed.iter().any(|name| name == "progress.total_phases") {
                edits.write(view, &view.layout().state(), written.text)?;
            }
        }
    }
    mirror::refresh(edits, view, facts)
}

/// How far an open phase is, in the words of the position.
#[derive(Debug)]
struct Begun {
    mark: &'static str,
    status: String,
    /// The next action for it.
    verb: &'static str,
}

impl Begun {
    /// Computes it for the phase `number` from its plans.
    fn of(disk: Option<&PlansOnDisk>, number: &str) -> Self {
        let (mark, status, verb) = match disk {
            None => (READY_TO_PLAN, "Ready to plan".to_owned(), "plan"),
            Some(disk) if disk.summarized_count == 0 => ("READY TO EXECUTE", "Ready to execute".to_owned(), "execute"),
            Some(disk) if disk.summarized_count < disk.plan_count => {
                (EXECUTING, format!("Executing Phase {number}"), "continue with")
            }
            Some(_) => ("READY FOR VERIFICATION", "Phase complete — ready for verification".to_owned(), "verify"),
        };
        Self { mark, status, verb }
    }
}

/// The fields that may have the number of all phases next to the current one.
pub(crate) const COUNTING: [&str; 3] = ["Phase", "Current Phase", "Current focus"];

/// Raises the number after `of` to the number of phases in the roadmap. A higher one stays. Returns true if a field
/// changed.
fn raise_total(view: &ProjectView, edit: &mut StateEdit<'_, '_>) -> Result<bool, FileError> {
    let Some(last) = view.last_number()? else { return Ok(false) };
    let mut raised = false;
    for label in COUNTING {
        let Some(field) = edit.state().field(label) else { continue };
        let total = Position::parse(field.value).and_then(|position| position.total);
        let Some(total) = total.filter(|total| total.parse().is_ok_and(|total: u64| total < last)) else { continue };
        edit.set(label, &with_parts(field.value, &[(total, last.to_string())]));
        raised = true;
    }
    Ok(raised)
}

/// True if STATE.md says that nothing is left to do.
pub(crate) fn is_all_complete(state: &State<'_>) -> bool {
    state.value("Status").is_some_and(|status| status.eq_ignore_ascii_case(ALL_COMPLETE))
}

/// A phase for display in the position.
#[derive(Clone, Debug)]
struct ShownPhase {
    number: String,
    name: Option<String>,
    /// The number of phases.
    total: Option<u64>,
}

impl ShownPhase {
    /// The place of the requested phase. Number and name are from the roadmap; if it has no name, from the call, or
    /// else from the position if that is the same phase.
    fn of(view: &ProjectView, state: &State<'_>, request: PhaseRequest<'_>) -> Result<Self, FileError> {
        let label = view.label(request.phase)?;
        let known = state.position();
        let same = known.phase.is_some_and(|known| PhaseId::new(request.phase).matches(known));
        let otherwise = request.name.or(known.name.filter(|_| same)).map(str::to_owned);
        let written = known.total.and_then(|total| total.parse().ok());
        // A phase that the roadmap does not name keeps its spelling.
        let spelled = known.phase.filter(|_| same && label.name.is_none() && label.number == request.phase);
        Ok(Self {
            number: spelled.map_or(label.number, str::to_owned),
            name: label.name.or(otherwise),
            total: view.last_number()?.max(written),
        })
    }

    /// `3 of 5 (Sync) — EXECUTING`.
    fn line(&self, mark: &str) -> String {
        let total = total_for(&self.number, self.total).map(|total| format!(" of {total}")).unwrap_or_default();
        let name = self.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        format!("{}{total}{name} — {mark}", self.number)
    }

    /// True if a line of the position is about this phase and does not contradict it.
    fn is_told_by(&self, line: &str, mark: Option<&str>) -> bool {
        let Some(told) = Position::parse(line) else { return false };
        let same_name = |name: &str| self.name.as_ref().is_none_or(|known| known.eq_ignore_ascii_case(name));
        let same_total = |total: &str| self.total.is_none_or(|known| total.parse() == Ok(known));
        told.phase.is_some_and(|phase| PhaseId::new(&self.number).matches(phase))
            && told.name.is_none_or(same_name)
            && told.total.is_none_or(same_total)
            && mark.is_none_or(|mark| told.mark.is_some_and(|told| told.eq_ignore_ascii_case(mark)))
    }

    /// `Phase 3 — Sync`.
    fn focus(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" — {name}")).unwrap_or_default();
        format!("Phase {}{name}", self.number)
    }
}

/// The word in the position for a phase whose plans are being executed.
const EXECUTING: &str = "EXECUTING";

/// The status when nothing is left to do.
const ALL_COMPLETE: &str = "All phases complete";

/// The word in the position for a phase of the roadmap without plans.
pub(super) const READY_TO_PLAN: &str = "READY TO PLAN";

/// Writes `3 of 5 (Sync) — EXECUTING`, and the explicit fields of older files. A line that already says so, in other
/// words or in fewer, stays as another program or a person wrote it. Without a `mark`, any mark is accepted.
fn put_phase(edit: &mut StateEdit<'_, '_>, place: &ShownPhase, mark: Option<&str>) {
    let explicit = edit.state().field("Current Phase").is_some();
    let line = edit.state().field("Phase");
    if (!explicit || line.is_some()) && !line.is_some_and(|line| place.is_told_by(line.value, mark)) {
        edit.put("Phase", &place.line(mark.unwrap_or(EXECUTING)));
    }
    edit.set_noted("Current Phase", &place.number, "Current Phase");
    if let Some(name) = &place.name {
        let set = edit.set_noted("Current Phase Name", name, "Current Phase Name");
        // If the body has no place for the name, it is only in the front matter.
        if set == Set::Absent && explicit && edit.state().field("Phase").is_none() {
            edit.set_front("current_phase_name", name);
        }
    }
}
