//! Facts about the source.

pub(crate) mod codebase;
pub(crate) mod graphify;
pub(crate) mod intel;
pub(crate) mod refactor;
