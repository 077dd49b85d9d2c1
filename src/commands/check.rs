//! Gates: small questions a workflow asks before it goes on.

use serde::Serialize;

use super::{CommandError, Context, Family};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Gates {
    /// Ask a gate whether work may go on
    #[command(subcommand)]
    Check(CheckCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CheckCommand {
    /// Tell whether workflows go on by themselves
    ///
    /// Example: `gsd-tools check auto-mode --pick active`.
    AutoMode,
}

impl Family for Gates {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::Check(CheckCommand::AutoMode) => auto_mode(context),
        }
    }
}

#[derive(Debug, Serialize)]
struct AutoModeReport {
    active: bool,
    source: &'static str,
    auto_chain_active: bool,
    auto_advance: bool,
}

fn auto_mode(context: &mut Context) -> Result<(), CommandError> {
    let config = context.config()?;
    let (chain, advance) = (config.flag("workflow._auto_chain_active"), config.flag("workflow.auto_advance"));
    let source = match (chain, advance) {
        (true, true) => "both",
        (true, false) => "auto_chain",
        (false, true) => "auto_advance",
        (false, false) => "none",
    };
    let report = AutoModeReport { active: chain || advance, source, auto_chain_active: chain, auto_advance: advance };
    context.emit(&report)
}
