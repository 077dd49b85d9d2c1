//! The wave recorded by `create-wave`: which worktrees belong to it, who may merge them, and when its note is removed.

use super::cleanup::{CleanupTask, Stop, Warning, WaveReport, clear_all, is_clean};
use super::git::{Git, KnownWorktree};
use super::{RefusableResult, Refusal};
use crate::acts::Call;
use crate::acts::files;
use crate::acts::git::repository::refuse_repository_of_others;
use crate::acts::program;
use crate::disk::{self, AbsolutePath, Change, Digest};
use crate::failure::Failure;
use crate::operations::agents::worktree::{FRESH, LockedWorktree};
use crate::project::folder::{canonical_id, plan_id};
use crate::project::plan_commits;
use crate::project::wave::{WAVE_NOTE, WaveEntry, WaveManifest, WaveNote, is_agent_branch};
use crate::project::workstream;
use crate::runtime::Isolation;
use crate::text::shell::{Typed, typed};

/// How much earlier than the note a worktree of its wave may seem to be made, in milliseconds: file system clocks are
/// coarse.
const COARSE: i64 = 2000;

/// A wave that is not merged yet.
pub(crate) struct NotedWave {
    pub(crate) note: WaveNote,
    pub(crate) worktrees: Vec<NotedWorktree>,
    /// Work that may belong to someone else.
    unclaimed: Vec<Warning>,
    /// Merged entries whose folder is gone: only git still has them.
    done: Vec<WaveEntry>,
}

/// A worktree of the wave, or the remaining branch of one.
pub(crate) struct NotedWorktree {
    pub(crate) entry: WaveEntry,
    listed: Option<KnownWorktree>,
    claim: Claim,
}

/// Why a worktree belongs to the wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The note lists it.
    Noted,
    /// It has commits of a plan.
    Commits,
    /// Its commits of a plan are merged, and its folder is gone.
    Done,
    /// Made since the wave began, with commits that name none of its plans.
    OtherCommits,
    /// Made since the wave began, with uncommitted work or a live process, and no commit.
    NoCommit,
    /// Made since the wave began, empty, and the process that locked it is gone.
    Left,
}

/// The process that locked a worktree.
enum Holder {
    Alive(u32),
    Gone,
    Unknown,
}

impl NotedWorktree {
    fn holder(&self) -> Option<Holder> {
        self.listed.as_ref().and_then(holder)
    }

    /// Why it may not be merged or removed, whatever git says.
    fn obstacle(&self, git: &Git, note: &WaveNote, here: &AbsolutePath) -> Option<Stop> {
        let (branch, path) = (&self.entry.branch, &self.entry.worktree_path);
        if path.is_empty() || !disk::is_folder(here.resolve(path)) {
            let told = format!("the worktree of branch `{branch}` was deleted, and the branch has unmerged commits");
            return Some(Stop::blocked("worktree_missing", told));
        }
        if self.claim == Claim::OtherCommits {
            let span = format!("{}..refs/heads/{branch}", note.base.as_deref().unwrap_or_default());
            let subjects = git.answer(&["log", "--format=%h %s", &span]).unwrap_or_default();
            let told = format!("no commit of `{branch}` has the scope of a plan of this wave:\n{subjects}");
            return Some(Stop::blocked("plan_unknown", told));
        }
        match self.holder()? {
            Holder::Gone => None,
            Holder::Alive(_) if self.is_finished(git, note) => None,
            Holder::Alive(process) => {
                Some(Stop::blocked("worktree_in_use", format!("process {process} is still running in `{path}`")))
            }
            Holder::Unknown => {
                let told = format!("it is locked; `{}` unlocks it", typed!("git worktree unlock {}", path));
                Some(Stop::blocked("worktree_locked", told))
            }
        }
    }

    /// True if the SUMMARY of its plan exists, which an executor commits last.
    fn is_finished(&self, git: &Git, note: &WaveNote) -> bool {
        let Some(plan) = self.entry.agent_id.as_deref() else { return false };
        let span = format!("{}...refs/heads/{}", note.base.as_deref().unwrap_or_default(), self.entry.branch);
        let changed = git.answer(&["diff", "--name-only", "-z", "--no-renames", "--diff-filter=AM", &span]);
        changed.unwrap_or_default().split('\0').any(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.strip_suffix("-SUMMARY.md").is_some_and(|id| canonical_id(id) == canonical_id(plan))
        })
    }

    /// When something last changed in it.
    fn touched(&self, git: &Git, here: &AbsolutePath) -> Option<i64> {
        let folder = here.resolve(&self.entry.worktree_path);
        let is_there = !self.entry.worktree_path.is_empty() && disk::is_folder(&folder);
        let changed = if is_there { git.at(folder.as_path()).uncommitted().unwrap_or_default() } else { Vec::new() };
        let files = changed.iter().filter_map(|file| disk::modified(folder.resolve(&file.path)));
        files.chain(self.listed.as_ref().and_then(KnownWorktree::touched)).max()
    }

    /// True if only its folder is left: it had work, and that is merged.
    pub(crate) fn is_merged(&self, git: &Git, note: &WaveNote) -> bool {
        let branch = format!("refs/heads/{}", self.entry.branch);
        let is_clean = || is_clean(&git.at(&self.entry.worktree_path)).is_ok();
        git.is_ancestor(&branch, "HEAD")
            && !git.is_ancestor(&branch, note.base.as_deref().unwrap_or_default())
            && is_clean()
    }
}

fn holder(worktree: &KnownWorktree) -> Option<Holder> {
    let lock = LockedWorktree { lock_reason: worktree.lock.as_deref()?, lock_age: None };
    Some(match lock.process() {
        Some(process) if disk::process_lives(process) => Holder::Alive(process),
        Some(_) => Holder::Gone,
        None => Holder::Unknown,
    })
}

impl NotedWave {
    /// The recorded wave, and its worktrees: those that gsd made, and those that the host made for its plans. With
    /// `with_left` also those without any work: an executor that died before its first commit left one.
    pub(crate) fn read(call: &Call, with_left: bool) -> Result<Option<Self>, Failure> {
        let state = call.local_state()?;
        let Some(note) = state.read::<WaveNote>(WAVE_NOTE)?.filter(WaveNote::is_open) else { return Ok(None) };
        let path = state.file(WAVE_NOTE);
        let text = disk::read_text(&path)?.unwrap_or_default();
        let manifest = WaveManifest::parse(&text).map_err(|error| {
            Failure::usage(format!("`{path}`: {error}"))
                .hint("correct the file; `git worktree list` shows the worktrees")
        })?;
        if manifest.unsound > 0 {
            let message = format!("`{path}` lists {} worktrees that cannot be read", manifest.unsound);
            return Err(Failure::usage(message).hint("correct the file; `git worktree list` shows the worktrees"));
        }
        let git = of_root(call);
        let listed = git.worktrees().map_err(|complaint| no_answer(&complaint))?;
        let mut wave = Self { note, worktrees: Vec::new(), unclaimed: Vec::new(), done: Vec::new() };
        for entry in manifest.entries {
            let listed = listed.iter().find(|worktree| worktree.branch.as_ref() == Some(&entry.branch)).cloned();
            if !disk::is_folder(call.here().resolve(&entry.worktree_path)) {
                let reference = format!("refs/heads/{}", entry.branch);
                let exists = git.answer(&["rev-parse", "--verify", "--quiet", &reference]).is_some();
                if !exists || git.is_ancestor(&reference, "HEAD") {
                    wave.done.extend(exists.then_some(entry));
                    continue;
                }
            }
            wave.worktrees.push(NotedWorktree { entry, listed, claim: Claim::Noted });
        }
        // The worktrees that gsd makes are all in the note: any other belongs to someone else.
        if wave.note.isolation == Isolation::HarnessWorktree.word()
            && let Some(start) = wave.branch_start(call)?
        {
            wave.find_of_host(call, &git, &listed, (&start, with_left))?;
        }
        Ok(Some(wave))
    }

    fn base(&self) -> &str {
        self.note.base.as_deref().unwrap_or_default()
    }

    /// The prefix of the branches of worktrees that the host makes itself: any other branch may be a person's.
    fn branch_start(&self, call: &Call) -> Result<Option<String>, Failure> {
        Ok(match &self.note.branch_start {
            Some(start) => Some(start.clone()),
            None => host_branches(call)?,
        })
    }

    /// Adds the worktrees that the host made for this wave.
    fn find_of_host(
        &mut self,
        call: &Call,
        git: &Git,
        listed: &[KnownWorktree],
        (start, with_left): (&str, bool),
    ) -> Result<(), Failure> {
        let branches = git.run(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"]);
        if !branches.success() {
            return Err(no_answer(&branches.error_text()));
        }
        let current = git.branch();
        let mut doubtful = Vec::new();
        for branch in branches.text().lines().filter(|branch| branch.starts_with(start)) {
            let is_known = self.worktrees.iter().any(|worktree| worktree.entry.branch == branch);
            if is_known || current.as_deref() == Some(branch) {
                continue;
            }
            let worktree = listed.iter().find(|worktree| worktree.branch.as_deref() == Some(branch));
            let plan = self.note.plans.iter().find(|plan| works_on(git, self.base(), branch, &plan.id));
            let claim = match (plan, worktree) {
                (Some(_), Some(worktree)) if !disk::is_folder(&worktree.path) && git.is_ancestor(branch, "HEAD") => {
                    Some(Claim::Done)
                }
                (Some(_), Some(_)) => Some(Claim::Commits),
                // A branch that does not begin at the wave's commit is left over from an earlier wave.
                (Some(_), None) => {
                    (!git.is_ancestor(branch, "HEAD") && git.is_ancestor(self.base(), branch)).then_some(Claim::Commits)
                }
                (None, Some(worktree)) => self.claim_of_nobody(git, branch, worktree, with_left),
                (None, None) => None,
            };
            let Some(claim) = claim else { continue };
            let entry = WaveEntry {
                agent_id: plan.map(|plan| plan.id.clone()),
                worktree_path: worktree.map(|worktree| worktree.path.clone()).unwrap_or_default(),
                branch: branch.to_owned(),
                expected_base: self.base().to_owned(),
                files_modified: None,
                declared_deletions: plan.map(|plan| plan.deletes.clone()).filter(|files| !files.is_empty()),
            };
            let found = NotedWorktree { entry, listed: worktree.cloned(), claim };
            match claim {
                Claim::Done => self.done.push(found.entry),
                Claim::OtherCommits | Claim::NoCommit => doubtful.push(found),
                Claim::Noted | Claim::Commits | Claim::Left => self.worktrees.push(found),
            }
        }
        let missing = self.unaccounted(call, git)?;
        for mut worktree in doubtful {
            if !missing.is_empty() {
                // The executor of one of these plans may have made it.
                worktree.entry.agent_id = Some(&missing).filter(|plans| plans.len() == 1).map(|plans| plans[0].clone());
                self.worktrees.push(worktree);
            } else if !matches!(worktree.holder(), Some(Holder::Alive(_))) {
                let (branch, path) = (worktree.entry.branch, worktree.entry.worktree_path);
                self.unclaimed.push(Warning::WorktreeUnclaimed { branch, path });
            }
        }
        Ok(())
    }

    /// The claim of the wave on a host's worktree that has no commit of its plans.
    fn claim_of_nobody(&self, git: &Git, branch: &str, worktree: &KnownWorktree, with_left: bool) -> Option<Claim> {
        if worktree.made()? < self.note.written_at - COARSE {
            return None;
        }
        let is_clean = !disk::is_folder(&worktree.path) || is_clean(&git.at(&worktree.path)).is_ok();
        if !git.is_ancestor(branch, self.base()) {
            // It was merged by hand.
            let is_done = is_clean && git.is_ancestor(branch, "HEAD");
            return (!is_done).then_some(Claim::OtherCommits);
        }
        match holder(worktree) {
            _ if !is_clean => Some(Claim::NoCommit),
            Some(Holder::Alive(_)) => Some(Claim::NoCommit),
            Some(Holder::Gone) if with_left => Some(Claim::Left),
            // Nothing shows that it was abandoned, and it is empty.
            _ => None,
        }
    }

    /// The plans of the wave without any trace of their execution: no worktree, no commit here, no SUMMARY.
    fn unaccounted(&self, call: &Call, git: &Git) -> Result<Vec<String>, Failure> {
        let view = call.view();
        let phase = self.note.phase.as_deref().map(|phase| view.find_phase(phase)).transpose()?;
        let folder = phase.and_then(|lookup| lookup.folder);
        let has_summary = |id: &str| {
            folder.as_ref().is_some_and(|folder| {
                let mut plans = folder.named_plans();
                plans.any(|plan| canonical_id(plan_id(plan)) == id && folder.summary_of(plan).is_some())
            })
        };
        let has_worktree = |id: &str| {
            let mut ids = self.worktrees.iter().filter_map(|worktree| worktree.entry.agent_id.as_deref());
            ids.any(|plan| canonical_id(plan) == id)
        };
        let ids = self.note.plans.iter().map(|plan| canonical_id(&plan.id));
        let known = |id: &&str| has_worktree(id) || has_summary(id) || works_on(git, self.base(), "HEAD", id);
        Ok(ids.filter(|id| !known(id)).map(str::to_owned).collect())
    }

    /// Why a session other than the one that began the wave should not touch it yet. Whether that session still runs is
    /// known if it locked a worktree; otherwise it may still run if something changed a short time ago.
    pub(crate) fn in_use(&self, call: &Call) -> Option<Refusal> {
        let own = session_key(call);
        let noted = self.note.session.as_ref().filter(|session| own.as_ref() != Some(session))?;
        if self.worktrees.iter().any(|worktree| matches!(worktree.holder(), Some(Holder::Gone))) {
            return None;
        }
        let git = of_root(call);
        let touched = self.worktrees.iter().filter_map(|worktree| worktree.touched(&git, call.here()));
        let last = touched.fold(self.note.written_at, i64::max);
        let quiet = (call.world().now().milliseconds() - last) / 1000;
        (quiet < FRESH).then(|| {
            let hint = format!(
                "another session, `{noted}`, is working on this wave: its last change was {} seconds ago. Wait for it. Only if \
                 it has ended, run `{} worktree cleanup-wave --keep-work --take-over`",
                quiet.max(0),
                program::word_of(call)
            );
            Refusal::because("wave_in_use", hint)
        })
    }

    /// Why the wave cannot be merged here.
    fn elsewhere(&self, call: &Call, git: &Git) -> Result<Option<Refusal>, Failure> {
        let here = disk::canonical(call.root())?.to_string();
        if let Some(root) = self.note.root.as_ref().filter(|root| **root != here && disk::is_folder(root)) {
            let hint = format!(
                "the wave started in `{root}`; run `{}`",
                typed!("{} --cwd {} worktree cleanup-wave", Typed::of_quoted(program::word_of(call)), root)
            );
            return Ok(Some(Refusal::because("wrong_tree", hint)));
        }
        let noted = self.note.branch.as_deref();
        let name = noted.map_or("BRANCH", |branch| branch.trim_start_matches("refs/heads/"));
        let back = format!("run `{}`, then this command again", typed!("git switch {}", name));
        let Some(current) = git.branch() else {
            return Ok(Some(Refusal::because("wrong_branch", format!("no branch is checked out here; {back}"))));
        };
        // If the branch was renamed since, the wave is merged into it under its new name.
        let exists = |branch: &&str| git.answer(&["rev-parse", "--verify", "--quiet", branch]).is_some();
        let wrong = match noted.filter(exists) {
            Some(branch) => branch.trim_start_matches("refs/heads/") != current,
            None => is_agent_branch(&current),
        };
        Ok(wrong.then(|| {
            Refusal::because(
                "wrong_branch",
                format!("the wave started on `{name}`, and `{current}` is checked out; {back}"),
            )
        }))
    }
}

/// How the recorded wave is merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Commit the uncommitted work of interrupted executors and merge it too.
    pub(crate) keep_work: bool,
    /// Merge a wave that another session started.
    pub(crate) take_over: bool,
}

/// Merges and removes the worktrees of the wave that `create-wave` recorded, and removes the note once none is left.
pub(crate) fn cleanup_noted_wave(call: &Call, manner: Manner) -> RefusableResult<WaveReport> {
    refuse_repository_of_others(call.here())?;
    let note_path = call.local_state()?.file(WAVE_NOTE);
    let Some(wave) = NotedWave::read(call, manner.keep_work)? else {
        return Err(Failure::usage("`worktree cleanup-wave` needs --manifest: no wave is recorded for this project")
            .hint("`gsd-tools worktree create-wave --help` shows how to start one")
            .exits(2));
    };
    let git = of_root(call);
    if let Some(refusal) = wave.elsewhere(call, &git)? {
        return Ok(Err(refusal));
    }
    if let Some(refusal) = wave.in_use(call).filter(|_| !manner.take_over) {
        return Ok(Err(refusal));
    }
    let start = wave.branch_start(call)?;
    let NotedWave { note, worktrees, unclaimed, done } = wave;
    let base = note.base.clone().unwrap_or_default();
    let prefix = git.answer(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    let mut tasks = Vec::new();
    for worktree in worktrees {
        let obstacle = worktree.obstacle(&git, &note, call.here());
        let mut entry = worktree.entry;
        if manner.keep_work && obstacle.is_none() && !call.is_rehearsal() {
            keep_uncommitted(&git, call, &entry);
        }
        // A worktree that never moved to the wave's commit still merges if it started at an ancestor of it.
        if let Some(own) = git.answer(&["merge-base", &base, &entry.branch])
            && git.is_ancestor(&own, &base)
        {
            entry.expected_base = own;
        }
        let is_empty = git.is_ancestor(&entry.branch, &base);
        tasks.push(CleanupTask { entry, obstacle, is_empty, prefix: prefix.clone() });
    }
    let places: Vec<AbsolutePath> = tasks.iter().map(|task| call.here().resolve(&task.entry.worktree_path)).collect();
    for warning in &unclaimed {
        if let Warning::WorktreeUnclaimed { branch, path } = warning {
            call.warn(format!(
                "`{path}` (`{branch}`) has work that belongs to no plan of the wave; it was not changed"
            ));
        }
    }
    let report = clear_all(call, git.clone(), tasks, unclaimed)?;
    if !call.is_rehearsal() {
        if note.isolation == Isolation::HarnessWorktree.word()
            && let Some(start) = start
        {
            forget_unused_branches(&git, &base, &start);
        }
        for entry in &done {
            // Git refuses if something would be lost, or if there is nothing to remove.
            let _ = git.remove_worktree(&entry.worktree_path);
            let _ = git.remove_merged_branch(&entry.branch);
        }
        let kept: Vec<&str> = report.left().map(|entry| entry.branch.as_str()).collect();
        if kept.is_empty() {
            disk::remove_note(&note_path)?;
            forget_folders(call, &places);
        } else {
            let is_kept =
                |value: &&serde_json::Value| value["branch"].as_str().is_some_and(|branch| kept.contains(&branch));
            let worktrees = note.worktrees.iter().filter(is_kept).cloned().collect();
            let session = session_key(call).or(note.session);
            let text = serde_json::to_string_pretty(&WaveNote { session, worktrees, ..note })?;
            files::edit_note(call, &note_path, |_| Ok(((), Some(text))))?;
        }
    }
    Ok(Ok(report))
}

/// Git in the root of the project: the call's folder may be one that is removed.
pub(crate) fn of_root(call: &Call) -> Git {
    Git::here(call).at(call.root().as_path())
}

/// The session of this call, if it has a name.
pub(crate) fn session_key(call: &Call) -> Option<String> {
    workstream::session_key(|name| call.world().variable(name))
}

fn no_answer(complaint: &str) -> Failure {
    Failure::usage(format!("cannot list the worktrees: {complaint}")).hint("`git worktree list` shows the problem")
}

/// True if the branch has commits of the plan that the wave's commit does not have.
fn works_on(git: &Git, base: &str, branch: &str, plan: &str) -> bool {
    let pattern = format!("--grep={}", plan_commits::pattern(canonical_id(plan)));
    let span = format!("{base}..{branch}");
    git.answer(&["log", "-1", "--format=%H", "-E", &pattern, &span]).is_some_and(|found| !found.trim().is_empty())
}

/// Commits the changes in an interrupted executor's worktree, so that it can be merged and nothing is lost. In the
/// middle of a merge, or on another branch, it is not touched.
fn keep_uncommitted(git: &Git, call: &Call, entry: &WaveEntry) {
    let worktree = git.at(call.here().resolve(&entry.worktree_path).as_path());
    let is_on_branch = worktree.branch().as_ref() == Some(&entry.branch);
    let is_in_conflict = || !worktree.run(&["diff", "--name-only", "--diff-filter=U"]).text().is_empty();
    if worktree.status().text().is_empty() || !is_on_branch || is_in_conflict() {
        return;
    }
    let plan = entry.agent_id.as_deref().unwrap_or("wave");
    let message = format!("wip({plan}): keep what an interrupted executor left uncommitted");
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--no-verify", "-m", &message]] {
        let finished = worktree.run(arguments);
        if !finished.success() {
            call.warn(format!("`{}`: {}", entry.worktree_path, finished.error_text()));
        }
    }
}

/// The prefix of branches of worktrees that the host of this call makes itself.
pub(crate) fn host_branches(call: &Call) -> Result<Option<String>, Failure> {
    let dispatch = call.host()?.descriptor.as_ref().and_then(|descriptor| descriptor.dispatch.clone());
    Ok(dispatch.and_then(|dispatch| dispatch.worktree_branch))
}

/// Removes the host's branches whose worktree was never made: no worktree has them, and they have no commits. A host
/// leaves one when its call to git fails after the branch.
fn forget_unused_branches(git: &Git, base: &str, start: &str) {
    if base.is_empty() {
        return;
    }
    let format = "--format=%(refname:short) %(worktreepath)";
    let listed = git.answer(&["for-each-ref", format, "--points-at", base, "refs/heads/"]).unwrap_or_default();
    let branches = listed.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    for (branch, _) in branches.filter(|(branch, worktree)| worktree.is_empty() && branch.starts_with(start)) {
        // A branch that cannot be removed stays: it contains no work.
        let _ = git.remove_merged_branch(branch);
    }
}

/// Removes the folders in which worktrees were made, if they are empty.
pub(crate) fn forget_folders(call: &Call, places: &[AbsolutePath]) {
    let own = call.root().resolve(call.layout().worktrees());
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
            let _ = files::change(call, &[&folder.parent().unwrap_or_else(|| folder.clone())], |changes| {
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
