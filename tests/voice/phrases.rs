//! The phrases that text for people avoids, and what to write for each: `phrases.txt`, and `comments.txt` for comments and names
//! of tests.

use regex::Regex;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Phrase {
    avoid: Regex,
    /// Where the words are right anyway.
    unless: Option<Regex>,
    better: String,
}

/// The table for texts that people read.
pub(crate) fn phrases() -> Vec<Phrase> {
    table(include_str!("phrases.txt"))
}

/// Reads a table, one phrase a line.
pub(crate) fn table(text: &str) -> Vec<Phrase> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| phrase(line).unwrap_or_else(|| panic!("not `regex [unless regex] => better`: {line}"))).collect()
}

fn phrase(line: &str) -> Option<Phrase> {
    let (avoid, better) = line.split_once(" => ")?;
    let (avoid, unless) = avoid.split_once(" unless ").map_or((avoid, None), |(avoid, unless)| (avoid, Some(unless)));
    let regex = |pattern: &str| Regex::new(&format!("(?i){pattern}")).ok();
    let unless = match unless {
        Some(pattern) => Some(regex(pattern)?),
        None => None,
    };
    Some(Phrase { avoid: regex(avoid)?, unless, better: better.to_owned() })
}

/// The phrases of the table in `text`, each as `words: better words`. Text between backticks is code, and is not
/// checked.
pub(crate) fn found_in(text: &str, phrases: &[Phrase]) -> Vec<String> {
    let code = Regex::new("`[^`]*`").expect("a constant");
    let prose = code.replace_all(text, "``");
    let mut found = Vec::new();
    for Phrase { avoid, unless, better } in phrases {
        let prose = unless.as_ref().map_or(prose.clone(), |unless| unless.replace_all(&prose, ";"));
        found.extend(avoid.find_iter(&prose).map(|words| format!("`{}`: {better}", words.as_str().trim())));
    }
    found
}
