//! `init progress`: every phase of the milestone, where the work stands, and what comes next.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::phases::add::mvp_mode;
use crate::operations::state::next::NextReport;
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, PhaseFolder};
use crate::project::label::PhaseLabel;
use crate::project::milestone::{ListedPhase, Milestone};
use crate::project::phase::{self, PhaseId, without_code};
use crate::project::roadmap::name_without_tag;
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::state::{State, meaningful};
use crate::project::up_next;
use crate::project::verification;

use super::completion::Completion;
use super::project::Documents;
use super::sections::{Condition, SectionManifest};
use super::{Bundle, Complete};

/// What `init progress` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgressBundle {
    executor_model: String,
    planner_model: String,
    commit_docs: bool,
    milestone_version: Option<String>,
    milestone_name: Option<String>,
    phases: Vec<PhaseRow>,
    phase_count: usize,
    completed_count: usize,
    in_progress_count: usize,
    current_phase: Option<PhaseRow>,
    next_phase: Option<PhaseRow>,
    /// What comes next, the same in every answer.
    next: NextReport,
    paused_at: Option<String>,
    has_work_in_progress: bool,
    phase_mvp_mode: bool,
    project_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    planning_exists: bool,
    requirements_exists: bool,
    milestones_exists: bool,
    init_incomplete: bool,
    state_path: String,
    roadmap_path: String,
    project_path: String,
    config_path: String,
    section_manifest: SectionManifest,
    /// What may hide phases of the milestone, and so makes the figures uncertain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// One phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PhaseRow {
    number: String,
    name: Option<String>,
    /// Number and name as the roadmap writes them, and texts call the phase.
    roadmap_number: String,
    roadmap_name: Option<String>,
    directory: Option<String>,
    status: Status,
    plan_count: usize,
    summary_count: usize,
    has_research: bool,
    /// The roadmap says that the phase is done.
    roadmap_complete: bool,
    /// There is something left to do: the roadmap does not call the phase done, or a plan has no summary.
    open: bool,
    #[serde(flatten)]
    completion: Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Closed by the roadmap, or executed and verified.
    Complete,
    /// Every plan has a summary.
    Executed,
    InProgress,
    Researched,
    /// There is a folder and nothing in it that counts.
    Pending,
    NotStarted,
}

impl Bundle<'_> {
    /// Every phase of the milestone, and what comes next.
    pub(crate) fn progress(&self, forensic: bool) -> Result<Complete<ProgressBundle>, FileError> {
        let layout = self.view.layout();
        let milestone = self.milestone()?;
        let phases = self.phase_rows(&milestone)?;
        let count = |wanted: &[Status]| phases.iter().filter(|row| wanted.contains(&row.status)).count();
        let open = || phases.iter().filter(|row| row.open);
        let worked_on =
            |row: &PhaseRow| matches!(row.status, Status::Executed | Status::InProgress | Status::Researched);
        let has_work_in_progress = open().any(worked_on);
        let at_work = up_next::phase_at_work(self.view)?.map(|phase| PhaseId::new(&phase));
        let is_at_work = |row: &&PhaseRow| at_work.as_ref().is_some_and(|phase| phase.matches(&row.number));
        let current_phase = open().find(is_at_work).or_else(|| open().next()).cloned();
        let next_phase = open().find(|row| row.status.is_unplanned()).cloned();
        let is_mvp = match &current_phase {
            Some(row) => mvp_mode(self.view, &row.number, false, self.config.flag("workflow.mvp_mode"))?.active,
            None => false,
        };
        let documents = self.documents();
        let decided = [(Condition::Mvp, is_mvp), (Condition::Forensic, forensic)];
        let section_manifest = SectionManifest::of("progress", &decided);
        let report = ProgressBundle {
            executor_model: self.model("gsd-executor"),
            planner_model: self.model("gsd-planner"),
            commit_docs: self.commit_docs(),
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            phase_count: phases.len(),
            completed_count: count(&[Status::Complete]),
            in_progress_count: count(&[Status::Executed, Status::InProgress]),
            has_work_in_progress,
            phases,
            current_phase,
            next_phase,
            next: NextReport::in_project(self.view, &self.facts.next)?,
            paused_at: self.paused_at()?,
            phase_mvp_mode: is_mvp,
            project_exists: documents.project,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            planning_exists: self.scope_exists(),
            requirements_exists: documents.requirements,
            milestones_exists: documents.milestones,
            init_incomplete: documents.incomplete(),
            state_path: self.shown(&layout.state()),
            roadmap_path: self.shown(&layout.roadmap()),
            project_path: self.shown(&layout.project()),
            config_path: self.shown(&layout.config()),
            problems: self.view.problems()?,
            section_manifest,
        };
        self.complete(report)
    }

    /// The phases of the milestone that have a folder, and those the roadmap has a section for, in order.
    fn phase_rows(&self, milestone: &Milestone) -> Result<Vec<PhaseRow>, FileError> {
        let mut folders = self.view.milestone_folders()?;
        folders.retain(|folder| !folder.id().is_sentinel());
        verification::look_ahead(self.view, &folders)?;
        let mut rows = Vec::new();
        let text = self.view.roadmap_text()?;
        let roadmap = text.as_deref().map(|text| self.view.parse_roadmap(text));
        for folder in &folders {
            let standing = PhaseStanding::of(self.view, roadmap.as_ref(), folder.token(), Some(folder))?;
            let label = PhaseLabel::of(roadmap.as_ref(), folder.token());
            rows.push((folder.token().to_owned(), self.row_of_folder(folder, label, &standing)));
        }
        let folder_index = FolderIndex::new(&folders);
        let mut known: HashSet<String> = folders.iter().map(|folder| key(&folder.id())).collect();
        for ListedPhase { id, name, .. } in roadmap.iter().flat_map(|roadmap| milestone.phases(roadmap)) {
            let phase_id = PhaseId::new(id);
            if known.contains(&key(&phase_id)) || folder_index.find(&phase_id).is_some() {
                continue;
            }
            let standing = PhaseStanding::of(self.view, roadmap.as_ref(), id, None)?;
            let slug = phase::folder_slug(name_without_tag(name));
            let label = PhaseLabel::of(roadmap.as_ref(), id);
            rows.push((id.to_owned(), self.row(id, &slug, None, label, &standing)));
            known.insert(key(&phase_id));
        }
        rows.sort_by(|(left, _), (right, _)| phase::compare(left, right));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn row_of_folder(&self, folder: &PhaseFolder, label: PhaseLabel, standing: &PhaseStanding) -> PhaseRow {
        let (number, name) = if without_code(&folder.name).len() < folder.name.len() {
            (folder.token(), folder.slug())
        } else {
            folder.number_and_name()
        };
        self.row(number, name, Some(folder), label, standing)
    }

    fn row(
        &self,
        number: &str,
        name: &str,
        folder: Option<&PhaseFolder>,
        label: PhaseLabel,
        standing: &PhaseStanding,
    ) -> PhaseRow {
        let work = &standing.work;
        PhaseRow {
            number: number.to_owned(),
            name: (!name.is_empty()).then(|| name.to_owned()),
            roadmap_number: label.number,
            roadmap_name: label.name,
            directory: folder.map(|folder| self.shown(&folder.path)),
            status: Status::of(standing.stage()),
            plan_count: work.plans.len(),
            summary_count: work.summaries,
            has_research: work.has_research,
            roadmap_complete: work.is_closed_by_roadmap(),
            open: work.is_open(),
            completion: Completion::of(standing, number, &self.facts.command_prefix),
        }
    }

    /// Where the state says that work was put down.
    fn paused_at(&self) -> Result<Option<String>, FileError> {
        let text = self.view.state_text()?;
        Ok(text.as_deref().and_then(|text| meaningful(State::parse(text).value("Paused At")?).map(str::to_owned)))
    }

    pub(super) fn documents(&self) -> Documents {
        let layout = self.view.layout();
        let there = |path: &str| self.view.exists(path);
        Documents {
            planning: self.planning_exists(),
            project: there(&layout.project()),
            requirements: there(&layout.requirements()),
            roadmap: there(&layout.roadmap()),
            state: there(&layout.state()),
            milestones: there(&layout.milestones()),
        }
    }
}

impl Status {
    fn of(stage: Stage) -> Self {
        match stage {
            Stage::NoDirectory => Self::NotStarted,
            Stage::Empty | Stage::Discussed => Self::Pending,
            Stage::Researched => Self::Researched,
            Stage::Planned | Stage::Partial => Self::InProgress,
            Stage::Executed => Self::Executed,
            Stage::Complete => Self::Complete,
        }
    }

    fn is_unplanned(self) -> bool {
        matches!(self, Self::NotStarted | Self::Pending | Self::Researched)
    }
}

/// The form of an identifier by which a phase is listed once.
fn key(id: &PhaseId) -> String {
    id.as_str().to_ascii_lowercase()
}
