//! Utilities that need no project: a slug, the time, whether a path exists, the name and version of this program.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
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

    use crate::peer::small::PATH_EXISTS;

    use crate::peer::small::RUNTIME_IDENTITY;

    use crate::peer::small::TEST_COMMAND;
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
