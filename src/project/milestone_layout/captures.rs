//! `CAPTURES.md`: thoughts that came up on the way, and what was made of them.

use super::lines::{bare, field};
use crate::text::markdown::Markdown;
use crate::text::words::{of_word, read_words};

read_words! {
    /// How far a capture is.
    pub(crate) enum CaptureStatus {
        Pending = "pending",
        Triaged = "triaged",
        Resolved = "resolved",
    }
}

/// A thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    /// `CAP-0011aabb`.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) captured: Option<String>,
    /// Pending, unless it says otherwise.
    pub(crate) status: CaptureStatus,
    /// `quick-task`, `inject`, `defer`, `replan`, `note`, `stop`, `backtrack`.
    pub(crate) classification: Option<String>,
    pub(crate) resolution: Option<String>,
    pub(crate) rationale: Option<String>,
    pub(crate) milestone: Option<String>,
    /// Counts from one.
    pub(crate) line: usize,
}

/// All of them, in order.
pub(crate) fn read(text: &str) -> Vec<Capture> {
    let markdown = Markdown::parse(bare(text));
    let captures = markdown.headings().filter(|heading| heading.title.starts_with("CAP-"));
    let read = captures.map(|heading| {
        let inside = &markdown.text()[markdown.span(markdown.section(&heading))];
        let value = |label: &str| field(inside, label).map(str::to_owned);
        let status = value("Status").map(|status| status.to_lowercase());
        Capture {
            id: heading.title.split_whitespace().next().unwrap_or_default().to_owned(),
            text: value("Text").unwrap_or_default(),
            captured: value("Captured"),
            status: status.as_deref().and_then(of_word).unwrap_or(CaptureStatus::Pending),
            classification: value("Classification").map(|class| class.to_lowercase()),
            resolution: value("Resolution"),
            rationale: value("Rationale"),
            milestone: value("Milestone"),
            line: heading.line + 1,
        }
    });
    read.collect()
}

impl Capture {
    /// Whether it asks to stop at once: a pending one that begins with a word for it.
    pub(crate) fn is_stop(&self) -> bool {
        const WORDS: &[&str] = &["stop", "halt", "abort", "pause"];
        let first = super::lines::words(&self.text).next().unwrap_or_default();
        self.status == CaptureStatus::Pending && WORDS.iter().any(|word| first.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_read_with_what_was_made_of_them() {
        let text = "# Captures\r\n\r\n### CAP-0011aabb\r\n**Text:** Stop: the API is gone\r\n**Captured:** 2026-01-01\r\n**Status:** \
            pending\r\n\r\n### CAP-0011aabc\r\n**Text:** stop later\r\n**Status:** resolved\r\n**Classification:** note\r\n";
        let found = read(text);
        assert_eq!(found.iter().map(Capture::is_stop).collect::<Vec<_>>(), [true, false]);
        assert_eq!(
            (found[1].status, found[1].classification.as_deref(), found[1].line),
            (CaptureStatus::Resolved, Some("note"), 8)
        );
        assert_eq!(found[0].id, "CAP-0011aabb");
    }
}
