//! Installing, updating and removing features. Files and ledger change together, or not at all.

use crate::acts::caller;
use crate::acts::files;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{FeatureFolders, consent_digest, digests, features, folder};
use crate::acts::Call;
use crate::disk::{self, AbsolutePath, Access, Change, ChangeSet, Digest, Owner, RelativePath};
use crate::failure::{Failure, Reason};
use crate::library::Library;
use crate::operations::capability::declared::{self, Declared, Files, Home};
use crate::operations::capability::features::Features;
use crate::operations::capability::hooks::{Reference, references};
use crate::operations::capability::ledger::{Consent, Digests, InstalledFeature, Ledger};
use crate::operations::capability::{self, FeatureScope};
use crate::text::shell::{Typed, typed};

/// Exit code for an installation without consent.
const NOT_CONSENTED: u8 = 77;

/// What was done with a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FeatureStatus {
    Installed,
    Upgraded,
    /// It is already installed and trusted in this form: nothing was changed.
    Current,
    Removed,
    /// Nothing was changed; this is what would be done.
    Rehearsed,
}

/// What `capability install` and `capability update` answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallReport {
    status: FeatureStatus,
    id: String,
    /// The version that was installed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_version: Option<String>,
    version: String,
    scope: FeatureScope,
    /// The folder of its files.
    folder: String,
    /// What it adds.
    disclosure: Vec<String>,
    /// The parts of it that this program does not use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_used: Vec<String>,
}

/// What `capability update --all` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdatedReport {
    scope: FeatureScope,
    updated: Vec<InstallReport>,
}

/// What `capability remove` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoveReport {
    status: FeatureStatus,
    id: String,
    scope: FeatureScope,
    /// The files of its folder that were removed, or would be in a rehearsal.
    removed_files: Vec<String>,
    /// The files of its folder that were modified after the installation; they stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept_files: Vec<String>,
}

/// Installs the feature in a folder.
pub(crate) fn install(call: &Call, folder: &str, scope: FeatureScope, yes: bool) -> Result<InstallReport, Failure> {
    let command = called("install", folder, scope);
    let source = source(call, folder)?;
    put(call, &FeatureFolders::of(call, scope)?, &source, None, ConsentMeans { command: &command, yes })
}

/// Installs a feature again from its source folder.
pub(crate) fn update(call: &Call, id: &str, scope: FeatureScope, yes: bool) -> Result<InstallReport, Failure> {
    if let Some(refused) = of_ours(id, "updated") {
        return Err(refused.hint("`gsd-tools update-check` shows whether there is a newer gsd-tools"));
    }
    let place = FeatureFolders::of(call, scope)?;
    let ledger = place.read_ledger()?;
    let entry = ledger.of(id).ok_or_else(|| not_installed(id, scope))?;
    let source = source(call, &entry.source)?;
    put(call, &place, &source, Some(id), ConsentMeans { command: &called("update", id, scope), yes })
}

/// Installs all features of a scope again.
pub(crate) fn update_all(call: &Call, scope: FeatureScope, yes: bool) -> Result<UpdatedReport, Failure> {
    let place = FeatureFolders::of(call, scope)?;
    let ledger = place.read_ledger()?;
    // Nothing is written before all sources are known to exist.
    let sources: Result<Vec<_>, _> =
        ledger.entries().map(|(id, entry)| Ok((id.to_owned(), source(call, &entry.source)?))).collect();
    let sources = sources.map_err(|error: Failure| error.hint("update the others one by one, by their names"))?;
    let command = Typed::from("capability update --all");
    let asking = ConsentMeans { command: &command, yes };
    let updated = sources.into_iter().map(|(id, source)| put(call, &place, &source, Some(&id), asking));
    Ok(UpdatedReport { scope, updated: updated.collect::<Result<_, _>>()? })
}

/// Removes the files of a feature that are unchanged since the installation.
pub(crate) fn remove(call: &Call, id: &str, scope: FeatureScope) -> Result<RemoveReport, Failure> {
    if let Some(refused) = of_ours(id, "removed") {
        return Err(refused.hint(format!("`{}` disables it", typed!("gsd-tools capability disable {}", id))));
    }
    let place = FeatureFolders::of(call, scope)?;
    let folder = place.of_feature(id);
    let (removed_files, kept_files) = change(call, &place, |ledger, changes| {
        let Some(entry) = ledger.of(id) else {
            let refused = not_installed(id, scope);
            let is_there = declared::is_name(id) && disk::is_folder(&folder);
            return Err(if is_there {
                refused.hint(format!("you did not install `{folder}`: delete it yourself"))
            } else {
                refused
            });
        };
        let (removed, kept) = removal(&folder, &entry.files, changes)?;
        Ok(((removed, kept), Some(ledger.clone().with(id, None))))
    })?;
    let status = if call.is_rehearsal() { FeatureStatus::Rehearsed } else { FeatureStatus::Removed };
    if !kept_files.is_empty() {
        call.warn(format!("kept in `{folder}`, since they are not as they were installed: {}", kept_files.join(", ")));
    }
    Ok(RemoveReport { status, id: id.to_owned(), scope, removed_files, kept_files })
}

/// A command as a person types it.
fn called(verb: &'static str, of: &str, scope: FeatureScope) -> Typed {
    let scope = if scope == FeatureScope::Project { "--scope project" } else { "" };
    typed!("capability {} {}", verb, of).and(&Typed::from(scope))
}

/// How consent is asked for.
#[derive(Clone, Copy)]
struct ConsentMeans<'a> {
    /// The command that was called.
    command: &'a Typed,
    /// Whether consent was given with the command.
    yes: bool,
}

/// Installs the feature in `source` for a scope, if a person consents to what it adds. `id` is the feature that it has
/// to be, if given.
fn put(
    call: &Call,
    place: &FeatureFolders,
    source: &AbsolutePath,
    id: Option<&str>,
    asking: ConsentMeans<'_>,
) -> Result<InstallReport, Failure> {
    if !call.is_rehearsal() {
        // An agent may not choose rules that agents have to follow.
        caller::refuses_agents(call, asking.command.as_str())?;
    }
    let files = folder::read(source)?;
    let declared = read(call, place, source, &files)?;
    let name = declared.capability.id.clone();
    if let Some(id) = id.filter(|id| *id != name) {
        return Err(Failure::usage(format!("`{source}` is the feature `{name}` now, not `{id}`"))
            .hint(format!("install it by its folder: `{}`", typed!("gsd-tools capability install {}", source))));
    }
    let digests = digests(&files);
    let consent = consent_digest(&digests);
    let target = place.of_feature(&name);
    let before = place.read_ledger()?.of(&name).cloned();
    let is_current = |entry: &InstalledFeature| entry.consent.as_ref().is_some_and(|given| given.digest == consent);
    let version = declared.capability.installed.as_ref().map(|installed| installed.version.clone()).unwrap_or_default();
    let mut report = InstallReport {
        status: if before.is_some() { FeatureStatus::Upgraded } else { FeatureStatus::Installed },
        id: name.clone(),
        from_version: before.as_ref().map(|entry| entry.version.clone()),
        version: version.clone(),
        scope: place.scope,
        folder: target.to_string(),
        disclosure: declared.adds,
        not_used: declared.not_used,
    };
    let is_there =
        |entry: &InstalledFeature| is_current(entry) && found(&target).is_ok_and(|found| found == entry.files);
    if before.as_ref().is_some_and(is_there) {
        report.status = FeatureStatus::Current;
        return Ok(report);
    }
    if !call.is_rehearsal() {
        consents(call, &report, source, asking)?;
    }
    let now = call.world().now().to_string();
    change(call, place, |ledger, changes| {
        let known = ledger.of(&name).map(|entry| entry.files.clone()).unwrap_or_default();
        copy(&target, &files, &known, changes)?;
        let entry = InstalledFeature {
            version,
            source: source.to_string(),
            installed_at: now.clone(),
            files: digests,
            consent: Some(Consent { digest: consent.clone(), given_at: now }),
        };
        Ok(((), Some(ledger.clone().with(&name, Some(entry)))))
    })?;
    if call.is_rehearsal() {
        report.status = FeatureStatus::Rehearsed;
    }
    Ok(report)
}

/// Reads the declaration of a folder, and checks that it can be installed next to the others.
fn read(call: &Call, place: &FeatureFolders, source: &AbsolutePath, files: &Files) -> Result<Declared, Failure> {
    let invalid = |message: String| {
        Failure::new(Reason::ConfigParseFailed, message)
            .hint("correct it, then run the command again; nothing was changed")
    };
    let home = Home { folder: &place.folder.to_string(), source: &source.to_string(), scope: place.scope };
    let mut declared = declared::parse(files, home)
        .map_err(|error| invalid(format!("`{}`: {error}", source.resolve(declared::FILE))))?;
    let id = &declared.capability.id;
    if capability::find(id).is_some() || call.registry()?.ids().any(|host| host.as_str() == id) {
        return Err(Failure::usage(format!("gsd-tools already has a feature or host `{id}`"))
            .hint(format!("give the feature another `id` in `{}`", source.resolve(declared::FILE))));
    }
    let features = features(call)?;
    if let Some(missing) = declared.requires.iter().find(|required| features.find(required).is_none()) {
        return Err(Failure::usage(format!("`{id}` requires the feature `{missing}`, which is not installed"))
            .hint("install that one first: `gsd-tools capability install FOLDER`"));
    }
    refuse_taken_settings(&features, &declared)?;
    let library = Library::embedded()?;
    let lost = references(&declared.capability).into_iter().filter(|reference| !is_ours(&library, *reference));
    let lost: Vec<String> =
        lost.map(|reference| format!("step by `{}`: it is not installed", reference.name())).collect();
    declared.not_used.extend(lost);
    Ok(declared)
}

/// True if this program has the workflow or agent.
pub(crate) fn is_ours(library: &Library, reference: Reference<'_>) -> bool {
    match reference {
        Reference::Skill(name) => library.at(&format!("workflows/{name}.md")).is_some(),
        Reference::Agent(name) => {
            let name = name.strip_prefix("gsd-").unwrap_or(name);
            library.at(&format!("agents/{name}.md")).is_some()
        }
        Reference::Command(_) => false,
    }
}

/// Refuses a setting that another feature has: each would have a different default for it.
fn refuse_taken_settings(features: &Features, declared: &Declared) -> Result<(), Failure> {
    let id = &declared.capability.id;
    let settings = declared.capability.installed.iter().flat_map(|installed| &installed.settings);
    for setting in settings {
        let other = features.settings().find(|(other, taken)| other.id != *id && taken.key == setting.key);
        if let Some((other, _)) = other {
            return Err(Failure::usage(format!("`{}` is a setting of the feature `{}`", setting.key, other.id))
                .hint(format!("remove that one first: `{}`", typed!("gsd-tools capability remove {}", other.id))));
        }
    }
    Ok(())
}

/// Shows what a feature adds, and continues if a person consents.
fn consents(
    call: &Call,
    report: &InstallReport,
    source: &AbsolutePath,
    asking: ConsentMeans<'_>,
) -> Result<(), Failure> {
    if asking.yes {
        return Ok(());
    }
    let command = asking.command;
    if !caller::can_confirm(call) {
        let refused =
            format!("`{command}` needs your consent to what `{}` adds, and this is not a terminal", report.id);
        let hint = format!(
            "`{}` shows what it adds; `{}` consents to it",
            typed!("gsd-tools {} --dry-run", command),
            typed!("gsd-tools {} --yes", command)
        );
        return Err(Failure::usage(refused).exits(NOT_CONSENTED).hint(hint));
    }
    let lines = |title: &str, lines: &[String]| {
        if lines.is_empty() { String::new() } else { format!("{title}\n  - {}\n", lines.join("\n  - ")) }
    };
    call.tell(format_args!(
        "{} {} from {source}\n{}{}",
        report.id,
        report.version,
        lines("It adds:", &report.disclosure),
        lines("Not used:", &report.not_used)
    ));
    if caller::confirms(call, "Let agents work by it")? {
        return Ok(());
    }
    Err(Failure::new(Reason::Unknown, "not installed; nothing was changed"))
}

/// Changes files and ledger together; without a new ledger nothing is changed.
pub(crate) fn change<R>(
    call: &Call,
    place: &FeatureFolders,
    decide: impl FnOnce(&Ledger, &mut ChangeSet) -> Result<(R, Option<Ledger>), Failure>,
) -> Result<R, Failure> {
    let trees = place.trees();
    files::change(call, &trees.each_ref(), |changes| {
        let text = disk::read_text(&place.ledger)?;
        let ledger = place.parsed(text.as_deref())?;
        let (report, after) = decide(&ledger, changes)?;
        if let Some(after) = after.filter(|after| *after != ledger) {
            let before = text.map(|text| Digest::of(text.as_bytes()));
            changes.write(place.ledger.clone(), serde_json::to_string_pretty(&after)? + "\n", before);
        }
        Ok(report)
    })
}

/// The digests of the files in a folder.
fn found(folder: &AbsolutePath) -> Result<Digests, Failure> {
    Ok(digests(&folder::read(folder)?))
}

/// Makes the folder contain these files and no others. Existing files have to be as they were installed, `known`, or as
/// they will be.
fn copy(target: &AbsolutePath, files: &Files, known: &Digests, changes: &mut ChangeSet) -> Result<(), Failure> {
    let found = found(target)?;
    let wanted = digests(files);
    let is_a_persons =
        |(path, digest): &(&String, &String)| known.get(*path) != Some(*digest) && wanted.get(*path) != Some(*digest);
    let strangers: Vec<&str> = found.iter().filter(is_a_persons).map(|(path, _)| path.as_str()).collect();
    if !strangers.is_empty() {
        return Err(Failure::usage(format!(
            "`{target}` holds files that were not installed like this: {}",
            strangers.join(", ")
        ))
        .hint("move them away, then run the command again; nothing was changed"));
    }
    for (path, bytes) in files.iter().filter(|(path, _)| found.get(*path) != wanted.get(*path)) {
        let before = found.get(path).and_then(|digest| Digest::parse(digest));
        changes.push(Change::WriteFile {
            path: target.join(&RelativePath::parse(path)?),
            bytes: bytes.as_slice().into(),
            access: Access::Usual,
            owner: Owner::Program,
            before,
        });
    }
    let gone: Vec<RelativePath> = found
        .keys()
        .filter(|path| !wanted.contains_key(*path))
        .map(|path| RelativePath::parse(path))
        .collect::<Result<_, _>>()?;
    remove_files(target, &gone, &found, changes);
    Ok(())
}

/// Removes the files that are unchanged since the installation. Returns them, and the paths that stay.
fn removal(
    folder: &AbsolutePath,
    installed: &Digests,
    changes: &mut ChangeSet,
) -> Result<(Vec<String>, Vec<String>), Failure> {
    let (mut ours, mut kept) = (Vec::new(), Vec::new());
    let mut found = Digests::new();
    for path in folder::paths(folder)? {
        let at = folder.join(&path);
        let digest = if disk::is_link(&at) || !disk::is_file(&at) { None } else { Digest::of_file(&at)? };
        let digest = digest.map(|digest| digest.to_string());
        match digest.filter(|digest| installed.get(path.as_str()) == Some(digest)) {
            Some(digest) => {
                found.insert(path.as_str().to_owned(), digest);
                ours.push(path);
            }
            None => kept.push(path.as_str().to_owned()),
        }
    }
    remove_files(folder, &ours, &found, changes);
    Ok((ours.iter().map(|path| path.as_str().to_owned()).collect(), kept))
}

/// Removes files, and the folders that are empty afterwards.
fn remove_files(folder: &AbsolutePath, files: &[RelativePath], digests: &Digests, changes: &mut ChangeSet) {
    let mut folders = BTreeSet::new();
    for path in files {
        let at = folder.join(path);
        let mut above = at.parent();
        while let Some(inside) = above.filter(|above| above.is_within(folder)) {
            above = inside.parent();
            folders.insert(inside);
        }
        if let Some(before) = digests.get(path.as_str()).and_then(|digest| Digest::parse(digest)) {
            changes.push(Change::RemoveFile { path: at, owner: Owner::Program, before });
        }
    }
    // The innermost first.
    changes.extend(folders.into_iter().rev().map(|path| Change::RemoveFolder { path }));
}

/// The folder that a person named.
fn source(call: &Call, typed: &str) -> Result<AbsolutePath, Failure> {
    const DOWNLOAD: &str = "download or clone it, then type `gsd-tools capability install FOLDER`";
    let path = call.here().resolve(typed);
    if disk::is_folder(&path) {
        return Ok(path);
    }
    if let Some(refused) = of_ours(typed, "installed") {
        return Err(refused.hint("`gsd-tools capability list` lists the features"));
    }
    let is_elsewhere = typed.contains("://") || typed.starts_with("git@") || typed.starts_with("npm:");
    Err(if is_elsewhere {
        Failure::usage(format!("`{typed}` is not a folder: features are installed from folders only")).hint(DOWNLOAD)
    } else if disk::is_file(&path) {
        Failure::usage(format!("`{path}` is a file: features are installed from folders only"))
            .hint("unpack it, then type `gsd-tools capability install FOLDER`")
    } else {
        Failure::usage(format!("there is no folder `{path}`: features are installed from folders only")).hint(DOWNLOAD)
    })
}

/// The error for a built-in feature, for which this is impossible.
fn of_ours(id: &str, done: &str) -> Option<Failure> {
    capability::find(id)?;
    Some(Failure::usage(format!("`{id}` cannot be {done}: it is built in")))
}

pub(crate) fn not_installed(id: &str, scope: FeatureScope) -> Failure {
    let scope = scope.word();
    Failure::usage(format!("the feature `{id}` is not installed in the {scope} scope"))
        .hint("`gsd-tools capability list` lists the features and where they are installed")
}
