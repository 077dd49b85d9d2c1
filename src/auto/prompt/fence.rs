//! Texts by other authors in a prompt: they cannot close their fence or imitate a line of the prompt.

use std::fmt::Write as _;

use super::input::Document;
use crate::text::terminal;

/// Returns the line above a document in the prompt.
pub(super) fn name_of(document: &Document) -> String {
    format!("{}, `{}`:", document.kind.word(), plain(&document.path))
}

/// Adds a text in a fence that nothing in it can close.
pub(super) fn fenced(out: &mut String, heading: &str, text: &str) {
    // Characters that control a terminal mean nothing to a model, or hide something from a person who reads along. Line
    // ends stay.
    let text = text.split("\r\n").map(terminal::plain).collect::<Vec<_>>().join("\r\n");
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(3) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let _ = writeln!(out, "\n{heading}\n{fence}\n{text}{end}{fence}");
}

/// Returns a value on one line.
pub(super) fn plain(value: &str) -> String {
    value.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
