//! `auto`: the start of a run and its control, what a person approves for it, and views of a milestone.

pub(crate) mod abandon;
pub(crate) mod accounts;
pub(crate) mod approvals;
pub(crate) mod brought;
pub(crate) mod control;
pub(crate) mod demo;
pub(crate) mod discuss;
pub(crate) mod held_out;
pub(crate) mod land;
pub(crate) mod leftover;
pub(crate) mod live;
pub(crate) mod orders;
pub(crate) mod phases;
pub(crate) mod place;
pub(crate) mod probe;
pub(crate) mod proof;
pub(crate) mod report;
pub(crate) mod seen;
pub(crate) mod start;
pub(crate) mod steps;
pub(crate) mod texts;
pub(crate) mod watch;
