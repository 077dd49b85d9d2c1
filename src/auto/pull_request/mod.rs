//! Pull requests: the text of one, and the programs that open them.

mod body;
pub(crate) mod forge;

pub(crate) use body::body;
