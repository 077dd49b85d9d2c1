//! What only scripts of other programs expect: their spelling of calls, their exit codes, failures as answers, and verbs
//! that our texts do not call.
//!
//! [`spelled`] and [`lenient`] read their calls, [`contract`] has their exit codes, and [`answers`] gives them a failure in
//! the form they know. The verbs are rows that the families of `commands` take into their tables.

pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod contract;
pub(crate) mod git;
mod history;
pub(crate) mod init;
mod inspect;
pub(crate) mod lenient;
pub(crate) mod phases;
pub(crate) mod plans;
mod red_evidence;
mod refused;
pub(crate) mod review;
mod signal;
pub(crate) mod small;
pub(crate) mod spelled;
pub(crate) mod state;
mod task;
mod windows;
