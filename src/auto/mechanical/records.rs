//! What the steps are taken from.

use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::project::milestone_layout::record::RecordError;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::project::milestone_layout::summary::Summary;

/// A document with its place, from the root of the worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What a task left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskRecords {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) summary: Option<Document>,
    /// The record of its checks, as it is in the file.
    pub(crate) evidence: Option<Document>,
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

/// What there is of one slice, with the documents of the whole project that follow it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SliceRecords {
    pub(crate) milestone: String,
    pub(crate) slice: String,
    /// The folder of the slice.
    pub(crate) folder: String,
    pub(crate) roadmap: Option<Document>,
    pub(crate) plan: Option<Document>,
    /// In the order of their identifiers.
    pub(crate) tasks: Vec<TaskRecords>,
    pub(crate) summary: Option<Document>,
    pub(crate) uat: Option<Document>,
    pub(crate) requirements: Option<Document>,
    pub(crate) decisions: Option<Document>,
    /// Other milestones that are complete.
    pub(crate) complete_milestones: Vec<String>,
}

/// What there is of one slice of a milestone that is closed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClosedSlice {
    pub(crate) row: SliceRow,
    pub(crate) summary: Option<Document>,
    pub(crate) tasks: Vec<TaskRecords>,
    pub(crate) uat: Option<Document>,
    pub(crate) uat_result: Option<Document>,
    pub(crate) assessment: Option<Document>,
}

/// What there is of a milestone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MilestoneRecords {
    pub(crate) milestone: String,
    pub(crate) folder: String,
    pub(crate) roadmap: Option<Document>,
    pub(crate) validation: Option<Document>,
    pub(crate) summary: Option<Document>,
    /// In the order of the roadmap.
    pub(crate) slices: Vec<ClosedSlice>,
    pub(crate) requirements: Option<Document>,
    /// The requirements as they were when the milestone began, where that is known.
    pub(crate) requirements_before: Option<String>,
}

impl MilestoneRecords {
    pub(crate) fn roadmap(&self) -> Option<Roadmap> {
        self.roadmap.as_ref().map(|roadmap| Roadmap::parse(&roadmap.text))
    }

    /// The done slices without a summary: what keeps the milestone from being closed. A skipped slice has none.
    pub(crate) fn without_summary(&self) -> Vec<String> {
        let silent = self.slices.iter().filter(|slice| slice.row.done && !slice.row.skipped && slice.summary.is_none());
        silent.map(|slice| slice.row.id.clone()).collect()
    }
}
