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

use crate::operations::answers::answer::answer;
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::operations::facts::{FactBasis, Given, facts};

/// The phases of the milestone that have a folder or a section in the roadmap, in order.
struct Rows(Vec<PhaseRow>);

/// A phase, and what the roadmap calls it.
struct LabelledPhase {
    phase: PhaseFacts,
    label: PhaseLabel,
}

answer! {
    /// One phase.
    struct PhaseRow |named: LabelledPhase| with listed(&named.phase) {
        number,
        /// The name of the phase as its folder has it.
        name: Option<String> = Some(named.phase.name.clone()).filter(|name| !name.is_empty()),
        /// The number as the roadmap writes it, and texts call the phase.
        roadmap_number: String = named.label.number.clone(),
        /// The name as the roadmap writes it, and texts call the phase.
        roadmap_name: Option<String> = named.label.name.clone(),
        directory,
        status: Status = Status::of(named.phase.stage()),
        plan_count, summary_count, has_research, roadmap_complete, open,
        #[serde(flatten)]
        completion,
    }
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

impl FactBasis for Rows {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let milestone = given.part::<Milestone>()?;
        let folders = given.view.milestone_folders()?;
        verification::look_ahead(given.view, &folders)?;
        let row = |id: &str, (number, name): (&str, &str), folder: Option<&PhaseFolder>| {
            let phase = PhaseFacts {
                directory: folder.map(|folder| given.shown(&folder.path)),
                command_prefix: given.host.command_prefix.clone(),
                ..PhaseFacts::new(number, name, PhaseStanding::of(given.view, id, folder)?)
            };
            Ok::<_, FileError>((id.to_owned(), PhaseRow::of(&LabelledPhase { phase, label: given.view.label(id)? })))
        };
        let mut rows = Vec::new();
        for folder in &folders {
            let has_code = without_code(&folder.name).len() < folder.name.len();
            let called = if has_code { (folder.token(), folder.slug()) } else { folder.number_and_name() };
            rows.push(row(folder.token(), called, Some(folder))?);
        }
        let folder_index = FolderIndex::new(&folders);
        let mut known: HashSet<String> = folders.iter().map(|folder| key(&folder.id())).collect();
        for ListedPhase { id, name, .. } in milestone.phases(given.view.roadmap_or_empty()?) {
            let phase_id = PhaseId::new(id);
            if known.insert(key(&phase_id)) && folder_index.find(&phase_id).is_none() {
                rows.push(row(id, (id, &phase::folder_slug(name_without_tag(name))), None)?);
            }
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
