//! Overviews of the whole project.

pub(crate) mod dashboard;
pub(crate) mod figures;
pub(crate) mod measure;
pub(crate) mod milestones;
pub(crate) mod progress;
pub(crate) mod stats;
