//! Worktrees that only the engine uses: created, entered again after a crash, removed.

use super::error::LandingError;
use super::git::{Git, own_folder};
use super::id::Commit;
use super::repository::{Repository, reference_of};
use crate::disk::{self, AbsolutePath, EntryKind};
use crate::project::branch_name::is_branch_name;
use crate::project::head::Head;
use crate::project::worktrees::ListedWorktree;

/// The start of the lock reason in worktrees of the engine. Git writes the reason before anything else, so it
/// identifies such a worktree even if the call that made it was killed.
const REASON: &str = "gsd-tools auto: ";

/// The file in the folder that git keeps for a worktree that marks the worktree as complete.
pub(super) const READY: &str = "gsd-ready";

/// The file by which the folder of worktrees ignores itself, and its text.
const IGNORE: (&str, &str) = (".gitignore", "*\n");

/// A worktree of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worktree {
    pub(crate) folder: AbsolutePath,
    /// The branch that is checked out; `None` for a detached commit.
    pub(crate) branch: Option<String>,
}

/// The outcome of entering a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    pub(crate) worktree: Worktree,
    pub(crate) head: Commit,
    /// Whether this call made it.
    pub(crate) is_new: bool,
}

impl Worktree {
    /// The commit that is checked out here, on the branch of this worktree.
    pub(super) fn head(&self, repository: &Repository) -> Result<Commit, LandingError> {
        let own = repository.own_folder_of(&self.folder)?;
        let git = repository.git.in_worktree(&self.folder, own.clone());
        // The files of git are read only if `.git` leads to them.
        let is_as_made = own_folder(self.folder.as_path()) == Some(own);
        let ask = |arguments: &[&str]| git.text(arguments).ok();
        if self.branch.is_some() {
            let found = if is_as_made { Head::branch_at(&self.folder, ask) } else { Head::branch_by(ask) };
            if found != self.branch {
                let (folder, expected) = (self.folder.clone(), self.branch.clone().unwrap_or_default());
                return Err(LandingError::BranchLeft { folder, expected, found });
            }
        }
        let head = if is_as_made { Head::commit_at(&self.folder, ask) } else { Head::commit_by(ask) };
        head.and_then(|head| Commit::parse(&head)).ok_or_else(|| LandingError::Missing { folder: self.folder.clone() })
    }

    /// Git in this worktree.
    pub(super) fn git(&self, repository: &Repository) -> Result<Git, LandingError> {
        Ok(repository.git.in_worktree(&self.folder, repository.own_folder_of(&self.folder)?))
    }
}

/// True if the engine locked the worktree.
pub(super) fn is_ours(worktree: &ListedWorktree) -> bool {
    worktree.lock.as_ref().is_some_and(|reason| reason.starts_with(REASON))
}

impl Repository {
    /// Enters the worktree of `branch` at `folder`. Makes the worktree if it is missing, and the branch too, at
    /// `start`. The worktree is locked with a reason that names `purpose`. Finishes the work of a call that was killed.
    pub(crate) fn enter(
        &self,
        folder: &AbsolutePath,
        branch: &str,
        start: &Commit,
        purpose: &str,
    ) -> Result<Entered, LandingError> {
        if !is_branch_name(branch) {
            return Err(LandingError::BadBranch { name: branch.to_owned() });
        }
        self.check_place(folder)?;
        let entered = self.alone(|| self.enter_alone(folder, branch, start, purpose))?;
        self.check_place(folder)?;
        Ok(entered)
    }

    /// Refuses a worktree folder that is not really below the root of the repository: a clone can contain links, and
    /// git follows every one.
    pub(crate) fn check_place(&self, folder: &AbsolutePath) -> Result<(), LandingError> {
        Ok(disk::passes_no_link(folder, self.root())?)
    }

    fn enter_alone(
        &self,
        folder: &AbsolutePath,
        branch: &str,
        start: &Commit,
        purpose: &str,
    ) -> Result<Entered, LandingError> {
        let wanted = Worktree { folder: folder.clone(), branch: Some(branch.to_owned()) };
        if let Some(entered) = self.entered(&wanted)? {
            return Ok(entered);
        }
        let in_use = self.worktrees()?.into_iter().find(|worktree| worktree.branch.as_deref() == Some(branch));
        if let Some(other) = in_use {
            return Err(LandingError::BranchInUse { branch: branch.to_owned(), folder: other.path });
        }
        let head = self.branch(branch)?;
        let place = folder.to_string();
        match &head {
            Some(_) => self.add(folder, purpose, &[&place, branch])?,
            None => self.add(folder, purpose, &["-b", branch, &place, start.as_str()])?,
        }
        Ok(Entered { worktree: wanted, head: head.unwrap_or_else(|| start.clone()), is_new: true })
    }

    /// Makes a worktree of one commit at `folder`, to run checks in. An existing one with this commit is reused.
    pub(crate) fn scratch(
        &self,
        folder: &AbsolutePath,
        commit: &Commit,
        purpose: &str,
    ) -> Result<Worktree, LandingError> {
        self.check_place(folder)?;
        self.alone(|| {
            let wanted = Worktree { folder: folder.clone(), branch: None };
            match self.entered(&wanted)? {
                Some(entered) if &entered.head == commit => return Ok(wanted),
                Some(_) => self.throw_away_alone(&wanted)?,
                None => {}
            }
            self.add(folder, purpose, &["--detach", &folder.to_string(), commit.as_str()])?;
            Ok(wanted)
        })
    }

    /// Returns the existing worktree if it is complete. Removes one that was never completed.
    pub(super) fn entered(&self, wanted: &Worktree) -> Result<Option<Entered>, LandingError> {
        let folder = &wanted.folder;
        let Some(known) = self.known(folder)? else {
            let is_empty = disk::list(folder)?.is_none_or(|entries| entries.is_empty());
            if is_empty && !disk::is_file(folder) && !disk::is_link(folder) {
                return Ok(None);
            }
            return Err(LandingError::Occupied { folder: folder.clone() });
        };
        if !is_ours(&known) && known.branch != wanted.branch {
            return Err(LandingError::NotOurs { folder: folder.clone() });
        }
        let own = self.kept_for(folder)?.filter(|own| disk::is_folder(own) && disk::is_folder(folder));
        if wanted.branch.is_none() && known.branch.is_none() && !disk::exists(folder) {
            // A git was killed while it removed the worktree.
            self.discard(folder)?;
            return Ok(None);
        }
        let is_ready = own.as_ref().is_some_and(|own| disk::is_file(own.resolve(READY)));
        if !is_ready && is_ours(&known) && !self.has_mark(folder, READY)? {
            self.discard(folder)?;
            return Ok(None);
        }
        if own.is_none() {
            return Err(LandingError::Missing { folder: folder.clone() });
        }
        if !is_ready {
            return Err(LandingError::NotOurs { folder: folder.clone() });
        }
        let head = wanted.head(self)?;
        if !is_ours(&known) {
            self.lock_again(folder)?;
        }
        Ok(Some(Entered { worktree: wanted.clone(), head, is_new: false }))
    }

    /// Locks a worktree of the engine that a person unlocked.
    pub(super) fn lock_again(&self, folder: &AbsolutePath) -> Result<(), LandingError> {
        if self.known(folder)?.is_some_and(|known| !is_ours(&known)) {
            self.git.ask(["worktree", "lock", "--reason", &format!("{REASON}entered again"), &folder.to_string()])?;
        }
        Ok(())
    }

    /// True if git keeps a file of this name for the worktree at `folder`, which may be gone.
    pub(super) fn has_mark(&self, folder: &AbsolutePath, name: &str) -> Result<bool, LandingError> {
        Ok(self.kept_for(folder)?.is_some_and(|own| disk::is_file(own.resolve(name))))
    }

    /// Removes worktrees that killed gits of the engine have half made, if none of these gits still runs. Returns
    /// whether there was any.
    pub(super) fn remove_half_made(&self) -> Result<bool, LandingError> {
        // Other systems do not show whether one runs.
        if !cfg!(unix) || self.mark().is_in_use() {
            return Ok(false);
        }
        let mut removed = false;
        for entry in disk::list(self.common().resolve("worktrees"))?.unwrap_or_default() {
            let path = AbsolutePath::parse(&entry.path).map_err(disk::DiskError::from)?;
            let is_ours = disk::read_text(path.resolve("locked"))?.is_some_and(|reason| reason.starts_with(REASON));
            if is_ours {
                remove_half_made(&path)?;
                removed |= !disk::is_folder(&path);
            }
        }
        Ok(removed)
    }

    /// Returns the folder that git keeps for the worktree at `folder`, which may be gone.
    pub(super) fn kept_for(&self, folder: &AbsolutePath) -> Result<Option<AbsolutePath>, LandingError> {
        let kept = disk::list(self.common().resolve("worktrees"))?.unwrap_or_default();
        let mark = folder.resolve(".git");
        let is_of = |own: &AbsolutePath| {
            let text = disk::read_text(own.resolve("gitdir")).ok().flatten().unwrap_or_default();
            own.resolve(text.trim_end_matches(['\n', '\r'])) == mark
        };
        Ok(kept.iter().filter_map(|entry| AbsolutePath::parse(&entry.path).ok()).find(is_of))
    }

    /// Removes the locks that a killed git left on what only the engine changes: the worktree at `folder`, its branch,
    /// and the engine's own references. The caller knows that no git of the engine runs.
    pub(crate) fn remove_locks(&self, folder: &AbsolutePath, branch: &str) -> Result<(), LandingError> {
        for entry in disk::list(self.common().resolve("worktrees"))?.unwrap_or_default() {
            let path = AbsolutePath::parse(&entry.path).map_err(disk::DiskError::from)?;
            if path.name().starts_with(&folder.name()) {
                remove_half_made(&path)?;
            }
        }
        let own = self.kept_for(folder)?;
        let places = own.into_iter().chain([self.common().resolve("refs/gsd")]);
        for place in places {
            remove_locks_below(&place)?;
        }
        let of_branch = self.common().resolve(format!("{}.lock", reference_of(branch)));
        Ok(disk::remove_note(&of_branch)?)
    }

    /// Returns the folder that the repository keeps for the worktree at `folder`, whatever `.git` there contains.
    pub(super) fn own_folder_of(&self, folder: &AbsolutePath) -> Result<AbsolutePath, LandingError> {
        self.check_place(folder)?;
        let own = self.kept_for(folder)?.filter(|_| disk::is_folder(folder));
        own.ok_or_else(|| LandingError::Missing { folder: folder.clone() })
    }

    /// Repairs `.git` of the worktree at `folder` and the folder that git keeps for it, so that both lead to the
    /// repository.
    pub(super) fn mend(&self, folder: &AbsolutePath) -> Result<(), LandingError> {
        let (own, mark) = (self.own_folder_of(folder)?, folder.resolve(".git"));
        let (common, above) = (own.resolve("commondir"), "../..\n");
        if disk::is_link(&common) || disk::read_text(&common)?.is_some_and(|text| text != above) {
            disk::write_fleeting(&common, above.as_bytes())?;
        }
        if !disk::is_link(&mark) && own_folder(folder.as_path()).as_ref() == Some(&own) {
            return Ok(());
        }
        if disk::is_folder(&mark) && !disk::is_link(&mark) {
            return Err(LandingError::Replaced { folder: folder.clone() });
        }
        Ok(disk::write_fleeting(&mark, format!("gitdir: {own}\n").as_bytes())?)
    }

    /// Returns git's list entry for `folder`.
    pub(super) fn known(&self, folder: &AbsolutePath) -> Result<Option<ListedWorktree>, LandingError> {
        let place = disk::canonical(folder)?;
        let is_here = |worktree: &ListedWorktree| {
            let path = AbsolutePath::parse(&worktree.path).map(|path| disk::canonical(&path).unwrap_or(path));
            path.is_ok_and(|path| path == place)
        };
        Ok(self.worktrees()?.into_iter().find(is_here))
    }

    pub(super) fn add(&self, folder: &AbsolutePath, purpose: &str, line: &[&str]) -> Result<(), LandingError> {
        self.check_place(folder)?;
        if let Some(around) = folder.parent() {
            let ignore = around.resolve(IGNORE.0);
            self.check_place(&ignore)?;
            if !disk::is_file(&ignore) {
                // The file is in the user's checkout, which others may read.
                disk::make_shared_folder(&around)?;
                disk::write_fleeting(&ignore, IGNORE.1.as_bytes())?;
            }
        }
        let reason = format!("{REASON}{purpose}");
        let begin = ["worktree", "add", "--quiet", "--lock", "--reason", &reason];
        self.git.for_worktrees().ask(begin.iter().chain(line))?;
        let own = self.own_folder_of(folder)?;
        Ok(disk::write_fleeting(&own.resolve(READY), b"")?)
    }

    /// Removes a worktree without work, or whose work is kept.
    pub(super) fn discard(&self, folder: &AbsolutePath) -> Result<(), LandingError> {
        self.check_place(folder)?;
        let place = folder.to_string();
        let was_kept = self.kept_for(folder)?.is_some();
        // Without `.git`, which git may have removed before it was killed, git does not remove the other files.
        if disk::is_folder(folder) && self.kept_for(folder)?.is_some() {
            self.mend(folder)?;
        }
        // `--force` twice, since it is locked: if unlocked and then left by a killed git, the engine would not
        // recognize it.
        if self.git.run(["worktree", "remove", "--force", "--force", "--", &place])?.success() {
            return Ok(());
        }
        // Without this file git does not see a worktree there. Git was killed before it had checked out anything, or at
        // the end of removing it.
        if let Some(own) = self.kept_for(folder)?
            && !disk::is_file(own.resolve("HEAD"))
        {
            disk::remove_folder(folder)?;
            return Ok(disk::remove_folder(&own)?);
        }
        self.git.run(["worktree", "unlock", &place])?;
        // Its folder is gone, or was never made: git only has to forget it.
        self.git.ask(["worktree", "prune"])?;
        match self.known(folder)? {
            // A git that was killed while it removed the files had removed `.git` first.
            None if was_kept && !disk::exists(folder.resolve(".git")) => Ok(disk::remove_folder(folder)?),
            None => Ok(()),
            Some(_) => Err(LandingError::Occupied { folder: folder.clone() }),
        }
    }

    /// Removes the folder of worktrees once it has no worktree left.
    pub(super) fn discard_empty_folder_of(&self, worktree: &AbsolutePath) -> Result<(), LandingError> {
        let Some(around) = worktree.parent().filter(|around| self.check_place(around).is_ok()) else { return Ok(()) };
        let entries = disk::list(&around)?.unwrap_or_default();
        let ignore = around.resolve(IGNORE.0);
        let is_ours = |entry: &disk::Entry| entry.file_name() == IGNORE.0.as_bytes();
        if entries.iter().all(is_ours) && disk::read_text(&ignore)?.is_none_or(|text| text == IGNORE.1) {
            disk::remove_note(&ignore)?;
            // If the empty folder stays, since something is mounted there, the landing still succeeds.
            let _ = disk::remove_folder_if_empty(&around);
        }
        Ok(())
    }

    /// Removes a branch that is at `commit`.
    pub(super) fn drop_branch(&self, branch: &str, commit: &Commit) -> Result<(), LandingError> {
        let reference = reference_of(branch);
        match self.git.swap(&reference, Some(commit), None, "gsd-tools auto: landed")? {
            Ok(()) => Ok(()),
            Err(_) => Err(LandingError::Moved { reference }),
        }
    }
}

/// Removes git's files for a worktree that git was killed while adding or removing. While they exist, git cannot list
/// worktrees.
fn remove_half_made(own: &AbsolutePath) -> Result<(), LandingError> {
    let text_of = |name: &str| Ok::<_, LandingError>(disk::read_text(own.resolve(name))?.unwrap_or_default());
    let link = text_of("gitdir")?;
    if link.is_empty() {
        return Ok(disk::remove_folder(own)?);
    }
    // Git names the repository before it checks out anything.
    if !text_of("commondir")?.is_empty() || !text_of("locked")?.starts_with(REASON) || disk::is_file(own.resolve(READY))
    {
        return Ok(());
    }
    let mark = own.resolve(link.trim_end_matches(['\n', '\r']));
    if let Some(folder) = mark.parent()
        && disk::list(&folder)?.is_some_and(|entries| entries.iter().all(|entry| entry.file_name() == b".git"))
    {
        disk::remove_note(&mark)?;
        disk::remove_folder_if_empty(&folder)?;
    }
    Ok(disk::remove_folder(own)?)
}

fn remove_locks_below(folder: &AbsolutePath) -> Result<(), LandingError> {
    for entry in disk::list(folder)?.unwrap_or_default() {
        let path = AbsolutePath::parse(&entry.path).map_err(disk::DiskError::from)?;
        match entry.kind {
            EntryKind::Folder => remove_locks_below(&path)?,
            EntryKind::File if path.as_path().extension().is_some_and(|extension| extension == "lock") => {
                disk::remove_note(&path)?;
            }
            _ => {}
        }
    }
    Ok(())
}
