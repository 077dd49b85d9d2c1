//! What a command means across documents. Pure: a view in, a report (and edits) out.
//!
//! An answer that one document can give is a method on that document. Facts from outside the project (git, the agents
//! folder, source files) are gathered by `commands` and handed in.

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
