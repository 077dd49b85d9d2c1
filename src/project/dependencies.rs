//! The phases that a phase depends on, from ROADMAP.md.

use std::collections::HashSet;

/// The phases named in a `Depends on` field, in order; `None` if the field says `none`.
pub(crate) fn dependencies(text: &str) -> Option<Vec<String>> {
    if text.trim().eq_ignore_ascii_case("none") {
        return None;
    }
    let plain = without_notes(text);
    let mut found: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for word in plain.split(|letter: char| !letter.is_alphanumeric() && letter != '.') {
        let digits = word.len() - word.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let rest = &word[digits..];
        let letter = rest.len() - rest.strip_prefix(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(rest).len();
        let decimals = rest[letter..].trim_end_matches('.');
        let fits = decimals.is_empty()
            || decimals.strip_prefix('.').is_some_and(|parts| {
                parts.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            });
        let id = &word[..digits + letter + if fits { decimals.len() } else { 0 }];
        if digits > 0 && fits && known.insert(id) {
            found.push(id.to_owned());
        }
    }
    Some(found)
}

/// The text without the parts in brackets, unless they name phases: `Phase 1 (needs 3 servers)`.
fn without_notes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, inside, after)) = rest
        .split_once('(')
        .and_then(|(before, rest)| rest.split_once(')').map(|(inside, after)| (before, inside, after)))
    {
        plain.push_str(before);
        let speaks_of_phases = inside.to_lowercase().contains("phase") || !inside.contains(char::is_alphabetic);
        plain.push_str(if speaks_of_phases { inside } else { " " });
        plain.push(' ');
        rest = after;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_the_phases_named() {
        let of = |text| dependencies(text).map(|phases| phases.join(" "));
        assert_eq!(of("Phase 1").as_deref(), Some("1"));
        assert_eq!(of("Phases 1, 2.1 and Phase 02.").as_deref(), Some("1 2.1 02"));
        assert_eq!(of("12A, 12A.1, 3").as_deref(), Some("12A 12A.1 3"));
        assert_eq!(of("Phase 3 (v2.1 of x), Phase 3").as_deref(), Some("3"));
        assert_eq!(of("Phase 1 (needs 3 servers), the API (Phase 2), (4)").as_deref(), Some("1 2 4"));
        assert_eq!(of("Phase 1 (open").as_deref(), Some("1"));
        assert_eq!(of("Nothing (first phase)").as_deref(), Some(""));
        assert_eq!(of("2nd, 1..2, é1").as_deref(), Some(""));
        assert_eq!(of("none"), None);
    }
}
