//! Checkpoints of a worktree, and going back to one.

use super::commit::{Audience, CommitMessage};
use super::error::LandingError;
use super::git::Git;
use super::id::{Commit, GitPath, PathChange, Tree};
use super::keep::{KeepKind, KeptCommit};
use super::repository::Repository;
use super::snapshot::WorktreeSnapshot;
use super::worktree::Worktree;
use crate::disk;
use crate::project::branch_name::is_branch_name;

/// The prefix of checkpoint references.
pub(super) const CHECKPOINT: &str = "refs/gsd/checkpoint/";

/// A state to which a worktree can be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) reference: String,
    pub(crate) commit: Commit,
    pub(crate) tree: Tree,
}

/// The outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restored {
    /// The states of the worktree before: empty if it had the tree already.
    pub(crate) before: Vec<Checkpoint>,
}

impl Repository {
    /// Keeps the state of a worktree as a checkpoint of a run. The same state again gives the same checkpoint.
    pub(super) fn store(
        &self,
        snapshot: &WorktreeSnapshot,
        run: &str,
        name: &str,
        at: i64,
    ) -> Result<Checkpoint, LandingError> {
        if !is_branch_name(run) {
            return Err(LandingError::BadBranch { name: run.to_owned() });
        }
        let reference = format!("{CHECKPOINT}{run}/{name}");
        let tree = snapshot.tree.clone();
        let message = CommitMessage::new(format!("gsd checkpoint {run}/{name}"), at);
        let commit = self.commit_tree(&tree, &[&snapshot.head], &message, Audience::Engine)?;
        match self.git.swap(&reference, None, Some(&commit), "gsd-tools auto: checkpoint")? {
            Ok(()) => Ok(Checkpoint { reference, commit, tree }),
            // The same files, stored at another moment.
            Err(Some(there)) if self.tree_of(&there)? == tree => Ok(Checkpoint { reference, commit: there, tree }),
            Err(_) => Err(LandingError::Moved { reference }),
        }
    }

    /// Makes the files of a worktree exactly `tree`, after keeping the previous state as a checkpoint of the run. New
    /// files are removed; files that are ignored by the rules of `tree` stay. HEAD and the index stay.
    pub(crate) fn restore(
        &self,
        worktree: &Worktree,
        tree: &Tree,
        run: &str,
        at: i64,
    ) -> Result<Restored, LandingError> {
        let mut before = Vec::new();
        let mut now = self.snapshot(worktree)?;
        if &now.tree == tree {
            return Ok(Restored { before });
        }
        let keep = |state: &WorktreeSnapshot| self.store(state, run, &format!("before-{}", state.tree.short()), at);
        before.push(keep(&now)?);
        let git = worktree.aside(self)?;
        // The rules of the tree decide what is ignored, so they are restored first.
        let rules = self.differences(now.tree.as_str(), tree.as_str())?.into_iter().map(|change| change.path);
        let rules: Vec<GitPath> = rules.filter(|path| path.name() == b".gitignore").collect();
        if !rules.is_empty() {
            let source = format!("--source={tree}");
            on_paths(&git, &["restore", &source, "--staged", "--worktree"], &rules)?;
            now = self.snapshot(worktree)?;
            before.push(keep(&now)?);
        }
        // The tree tracks files here that it also ignores: the files on disk are kept too.
        let new = self.differences(now.tree.as_str(), tree.as_str())?.into_iter();
        let new = new.filter(|change| change.status == PathChange::Added).map(|change| change.path);
        let is_there = |path: &GitPath| {
            let place = path.below(worktree.folder.as_path());
            disk::is_file(&place) || disk::is_link(&place)
        };
        let hidden: Vec<GitPath> = new.filter(is_there).collect();
        if !hidden.is_empty() {
            on_paths(&git, &["add", "--force"], &hidden)?;
            let answer = git.text(["write-tree"])?;
            now.tree = Tree::parse(&answer).ok_or(LandingError::Answer { command: "git write-tree" })?;
            before.push(keep(&now)?);
        }
        let failed = |why: String| LandingError::Unrestored { folder: worktree.folder.clone(), why };
        let moved = git.run(["read-tree", "-m", "-u", now.tree.as_str(), tree.as_str()])?;
        if !moved.success() {
            return Err(failed(moved.error_text()));
        }
        let after = self.snapshot(worktree)?.tree;
        if &after == tree { Ok(Restored { before }) } else { Err(failed(format!("its files are {after} now"))) }
    }

    /// Takes back the changes of a session: the worktree gets `tree` again, and if agents commit, its branch gets
    /// `head`. The previous state is kept under the name of the operation; a repeated call finds it there.
    pub(crate) fn take_back(
        &self,
        worktree: &Worktree,
        (tree, head): (&Tree, Option<&Commit>),
        (run, operation): (&str, u64),
        at: i64,
    ) -> Result<Option<Checkpoint>, LandingError> {
        let name = format!("attempt-{operation}");
        let reference = format!("{CHECKPOINT}{run}/{name}");
        self.attach(worktree)?;
        let kept = if let Some(commit) = self.git.commit_of(&reference)? {
            Checkpoint { reference, tree: self.tree_of(&commit)?, commit }
        } else {
            let now = self.snapshot(worktree)?;
            if &now.tree == tree && head.is_none_or(|head| head == &now.head) {
                return Ok(None);
            }
            self.store(&now, run, &name, at)?
        };
        if let Some(head) = head {
            self.rewind(worktree, head)?;
        }
        self.restore(worktree, tree, run, at)?;
        Ok(Some(kept))
    }

    /// Restores these files of a worktree to their state in `before`, after keeping the previous state as a checkpoint
    /// of the run. All others stay as in `after`, which is the tree of the worktree, apart from files that a killed
    /// call has already restored.
    pub(crate) fn put_back(
        &self,
        worktree: &Worktree,
        (before, after): (&Tree, &Tree),
        paths: &[String],
        (run, at): (&str, i64),
    ) -> Result<(Tree, Checkpoint), LandingError> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let wanted = self.tree_with(worktree, after, (before, &paths), &[])?;
        let head = worktree.head(self)?;
        let kept = WorktreeSnapshot { tree: after.clone(), head, changes: Vec::new() };
        let kept = self.store(&kept, run, &format!("before-{}", after.short()), at)?;
        self.restore(worktree, &wanted, run, at)?;
        Ok((wanted, kept))
    }

    /// Keeps the checkpoints of a run for 30 more days as one commit, and removes their references. `None` if there are
    /// none.
    pub(crate) fn retire_checkpoints(&self, run: &str, at: i64) -> Result<Option<KeptCommit>, LandingError> {
        let found = self.references(&[&format!("{CHECKPOINT}{run}/")])?;
        let Some((_, newest)) = found.last() else { return Ok(None) };
        let tree = self.tree_of(newest)?;
        let parents: Vec<&Commit> = found.iter().map(|(_, commit)| commit).collect();
        let message = CommitMessage::new(format!("gsd checkpoints of {run}"), at);
        let commit = self.commit_tree(&tree, &parents, &message, Audience::Engine)?;
        let kept = self.keep(&commit, run, KeepKind::Checkpoints, at)?;
        let deletions: Vec<u8> =
            found.iter().flat_map(|(name, commit)| format!("delete {name}\0{commit}\0").into_bytes()).collect();
        self.git.tell(["update-ref", "-z", "--stdin"], deletions)?;
        Ok(Some(kept))
    }
}

/// Runs git on exactly these paths.
pub(super) fn on_paths(git: &Git, line: &[&str], paths: &[GitPath]) -> Result<(), LandingError> {
    let input = paths.iter().flat_map(|path| path.as_bytes().iter().copied().chain([0])).collect();
    let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    git.with("GIT_LITERAL_PATHSPECS", "1").tell(line.iter().chain(&from_input), input).map(drop)
}
