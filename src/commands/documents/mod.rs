//! Single documents.

pub(crate) mod config;
pub(crate) mod frontmatter;
pub(crate) mod import;
pub(crate) mod instructions;
mod preferences;
pub(crate) mod requirements;
mod settings;
