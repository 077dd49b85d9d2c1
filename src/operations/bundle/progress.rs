//! `init progress`: every phase of the milestone, the current position, and what comes next.

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
use crate::project::state::meaningful;
use crate::project::up_next;
use crate::project::verification;

use crate::operations::facts::{Completion, Given, Part, facts};

/// The phases of the milestone that have a folder or a section in the roadmap, in order.
struct Rows(Vec<PhaseRow>);

/// One phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PhaseRow {
    number: String,
    name: Option<String>,
    /// Number and name as written in the roadmap, which is how texts refer to the phase.
    roadmap_number: String,
    roadmap_name: Option<String>,
    directory: Option<String>,
    status: Status,
    plan_count: usize,
    summary_count: usize,
    has_research: bool,
    /// The roadmap marks the phase as done.
    roadmap_complete: bool,
    /// Something is left to do: the roadmap does not mark the phase as done, or a plan has no summary.
    open: bool,
    #[serde(flatten)]
    completion: Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Closed in the roadmap, or executed and verified.
    Complete,
    /// Every plan has a summary.
    Executed,
    InProgress,
    Researched,
    /// There is a folder without any relevant file.
    Pending,
    NotStarted,
}

impl Part for Rows {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let milestone = given.part::<Milestone>()?;
        let mut folders = given.view.milestone_folders()?;
        folders.retain(|folder| !folder.id().is_sentinel());
        verification::look_ahead(given.view, &folders)?;
        let mut rows = Vec::new();
        for folder in &folders {
            let standing = PhaseStanding::of(given.view, folder.token(), Some(folder))?;
            let label = given.view.label(folder.token())?;
            rows.push((folder.token().to_owned(), PhaseRow::of_folder(given, folder, label, &standing)));
        }
        let folder_index = FolderIndex::new(&folders);
        let mut known: HashSet<String> = folders.iter().map(|folder| key(&folder.id())).collect();
        for ListedPhase { id, name, .. } in milestone.phases(given.view.roadmap_or_empty()?) {
            let phase_id = PhaseId::new(id);
            if known.contains(&key(&phase_id)) || folder_index.find(&phase_id).is_some() {
                continue;
            }
            let standing = PhaseStanding::of(given.view, id, None)?;
            let slug = phase::folder_slug(name_without_tag(name));
            let label = given.view.label(id)?;
            rows.push((id.to_owned(), PhaseRow::of(given, (id, &slug), None, label, &standing)));
            known.insert(key(&phase_id));
        }
        rows.sort_by(|(left, _), (right, _)| phase::compare(left, right));
        Ok(Self(rows.into_iter().map(|(_, row)| row).collect()))
    }
}

facts! { |given, rows: Rows|
    /// Every phase of the milestone.
    progress_phases: Vec<PhaseRow> = rows.0.clone();
    /// The number of phases of the milestone.
    progress_phase_count: usize = rows.0.len();
    /// The number of complete phases.
    progress_completed_count: usize = rows.count(&[Status::Complete]);
    /// The number of phases that are executed or have plans.
    progress_in_progress_count: usize = rows.count(&[Status::Executed, Status::InProgress]);
    /// The current phase, or else the first with something left to do.
    progress_current_phase: Option<PhaseRow> = rows.current(given)?.cloned();
    /// The first phase that has no plans.
    next_phase: Option<PhaseRow> = rows.open().find(|row| row.status.is_unplanned()).cloned();
    /// True if a phase with something left to do has been started.
    has_work_in_progress: bool = rows.open().any(|row| row.status.is_begun());
    /// True if the current phase is planned as a slice that a user can use.
    phase_mvp_mode: bool = match rows.current(given)? {
        Some(row) => mvp_mode(given.view, &row.number, false, given.flag("workflow.mvp_mode"))?.active,
        None => false,
    };
    /// What comes next, the same in all answers.
    next: NextReport = NextReport::in_project(given.view, &given.host.next)?;
    /// Where work was interrupted, according to STATE.md.
    paused_at: Option<String> = {
        let note = given.view.state()?.and_then(|state| meaningful(state.value("Paused At")?));
        note.map(str::to_owned)
    };
    /// What may hide phases of the milestone and so makes the figures uncertain.
    problems: Vec<String>, if any = Some(given.view.problems()?).filter(|problems| !problems.is_empty());
}

impl Rows {
    fn count(&self, wanted: &[Status]) -> usize {
        self.0.iter().filter(|row| wanted.contains(&row.status)).count()
    }

    fn open(&self) -> impl Iterator<Item = &PhaseRow> {
        self.0.iter().filter(|row| row.open)
    }

    fn current(&self, given: &Given<'_>) -> Result<Option<&PhaseRow>, FileError> {
        let at_work = up_next::phase_at_work(given.view)?.map(|phase| PhaseId::new(&phase));
        let is_at_work = |row: &&PhaseRow| at_work.as_ref().is_some_and(|phase| phase.matches(&row.number));
        Ok(self.open().find(is_at_work).or_else(|| self.open().next()))
    }
}

impl PhaseRow {
    fn of_folder(given: &Given<'_>, folder: &PhaseFolder, label: PhaseLabel, standing: &PhaseStanding) -> Self {
        let called = if without_code(&folder.name).len() < folder.name.len() {
            (folder.token(), folder.slug())
        } else {
            folder.number_and_name()
        };
        Self::of(given, called, Some(folder), label, standing)
    }

    fn of(
        given: &Given<'_>,
        (number, name): (&str, &str),
        folder: Option<&PhaseFolder>,
        label: PhaseLabel,
        standing: &PhaseStanding,
    ) -> Self {
        let work = &standing.work;
        Self {
            number: number.to_owned(),
            name: (!name.is_empty()).then(|| name.to_owned()),
            roadmap_number: label.number,
            roadmap_name: label.name,
            directory: folder.map(|folder| given.shown(&folder.path)),
            status: Status::of(standing.stage()),
            plan_count: work.plans.len(),
            summary_count: work.summaries,
            has_research: work.has_research,
            roadmap_complete: work.is_closed_by_roadmap(),
            open: work.is_open(),
            completion: Completion::of(standing, number, &given.host.command_prefix),
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

    fn is_begun(self) -> bool {
        matches!(self, Self::Executed | Self::InProgress | Self::Researched)
    }

    fn is_unplanned(self) -> bool {
        matches!(self, Self::NotStarted | Self::Pending | Self::Researched)
    }
}

/// The normalized identifier, so that a phase is listed once.
fn key(id: &PhaseId) -> String {
    id.as_str().to_ascii_lowercase()
}
