//! The profile of the person who works here, learned from sessions.

pub(crate) mod profile;
pub(crate) mod sessions;
