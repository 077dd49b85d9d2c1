//! Merging the worktrees of a wave into the current branch, and removing them.

use crate::acts::Call;
use crate::acts::git::repository::refuse_repository_of_others;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Git, ManifestFile, RefusableResult, Refusal};
use crate::disk;
use crate::failure::Failure;
use crate::project::wave::{WaveEntry, WaveManifest};

/// What `worktree cleanup-wave` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaveReport {
    pub(crate) ok: bool,
    plan: Plan,
    result: CleanupOutcome,
}

impl WaveReport {
    /// The worktrees, or their branches, that still exist.
    pub(crate) fn left(&self) -> impl Iterator<Item = &WaveEntry> {
        self.result.entries.iter().filter(|entry| !entry.status.is_gone()).map(|entry| &entry.entry)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Plan {
    action: CleanupAction,
    discovery: &'static str,
    reason: &'static str,
    entries: usize,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CleanupAction {
    Skip,
    CleanupWave,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CleanupOutcome {
    ok: bool,
    action: CleanupAction,
    reason: &'static str,
    entries: Vec<Cleared>,
    /// Always empty: every entry is handled in this call.
    pending: [(); 0],
    warnings: Vec<Warning>,
}

/// The result for one worktree.
#[derive(Debug, Serialize, JsonSchema)]
struct Cleared {
    #[serde(flatten)]
    entry: WaveEntry,
    allowed_bases: [String; 1],
    status: CleanupStatus,
    reason: &'static str,
    stderr: String,
    warnings: Vec<Warning>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CleanupStatus {
    MergedRemoved,
    /// Nothing was ever committed in it.
    RemovedEmpty,
    /// With `--dry-run`: it could be merged and removed.
    WouldMergeRemove,
    /// Merged, but a part of it still exists.
    Merged,
    Blocked,
}

impl CleanupStatus {
    fn is_gone(self) -> bool {
        matches!(self, Self::MergedRemoved | Self::RemovedEmpty | Self::WouldMergeRemove)
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub(crate) enum Warning {
    /// A file that the agent was not declared to change.
    ScopeOutOfDeclared { branch: String, path: String },
    /// An ignored file that exists only in this worktree: the worktree is merged and kept.
    IgnoredFileKept { branch: String, path: String },
    /// Entries of the manifest that cannot be used.
    EntriesUnsound { count: usize },
    /// Work of an agent that no plan of the wave claims. It is not touched.
    WorktreeUnclaimed { branch: String, path: String },
}

/// A worktree to clean up, and what is already known about it.
pub(crate) struct CleanupTask {
    pub(crate) entry: WaveEntry,
    /// Why it must not be touched.
    pub(crate) obstacle: Option<Stop>,
    /// Whether nothing was ever committed in it.
    pub(crate) is_empty: bool,
    /// The prefix of the plan's paths in git's paths, such as `app/`.
    pub(crate) prefix: String,
}

impl From<WaveEntry> for CleanupTask {
    fn from(entry: WaveEntry) -> Self {
        Self { entry, obstacle: None, is_empty: false, prefix: String::new() }
    }
}

/// Why a worktree was not merged and removed.
pub(crate) struct Stop {
    status: CleanupStatus,
    reason: &'static str,
    stderr: String,
}

impl Stop {
    pub(crate) fn blocked(reason: &'static str, stderr: impl Into<String>) -> Self {
        Self { status: CleanupStatus::Blocked, reason, stderr: stderr.into() }
    }
}

pub(crate) fn cleanup_wave(call: &Call, manifest: &str) -> RefusableResult<WaveReport> {
    refuse_repository_of_others(call.here())?;
    let skipped = |reason, warnings| {
        let plan = Plan { action: CleanupAction::Skip, discovery: "manifest", reason, entries: 0 };
        let result = CleanupOutcome {
            ok: false,
            action: CleanupAction::Skip,
            reason,
            entries: Vec::new(),
            pending: [],
            warnings,
        };
        WaveReport { ok: false, plan, result }
    };
    let WaveManifest { entries, unsound, .. } = match ManifestFile::read(call, manifest) {
        Ok(file) => file.manifest,
        Err(Refusal { reason: reason @ "invalid_manifest_json", hint, .. }) => {
            if let Some(hint) = hint {
                call.warn(hint);
            }
            return Ok(Ok(skipped(reason, Vec::new())));
        }
        Err(refusal) => return Ok(Err(Refusal { hint: None, ..refusal })),
    };
    let mut warnings = Vec::new();
    if unsound > 0 {
        warnings.push(Warning::EntriesUnsound { count: unsound });
    }
    if entries.is_empty() {
        return Ok(Ok(skipped("empty_manifest", warnings)));
    }
    let git = Git::here(call);
    if git.commit().is_some() && git.branch().is_none() {
        let hint = "no branch is checked out here; run `git switch BRANCH`, then this command again";
        return Ok(Err(Refusal::because("wrong_branch", hint)));
    }
    let tasks = entries.into_iter().map(CleanupTask::from).collect();
    clear_all(call, git, tasks, warnings).map(Ok)
}

pub(crate) fn clear_all(
    call: &Call,
    git: Git,
    tasks: Vec<CleanupTask>,
    mut warnings: Vec<Warning>,
) -> Result<WaveReport, Failure> {
    let mut way = if call.is_rehearsal() { Way::Rehearse(Rehearsal::new(call)?) } else { Way::Act(git) };
    let folder = |task: &CleanupTask| call.here().resolve(&task.entry.worktree_path);
    let entries: Vec<Cleared> = tasks.into_iter().map(|task| clear(&mut way, folder(&task).as_path(), task)).collect();
    warnings.extend(entries.iter().flat_map(|entry| entry.warnings.iter().cloned()));
    let ok = entries.iter().all(|entry| entry.status.is_gone());
    let plan = Plan {
        action: CleanupAction::CleanupWave,
        discovery: "manifest",
        reason: "manifest_entries_present",
        entries: entries.len(),
    };
    let reason = if ok { "ok" } else { "cleanup_blocked" };
    let result = CleanupOutcome { ok, action: CleanupAction::CleanupWave, reason, entries, pending: [], warnings };
    Ok(WaveReport { ok, plan, result })
}

/// How a wave is cleaned up.
enum Way {
    Act(Git),
    Rehearse(Rehearsal),
}

/// Merges that are made outside the repository, each on top of the previous one.
struct Rehearsal {
    git: Git,
    /// The commit that the current branch would be at.
    tip: String,
}

impl Rehearsal {
    fn new(call: &Call) -> Result<Self, Failure> {
        Ok(Self { git: Git::here(call).aside(call)?, tip: "HEAD".to_owned() })
    }

    /// What [`merge_and_remove`] would do, except for the effects of git's hooks.
    fn merge(&mut self, entry: &WaveEntry) -> Result<(), Stop> {
        let reference = format!("refs/heads/{}", entry.branch);
        if self.git.is_ancestor(&reference, &self.tip) {
            return Ok(());
        }
        let asked = |arguments: &[&str]| {
            let finished = self.git.run(arguments);
            let told = || format!("{}\n{}", finished.text(), finished.error_text());
            if finished.success() { Ok(finished.text()) } else { Err(Stop::blocked("merge_failed", told().trim())) }
        };
        let staged = asked(&["diff", "--cached", "--name-only"])?;
        if !staged.is_empty() {
            return Err(Stop::blocked("merge_failed", format!("staged but not committed:\n{staged}")));
        }
        let tree = asked(&["merge-tree", "--write-tree", &self.tip, &reference])?;
        // Fails if the merge would write to uncommitted or untracked files.
        asked(&["read-tree", "-m", "-u", "--dry-run", "HEAD", &tree])?;
        self.tip = asked(&["commit-tree", "-p", &self.tip, "-p", &reference, "-m", &message(entry), &tree])?;
        Ok(())
    }
}

fn message(entry: &WaveEntry) -> String {
    format!("chore: merge executor worktree ({})", entry.branch)
}

fn merges(git: &Git) -> bool {
    git.answer(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]).is_some()
}

fn clear(way: &mut Way, folder: &Path, task: CleanupTask) -> Cleared {
    let mut warnings = Vec::new();
    let CleanupTask { entry, obstacle, is_empty, prefix } = task;
    let removed = if is_empty { CleanupStatus::RemovedEmpty } else { CleanupStatus::MergedRemoved };
    let outcome = match (obstacle, way) {
        (Some(stop), _) => Err(stop),
        (None, Way::Act(git)) => check(git, "HEAD", folder, (&entry, &prefix), &mut warnings)
            .and_then(|()| merge_and_remove(git, folder, &entry))
            .map(|()| removed),
        (None, Way::Rehearse(rehearsal)) => {
            check(&rehearsal.git, &rehearsal.tip, folder, (&entry, &prefix), &mut warnings)
                .and_then(|()| rehearsal.merge(&entry))
                .map(|()| CleanupStatus::WouldMergeRemove)
        }
    };
    let (status, reason, stderr) = match outcome {
        Ok(status) => (status, "ok", String::new()),
        Err(stop) => (stop.status, stop.reason, stop.stderr),
    };
    Cleared { allowed_bases: [entry.expected_base.clone()], entry, status, reason, stderr, warnings }
}

/// Checks that the worktree matches the manifest, is committed, and can be merged into `tip`.
fn check(
    git: &Git,
    tip: &str,
    folder: &Path,
    (entry, prefix): (&WaveEntry, &str),
    warnings: &mut Vec<Warning>,
) -> Result<(), Stop> {
    if !disk::is_folder(folder) {
        return Err(Stop::blocked("branch_mismatch", format!("folder not found: `{}`", folder.display())));
    }
    let worktree = git.at(folder);
    if worktree.branch().as_ref() != Some(&entry.branch) {
        let complaint = worktree.run(&["symbolic-ref", "-q", "HEAD"]).error_text();
        return Err(Stop::blocked("branch_mismatch", complaint));
    }
    if git.branch().as_ref() == Some(&entry.branch) {
        return Err(Stop::blocked("branch_checked_out_here", "a worktree cannot be merged into itself"));
    }
    let reference = format!("refs/heads/{}", entry.branch);
    let kept = only_here(git, &worktree).into_iter();
    warnings.extend(kept.map(|path| Warning::IgnoredFileKept { branch: entry.branch.clone(), path }));
    // It was merged by hand, after a conflict for example: only its own folder is left to check.
    if git.is_ancestor(&reference, tip) {
        return is_clean(&worktree);
    }
    let base = git.run(&["merge-base", tip, &reference]);
    if !names_commit(&entry.expected_base, &base.text()) {
        return Err(Stop::blocked("base_mismatch", base.error_text()));
    }
    let span = format!("{}...{reference}", entry.expected_base);
    let changed = |filter: &str| -> Result<Vec<String>, Stop> {
        let listed = git.run(&["diff", "--name-only", "-z", "--no-renames", filter, &span]);
        if !listed.success() {
            return Err(Stop::blocked("base_mismatch", listed.error_text()));
        }
        Ok(listed.text().split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    };
    let announced = entry.declared_deletions.as_deref().unwrap_or_default();
    let deletions: Vec<String> =
        changed("--diff-filter=D")?.into_iter().filter(|path| !is_named(path, announced, prefix)).collect();
    if !deletions.is_empty() {
        return Err(Stop::blocked("branch_contains_deletions", deletions.join("\n")));
    }
    is_clean(&worktree)?;
    if let Some(declared) = &entry.files_modified {
        let outside = changed("--diff-filter=d")?.into_iter().filter(|path| !is_named(path, declared, prefix));
        warnings.extend(outside.map(|path| Warning::ScopeOutOfDeclared { branch: entry.branch.clone(), path }));
    }
    // A merge in progress here is not ours; aborting our merge would abort it.
    if merges(git) {
        return Err(Stop::blocked(
            "merge_failed",
            "a merge is in progress here; finish it with `git merge --continue` or `git merge --abort` first",
        ));
    }
    Ok(())
}

/// True if a path, as git gives it, is among `names`, which are relative to `prefix`.
fn is_named(path: &str, names: &[String], prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|path| names.iter().any(|name| name.trim_start_matches("./") == path))
}

pub(crate) fn is_clean(worktree: &Git) -> Result<(), Stop> {
    let status = worktree.status();
    if !status.success() || !status.stdout.is_empty() {
        let told = if status.success() { status.text() } else { status.error_text() };
        return Err(Stop::blocked("worktree_dirty", told));
    }
    Ok(())
}

/// True if `name` is the commit's hash, or its beginning as git abbreviates it.
fn names_commit(name: &str, commit: &str) -> bool {
    name == commit || (name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) && commit.starts_with(name))
}

/// What programs create again: folders of built files and of packages, and caches.
const MADE_ANEW: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "obj",
    "coverage",
    "venv",
    ".venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".DS_Store",
    "Thumbs.db",
];

/// The endings of such files.
const ENDS_MADE_ANEW: &[&str] = &[".pyc", ".pyo", ".o", ".class", ".tsbuildinfo"];

/// The ignored files that would be lost with a worktree: those that are not the same in the main tree, and that no
/// program creates again.
pub(crate) fn only_here(git: &Git, worktree: &Git) -> Vec<String> {
    let top = |git: &Git| git.answer(&["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    let (Some(main), Some(own)) = (top(git), top(worktree)) else { return Vec::new() };
    let listed = |more: &[&str]| {
        let arguments = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"];
        let answer = worktree.at(&own).answer(&[&arguments, more].concat()).unwrap_or_default();
        let is_made = |path: &str| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            path.split('/').any(|part| MADE_ANEW.contains(&part))
                || ENDS_MADE_ANEW.iter().any(|end| name.ends_with(end))
        };
        let paths = answer.split('\0').filter(|path| !path.is_empty() && !is_made(path));
        paths.map(str::to_owned).collect::<Vec<_>>()
    };
    // Folders first, as one entry each, because build folders may contain very many files.
    let entries = listed(&["--directory"]);
    if entries.is_empty() {
        return entries;
    }
    let literal: Vec<String> = entries.iter().map(|path| format!(":(literal){}", path.trim_end_matches('/'))).collect();
    let below: Vec<&str> = std::iter::once("--").chain(literal.iter().map(String::as_str)).collect();
    let bytes = |path: PathBuf| disk::read_up_to(path, LARGEST_COMPARED).ok().flatten();
    let is_same = |path: &String| bytes(own.join(path)).is_some_and(|own| bytes(main.join(path)) == Some(own));
    let mut kept = listed(&below);
    kept.retain(|path| !is_same(path));
    kept
}

/// In bytes: a larger file is not compared, and kept.
const LARGEST_COMPARED: u64 = 16 * 1024 * 1024;

fn merge_and_remove(git: &Git, folder: &Path, entry: &WaveEntry) -> Result<(), Stop> {
    let reference = format!("refs/heads/{}", entry.branch);
    let message = message(entry);
    let merged = git.run(&["merge", "--no-ff", "--no-edit", "-m", &message, &reference]);
    if !merged.success() {
        let told = format!("{}\n{}", merged.text(), merged.error_text());
        if merges(git) {
            let _ = git.run(&["merge", "--abort"]);
        }
        return Err(Stop::blocked("merge_failed", told.trim()));
    }
    let left = |reason, stderr| Stop { status: CleanupStatus::Merged, reason, stderr };
    let kept = only_here(git, &git.at(folder));
    if !kept.is_empty() {
        let cure = "git ignores these files, and they exist only in this worktree; move or remove them, then run this command again";
        return Err(left("ignored_files_kept", format!("{}\n{cure}", kept.join("\n"))));
    }
    let place = folder.to_string_lossy();
    // An agent's own lock; git refuses without one.
    let _ = git.run(&["worktree", "unlock", &place]);
    let removed = git.remove_worktree(&place);
    if !removed.success() {
        return Err(left("worktree_remove_failed", removed.error_text()));
    }
    let deleted = git.remove_merged_branch(&entry.branch);
    if deleted.success() { Ok(()) } else { Err(left("branch_delete_failed", deleted.error_text())) }
}
