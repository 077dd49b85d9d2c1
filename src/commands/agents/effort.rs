//! The effort of installed agents: writes the configured level into their files.

use crate::acts::agents::effort;
use crate::acts::features::shown::HostChoice;
use crate::failure::Failure;
use crate::frame::{Context, verbs};

verbs! {
    "Effort";
    groups { "effort": "Update the effort setting of installed agents"; }

    /// Update the effort setting of installed agents from the configuration
    ///
    /// Lists agents whose front matter has another effort than the configuration. Changes the files only with
    /// `--apply`.
    ///
    /// Example: `gsd-tools effort sync --apply --pick synced`.
    "effort sync": runs json(effort::SyncReport) = effort_sync(SyncArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// Write the changes to the agent files
    #[arg(long)]
    apply: bool,
    /// Preview only (default)
    #[arg(long, conflicts_with = "apply")]
    dry_run: bool,
    /// The host (default: the one that runs this call)
    #[arg(long, value_name = "HOST")]
    runtime: Option<String>,
    /// Use this config directory of the host instead of the default
    #[arg(long, value_name = "FOLDER")]
    config_dir: Option<String>,
}

fn effort_sync(context: &mut Context, arguments: &SyncArgs) -> Result<(), Failure> {
    let host = HostChoice { config_dir: arguments.config_dir.as_deref(), runtime: arguments.runtime.as_deref() };
    let report = effort::sync(context, host, arguments.apply)?;
    context.emit_raw(&report, if report.reason.is_some() { "" } else { "ok" })
}
