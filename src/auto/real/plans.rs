//! What the plans specify for a unit: the commands that check it, the files it works on, and its allowed changes to
//! tests.

use std::collections::BTreeSet;

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::layout::Layout;
use crate::auto::memory::{LoggedCandidate, Memory};
use crate::auto::slices::{captures, places};
use crate::auto::unit::{Unit, UnitKind};
use crate::gate::check::Source;
use crate::gate::discovery::{Discovery, Wanted, discover};
use crate::project::files::Files;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::task_plan::TaskPlan;
use crate::project::plan::PhasePlan;

/// What the plans specify for one unit.
#[derive(Debug, Default)]
pub(super) struct UnitPlans {
    /// The commands, each as written.
    pub(super) verify: Vec<String>,
    pub(super) expected: Vec<String>,
    pub(super) is_fix: bool,
    pub(super) text: String,
}

impl Real<'_> {
    /// Returns the checks that a preference names, else those in `verify`, else those that the files of the project
    /// declare.
    pub(super) fn discovered(&self, files: &dyn Files, verify: &[String]) -> Result<Discovery, EngineError> {
        let wanted = Wanted { preference: &self.preferences.verification_commands, verify };
        Ok(discover(files, wanted)?)
    }

    /// Returns what the plans specify for the unit.
    pub(super) fn plans_of(&self, unit: &Unit) -> Result<UnitPlans, EngineError> {
        match &self.layout {
            Layout::Milestones => self.plans_of_task(unit),
            Layout::Phases(_) => self.plans_of_phase(unit),
        }
    }

    fn plans_of_task(&self, unit: &Unit) -> Result<UnitPlans, EngineError> {
        let files = self.files.as_ref();
        let (milestone, slice, task) = unit.parts();
        if matches!(unit.kind, UnitKind::QuickTask | UnitKind::Hook) {
            // No plan names a check for it: what the project declares and what passed before has to pass.
            let declared = self.discovered(files, &[])?.checks.into_iter().map(|check| check.command().to_owned());
            let so_far = slice.map(|slice| captures::checks_so_far(files, milestone, slice)).transpose()?;
            let verify = declared.chain(so_far.unwrap_or_default()).collect();
            return Ok(UnitPlans { verify, ..UnitPlans::default() });
        }
        let (Some(slice), Some(task)) = (slice, task) else { return Ok(UnitPlans::default()) };
        let folder = places::slice(files, milestone, slice)?;
        let mut found = UnitPlans::default();
        if let Some((_, text)) = places::document(files, &folder, slice, "PLAN")?
            && let Some(row) = SlicePlan::parse(&text).task(task)
        {
            found.verify.extend(row.verify.clone());
            found.expected.extend(row.files.iter().cloned());
        }
        if let Some((_, text)) = places::document(files, &format!("{folder}/tasks"), task, "PLAN")? {
            let plan = TaskPlan::parse(&text);
            found.expected.extend(plan.outputs);
            found.is_fix = plan.is_fix;
            found.text = text;
        }
        Ok(found)
    }

    /// Returns this for all plans of the phase together.
    fn plans_of_phase(&self, unit: &Unit) -> Result<UnitPlans, EngineError> {
        let mut found = UnitPlans::default();
        let view = (self.view)();
        let Some(folder) = view.find_phase(&unit.id)?.folder else { return Ok(found) };
        for (_, text) in view.plan_texts(&folder)? {
            let plan = PhasePlan::parse(&text);
            found.verify.extend(plan.checks().into_iter().filter_map(|check| check.command));
            found.expected.extend(plan.files_modified());
            found.text.push_str(&text);
            found.text.push('\n');
        }
        Ok(found)
    }

    /// Returns the checks of the project, followed by those of all plans of the milestone, and the index of the first
    /// one from a plan.
    pub(super) fn wanted_by_milestone(
        &self,
        files: &dyn Files,
        candidate: &LoggedCandidate,
        memory: &Memory,
    ) -> Result<(Discovery, usize), EngineError> {
        let Discovery { mut source, mut checks, mut refused } = self.discovered(files, &[])?;
        let declared = checks.len();
        for path in self.plans_of_milestone(candidate, memory)? {
            let Some(text) = files.read(&path)? else { continue };
            for verify in self.planned_checks(files, &path, &text)? {
                let planned = self.discovered(files, &[verify])?;
                let new = planned.refused.into_iter().filter(|why| !refused.contains(why)).collect::<Vec<_>>();
                refused.extend(new);
                if planned.source != Source::TaskPlan {
                    continue;
                }
                source = if checks.is_empty() { planned.source } else { source };
                let new = planned.checks.into_iter().filter(|check| !checks.contains(check)).collect::<Vec<_>>();
                checks.extend(new);
            }
        }
        Ok((Discovery { source, checks, refused }, declared))
    }

    /// Returns the plans that the milestone adds or ticks, and those of the phases that the run executed: these may be
    /// older than the run, and no run changes them.
    fn plans_of_milestone(&self, candidate: &LoggedCandidate, memory: &Memory) -> Result<Vec<String>, EngineError> {
        let differing = self.repository.differences(&candidate.base, &candidate.commit)?;
        let paths = differing.into_iter().map(|change| change.path.to_string());
        let is_plan = |path: &String| self.is_planning(path) && path.ends_with("-PLAN.md") && !path.contains("/tasks/");
        let mut plans: Vec<String> = paths.filter(is_plan).collect();
        if let Layout::Phases(_) = &self.layout {
            let view = (self.view)();
            for worked in memory.worked.iter().filter(|worked| worked.unit.kind == UnitKind::ExecutePhase) {
                let folder = view.find_phase(&worked.unit.id)?.folder;
                plans.extend(folder.iter().flat_map(|folder| folder.plans().map(|plan| folder.join(plan))));
            }
        }
        let mut seen = BTreeSet::new();
        plans.retain(|path| seen.insert(path.clone()));
        Ok(plans)
    }

    /// Returns the commands that a plan names as checks of its tasks. For a blocked task its own checks are skipped,
    /// since it made nothing that they could show.
    fn planned_checks(&self, files: &dyn Files, path: &str, text: &str) -> Result<Vec<String>, EngineError> {
        Ok(match &self.layout {
            Layout::Milestones => {
                let plan = SlicePlan::parse(text);
                let tasks = format!("{}/tasks", path.rsplit_once('/').map_or("", |(folder, _)| folder));
                let mut commands = Vec::new();
                for task in plan.tasks {
                    let summary = places::document(files, &tasks, &task.id, "SUMMARY")?;
                    if !summary.is_some_and(|(_, text)| Summary::parse(&text).blocker_discovered) {
                        commands.extend(task.verify);
                    }
                }
                commands.extend(plan.verification.iter().filter_map(|entry| command_of(entry)));
                commands
            }
            Layout::Phases(_) => checks_of_plan(&self.layout, text),
        })
    }
}

/// Returns the commands that the text of a plan names as checks of its tasks, done or not.
pub(crate) fn checks_of_plan(layout: &Layout, text: &str) -> Vec<String> {
    match layout {
        Layout::Milestones => {
            let plan = SlicePlan::parse(text);
            let entries = plan.verification.iter().filter_map(|entry| command_of(entry));
            plan.tasks.into_iter().filter_map(|task| task.verify).chain(entries).collect()
        }
        Layout::Phases(_) => PhasePlan::parse(text).checks().into_iter().filter_map(|check| check.command).collect(),
    }
}

/// Returns the command of an entry in backticks; an entry that is a sentence is addressed to people.
fn command_of(entry: &str) -> Option<String> {
    let inside = entry.trim().strip_prefix('`')?.strip_suffix('`')?;
    (!inside.is_empty() && !inside.contains('`')).then(|| inside.to_owned())
}
