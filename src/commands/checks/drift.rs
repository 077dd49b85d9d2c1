//! Checks whether descriptions of the source are still true: schemas, the map of the codebase, research.

use crate::acts::facts;
use crate::acts::git::phase_work::PhaseWork;
use crate::acts::hosts;
use crate::acts::named;
use crate::failure::Failure;
use crate::frame::Context;
use crate::frame::named::{NonBlank, PhaseFolderArg};
use crate::operations::gates::drift::{self, CodebaseReport, ContextReport, DriftPolicy, Mapped, SchemaReport};
use crate::text::front_matter::FrontMatter;

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
    context.emit(&schema_report(context, &arguments.phase, arguments.skip)?)
}

pub(in crate::commands) fn schema_of_phase(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&schema_report(context, &arguments.phase, false)?)
}

pub(in crate::commands) fn codebase(context: &mut Context, _: &NoPhaseArgs) -> Result<(), Failure> {
    context.emit(&codebase_report(context)?)
}

pub(in crate::commands) fn context(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&context_report(context, &arguments.phase)?)
}

pub(in crate::commands) fn schema_report(context: &Context, typed: &str, skip: bool) -> Result<SchemaReport, Failure> {
    let skip = skip || context.world().flag("GSD_SKIP_SCHEMA_CHECK");
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    let folder = phase.folder.as_ref();
    // Without a commit, the summaries decide.
    let work = match folder.filter(|_| facts::is_commit(context, "HEAD")) {
        Some(folder) => PhaseWork::of(context, folder)?,
        None => PhaseWork::default(),
    };
    Ok(drift::schema(&view, folder, skip, &work.files())?)
}

pub(in crate::commands) fn context_report(context: &Context, typed: &str) -> Result<ContextReport, Failure> {
    let blocks = context.config()?.text("workflow.context_drift_action") == Some("block");
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    Ok(drift::context(&view, phase.folder.as_ref(), &phase.number, blocks, context.command_prefix()?))
}

pub(in crate::commands) fn codebase_report(context: &Context) -> Result<CodebaseReport, Failure> {
    let config = context.config()?;
    let threshold = config.number("workflow.drift_threshold").unwrap_or(3);
    let action = config.text("workflow.drift_action").unwrap_or("warn");
    let remap = hosts::installed_command(context, "map-codebase")?;
    let policy = DriftPolicy { threshold, action, mapper: remap.as_deref() };
    let view = context.view();
    let map = view.text(&format!("{}/STRUCTURE.md", context.layout().codebase()))?;
    let commit = map.as_deref().and_then(|map| FrontMatter::parse(map)?.text("last_mapped_commit"));
    let mapped = match (map.as_deref(), commit.as_deref().map(str::trim)) {
        (None, _) => Mapped::Missing,
        (Some(_), None) => Mapped::Undated,
        (Some(_), Some(commit)) if commit.starts_with('-') || !facts::is_commit(context, commit) => {
            Mapped::Unknown(commit)
        }
        (Some(map), Some(commit)) => Mapped::Since { map, commit, added: facts::added_since(context, commit)? },
    };
    Ok(drift::codebase(mapped, policy))
}
