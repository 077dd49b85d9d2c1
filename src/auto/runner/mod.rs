//! How the user's own agent is started, heard, judged and stopped.
//!
//! `runners.toml` has the facts about each client, [`stream`] reads what it says, [`Heard`] sums that up, and [`judge`]
//! decides what came of it. [`run`] does all of that for one session, and leaves nothing running.

mod clock;
mod death;
mod event;
mod heard;
mod request;
mod session;
#[cfg(all(test, target_os = "linux"))]
mod session_tests;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod usage_file;
mod verdict;

pub(crate) use death::Death;
#[cfg_attr(not(test), expect(unused_imports, reason = "of the pipeline, which no command starts yet"))]
pub(crate) use event::{Event, Failure, Quota, QuotaStatus, Scope, Terminal, Tokens, ToolState, Unit};
pub(crate) use heard::Heard;
#[cfg_attr(not(test), expect(unused_imports, reason = "of the pipeline, which no command starts yet"))]
pub(crate) use request::{Limits, Request, RunnerError, Session};
#[expect(unused_imports, reason = "of the pipeline, which no command starts yet")]
pub(crate) use session::{Go, Observer, Outcome, TICK, run};
#[expect(unused_imports, reason = "of the pipeline, which no command starts yet")]
pub(crate) use table::{Delivery, Fact, Profile, ProfileKey, Runner, Runners, TableError};
#[expect(unused_imports, reason = "of the pipeline, which no command starts yet")]
pub(crate) use verdict::{End, Judgement, Reason, Verdict, judge};
