//! The user: sessions that a host keeps of them, and a profile of how they work.

pub(crate) mod profile;
pub(crate) mod sessions;
