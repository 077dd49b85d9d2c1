//! Information for an update of the installation: which installation applies here, the newest version, and the user's
//! files among the installed ones.

use crate::acts::installs;
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::install::custom;

verbs! {
    "Updating";

    /// Show which installation this project uses
    ///
    /// A local installation comes before a global one, and the host of the session before the others. Prints version,
    /// scope, host and folder on one line of JSON; the version is `0.0.0` if nothing is installed. With `--config-dir`,
    /// reports that folder instead.
    ///
    /// Example: `gsd-tools update-context`.
    "update-context": reads json(installs::InstallationReport) = update_context(ContextArgs);

    /// Check whether a newer version is published
    ///
    /// Asks the npm registry, and records the answer for the hooks, which never go online themselves.
    ///
    /// Example: `gsd-tools update-check --pick latest`.
    "update-check": runs json(installs::UpdateReport) = update_check();

    /// List files of yours among the installed ones
    ///
    /// Lists the files in the host's folders that have `gsd` or a name with the prefix `gsd-` in their path, but are
    /// not in the manifest of the installation.
    ///
    /// Example: `gsd-tools detect-custom-files --config-dir ~/.config/host --pick custom_files`.
    "detect-custom-files": reads json(custom::Findings) = detect_custom_files(DetectArgs);

    /// Restore files of yours that an update moved to the backup
    ///
    /// Reads `gsd-user-files-backup/` in the config directory. Without `--apply`, lists what can be restored; files
    /// that exist are never overwritten.
    ///
    /// Example: `gsd-tools restore-custom-files --config-dir ~/.config/host --apply`.
    "restore-custom-files": acts json(custom::Restoration) = restore_custom_files(RestoreArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ContextArgs {
    /// Look only in this config directory of a host
    #[arg(long)]
    config_dir: Option<String>,
    /// Look only for this host
    #[arg(long, value_name = "HOST")]
    runtime: Option<String>,
    /// Print JSON (default)
    #[arg(long, hide = true)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DetectArgs {
    /// The host's config directory
    #[arg(long)]
    config_dir: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The host's config directory
    #[arg(long)]
    config_dir: NonBlank,
    /// Restore the files instead of listing them
    #[arg(long)]
    apply: bool,
}

fn detect_custom_files(context: &mut Context, arguments: &DetectArgs) -> Result<(), Failure> {
    context.emit(&custom::find(&installs::folder(context, &arguments.config_dir)?)?)
}

fn restore_custom_files(context: &mut Context, arguments: &RestoreArgs) -> Result<(), Failure> {
    context.emit(&installs::restore_custom_files(context, &arguments.config_dir, arguments.apply)?)
}

fn update_check(context: &mut Context) -> Result<(), Failure> {
    context.emit(&installs::update_check(context)?)
}

fn update_context(context: &mut Context, arguments: &ContextArgs) -> Result<(), Failure> {
    let answer = installs::update_context(context, arguments.config_dir.as_deref(), arguments.runtime.as_deref())?;
    context.text(serde_json::to_string(&answer)? + "\n");
    Ok(())
}
