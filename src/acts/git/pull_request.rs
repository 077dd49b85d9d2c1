//! Moves the changes in a repository inside the project to a separate branch, ready for a pull request.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::commit::WouldCommit;
use super::message_for_log;
use super::repository::Repository;
use crate::acts::Call;
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;
use crate::world::Finished;

/// How long git may take: hooks run inside it, and a push uses the network.
const PATIENCE: Duration = Duration::from_secs(120);

/// What `pr-subrepo` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PullRequestReport {
    ok: bool,
    repo: String,
    branch: String,
    committed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Files of the commit; for a renamed one, the old path and the new.
    files: Vec<String>,
    /// Files that git does not track yet: they are in no commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untracked: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit_hash: Option<String>,
    /// The address that the branch was pushed to.
    remote_url: Option<String>,
    /// Owner and name of the repository, if the address shows them.
    remote_slug: Option<String>,
    /// With `--dry-run`: the commit that would be made and pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_commit: Option<WouldCommit>,
}

/// Commits the changes in tracked files on the branch, and pushes it.
pub(crate) fn prepare(call: &Call, message: &str, repo: &str, branch: &str) -> Result<PullRequestReport, Failure> {
    let (repo, branch) = (repo.trim().to_owned(), branch.trim().to_owned());
    let message = message_for_log(call, message.trim());
    let folder = call.root().resolve(&repo);
    if call.layout().inside(&repo).is_none() {
        return Err(Failure::usage(format!("`{repo}` of `--repo` is outside the project"))
            .hint(format!("name a folder below `{}`", call.root())));
    }
    if !crate::disk::is_folder(&folder) {
        return Err(Failure::usage(format!("folder not found: `{folder}`"))
            .hint("check `--repo`; it starts at the project root"));
    }
    if !crate::disk::exists(folder.resolve(".git")) {
        return Err(Failure::usage(format!("`{folder}` is not a git repository"))
            .hint(format!("`{}` makes it one", typed!("git init {}", folder))));
    }
    let git = RepositoryGit(Repository::at(call, folder, PATIENCE).for_writing(call)?);
    if branch.starts_with('-') || !git.run(&["check-ref-format", "--branch", &branch])?.success() {
        return Err(Failure::usage(format!("`{branch}` is not a valid branch name"))
            .hint("name it with letters, digits, `-` and `/`, such as `feat/dates`"));
    }
    if git.run(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")])?.success() {
        let error = Failure::new(Reason::Usage, format!("`{repo}` already has a branch `{branch}`"));
        return Err(error.hint("choose another name with `--branch`; nothing was committed or pushed"));
    }
    let files = git.names(&["diff", "--name-only", "--no-renames", "-z", "HEAD", "--"])?;
    let untracked = git.names(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    let mut report = PullRequestReport {
        ok: true,
        repo: repo.clone(),
        branch: branch.clone(),
        committed: false,
        reason: Some("nothing_to_commit"),
        files: Vec::new(),
        untracked,
        commit_hash: None,
        remote_url: None,
        remote_slug: None,
        would_commit: None,
    };
    if files.is_empty() {
        return Ok(report);
    }
    if call.is_rehearsal() {
        rehearse(&git, &repo)?;
        report.reason = Some("rehearsed");
        report.would_commit =
            Some(WouldCommit { message, files, branch: Some(branch), new_branch: true, amend: false });
        return Ok(report);
    }
    git.must(&["switch", "-q", "-c", &branch], || format!("cannot switch `{repo}` to branch `{branch}`"))?;
    git.must(&["commit", "-q", "-a", "-m", &message], || format!("cannot commit in `{repo}`"))?;
    let commit_hash = git.must(&["rev-parse", "--short=7", "HEAD"], || "cannot read the new commit".to_owned())?;
    let pushed = git.must(&["push", "-q", "--set-upstream", "origin", &branch], || {
        format!("cannot push commit {commit_hash} on branch `{branch}`")
    });
    pushed.map_err(|error| {
        error.hint(format!("push it later: `{}`", typed!("git -C {} push --set-upstream origin {}", repo, branch)))
    })?;
    let remote_url = git.run(&["remote", "get-url", "origin"])?;
    let remote_url = Some(remote_url.text().trim().to_owned()).filter(|_| remote_url.success());
    report.committed = true;
    report.reason = None;
    report.files = files;
    report.commit_hash = Some(commit_hash);
    report.remote_slug = remote_url.as_deref().and_then(slug);
    report.remote_url = remote_url;
    Ok(report)
}

/// Checks whether a commit can be made and there is somewhere to push it to. The remote is not contacted.
fn rehearse(git: &RepositoryGit, repo: &str) -> Result<(), Failure> {
    if let Some(complaint) = git.0.complaint_of_author() {
        return Err(Failure::new(Reason::Unknown, format!("cannot commit in `{repo}`: {complaint}"))
            .hint("set your name and address with `git config user.name` and `git config user.email`"));
    }
    let remote = git.must(&["remote", "get-url", "--push", "origin"], || format!("`{repo}` has no remote to push to"));
    remote
        .map(drop)
        .map_err(|error| error.hint(format!("add one: `{}`", typed!("git -C {} remote add origin URL", repo))))
}

/// Git in one repository.
struct RepositoryGit(Repository);

impl RepositoryGit {
    fn run(&self, arguments: &[&str]) -> Result<Finished, Failure> {
        Ok(self.0.git(arguments)?)
    }

    /// Git's output; its complaint if it fails.
    fn must(&self, arguments: &[&str], failed: impl FnOnce() -> String) -> Result<String, Failure> {
        let finished = self.run(arguments)?;
        if finished.success() {
            return Ok(finished.text().trim().to_owned());
        }
        let told = format!("{}\n{}", finished.text(), finished.error_text());
        Err(Failure::new(Reason::Unknown, format!("{}: {}", failed(), told.trim())))
    }

    fn names(&self, arguments: &[&str]) -> Result<Vec<String>, Failure> {
        let told = self.must(arguments, || format!("cannot list changes in `{}`", self.0.folder()))?;
        Ok(told.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

/// `owner/name` of an address such as `https://host/owner/name.git` or `git@host:owner/name`.
fn slug(address: &str) -> Option<String> {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':').filter(|(host, _)| host.contains('@'))?.1,
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let mut parts = path.rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    (!name.is_empty() && !owner.is_empty()).then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn owner_and_name_are_read_from_an_address() {
        let expected = Some("o/r".to_owned());
        for address in ["https://example.com/o/r.git", "git@example.com:o/r", "ssh://git@example.com:22/o/r.git/"] {
            assert_eq!(slug(address), expected, "{address}");
        }
        for address in ["/srv/bare.git", "../bare", "https://example.com", "file"] {
            assert_eq!(slug(address), None, "{address}");
        }
    }
}
