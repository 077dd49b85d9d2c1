//! MILESTONES.md: the shipped milestones, newest first.

use crate::text::markdown::{Markdown, newline_of};
use crate::text::splice::Splices;

/// The text with new entries, given as lines, before the existing ones; an empty text also gets a title.
pub(crate) fn with_entries(text: &str, entries: &[String]) -> String {
    let newline = newline_of(text);
    let (mark, text) = text.split_at(text.len() - text.trim_start_matches('\u{feff}').len());
    let printed: String = entries.iter().flat_map(|line| [line.as_str(), newline]).collect();
    if text.trim().is_empty() {
        return format!("{mark}{text}# Milestones{newline}{newline}{printed}");
    }
    let markdown = Markdown::parse(text);
    let entry = markdown.headings().find(|heading| heading.level == 2);
    let line = entry.map_or(markdown.lines().len(), |heading| heading.line);
    let at = markdown.span(line..line).start;
    let before = &text[..at];
    let gap = match before.trim_end_matches([' ', '\t']) {
        "" => 0,
        head if head.ends_with(&newline.repeat(2)) => 0,
        head if head.ends_with('\n') => 1,
        _ => 2,
    };
    let mut splices = Splices::default();
    splices.insert(at, format!("{}{printed}", newline.repeat(gap)));
    format!("{mark}{}", splices.apply(text))
}

/// Whether an entry has this heading.
pub(crate) fn has_entry(text: &str, heading: &str) -> bool {
    Markdown::parse(text).headings().any(|known| known.level == 2 && known.title == heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entry_is_first_and_nothing_else_moves() {
        let entry = ["## v2".to_owned(), String::new(), "---".to_owned(), String::new()];
        for (before, after) in [
            ("", "# Milestones\n\n## v2\n\n---\n\n"),
            ("# M\n\nWhat we shipped.\n\n## v1\n\nx", "# M\n\nWhat we shipped.\n\n## v2\n\n---\n\n## v1\n\nx"),
            ("# M\r\n## v1\r\n", "# M\r\n\r\n## v2\r\n\r\n---\r\n\r\n## v1\r\n"),
            ("# M", "# M\n\n## v2\n\n---\n\n"),
            ("\u{feff}## v1\n", "\u{feff}## v2\n\n---\n\n## v1\n"),
        ] {
            assert_eq!(with_entries(before, &entry), after, "{before:?}");
        }
        assert!(has_entry("## v1 A (Shipped: 2026-01-02)\n", "v1 A (Shipped: 2026-01-02)"));
        assert!(!has_entry("## v1 A\n", "v1"));
    }
}
