//! The current phase as people write it: `2 of 5 (Notes Core)`, `3 (Sync) — EXECUTING`, `2.1 — Search`.

use crate::project::phase;

/// Words after a dash that are not part of a phase's name.
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
    /// The number after `of`.
    pub(crate) total: Option<&'text str>,
    /// The word in capitals after the dash: the current work on the phase.
    pub(crate) mark: Option<&'text str>,
}

impl<'text> Position<'text> {
    /// Reads a value; `None` if it does not name a phase.
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
        let is_mark = |text: &str| STATUS_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
        let mark = Some(tail).filter(|tail| is_mark(tail)).or_else(|| last_part(tail).filter(|last| is_mark(last)));
        let in_parentheses = in_parentheses.filter(|name| name.contains(char::is_alphabetic));
        let name = in_parentheses.or_else(|| trailing_name(tail)).filter(|name| !name.is_empty());
        Some(Self { phase: Some(id), name, total, mark })
    }
}

/// The text after the last dash.
fn last_part(text: &str) -> Option<&str> {
    DASHES.iter().filter_map(|dash| text.rsplit_once(dash)).map(|(_, last)| last.trim()).min_by_key(|last| last.len())
}

/// The dashes between a name and a status.
const DASHES: [&str; 3] = [" — ", " – ", " - "];

/// The name in the text after the number, without the status that follows it; `None` if there is only a status.
fn trailing_name(tail: &str) -> Option<&str> {
    if tail.is_empty() || says_status(tail) {
        return None;
    }
    let ends = DASHES.iter().filter_map(|dash| {
        tail.match_indices(dash).find(|(at, dash)| says_status(&tail[at + dash.len()..])).map(|(at, _)| at)
    });
    // A sign such as a check mark begins a status too.
    let sign = tail
        .char_indices()
        .find(|(at, sign)| *at > 0 && is_sign(*sign) && tail[..*at].ends_with(' ') && says_status(&tail[*at..]));
    let end = ends.chain(sign.map(|(at, _)| at)).min().unwrap_or(tail.len());
    Some(tail[..end].trim_end())
}

/// Whether a text describes the progress of the work: a word of [`STATUS_WORDS`], possibly with a note after it, or a
/// plan with its number.
fn says_status(text: &str) -> bool {
    let bare = text.trim_start_matches(|sign: char| is_sign(sign) || sign.is_whitespace() || sign == '*');
    let goes_on = |rest: &str| {
        let rest = rest.trim_start_matches('*');
        rest.trim_start().starts_with(char::is_alphanumeric)
    };
    let is_word = STATUS_WORDS.iter().any(|word| {
        let head = bare.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word));
        head.is_some() && !goes_on(&bare[word.len()..])
    });
    let plan = ["plans ", "plan "]
        .iter()
        .find_map(|word| bare.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)));
    let is_plan =
        plan.is_some_and(|plan| bare[plan.len()..].trim_start().starts_with(|first: char| first.is_ascii_digit()));
    is_word || is_plan
}

/// Whether a letter is a sign such as a check mark or an emoji.
fn is_sign(letter: char) -> bool {
    !letter.is_ascii() && !letter.is_alphanumeric() && !letter.is_whitespace() && !matches!(letter, '—' | '–')
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
        for status in [
            "EXECUTING",
            "Plan 03 complete",
            "plans 1-3 done",
            "✅ done",
            "✅ COMPLETE (2026-09-01)",
            "in progress, plan 2 of 3",
            "**complete**",
            "Verified: all good",
            "done — next: 04",
        ] {
            for dash in ["—", "–", "-"] {
                let named = format!("3 of 5 (Gamma Rays) {dash} {status}");
                assert_eq!(Position::parse(&named).unwrap().name, Some("Gamma Rays"), "{named}");
                let trailing = format!("3 {dash} Gamma Rays {dash} {status}");
                assert_eq!(Position::parse(&trailing).unwrap().name, Some("Gamma Rays"), "{trailing}");
                let unnamed = format!("3 {dash} {status}");
                assert_eq!(Position::parse(&unnamed).unwrap().name, None, "{unnamed}");
            }
            let plain = format!("3 (Gamma Rays) {status}");
            assert_eq!(Position::parse(&plain).unwrap().name, Some("Gamma Rays"), "{plain}");
        }
        for name in [
            "Complete rewrite",
            "Planning Poker",
            "Paused Sessions",
            "🚀 Launch",
            "Plan editor",
            "Blocked users - list",
        ] {
            let value = format!("3 — {name}");
            assert_eq!(Position::parse(&value).unwrap().name, Some(name), "{value}");
        }
        for value in ["Not started (defining requirements)", "Milestone v1.0 complete", "", "—", "2nd", "of 5"] {
            assert_eq!(Position::parse(value), None, "{value}");
        }
    }
}
