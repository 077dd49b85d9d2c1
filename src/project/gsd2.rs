//! A project of the other layout, `.gsd/`: milestones, their slices, and the tasks of those.
//!
//! Reading never fails for what a document says: what it leaves out is left out.

use super::files::FileError;
use super::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// The folder of such a project.
pub(crate) const FOLDER: &str = ".gsd";

/// A milestone with the slices its roadmap lists, or else its folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Milestone {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) vision: Option<String>,
    pub(crate) slices: Vec<Slice>,
}

/// A slice: what becomes a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: bool,
    /// Slices of the same milestone.
    pub(crate) depends: Vec<String>,
    /// What works once it is done.
    pub(crate) after: Option<String>,
    pub(crate) plan: Option<Document>,
    pub(crate) context: Option<Document>,
    pub(crate) research: Option<Document>,
    pub(crate) summary: Option<Document>,
    pub(crate) tasks: Vec<Task>,
}

/// A task: what becomes a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: bool,
    /// The lines below it in the slice's plan.
    pub(crate) notes: Vec<String>,
    pub(crate) plan: Option<Document>,
    pub(crate) summary: Option<Document>,
}

/// A document and where it stands, relative to the root.
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

    /// The value of a line `**Label:** value`.
    pub(crate) fn field(&self, label: &str) -> Option<String> {
        let mark = format!("**{label}:**");
        let value = self.text.lines().find_map(|line| line.split_once(mark.as_str()).map(|(_, rest)| rest))?;
        let value = value.split("**").next().unwrap_or(value).trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The items of the list below a heading.
    pub(crate) fn items(&self, title: &str) -> Vec<String> {
        let markdown = Markdown::parse(&self.text);
        let Some((_, lines)) = markdown.section_named(title) else { return Vec::new() };
        let items = lines.filter(|line| markdown.is_prose(*line)).filter_map(|line| item(markdown.line(line)));
        items.map(|(_, text)| text.to_owned()).filter(|text| !text.is_empty()).collect()
    }
}

/// All milestones, in order; none where there is no such project.
pub(crate) fn milestones(view: &ProjectView) -> Result<Vec<Milestone>, FileError> {
    let root = format!("{FOLDER}/milestones");
    let mut names: Vec<(u64, String)> = Vec::new();
    for name in view.folder_names(&root)? {
        names.extend(number(&name, 'M').map(|number| (number, name)));
    }
    names.sort();
    let mut milestones = Vec::new();
    for (_, name) in names {
        milestones.push(milestone(view, &root, &name)?);
    }
    Ok(milestones)
}

fn milestone(view: &ProjectView, root: &str, name: &str) -> Result<Milestone, FileError> {
    let folder = format!("{root}/{name}");
    let id = identifier(name).to_owned();
    let roadmap = document(view, &folder, &id, "ROADMAP")?;
    let context = document(view, &folder, &id, "CONTEXT")?;
    let told = [&roadmap, &context].into_iter().flatten().find_map(|document| title(&document.text, &id));
    let mut slices = roadmap.as_ref().map(|roadmap| listed(&roadmap.text)).unwrap_or_default();
    // Older projects have no level between a milestone and its slices.
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
    Ok(Milestone {
        title: told.unwrap_or_else(|| id.clone()),
        id,
        vision: roadmap.and_then(|roadmap| roadmap.field("Vision")),
        slices,
    })
}

/// Reads what the folder of a slice holds.
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
    slice.tasks = slice.plan.as_ref().map(|plan| tasks(&plan.text)).unwrap_or_default();
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

/// The document of this kind: `ID-KIND.md`, else `ID-words-KIND.md`, else `kind.md`.
fn document(view: &ProjectView, folder: &str, id: &str, kind: &str) -> Result<Option<Document>, FileError> {
    let names = view.file_names(folder)?;
    let (id, ending) = (id.to_lowercase(), format!("-{}.md", kind.to_lowercase()));
    let exact = |name: &&String| name.to_lowercase() == format!("{id}{ending}");
    let worded = |name: &&String| {
        let name = name.to_lowercase();
        name.starts_with(&format!("{id}-")) && name.ends_with(&ending)
    };
    let bare = |name: &&String| name.to_lowercase() == ending[1..] && !id.starts_with('t');
    let found = names.iter().find(exact).or_else(|| names.iter().find(worded)).or_else(|| names.iter().find(bare));
    let Some(name) = found else { return Ok(None) };
    let path = format!("{folder}/{name}");
    Ok(view.text(&path)?.map(|text| Document { path, text: text.to_string() }))
}

/// The slices that a roadmap lists, as a checklist or as a table.
fn listed(text: &str) -> Vec<Slice> {
    let markdown = Markdown::parse(text);
    let mut slices: Vec<Slice> = Vec::new();
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line);
        if let Some((done, id, title, rest)) = entry(text, 'S') {
            let depends = rest.split_once("depends:[").and_then(|(_, rest)| rest.split_once(']'));
            let depends = depends.map(|(list, _)| list.split(',').map(str::trim).filter(|id| !id.is_empty()));
            slices.push(Slice {
                id: id.to_owned(),
                title: title.to_owned(),
                done,
                depends: depends.map(|ids| ids.map(str::to_owned).collect()).unwrap_or_default(),
                ..Slice::default()
            });
        } else if let (Some(rest), Some(slice)) = (text.trim_start().strip_prefix('>'), slices.last_mut()) {
            let told = rest.trim().trim_start_matches("After this:").trim();
            if slice.after.is_none() && !told.is_empty() {
                slice.after = Some(told.to_owned());
            }
        }
    }
    if slices.is_empty() { rows(&markdown) } else { slices }
}

/// The slices of a table: rows with a cell such as `S01`.
fn rows(markdown: &Markdown<'_>) -> Vec<Slice> {
    const DONE: &[&str] = &["[x]", "✅", "✓", "done", "complete"];
    let mut slices = Vec::new();
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line).trim();
        let Some(inside) = text.strip_prefix('|') else { continue };
        let cells: Vec<&str> = inside.trim_end_matches('|').split('|').map(str::trim).collect();
        let Some(at) = cells.iter().position(|cell| number(cell, 'S').is_some()) else { continue };
        let lower = text.to_lowercase();
        let title = cells[at].split_once(':').map(|(_, title)| title.trim());
        let title = title.or_else(|| cells.get(at + 1).copied()).unwrap_or_default();
        slices.push(Slice {
            id: identifier(cells[at]).to_owned(),
            title: title.trim_matches('*').to_owned(),
            done: DONE.iter().any(|mark| lower.contains(mark)) && !lower.contains("incomplete"),
            ..Slice::default()
        });
    }
    slices
}

/// The tasks of a slice's plan: a checklist, or headings, of which nothing says whether they are done.
fn tasks(text: &str) -> Vec<Task> {
    let markdown = Markdown::parse(text);
    let mut tasks: Vec<Task> = Vec::new();
    // Whether lines still belong to the last task: what stands under another heading is no task's.
    let mut is_own = false;
    for line in 0..markdown.lines().len() {
        let text = markdown.line(line);
        let heading = text.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
        if let Some((done, id, title, _)) = entry(text, 'T') {
            tasks.push(Task { id: id.to_owned(), title: title.to_owned(), done, ..Task::default() });
            is_own = true;
        } else if let Some(heading) = heading {
            is_own = number(heading, 'T').is_some();
            if is_own {
                let id = identifier(heading);
                let title = heading[id.len()..].trim_start_matches([':', '-', '—', ' ']);
                tasks.push(Task { id: id.to_owned(), title: title.to_owned(), ..Task::default() });
            }
        } else if let Some(task) = tasks.last_mut().filter(|_| is_own && !text.trim().is_empty()) {
            task.notes.push(text.trim().to_owned());
        }
    }
    tasks
}

/// `- [x] **S01: Title** rest`: whether it is ticked, identifier, title, rest.
fn entry(line: &str, letter: char) -> Option<(bool, &str, &str, &str)> {
    let (done, text) = item(line)?;
    let (name, rest) = text.strip_prefix("**")?.split_once("**")?;
    number(name, letter)?;
    let id = identifier(name);
    let title = name[id.len()..].trim_start_matches([':', '-', '—', ' ']).trim();
    Some((done, id, title, rest))
}

/// The text of a list's item without its mark and box, and whether the box is ticked.
fn item(line: &str) -> Option<(bool, &str)> {
    let text = line.trim_start().strip_prefix(['-', '*'])?.strip_prefix(' ')?.trim();
    let boxed = [("[x]", true), ("[X]", true), ("[ ]", false)];
    let found = boxed.iter().find_map(|(mark, ticked)| Some((*ticked, text.strip_prefix(mark)?.trim_start())));
    Some(found.unwrap_or((false, text)))
}

/// The title of a document: `First` of `# S01: First`.
fn title(text: &str, id: &str) -> Option<String> {
    let markdown = Markdown::parse(text);
    let title = markdown.headings().find(|heading| heading.level == 1)?.title;
    let rest = title.get(..id.len()).filter(|head| head.eq_ignore_ascii_case(id)).map_or(title, |_| &title[id.len()..]);
    let rest = rest.trim_start_matches([':', '-', '—', ' ']).trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// `7` of `S07-words`, if the letter fits.
fn number(name: &str, letter: char) -> Option<u64> {
    let rest = name.strip_prefix([letter, letter.to_ascii_lowercase()])?;
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let ends = rest[digits..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    rest[..digits].parse().ok().filter(|_| ends)
}

/// `S07` of `S07-words`, `T02.A1` of `T02.A1: Title`.
fn identifier(name: &str) -> &str {
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').unwrap_or(name.len());
    let id = name[..end].trim_end_matches('.');
    // A file's name goes on behind the dot.
    id.strip_suffix(".md").unwrap_or(id)
}
