//! Plans, tasks, estimates.

pub(crate) mod estimates;
pub(crate) mod index;
pub(crate) mod plan;
pub(crate) mod task;
