//! Plans: their order, structure, promises, commands and costs, and the contents of their summaries.

mod absences;
mod calls;
pub(crate) mod close;
pub(crate) mod commands;
pub(crate) mod directions;
pub(crate) mod estimates;
mod found;
pub(crate) mod index;
pub(crate) mod lint;
pub(crate) mod promises;
pub(crate) mod structure;
pub(crate) mod summary;
pub(crate) mod summary_check;
pub(crate) mod undo;
pub(crate) mod waves;
