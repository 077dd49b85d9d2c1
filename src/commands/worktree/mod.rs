//! Worktrees of agents: noting them in the manifest of a wave, merging and removing them, clearing up what was left.
//!
//! Only what a manifest names, or what a dead process of ours locked, is ever removed, and nothing that is not merged
//! or not committed.

pub(super) mod base;
pub(super) mod cleanup;
pub(super) mod create_wave;
pub(super) mod git;
mod noted;
pub(super) mod reap;

use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::{Context, verbs};
use crate::commands::git::repository::refuse_repository_of_others;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::wave::{NoteError, WaveEntry, WaveManifest};
use crate::text::shell::{Typed, typed};
use git::Git;

verbs! {
    "Worktrees";
    groups { "worktree": "Create, merge and remove the worktrees of agents"; }

    /// Create the worktrees of a wave and print how to start its plans
    ///
    /// For each plan, prints the argument for the call that starts its executor and a line for the executor's prompt.
    /// Plans run one after the other if worktrees are off or impossible, or if plans share files; the answer says why.
    /// Records the wave outside the project, for `worktree cleanup-wave`.
    ///
    /// Example: `gsd-tools worktree create-wave --phase 2 --plans 02-01,02-02`.
    "worktree create-wave": acts [unasked] json(create_wave::CreatedWave, Refusal)
        = create_wave::create_wave(create_wave::WaveArgs);

    /// Merge the worktrees of a wave and remove them
    ///
    /// Without `--manifest`, merges the wave that `create-wave` recorded, into the branch it started on. A worktree
    /// with uncommitted files, a running executor, another branch or base, or deletions that no plan declares is
    /// skipped. Exits with 1 if a worktree is left.
    ///
    /// Example: `gsd-tools worktree cleanup-wave --pick result.reason`.
    "worktree cleanup-wave": acts [unasked] json(Refusal, cleanup::WaveReport) = cleanup_wave(CleanupArgs);

    /// Add an existing worktree to the manifest of its wave
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree record-agent --manifest wave.json --agent-id a1 --path ../a1 --branch agent-a1 --base 1f3c`.
    "worktree record-agent": acts [unasked] json(NotedReport, Refusal) = record_agent(RecordArgs);

    /// Remove worktrees left by dead processes if their work is merged
    ///
    /// Removes only worktrees locked by a process that no longer runs. Worktrees with uncommitted files or unmerged
    /// commits are kept, and so are all branches.
    ///
    /// Example: `gsd-tools worktree reap-orphans --pick reaped`.
    "worktree reap-orphans": acts json(reap::ReapReport) = reap::reap_orphans();

    /// Check whether new worktrees would start from the current commit
    ///
    /// `shouldDegrade` is true if they would start from another commit; plans then run one after the other in the main
    /// tree.
    ///
    /// Example: `gsd-tools worktree base-check --pick shouldDegrade`.
    "worktree base-check": reads json(crate::operations::agents::worktree::BaseReport) = base_check(BaseArgs);

    /// Set the host to start its worktrees from the current commit
    ///
    /// Edits the host's settings file in this project. A setting that has another value is not changed.
    ///
    /// Example: `gsd-tools worktree set-baseref --pick changed`.
    "worktree set-baseref": acts json(base::BaseRefReport) = base::set_base();

    /// Create a worktree for an agent and add it to the manifest
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree create --manifest wave.json --agent-id a1 --path trees/a1 --branch agent-a1 --base 1f3c --root .`.
    "worktree create": acts [unasked] json(NotedReport, Refusal) = create(CreateArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CleanupArgs {
    /// The manifest of the wave (default: the wave that `create-wave` recorded)
    #[arg(long)]
    manifest: Option<String>,
    /// Commit the uncommitted work of interrupted executors and merge it too
    #[arg(long, conflicts_with = "manifest")]
    keep_work: bool,
    /// Merge a wave that another session started; use this only if that session has ended
    #[arg(long, conflicts_with = "manifest")]
    take_over: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// The manifest of the wave
    #[arg(long)]
    manifest: Option<String>,
    /// The identifier of the agent
    #[arg(long)]
    agent_id: Option<String>,
    /// The folder of the worktree
    #[arg(long)]
    path: Option<String>,
    /// The branch; its name starts with `agent-`, `worktree-agent-` or `worktree-wf_`
    #[arg(long)]
    branch: Option<String>,
    /// The commit the branch starts from
    #[arg(long)]
    base: Option<String>,
    /// The files the agent may change, separated by spaces
    #[arg(long)]
    files: Option<String>,
    /// The files the agent may remove, separated by spaces
    #[arg(long)]
    deletions: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// The folder that must contain the worktree
    #[arg(long)]
    root: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaseArgs {
    /// Who creates the worktrees: the host or gsd-tools
    #[arg(long, value_parser = [HARNESS, ORCHESTRATOR])]
    mode: Option<String>,
}

const HARNESS: &str = "harness-worktree";
const ORCHESTRATOR: &str = "orchestrator-worktree";

fn cleanup_wave(context: &mut Context, arguments: &CleanupArgs) -> Result<(), Failure> {
    refuse_repository_of_others(context.here())?;
    match &arguments.manifest {
        Some(manifest) => cleanup::cleanup_wave(context, manifest),
        None => noted::cleanup_noted_wave(context, arguments),
    }
}

fn base_check(context: &mut Context, arguments: &BaseArgs) -> Result<(), Failure> {
    base::check_base(context, arguments.mode.as_deref())
}

/// A refusal that scripts read from standard output.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Refusal {
    ok: bool,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
}

impl Refusal {
    fn because(reason: &'static str, hint: impl Into<String>) -> Self {
        Self { reason, hint: Some(hint.into()), ..Self::default() }
    }
}

/// Answers with one line end behind the JSON, as scripts know it of these verbs; `ok` decides the exit code.
fn emit(context: &mut Context, ok: bool, report: &impl Serialize) -> Result<(), Failure> {
    context.emit(report)?;
    context.text("\n");
    if !ok {
        context.exit_with(1);
    }
    Ok(())
}

fn refuse(context: &mut Context, refusal: &Refusal) -> Result<(), Failure> {
    if let Some(told) = refusal.hint.as_ref().or(refusal.stderr.as_ref()) {
        context.warn(format!("{}: {told}", refusal.reason));
    }
    emit(context, false, refusal)
}

/// A manifest and where it is.
struct ManifestFile {
    path: AbsolutePath,
    manifest: WaveManifest,
    /// Whether it is a note of this program's own, and no file that the call names.
    is_note: bool,
}

impl ManifestFile {
    fn read(context: &Context, typed: &str) -> Result<Self, Refusal> {
        let path = context.here().resolve(typed);
        let text = files::read(context, &path);
        Self::of(path, text, false)
    }

    /// The note of a wave that this program keeps.
    fn note_at(path: &AbsolutePath) -> Result<Self, Refusal> {
        Self::of(path.clone(), disk::read_text(path).map_err(Failure::from), true)
    }

    fn of(path: AbsolutePath, text: Result<Option<String>, Failure>, is_note: bool) -> Result<Self, Refusal> {
        let unread = |error: String| Refusal {
            reason: "manifest_read_failed",
            hint: Some("create the manifest first; an empty one is `{\"worktrees\": []}`".to_owned()),
            error: Some(error),
            ..Refusal::default()
        };
        let text = match text {
            Ok(Some(text)) => text,
            Ok(None) => return Err(unread(format!("there is no file `{path}`"))),
            Err(error) => return Err(unread(error.message.clone())),
        };
        let manifest = parsed(&path, &text)?;
        Ok(Self { path, manifest, is_note })
    }

    /// Writes the manifest with one more entry, beside what others have noted meanwhile.
    fn note(&self, context: &Context, entry: &WaveEntry) -> Result<Result<(), Refusal>, Failure> {
        let edit = |text: Option<&str>| {
            let noted = parsed(&self.path, text.unwrap_or_default()).and_then(|manifest| {
                manifest.with(entry).map_err(|error| match error {
                    NoteError::Twice => {
                        let (place, branch) = (&entry.worktree_path, &entry.branch);
                        let hint = format!(
                            "`{place}` on branch `{branch}` is in the manifest already; was the agent started twice?"
                        );
                        Refusal::because("duplicate_entry", hint)
                    }
                    NoteError::Edit(error) => {
                        Refusal::because("invalid_manifest_json", format!("`{}`: {error}", self.path))
                    }
                })
            });
            Ok(match noted {
                Ok(text) => (Ok(()), Some(text)),
                Err(refusal) => (Err(refusal), None),
            })
        };
        if self.is_note { files::edit_note(context, &self.path, edit) } else { files::edit(context, &self.path, edit) }
    }
}

fn parsed(path: &AbsolutePath, text: &str) -> Result<WaveManifest, Refusal> {
    WaveManifest::parse(text).map_err(|error| Refusal::because("invalid_manifest_json", format!("`{path}`, {error}")))
}

impl RecordArgs {
    /// The manifest and the entry that was asked for. Without a manifest there is nobody to tell anything; a field that is
    /// missing is told as every refusal of these verbs.
    fn entry(&self, verb: &str) -> Result<Result<(&str, WaveEntry), Refusal>, Failure> {
        let Some(manifest) = &self.manifest else {
            let message = format!("`worktree {verb}` needs --manifest, --agent-id, --path, --branch and --base");
            let example = format!("`{}` shows an example", typed!("gsd-tools worktree {} --help", Typed::words(verb)));
            return Err(Failure::usage(message).hint(example).exits(2));
        };
        let given = |field: &'static str, value: &Option<String>| {
            let value = value.clone().filter(|value| !value.trim().is_empty());
            value.ok_or_else(|| Refusal::because("missing_field", format!("`worktree {verb}` needs {field}")))
        };
        let fields = given("--agent-id", &self.agent_id).and_then(|agent_id| {
            let (path, branch) = (given("--path", &self.path)?, given("--branch", &self.branch)?);
            Ok((agent_id, path, branch, given("--base", &self.base)?))
        });
        let (agent_id, path, branch, base) = match fields {
            Ok(fields) => fields,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let listed = |text: &Option<String>| {
            let names: Vec<String> = text.as_deref()?.split_whitespace().map(str::to_owned).collect();
            Some(names).filter(|names| !names.is_empty())
        };
        let entry = WaveEntry {
            agent_id: Some(agent_id),
            worktree_path: path,
            branch,
            expected_base: base,
            files_modified: listed(&self.files),
            declared_deletions: listed(&self.deletions),
        };
        Ok(Ok((manifest, entry)))
    }
}

fn unsound(entry: &WaveEntry) -> Option<Refusal> {
    (!entry.is_sound()).then(|| {
        let hint = format!(
            "path, branch and base must not be empty, and the branch must start with `agent-`, `worktree-agent-` or \
             `worktree-wf_`: it is `{}`",
            entry.branch
        );
        Refusal::because("invalid_entry", hint)
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NotedReport {
    ok: bool,
    reason: &'static str,
    entry: WaveEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    manifest_path: String,
}

fn record_agent(context: &mut Context, arguments: &RecordArgs) -> Result<(), Failure> {
    refuse_repository_of_others(context.here())?;
    let (manifest, entry) = match arguments.entry("record-agent")? {
        Ok(asked) => asked,
        Err(refusal) => return refuse(context, &refusal),
    };
    if let Some(refusal) = unsound(&entry) {
        return refuse(context, &refusal);
    }
    let file = match ManifestFile::read(context, manifest) {
        Ok(file) => file,
        Err(refusal) => return refuse(context, &refusal),
    };
    if let Err(refusal) = file.note(context, &entry)? {
        return refuse(context, &refusal);
    }
    let manifest_path = manifest.to_owned();
    let reason = if context.is_rehearsal() { "rehearsed" } else { "ok" };
    emit(context, true, &NotedReport { ok: true, reason, entry, cwd: None, manifest_path })
}

fn create(context: &mut Context, arguments: &CreateArgs) -> Result<(), Failure> {
    refuse_repository_of_others(context.here())?;
    let (manifest, entry) = match arguments.record.entry("create")? {
        Ok(asked) => asked,
        Err(refusal) => return refuse(context, &refusal),
    };
    let Some(root) = &arguments.root else {
        return Err(Failure::usage("`worktree create` needs --root")
            .hint("`gsd-tools worktree create --help` shows an example")
            .exits(2));
    };
    let (folder, within) = (context.here().resolve(&entry.worktree_path), context.here().resolve(root));
    let refusal = match unsound(&entry) {
        None => misplaced(&entry, &folder, &within)?.or(linked(context, &folder)?),
        unsound => unsound,
    };
    if let Some(refusal) = refusal {
        return refuse(context, &refusal);
    }
    files::hold_to_project(context, &folder)?;
    let made = match ManifestFile::read(context, manifest) {
        Ok(file) => make(context, &file, &entry)?,
        Err(refusal) => Err(refusal),
    };
    match made {
        Err(refusal) => refuse(context, &refusal),
        Ok(cwd) => {
            let (cwd, manifest_path) = (Some(cwd), manifest.to_owned());
            let reason = if context.is_rehearsal() { "rehearsed" } else { "created" };
            emit(context, true, &NotedReport { ok: true, reason, entry, cwd, manifest_path })
        }
    }
}

/// Why the worktree cannot be in `folder`, which is to be inside `root`: as it is written, and as links lead.
fn misplaced(entry: &WaveEntry, folder: &AbsolutePath, root: &AbsolutePath) -> Result<Option<Refusal>, Failure> {
    if entry.worktree_path.split(['/', '\\']).any(|segment| segment == "..") {
        let hint = format!("`--path` must have no `..` in it: `{}`", entry.worktree_path);
        return Ok(Some(Refusal::because("unsafe_path_traversal", hint)));
    }
    let (real, real_root) = (disk::real(folder)?, disk::canonical(root)?);
    let is_inside = |folder: &AbsolutePath, root: &AbsolutePath| folder != root && folder.is_within(root);
    if !is_inside(folder, root) || !is_inside(&real, &real_root) {
        let hint = format!("`--path` `{real}` must be inside `--root` `{real_root}`");
        return Ok(Some(Refusal::because("path_outside_root", hint)));
    }
    if real.as_path().iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        let hint = format!("`--path` `{real}` must not be in a `.git` folder, where git looks for programs to run");
        return Ok(Some(Refusal::because("path_outside_root", hint)));
    }
    Ok(None)
}

/// Why the worktree cannot be in `folder` of the project: the project brings a link that is on the way there.
fn linked(context: &Context, folder: &AbsolutePath) -> Result<Option<Refusal>, Failure> {
    let Some(below) = folder.relative_to(context.root()) else { return Ok(None) };
    let root = disk::canonical(context.root())?;
    let linked = disk::passes_no_link(&root.join(&below), &root).err();
    Ok(linked.map(|error| Refusal::because("path_outside_root", error.to_string())))
}

/// Makes the worktree and notes it; a worktree that cannot be noted is taken back. Gives its folder.
fn make(context: &Context, file: &ManifestFile, entry: &WaveEntry) -> Result<Result<String, Refusal>, Failure> {
    let folder = context.here().resolve(&entry.worktree_path);
    let git = Git::here(context);
    let place = folder.as_path().to_string_lossy().into_owned();
    let base = git.answer(&[
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &format!("{}^{{commit}}", entry.expected_base),
    ]);
    let Some(base) = base else {
        let stderr = Some(format!("`{}` is not a commit", entry.expected_base));
        return Ok(Err(Refusal { reason: "worktree_add_failed", stderr, ..Refusal::default() }));
    };
    let refused = |stderr| Refusal { reason: "worktree_add_failed", stderr: Some(stderr), ..Refusal::default() };
    if context.is_rehearsal() {
        return match hindrance(&git, &entry.branch, &folder) {
            Some(why) => Ok(Err(refused(why))),
            None => Ok(file.note(context, entry)?.map(|()| place)),
        };
    }
    let added = git.run(&["worktree", "add", "-b", &entry.branch, "--", &place, &base]);
    if !added.success() {
        return Ok(Err(refused(added.error_text())));
    }
    match file.note(context, entry) {
        Ok(Ok(())) => Ok(Ok(place)),
        unnoted => {
            // Just made and empty of work: without a note nobody would ever clear it up.
            let _ = git.run(&["worktree", "remove", "--", &place]);
            let _ = git.remove_merged_branch(&entry.branch);
            unnoted.map(|noted| noted.map(|()| place))
        }
    }
}

/// What would keep git from making a worktree in `folder` on the new `branch`.
fn hindrance(git: &Git, branch: &str, folder: &AbsolutePath) -> Option<String> {
    let checked = git.run(&["check-ref-format", "--branch", branch]);
    if !checked.success() {
        return Some(checked.error_text());
    }
    // A branch is a file among the branches: none of them can be the folder of another.
    let apart =
        |one: &str, other: &str| one.strip_prefix(other).is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let branches = git.answer(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"]).unwrap_or_default();
    if let Some(taken) = branches.lines().find(|there| !apart(there, branch) || !apart(branch, there)) {
        return Some(format!("branch `{taken}` already exists"));
    }
    let empty = disk::list(folder).is_ok_and(|entries| entries.is_none_or(|entries| entries.is_empty()));
    if !empty || disk::is_file(folder) {
        return Some(format!("`{folder}` already exists"));
    }
    let listed = git.answer(&["worktree", "list", "--porcelain", "-z"]).unwrap_or_default();
    let line = format!("worktree {folder}");
    let registered = listed.split('\0').any(|field| field == line);
    registered.then(|| {
        format!("git still lists a deleted worktree at `{folder}`; `git worktree prune` removes it from the list")
    })
}
