//! Checks whether descriptions of the source are still true: schemas, the map of the codebase, research.

use crate::acts::git::phase_work::PhaseWork;
use crate::acts::{Call, facts, hosts, named};
use crate::failure::Failure;
use crate::operations::gates::drift::{self, CodebaseReport, ContextReport, DriftPolicy, Mapped, SchemaReport};
use crate::text::front_matter::FrontMatter;

pub(crate) fn schema_report(call: &Call, typed: &str, skip: bool) -> Result<SchemaReport, Failure> {
    let skip = skip || call.world().flag("GSD_SKIP_SCHEMA_CHECK");
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    let folder = phase.folder.as_ref();
    // Without a commit, the summaries decide.
    let work = match folder.filter(|_| facts::is_commit(call, "HEAD")) {
        Some(folder) => PhaseWork::of(call, folder)?,
        None => PhaseWork::default(),
    };
    Ok(drift::schema(&view, folder, skip, &work.files())?)
}

pub(crate) fn context_report(call: &Call, typed: &str) -> Result<ContextReport, Failure> {
    let blocks = call.config()?.text("workflow.context_drift_action") == Some("block");
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    Ok(drift::context(&view, phase.folder.as_ref(), &phase.number, blocks, call.command_prefix()?))
}

pub(crate) fn codebase_report(call: &Call) -> Result<CodebaseReport, Failure> {
    let config = call.config()?;
    let threshold = config.number("workflow.drift_threshold").unwrap_or(3);
    let action = config.text("workflow.drift_action").unwrap_or("warn");
    let remap = hosts::installed_command(call, "map-codebase")?;
    let policy = DriftPolicy { threshold, action, mapper: remap.as_deref() };
    let view = call.view();
    let map = view.text(&format!("{}/STRUCTURE.md", call.layout().codebase()))?;
    let commit = map.as_deref().and_then(|map| FrontMatter::parse(map)?.text("last_mapped_commit"));
    let mapped = match (map.as_deref(), commit.as_deref().map(str::trim)) {
        (None, _) => Mapped::Missing,
        (Some(_), None) => Mapped::Undated,
        (Some(_), Some(commit)) if commit.starts_with('-') || !facts::is_commit(call, commit) => {
            Mapped::Unknown(commit)
        }
        (Some(map), Some(commit)) => Mapped::Since { map, commit, added: facts::added_since(call, commit)? },
    };
    Ok(drift::codebase(mapped, policy))
}
