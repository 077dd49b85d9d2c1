//! What was found out.

pub(crate) mod findings;
pub(crate) mod learnings;
pub(crate) mod packages;
