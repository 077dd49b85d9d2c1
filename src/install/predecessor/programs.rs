//! The other programs of the family: which of them is installed, and which version, by the signs in `programs.toml`.

use serde::Deserialize;
use serde_json::Value;

use super::{facts, placed, roots, theirs};
use crate::disk::{self, AbsolutePath, Snapshot};
use crate::install::manifest::{FILE, Manifest};
use crate::install::target::PROGRAM;
use crate::install::{InstallError, Target, status, vouch};
use crate::runtime::{RuntimeId, Scope};
use crate::text::shell::typed;

/// An install of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherInstall {
    /// The program, as its package is named.
    pub(crate) program: String,
    /// The program, as a person would name it.
    pub(crate) title: String,
    pub(crate) version: Option<String>,
    pub(crate) root: AbsolutePath,
    /// The host; `None` for a program with folders for itself.
    pub(crate) runtime: Option<RuntimeId>,
    pub(crate) scope: Scope,
    /// Why our install does not replace it; `None` if it does.
    pub(crate) stays: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FamilyFacts {
    state: String,
    marks: Vec<String>,
    /// The words by which their texts refer to their files.
    pub(super) mentions: Vec<String>,
    program: Vec<FamilyProgram>,
    plugin: Vec<FamilyPlugin>,
    apart: Vec<ApartProgram>,
}

/// One program that installs into hosts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FamilyProgram {
    pub(super) name: String,
    title: String,
    marks: Vec<String>,
    /// The file with its version.
    version: String,
}

/// A plugin of a host with the same commands as ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FamilyPlugin {
    name: String,
    title: String,
    runtime: RuntimeId,
    begins: String,
    versions: String,
    disable: String,
}

/// An install that ours does not replace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ApartProgram {
    name: String,
    title: String,
    runtime: Option<RuntimeId>,
    scope: Scope,
    folder: String,
    marks: Vec<String>,
    /// A key of the first mark.
    version: Option<String>,
    why: String,
}

impl FamilyFacts {
    fn embedded() -> Result<Self, toml_edit::de::Error> {
        toml_edit::de::from_str(include_str!("programs.toml"))
    }
}

pub(super) fn family() -> Result<FamilyFacts, InstallError> {
    FamilyFacts::embedded().map_err(|source| InstallError::Facts(Box::new(source)))
}

/// The program whose files are in the folder. Without a sign of any program, the first one of the table.
pub(super) fn program_in(
    family: &FamilyFacts,
    root: &AbsolutePath,
    snapshot: &Snapshot,
) -> Result<FamilyProgram, InstallError> {
    let known = marked(family, root, snapshot)?.or(family.program.first());
    Ok(known.cloned().unwrap_or_default())
}

fn marked<'a>(
    family: &'a FamilyFacts,
    root: &AbsolutePath,
    snapshot: &Snapshot,
) -> Result<Option<&'a FamilyProgram>, InstallError> {
    for program in &family.program {
        if has_one(root, &program.marks, snapshot)? {
            return Ok(Some(program));
        }
    }
    Ok(None)
}

impl FamilyProgram {
    /// The program, as a person would name it.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// The version that its files name.
    pub(super) fn version(&self, root: &AbsolutePath, snapshot: &mut Snapshot) -> Option<String> {
        let text = snapshot.read_text(&root.resolve(&self.version)).ok().flatten()?;
        text.lines().next().map(|line| line.trim().to_owned()).filter(|it| !it.is_empty())
    }
}

/// True if the host's folder has an install of another program, and our program is not there: what has the names and
/// bytes of our files there belongs to that program.
pub(crate) fn is_anothers(target: &Target, snapshot: &mut Snapshot) -> Result<bool, InstallError> {
    if has_program(&target.root, snapshot) {
        return Ok(false);
    }
    let manifest = vouch::read(target, &target.root, snapshot)?.manifest;
    if !manifest.installs.is_empty() {
        return Ok(false);
    }
    Ok(manifest.foreign_files().is_some() || has_one(&target.root, &family()?.marks, snapshot)?)
}

/// The installs of other programs for this host and scope.
pub(crate) fn others(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<OtherInstall>, InstallError> {
    let family = family()?;
    let mut found = Vec::new();
    for root in roots(&facts()?, target)? {
        // A manifest that cannot be read is reported by our own install.
        let Ok(manifest) = vouch::read(target, &root, snapshot).map(|found| found.manifest) else { continue };
        let is_theirs = theirs(target, &manifest);
        if !is_theirs && !is_unlisted(&family, target, &root, &manifest, snapshot)? {
            continue;
        }
        let program = program_in(&family, &root, snapshot)?;
        let listed = manifest.foreign_text("version").map(str::to_owned).filter(|_| is_theirs);
        let version = listed.or_else(|| program.version(&root, snapshot));
        let why = "its manifest is missing, so it is not known which files are yours";
        found.push(OtherInstall {
            program: program.name,
            title: program.title,
            version,
            root,
            runtime: Some(target.descriptor.id.clone()),
            scope: target.scope,
            stays: (!is_theirs).then(|| why.to_owned()),
        });
    }
    found.extend(plugins(target, snapshot)?);
    Ok(found)
}

/// True if there are files of another program without a list of them.
fn is_unlisted(
    family: &FamilyFacts,
    target: &Target,
    root: &AbsolutePath,
    manifest: &Manifest,
    snapshot: &mut Snapshot,
) -> Result<bool, InstallError> {
    let is_listed = manifest.foreign_files().is_some() || !manifest.installs.is_empty();
    if is_listed || has_program(root, snapshot) {
        return Ok(false);
    }
    // A project may be the source of such a program.
    let may_be_source = *root == target.project && !snapshot.is_file(&root.resolve(&family.state));
    Ok(!may_be_source && marked(family, root, snapshot)?.is_some())
}

/// The enabled plugins of the host that have the same commands as ours.
pub(crate) fn plugins(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<OtherInstall>, InstallError> {
    let mut found = Vec::new();
    for plugin in family()?.plugin.iter().filter(|plugin| plugin.runtime == target.descriptor.id) {
        let Some((key, file)) = status::enabled_plugin(target, &plugin.begins, snapshot)? else { continue };
        let versions = target.everywhere.resolve(&plugin.versions);
        let installed = snapshot.read_text(&versions)?.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let version = installed.as_ref().and_then(|all| all["plugins"][&key][0]["version"].as_str());
        let root = file.parent().unwrap_or(file);
        let disable = typed!("{}", key).to_string();
        let disable = plugin.disable.replace("{key}", &disable);
        found.push(OtherInstall {
            program: plugin.name.clone(),
            title: format!("the plugin {}", plugin.title),
            version: version.map(str::to_owned),
            scope: if root == target.everywhere { Scope::Global } else { target.scope },
            root,
            runtime: Some(plugin.runtime.clone()),
            stays: Some(format!("disable it with `{disable}`, or its commands and hooks exist twice")),
        });
    }
    Ok(found)
}

/// The installs that are not in the folder of one of our hosts, or for which we have no install.
pub(crate) fn apart(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<OtherInstall>, InstallError> {
    let family = family()?;
    let mut found = Vec::new();
    for known in &family.apart {
        let at = |path: &String| placed(target, path).filter(|path| disk::exists(path.as_path()));
        let (Some(mark), Some(root)) = (known.marks.iter().find_map(at), placed(target, &known.folder)) else {
            continue;
        };
        let noted = snapshot.read_text(&mark).ok().flatten();
        let noted = noted.and_then(|text| serde_json::from_str::<Value>(&text).ok()).unwrap_or_default();
        let version = known.version.as_ref().and_then(|key| noted[key].as_str());
        let (mut program, mut title) = (known.name.clone(), known.title.clone());
        if mark.name() == FILE {
            let named = program_in(&family, &root, snapshot)?;
            (program, title) = (named.name, named.title);
        }
        found.push(OtherInstall {
            program,
            title,
            version: version.map(str::to_owned),
            root,
            runtime: known.runtime.clone(),
            scope: known.scope,
            stays: Some(known.why.clone()),
        });
    }
    Ok(found)
}

/// True if our program is installed in the folder.
fn has_program(root: &AbsolutePath, snapshot: &Snapshot) -> bool {
    [PROGRAM.to_owned(), format!("{PROGRAM}.exe")].iter().any(|path| snapshot.is_file(&root.resolve(path)))
}

/// True if one of the marks exists in the folder.
fn has_one(root: &AbsolutePath, marks: &[String], snapshot: &Snapshot) -> Result<bool, InstallError> {
    for mark in marks {
        let Some((before, after)) = mark.split_once('*') else {
            let path = root.resolve(mark);
            if snapshot.is_file(&path) || snapshot.is_folder(&path) {
                return Ok(true);
            }
            continue;
        };
        let (folder, begins) = before.rsplit_once('/').unwrap_or(("", before));
        let entries = snapshot.list(&root.resolve(folder))?.unwrap_or_default();
        if entries.iter().any(|entry| entry.name.starts_with(begins) && entry.name.ends_with(after)) {
            return Ok(true);
        }
    }
    Ok(false)
}
