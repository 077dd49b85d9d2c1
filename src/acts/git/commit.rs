//! `commit`: the project's rules, then git.

use crate::acts::caller;
use schemars::JsonSchema;
use serde::Serialize;

use super::message_for_log;
use super::repository::{Repository, about, complaint};
use crate::acts::Call;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::operations::phases::branch;
use crate::project::config::Branching;
use crate::project::wave::is_agent_branch;
use crate::world::WorldError;

/// The folder that is staged if no files are named.
const PLANNING: &str = ".planning/";

/// A requested commit: of all planning files, or of the named files.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitRequest {
    pub(crate) message: String,
    pub(crate) files: Vec<String>,
    pub(crate) files_removed: Vec<String>,
    /// Change the last commit instead of adding one.
    pub(crate) amend: bool,
    /// Skip the git hooks of the repository.
    pub(crate) no_verify: bool,
}

/// The result of a commit.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CommitReport {
    committed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<bool>,
    hash: Option<String>,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<StagingFailure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_files: Vec<String>,
    /// With `--dry-run`: the commit that would be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_commit: Option<WouldCommit>,
}

/// The commit of a rehearsal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WouldCommit {
    /// Empty if the last commit keeps its message.
    pub(crate) message: String,
    pub(crate) files: Vec<String>,
    /// The branch it would be on; absent if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// Whether the branch would be created first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) new_branch: bool,
    /// Whether it would replace the last commit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) amend: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StagingFailure {
    file: String,
    error: String,
    timed_out: bool,
}

impl CommitReport {
    fn skipped(reason: &'static str) -> Self {
        Self { skipped: Some(true), reason, ..Self::default() }
    }

    /// True if there was something to commit, and git did not commit it.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.reason, "staging_failed" | "staging_timeout" | "commit_failed" | "commit_timeout")
    }

    /// The hash, or a word for the result of the commit.
    pub(crate) fn raw(&self) -> &str {
        match (&self.hash, self.reason) {
            (Some(hash), _) => hash,
            (None, "nothing_to_commit") => "nothing",
            (None, _) if self.skipped.is_some() => "skipped",
            (None, _) => "failed",
        }
    }
}

/// Commits by the project's rules, for a caller that may be an agent.
pub(crate) fn commit(call: &Call, request: &CommitRequest) -> Result<CommitReport, Failure> {
    if request.no_verify {
        caller::refuses_agents(call, "commit --no-verify")?;
    }
    if request.message.trim().is_empty() && !request.amend {
        return Err(Failure::new(Reason::Usage, "`commit` needs a message")
            .hint("for example: `gsd-tools commit \"docs: update the plan\"`"));
    }
    let message = message_for_log(call, request.message.trim());
    let report = outcome(call, request, &message)?;
    // Workflows name the mirror with the documents; it does not exist before the first change of the state.
    let mirror = call.layout().state_mirror();
    for file in report.skipped_files.iter().filter(|file| **file != mirror) {
        let why = if disk::exists(call.root().resolve(file)) { "is ignored by git" } else { "does not exist" };
        call.warn(format!("`{file}` {why} and is not part of the commit"));
    }
    Ok(report)
}

/// Commits `files` by the project's rules, as `commit --files` does.
pub(crate) fn commit_files(call: &Call, message: &str, files: Vec<String>) -> Result<CommitReport, Failure> {
    if call.is_rehearsal() {
        return Ok(CommitReport { reason: "rehearsed", ..CommitReport::default() });
    }
    let request = CommitRequest { files, ..CommitRequest::default() };
    outcome(call, &request, &message_for_log(call, message))
}

fn outcome(call: &Call, request: &CommitRequest, message: &str) -> Result<CommitReport, Failure> {
    let repository = Repository::of(call).for_writing(call)?;
    let named = [&request.files[..], &request.files_removed[..]].concat();
    let phase = branch::phase_of_commit(message, &named);
    let config = call.config()?;
    let allowed = match phase.and_then(crate::project::phase::folder_token) {
        Some(phase) => config.commit_docs_of(phase),
        None => config.commit_docs(),
    };
    if !allowed {
        return Ok(CommitReport::skipped("skipped_commit_docs_false"));
    }
    if repository.ignores_planning() {
        return Ok(CommitReport::skipped("skipped_gitignored"));
    }
    let staged = stage(call, &repository, request);
    if let Some(failure) = staged.failures.first() {
        return Ok(CommitReport {
            reason: if failure.timed_out { "staging_timeout" } else { "staging_failed" },
            file: Some(failure.file.clone()),
            error: Some(failure.error.clone()),
            failures: staged.failures,
            skipped_files: staged.skipped,
            ..CommitReport::default()
        });
    }
    let nothing = staged.paths.is_empty() && !staged.whole_index;
    let paths = if staged.whole_index { Vec::new() } else { staged.paths };
    if !request.amend && (nothing || !repository.has_staged(&paths)) {
        let skipped_files = staged.skipped;
        return Ok(CommitReport { reason: "nothing_to_commit", skipped_files, ..CommitReport::default() });
    }
    let start = phase.map(|phase| branch_to_start(call, &repository, phase)).transpose()?.flatten();
    let report = if call.is_rehearsal() {
        rehearse(&repository, request, message, &paths, start)
    } else {
        if let Some(start) = start {
            start_branch(call, &repository, &start)?;
        }
        make(&repository, request, message, &paths)
    };
    Ok(CommitReport { skipped_files: staged.skipped, ..report })
}

fn make(repository: &Repository, request: &CommitRequest, message: &str, paths: &[String]) -> CommitReport {
    asked(repository, &commit_line(request, message, paths), || CommitReport {
        committed: true,
        hash: repository.short_hash(),
        reason: "committed",
        ..CommitReport::default()
    })
}

/// What [`make`] would do, on the current branch or on `start`. The hooks of the repository are not run.
fn rehearse(
    repository: &Repository,
    request: &CommitRequest,
    message: &str,
    paths: &[String],
    start: Option<String>,
) -> CommitReport {
    if let Some(error) = repository.complaint_of_author() {
        return failed("commit_failed", error);
    }
    let mut line = commit_line(request, message, paths);
    line.insert(1, "--dry-run".to_owned());
    asked(repository, &line, || CommitReport {
        reason: "rehearsed",
        would_commit: Some(WouldCommit {
            message: message.to_owned(),
            files: repository.staged(paths),
            new_branch: start.is_some(),
            branch: start.or_else(|| repository.branch()),
            amend: request.amend,
        }),
        ..CommitReport::default()
    })
}

/// Runs git to commit: returns its complaint, or the report of the success.
fn asked(repository: &Repository, line: &[String], success: impl FnOnce() -> CommitReport) -> CommitReport {
    match repository.git_in_turn(line) {
        Ok(finished) if finished.success() => success(),
        Ok(finished) if finished.text().contains("nothing to commit") => {
            CommitReport { reason: "nothing_to_commit", ..CommitReport::default() }
        }
        Ok(finished) => failed("commit_failed", complaint(&finished)),
        Err(error @ WorldError::TimedOut { .. }) => failed("commit_timeout", error.to_string()),
        Err(error) => failed("commit_failed", error.to_string()),
    }
}

fn failed(reason: &'static str, error: String) -> CommitReport {
    CommitReport { reason, error: Some(error), ..CommitReport::default() }
}

fn commit_line(request: &CommitRequest, message: &str, paths: &[String]) -> Vec<String> {
    let mut line = vec!["commit"];
    if message.is_empty() {
        line.push("--no-edit");
    } else {
        line.extend(["-m", message]);
    }
    line.extend(request.amend.then_some("--amend"));
    line.extend(request.no_verify.then_some("--no-verify"));
    about(&line, paths)
}

/// The result of staging: paths to commit, missing named files, and what git refused.
#[derive(Debug, Default)]
struct Staged {
    paths: Vec<String>,
    /// Whether the commit contains everything that is staged, including changes staged by others.
    whole_index: bool,
    skipped: Vec<String>,
    failures: Vec<StagingFailure>,
}

/// The git commands that stage a path, and that stage its removal. A path that has already left the index counts as
/// done.
const ADD: &[&str] = &["add", "--all"];
const REMOVE: &[&str] = &["rm", "--cached", "-r", "--quiet", "--ignore-unmatch"];

/// Stages the files to commit. If one path cannot be staged, none is.
fn stage(call: &Call, repository: &Repository, request: &CommitRequest) -> Staged {
    let mut staged = Staged::default();
    let everything = request.files.is_empty() && request.files_removed.is_empty();
    let is_there = |file: &str| disk::exists(call.root().resolve(file));
    let (mut added, mut removed): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    if everything && !request.amend {
        // Git commits a merge as a whole or not at all: a call without files may not finish one that the user began.
        staged.whole_index = !repository.is_amid_another_commit();
        if is_there(PLANNING) { added.push(PLANNING) } else { removed.push(PLANNING) }
    }
    for file in &request.files {
        if is_there(file) { added.push(file) } else { staged.skipped.push(file.clone()) }
    }
    for file in &request.files_removed {
        if is_there(file) {
            let error = format!("`{file}` is in `--files-removed` and still exists");
            staged.failures.push(StagingFailure { file: file.clone(), error, timed_out: false });
        } else {
            removed.push(file);
        }
    }
    // Ignored paths are left out if other paths are named; otherwise git reports them itself.
    let ignored = repository.ignored(&added);
    if ignored.len() < added.len() + removed.len() {
        added.retain(|path| !ignored.iter().any(|other| other == path));
        staged.skipped.extend(ignored);
    }
    // Git stages one path whole or not at all.
    if added.len() + removed.len() > 1 || !staged.failures.is_empty() {
        rehearse_staging(repository, ADD, &added, &mut staged);
        rehearse_staging(repository, REMOVE, &removed, &mut staged);
    }
    if !staged.failures.is_empty() {
        return staged;
    }
    for path in added {
        // A folder may contain nothing that git tracks.
        let is_kept = || !disk::is_folder(call.root().resolve(path)) || repository.has_staged(&[path]);
        if told_git(repository, ADD, path, &mut staged) && is_kept() {
            staged.paths.push(path.to_owned());
        }
    }
    for path in removed {
        // A path that git never tracked is not committed.
        if told_git(repository, REMOVE, path, &mut staged) && repository.has_staged(&[path]) {
            staged.paths.push(path.to_owned());
        }
    }
    staged
}

/// Checks with git whether it would stage all paths at once, and if not, each of them.
fn rehearse_staging(repository: &Repository, line: &[&str], paths: &[&str], staged: &mut Staged) {
    let line = [line, &["--dry-run"]].concat();
    let all = || repository.git_in_turn(&about(&line, paths)).is_ok_and(|finished| finished.success());
    if paths.is_empty() || all() {
        return;
    }
    for path in paths {
        told_git(repository, &line, path, staged);
    }
}

/// True if git accepted the path; its complaint is stored as a failure of this path.
fn told_git(repository: &Repository, line: &[&str], path: &str, staged: &mut Staged) -> bool {
    let (error, timed_out) = match repository.git_in_turn(&about(line, &[path])) {
        Ok(finished) if finished.success() => return true,
        Ok(finished) => (complaint(&finished), false),
        Err(error) => (error.to_string(), matches!(error, WorldError::TimedOut { .. })),
    };
    staged.failures.push(StagingFailure { file: path.to_owned(), error, timed_out });
    false
}

/// The branch of a phase that starts at its first commit. An existing branch, a phase that was worked on elsewhere, and
/// the user's own branch are not touched.
fn branch_to_start(call: &Call, repository: &Repository, phase: &str) -> Result<Option<String>, Failure> {
    let config = call.config()?;
    if config.branching() == Branching::None {
        return Ok(None);
    }
    let view = call.view();
    let plan_of = |text: &str| text.rsplit_once('-').map(|(phase, _)| phase.to_owned());
    let mut found = view.find_phase(crate::project::phase::folder_token(phase).unwrap_or(phase))?.folder;
    if found.is_none()
        && let Some(shorter) = plan_of(phase)
    {
        found = view.find_phase(&shorter)?.folder;
    }
    let Some(folder) = found else { return Ok(None) };
    let Some(target) = branch::wanted(&view, config, folder.token(), folder.slug())? else { return Ok(None) };
    // A git hook may write to the project.
    drop(view);
    let current = repository.branch();
    if current.as_deref() == Some(target.as_str()) {
        return Ok(None);
    }
    let here = current.as_ref().map_or_else(|| "a detached HEAD".to_owned(), |branch| format!("`{branch}`"));
    if current.as_deref().is_some_and(is_agent_branch) {
        // It is merged into the branch of the wave.
        return Ok(None);
    }
    if repository.has_branch(&target) {
        call.warn(format!("this work belongs on branch `{target}`; committing on {here}"));
    } else if config.branching() == Branching::Phase && repository.has_history(&folder.path) {
        call.warn(format!(
            "branch `{target}` does not exist and the phase has commits on another branch; committing on {here}"
        ));
    } else if current.as_deref() == Some(repository.base_branch(config).as_str()) {
        return Ok(Some(target));
    } else {
        call.warn(format!("branch `{target}` was not created: it starts from the base branch; committing on {here}"));
    }
    Ok(None)
}

fn start_branch(call: &Call, repository: &Repository, target: &str) -> Result<(), Failure> {
    let finished = repository.git(&["checkout", "-q", "-b", target])?;
    if !finished.success() {
        call.warn(format!(
            "cannot create branch `{target}`: {}; committing on the current branch",
            complaint(&finished)
        ));
    }
    Ok(())
}
