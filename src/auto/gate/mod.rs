//! The checks that work has to pass, and the evidence that it did.
//!
//! [`discover`] finds the commands of a unit, [`Pins`] holds what they rest on as it was before the unit ran, [`run_checks`]
//! runs them on a tree, and [`judge`] says what the evidence is worth. [`tamper`] finds edits that make checks weaker.
//! Only `run` acts; the rest are pure functions between values that go into the log of the engine.

mod allowance;
mod check;
mod discovery;
mod evidence;
mod no_checks;
mod pins;
mod run;
pub(crate) mod tamper;
mod verdict;

pub(crate) use allowance::Allowance;
pub(crate) use check::{Check, Refused, Source};
pub(crate) use discovery::{Discovery, Wanted, discover};
pub(crate) use evidence::{CheckRun, CheckVerdict, Counts, Evidence};
pub(crate) use no_checks::{NoChecks, NoChecksError};
pub(crate) use pins::{Pin, Pins};
pub(crate) use run::{Limits, Place, run_check, run_checks};
pub(crate) use verdict::{Case, Claim, Failure, GateVerdict, Outcome, judge, retry_delay};
