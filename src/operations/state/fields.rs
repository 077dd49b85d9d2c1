//! The fields of the position in STATE.md: how a step writes them, and which plan is current.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Facts, Rule, StateEdit, Written, close, mirror};
use crate::failure::Failure;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::state::edit::Set;
use crate::project::state::index::is_day;
use crate::project::state::{POSITION, Position, State, is_of_programs, meaningful};
use crate::project::view::{Edited, ProjectView};

/// The current plan and the number of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanPosition {
    pub(super) current: u64,
    pub(crate) total: u64,
}

impl PlanPosition {
    /// Reads `Current Plan` and `Total Plans in Phase`, `Current Plan: 2 of 3`, or `Plan: 2 of 3`.
    pub(crate) fn of(state: &State<'_>) -> Option<Self> {
        let number = |label: &str| state.value(label)?.parse().ok();
        if let (Some(current), Some(total)) = (number("Current Plan"), number("Total Plans in Phase")) {
            return Some(Self { current, total });
        }
        ["Current Plan", "Plan"].iter().find_map(|label| Self::parse(state.value(label)?))
    }

    /// Parses `2 of 3`, ignoring any text after it.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let (current, rest) = value.split_once(" of ")?;
        let digits = rest.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        Some(Self { current: current.trim().parse().ok()?, total: rest.trim_start()[..digits].parse().ok()? })
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PlansOnDisk {
    pub(crate) plan_count: u64,
    pub(crate) summarized_count: u64,
    /// The positions, counted from 1, of the plans that are still to be done: those to be executed, or else the halted
    /// ones.
    #[serde(skip)]
    pub(super) to_do: Vec<u64>,
}

impl PlansOnDisk {
    pub(super) fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, FileError> {
        let (plans, open) = (view.current_plans(folder)?, view.open_plans(folder)?);
        let to_do = Some(view.plans_to_do(folder)?).filter(|to_do| !to_do.is_empty());
        let to_do = to_do.as_ref().unwrap_or(&open);
        let to_do: Vec<u64> = (1..).zip(&plans).filter(|(_, plan)| to_do.contains(plan)).map(|(at, _)| at).collect();
        let count = |plans: &[String]| u64::try_from(plans.len()).unwrap_or(0);
        Ok(Self { plan_count: count(&plans), summarized_count: count(&plans) - count(&open), to_do })
    }

    /// The position of the first plan that is still to be done, or of the last plan if all are done.
    pub(super) fn first_to_do(&self) -> u64 {
        self.to_do.first().copied().unwrap_or(self.plan_count)
    }

    /// The position of the next plan to do after the one at `current`.
    pub(super) fn next_to_do(&self, current: u64) -> Option<u64> {
        self.to_do.iter().copied().find(|at| *at > current)
    }
}

/// The plans of a phase, if it has any.
pub(super) fn plans_on_disk(view: &ProjectView, phase: &str) -> Result<Option<PlansOnDisk>, FileError> {
    let Some(folder) = view.find_phase(phase)?.folder else { return Ok(None) };
    Ok(Some(PlansOnDisk::of(view, &folder)?).filter(|disk| disk.plan_count > 0))
}

pub(super) fn close_with_mirror(
    view: &ProjectView,
    edit: StateEdit<'_, '_>,
    facts: &Facts,
) -> Edited<Written, Failure> {
    let written = close(view, edit, Rule::Refresh, facts)?;
    let mut edits = written.edits(view)?;
    mirror::refresh(&mut edits, view, facts)?;
    Ok((written, edits))
}

pub(super) fn put_noted(edit: &mut StateEdit<'_, '_>, label: &str, value: &str, name: &str) {
    if edit.put(label, value) == Set::Changed {
        edit.note(name);
    }
}

/// Writes the status, and its copies at the top of the file.
pub(super) fn put_new_status(edit: &mut StateEdit<'_, '_>, status: &str) {
    put_noted(edit, "Status", status, "Status");
    edit.set_echoes("Status", status, "Status");
}

/// Writes the status that a step of the work leads to. A status in a person's own words stays.
pub(super) fn put_status(edit: &mut StateEdit<'_, '_>, status: &str) {
    let written = edit.state().field("Status").map(|field| field.value);
    if written.is_none_or(is_of_programs) {
        put_new_status(edit, status);
    }
}

/// Writes the date of the last activity, unless a description follows it, which would be about something else.
pub(super) fn put_day(edit: &mut StateEdit<'_, '_>, facts: &Facts) {
    let state = edit.state();
    let described = state.value("Last Activity Description").is_some();
    let written = state.field("Last activity").map(|field| field.value).filter(|_| !described);
    if written.is_some_and(is_day_or_nothing) {
        edit.set_noted("Last activity", &facts.today, "Last Activity");
    }
    edit.set_echoes_where("Last activity", &facts.today, "Last Activity", is_day_or_nothing);
}

/// True if a field has only a date or nothing, but no text that a person may have written.
fn is_day_or_nothing(value: &str) -> bool {
    meaningful(value).is_none_or(is_day)
}

/// Writes the date and text of the last activity, into one field or the two fields of older files.
pub(super) fn put_activity(edit: &mut StateEdit<'_, '_>, text: &str, facts: &Facts) {
    let state = edit.state();
    let description = state.field("Last Activity Description");
    // A field in another section describes the activity recorded there.
    let position = state.section(POSITION).map(|section| section.lines);
    let is_in_position = |line: usize| position.as_ref().is_some_and(|lines| lines.contains(&line));
    let activity = state.field("Last activity").is_some_and(|field| is_in_position(field.line));
    let is_described = description.as_ref().is_some_and(|field| !activity || is_in_position(field.line));
    let whole = if is_described { facts.today.clone() } else { format!("{} — {text}", facts.today) };
    put_noted(edit, "Last activity", &whole, "Last Activity");
    if description.is_some() {
        edit.set_noted("Last Activity Description", text, "Last Activity Description");
    }
    edit.set_echoes("Last activity", &facts.today, "Last Activity");
}

/// Replaces the word after the phase; a phase without such a word stays as it is.
pub(super) fn put_mark(edit: &mut StateEdit<'_, '_>, mark: &str) {
    let Some(field) = edit.state().field("Phase") else { return };
    let Some(old) = Position::parse(field.value).and_then(|position| position.mark) else { return };
    if let Some(rest) = field.value.strip_suffix(old) {
        edit.set("Phase", &format!("{rest}{mark}"));
    }
}

pub(super) fn put_plan(edit: &mut StateEdit<'_, '_>, current: u64, total: Option<u64>) {
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

pub(super) fn note_position(edit: &mut StateEdit<'_, '_>) {
    if edit.touches(POSITION) {
        edit.note("Current Position");
    }
}

/// True if the word of the position says that plans are being executed.
pub(super) fn is_executing(position: &Position<'_>) -> bool {
    position.mark.is_some_and(|mark| mark.eq_ignore_ascii_case("executing"))
}
