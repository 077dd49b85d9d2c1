//! Research: findings, their confidence, and which packages can be trusted.

pub(crate) mod confidence;
pub(crate) mod findings;
pub(crate) mod learnings;
pub(crate) mod packages;
