//! From the current to the desired state: the steps, and the changes they make. Pure.
//!
//! An uninstall is the same plan with nothing wanted. Only bytes that the manifest lists as ours are replaced or
//! removed. If the person edited one of our files, it is set aside before we replace it. An uninstall sets it aside
//! too, so that the host stops reading it; an install that no longer has such a file leaves it in place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::adds::{Adds, StatusLine};
use super::adopted::Unlisted;
use super::keys::{ChangedSettings, KeyEdit};
use super::manifest::{Holdings, InstallOptions, Ledger, Manifest, Section};
use super::predecessor::Predecessor;
use super::shared::{self, MadeEdit};
use super::situation::InstallSituation;
use super::steps::{Act, FileStep, PlanReport};
use super::{InstallError, Target, remembered, vouch};
use crate::disk::{
    AbsolutePath, Access, Change, ChangeSet, Digest, DiskError, FileBytes, Found, FoundFile, Owner, RelativePath,
};
use crate::emit::{Anchor, Artifact, Contents, SharedEdit, SharedFile};
use crate::library::CommandProfile;
use crate::text::edit::{Applied, FileFormat, Undo};
use crate::text::merge::merged;

/// What an installation does, decided before anything is written.
#[derive(Debug)]
pub(crate) struct InstallPlan {
    /// Ordered by path; one for each file.
    pub(crate) steps: Vec<FileStep>,
    pub(crate) changes: ChangeSet,
    /// Installs of another program that this one replaces.
    pub(crate) taken_over: Vec<TakenOver>,
    /// Our manifests that came with the repository: what they list counts as the user's.
    pub(crate) claimed: Vec<AbsolutePath>,
    /// The trees that the changes may write in, for their locks.
    pub(crate) roots: Vec<AbsolutePath>,
    /// The settings files that the changes edit.
    pub(crate) settings: Vec<ChangedSettings>,
    /// Whether the host has also enabled our plugin, or why that is not known.
    pub(crate) plugin: Result<bool, InstallError>,
    /// The version that was installed before.
    pub(crate) from_version: Option<String>,
    /// For an install: what it adds to the host.
    pub(crate) adds: Adds,
    /// What was found of an install that no manifest lists, and is now treated as ours.
    pub(crate) unlisted: Option<Unlisted>,
    /// For an install: what it has, and the commands that it leaves out.
    pub(crate) profile: CommandProfile,
    pub(crate) left_out: Vec<String>,
}

/// The installs of a call, each with its plan.
pub(crate) type PlannedInstalls = Vec<(Target, InstallPlan)>;

/// How an install is planned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstallManner<'a> {
    /// The version that is installed.
    pub(crate) version: &'a str,
    pub(crate) options: &'a InstallOptions,
    /// Whether a person's edits of our files are merged with the changes of this version. Otherwise edited files are set
    /// aside.
    pub(crate) keeps_edits: bool,
}

/// An install of another program that is removed completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TakenOver {
    pub(crate) root: AbsolutePath,
    /// The program, as its package is named.
    pub(crate) program: String,
    /// Its version, as it reported it.
    pub(crate) version: Option<String>,
    /// What it allowed to run without asking; this is removed from the settings too.
    pub(crate) permissions: Vec<String>,
    /// Settings that it made, or the user: they stay. With their file.
    pub(crate) unsure: Vec<(AbsolutePath, String)>,
    /// Its profile, if it had a part of its commands, and whether ours has the same.
    pub(crate) profile: Option<(String, bool)>,
}

impl TakenOver {
    /// The program and its version.
    pub(super) fn name(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        format!("{}{version}", self.program)
    }
}

impl InstallPlan {
    /// Makes the plan from the situation to `wanted`; `None` is an uninstall.
    pub(crate) fn between<'a>(
        wanted: Option<&'a [Artifact]>,
        target: &'a Target,
        situation: &'a InstallSituation,
        manner: InstallManner<'a>,
    ) -> Result<Self, InstallError> {
        let manifests = situation.manifests.clone();
        let claimed = situation.claimed.keys().map(|folder| folder.resolve(super::manifest::FILE)).collect();
        let plan = Self {
            steps: Vec::new(),
            changes: ChangeSet::default(),
            taken_over: Vec::new(),
            claimed,
            roots: Vec::new(),
            settings: Vec::new(),
            plugin: Ok(false),
            from_version: situation.listed(target, &Anchor::Root).map(|section| section.version.clone()),
            adds: Adds::default(),
            unlisted: situation.adopted.as_ref().and_then(|adopted| adopted.found(target)),
            profile: manner.options.profile.clone(),
            left_out: Vec::new(),
        };
        let uninstalls = wanted.is_none();
        let (images, written) = (BTreeSet::new(), BTreeMap::new());
        let mut planner = Planner { target, situation, manifests, plan, images, written, uninstalls, manner };
        planner.run(wanted)?;
        situation.expect(target, &mut planner.plan.changes);
        Ok(planner.plan)
    }

    /// True if everything is as it should be.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The steps and keys, with paths as a person would name them.
    pub(crate) fn report(&self, target: &Target) -> PlanReport {
        let steps = self.steps.iter().map(|step| step.report(target)).collect();
        let mut settings: Vec<KeyEdit> =
            self.settings.iter().flat_map(|changed| changed.keys(&target.shown(&changed.path))).collect();
        settings.sort_by(|one, other| one.file().cmp(other.file()));
        PlanReport::new(steps, settings)
    }

    /// How many files only we own once the plan is applied. Shared settings files and the manifest are never counted,
    /// in any report.
    pub(crate) fn files(&self) -> usize {
        let stays = |step: &&FileStep| match step.act {
            Act::Create | Act::Update | Act::Keep | Act::KeepEdits => true,
            // Our files do not replace a file of another program that is set aside.
            Act::SetAside { .. } => step.kind().is_some(),
            _ => false,
        };
        self.steps.iter().filter(|step| step.is_whole()).filter(stays).count()
    }
}

struct Planner<'a> {
    target: &'a Target,
    situation: &'a InstallSituation,
    /// As they will be after the plan.
    manifests: BTreeMap<AbsolutePath, Manifest>,
    plan: InstallPlan,
    /// Before-images that are still needed.
    images: BTreeSet<Digest>,
    /// The texts of the files that only we own, by their digest: as they come with the program, and with a person's edits.
    written: BTreeMap<String, Cow<'a, str>>,
    /// True if nothing is wanted.
    uninstalls: bool,
    manner: InstallManner<'a>,
}

impl<'a> Planner<'a> {
    fn run(&mut self, wanted: Option<&'a [Artifact]>) -> Result<(), InstallError> {
        let mut by_anchor: BTreeMap<Anchor, Vec<(RelativePath, &'a Artifact)>> = BTreeMap::new();
        for artifact in wanted.unwrap_or_default() {
            by_anchor
                .entry(artifact.anchor.clone())
                .or_default()
                .push((RelativePath::parse(&artifact.path).map_err(InstallError::Content)?, artifact));
        }
        let mut own = Section::new(self.target.descriptor.id.clone(), self.target.scope, self.manner.version);
        own.options = self.manner.options.clone();
        let mut homes = Vec::new();
        for anchor in self.situation.anchors(self.target, wanted.unwrap_or_default()) {
            let holdings = self.place(&anchor, by_anchor.get(&anchor).map_or(&[], Vec::as_slice))?;
            match anchor {
                Anchor::Root => own.holdings = holdings,
                Anchor::Project => own.project = holdings,
                Anchor::Home(home) => homes.push((home, holdings)),
            }
        }
        for (home, holdings) in homes {
            let anchor = Anchor::Home(home.clone());
            let section = Section { holdings, project: Holdings::default(), homes: BTreeSet::new(), ..own.clone() };
            let section = (!section.holdings.is_empty()).then_some(section);
            own.homes.extend(section.is_some().then_some(home));
            self.set_section(&anchor, section);
        }
        for folder in &self.situation.neighbours {
            let neighbour = self.manifests.entry(folder.clone()).or_default();
            for (path, digest) in &own.project.files {
                neighbour.renew("", &Anchor::Project, path, *digest);
            }
        }
        self.set_section(&Anchor::Root, wanted.is_some().then_some(own));
        remembered::change(self.target, !self.uninstalls, &self.situation.snapshot, &mut self.plan.changes);
        if let Some(from) = &self.situation.moved_from {
            vouch::forget_moved(self.target, from, &self.situation.snapshot, &mut self.plan.changes);
        }
        self.take_over()?;
        self.write_manifests();
        self.keep_written();
        self.drop_images();
        Ok(())
    }

    /// Plans everything below one anchor, and returns what we own there afterwards.
    fn place(&mut self, anchor: &Anchor, artifacts: &[(RelativePath, &'a Artifact)]) -> Result<Holdings, InstallError> {
        let base = self.target.folder(anchor);
        let old = self.situation.holdings(self.target, anchor).cloned().unwrap_or_default();
        let others: Vec<&Holdings> = self.situation.others(self.target, anchor);
        let claimed = self.situation.claims(self.target, anchor);
        let mut new = Holdings::default();
        let mut given_way = BTreeSet::new();
        for (path, artifact) in artifacts {
            match &artifact.contents {
                Contents::Shared(file) => {
                    let old = old.shared.get(path);
                    if let Some(ledger) = self.merge(&base.join(path), file, old, &others, claimed, path)? {
                        new.shared.insert(path.clone(), ledger);
                    }
                }
                Contents::Whole(_) | Contents::Binary => match self.put(anchor, path, artifact, &old, &others)? {
                    Some(digest) => drop(new.files.insert(path.clone(), digest)),
                    None => drop(given_way.insert(path)),
                },
            }
        }
        for (path, digest) in old.files.iter().filter(|(path, _)| !new.owns(path) && !given_way.contains(path)) {
            if !others.iter().any(|other| other.files.contains_key(path)) {
                self.retire(anchor, path, *digest);
            }
        }
        for (path, ledger) in old.shared.iter().filter(|(path, _)| !new.shared.contains_key(path)) {
            let owners: Vec<&Ledger> = others.iter().filter_map(|other| other.shared.get(path)).collect();
            self.retire_shared(&base.join(path), ledger, &owners)?;
        }
        // A folder is only removed if it is empty, so a claim from the repository is enough here.
        let folders: Vec<&Holdings> = others.iter().copied().chain(claimed).collect();
        self.folders(&base, &old, &mut new, &folders);
        Ok(new)
    }

    /// Plans a file that only we own; `None` if it gives way to a file of the person.
    fn put(
        &mut self,
        anchor: &Anchor,
        relative: &RelativePath,
        artifact: &'a Artifact,
        old: &Holdings,
        others: &[&Holdings],
    ) -> Result<Option<Digest>, InstallError> {
        let path = self.target.folder(anchor).join(relative);
        let wanted = match &artifact.contents {
            Contents::Whole(text) => {
                let digest = Digest::of(text.as_bytes());
                self.written.insert(digest.to_string(), Cow::Borrowed(text));
                digest
            }
            Contents::Binary | Contents::Shared(_) => self.situation.program.digest,
        };
        let before = match self.situation.snapshot.found(&path) {
            Found::Absent => None,
            Found::File(file) => Some(file),
            Found::Folder | Found::Other => return Err(InstallError::InTheWay { path }),
        };
        let as_written = |known: Digest| self.situation.is_as_written(&path, known);
        let executable = before.is_some_and(|file| file.executable) || !artifact.executable || cfg!(windows);
        let ours = || {
            let mut known = std::iter::once(old).chain(others.iter().copied()).filter_map(|it| it.files.get(relative));
            // A program image at the place of our program is an earlier version of it, not a person's work.
            let program = artifact.contents == Contents::Binary && self.situation.is_program(&path);
            let theirs = || self.situation.predecessors.iter().any(|other| other.wrote(&path, as_written));
            program || known.any(|digest| as_written(*digest)) || theirs()
        };
        let act = match before {
            None => Act::Create,
            Some(_) if as_written(wanted) && executable => Act::Keep,
            Some(_) if as_written(wanted) || ours() => Act::Update,
            Some(_) if artifact.gives_way() => {
                self.step(Act::GiveWay, &path);
                return Ok(None);
            }
            Some(file) => match self.with_edits(relative, file, artifact, old) {
                Some(merged) => {
                    self.keep_edits(&path, file, merged);
                    return Ok(Some(wanted));
                }
                None => Act::SetAside { to: self.set_aside(anchor, relative, file) },
            },
        };
        if act != Act::Keep {
            let before = before.map(|file| file.digest);
            let path = path.clone();
            self.plan.changes.push(match &artifact.contents {
                Contents::Whole(text) => Change::WriteFile {
                    path,
                    bytes: text.as_str().into(),
                    access: if artifact.executable { Access::Executable } else { Access::Usual },
                    owner: Owner::Program,
                    before,
                },
                Contents::Binary | Contents::Shared(_) => {
                    let program = &self.situation.program;
                    Change::LinkProgram { path, source: program.path.clone(), digest: program.digest, before }
                }
            });
        }
        self.plan.steps.push(FileStep::of_ours(act, &path, artifact.kind));
        Ok(Some(wanted))
    }

    /// For an update: the text of an edited file with the changes of this version; `None` if both changed the same
    /// lines, or what the file was before the edit is not known.
    fn with_edits(
        &self,
        relative: &RelativePath,
        file: &FoundFile,
        artifact: &Artifact,
        old: &Holdings,
    ) -> Option<String> {
        let Contents::Whole(wanted) = &artifact.contents else { return None };
        let base = self.situation.written(*old.files.get(relative)?).filter(|_| self.manner.keeps_edits)?;
        merged(base, std::str::from_utf8(file.bytes.as_deref()?).ok()?, wanted)
    }

    fn keep_edits(&mut self, path: &AbsolutePath, file: &FoundFile, text: String) {
        let digest = Digest::of(text.as_bytes());
        // What an earlier update wrote is still what its undo compares with.
        if digest != file.digest || self.situation.written(digest).is_some() {
            self.written.insert(digest.to_string(), Cow::Owned(text.clone()));
        }
        if digest != file.digest {
            let (bytes, access, owner) = (text.into(), Access::Usual, Owner::Program);
            let change = Change::WriteFile { path: path.clone(), bytes, access, owner, before: Some(file.digest) };
            self.plan.changes.push(change);
        }
        self.step(Act::KeepEdits, path);
    }

    fn set_aside(&mut self, anchor: &Anchor, relative: &RelativePath, file: &FoundFile) -> AbsolutePath {
        let to = self.situation.set_aside(self.target, anchor, relative, file.digest);
        if self.situation.snapshot.found(&to) == &Found::Absent {
            let bytes = file.bytes.clone().unwrap_or_default();
            let (path, access, owner, before) = (to.clone(), file.access, Owner::User, None);
            self.plan.changes.push(Change::WriteFile { path, bytes, access, owner, before });
        }
        to
    }

    /// Plans a file that only we owned and that is not wanted any more.
    fn retire(&mut self, anchor: &Anchor, relative: &RelativePath, digest: Digest) {
        let path = self.target.folder(anchor).join(relative);
        let act = match self.situation.snapshot.found(&path) {
            Found::Absent => return,
            Found::File(_) if self.situation.is_as_written(&path, digest) => Act::Remove,
            // The bytes of a program were not read, so it cannot be moved.
            Found::File(file) if self.uninstalls && file.bytes.is_some() => {
                Act::SetAside { to: self.set_aside(anchor, relative, file) }
            }
            Found::File(_) | Found::Folder | Found::Other => Act::Leave,
        };
        if act != Act::Leave
            && let Some(before) = self.situation.snapshot.digest(&path)
        {
            self.plan.changes.push(Change::RemoveFile { path: path.clone(), owner: Owner::Program, before });
        }
        self.step(act, &path);
    }

    /// Plans our part of a shared file; `None` if we have nothing to do in it.
    fn merge(
        &mut self,
        path: &AbsolutePath,
        file: &SharedFile,
        old: Option<&Ledger>,
        others: &[&Holdings],
        claimed: Option<&Holdings>,
        relative: &RelativePath,
    ) -> Result<Option<Ledger>, InstallError> {
        if file.edits.is_empty() {
            return Ok(None);
        }
        let refused = |source| InstallError::shared(path, source);
        let text = self.text(path)?;
        if let (Some(ledger), Some(text)) = (old.filter(|ledger| ledger.is_of(&file.edits)), &text)
            && self.without_predecessors(path, Some(text.clone()))?.as_ref() == Some(text)
        {
            let (again, _) = shared::make(file.format, text, &file.edits).map_err(refused)?;
            if again == *text {
                self.images.extend(ledger.before);
                self.note_status_line(&ledger.edits);
                self.note_kept_out(path, file.format, text, &ledger.edits);
                self.step_in_shared(Act::Keep, path);
                return Ok(Some(ledger.clone()));
            }
        }
        let base = match (old, &text) {
            (Some(ledger), Some(text)) => self.without_us(text, ledger).map_err(refused)?,
            (_, text) => text.clone(),
        };
        let base = self.without_predecessors(path, base)?;
        let (edited, mut edits) =
            shared::make(file.format, base.as_deref().unwrap_or_default(), &file.edits).map_err(refused)?;
        let owners: Vec<&Ledger> = others.iter().filter_map(|other| other.shared.get(relative)).collect();
        let claimed = claimed.and_then(|claimed| claimed.shared.get(relative));
        let inherited = inherit(&mut edits, &owners) | take_over_edits(&mut edits, claimed);
        // The claim from the repository that there was no file is accepted if the file contains only our part.
        let is_ours_alone = || {
            let left = shared::take_back(file.format, &edited, edits.iter())?;
            Ok(shared::is_blank(file.format, &left))
        };
        let says_created = claimed.is_some_and(|claimed| claimed.created) && is_ours_alone().map_err(refused)?;
        // A block that an older install left is ours: an uninstall does not bring it back.
        let without_block = |base: &String| shared::without_blocks(base, &file.edits).map_err(refused);
        let base = base.as_ref().map(without_block).transpose()?.flatten();
        let created = base.is_none() || says_created || (inherited && owners.iter().any(|owner| owner.created));
        let before = base.as_ref().filter(|_| !inherited).map(|base| Digest::of(base.as_bytes()));
        if let (Some(digest), Some(base)) = (before, &base) {
            self.keep_image(digest, base);
        }
        let after = Digest::of(edited.as_bytes());
        self.note_status_line(&edits);
        self.note_kept_out(path, file.format, &edited, &edits);
        if text.as_ref() == Some(&edited) {
            self.step_in_shared(Act::Keep, path);
        } else {
            self.refuse_read_only(path)?;
            self.note_settings(path, file.format, text.as_deref(), Some(&edited));
            self.plan.changes.write(path.clone(), edited, self.situation.snapshot.digest(path));
            self.step_in_shared(if text.is_none() { Act::Create } else { Act::Merge }, path);
        }
        Ok(Some(Ledger { format: file.format, before, after, created, edits }))
    }

    /// Plans the removal of our part from a shared file.
    fn retire_shared(&mut self, path: &AbsolutePath, ledger: &Ledger, owners: &[&Ledger]) -> Result<(), InstallError> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let left = if owners.is_empty() {
            self.without_us(&text, ledger)
        } else {
            let only_ours =
                |made: &&MadeEdit| !owners.iter().any(|owner| owner.edits.iter().any(|it| it.edit == made.edit));
            let edits: Vec<&MadeEdit> = ledger.edits.iter().filter(only_ours).collect();
            shared::take_back(ledger.format, &text, edits.into_iter()).map(Some)
        };
        let before = self.situation.snapshot.digest(path);
        match (left.map_err(|source| InstallError::shared(path, source))?, before) {
            (None, Some(before)) => {
                self.refuse_read_only(path)?;
                self.note_settings(path, ledger.format, Some(&text), None);
                self.plan.changes.remove(path.clone(), before);
                self.step_in_shared(Act::Remove, path);
            }
            (Some(left), _) if left != text => {
                self.refuse_read_only(path)?;
                self.note_settings(path, ledger.format, Some(&text), Some(&left));
                self.plan.changes.write(path.clone(), left, before);
                self.step_in_shared(Act::Merge, path);
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses settings that a person made read-only: replacing the file would bypass that.
    fn refuse_read_only(&self, path: &AbsolutePath) -> Result<(), InstallError> {
        match self.situation.snapshot.found(path) {
            Found::File(file) if file.read_only => {
                Err(DiskError::Protected { path: path.as_path().to_path_buf() }.into())
            }
            _ => Ok(()),
        }
    }

    /// The file as it was before us: its original bytes if it is unmodified, otherwise the text without our edits.
    /// `None` if there was no file and nothing was added to ours.
    fn without_us(&self, text: &str, ledger: &Ledger) -> Result<Option<String>, shared::SharedError> {
        if Digest::of(text.as_bytes()) == ledger.after {
            if ledger.created {
                return Ok(None);
            }
            let image = ledger.before.and_then(|before| self.situation.image(before));
            if let Some(image) = image.and_then(|image| String::from_utf8(image.to_vec()).ok()) {
                return Ok(Some(image));
            }
        }
        let left = shared::take_back(ledger.format, text, ledger.edits.iter())?;
        Ok(Some(left).filter(|left| !(ledger.created && shared::is_blank(ledger.format, left))))
    }

    fn text(&self, path: &AbsolutePath) -> Result<Option<String>, InstallError> {
        match self.situation.snapshot.found(path) {
            Found::Absent => Ok(None),
            Found::Folder | Found::Other => Err(InstallError::InTheWay { path: path.clone() }),
            Found::File(file) => {
                InstallError::text(path, file.bytes.as_deref().unwrap_or_default()).map(str::to_owned).map(Some)
            }
        }
    }

    fn keep_image(&mut self, digest: Digest, text: &str) {
        if !self.images.insert(digest) || self.situation.image(digest).is_some() {
            return;
        }
        self.plan.changes.push(Change::WriteFile {
            path: self.situation.image_path(digest),
            bytes: text.into(),
            access: Access::Private,
            owner: Owner::User,
            before: self.situation.images().find(|(kept, _)| *kept == digest).map(|(_, found)| found),
        });
    }

    /// Keeps the texts that this install writes: later, they tell a person's edits from ours.
    fn keep_written(&mut self) {
        let path = self.situation.written_path();
        let before = self.situation.snapshot.digest(&path);
        if self.uninstalls {
            let owner = Owner::User;
            self.plan.changes.extend(before.map(|before| Change::RemoveFile { path, owner, before }));
            return;
        }
        // Serialising texts cannot fail.
        let bytes = FileBytes::from(serde_json::to_vec(&self.written).unwrap_or_default());
        if before != Some(bytes.digest()) {
            let (access, owner) = (Access::Private, Owner::User);
            self.plan.changes.push(Change::WriteFile { path, bytes, access, owner, before });
        }
    }

    /// Removes the before-images that no ledger names any more.
    fn drop_images(&mut self) {
        for (digest, before) in self.situation.images().filter(|(digest, _)| !self.images.contains(digest)) {
            let path = self.situation.image_path(digest);
            self.plan.changes.push(Change::RemoveFile { path, owner: Owner::User, before });
        }
        let has_any = self.situation.images().next().is_some()
            || self.situation.snapshot.digest(&self.situation.written_path()).is_some();
        if self.uninstalls && has_any {
            let folder = self.situation.image_folder.clone();
            self.plan.changes.extend(folder.parent().map(|path| Change::RemoveFolder { path }));
            self.plan.changes.push(Change::RemoveFolder { path: folder });
        }
    }

    /// Determines which folders are ours now, and which former ones can be removed if they are empty.
    fn folders(&mut self, base: &AbsolutePath, old: &Holdings, new: &mut Holdings, others: &[&Holdings]) {
        let paths: Vec<RelativePath> = new.files.keys().chain(new.shared.keys()).cloned().collect();
        for folder in paths.iter().flat_map(folders_of) {
            let absolute = base.join(&folder);
            let absent = self.situation.is_missing(&absolute)
                || self.situation.predecessors.iter().any(|other| other.folders.contains(&absolute));
            if absent || old.folders.contains(&folder) || others.iter().any(|other| other.folders.contains(&folder)) {
                new.folders.insert(folder);
            }
        }
        for folder in old.folders.iter().filter(|folder| !new.folders.contains(folder)) {
            self.plan.changes.push(Change::RemoveFolder { path: base.join(folder) });
        }
        let known = others.iter().map(|other| other.folders_above).chain([old.folders_above]).max().unwrap_or(0);
        if paths.is_empty() {
            let above = std::iter::successors(Some(base.clone()), AbsolutePath::parent).take(old.folders_above);
            self.plan.changes.extend(above.map(|path| Change::RemoveFolder { path }));
        } else {
            new.folders_above = known.max(self.situation.missing_from(base));
        }
    }

    /// Removes what another program installed, except what is ours by now.
    fn take_over(&mut self) -> Result<(), InstallError> {
        let situation = self.situation;
        let mut settled: BTreeSet<AbsolutePath> = self.plan.steps.iter().map(|step| step.path.clone()).collect();
        for (folder, manifest) in &self.manifests {
            let files = manifest.installs.values().flat_map(|section| section.holdings.files.keys());
            settled.extend(files.map(|path| folder.join(path)));
        }
        for predecessor in &situation.predecessors {
            for path in predecessor.files.keys().filter(|path| !settled.contains(path)) {
                let Found::File(file) = situation.snapshot.found(path) else { continue };
                let wrote = predecessor.wrote(path, |digest| situation.is_as_written(path, digest));
                let act = if wrote { Act::Remove } else { self.move_aside(predecessor, path, file) };
                let (path, owner, before) = (path.clone(), Owner::Program, file.digest);
                self.plan.changes.push(Change::RemoveFile { path: path.clone(), owner, before });
                self.step(act, &path);
            }
            for path in &predecessor.elsewhere {
                self.step(Act::Elsewhere, path);
            }
            for path in predecessor.changed.iter().filter(|path| !settled.contains(path)) {
                self.step(Act::Leave, path);
            }
            let (mut permissions, mut unsure) = (Vec::new(), Vec::new());
            for (path, format) in &predecessor.settings {
                let text = self.text(path)?.unwrap_or_default();
                permissions.extend(predecessor.permissions(&text));
                unsure.extend(predecessor.unsure(*format, &text).into_iter().map(|setting| (path.clone(), setting)));
                if !settled.contains(path) {
                    self.clean(path, format.to_file_format())?;
                }
            }
            for folder in &predecessor.folders {
                self.plan.changes.push(Change::RemoveFolder { path: folder.clone() });
            }
            if let Some(manifest) = self.manifests.get_mut(&predecessor.root) {
                manifest.drop_foreign(&predecessor.manifest_keys);
            }
            let (root, version) = (predecessor.root.clone(), predecessor.version.clone());
            let program = predecessor.program.clone();
            self.plan.taken_over.push(TakenOver { root, program, version, permissions, unsure, profile: None });
        }
        Ok(())
    }

    /// Keeps the bytes of a file that another program's install may not have written.
    fn move_aside(&mut self, predecessor: &Predecessor, path: &AbsolutePath, file: &FoundFile) -> Act {
        let to = self.situation.free(&predecessor.set_aside(path), file.digest);
        if self.situation.snapshot.found(&to) == &Found::Absent {
            let (path, bytes) = (to.clone(), file.bytes.clone().unwrap_or_default());
            let (access, owner, before) = (file.access, Owner::User, None);
            self.plan.changes.push(Change::WriteFile { path, bytes, access, owner, before });
        }
        Act::SetAside { to }
    }

    /// Removes what another program had put into a file of the user. The whole install fails if that is impossible,
    /// because the file may still name that program's scripts.
    fn clean(&mut self, path: &AbsolutePath, format: FileFormat) -> Result<(), InstallError> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let left = self.without_predecessors(path, Some(text.clone()))?;
        let Some(before) = self.situation.snapshot.digest(path) else { return Ok(()) };
        if left.as_ref() != Some(&text) {
            self.note_settings(path, format, Some(&text), left.as_deref());
        }
        match left {
            None => {
                // It had only their content: it counts as their file.
                self.plan.changes.remove(path.clone(), before);
                self.step(Act::Remove, path);
            }
            Some(left) if left != text => {
                self.plan.changes.write(path.clone(), left, Some(before));
                self.step_in_shared(Act::Merge, path);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// The text without what the replaced programs had put there; `None` if nothing is left.
    fn without_predecessors(
        &self,
        path: &AbsolutePath,
        mut text: Option<String>,
    ) -> Result<Option<String>, InstallError> {
        for predecessor in &self.situation.predecessors {
            if let (Some(format), Some(before)) = (predecessor.settings.get(path), &text) {
                text = predecessor.clean(*format, before).map_err(|source| InstallError::shared(path, source))?;
            }
        }
        Ok(text)
    }

    fn set_section(&mut self, anchor: &Anchor, section: Option<Section>) {
        let manifest = self.manifests.entry(self.target.manifest_folder(anchor)).or_default();
        let key = self.target.section_key(anchor);
        match section {
            Some(section) => {
                for (path, digest) in &section.holdings.files {
                    manifest.renew(&key, anchor, path, *digest);
                }
                for (path, digest) in &section.project.files {
                    manifest.renew(&key, &Anchor::Project, path, *digest);
                }
                manifest.installs.insert(key, section);
            }
            None => {
                manifest.installs.remove(&key);
            }
        }
    }

    fn write_manifests(&mut self) {
        for (folder, manifest) in std::mem::take(&mut self.manifests) {
            let is_new_here = self.situation.moved_from.is_some() && folder == self.target.root;
            if self.situation.manifests.get(&folder) == Some(&manifest) && !is_new_here {
                continue;
            }
            let path = folder.resolve(super::manifest::FILE);
            let before = self.situation.snapshot.digest(&path);
            let text = manifest.to_text();
            let ours = text.as_deref().filter(|_| !manifest.installs.is_empty());
            vouch::change(self.target, &folder, ours, &self.situation.snapshot, &mut self.plan.changes);
            match (text, before) {
                (Some(text), before) => {
                    let (bytes, access, owner) = (text.into(), Access::Usual, Owner::Program);
                    self.plan.changes.push(Change::WriteFile { path, bytes, access, owner, before });
                }
                (None, Some(before)) => {
                    let is_of_another = |other: &Predecessor| other.root == folder && folder != self.target.root;
                    if self.situation.predecessors.iter().any(is_of_another) {
                        self.step(Act::Remove, &path);
                    }
                    self.plan.changes.push(Change::RemoveFile { path, owner: Owner::Program, before });
                }
                (None, None) => {}
            }
        }
    }

    fn note_settings(&mut self, path: &AbsolutePath, format: FileFormat, before: Option<&str>, after: Option<&str>) {
        let (path, before, after) = (path.clone(), before.map(str::to_owned), after.map(str::to_owned));
        self.plan.settings.push(ChangedSettings { path, format, before, after });
    }

    /// Records whether the status line of the host is ours, or was set by the user.
    fn note_status_line(&mut self, edits: &[MadeEdit]) {
        let Some(line) = &self.target.descriptor.status_line else { return };
        let is_it = |made: &&MadeEdit| matches!(&made.edit, SharedEdit::Json(edit) if edit.path() == line.path);
        if let Some(made) = edits.iter().find(is_it) {
            let kept = matches!(made.applied, Applied::Kept(_));
            self.plan.adds.status_line = Some(if kept { StatusLine::Kept } else { StatusLine::Ours });
        }
    }

    /// Records which settings of the user keep our entries out.
    fn note_kept_out(&mut self, path: &AbsolutePath, format: FileFormat, text: &str, edits: &[MadeEdit]) {
        let kept_out = shared::kept_out(format, text, edits).into_iter();
        self.plan.adds.kept_out.extend(kept_out.map(|(key, value)| (path.clone(), key, value)));
    }

    fn step(&mut self, act: Act, path: &AbsolutePath) {
        self.plan.steps.push(FileStep::of_file(act, path));
    }

    fn step_in_shared(&mut self, act: Act, path: &AbsolutePath) {
        self.plan.steps.push(FileStep::in_shared(act, path));
    }
}

/// Takes over entries that another of our installs put there: they belong to this one too. Returns whether there were
/// any.
fn inherit(edits: &mut [MadeEdit], owners: &[&Ledger]) -> bool {
    let mut any = false;
    for made in edits.iter_mut().filter(|made| made.applied == Applied::AlreadyThere) {
        let theirs =
            owners.iter().flat_map(|owner| &owner.edits).find(|it| it.edit == made.edit && it.applied.changed());
        if let Some(theirs) = theirs {
            made.applied = theirs.applied.clone();
            any = true;
        }
    }
    any
}

/// Treats existing edits as ours if they are as we would make them and a manifest from the repository claims them: a
/// team committed its install. What was there before them is unknown.
fn take_over_edits(edits: &mut [MadeEdit], claimed: Option<&Ledger>) -> bool {
    let claims = |edit: &SharedEdit| {
        claimed.is_some_and(|claimed| claimed.edits.iter().any(|it| it.edit == *edit && it.applied.changed()))
    };
    let mut any = false;
    for made in edits.iter_mut().filter(|made| made.applied == Applied::AlreadyThere && claims(&made.edit)) {
        made.applied = Applied::Changed(Undo::default());
        any = true;
    }
    any
}

/// The folders above a file, innermost first.
pub(super) fn folders_of(path: &RelativePath) -> Vec<RelativePath> {
    let mut folders = Vec::new();
    let mut rest = path.as_str();
    while let Some((folder, _)) = rest.rsplit_once('/') {
        folders.extend(RelativePath::parse(folder));
        rest = folder;
    }
    folders
}
