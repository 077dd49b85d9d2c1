//! Checks that the names a run would use are free.

use super::error::LandingError;
use super::repository::{Repository, reference_of};
use super::worktree::is_ours;
use crate::disk::{self, AbsolutePath};

impl Repository {
    /// Refuses a branch, tag or folder that a run would use but that belongs to someone else: it would be landed and
    /// removed with the run. `is_noted` says that a run recorded that it makes this branch; one that was killed before
    /// it could record that has its worktree in one of `folders`, without work. Work without a record is that of a run
    /// whose log is gone: it is nothing to continue another brief with.
    pub(crate) fn check_names(
        &self,
        branch: &str,
        folders: &[AbsolutePath],
        is_noted: bool,
    ) -> Result<(), LandingError> {
        let mut is_made = is_noted;
        for place in folders {
            self.check_place(place)?;
            match self.known(place)? {
                Some(known) if !is_ours(&known) => return Err(LandingError::NotOurs { folder: place.clone() }),
                Some(known) if known.branch.as_deref() == Some(branch) && !is_noted => {
                    if let Some(made) = self.branch(branch)?
                        && !self.git.is_ancestor(&made, &self.tip()?)?
                    {
                        let (root, free) = (self.root().clone(), self.free_branch(branch)?);
                        let (folder, branch) = (place.clone(), branch.to_owned());
                        return Err(LandingError::LogGone { root, folder, branch, free });
                    }
                    is_made = true;
                }
                Some(_) => {}
                None => {
                    let is_empty = disk::list(place)?.is_none_or(|entries| entries.is_empty());
                    if !is_empty || disk::is_file(place) || disk::is_link(place) {
                        return Err(LandingError::Occupied { folder: place.clone() });
                    }
                }
            }
        }
        if is_made {
            return Ok(());
        }
        if self.branch(branch)?.is_some() {
            let free = self.free_branch(branch)?;
            return Err(LandingError::BranchOfOthers { root: self.root().clone(), branch: branch.to_owned(), free });
        }
        let above = branch.match_indices('/').map(|(at, _)| branch.split_at(at).0);
        let mut blocker = None;
        for name in above {
            blocker = blocker.or(self.branch(name)?.map(|_| name.to_owned()));
        }
        let below = self.references(&[&format!("{}/", reference_of(branch))])?;
        let below = below.into_iter().find_map(|(name, _)| name.strip_prefix("refs/heads/").map(str::to_owned));
        if let Some(blocker) = blocker.or(below) {
            let (free, branch) = (self.free_branch(&blocker)?, branch.to_owned());
            return Err(LandingError::BranchBlocked { root: self.root().clone(), branch, blocker, free });
        }
        if !self.references(&[&format!("refs/tags/{branch}")])?.is_empty() {
            return Err(LandingError::TagOfThatName { root: self.root().clone(), name: branch.to_owned() });
        }
        Ok(())
    }

    /// Returns an unused name to which the person can rename a branch.
    fn free_branch(&self, branch: &str) -> Result<String, LandingError> {
        let plain = format!("{}-mine", branch.replace('/', "-"));
        let mut free = plain.clone();
        for number in 2..1000 {
            if self.branch(&free)?.is_none() {
                break;
            }
            free = format!("{plain}-{number}");
        }
        Ok(free)
    }
}
