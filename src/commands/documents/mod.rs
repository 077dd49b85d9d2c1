//! One document by itself.

pub(crate) mod config;
pub(crate) mod frontmatter;
pub(crate) mod import;
pub(crate) mod instructions;
pub(crate) mod requirements;
