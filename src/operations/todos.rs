//! The todos that are still to do, and doing one.

use serde::Serialize;

use super::frontmatter::{self, FieldChange, FrontMatterError};
use crate::project::files::FileError;
use crate::project::todo::Todo;
use crate::project::view::{Edits, ProjectView};
use crate::text::front_matter::Value;

/// What `list-todos` answers.
#[derive(Debug, Serialize)]
pub(crate) struct TodosReport {
    pub(crate) count: usize,
    pub(crate) todos: Vec<TodoReport>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TodoReport {
    pub(crate) file: String,
    pub(crate) created: String,
    pub(crate) title: String,
    pub(crate) area: String,
    pub(crate) path: String,
}

/// The pending todos, of one area where one is given.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
pub(crate) fn list(view: &ProjectView, area: Option<&str>) -> Result<TodosReport, FileError> {
    let folder = view.layout().todos_pending();
    let mut todos = Vec::new();
    for file in view.file_names(&folder)?.into_iter().filter(|file| file.ends_with(".md")) {
        let path = format!("{folder}/{file}");
        let Some(text) = view.text(&path)? else { continue };
        let Todo { created, title, area: own, .. } = Todo::parse(&text);
        if area.is_none_or(|area| area == own) {
            todos.push(TodoReport { file, created, title, area: own, path });
        }
    }
    Ok(TodosReport { count: todos.len(), todos })
}

/// Why a todo cannot be completed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TodoError {
    #[error(transparent)]
    Unreadable(#[from] FileError),
    #[error(transparent)]
    FrontMatter(#[from] FrontMatterError),
    #[error("`{name}` is no plain file name")]
    NotAName { name: String },
    #[error("there is no pending todo `{name}`")]
    Missing { name: String },
    #[error("`{path}` is there already")]
    Taken { path: String },
}

/// What completing a todo changes.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) edits: Edits,
}

/// What a completed todo says of itself.
pub(crate) const COMPLETED: &str = "completed";

/// Moves a pending todo to the completed ones, with the day.
pub(crate) fn complete(view: &ProjectView, name: &str, day: &str) -> Result<Completion, TodoError> {
    if name.contains(['/', '\\']) || matches!(name, "" | "." | "..") {
        return Err(TodoError::NotAName { name: name.to_owned() });
    }
    let source = format!("{}/{name}", view.layout().todos_pending());
    let target = format!("{}/{name}", view.layout().todos_completed());
    let Some(text) = view.text(&source)? else { return Err(TodoError::Missing { name: name.to_owned() }) };
    if view.exists(&target) {
        return Err(TodoError::Taken { path: target });
    }
    let field =
        |key: &str, value: &str| FieldChange { key: key.to_owned(), value: Some(Value::Text(value.to_owned())) };
    let text = frontmatter::applied(&source, &text, &[field("completed", day), field("status", COMPLETED)])?;
    let mut edits = Edits::default();
    edits.write(view, &target, text)?;
    edits.removals.push(source.clone());
    Ok(Completion { source, target, edits })
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
        let view = ProjectView::new(Layout::new("/p", None, None), Box::new(files));
        let done = complete(&view, "a.md", "2026-01-02").unwrap();
        let text = &done.edits.texts[&done.target];
        assert_eq!(text, "---\r\ntitle: x # t\r\nstatus: completed\r\ncompleted: 2026-01-02\r\n---\r\nbody");
        assert_eq!(done.edits.removals, [done.source]);
        assert!(matches!(complete(&view, "b.md", "d"), Err(TodoError::Taken { .. })));
        assert!(matches!(complete(&view, "c.md", "d"), Err(TodoError::Missing { .. })));
        assert!(matches!(complete(&view, "../completed/b.md", "d"), Err(TodoError::NotAName { .. })));
    }
}
