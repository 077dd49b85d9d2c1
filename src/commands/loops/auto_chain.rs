//! The automatic chain: starts it, stops it, and shows whether it runs.

use crate::acts::auto_chain;
use crate::failure::Failure;
use crate::frame::{Context, verbs};

verbs! {
    "Automatic chain";
    groups { "auto-chain": "Start or stop the automatic chain of workflows"; }

    /// Start the automatic chain: each workflow starts the next one
    ///
    /// Recorded on this computer, outside the project. Expires after 24 hours; each workflow of the chain renews it.
    ///
    /// Example: `gsd-tools auto-chain start --pick active`.
    "auto-chain start": acts [unasked] json(auto_chain::AutoModeReport) = start();

    /// Stop the automatic chain of workflows
    ///
    /// It stays stopped until `auto-chain start`, even if `workflow.auto_advance` is on.
    ///
    /// Example: `gsd-tools auto-chain stop --pick source`.
    "auto-chain stop": acts [unasked] json(auto_chain::AutoModeReport) = stop();
}

fn start(context: &mut Context) -> Result<(), Failure> {
    context.emit(&auto_chain::set(context, true)?)
}

fn stop(context: &mut Context) -> Result<(), Failure> {
    context.emit(&auto_chain::set(context, false)?)
}

pub(in crate::commands) fn show(context: &mut Context) -> Result<(), Failure> {
    context.emit(&auto_chain::report(context)?)
}
