//! What is installed, and whether it is unmodified. Read-only.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::manifest::Holdings;
use super::target::{NOTES, ROOTS};
use super::{InstallError, Target, predecessor, registered, shared, vouch};
use crate::disk::history::History;
use crate::disk::{self, AbsolutePath, Found, Snapshot};
use crate::emit::Anchor;
use crate::runtime::{HostFormat, PluginsInUse};
use crate::world::World;

/// One install, compared with its manifest.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of the program that wrote it; absent if nothing is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The profile that is installed: `full`, or names separated by commas; absent if nothing is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    /// How many files only we own.
    pub(crate) files: usize,
    /// What was modified or is missing, by path.
    pub(crate) drift: Vec<Drift>,
    /// A write was interrupted; `gsd-tools recover` or the next command that writes finishes it.
    pub(crate) unfinished: bool,
    /// The host has our plugin enabled too: commands and hooks exist twice.
    pub(crate) plugin: bool,
    /// A manifest that came with the repository lists an install that was not made on this computer.
    pub(crate) from_repository: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum Drift {
    /// One of our files is missing.
    Missing { path: String },
    /// One of our files was modified.
    Edited { path: String },
    /// Our part of a file is incomplete.
    EditMissing { path: String },
    /// The file cannot be parsed.
    Unreadable { path: String, why: String },
}

/// True if the host has enabled our plugin. A plugin enabled everywhere is enabled in a project too.
pub(super) fn has_plugin(target: &Target, snapshot: &mut Snapshot) -> Result<bool, InstallError> {
    let Some(in_use) = target.descriptor.plugin.as_ref().and_then(|plugin| plugin.in_use.as_ref()) else {
        return Ok(false);
    };
    match in_use {
        PluginsInUse::Flags { begins, .. } => Ok(enabled_plugin(target, begins, snapshot)?.is_some()),
        PluginsInUse::Folder { folder, rules } => {
            if snapshot.list(&target.everywhere.resolve(folder))?.is_none() {
                return Ok(false);
            }
            let Some(rules) = rules else { return Ok(true) };
            let noted = parsed(&target.everywhere.resolve(&rules.file), HostFormat::Json, snapshot)?;
            let is_for = |rule: &Value| rule.as_str().is_some_and(|rule| !rule.starts_with('!'));
            Ok(at(&noted, &rules.path).and_then(Value::as_array).is_none_or(|rules| rules.iter().any(is_for)))
        }
    }
}

/// The first enabled plugin whose key begins so, and the settings file that enables it. A plugin enabled everywhere is
/// enabled in a project too.
pub(super) fn enabled_plugin(
    target: &Target,
    begins: &str,
    snapshot: &mut Snapshot,
) -> Result<Option<(String, AbsolutePath)>, InstallError> {
    let in_use = target.descriptor.plugin.as_ref().and_then(|plugin| plugin.in_use.as_ref());
    let Some(PluginsInUse::Flags { file, path, .. }) = in_use else { return Ok(None) };
    let Some(file) = target.descriptor.files.get(file) else { return Ok(None) };
    let is_set = |value: &Value| value == &Value::Bool(true) || value["enabled"] == Value::Bool(true);
    let mut files = registered::paths(target, file, snapshot);
    let everywhere = target.everywhere.resolve(&file.path);
    if !files.contains(&everywhere) {
        files.push(everywhere);
    }
    for settings in files {
        let flags = parsed(&settings, file.format, snapshot)?;
        let mut flags = at(&flags, path).and_then(Value::as_object).into_iter().flatten();
        if let Some((key, _)) = flags.find(|(key, flag)| key.starts_with(begins) && is_set(flag)) {
            return Ok(Some((key.clone(), settings)));
        }
    }
    Ok(None)
}

fn parsed(path: &AbsolutePath, format: HostFormat, snapshot: &mut Snapshot) -> Result<Value, InstallError> {
    registered::read(path, format, snapshot)?.map_err(|source| InstallError::Unparsable { path: path.clone(), source })
}

fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// True if the user has this install according to its manifest; nothing else is checked.
pub(crate) fn is_installed(target: &Target) -> bool {
    let found = vouch::read(target, &target.root, &mut Snapshot::default());
    found.is_ok_and(|found| found.manifest.installs.contains_key(&target.section_key(&Anchor::Root)))
}

/// Compares an install with its manifest.
pub(crate) fn status(target: &Target) -> Result<Status, InstallError> {
    let unfinished = !unfinished(target)?.is_empty();
    Ok(Status { unfinished, ..look(target, &mut Snapshot::default())? })
}

/// Compares an install, as the snapshot shows it, with its manifest.
pub(super) fn look(target: &Target, snapshot: &mut Snapshot) -> Result<Status, InstallError> {
    let found = vouch::read(target, &target.root, snapshot)?;
    let (manifest, key) = (found.manifest, target.section_key(&Anchor::Root));
    let mut status = Status {
        from_repository: found.claimed.is_some_and(|claimed| claimed.installs.contains_key(&key)),
        ..Status::default()
    };
    let Some(section) = manifest.installs.get(&key) else { return Ok(status) };
    status.version = Some(section.version.clone());
    status.profile = Some(section.options.profile.to_string());
    let mut places = vec![(Anchor::Root, section.holdings.clone()), (Anchor::Project, section.project.clone())];
    for home in &section.homes {
        let anchor = Anchor::Home(home.clone());
        let manifest = vouch::read(target, &target.manifest_folder(&anchor), snapshot)?.manifest;
        let holdings = manifest.installs.get(&target.section_key(&anchor)).map(|section| section.holdings.clone());
        places.push((anchor, holdings.unwrap_or_default()));
    }
    for (anchor, holdings) in places {
        status.files += holdings.files.len();
        compare(target, &target.folder(&anchor), &holdings, snapshot, &mut status.drift)?;
    }
    match has_plugin(target, snapshot) {
        Ok(plugin) => status.plugin = plugin,
        Err(InstallError::Unparsable { path, source }) => {
            let shown = target.shown(&path);
            let is_told = |drift: &Drift| matches!(drift, Drift::Unreadable { path, .. } if *path == shown);
            if !status.drift.iter().any(is_told) {
                status.drift.push(Drift::Unreadable { path: shown, why: source.to_string() });
            }
        }
        Err(error) => return Err(error),
    }
    Ok(status)
}

/// The folders of an install in which a write was interrupted; not those that all installs share.
pub(crate) fn unfinished(target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
    let mut roots = target.possible_roots();
    roots.retain(|root| ![target.roots_folder(), target.notes_folder()].contains(root));
    // An install over another program writes where that one did, too. Once that one is gone, only the history has it. If
    // its manifest cannot be read, no install went over it; an install reports that, and must not keep others from recovery.
    roots.extend(predecessor::folders(target, &mut Snapshot::default()).unwrap_or_default());
    roots.extend(History::in_state(&target.state).pending_with(&target.root)?);
    roots.sort();
    roots.dedup();
    unfinished_in(roots)
}

/// The folders that all installs share, below the user's state, in which a write was interrupted.
pub(crate) fn unfinished_in_state(world: &World) -> Result<Vec<AbsolutePath>, InstallError> {
    let state = super::state(world)?;
    unfinished_in(vec![state.resolve(ROOTS), state.resolve(NOTES)])
}

/// Keeps those of the folders in which a write was interrupted.
pub(super) fn unfinished_in(mut found: Vec<AbsolutePath>) -> Result<Vec<AbsolutePath>, InstallError> {
    let mut failure = None;
    found.retain(|root| disk::is_unfinished(root).unwrap_or_else(|error| failure.replace(error).is_some()));
    failure.map_or(Ok(found), |error| Err(error.into()))
}

fn compare(
    target: &Target,
    folder: &AbsolutePath,
    holdings: &Holdings,
    snapshot: &mut Snapshot,
    drift: &mut Vec<Drift>,
) -> Result<(), InstallError> {
    for (path, written) in &holdings.files {
        let path = folder.join(path);
        let shown = || target.shown(&path);
        match snapshot.look(&path)? {
            Found::Absent => drift.push(Drift::Missing { path: shown() }),
            Found::File(file) if file.is_as_written(*written) => {}
            Found::File(_) => drift.push(Drift::Edited { path: shown() }),
            Found::Folder | Found::Other => {
                drift.push(Drift::Unreadable { path: shown(), why: "it is not a file".to_owned() });
            }
        }
    }
    for (path, ledger) in &holdings.shared {
        let path = folder.join(path);
        let shown = target.shown(&path);
        let Some(text) = snapshot.read_text(&path)? else {
            drift.push(Drift::Missing { path: shown });
            continue;
        };
        let edits: Vec<_> = ledger.edits.iter().map(|made| made.edit.clone()).collect();
        match shared::make(ledger.format, &text, &edits) {
            Ok((again, _)) if again == text => {}
            Ok(_) => drift.push(Drift::EditMissing { path: shown }),
            Err(error) => drift.push(Drift::Unreadable { path: shown, why: error.to_string() }),
        }
    }
    Ok(())
}
