//! Command lines of a shell: what they run, with which words, on which files. Nothing is run to find out.
//!
//! Every text is a script. Quotes, here-documents, substitutions, variables with a value from the script itself,
//! programs that start programs, and scripts inside scripts are seen through; the rest is marked
//! as unknown. [`PlainLine`] is for callers that have to be sure: it reads few lines, and those exactly.

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
