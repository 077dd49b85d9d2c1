//! Agents: how a host starts them.

pub(crate) mod dispatch;
