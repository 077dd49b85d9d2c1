//! The commit that worktrees start from, and the setting of a host that decides it.

use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use super::git::Git;
use crate::acts::Call;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::operations::agents::worktree::{BaseFacts, BaseReport, FORK, base_check};
use crate::runtime::{Descriptor, Scope, StartCommit};
use crate::text::edit::JsonDialect;
use crate::text::json::{JsonDocument, JsonEdit};

pub(crate) fn check_base(call: &Call, orchestrated: bool) -> Result<BaseReport, Failure> {
    let git = Git::here(call);
    let commit = |name: &str| git.answer(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    let facts = BaseFacts { head: git.commit(), fork: commit(FORK), asks_for_head: asks_for_head(call)?, orchestrated };
    Ok(base_check(facts))
}

/// The value of a host's setting that makes worktrees start from the current commit.
const HEAD: &str = "head";

/// True if the settings of a host in this folder make worktrees start from the current commit; its private file takes
/// precedence.
fn asks_for_head(call: &Call) -> Result<bool, Failure> {
    let Some(start) = start_commit(call)? else { return Ok(false) };
    for file in [&start.file, &start.shared] {
        let Some(text) = disk::read_text(file)? else { continue };
        match JsonDocument::parse(&text, JsonDialect::Comments) {
            Ok(document) => {
                if let Some(value) = document.value(&start.path) {
                    return Ok(value.as_str() == Some(HEAD));
                }
            }
            Err(error) => call.warn(format!("ignored `{file}`: it is not valid JSON: {error}")),
        }
    }
    Ok(false)
}

/// The setting of a host that decides which commit its worktrees start from.
struct StartSetting {
    file: AbsolutePath,
    shared: AbsolutePath,
    path: Vec<String>,
}

/// The setting of this call's host, or of the one host that has such a setting.
fn start_commit(call: &Call) -> Result<Option<StartSetting>, Failure> {
    let of_call = call.host()?.descriptor.clone().filter(|descriptor| start_of(descriptor).is_some());
    let descriptor = match of_call {
        Some(descriptor) => Some(descriptor),
        None => call.registry()?.all()?.into_iter().find(|each| start_of(each).is_some()),
    };
    let Some(descriptor) = descriptor else { return Ok(None) };
    let Some(StartCommit { file, path }) = start_of(&descriptor).cloned() else { return Ok(None) };
    let Some(settings) = descriptor.files.get(&file) else { return Ok(None) };
    let Some(local) = descriptor.home.local.folder() else { return Ok(None) };
    let folder = call.here().resolve(local);
    let at = |scope| folder.resolve(settings.path(scope, |name| disk::is_file(folder.resolve(name))));
    Ok(Some(StartSetting { file: at(Scope::Local), shared: at(Scope::Global), path }))
}

fn start_of(descriptor: &Descriptor) -> Option<&StartCommit> {
    descriptor.dispatch.as_ref()?.start_commit.as_ref()
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BaseRefReport {
    changed: bool,
    skipped: Option<&'static str>,
    previous: Option<serde_json::Value>,
    base_ref: &'static str,
    file: String,
}

pub(crate) fn set_base(call: &Call) -> Result<BaseRefReport, Failure> {
    let Some(start) = start_commit(call)? else {
        return Err(Failure::usage("no host has a setting for the commit that worktrees start from")
            .hint("`gsd-tools runtimes` lists what each host supports"));
    };
    let malformed = |error: String| {
        Failure::usage(format!("cannot edit `{}`: {error}", start.file))
            .hint("correct the file, then run the command again; it was not changed")
    };
    let (skipped, previous) = files::edit(call, &start.file, |text| {
        let mut document = JsonDocument::parse(text.unwrap_or_default(), JsonDialect::Comments)
            .map_err(|error| malformed(error.to_string()))?;
        let previous = document.value(&start.path);
        let skipped = match &previous {
            None => None,
            Some(value) if value.as_str() == Some(HEAD) => Some("already-head"),
            Some(_) => Some("explicit-other"),
        };
        if skipped.is_some() {
            return Ok(((skipped, previous), None));
        }
        let edit = JsonEdit::SetIfAbsent { path: start.path.clone(), value: HEAD.into() };
        document.apply(&edit).map_err(|error| malformed(error.to_string()))?;
        Ok(((skipped, previous), Some(document.to_string())))
    })?;
    let changed = skipped.is_none() && !call.is_rehearsal();
    Ok(BaseRefReport { changed, skipped, previous, base_ref: HEAD, file: start.file.to_string() })
}
