//! The remote that a pull request is made at. These are the only calls of git that reach one.

use super::candidate::Candidate;
use super::error::LandingError;
use super::id::Commit;
use super::repository::{Repository, reference_of};
use crate::world::Finished;

/// The most commits of the target that are compared with a candidate.
const COMPARED: &str = "500";

/// What happened to a branch that was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// It is at the commit.
    Done,
    /// It is at a commit that is not known here, or that would be lost.
    Foreign(String),
    /// Git or the remote refused, with this message.
    Refused(String),
}

impl Repository {
    /// Returns the remote of the target and the name of its branch there: what `git branch --set-upstream-to` set, else
    /// the same name at `origin` or the only remote.
    pub(crate) fn remote_of_target(&self) -> Result<Option<(String, String)>, LandingError> {
        let branch = &self.target().branch;
        let setting = |name: &str| -> Result<Option<String>, LandingError> {
            let found = self.git.run(["config", "--get", &format!("branch.{branch}.{name}")])?;
            Ok(Some(found.text()).filter(|text| found.success() && !text.is_empty()))
        };
        let remotes = self.git.text(["remote"])?;
        let known: Vec<&str> = remotes.lines().collect();
        if let Some(remote) = setting("remote")?.filter(|remote| known.contains(&remote.as_str())) {
            let merged = setting("merge")?;
            let there = merged.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
            return Ok(Some((remote, there.unwrap_or(branch).to_owned())));
        }
        let remote = known.iter().find(|remote| **remote == "origin").or(known.first().filter(|_| known.len() == 1));
        Ok(remote.map(|remote| ((*remote).to_owned(), branch.clone())))
    }

    /// Returns the address of a remote.
    pub(crate) fn address_of(&self, remote: &str) -> Result<String, LandingError> {
        Ok(self.git.run(["remote", "get-url", "--", remote])?.text())
    }

    /// Asks a remote for the commit of a branch; the inner `Err` is why it does not answer.
    pub(crate) fn remote_tip(
        &self,
        remote: &str,
        branch: &str,
    ) -> Result<Result<Option<String>, String>, LandingError> {
        let reference = reference_of(branch);
        let answer = self.git.reaching().run(["ls-remote", "--refs", "--", remote, &reference])?;
        if !answer.success() {
            return Ok(Err(message(&answer)));
        }
        let text = answer.text();
        let line = text.lines().find_map(|line| line.split_once('\t').filter(|(_, name)| *name == reference));
        Ok(Ok(line.map(|(commit, _)| commit.to_owned())))
    }

    /// Pushes a commit to a branch of a remote. The branch is replaced only if it does not exist, or is at a commit that
    /// `is_ours` knows or that the work has in its history. Hooks of the repository do not run.
    pub(crate) fn push(
        &self,
        candidate: &Candidate,
        (remote, branch): (&str, &str),
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Push, LandingError> {
        let there = match self.remote_tip(remote, branch)? {
            Ok(there) => there,
            Err(why) => return Ok(Push::Refused(why)),
        };
        if there.as_deref() == Some(candidate.commit.as_str()) {
            return Ok(Push::Done);
        }
        if let Some(name) = there.as_deref().filter(|name| !is_ours(name)) {
            let known = Commit::parse(name).filter(|commit| self.tree_of(commit).is_ok());
            let is_included = known.map(|commit| self.git.is_ancestor(&commit, &candidate.head)).transpose()?;
            if is_included != Some(true) {
                return Ok(Push::Foreign(name.to_owned()));
            }
        }
        let reference = reference_of(branch);
        let lease = format!("--force-with-lease={reference}:{}", there.unwrap_or_default());
        let what = format!("{}:{reference}", candidate.commit);
        let line = ["push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", &lease, "--"];
        let pushed = self.git.reaching().run(line.into_iter().chain([remote, &what]))?;
        Ok(if pushed.success() { Push::Done } else { Push::Refused(message(&pushed)) })
    }

    /// Returns how many commits the target has that a commit of a remote does not have, and the other way round; `None`
    /// if that commit is not here.
    pub(crate) fn apart_from(&self, there: &str) -> Result<Option<(usize, usize)>, LandingError> {
        let target = self.target().reference();
        let line = ["rev-list", "--left-right", "--count", "--end-of-options", &format!("{target}...{there}"), "--"];
        let counted = self.git.run(line)?;
        let text = counted.text();
        let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
        Ok(numbers.next().flatten().zip(numbers.next().flatten()))
    }

    /// Returns the first line of a commit's message.
    pub(crate) fn subject_of(&self, commit: &Commit) -> Result<String, LandingError> {
        self.git.text(["log", "-1", "--format=%s", commit.as_str(), "--"])
    }

    /// Returns the commit of the target, since the base of the candidate, that has exactly its work.
    pub(crate) fn merged_as(&self, candidate: &Candidate) -> Result<Option<Commit>, LandingError> {
        let since = format!("{}..{}", candidate.base, self.target().reference());
        let line = ["rev-list", "--first-parent", "--reverse", "--max-count", COMPARED, &since, "--"];
        for name in self.git.text(line)?.lines() {
            let Some(commit) = Commit::parse(name) else { continue };
            if commit == candidate.commit || self.is_merge_of(&candidate.head, &commit)? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }
}

/// Returns what git said on one line: the end of it has the reason.
fn message(finished: &Finished) -> String {
    let said = finished.error_text();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [] => "git gave no reason".to_owned(),
        lines => lines[lines.len().saturating_sub(4)..].join("; "),
    }
}
