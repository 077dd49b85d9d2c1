//! The layout of a project's documents: milestones and slices below `.gsd/`, or phases below `.planning/`. Only this
//! module has the differences between them for the engine.

use std::collections::BTreeMap;

use super::engine::{Edit, Effects, EngineError};
use super::event::{Mechanical, Run, UnitStarted};
use super::memory::{Memory, Operation};
use super::permit::{DocumentTexts, Permit, Trespass};
use super::phases::{self, PhaseSettings};
use super::position::Position;
use super::preferences::Preferences;
use super::slices::{self, record, replanned::Fixed, snapshot::Snapshot};
use super::unit::{Unit, UnitKind};
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::plan::PhasePlan;
use crate::project::view::ProjectView;

/// How the documents of a project are laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    #[default]
    Milestones,
    Phases(PhaseSettings),
}

/// The documents as read for one decision.
#[derive(Debug)]
pub(crate) enum LayoutDocuments {
    Milestones(Box<Snapshot>),
    Phases(Box<ProjectView>),
}

impl Layout {
    /// The folder of the documents.
    pub(crate) fn folder(&self) -> &'static str {
        match self {
            Self::Milestones => lookup::FOLDER,
            Self::Phases(_) => phases::FOLDER,
        }
    }

    /// Returns the branch of a run on `milestone`. A branch that agents commit to is in a separate folder of
    /// references, so that they can write to no other.
    pub(crate) fn branch(&self, milestone: &str) -> String {
        match self {
            Self::Milestones => format!("milestone/{milestone}"),
            Self::Phases(_) => format!("milestone/{milestone}/work"),
        }
    }

    /// Returns what a unit may write below the planning folder, from the documents that its prompt names.
    pub(crate) fn permits(&self, mut named: Vec<Permit>) -> Vec<Permit> {
        match self {
            Self::Milestones => {
                named.push(slices::permit::recorded());
                named
            }
            Self::Phases(_) => phases::permit::permits(&named),
        }
    }

    /// Returns what is wrong with the change of a document; `None` if the unit may make it.
    pub(crate) fn trespass(
        &self,
        permits: &[Permit],
        start: &UnitStarted,
        path: &str,
        texts: DocumentTexts<'_>,
    ) -> Option<Trespass> {
        match self {
            Self::Milestones => slices::permit::trespass(permits, (&start.unit, &start.fixed), path, texts),
            Self::Phases(_) => phases::permit::trespass(permits, &start.unit, path, texts),
        }
    }

    /// Returns the commands that a plan of this layout names as checks, grouped by task.
    pub(crate) fn planned_checks(&self, plan: &str) -> Vec<Vec<String>> {
        match self {
            Self::Milestones => {
                SlicePlan::parse(plan).tasks.into_iter().map(|task| Vec::from_iter(task.verify)).collect()
            }
            Self::Phases(_) => {
                let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
                for check in PhasePlan::parse(plan).checks() {
                    tasks.entry(check.task).or_default().extend(check.command);
                }
                tasks.into_values().collect()
            }
        }
    }

    /// True if units are workflows whose agents commit.
    pub(crate) fn lets_agents_commit(&self) -> bool {
        matches!(self, Self::Phases(_))
    }

    /// Returns what a mechanical step writes, or why it needs an agent.
    pub(crate) fn mechanical(
        &self,
        effects: &mut impl Effects,
        step: &Mechanical,
        preferences: &Preferences,
        requirements_before: Option<String>,
    ) -> Result<Result<Vec<Edit>, String>, EngineError> {
        Ok(match self {
            Self::Milestones => {
                // Only what follows from a capture has a time.
                let now = if matches!(step, Mechanical::CarryOutCapture { .. }) { effects.now().wall } else { 0 };
                record::mechanical(effects.files(), step, preferences, requirements_before, now)?
                    .map_err(|reason| reason.message)
            }
            Self::Phases(settings) => {
                let facts = effects.facts();
                phases::record::mechanical(&effects.view(), step, settings, &facts)?
            }
        })
    }
}

impl LayoutDocuments {
    /// Returns the documents of a project in phases, and the position of a run in them.
    pub(crate) fn in_phases(
        view: ProjectView,
        settings: &PhaseSettings,
        memory: &Memory,
    ) -> Result<(Self, Position), FileError> {
        let position = phases::position::of(&view, memory, settings)?;
        Ok((Self::Phases(Box::new(view)), position))
    }

    /// Returns the message of a commit.
    pub(crate) fn message(&self, files: &dyn Files, operation: Option<&Operation>) -> Result<String, FileError> {
        match self {
            Self::Milestones(snapshot) => record::message(files, snapshot, operation),
            Self::Phases(_) => Ok(phases::record::message(operation)),
        }
    }

    /// Returns the message of the commit that lands.
    pub(crate) fn landing_message(&self, files: &dyn Files, run: &Run) -> Result<String, FileError> {
        let (subject, built) = match self {
            Self::Milestones(snapshot) => {
                (record::landing_subject(snapshot, run), record::built(files, &run.milestone)?)
            }
            Self::Phases(view) => (phases::record::landing_subject(view, run)?, phases::record::built(view)?),
        };
        let mut text = format!("{}\n\n", record::subject_line(&subject));
        if !built.is_empty() {
            text += &(built.join("\n") + "\n\n");
        }
        Ok(text + &format!("GSD-Milestone: {}\nBranch: {}\n", run.milestone, run.branch))
    }

    /// Returns what is planned or begun already, which the unit may not plan again.
    pub(crate) fn fixed(&self, unit: &Unit) -> Fixed {
        match self {
            Self::Milestones(snapshot) => Fixed::of(snapshot, unit),
            Self::Phases(_) => Fixed::default(),
        }
    }

    /// Returns the variables that the work of a unit needs according to the documents, and the file that names them.
    pub(crate) fn variables(&self, files: &dyn Files, unit: &Unit) -> Result<Option<(String, Vec<String>)>, FileError> {
        match (self, unit.kind, unit.parts()) {
            (Self::Milestones(snapshot), UnitKind::ExecuteTask, (milestone, Some(slice), _)) => {
                slices::secrets::needed(files, snapshot, (milestone, slice))
            }
            _ => Ok(None),
        }
    }

    /// Returns the estimate of the plan for a unit, in minutes.
    pub(crate) fn estimate(&self, unit: &Unit) -> Option<u32> {
        match self {
            Self::Milestones(snapshot) => {
                let (milestone, slice, task) = unit.parts();
                snapshot.task(milestone, slice?, task?)?.estimate
            }
            Self::Phases(_) => None,
        }
    }
}
