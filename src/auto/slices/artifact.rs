//! Checks whether a unit has written its files, by kind.

use super::captures;
use super::snapshot::{Milestone, Snapshot, Validation};
use crate::auto::unit::{Unit, UnitKind};

/// The id of a session that researches all slices for which that is possible.
pub(crate) const PARALLEL_RESEARCH: &str = "parallel-research";

/// Returns what is missing of the unit's files, as text for the next attempt; empty if all exist.
pub(crate) fn missing(unit: &Unit, snapshot: &Snapshot) -> Vec<String> {
    let (milestone, slice, task) = unit.parts();
    let slice = slice.unwrap_or_default();
    match unit.kind {
        UnitKind::DiscussMilestone => {
            let there = snapshot.milestone(milestone).is_some_and(|found| found.has_context);
            lacks(there, format!("{milestone}-CONTEXT.md"))
        }
        UnitKind::DiscussSlice => {
            let there = snapshot.slice(milestone, slice).is_some_and(|found| found.has_context);
            lacks(there, format!("{slice}-CONTEXT.md"))
        }
        UnitKind::ResearchMilestone => {
            let there = snapshot.milestone(milestone).is_some_and(|found| found.has_research);
            lacks(there, format!("{milestone}-RESEARCH.md"))
        }
        UnitKind::PlanMilestone => {
            let slices = snapshot.milestone(milestone).and_then(|found| found.roadmap.as_deref()).unwrap_or_default();
            let open = slices.iter().filter(|slice| !slice.done);
            let mut missing = lacks(!slices.is_empty(), format!("{milestone}-ROADMAP.md with at least one slice"));
            missing.extend(open.filter_map(|slice| citation(snapshot, milestone, &slice.id)));
            missing
        }
        UnitKind::ResearchSlice if slice == PARALLEL_RESEARCH => parallel_research(snapshot, milestone),
        UnitKind::ResearchSlice => {
            let there = snapshot.slice(milestone, slice).is_some_and(|found| found.has_research);
            lacks(there, format!("{slice}-RESEARCH.md"))
        }
        UnitKind::PlanSlice => slice_plan(snapshot, milestone, slice),
        UnitKind::ReplanSlice => {
            let there = snapshot.detail(milestone, slice).is_some_and(|detail| detail.has_replan);
            lacks(there, format!("{slice}-REPLAN.md"))
        }
        UnitKind::ExecuteTask | UnitKind::QuickTask => {
            let task = task.unwrap_or_default();
            match snapshot.task(milestone, slice, task).and_then(|found| found.summary) {
                None => vec![format!("{task}-SUMMARY.md")],
                Some(summary) => lacks(!summary.is_unfinished, format!("the text of {task}-SUMMARY.md")),
            }
        }
        UnitKind::CompleteSlice => complete_slice(snapshot, milestone, slice),
        UnitKind::RunUat => {
            let uat = snapshot.slice(milestone, slice).and_then(|found| found.uat.as_ref());
            lacks(uat.is_some_and(|uat| uat.verdict.is_some()), format!("{slice}-UAT-RESULT.md with a `verdict`"))
        }
        UnitKind::ReassessRoadmap => {
            let there = snapshot.slice(milestone, slice).is_some_and(|found| found.has_assessment);
            lacks(there, format!("{slice}-ASSESSMENT.md"))
        }
        UnitKind::ValidateMilestone => {
            let validation = snapshot.milestone(milestone).and_then(|found| found.validation.as_ref());
            let there = matches!(validation, Some(Validation::Verdict { is_by_agent: true, .. }));
            lacks(there, format!("{milestone}-VALIDATION.md with a `verdict` and `validated_by: agent`"))
        }
        UnitKind::CompleteMilestone => {
            let there = snapshot.milestone(milestone).is_some_and(Milestone::has_ended);
            lacks(there, format!("{milestone}-SUMMARY.md that does not say failure"))
        }
        UnitKind::RewriteDocs => {
            lacks(!snapshot.has_active_override, "OVERRIDES.md without an active override".to_owned())
        }
        UnitKind::TriageCaptures => captures::missing(snapshot, milestone, slice),
        UnitKind::Hook | UnitKind::DiscussPhase | UnitKind::PlanPhase | UnitKind::ExecutePhase => Vec::new(),
    }
}

fn lacks(is_there: bool, what: String) -> Vec<String> {
    if is_there { Vec::new() } else { vec![what] }
}

/// Several slices are researched at once, or the milestone says why that is impossible.
fn parallel_research(snapshot: &Snapshot, milestone: &str) -> Vec<String> {
    let found = snapshot.milestone(milestone).filter(|found| !found.has_parallel_blocker);
    found.into_iter().flat_map(Milestone::to_research).map(|slice| format!("{}-RESEARCH.md", slice.id)).collect()
}

fn slice_plan(snapshot: &Snapshot, milestone: &str, slice: &str) -> Vec<String> {
    let detail = snapshot.detail(milestone, slice);
    let Some(tasks) = detail.and_then(|detail| detail.tasks.as_ref()).filter(|tasks| !tasks.is_empty()) else {
        return vec![format!("{slice}-PLAN.md with at least one task, as `- [ ] **T01: Title**`")];
    };
    let is_bare = detail.is_some_and(|detail| detail.has_empty_task_folder);
    let unplanned = tasks.iter().filter(|task| !task.has_plan && (!task.is_done() || is_bare));
    let unplanned = unplanned.map(|task| format!("tasks/{}-PLAN.md", task.id));
    unplanned.chain(citation(snapshot, milestone, slice)).collect()
}

/// Returns the line of the roadmap that the plan of a slice does not repeat.
fn citation(snapshot: &Snapshot, milestone: &str, slice: &str) -> Option<String> {
    let line = snapshot.detail(milestone, slice)?.citation.as_ref()?;
    Some(format!("in {slice}-PLAN.md the line `{line}`"))
}

fn complete_slice(snapshot: &Snapshot, milestone: &str, slice: &str) -> Vec<String> {
    let Some(row) = snapshot.slice(milestone, slice) else { return vec![format!("{slice} in the roadmap")] };
    let parts = [(row.has_summary, format!("{slice}-SUMMARY.md")), (row.uat.is_some(), format!("{slice}-UAT.md"))];
    parts.into_iter().filter(|(is_there, _)| !is_there).map(|(_, what)| what).collect()
}
