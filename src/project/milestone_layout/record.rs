//! JSON records of the pipeline: an unreadable record is an error with its line, and fields of other programs are kept.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::bare;
use crate::text::shell::typed;

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` line {line}: {message}")]
pub(crate) struct RecordError {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl RecordError {
    pub(crate) fn hint(&self) -> String {
        let path = &self.path;
        format!("restore the file: `{}`; or delete it, so that it is made again", typed!("git checkout -- {}", path))
    }
}

/// Reads the record at `path`.
pub(crate) fn read<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, RecordError> {
    serde_json::from_str(bare(text)).map_err(|error| {
        let message = error.to_string();
        // The error already has the line.
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned();
        // The parser counts an unexpected line break as part of the next line.
        let line = if error.column() == 0 { error.line().saturating_sub(1) } else { error.line() };
        RecordError { path: path.to_owned(), line: line.max(1), message }
    })
}

/// The text of a record.
pub(crate) fn render<T: Serialize>(record: &T) -> String {
    // The keys of these types are only texts, so writing them cannot fail.
    let mut text = serde_json::to_string_pretty(record).unwrap_or_default();
    text.push('\n');
    text
}
