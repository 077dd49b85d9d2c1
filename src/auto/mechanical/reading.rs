//! Gathers the records of a slice or a milestone from the files of a project.

use super::records::{ClosedSlice, MilestoneRecords, SliceRecords, TaskRecords, WorktreeDocument};
use crate::auto::slices::places;
use crate::project::files::{FileError, Files, FolderEntry};
use crate::project::milestone_layout::ids::number;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::milestone_summary::Ending;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::slice_rows::SliceRow;

/// Reads the records of a slice.
pub(crate) fn slice_records(files: &dyn Files, milestone: &str, slice: &str) -> Result<SliceRecords, FileError> {
    let above = Folder::read(files, &places::milestone(files, milestone)?)?;
    let own = Folder::read(files, &places::slice(files, milestone, slice)?)?;
    let plan = own.document(slice, "PLAN")?;
    Ok(SliceRecords {
        milestone: milestone.to_owned(),
        slice: slice.to_owned(),
        roadmap: above.document(milestone, "ROADMAP")?,
        tasks: tasks(files, &own.path, plan.as_ref())?,
        plan,
        summary: own.document(slice, "SUMMARY")?,
        uat: own.document(slice, "UAT")?,
        folder: own.path,
        requirements: root_document(files, "REQUIREMENTS.md")?,
        decisions: root_document(files, "DECISIONS.md")?,
        complete_milestones: complete_milestones(files, milestone)?,
    })
}

/// Reads the records of a milestone. `requirements_before` is the text of the requirements when it began, if known.
pub(crate) fn milestone_records(
    files: &dyn Files,
    milestone: &str,
    requirements_before: Option<String>,
) -> Result<MilestoneRecords, FileError> {
    let own = Folder::read(files, &places::milestone(files, milestone)?)?;
    let roadmap = own.document(milestone, "ROADMAP")?;
    let rows = roadmap.as_ref().map(|document| Roadmap::parse(&document.text).slices).unwrap_or_default();
    let mut slices = Vec::new();
    for row in rows {
        slices.push(closed_slice(files, milestone, row)?);
    }
    Ok(MilestoneRecords {
        milestone: milestone.to_owned(),
        roadmap,
        validation: own.document(milestone, "VALIDATION")?,
        summary: own.document(milestone, "SUMMARY")?,
        folder: own.path,
        slices,
        requirements: root_document(files, "REQUIREMENTS.md")?,
        requirements_before,
    })
}

fn closed_slice(files: &dyn Files, milestone: &str, row: SliceRow) -> Result<ClosedSlice, FileError> {
    let own = Folder::read(files, &places::slice(files, milestone, &row.id)?)?;
    let plan = own.document(&row.id, "PLAN")?;
    Ok(ClosedSlice {
        summary: own.document(&row.id, "SUMMARY")?,
        tasks: tasks(files, &own.path, plan.as_ref())?,
        uat: own.document(&row.id, "UAT")?,
        uat_result: own.document(&row.id, "UAT-RESULT")?,
        assessment: own.document(&row.id, "ASSESSMENT")?,
        row,
    })
}

/// Returns the tasks of the plan with their records; without a plan, the tasks with a summary.
fn tasks(files: &dyn Files, folder: &str, plan: Option<&WorktreeDocument>) -> Result<Vec<TaskRecords>, FileError> {
    let own = Folder::read(files, &lookup::tasks_folder(folder))?;
    let planned = plan.map(|plan| SlicePlan::parse(&plan.text).tasks).unwrap_or_default();
    let mut named: Vec<(String, String)> = planned.into_iter().map(|task| (task.id, task.title)).collect();
    if plan.is_none() {
        let written = lookup::task_files(&own.entries, "SUMMARY", ".md");
        named = written.into_iter().map(|(id, _)| (id.to_owned(), id.to_owned())).collect();
    }
    named.sort_by(|(left, _), (right, _)| (number(left, 'T'), left).cmp(&(number(right, 'T'), right)));
    let mut tasks = Vec::new();
    for (id, title) in named {
        let summary = own.document(&id, "SUMMARY")?;
        let evidence = match lookup::record(&own.entries, &id, "VERIFY") {
            Some(name) => own.read_file(name)?,
            None => None,
        };
        tasks.push(TaskRecords { id, title, summary, evidence });
    }
    Ok(tasks)
}

fn complete_milestones(files: &dyn Files, but: &str) -> Result<Vec<String>, FileError> {
    let entries = files.list(lookup::MILESTONES)?.unwrap_or_default();
    let mut complete = Vec::new();
    for id in lookup::milestones(&entries, &[]).into_iter().filter(|id| !id.eq_ignore_ascii_case(but)) {
        let own = Folder::read(files, &places::milestone(files, &id)?)?;
        let summary = own.document(&id, "SUMMARY")?;
        if summary.is_some_and(|document| Ending::of(&document.text).is_terminal()) {
            complete.push(id);
        }
    }
    Ok(complete)
}

fn root_document(files: &dyn Files, name: &str) -> Result<Option<WorktreeDocument>, FileError> {
    let found = places::root_document(files, name)?;
    Ok(found.map(|(path, text)| WorktreeDocument { path, text }))
}

/// A folder whose listing is read once.
struct Folder<'a> {
    files: &'a dyn Files,
    path: String,
    entries: Vec<FolderEntry>,
}

impl<'a> Folder<'a> {
    fn read(files: &'a dyn Files, path: &str) -> Result<Self, FileError> {
        Ok(Self { files, path: path.to_owned(), entries: files.list(path)?.unwrap_or_default() })
    }

    fn document(&self, id: &str, kind: &str) -> Result<Option<WorktreeDocument>, FileError> {
        match lookup::file(&self.entries, id, kind) {
            Some(name) => self.read_file(name),
            None => Ok(None),
        }
    }

    fn read_file(&self, name: &str) -> Result<Option<WorktreeDocument>, FileError> {
        let path = format!("{}/{name}", self.path);
        Ok(self.files.read(&path)?.map(|text| WorktreeDocument { path, text }))
    }
}
