//! `init progress`: every phase of the milestone, where the work stands, and what comes next.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::phase::mvp_mode;
use crate::operations::verification;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::Milestone;
use crate::project::phase::{self, PhaseId, without_code};
use crate::project::roadmap::{Roadmap, name_without_tag};
use crate::project::state::{State, meaningful};
use crate::text::slug;

use super::completion::Completion;
use super::project::Documents;
use super::sections::{Condition, SectionManifest};
use super::{Bundle, Complete};

/// What `init progress` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a field of the answer")]
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
}

/// One phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PhaseRow {
    number: String,
    name: Option<String>,
    directory: Option<String>,
    status: Status,
    plan_count: usize,
    summary_count: usize,
    has_research: bool,
    /// Ticked in the roadmap; told of phases without a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    roadmap_complete: Option<bool>,
    #[serde(flatten)]
    completion: Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Verified.
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
        let worked_on =
            |row: &&PhaseRow| matches!(row.status, Status::Executed | Status::InProgress | Status::Researched);
        let current_phase = phases.iter().find(worked_on).cloned();
        let next_phase = phases.iter().find(|row| row.is_open()).cloned();
        let is_mvp = match &current_phase {
            Some(row) => mvp_mode(self.view, &row.number, false, self.config.flag("workflow.mvp_mode"))?.active,
            None => false,
        };
        let documents = self.documents();
        let section_manifest = SectionManifest::of("progress", |condition| match condition {
            Condition::Mvp => is_mvp,
            Condition::Forensic => forensic,
            _ => false,
        });
        let report = ProgressBundle {
            executor_model: self.model("gsd-executor"),
            planner_model: self.model("gsd-planner"),
            commit_docs: self.commit_docs(),
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            phase_count: phases.len(),
            completed_count: count(&[Status::Complete]),
            in_progress_count: count(&[Status::Executed, Status::InProgress]),
            has_work_in_progress: current_phase.is_some(),
            phases,
            current_phase,
            next_phase,
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
        for folder in &folders {
            rows.push((folder.token().to_owned(), self.row_of_folder(folder)?));
        }
        let text = self.view.roadmap_text()?;
        let roadmap = text.as_deref().map(|text| self.view.parse_roadmap(text));
        for (id, name, line) in roadmap.iter().flat_map(listed_phases) {
            let phase_id = PhaseId::new(id);
            let known = rows.iter().any(|(number, _)| phase_id.matches(number))
                || folders.iter().any(|folder| folder.is_of(&phase_id));
            if known || phase_id.is_sentinel() || !milestone.holds(line) {
                continue;
            }
            let ticked = roadmap.as_ref().and_then(|roadmap| roadmap.bullet(id)).is_some_and(|bullet| bullet.checked);
            rows.push((id.to_owned(), self.row_of_entry(id, name, ticked)?));
        }
        rows.sort_by(|(left, _), (right, _)| phase::compare(left, right));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn row_of_folder(&self, folder: &PhaseFolder) -> Result<PhaseRow, FileError> {
        let (number, name) = if without_code(&folder.name).len() < folder.name.len() {
            (folder.token(), folder.slug())
        } else {
            folder.number_and_name()
        };
        let plan_count = self.view.current_plans(folder)?.len();
        let completion = self.completion(Some(folder), plan_count, number)?;
        let has_research = folder.artifact("RESEARCH").is_some();
        let status = if completion.verification_passed {
            Status::Complete
        } else if completion.implementation_complete {
            Status::Executed
        } else if plan_count > 0 {
            Status::InProgress
        } else if has_research {
            Status::Researched
        } else {
            Status::Pending
        };
        Ok(PhaseRow {
            number: number.to_owned(),
            name: (!name.is_empty()).then(|| name.to_owned()),
            directory: Some(self.shown(&folder.path)),
            status,
            plan_count,
            summary_count: folder.summaries().count(),
            has_research,
            roadmap_complete: None,
            completion,
        })
    }

    fn row_of_entry(&self, id: &str, name: &str, ticked: bool) -> Result<PhaseRow, FileError> {
        let slug = slug(name_without_tag(name));
        Ok(PhaseRow {
            number: id.to_owned(),
            name: (!slug.is_empty()).then_some(slug),
            directory: None,
            status: Status::NotStarted,
            plan_count: 0,
            summary_count: 0,
            has_research: false,
            roadmap_complete: Some(ticked),
            completion: self.completion(None, 0, id)?,
        })
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

impl PhaseRow {
    /// Nothing was done yet, and the roadmap does not call it done.
    fn is_open(&self) -> bool {
        match self.status {
            Status::Pending => true,
            Status::NotStarted => self.roadmap_complete != Some(true),
            _ => false,
        }
    }
}

/// Identifier, name and line of every open phase with a section, or a row of a table that lists phases.
fn listed_phases<'roadmap, 'text>(
    roadmap: &'roadmap Roadmap<'text>,
) -> impl Iterator<Item = (&'text str, &'text str, usize)> + use<'roadmap, 'text> {
    let sections = roadmap.sections().iter().filter(|section| !section.shipped);
    let rows = roadmap.rows().iter().filter(|row| row.lists && !row.shipped && roadmap.section(row.id).is_none());
    sections
        .map(|section| (section.id, section.name, section.heading_line))
        .chain(rows.map(|row| (row.id, row.name, row.line)))
}
