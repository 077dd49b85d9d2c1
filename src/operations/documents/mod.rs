//! Operations on single documents: configuration, front matter, requirements.

pub(crate) mod configuration;
pub(crate) mod frontmatter;
pub(crate) mod requirements;
