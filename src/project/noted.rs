//! Status words with a note after them: `pass — checked by hand`, `**RESOLVED** 2026-08-17`, `~~The alert is mute~~`.
//!
//! A program writes one word; a person adds when, by whom, and what was seen. The first word counts, ignoring emphasis,
//! brackets and signs around it.

/// The words for settled work.
pub(crate) const SETTLED: &[&str] = &[
    "resolved",
    "closed",
    "fixed",
    "passed",
    "verified",
    "done",
    "complete",
    "completed",
    "wontfix",
    "cleared",
    "unblocked",
];

/// The word of `known` at the start of a value, and the text after it. `None` for an undecided choice, such as
/// `pass | issue` or `passed?`, and for a part of a whole, such as `passed 2 of 3`.
pub(crate) fn noted<'value, 'word>(value: &'value str, known: &[&'word str]) -> Option<(&'word str, &'value str)> {
    let is_around = |sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '`' | '[' | '(' | '"' | '\'' | '>');
    let mut rest = value.trim_start_matches(is_around);
    while let Some(sign) = rest.chars().next().filter(|sign| !sign.is_alphanumeric()) {
        let (own, behind) = rest.split_at(sign.len_utf8());
        if let Some(word) = known.iter().find(|word| **word == own) {
            return Some((word, behind));
        }
        if sign.is_ascii() {
            return None;
        }
        rest = behind.trim_start_matches(is_around);
    }
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let end = rest.find(|letter: char| !is_of_word(letter)).unwrap_or(rest.len());
    let own = rest[..end].trim_end_matches(['_', '-']);
    let word = known.iter().find(|word| own.to_lowercase() == **word)?;
    let behind = &rest[own.len()..];
    (!is_undecided(behind)).then_some((word, behind))
}

/// Whether the text after a word leaves open if the word applies.
fn is_undecided(behind: &str) -> bool {
    let rest =
        behind.trim_start_matches(|sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '`' | ']' | ')'));
    rest.starts_with(['|', '/', '?'])
        || is_part(rest)
        || rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("or "))
}

/// Whether a text begins with less than the whole: `2 of 3`, `2/3`.
fn is_part(text: &str) -> bool {
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        Some((text[..digits].parse::<u64>().ok()?, digits))
    };
    let Some((some, length)) = number(text) else { return false };
    let rest = text[length..].trim_start();
    let Some(rest) = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of ")) else { return false };
    number(rest.trim_start()).is_some_and(|(all, _)| some < all)
}

/// Whether a person marked a list item as settled: it is struck through, or a word such as `RESOLVED` is at its start,
/// after a dash, in parentheses, or in bold.
pub(crate) fn is_marked_settled(item: &str) -> bool {
    let item = item.trim();
    if item.strip_prefix("**").unwrap_or(item).strip_prefix("~~").is_some_and(|inside| inside.contains("~~")) {
        return true;
    }
    let says = |text: &str| noted(text, SETTLED).is_some_and(|(_, behind)| !is_condition(behind));
    // At the start, the word is a mark only if a sign separates it from the rest: `Done: x`, not
    // `Fixed costs are unclear`.
    let leading = noted(item, SETTLED).is_some_and(|(_, behind)| {
        let starts = behind.chars().next();
        starts.is_none_or(|sign| !sign.is_whitespace() && !sign.is_alphanumeric()) || begins_in_capitals(item)
    });
    let signs = ["—", "–", " - ", "(", "[", "**", "✅", "→", "=>"];
    leading || signs.iter().any(|sign| item.split(sign).skip(1).any(says))
}

/// Whether the first word of a text is in capitals.
fn begins_in_capitals(text: &str) -> bool {
    let mut word = text.trim_start_matches(|sign: char| !sign.is_alphanumeric()).chars();
    word.by_ref().take_while(|letter| letter.is_alphabetic()).all(char::is_uppercase)
}

/// Whether the text after the word makes it a condition: `resolved once the key is here`.
fn is_condition(behind: &str) -> bool {
    let word = behind.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    ["when", "once", "if", "until", "unless", "after", "only", "later"].contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_does_not_change_the_word_it_follows() {
        for word in ["pass", "PASS", "**pass**", "[pass]", "`Pass`", "✅ pass", "__pass__", "(pass)"] {
            for note in
                ["", " — checked", " (2026-08-21): all good", ", one finding fixed", " with a note", ": fine", " 3/3"]
            {
                let value = format!("{word}{note}");
                assert_eq!(noted(&value, &["passed", "pass"]).map(|found| found.0), Some("pass"), "{value}");
            }
            for open in [" | issue", "?", " / fail", " or fail", " 2 of 3", " 2/3"] {
                let value = format!("{word}{open}");
                assert_eq!(noted(&value, &["pass"]), None, "{value}");
            }
        }
        for value in ["", "passive", "not pass", "no", "-", "pass_with_gaps", "password"] {
            assert_eq!(noted(value, &["pass"]), None, "{value}");
        }
        assert_eq!(noted("✓ ok", &["✓"]).map(|found| found.0), Some("✓"));
    }

    #[test]
    fn an_item_is_settled_if_a_person_marked_it() {
        let item = "The alert is mute";
        for settled in
            ["RESOLVED 2026-08-17", "resolved", "Resolved in 02-03", "**FIXED**", "done (2026-08-01)", "CLOSED: x"]
        {
            for text in [
                format!("{item} — {settled}"),
                format!("{item} ({settled})"),
                format!("{item} - {settled}"),
                format!("{item} [{settled}]"),
                format!("✅ {item} ✅ {settled}"),
                format!("**{item}** **{settled}**"),
            ] {
                assert!(is_marked_settled(&text), "{text}");
            }
        }
        for text in
            ["~~x~~", "~~x~~ — see 02-01", "**~~x~~**", "RESOLVED x", "[RESOLVED] x", "✅ Resolved: x", "**Done** — x"]
        {
            assert!(is_marked_settled(text), "{text}");
        }
        for text in [
            item,
            "",
            "Fixed costs are unclear",
            "Not resolved yet",
            "The key — resolved once the vendor answers",
            "Waits until the bug is fixed",
            "x — unresolved",
            "~~x",
            "API is down (fixed?)",
        ] {
            assert!(!is_marked_settled(text), "{text}");
        }
    }
}
