//! Arguments in, JSON out. Thin: a verb loads, calls a room below, and emits.
//!
//! A call runs through [`crate::frame::argv`] (flags of every command), the table [`families::CATALOG`] (which family has its
//! first word), clap (only the tree of that one family is built), and the verb's function.
//!
//! A family is a `verbs!` table ([`crate::frame::table`]), one row per verb. Doc comments are the help: the first line imperative
//! and without a full stop, then an example. Two things clap does differently here: a value may begin with `-` (but not
//! with `--`), and wrong usage exits 1, or 2 in families that have no counterpart in the peer.

pub(crate) mod agents;
mod auto;
pub(crate) mod checks;
pub(crate) mod code;
#[cfg(test)]
mod content_tests;
pub(crate) mod documents;
mod families;
mod git;
#[cfg(test)]
mod help_tests;
mod hooks;
mod init;
mod install;
mod loops;
pub(crate) mod notes;
pub(crate) mod overview;
pub(crate) mod person;
pub(crate) mod phases;
pub(crate) mod plans;
pub(crate) mod research;
mod runtimes;
#[cfg(test)]
mod schema_tests;
#[cfg(debug_assertions)]
pub(crate) mod served;
pub(crate) mod small;
mod state;
mod worktree;

pub(crate) use families::{refuses_a_unit, run};
