//! `.planning/` as types.

pub(crate) mod milestone;
pub(crate) mod phase;
pub(crate) mod roadmap;
