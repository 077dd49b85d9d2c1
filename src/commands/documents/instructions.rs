//! The instruction file that a host reads first.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::operations::agents::instructions::{self, Request};
use crate::project::config::Config;

/// Where the configuration may name the file.
const CONFIGURED: &str = "claude_md_path";

verbs! {
    "Instructions";

    /// Bring the project's instruction file up to date with its documents
    ///
    /// Example: `gsd-tools generate-claude-md --auto` leaves parts alone that were changed by hand.
    "generate-claude-md": writes json(instructions::InstructionsReport) = update(GenerateArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct GenerateArgs {
    /// The file, by its path from the project's root; the host's own without it
    #[arg(long)]
    output: Option<String>,
    /// Leave parts alone that were changed by hand
    #[arg(long)]
    auto: bool,
    /// Add the parts to a file that is yours alone
    #[arg(long)]
    force: bool,
}

fn update(context: &mut Context, arguments: &GenerateArgs) -> Result<(), CommandError> {
    let file = match &arguments.output {
        Some(file) => file.clone(),
        None => usual_file(context)?,
    };
    let file = context.root().resolve(file).to_string();
    let prefix = context.command_prefix()?.to_owned();
    let request = Request { prefix: &prefix, careful: arguments.auto, force: arguments.force };
    context.emit(&context.update_file(&file, |view, path| Ok(instructions::generate(view, path, request)?))?)
}

/// The configured file; else the one that the host of the call reads first. The default of the configuration, which
/// every new file says, is the place of a file of that name and no choice of another host's.
pub(in crate::commands) fn usual_file(context: &Context) -> Result<String, CommandError> {
    let config = context.config()?;
    let usual = Config::default();
    let is_chosen = config.written(CONFIGURED).is_some_and(|written| written.as_str() != usual.text(CONFIGURED));
    let configured = config.text(CONFIGURED).unwrap_or_default().to_owned();
    let of_host = context.host()?.descriptor.as_ref().map(|descriptor| descriptor.instruction_file.clone());
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    Ok(match of_host {
        Some(file) if !is_chosen && name(&file) != name(&configured) => file,
        _ => configured,
    })
}
