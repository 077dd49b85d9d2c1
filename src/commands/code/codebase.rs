//! Documents about the code: what there is, and what the map of the code was made from.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::commands::init;
use crate::operations::code::map;

verbs! {
    "Documents of the code";

    /// Tell what documentation there is and what kind of project it is about
    ///
    /// Example: `gsd-tools docs-init --pick project_type.has_tests`.
    "docs-init": reads bundle(crate::operations::bundle::docs::DocsInitReport) = init::docs_init();

    /// Note in the documents of the code map which commit they are of
    ///
    /// Example: `gsd-tools stamp-codebase-map --files STACK.md,STRUCTURE.md`.
    "stamp-codebase-map": writes json(map::StampReport) = stamp_codebase_map(StampArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct StampArgs {
    /// The documents, parted by commas; all without it
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    files: Option<String>,
}

fn stamp_codebase_map(context: &mut Context, arguments: &StampArgs) -> Result<(), CommandError> {
    let commit = context.commit();
    let day = context.world().now().utc_day();
    context.emit(&context.update(|view| Ok(map::stamp(view, arguments.files.as_deref(), commit.as_deref(), &day)?))?)
}
