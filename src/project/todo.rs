//! A todo: one Markdown file in `todos/pending`.

use crate::text::front_matter::FrontMatter;

/// The fields of a todo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Todo {
    pub(crate) created: String,
    pub(crate) title: String,
    pub(crate) area: String,
    /// How bad it is, in the author's words.
    pub(crate) severity: Option<String>,
    /// The phase that should resolve it.
    pub(crate) phase: Option<String>,
    /// The files it is about, as written.
    pub(crate) files: Vec<String>,
}

impl Todo {
    /// Reads a todo: its front matter, or lines such as `title: text` if it has none.
    pub(crate) fn parse(text: &str) -> Self {
        let front = FrontMatter::parse(text);
        let written = |key: &str| {
            let written = match &front {
                Some(front) => front.words(key),
                None => line(text, key),
            };
            written.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let field = |key: &str, fallback: &str| written(key).unwrap_or_else(|| fallback.to_owned());
        let files = front.as_ref().and_then(|front| front.get("files"));
        Self {
            created: field("created", "unknown"),
            title: field("title", "Untitled"),
            area: field("area", "general"),
            severity: written("severity"),
            phase: written("resolves_phase"),
            files: files.map(|files| files.texts().into_iter().map(str::to_owned).collect()).unwrap_or_default(),
        }
    }
}

fn line(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_from_front_matter_or_lines() {
        let todo = Todo::parse(
            "\u{feff}---\r\ntitle: \"A: b\" # c\r\nmeta:\r\n  area: inner\r\nfiles:\r\n  - src/a.ts:12\r\n---\r\narea: body",
        );
        assert_eq!((todo.title.as_str(), todo.area.as_str(), todo.created.as_str()), ("A: b", "general", "unknown"));
        assert_eq!(todo.files, ["src/a.ts:12"]);
        let bare = Todo::parse("# T\ntitle: In body\ncreated:\n");
        assert_eq!((bare.title.as_str(), bare.created.as_str()), ("In body", "unknown"));
        assert_eq!((Todo::parse("").title.as_str(), Todo::parse("severity:\n").severity), ("Untitled", None));
        assert_eq!(Todo::parse("---\nseverity: Very High\n---\n").severity.as_deref(), Some("Very High"));
        let title = |line: &str| Todo::parse(&format!("---\ntitle: {line}\narea: x\n---\n")).title;
        assert_eq!(title("Fix issue #12 in C# code"), "Fix issue #12 in C# code");
        assert_eq!(title("#12 breaks"), "#12 breaks");
        assert_eq!(title("\"say \\\"hi\\\" #3\" # note"), "say \"hi\" #3");
    }
}
