//! A milestone's end: what is checked, and what goes to the archive.

pub(crate) mod archive;
pub(crate) mod complete;
