//! Git in one folder, and the worktrees it knows.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::acts::Call;
use crate::acts::git::repository::Repository;
use crate::disk;
use crate::failure::Failure;
use crate::project::head::Head;
use crate::project::worktrees::{ListedWorktree, listed};
use crate::world::Finished;

/// How long git may take: hooks run inside it, and a worktree may be large.
const PATIENCE: Duration = Duration::from_secs(120);

/// Git in one folder.
#[derive(Clone, Debug)]
pub(crate) struct Git(Repository);

impl Deref for Git {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.0
    }
}

/// An uncommitted change in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uncommitted {
    /// Relative to the root of the worktree.
    pub(crate) path: String,
    pub(crate) is_untracked: bool,
}

/// A worktree as git lists it, with git's folder for it.
#[derive(Clone, Debug)]
pub(crate) struct KnownWorktree {
    pub(crate) listed: ListedWorktree,
    /// Git's folder for this worktree; `None` for the main one.
    own: Option<PathBuf>,
}

impl Deref for KnownWorktree {
    type Target = ListedWorktree;

    fn deref(&self) -> &ListedWorktree {
        &self.listed
    }
}

impl KnownWorktree {
    /// When a file in git's folder for this worktree was last written, in milliseconds since 1970.
    fn written(&self, name: &str) -> Option<i64> {
        disk::modified(self.own.as_ref()?.join(name))
    }

    /// When the worktree was made: git writes this file once.
    pub(crate) fn made(&self) -> Option<i64> {
        self.written("commondir")
    }

    pub(crate) fn locked_since(&self) -> Option<i64> {
        self.written("locked")
    }

    /// The last time that git changed something here.
    pub(crate) fn touched(&self) -> Option<i64> {
        ["index", "HEAD", "logs/HEAD", "commondir"].iter().filter_map(|name| self.written(name)).max()
    }
}

/// The changes that `git status --porcelain -z` lists.
pub(crate) fn uncommitted_in(status: &str) -> Vec<Uncommitted> {
    let mut fields = status.split('\0');
    let mut found = Vec::new();
    while let Some(field) = fields.next() {
        let Some((state, path)) = field.split_at_checked(3) else { continue };
        // The old name of a file follows in a separate field.
        if state.starts_with(['R', 'C']) {
            fields.next();
        }
        found.push(Uncommitted { path: path.to_owned(), is_untracked: state.starts_with("??") });
    }
    found
}

impl Git {
    pub(crate) fn here(call: &Call) -> Self {
        Self(Repository::at(call, call.here().clone(), PATIENCE))
    }

    /// The same, with merges made outside the repository.
    pub(crate) fn aside(self, call: &Call) -> Result<Self, Failure> {
        Ok(Self(self.0.aside(call)?))
    }

    pub(crate) fn at(&self, folder: impl AsRef<Path>) -> Self {
        Self(self.elsewhere(folder))
    }

    /// The uncommitted changes in the worktree, whatever git's settings hide. By default git would refresh the index;
    /// this only reads.
    pub(crate) fn status(&self) -> Finished {
        self.run(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"])
    }

    /// As [`Self::status`], file by file; git's complaint if it fails.
    pub(crate) fn uncommitted(&self) -> Result<Vec<Uncommitted>, String> {
        let arguments = ["--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all"];
        let status = self.run(&arguments);
        if !status.success() {
            return Err(status.error_text());
        }
        Ok(uncommitted_in(&status.text()))
    }

    /// The folders of the index that are submodules.
    pub(crate) fn submodules(&self) -> Vec<String> {
        let listed = self.answer(&["ls-files", "--stage", "-z"]).unwrap_or_default();
        // A line is `MODE HASH STAGE<tab>PATH`; the mode of a submodule is that of a link to a commit.
        let submodules = listed.split('\0').filter(|line| line.starts_with("160000 "));
        submodules.filter_map(|line| line.split_once('\t').map(|(_, path)| path.to_owned())).collect()
    }

    /// Removes a worktree without uncommitted changes. Git checks that itself; the option makes it count untracked
    /// files, whatever the settings say.
    pub(crate) fn remove_worktree(&self, path: &str) -> Finished {
        self.run(&["-c", "status.showUntrackedFiles=all", "worktree", "remove", "--", path])
    }

    /// Removes a branch whose work is in HEAD. By default git also refuses one that its upstream lacks.
    pub(crate) fn remove_merged_branch(&self, branch: &str) -> Finished {
        let is_merged = self.is_ancestor(&format!("refs/heads/{branch}"), "HEAD");
        self.run(&["branch", if is_merged { "-D" } else { "-d" }, "--", branch])
    }

    /// The worktrees of the repository, the main one first; git's complaint if it fails.
    pub(crate) fn worktrees(&self) -> Result<Vec<KnownWorktree>, String> {
        let answer = self.run(&["worktree", "list", "--porcelain", "-z"]);
        if !answer.success() {
            return Err(answer.error_text());
        }
        let folders = self.own_folders();
        let own = |path: &str| folders.iter().find(|(place, _)| place == Path::new(path)).map(|(_, own)| own.clone());
        let known = |listed: ListedWorktree| KnownWorktree { own: own(&listed.path), listed };
        Ok(listed(&answer.text()).into_iter().map(known).collect())
    }

    /// The paths of linked worktrees, and git's folders for them: git itself reports no times.
    fn own_folders(&self) -> Vec<(PathBuf, PathBuf)> {
        let common = self.answer(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).unwrap_or_default();
        let folders = disk::list(Path::new(&common).join("worktrees")).ok().flatten().unwrap_or_default();
        let place = |folder: &Path| {
            let text = disk::read_text(folder.join("gitdir")).ok()??;
            Path::new(text.trim()).parent().map(Path::to_path_buf)
        };
        folders.into_iter().filter_map(|folder| Some((place(&folder.path)?, folder.path))).collect()
    }

    /// The commit that is checked out here; `None` before the first one.
    pub(crate) fn commit(&self) -> Option<String> {
        Head::commit_at(self.folder(), |arguments| self.answer(arguments))
    }

    /// True if the first commit is the second, or in its history.
    pub(crate) fn is_ancestor(&self, commit: &str, of: &str) -> bool {
        self.run(&["merge-base", "--is-ancestor", commit, of]).success()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_file_is_one_change_under_its_new_name() {
        let found = uncommitted_in("R  new name\0old name\0 M a.rs\0?? b.rs\0");
        let found: Vec<(&str, bool)> = found.iter().map(|file| (file.path.as_str(), file.is_untracked)).collect();
        assert_eq!(found, [("new name", false), ("a.rs", false), ("b.rs", true)]);
    }
}
