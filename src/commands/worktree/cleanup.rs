//! Merging the worktrees of a wave into the current branch, and removing them.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Git, ManifestFile, Refusal, emit, refuse};
use crate::disk::{self, AbsolutePath, Change, Digest};
use crate::project::wave::{WAVE_NOTE, WaveEntry, WaveManifest, WaveNote, is_agent_branch};

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

/// Merges and removes the worktrees of the wave that `create-wave` noted, and forgets the note once none is left.
pub(super) fn cleanup_noted_wave(context: &mut Context, keep_work: bool) -> Result<(), CommandError> {
    let note_path = context.local_state()?.file(WAVE_NOTE);
    let Some((note, mut entries)) = noted_entries(context, keep_work)? else {
        return Err(CommandError::usage("`worktree cleanup-wave` needs --manifest: no wave is noted here")
            .hint("`gsd-tools worktree create-wave` notes one")
            .exits(2));
    };
    let git = Git::here(context);
    let base = note.base.clone().unwrap_or_default();
    for entry in &mut entries {
        if keep_work && !context.is_rehearsal() {
            keep_uncommitted(&git, context, entry);
        }
        // A worktree that never moved to the wave's commit still merges, as long as it started below it.
        if let Some(own) = git.answer(&["merge-base", &base, &entry.branch])
            && git.run(&["merge-base", "--is-ancestor", &own, &base]).success()
        {
            entry.expected_base = own;
        }
    }
    let places: Vec<AbsolutePath> = entries.iter().map(|entry| context.here().resolve(&entry.worktree_path)).collect();
    let report = clear_all(context, entries, Vec::new())?;
    let left: Vec<&Cleared> =
        report.result.entries.iter().filter(|entry| entry.status != Status::MergedRemoved).collect();
    if !context.is_rehearsal() {
        if let Some(start) = host_branches(context)? {
            forget_unused_branches(&git, &base, &start);
        }
        if left.is_empty() {
            disk::remove_note(&note_path)?;
            forget_folders(context, &places);
        } else {
            let kept: Vec<&str> = left.iter().map(|entry| entry.worktree_path.as_str()).collect();
            let worktrees = note
                .worktrees
                .iter()
                .filter(|value| value["worktree_path"].as_str().is_some_and(|path| kept.contains(&path)))
                .cloned()
                .collect();
            let text = serde_json::to_string_pretty(&WaveNote { worktrees, ..note })?;
            context.edit_file(&note_path, |_| Ok(((), Some(text))))?;
        }
    }
    let ok = report.ok;
    emit(context, ok, &report)
}

/// The noted wave, and its worktrees that exist: those we made, and those that a host made for its plans. With
/// `with_empty` also those of agents in which nothing was done: an executor that died before its first commit left one.
pub(super) fn noted_entries(
    context: &Context,
    with_empty: bool,
) -> Result<Option<(WaveNote, Vec<WaveEntry>)>, CommandError> {
    let state = context.local_state()?;
    let Some(note) = state.read::<WaveNote>(WAVE_NOTE)? else { return Ok(None) };
    let text = disk::read_text(state.file(WAVE_NOTE))?.unwrap_or_default();
    let manifest = WaveManifest::parse(&text).map_err(|error| CommandError::usage(error.to_string()))?;
    let is_there = |entry: &WaveEntry| disk::is_folder(context.here().resolve(&entry.worktree_path));
    let mut entries: Vec<WaveEntry> = manifest.entries.into_iter().filter(is_there).collect();
    let git = Git::here(context);
    let base = note.base.clone().unwrap_or_default();
    let start = if with_empty { host_branches(context)? } else { None };
    let listed = git.answer(&["worktree", "list", "--porcelain", "-z"]).unwrap_or_default();
    for block in listed.split("\0\0") {
        let field = |name: &str| block.split('\0').find_map(|field| field.strip_prefix(name));
        let (Some(path), Some(branch)) = (field("worktree "), field("branch refs/heads/")) else { continue };
        if !is_agent_branch(branch) || entries.iter().any(|entry| entry.branch == branch) {
            continue;
        }
        let plan = note.plans.iter().find(|plan| works_on(&git, &base, branch, &plan.id));
        // A locked worktree is in use.
        let is_empty = || {
            let has_no_commit = git.run(&["merge-base", "--is-ancestor", branch, &base]).success();
            field("locked").is_none() && has_no_commit && is_clean(&git.at(Path::new(path))).is_ok()
        };
        let is_of_host = start.as_ref().is_some_and(|start| branch.starts_with(start.as_str()));
        if plan.is_none() && !(is_of_host && is_empty()) {
            continue;
        }
        entries.push(WaveEntry {
            agent_id: plan.map(|plan| plan.id.clone()),
            worktree_path: path.to_owned(),
            branch: branch.to_owned(),
            expected_base: base.clone(),
            files_modified: None,
            declared_deletions: plan.map(|plan| plan.deletes.clone()).filter(|files| !files.is_empty()),
        });
    }
    Ok(Some((note, entries)))
}

/// Whether the branch has commits of the plan that the wave's commit has not: by their scope.
fn works_on(git: &Git, base: &str, branch: &str, plan: &str) -> bool {
    let pattern = format!("--grep=^[a-z]+\\({}\\)!?:", plan.replace('.', "\\."));
    let span = format!("{base}..{branch}");
    git.answer(&["log", "-1", "--format=%H", "-E", &pattern, &span]).is_some_and(|found| !found.trim().is_empty())
}

/// Commits what the worktree of an interrupted executor holds, so that it can be merged and nothing is lost.
fn keep_uncommitted(git: &Git, context: &Context, entry: &WaveEntry) {
    let worktree = git.at(context.here().resolve(&entry.worktree_path).as_path());
    if worktree.status().text().is_empty() {
        return;
    }
    let plan = entry.agent_id.as_deref().unwrap_or("wave");
    let message = format!("wip({plan}): keep what an interrupted executor left uncommitted");
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--no-verify", "-m", &message]] {
        let finished = worktree.run(arguments);
        if !finished.success() {
            context.warn(format!("`{}`: {}", entry.worktree_path, finished.error_text()));
        }
    }
}

/// How the branches of the worktrees begin that the host makes itself. Only such are cleared away without a commit of a
/// plan: a branch `agent-x` may be a person's.
fn host_branches(context: &Context) -> Result<Option<String>, CommandError> {
    let dispatch = context.host()?.descriptor.as_ref().and_then(|descriptor| descriptor.dispatch.clone());
    Ok(dispatch.and_then(|dispatch| dispatch.worktree_branch))
}

/// Removes the branches of the host whose worktree was never made: no worktree has them, and they have no commit of
/// their own. A host leaves one when its call to git fails after the branch.
fn forget_unused_branches(git: &Git, base: &str, start: &str) {
    if base.is_empty() {
        return;
    }
    let format = "--format=%(refname:short) %(worktreepath)";
    let listed = git.answer(&["for-each-ref", format, "--points-at", base, "refs/heads/"]).unwrap_or_default();
    let branches = listed.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    for (branch, _) in branches.filter(|(branch, worktree)| worktree.is_empty() && branch.starts_with(start)) {
        // What cannot be removed is left: it is no work.
        let _ = git.run(&["branch", "-d", "--", branch]);
    }
}

/// Removes the folders that worktrees were made in, where nothing is left in them.
fn forget_folders(context: &Context, places: &[AbsolutePath]) {
    let own = context.root().resolve(super::create_wave::folder_of_worktrees(context.layout()));
    let holds_only_ours = |folder: &AbsolutePath| {
        let entries = disk::list(folder).ok().flatten().unwrap_or_default();
        entries.iter().all(|entry| *folder == own && entry.name == ".gitignore")
    };
    let mut folders: Vec<AbsolutePath> = places.iter().filter_map(AbsolutePath::parent).collect();
    folders.push(own.clone());
    folders.sort();
    folders.dedup();
    for folder in folders.into_iter().filter(|folder| folder.name() == "worktrees" && disk::is_folder(folder)) {
        if holds_only_ours(&folder) {
            let _ = context.change(&folder.parent().unwrap_or_else(|| folder.clone()), |changes| {
                let ignore = folder.resolve(".gitignore");
                if let Some(bytes) = disk::read_bytes(&ignore)? {
                    changes.remove(ignore, Digest::of(&bytes));
                }
                changes.push(Change::RemoveFolder { path: folder.clone() });
                Ok(())
            });
        }
    }
}

pub(super) fn cleanup_wave(context: &mut Context, manifest: &str) -> Result<(), CommandError> {
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
    let report = clear_all(context, entries, warnings)?;
    let ok = report.ok;
    emit(context, ok, &report)
}

fn clear_all(
    context: &Context,
    entries: Vec<WaveEntry>,
    mut warnings: Vec<Warning>,
) -> Result<WaveReport, CommandError> {
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
    Ok(WaveReport { ok, plan, result })
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
    // Somebody merged it by hand, after a conflict for example: only its own folder is left to look at.
    if git.run(&["merge-base", "--is-ancestor", &reference, tip]).success() {
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
        changed("--diff-filter=D")?.into_iter().filter(|path| !announced.contains(path)).collect();
    if !deletions.is_empty() {
        return Err(Stop::blocked("branch_contains_deletions", deletions.join("\n")));
    }
    is_clean(&worktree)?;
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

fn is_clean(worktree: &Git) -> Result<(), Stop> {
    let status = worktree.status();
    if !status.success() || !status.stdout.is_empty() {
        let told = if status.success() { status.text() } else { status.error_text() };
        return Err(Stop::blocked("worktree_dirty", told));
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
