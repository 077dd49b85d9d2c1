//! Identifiers: `M001`, `S02`, `T03`.

/// `7` of `S07`, `S07-words` or `S07: Title`, if the letter matches, in either case.
pub(crate) fn number(name: &str, letter: char) -> Option<u64> {
    let rest = name.strip_prefix([letter, letter.to_ascii_lowercase()])?;
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let ends = rest[digits..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    rest[..digits].parse().ok().filter(|_| ends)
}

/// `S07` of `S07-words`, `T02.A1` of `T02.A1: Title`, `T01` of `T01.md`.
pub(crate) fn identifier(name: &str) -> &str {
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').unwrap_or(name.len());
    let id = name[..end].trim_end_matches('.');
    // In a file name, the dot begins the ending.
    id.strip_suffix(".md").unwrap_or(id)
}

/// The identifier and the rest of a text that begins with one, such as `S01: Title`.
pub(crate) fn leading(text: &str, letter: char) -> Option<(&str, &str)> {
    number(text, letter)?;
    let id = identifier(text);
    Some((id, &text[id.len()..]))
}

/// Whether `text` is just an identifier with this letter.
pub(crate) fn is_id(text: &str, letter: char) -> bool {
    leading(text, letter).is_some_and(|(_, rest)| rest.is_empty())
}

/// The milestone that a folder belongs to: `M001` of `M001` and `M001-older-words`, `M001-abc123` of `M001-abc123`.
pub(crate) fn milestone_of(folder: &str) -> Option<&str> {
    let digits = folder.strip_prefix('M')?.bytes().take_while(u8::is_ascii_digit).count();
    let short = folder.get(..=digits).filter(|_| digits > 0)?;
    match folder[short.len()..].strip_prefix('-') {
        Some(team) if is_team(team) => Some(folder),
        Some(_) => Some(short),
        None => Some(short).filter(|short| short.len() == folder.len()),
    }
}

/// The milestone that a person means with this word, with its first letter in either case; `None` if the word is not
/// exactly the identifier of a milestone. The result names folders and branches.
pub(crate) fn milestone_called(word: &str) -> Option<String> {
    let name = word.strip_prefix('m').map_or_else(|| word.to_owned(), |rest| format!("M{rest}"));
    (milestone_of(&name) == Some(name.as_str())).then_some(name)
}

/// The identifier without the six letters of a team: `M001` of `M001-abc123`.
pub(crate) fn without_team(id: &str) -> &str {
    id.split_once('-').filter(|(_, team)| is_team(team)).map_or(id, |(short, _)| short)
}

fn is_team(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The sort key of milestones without any other order.
pub(crate) fn order_of(id: &str) -> (u64, &str) {
    let digits = id.get(1..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    (id.get(1..=digits).and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX), id)
}

/// The identifiers from the first to the last of a range, both included, with as many digits as the first; `None` if
/// they are not a range, or a range of more than a hundred.
pub(crate) fn range(first: &str, last: &str, letter: char) -> Option<Vec<String>> {
    const MOST: u64 = 100;
    if !is_id(first, letter) || !is_id(last, letter) {
        return None;
    }
    let (from, to) = (number(first, letter)?, number(last, letter)?);
    let width = first.len() - 1;
    (from <= to && to - from < MOST).then(|| (from..=to).map(|number| format!("{letter}{number:0width$}")).collect())
}

/// The identifier after the highest of `ids`: `T04` after `T01` and `T03`.
pub(crate) fn next<'id>(ids: impl IntoIterator<Item = &'id str>, letter: char, width: usize) -> String {
    let highest = ids.into_iter().filter_map(|id| number(id, letter)).max().unwrap_or(0);
    format!("{letter}{:0width$}", highest.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_folder_names_its_milestone_with_or_without_a_team() {
        let of =
            ["M001", "M1", "M001-abc123", "M001-older-words", "M001x", "M", "S01", "M001-ABC123"].map(milestone_of);
        assert_eq!(of, [Some("M001"), Some("M1"), Some("M001-abc123"), Some("M001"), None, None, None, Some("M001")]);
        assert_eq!((without_team("M001-abc123"), without_team("M001")), ("M001", "M001"));
        let mut ids = ["M010", "M002-abc123", "M2", "M002"];
        ids.sort_by_key(|id| order_of(id));
        assert_eq!(ids, ["M002", "M002-abc123", "M2", "M010"]);
    }

    #[test]
    fn ranges_keep_their_zeros_and_have_an_end() {
        assert_eq!(range("S01", "S03", 'S').unwrap(), ["S01", "S02", "S03"]);
        assert_eq!(range("S9", "S10", 'S').unwrap(), ["S9", "S10"]);
        for (first, last) in [("S03", "S01"), ("S01", "S9999"), ("S01", "T02"), ("S01", "S18446744073709551615")] {
            assert_eq!(range(first, last, 'S'), None);
        }
        assert_eq!(next(["T01", "T03", "x"], 'T', 2), "T04");
        assert_eq!(next([], 'D', 3), "D001");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[MSTmst0-9./+,a-z -é]{0,24}") {
            let _ = (milestone_of(&text), order_of(&text), number(&text, 'S'), identifier(&text), without_team(&text));
        }
    }
}
