//! The git checkout that contains a file, and its branch, read from files without starting git.

use std::path::{Component, Path, PathBuf};

use super::git_index::GitIndex;
use crate::disk::{self, AbsolutePath};
use crate::project::head::Pointer;
use crate::project::{self, wave};

/// The largest log of HEAD, in bytes, that can be read within a few milliseconds.
const LONGEST_LOG: u64 = 8 << 20;
/// The largest index, in bytes, that can be read within a few milliseconds; about eighty thousand files.
const LONGEST_INDEX: u64 = 8 << 20;

/// A folder with a working tree of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checkout {
    pub(super) root: PathBuf,
    /// Git's folder for this checkout; `None` if it cannot be found.
    git: Option<PathBuf>,
    /// True for each further checkout of a repository, but not for the first.
    pub(super) is_linked: bool,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Branch(String),
    Commit,
    Unreadable,
}

impl Head {
    /// True if an agent may be at work here. An unreadable HEAD may be an agent's branch.
    pub(super) fn may_be_of_agent(&self) -> bool {
        match self {
            Head::Branch(branch) => wave::is_agent_branch(branch),
            Head::Commit => false,
            Head::Unreadable => true,
        }
    }
}

impl Checkout {
    /// The checkout that contains `path`, or would contain it: `path` need not exist.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let root = path.ancestors().find(|folder| disk::exists(folder.join(".git")))?.to_path_buf();
        let mark = root.join(".git");
        if disk::is_folder(&mark) {
            return Some(Self { root, git: Some(mark), is_linked: false });
        }
        // A file instead of a folder points to the real folder, for a linked worktree and for a submodule.
        let text = disk::read_text(&mark).ok().flatten();
        let named = text.as_deref().and_then(|text| text.trim().strip_prefix("gitdir:")).map(str::trim);
        let git = named.map(|named| root.join(named));
        let is_linked = git.as_ref().is_none_or(|git| disk::is_file(git.join("commondir")));
        Some(Self { root, git, is_linked })
    }

    pub(super) fn head(&self) -> Head {
        let text = self.git.as_ref().and_then(|git| disk::read_text(git.join("HEAD")).ok().flatten());
        match text.as_deref().and_then(Pointer::parse) {
            Some(Pointer::Branch(branch)) => Head::Branch(branch),
            Some(Pointer::Commit) => Head::Commit,
            None => Head::Unreadable,
        }
    }

    /// The commit that is checked out, if git's files show it.
    pub(super) fn commit(&self) -> Option<String> {
        project::head::Head::of(&AbsolutePath::parse(&self.root).ok()?)?.commit
    }

    /// Git's log of HEAD in this checkout, oldest entry first; `None` if git keeps none, or if it is too large to be
    /// read during a session.
    pub(super) fn log_of_head(&self) -> Option<String> {
        let file = self.git.as_ref()?.join("logs/HEAD");
        disk::size(&file).filter(|size| *size <= LONGEST_LOG)?;
        let bytes = disk::read_up_to(&file, LONGEST_LOG).ok()??;
        Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// The files among these paths below the checkout that are changed, deleted, or unknown to git. Empty if finding
    /// out would take longer than a hook may.
    pub(super) fn changed<'path>(&self, paths: &'path [String]) -> Vec<&'path str> {
        let index = Some(()).filter(|()| !paths.is_empty()).and_then(|()| self.index());
        index.and_then(|index| index.changed(&self.root, paths)).unwrap_or_default()
    }

    /// True if the file is unchanged in git, so that it may have come with the repository.
    pub(super) fn may_have_brought(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
        let Some((below, index)) = below.zip(self.index()) else { return false };
        index.changed(&self.root, &[below.to_owned()]).is_some_and(|changed| changed.is_empty())
    }

    fn index(&self) -> Option<GitIndex> {
        let file = self.git.as_ref()?.join("index");
        disk::size(&file).filter(|size| *size <= LONGEST_INDEX)?;
        Some(GitIndex::new(disk::read_up_to(&file, LONGEST_INDEX).ok()??))
    }

    /// The default branch of the repository it was cloned from.
    pub(super) fn default_branch(&self) -> Option<String> {
        let text = disk::read_text(self.git.as_ref()?.join("refs/remotes/origin/HEAD")).ok().flatten()?;
        Some(text.trim().strip_prefix("ref: refs/remotes/origin/")?.to_owned())
    }

    /// Git's folder that all checkouts of the repository share; `None` if it cannot be found.
    fn shared(&self) -> Option<PathBuf> {
        let git = self.git.as_ref()?;
        let common = disk::read_text(git.join("commondir")).ok().flatten();
        Some(common.map_or(git.clone(), |common| plain(&git.join(common.trim()))))
    }

    /// True if the other checkout belongs to the same repository or to a submodule of it, or if that is unknown.
    pub(super) fn may_share_with(&self, other: &Self) -> bool {
        let shared = |checkout: &Self| checkout.shared().map(|folder| real(&folder).unwrap_or(folder));
        match (shared(self), shared(other)) {
            (Some(own), Some(other)) => other.starts_with(own),
            _ => true,
        }
    }

    /// True if both are the same folder, even if reached by different paths.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.root == other.root || matches!((real(&self.root), real(&other.root)), (Some(one), Some(two)) if one == two)
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    disk::canonical(&AbsolutePath::parse(path).ok()?).ok().map(|path| path.as_ref().to_path_buf())
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a checkout is made by hand")]
mod tests {
    use super::*;

    #[test]
    fn checkouts_and_branches_are_read_from_files() {
        let folder = crate::testing::folder();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let at = |path: &str| Checkout::of(&folder.path().join(path)).unwrap();
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/worktrees/w/HEAD", "ref: refs/heads/worktree-agent-1\n");
        write("main/.git/worktrees/w/commondir", "../..\n");
        write("main/.git/modules/m/HEAD", "0123456789012345678901234567890123456789\n");
        write("main/m/.git", "gitdir: ../.git/modules/m\n");
        write("w/.git", &format!("gitdir: {}\n", folder.path().join("main/.git/worktrees/w").display()));
        write("broken/.git", "?");
        write("main/.git/objects/info", "");
        let (packed, loose) = ("a".repeat(40), "b".repeat(40));
        write("main/.git/packed-refs", &format!("# pack\n{packed} refs/heads/main\n"));
        write("main/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/develop\n");
        assert_eq!((at("main").commit().unwrap(), at("main").default_branch().unwrap()), (packed, "develop".into()));
        write("main/.git/refs/heads/main", &format!("{loose}\n"));
        assert_eq!(at("main").commit(), Some(loose));
        assert_eq!((at("main/src/a").is_linked, at("main/src/a").head()), (false, Head::Branch("main".into())));
        assert_eq!((at("w/x").is_linked, at("w/x").head().may_be_of_agent()), (true, true));
        assert_eq!((at("main/m/x").is_linked, at("main/m/x").head()), (false, Head::Commit));
        assert_eq!((at("broken").is_linked, at("broken").head()), (true, Head::Unreadable));
        assert!(at("w").is_same(&at("w/deeper")) && !at("w").is_same(&at("main")));
        write("other/.git/HEAD", "ref: refs/heads/main\n");
        let shares = |path: &str| at("w").may_share_with(&at(path));
        assert!(shares("main") && shares("w") && shares("main/m") && shares("broken") && !shares("other"));
    }
}
