//! What an install costs a session: of its files as they are on the disk, or as an install would write them; and what
//! the user's own texts in the same folders cost.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::InstallOptions;
use super::situation::InstallSituation;
use super::{InstallError, Installer, Target};
use crate::disk::{AbsolutePath, RelativePath, Snapshot};
use crate::emit::bill::{self, HostText, ListedText, LoadedText};
use crate::emit::{self, Anchor, Artifact, CONTENT_FOLDER, Contents, SharedEdit};
use crate::library::{CommandProfile, ItemKind};
use crate::runtime::{PlaceAnchor, PlaceItem, Scope};

/// The bill of one install.
#[derive(Clone, Debug)]
pub(crate) struct InstallBill {
    pub(crate) profile: CommandProfile,
    /// How many files are ours.
    pub(crate) files: usize,
    /// The rows that the model always gets.
    pub(crate) listed: Vec<ListedText>,
    /// The bytes of our block in the host's file of instructions.
    pub(crate) instructions: usize,
    /// Commands, routers and agents, with what each loads.
    pub(crate) texts: Vec<(HostText, LoadedText)>,
}

/// What the user's own texts cost always.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnBill {
    pub(crate) listed: Vec<ListedText>,
    /// Files of instructions without our block, with their bytes.
    pub(crate) instructions: Vec<(AbsolutePath, usize)>,
}

impl InstallBill {
    /// The bytes of the rows.
    pub(crate) fn listing(&self) -> usize {
        self.listed.iter().map(|row| row.bytes).sum()
    }

    /// The command that loads most at once.
    pub(crate) fn largest(&self) -> Option<&(HostText, LoadedText)> {
        let commands = self.texts.iter().filter(|(text, _)| text.kind == ItemKind::Command);
        commands.max_by_key(|(_, loaded)| loaded.at_once())
    }
}

impl Installer<'_> {
    /// The bill of the install that is there, as it is on the disk; `None` if none is there.
    pub(crate) fn bill_of_install(&self, target: &Target) -> Result<Option<InstallBill>, InstallError> {
        let (_, had) = self.opened(target)?;
        had.map(|options| self.bill(target, &options.profile)).transpose()
    }

    /// The bill of an install with this profile: as it is on the disk if it is there, else as it would be written.
    pub(crate) fn bill(&self, target: &Target, profile: &CommandProfile) -> Result<InstallBill, InstallError> {
        let (mut situation, had) = self.opened(target)?;
        let is_there = had.as_ref().is_some_and(|options| options.profile == *profile);
        let options = InstallOptions { profile: profile.clone(), ..had.unwrap_or_default() };
        let artifacts = self.artifacts(target, &options, &situation.snapshot)?;
        let snapshot = is_there.then_some(&mut situation.snapshot);
        let texts = texts_of(target, &artifacts, snapshot)?;
        let library = texts.library.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let loaded = |text: HostText| {
            let loaded = bill::loaded(text.kind, &text.text, &library);
            (text, loaded)
        };
        Ok(InstallBill {
            profile: profile.clone(),
            files: texts.files,
            listed: texts.of_host.iter().filter_map(|text| bill::listed(&target.descriptor, text)).collect(),
            instructions: texts.block,
            texts: texts.of_host.into_iter().map(loaded).collect(),
        })
    }

    /// What the user's own texts in the folders of the install cost.
    pub(crate) fn own_bill(&self, target: &Target) -> Result<OwnBill, InstallError> {
        let (mut situation, had) = self.opened(target)?;
        let artifacts = self.artifacts(
            target,
            &InstallOptions { profile: CommandProfile::default(), ..had.unwrap_or_default() },
            &situation.snapshot,
        )?;
        let mut ours: BTreeSet<AbsolutePath> = artifacts
            .iter()
            .filter_map(|artifact| {
                Some(target.folder(&artifact.anchor).join(&RelativePath::parse(&artifact.path).ok()?))
            })
            .collect();
        for anchor in situation.anchors(target, &artifacts) {
            let folder = target.folder(&anchor);
            let owned = situation.holdings(target, &anchor).into_iter().flat_map(|holdings| holdings.files.keys());
            ours.extend(owned.map(|path| folder.join(path)));
        }
        let snapshot = &mut situation.snapshot;
        let mut own = OwnBill::default();
        for (kind, folder, ending) in folders(target) {
            for (name, path) in files_in(&folder, &ending, snapshot)? {
                // What is not text is not listed.
                let Some(text) = snapshot.read_text(&path).ok().flatten().filter(|_| !ours.contains(&path)) else {
                    continue;
                };
                own.listed.extend(bill::listed(&target.descriptor, &HostText { kind, name, text }));
            }
        }
        for path in instruction_files(target) {
            if let Some(text) = snapshot.read_text(&path).ok().flatten() {
                let bytes = text.len() - emit::block_in(&text).unwrap_or_default();
                own.instructions.extend((bytes > 0).then_some((path, bytes)));
            }
        }
        Ok(own)
    }

    /// The situation of a target, and the options of the install that is there.
    fn opened(&self, target: &Target) -> Result<(InstallSituation, Option<InstallOptions>), InstallError> {
        let mut situation = InstallSituation::new(target, Vec::new(), self.program.clone(), Snapshot::default());
        situation.open(target)?;
        let had = situation.section(target).map(|section| section.options.clone());
        Ok((situation, had))
    }

    fn artifacts(
        &self,
        target: &Target,
        options: &InstallOptions,
        snapshot: &Snapshot,
    ) -> Result<Vec<Artifact>, InstallError> {
        let library = self.profiles.within(&options.profile, self.library);
        let library = library.map_err(|source| InstallError::Profile { source, flags: target.flags() })?;
        let emitted = self.emit_options(target, options, true, snapshot);
        Ok(emit::emit_all(&library, &target.descriptor, target.scope, &emitted))
    }
}

/// The texts of an install.
struct InstalledTexts {
    files: usize,
    of_host: Vec<HostText>,
    /// By their paths in the library.
    library: BTreeMap<String, String>,
    /// The bytes of our block.
    block: usize,
}

/// The texts of these artifacts; with a snapshot, as they are there.
fn texts_of(
    target: &Target,
    artifacts: &[Artifact],
    mut snapshot: Option<&mut Snapshot>,
) -> Result<InstalledTexts, InstallError> {
    let mut texts = InstalledTexts { files: 0, of_host: Vec::new(), library: BTreeMap::new(), block: 0 };
    for artifact in artifacts {
        let relative = RelativePath::parse(&artifact.path).map_err(InstallError::Content)?;
        let path = target.folder(&artifact.anchor).join(&relative);
        let there = match &mut snapshot {
            Some(snapshot) if artifact.contents == Contents::Binary => snapshot.is_file(&path).then(String::new),
            Some(snapshot) => snapshot.read_text(&path).ok().flatten(),
            None => None,
        };
        let text = match (&artifact.contents, there) {
            _ if snapshot.is_some() && !snapshot.as_ref().is_some_and(|snapshot| snapshot.is_file(&path)) => continue,
            (Contents::Shared(file), there) => {
                let marked = file.edits.iter().find_map(|edit| match edit {
                    SharedEdit::Marked(marked) => Some(marked),
                    _ => None,
                });
                if let Some(marked) = marked {
                    let whole = there.or_else(|| marked.marked().put("", &marked.body).ok()).unwrap_or_default();
                    texts.block = emit::block_in(&whole).unwrap_or_default();
                }
                continue;
            }
            (Contents::Whole(text), there) => there.unwrap_or_else(|| text.clone()),
            (Contents::Binary, _) => String::new(),
        };
        texts.files += 1;
        if matches!(artifact.kind, ItemKind::Command | ItemKind::Router | ItemKind::Agent) {
            let name = name_of(&artifact.path);
            // In the nested layout a command is below each of its routers; the file next to it is for the host.
            let is_known = texts.of_host.iter().any(|known| known.kind == artifact.kind && known.name == name);
            let ending = artifact.path.rsplit_once('.').map(|(_, ending)| ending);
            let is_text = matches!(ending, Some("md" | "toml"));
            if is_text && !is_known {
                texts.of_host.push(HostText { kind: artifact.kind, name, text });
            }
        } else if let Some(path) = artifact.path.strip_prefix(&format!("{CONTENT_FOLDER}/"))
            && artifact.anchor == Anchor::Root
        {
            texts.library.insert(path.to_owned(), text);
        }
    }
    Ok(texts)
}

/// The name of a command or an agent: that of its folder if the host fixes the name of the file, else of the file.
fn name_of(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let name = if file == "SKILL.md" { parts.next().unwrap_or_default() } else { file };
    name.split_once('.').map_or(name, |(name, _)| name).to_owned()
}

/// The folders in which a host finds commands and agents: what is found there, the folder, and the rest of a path after
/// the name.
fn folders(target: &Target) -> Vec<(ItemKind, AbsolutePath, String)> {
    let descriptor = &target.descriptor;
    let mut found: Vec<(ItemKind, AbsolutePath, String)> = Vec::new();
    for item in [PlaceItem::Router, PlaceItem::Agent, PlaceItem::Command] {
        let Some(place) = descriptor.place(item, target.scope) else { continue };
        let Some((before, ending)) = place.path.split_once("{name}") else { continue };
        let base = match &place.anchor {
            PlaceAnchor::Root => target.root.clone(),
            PlaceAnchor::Home(folder) => target.user.resolve(folder),
            PlaceAnchor::Project => target.project.clone(),
        };
        let folder = base.resolve(before.rsplit_once('/').map_or("", |(folder, _)| folder));
        let kind = match item {
            PlaceItem::Agent => ItemKind::Agent,
            PlaceItem::Router => ItemKind::Router,
            PlaceItem::Command => ItemKind::Command,
        };
        if !found.iter().any(|(_, known, rest)| *known == folder && rest == ending) {
            found.push((kind, folder, ending.to_owned()));
        }
    }
    let own = descriptor.user_commands.as_ref().map(|folder| target.root.resolve(folder));
    found.extend(own.map(|folder| (ItemKind::Router, folder, ".md".to_owned())));
    found
}

/// The files of a folder whose path is a name and this ending, with their names.
fn files_in(
    folder: &AbsolutePath,
    ending: &str,
    snapshot: &mut Snapshot,
) -> Result<Vec<(String, AbsolutePath)>, InstallError> {
    let mut found = Vec::new();
    for entry in snapshot.list(folder)?.unwrap_or_default() {
        let name = if ending.starts_with('/') { Some(entry.name.as_str()) } else { entry.name.strip_suffix(ending) };
        let Some(name) = name else { continue };
        let path = folder.resolve(format!("{name}{ending}"));
        if snapshot.is_file(&path) {
            found.push((name.to_owned(), path));
        }
    }
    Ok(found)
}

/// The files of permanent instructions in the folders of the install.
fn instruction_files(target: &Target) -> BTreeSet<AbsolutePath> {
    let descriptor = &target.descriptor;
    let base = if target.scope == Scope::Local { &target.project } else { &target.root };
    let block = descriptor.instructions.as_ref().and_then(|instructions| descriptor.files.get(&instructions.file));
    let block = block.map(|file| target.root.resolve(file.path(target.scope, |_| false)));
    std::iter::once(base.resolve(&descriptor.instruction_file)).chain(block).collect()
}
