//! `scaffold`: creates empty documents and folders of phases.

use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::phases::scaffold::{self, ScaffoldDocument};

verbs! {
    "New documents";

    /// Create an empty document of a phase, or its folder
    ///
    /// An existing document is left unchanged.
    ///
    /// Example: `gsd-tools scaffold context --phase 3 --raw` prints the path of the new file.
    "scaffold": writes json(scaffold::ScaffoldReport) = scaffold(ScaffoldArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScaffoldArgs {
    /// `context`, `uat`, `verification` or `phase-dir`
    kind: String,
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: String,
    /// The name of the phase; default: the name in its folder
    #[arg(long, num_args = 1..)]
    name: Vec<String>,
}

fn scaffold(context: &mut Context, arguments: &ScaffoldArgs) -> Result<(), Failure> {
    let ScaffoldArgs { kind, phase, name } = arguments;
    let name = Some(name.join(" ")).filter(|name| !name.is_empty());
    let name = name.as_deref();
    let report = if kind == "phase-dir" {
        let code = context.config()?.project_code().map(str::to_owned);
        context.write(Target::Project, |view| scaffold::phase_folder(view, phase, name, code.as_deref()))?
    } else {
        let document = ScaffoldDocument::named(kind).ok_or_else(|| {
            Failure::usage(format!("`scaffold` cannot create `{kind}`"))
                .hint("it creates context, uat, verification or phase-dir")
        })?;
        let day = context.world().today();
        context.write(Target::Project, |view| scaffold::document(view, document, phase, name, &day))?
    };
    let raw = if report.is_kept() { "exists".to_owned() } else { report.path.clone() };
    context.emit_raw(&report, raw)
}
