//! Git in one folder, and the worktrees it knows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::acts::Call;
use crate::acts::git::scratch::GitScratch;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::head::Head;
use crate::project::worktrees::{ListedWorktree, listed};
use crate::world::{Finished, Program, World};

/// How long git may take: hooks run inside it, and a worktree may be large.
const PATIENCE: Duration = Duration::from_secs(120);

/// Git in one folder.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    world: World,
    folder: PathBuf,
    /// Git before its verb, in a rehearsal.
    still: Option<Arc<Program>>,
    /// Where git writes instead of the repository.
    scratch: Option<Arc<GitScratch>>,
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

impl std::ops::Deref for KnownWorktree {
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
        let folder = call.here().as_path();
        let still = call.is_rehearsal().then(|| Arc::new(call.world().still_git(folder)));
        Self { world: call.world().clone(), folder: folder.to_path_buf(), still, scratch: None }
    }

    /// The same, with merges made outside the repository.
    pub(crate) fn aside(self, call: &Call) -> Result<Self, Failure> {
        Ok(Self { scratch: Some(Arc::new(GitScratch::beside(call, call.here())?)), ..self })
    }

    pub(crate) fn at(&self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let still = self.still.as_ref().map(|_| Arc::new(self.world.still_git(&folder)));
        Self { world: self.world.clone(), folder, still, scratch: None }
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

    /// The branch that is checked out here; `None` if HEAD is detached.
    pub(crate) fn branch(&self) -> Option<String> {
        Head::branch_at(&AbsolutePath::parse(&self.folder).ok()?, |arguments| self.answer(arguments))
    }

    /// The commit that is checked out here; `None` before the first one.
    pub(crate) fn commit(&self) -> Option<String> {
        Head::commit_at(&AbsolutePath::parse(&self.folder).ok()?, |arguments| self.answer(arguments))
    }

    /// True if the first commit is the second, or in its history.
    pub(crate) fn is_ancestor(&self, commit: &str, of: &str) -> bool {
        self.run(&["merge-base", "--is-ancestor", commit, of]).success()
    }

    /// Runs git; if it cannot be run, the result is a failure with the reason as its complaint.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        let still = self.still.as_deref().cloned();
        let program = still.unwrap_or_else(|| Program::git(&self.folder));
        let program = program.arguments(arguments).timeout(PATIENCE);
        let program = match &self.scratch {
            Some(scratch) => scratch.divert(program),
            None => program,
        };
        self.world
            .run(&program)
            .unwrap_or_else(|error| Finished { stderr: error.to_string().into_bytes(), ..Finished::default() })
    }

    /// Git's output, if it succeeds.
    pub(crate) fn answer(&self, arguments: &[&str]) -> Option<String> {
        let finished = self.run(arguments);
        finished.success().then(|| finished.text())
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
