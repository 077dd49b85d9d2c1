//! Facts about the source code: its map, its graph, its interfaces, its complexity.

pub(crate) mod graph;
pub(crate) mod intel;
pub(crate) mod map;
pub(crate) mod refactor;
