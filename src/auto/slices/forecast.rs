//! Forecasts how many sessions a milestone takes if every session succeeds.

use std::collections::BTreeMap;

use super::snapshot::{Milestone, Slice, Snapshot};
use crate::auto::preferences::Preferences;
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::unit_hooks::{HookAction, UnitHook};

/// The assumed numbers of slices, and of tasks per slice, while they are not planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) slices: usize,
    pub(crate) tasks: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { slices: 4, tasks: 3 }
    }
}

/// The remaining sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forecast {
    pub(crate) by_kind: BTreeMap<UnitKind, usize>,
    /// Whether plans are missing, so that their size is assumed.
    pub(crate) is_assumed: bool,
}

impl Forecast {
    pub(crate) fn sessions(&self) -> usize {
        self.by_kind.values().sum()
    }

    pub(crate) fn add(&mut self, kind: UnitKind, sessions: usize) {
        if sessions > 0 {
            *self.by_kind.entry(kind).or_default() += sessions;
        }
    }
}

/// Returns the forecast for one milestone.
pub(crate) fn of(snapshot: &Snapshot, id: &str, preferences: &Preferences, shape: Shape) -> Forecast {
    let mut forecast = Forecast::default();
    let fallback = Milestone { id: id.to_owned(), ..Milestone::default() };
    let milestone = snapshot.milestone(id).unwrap_or(&fallback);
    if milestone.summary.is_some() {
        return forecast;
    }
    let planned = milestone.roadmap.as_deref().filter(|slices| !slices.is_empty());
    let assumed: Vec<Slice>;
    let slices = if let Some(slices) = planned {
        slices
    } else {
        forecast.is_assumed = true;
        forecast.add(UnitKind::PlanMilestone, 1);
        forecast.add(UnitKind::DiscussMilestone, usize::from(!milestone.has_context));
        let is_researched = preferences.skip_research || milestone.has_research;
        forecast.add(UnitKind::ResearchMilestone, usize::from(!is_researched));
        assumed = vec![Slice::default(); shape.slices];
        &assumed
    };
    for (index, slice) in slices.iter().enumerate() {
        let is_last = index + 1 == slices.len();
        let first_is_planned = planned.is_none() && index == 0 && preferences.plans_first_slice;
        of_slice(&mut forecast, snapshot, milestone, slice, preferences, shape, first_is_planned);
        if !slice.done {
            let is_covered = index == 0 && (planned.is_none() && !preferences.skip_research || milestone.has_research);
            let is_researched = preferences.skip_slice_research || slice.has_research || is_covered;
            let needs_plan = snapshot.detail(&milestone.id, &slice.id).is_none_or(|detail| detail.tasks.is_none());
            forecast.add(UnitKind::ResearchSlice, usize::from(!is_researched && needs_plan));
        }
        let reassesses = preferences.reassess_after_slice && !preferences.skip_reassess;
        let is_due = !slice.has_assessment && !is_last && !slice.skipped;
        let next_is_open = slices.get(index + 1).is_some_and(|next| !next.done);
        forecast.add(UnitKind::ReassessRoadmap, usize::from(reassesses && is_due && next_is_open));
    }
    if !preferences.is_mechanical && milestone.summary.is_none() {
        let is_validated = preferences.skip_milestone_validation || milestone.validation.is_some();
        forecast.add(UnitKind::ValidateMilestone, usize::from(!is_validated));
        forecast.add(UnitKind::CompleteMilestone, 1);
    }
    let is_session = |hook: &&UnitHook| matches!(hook.action, HookAction::Prompt(_));
    let of_hook = |hook: &UnitHook| -> usize {
        let units = forecast.by_kind.iter().filter(|(kind, _)| hook.kinds.iter().any(|word| word == kind.word()));
        units.map(|(_, units)| units).sum()
    };
    let of_hooks = preferences.hooks.iter().filter(is_session).map(of_hook).sum();
    forecast.add(UnitKind::Hook, of_hooks);
    forecast
}

fn of_slice(
    forecast: &mut Forecast,
    snapshot: &Snapshot,
    milestone: &Milestone,
    slice: &Slice,
    preferences: &Preferences,
    shape: Shape,
    is_planned: bool,
) {
    let has_verdict = slice.uat.as_ref().is_some_and(|uat| uat.verdict.is_some());
    if slice.done {
        return;
    }
    let tasks = snapshot.detail(&milestone.id, &slice.id).and_then(|detail| detail.tasks.as_ref());
    if let Some(tasks) = tasks.filter(|tasks| !tasks.is_empty()) {
        forecast.add(UnitKind::ExecuteTask, tasks.iter().filter(|task| !task.is_done()).count());
    } else {
        forecast.is_assumed = true;
        forecast.add(UnitKind::PlanSlice, usize::from(!is_planned));
        forecast.add(UnitKind::ExecuteTask, shape.tasks);
    }
    forecast.add(UnitKind::CompleteSlice, usize::from(!preferences.is_mechanical));
    forecast.add(UnitKind::RunUat, usize::from(preferences.uat_dispatch && !has_verdict));
}
