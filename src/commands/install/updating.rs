//! Information for an update of the installation: which installation applies here, the newest version, and the user's
//! files among the installed ones.

use crate::acts::files;
use crate::acts::hosts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::research::packages;
use crate::disk::{self, AbsolutePath, ChangeSet};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::hooks::KnownVersions;
use crate::install::{self, Target, custom};
use crate::runtime::{Descriptor, Scope};

verbs! {
    "Updating";

    /// Show which installation this project uses
    ///
    /// A local installation comes before a global one, and the host of the session before the others. Prints version,
    /// scope, host and folder on one line of JSON; the version is `0.0.0` if nothing is installed. With `--config-dir`, says
    /// it of that folder.
    ///
    /// Example: `gsd-tools update-context`.
    "update-context": reads json(InstallationReport) = update_context(ContextArgs);

    /// Check whether a newer version is published
    ///
    /// Asks the npm registry, and records the answer for the hooks, which never go online themselves.
    ///
    /// Example: `gsd-tools update-check --pick latest`.
    "update-check": runs json(UpdateReport) = update_check();

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
    context.emit(&custom::find(&folder(context, &arguments.config_dir)?)?)
}

fn restore_custom_files(context: &mut Context, arguments: &RestoreArgs) -> Result<(), Failure> {
    let folder = folder(context, &arguments.config_dir)?;
    if !arguments.apply {
        return context.emit(&custom::look(&folder, &mut ChangeSet::default())?);
    }
    let report = match files::change(context, &[&folder], |changes| Ok(custom::look(&folder, changes)?)) {
        Ok(report) if context.is_rehearsal() => report,
        Ok(report) => report.applied(),
        // A file that cannot be written does not stop the others.
        Err(_) => {
            let mut report = custom::look(&folder, &mut ChangeSet::default())?;
            for path in report.eligible() {
                let alone =
                    files::change(context, &[&folder], |changes| Ok(custom::bring_back(&folder, &path, changes)?));
                if let Err(error) = &alone {
                    context.warn(format!("`{path}` was not restored: {}", error.message));
                }
                report.settle(&path, alone.err().map(|error| error.message), context.is_rehearsal());
            }
            report
        }
    };
    context.emit(&report)
}

fn folder(context: &Context, typed: &str) -> Result<AbsolutePath, Failure> {
    let folder = context.here().resolve(typed);
    context.project().boundary()?.check(&folder)?;
    if disk::is_folder(&folder) {
        return Ok(disk::canonical(&folder)?);
    }
    Err(Failure::usage(format!("there is no folder `{folder}`"))
        .hint("`gsd-tools status` lists the folders of installed hosts"))
}

/// The result of `update-check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdateReport {
    installed: &'static str,
    latest: String,
    /// Whether the newest version is newer than this program.
    update_available: bool,
}

fn update_check(context: &mut Context) -> Result<(), Failure> {
    let world = context.world();
    let mut known = KnownVersions::recall(world);
    // Recorded in any case: a server that does not answer is not asked at every start of a session.
    known.looked_at = world.now().milliseconds();
    known.leave(world);
    let registry = packages::npm_registry(world, None)?;
    let page = format!("{}/{}/latest", registry.trim_end_matches('/'), env!("CARGO_PKG_NAME"));
    let response = world.fetch(&page, &[("Accept", "application/json")])?;
    let told: Option<Latest> = serde_json::from_slice(&response.body).ok();
    let Some(Latest { version }) = told.filter(|_| response.status == 200) else {
        return Err(no_version(&page, response.status));
    };
    known.latest = Some(version.clone());
    known.leave(world);
    let update_available = known.newer().is_some();
    context.emit(&UpdateReport { installed: env!("CARGO_PKG_VERSION"), latest: version, update_available })
}

/// Why the registry has no newest version.
fn no_version(page: &str, status: u16) -> Failure {
    match status {
        404 => Failure::usage(format!("`{}` is not published on npm (`{page}`)", env!("CARGO_PKG_NAME")))
            .hint("update it the way you installed it, such as from its git repository"),
        200 => Failure::usage(format!("`{page}` has no version")).hint("try again later, or check the registry"),
        status => Failure::usage(format!("`{page}` answered with status {status}"))
            .hint("try again later, or check the registry"),
    }
}

/// The newest version of a package, as a registry reports it.
#[derive(Debug, Deserialize)]
struct Latest {
    version: String,
}

/// The answer of `update-context`, on one line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallationReport {
    /// `0.0.0` if nothing is installed.
    installed_version: String,
    /// `LOCAL`, `GLOBAL` or `UNKNOWN`.
    scope: &'static str,
    /// The host; empty if nothing is installed.
    runtime: String,
    /// The folder of the host with the installation.
    gsd_dir: String,
}

/// The installation in one folder: that of the first host that has one there.
fn of_folder(
    context: &Context,
    descriptors: &[Descriptor],
    folder: &AbsolutePath,
    named: Option<&str>,
) -> InstallationReport {
    let is_local = folder.is_within(context.root());
    let scope = if is_local { "LOCAL" } else { "GLOBAL" };
    let chosen = folder.to_string();
    let installed = descriptors.iter().find_map(|descriptor| {
        let target = Target::resolve(descriptor.clone(), Scope::Global, context.root(), Some(&chosen), context.world());
        let version = install::status(&target.ok()?).ok()?.version?;
        Some((version, descriptor.id.to_string()))
    });
    let of_named = descriptors.first().filter(|_| named.is_some()).map(|descriptor| descriptor.id.to_string());
    let (installed_version, runtime) = installed.unwrap_or_else(|| ("0.0.0".to_owned(), of_named.unwrap_or_default()));
    InstallationReport { installed_version, scope, runtime, gsd_dir: chosen }
}

/// The installation that applies here: the project's before the user's, the host of the call before the others.
fn update_context(context: &mut Context, arguments: &ContextArgs) -> Result<(), Failure> {
    let mut descriptors = context.registry()?.all()?;
    let named = arguments.runtime.as_deref().filter(|name| !name.trim().is_empty());
    let only = named.map(|name| hosts::host_if_known(context, name)).transpose()?.flatten();
    if let Some(name) = named {
        descriptors.retain(|descriptor| only.as_ref().is_some_and(|only| only.id == descriptor.id));
        if only.is_none() {
            context.warn(format!("unknown host `{name}`"));
        }
    }
    let host = context.host()?.id.clone();
    descriptors.sort_by_key(|descriptor| descriptor.id.as_str() != host);
    let mut answer = InstallationReport {
        installed_version: "0.0.0".to_owned(),
        scope: "UNKNOWN",
        runtime: String::new(),
        gsd_dir: String::new(),
    };
    if let Some(folder) = &arguments.config_dir {
        let folder = context.here().resolve(folder);
        if disk::is_folder(&folder) {
            answer = of_folder(context, &descriptors, &folder, named);
        }
        context.text(serde_json::to_string(&answer)? + "\n");
        return Ok(());
    }
    'places: for (scope, word) in [(Scope::Local, "LOCAL"), (Scope::Global, "GLOBAL")] {
        for descriptor in &descriptors {
            // A place that cannot be resolved, or whose manifest is unreadable, contains nothing to update.
            let target = Target::resolve(descriptor.clone(), scope, context.root(), None, context.world());
            let Ok(target) = target else { continue };
            let status = install::status(&target);
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
