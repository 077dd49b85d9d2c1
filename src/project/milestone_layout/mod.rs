//! The documents of a project in milestones, slices and tasks, below `.gsd/`: read, changed and written.
//!
//! A document is a model and a list of problems with their lines, never an error; people and agents write these files. An
//! edit takes the text and gives the new one. Records of the pipeline are JSON, and one that does not parse is an error
//! with its line: evidence that cannot be read is no evidence.

pub(crate) mod ids;
pub(crate) mod lines;
pub(crate) mod lookup;
pub(crate) mod roadmap;
pub(crate) mod slice_rows;
pub(crate) mod tick;
