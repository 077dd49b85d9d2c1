//! Pending work outside the roadmap: todos, seeds, quick tasks, paused work.

pub(crate) mod handoff;
pub(crate) mod quick_tasks;
pub(crate) mod seeds;
pub(crate) mod todos;
