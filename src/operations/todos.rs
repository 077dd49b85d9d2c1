//! The todos that are still to do.

use serde::Serialize;

use crate::project::files::FileError;
use crate::project::todo::Todo;
use crate::project::view::ProjectView;

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
}
