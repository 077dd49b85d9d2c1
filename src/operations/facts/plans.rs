//! Facts about the plans of the requested phase.

use std::collections::BTreeMap;

use super::{AskedPhase, FactBasis, Given, facts};
use crate::operations::plans::index::Obstacles;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::phase::{self, PhaseId};
use crate::project::plan::PhasePlan;

/// The active plans of the phase, by file name.
struct Plans(Vec<String>);

/// The plans that are not done, and what blocks them.
struct PlansToDo {
    incomplete: Vec<String>,
    /// Plans whose summary has the status `halted`.
    halted: Vec<String>,
    /// Plans that wait for halted ones or are in a cycle, and what they wait for.
    blocked_by: BTreeMap<String, Vec<String>>,
    runnable: Vec<String>,
}

impl FactBasis for Plans {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let found = given.part::<AskedPhase>()?;
        found.folder().map_or(Ok(Vec::new()), |folder| given.view.current_plans(folder)).map(Self)
    }
}

impl FactBasis for PlansToDo {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let (found, plans) = (given.part::<AskedPhase>()?, given.part::<Plans>()?);
        let incomplete = found.folder().map(|folder| given.view.plans_to_do(folder)).transpose()?.unwrap_or_default();
        // Plans of an archived phase are never executed.
        let open = found.folder().filter(|folder| folder.archived.is_none());
        let obstacles = open.map_or_else(|| Ok(Obstacles::default()), |folder| Obstacles::of(given.view, folder))?;
        let file_of = |id: &String| plans.0.iter().find(|file| plan_id(file) == id).cloned();
        let blocked_by: BTreeMap<String, Vec<String>> =
            obstacles.blocked_by.iter().filter_map(|(id, by)| Some((file_of(id)?, by.clone()))).collect();
        let runnable = incomplete.iter().filter(|plan| !blocked_by.contains_key(*plan)).cloned().collect();
        Ok(Self { halted: obstacles.halted.iter().filter_map(file_of).collect(), incomplete, blocked_by, runnable })
    }
}

facts! { |given, plans: Plans|
    /// The active plans of the phase.
    plans: Vec<String> = plans.0.clone();
    /// The number of active plans of the phase.
    plan_count: usize = plans.0.len();
    /// Whether the phase has an active plan.
    has_plans: bool = !plans.0.is_empty();
    /// The paths of the phase's plans.
    plan_paths: Vec<String> = paths(given, plans.0.iter().map(String::as_str))?;
    /// The summaries of the phase.
    summaries: Vec<String> =
        given.part::<AskedPhase>()?.folder().into_iter().flat_map(PhaseFolder::summaries).map(str::to_owned).collect();
    /// The paths of the phase's summaries.
    summary_paths: Vec<String> = {
        let found = given.part::<AskedPhase>()?;
        paths(given, found.folder().into_iter().flat_map(PhaseFolder::summaries))?
    };
    /// Plans that are not done.
    incomplete_plans: Vec<String> = given.part::<PlansToDo>()?.incomplete.clone();
    /// The number of plans that are not done.
    incomplete_count: usize = given.part::<PlansToDo>()?.incomplete.len();
    /// Plans whose summary has the status `halted`.
    halted_plans: Vec<String> = given.part::<PlansToDo>()?.halted.clone();
    /// Plans that wait for halted ones or are in a cycle, and what they wait for.
    blocked_by: BTreeMap<String, Vec<String>> = given.part::<PlansToDo>()?.blocked_by.clone();
    /// Plans that can be executed now.
    runnable_plans: Vec<String> = given.part::<PlansToDo>()?.runnable.clone();
    /// The number of plans that can be executed now.
    runnable_count: usize = given.part::<PlansToDo>()?.runnable.len();
    /// Plans with a summary that were never closed: they are still open in the roadmap.
    unclosed_plans: Vec<String>, if any = {
        let found = given.part::<AskedPhase>()?;
        found.folder().map(|folder| given.view.unclosed_plans(folder)).transpose()?.filter(|plans| !plans.is_empty())
    };
    /// Whether the phase closes gaps: it was inserted, or has a gap closure plan.
    closes_gaps: bool = closes_gaps(given, &plans.0)?;
    /// Whether an earlier phase has results that could break.
    has_earlier_results: bool = has_earlier_results(given)?;
    /// True if STATE.md was compared with the files; absent if it was not.
    state_validation_ran: bool, if any = state_warnings(given, plans.0.len())?.map(|_| true);
    /// Errors in STATE.md about the phase's plans.
    state_warnings: Vec<String>, if any = state_warnings(given, plans.0.len())?;
}

fn paths<'file>(given: &Given<'_>, files: impl Iterator<Item = &'file str>) -> Result<Vec<String>, FileError> {
    let found = given.part::<AskedPhase>()?;
    Ok(files.filter_map(|file| Some(given.shown(&found.folder()?.join(file)))).collect())
}

fn closes_gaps(given: &Given<'_>, plans: &[String]) -> Result<bool, FileError> {
    let found = given.part::<AskedPhase>()?;
    if PhaseId::new(&found.typed).is_decimal() {
        return Ok(true);
    }
    let Some(folder) = found.folder() else { return Ok(false) };
    for plan in plans {
        let text = given.view.text(&folder.join(plan))?;
        if text.as_deref().is_some_and(|text| PhasePlan::parse(text).closes_gaps()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if an earlier phase has a summary, or a milestone was archived.
fn has_earlier_results(given: &Given<'_>) -> Result<bool, FileError> {
    let found = given.part::<AskedPhase>()?;
    let folders = given.view.phase_folders()?;
    let open = folders
        .iter()
        .any(|folder| phase::compare(folder.token(), found.number()).is_lt() && folder.summaries().next().is_some());
    Ok(open || !given.view.archives()?.is_empty())
}

/// Errors in STATE.md about the phase's plans; `None` without `--validate` or without STATE.md. STATE.md is only about
/// the current phase, so it has no errors about another one.
fn state_warnings(given: &Given<'_>, plans: usize) -> Result<Option<Vec<String>>, FileError> {
    let state = if given.asked("validate") { given.view.state()? } else { None };
    let Some(state) = state else { return Ok(None) };
    let typed = &given.part::<AskedPhase>()?.typed;
    let at_work = state.position().phase.is_some_and(|phase| PhaseId::new(typed).matches(phase));
    let wrong = state.value("Total Plans in Phase").filter(|count| at_work && count.parse() != Ok(plans));
    let warning = |count| format!("Plan count mismatch: STATE.md says {count}, the phase folder has {plans}");
    Ok(Some(wrong.map(warning).into_iter().collect()))
}
