//! Checks that must pass before the work continues.

pub(crate) mod artifact;
pub(crate) mod assumptions;
pub(crate) mod command;
pub(crate) mod coverage;
pub(crate) mod drift;
pub(crate) mod drift_guard;
pub(crate) mod outside_apis;
pub(crate) mod own_checks;
pub(crate) mod prohibition;
pub(crate) mod test_first;
pub(crate) mod user_story;
