//! Phases: found, added, removed, completed, and the documents and branches they begin with.

pub(crate) mod add;
pub(crate) mod branch;
pub(crate) mod complete;
pub(crate) mod find;
pub(crate) mod remove;
pub(crate) mod scaffold;
pub(crate) mod template;
