//! Front matter: the `---` block at the start of a Markdown file, read tolerantly and edited by span.
//!
//! The block is a subset of YAML as people write it: nested maps, block and inline lists, quoted and plain scalars,
//! block scalars, comments. Everything is text: `1`, `true` and `null` are read as written. A plain value that contains
//! a colon is text. Anchors and aliases are text too: they are never followed, and [`FrontMatter::problems`] reports
//! them, together with every line that does not fit.
//!
//! An edit changes one value: comments, spacing and all other lines keep their bytes.

mod print;
mod read;
mod scalar;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};

use self::print::{Printed, print_entry};
use self::read::{Node, ParsedEntry};
use self::scalar::Quotes;
use super::edit::{EditError, without_mark};
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

    /// The items of a list; a single text is a list of one; an empty value has none.
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

    /// The value of a key of a map. If a key is repeated, the last one counts.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().rfind(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value on one line, as shown for an item of a list: `a: 1, b: [x, y]`.
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

/// Strings only: maps stay maps, lists become lists of [`Value::flat`] texts, and an empty value is an empty map.
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

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "FrontMatterValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<Self>();
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
                { "type": "object", "additionalProperties": value },
            ]
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Removes the quotes around a text, if it is quoted.
pub(crate) fn without_quotes(text: &str) -> String {
    scalar::quoted(text).filter(|(_, rest)| rest.is_empty()).map_or_else(|| text.to_owned(), |(inside, _)| inside)
}

/// Why a front matter should not be edited: the line, and what is wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) what: &'static str,
}

/// The front matter of a text. Borrows the text.
#[derive(Clone, Debug)]
pub(crate) struct FrontMatter<'text> {
    text: &'text str,
    /// The bytes between the two `---` lines.
    inside: Range<usize>,
    /// The first byte after the closing line.
    body: usize,
    entries: Vec<ParsedEntry>,
    problems: Vec<Problem>,
    newline: &'static str,
}

impl<'text> FrontMatter<'text> {
    /// Finds the front matter of `text`; `None` if it is missing or not closed.
    pub(crate) fn parse(text: &'text str) -> Option<Self> {
        Self::of(&Markdown::head(text))
    }

    /// Like [`Self::parse`], with only these top-level keys, for callers that read many documents and change none.
    /// Reading the other keys takes time; they seem to be absent.
    pub(crate) fn of_keys(text: &'text str, keys: &[&str]) -> Option<Self> {
        Self::scanned(&Markdown::head(text), Some(keys))
    }

    /// Like [`Self::parse`], for a text that was already scanned.
    pub(crate) fn of(markdown: &Markdown<'text>) -> Option<Self> {
        Self::scanned(markdown, None)
    }

    fn scanned(markdown: &Markdown<'text>, keys: Option<&[&str]>) -> Option<Self> {
        let lines = markdown.lines();
        let close = lines.iter().take_while(|line| line.kind == LineKind::FrontMatter).count().checked_sub(1)?;
        let text = markdown.text();
        let (entries, problems) = read::read_keys(text, &lines[1..close], Quotes::Removed, keys);
        Some(Self {
            text,
            inside: lines[0].next..lines[close].start,
            body: lines[close].next,
            entries,
            problems,
            newline: markdown.newline(),
        })
    }

    /// The keys in order of appearance.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// The value of a top-level key. If a key is repeated, the last one counts, as in YAML readers.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        read::find(&self.entries, key).map(|entry| entry.node.to_value())
    }

    /// Like [`Self::get`], with the quotes around its texts: `"false"` is a text, `false` may be a boolean.
    pub(crate) fn get_quoted(&self, key: &str) -> Option<Value> {
        let markdown = Markdown::head(self.text);
        let close = markdown.lines().iter().take_while(|line| line.kind == LineKind::FrontMatter).count();
        let lines = markdown.lines().get(1..close.checked_sub(1)?)?;
        let (entries, _) = read::read(self.text, lines, Quotes::Kept);
        read::find(&entries, key).map(|entry| entry.node.to_value())
    }

    /// The text of a top-level key, if it is a non-empty scalar.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Like [`Self::text`], for words that a person wrote, such as a title: without quotes, a `#` is part of the text.
    pub(crate) fn words(&self, key: &str) -> Option<String> {
        let lines = self.text[self.inside.clone()].lines();
        let line = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).next_back().map(str::trim);
        match line {
            Some(line) if line.contains('#') && !line.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*']) => {
                Some(line.to_owned())
            }
            _ => self.text(key),
        }
    }

    /// The value at a path of keys.
    pub(crate) fn get_path(&self, path: &[&str]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key).cloned())
    }

    /// Every entry, in order.
    pub(crate) fn entries(&self) -> Vec<(String, Value)> {
        self.entries.iter().map(|entry| (entry.key.clone(), entry.node.to_value())).collect()
    }

    /// The first place that a stricter reader would reject. An edit of such a text could change its meaning.
    pub(crate) fn problem(&self) -> Option<Problem> {
        self.problems.first().copied()
    }

    /// All such places, by line: a line that fits nowhere, a bracket or quote that stays open, a repeated key, an
    /// anchor or alias.
    #[cfg(test)]
    pub(crate) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The text after the closing line.
    pub(crate) fn body(&self) -> &'text str {
        &self.text[self.body..]
    }

    /// Returns the whole text after [`Self::set`].
    #[cfg(test)]
    pub(crate) fn with(&self, key: &str, value: &Value) -> String {
        let mut splices = Splices::default();
        self.set(key, value, &mut splices);
        splices.apply(self.text)
    }

    /// Sets `key` to `value`, as splices, so that several keys can be set at once. A key that already has that value
    /// keeps its bytes; a new key goes to the end of the block.
    pub(crate) fn set(&self, key: &str, value: &Value, splices: &mut Splices) {
        match read::find(&self.entries, key) {
            Some(entry) => self.replace_value(entry, value, splices),
            None => splices.insert(self.inside.end, print_entry(key, value, 0, self.newline)),
        }
    }

    /// Like [`Self::set`]; a new key goes before all others.
    pub(crate) fn set_first(&self, key: &str, value: &Value, splices: &mut Splices) {
        match read::find(&self.entries, key) {
            Some(_) => self.set(key, value, splices),
            None => splices.insert(self.inside.start, print_entry(key, value, 0, self.newline)),
        }
    }

    /// Like [`Self::set`]; a new key goes after the entry `neighbour`, if it exists.
    pub(crate) fn set_after(&self, neighbour: &str, key: &str, value: &Value, splices: &mut Splices) {
        match (read::find(&self.entries, key), read::find(&self.entries, neighbour)) {
            (None, Some(neighbour)) => {
                splices.insert(neighbour.lines.end, print_entry(key, value, 0, self.newline));
            }
            _ => self.set(key, value, splices),
        }
    }

    /// Like [`Self::set`], for a key inside maps. Missing maps are made: to put several keys into a missing map, set
    /// the map. Refused if something other than a map is on the path.
    pub(crate) fn set_path(&self, path: &[&str], value: &Value, splices: &mut Splices) -> Result<(), EditError> {
        let Some((first, rest)) = path.split_first() else {
            return Err(EditError::BadPath { path: String::new() });
        };
        let Some(mut entry) = read::find(&self.entries, first) else {
            self.set(first, &nested(rest, value), splices);
            return Ok(());
        };
        for (depth, key) in rest.iter().enumerate() {
            let deeper = &rest[depth + 1..];
            match &entry.node {
                Node::Map(entries) => match (read::find(entries, key), entries.last()) {
                    (Some(found), _) => entry = found,
                    (None, Some(last)) => {
                        let printed = print_entry(key, &nested(deeper, value), last.indent, self.newline);
                        splices.insert(last.lines.end, printed);
                        return Ok(());
                    }
                    (None, None) => return Err(EditError::Unsafe { path: path.join(".") }),
                },
                Node::Value(Value::Empty) => {
                    self.replace_value(entry, &nested(&rest[depth..], value), splices);
                    return Ok(());
                }
                Node::Value(inline @ Value::Map(_)) => {
                    let mut changed = inline.clone();
                    put(&mut changed, &rest[depth..], value, path)?;
                    self.replace_value(entry, &changed, splices);
                    return Ok(());
                }
                Node::Value(other) => return Err(wrong_kind(&path[..=depth], other)),
            }
        }
        self.replace_value(entry, value, splices);
        Ok(())
    }

    /// Removes a key with its lines and the indented comments below them, as splices. Other comments stay.
    pub(crate) fn remove(&self, key: &str, splices: &mut Splices) {
        for entry in self.entries.iter().filter(|entry| entry.key == key) {
            let mut end = entry.lines.end;
            let mut position = end;
            for line in self.text[entry.lines.end..self.inside.end].split_inclusive('\n') {
                position += line.len();
                let is_indented = line.starts_with([' ', '\t']);
                match line.trim() {
                    "" => {}
                    comment if is_indented && comment.starts_with('#') => end = position,
                    _ => break,
                }
            }
            splices.remove(entry.lines.start..end);
        }
    }

    /// Removes the line of a key inside a map written in block form, as splices. Comments stay.
    pub(crate) fn remove_inner(&self, key: &str, inner: &str, splices: &mut Splices) {
        if let Some(ParsedEntry { node: Node::Map(entries), .. }) = read::find(&self.entries, key) {
            for entry in entries.iter().filter(|entry| entry.key == inner) {
                splices.remove(entry.lines.clone());
            }
        }
    }

    fn replace_value(&self, entry: &ParsedEntry, value: &Value, splices: &mut Splices) {
        if entry.node.to_value() == *value {
            return;
        }
        let Printed { inline, lines } = print::print_value(value, entry.indent, self.newline);
        if inline.is_empty() || entry.inline.is_empty() {
            let space = if inline.is_empty() { "" } else { " " };
            splices.replace(entry.colon..entry.inline.end, format!("{space}{inline}"));
        } else {
            splices.replace(entry.inline.clone(), inline);
        }
        splices.replace(entry.children.clone(), lines);
    }
}

/// True if `text` begins with a front matter that is never closed.
pub(crate) fn is_unclosed(text: &str) -> bool {
    let first = without_mark(text).0.lines().next().unwrap_or_default();
    first.trim_end() == "---" && FrontMatter::parse(text).is_none()
}

/// Makes a text with a front matter of `entries`, before `body`.
pub(crate) fn compose(entries: &[(String, Value)], body: &str, newline: &str) -> String {
    let mut text = format!("---{newline}");
    for (key, value) in entries {
        text.push_str(&print_entry(key, value, 0, newline));
    }
    text.push_str("---");
    text.push_str(newline);
    text.push_str(body);
    text
}

fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, key| Value::Map(vec![((*key).to_owned(), inner)]))
}

/// Sets `value` at the path `keys` of a map; `path` is the whole path, for the error.
fn put(map: &mut Value, keys: &[&str], value: &Value, path: &[&str]) -> Result<(), EditError> {
    let Some((key, deeper)) = keys.split_first() else {
        *map = value.clone();
        return Ok(());
    };
    match map {
        Value::Map(entries) => {
            if let Some((_, inner)) = entries.iter_mut().rfind(|(name, _)| name == key) {
                return put(inner, deeper, value, path);
            }
            entries.push(((*key).to_owned(), nested(deeper, value)));
            Ok(())
        }
        Value::Empty => {
            *map = nested(keys, value);
            Ok(())
        }
        other => Err(wrong_kind(&path[..path.len() - keys.len()], other)),
    }
}

fn wrong_kind(path: &[&str], found: &Value) -> EditError {
    let found = match found {
        Value::Empty => "empty",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
    };
    EditError::WrongKind { path: path.join("."), line: None, expected: "a map", found }
}
