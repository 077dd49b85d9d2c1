//! What is installed, and whether it is as we left it. Only looks.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::manifest::Holdings;
use super::registered;
use super::shared;
use super::{InstallError, Target, vouch};
use crate::disk::{self, AbsolutePath, Digest};
use crate::emit::Anchor;
use crate::runtime::{HostFormat, PluginsInUse};
use crate::world::World;

/// One install, compared with its manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of the program that wrote it; `None` if nothing is installed.
    pub(crate) version: Option<String>,
    /// How many files are wholly ours.
    pub(crate) files: usize,
    /// What is not as we left it, by path.
    pub(crate) drift: Vec<Drift>,
    /// A write was cut short; the next command that writes finishes it, or `gsd-tools recover`.
    pub(crate) unfinished: bool,
    /// The host has our plugin in use as well: everything stands there twice.
    pub(crate) plugin: bool,
    /// A manifest that came with the repository lists an install that this computer did not make.
    pub(crate) from_repository: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum Drift {
    /// A file of ours is gone.
    Missing { path: String },
    /// A file of ours was changed.
    Edited { path: String },
    /// Our part of a file is not whole any more.
    EditMissing { path: String },
    /// The file cannot be read as what it is.
    Unreadable { path: String, why: String },
}

/// Whether the host has our plugin in use. What it has in use everywhere, it has in a project too.
pub(crate) fn has_plugin(target: &Target) -> Result<bool, InstallError> {
    let Some(in_use) = target.descriptor.plugin.as_ref().and_then(|plugin| plugin.in_use.as_ref()) else {
        return Ok(false);
    };
    match in_use {
        PluginsInUse::Flags { file, path, begins } => {
            let Some(file) = target.descriptor.files.get(file) else { return Ok(false) };
            let is_set = |value: &Value| value == &Value::Bool(true) || value["enabled"] == Value::Bool(true);
            let mut files = registered::paths(target, file);
            let everywhere = target.everywhere.resolve(&file.path);
            if !files.contains(&everywhere) {
                files.push(everywhere);
            }
            for settings in files {
                let settings = parsed(&settings, file.format)?;
                let flags = at(&settings, path).and_then(Value::as_object);
                if flags.is_some_and(|flags| flags.iter().any(|(key, flag)| key.starts_with(begins) && is_set(flag))) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        PluginsInUse::Folder { folder, rules } => {
            if disk::list(target.everywhere.resolve(folder))?.is_none() {
                return Ok(false);
            }
            let Some(rules) = rules else { return Ok(true) };
            let noted = parsed(&target.everywhere.resolve(&rules.file), HostFormat::Json)?;
            let is_for = |rule: &Value| rule.as_str().is_some_and(|rule| !rule.starts_with('!'));
            Ok(at(&noted, &rules.path).and_then(Value::as_array).is_none_or(|rules| rules.iter().any(is_for)))
        }
    }
}

fn parsed(path: &AbsolutePath, format: HostFormat) -> Result<Value, InstallError> {
    registered::read(path, format)?.map_err(|source| InstallError::Unparsable { path: path.clone(), source })
}

fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Compares an install with its manifest.
pub(crate) fn status(target: &Target, world: &World) -> Result<Status, InstallError> {
    let found = vouch::read(target, &target.root)?;
    let (manifest, key) = (found.manifest, target.section_key(&Anchor::Root));
    let mut status = Status {
        version: None,
        files: 0,
        drift: Vec::new(),
        unfinished: !unfinished(target, world)?.is_empty(),
        plugin: false,
        from_repository: found.claimed.is_some_and(|claimed| claimed.installs.contains_key(&key)),
    };
    let Some(section) = manifest.installs.get(&key) else { return Ok(status) };
    status.version = Some(section.version.clone());
    let mut places = vec![(Anchor::Root, section.holdings.clone()), (Anchor::Project, section.project.clone())];
    for home in &section.homes {
        let anchor = Anchor::Home(home.clone());
        let manifest = vouch::read(target, &target.manifest_folder(&anchor))?.manifest;
        let holdings = manifest.installs.get(&target.section_key(&anchor)).map(|section| section.holdings.clone());
        places.push((anchor, holdings.unwrap_or_default()));
    }
    for (anchor, holdings) in places {
        status.files += holdings.files.len();
        compare(target, &target.folder(&anchor), &holdings, &mut status.drift)?;
    }
    match has_plugin(target) {
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

/// The folders of an install in which a write was cut short.
pub(crate) fn unfinished(target: &Target, world: &World) -> Result<Vec<AbsolutePath>, InstallError> {
    let mut found = target.possible_roots(&super::state(world)?);
    let mut failure = None;
    found.retain(|root| disk::is_unfinished(root).unwrap_or_else(|error| failure.replace(error).is_some()));
    failure.map_or(Ok(found), |error| Err(error.into()))
}

fn compare(
    target: &Target,
    folder: &AbsolutePath,
    holdings: &Holdings,
    drift: &mut Vec<Drift>,
) -> Result<(), InstallError> {
    for (path, written) in &holdings.files {
        let path = folder.join(path);
        let shown = || target.shown(&path);
        match Digest::of_file(&path)? {
            None => drift.push(Drift::Missing { path: shown() }),
            Some(found) if found == *written => {}
            Some(_) if with_newlines(&path)? == Some(*written) => {}
            Some(_) => drift.push(Drift::Edited { path: shown() }),
        }
    }
    for (path, ledger) in &holdings.shared {
        let path = folder.join(path);
        let shown = target.shown(&path);
        let Some(text) = disk::read_text(&path)? else {
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

/// The digest of the file with `\n` at the end of its lines, as a checkout of git's may have changed them.
fn with_newlines(path: &AbsolutePath) -> Result<Option<Digest>, InstallError> {
    let bytes = disk::read_bytes(path)?;
    Ok(bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(|text| Digest::of(text.replace("\r\n", "\n").as_bytes())))
}
