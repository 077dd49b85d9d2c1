//! The clean checkout on which the checks of units run: it has the files of the tree to be committed, and no other
//! files of the unit's worktree.

use super::Real;
use super::checks::Commands;
use super::ready::Readied;
use crate::auto::engine::EngineError;
use crate::auto::landing::id::{Commit, Tree};
use crate::auto::landing::worktree::Worktree;
use crate::auto::memory::LoggedCandidate;
use crate::disk::AbsolutePath;
use crate::failure::{Failure, Reason};
use crate::gate::check::{Check, Source};
use crate::gate::discovery::Discovery;
use crate::gate::evidence::{CheckRun, Evidence};
use crate::world::tree::Mark;

/// The result of an action in a checkout, or the set-up that failed there.
pub(super) type Done<R> = Result<R, Box<CheckRun>>;

impl Real<'_> {
    /// Runs an action in the kept checkout, which has the files of `tree` and is set up. If the action is interrupted,
    /// the next call makes a new checkout.
    pub(super) fn on_checkout<R>(
        &self,
        tree: &Tree,
        mark: Option<&Mark>,
        act: impl FnOnce(&AbsolutePath) -> Result<R, EngineError>,
    ) -> Result<Done<R>, EngineError> {
        let now = self.world.now().milliseconds();
        let checkout = self.repository.checkout(&self.places.checkout, tree, now)?;
        let done = self.when_ready(&checkout, tree, mark, act)?;
        self.repository.leave_checkout(&checkout)?;
        Ok(done)
    }

    /// Runs checks on `tree`. Also returns the tracked files that they changed and do not change on `base`: a check
    /// that writes what it checks proves nothing about the commit. A set-up that fails there is a check that failed,
    /// unless it fails on `base` too.
    pub(super) fn checks_on(
        &self,
        (tree, base): (&Tree, &Tree),
        commands: Commands<'_>,
        mark: Option<&Mark>,
    ) -> Result<(Evidence, Vec<String>), EngineError> {
        let failed = match self.on_checkout(tree, mark, |folder| self.ran_and_wrote(folder, commands, tree, mark))? {
            Ok((found, mut written)) => {
                if !written.is_empty() && tree != base {
                    let usual =
                        self.on_checkout(base, mark, |folder| self.ran_and_wrote(folder, commands, base, mark))?;
                    let usual = usual.map(|(_, usual)| usual).unwrap_or_default();
                    written.retain(|path| !usual.contains(path));
                }
                return Ok((found, written));
            }
            Err(failed) => failed,
        };
        if tree == base || self.on_checkout(base, mark, |_| Ok(()))?.is_err() {
            return Err(self.set_up_failed(&failed));
        }
        Ok((Evidence { tree: tree.to_string(), source: commands.source, checks: vec![*failed] }, Vec::new()))
    }

    /// Runs checks in `folder`, which has the files of `tree`, and returns the files of the tree that they changed.
    pub(super) fn ran_and_wrote(
        &self,
        folder: &AbsolutePath,
        commands: Commands<'_>,
        tree: &Tree,
        mark: Option<&Mark>,
    ) -> Result<(Evidence, Vec<String>), EngineError> {
        let found = self.ran(folder, commands, tree.as_str(), mark)?;
        Ok((found, self.repository.changed_in(folder)?))
    }

    /// Runs the checks on an earlier tree. If even the set-up fails there, no results exist.
    pub(super) fn checks_before(
        &self,
        tree: &Tree,
        commands: Commands<'_>,
        mark: Option<&Mark>,
    ) -> Result<Evidence, EngineError> {
        let run = |folder: &AbsolutePath| self.ran(folder, commands, tree.as_str(), mark);
        let found = self.on_checkout(tree, mark, run)?;
        Ok(found.unwrap_or_else(|failed| Evidence {
            tree: tree.to_string(),
            source: commands.source,
            checks: vec![*failed],
        }))
    }

    /// Runs an action on a fresh checkout of a commit, set up like the others, and removes it afterwards.
    pub(super) fn on_fresh<R>(
        &self,
        (commit, tree): (&Commit, &Tree),
        purpose: &str,
        mark: Option<&Mark>,
        act: impl FnOnce(&AbsolutePath) -> Result<R, EngineError>,
    ) -> Result<Done<R>, EngineError> {
        // The remains of a process that died would not be fresh.
        self.repository.remove_checkout(&self.places.scratch)?;
        let scratch = self.repository.scratch(&self.places.scratch, commit, purpose)?;
        let done = self.when_ready(&scratch, tree, mark, act)?;
        self.repository.remove_checkout(&scratch.folder)?;
        Ok(done)
    }

    fn when_ready<R>(
        &self,
        checkout: &Worktree,
        tree: &Tree,
        mark: Option<&Mark>,
        act: impl FnOnce(&AbsolutePath) -> Result<R, EngineError>,
    ) -> Result<Done<R>, EngineError> {
        match self.readied(checkout, tree, mark)? {
            Readied::Failed(run) => Ok(Err(run)),
            Readied::Run if !self.repository.tidy_checkout(checkout)? => {
                let message = format!("what the set-up left in `{}` cannot be removed", checkout.folder);
                let hint = "have git ignore what the set-up makes, then run `gsd-tools auto run`";
                Err(Failure::new(Reason::Unknown, message).hint(hint).into())
            }
            Readied::As | Readied::Run => act(&checkout.folder).map(Ok),
        }
    }

    /// Returns the evidence for a candidate whose set-up fails. If it fails on the target too, the milestone is not to
    /// blame.
    pub(super) fn without_set_up(
        &self,
        candidate: &LoggedCandidate,
        failed: Box<CheckRun>,
        mark: Option<&Mark>,
    ) -> Result<(Discovery, Evidence), EngineError> {
        let base = Self::commit_named(&candidate.base)?;
        let tree = self.repository.tree_of(&base)?;
        if self.on_fresh((&base, &tree), "set-up of the target", mark, |_| Ok(()))?.is_err() {
            return Err(self.set_up_failed(&failed));
        }
        let wanted = Discovery {
            source: Source::Preference,
            checks: vec![Check::of_shell(&failed.command)],
            refused: Vec::new(),
        };
        let found = Evidence { tree: candidate.tree.clone(), source: Source::Preference, checks: vec![*failed] };
        Ok((wanted, found))
    }

    /// Removes the kept checkout at the end of a run.
    pub(super) fn remove_checkout(&self) -> Result<(), EngineError> {
        Ok(self.repository.remove_checkout(&self.places.checkout)?)
    }
}
