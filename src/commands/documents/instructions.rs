//! The instruction file that a host reads first.

use crate::acts::agents::instructions::usual_file;
use crate::acts::files;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::agents::instructions::{self, InstructionsRequest};

verbs! {
    "Instruction file";

    /// Update the project's instruction file, such as CLAUDE.md or AGENTS.md
    ///
    /// Fills the sections between the GSD markers from the documents in `.planning/`; the rest of the file is yours and
    /// does not change. Without `--output`, writes the file of `claude_md_path`, or the file that the host reads where
    /// that is a file of other hosts.
    ///
    /// Example: `gsd-tools generate-claude-md --auto` skips sections that were edited by hand.
    "generate-claude-md": writes json(instructions::InstructionsReport) = update(GenerateArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct GenerateArgs {
    /// The file to write, relative to the project root (default: the host's instruction file)
    #[arg(long)]
    output: Option<String>,
    /// Skip sections that were edited by hand
    #[arg(long)]
    auto: bool,
    /// Add the sections to a file that has no GSD markers
    #[arg(long = "add-sections", alias = "force")]
    force: bool,
}

fn update(context: &mut Context, arguments: &GenerateArgs) -> Result<(), Failure> {
    let file = match &arguments.output {
        Some(file) => file.clone(),
        None => usual_file(context)?,
    };
    let file = context.root().resolve(file).to_string();
    let prefix = context.command_prefix()?.to_owned();
    let request = InstructionsRequest { prefix: &prefix, careful: arguments.auto, force: arguments.force };
    let (target, path) = files::target(context, &file)?;
    context.emit(&context.write(target, |view| instructions::generate(view, &path, request))?)
}
