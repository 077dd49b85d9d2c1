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
    /// It has neither a roadmap nor a context: a run would stop for a discussion.
    pub(crate) needs_discussion: bool,
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

/// All milestones with all their documents, in order; empty if the project has none.
pub(crate) fn milestones(view: &ProjectView) -> Result<Vec<ImportedMilestone>, FileError> {
    read(view, true)
}

/// All milestones, in order, with their slices as the roadmaps list them; the documents of slices that a roadmap lists
/// are not read.
pub(crate) fn outline(view: &ProjectView) -> Result<Vec<ImportedMilestone>, FileError> {
    read(view, false)
}

fn read(view: &ProjectView, is_whole: bool) -> Result<Vec<ImportedMilestone>, FileError> {
    let mut names: Vec<(u64, String)> = Vec::new();
    for name in view.folder_names(MILESTONES)? {
        names.extend(number(&name, 'M').map(|number| (number, name)));
    }
    names.sort();
    let mut milestones = Vec::new();
    for (_, name) in names {
        milestones.push(milestone(view, MILESTONES, &name, is_whole)?);
    }
    Ok(milestones)
}

fn milestone(view: &ProjectView, root: &str, name: &str, is_whole: bool) -> Result<ImportedMilestone, FileError> {
    let folder = DocumentFolder::of(view, format!("{root}/{name}"))?;
    let id = identifier(name).to_owned();
    let roadmap = folder.document(&id, "ROADMAP")?;
    let context = folder.document(&id, "CONTEXT")?;
    let told = [&roadmap, &context].into_iter().flatten().find_map(|document| title(&document.text, &id));
    let needs_discussion = roadmap.is_none() && context.is_none();
    let roadmap = roadmap.as_ref().map(|roadmap| Roadmap::parse(&roadmap.text)).unwrap_or_default();
    let mut slices: Vec<Slice> = roadmap.slices.into_iter().map(Slice::from).collect();
    // Older projects have no folder level between a milestone and its slices.
    let nested = format!("{}/slices", folder.path);
    let holder = if view.folder_exists(&nested) { nested } else { folder.path.clone() };
    let folders = view.folder_names(&holder)?;
    for name in folders.iter().filter(|name| number(name, 'S').is_some()) {
        if !slices.iter().any(|slice| slice.id.eq_ignore_ascii_case(identifier(name))) {
            slices.push(Slice { id: identifier(name).to_owned(), ..Slice::default() });
        }
    }
    for slice in &mut slices {
        let own = folders.iter().find(|name| identifier(name).eq_ignore_ascii_case(&slice.id));
        if let Some(name) = own.filter(|_| is_whole || slice.title.is_empty()) {
            fill(view, &format!("{holder}/{name}"), slice)?;
        }
        if slice.title.is_empty() {
            slice.title.clone_from(&slice.id);
        }
    }
    let summary = folder.document(&id, "SUMMARY")?;
    Ok(ImportedMilestone {
        title: told.unwrap_or_else(|| id.clone()),
        is_over: summary.is_some_and(|summary| Ending::of(&summary.text).is_terminal()),
        is_parked: folder.document(&id, "PARKED")?.is_some(),
        needs_discussion,
        id,
        vision: roadmap.vision,
        slices,
    })
}

/// Reads the documents in the folder of a slice.
fn fill(view: &ProjectView, folder: &str, slice: &mut Slice) -> Result<(), FileError> {
    let own = DocumentFolder::of(view, folder.to_owned())?;
    slice.plan = own.document(&slice.id, "PLAN")?;
    slice.context = own.document(&slice.id, "CONTEXT")?;
    slice.research = own.document(&slice.id, "RESEARCH")?;
    slice.summary = own.document(&slice.id, "SUMMARY")?;
    if slice.title.is_empty() {
        let told = slice.plan.as_ref().and_then(|plan| title(&plan.text, &slice.id));
        slice.title = told.unwrap_or_default();
        slice.done = slice.summary.is_some();
    }
    let plan = slice.plan.as_ref().map(|plan| SlicePlan::parse(&plan.text)).unwrap_or_default();
    (slice.goal, slice.must_haves) = (plan.goal, plan.must_haves);
    slice.tasks = plan.tasks.into_iter().map(Task::from).collect();
    let folder = DocumentFolder::of(view, format!("{folder}/tasks"))?;
    for file in folder.entries.iter().map(|entry| &entry.name) {
        let id = identifier(file);
        if number(file, 'T').is_some() && !slice.tasks.iter().any(|task| task.id.eq_ignore_ascii_case(id)) {
            slice.tasks.push(Task { id: id.to_owned(), ..Task::default() });
        }
    }
    for task in &mut slice.tasks {
        task.plan = folder.document(&task.id, "PLAN")?;
        task.summary = folder.document(&task.id, "SUMMARY")?;
        task.done |= task.summary.is_some();
        if task.title.is_empty() {
            let documents = [&task.plan, &task.summary].into_iter().flatten();
            let told = documents.into_iter().find_map(|document| title(&document.text, &task.id));
            task.title = told.unwrap_or_else(|| task.id.clone());
        }
    }
    Ok(())
}

/// A folder with documents, and the files in it.
struct DocumentFolder<'a> {
    view: &'a ProjectView,
    path: String,
    entries: Vec<FolderEntry>,
}

impl<'a> DocumentFolder<'a> {
    fn of(view: &'a ProjectView, path: String) -> Result<Self, FileError> {
        let entry = |name: String| FolderEntry { name, is_folder: false };
        let entries = view.file_names(&path)?.into_iter().map(entry).collect();
        Ok(Self { view, path, entries })
    }

    /// The document of this kind.
    fn document(&self, id: &str, kind: &str) -> Result<Option<Document>, FileError> {
        let Some(name) = lookup::file(&self.entries, id, kind) else { return Ok(None) };
        let path = format!("{}/{name}", self.path);
        Ok(self.view.text(&path)?.map(|text| Document { path, text: text.to_string() }))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn an_outline_differs_from_the_whole_only_in_documents() {
        let files = MemoryFiles::new([
            (
                ".gsd/milestones/M001/M001-ROADMAP.md",
                "# M001: Shelf\n\n## Slices\n\n- [x] **S01: Boards** `risk:low` `depends:[]`\n- [ ] **S02: Screws** `risk:low` `depends:[S01]`\n",
            ),
            (
                ".gsd/milestones/M001/slices/S01/S01-PLAN.md",
                "# S01: Other boards\n\n## Tasks\n\n- [x] **T01: Saw** `est:5m`\n",
            ),
            (".gsd/milestones/M001/slices/S01/tasks/T01-PLAN.md", "# T01: Saw\n"),
            (".gsd/milestones/M001/slices/S03/S03-PLAN.md", "# S03: Not in the roadmap\n"),
            (".gsd/milestones/M001/slices/S03/S03-SUMMARY.md", "done\n"),
            (".gsd/milestones/M002/M002-CONTEXT.md", "# M002: Without a roadmap\n"),
            (".gsd/milestones/M002/S01/S01-PLAN.md", "# S01: Without a folder of slices\n"),
            (".gsd/milestones/M003/M003-SUMMARY.md", "---\nstatus: complete\n---\n# M003\n"),
            (".gsd/milestones/M004/M004-PARKED.md", "later\n"),
        ]);
        let view = files.view();
        let rows = |milestones: Vec<ImportedMilestone>| {
            let row = |milestone: ImportedMilestone| {
                let slices: Vec<_> =
                    milestone.slices.iter().map(|slice| (slice.id.clone(), slice.title.clone(), slice.done)).collect();
                (milestone.id, milestone.title, milestone.is_over, milestone.is_parked, slices)
            };
            milestones.into_iter().map(row).collect::<Vec<_>>()
        };
        let whole = rows(milestones(&view).unwrap());
        assert_eq!(rows(outline(&view).unwrap()), whole);
        assert_eq!(whole[0].4.len(), 3, "{whole:?}");
        assert_eq!((whole[1].4[0].1.as_str(), whole[2].2, whole[3].3), ("Without a folder of slices", true, true));
        let outlined = outline(&view).unwrap();
        assert!(outlined[0].slices[0].tasks.is_empty() && outlined[0].slices[0].plan.is_none());
    }
}
