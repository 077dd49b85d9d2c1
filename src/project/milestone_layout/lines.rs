//! Common elements of the documents: lists with checkboxes, labelled values, back-ticked words, titles, problems.

use super::ids;
use crate::failure::{Failure, Reason};
use crate::text::front_matter::{FrontMatter, Value, compose};
use crate::text::markdown::Markdown;

/// A place that a reader could not read as written. Lines count from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// The text without its byte order mark.
pub(crate) fn bare(text: &str) -> &str {
    text.trim_start_matches(BYTE_ORDER_MARK)
}

/// The byte order mark of a text, or nothing, and the rest.
pub(crate) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(text.len() - bare(text).len())
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// An item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineItem<'text> {
    /// The indentation, in bytes.
    pub(crate) indent: usize,
    /// Whether its box is ticked, and the position of the byte in the box, counted from the start of the line; `None`
    /// without a box.
    pub(crate) tick: Option<(bool, usize)>,
    /// The text after the mark and the box.
    pub(crate) text: &'text str,
}

/// Reads a line as an item of a list.
pub(crate) fn item(line: &str) -> Option<LineItem<'_>> {
    let inside = line.trim_start();
    let indent = line.len() - inside.len();
    let after = inside.strip_prefix(['-', '*', '+'])?.strip_prefix([' ', '\t'])?.trim_start();
    let start = line.len() - after.len();
    let boxed = [("[x]", true), ("[X]", true), ("[ ]", false)];
    let found = boxed.iter().find_map(|(mark, ticked)| Some((*ticked, after.strip_prefix(mark)?)));
    Some(match found {
        Some((ticked, text)) => LineItem { indent, tick: Some((ticked, start + 1)), text: text.trim() },
        None => LineItem { indent, tick: None, text: after.trim_end() },
    })
}

/// The texts of the list in these lines, without those of inner lists.
pub(crate) fn bullets(markdown: &Markdown<'_>, lines: std::ops::Range<usize>) -> Vec<String> {
    let items = lines.filter(|line| markdown.is_prose(*line)).filter_map(|line| item(markdown.line(line)));
    items.filter(|item| item.indent < 2 && !item.text.is_empty()).map(|item| item.text.to_owned()).collect()
}

/// The value of `**Label:** value`, up to the next label on the line.
pub(crate) fn field<'text>(text: &'text str, label: &str) -> Option<&'text str> {
    text.lines().find_map(|line| field_of_line(line, label))
}

fn field_of_line<'line>(line: &'line str, label: &str) -> Option<&'line str> {
    let is_label = |at: &usize| {
        let rest = line[*at..].strip_prefix("**")?;
        let name = rest.get(..label.len()).filter(|name| name.eq_ignore_ascii_case(label))?;
        let rest = &rest[name.len()..];
        let value = rest.strip_prefix(":**").or_else(|| rest.strip_prefix("**:"))?;
        Some(line.len() - value.len())
    };
    let start = line.match_indices("**").find_map(|(at, _)| is_label(&at))?;
    let value = &line[start..];
    let value = value[..next_label(value)].trim();
    (!value.is_empty()).then_some(value)
}

/// The start of the next `**Label:**`, or the end.
fn next_label(text: &str) -> usize {
    let mut marks = text.match_indices("**").map(|(at, _)| at);
    while let Some(open) = marks.next() {
        let Some(close) = marks.next() else { break };
        let name = &text[open + 2..close];
        if name.ends_with(':') || text[close + 2..].starts_with(':') {
            return open;
        }
    }
    text.len()
}

/// The value of a line such as `- Status: active`, `- **Status:** active` or `Status: active`.
pub(crate) fn labelled<'line>(line: &'line str, label: &str) -> Option<&'line str> {
    let text = item(line).map_or(line, |item| item.text).trim().trim_start_matches(['*', '_']);
    let name = text.get(..label.len()).filter(|name| name.eq_ignore_ascii_case(label))?;
    let rest = text[name.len()..].trim_start_matches(['*', '_']).strip_prefix(':')?;
    Some(rest.trim_start_matches(['*', '_']).trim())
}

/// The words between back-ticks on a line.
pub(crate) fn ticked_words(line: &str) -> impl Iterator<Item = &str> {
    // The pieces at odd positions are between two ticks, except the last one: no tick closes it.
    let pieces = line.split('`').collect::<Vec<_>>();
    let whole = pieces.len().saturating_sub(1);
    let words = pieces.into_iter().take(whole).skip(1).step_by(2);
    words.map(str::trim).filter(|word| !word.is_empty())
}

/// The title of a document: `First` of `# S01: First`.
pub(crate) fn title(text: &str, id: &str) -> Option<String> {
    let markdown = Markdown::parse(bare(text));
    let title = markdown.headings().find(|heading| heading.level == 1)?.title;
    let rest = title.get(..id.len()).filter(|head| head.eq_ignore_ascii_case(id)).map_or(title, |_| &title[id.len()..]);
    let rest = after_id(rest);
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// The words after an identifier, without the separator.
pub(crate) fn after_id(rest: &str) -> &str {
    rest.trim_start_matches([':', '-', '—', '–', ' ']).trim()
}

/// Whether a value means nothing: `none`, `n/a`, `-`, `(none)`.
pub(crate) fn is_nothing(text: &str) -> bool {
    let word = text.trim_matches(|letter: char| letter.is_whitespace() || "()[]*_`.\"'-–—".contains(letter));
    let nothing = ["", "~", "none", "null", "n/a", "na", "nothing", "not applicable", "none required", "not required"];
    nothing.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The items of a list in front matter; a single text is a list of one. Items that mean nothing are left out.
pub(crate) fn list(front: Option<&FrontMatter<'_>>, key: &str) -> Vec<String> {
    let value = front.and_then(|front| front.get(key));
    let texts = value.as_ref().map(Value::items).unwrap_or_default().iter().map(|item| item.flat().trim().to_owned());
    texts.filter(|text| !is_nothing(text)).collect()
}

/// The text of a key in front matter, trimmed; `None` if it is missing or empty.
pub(crate) fn scalar(front: Option<&FrontMatter<'_>>, key: &str) -> Option<String> {
    let text = front?.text(key)?.trim().to_owned();
    (!text.is_empty() && text != "null" && text != "~").then_some(text)
}

/// Whether a key in front matter is set to yes.
pub(crate) fn is_true(front: Option<&FrontMatter<'_>>, key: &str) -> bool {
    scalar(front, key).is_some_and(|text| is_yes(&text))
}

pub(crate) fn is_yes(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("yes")
}

/// The value of a key to write; an empty text becomes a key without a value.
pub(super) fn text(value: &str) -> Value {
    if value.is_empty() { Value::Empty } else { Value::from(value) }
}

pub(super) fn texts(values: &[String]) -> Value {
    Value::List(values.iter().map(|value| Value::from(value.as_str())).collect())
}

pub(super) fn map<const KEYS: usize>(entries: [(&str, &str); KEYS]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect())
}

/// A document with these keys in its front matter, followed by `body`.
pub(super) fn document(entries: Vec<(&str, Value)>, body: &str) -> String {
    let entries: Vec<(String, Value)> = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    compose(&entries, body, "\n")
}

/// The words of a text: runs of letters and digits, as written.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The error that the entry of `id` in a list cannot be ticked; the document is unchanged.
pub(super) fn not_ticked(id: &str, why: &str) -> Failure {
    Failure::new(Reason::Unknown, why).hint(format!("write the entry on its own line: `- [ ] **{id}: Title**`"))
}

/// A text on one line, for a cell, a row or a heading.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text reduced for comparison: lower-case letters and digits, one space between words.
pub(crate) fn folded(text: &str) -> String {
    words(text).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The identifiers named in a comma-separated list such as `S01`, `S01-S04`, `S01..S04`; other words stay as written.
pub(crate) fn expanded(list: &str, letter: char) -> Vec<String> {
    const MOST: usize = 200;
    let mut ids: Vec<String> = Vec::new();
    let parts = list.split([',', ';']).map(|part| part.trim().trim_matches(['`', '*', '"', '\'', '[', ']', '(', ')']));
    for part in parts.filter(|part| !is_nothing(part)) {
        let ends = part.split_once("..").or_else(|| part.split_once('–')).or_else(|| part.split_once('-'));
        let range = ends.and_then(|(first, last)| ids::range(first.trim(), last.trim(), letter));
        for id in range.unwrap_or_else(|| vec![part.to_owned()]) {
            if ids.len() < MOST && !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_item_has_the_position_of_the_byte_in_its_box() {
        let line = "  - [X] **S01: é** x";
        let found = item(line).unwrap();
        assert_eq!((found.indent, found.text), (2, "**S01: é** x"));
        assert_eq!(found.tick.map(|(ticked, at)| (ticked, &line[at..=at])), Some((true, "X")));
        assert_eq!(item("* plain").unwrap().tick, None);
        assert_eq!(item("-x"), None);
    }

    #[test]
    fn a_field_ends_at_the_next_label_and_not_at_bold_words() {
        let text = "**Goal:** find **all** notes  **Demo:** two hits\n**Empty:**\n";
        assert_eq!(field(text, "Goal"), Some("find **all** notes"));
        assert_eq!(field(text, "demo"), Some("two hits"));
        assert_eq!(field(text, "Empty"), None);
        assert_eq!(field("**Verdict**: PASS", "Verdict"), Some("PASS"));
        assert_eq!(labelled("- **Status:** active ", "status"), Some("active"));
        assert_eq!(labelled("- Statusx: active", "Status"), None);
    }

    #[test]
    fn ranges_in_a_list_are_expanded_once() {
        assert_eq!(expanded("S01-S03, `S03`, S05..S06", 'S'), ["S01", "S02", "S03", "S05", "S06"]);
        assert_eq!(expanded("none", 'S'), [""; 0]);
        assert_eq!(expanded("S03-S01, later", 'S'), ["S03-S01", "later"]);
        assert_eq!(ticked_words("a `b` c `d/e` `open").collect::<Vec<_>>(), ["b", "d/e"]);
        assert_eq!(folded("Use `SQLite`, not  X!"), "use sqlite not x");
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "(\\*\\*|[-*`:,\\[\\] xX]|Goal|S0[1-9]|é|\\.\\.|\n){0,24}") {
            if let Some(LineItem { tick: Some((_, at)), .. }) = item(&line) {
                prop_assert!(matches!(&line[at..=at], " " | "x" | "X"));
            }
            let _ = (field(&line, "Goal"), labelled(&line, "Goal"), expanded(&line, 'S'), title(&line, "S01"));
            let _ = (ticked_words(&line).count(), is_nothing(&line), folded(&line));
        }
    }
}
