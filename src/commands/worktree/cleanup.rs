//! Merging the worktrees of a wave into the current branch, and removing them.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Git, ManifestFile, Refusal, emit, refuse};
use crate::disk;
use crate::project::wave::{WaveEntry, WaveManifest};

/// What `worktree cleanup-wave` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct WaveReport {
    ok: bool,
    plan: Plan,
    result: Outcome,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Plan {
    action: Action,
    discovery: &'static str,
    reason: &'static str,
    entries: usize,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Skip,
    CleanupWave,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Outcome {
    ok: bool,
    action: Action,
    reason: &'static str,
    entries: Vec<Cleared>,
    /// Nothing is put off: every entry is dealt with in this call.
    pending: [(); 0],
    warnings: Vec<Warning>,
}

/// What became of one worktree.
#[derive(Debug, Serialize, JsonSchema)]
struct Cleared {
    agent_id: Option<String>,
    worktree_path: String,
    branch: String,
    expected_base: String,
    allowed_bases: [String; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    files_modified: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    declared_deletions: Option<Vec<String>>,
    status: Status,
    reason: &'static str,
    stderr: String,
    warnings: Vec<Warning>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    MergedRemoved,
    /// With `--dry-run`: nothing stands in the way of merging and removing it.
    WouldMergeRemove,
    /// Merged, but something of it is still there.
    Merged,
    Blocked,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
enum Warning {
    /// A file that the agent was not announced to change.
    ScopeOutOfDeclared { branch: String, path: String },
    /// Entries of the manifest that cannot be acted on.
    EntriesUnsound { count: usize },
}

/// Why a worktree was not merged and removed.
struct Stop {
    status: Status,
    reason: &'static str,
    stderr: String,
}

impl Stop {
    fn blocked(reason: &'static str, stderr: impl Into<String>) -> Self {
        Self { status: Status::Blocked, reason, stderr: stderr.into() }
    }
}

pub(super) fn cleanup_wave(context: &mut Context, manifest: Option<&str>) -> Result<(), CommandError> {
    let Some(manifest) = manifest else {
        return Err(CommandError::usage("`worktree cleanup-wave` needs --manifest").exits(2));
    };
    let skipped = |reason, warnings| {
        let plan = Plan { action: Action::Skip, discovery: "manifest", reason, entries: 0 };
        let result = Outcome { ok: false, action: Action::Skip, reason, entries: Vec::new(), pending: [], warnings };
        WaveReport { ok: false, plan, result }
    };
    let WaveManifest { entries, unsound, .. } = match ManifestFile::read(context, manifest) {
        Ok(file) => file.manifest,
        Err(Refusal { reason: reason @ "invalid_manifest_json", hint, .. }) => {
            if let Some(hint) = hint {
                context.warn(hint);
            }
            return emit(context, false, &skipped(reason, Vec::new()));
        }
        Err(refusal) => return refuse(context, &Refusal { hint: None, ..refusal }),
    };
    let mut warnings = Vec::new();
    if unsound > 0 {
        warnings.push(Warning::EntriesUnsound { count: unsound });
    }
    if entries.is_empty() {
        return emit(context, false, &skipped("empty_manifest", warnings));
    }
    let git = Git::here(context);
    let mut way = if context.is_rehearsal() { Way::Rehearse(Rehearsal::new(context)?) } else { Way::Act(git) };
    let folder = |entry: &WaveEntry| context.here().resolve(&entry.worktree_path);
    let entries: Vec<Cleared> =
        entries.into_iter().map(|entry| clear(&mut way, folder(&entry).as_path(), entry)).collect();
    warnings.extend(entries.iter().flat_map(|entry| entry.warnings.iter().cloned()));
    let ok = entries.iter().all(|entry| matches!(entry.status, Status::MergedRemoved | Status::WouldMergeRemove));
    let plan = Plan {
        action: Action::CleanupWave,
        discovery: "manifest",
        reason: "manifest_entries_present",
        entries: entries.len(),
    };
    let reason = if ok { "ok" } else { "cleanup_blocked" };
    let result = Outcome { ok, action: Action::CleanupWave, reason, entries, pending: [], warnings };
    emit(context, ok, &WaveReport { ok, plan, result })
}

/// How a wave is cleared.
enum Way {
    Act(Git),
    Rehearse(Rehearsal),
}

/// Merges that are made beside the repository, each on top of the one before.
struct Rehearsal {
    git: Git,
    /// What the current branch would be.
    tip: String,
}

impl Rehearsal {
    fn new(context: &Context) -> Result<Self, CommandError> {
        Ok(Self { git: Git::here(context).aside(context)?, tip: "HEAD".to_owned() })
    }

    /// What [`merge_and_remove`] would do, as far as git can tell without its hooks.
    fn merge(&mut self, entry: &WaveEntry) -> Result<(), Stop> {
        let reference = format!("refs/heads/{}", entry.branch);
        if self.git.run(&["merge-base", "--is-ancestor", &reference, &self.tip]).success() {
            return Ok(());
        }
        let asked = |arguments: &[&str]| {
            let finished = self.git.run(arguments);
            let told = || format!("{}\n{}", finished.text(), finished.error_text());
            if finished.success() { Ok(finished.text()) } else { Err(Stop::blocked("merge_failed", told().trim())) }
        };
        let staged = asked(&["diff", "--cached", "--name-only"])?;
        if !staged.is_empty() {
            return Err(Stop::blocked("merge_failed", format!("staged, and not committed:\n{staged}")));
        }
        let tree = asked(&["merge-tree", "--write-tree", &self.tip, &reference])?;
        // What stands uncommitted or untracked where the merge would write.
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

fn clear(way: &mut Way, folder: &Path, entry: WaveEntry) -> Cleared {
    let mut warnings = Vec::new();
    let outcome = match way {
        Way::Act(git) => check(git, "HEAD", folder, &entry, &mut warnings)
            .and_then(|()| merge_and_remove(git, folder, &entry))
            .map(|()| Status::MergedRemoved),
        Way::Rehearse(rehearsal) => check(&rehearsal.git, &rehearsal.tip, folder, &entry, &mut warnings)
            .and_then(|()| rehearsal.merge(&entry))
            .map(|()| Status::WouldMergeRemove),
    };
    let (status, reason, stderr) = match outcome {
        Ok(status) => (status, "ok", String::new()),
        Err(stop) => (stop.status, stop.reason, stop.stderr),
    };
    Cleared {
        agent_id: entry.agent_id,
        worktree_path: entry.worktree_path,
        branch: entry.branch,
        allowed_bases: [entry.expected_base.clone()],
        expected_base: entry.expected_base,
        files_modified: entry.files_modified,
        declared_deletions: entry.declared_deletions,
        status,
        reason,
        stderr,
        warnings,
    }
}

/// Whether the worktree is what the manifest says, everything in it is committed, and it can be merged into `tip`.
fn check(git: &Git, tip: &str, folder: &Path, entry: &WaveEntry, warnings: &mut Vec<Warning>) -> Result<(), Stop> {
    if !disk::is_folder(folder) {
        return Err(Stop::blocked("branch_mismatch", format!("there is no folder `{}`", folder.display())));
    }
    let worktree = git.at(folder);
    let branch = worktree.run(&["symbolic-ref", "--short", "-q", "HEAD"]);
    if branch.text() != entry.branch {
        return Err(Stop::blocked("branch_mismatch", branch.error_text()));
    }
    let reference = format!("refs/heads/{}", entry.branch);
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
        changed("--diff-filter=D")?.into_iter().filter(|path| !announced.contains(path)).collect();
    if !deletions.is_empty() {
        return Err(Stop::blocked("branch_contains_deletions", deletions.join("\n")));
    }
    let status = worktree.status();
    if !status.success() || !status.stdout.is_empty() {
        let told = if status.success() { status.text() } else { status.error_text() };
        return Err(Stop::blocked("worktree_dirty", told));
    }
    if let Some(declared) = &entry.files_modified {
        let outside = changed("--diff-filter=d")?.into_iter().filter(|path| !declared.contains(path));
        warnings.extend(outside.map(|path| Warning::ScopeOutOfDeclared { branch: entry.branch.clone(), path }));
    }
    // A merge that somebody has begun here is theirs; aborting ours would abort it.
    if merges(git) {
        return Err(Stop::blocked("merge_failed", "a merge is under way here; conclude it first"));
    }
    Ok(())
}

/// Whether `name` is the commit, or the beginning of its name as git abbreviates it.
fn names_commit(name: &str, commit: &str) -> bool {
    name == commit || (name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) && commit.starts_with(name))
}

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
    let left = |reason, stderr| Stop { status: Status::Merged, reason, stderr };
    let place = folder.to_string_lossy();
    // An agent's own lock; it refuses where there is none.
    let _ = git.run(&["worktree", "unlock", &place]);
    let removed = git.run(&["worktree", "remove", &place]);
    if !removed.success() {
        return Err(left("worktree_remove_failed", removed.error_text()));
    }
    let deleted = git.run(&["branch", "-d", "--", &entry.branch]);
    if deleted.success() { Ok(()) } else { Err(left("branch_delete_failed", deleted.error_text())) }
}
