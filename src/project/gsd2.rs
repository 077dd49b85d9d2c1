//! A project in the milestone layout, as it is imported: milestones, their slices, and the tasks of those.
//!
//! Reading never fails because of the content of a document: missing parts stay empty.

use super::files::{FileError, FolderEntry};
use super::milestone_layout::ids::{identifier, number};
use super::milestone_layout::lines::title;
use super::milestone_layout::lookup::{self, MILESTONES};
use super::milestone_layout::milestone_summary::Ending;
use super::milestone_layout::roadmap::Roadmap;
use super::milestone_layout::slice_plan::{PlannedTask, SlicePlan};
use super::milestone_layout::slice_rows::SliceRow;
use super::view::ProjectView;
use crate::text::front_matter::FrontMatter;

/// A milestone with the slices listed in its roadmap, or else those in its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportedMilestone {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) vision: Option<String>,
    pub(crate) slices: Vec<Slice>,
    /// Its summary ends it: the summary exists and does not report a failure.
    pub(crate) is_over: bool,
    /// The milestone was set aside.
    pub(crate) is_parked: bool,
}

/// A slice, which becomes a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: bool,
    /// Slices of the same milestone that this one depends on.
    pub(crate) depends: Vec<String>,
    /// What works after the slice is done.
    pub(crate) after: Option<String>,
    pub(crate) goal: Option<String>,
    pub(crate) must_haves: Vec<String>,
    pub(crate) plan: Option<Document>,
    pub(crate) context: Option<Document>,
    pub(crate) research: Option<Document>,
    pub(crate) summary: Option<Document>,
    pub(crate) tasks: Vec<Task>,
}

/// A task, which becomes a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: bool,
    /// The lines below the task in the slice's plan.
    pub(crate) notes: Vec<String>,
    pub(crate) plan: Option<Document>,
    pub(crate) summary: Option<Document>,
}

/// A document and its path, relative to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Document {
    /// The text without front matter and without the title.
    pub(crate) fn body(&self) -> &str {
        let text = self.text.trim_start_matches('\u{feff}');
        let body = FrontMatter::parse(text).map_or(text, |front| front.body());
        let trimmed = body.trim_start();
        match trimmed.strip_prefix("# ") {
            Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest).trim(),
            None => trimmed.trim_end(),
        }
    }
}

/// All milestones, in order; empty if the project has none.
pub(crate) fn milestones(view: &ProjectView) -> Result<Vec<ImportedMilestone>, FileError> {
    let mut names: Vec<(u64, String)> = Vec::new();
    for name in view.folder_names(MILESTONES)? {
        names.extend(number(&name, 'M').map(|number| (number, name)));
    }
    names.sort();
    let mut milestones = Vec::new();
    for (_, name) in names {
        milestones.push(milestone(view, MILESTONES, &name)?);
    }
    Ok(milestones)
}

fn milestone(view: &ProjectView, root: &str, name: &str) -> Result<ImportedMilestone, FileError> {
    let folder = format!("{root}/{name}");
    let id = identifier(name).to_owned();
    let roadmap = document(view, &folder, &id, "ROADMAP")?;
    let context = document(view, &folder, &id, "CONTEXT")?;
    let told = [&roadmap, &context].into_iter().flatten().find_map(|document| title(&document.text, &id));
    let roadmap = roadmap.as_ref().map(|roadmap| Roadmap::parse(&roadmap.text)).unwrap_or_default();
    let mut slices: Vec<Slice> = roadmap.slices.into_iter().map(Slice::from).collect();
    // Older projects have no folder level between a milestone and its slices.
    let nested = format!("{folder}/slices");
    let holder = if view.folder_exists(&nested) { nested } else { folder };
    let folders = view.folder_names(&holder)?;
    for name in folders.iter().filter(|name| number(name, 'S').is_some()) {
        if !slices.iter().any(|slice| slice.id.eq_ignore_ascii_case(identifier(name))) {
            slices.push(Slice { id: identifier(name).to_owned(), ..Slice::default() });
        }
    }
    for slice in &mut slices {
        let own = folders.iter().find(|name| identifier(name).eq_ignore_ascii_case(&slice.id));
        if let Some(name) = own {
            fill(view, &format!("{holder}/{name}"), slice)?;
        }
        if slice.title.is_empty() {
            slice.title.clone_from(&slice.id);
        }
    }
    let summary = document(view, &format!("{root}/{name}"), &id, "SUMMARY")?;
    Ok(ImportedMilestone {
        title: told.unwrap_or_else(|| id.clone()),
        is_over: summary.is_some_and(|summary| Ending::of(&summary.text).is_terminal()),
        is_parked: document(view, &format!("{root}/{name}"), &id, "PARKED")?.is_some(),
        id,
        vision: roadmap.vision,
        slices,
    })
}

/// Reads the documents in the folder of a slice.
fn fill(view: &ProjectView, folder: &str, slice: &mut Slice) -> Result<(), FileError> {
    slice.plan = document(view, folder, &slice.id, "PLAN")?;
    slice.context = document(view, folder, &slice.id, "CONTEXT")?;
    slice.research = document(view, folder, &slice.id, "RESEARCH")?;
    slice.summary = document(view, folder, &slice.id, "SUMMARY")?;
    if slice.title.is_empty() {
        let told = slice.plan.as_ref().and_then(|plan| title(&plan.text, &slice.id));
        slice.title = told.unwrap_or_default();
        slice.done = slice.summary.is_some();
    }
    let plan = slice.plan.as_ref().map(|plan| SlicePlan::parse(&plan.text)).unwrap_or_default();
    (slice.goal, slice.must_haves) = (plan.goal, plan.must_haves);
    slice.tasks = plan.tasks.into_iter().map(Task::from).collect();
    let folder = format!("{folder}/tasks");
    for file in view.file_names(&folder)? {
        let id = identifier(&file);
        if number(&file, 'T').is_some() && !slice.tasks.iter().any(|task| task.id.eq_ignore_ascii_case(id)) {
            slice.tasks.push(Task { id: id.to_owned(), ..Task::default() });
        }
    }
    for task in &mut slice.tasks {
        task.plan = document(view, &folder, &task.id, "PLAN")?;
        task.summary = document(view, &folder, &task.id, "SUMMARY")?;
        task.done |= task.summary.is_some();
        if task.title.is_empty() {
            let documents = [&task.plan, &task.summary].into_iter().flatten();
            let told = documents.into_iter().find_map(|document| title(&document.text, &task.id));
            task.title = told.unwrap_or_else(|| task.id.clone());
        }
    }
    Ok(())
}

/// The document of this kind.
fn document(view: &ProjectView, folder: &str, id: &str, kind: &str) -> Result<Option<Document>, FileError> {
    let entry = |name: String| FolderEntry { name, is_folder: false };
    let entries: Vec<FolderEntry> = view.file_names(folder)?.into_iter().map(entry).collect();
    let Some(name) = lookup::file(&entries, id, kind) else { return Ok(None) };
    let path = format!("{folder}/{name}");
    Ok(view.text(&path)?.map(|text| Document { path, text: text.to_string() }))
}

impl From<SliceRow> for Slice {
    fn from(row: SliceRow) -> Self {
        Self { id: row.id, title: row.title, done: row.done, depends: row.depends, after: row.after, ..Self::default() }
    }
}

impl From<PlannedTask> for Task {
    fn from(task: PlannedTask) -> Self {
        Self { id: task.id, title: task.title, done: task.done, notes: task.notes, ..Self::default() }
    }
}
