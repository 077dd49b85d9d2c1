//! Settings, files and utilities that only other programs request.

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::features::{features, shown};
use crate::acts::files;
use crate::acts::person::sessions;
use crate::acts::research::learnings::{folder, read, remove};
use crate::acts::writing::Target;
use crate::disk;
use crate::failure::Failure;
use crate::frame::named::{HostFlags, NonBlank};
use crate::frame::{Context, rows};
use crate::operations::documents::configuration;
use crate::operations::research::learnings::{self, DeleteReport};
use crate::project::test_command;

rows! {
    /// Print the path of the configuration file
    ///
    /// Example: `gsd-tools config-path`.
    CONFIG_PATH = "config-path": reads text("the path of the file that holds the configuration") = path();

    /// Move settings with old names to their new names
    ///
    /// Example: `gsd-tools migrate-config`.
    MIGRATE_CONFIG = "migrate-config": writes json(configuration::MigrateReport) = migrate();

    /// Check whether a path exists, and whether it is a file or a directory
    ///
    /// Exits 0 in either case; the answer has `exists` and `type`.
    ///
    /// Example: `gsd-tools verify-path-exists src --pick type` prints `directory`.
    PATH_EXISTS = "verify-path-exists": reads json(PathReport) = verify_path_exists(PathArgs);

    /// Print the package name and version that scripts check for
    ///
    /// Example: `gsd-tools runtime-identity --raw`.
    RUNTIME_IDENTITY = "runtime-identity": reads json(IdentityReport) = runtime_identity();

    /// Print a test command that runs once instead of watching
    ///
    /// Reads `package.json` in the current folder where the command runs one of its scripts.
    ///
    /// Example: `gsd-tools normalize-test-command "npx vitest"` prints `npx vitest run`.
    TEST_COMMAND = "normalize-test-command": reads text("the command") = normalize_test_command(CommandArgs);

    /// Write the messages you typed in a project's sessions to a file
    ///
    /// Reads the session files of the host. The file is in a private temporary folder; `output_file` is its path.
    ///
    /// Example: `gsd-tools extract-messages my-project --limit 5 --pick output_file`.
    EXTRACT_MESSAGES = "extract-messages": runs json(crate::operations::person::sessions::ExtractReport) = extract(ExtractArgs);

    /// Remove one learning
    ///
    /// Example: `gsd-tools learnings delete mwqv83a3-971397bb`.
    DELETE_LEARNING = "learnings delete": acts json(DeleteReport) = delete(DeleteArgs);

    /// Show which features have work at a point of the loop
    ///
    /// Example: `gsd-tools loop render-hooks plan:pre`.
    RENDER_HOOKS = "loop render-hooks": reads json(crate::operations::capability::hooks::PointReport<'static>) = render(RenderArgs);
}

#[expect(clippy::unnecessary_wraps, reason = "every verb may fail")]
fn path(context: &mut Context) -> Result<(), Failure> {
    let layout = context.layout();
    let path = layout.shown(&layout.config());
    context.text(path);
    Ok(())
}

fn migrate(context: &mut Context) -> Result<(), Failure> {
    let report = context.write(Target::Project, configuration::migrate)?;
    let raw = match &report.wrote {
        Some(file) => {
            let lines = report.normalizations.iter().map(|moved| format!("\n  {} → {}", moved.from, moved.to));
            format!("Migrated: {file}{}", lines.collect::<String>())
        }
        None => "no old keys to move".to_owned(),
    };
    context.emit_raw(&report, raw)
}

#[derive(Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// The path, relative to the current folder
    path: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommandArgs {
    /// The test command, as one argument
    command: Option<String>,
}

fn normalize_test_command(context: &mut Context, arguments: &CommandArgs) -> Result<(), Failure> {
    let command = arguments.command.as_deref().unwrap_or_default();
    let package = files::read(context, &context.here().resolve("package.json"))?;
    context.text(test_command::once(command, package.as_deref()));
    Ok(())
}

/// The name that existing scripts look for; the version is ours.
const PACKAGE_NAME: &str = "@opengsd/gsd-core";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IdentityReport {
    package_name: &'static str,
    version: &'static str,
}

/// The only answer on a single line: scripts match its beginning with a shell pattern.
fn runtime_identity(context: &mut Context) -> Result<(), Failure> {
    let report = IdentityReport { package_name: PACKAGE_NAME, version: env!("CARGO_PKG_VERSION") };
    if context.raw() {
        let line = serde_json::to_string(&report)?;
        context.text(line);
    } else {
        context.emit(&report)?;
    }
    context.text("\n");
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PathReport {
    exists: bool,
    r#type: Option<&'static str>,
}

fn verify_path_exists(context: &mut Context, arguments: &PathArgs) -> Result<(), Failure> {
    let path = context.here().resolve(&arguments.path);
    files::hold_agents_off(context, &path)?;
    let kind = if disk::is_file(&path) {
        Some("file")
    } else if disk::is_folder(&path) {
        Some("directory")
    } else if disk::exists(&path) {
        Some("other")
    } else {
        None
    };
    context.emit_raw(&PathReport { exists: kind.is_some(), r#type: kind }, kind.is_some().to_string())
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExtractArgs {
    /// The project, or a part of its name
    project: NonBlank,
    /// Read only this session
    #[arg(long)]
    session: Option<String>,
    /// Read at most this many sessions, newest first
    #[arg(long)]
    limit: Option<usize>,
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    /// The id of the learning, as `learnings list` prints it
    id: NonBlank,
}

fn delete(context: &mut Context, arguments: &DeleteArgs) -> Result<(), Failure> {
    let id: &str = &arguments.id;
    if !learnings::is_id(id) {
        return Err(Failure::usage(format!("`{id}` is not the id of a learning"))
            .hint("`gsd-tools learnings list` lists the ids"));
    }
    let folder = folder(context)?;
    let report = files::change(context, &[&folder], |changes| {
        let store = read(&folder)?;
        let file = store.file_of(id);
        remove(&folder, file.as_slice(), changes)?;
        Ok(DeleteReport { id: id.to_owned(), deleted: file.is_some(), would_delete: None })
    })?;
    context.emit(&if context.is_rehearsal() { report.rehearsed() } else { report })
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenderArgs {
    /// The point, such as `plan:pre`
    point: String,
    #[command(flatten)]
    host: HostFlags,
    /// Print only `true` or `false`: whether this feature has work there
    #[arg(long, value_name = "FEATURE")]
    active_cap: Option<String>,
}

fn render(context: &mut Context, arguments: &RenderArgs) -> Result<(), Failure> {
    let features = features(context)?;
    let report = shown::at(context, shown::point(&arguments.point)?, &features, arguments.host.choice())?;
    match &arguments.active_cap {
        None => context.emit(&report),
        Some(feature) => {
            let wants = report.active_hooks.iter().any(|hook| hook.cap_id == feature);
            context.text(format!("{wants}\n"));
            Ok(())
        }
    }
}

fn extract(context: &mut Context, arguments: &ExtractArgs) -> Result<(), Failure> {
    let ExtractArgs { project, session, limit, path } = arguments;
    context.emit(&sessions::extract(context, path.as_deref(), project, session.as_deref(), *limit)?)
}
