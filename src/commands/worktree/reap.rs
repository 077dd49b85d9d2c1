//! Worktrees that dead processes left locked: removed where nothing in them would be lost.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Git, emit};
use crate::disk;
use crate::operations::worktree::{KeepReason, LockedWorktree};

/// What `worktree reap-orphans` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ReapReport {
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

pub(super) fn reap_orphans(context: &mut Context) -> Result<(), CommandError> {
    let rehearsal = context.is_rehearsal();
    let git = Git::here(context);
    let listed = git.answer(&["worktree", "list", "--porcelain", "-z"]).unwrap_or_default();
    let now = context.world().now().milliseconds() / 1000;
    let locks = lock_times(&git);
    let mut entries = Vec::new();
    // The first one is the main worktree, which cannot be removed.
    for worktree in listed.split("\0\0").skip(1) {
        let field = |key: &str| {
            worktree.split('\0').find_map(|line| match line.strip_prefix(key) {
                Some("") => Some(""),
                Some(rest) => rest.strip_prefix(' '),
                None => None,
            })
        };
        let (Some(path), Some(lock_reason)) = (field("worktree"), field("locked")) else { continue };
        let lock_age = locks.iter().find(|lock| lock.worktree == Path::new(path)).map(|lock| now - lock.since);
        let orphan = LockedWorktree { lock_reason, lock_age };
        let kept = orphan.keeps(disk::process_lives).or_else(|| work_in(&git, path, field("HEAD")));
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
    emit(context, true, &ReapReport { ok: true, reaped, would_reap, entries })
}

/// What would be lost with a worktree: commits that are not in the current branch, files that are not committed.
fn work_in(git: &Git, path: &str, head: Option<&str>) -> Option<KeepReason> {
    if !head.is_some_and(|head| git.run(&["merge-base", "--is-ancestor", head, "HEAD"]).success()) {
        return Some(KeepReason::BranchNotMerged);
    }
    if disk::is_folder(path) {
        let status = git.at(path).status();
        if !status.success() || !status.stdout.is_empty() {
            return Some(KeepReason::WorktreeDirty);
        }
    }
    None
}

/// Removes a worktree. Its branch stays.
fn remove(git: &Git, path: &str) -> Option<KeepReason> {
    let removed = git.run(&["worktree", "unlock", path]).success() && git.run(&["worktree", "remove", path]).success();
    (!removed).then_some(KeepReason::RemoveFailed)
}

/// Since when a worktree is locked.
struct LockTime {
    worktree: PathBuf,
    since: i64,
}

/// The locks of the repository's worktrees, from its own folder: git does not tell their age.
fn lock_times(git: &Git) -> Vec<LockTime> {
    let common = git.answer(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).unwrap_or_default();
    let folders = disk::list(Path::new(&common).join("worktrees")).ok().flatten().unwrap_or_default();
    folders
        .into_iter()
        .filter_map(|folder| {
            let since = disk::modified(folder.path.join("locked"))? / 1000;
            let place = disk::read_text(folder.path.join("gitdir")).ok()??;
            Some(LockTime { worktree: Path::new(place.trim()).parent()?.to_path_buf(), since })
        })
        .collect()
}
