//! The roadmap: what it says, whether it is sound, its waves, its older forms.

pub(crate) mod analyze;
mod brief;
pub(crate) mod check;
pub(crate) mod upgrade;
pub(crate) mod waves;
