//! Shell command lines: which programs they run, with which words, on which files. Nothing is run to find out.
//!
//! Every text is a script. Quotes, here-documents, substitutions, variables set in the script, programs that start
//! programs, and scripts inside scripts are resolved; the rest is marked as unknown. [`PlainLine`] is for callers that
//! must be certain: it reads few lines, but those exactly.

mod letters;
mod plain;
mod quote;
mod read;
mod run;
mod spelling;
mod typed;
mod word;

pub(crate) use letters::Letters;
pub(crate) use plain::{NotPlain, PlainLine, PlainWord};
pub(crate) use quote::{acting_letter, shell_word};
pub(crate) use run::{Argument, FileWritten, Run, runs, runs_up_to_limit};
pub(crate) use spelling::{Spelling, UNKNOWN};
pub(crate) use typed::{Piece, Typed, Word, Words, typed};

#[cfg(test)]
mod tests;
