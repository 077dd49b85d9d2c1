//! The one test binary. A test in `architecture.rs` checks that no file of this folder is forgotten.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests prepare and inspect trees by hand")]

mod acts;
mod answers;
mod architecture;
mod audit;
mod bytes;
mod capability;
mod cli;
#[cfg(unix)]
mod clients;
mod codebase;
mod config;
mod conformance;
mod crash;
mod crash_project;
mod dispatch;
mod documents;
mod findings;
mod gate;
mod gates;
mod git;
mod graphify;
mod guards;
mod hooks;
mod hosts;
mod init;
mod install;
mod instructions;
mod intel;
mod kit;
mod learnings;
mod lived;
mod loops;
mod milestone;
mod npm;
mod own_host;
mod phases;
mod plans;
mod profile;
mod published;
mod refactor;
mod rehearsal;
mod scaffold;
mod schemas;
mod small_verbs;
mod state;
mod subsets;
mod takeover;
mod tree;
mod updating;
mod validate;
mod walk;
#[cfg(unix)]
mod web;
mod workstream;
mod worktree;
