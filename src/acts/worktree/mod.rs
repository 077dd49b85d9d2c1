//! Worktrees of agents: recording them in the manifest of a wave, merging and removing them, cleaning up leftovers.
//!
//! Only what a manifest names, or what a dead process of this program locked, is ever removed, and never anything that
//! is not merged or not committed.
//!
//! # A wave
//!
//! `worktree create-wave` decides once which plans of a wave run in parallel and which in turn
//! (`operations::plans::waves`, pure), and records the decision as `wave.json` in the local notes of the project
//! (`project::local_state`): below the user's state folder, so it is not in `git status` and does not come with a
//! clone. The guard of executors and `worktree cleanup-wave` read that note and decide nothing themselves. It names
//! the session, the branch and the folder that the wave began in: the wave is merged only there, and by another
//! session only if the first is idle or has ended. Worktrees that a running process has locked and those of others are
//! never removed. Worktrees are the host's, if a call can ask for one, else ours in `.planning/worktrees`, a folder
//! that ignores itself. Executors commit their SUMMARY; `plan close` runs in the main tree after the merge and carries
//! it into STATE.md, ROADMAP.md and REQUIREMENTS.md in one transaction and one commit.

pub(crate) mod base;
pub(crate) mod cleanup;
pub(crate) mod create_wave;
pub(crate) mod git;
pub(crate) mod noted;
pub(crate) mod reap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::git::repository::refuse_repository_of_others;
use crate::acts::{Call, files};
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::wave::{NoteError, WaveEntry, WaveManifest};
use crate::text::shell::{Typed, typed};
use git::Git;

/// A refusal that scripts read from standard output.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Refusal {
    ok: bool,
    pub(crate) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
}

/// The result of a request: the report, or the refusal.
type RefusableResult<R> = Result<Result<R, Refusal>, Failure>;

impl Refusal {
    fn because(reason: &'static str, hint: impl Into<String>) -> Self {
        Self { reason, hint: Some(hint.into()), ..Self::default() }
    }
}

/// A manifest and its path.
struct ManifestFile {
    path: AbsolutePath,
    manifest: WaveManifest,
    /// Whether it is this program's own note, and not a file that the call names.
    is_note: bool,
}

impl ManifestFile {
    fn read(call: &Call, typed: &str) -> Result<Self, Refusal> {
        let path = call.here().resolve(typed);
        let text = files::read(call, &path);
        Self::of(path, text, false)
    }

    /// Reads the note of a wave that this program keeps.
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

    /// Writes the manifest with one more entry, in addition to entries that others have added meanwhile.
    fn note(&self, call: &Call, entry: &WaveEntry) -> RefusableResult<()> {
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
        if self.is_note { files::edit_note(call, &self.path, edit) } else { files::edit(call, &self.path, edit) }
    }
}

fn parsed(path: &AbsolutePath, text: &str) -> Result<WaveManifest, Refusal> {
    WaveManifest::parse(text).map_err(|error| Refusal::because("invalid_manifest_json", format!("`{path}`, {error}")))
}

/// A worktree to record in a manifest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) manifest: Option<&'a str>,
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
    pub(crate) branch: Option<&'a str>,
    /// The commit that the branch starts from.
    pub(crate) base: Option<&'a str>,
    /// The files that the agent may change, and those that it may remove, separated by spaces.
    pub(crate) files: Option<&'a str>,
    pub(crate) deletions: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// The requested manifest and entry. Without a manifest the call is an error; a missing field is a refusal like all
    /// others of these verbs.
    fn entry(&self, verb: &str) -> RefusableResult<(&'a str, WaveEntry)> {
        let Some(manifest) = self.manifest else {
            let message = format!("`worktree {verb}` needs --manifest, --agent-id, --path, --branch and --base");
            let example = format!("`{}` shows an example", typed!("gsd-tools worktree {} --help", Typed::words(verb)));
            return Err(Failure::usage(message).hint(example).exits(2));
        };
        let given = |field: &'static str, value: Option<&str>| {
            let value = value.filter(|value| !value.trim().is_empty()).map(str::to_owned);
            value.ok_or_else(|| Refusal::because("missing_field", format!("`worktree {verb}` needs {field}")))
        };
        let fields = given("--agent-id", self.agent_id).and_then(|agent_id| {
            let (path, branch) = (given("--path", self.path)?, given("--branch", self.branch)?);
            Ok((agent_id, path, branch, given("--base", self.base)?))
        });
        let (agent_id, path, branch, base) = match fields {
            Ok(fields) => fields,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let listed = |text: Option<&str>| {
            let names: Vec<String> = text?.split_whitespace().map(str::to_owned).collect();
            Some(names).filter(|names| !names.is_empty())
        };
        let entry = WaveEntry {
            agent_id: Some(agent_id),
            worktree_path: path,
            branch,
            expected_base: base,
            files_modified: listed(self.files),
            declared_deletions: listed(self.deletions),
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
pub(crate) struct NotedReport {
    ok: bool,
    reason: &'static str,
    entry: WaveEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    manifest_path: String,
}

/// Records an existing worktree.
pub(crate) fn record_agent(call: &Call, record: &Record<'_>) -> RefusableResult<NotedReport> {
    refuse_repository_of_others(call.here())?;
    let (manifest, entry) = match record.entry("record-agent")? {
        Ok(asked) => asked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(refusal) = unsound(&entry) {
        return Ok(Err(refusal));
    }
    let file = match ManifestFile::read(call, manifest) {
        Ok(file) => file,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Err(refusal) = file.note(call, &entry)? {
        return Ok(Err(refusal));
    }
    let manifest_path = manifest.to_owned();
    let reason = if call.is_rehearsal() { "rehearsed" } else { "ok" };
    Ok(Ok(NotedReport { ok: true, reason, entry, cwd: None, manifest_path }))
}

/// Makes a worktree in `root` and records it.
pub(crate) fn create(call: &Call, record: &Record<'_>, root: Option<&str>) -> RefusableResult<NotedReport> {
    refuse_repository_of_others(call.here())?;
    let (manifest, entry) = match record.entry("create")? {
        Ok(asked) => asked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(root) = root else {
        return Err(Failure::usage("`worktree create` needs --root")
            .hint("`gsd-tools worktree create --help` shows an example")
            .exits(2));
    };
    let (folder, within) = (call.here().resolve(&entry.worktree_path), call.here().resolve(root));
    let refusal = match unsound(&entry) {
        None => misplaced(&entry, &folder, &within)?.or(linked(call, &folder)?),
        unsound => unsound,
    };
    if let Some(refusal) = refusal {
        return Ok(Err(refusal));
    }
    files::hold_to_project(call, &folder)?;
    let made = match ManifestFile::read(call, manifest) {
        Ok(file) => make(call, &file, &entry)?,
        Err(refusal) => Err(refusal),
    };
    match made {
        Err(refusal) => Ok(Err(refusal)),
        Ok(cwd) => {
            let (cwd, manifest_path) = (Some(cwd), manifest.to_owned());
            let reason = if call.is_rehearsal() { "rehearsed" } else { "created" };
            Ok(Ok(NotedReport { ok: true, reason, entry, cwd, manifest_path }))
        }
    }
}

/// Why the worktree cannot be in `folder`, which has to be inside `root`: both as written and with links resolved.
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

/// Why the worktree cannot be in `folder` of the project: the project has a link on the way there.
fn linked(call: &Call, folder: &AbsolutePath) -> Result<Option<Refusal>, Failure> {
    let Some(below) = folder.relative_to(call.root()) else { return Ok(None) };
    let root = disk::canonical(call.root())?;
    let linked = disk::passes_no_link(&root.join(&below), &root).err();
    Ok(linked.map(|error| Refusal::because("path_outside_root", error.to_string())))
}

/// Makes the worktree and records it; a worktree that cannot be recorded is removed again. Returns its folder.
fn make(call: &Call, file: &ManifestFile, entry: &WaveEntry) -> RefusableResult<String> {
    let folder = call.here().resolve(&entry.worktree_path);
    let git = Git::here(call);
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
    if call.is_rehearsal() {
        return match hindrance(&git, &entry.branch, &folder) {
            Some(why) => Ok(Err(refused(why))),
            None => Ok(file.note(call, entry)?.map(|()| place)),
        };
    }
    let added = git.run(&["worktree", "add", "-b", &entry.branch, "--", &place, &base]);
    if !added.success() {
        return Ok(Err(refused(added.error_text())));
    }
    match file.note(call, entry) {
        Ok(Ok(())) => Ok(Ok(place)),
        unnoted => {
            // It was just made and has no work: without a note it would never be cleaned up.
            let _ = git.run(&["worktree", "remove", "--", &place]);
            let _ = git.remove_merged_branch(&entry.branch);
            unnoted.map(|noted| noted.map(|()| place))
        }
    }
}

/// Why git could not make a worktree in `folder` on the new `branch`.
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
