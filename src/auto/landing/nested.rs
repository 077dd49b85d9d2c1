//! Repositories inside a worktree: submodules, and repositories that an agent made.
//!
//! For some answers git runs another git inside each repository that it finds, with the settings of that repository,
//! which can name programs. So git may only look into submodules whose git folder is inside the main repository.

use super::error::LandingError;
use super::id::{Commit, GitPath, records};
use super::repository::Repository;
use super::worktree::Worktree;
use crate::disk::{self, AbsolutePath};

/// The mode of a submodule in a tree, as git lists it.
const LINK: &[u8] = b"160000 ";

impl Repository {
    /// Returns whether a submodule of `head` is checked out in the worktree. Refuses one whose git folder is outside
    /// the repository.
    pub(super) fn check_submodules(&self, worktree: &Worktree, head: &Commit) -> Result<bool, LandingError> {
        let mut is_any = false;
        for path in self.submodules(head)? {
            let Ok(place) = AbsolutePath::parse(path.below(worktree.folder.as_path())) else { continue };
            let mark = place.resolve(".git");
            if disk::is_link(&place) || !(disk::exists(&mark) || disk::is_link(&mark)) {
                continue;
            }
            is_any = true;
            self.check_below(worktree, &path, &place)?;
        }
        Ok(is_any)
    }

    fn check_below(&self, worktree: &Worktree, path: &GitPath, place: &AbsolutePath) -> Result<(), LandingError> {
        let kept = self.own_folder_of(&worktree.folder)?.resolve("modules");
        let mut open = vec![place.clone()];
        while let Some(folder) = open.pop() {
            for entry in disk::list(&folder)?.unwrap_or_default() {
                let Ok(found) = AbsolutePath::parse(&entry.path) else { continue };
                if entry.file_name() == b".git" {
                    if !is_kept(&folder, &found, &kept)? {
                        return Err(LandingError::Embedded { folder: worktree.folder.clone(), path: path.clone() });
                    }
                } else if entry.is_folder() {
                    open.push(found);
                }
            }
        }
        Ok(())
    }

    /// Returns the paths of the submodules of a commit.
    pub(super) fn submodules(&self, commit: &Commit) -> Result<Vec<GitPath>, LandingError> {
        let mut known = self.links.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((of, links)) = known.as_ref()
            && of == commit
        {
            return Ok(links.clone());
        }
        let answer = self.git.ask(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()])?;
        let link = |record: &[u8]| {
            let at = record.iter().position(|byte| *byte == b'\t').filter(|_| record.starts_with(LINK))?;
            record.get(at + 1..).map(GitPath::of)
        };
        let links: Vec<GitPath> = records(&answer).filter_map(link).collect();
        *known = Some((commit.clone(), links.clone()));
        Ok(links)
    }
}

/// True if `mark`, the `.git` of `folder`, leads into the repository's folder for submodules.
fn is_kept(folder: &AbsolutePath, mark: &AbsolutePath, kept: &AbsolutePath) -> Result<bool, LandingError> {
    if disk::is_link(mark) || !disk::is_file(mark) {
        return Ok(false);
    }
    let Some(own) = super::git::own_folder(folder.as_path()) else { return Ok(false) };
    Ok(disk::real(&own)?.is_within(&disk::real(kept)?))
}
