//! Files as text: lossless documents with named edits. Pure; independent of the workflow system.
//!
//! Lossless means: a document prints exactly what it was parsed from, for every input, even a broken one, and an edit
//! changes only the bytes it names: comments, key order, indentation, line endings, a byte order mark and a missing
//! final newline stay as they were. Documents here are views over the original text with byte spans; an edit is a
//! [`splice::Splices`] list applied once. In addition, some texts are only read: moments as written in documents
//! ([`time`]), and scripts as words ([`script`], [`shell`]).

mod brackets;
pub(crate) mod checklist;
pub(crate) mod diff;
pub(crate) mod edit;
pub(crate) mod fragment;
pub(crate) mod front_matter;
pub(crate) mod json;
pub(crate) mod leaf;
pub(crate) mod markdown;
pub(crate) mod merge;
pub(crate) mod nearest;
pub(crate) mod quoted;
pub(crate) mod screen;
pub(crate) mod script;
pub(crate) mod secrets;
pub(crate) mod shell;
mod slug;
pub(crate) mod splice;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod test_output;
pub(crate) mod time;
pub(crate) mod toml;
pub(crate) mod untrusted;
pub(crate) mod words;
pub(crate) mod yaml;

pub(crate) use slug::{is_mark, latin_slug, named, nfc, slug, slug_within};
