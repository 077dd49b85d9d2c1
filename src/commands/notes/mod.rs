//! Work outside the roadmap.

pub(crate) mod handoff;
pub(crate) mod quick_tasks;
pub(crate) mod todo;
