//! Ending a run that another process runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::Call;
use crate::acts::auto::place::{RunPlace, refuses_sessions};
use crate::acts::auto::start::brief::continues_or_ends;
use crate::auto::engine::ControlRequest;
use crate::auto::real::Control;
use crate::failure::Failure;

/// What `auto pause` and `auto stop` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ControlReport {
    /// `pause` or `stop`.
    pub(crate) requested: &'static str,
    /// Whether the running session is ended at once.
    now: bool,
}

/// Asks the process of a run to end it.
pub(crate) fn control(call: &Call, wish: ControlRequest, now: bool) -> Result<ControlReport, Failure> {
    let place = RunPlace::of(call)?;
    let memory = place.memory()?;
    refuses_sessions(call, &place, &memory, &format!("auto {}", wish.word()))?;
    if memory.run.is_none() || memory.is_released {
        return Err(Failure::usage("no run is going on here").hint("start one with `gsd-tools auto run`"));
    }
    if place.holder(call.disk(), &memory)?.is_none() {
        let message = "no process runs the run here: it is paused, or was interrupted";
        let milestone = memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
        return Err(Failure::usage(message).hint(continues_or_ends(milestone)));
    }
    Control { wish, now }.write(&place.folder())?;
    Ok(ControlReport { requested: wish.word(), now })
}
