//! What sessions show about the person who works here.

pub(crate) mod profile;
pub(crate) mod sessions;
