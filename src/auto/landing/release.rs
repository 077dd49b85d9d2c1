//! Removing a worktree and its branch once its work has landed. What was never committed is kept first.

use std::path::{Path, PathBuf};

use super::checkpoint::on_paths;
use super::commit::{Audience, CommitMessage, index_as_committed};
use super::error::LandingError;
use super::id::{Commit, GitPath, Tree, records};
use super::ignored::{BROUGHT, brought_in};
use super::keep::{KeepKind, KeptCommit};
use super::proof::Proved;
use super::repository::{Repository, reference_of};
use super::worktree::{READY, Worktree, is_ours};
use crate::disk::{self, EntryKind};
use crate::project::worktrees::ListedWorktree;

/// The most bytes of ignored files that are kept of a worktree.
const MOST: u64 = 64 << 20;

/// Folders that programs regenerate from other files; nothing in them is kept. The same is true of any folder with the
/// file that <https://bford.info/cachedir/> describes (2026-11).
const REMADE: &[&str] = &["node_modules", "__pycache__"];
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// The index with which ignored files are kept, and the mark of a worktree that is being removed; both are in the
/// folder that git keeps for the worktree.
const INDEX: &str = "gsd-ignored-index";
const LEAVING: &str = "gsd-leaving";

/// The outcome of releasing a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// It is removed, and so is its branch.
    Removed {
        kept: Vec<KeptCommit>,
        /// Folders with files that can be regenerated, which were not kept.
        remade: Vec<GitPath>,
    },
    /// It still exists: these ignored files are too large to keep, or are repositories.
    Held { kept: Vec<KeptCommit>, left_out: Vec<LeftOut> },
}

/// An ignored file that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: GitPath,
    /// `None` for a repository.
    pub(crate) bytes: Option<u64>,
}

/// The ignored files of a worktree.
#[derive(Debug, Default)]
pub(super) struct IgnoredFiles {
    pub(super) files: Vec<GitPath>,
    pub(super) left_out: Vec<LeftOut>,
    remade: Vec<GitPath>,
}

impl Repository {
    /// Removes a worktree and its branch, whose head landed. Its head, its uncommitted files and its ignored files are
    /// kept for 30 days under `name`. Repeating the call finishes one that was killed.
    pub(crate) fn release(
        &self,
        worktree: &Worktree,
        proved: &Proved,
        name: &str,
        at: i64,
    ) -> Result<Release, LandingError> {
        let mut kept = vec![self.keep(proved.head(), name, KeepKind::Head, at)?];
        self.remove_kept(worktree, proved.head(), (name, at), &mut kept)
    }

    /// Removes a worktree and its branch although the work has not landed. The head of the branch, what else is checked
    /// out, uncommitted files and ignored files are kept for 30 days under `name`. A branch that is gone is made again
    /// at `base`, so that the files of the worktree can be kept. Repeating the call finishes one that was killed.
    pub(crate) fn give_up(
        &self,
        worktree: &Worktree,
        base: Option<&Commit>,
        (name, at): (&str, i64),
    ) -> Result<Release, LandingError> {
        let (mut kept, folder) = (Vec::new(), &worktree.folder);
        let branch = worktree.branch.clone().unwrap_or_default();
        self.refuse_use_elsewhere(worktree)?;
        let own = self.kept_for(folder)?.filter(|_| disk::is_folder(folder));
        let has_work = own.is_some() && self.has_mark(folder, READY)? && !self.has_mark(folder, LEAVING)?;
        let mut head = self.branch(&branch)?;
        if has_work {
            self.mend(folder)?;
            // Commits that were made after the branch was left.
            let found = worktree.git(self)?.commit_of("HEAD")?;
            if let Some(found) = found.filter(|found| Some(found) != head.as_ref()) {
                kept.push(self.keep(&found, name, KeepKind::Head, at)?);
                head = head.or(Some(found));
            }
            if self.branch(&branch)?.is_none()
                && let Some(start) = head.as_ref().or(base)
            {
                let made = self.git.swap(&reference_of(&branch), None, Some(start), "gsd-tools auto: abandon")?;
                made.map_err(|_| LandingError::Moved { reference: reference_of(&branch) })?;
                head = Some(start.clone());
            }
            self.attach(worktree)?;
            self.lock_again(folder)?;
        }
        let Some(head) = head else {
            if self.known(folder)?.is_some_and(|known| is_ours(&known)) {
                self.alone(|| self.discard(folder))?;
            }
            self.alone(|| self.discard_empty_folder_of(folder))?;
            return Ok(Release::Removed { kept, remade: Vec::new() });
        };
        kept.insert(0, self.keep(&head, name, KeepKind::Head, at)?);
        if !has_work && self.known(folder)?.is_some_and(|known| is_ours(&known)) {
            // It was never complete, or its files are gone.
            self.alone(|| self.discard(folder))?;
        }
        self.remove_kept(worktree, &head, (name, at), &mut kept)
    }

    /// Refuses a branch that is checked out in another worktree: its files would have no branch there.
    fn refuse_use_elsewhere(&self, worktree: &Worktree) -> Result<(), LandingError> {
        let own = disk::canonical(&worktree.folder)?.to_string();
        let is_used = |listed: &ListedWorktree| listed.branch == worktree.branch && listed.path != own;
        match self.worktrees()?.into_iter().find(is_used) {
            Some(other) => {
                let branch = worktree.branch.clone().unwrap_or_default();
                Err(LandingError::BranchInUse { branch, folder: other.path })
            }
            None => Ok(()),
        }
    }

    /// Removes a worktree and its branch, once its head is kept.
    fn remove_kept(
        &self,
        worktree: &Worktree,
        head: &Commit,
        (name, at): (&str, i64),
        kept: &mut Vec<KeptCommit>,
    ) -> Result<Release, LandingError> {
        let mut remade = Vec::new();
        if let Some(known) = self.known(&worktree.folder)? {
            // Left by a git that was killed during the removal: there is nothing to keep.
            let is_rest = !is_ours(&known) && !disk::exists(&worktree.folder);
            if !is_ours(&known) && !is_rest {
                return Err(LandingError::NotOurs { folder: worktree.folder.clone() });
            }
            if !is_rest && !self.has_mark(&worktree.folder, LEAVING)? {
                let ignored = self.keep_files(worktree, head, (name, at), kept)?;
                if !ignored.left_out.is_empty() {
                    return Ok(Release::Held { kept: std::mem::take(kept), left_out: ignored.left_out });
                }
                remade = ignored.remade;
                disk::write_fleeting(&self.own_folder_of(&worktree.folder)?.resolve(LEAVING), b"")?;
            }
            self.alone(|| self.discard(&worktree.folder))?;
        }
        if let Some(branch) = &worktree.branch
            && self.branch(branch)?.is_some()
        {
            self.drop_branch(branch, head)?;
        }
        self.alone(|| self.discard_empty_folder_of(&worktree.folder))?;
        Ok(Release::Removed { kept: std::mem::take(kept), remade })
    }

    /// Keeps uncommitted files, and resets the worktree to its commit.
    fn keep_files(
        &self,
        worktree: &Worktree,
        head: &Commit,
        (name, at): (&str, i64),
        kept: &mut Vec<KeptCommit>,
    ) -> Result<IgnoredFiles, LandingError> {
        let snapshot = self.snapshot(worktree)?;
        if &snapshot.head != head {
            return Err(LandingError::Moved {
                reference: worktree.branch.clone().unwrap_or_else(|| "HEAD".to_owned()),
            });
        }
        let keep = |tree: &Tree, kind: KeepKind| {
            let message = CommitMessage::new(format!("gsd keep {} of {name}", kind.word()), at);
            let commit = self.commit_tree(tree, &[head], &message, Audience::Engine)?;
            self.keep(&commit, name, kind, at)
        };
        if !snapshot.changes.is_empty() {
            kept.push(keep(&snapshot.tree, KeepKind::Files)?);
        }
        let ignored = self.ignored(worktree)?;
        if !ignored.files.is_empty() {
            kept.push(keep(&self.tree_of_files(worktree, &ignored.files)?, KeepKind::Ignored)?);
        }
        if ignored.left_out.is_empty() && !snapshot.changes.is_empty() {
            let aside = worktree.aside(self)?;
            aside.ask(["read-tree", "-m", "-u", snapshot.tree.as_str(), head.as_str()])?;
            index_as_committed(&worktree.git(self)?)?;
        }
        Ok(ignored)
    }

    /// Returns the ignored files of a worktree: those to keep, small ones first.
    pub(super) fn ignored(&self, worktree: &Worktree) -> Result<IgnoredFiles, LandingError> {
        let line = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let answer = worktree.git(self)?.ask(line)?;
        let mut found = IgnoredFiles::default();
        let mut files: Vec<(u64, GitPath)> = Vec::new();
        let note = self.note_of_worktree(worktree, BROUGHT)?.unwrap_or_default();
        let brought: Vec<&str> = brought_in(&note).map(|(_, path)| path).collect();
        for record in records(&answer) {
            let path = GitPath::of(record.strip_suffix(b"/").unwrap_or(record));
            let place = path.below(worktree.folder.as_path());
            if disk::is_link(&place) || !disk::is_folder(&place) {
                files.push((size(&place), path));
            } else {
                files_below(&place, (path, &brought), &mut files, &mut found)?;
            }
        }
        files.sort();
        let mut total: u64 = 0;
        for (bytes, path) in files {
            total = total.saturating_add(bytes);
            if total <= MOST {
                found.files.push(path);
            } else {
                found.left_out.push(LeftOut { path, bytes: Some(bytes) });
            }
        }
        Ok(found)
    }

    /// Returns a tree of only these files of a worktree.
    fn tree_of_files(&self, worktree: &Worktree, files: &[GitPath]) -> Result<Tree, LandingError> {
        let own = self.own_folder_of(&worktree.folder)?;
        let git = worktree.git(self)?.with_index(own.resolve(INDEX));
        git.ask(["read-tree", "--empty"])?;
        on_paths(&git, &["add", "--force"], files)?;
        Tree::parse(&git.text(["write-tree"])?).ok_or(LandingError::Answer { command: "git write-tree" })
    }
}

fn size(place: &Path) -> u64 {
    if disk::is_link(place) { 0 } else { disk::size(place).unwrap_or_default() }
}

/// The files of an ignored folder.
fn files_below(
    place: &Path,
    (path, brought): (GitPath, &[&str]),
    files: &mut Vec<(u64, GitPath)>,
    found: &mut IgnoredFiles,
) -> Result<(), LandingError> {
    let mut open: Vec<(PathBuf, GitPath)> = vec![(place.to_path_buf(), path)];
    while let Some((place, path)) = open.pop() {
        // The person's checkout has what was brought from there.
        let is_brought = brought.iter().any(|one| path.as_bytes() == one.as_bytes());
        let is_remade = is_brought || REMADE.iter().any(|name| path.name() == name.as_bytes());
        if is_remade || disk::is_file(place.join(CACHE_MARK)) {
            found.remade.push(path);
            continue;
        }
        // For a repository, git stores the name of a commit and not its files.
        if disk::exists(place.join(".git")) {
            found.left_out.push(LeftOut { path, bytes: None });
            continue;
        }
        for entry in disk::list(&place)?.unwrap_or_default() {
            let below = GitPath::of(&[path.as_bytes(), b"/", entry.file_name()].concat());
            match entry.kind {
                EntryKind::Folder => open.push((entry.path, below)),
                EntryKind::File | EntryKind::Link => files.push((size(&entry.path), below)),
                EntryKind::Other => {}
            }
        }
    }
    Ok(())
}
