//! The common parts of all families: arguments in, answers and errors out, and the project of the call.

pub(crate) mod answer;
pub(crate) mod argv;
pub(crate) mod catalog;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod family;
pub(crate) mod help;
pub(crate) mod live;
pub(crate) mod named;
pub(crate) mod page;
pub(crate) mod reach;
pub(crate) mod table;
pub(crate) mod usage;
pub(crate) mod verb;

pub(crate) use answer::Answer;
pub(crate) use catalog::Catalog;
pub(crate) use context::Context;
pub(crate) use family::{Family, tree};
pub(crate) use table::{rows, verbs};
