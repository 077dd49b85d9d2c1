//! Commits of the engine, made from trees with a date from the caller, so that the same input gives the same commit.

use super::error::LandingError;
use super::git::Git;
use super::id::{Commit, Tree};
use super::repository::{Repository, reference_of};
use super::worktree::Worktree;

/// The text and date of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitMessage {
    pub(crate) text: String,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

impl CommitMessage {
    pub(crate) fn new(text: impl Into<String>, at: i64) -> Self {
        Self { text: text.into(), at }
    }

    /// Returns the form that git stores: whole seconds, and one newline at the end.
    fn stored(&self) -> (i64, String) {
        (self.at.div_euclid(1000), format!("{}\n", self.text.trim_end()))
    }
}

/// The outcome of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    Made(Commit),
    /// The same call made it earlier.
    AlreadyMade(Commit),
    /// Nothing differs from this commit.
    Nothing(Commit),
}

impl Committed {
    /// The commit that the branch is at.
    pub(crate) fn commit(&self) -> &Commit {
        match self {
            Self::Made(commit) | Self::AlreadyMade(commit) | Self::Nothing(commit) => commit,
        }
    }
}

/// Whether people will see a commit in the history of a branch. Only those are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    History,
    Engine,
}

impl Repository {
    /// Commits all files of a worktree on its branch. A commit without changes is made only if `may_be_empty`.
    pub(crate) fn commit(
        &self,
        worktree: &Worktree,
        message: &CommitMessage,
        may_be_empty: bool,
    ) -> Result<Committed, LandingError> {
        let snapshot = self.snapshot(worktree)?;
        let head = snapshot.head;
        if snapshot.changes.is_empty() {
            if self.is_made(&head, message)? {
                index_as_committed(&worktree.git(self)?)?;
                return Ok(Committed::AlreadyMade(head));
            }
            if !may_be_empty {
                return Ok(Committed::Nothing(head));
            }
        }
        let commit = self.commit_tree(&snapshot.tree, &[&head], message, Audience::History)?;
        let Some(branch) = &worktree.branch else {
            let (folder, expected) = (worktree.folder.clone(), "a branch of the engine".to_owned());
            return Err(LandingError::BranchLeft { folder, expected, found: None });
        };
        let reference = reference_of(branch);
        if self.git.swap(&reference, Some(&head), Some(&commit), "gsd-tools auto: commit")?.is_err() {
            return Err(LandingError::Moved { reference });
        }
        index_as_committed(&worktree.git(self)?)?;
        Ok(Committed::Made(commit))
    }

    /// True if a commit has this text and date.
    fn is_made(&self, commit: &Commit, message: &CommitMessage) -> Result<bool, LandingError> {
        let told = self.git.ask(["show", "--no-patch", "--format=%ct%x00%B", commit.as_str()])?;
        let told = String::from_utf8_lossy(&told).into_owned();
        let (seconds, text) = message.stored();
        Ok(told
            .split_once('\0')
            .is_some_and(|(date, body)| date == seconds.to_string() && body.trim_end() == text.trim_end()))
    }

    /// Refuses a repository in which git does not know who commits.
    pub(super) fn check_identity(&self) -> Result<(), LandingError> {
        let told = self.git.run(["var", "GIT_COMMITTER_IDENT"])?;
        if told.success() {
            return Ok(());
        }
        // Advice of git comes before its reason.
        let why = told.error_text().lines().last().unwrap_or_default().trim_start_matches("fatal: ").to_owned();
        Err(LandingError::NoIdentity { why })
    }

    /// Makes a commit of a tree; no reference names it yet.
    pub(super) fn commit_tree(
        &self,
        tree: &Tree,
        parents: &[&Commit],
        message: &CommitMessage,
        audience: Audience,
    ) -> Result<Commit, LandingError> {
        let (seconds, text) = message.stored();
        let date = format!("{seconds} +0000");
        let git = self.git.with("GIT_AUTHOR_DATE", &date).with("GIT_COMMITTER_DATE", &date);
        let is_signed = audience == Audience::History && self.signs;
        let mut line = vec!["commit-tree", if is_signed { "-S" } else { "--no-gpg-sign" }];
        line.extend(parents.iter().flat_map(|parent| ["-p", parent.as_str()]));
        line.push(tree.as_str());
        match git.tell(line, text.into_bytes()) {
            Ok(answer) => Commit::parse(&String::from_utf8_lossy(&answer))
                .ok_or(LandingError::Answer { command: "git commit-tree" }),
            Err(LandingError::Git { command, why }) => {
                self.check_identity()?;
                Err(if is_signed { LandingError::Unsigned { why } } else { LandingError::Git { command, why } })
            }
            Err(other) => Err(other),
        }
    }
}

/// Makes the index match the commit. The files stay as they are.
pub(super) fn index_as_committed(git: &Git) -> Result<(), LandingError> {
    git.ask(["reset", "--quiet", "--mixed", "--refresh"]).map(drop)
}
