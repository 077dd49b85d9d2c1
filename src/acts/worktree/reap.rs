//! Worktrees that dead processes left locked: removed if nothing in them would be lost.

use schemars::JsonSchema;
use serde::Serialize;

use super::Git;
use super::cleanup::only_here;
use crate::acts::Call;
use crate::acts::git::repository::refuse_repository_of_others;
use crate::disk;
use crate::failure::Failure;
use crate::operations::agents::worktree::{KeepReason, LockedWorktree};

/// What `worktree reap-orphans` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReapReport {
    ok: bool,
    reaped: usize,
    /// With `--dry-run`: how many would be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_reap: Option<usize>,
    entries: Vec<Orphan>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Orphan {
    path: String,
    status: &'static str,
    reason: Fate,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Fate {
    Kept(KeepReason),
    Reaped(&'static str),
}

/// The locked worktrees of processes that are gone, by path, and whether each can be removed without losing anything.
pub(crate) fn orphans(call: &Call) -> Result<Vec<(String, bool)>, Failure> {
    let entries = look(call, true)?.entries.into_iter();
    let is_orphan = |entry: &Orphan| !matches!(entry.reason, Fate::Kept(reason) if !reason.is_of_work());
    Ok(entries.filter(is_orphan).map(|entry| (entry.path, matches!(entry.reason, Fate::Reaped(_)))).collect())
}

pub(crate) fn reap_orphans(call: &Call) -> Result<ReapReport, Failure> {
    look(call, call.is_rehearsal())
}

/// Removes the orphans, or with `rehearsal` only finds them.
fn look(call: &Call, rehearsal: bool) -> Result<ReapReport, Failure> {
    refuse_repository_of_others(call.here())?;
    let git = Git::here(call);
    let now = call.world().now().milliseconds() / 1000;
    let mut entries = Vec::new();
    // The first one is the main worktree, which cannot be removed.
    for worktree in git.worktrees().unwrap_or_default().iter().skip(1) {
        let (path, Some(lock_reason)) = (&worktree.path, &worktree.lock) else { continue };
        let lock_age = worktree.locked_since().map(|since| now - since / 1000);
        let orphan = LockedWorktree { lock_reason, lock_age };
        let kept = orphan.keeps(disk::process_lives).or_else(|| work_in(&git, path, worktree.head.as_deref()));
        let kept = kept.or_else(|| if rehearsal { None } else { remove(&git, path) });
        let (status, reason) = match kept {
            Some(reason) => ("skipped", Fate::Kept(reason)),
            None if rehearsal => ("would_reap", Fate::Reaped("pid_dead_and_merged")),
            None => ("reaped", Fate::Reaped("pid_dead_and_merged")),
        };
        entries.push(Orphan { path: path.to_owned(), status, reason });
    }
    let gone = entries.iter().filter(|entry| matches!(entry.reason, Fate::Reaped(_))).count();
    let (reaped, would_reap) = if rehearsal { (0, Some(gone)) } else { (gone, None) };
    Ok(ReapReport { ok: true, reaped, would_reap, entries })
}

/// What would be lost with a worktree: commits that are not in the current branch, uncommitted files.
fn work_in(git: &Git, path: &str, head: Option<&str>) -> Option<KeepReason> {
    if !head.is_some_and(|head| git.is_ancestor(head, "HEAD")) {
        return Some(KeepReason::BranchNotMerged);
    }
    if disk::is_folder(path) {
        let status = git.at(path).status();
        if !status.success() || !status.stdout.is_empty() {
            return Some(KeepReason::WorktreeDirty);
        }
        if !only_here(git, &git.at(path)).is_empty() {
            return Some(KeepReason::IgnoredFiles);
        }
    }
    None
}

/// Removes a worktree. Its branch stays.
fn remove(git: &Git, path: &str) -> Option<KeepReason> {
    let removed = git.run(&["worktree", "unlock", path]).success() && git.remove_worktree(path).success();
    (!removed).then_some(KeepReason::RemoveFailed)
}
