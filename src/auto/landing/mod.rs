//! Worktrees, candidates, and how a tested tree reaches its branch.
//!
//! Work is done in a worktree that only the engine uses, on a branch that only the engine moves. What lands is a
//! [`candidate::Candidate`]: the merge of that branch with the current target, made without touching any worktree. The
//! gate runs on exactly that commit, and exactly that commit lands, or nothing does. Nothing is removed before
//! [`proof::Proof`] that the work landed, and what was never committed is kept under `refs/gsd/keep/` first.
//!
//! Agents that commit do so in a separate repository, see [`quarantine`]; the engine checks and imports new commits.
//! Worktrees must really be below the root of the repository: links on the way to one are not followed.
//!
//! Each effect is identified by the trees or commits before and after it, so a call that is repeated after a crash sees
//! that the effect is done and does nothing.
//!
//! Git is the user's own program with the user's settings, with these exceptions. Hooks of the repository never run:
//! `pre-commit` and the like judge commits of a person, and the gate judges these. File system monitors do not run, and
//! garbage collection does not start. Filters, such as those of large files, run where git runs them, since the bytes
//! in the tree would be wrong without them; but they run in a fence, see [`filters`]. Git gets the repository of each
//! engine worktree explicitly, and never looks into a repository that an agent made inside a worktree. Commits that a
//! person will see in the history are signed if `commit.gpgsign` is set.
//!
//! # The steps of a landing
//!
//! `Repository::open` refuses what would make landing impossible. A unit works in a locked worktree (`enter`); its
//! files are named by a tree (`snapshot`), made with an index of the engine, so nothing in the index of the worktree
//! hides a change. The candidate is made by `git merge-tree`, the gate runs on it in a worktree of one commit
//! (`scratch`), and `land` moves the target to exactly that commit: by compare-and-swap, or, if the target is checked
//! out, by `merge --ff-only` there, unless the person has changed the same files (`overlap`). A call that was killed
//! is finished by repeating it.
//!
//! `release` takes `Proved`, which only `proof` makes: the head is an ancestor of the target, or a commit of the
//! target is what merging it into that commit's parent gives. Before the worktree is removed, its head, its
//! uncommitted files and its ignored files are kept under `refs/gsd/keep/`; a run that starts more than 30 days later
//! removes these references (`keep`), and no others.
//!
//! `.git` of a worktree is a file that an agent can write, so git is given the folder explicitly, and `mend` writes
//! the file again. Git runs a git of its own inside each repository that it knows to be below a worktree, with the
//! settings found there; so a snapshot refuses those that an agent made before git sees them (`nested`). Calls that
//! change worktrees or land take the lock of the repository: git fails when one process lists worktrees while another
//! removes one.

mod agents;
pub(crate) mod candidate;
pub(crate) mod checkout;
pub(crate) mod checkpoint;
mod claim;
pub(crate) mod commit;
pub(crate) mod error;
mod filters;
mod git;
pub(crate) mod id;
pub(crate) mod ignored;
mod keep;
pub(crate) mod land;
mod nested;
pub(crate) mod notes;
mod overlap;
pub(crate) mod proof;
mod quarantine;
pub(crate) mod release;
pub(crate) mod remote;
pub(crate) mod repository;
mod setup;
pub(crate) mod shared;
pub(crate) mod signing;
mod snapshot;
#[cfg(all(test, unix))]
mod tests;
pub(crate) mod worktree;

#[cfg(all(test, unix))]
use self::{
    candidate::{Candidate, Merged},
    checkpoint::Checkpoint,
    commit::{CommitMessage, Committed},
    error::LandingError,
    id::{Changed, Commit, GitPath, PathChange, Tree},
    land::{Landing, LandingRefusal},
    proof::{Containment, Proof, Proved},
    release::{LeftOut, Release},
    repository::Repository,
    worktree::{Entered, Worktree},
};
