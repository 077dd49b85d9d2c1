//! A hook of the repository that keeps planning files out of commits if the project wants that.

use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use super::repository::{Repository, refuse_repository_of_others};
use crate::acts::Call;
use crate::disk::{self, AbsolutePath, Access, Change, Digest, Owner};
use crate::failure::{Failure, Reason};

/// The line that identifies our hook, whichever program wrote it.
const MARK: &str = "# gsd-core:commit-docs-guard";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EnabledReport {
    enabled: bool,
    action: &'static str,
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DisabledReport {
    disabled: bool,
    action: &'static str,
    path: String,
    /// The path to which the hook's text was moved, if it had been modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// The path at which git looks for the hook.
fn hook(call: &Call) -> Result<AbsolutePath, Failure> {
    let repository = Repository::of(call);
    let folder = repository.answer(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok_or_else(|| {
        let told =
            Failure::new(Reason::CommitDocsGuardNotARepo, format!("`{}` is not in a git repository", call.root()));
        told.hint("`git init` creates one")
    })?;
    if let Some(hooks) = repository.answer(&["config", "core.hooksPath"]) {
        let message = format!("git ignores the hooks of this repository: `core.hooksPath` is `{hooks}`");
        return Err(Failure::new(Reason::CommitDocsGuardHooksPathSet, message).hint(
            "call `gsd-tools check-commit` from the pre-commit hook there, or run `git config --unset core.hooksPath`",
        ));
    }
    Ok(AbsolutePath::parse(folder)?.resolve("hooks/pre-commit"))
}

/// Writes the hook.
pub(crate) fn enable(call: &Call) -> Result<EnabledReport, Failure> {
    let hook = &hook(call)?;
    refuse_repository_of_others(call.root())?;
    let script = script(call)?;
    let action = files::change(call, &[&folder(hook)], |changes| {
        let found = disk::read_bytes(hook)?;
        let action = match &found {
            Some(bytes) if !is_marked(bytes) => return Err(foreign(hook)),
            Some(bytes) if *bytes == script.as_bytes() => "already_enabled",
            Some(_) => "updated",
            None => "written",
        };
        let before = found.map(|bytes| Digest::of(&bytes));
        let (access, owner) = (Access::Executable, Owner::User);
        changes.push(Change::WriteFile { path: hook.clone(), bytes: script.into(), access, owner, before });
        Ok(action)
    })?;
    let enabled = action == "already_enabled" || !call.is_rehearsal();
    Ok(EnabledReport { enabled, action, path: hook.to_string() })
}

/// Removes the hook; a modified one is kept next to it.
pub(crate) fn disable(call: &Call) -> Result<DisabledReport, Failure> {
    let hook = &hook(call)?;
    let script = script(call)?;
    let mut kept = None;
    let action = files::change(call, &[&folder(hook)], |changes| {
        let Some(bytes) = disk::read_bytes(hook)? else { return Ok("noop") };
        if !is_marked(&bytes) {
            return Err(foreign(hook));
        }
        changes.remove(hook.clone(), Digest::of(&bytes));
        if bytes != script.as_bytes() {
            let aside = (1..100)
                .map(|number| hook.beside(&format!("pre-commit.gsd-{number}")))
                .find(|path| !disk::exists(path));
            if let Some(aside) = aside {
                changes.write(aside.clone(), bytes, None);
                kept = Some(aside.to_string());
            }
        }
        Ok("removed")
    })?;
    let disabled = action == "noop" || !call.is_rehearsal();
    Ok(DisabledReport { disabled, action, path: hook.to_string(), kept })
}

/// The folder of the hook.
fn folder(hook: &AbsolutePath) -> AbsolutePath {
    hook.parent().unwrap_or_else(|| hook.clone())
}

fn is_marked(hook: &[u8]) -> bool {
    String::from_utf8_lossy(hook).lines().any(|line| line.trim() == MARK)
}

fn foreign(hook: &AbsolutePath) -> Failure {
    let message = format!("`{hook}` was not written by gsd-tools; it was not changed");
    Failure::new(Reason::CommitDocsGuardForeignHook, message)
        .hint("call `gsd-tools check-commit` from it, or rename it first")
}

fn script(call: &Call) -> Result<String, Failure> {
    let program = call.world().executable()?.to_string_lossy().replace('\'', "'\\''");
    Ok(format!(
        "#!/bin/sh\n{MARK}\n\
         # Refuses commits of planning files where the project keeps them out.\n\
         # `gsd-tools commit-docs-guard disable` removes this file.\n\
         for program in '{program}' gsd-tools; do\n\
         \x20 if command -v \"$program\" >/dev/null 2>&1; then exec \"$program\" check-commit >/dev/null; fi\n\
         done\n\
         echo \"commit-docs-guard: gsd-tools not found; install it or remove $0\" >&2\n\
         exit 1\n"
    ))
}
