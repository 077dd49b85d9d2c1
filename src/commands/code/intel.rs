//! What is known of the code: files that agents write, looked up, compared and stamped.

use serde::Serialize;

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::operations::code::intel;
use crate::operations::code::intel::exports;
use crate::operations::code::intel::surface;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum IntelFamily {
    /// Look up and keep what is known of the code
    #[command(subcommand)]
    Intel(IntelCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum IntelCommand {
    /// Find what is known of a word
    ///
    /// Example: `gsd-tools intel query login --pick total`.
    Query(TermArgs),
    /// Tell how old the files are
    ///
    /// Example: `gsd-tools intel status --pick overall_stale`.
    Status,
    /// Tell who brings the files up to date
    ///
    /// Example: `gsd-tools intel update --pick action`.
    Update,
    /// Tell which files changed since the last snapshot
    ///
    /// Example: `gsd-tools intel diff --pick changed`.
    Diff,
    /// Keep the digests of the files for a later comparison
    ///
    /// Example: `gsd-tools intel snapshot --pick files`.
    Snapshot,
    /// Stamp a file with the present moment
    ///
    /// Example: `gsd-tools intel patch-meta .planning/intel/stack.json`.
    PatchMeta(FileArgs),
    /// Hold the files against the disk and the clock
    ///
    /// Example: `gsd-tools intel validate --pick errors`.
    Validate,
    /// Name what a source file exports
    ///
    /// Example: `gsd-tools intel extract-exports src/index.ts --pick exports`.
    ExtractExports(FileArgs),
    /// Print the map of interfaces for people
    ///
    /// Example: `gsd-tools intel api-surface --pick written`.
    ApiSurface,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TermArgs {
    /// The word to look for
    term: Option<String>,
    /// Further words; the first is looked for
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The file, by its path from the project's root
    file: Option<String>,
}

impl Family for IntelFamily {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Intel(command) = self;
        match command {
            IntelCommand::Query(arguments) => {
                let term = arguments.term.as_deref().filter(|term| !term.is_empty());
                let term = term.ok_or_else(|| CommandError::usage("Usage: gsd-tools intel query <term>"))?;
                where_enabled(context, |context| Ok(intel::query(&context.view(), term)))
            }
            IntelCommand::Status => where_enabled(context, |context| Ok(intel::status(&context.view(), now(context)))),
            IntelCommand::Update => where_enabled(context, |_| Ok(intel::update())),
            IntelCommand::Diff => where_enabled(context, |context| Ok(intel::diff(&context.view())?)),
            IntelCommand::Snapshot => where_enabled(context, |context| {
                let timestamp = context.world().now().to_string();
                context.update(|view| Ok(intel::snapshot(view, &timestamp)?))
            }),
            IntelCommand::PatchMeta(arguments) => patch_meta(context, &arguments),
            IntelCommand::Validate => {
                where_enabled(context, |context| Ok(intel::validate(&context.view(), now(context))))
            }
            IntelCommand::ExtractExports(arguments) => extract_exports(context, &arguments),
            IntelCommand::ApiSurface => where_enabled(context, |context| {
                let now = now(context);
                context.update(|view| Ok(surface::write(view, now)?))
            }),
        }
    }
}

/// Answers what `answer` gives, where the project asked for what this family keeps.
fn where_enabled<R: Serialize>(
    context: &mut Context,
    answer: impl FnOnce(&Context) -> Result<R, CommandError>,
) -> Result<(), CommandError> {
    if !context.config()?.flag("intel.enabled") {
        return context.emit(&intel::disabled());
    }
    let report = answer(context)?;
    context.emit(&report)
}

fn now(context: &Context) -> i64 {
    context.world().now().milliseconds()
}

fn patch_meta(context: &mut Context, arguments: &FileArgs) -> Result<(), CommandError> {
    let file = required(arguments, "patch-meta")?;
    let file = context.root().resolve(file).to_string();
    let timestamp = context.world().now().to_string();
    let report = context.update_file(&file, |view, path| Ok(intel::patch_meta(view, path, &timestamp)?))?;
    context.emit(&report)
}

fn extract_exports(context: &mut Context, arguments: &FileArgs) -> Result<(), CommandError> {
    let file = required(arguments, "extract-exports")?;
    let text = context.text_from_root(file)?;
    let shown = context.root().resolve(file).to_string();
    context.emit(&exports::report(shown, text.as_deref()))
}

fn required<'arguments>(arguments: &'arguments FileArgs, verb: &str) -> Result<&'arguments str, CommandError> {
    let file = arguments.file.as_deref().filter(|file| !file.is_empty());
    file.ok_or_else(|| CommandError::usage(format!("Usage: gsd-tools intel {verb} <file-path>")))
}
