//! The hooks of installs: how they are, and what they cost.

pub(crate) mod cost;
pub(crate) mod state;
