//! The checks that work has to pass, and the evidence that it did.
//!
//! [`discovery`] finds the commands of a unit, [`pins`] records what they depend on as it was before the unit ran,
//! [`run`] runs them on a tree, and [`verdict`] says what the [`evidence`] is worth. [`tamper`] finds edits that make
//! checks weaker. [`secrets`] finds keys that a unit adds, or that a candidate would land; [`links`], links that lead
//! out of the project; [`cannot_fail`], commands that check nothing.
//! Only `run` acts; the rest are pure functions between values that go into the engine's log.

pub(crate) mod allowance;
pub(crate) mod cannot_fail;
pub(crate) mod check;
pub(crate) mod discovery;
pub(crate) mod evidence;
mod globs;
mod leaned;
pub(crate) mod links;
pub(crate) mod lists;
pub(crate) mod makefile;
pub(crate) mod no_checks;
pub(crate) mod package;
pub(crate) mod pins;
pub(crate) mod run;
pub(crate) mod runners;
pub(crate) mod secrets;
pub(crate) mod tamper;
pub(crate) mod verdict;
