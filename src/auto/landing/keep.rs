//! What is kept for 30 days after its worktree or branch is gone.

use serde::Serialize;

use super::error::LandingError;
use super::id::Commit;
use super::repository::Repository;
use crate::project::branch_name::is_branch_name;
use crate::text::time;

/// Where kept commits are.
pub(super) const KEEP: &str = "refs/gsd/keep/";

/// How long commits are kept, in milliseconds.
const LIFETIME: i64 = 30 * 24 * 60 * 60 * 1000;

/// A commit that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Kept {
    /// Such as `refs/gsd/keep/2026-11-23/M001/head-0123456789ab`: the day from which it is kept, what it belongs to, what it
    /// is.
    pub(crate) reference: String,
    pub(crate) commit: Commit,
}

impl Kept {
    /// The beginning of the day from which it is kept, in milliseconds since 1970; `None` if the name has no day.
    fn since(&self) -> Option<i64> {
        time::milliseconds(self.reference.strip_prefix(KEEP)?.split('/').next()?)
    }
}

impl Repository {
    /// Keeps a commit, as `kind` of `name`. Keeping it again on the same day does nothing.
    pub(super) fn keep(&self, commit: &Commit, name: &str, kind: &str, at: i64) -> Result<Kept, LandingError> {
        if !is_branch_name(name) {
            return Err(LandingError::BadBranch { name: name.to_owned() });
        }
        let moment = time::shown(at).unwrap_or_default();
        let day = moment.split('T').next().unwrap_or_default();
        let reference = format!("{KEEP}{day}/{name}/{kind}-{}", commit.short());
        match self.git.swap(&reference, None, Some(commit), "gsd-tools auto: keep")? {
            Ok(()) => Ok(Kept { reference, commit: commit.clone() }),
            Err(_) => Err(LandingError::Moved { reference }),
        }
    }

    /// All that is kept.
    pub(crate) fn kept(&self) -> Result<Vec<Kept>, LandingError> {
        let found = self.references(&[KEEP])?.into_iter();
        Ok(found.map(|(reference, commit)| Kept { reference, commit }).collect())
    }

    /// What has been kept for more than 30 days.
    pub(crate) fn expired_keeps(&self, now: i64) -> Result<Vec<Kept>, LandingError> {
        let is_expired = |kept: &Kept| kept.since().is_some_and(|since| now.saturating_sub(since) > LIFETIME);
        Ok(self.kept()?.into_iter().filter(is_expired).collect())
    }

    /// Stops keeping a commit. One that is kept no longer is no failure.
    pub(crate) fn forget(&self, kept: &Kept) -> Result<(), LandingError> {
        match self.git.swap(&kept.reference, Some(&kept.commit), None, "gsd-tools auto: forget")? {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(_)) => Err(LandingError::Moved { reference: kept.reference.clone() }),
        }
    }

    /// The references that begin with one of `prefixes`, and their commits.
    pub(super) fn references(&self, prefixes: &[&str]) -> Result<Vec<(String, Commit)>, LandingError> {
        let line = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let answer = self.git.text(line.iter().chain(prefixes))?;
        let reference = |line: &str| {
            let (commit, name) = line.split_once(' ')?;
            Some((name.to_owned(), Commit::parse(commit)?))
        };
        Ok(answer.lines().filter_map(reference).collect())
    }
}
