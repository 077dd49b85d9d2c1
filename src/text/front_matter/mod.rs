//! Front matter: the `---` block that opens a Markdown file, read tolerantly and edited by span.
//!
//! The block is a subset of YAML as people write it: nested maps, block and inline lists, quoted and plain scalars,
//! block scalars, comments. Everything is text: `1`, `true` and `null` are what stands there. A plain value that holds a
//! colon is text. Anchors and aliases are text too: they are never followed. Lines that fit nothing belong to the entry
//! above them and keep their bytes.

mod print;
mod read;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, Serializer};

use print::{one_line, print_entry};
use read::{split_key, stays_open, top_level_key, value_without_comment};

use super::markdown::{LineKind, Markdown};
use super::splice::Splices;

/// A value as written, without types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing after the colon.
    Empty,
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; one text is a list of one; empty is none.
    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Self::List(items) => items,
            Self::Empty => &[],
            single => std::slice::from_ref(single),
        }
    }

    /// The texts among the items of a list.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.items().iter().filter_map(Value::as_text).collect()
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value in one line, as the item of a list is told: `a: 1, b: [x, y]`.
    pub(crate) fn flat(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::List(items) => format!("[{}]", items.iter().map(Value::flat).collect::<Vec<_>>().join(", ")),
            Self::Map(entries) => {
                entries.iter().map(|(key, value)| format!("{key}: {}", value.flat())).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Strings only: maps stay maps, lists become lists of [`Value::flat`] texts, and nothing is an empty map.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_map(Some(0))?.end(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items.iter().map(Value::flat)),
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// A top-level entry and the bytes it stands in, its line ends included.
#[derive(Clone, Debug)]
struct Entry {
    key: String,
    span: Range<usize>,
}

/// The front matter of a text. Borrows the text.
#[derive(Clone, Debug)]
pub(crate) struct FrontMatter<'text> {
    text: &'text str,
    /// Between the two `---` lines.
    inside: Range<usize>,
    /// The first byte after the closing line.
    body: usize,
    entries: Vec<Entry>,
    newline: &'static str,
}

impl<'text> FrontMatter<'text> {
    /// Finds the front matter of `text`; `None` where there is none or it is not closed.
    pub(crate) fn parse(text: &'text str) -> Option<Self> {
        Self::of(&Markdown::parse(text))
    }

    /// As [`Self::parse`], for a text that is scanned already.
    pub(crate) fn of(markdown: &Markdown<'text>) -> Option<Self> {
        let close =
            markdown.lines().iter().take_while(|line| line.kind == LineKind::FrontMatter).count().checked_sub(1)?;
        let lines = markdown.lines();
        let inside = lines[0].next..lines[close].start;
        let text = markdown.text();
        let mut entries: Vec<Entry> = Vec::new();
        for line in &lines[1..close] {
            match top_level_key(&text[line.start..line.end]) {
                Some(key) => entries.push(Entry { key: key.to_owned(), span: line.start..line.next }),
                None => {
                    if let Some(last) = entries.last_mut() {
                        last.span.end = line.next;
                    }
                }
            }
        }
        Some(Self { text, inside, body: lines[close].next, entries, newline: markdown.newline() })
    }

    /// The keys in order of appearance.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// The value of a top-level key.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        self.entry(key).map(|entry| self.value_of(entry))
    }

    /// The text of a top-level key, if it is a non-empty scalar.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The value at a path of keys.
    pub(crate) fn get_path(&self, path: &[&str]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key).cloned())
    }

    /// Every entry, in order.
    pub(crate) fn entries(&self) -> Vec<(String, Value)> {
        self.entries.iter().map(|entry| (entry.key.clone(), self.value_of(entry))).collect()
    }

    /// The text after the closing line.
    pub(crate) fn body(&self) -> &'text str {
        &self.text[self.body..]
    }

    /// The first byte of the body.
    pub(crate) fn body_start(&self) -> usize {
        self.body
    }

    /// The whole text with `key` set to `value`. A key that already has that value keeps its bytes; a new key goes to
    /// the end of the block.
    pub(crate) fn with(&self, key: &str, value: &Value) -> String {
        let mut splices = Splices::default();
        self.set(key, value, &mut splices);
        splices.apply(self.text)
    }

    /// As [`Self::with`], as splices, so that several keys can be set at once.
    pub(crate) fn set(&self, key: &str, value: &Value, splices: &mut Splices) {
        let printed = print_entry(key, value, self.newline);
        let Some(entry) = self.entry(key) else {
            splices.insert(self.inside.end, printed);
            return;
        };
        if self.value_of(entry) == *value {
            return;
        }
        let lines = self.own_lines(entry);
        match (self.value_span(entry, &lines), one_line(&printed, key)) {
            (Some(span), Some(value)) if span.is_empty() => splices.insert(span.start, format!(" {value}")),
            (Some(span), Some(value)) => splices.replace(span, value),
            _ => splices.replace(lines, printed),
        }
    }

    /// The bytes of a value that stands wholly on the line of its key, without a comment behind it.
    fn value_span(&self, entry: &Entry, lines: &Range<usize>) -> Option<Range<usize>> {
        let line = self.text[lines.clone()].trim_end_matches(['\n', '\r']);
        if line.contains('\n') {
            return None;
        }
        let (_, rest) = split_key(line)?;
        let start = if rest.is_empty() { line.trim_end().len() } else { line.rfind(rest)? };
        let value = value_without_comment(rest);
        (!value.starts_with(['|', '>'])).then(|| entry.span.start + start..entry.span.start + start + value.len())
    }

    /// The first place that a stricter reader would stumble over: a line that belongs to nothing, or a bracket or quote
    /// that stays open. An edit of such a text could mean something else than it says.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let line_of = |at: usize| self.text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
        let mut position = self.inside.start;
        let mut keyed = false;
        for line in self.text[self.inside.clone()].split_inclusive('\n') {
            let content = line.trim_end();
            let key = top_level_key(content);
            let inside = content.starts_with([' ', '\t', '#', '-', ']', '}']) || content.is_empty();
            if key.is_none() && !(inside && (keyed || content.is_empty() || content.starts_with('#'))) {
                return Some(Problem { line: line_of(position), what: "a line that is no `key: value`" });
            }
            keyed |= key.is_some();
            position += line.len();
        }
        self.entries
            .iter()
            .find(|entry| stays_open(&self.text[entry.span.clone()]))
            .map(|entry| Problem { line: line_of(entry.span.start), what: "a bracket or quote that stays open" })
    }

    /// Removes a key with its lines, as splices.
    pub(crate) fn remove(&self, key: &str, splices: &mut Splices) {
        if let Some(entry) = self.entry(key) {
            splices.remove(entry.span.clone());
        }
    }

    /// A key that stands twice counts with its last value, as YAML readers take it.
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// The lines of an entry without blank and comment lines at its end, which belong to what follows.
    fn own_lines(&self, entry: &Entry) -> Range<usize> {
        let mut end = entry.span.start;
        let mut position = entry.span.start;
        for line in self.text[entry.span.clone()].split_inclusive('\n') {
            position += line.len();
            let content = line.trim();
            if !content.is_empty() && !content.starts_with('#') {
                end = position;
            }
        }
        entry.span.start..end
    }

    fn value_of(&self, entry: &Entry) -> Value {
        read::entry(&self.text[entry.span.clone()])
    }
}

/// Why a front matter should not be edited: where, and what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) what: &'static str,
}

/// Whether `text` starts a front matter that is never closed.
pub(crate) fn is_unclosed(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('\u{feff}').trim_end() == "---" && FrontMatter::parse(text).is_none()
}

/// A text with a front matter that holds `entries`, before `body`.
pub(crate) fn compose(entries: &[(String, Value)], body: &str, newline: &str) -> String {
    let mut text = format!("---{newline}");
    for (key, value) in entries {
        text.push_str(&print_entry(key, value, newline));
    }
    text.push_str("---");
    text.push_str(newline);
    text.push_str(body);
    text
}
