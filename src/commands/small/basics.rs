//! Small answers that need no project: a slug, the time, whether a path exists, who this program is.

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::named::NonBlank;
use crate::commands::frame::{CommandError, Context, verbs};
use crate::disk;
use crate::operations::gates::test_command;
use crate::text::slug;

verbs! {
    "Small answers";

    /// Turn text into a name for files and branches
    ///
    /// Example: `gsd-tools generate-slug "Hello, World!" --raw` prints `hello-world`.
    "generate-slug": reads json(SlugReport) = generate_slug(SlugArgs);

    /// Tell the time
    ///
    /// Example: `gsd-tools current-timestamp date --raw` prints the day in UTC.
    "current-timestamp": reads json(TimestampReport) = current_timestamp(TimestampArgs);

    /// Tell whether a path exists and what it is
    ///
    /// Example: `gsd-tools verify-path-exists src --pick type` prints `directory`.
    "verify-path-exists": reads json(PathReport) = verify_path_exists(PathArgs);

    /// Tell which program answers, for scripts that look for one
    ///
    /// Example: `gsd-tools runtime-identity --raw`.
    "runtime-identity": reads json(IdentityReport) = runtime_identity();

    /// Print a test command as one that ends by itself: watchers run once
    ///
    /// Example: `gsd-tools normalize-test-command "npx vitest"` prints `npx vitest run`.
    "normalize-test-command": reads text("the command") = normalize_test_command(CommandArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SlugArgs {
    /// The text
    text: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TimestampArgs {
    /// `full`, `date` or `filename`; anything else means `full`
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// The path, relative to the current folder
    path: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommandArgs {
    /// The command, as one argument
    command: Option<String>,
}

fn normalize_test_command(context: &mut Context, arguments: &CommandArgs) -> Result<(), CommandError> {
    let command = arguments.command.as_deref().unwrap_or_default();
    let package = context.read(&context.here().resolve("package.json"))?;
    context.text(test_command::once(command, package.as_deref()));
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SlugReport {
    slug: String,
}

fn generate_slug(context: &mut Context, arguments: &SlugArgs) -> Result<(), CommandError> {
    let slug = slug(&arguments.text);
    context.emit_raw(&SlugReport { slug: slug.clone() }, slug)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TimestampReport {
    timestamp: String,
}

fn current_timestamp(context: &mut Context, arguments: &TimestampArgs) -> Result<(), CommandError> {
    let now = context.world().now();
    let timestamp = match arguments.format.as_deref() {
        Some("date") => now.utc_day(),
        // Whole seconds, with no character that a file name cannot have.
        Some("filename") => now.to_string().split('.').next().unwrap_or_default().replace(':', "-"),
        _ => now.to_string(),
    };
    context.emit_raw(&TimestampReport { timestamp: timestamp.clone() }, timestamp)
}

/// The name that scripts written for the system look for; the version is ours.
const PACKAGE_NAME: &str = "@opengsd/gsd-core";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct IdentityReport {
    package_name: &'static str,
    version: &'static str,
}

/// The one answer that is a line: scripts match its beginning with a shell pattern.
fn runtime_identity(context: &mut Context) -> Result<(), CommandError> {
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
pub(in crate::commands) struct PathReport {
    exists: bool,
    r#type: Option<&'static str>,
}

fn verify_path_exists(context: &mut Context, arguments: &PathArgs) -> Result<(), CommandError> {
    let path = context.here().resolve(&arguments.path);
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
