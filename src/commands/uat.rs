//! User acceptance tests: what a person is asked now.

use serde::Serialize;

use super::{CommandError, Context, Family};
use crate::project::uat::{CurrentTest, without_turns};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum UatFamily {
    /// Help with user acceptance tests
    #[command(subcommand)]
    Uat(UatCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum UatCommand {
    /// Give the current test as it is put to the person
    ///
    /// Example: `gsd-tools uat render-checkpoint --file .planning/phases/01-base/01-UAT.md --raw`.
    RenderCheckpoint(CheckpointArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The UAT file, relative to the project
    #[arg(long)]
    file: String,
}

impl Family for UatFamily {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Uat(UatCommand::RenderCheckpoint(arguments)) = self;
        render_checkpoint(context, &arguments.file)
    }
}

#[derive(Debug, Serialize)]
struct CheckpointReport {
    file_path: String,
    test_number: u64,
    test_name: String,
    checkpoint: String,
}

fn render_checkpoint(context: &mut Context, file: &str) -> Result<(), CommandError> {
    let Some(path) = context.layout().inside(file) else {
        return Err(CommandError::usage(format!("`{file}` is outside the project")));
    };
    let Some(text) = context.text_from_root(&path)? else {
        return Err(CommandError::usage(format!("there is no UAT file `{file}`")));
    };
    let current =
        CurrentTest::parse(&text).map_err(|error| CommandError::from(error).hint(format!("look into `{path}`")))?;
    let name = without_turns(&current.name);
    let checkpoint = format!(
        "### CHECKPOINT: Verification Required\n\n**Test {}: {name}**\n\n{}\n\n---\n\n**Type `pass` or describe what's wrong.**",
        current.number,
        without_turns(&current.expected),
    );
    let report = CheckpointReport { file_path: path, test_number: current.number, test_name: name, checkpoint };
    context.emit_raw(&report, &report.checkpoint)
}
