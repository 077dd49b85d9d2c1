//! What earlier runs left in the repository, for the audit at start-up.

use std::collections::BTreeMap;

use super::checkpoint::CHECKPOINT;
use super::error::LandingError;
use super::id::Commit;
use super::proof::Proof;
use super::repository::{Repository, reference_of};
use super::worktree::is_ours;
use crate::disk::{self, AbsolutePath};

/// A worktree, branch or set of references of the engine. Which of them a live run needs, the caller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    Worktree {
        folder: AbsolutePath,
        /// `None` for the worktree of a candidate.
        branch: Option<String>,
        head: Option<Commit>,
        /// Whether the folder is gone.
        is_missing: bool,
        proof: Proof,
    },
    /// A branch that is checked out in none of our worktrees.
    Branch { name: String, head: Commit, proof: Proof },
    /// The checkpoints of a run.
    Checkpoints { run: String, count: usize },
}

impl Repository {
    /// The worktrees with our lock, the branches whose names begin with `prefix`, such as `milestone/`, and the checkpoints,
    /// each with what is proved about it. Nothing is changed.
    pub(crate) fn leftovers(&self, prefix: &str) -> Result<Vec<Leftover>, LandingError> {
        let mut found = Vec::new();
        let mut mounted = Vec::new();
        for worktree in self.worktrees()?.into_iter().filter(is_ours) {
            let Ok(folder) = AbsolutePath::parse(&worktree.path) else { continue };
            let head = worktree.head.as_deref().and_then(Commit::parse);
            let proof = head.as_ref().map_or(Ok(Proof::Unproved), |head| self.landed_by(head))?;
            mounted.extend(worktree.branch.clone());
            let is_missing = !disk::is_folder(&folder);
            found.push(Leftover::Worktree { folder, branch: worktree.branch, head, is_missing, proof });
        }
        let branches = reference_of(prefix);
        let mut runs: BTreeMap<String, usize> = BTreeMap::new();
        for (reference, head) in self.references(&[&branches, CHECKPOINT])? {
            if let Some(rest) = reference.strip_prefix(CHECKPOINT) {
                let run = rest.rsplit_once('/').map_or(rest, |(run, _)| run);
                *runs.entry(run.to_owned()).or_default() += 1;
            } else if let Some(name) = reference.strip_prefix("refs/heads/").map(str::to_owned)
                && !mounted.contains(&name)
            {
                let proof = self.landed_by(&head)?;
                found.push(Leftover::Branch { name, head, proof });
            }
        }
        found.extend(runs.into_iter().map(|(run, count)| Leftover::Checkpoints { run, count }));
        Ok(found)
    }
}
