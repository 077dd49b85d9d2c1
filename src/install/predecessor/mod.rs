//! An install by another program of the same name, which ours replaces.
//!
//! Its own manifest is the proof: a file with the digest listed there belongs to that program and is removed; one that
//! was changed since is set aside. A file that it does not list is removed if its exact text is known, or if it has one
//! of that program's names, refers to its files, and was last written when the manifest was. Without such a manifest,
//! nothing is touched. What it wrote into files of the user is recognised by its names and removed, see [`settings`].
//! Which program it is, [`programs`] finds.

mod facts;
mod programs;
mod recogniser;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::Manifest;
use super::shared::SharedError;
use super::{InstallError, Target};
use crate::disk::{self, AbsolutePath, Digest, RelativePath, Snapshot};
use crate::runtime::{HostFormat, RuntimeId};
use facts::PredecessorFacts;
pub(crate) use programs::{OtherInstall, apart, is_anothers, others, plugins};
pub(crate) use recogniser::Recogniser;
use settings::Spellings;

/// The file in its folder with the names of its profile.
pub(super) const PROFILE: &str = ".gsd-profile";

/// One install of that program.
#[derive(Debug)]
pub(crate) struct Predecessor {
    /// The folder of its manifest.
    pub(crate) root: AbsolutePath,
    /// The program, as its package is named.
    pub(crate) program: String,
    pub(crate) version: Option<String>,
    pub(crate) files: BTreeMap<AbsolutePath, Attribution>,
    /// Files with its names that are really somewhere else, because a link of the user leads there.
    pub(crate) elsewhere: Vec<AbsolutePath>,
    /// Files with its names in folders shared with others, whose bytes differ from the listed ones.
    pub(crate) changed: Vec<AbsolutePath>,
    /// Folders that may contain only its files, deepest first.
    pub(crate) folders: Vec<AbsolutePath>,
    /// Files of the user that it edits.
    pub(crate) settings: BTreeMap<AbsolutePath, HostFormat>,
    /// The manifest keys of that program.
    pub(crate) manifest_keys: Vec<String>,
    facts: PredecessorFacts,
    spellings: Spellings,
}

/// Why a file is attributed to that program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// Its manifest has this digest.
    Listed(Digest),
    /// Its text is known, or equals that of a listed file, or it was written together with the manifest; this is its
    /// digest.
    Known(Digest),
    /// Only its name matches one of that program.
    Named,
}

/// The folders that an install of `target` may take over, for their locks.
pub(crate) fn folders(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<AbsolutePath>, InstallError> {
    let facts = facts()?;
    let mut folders = Vec::new();
    for root in roots(&facts, target)? {
        if theirs(target, &super::vouch::read(target, &root, snapshot)?.manifest) {
            folders.push(root);
            folders.extend(homes(&facts, target, snapshot));
            folders.extend(facts.settings(&target.descriptor.id, target.scope).filter_map(|(path, _)| {
                placed(target, path).and_then(|path| path.parent()).filter(|folder| snapshot.is_folder(folder))
            }));
        }
    }
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// The installs that `target` replaces.
pub(crate) fn find(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<Predecessor>, InstallError> {
    let facts = facts()?;
    let mut found = Vec::new();
    for root in roots(&facts, target)? {
        let manifest = super::vouch::read(target, &root, snapshot)?.manifest;
        if theirs(target, &manifest) {
            found.push(Predecessor::at(root, &manifest, target, snapshot)?);
        }
    }
    Ok(found)
}

fn facts() -> Result<PredecessorFacts, InstallError> {
    PredecessorFacts::embedded().map_err(|source| InstallError::Facts(Box::new(source)))
}

/// The host's folder, and the other folders where that program puts files of the same host.
fn roots(facts: &PredecessorFacts, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
    let mut roots = vec![target.root.clone()];
    if target.is_usual() {
        for folder in facts.elsewhere(&target.descriptor.id, target.scope) {
            let folder = match folder.strip_prefix("~/") {
                Some(below) => target.user.resolve(below),
                None if folder == "." => target.project.clone(),
                None => target.project.resolve(folder),
            };
            roots.push(disk::canonical(&folder)?);
        }
    }
    roots.sort();
    roots.dedup();
    Ok(roots)
}

fn homes(facts: &PredecessorFacts, target: &Target, snapshot: &Snapshot) -> Vec<AbsolutePath> {
    let homes = facts.homes(&target.descriptor.id, target.scope);
    homes.filter_map(|home| placed(target, home)).filter(|home| snapshot.is_folder(home)).collect()
}

/// The location of a path in the facts that begins with `~/` or `./`.
fn placed(target: &Target, path: &str) -> Option<AbsolutePath> {
    let home = path.strip_prefix("~/").map(|below| target.user.resolve(below));
    home.or_else(|| path.strip_prefix("./").map(|below| target.project.resolve(below)))
}

/// True if the manifest belongs to that program for this host and scope. Its older versions recorded neither.
fn theirs(target: &Target, manifest: &Manifest) -> bool {
    let is = |key: &str, ours: &str| manifest.foreign_text(key).is_none_or(|theirs| theirs == ours);
    manifest.foreign_files().is_some()
        && is("runtime", target.descriptor.id.as_str())
        && is("scope", target.scope.word())
}

impl Predecessor {
    fn at(
        root: AbsolutePath,
        manifest: &Manifest,
        target: &Target,
        snapshot: &mut Snapshot,
    ) -> Result<Self, InstallError> {
        let facts = facts()?;
        let homes = homes(&facts, target, snapshot);
        let program = programs::program_in(&programs::family()?, &root, snapshot)?;
        let version = manifest.foreign_text("version").map(str::to_owned);
        let version = version.or_else(|| program.version(&root, snapshot));
        let mut predecessor = Self {
            program: program.name,
            version,
            files: BTreeMap::new(),
            elsewhere: Vec::new(),
            changed: Vec::new(),
            folders: Vec::new(),
            settings: BTreeMap::new(),
            manifest_keys: facts.manifest_keys.clone(),
            spellings: spellings(&root, target),
            facts,
            root,
        };
        let listed: Vec<(RelativePath, Digest)> = manifest
            .foreign_files()
            .into_iter()
            .flatten()
            .filter_map(|(path, digest)| {
                Some((RelativePath::parse(path).ok()?, digest.as_str().and_then(Digest::parse)?))
            })
            .collect();
        let mut ours_there = Vec::new();
        for home in &homes {
            // A manifest that cannot be read is reported by its own host.
            let Ok(found) = super::vouch::read(target, home, snapshot) else { continue };
            let files = found.manifest.installs.values().flat_map(|section| section.holdings.files.keys());
            ours_there.extend(files.map(|path| home.join(path)));
        }
        for (path, digest) in &listed {
            predecessor.files.insert(predecessor.root.join(path), Attribution::Listed(*digest));
            for home in &homes {
                let path = home.join(path);
                // In a folder shared with others, only identical bytes count.
                match snapshot.look(&path)?.digest() {
                    Some(found) if found == *digest => {
                        predecessor.files.insert(path, Attribution::Listed(*digest));
                    }
                    Some(_) if !ours_there.contains(&path) => predecessor.changed.push(path),
                    Some(_) | None => {}
                }
            }
        }
        predecessor.look_for_unlisted(&target.descriptor.id, &listed, &homes, snapshot)?;
        predecessor.files.retain(|path, _| snapshot.is_file(path));
        let inside =
            |path: &AbsolutePath| homes.iter().chain([&predecessor.root]).any(|it| snapshot.is_inside(path, it));
        predecessor.elsewhere = predecessor.files.keys().filter(|path| !inside(path)).cloned().collect();
        predecessor.files.retain(|path, _| !predecessor.elsewhere.contains(path));
        predecessor.note_folders(&homes, target, snapshot);
        let settings: Vec<(AbsolutePath, HostFormat)> = predecessor
            .facts
            .settings(&target.descriptor.id, target.scope)
            .map(|(path, format)| (placed(target, path).unwrap_or_else(|| predecessor.root.resolve(path)), format))
            .filter(|(path, _)| snapshot.is_file(path) && !predecessor.files.contains_key(path))
            .collect();
        predecessor.settings.extend(settings);
        Ok(predecessor)
    }

    /// Adds files of that program that its manifest does not list.
    fn look_for_unlisted(
        &mut self,
        runtime: &RuntimeId,
        listed: &[(RelativePath, Digest)],
        homes: &[AbsolutePath],
        snapshot: &mut Snapshot,
    ) -> Result<(), InstallError> {
        for base in homes.iter().chain([&self.root.clone()]) {
            for folder in self.facts.folders.clone() {
                for entry in snapshot.list(&base.resolve(&folder))?.unwrap_or_default() {
                    let path = if folder == "." {
                        base.resolve(&entry.name)
                    } else {
                        base.resolve(&folder).resolve(&entry.name)
                    };
                    if self.files.contains_key(&path) || !snapshot.is_file(&path) {
                        continue;
                    }
                    let digest = snapshot.look(&path)?.digest().filter(|digest| self.facts.texts.contains(digest));
                    let named = self.facts.scripts.contains(&entry.name) && folder.contains("hooks");
                    let written = named && self.is_of_its_time(&path);
                    let digest = digest.or(snapshot.digest(&path).filter(|_| written));
                    let evidence = digest.map(Attribution::Known).or(named.then_some(Attribution::Named));
                    self.files.extend(evidence.map(|evidence| (path, evidence)));
                }
            }
        }
        for file in self.facts.bookkeeping.iter().filter(|file| file.is_of(runtime)) {
            let path = self.root.resolve(&file.path);
            let paths = match snapshot.list(&path) {
                Ok(Some(entries)) => entries.iter().map(|entry| path.resolve(&entry.name)).collect(),
                _ => vec![path],
            };
            for path in paths {
                if !snapshot.is_file(&path) {
                    continue;
                }
                let text = snapshot.read(&path)?.and_then(|bytes| std::str::from_utf8(bytes).ok());
                if let Some(text) = text.filter(|text| file.is_like(text)) {
                    self.files.entry(path).or_insert(Attribution::Known(Digest::of(text.as_bytes())));
                }
            }
        }
        self.look_for_surfaces(listed, snapshot)
    }

    /// Adds commands, skills and agents with its names: known if the text is the same in another form, or if it was
    /// written with the manifest and refers to that program; otherwise only named.
    fn look_for_surfaces(
        &mut self,
        listed: &[(RelativePath, Digest)],
        snapshot: &mut Snapshot,
    ) -> Result<(), InstallError> {
        let mentions = programs::family()?.mentions;
        let mut names: BTreeSet<String> = listed.iter().filter_map(|(path, _)| name_of(path.as_str())).collect();
        names.extend(self.unlisted_names(&mentions, snapshot)?);
        let of_its_time = |name: &&String| {
            let mut paths = self.facts.surfaces.iter().map(|form| self.root.resolve(form.replace("{name}", name)));
            paths.any(|path| self.is_of_its_time(&path))
        };
        names.extend(self.facts.names.iter().filter(of_its_time).cloned());
        for name in names {
            let paths: Vec<AbsolutePath> = self
                .facts
                .surfaces
                .iter()
                .map(|form| self.root.resolve(form.replace("{name}", &name)))
                .filter(|path| snapshot.is_file(path))
                .collect();
            let (known, unknown): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| self.files.contains_key(path));
            for path in unknown {
                let text = body(&path, snapshot)?;
                let mut twin = false;
                for other in known.iter().filter(|_| text.is_some()) {
                    twin |= self.is_as_listed(other, snapshot)? && body(other, snapshot)? == text;
                }
                twin |= self.is_of_its_time(&path) && mentions_one(&path, &mentions, snapshot)?;
                let digest = snapshot.digest(&path).filter(|_| twin);
                self.files.insert(path, digest.map_or(Attribution::Named, Attribution::Known));
            }
        }
        Ok(())
    }

    /// The names of commands that its manifest lists in no form: files with its prefix that refer to its folder and were
    /// written with the manifest.
    fn unlisted_names(&self, mentions: &[String], snapshot: &mut Snapshot) -> Result<Vec<String>, InstallError> {
        let folders: Vec<String> = mentions.iter().filter(|word| word.ends_with('/')).cloned().collect();
        let mut names = Vec::new();
        for form in &self.facts.surfaces {
            let Some((before, after)) = form.split_once("gsd-{name}") else { continue };
            let folder = self.root.resolve(before);
            for entry in snapshot.list(&folder)?.unwrap_or_default() {
                let below = after.strip_prefix('/');
                let stem = if below.is_some() { Some(entry.name.as_str()) } else { entry.name.strip_suffix(after) };
                let Some(name) = stem.and_then(|stem| stem.strip_prefix("gsd-")) else { continue };
                let path = below
                    .map_or_else(|| folder.resolve(&entry.name), |below| folder.resolve(&entry.name).resolve(below));
                let is_new = !self.files.contains_key(&path) && snapshot.is_file(&path);
                if is_new && self.is_of_its_time(&path) && mentions_one(&path, &folders, snapshot)? {
                    names.push(name.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// True if the file was last written during the install that wrote the manifest.
    fn is_of_its_time(&self, path: &AbsolutePath) -> bool {
        let manifest = disk::modified(self.root.resolve(super::manifest::FILE).as_path());
        let (Some(manifest), Some(file)) = (manifest, disk::modified(path.as_path())) else { return false };
        (manifest - LONGEST..=manifest + SLACK).contains(&file)
    }

    fn is_as_listed(&self, path: &AbsolutePath, snapshot: &mut Snapshot) -> Result<bool, InstallError> {
        let Some(Attribution::Listed(digest)) = self.files.get(path) else { return Ok(false) };
        Ok(snapshot.look(path)?.digest() == Some(*digest))
    }

    fn note_folders(&mut self, homes: &[AbsolutePath], target: &Target, snapshot: &Snapshot) {
        let mut folders: BTreeSet<AbsolutePath> = BTreeSet::new();
        for path in self.files.keys() {
            let above = std::iter::successors(path.parent(), AbsolutePath::parent);
            if path.is_within(&self.root) {
                folders.extend(above.take_while(|folder| *folder != self.root));
            } else if let Some(home) = homes.iter().find(|home| path.is_within(home)) {
                folders.extend(above.take_while(|folder| folder.is_within(home)));
            }
        }
        folders.extend(self.facts.empty_folders.iter().map(|folder| self.root.resolve(folder)));
        // The host's folder is the user's; a folder that only this program makes is not.
        if ![&target.root, &target.project, &target.user].contains(&&self.root) {
            folders.insert(self.root.clone());
        }
        let settings = self.facts.settings(&target.descriptor.id, target.scope).filter_map(|(path, _)| {
            let folder = placed(target, path)?.parent()?;
            let is_users = [&target.root, &target.project, &target.user].contains(&&folder);
            Some(folder).filter(|folder| !is_users && snapshot.is_folder(folder))
        });
        folders.extend(settings);
        self.folders = folders.into_iter().rev().collect();
    }

    /// True if it wrote the file and the bytes are unmodified.
    pub(crate) fn wrote(&self, path: &AbsolutePath, as_written: impl Fn(Digest) -> bool) -> bool {
        match self.files.get(path) {
            Some(Attribution::Listed(digest) | Attribution::Known(digest)) => as_written(*digest),
            Some(Attribution::Named) | None => false,
        }
    }

    /// Where a file is put that was modified.
    pub(crate) fn set_aside(&self, path: &AbsolutePath) -> AbsolutePath {
        let below = path.relative_to(&self.root);
        let aside = self.root.resolve(super::target::SET_ASIDE);
        below.map_or_else(|| aside.resolve(path.name()), |below| aside.join(&below))
    }

    /// Settings in the text that it makes, but that may be the user's: they stay.
    pub(crate) fn unsure(&self, format: HostFormat, text: &str) -> Vec<String> {
        settings::unsure(&self.facts, format, text)
    }

    /// The permissions that [`Self::clean`] removes from the text.
    pub(crate) fn permissions(&self, text: &str) -> Vec<String> {
        settings::permissions(&self.facts, &self.spellings, text)
    }

    /// The text without what that program wrote into it; `None` if nothing is left.
    pub(crate) fn clean(&self, format: HostFormat, text: &str) -> Result<Option<String>, SharedError> {
        settings::clean(&self.facts, &self.spellings, format, text)
    }
}

/// The forms in which texts may name the root.
fn spellings(root: &AbsolutePath, target: &Target) -> Spellings {
    let with_slashes = |path: &std::path::Path| path.to_string_lossy().replace('\\', "/");
    let mut roots = vec![with_slashes(root.as_path()), with_slashes(&target.home.root)];
    let mut names = vec![root.name()];
    names.extend(target.home.root.file_name().map(|name| name.to_string_lossy().into_owned()));
    let user = with_slashes(&target.home.user);
    for known in roots.clone() {
        if let Some(below) = known.strip_prefix(&format!("{user}/")) {
            roots.extend([format!("~/{below}"), format!("$HOME/{below}")]);
        }
    }
    roots.dedup();
    names.extend(roots.iter().filter_map(|root| root.rsplit('/').next()).map(str::to_owned));
    // Hooks of one host are in a folder of the home that is not its root.
    Spellings { roots, names }
}

/// The folders whose files have the name of a command or an agent.
const NAMED_FOLDERS: &[&str] = &[
    "commands/",
    "command/",
    "agents/",
    "workflows/",
    "gsd-core/commands/",
    "gsd-core/agents/",
    "gsd-core/workflows/",
    "get-shit-done/workflows/",
];

/// How long an install of that program may take, in milliseconds; its manifest is among the last files.
const LONGEST: i64 = 120_000;

/// How much later than the manifest the last file may be.
const SLACK: i64 = 5_000;

/// True if the text has one of the words, in any case.
fn mentions_one(path: &AbsolutePath, words: &[String], snapshot: &mut Snapshot) -> Result<bool, InstallError> {
    let text = snapshot.read(path)?.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let text = text.map(str::to_lowercase).unwrap_or_default();
    Ok(words.iter().any(|word| text.contains(word)))
}

/// The name of the command or agent that a listed file is for.
fn name_of(path: &str) -> Option<String> {
    let skill = path.strip_suffix("/SKILL.md").and_then(|folder| folder.rsplit('/').next());
    let file = path.rsplit('/').next().filter(|_| NAMED_FOLDERS.iter().any(|folder| path.starts_with(folder)));
    let stem = skill.or_else(|| file.and_then(|name| name.split('.').next()))?;
    let name = stem.strip_prefix("gsd-").unwrap_or(stem);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The text after the front matter.
fn body(path: &AbsolutePath, snapshot: &mut Snapshot) -> Result<Option<String>, InstallError> {
    let text = snapshot.read(path)?.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let body = text.and_then(|text| text.strip_prefix("---\n")?.split_once("\n---\n").map(|(_, body)| body.to_owned()));
    Ok(body.map(|body| body.trim().to_owned()).filter(|body| !body.is_empty()))
}
