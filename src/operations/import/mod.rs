//! Imports projects from the layouts of other programs.

pub(crate) mod gsd2;
