//! Landing work that waited for a person.

use super::accounts::changed_lines;
use super::place::{RunPlace, refuses_sessions, refuses_units};
use super::start::card::Consent;
use super::start::drive;
use super::start::request::{Choices, RunRequest};
use super::start::run_report::{RunReport, report};
use crate::acts::{Call, caller};
use crate::auto::account::summary::ChangedLines;
use crate::auto::event::LandingMode;
use crate::auto::memory::Memory;
use crate::auto::stop::{Cause, Stop};
use crate::failure::Failure;
use crate::text::words::of_word;

const COMMAND: &str = "auto land";

/// What waits to land.
pub(crate) struct WaitingWork {
    pub(crate) milestone: String,
    /// The branch.
    pub(crate) target: String,
    pub(crate) base: String,
    pub(crate) commit: String,
    pub(crate) changes: Option<ChangedLines>,
}

/// `branch`, `ask` or `pr`.
pub(crate) fn landing_word(text: &str) -> Result<LandingMode, String> {
    of_word(text).ok_or_else(|| "write `branch`, `ask` or `pr`".to_owned())
}

/// Lands the work that waits, if a person agrees; else nothing changes.
pub(crate) fn land(call: &Call, agrees: &dyn Fn(&WaitingWork) -> Result<bool, Failure>) -> Result<RunReport, Failure> {
    caller::refuses_agents(call, COMMAND)?;
    refuses_units(call, COMMAND)?;
    let place = RunPlace::of_run(call)?;
    let memory = place.memory()?;
    refuses_sessions(call, &place, &memory, COMMAND)?;
    let waiting = waiting(call, &place, &memory)?;
    if !agrees(&waiting)? {
        let stop = Stop::new(Cause::NotWanted, "nothing has landed", "gsd-tools auto diff");
        return Ok(report(&waiting.milestone, stop, &memory));
    }
    let how = Choices { reviewed: Some(waiting.commit), ..Choices::default() };
    let request = RunRequest { milestone: None, brief: None, again: false, all: false, how };
    drive(call, &request, (None, None), &|_| Ok(Consent::Given))
}

fn waiting(call: &Call, place: &RunPlace, memory: &Memory) -> Result<WaitingWork, Failure> {
    let run = memory.run.as_ref().filter(|_| memory.landed.is_none() && memory.stop.is_some());
    let (Some(run), Some(candidate)) = (run, &memory.waiting) else {
        return Err(Failure::usage("nothing waits to land here").hint("`gsd-tools auto status` shows what is next"));
    };
    Ok(WaitingWork {
        milestone: run.milestone.clone(),
        target: run.target.clone(),
        base: candidate.base.clone(),
        commit: candidate.commit.clone(),
        changes: changed_lines(call, place, &candidate.base, &candidate.commit)?,
    })
}
