//! The source code: its measurements, and its graph.

pub(crate) mod graph_build;
pub(crate) mod refactor;
