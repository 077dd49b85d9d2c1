//! Common parts of answers: changed fields, findings, tokens, and the answer of a feature that is turned off.

pub(crate) mod changes;
pub(crate) mod disabled;
pub(crate) mod finding;
pub(crate) mod token;
