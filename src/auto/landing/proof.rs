//! Proof that work is part of the target, before anything of it is removed.

use super::error::LandingError;
use super::id::Commit;
use super::repository::Repository;

/// How the target contains the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Containment {
    /// The commit is in the history of the target.
    Ancestor,
    /// A commit of the target equals the merge of the work into its parent. Equal trees alone would not be enough: they
    /// differ once the target moves on, and they can be equal after the work was reverted.
    SameMerge,
}

/// Proof that `head` landed. Only [`Repository::proof`] makes it, so that nothing is removed without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proved {
    head: Commit,
    landed: Commit,
    way: Containment,
}

impl Proved {
    pub(crate) fn head(&self) -> &Commit {
        &self.head
    }

    /// The commit of the target that contains the work.
    #[cfg(test)]
    pub(crate) fn landed(&self) -> &Commit {
        &self.landed
    }

    #[cfg(test)]
    pub(crate) fn way(&self) -> Containment {
        self.way
    }
}

/// The result of comparing work with the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Proved(Proved),
    Unproved,
}

impl Repository {
    /// Checks whether `landed`, a commit of the target, contains the work of `head`.
    pub(crate) fn proof(&self, head: &Commit, landed: &Commit) -> Result<Proof, LandingError> {
        // The target may have been reset.
        if !self.git.is_ancestor(landed, &self.tip()?)? {
            return Ok(Proof::Unproved);
        }
        let proved = |way| Proof::Proved(Proved { head: head.clone(), landed: landed.clone(), way });
        if self.git.is_ancestor(head, landed)? {
            return Ok(proved(Containment::Ancestor));
        }
        Ok(if self.is_merge_of(head, landed)? { proved(Containment::SameMerge) } else { Proof::Unproved })
    }

    /// True if a commit is what merging `head` into its parent gives.
    pub(super) fn is_merge_of(&self, head: &Commit, commit: &Commit) -> Result<bool, LandingError> {
        let line = ["rev-parse", "--verify", "--quiet", &format!("{commit}^1")];
        let Some(parent) = Commit::parse(&self.git.run(line)?.text()) else { return Ok(false) };
        Ok(self.merge_tree(&parent, head)? == Ok(self.tree_of(commit)?))
    }
}
