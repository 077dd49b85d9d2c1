//! The source code: what was measured of it, and its graph.

pub(crate) mod graph_build;
pub(crate) mod refactor;
