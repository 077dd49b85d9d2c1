//! Types shared by the editable documents of this module: formats, what an edit did, and why one was refused.
//!
//! The edits themselves are [`super::json::JsonEdit`], [`super::toml::TomlEdit`] and [`super::yaml::YamlEdit`]. An edit
//! and its [`Applied`] are plain data, so that they can be kept next to a file and undone much later.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The format of a file that we share with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileFormat {
    Json(JsonDialect),
    Toml,
    Yaml,
    /// Comments are `<!-- -->`.
    Markdown,
    /// Any line-based text with comments that begin with `#`.
    Lines,
}

/// What the reader of a JSON file accepts in addition to plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JsonDialect {
    Strict,
    Comments,
    CommentsAndTrailingCommas,
}

/// Where and why a text is invalid in its format. Line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl ParseError {
    /// Makes the error at byte `offset` of `text`.
    pub(crate) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = position(text, offset);
        ParseError { line, column, message: message.into() }
    }
}

/// The line of byte `offset`, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    position(text, offset).0
}

/// The line and column of byte `offset`, both counted from 1, the column in characters. In a text without LF, CR ends a
/// line.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let ending = if text.contains('\n') { '\n' } else { '\r' };
    let before = text[..offset].trim_start_matches(BYTE_ORDER_MARK);
    let line_start = before.rfind(ending).map_or(0, |newline| newline + 1);
    (before.matches(ending).count() + 1, before[line_start..].chars().count() + 1)
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// What an edit did to a document: enough to undo exactly that later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Applied {
    Changed(Undo),
    /// The wanted value was already there: nothing changed, and the value is not ours.
    AlreadyThere,
    /// This other value is there and was kept.
    Kept(Value),
}

impl Applied {
    pub(crate) fn changed(&self) -> bool {
        matches!(self, Applied::Changed(_))
    }
}

/// What to restore when an edit is undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Undo {
    /// How many of the containers above the value were made for it, counted from the value upwards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) created_parents: usize,
    /// The value that was replaced, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<String>,
    /// The blank text replaced by the insertion, or the separator made for it; only whitespace.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "only_whitespace")]
    pub(super) blank: Option<String>,
}

impl Undo {
    /// For a value that was inserted without a record: the `depth` containers above it are removed with it if they are
    /// then empty.
    pub(crate) fn of_all_above(depth: usize) -> Self {
        Self { created_parents: depth, ..Self::default() }
    }

    pub(super) fn blank(&self) -> &str {
        self.blank.as_deref().unwrap_or_default()
    }
}

fn only_whitespace<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let blank = Option::<String>::deserialize(deserializer)?;
    if blank.as_ref().is_some_and(|blank| !blank.trim().is_empty()) {
        return Err(serde::de::Error::custom("a `blank` is more than whitespace"));
    }
    Ok(blank)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The result of undoing an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reverted {
    /// The document is as if the edit had never been made.
    Removed,
    /// What the edit had inserted is gone or was changed; the document is unchanged.
    NotThere,
}

/// Why an edit was refused. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The path is empty, or a part of it cannot be written in this format.
    BadPath { path: String },
    /// The same key appears twice here, for the second time on this line; the owner of the file must decide which one
    /// counts.
    DuplicateKey { path: String, line: usize },
    /// Something of another kind is where a table, an object or a list is needed. The path of the whole document is
    /// empty.
    WrongKind { path: String, line: Option<usize>, expected: &'static str, found: &'static str },
    /// The value cannot be written in this format.
    NotWritable { path: String },
    /// The place is written in a way that leaves no room for our lines.
    Style { path: String, line: usize, found: &'static str },
    /// The edited text would not be read back as intended, so it was discarded.
    Unsafe { path: String },
}

impl fmt::Display for EditError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::BadPath { path } => write!(formatter, "`{path}` is not a place in the file"),
            EditError::DuplicateKey { path, line } => {
                write!(formatter, "line {line}: the key `{path}` is in the file more than once")
            }
            EditError::WrongKind { path, line, expected, found } => {
                if let Some(line) = line {
                    write!(formatter, "line {line}: ")?;
                }
                if path.is_empty() {
                    return write!(formatter, "the file is {found} where {expected} is needed");
                }
                write!(formatter, "`{path}` is {found} in the file where {expected} is needed")
            }
            EditError::NotWritable { path } => {
                write!(formatter, "the value for `{path}` cannot be written in this format")
            }
            EditError::Style { path, line, found } if path.is_empty() => {
                write!(formatter, "line {line}: the file {found}")
            }
            EditError::Style { path, line, found } => write!(formatter, "line {line}: `{path}` {found}"),
            EditError::Unsafe { path } => write!(formatter, "the file cannot be edited safely at `{path}`"),
        }
    }
}

impl std::error::Error for EditError {}

impl EditError {
    /// What the owner of the file can change so that the edit can be made.
    pub(crate) fn cure(&self) -> Option<String> {
        match self {
            EditError::DuplicateKey { path, .. } => {
                let key = path.rsplit('.').next().unwrap_or(path);
                Some(format!("merge the entries of both `{key}` into one"))
            }
            EditError::WrongKind { path, expected, .. } if path.is_empty() => Some(format!("make the file {expected}")),
            EditError::WrongKind { path, expected, .. } => Some(format!("make `{path}` {expected}, or remove it")),
            EditError::Style { path, .. } if path.is_empty() => {
                Some("write it as plain lines, a key on each".to_owned())
            }
            EditError::Style { path, .. } | EditError::Unsafe { path } => {
                Some(format!("write `{path}` as plain lines, a key or an entry on each"))
            }
            EditError::BadPath { .. } | EditError::NotWritable { .. } => None,
        }
    }
}

pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text without its byte order mark, and the length of that mark.
pub(super) fn without_mark(text: &str) -> (&str, usize) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest, BYTE_ORDER_MARK.len_utf8()),
        None => (text, 0),
    }
}

/// The whitespace at the start of the line of `offset`.
pub(super) fn indentation(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// True if only whitespace precedes `offset` on its line, and the line is not the first.
pub(super) fn starts_line(text: &str, offset: usize) -> bool {
    let start = line_start(text, offset);
    start > 0 && text[start..offset].trim().is_empty()
}

pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Prints a document with its byte order mark, if it has one.
macro_rules! printed_with_mark {
    ($document:ty) => {
        impl std::fmt::Display for $document {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.byte_order_mark {
                    write!(formatter, "{}", $crate::text::edit::BYTE_ORDER_MARK)?;
                }
                formatter.write_str(&self.text)
            }
        }
    };
}

pub(super) use printed_with_mark;

pub(super) fn unsafe_at(path: &[String]) -> EditError {
    EditError::Unsafe { path: dotted(path) }
}

/// A path of keys for messages, as a person would write it.
pub(super) fn dotted(path: &[String]) -> String {
    path.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_lines_and_characters_from_one_and_not_the_mark() {
        let at = |text: &str, offset| {
            let error = ParseError::at(text, offset, "");
            (error.line, error.column)
        };
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("ab\nä!x", 6), (2, 3));
        assert_eq!(at("\u{feff}x", 3), (1, 1));
        assert_eq!(at("a", 99), (1, 2));
        assert_eq!(at("a\rbc", 3), (2, 2));
    }
}
