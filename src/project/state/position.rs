//! The phase at work as people write it: `2 of 5 (Notes Core)`, `3 (Sync) — EXECUTING`, `2.1 — Search`.

use crate::project::phase;

/// What follows a dash and is no name of a phase.
const STATUS_WORDS: &[&str] = &[
    "executing",
    "execution complete",
    "complete",
    "completed",
    "done",
    "ready to execute",
    "ready to plan",
    "ready for verification",
    "planning",
    "planned",
    "discussing",
    "researching",
    "verifying",
    "verified",
    "in progress",
    "not started",
    "paused",
    "blocked",
    "deferred",
];

/// A parsed `Phase:` value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position<'text> {
    /// The identifier as written, without a project code.
    pub(crate) phase: Option<&'text str>,
    pub(crate) name: Option<&'text str>,
    /// The number behind `of`.
    pub(crate) total: Option<&'text str>,
    /// The word in capitals behind the dash: what is being done with the phase.
    pub(crate) mark: Option<&'text str>,
}

impl<'text> Position<'text> {
    /// Reads a value; `None` where it names no phase.
    pub(crate) fn parse(value: &'text str) -> Option<Self> {
        let value = value.trim();
        let value = match value.get(..6) {
            Some(word) if word.eq_ignore_ascii_case("phase ") => value[6..].trim_start(),
            _ => value,
        };
        let (id, rest) = identifier(phase::without_code(value))?;
        let (total, rest) = total(rest.trim_start());
        let (in_parentheses, rest) = parentheses(rest.trim_start());
        let tail = rest.trim_start().trim_start_matches(['—', '–', '-', ':']).trim();
        let is_mark = STATUS_WORDS.iter().any(|word| tail.eq_ignore_ascii_case(word));
        let trailing = (!tail.is_empty() && !is_mark).then_some(tail);
        Some(Self {
            phase: Some(id),
            name: trailing.or(in_parentheses).filter(|name| !name.is_empty()),
            total,
            mark: is_mark.then_some(tail),
        })
    }
}

/// `12A.1` or `2-01` at the start, and the rest.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    if length == 0 {
        return None;
    }
    while let Some(more) = text[length..].strip_prefix('-').map(digits).filter(|more| *more > 0) {
        length += 1 + more;
    }
    if text[length..].starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        length += 1;
    }
    while let Some(more) = text[length..].strip_prefix('.').map(digits).filter(|more| *more > 0) {
        length += 1 + more;
    }
    let rest = &text[length..];
    (!rest.starts_with(|letter: char| letter.is_alphanumeric())).then(|| (&text[..length], rest))
}

/// The number of `of 5` at the start, and the rest.
fn total(text: &str) -> (Option<&str>, &str) {
    let Some(after) = text.strip_prefix("of ").map(str::trim_start) else { return (None, text) };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { (None, text) } else { (Some(&after[..digits]), &after[digits..]) }
}

/// The text of balanced parentheses at the start, and the rest.
fn parentheses(text: &str) -> (Option<&str>, &str) {
    if !text.starts_with('(') {
        return (None, text);
    }
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        depth = match letter {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            return (Some(text[1..at].trim()), &text[at + 1..]);
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_position_is_read() {
        for (value, phase, name, total) in [
            ("2 of 5 (Notes Core)", "2", Some("Notes Core"), Some("5")),
            ("3 (Sync) — EXECUTING", "3", Some("Sync"), None),
            ("2 — COMPLETE", "2", None, None),
            ("2.1 — Search Hotfix", "2.1", Some("Search Hotfix"), None),
            ("Phase 12A.1 of 7 (Sub (old) - new)", "12A.1", Some("Sub (old) - new"), Some("7")),
            ("ACME-04 (Ünïcödé 🚀) – READY TO EXECUTE", "04", Some("Ünïcödé 🚀"), None),
            ("2-01 (Prefixed)", "2-01", Some("Prefixed"), None),
            ("7", "7", None, None),
            ("3 - Complete rewrite", "3", Some("Complete rewrite"), None),
            ("3 (open", "3", Some("(open"), None),
        ] {
            let position = Position::parse(value).unwrap_or_else(|| panic!("{value}"));
            assert_eq!((position.phase, position.name, position.total), (Some(phase), name, total), "{value}");
        }
        assert_eq!(Position::parse("3 (Sync) — EXECUTING").unwrap().mark, Some("EXECUTING"));
        for value in ["Not started (defining requirements)", "Milestone v1.0 complete", "", "—", "2nd", "of 5"] {
            assert_eq!(Position::parse(value), None, "{value}");
        }
    }
}
