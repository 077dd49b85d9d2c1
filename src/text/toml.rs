//! TOML files that belong to somebody else: read, edited in place, and given back.
//!
//! [`TomlDocument`] keeps the text itself; an edit splices new lines into it at byte spans found by the parser,
//! so everything else stays as its owner wrote it, line endings and byte order mark included.
//! What is written is plain TOML 1.0.

#![allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the bodies come with the next commit")]

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::edit::{Applied, EditError, ParseError, Reverted, Undo, dotted};

/// A wanted change of a TOML file. Paths are keys of tables from the root; missing tables are made.
///
/// Values are given as JSON so that an edit can be kept anywhere; `null` and dates cannot be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TomlEdit {
    /// `path` has `value`, unless it has any value already.
    SetIfAbsent { path: Vec<String>, value: Value },
    /// `path` has `value`, whatever it had before.
    Set { path: Vec<String>, value: Value },
    /// `table` is one of the `[[path]]` tables; put last unless an equal one is there.
    AppendTable { path: Vec<String>, table: Map<String, Value> },
}

impl TomlEdit {
    pub(crate) fn path(&self) -> &[String] {
        match self {
            TomlEdit::SetIfAbsent { path, .. } | TomlEdit::Set { path, .. } | TomlEdit::AppendTable { path, .. } => {
                path
            }
        }
    }
}

/// A TOML text that parses, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TomlDocument {
    text: String,
}

impl TomlDocument {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(TomlDocument { text: text.to_owned() })
    }

    /// The value at this path of keys as JSON, dates as text; the whole document for an empty path.
    pub(crate) fn value(&self, _path: &[String]) -> Option<Value> {
        None
    }

    /// Makes the change, unless it is there already. On an error the document is as before.
    pub(crate) fn apply(&mut self, edit: &TomlEdit) -> Result<Applied, EditError> {
        Err(EditError::Unsafe { path: dotted(edit.path()) })
    }

    /// Takes back exactly what `edit` put there: the value if an equal one still stands there, the tables made
    /// for it if they are empty now, and the value it had replaced.
    pub(crate) fn revert(&mut self, edit: &TomlEdit, applied: &Applied) -> Result<Reverted, EditError> {
        match applied {
            Applied::Changed(Undo { .. }) => Err(EditError::Unsafe { path: dotted(edit.path()) }),
            Applied::AlreadyThere | Applied::Kept(_) => Ok(Reverted::NotThere),
        }
    }
}

impl fmt::Display for TomlDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
