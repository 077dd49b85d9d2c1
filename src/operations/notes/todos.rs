//! Pending todos: lists them, finds those of a phase, completes one.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::documents::frontmatter::{self, FieldChange};
use crate::operations::hints::CORRECT_LINE;
use crate::project::files::FileError;
use crate::project::plan::PhasePlan;
use crate::project::todo::Todo;
use crate::project::view::{Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::screen::{Cell, Screen, Tone, counted};

/// What `list-todos` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TodosReport {
    pub(crate) count: usize,
    pub(crate) todos: Vec<TodoReport>,
    /// If no todo has the requested area: that area, and the existing ones.
    #[serde(skip)]
    unknown_area: Option<(String, BTreeSet<String>)>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TodoReport {
    pub(crate) file: String,
    pub(crate) created: String,
    pub(crate) title: String,
    pub(crate) area: String,
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<String>,
}

impl TodosReport {
    /// The todos for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        match &self.unknown_area {
            Some((area, known)) if !known.is_empty() => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let what = format!("No pending todo has the area `{area}`; the areas are {}", known.join(", "));
                return screen.prose("", "  ", &what);
            }
            _ if self.todos.is_empty() => return "No pending todos\n".to_owned(),
            _ => {}
        }
        let row = |todo: &TodoReport| {
            vec![
                Cell::new(Tone::Faint, todo.created.get(..10).unwrap_or(&todo.created)),
                Cell::from(todo.title.as_str()),
                Cell::from(todo.area.as_str()),
                Cell::new(Tone::Faint, todo.file.as_str()),
            ]
        };
        let rows: Vec<_> = self.todos.iter().map(row).collect();
        let title = screen.paint(Tone::Strong, &counted(self.count, "pending todo"));
        format!("{title}\n\n{}", screen.list("  ", &rows, "gsd-tools list-todos --json"))
    }
}

/// Lists the pending todos, optionally only those of one area.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
pub(crate) fn list(view: &ProjectView, area: Option<&str>) -> Result<TodosReport, FileError> {
    let folder = view.layout().todos_pending();
    let mut todos = Vec::new();
    let mut areas = BTreeSet::new();
    for file in view.file_names(&folder)?.into_iter().filter(|file| file.ends_with(".md")) {
        let path = format!("{folder}/{file}");
        let Some(text) = view.text(&path)? else { continue };
        let Todo { created, title, area: own, severity, .. } = Todo::parse(&text);
        areas.insert(own.clone());
        if area.is_none_or(|area| area == own) {
            todos.push(TodoReport { file, created, title, area: own, path, severity });
        }
    }
    let unknown_area = area.filter(|_| todos.is_empty()).map(|area| (area.to_owned(), areas));
    Ok(TodosReport { count: todos.len(), todos, unknown_area })
}

/// The changes that complete a todo.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) edits: Edits,
}

/// The marker of a completed todo.
pub(crate) const COMPLETED: &str = "completed";

/// Moves a pending todo to the completed ones, with the date.
pub(crate) fn complete(view: &ProjectView, name: &str, day: &str) -> Result<Completion, Failure> {
    let unknown = |message: String| Failure::usage(message).hint("`gsd-tools list-todos` lists the todos");
    if name.contains(['/', '\\']) || matches!(name, "" | "." | "..") {
        return Err(unknown(format!("`{name}` is not a plain file name")));
    }
    let source = format!("{}/{name}", view.layout().todos_pending());
    let target = format!("{}/{name}", view.layout().todos_completed());
    let Some(text) = view.text(&source)? else { return Err(unknown(format!("there is no pending todo `{name}`"))) };
    if view.exists(&target) {
        return Err(Failure::usage(format!("`{target}` already exists")).hint("rename one of the two files"));
    }
    let field =
        |key: &str, value: &str| FieldChange { key: key.to_owned(), value: Some(Value::Text(value.to_owned())) };
    let text = frontmatter::applied(&source, &text, &[field("completed", day), field("status", COMPLETED)])
        .map_err(|failure| failure.hint(CORRECT_LINE))?;
    let mut edits = Edits::default();
    edits.write(view, &target, text)?;
    edits.removals.push(source.clone());
    Ok(Completion { source, target, edits })
}

/// What `todo match-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MatchReport {
    pub(crate) phase: String,
    /// The most likely first.
    pub(crate) matches: Vec<TodoMatch>,
    /// The number of all pending todos.
    pub(crate) todo_count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TodoMatch {
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) area: String,
    pub(crate) score: f64,
    pub(crate) reasons: Vec<String>,
}

/// Weights in tenths: a common word, the most for all words together, the area, a common file.
const WORD: u8 = 2;
const ALL_WORDS: u8 = 6;
const AREA: u8 = 3;
const FILES: u8 = 4;

/// Words that do not indicate a topic.
const FILLERS: &[&str] = &[
    "about", "after", "all", "and", "any", "are", "before", "but", "can", "each", "for", "from", "has", "have", "into",
    "its", "must", "not", "now", "should", "some", "than", "that", "the", "them", "then", "there", "this", "was",
    "when", "which", "will", "with", "would", "you", "your",
];

/// Finds the pending todos that fit a phase: by words in its section, by area, by the files that its plans touch.
pub(crate) fn match_phase(view: &ProjectView, typed: &str) -> Result<MatchReport, FileError> {
    let roadmap = view.roadmap_or_empty()?;
    let section = roadmap.section(typed).map(|section| roadmap.section_text(section).to_lowercase());
    let section = section.unwrap_or_default();
    let known: BTreeSet<&str> = words(&section).collect();
    let files = planned_files(view, typed)?;
    let folder = view.layout().todos_pending();
    let pending = list(view, None)?;
    let mut matches: Vec<(u8, TodoMatch)> = Vec::new();
    for TodoReport { file, title, area, .. } in pending.todos {
        let text = view.text(&format!("{folder}/{file}"))?.unwrap_or_default();
        let body = FrontMatter::parse(&text).map_or(&*text, |front| front.body());
        let told = format!("{title}\n{body}").to_lowercase();
        let common: Vec<&str> = words(&told).filter(|word| known.contains(word)).collect();
        let own = Todo::parse(&text).files;
        let shared: Vec<&str> =
            own.iter().map(String::as_str).filter(|file| files.contains(without_line(file))).collect();
        let mut reasons = Vec::new();
        let mut score = ALL_WORDS.min(WORD.saturating_mul(u8::try_from(common.len()).unwrap_or(u8::MAX)));
        if !common.is_empty() {
            reasons.push(format!("keywords: {}", each_once(&common).join(", ")));
        }
        if section.contains(&area.to_lowercase()) {
            score += AREA;
            reasons.push(format!("area: {area}"));
        }
        if !shared.is_empty() {
            score += FILES;
            reasons.push(format!("files: {}", shared.join(", ")));
        }
        if score > 0 {
            matches.push((score, TodoMatch { file, title, area, score: f64::from(score) / 10.0, reasons }));
        }
    }
    matches.sort_by(|(left, _), (right, _)| right.cmp(left));
    let matches = matches.into_iter().map(|(_, found)| found).collect();
    Ok(MatchReport { phase: typed.to_owned(), matches, todo_count: pending.count })
}

/// The files that the plans of a phase touch.
fn planned_files(view: &ProjectView, typed: &str) -> Result<BTreeSet<String>, FileError> {
    let mut files = BTreeSet::new();
    if let Some(folder) = view.find_phase(typed)?.folder {
        for (_, text) in view.plan_texts(&folder)? {
            files.extend(PhasePlan::parse(&text).files_modified());
        }
    }
    Ok(files)
}

/// `src/a.ts` in `src/a.ts:12`.
fn without_line(file: &str) -> &str {
    match file.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            path
        }
        _ => file,
    }
}

/// The significant words of a lower-case text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() > 2 && !FILLERS.contains(word))
}

fn each_once<'text>(words: &[&'text str]) -> Vec<&'text str> {
    let mut once: Vec<&str> = Vec::new();
    for word in words {
        if !once.contains(word) {
            once.push(word);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn pending_files_are_listed_by_name_and_area() {
        let at = |name: &str| format!(".planning/todos/pending/{name}");
        let files = [(at("b.md"), "---\narea: ui\n---\n"), (at("a.md"), ""), (at("n.txt"), ""), (at("d.md/x.md"), "")];
        let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), *text)));
        let view = ProjectView::new(Layout::new("/p", None, Some("api")), Box::new(files));
        let names = |area| list(&view, area).unwrap().todos.into_iter().map(|todo| todo.file).collect::<Vec<_>>();
        assert_eq!(names(None), ["a.md", "b.md"]);
        assert_eq!(names(Some("ui")), ["b.md"]);
        assert_eq!(names(Some("UI")), Vec::<String>::new());
    }

    #[test]
    fn a_completed_todo_moves_with_its_day() {
        let pending = |name: &str| format!(".planning/todos/pending/{name}");
        let files = [(pending("a.md"), "---\r\ntitle: x # t\r\nstatus: open\r\n---\r\nbody"), (pending("b.md"), "")];
        let taken = ".planning/todos/completed/b.md".to_owned();
        let files: Vec<(String, &str)> = files.into_iter().chain([(taken, "old")]).collect();
        let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), *text)));
        let view = files.view();
        let done = complete(&view, "a.md", "2026-01-02").unwrap();
        let text = &done.edits.texts[&done.target];
        assert_eq!(text, "---\r\ntitle: x # t\r\nstatus: completed\r\ncompleted: 2026-01-02\r\n---\r\nbody");
        assert_eq!(done.edits.removals, [done.source]);
        let refused = |name| complete(&view, name, "d").unwrap_err().message;
        assert!(refused("b.md").ends_with("b.md` already exists"));
        assert_eq!(refused("c.md"), "there is no pending todo `c.md`");
        assert_eq!(refused("../completed/b.md"), "`../completed/b.md` is not a plain file name");
    }

    #[test]
    fn a_phase_finds_the_todos_that_fit_it() {
        let files = MemoryFiles::new([
            (".planning/ROADMAP.md", "### Phase 2: Notes\n**Goal**: Search the notes API\n### Phase 3: Other\n"),
            (".planning/phases/02-notes/02-01-PLAN.md", "---\nfiles_modified: [src/a.ts]\n---\n"),
            (".planning/todos/pending/a.md", "---\ntitle: Tag notes\narea: none\n---\nthe Notes and the tags\n"),
            (".planning/todos/pending/b.md", "---\ntitle: x\narea: API\nfiles: [src/a.ts:12-14]\n---\n"),
            (".planning/todos/pending/c.md", "---\ntitle: y\narea: zzz\n---\n"),
        ]);
        let view = files.view();
        let report = match_phase(&view, "2").unwrap();
        let told: Vec<_> = report.matches.iter().map(|found| (found.file.as_str(), found.reasons.join("; "))).collect();
        assert_eq!(told, [("b.md", "area: API; files: src/a.ts:12-14".into()), ("a.md", "keywords: notes".into())]);
        let scores: Vec<String> = report.matches.iter().map(|found| found.score.to_string()).collect();
        assert_eq!((scores.join(" ").as_str(), report.todo_count), ("0.7 0.4", 3));
        assert!(match_phase(&view, "9").unwrap().matches.is_empty());
    }
}
