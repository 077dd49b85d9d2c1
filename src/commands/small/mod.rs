//! Utilities.

pub(crate) mod basics;
mod completed;
pub(crate) mod guide;
pub(crate) mod schema;
pub(crate) mod shell;
pub(crate) mod timeout;
pub(crate) mod trust;
