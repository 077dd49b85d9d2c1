//! Documents about the code: a list of them, and the commit that the codebase map was made from.

use crate::acts::facts;
use crate::acts::writing::Target;
use crate::commands::init;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::code::map;
use crate::project::repository;

verbs! {
    "Code documentation";

    /// Print the documents of the code and the type of project
    ///
    /// Lists existing documentation, and whether the project has an API, tests, packages and so on. Used by the
    /// workflow that writes documentation.
    ///
    /// Example: `gsd-tools docs-init --pick project_type.has_tests`.
    "docs-init": reads bundle("docs-init") = init::docs_init();

    /// Record the current commit in the codebase map
    ///
    /// Writes `last_mapped_commit` and `last_mapped_at` into the documents in `.planning/codebase/`, for the drift
    /// check.
    ///
    /// Example: `gsd-tools stamp-codebase-map --files STACK.md,STRUCTURE.md`.
    "stamp-codebase-map": writes json(map::StampReport) = stamp_codebase_map(StampArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct StampArgs {
    /// The documents, separated by commas (default: all)
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    files: Option<String>,
}

fn stamp_codebase_map(context: &mut Context, arguments: &StampArgs) -> Result<(), Failure> {
    let commit = facts::commit(context);
    let is_repository = repository::repository_of(context.root()).is_some();
    let day = context.world().now().utc_day();
    let chosen = arguments.files.as_deref();
    context.emit(
        &context
            .write(Target::Project, |view| Ok(map::stamp(view, chosen, commit.as_deref(), is_repository, &day)?))?,
    )
}
