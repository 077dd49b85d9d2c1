//! What needs no agent: a slice, a milestone and its validation, closed from the records of their tasks.

pub(crate) const NAME: &str = "";
