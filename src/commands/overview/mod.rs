//! The whole project at a glance.

pub(crate) mod planning;
pub(crate) mod progress;
