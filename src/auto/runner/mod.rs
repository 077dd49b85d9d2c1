//! How the user's own agent is started, read, judged and stopped.
//!
//! `runners.toml` has the facts about each client, [`stream`] parses its output, [`heard`] folds that, and [`verdict`]
//! decides the outcome. [`session::run`] does all of that for one session, and leaves nothing running.

mod clock;
pub(crate) mod death;
pub(crate) mod event;
pub(crate) mod heard;
pub(crate) mod own;
pub(crate) mod request;
pub(crate) mod session;
#[cfg(all(test, target_os = "linux"))]
mod session_tests;
pub(crate) mod stream;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod usage_file;
pub(crate) mod verdict;
pub(crate) mod version;
