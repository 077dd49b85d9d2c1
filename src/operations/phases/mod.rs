//! Phases: finds, adds, removes and completes them, and creates their first documents and branches.

pub(crate) mod add;
pub(crate) mod branch;
pub(crate) mod complete;
pub(crate) mod find;
pub(crate) mod remove;
pub(crate) mod scaffold;
pub(crate) mod template;
