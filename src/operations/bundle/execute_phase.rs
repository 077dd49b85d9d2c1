//! `init execute-phase`: what executing a phase starts from.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::plans::index::Obstacles;
use crate::project::config::Branching;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::milestone::Milestone;
use crate::project::phase::{self, PhaseId};
use crate::project::plan::PhasePlan;
use crate::text::slug;

use super::phase::{Aim, Phase, StateValidation, Title};
use super::sections::{Condition, SectionManifest};
use super::{Automation, Bundle, Complete, Settings};

/// Plan files to the identifiers of the halted plans they wait for.
type Blocked = BTreeMap<String, Vec<String>>;

/// What was asked besides the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutePhaseRequest {
    /// Only one wave is executed.
    pub(crate) one_wave: bool,
    pub(crate) tdd: bool,
    /// The state is held against the disk.
    pub(crate) validate: bool,
}

/// What `init execute-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExecutePhaseReport {
    executor_model: String,
    verifier_model: String,
    tdd_mode: bool,
    commit_docs: bool,
    sub_repos: Vec<String>,
    parallelization: bool,
    context_window: Option<u64>,
    branching_strategy: String,
    phase_branch_template: Option<String>,
    milestone_branch_template: Option<String>,
    verifier_enabled: bool,
    #[serde(flatten)]
    automation: Automation,
    phase_found: bool,
    phase_dir: Option<String>,
    phase_number: Option<String>,
    phase_name: Option<String>,
    #[serde(flatten)]
    title: Title,
    phase_slug: Option<String>,
    phase_req_ids: Option<String>,
    plans: Vec<String>,
    summaries: Vec<String>,
    incomplete_plans: Vec<String>,
    plan_count: usize,
    incomplete_count: usize,
    /// Plans whose summary says `halted`.
    halted_plans: Vec<String>,
    /// Plans that wait for those or stand in a circle, and what they wait for.
    blocked_by: Blocked,
    runnable_plans: Vec<String>,
    runnable_count: usize,
    /// Plans with a summary that were never closed: the roadmap still has them as open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unclosed_plans: Vec<String>,
    branch_name: Option<String>,
    milestone_version: Option<String>,
    milestone_name: Option<String>,
    milestone_slug: Option<String>,
    state_exists: bool,
    roadmap_exists: bool,
    config_exists: bool,
    state_path: Option<String>,
    roadmap_path: Option<String>,
    config_path: String,
    requirements_path: Option<String>,
    #[serde(flatten)]
    validation: Option<StateValidation>,
    section_manifest: SectionManifest,
    #[serde(flatten)]
    aim: Aim,
    /// What the workflow goes by, with the defaults of keys that are not set.
    settings: Settings,
}

/// The settings that the workflow goes by.
const SETTINGS: &[&str] = &[
    "workflow.context_guard_mode",
    "workflow.inline_plan_threshold",
    "workflow.node_repair",
    "workflow.security_block_on",
    "executor.stall_detect_interval_minutes",
    "executor.stall_threshold_minutes",
];

impl Bundle<'_> {
    /// What executing `typed` starts from.
    pub(crate) fn execute_phase(
        &self,
        typed: &str,
        request: &ExecutePhaseRequest,
    ) -> Result<Complete<ExecutePhaseReport>, FileError> {
        let found = self.phase(typed)?;
        let phase = found.as_ref();
        let folder = phase.and_then(|phase| phase.folder.as_ref());
        let layout = self.view.layout();
        let milestone = self.milestone()?;
        let plans = self.plans(phase)?;
        let summaries: Vec<String> =
            folder.map(|folder| folder.summaries().map(str::to_owned).collect()).unwrap_or_default();
        let incomplete = folder.map(|folder| self.view.plans_to_do(folder)).transpose()?.unwrap_or_default();
        let obstacles = self.obstacles(folder)?;
        let file_of = |id: &String| plans.iter().find(|file| plan_id(file) == id).cloned();
        let halted_plans = obstacles.halted.iter().filter_map(file_of).collect();
        let blocked_by: Blocked =
            obstacles.blocked_by.iter().filter_map(|(id, by)| Some((file_of(id)?, by.clone()))).collect();
        let can_run = |plan: &&String| !blocked_by.contains_key(*plan);
        let runnable: Vec<String> = incomplete.iter().filter(can_run).cloned().collect();
        let closes_gaps = PhaseId::new(typed).is_decimal() || self.has_gap_plans(folder, &plans)?;
        let earlier_results = self.has_earlier_results(phase.map_or(typed, |phase| phase.number.as_str()))?;
        let validation = if request.validate { self.validation(typed, plans.len())? } else { None };
        let decided = [
            (Condition::PartialWave, request.one_wave),
            (Condition::ClosesGaps, closes_gaps),
            (Condition::EarlierResults, earlier_results),
        ];
        let section_manifest = SectionManifest::of("execute-phase", &decided);
        let text = |key| self.config.text(key).map(str::to_owned);
        let report = ExecutePhaseReport {
            executor_model: self.model("gsd-executor"),
            verifier_model: self.model("gsd-verifier"),
            tdd_mode: request.tdd || self.config.flag("workflow.tdd_mode"),
            commit_docs: self.commit_docs(),
            sub_repos: self.config.sub_repositories().into_iter().map(str::to_owned).collect(),
            parallelization: self.config.flag("parallelization"),
            context_window: self.config.number("context_window"),
            branching_strategy: text("git.branching_strategy").unwrap_or_else(|| "none".to_owned()),
            phase_branch_template: text("git.phase_branch_template"),
            milestone_branch_template: text("git.milestone_branch_template"),
            verifier_enabled: self.config.flag("workflow.verifier"),
            automation: self.automation(),
            phase_found: phase.is_some(),
            phase_dir: phase.and_then(|phase| self.folder_path(phase)),
            phase_number: phase.map(|phase| phase.number.clone()),
            phase_name: phase.and_then(Phase::name_in_roadmap).map(str::to_owned),
            title: self.title(phase)?,
            phase_slug: phase.and_then(Phase::slug),
            phase_req_ids: phase.and_then(|phase| phase.entry.as_ref()?.requirements.clone()),
            plan_count: plans.len(),
            incomplete_count: incomplete.len(),
            runnable_count: runnable.len(),
            plans,
            summaries,
            incomplete_plans: incomplete,
            halted_plans,
            blocked_by,
            runnable_plans: runnable,
            unclosed_plans: folder.map(|folder| self.view.unclosed_plans(folder)).transpose()?.unwrap_or_default(),
            branch_name: self.branch_name(phase, &milestone),
            milestone_slug: milestone.name.as_deref().map(slug),
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            state_exists: self.view.exists(&layout.state()),
            roadmap_exists: self.roadmap_exists(),
            config_exists: self.view.exists(&layout.config()),
            state_path: self.shown_if_there(&layout.state()),
            roadmap_path: self.shown_if_there(&layout.roadmap()),
            config_path: self.shown(&layout.config()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            validation,
            section_manifest,
            aim: self.aim(phase),
            settings: self.settings(SETTINGS),
        };
        self.complete(report)
    }

    /// What keeps plans from being executed; nothing where the phase is archived.
    fn obstacles(&self, folder: Option<&PhaseFolder>) -> Result<Obstacles, FileError> {
        folder
            .filter(|folder| folder.archived.is_none())
            .map_or_else(|| Ok(Obstacles::default()), |folder| Obstacles::of(self.view, folder))
    }

    /// The milestone as bundles tell it: without a roadmap there is none, whatever the state says.
    pub(super) fn milestone(&self) -> Result<Milestone, FileError> {
        if self.view.roadmap_text()?.is_none() {
            return Ok(Milestone::without_roadmap(None));
        }
        self.view.milestone()
    }

    /// The branch the work goes on.
    fn branch_name(&self, phase: Option<&Phase>, milestone: &Milestone) -> Option<String> {
        let code = self.config.project_code().unwrap_or_default();
        match self.config.branching() {
            Branching::None => None,
            Branching::Phase => {
                let phase = phase?;
                let slug = phase.slug().unwrap_or_default();
                let values = [("{project}", code), ("{phase}", &phase.padded()), ("{slug}", &slug)];
                fill(self.config.text("git.phase_branch_template")?, &values)
            }
            Branching::Milestone => {
                let slug = milestone.name.as_deref().map_or_else(|| "milestone".to_owned(), slug);
                let version = milestone.version.as_deref()?;
                let values = [("{project}", code), ("{milestone}", version), ("{slug}", &slug)];
                fill(self.config.text("git.milestone_branch_template")?, &values)
            }
        }
    }

    fn has_gap_plans(&self, folder: Option<&PhaseFolder>, plans: &[String]) -> Result<bool, FileError> {
        let Some(folder) = folder else { return Ok(false) };
        for plan in plans {
            let text = self.view.text(&folder.join(plan))?;
            if text.as_deref().is_some_and(|text| PhasePlan::parse(text).closes_gaps()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a phase before `number` has a summary, or a milestone was archived.
    fn has_earlier_results(&self, number: &str) -> Result<bool, FileError> {
        let folders = self.view.phase_folders()?;
        let open = folders
            .iter()
            .any(|folder| phase::compare(folder.token(), number).is_lt() && folder.summaries().next().is_some());
        Ok(open || !self.view.archives()?.is_empty())
    }
}

/// A template with its placeholders filled in; a value that is empty takes the hyphen before it along.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
    let mut filled = template.to_owned();
    for (placeholder, value) in values {
        if value.is_empty() {
            filled = filled.replace(&format!("-{placeholder}"), "");
        }
        filled = filled.replace(placeholder, value);
    }
    (!filled.is_empty()).then_some(filled)
}
