//! Commits that are kept for 30 days after their worktree or branch is removed.

use super::error::LandingError;
use super::id::Commit;
use super::repository::Repository;
use crate::project::branch_name::is_branch_name;
use crate::text::time;
use crate::text::words::{of_word, words};

/// The prefix of kept references.
pub(super) const KEEP: &str = "refs/gsd/keep/";

const DAY: i64 = 24 * 60 * 60 * 1000;

/// How long commits are kept, in milliseconds, from the end of the day in their name.
const LIFETIME: i64 = 30 * DAY;

words! {
    /// What a kept commit contains.
    pub(super) enum KeepKind {
        /// The head of a worktree.
        Head = "head",
        /// Files that were not committed.
        Files = "files",
        /// Files that git ignores.
        Ignored = "ignored",
        /// The states of the worktree before it was restored.
        Checkpoints = "checkpoints",
    }
}

/// A commit that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptCommit {
    /// Such as `refs/gsd/keep/2026-11-23/M001/head-0123456789ab`: the first day, the owner, and the content.
    pub(crate) reference: String,
    pub(crate) commit: Commit,
}

impl KeptCommit {
    /// When it expires, in milliseconds since 1970. `None` if the name does not have the form that [`Repository::keep`]
    /// makes.
    fn until(&self) -> Option<i64> {
        let (day, rest) = self.reference.strip_prefix(KEEP)?.split_once('/')?;
        let (name, last) = rest.rsplit_once('/')?;
        let (kind, short) = last.rsplit_once('-')?;
        let is_ours = is_branch_name(name) && of_word::<KeepKind>(kind).is_some() && short == self.commit.short();
        // This program does not write days in other forms, such as `20261123`.
        let is_day =
            |day: &&str| day.len() == "2026-11-23".len() && day.bytes().filter(|byte| *byte == b'-').count() == 2;
        let begins = time::milliseconds(Some(day).filter(is_day).filter(|_| is_ours)?)?;
        Some(begins + DAY + LIFETIME)
    }

    /// What it belongs to, such as `milestone-M001`.
    fn name(&self) -> Option<&str> {
        let (_, rest) = self.reference.strip_prefix(KEEP)?.split_once('/')?;
        rest.rsplit_once('/').map(|(name, _)| name)
    }
}

impl Repository {
    /// Keeps a commit, as `kind` of `name`. Keeping it again on the same day does nothing.
    pub(super) fn keep(
        &self,
        commit: &Commit,
        name: &str,
        kind: KeepKind,
        at: i64,
    ) -> Result<KeptCommit, LandingError> {
        if !is_branch_name(name) {
            return Err(LandingError::BadBranch { name: name.to_owned() });
        }
        let moment = time::shown(at).unwrap_or_default();
        let day = moment.split('T').next().unwrap_or_default();
        let reference = format!("{KEEP}{day}/{name}/{}-{}", kind.word(), commit.short());
        match self.git.swap(&reference, None, Some(commit), "gsd-tools auto: keep")? {
            Ok(()) => Ok(KeptCommit { reference, commit: commit.clone() }),
            Err(_) => Err(LandingError::Moved { reference }),
        }
    }

    /// Returns the references that are kept under `name`.
    pub(crate) fn kept_under(&self, name: &str) -> Result<Vec<String>, LandingError> {
        let found = self.references(&[KEEP])?.into_iter().map(|(reference, commit)| KeptCommit { reference, commit });
        Ok(found.filter(|kept| kept.name() == Some(name)).map(|kept| kept.reference).collect())
    }

    /// Removes the references that were kept for 30 days, and returns what they belonged to, each once. References with
    /// names of another form stay, and so do those that moved in the meantime.
    pub(crate) fn forget_expired(&self, now: i64) -> Result<Vec<String>, LandingError> {
        let expired = self.expired(now)?;
        if expired.is_empty() {
            return Ok(Vec::new());
        }
        self.alone(|| {
            let mut names: Vec<String> = Vec::new();
            for kept in &expired {
                let gone =
                    self.git.swap(&kept.reference, Some(&kept.commit), None, "gsd-tools auto: kept for 30 days")?;
                if let (Ok(()), Some(name)) = (gone, kept.name())
                    && !names.iter().any(|known| known == name)
                {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        })
    }

    fn expired(&self, now: i64) -> Result<Vec<KeptCommit>, LandingError> {
        let found = self.references(&[KEEP])?.into_iter().map(|(reference, commit)| KeptCommit { reference, commit });
        Ok(found.filter(|kept| kept.until().is_some_and(|until| until < now)).collect())
    }

    /// Returns the references that start with one of `prefixes`, and their commits.
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
