//! Checks whether descriptions of the source are still true: schemas, the map of the codebase, research.

use crate::acts::checks::drift;
use crate::failure::Failure;
use crate::frame::Context;
use crate::frame::named::{NonBlank, PhaseFolderArg};

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct SchemaArgs {
    /// The phase, such as `3`, or its folder
    phase: NonBlank,
    /// Report drift, but do not block
    #[arg(long)]
    skip: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct NoPhaseArgs {
    /// A phase; the source belongs to all of them
    #[arg(hide = true)]
    phase: Option<String>,
}

pub(in crate::commands) fn schema(context: &mut Context, arguments: &SchemaArgs) -> Result<(), Failure> {
    context.emit(&drift::schema_report(context, &arguments.phase, arguments.skip)?)
}

pub(in crate::commands) fn schema_of_phase(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&drift::schema_report(context, &arguments.phase, false)?)
}

pub(in crate::commands) fn codebase(context: &mut Context, _: &NoPhaseArgs) -> Result<(), Failure> {
    context.emit(&drift::codebase_report(context)?)
}

pub(in crate::commands) fn context(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&drift::context_report(context, &arguments.phase)?)
}
