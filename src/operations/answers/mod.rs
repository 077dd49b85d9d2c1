//! What answers have in common: lists of facts, changed fields, findings, tokens, and the answer where a feature is off.

pub(crate) mod answer;
pub(crate) mod changes;
pub(crate) mod disabled;
pub(crate) mod finding;
pub(crate) mod token;
