//! Committing files of repositories inside the project, each in its own repository.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::commit::WouldCommit;
use super::message_for_log;
use super::repository::{Repository, about, complaint};
use crate::acts::Call;
use crate::failure::Failure;
use crate::project::repository::is_repository;

/// How long git may take: hooks run inside it.
const PATIENCE: Duration = Duration::from_secs(120);

/// What `commit-to-subrepo` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubrepoReport {
    committed: bool,
    repos: BTreeMap<String, RepositoryReport>,
    /// Files that are in none of the repositories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
}

impl SubrepoReport {
    /// Lists each repository with its new commit.
    pub(crate) fn raw(&self) -> String {
        let hash = |report: &RepositoryReport| report.hash.clone().unwrap_or_else(|| "skip".to_owned());
        self.repos.iter().map(|(name, report)| format!("{name}:{}", hash(report))).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct RepositoryReport {
    committed: bool,
    hash: Option<String>,
    files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// With `--dry-run`: the commit that would be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_commit: Option<WouldCommit>,
}

/// Commits files, each in its repository.
pub(crate) fn commit(call: &Call, message: &str, files: &[String]) -> Result<SubrepoReport, Failure> {
    let message = &message_for_log(call, message);
    let config = call.config()?;
    let known: Vec<String> = config
        .sub_repositories()
        .iter()
        .map(|name| name.trim_start_matches("./").trim_end_matches('/').to_owned())
        .collect();
    if known.is_empty() {
        return Err(Failure::usage("`planning.sub_repos` is not set in the configuration")
            .hint("set it: `gsd-tools config-set planning.sub_repos '[\"name\"]'`"));
    }
    let mut matched: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut unmatched = Vec::new();
    for typed in files {
        // With `..` resolved, so that no path leaves its apparent repository.
        let inside = call.layout().inside(typed);
        let repository = inside.as_deref().and_then(|path| {
            known.iter().find(|name| path.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/')))
        });
        match (repository, inside.as_ref()) {
            (Some(repository), Some(path)) => matched.entry(repository.clone()).or_default().push(path.clone()),
            _ => unmatched.push(typed.clone()),
        }
    }
    if !unmatched.is_empty() {
        call.warn(format!("not in a repository of `planning.sub_repos`: {}", unmatched.join(", ")));
    }
    let mut repos = BTreeMap::new();
    for (name, files) in matched {
        let repository = Repository::at(call, call.root().resolve(&name), PATIENCE).for_writing(call)?;
        let report = commit_in(call, &repository, &name, files, message);
        repos.insert(name, report);
    }
    let committed = repos.values().any(|report| report.committed);
    Ok(SubrepoReport { committed, repos, unmatched })
}

fn commit_in(call: &Call, repository: &Repository, name: &str, files: Vec<String>, message: &str) -> RepositoryReport {
    let git = |arguments: &[&str], paths: &[&str]| repository.run(&about(arguments, paths));
    let left = |reason, error: Option<String>, files| RepositoryReport {
        committed: false,
        hash: None,
        files,
        reason: Some(reason),
        error,
        would_commit: None,
    };
    let folder = call.root().resolve(name);
    if !is_repository(&folder) {
        let error = format!("`{folder}` is not a git repository");
        return left("error", Some(error), files);
    }
    let paths: Vec<&str> = files.iter().map(|file| &file[name.len() + 1..]).collect();
    let added = git(&["add", "-A"], &paths);
    if !added.success() {
        return left("error", Some(complaint(&added)), files);
    }
    if git(&["diff", "--cached", "--quiet"], &paths).success() {
        return left("nothing_to_commit", None, files);
    }
    // The paths are given again, because other staged files are not part of this commit.
    let rehearsal: &[&str] = if call.is_rehearsal() { &["--dry-run"] } else { &[] };
    let committed = git(&[&["commit"], rehearsal, &["-q", "-m", message]].concat(), &paths);
    if !committed.success() {
        let told = format!("{}\n{}", committed.text(), committed.error_text());
        return left("error", Some(told.trim().to_owned()), files);
    }
    if call.is_rehearsal() {
        if let Some(error) = repository.complaint_of_author() {
            return left("error", Some(error), files);
        }
        let would_commit = Some(WouldCommit {
            message: message.to_owned(),
            files: repository.staged(&paths),
            branch: repository.branch(),
            new_branch: false,
            amend: false,
        });
        return RepositoryReport { would_commit, ..left("rehearsed", None, files) };
    }
    let hash = repository.short_hash();
    RepositoryReport { committed: true, hash, files, reason: None, error: None, would_commit: None }
}
