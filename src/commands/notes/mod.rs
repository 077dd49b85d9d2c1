//! What waits beside the roadmap.

pub(crate) mod quick_tasks;
pub(crate) mod todo;
