//! A checkout: a worktree that is kept and moved from tree to tree. Only files that git ignores stay in it.

use std::time::Duration;

use super::error::LandingError;
use super::git::Git;
use super::id::{Commit, Tree};
use super::repository::Repository;
use super::worktree::{Worktree, is_ours};
use crate::disk::{self, AbsolutePath};

/// Files in the folder that git keeps for the worktree. `BUSY` exists from before a move until all work in the worktree
/// has ended, so that the remains of a dead process are discarded; `MOVED` has the time of the last move.
const BUSY: &str = "gsd-busy";
const MOVED: &str = "gsd-moved";

/// Settings that make git look at each file, whatever shortcuts the user has set.
const LOOKS: &[&str] =
    &["core.fsmonitor=false", "core.untrackedCache=false", "core.trustctime=true", "core.checkStat=default"];

const SECOND: u64 = 1000;

impl Repository {
    /// Puts exactly the files of `tree` into the worktree at `folder`, plus earlier files that git ignores by the rules
    /// of `tree`. Makes a missing worktree, and replaces one in which a process died or that git cannot move. It is
    /// busy until [`Self::leave_checkout`].
    pub(crate) fn checkout(&self, folder: &AbsolutePath, tree: &Tree, at: i64) -> Result<Worktree, LandingError> {
        self.check_place(folder)?;
        let wanted = Worktree { folder: folder.clone(), branch: None };
        let commit = self.commit_of_tree(tree, at)?;
        self.alone(|| {
            if !self.is_moved(&wanted, &commit)? {
                self.throw_away_alone(&wanted)?;
                self.add(&wanted.folder, "checks", &["--detach", &wanted.folder.to_string(), commit.as_str()])?;
                self.set_mark(&wanted, BUSY)?;
            }
            self.set_mark(&wanted, MOVED)?;
            Ok(wanted.clone())
        })
    }

    /// Marks the work in the checkout as ended: it can be moved to another tree.
    pub(crate) fn leave_checkout(&self, checkout: &Worktree) -> Result<(), LandingError> {
        Ok(disk::remove_note(&self.own_folder_of(&checkout.folder)?.resolve(BUSY))?)
    }

    /// Removes the worktree of one commit at `folder`, if any, with everything in it.
    pub(crate) fn remove_checkout(&self, folder: &AbsolutePath) -> Result<(), LandingError> {
        let wanted = Worktree { folder: folder.clone(), branch: None };
        self.alone(|| self.throw_away_alone(&wanted))
    }

    /// Reads a note about a worktree, from a file that is removed with the worktree.
    pub(crate) fn note_of_worktree(&self, worktree: &Worktree, name: &str) -> Result<Option<String>, LandingError> {
        Ok(disk::read_text(self.own_folder_of(&worktree.folder)?.resolve(name))?)
    }

    /// Writes or removes a note about a worktree.
    pub(crate) fn set_note_of_worktree(
        &self,
        worktree: &Worktree,
        name: &str,
        text: Option<&str>,
    ) -> Result<(), LandingError> {
        let file = self.own_folder_of(&worktree.folder)?.resolve(name);
        match text {
            Some(text) => disk::write_fleeting(&file, text.as_bytes())?,
            None => disk::remove_note(&file)?,
        }
        Ok(())
    }

    /// Returns the tracked files that the checkout has changed or lost.
    pub(crate) fn changed_in(&self, folder: &AbsolutePath) -> Result<Vec<String>, LandingError> {
        let git = Worktree { folder: folder.clone(), branch: None }.git(self)?;
        let line =
            ["diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", "-z", "HEAD", "--"];
        let found = looking(&git, &line)?.ok_or(LandingError::Answer { command: "git diff" })?;
        let paths = found.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// Removes everything from the checkout that does not belong to its tree, as [`Self::checkout`] does.
    pub(crate) fn tidy_checkout(&self, checkout: &Worktree) -> Result<bool, LandingError> {
        self.is_clean(&checkout.git(self)?, "HEAD")
    }

    /// Removes a worktree of one commit with everything that checks left in it: its commit has every file that matters.
    pub(super) fn throw_away_alone(&self, checkout: &Worktree) -> Result<(), LandingError> {
        self.check_place(&checkout.folder)?;
        let Some(known) = self.known(&checkout.folder)? else { return Ok(()) };
        if checkout.branch.is_some() || known.branch.is_some() || !is_ours(&known) {
            return Err(LandingError::NotOurs { folder: checkout.folder.clone() });
        }
        let mark = checkout.folder.resolve(".git");
        if disk::is_folder(&mark) && !disk::is_link(&mark) {
            disk::remove_folder(&mark)?;
        }
        disk::loosen(&checkout.folder)?;
        self.discard(&checkout.folder)
    }

    fn set_mark(&self, checkout: &Worktree, name: &str) -> Result<(), LandingError> {
        Ok(disk::write_fleeting(&self.own_folder_of(&checkout.folder)?.resolve(name), b"")?)
    }

    /// Moves the checkout to `commit`; returns false if git could not, and the checkout must be replaced.
    fn is_moved(&self, checkout: &Worktree, commit: &Commit) -> Result<bool, LandingError> {
        if self.has_mark(&checkout.folder, BUSY)? {
            return Ok(false);
        }
        match self.entered(checkout) {
            Ok(Some(_)) if self.mend(&checkout.folder).is_ok() => {}
            Err(error @ (LandingError::NotOurs { .. } | LandingError::Occupied { .. })) => return Err(error),
            _ => return Ok(false),
        }
        let git = checkout.git(self)?;
        self.set_mark(checkout, BUSY)?;
        self.wait_for_another_second(checkout, &git)?;
        self.is_clean(&git, commit.as_str())
    }

    /// Checks out `commit` and removes everything that is neither in it nor ignored; returns whether git succeeded.
    #[expect(clippy::unused_self, reason = "what is done to a repository is asked of it")]
    fn is_clean(&self, git: &Git, commit: &str) -> Result<bool, LandingError> {
        if looking(git, &["checkout", "--quiet", "--force", "--detach", commit])?.is_none() {
            return Ok(false);
        }
        // Twice, so that nested repositories are removed too.
        match looking(git, &["clean", "-f", "-f", "-d"])? {
            None => Ok(false),
            Some(removed) if removed.is_empty() => Ok(true),
            // A removed `.gitignore` may have hidden other files.
            Some(_) => {
                let again = looking(git, &["clean", "-f", "-f", "-d", "--quiet"])?;
                let left = looking(git, &["ls-files", "--others", "--exclude-standard", "-z"])?;
                Ok(again.is_some() && left.is_some_and(|left| left.is_empty()))
            }
        }
    }

    /// Programs that keep compiled files, such as Python, recognize a source by its size and the second of its last
    /// change. So no two trees are checked out within one second if such files may exist.
    fn wait_for_another_second(&self, checkout: &Worktree, git: &Git) -> Result<(), LandingError> {
        let own = self.own_folder_of(&checkout.folder)?;
        let when = |name: &str| disk::modified(own.resolve(name)).and_then(|at| u64::try_from(at).ok());
        let (Some(now), Some(before)) = (when(BUSY), when(MOVED)) else { return Ok(()) };
        if now / SECOND > before / SECOND {
            return Ok(());
        }
        let line = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        if looking(git, &line)?.is_none_or(|ignored| !ignored.is_empty()) {
            let rest = (before / SECOND + 1).saturating_mul(SECOND).saturating_sub(now);
            git.world().pause(Duration::from_millis(rest.min(SECOND)));
        }
        Ok(())
    }
}

/// Runs git so that it looks at each file; `None` if it fails.
fn looking(git: &Git, line: &[&str]) -> Result<Option<Vec<u8>>, LandingError> {
    let settings = LOOKS.iter().flat_map(|setting| ["-c", setting]);
    let finished = git.run(settings.chain(line.iter().copied()))?;
    Ok(finished.success().then_some(finished.stdout))
}
