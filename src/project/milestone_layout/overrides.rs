//! `OVERRIDES.md`: changes that a person requested during the work, until they are in the documents.

use super::lines::{bare, field, labelled, one_line, split_mark, words};
use crate::text::markdown::{Heading, Markdown};
use crate::text::splice::Splices;

const ACTIVE: &str = "active";
const RESOLVED: &str = "resolved";

/// A requested change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Override {
    /// When it was requested, as written.
    pub(crate) at: String,
    pub(crate) change: String,
    pub(crate) is_active: bool,
}

/// All of them, in order.
pub(crate) fn read(text: &str) -> Vec<Override> {
    let markdown = Markdown::parse(bare(text));
    let blocks = markdown.headings().filter_map(|heading| Some((heading, at(&heading)?)));
    let read = blocks.map(|(heading, at)| {
        let inside = &markdown.text()[markdown.span(markdown.section(&heading))];
        Override {
            at: at.to_owned(),
            change: field(inside, "Change").unwrap_or_default().to_owned(),
            is_active: !active_scopes(&markdown, &heading).is_empty(),
        }
    });
    read.collect()
}

/// The time of `## Override: 2026-01-01T00:00:00Z`.
fn at<'text>(heading: &Heading<'text>) -> Option<&'text str> {
    let rest = heading.title.strip_prefix("Override").filter(|_| heading.level == 2)?;
    Some(rest.trim_start_matches(':').trim())
}

fn is_active(scope: &str) -> bool {
    words(scope).next().is_some_and(|word| word.eq_ignore_ascii_case(ACTIVE))
}

/// The scopes of a block that are active, as slices of the text.
fn active_scopes<'text>(markdown: &Markdown<'text>, heading: &Heading<'_>) -> Vec<&'text str> {
    let lines = markdown.section(heading).filter(|line| markdown.is_prose(*line)).map(|line| markdown.line(line));
    let scopes = lines.filter_map(|line| field(line, "Scope").or_else(|| labelled(line, "Scope")));
    scopes.filter(|scope| is_active(scope)).collect()
}

/// The text with every active change resolved; all other bytes stay.
pub(crate) fn resolve_all(text: &str) -> String {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let mut splices = Splices::default();
    for heading in markdown.headings().filter(|heading| at(heading).is_some()) {
        for scope in active_scopes(&markdown, &heading) {
            let word = scope.trim_start_matches(|letter: char| !letter.is_alphanumeric());
            let start = word.as_ptr() as usize - own.as_ptr() as usize;
            splices.replace(start..start + ACTIVE.len(), RESOLVED);
        }
    }
    format!("{mark}{}", splices.apply(own))
}

/// The text with one more change.
pub(crate) fn append(text: &str, at: &str, change: &str) -> String {
    let newline = crate::text::markdown::newline_of(text);
    let head = if bare(text).trim().is_empty() { format!("# Overrides{newline}{newline}") } else { String::new() };
    let gap = match text {
        _ if !head.is_empty() || text.ends_with("\n\n") || text.ends_with("\r\n\r\n") => String::new(),
        ended if ended.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    let lines = [
        format!("## Override: {at}"),
        String::new(),
        format!("**Change:** {}", one_line(change)),
        format!("**Scope:** {ACTIVE}"),
        format!("**Applied-at:** {at}"),
        String::new(),
        "---".to_owned(),
    ];
    format!("{text}{head}{gap}{}{newline}", lines.join(newline))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_scope_of_active_changes_is_rewritten() {
        let text = "# Overrides\r\n\r\n## Override: 2026-01-01T00:00:00Z\r\n**Change:** use **Postgres**\r\n**Scope:** active\r\n**Applied-at:** \
            x\r\n\r\n---\r\n## Override: 2026-01-02\r\n**Change:** y, **Scope:** active\r\n**Scope:** resolved\r\n---\r\n";
        let found = read(text);
        assert_eq!((found[0].change.as_str(), found[0].is_active), ("use **Postgres**", true));
        assert!(found[1].is_active, "a scope counts wherever it is on a line");
        assert!(read(&resolve_all(text)).iter().all(|change| !change.is_active));
        assert!(resolve_all(text).contains("**Scope:** resolved\r\n**Applied-at:** x"));
    }

    proptest! {
        #[test]
        fn an_appended_change_is_active_until_all_are_resolved(texts in proptest::collection::vec("[a-z][a-z ]{0,9}", 0..4), mark in "\u{feff}?") {
            let mut text = mark;
            for change in &texts {
                text = append(&text, "2026-01-01T00:00:00Z", change);
            }
            let found: Vec<String> = read(&text).into_iter().filter(|change| change.is_active).map(|change| change.change).collect();
            prop_assert_eq!(found, texts.iter().map(|change| one_line(change)).collect::<Vec<_>>());
            let resolved = resolve_all(&text);
            prop_assert!(read(&resolved).iter().all(|change| !change.is_active));
            prop_assert_eq!(resolve_all(&resolved), resolved);
        }
    }
}
