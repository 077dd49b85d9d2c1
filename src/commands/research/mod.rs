//! Results of research.

pub(crate) mod findings;
pub(crate) mod learnings;
pub(crate) mod packages;
