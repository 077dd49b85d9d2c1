//! Worktrees in which agents commit: what agents must not do there, and how to go back.
//!
//! They commit to a separate repository, see [`super::quarantine`]; only the engine moves the branch of the run.

use super::commit::index_as_committed;
use super::error::LandingError;
use super::id::Commit;
use super::repository::{Repository, reference_of};
use super::worktree::Worktree;

impl Repository {
    /// Returns which forbidden change was made in this worktree since `start`: to earlier commits, or to other branches
    /// in the folder of its branch.
    pub(crate) fn strayed(&self, worktree: &Worktree, start: &Commit) -> Result<Option<String>, LandingError> {
        let Some(branch) = worktree.branch.as_deref() else { return Ok(None) };
        if let Some(noted) = self.noted_as_strayed(worktree)? {
            return Ok(Some(noted));
        }
        let head = worktree.head(self)?;
        if &head != start && !self.git.is_ancestor(start, &head)? {
            return Ok(Some(format!("`{branch}` has lost commits that were there before the session")));
        }
        Ok(None)
    }

    /// Puts the worktree on its branch again, wherever an agent has moved HEAD.
    pub(super) fn attach(&self, worktree: &Worktree) -> Result<(), LandingError> {
        let Some(branch) = &worktree.branch else { return Ok(()) };
        self.mend(&worktree.folder)?;
        let reference = reference_of(branch);
        if self.git.run(["symbolic-ref", "--quiet", &reference])?.success() {
            self.git.ask(["symbolic-ref", "--delete", &reference])?;
        }
        let git = worktree.git(self)?;
        let found = git.run(["symbolic-ref", "--quiet", "HEAD"])?;
        if found.text() != reference {
            git.ask(["symbolic-ref", "-m", "gsd-tools auto: take back", "HEAD", &reference])?;
        }
        Ok(())
    }

    /// Moves the branch of a worktree back to a commit. Its previous commit is kept as a checkpoint of the run.
    pub(super) fn rewind(&self, worktree: &Worktree, head: &Commit) -> Result<(), LandingError> {
        let Some(branch) = worktree.branch.as_deref() else { return Ok(()) };
        let reference = reference_of(branch);
        let now = self.git.commit_of(&reference)?;
        if now.as_ref() == Some(head) {
            return Ok(());
        }
        if self.git.swap(&reference, now.as_ref(), Some(head), "gsd-tools auto: take back")?.is_err() {
            return Err(LandingError::Moved { reference });
        }
        index_as_committed(&worktree.git(self)?)
    }
}
