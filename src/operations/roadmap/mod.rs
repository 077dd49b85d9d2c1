//! The roadmap: its contents, its checks, its waves, its older forms.

pub(crate) mod analyze;
mod brief;
pub(crate) mod check;
pub(crate) mod upgrade;
pub(crate) mod waves;
