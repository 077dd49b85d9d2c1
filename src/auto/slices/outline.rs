//! The slices and tasks of a milestone by name, also of one that is complete: a snapshot reads no plan of it any more.

use super::places;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::summary::Summary;

/// A milestone by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MilestoneOutline {
    pub(crate) title: Option<String>,
    pub(crate) slices: Vec<OutlinedSlice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlinedSlice {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) is_done: bool,
    pub(crate) tasks: Vec<OutlinedTask>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlinedTask {
    pub(crate) id: String,
    pub(crate) title: String,
    /// What it did, by its summary.
    pub(crate) result: Option<String>,
}

impl MilestoneOutline {
    /// Reads the roadmap of a milestone, the plans of its slices, and the summaries of their tasks.
    pub(crate) fn read(files: &dyn Files, milestone: &str) -> Result<Self, FileError> {
        let folder = places::milestone(files, milestone)?;
        let Some((_, text)) = places::document(files, &folder, milestone, "ROADMAP")? else {
            return Ok(Self::default());
        };
        let roadmap = Roadmap::parse(&text);
        let slice = |row: &crate::project::milestone_layout::slice_rows::SliceRow| {
            Ok(OutlinedSlice {
                id: row.id.clone(),
                title: row.title.clone(),
                is_done: row.done && !row.skipped,
                tasks: tasks(files, milestone, &row.id)?,
            })
        };
        let slices = roadmap.slices.iter().map(slice).collect::<Result<_, FileError>>()?;
        Ok(Self { title: roadmap.title, slices })
    }
}

fn tasks(files: &dyn Files, milestone: &str, slice: &str) -> Result<Vec<OutlinedTask>, FileError> {
    let folder = places::slice(files, milestone, slice)?;
    let Some((_, plan)) = places::document(files, &folder, slice, "PLAN")? else { return Ok(Vec::new()) };
    let entries = files.list(&format!("{folder}/tasks"))?.unwrap_or_default();
    let task = |task: &crate::project::milestone_layout::slice_plan::PlannedTask| {
        let summary = match lookup::file(&entries, &task.id, "SUMMARY") {
            Some(name) => files.read(&format!("{folder}/tasks/{name}"))?,
            None => None,
        };
        let result = summary.as_deref().map(Summary::parse).and_then(|summary| summary.one_liner);
        Ok(OutlinedTask { id: task.id.clone(), title: task.title.clone(), result })
    };
    SlicePlan::parse(&plan).tasks.iter().map(task).collect()
}
