//! The effort of installed agents: writes the configured level into their files.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::features::shown::HostChoice;
use crate::acts::{Call, hosts};
use crate::disk::{self, AbsolutePath, ChangeSet, Digest, DiskError};
use crate::failure::Failure;
use crate::operations::agents::models::{self, ExecutionRequest};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::splice::Splices;

const KEY: &str = "effort";

/// The answer of `effort sync`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SyncReport {
    synced: usize,
    skipped: usize,
    changes: Vec<EffortChange>,
    dry_run: bool,
    agents_dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EffortChange {
    agent: String,
    from: Option<String>,
    to: String,
}

/// Which agents have another effort than the configuration, and with `apply` the effort in their files.
pub(crate) fn sync(call: &Call, choice: HostChoice<'_>, apply: bool) -> Result<SyncReport, Failure> {
    let named = choice.runtime.map(|name| hosts::host_named(call, name)).transpose()?;
    let host = call.host()?;
    let (runtime, descriptor) = match &named {
        Some(descriptor) => (descriptor.id.to_string(), Some(descriptor)),
        None => (host.id.clone(), host.descriptor.as_ref()),
    };
    let folder = match (choice.config_dir, descriptor) {
        (Some(chosen), Some(descriptor)) => hosts::agents_folder_in(call, descriptor, chosen),
        _ => hosts::agents(call, descriptor).folder,
    };
    let mut report = SyncReport {
        synced: 0,
        skipped: 0,
        changes: Vec::new(),
        dry_run: !apply,
        agents_dir: folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
        reason: None,
    };
    let Some(folder) = folder.filter(|folder| disk::is_folder(folder)) else {
        report.reason = Some("agents directory not found");
        return Ok(report);
    };
    let mut look = |changes: &mut ChangeSet| -> Result<(), Failure> {
        for entry in disk::list(&folder)?.unwrap_or_default() {
            let name = entry.name.strip_suffix(".md").filter(|name| name.starts_with("gsd-"));
            let (Some(name), true) = (name, entry.is_file()) else { continue };
            match edited(call, &runtime, name, &entry.path)? {
                None => report.skipped += 1,
                Some((change, before, text)) => {
                    changes.write(AbsolutePath::parse(&entry.path).map_err(DiskError::from)?, text, Some(before));
                    report.synced += 1;
                    report.changes.push(change);
                }
            }
        }
        if apply && !changes.is_empty() {
            call.project().boundary()?.check_all(changes)?;
        }
        Ok(())
    };
    if apply {
        // Locked from the first read on, so that the files cannot change between reading and writing.
        call.disk().transact([&folder], |_, changes| look(changes))?;
    } else {
        look(&mut ChangeSet::default())?;
    }
    Ok(report)
}

/// The file of an agent with the configured effort; `None` if it already has that, or has no front matter.
fn edited(
    call: &Call,
    runtime: &str,
    name: &str,
    path: &Path,
) -> Result<Option<(EffortChange, Digest, String)>, Failure> {
    let Some(text) = disk::read_text(path)? else { return Ok(None) };
    let Some(front) = FrontMatter::parse(&text).filter(|front| front.problem().is_none()) else { return Ok(None) };
    let config = call.config()?;
    let execution = models::execution(config, runtime, name, &ExecutionRequest::default());
    // A host that gets the effort in another way does not read the key.
    if execution.unknown_agent == Some(true) || execution.effort_propagation.as_deref() != Some("frontmatter") {
        return Ok(None);
    }
    let (from, to) = (front.text(KEY), execution.effort_rendered);
    if from.as_deref() == Some(to.as_str()) {
        return Ok(None);
    }
    let mut splices = Splices::default();
    front.set(KEY, &Value::Text(to.clone()), &mut splices);
    let after = splices.apply(&text);
    let change = EffortChange { agent: name.to_owned(), from, to };
    Ok(Some((change, Digest::of(text.as_bytes()), after)))
}
