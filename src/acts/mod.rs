//! Work that needs git, another program or the disk: below `commands`, which reads the arguments and prints the answer.
//!
//! Everything here works for a [`Call`]. Nothing here prints, or depends on how arguments are spelled.

pub(crate) mod agents;
pub(crate) mod auto;
pub(crate) mod auto_chain;
pub(crate) mod bundle;
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod checks;
pub(crate) mod code;
pub(crate) mod configured;
pub(crate) mod doctor;
pub(crate) mod entry;
pub(crate) mod facts;
pub(crate) mod features;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod hooks;
pub(crate) mod hosts;
pub(crate) mod installs;
pub(crate) mod listing;
pub(crate) mod loops;
pub(crate) mod named;
pub(crate) mod person;
pub(crate) mod plans;
pub(crate) mod program;
pub(crate) mod project;
pub(crate) mod research;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod user;
pub(crate) mod workspaces;
pub(crate) mod workstreams;
pub(crate) mod worktree;
pub(crate) mod writing;
pub(crate) mod yolo;

pub(crate) use call::{Call, Flags};
