//! Candidates: the target with the work merged into it, made without touching a worktree.

use super::commit::{Audience, CommitMessage};
use super::error::LandingError;
use super::id::{Commit, GitPath, Tree, records};
use super::repository::Repository;

/// A commit that would land: the gate runs on it, and it lands unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The target before the landing.
    pub(crate) base: Commit,
    /// The work.
    pub(crate) head: Commit,
    pub(crate) tree: Tree,
    pub(crate) commit: Commit,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    Ready(Candidate),
    /// Both sides changed the same lines of these files.
    Conflict {
        paths: Vec<GitPath>,
    },
    /// The base already has all of the work.
    Nothing,
}

impl Repository {
    /// Merges `head` into `base`, which is the current target or the previous candidate, as one commit.
    pub(crate) fn candidate(
        &self,
        base: &Commit,
        head: &Commit,
        message: &CommitMessage,
    ) -> Result<Merged, LandingError> {
        if self.git.is_ancestor(head, base)? {
            return Ok(Merged::Nothing);
        }
        let tree = match self.merge_tree(base, head)? {
            Ok(tree) => tree,
            Err(paths) => return Ok(Merged::Conflict { paths }),
        };
        if tree == self.tree_of(base)? {
            return Ok(Merged::Nothing);
        }
        let commit = self.commit_tree(&tree, &[base], message, Audience::History)?;
        Ok(Merged::Ready(Candidate { base: base.clone(), head: head.clone(), tree, commit }))
    }

    /// Returns the tree of a merge, or the paths in conflict.
    pub(super) fn merge_tree(&self, base: &Commit, head: &Commit) -> Result<Result<Tree, Vec<GitPath>>, LandingError> {
        let line = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base.as_str(), head.as_str()];
        let finished = self.git.run(line)?;
        let mut answer = records(&finished.stdout);
        match finished.code {
            Some(0) => {
                let tree = answer.next().map(String::from_utf8_lossy).and_then(|name| Tree::parse(&name));
                tree.map(Ok).ok_or(LandingError::Answer { command: "git merge-tree" })
            }
            Some(1) => Ok(Err(answer.skip(1).map(GitPath::of).collect())),
            _ => Err(LandingError::Git { command: "git merge-tree".to_owned(), why: finished.error_text() }),
        }
    }
}
