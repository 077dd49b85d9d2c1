//! Open decisions in a plan, and blocks without content.

use super::sentences::{Sentence, SentenceWord, sentences};
use super::wording::Passage;
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::plan::PhasePlan;

/// Open decisions in a plan, shown by a mark such as `TBD` or by words.
pub(super) fn left_open(plan: &PhasePlan<'_>, passage: &Passage<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for sentence in sentences(passage.text, passage.quotes) {
        let hit = marked(&sentence, passage).or_else(|| to_be_decided(&sentence)).or_else(|| in_other_words(&sentence));
        let in_quotes = || valued(sentence.text).map(|mark| (sentence.words[0].at, mark.to_owned()));
        if let Some((at, mark)) = hit.or_else(in_quotes) {
            found.push(open(plan, passage, at, &mark, sentence.text));
        }
    }
    for (at, _) in passage.text.match_indices("???") {
        let around = |letter: Option<char>| {
            letter.is_none_or(|letter| letter.is_whitespace() || matches!(letter, ',' | '.' | ')' | '(' | ']' | '['))
        };
        let (before, behind) = (&passage.text[..at], &passage.text[at + 3..]);
        if around(before.chars().next_back()) && around(behind.chars().next()) {
            let line = before.rsplit('\n').next().unwrap_or_default();
            let rest = behind.split('\n').next().unwrap_or_default();
            found.push(open(plan, passage, at, "???", &format!("{line}???{rest}")));
        }
    }
    found
}

/// `TBD`, `FIXME`; `TODO` if it is a heading or a value.
fn marked(sentence: &Sentence<'_>, passage: &Passage<'_>) -> Option<(usize, String)> {
    const LOUD: &[&str] = &["tbd", "tbc", "tba", "fixme", "xxx"];
    const OF_MARKS: &[&str] = &[
        "marker", "markers", "comment", "comments", "grep", "scan", "scans", "literal", "todo", "todos", "mark",
        "marks", "no", "zero", "without",
    ];
    const OF_AN_APP: &[&str] = &[
        "app", "list", "lists", "column", "columns", "board", "label", "labels", "status", "state", "lane", "begin",
        "begins", "start", "starts", "doing", "done", "comment", "comments", "marker", "markers", "no", "without",
        "remains", "replace", "delete", "remove", "fixme", "grep",
    ];
    let is_mark = |word: &SentenceWord| {
        let is_loud = word.is_loud && LOUD.contains(&word.text.as_str());
        !word.is_part && (is_loud || word.text == "tbd")
    };
    if !sentence.has(|word| OF_MARKS.contains(&word))
        && let Some(word) = sentence.words.iter().find(|word| is_mark(word))
    {
        return Some((word.at, word.text.to_uppercase()));
    }
    if sentence.words.iter().any(|word| !word.is_part && OF_AN_APP.contains(&word.text.as_str())) {
        return None;
    }
    let index = sentence.words.iter().position(|word| word.is_loud && !word.is_part && word.text == "todo")?;
    let word = &sentence.words[index];
    let before = passage.text.get(..word.at)?.trim_end();
    let behind = passage.text.get(word.at + word.text.len()..)?;
    let is_last = index + 1 == sentence.words.len() || (word.ends_clause && !behind.starts_with(':'));
    let is_value = is_last && (index == 0 || before.ends_with([':', '=']) || before.ends_with(" is"));
    (behind.starts_with(':') || is_value).then(|| (word.at, "TODO".to_owned()))
}

/// `[TBD]`, `limit: "TBD"`
fn valued(text: &str) -> Option<&'static str> {
    const MARKS: &[&str] = &["TBD", "TBC", "TBA", "TODO"];
    MARKS.iter().copied().find(|mark| {
        text.match_indices(mark).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + mark.len()..]);
            let (Some(open), Some(close)) = (before.chars().next_back(), behind.chars().next()) else { return false };
            let is_of_marks = ["grep", "comment", "marker", "status", "column", "label"]
                .iter()
                .any(|word| text.to_lowercase().contains(word));
            match (open, close) {
                ('[', ']') | ('<', '>') | ('{', '}') => !is_of_marks,
                ('"', '"') | ('`', '`') | ('\'', '\'') => {
                    let before = before[..before.len() - 1].trim_end();
                    *mark != "TODO" && !is_of_marks && (before.ends_with([':', '=']) || before.ends_with(" is"))
                }
                _ => false,
            }
        })
    })
}

/// `to be decided`, `decide it during implementation`, `whichever is easier`
fn to_be_decided(sentence: &Sentence<'_>) -> Option<(usize, String)> {
    const DECIDED: &str = "determined|decided|confirmed|defined|announced|specified|discussed|clarified|agreed";
    // `to be determined by the flag` says how it is decided.
    const HOW: &[&str] = &["by", "from", "at", "in", "with", "on", "when", "through", "per", "against", "via", "using"];
    const DECIDE: &[&str] = &["decide", "decided", "choose", "chosen", "determine", "pick", "picked", "figure"];
    let told = |index: usize, length: usize| {
        let words: Vec<&str> = sentence.words[index..index + length].iter().map(|word| word.text.as_str()).collect();
        (sentence.words[index].at, words.join(" "))
    };
    let is_how = |index: usize| sentence.has_behind(index, 1, |word| HOW.contains(&word));
    if let Some(index) = sentence.find(&["to", "be", DECIDED]).into_iter().find(|index| !is_how(index + 2)) {
        return Some(told(index, 3));
    }
    let late: &[&[&str]] = &[
        &["during", "implementation|execution"],
        &["while|when", "implementing"],
        &["at", "implementation", "time"],
        &["as", "you", "go"],
    ];
    let decides = sentence.has(|word| DECIDE.contains(&word));
    let hit =
        late.iter().filter(|_| decides).find_map(|pattern| Some((*sentence.find(pattern).first()?, pattern.len())));
    let any: &[&[&str]] = &[
        &["whichever", "is|works|fits|seems|turns"],
        &["whatever", "works|fits|is", "easier|easiest|best|simplest"],
        &["whatever", "works"],
        &["not", "yet", "decided|known|clear"],
        &["not", "decided", "yet"],
        &["noch", "offen|unklar"],
        &["wird", "noch", "festgelegt|entschieden"],
    ];
    let hit = hit.or_else(|| any.iter().find_map(|pattern| Some((*sentence.find(pattern).first()?, pattern.len()))));
    hit.map(|(index, length)| told(index, length))
}

/// The same in languages without spaces between words.
fn in_other_words(sentence: &Sentence<'_>) -> Option<(usize, String)> {
    const MARKS: &[&str] = &["待定", "待确认", "待决定", "未定", "未決定"];
    let mark = MARKS.iter().find(|mark| sentence.text.contains(**mark))?;
    Some((sentence.words.first()?.at, (*mark).to_owned()))
}

fn open(plan: &PhasePlan<'_>, passage: &Passage<'_>, at: usize, mark: &str, sentence: &str) -> Found {
    let told = format!("`{mark}` leaves something open: `{}`; decide it before the plan is executed", quoted(sentence));
    Found::at(Weight::Warning, plan, passage.at + at, told)
}

/// A text without comments and without code marks around it.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = inside.split_once("-->").map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    kept
}

/// True if a block of a plan has no content: `none`, `n/a`, `TODO`, `...`, `{what is measured}`.
pub(super) fn says_nothing(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "",
        "n/a",
        "na",
        "none",
        "nothing",
        "todo",
        "tbd",
        "tbc",
        "tba",
        "...",
        "\u{2026}",
        "-",
        "?",
        "???",
        "not applicable",
        "no",
        "to be determined",
        "to be defined",
        "to be decided",
        "see above",
        "xxx",
        "placeholder",
        "keine",
        "\u{65e0}",
    ];
    without_comments(text).lines().all(|line| {
        let line = line.trim().trim_start_matches("```").trim_start_matches(['-', '*', '+']).trim();
        let line = line.trim_start_matches("[ ]").trim();
        let is_blank = [('{', '}'), ('<', '>'), ('[', ']')].iter().any(|(open, close)| {
            line.strip_prefix(*open).and_then(|rest| rest.strip_suffix(*close)).is_some_and(|inside| {
                !inside.contains([*open, *close]) && inside.chars().any(char::is_whitespace)
                    || WORDS.contains(&inside)
                    || (*open == '{' && inside.chars().all(|letter| letter.is_alphanumeric() || " -_".contains(letter)))
            })
        });
        let bare = line.trim_matches(['.', '*', '_', '`', '"', '(', ')']).to_lowercase();
        is_blank || WORDS.contains(&line) || WORDS.contains(&bare.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_content_have_many_forms() {
        for hollow in [
            "",
            " \n",
            "n/a",
            "- none",
            "- TODO",
            "...",
            "- {measurable}",
            "<!-- a -->",
            "- [ ] TBD",
            "None.",
            "- \n-",
            "(none)",
        ] {
            assert!(says_nothing(hollow), "{hollow}");
        }
        for said in
            ["- `a` is b", "None of the notes is lost", "- TODO\n- a note is kept", "{a} and {b}", "no note is lost"]
        {
            assert!(!says_nothing(said), "{said}");
        }
    }
}
