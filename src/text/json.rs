//! JSON files that belong to somebody else: read, edited in place, and given back.
//!
//! [`JsonDocument`] keeps the text itself; an edit splices new text into it at byte spans found by the parser.
//! Nothing is ever written out anew, so comments, order, indentation, number spellings, trailing commas,
//! line endings and a byte order mark stay as their owner wrote them. An empty text counts as an object to be made.

#![allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the bodies come with the next commit")]

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edit::{Applied, EditError, JsonDialect, ParseError, Reverted, Undo, dotted};

/// A wanted change of a JSON file. Paths are keys of objects from the root; missing objects are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JsonEdit {
    /// `value` is an element of the array at `path`; put last unless an equal one is there.
    Append { path: Vec<String>, value: Value },
    /// `path` has `value`, unless it has any value already.
    SetIfAbsent { path: Vec<String>, value: Value },
    /// `path` has `value`, whatever it had before.
    Set { path: Vec<String>, value: Value },
}

impl JsonEdit {
    pub(crate) fn path(&self) -> &[String] {
        match self {
            JsonEdit::Append { path, .. } | JsonEdit::SetIfAbsent { path, .. } | JsonEdit::Set { path, .. } => path,
        }
    }

    pub(crate) fn value(&self) -> &Value {
        match self {
            JsonEdit::Append { value, .. } | JsonEdit::SetIfAbsent { value, .. } | JsonEdit::Set { value, .. } => value,
        }
    }
}

/// A JSON text that parses, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonDocument {
    text: String,
    dialect: JsonDialect,
}

impl JsonDocument {
    pub(crate) fn parse(text: &str, dialect: JsonDialect) -> Result<Self, ParseError> {
        Ok(JsonDocument { text: text.to_owned(), dialect })
    }

    /// The value at this path of keys; the whole document for an empty path.
    pub(crate) fn value(&self, _path: &[String]) -> Option<Value> {
        None
    }

    /// Makes the change, unless it is there already. On an error the document is as before.
    pub(crate) fn apply(&mut self, edit: &JsonEdit) -> Result<Applied, EditError> {
        Err(EditError::Unsafe { path: dotted(edit.path()) })
    }

    /// Takes back exactly what `edit` put there: the value if an equal one still stands there, the objects and
    /// arrays made for it if they are empty now, and the value it had replaced.
    pub(crate) fn revert(&mut self, edit: &JsonEdit, applied: &Applied) -> Result<Reverted, EditError> {
        match applied {
            Applied::Changed(Undo { .. }) => Err(EditError::Unsafe { path: dotted(edit.path()) }),
            Applied::AlreadyThere | Applied::Kept(_) => Ok(Reverted::NotThere),
        }
    }
}

impl fmt::Display for JsonDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
