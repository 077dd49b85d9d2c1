//! Whether the automatic chain of workflows runs in a project, by its settings and by a note on this computer.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, files, project};
use crate::failure::{Failure, Reason};
use crate::project::auto_chain::{AutoMode, ChainNote, NOTE};
use crate::project::local_state::LocalStateError;
use crate::project::workstream;

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

/// The answer of `check auto-mode`, and of `auto-chain` after its change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AutoModeReport {
    active: bool,
    /// Why: `auto_chain`, `auto_advance`, `both`, `none`, or `stopped`.
    source: &'static str,
    auto_chain_active: bool,
    /// The setting of the configuration; false after a stop.
    auto_advance: bool,
    /// When the chain was started or stopped on this computer.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// The host session that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl AutoModeReport {
    fn new(mode: AutoMode, note: Option<ChainNote>) -> Self {
        let (since, session) = note.map_or((None, None), |note| (Some(note.since), note.session));
        Self {
            active: mode.active(),
            source: mode.source(),
            auto_chain_active: mode.chain(),
            auto_advance: mode.advance(),
            since,
            session,
        }
    }
}

/// Whether workflows continue without being started.
pub(crate) fn report(call: &Call) -> Result<AutoModeReport, Failure> {
    let note = chain_note(call)?;
    Ok(AutoModeReport::new(auto_mode_with(call, note.as_ref())?, note))
}

/// Starts or stops the chain.
pub(crate) fn set(call: &Call, active: bool) -> Result<AutoModeReport, Failure> {
    let local = call.local_state()?;
    let world = call.world();
    let note = ChainNote {
        active,
        since: world.now().to_string(),
        session: workstream::session_key(|name| world.variable(name)),
    };
    let text = format!("{}\n", serde_json::to_string(&note)?);
    files::edit_note(call, &local.file(NOTE), |_| Ok(((), Some(text))))?;
    Ok(AutoModeReport::new(auto_mode_with(call, Some(&note))?, Some(note)))
}
