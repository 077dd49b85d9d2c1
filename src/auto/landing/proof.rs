//! Proof that work is part of the target, before anything of it is removed.

use serde::Serialize;

use super::error::LandingError;
use super::id::{Commit, Tree};
use super::repository::Repository;

/// How many commits of the target are looked at for one that has the work.
const MOST: usize = 64;

/// How the target has the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Way {
    /// The commit is in the history of the target.
    Ancestor,
    /// A commit of the target is what merging the work into its parent gives. That two trees are equal now would be no
    /// proof: they differ once the target goes on, and they can be equal after the work was reverted.
    SameMerge,
}

/// That `head` landed. Only [`Repository::proof`] and [`Repository::landed_by`] make it, so that nothing is removed without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Proved {
    head: Commit,
    landed: Commit,
    way: Way,
}

impl Proved {
    pub(crate) fn head(&self) -> &Commit {
        &self.head
    }

    /// The commit of the target that has the work.
    pub(crate) fn landed(&self) -> &Commit {
        &self.landed
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }
}

/// What is known about work and the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Proved(Proved),
    Unproved,
}

impl Repository {
    /// Whether `landed`, a commit of the target, has the work of `head`.
    pub(crate) fn proof(&self, head: &Commit, landed: &Commit) -> Result<Proof, LandingError> {
        // The target may have been set back.
        if !self.git.is_ancestor(landed, &self.tip()?)? {
            return Ok(Proof::Unproved);
        }
        let proved = |way| Proof::Proved(Proved { head: head.clone(), landed: landed.clone(), way });
        if self.git.is_ancestor(head, landed)? {
            return Ok(proved(Way::Ancestor));
        }
        let line = ["rev-parse", "--verify", "--quiet", &format!("{landed}^1")];
        let parent = self.git.run(line)?.text();
        let Some(parent) = Commit::parse(&parent) else { return Ok(Proof::Unproved) };
        let is_same = self.merge_tree(&parent, head)? == Ok(self.tree_of(landed)?);
        Ok(if is_same { proved(Way::SameMerge) } else { Proof::Unproved })
    }

    /// As [`Self::proof`], where nobody knows with which commit the work landed: the newest commits of the target since it
    /// was begun are tried.
    pub(crate) fn landed_by(&self, head: &Commit) -> Result<Proof, LandingError> {
        let tip = self.tip()?;
        let proved = |landed: Commit, way| Proof::Proved(Proved { head: head.clone(), landed, way });
        if self.git.is_ancestor(head, &tip)? {
            return Ok(proved(tip, Way::Ancestor));
        }
        let (most, span) = (format!("--max-count={MOST}"), format!("{head}..{tip}"));
        let line = ["log", "--first-parent", &most, "--format=%H %T %P", "--end-of-options", &span];
        for line in self.git.text(line)?.lines() {
            let mut words = line.split(' ');
            let landed = words.next().and_then(Commit::parse);
            let tree = words.next().and_then(Tree::parse);
            let parent = words.next().and_then(Commit::parse);
            if let (Some(landed), Some(tree), Some(parent)) = (landed, tree, parent)
                && self.merge_tree(&parent, head)? == Ok(tree)
            {
                return Ok(proved(landed, Way::SameMerge));
            }
        }
        Ok(Proof::Unproved)
    }
}
