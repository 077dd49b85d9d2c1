//! The end of a milestone: its checks and its archive.

pub(crate) mod archive;
pub(crate) mod complete;
