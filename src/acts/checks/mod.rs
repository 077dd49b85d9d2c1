//! Checks of work that need git or another program.

pub(crate) mod drift;
pub(crate) mod gate;
pub(crate) mod gates;
pub(crate) mod plan;
pub(crate) mod source;
pub(crate) mod work;
