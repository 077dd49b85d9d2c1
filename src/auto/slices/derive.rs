//! Derives the state of a project in milestones from its documents only.

use std::collections::BTreeSet;

use serde::Serialize;

use super::snapshot::{Milestone, Slice, SliceDetail, SliceTask, Snapshot, Validation};
use crate::auto::preferences::Preferences;
use crate::text::words::{read_words, words};

words! {
    /// The progress of the work. `derive` returns those of the first group, the others are states of a session.
    #[derive(Hash, Serialize, schemars::JsonSchema)]
    pub(crate) enum Phase {
        PrePlanning = "pre-planning",
        NeedsDiscussion = "needs-discussion",
        Planning = "planning",
        Refining = "refining",
        EvaluatingGates = "evaluating-gates",
        Executing = "executing",
        Summarizing = "summarizing",
        ValidatingMilestone = "validating-milestone",
        CompletingMilestone = "completing-milestone",
        ReplanningSlice = "replanning-slice",
        EscalatingTask = "escalating-task",
        Complete = "complete",
        Blocked = "blocked",
        Discussing = "discussing",
        Researching = "researching",
        Verifying = "verifying",
        Advancing = "advancing",
        Paused = "paused",
    }
}

read_words! {
    /// The standing of a milestone among the others.
    #[derive(Serialize, schemars::JsonSchema)]
    pub(crate) enum Standing {
        Complete = "complete",
        Active = "active",
        Pending = "pending",
        Parked = "parked",
    }
}

/// An identifier and its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TitledId {
    pub(crate) id: String,
    pub(crate) title: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisteredMilestone {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) standing: Standing,
    /// The incomplete milestones that it depends on.
    pub(crate) waits_for: Vec<String>,
}

/// A count and its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) done: usize,
    pub(crate) total: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) milestone: Option<TitledId>,
    pub(crate) slice: Option<TitledId>,
    pub(crate) task: Option<TitledId>,
    /// Why nothing can continue, as text for a person.
    pub(crate) blockers: Vec<String>,
    /// Whether the active slice has a note on how to continue.
    pub(crate) resumes: bool,
    pub(crate) registry: Vec<RegisteredMilestone>,
    pub(crate) milestones: Share,
    pub(crate) slices: Option<Share>,
    pub(crate) tasks: Option<Share>,
}

/// The scope of a call: everything, one milestone, or one slice of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) milestone: Option<String>,
    pub(crate) slice: Option<String>,
}

/// Returns the state of the project.
pub(crate) fn derive(snapshot: &Snapshot, scope: &Scope, preferences: &Preferences) -> State {
    if !snapshot.problems.is_empty() {
        return unreadable(snapshot);
    }
    let registry = registry(snapshot, scope);
    let milestones = Share {
        done: registry.iter().filter(|entry| entry.standing == Standing::Complete).count(),
        total: registry.len(),
    };
    let mut state = State {
        phase: Phase::PrePlanning,
        milestone: None,
        slice: None,
        task: None,
        blockers: Vec::new(),
        resumes: false,
        milestones,
        slices: None,
        tasks: None,
        registry,
    };
    let active = state.registry.iter().find(|entry| entry.standing == Standing::Active);
    match active.and_then(|entry| snapshot.milestone(&entry.id)) {
        None => idle(&mut state),
        Some(milestone) => {
            state.milestone = Some(TitledId { id: milestone.id.clone(), title: milestone.title.clone() });
            in_milestone(&mut state, snapshot, milestone, scope, preferences);
        }
    }
    state
}

/// Returns the active milestone. The content of its slice folders makes no difference.
pub(crate) fn active<'a>(snapshot: &'a Snapshot, scope: &Scope) -> Option<&'a Milestone> {
    let entries = registry(snapshot, scope);
    let active = entries.iter().find(|entry| entry.standing == Standing::Active)?;
    snapshot.milestone(&active.id)
}

fn unreadable(snapshot: &Snapshot) -> State {
    let blockers = snapshot.problems.iter().map(|problem| match problem.line {
        Some(line) => format!("`{}` line {line}: {}", problem.path, problem.what),
        None => format!("`{}`: {}", problem.path, problem.what),
    });
    State {
        phase: Phase::Blocked,
        milestone: None,
        slice: None,
        task: None,
        blockers: blockers.collect(),
        resumes: false,
        registry: Vec::new(),
        milestones: Share::default(),
        slices: None,
        tasks: None,
    }
}

/// Returns the milestones that are complete, whatever their roadmap shows, and that count for those that depend on
/// them.
fn complete(snapshot: &Snapshot) -> BTreeSet<String> {
    let done = snapshot.milestones.iter().filter(|milestone| !milestone.is_parked);
    let done = done.filter(|milestone| milestone.has_ended());
    done.map(|milestone| milestone.id.to_lowercase()).collect()
}

fn registry(snapshot: &Snapshot, scope: &Scope) -> Vec<RegisteredMilestone> {
    let complete = complete(snapshot);
    let mut is_active = false;
    let wanted = |milestone: &&Milestone| {
        scope.milestone.as_ref().is_none_or(|wanted| milestone.id.eq_ignore_ascii_case(wanted))
    };
    let mut entries = Vec::new();
    for milestone in snapshot.milestones.iter().filter(wanted) {
        let (standing, waits_for) = standing(milestone, &complete, is_active);
        is_active |= standing == Standing::Active;
        entries.push(RegisteredMilestone {
            id: milestone.id.clone(),
            title: milestone.title.clone(),
            standing,
            waits_for,
        });
    }
    entries
}

/// Returns the standing of a milestone; `is_taken` means that an earlier milestone is active.
fn standing(milestone: &Milestone, complete: &BTreeSet<String>, is_taken: bool) -> (Standing, Vec<String>) {
    let free = if is_taken { Standing::Pending } else { Standing::Active };
    let waits_for = || -> Vec<String> {
        let depends = milestone.depends_on.iter();
        depends.filter(|id| !complete.contains(&id.to_lowercase())).cloned().collect()
    };
    if milestone.is_parked {
        return (Standing::Parked, Vec::new());
    }
    if milestone.has_ended() {
        return (Standing::Complete, Vec::new());
    }
    let slices = milestone.roadmap.as_deref().unwrap_or_default();
    if !slices.is_empty() && slices.iter().all(|slice| slice.done) {
        return match milestone.validation.as_ref().and_then(Validation::verdict) {
            Some("needs-attention") => (Standing::Parked, Vec::new()),
            None | Some("needs-remediation") => (free, Vec::new()),
            Some(_) if is_taken => (Standing::Complete, Vec::new()),
            Some(_) => (free, Vec::new()),
        };
    }
    let waits_for = waits_for();
    if waits_for.is_empty() { (free, waits_for) } else { (Standing::Pending, waits_for) }
}

/// Fills in the state if no milestone is active.
fn idle(state: &mut State) {
    let waiting: Vec<String> =
        state.registry.iter().filter(|entry| entry.standing == Standing::Pending).map(waits).collect();
    let parked: Vec<&str> = state
        .registry
        .iter()
        .filter(|entry| entry.standing == Standing::Parked)
        .map(|entry| entry.id.as_str())
        .collect();
    if !waiting.is_empty() {
        state.phase = Phase::Blocked;
        state.blockers = waiting;
    } else if !parked.is_empty() {
        state.phase = Phase::PrePlanning;
        state.blockers = parked.iter().map(|id| format!("{id} is parked")).collect();
    } else if !state.registry.is_empty() {
        state.phase = Phase::Complete;
    }
}

fn waits(entry: &RegisteredMilestone) -> String {
    format!("{} waits for {}", entry.id, entry.waits_for.join(", "))
}

fn in_milestone(
    state: &mut State,
    snapshot: &Snapshot,
    milestone: &Milestone,
    scope: &Scope,
    preferences: &Preferences,
) {
    let Some(slices) = milestone.roadmap.as_ref().filter(|slices| !slices.is_empty()) else {
        let is_draft = milestone.roadmap.is_none() && milestone.has_draft && !milestone.has_context;
        state.phase = if is_draft { Phase::NeedsDiscussion } else { Phase::PrePlanning };
        return;
    };
    let done = slices.iter().filter(|slice| slice.done).count();
    state.slices = Some(Share { done, total: slices.len() });
    if done == slices.len() {
        return all_slices_done(state, milestone);
    }
    let open = match ready_slices(slices, scope.slice.as_deref()) {
        Ok(open) => open,
        Err(blockers) => {
            state.phase = Phase::Blocked;
            state.blockers = blockers;
            return;
        }
    };
    // A slice that waits for an answer keeps only those waiting that depend on it.
    let mut asks: Option<State> = None;
    for slice in open {
        state.slice = Some(TitledId { id: slice.id.clone(), title: slice.title.clone() });
        (state.task, state.tasks, state.resumes) = (None, None, false);
        in_slice(state, slice, snapshot.detail(&milestone.id, &slice.id), preferences);
        if state.phase != Phase::EscalatingTask {
            return;
        }
        asks.get_or_insert_with(|| state.clone());
    }
    if let Some(asks) = asks {
        *state = asks;
    }
}

fn all_slices_done(state: &mut State, milestone: &Milestone) {
    state.phase = match milestone.validation.as_ref().and_then(Validation::verdict) {
        None => Phase::ValidatingMilestone,
        Some("needs-remediation") => {
            state.blockers = vec![format!("{}: the validation says `needs-remediation`", milestone.id)];
            Phase::Blocked
        }
        Some(_) => Phase::CompletingMilestone,
    };
}

/// Returns the slices that can be worked on, in their order: the requested one, else the open ones whose dependencies
/// are done. There is at least one.
fn ready_slices<'a>(slices: &'a [Slice], asked: Option<&str>) -> Result<Vec<&'a Slice>, Vec<String>> {
    if let Some(asked) = asked {
        let found = slices.iter().find(|slice| slice.id.eq_ignore_ascii_case(asked));
        return found.map(|found| vec![found]).ok_or_else(|| vec![format!("the roadmap has no slice `{asked}`")]);
    }
    let is_done = |id: &str| slices.iter().any(|slice| slice.done && slice.id.eq_ignore_ascii_case(id));
    let missing = |slice: &Slice| -> Vec<String> { slice.depends.iter().filter(|id| !is_done(id)).cloned().collect() };
    let open = || slices.iter().filter(|slice| !slice.done);
    let ready: Vec<&Slice> = open().filter(|slice| !slice.deferred && missing(slice).is_empty()).collect();
    if ready.is_empty() {
        return Err(open().map(|slice| waiting(slice, &missing(slice))).collect());
    }
    Ok(ready)
}

fn waiting(slice: &Slice, missing: &[String]) -> String {
    if slice.deferred {
        return format!("{} is deferred", slice.id);
    }
    format!("{} waits for {}", slice.id, missing.join(", "))
}

fn in_slice(state: &mut State, slice: &Slice, detail: Option<&SliceDetail>, preferences: &Preferences) {
    let empty = SliceDetail::default();
    let detail = detail.unwrap_or(&empty);
    let Some(tasks) = &detail.tasks else {
        let is_sketch = slice.sketch && preferences.progressive_planning;
        state.phase = if is_sketch { Phase::Refining } else { Phase::Planning };
        return;
    };
    let done = tasks.iter().filter(|task| task.is_done()).count();
    state.tasks = Some(Share { done, total: tasks.len() });
    if tasks.is_empty() || detail.has_empty_task_folder {
        state.phase = Phase::Planning;
        return;
    }
    // What the last task found keeps the slice from being closed, like what an earlier one found.
    let phase = at_task(tasks, detail, preferences);
    let Some(task) = tasks.iter().find(|task| !task.is_done()) else {
        state.phase = if phase == Phase::Executing { Phase::Summarizing } else { phase };
        return;
    };
    state.task = Some(TitledId { id: task.id.clone(), title: task.title.clone() });
    state.resumes = detail.has_continue;
    state.phase = phase;
}

fn at_task(tasks: &[SliceTask], detail: &SliceDetail, preferences: &Preferences) -> Phase {
    let has_blocker = |task: &SliceTask| task.is_done() && task.summary.is_some_and(|summary| summary.has_blocker);
    if detail.has_open_gates && preferences.gate_evaluation {
        return Phase::EvaluatingGates;
    }
    if tasks.iter().any(has_blocker) && !detail.has_replan {
        return Phase::ReplanningSlice;
    }
    if tasks.iter().any(|task| task.waits_for().is_some()) {
        return Phase::EscalatingTask;
    }
    if detail.has_replan_trigger && !detail.has_replan {
        return Phase::ReplanningSlice;
    }
    Phase::Executing
}
