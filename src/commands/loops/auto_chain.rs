//! The automatic chain: starts it, stops it, and shows whether it runs.

use crate::acts::auto_chain;
use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::project::auto_chain::{AutoMode, ChainNote, NOTE};
use crate::project::workstream;

verbs! {
    "Automatic chain";
    groups { "auto-chain": "Start or stop the automatic chain of workflows"; }

    /// Start the automatic chain: each workflow starts the next one
    ///
    /// Recorded on this computer, outside the project. Expires after 24 hours; each workflow of the chain renews it.
    ///
    /// Example: `gsd-tools auto-chain start --pick active`.
    "auto-chain start": acts [unasked] json(AutoModeReport) = start();

    /// Stop the automatic chain of workflows
    ///
    /// It stays stopped until `auto-chain start`, even if `workflow.auto_advance` is on.
    ///
    /// Example: `gsd-tools auto-chain stop --pick source`.
    "auto-chain stop": acts [unasked] json(AutoModeReport) = stop();
}

/// The answer of `check auto-mode`, and of `auto-chain` after its change.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct AutoModeReport {
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

fn start(context: &mut Context) -> Result<(), Failure> {
    set(context, true)
}

fn stop(context: &mut Context) -> Result<(), Failure> {
    set(context, false)
}

/// Answers whether workflows continue automatically.
pub(in crate::commands) fn show(context: &mut Context) -> Result<(), Failure> {
    let note = auto_chain::chain_note(context)?;
    let report = AutoModeReport::new(auto_chain::auto_mode_with(context, note.as_ref())?, note);
    context.emit(&report)
}

fn set(context: &mut Context, active: bool) -> Result<(), Failure> {
    let local = context.local_state()?;
    let world = context.world();
    let note = ChainNote {
        active,
        since: world.now().to_string(),
        session: workstream::session_key(|name| world.variable(name)),
    };
    let text = format!("{}\n", serde_json::to_string(&note)?);
    files::edit_note(context, &local.file(NOTE), |_| Ok(((), Some(text))))?;
    let report = AutoModeReport::new(auto_chain::auto_mode_with(context, Some(&note))?, Some(note));
    context.emit(&report)
}
