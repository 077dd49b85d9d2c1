//! What an update of the installation needs to know: what is installed here, and which files of the user's stand
//! among ours.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Family};
use crate::disk::{self, AbsolutePath, ChangeSet};
use crate::install::{self, Target, custom};
use crate::runtime::Scope;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Updating {
    /// Tell which installation this project uses
    ///
    /// Example: `gsd-tools update-context` prints one line of JSON.
    UpdateContext,
    /// Find files of your own among the installed ones
    ///
    /// Example: `gsd-tools detect-custom-files --config-dir ~/.config/host --pick custom_files`.
    DetectCustomFiles(DetectArgs),
    /// Bring files of your own back that an update put aside
    ///
    /// Example: `gsd-tools restore-custom-files --config-dir ~/.config/host --apply`; without `--apply` it only looks.
    RestoreCustomFiles(RestoreArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DetectArgs {
    /// The host's folder
    #[arg(long)]
    config_dir: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The host's folder
    #[arg(long)]
    config_dir: Option<String>,
    /// Bring back what can be
    #[arg(long)]
    apply: bool,
}

impl Family for Updating {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::UpdateContext => update_context(context),
            Self::DetectCustomFiles(arguments) => {
                let usage = "Usage: gsd-tools detect-custom-files --config-dir <path>";
                let report = custom::find(&folder(context, arguments.config_dir.as_deref(), usage)?)?;
                context.emit(&report)
            }
            Self::RestoreCustomFiles(arguments) => {
                let usage = "Usage: gsd-tools restore-custom-files --config-dir <path> [--apply]";
                let folder = folder(context, arguments.config_dir.as_deref(), usage)?;
                let report = if arguments.apply {
                    let report = context.change(&folder, |changes| Ok(custom::look(&folder, changes)?))?;
                    if context.is_rehearsal() { report } else { report.applied() }
                } else {
                    custom::look(&folder, &mut ChangeSet::default())?
                };
                context.emit(&report)
            }
        }
    }
}

fn folder(context: &Context, typed: Option<&str>, usage: &str) -> Result<AbsolutePath, CommandError> {
    let typed = typed.ok_or_else(|| CommandError::usage(usage))?;
    let folder = context.here().resolve(typed);
    if disk::is_folder(&folder) {
        return Ok(disk::canonical(&folder)?);
    }
    Err(CommandError::usage(format!("Config directory not found: {folder}")))
}

/// What `update-context` answers, on one line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallationReport {
    /// `0.0.0` where nothing is installed.
    installed_version: String,
    /// `LOCAL`, `GLOBAL` or `UNKNOWN`.
    scope: &'static str,
    /// The host; empty where nothing is installed.
    runtime: String,
    /// The host's folder that holds the installation.
    gsd_dir: String,
}

/// The installation that counts here: the project's before the user's, the host of the call before the others.
fn update_context(context: &mut Context) -> Result<(), CommandError> {
    let registry = install::registry(context.world())?;
    let mut descriptors = registry.all()?;
    let host = context.host()?.id.clone();
    descriptors.sort_by_key(|descriptor| descriptor.id.as_str() != host);
    let mut answer = InstallationReport {
        installed_version: "0.0.0".to_owned(),
        scope: "UNKNOWN",
        runtime: String::new(),
        gsd_dir: String::new(),
    };
    'places: for (scope, word) in [(Scope::Local, "LOCAL"), (Scope::Global, "GLOBAL")] {
        for descriptor in &descriptors {
            // A place that cannot be told, or whose manifest cannot be read, holds nothing that could be updated.
            let target = Target::resolve(descriptor.clone(), scope, context.root(), None, context.world());
            let Ok(target) = target else { continue };
            let status = install::status(&target, context.world());
            if let Ok(Some(version)) = status.map(|status| status.version) {
                answer = InstallationReport {
                    installed_version: version,
                    scope: word,
                    runtime: descriptor.id.to_string(),
                    gsd_dir: target.root.to_string(),
                };
                break 'places;
            }
        }
    }
    context.text(serde_json::to_string(&answer)? + "\n");
    Ok(())
}
