//! Projects of another layout.

use crate::acts::configured;
use crate::acts::facts;
use crate::acts::files;
use crate::acts::user;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::documents::configuration::NewFile;
use crate::operations::import::gsd2;
use crate::project::layout::Layout;

verbs! {
    "Other layouts";

    /// Create `.planning/` from a project in the `.gsd/` layout
    ///
    /// Converts milestones, slices, requirements and decisions. The `.gsd/` folder is not changed.
    ///
    /// Example: `gsd-tools from-gsd2 --dry-run --pick preview`.
    "from-gsd2": writes json( gsd2::ImportReport, gsd2::ImportRehearsal, gsd2::ImportRefusal) = from_gsd2(ImportArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The folder that contains `.gsd` (default: the project root)
    #[arg(long)]
    path: Option<String>,
    /// Overwrite an existing `.planning`; its documents are archived first
    #[arg(long)]
    force: bool,
}

fn from_gsd2(context: &mut Context, arguments: &ImportArgs) -> Result<(), Failure> {
    let root = match &arguments.path {
        Some(path) => {
            let root = context.here().resolve(path);
            files::hold_to_project(context, &root)?;
            root
        }
        None => context.root().clone(),
    };
    context.start_a_project();
    let layout = Layout::new(root.as_path(), None, None);
    let personal = user::defaults(context.world())?;
    let services = configured::services(context);
    let new = NewFile { services: &services, personal: personal.as_deref(), choices: None };
    let facts = facts::state_facts(context)?;
    let outcome = context.write(Target::Of(layout), |view| gsd2::import(view, arguments.force, new, &facts))?;
    match outcome {
        Ok(report) if context.is_rehearsal() => context.emit(&report.rehearsed()),
        Ok(report) => context.emit(&report),
        Err(refusal) => context.emit(&refusal),
    }
}
