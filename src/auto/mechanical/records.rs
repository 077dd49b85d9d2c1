//! The input of the steps.

use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::project::milestone_layout::record::RecordError;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::project::milestone_layout::summary::Summary;

/// A document with its path relative to the root of the worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorktreeDocument {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The records of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskRecords {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) summary: Option<WorktreeDocument>,
    /// The record of its checks, as in the file.
    pub(crate) evidence: Option<WorktreeDocument>,
}

impl TaskRecords {
    pub(crate) fn summary(&self) -> Option<Summary> {
        Some(Summary::parse(&self.summary.as_ref()?.text))
    }

    pub(crate) fn evidence(&self) -> Option<Result<TaskEvidence, RecordError>> {
        let file = self.evidence.as_ref()?;
        Some(crate::project::milestone_layout::record::read(&file.path, &file.text))
    }
}

/// The records of one slice, and the documents of the project that change with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SliceRecords {
    pub(crate) milestone: String,
    pub(crate) slice: String,
    /// The folder of the slice.
    pub(crate) folder: String,
    pub(crate) roadmap: Option<WorktreeDocument>,
    pub(crate) plan: Option<WorktreeDocument>,
    /// In the order of their identifiers.
    pub(crate) tasks: Vec<TaskRecords>,
    pub(crate) summary: Option<WorktreeDocument>,
    pub(crate) uat: Option<WorktreeDocument>,
    pub(crate) requirements: Option<WorktreeDocument>,
    pub(crate) decisions: Option<WorktreeDocument>,
    /// Other milestones that are complete.
    pub(crate) complete_milestones: Vec<String>,
}

/// The records of one slice in a milestone that is being closed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClosedSlice {
    pub(crate) row: SliceRow,
    pub(crate) summary: Option<WorktreeDocument>,
    pub(crate) tasks: Vec<TaskRecords>,
    pub(crate) uat: Option<WorktreeDocument>,
    pub(crate) uat_result: Option<WorktreeDocument>,
    pub(crate) assessment: Option<WorktreeDocument>,
}

/// The records of a milestone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MilestoneRecords {
    pub(crate) milestone: String,
    pub(crate) folder: String,
    pub(crate) roadmap: Option<WorktreeDocument>,
    pub(crate) validation: Option<WorktreeDocument>,
    pub(crate) summary: Option<WorktreeDocument>,
    /// In the order of the roadmap.
    pub(crate) slices: Vec<ClosedSlice>,
    pub(crate) requirements: Option<WorktreeDocument>,
    /// The requirements as they were when the milestone began, if known.
    pub(crate) requirements_before: Option<String>,
}

impl MilestoneRecords {
    pub(crate) fn roadmap(&self) -> Option<Roadmap> {
        self.roadmap.as_ref().map(|roadmap| Roadmap::parse(&roadmap.text))
    }

    /// Returns the done slices without a summary, which keep the milestone from being closed. Skipped slices need none.
    pub(crate) fn without_summary(&self) -> Vec<String> {
        let silent = self.slices.iter().filter(|slice| slice.row.done && !slice.row.skipped && slice.summary.is_none());
        silent.map(|slice| slice.row.id.clone()).collect()
    }
}
