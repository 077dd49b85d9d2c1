//! Checks whether a phase does what it promised: the report, acceptance tests, checks by people.

pub(crate) mod acceptance;
pub(crate) mod evaluation;
pub(crate) mod human_checks;
pub(crate) mod uat_coverage;
