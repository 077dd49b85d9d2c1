//! Utilities that need no project: a slug, the time, whether a path exists, the name and version of this program.

use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::disk;
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::project::test_command;
use crate::text::latin_slug;

verbs! {
    "Utilities";

    /// Print text as a slug for file and branch names
    ///
    /// Example: `gsd-tools generate-slug "Hello, World!" --raw` prints `hello-world`.
    "generate-slug": reads json(SlugReport) = generate_slug(SlugArgs);

    /// Print the current time in UTC
    ///
    /// Example: `gsd-tools current-timestamp date --raw` prints the date, such as `2026-01-02`.
    "current-timestamp": reads json(TimestampReport) = current_timestamp(TimestampArgs);

    /// Check whether a path exists, and whether it is a file or a directory
    ///
    /// Exits 0 in either case; the answer has `exists` and `type`.
    ///
    /// Example: `gsd-tools verify-path-exists src --pick type` prints `directory`.
    "verify-path-exists": reads json(PathReport) = verify_path_exists(PathArgs);

    /// Print the package name and version that scripts check for
    ///
    /// Example: `gsd-tools runtime-identity --raw`.
    "runtime-identity": reads json(IdentityReport) = runtime_identity();

    /// Print a test command that runs once instead of watching
    ///
    /// Reads `package.json` in the current folder where the command runs one of its scripts.
    ///
    /// Example: `gsd-tools normalize-test-command "npx vitest"` prints `npx vitest run`.
    "normalize-test-command": reads text("the command") = normalize_test_command(CommandArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SlugArgs {
    /// The text to convert
    text: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TimestampArgs {
    /// `full`, `date` or `filename`; any other word means `full`
    format: Option<String>,
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

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SlugReport {
    slug: String,
}

fn generate_slug(context: &mut Context, arguments: &SlugArgs) -> Result<(), Failure> {
    let slug = latin_slug(&arguments.text);
    context.emit_raw(&SlugReport { slug: slug.clone() }, slug)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TimestampReport {
    timestamp: String,
}

fn current_timestamp(context: &mut Context, arguments: &TimestampArgs) -> Result<(), Failure> {
    let now = context.world().now();
    let timestamp = match arguments.format.as_deref() {
        Some("date") => now.utc_day(),
        // Whole seconds, without characters that are not allowed in file names.
        Some("filename") => now.to_string().split('.').next().unwrap_or_default().replace(':', "-"),
        _ => now.to_string(),
    };
    context.emit_raw(&TimestampReport { timestamp: timestamp.clone() }, timestamp)
}

/// The name that existing scripts look for; the version is ours.
const PACKAGE_NAME: &str = "@opengsd/gsd-core";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct IdentityReport {
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
pub(in crate::commands) struct PathReport {
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
