//! Agents: how a host starts them.

pub(crate) mod dispatch;
pub(crate) mod effort;
pub(crate) mod instructions;
pub(crate) mod skills;
