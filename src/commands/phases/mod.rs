//! The roadmap, milestones, workstreams and phases.

pub(crate) mod milestone;
pub(crate) mod phase;
pub(crate) mod roadmap;
pub(crate) mod scaffold;
pub(crate) mod template;
pub(crate) mod workstream;
