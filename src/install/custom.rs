//! Finds the user's own files among ours in a host's folder, and restores them after an update.
//!
//! A file belongs to the user if its path has our prefix or is in one of our folders, and no manifest lists it. Files
//! in [`BACKUP`] are only restored if nothing is at their path.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::InstallError;
use super::manifest::{self, Manifest};
use crate::disk::{self, AbsolutePath, ChangeSet, DiskError, Entry, EntryKind};
use crate::library;
use crate::text::front_matter::FrontMatter;

/// Where an update puts files of the user that it would remove.
pub(super) const BACKUP: &str = "gsd-user-files-backup";
/// Folders of a host that may contain our files, in addition to those the manifest names.
const FOLDERS: &[&str] = &["gsd-core", "commands", "agents", "hooks", "skills"];
/// How many folders deep the search goes.
pub(super) const DEEPEST: usize = 12;

/// The answer of `detect-custom-files`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// Relative to the host's folder.
    custom_files: Vec<String>,
    custom_count: usize,
    manifest_found: bool,
    /// The version whose files the manifest lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    /// What exactly is wrong with the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Finds the user's own files in the host's folder `root`. Without a manifest the owner of a file is unknown, and
/// nothing is found.
pub(crate) fn find(root: &AbsolutePath) -> Result<Findings, InstallError> {
    let manifest = match manifest_at(root) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => return Ok(Findings::default()),
        Err(error) => {
            let detail = Some(whole(&error));
            return Ok(Findings { error: Some("manifest parse error"), detail, ..Findings::default() });
        }
    };
    let mut folders: Vec<String> = FOLDERS.iter().map(ToString::to_string).collect();
    let named: BTreeSet<String> =
        manifest.files().filter_map(|path| path.split_once('/')).map(|(first, _)| first.to_owned()).collect();
    folders.extend(named.into_iter().filter(|name| !FOLDERS.contains(&name.as_str())));
    let mut found = Vec::new();
    for folder in folders {
        walk(&root.resolve(&folder), &folder, DEEPEST, &mut |path, _| found.push(path.to_owned()))?;
    }
    let listed: BTreeSet<&str> = manifest.files().collect();
    found.retain(|path| is_among_ours(path) && !listed.contains(path.as_str()));
    Ok(Findings {
        custom_count: found.len(),
        custom_files: found,
        manifest_found: true,
        manifest_version: manifest.version().map(str::to_owned),
        ..Findings::default()
    })
}

/// True if a part of the path has our name.
pub(super) fn is_among_ours(path: &str) -> bool {
    path.split('/').any(|part| part == "gsd" || part.starts_with("gsd-"))
}

fn manifest_at(root: &AbsolutePath) -> Result<Option<Manifest>, InstallError> {
    if !disk::exists(root.resolve(manifest::FILE)) {
        return Ok(None);
    }
    let path = root.resolve(manifest::FILE);
    let text = disk::read_text(&path)?;
    Manifest::parse(text.as_deref()).map(Some).map_err(|source| InstallError::Manifest { path, source })
}

fn whole(error: &InstallError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// Calls `found` for every file and link below `folder`, with its path relative to where `shown` begins.
pub(super) fn walk(
    folder: &AbsolutePath,
    shown: &str,
    deeper: usize,
    found: &mut dyn FnMut(&str, &Entry),
) -> Result<(), DiskError> {
    for entry in disk::list(folder)?.unwrap_or_default() {
        let path = if shown.is_empty() { entry.name.clone() } else { format!("{shown}/{}", entry.name) };
        // A link to a folder is not followed: its target is somewhere else.
        if entry.kind == EntryKind::Folder {
            if deeper > 0 {
                walk(&folder.resolve(&entry.name), &path, deeper - 1, found)?;
            }
        } else {
            found(&path, &entry);
        }
    }
    Ok(())
}

/// The answer of `restore-custom-files`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Restoration {
    backup_dir: String,
    backup_found: bool,
    manifest_found: bool,
    /// Whether files were restored, or only checked.
    applied: bool,
    entries: Vec<RestoreEntry>,
    eligible_count: usize,
    restored_count: usize,
    skipped_count: usize,
    warning_count: usize,
}

/// One file of the backup.
#[derive(Debug, Serialize, JsonSchema)]
struct RestoreEntry {
    /// Relative to the host's folder.
    path: String,
    outcome: RestoreOutcome,
    warnings: Vec<RestoreWarning>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RestoreOutcome {
    /// It can be restored.
    Eligible,
    Restored,
    /// The same bytes are already there.
    AlreadyPresent,
    SkippedDestinationExists,
    /// An installed file is there, or belongs there.
    SkippedDestinationManaged,
    /// It is not a regular file, or a link is on the way to its destination.
    SkippedUnsafePath,
    /// It could not be written; the others could.
    SkippedCopyFailed,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RestoreWarning {
    code: &'static str,
    detail: String,
}

impl Restoration {
    /// The files that can be restored.
    pub(crate) fn eligible(&self) -> Vec<String> {
        let eligible = self.entries.iter().filter(|entry| entry.outcome == RestoreOutcome::Eligible);
        eligible.map(|entry| entry.path.clone()).collect()
    }

    /// Records the result for one file; `failed` is the reason why it was not restored.
    pub(crate) fn settle(&mut self, path: &str, failed: Option<String>, is_rehearsal: bool) {
        self.applied = !is_rehearsal;
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.path == path) else { return };
        match failed {
            None if is_rehearsal => {}
            None => {
                entry.outcome = RestoreOutcome::Restored;
                self.restored_count += 1;
            }
            Some(detail) => {
                entry.outcome = RestoreOutcome::SkippedCopyFailed;
                entry.warnings.push(RestoreWarning { code: "copy_failed", detail });
                self.skipped_count += 1;
                self.warning_count += 1;
            }
        }
    }

    /// The report after the eligible files were restored.
    pub(crate) fn applied(mut self) -> Self {
        for entry in self.entries.iter_mut().filter(|entry| entry.outcome == RestoreOutcome::Eligible) {
            entry.outcome = RestoreOutcome::Restored;
        }
        Self { applied: true, restored_count: self.eligible_count, ..self }
    }
}

/// Checks the files in the backup; adds to `changes` those that can be restored.
pub(crate) fn look(root: &AbsolutePath, changes: &mut ChangeSet) -> Result<Restoration, InstallError> {
    let backup = root.resolve(BACKUP);
    let mut report = Restoration {
        backup_dir: backup.to_string(),
        backup_found: disk::is_folder(&backup) && !disk::is_link(&backup),
        ..Restoration::default()
    };
    // A manifest that cannot be read lists nothing. Existing files are never overwritten anyway.
    let manifest = match manifest_at(root) {
        Err(InstallError::Manifest { .. }) => None,
        found => found?,
    };
    report.manifest_found = manifest.as_ref().is_some_and(Manifest::has_files);
    let mut files = Vec::new();
    if report.backup_found {
        walk(&backup, "", DEEPEST, &mut |path, entry| files.push((path.to_owned(), entry.kind)))?;
    }
    for (path, kind) in files {
        let managed = manifest.as_ref().is_some_and(|manifest| manifest.files().any(|listed| listed == path));
        let (entry, bytes) = look_at(root, &backup, path, kind, managed)?;
        if entry.outcome == RestoreOutcome::Eligible {
            report.eligible_count += 1;
            if let Some(bytes) = bytes {
                changes.write(root.resolve(&entry.path), bytes, None);
            }
        } else {
            report.skipped_count += 1;
        }
        report.warning_count += entry.warnings.len();
        report.entries.push(entry);
    }
    Ok(report)
}

/// Adds to `changes` one file that can be restored.
pub(crate) fn bring_back(root: &AbsolutePath, path: &str, changes: &mut ChangeSet) -> Result<(), InstallError> {
    if let Some(bytes) = disk::read_bytes(root.resolve(BACKUP).resolve(path))? {
        changes.write(root.resolve(path), bytes, None);
    }
    Ok(())
}

/// Determines what can be done with one file of the backup; returns its bytes too.
fn look_at(
    root: &AbsolutePath,
    backup: &AbsolutePath,
    path: String,
    kind: EntryKind,
    managed: bool,
) -> Result<(RestoreEntry, Option<Vec<u8>>), InstallError> {
    let target = root.resolve(&path);
    let entry = |path, outcome, warnings| RestoreEntry { path, outcome, warnings };
    if kind != EntryKind::File || leads_through_a_link(root, &target) {
        return Ok((entry(path, RestoreOutcome::SkippedUnsafePath, Vec::new()), None));
    }
    let bytes = disk::read_bytes(backup.resolve(&path))?.unwrap_or_default();
    let there = if disk::is_folder(&target) { Some(Vec::new()) } else { disk::read_bytes(&target)? };
    let mut warnings = Vec::new();
    let outcome = match there {
        _ if managed => {
            warnings.push(RestoreWarning {
                code: "destination_managed",
                detail: "a file of this name is installed; yours would replace it".to_owned(),
            });
            RestoreOutcome::SkippedDestinationManaged
        }
        Some(there) if there == bytes && disk::is_file(&target) => RestoreOutcome::AlreadyPresent,
        Some(_) => {
            warnings.push(RestoreWarning {
                code: "destination_exists",
                detail: "another file is there now; yours would replace it".to_owned(),
            });
            RestoreOutcome::SkippedDestinationExists
        }
        None => RestoreOutcome::Eligible,
    };
    let missing = missing_fields(&path, &bytes);
    if !managed && !missing.is_empty() {
        warnings.push(RestoreWarning {
            code: "frontmatter_missing_field",
            detail: format!("frontmatter is missing required field(s): {}", missing.join(", ")),
        });
    }
    if !managed && let Ok(text) = std::str::from_utf8(&bytes) {
        warnings.extend(missing_references(root, text));
    }
    Ok((entry(path, outcome, warnings), Some(bytes)))
}

/// Our files and commands that a text names but that no longer exist.
fn missing_references(root: &AbsolutePath, text: &str) -> Vec<RestoreWarning> {
    let mut missing = BTreeSet::new();
    for (at, _) in text.match_indices("gsd-core/") {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
        let path = &text[at..];
        let path = path[..path.find(|letter| !is_part(letter)).unwrap_or(path.len())].trim_end_matches('.');
        let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        if is_file && !path.split('/').any(|part| part == "..") && !disk::exists(root.resolve(path)) {
            missing.insert(("missing_referenced_path", path));
        }
    }
    for (at, mark) in ["/gsd-", "/gsd:", "$gsd-"].iter().flat_map(|mark| text.match_indices(mark)) {
        let name = &text[at + mark.len()..];
        let end = name.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(name.len());
        let (name, behind) = (name[..end].trim_end_matches('-'), &name[end..]);
        // A match inside a path is not a command.
        let in_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '~' | '}');
        let is_path = text[..at].chars().next_back().is_some_and(in_path) || behind.starts_with('/');
        if !is_path && !name.is_empty() && !library::command_names().any(|known| known == name) {
            missing.insert(("missing_referenced_command", &text[at..at + mark.len() + name.len()]));
        }
    }
    let warning = |(code, what): (&'static str, &str)| RestoreWarning {
        code,
        detail: format!("it names `{what}`, which is not part of this release"),
    };
    missing.into_iter().map(warning).collect()
}

/// True if the target, or a folder on the way to it, is a link.
fn leads_through_a_link(root: &AbsolutePath, target: &AbsolutePath) -> bool {
    std::iter::successors(Some(target.clone()), AbsolutePath::parent)
        .take_while(|folder| folder != root && folder.is_within(root))
        .any(|folder| disk::is_link(&folder))
}

/// The fields that an agent or a command needs to be listed, but that this one lacks.
fn missing_fields(path: &str, bytes: &[u8]) -> Vec<&'static str> {
    let listed = ["agents/", "commands/"].iter().any(|folder| path.starts_with(folder))
        && Path::new(path).extension() == Some(OsStr::new("md"));
    let listed = listed || path.ends_with("/SKILL.md");
    let text = String::from_utf8_lossy(bytes);
    let front = FrontMatter::parse(&text);
    let has =
        |field: &str| front.as_ref().and_then(|front| front.text(field)).is_some_and(|text| !text.trim().is_empty());
    if listed { ["name", "description"].into_iter().filter(|field| !has(field)).collect() } else { Vec::new() }
}
