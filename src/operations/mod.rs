//! Operations across documents. They are pure: the input is a view, the output a report (and edits).
//!
//! An answer from a single document is a method of that document. Facts from outside the project (git, the agents
//! folder, source files) are collected by `commands` and passed in.

pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod audit;
pub(crate) mod bundle;
pub(crate) mod capability;
pub(crate) mod code;
pub(crate) mod documents;
pub(crate) mod facts;
pub(crate) mod gates;
pub(crate) mod health;
pub(crate) mod hints;
pub(crate) mod import;
pub(crate) mod milestones;
pub(crate) mod notes;
pub(crate) mod overview;
pub(crate) mod person;
pub(crate) mod phases;
pub(crate) mod plans;
pub(crate) mod research;
pub(crate) mod roadmap;
pub(crate) mod state;
pub(crate) mod verification;
pub(crate) mod workstream;
