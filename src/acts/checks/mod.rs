//! Whether work is right, as far as git or a program has to be asked.

pub(crate) mod gate;
pub(crate) mod plan;
pub(crate) mod source;
pub(crate) mod work;
