//! The pipeline: takes a milestone from its brief to the branch it lands on, by driving the user's own agent.
//!
//! Files are the source of truth, and one log is the memory. Pure functions of both decide what to do next; the code
//! with effects is in `runner`, `landing` and `engine`; the checks are in the module `gate`.

pub(crate) mod asked;
pub(crate) mod brought;
pub(crate) mod caches;
pub(crate) mod ceilings;
pub(crate) mod clean;
pub(crate) mod decide;
pub(crate) mod decided;
pub(crate) mod demo;
pub(crate) mod engine;
pub(crate) mod event;
pub(crate) mod held_out;
pub(crate) mod landing;
pub(crate) mod layout;
pub(crate) mod mechanical;
pub(crate) mod memory;
pub(crate) mod permit;
pub(crate) mod phases;
pub(crate) mod position;
pub(crate) mod preferences;
pub(crate) mod probe;
pub(crate) mod prompt;
pub(crate) mod proof;
pub(crate) mod real;
pub(crate) mod runner;
pub(crate) mod set_up;
pub(crate) mod sim;
pub(crate) mod slices;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod story;
pub(crate) mod supervise;
pub(crate) mod unit;
