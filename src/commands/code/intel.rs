//! The code index: files that agents write; searched, compared and stamped.

use crate::acts::files;
use crate::acts::writing::Target;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::code::intel;
use crate::operations::code::intel::exports;
use crate::operations::code::intel::surface;

verbs! {
    "Code index";
    groups { "intel": "Search, check and compare the code index"; }

    /// Search the code index for a word
    ///
    /// Reads the files in `.planning/intel/`, which agents write. Case does not matter. Requires `intel.enabled`.
    ///
    /// Example: `gsd-tools intel query login --pick total`.
    "intel query": reads json(crate::operations::answers::disabled::DisabledReport, intel::QueryReport)
        = query(TermArgs);

    /// Show how old each file of the code index is
    ///
    /// A file is stale after 24 hours.
    ///
    /// Example: `gsd-tools intel status --pick overall_stale`.
    "intel status": reads json(crate::operations::answers::disabled::DisabledReport, intel::IntelStatusReport) = status();

    /// Explain how to update the code index
    ///
    /// The update itself is the work of an agent.
    ///
    /// Example: `gsd-tools intel update --pick action`.
    "intel update": reads json(crate::operations::answers::disabled::DisabledReport, intel::IntelUpdateReport) = update();

    /// Show which files of the code index changed since the last snapshot
    ///
    /// Example: `gsd-tools intel diff --pick changed`.
    "intel diff": reads json(crate::operations::answers::disabled::DisabledReport, intel::DiffReport) = diff();

    /// Record the current state of the code index for a later `intel diff`
    ///
    /// Example: `gsd-tools intel snapshot --pick files`.
    "intel snapshot": writes json(crate::operations::answers::disabled::DisabledReport, intel::SnapshotReport)
        = snapshot();

    /// Update the timestamp and version of a file of the code index
    ///
    /// Example: `gsd-tools intel patch-meta .planning/intel/stack.json`.
    "intel patch-meta": writes json(intel::PatchReport) = patch_meta(FileArgs);

    /// Check that the code index is valid and up to date
    ///
    /// Checks the format of each file, that the source files it names exist, and its age.
    ///
    /// Example: `gsd-tools intel validate --pick errors`.
    "intel validate": reads json(crate::operations::answers::disabled::DisabledReport, intel::IntelValidateReport)
        = validate();

    /// List the exports of a JavaScript or TypeScript file
    ///
    /// Example: `gsd-tools intel extract-exports src/index.ts --pick exports`.
    "intel extract-exports": reads json(exports::ExportsReport) = extract_exports(FileArgs);

    /// Write API-SURFACE.md, a readable list of the project's interfaces
    ///
    /// Reads `.planning/intel/api-map.json`.
    ///
    /// Example: `gsd-tools intel api-surface --pick written`.
    "intel api-surface": writes json(crate::operations::answers::disabled::DisabledReport, surface::SurfaceReport)
        = api_surface();
}

#[derive(Debug, clap::Args)]
pub(crate) struct TermArgs {
    /// The word to search for
    term: NonBlank,
    /// More words; only the first one is used
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The file, relative to the project root
    file: NonBlank,
}

fn query(context: &mut Context, arguments: &TermArgs) -> Result<(), Failure> {
    where_enabled(context, |context| Ok(intel::query(&context.view(), &arguments.term)))
}

fn status(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| Ok(intel::status(&context.view(), now(context), context.raw())))
}

fn update(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |_| Ok(intel::update()))
}

fn diff(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| Ok(intel::diff(&context.view())?))
}

fn snapshot(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let timestamp = context.world().now().to_string();
        context.write(Target::Project, |view| Ok(intel::snapshot(view, &timestamp)?))
    })
}

fn validate(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| Ok(intel::validate(&context.view(), now(context))))
}

fn api_surface(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let now = now(context);
        context.write(Target::Project, |view| Ok(surface::write(view, now)?))
    })
}

/// Emits the result of `answer` if the project has the index enabled.
fn where_enabled<R: Serialize>(
    context: &mut Context,
    answer: impl FnOnce(&Context) -> Result<R, Failure>,
) -> Result<(), Failure> {
    if !context.config()?.flag("intel.enabled") {
        return context.emit(&intel::disabled());
    }
    context.emit(&answer(context)?)
}

fn now(context: &Context) -> i64 {
    context.world().now().milliseconds()
}

fn patch_meta(context: &mut Context, arguments: &FileArgs) -> Result<(), Failure> {
    let file = context.root().resolve(&*arguments.file).to_string();
    let timestamp = context.world().now().to_string();
    let (target, path) = files::target(context, &file)?;
    context.emit(&context.write(target, |view| Ok(intel::patch_meta(view, &path, &timestamp)?))?)
}

fn extract_exports(context: &mut Context, arguments: &FileArgs) -> Result<(), Failure> {
    let file: &str = &arguments.file;
    let text = files::text_from_root(context, file)?;
    let shown = context.root().resolve(file).to_string();
    context.emit(&exports::report(shown, text.as_deref()))
}
