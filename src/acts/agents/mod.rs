//! Agents: how a host starts them, and lanes of review by other programs.

pub(crate) mod dispatch;
