//! Whether the automatic chain of workflows runs in a project, by its settings and by a note on this computer.

use super::Call;
use crate::acts::project;
use crate::failure::{Failure, Reason};
use crate::project::auto_chain::{AutoMode, ChainNote, NOTE};
use crate::project::local_state::LocalStateError;

/// Reads whether workflows continue automatically in this project.
pub(crate) fn auto_mode(call: &Call) -> Result<AutoMode, Failure> {
    auto_mode_with(call, chain_note(call)?.as_ref())
}

pub(crate) fn auto_mode_with(call: &Call, note: Option<&ChainNote>) -> Result<AutoMode, Failure> {
    Ok(AutoMode::of(call.config()?, note, call.world().now().milliseconds()))
}

pub(crate) fn chain_note(call: &Call) -> Result<Option<ChainNote>, Failure> {
    let Some(local) = project::local_state_if_any(call)? else { return Ok(None) };
    local.read(NOTE).map_err(|error| {
        let is_malformed = matches!(error, LocalStateError::Malformed { .. });
        let error = Failure::because(Reason::Unknown, &error);
        if is_malformed { error.hint("`gsd-tools auto-chain stop` replaces it") } else { error }
    })
}
