//! Research: findings that are kept, registries of packages, and the web.

pub(crate) mod findings;
pub(crate) mod learnings;
pub(crate) mod packages;
pub(crate) mod search;
