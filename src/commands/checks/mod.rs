//! Checks and gates: plans, phases, the project, builds and tests.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod drift;
pub(crate) mod evaluation;
pub(crate) mod gate;
pub(crate) mod guards;
pub(crate) mod uat;
pub(crate) mod validate;
pub(crate) mod verification;
pub(crate) mod verify;
