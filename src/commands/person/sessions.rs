//! Sessions that a host keeps, read for a profile of how a person works. They are neither changed nor sent anywhere.

use crate::acts::person::sessions::{self as kept, Kept};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::person::sessions;

/// The default number of messages in a sample.
const USUAL_SAMPLE: usize = 150;
/// The maximum length of a message in a sample.
const USUAL_LENGTH: usize = 500;

verbs! {
    "Sessions";

    /// List the projects that have sessions on the host
    ///
    /// Reads the session files of the host. Changes nothing and sends nothing anywhere.
    ///
    /// Example: `gsd-tools scan-sessions --json`.
    "scan-sessions": reads [asked] json(sessions::ScanReport) = scan(ScanArgs);

    use crate::peer::small::EXTRACT_MESSAGES;

    /// Write a sample of the messages you typed in all projects to a file
    ///
    /// Reads the session files of the host. The file is in a private temporary folder; `output_file` is its path.
    ///
    /// Example: `gsd-tools profile-sample --limit 100 --pick output_file`.
    "profile-sample": runs json(sessions::SampleReport) = sample(SampleArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScanArgs {
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// List every session
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// The number of messages
    #[arg(long, default_value_t = USUAL_SAMPLE)]
    limit: usize,
    /// The most messages from one project (default: an equal share)
    #[arg(long)]
    max_per_project: Option<usize>,
    /// The most characters of a message
    #[arg(long, default_value_t = USUAL_LENGTH)]
    max_chars: usize,
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
}

fn scan(context: &mut Context, arguments: &ScanArgs) -> Result<(), Failure> {
    let kept = Kept::look(context, arguments.path.as_deref())?;
    if arguments.json || context.raw() {
        return context.emit(&sessions::scan(&kept.projects));
    }
    context.text(sessions::table(&kept.projects, arguments.verbose));
    Ok(())
}

fn sample(context: &mut Context, arguments: &SampleArgs) -> Result<(), Failure> {
    let SampleArgs { limit, max_per_project, max_chars, path } = arguments;
    context.emit(&kept::sample(context, path.as_deref(), *limit, *max_per_project, *max_chars)?)
}
