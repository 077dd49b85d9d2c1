//! Checks for worktrees of agents: whether new ones would start from the right commit, and whether a leftover one may
//! be removed.

use schemars::JsonSchema;
use serde::Serialize;

/// The name of the commit that new worktrees start from.
pub(crate) const FORK: &str = "origin/HEAD";

/// What git and the host's settings say about the start of new worktrees.
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseFacts {
    pub(crate) head: Option<String>,
    pub(crate) fork: Option<String>,
    /// The host's settings make worktrees start from the current commit.
    pub(crate) asks_for_head: bool,
    /// We create the worktrees ourselves, so the settings are honoured.
    pub(crate) orchestrated: bool,
}

/// What `worktree base-check` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BaseReport {
    /// The work should be done in the main worktree.
    should_degrade: bool,
    reason: &'static str,
    message: Option<String>,
    head_sha: Option<String>,
    fork_ref: Option<&'static str>,
    fork_sha: Option<String>,
    head_absence_verified: Option<bool>,
}

/// Checks whether worktrees created now would start from the current commit.
pub(crate) fn base_check(facts: BaseFacts) -> BaseReport {
    let told = |should_degrade, reason, message: Option<String>| BaseReport {
        should_degrade,
        reason,
        message,
        ..BaseReport::default()
    };
    if facts.asks_for_head && facts.orchestrated {
        return told(false, "baseref-head", None);
    }
    let Some(head) = facts.head else {
        return BaseReport { head_absence_verified: Some(true), ..told(false, "no-head", None) };
    };
    let Some(fork) = facts.fork else {
        let message = format!(
            "{FORK} does not resolve, so the commit that worktrees would start from is unknown. Work continues in the \
             main worktree, one plan after the other. Fix: `git remote set-head origin --auto`."
        );
        return BaseReport { head_sha: Some(head), ..told(true, "fork-ref-unknown", Some(message)) };
    };
    let short = |commit: &str| commit.get(..8).unwrap_or(commit).to_owned();
    let apart = format!("HEAD is {}, {FORK} is {}", short(&head), short(&fork));
    let report = if head == fork {
        told(false, "head-matches-fork", None)
    } else if facts.asks_for_head {
        let message = format!(
            "{apart}, and the host always starts its worktrees there. Work continues in the main worktree. Push to \
             make them agree."
        );
        told(true, "baseref-head-ignored-by-harness", Some(message))
    } else {
        let message = format!(
            "{apart}, where worktrees would start. Work continues in the main worktree. Push to make them \
                     agree."
        );
        told(true, "head-diverged-from-fork", Some(message))
    };
    BaseReport { head_sha: Some(head), fork_ref: Some(FORK), fork_sha: Some(fork), ..report }
}

/// A locked worktree, as reported by git and the disk.
#[derive(Clone, Debug)]
pub(crate) struct LockedWorktree<'text> {
    /// The text of the lock. If we took it, it has the id of the process.
    pub(crate) lock_reason: &'text str,
    pub(crate) lock_age: Option<i64>,
}

/// Locks younger than this many seconds are kept: their owner may just be starting.
pub(crate) const FRESH: i64 = 300;

/// Why a leftover worktree is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeepReason {
    LockTooFresh,
    LockOwnerUnknown,
    PidAlive,
    BranchNotMerged,
    WorktreeDirty,
    IgnoredFiles,
    RemoveFailed,
}

impl KeepReason {
    /// Whether it is kept for the work in it, and not because its process may be there.
    pub(crate) fn is_of_work(self) -> bool {
        matches!(self, Self::BranchNotMerged | Self::WorktreeDirty | Self::IgnoredFiles)
    }
}

impl LockedWorktree<'_> {
    /// The id of the process that took the lock: the whole text, or the number in `(pid 8)`.
    pub(crate) fn process(&self) -> Option<u32> {
        let text = self.lock_reason.trim();
        let after = text.split_once("(pid ").map(|(_, rest)| rest);
        let digits =
            after.map_or(text, |rest| rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or(rest));
        digits.parse().ok().filter(|process| *process > 0)
    }

    /// Why the lock keeps the worktree, if it does. `lives` reports whether a process is running.
    pub(crate) fn keeps(&self, lives: impl Fn(u32) -> bool) -> Option<KeepReason> {
        if self.lock_age.is_none_or(|age| age < FRESH) {
            return Some(KeepReason::LockTooFresh);
        }
        match self.lock_reason.trim().parse::<u32>() {
            Err(_) | Ok(0) => Some(KeepReason::LockOwnerUnknown),
            Ok(process) if lives(process) => Some(KeepReason::PidAlive),
            Ok(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(head: Option<&str>, fork: Option<&str>, asks_for_head: bool, orchestrated: bool) -> (&'static str, bool) {
        let (head, fork) = (head.map(str::to_owned), fork.map(str::to_owned));
        let report = base_check(BaseFacts { head, fork, asks_for_head, orchestrated });
        assert_eq!(report.should_degrade, report.message.is_some());
        (report.reason, report.should_degrade)
    }

    #[test]
    fn worktrees_are_used_only_if_they_start_from_the_current_commit() {
        let (one, other) = (Some("11111111aa"), Some("22222222aa"));
        assert_eq!(reason(one, one, false, false), ("head-matches-fork", false));
        assert_eq!(reason(one, other, false, true), ("head-diverged-from-fork", true));
        assert_eq!(reason(one, other, true, false), ("baseref-head-ignored-by-harness", true));
        assert_eq!(reason(one, other, true, true), ("baseref-head", false));
        assert_eq!(reason(one, None, false, false), ("fork-ref-unknown", true));
        assert_eq!(reason(None, None, false, false), ("no-head", false));
    }

    #[test]
    fn only_an_old_lock_of_an_ended_process_is_released() {
        let keeps = |lock_reason, lock_age| LockedWorktree { lock_reason, lock_age }.keeps(|process| process == 7);
        assert_eq!(keeps("8", Some(10)), Some(KeepReason::LockTooFresh));
        assert_eq!(keeps("8", None), Some(KeepReason::LockTooFresh));
        assert_eq!(keeps("somebody (pid 8)", Some(900)), Some(KeepReason::LockOwnerUnknown));
        let process = |lock_reason| LockedWorktree { lock_reason, lock_age: None }.process();
        assert_eq!(process("an agent a1 (pid 81 start Mon Nov 23)"), Some(81));
        assert_eq!((process("8\n"), process("mine"), process(""), process("x (pid )")), (Some(8), None, None, None));
        assert_eq!(keeps("7", Some(900)), Some(KeepReason::PidAlive));
        assert_eq!(keeps("8\n", Some(900)), None);
    }
}
