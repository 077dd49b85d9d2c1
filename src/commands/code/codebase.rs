//! Documents about the code: what there is, and what the map of the code was made from.

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::commands::init;
use crate::operations::code::map;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CodeDocuments {
    /// Tell what documentation there is and what kind of project it is about
    ///
    /// Example: `gsd-tools docs-init --pick project_type.has_tests`.
    DocsInit,
    /// Note in the documents of the code map which commit they are of
    ///
    /// Example: `gsd-tools stamp-codebase-map --files STACK.md,STRUCTURE.md`.
    StampCodebaseMap(StampArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct StampArgs {
    /// The documents, parted by commas; all without it
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    files: Option<String>,
}

impl Family for CodeDocuments {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::DocsInit => init::docs_init(context),
            Self::StampCodebaseMap(arguments) => {
                let commit = head(context);
                let day = context.world().now().utc_day();
                let report = context
                    .update(|view| Ok(map::stamp(view, arguments.files.as_deref(), commit.as_deref(), &day)?))?;
                context.emit(&report)
            }
        }
    }
}

/// The commit that is checked out; none outside of a repository, or before its first commit.
fn head(context: &Context) -> Option<String> {
    let finished = context.world().git(context.root().as_path(), ["rev-parse", "--verify", "--quiet", "HEAD"]).ok()?;
    Some(finished.text().trim().to_owned()).filter(|commit| finished.success() && !commit.is_empty())
}
