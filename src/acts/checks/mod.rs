//! Whether work is right, as far as git or a program has to be asked.

pub(crate) mod gate;
pub(crate) mod work;
