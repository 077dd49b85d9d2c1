//! Worktrees whose agents commit: what their git may write to, and what it may not have done there.
//!
//! Git of the engine reads what they can write: each thing that could lead it elsewhere is taken away, or refused.

use super::checkpoint::CHECKPOINT;
use super::commit::index_as_committed;
use super::error::LandingError;
use super::id::Commit;
use super::repository::{Repository, reference_of};
use super::worktree::Worktree;
use crate::disk::{self, AbsolutePath, DiskError, EntryKind};

impl Repository {
    /// Where git writes when somebody commits in this worktree, on its branch. What lies beside the branch is none of ours.
    pub(crate) fn places_of_commits(&self, worktree: &Worktree) -> Result<Vec<AbsolutePath>, LandingError> {
        // Settings of a worktree could name programs that git of the engine would run.
        let has_own_settings = self.git.run(["config", "--type=bool", "--get", "extensions.worktreeConfig"])?;
        if has_own_settings.text() == "true" {
            return Err(LandingError::OwnSettings);
        }
        let mut places = vec![self.common().resolve("objects")];
        places.extend(self.own_places(worktree)?);
        for place in &places {
            disk::make_folder(place)?;
        }
        Ok(places)
    }

    /// Removes the links that a session left there: git puts none in these folders, and would write through them.
    pub(crate) fn remove_links(&self, worktree: &Worktree) -> Result<(), LandingError> {
        self.own_places(worktree)?.iter().try_for_each(remove_links_below)?;
        Ok(())
    }

    /// What commits in this worktree did since `start` that they may not: to what came before, or to other branches in the
    /// folder of its own.
    pub(crate) fn strayed(&self, worktree: &Worktree, start: &Commit) -> Result<Option<String>, LandingError> {
        let Some(branch) = worktree.branch.as_deref() else { return Ok(None) };
        if self.git.run(["symbolic-ref", "--quiet", &reference_of(branch)])?.success() {
            return Ok(Some(format!("`{branch}` was made another name of a branch")));
        }
        let head = worktree.head(self)?;
        if &head != start && !self.git.is_ancestor(start, &head)? {
            return Ok(Some(format!("`{branch}` has lost commits that were there before the session")));
        }
        Ok(self.beside(branch)?.first().map(|name| format!("the session made the branch `{name}`")))
    }

    /// Has the worktree be on its branch again, wherever an agent has gone.
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

    /// Moves the branch of a worktree back to a commit, and takes away the branches that a session made beside it. Each is
    /// kept as a checkpoint of the run.
    pub(super) fn rewind(&self, worktree: &Worktree, head: &Commit, run: &str) -> Result<(), LandingError> {
        let Some(branch) = worktree.branch.as_deref() else { return Ok(()) };
        for other in self.beside(branch)? {
            let reference = reference_of(&other);
            let Some(commit) = self.git.commit_of(&reference)? else { continue };
            let kept = format!("{CHECKPOINT}{run}/branch-{}", commit.short());
            // Kept by a call that was killed, or under the name of another branch.
            let _ = self.git.swap(&kept, None, Some(&commit), "gsd-tools auto: checkpoint")?;
            if self.git.swap(&reference, Some(&commit), None, "gsd-tools auto: take back")?.is_err() {
                return Err(LandingError::Moved { reference });
            }
        }
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

    /// The branches in the folder of a branch that is alone there.
    fn beside(&self, branch: &str) -> Result<Vec<String>, LandingError> {
        let Some((folder, _)) = branch.rsplit_once('/') else { return Ok(Vec::new()) };
        let all = self.git.text(["for-each-ref", "--format=%(refname)", &format!("refs/heads/{folder}/")])?;
        let names = all.lines().filter_map(|name| name.strip_prefix("refs/heads/"));
        Ok(names.filter(|name| *name != branch).map(str::to_owned).collect())
    }

    /// The folders that git keeps for this worktree alone, and for the branch that is in no other folder.
    fn own_places(&self, worktree: &Worktree) -> Result<Vec<AbsolutePath>, LandingError> {
        let mut places = vec![self.own_folder_of(&worktree.folder)?];
        if let Some((folder, _)) = worktree.branch.as_deref().and_then(|branch| branch.rsplit_once('/')) {
            let of_branches = ["refs/heads", "logs/refs/heads"];
            places.extend(of_branches.map(|of| self.common().resolve(of).resolve(folder)));
        }
        Ok(places)
    }
}

fn remove_links_below(folder: &AbsolutePath) -> Result<(), DiskError> {
    for entry in disk::list(folder)?.unwrap_or_default() {
        let path = AbsolutePath::parse(&entry.path)?;
        match entry.kind {
            EntryKind::Link => disk::remove_note(&path)?,
            EntryKind::Folder => remove_links_below(&path)?,
            EntryKind::File | EntryKind::Other => {}
        }
    }
    Ok(())
}
