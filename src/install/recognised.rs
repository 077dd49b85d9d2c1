//! Finds the files and entries that are certainly ours in a host's folders although no manifest lists them: the
//! manifest was deleted, or renamed because it did not parse.
//!
//! A file counts if it has the name and the bytes that this version installs. An entry in settings counts if it names
//! our program, and is either what this version writes, or a hook or status line that runs it. A block counts by its
//! markers. Everything else stays; what looks like ours is reported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::adopted::Adopted;
use super::custom::is_among_ours;
use super::manifest::{InstallOptions, Ledger, Section};
use super::registered::{paths, runs_our_program};
use super::shared::{self, MadeEdit};
use super::situation::InstallSituation;
use super::target::PROGRAM;
use super::{InstallError, Target};
use crate::disk::{AbsolutePath, Digest, RelativePath, Snapshot};
use crate::emit::{Artifact, CONTENT_FOLDER, Contents, SharedEdit, SharedFile};
use crate::runtime::PlaceAnchor;
use crate::text::edit::{Applied, FileFormat, JsonDialect, Undo};
use crate::text::json::{JsonDocument, JsonEdit};

/// True if a search for an install that no manifest lists may find something: the host's folder has our content, files
/// with our names, or settings that name our program.
pub(super) fn has_traces(target: &Target, snapshot: &mut Snapshot) -> Result<bool, InstallError> {
    if snapshot.is_folder(&target.root.resolve(CONTENT_FOLDER)) {
        return Ok(true);
    }
    for place in &target.descriptor.places {
        let (folder, name) = place
            .path
            .rsplit_once("{name}")
            .map_or(("", ""), |(before, _)| before.rsplit_once('/').unwrap_or(("", before)));
        let base = match &place.anchor {
            PlaceAnchor::Root => target.root.clone(),
            PlaceAnchor::Project => target.project.clone(),
            PlaceAnchor::Home(home) => target.user.resolve(home),
        };
        let is_ours = |file: &str| if name.is_empty() { is_among_ours(folder) } else { file.starts_with(name) };
        let entries = snapshot.list(&base.resolve(folder))?.unwrap_or_default();
        if entries.iter().any(|entry| is_ours(&entry.name)) {
            return Ok(true);
        }
    }
    for file in target.descriptor.files.values() {
        for path in paths(target, file, snapshot) {
            // A file that is not text contains nothing from us.
            if snapshot.read_text(&path).ok().flatten().is_some_and(|text| text.contains(CONTENT_FOLDER)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Finds which of these artifacts exist and are certainly ours.
pub(super) fn recognise(
    target: &Target,
    artifacts: &[Artifact],
    options: &InstallOptions,
    situation: &mut InstallSituation,
) -> Result<Adopted, InstallError> {
    let mut section = Section::new(target.descriptor.id.clone(), target.scope, env!("CARGO_PKG_VERSION"));
    section.options = options.clone();
    let mut adopted = Adopted { section, homes: BTreeMap::new(), uncertain: BTreeSet::new() };
    let is_pinned = target.is_pinned();
    for artifact in artifacts {
        let anchor = &artifact.anchor;
        situation.look_at_wanted(target, artifact)?;
        situation.read_manifest(target, &target.manifest_folder(anchor))?;
        if situation.listed(target, anchor).is_some() {
            continue;
        }
        let relative = RelativePath::parse(&artifact.path).map_err(InstallError::Content)?;
        let path = target.folder(anchor).join(&relative);
        if situation.others(target, anchor).iter().any(|other| other.owns(&relative)) {
            continue;
        }
        let digest = match &artifact.contents {
            Contents::Shared(file) => {
                let (ledger, uncertain) = ledger(&path, file, is_pinned, situation)?;
                adopted.uncertain.extend(uncertain.then(|| path.clone()));
                if let Some(ledger) = ledger {
                    adopted.holdings_mut(anchor).shared.insert(relative, ledger);
                }
                continue;
            }
            Contents::Whole(text) => {
                let digest = Digest::of(text.as_bytes());
                situation.is_as_written(&path, digest).then_some(digest)
            }
            Contents::Binary => situation.snapshot.digest(&path).filter(|_| situation.is_program(&path)),
        };
        match digest {
            Some(digest) => {
                let holdings = adopted.holdings_mut(anchor);
                holdings.folders.extend(super::plan::folders_of(&relative));
                holdings.files.insert(relative, digest);
            }
            None if situation.snapshot.is_file(&path) && is_among_ours(&artifact.path) => {
                adopted.uncertain.insert(path);
            }
            None => {}
        }
    }
    Ok(adopted)
}

/// Our entries in a shared file, and whether it contains more that may be ours. A file of a project whose lock pins the
/// install is ours as a whole if it is as an install makes it from nothing.
fn ledger(
    path: &AbsolutePath,
    file: &SharedFile,
    is_pinned: bool,
    situation: &InstallSituation,
) -> Result<(Option<Ledger>, bool), InstallError> {
    // A file that is not text contains nothing from us.
    let text = situation.snapshot.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text else { return Ok((None, false)) };
    let made = match shared::make(file.format, text, &file.edits) {
        Ok((_, made)) => made,
        // The file does not parse; the person must repair it before anything is removed.
        Err(error) if text.contains(PROGRAM) => return Err(InstallError::shared(path, error)),
        Err(_) => return Ok((None, false)),
    };
    let stands = |made: &MadeEdit| match &made.edit {
        SharedEdit::Marked(block) => block.marked().body(text).is_ok_and(|body| body.is_some()),
        _ => made.applied == Applied::AlreadyThere,
    };
    let is_whole = is_pinned && shared::make(file.format, "", &file.edits).is_ok_and(|(whole, _)| whole == text);
    let is_ours = |made: &MadeEdit| is_whole || is_certain(&made.edit);
    let (ours, others): (Vec<_>, Vec<_>) = made.into_iter().filter(stands).partition(is_ours);
    let mut edits: Vec<SharedEdit> = ours.into_iter().map(|made| made.edit).collect();
    edits.extend(earlier_hooks(text, file, &edits));
    let edits: Vec<MadeEdit> = edits
        .into_iter()
        .map(|edit| MadeEdit { applied: Applied::Changed(Undo::of_all_above(path_of(&edit).len())), edit })
        .collect();
    let left = shared::take_back(file.format, text, edits.iter()).map_err(|error| InstallError::shared(path, error))?;
    let uncertain = left.contains(PROGRAM) || !others.is_empty();
    let created = shared::is_blank(file.format, &left);
    let after = Digest::of(text.as_bytes());
    let ledger = Ledger { format: file.format, before: None, after, created, edits };
    Ok(((!ledger.edits.is_empty()).then_some(ledger), uncertain))
}

/// True if only we write this edit: it names our content, or it is a block between our markers.
fn is_certain(edit: &SharedEdit) -> bool {
    let names_us = |text: &str| text.contains(&format!("{CONTENT_FOLDER}/"));
    let value = match edit {
        SharedEdit::Marked(_) => return true,
        SharedEdit::Json(edit) => edit.value().to_string(),
        SharedEdit::Toml(_) | SharedEdit::Yaml(_) => serde_json::to_string(edit).unwrap_or_default(),
    };
    names_us(&value) || path_of(edit).iter().any(|key| names_us(key) || key.starts_with("gsd-"))
}

fn path_of(edit: &SharedEdit) -> &[String] {
    match edit {
        SharedEdit::Json(edit) => edit.path(),
        SharedEdit::Toml(edit) => edit.path(),
        SharedEdit::Yaml(edit) => edit.path(),
        SharedEdit::Marked(_) => &[],
    }
}

/// Hooks that run our program in a form that this version does not register: they come from an earlier version.
fn earlier_hooks(text: &str, file: &SharedFile, known: &[SharedEdit]) -> Vec<SharedEdit> {
    let FileFormat::Json(_) = file.format else { return Vec::new() };
    let Ok(document) = JsonDocument::parse(text, JsonDialect::CommentsAndTrailingCommas) else { return Vec::new() };
    let is_hook =
        |edit: &&SharedEdit| matches!(edit, SharedEdit::Json(JsonEdit::Append { value, .. }) if runs_us(value));
    let events = file.edits.iter().filter(is_hook).filter_map(|edit| path_of(edit).split_last());
    let above: BTreeSet<&[String]> = events.map(|(_, above)| above).collect();
    let mut found = Vec::new();
    for above in above {
        let Some(Value::Object(events)) = document.value(above) else { continue };
        for (event, entries) in events {
            let path: Vec<String> = above.iter().cloned().chain([event]).collect();
            let ours = entries.as_array().into_iter().flatten().filter(|entry| runs_us(entry));
            let edits =
                ours.map(|value| SharedEdit::Json(JsonEdit::Append { path: path.clone(), value: value.clone() }));
            found.extend(edits.filter(|edit| !known.contains(edit)));
        }
    }
    found
}

/// True if an entry runs our program and nothing else.
fn runs_us(entry: &Value) -> bool {
    match entry {
        Value::Object(keys) => {
            let commands: Vec<&str> = ["command", "bash"].iter().filter_map(|key| keys.get(*key)?.as_str()).collect();
            let members = keys.get("hooks").and_then(Value::as_array);
            match (commands.is_empty(), members) {
                (false, None) => commands.iter().all(|command| runs_our_program(command)),
                (true, Some(members)) => !members.is_empty() && members.iter().all(runs_us),
                _ => false,
            }
        }
        _ => false,
    }
}
