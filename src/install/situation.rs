//! What an installation finds: manifests, the files it would touch, kept before-images, the running program.
//!
//! It owns everything that was read, so that each file is opened once; the plan is made only from this.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::adopted::Adopted;
use super::manifest::{Holdings, Manifest, Section};
use super::predecessor::{self, Predecessor};
use super::{InstallError, Target, remembered, vouch};
use crate::disk::{AbsolutePath, ChangeSet, Digest, Found, RelativePath, Snapshot};
use crate::emit::{Anchor, Artifact, Contents};

/// The running program, which an install puts next to the content.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) digest: Digest,
}

/// The name of the file with the texts that an install wrote.
pub(super) const WRITTEN: &str = "written.json";

#[derive(Debug)]
pub(crate) struct InstallSituation {
    /// By the folder of each manifest.
    pub(crate) manifests: BTreeMap<AbsolutePath, Manifest>,
    /// The contents of manifests that came with the repository, by their folder.
    pub(crate) claimed: BTreeMap<AbsolutePath, Manifest>,
    /// The folders of other hosts in the same project, whose manifests are included above.
    pub(crate) neighbours: Vec<AbsolutePath>,
    pub(crate) snapshot: Snapshot,
    /// Kept bytes of shared files from before our edits: the digests they should have.
    images: BTreeSet<Digest>,
    pub(crate) image_folder: AbsolutePath,
    /// The texts that the install wrote, by their digest: the base of a merge.
    written: OnceCell<BTreeMap<String, String>>,
    pub(crate) program: Program,
    /// Folders on the way to wanted files that do not exist.
    missing: BTreeSet<AbsolutePath>,
    /// Installs of another program that this one replaces.
    pub(crate) predecessors: Vec<Predecessor>,
    /// Folders that our other installs made for themselves.
    made: BTreeSet<AbsolutePath>,
    /// The folders whose manifests were read, including those of other hosts.
    asked: BTreeSet<AbsolutePath>,
    /// The folder where this install was made, if its project has moved since.
    pub(crate) moved_from: Option<AbsolutePath>,
    /// What is certainly ours although no manifest lists it.
    pub(crate) adopted: Option<Adopted>,
}

impl InstallSituation {
    /// Nothing is read yet.
    pub(crate) fn new(target: &Target, neighbours: Vec<AbsolutePath>, program: Program, snapshot: Snapshot) -> Self {
        Self {
            manifests: BTreeMap::new(),
            claimed: BTreeMap::new(),
            neighbours,
            snapshot,
            images: BTreeSet::new(),
            image_folder: target.image_folder(),
            written: OnceCell::new(),
            program,
            missing: BTreeSet::new(),
            predecessors: Vec::new(),
            made: BTreeSet::new(),
            asked: BTreeSet::new(),
            moved_from: None,
            adopted: None,
        }
    }

    /// Reads what can be read before the wanted files are known: the manifests.
    pub(crate) fn open(&mut self, target: &Target) -> Result<(), InstallError> {
        self.read_manifest(target, &target.root)?;
        for folder in self.neighbours.clone() {
            self.read_manifest(target, &folder)?;
        }
        for anchor in self.anchors(target, &[]) {
            self.read_manifest(target, &target.manifest_folder(&anchor))?;
        }
        Ok(())
    }

    /// Looks for installs of another program that an install replaces.
    pub(crate) fn look_for_predecessors(&mut self, target: &Target) -> Result<(), InstallError> {
        self.predecessors = predecessor::find(target, &mut self.snapshot)?;
        for root in self.predecessors.iter().map(|predecessor| predecessor.root.clone()).collect::<Vec<_>>() {
            self.read_manifest(target, &root)?;
        }
        Ok(())
    }

    /// Looks at the install of another host: the folders above its root that it made are ours.
    pub(crate) fn look_at_other(&mut self, other: &Target) {
        // A manifest that cannot be read is reported by its own host.
        let Ok(found) = vouch::read(other, &other.root, &mut self.snapshot) else { return };
        self.asked.insert(other.root.clone());
        for section in found.manifest.installs.values() {
            let above = std::iter::successors(Some(other.root.clone()), AbsolutePath::parent);
            self.made.extend(above.take(section.holdings.folders_above));
        }
    }

    /// Looks at everything that is wanted, and at everything that exists because of us.
    pub(crate) fn look(&mut self, target: &Target, wanted: &[Artifact]) -> Result<(), InstallError> {
        let anchors = self.anchors(target, wanted);
        for anchor in &anchors {
            self.read_manifest(target, &target.manifest_folder(anchor))?;
        }
        for artifact in wanted {
            self.look_at_wanted(target, artifact)?;
        }
        for anchor in &anchors {
            self.look_at_owned(target, anchor)?;
        }
        self.look_at_predecessors()?;
        self.snapshot.read(&remembered::note(target))?;
        self.read_images()
    }

    /// The trees that a plan from here may write in, for their locks.
    pub(crate) fn roots(&mut self, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
        let mut roots = target.possible_roots();
        // An earlier version may have used a folder that the host's descriptor no longer names.
        let homes = self.section(target).into_iter().flat_map(|section| &section.homes);
        roots.extend(homes.map(|home| target.user.resolve(home)));
        roots.extend(predecessor::folders(target, &mut self.snapshot)?);
        Ok(roots)
    }

    /// Makes the changes valid only while every manifest that was read is unchanged.
    pub(crate) fn expect(&self, target: &Target, changes: &mut ChangeSet) {
        for folder in &self.asked {
            vouch::expect(target, folder, &self.snapshot, changes);
        }
    }

    /// The anchors at which something is wanted or owned.
    pub(crate) fn anchors(&self, target: &Target, wanted: &[Artifact]) -> BTreeSet<Anchor> {
        let mut anchors: BTreeSet<Anchor> = wanted.iter().map(|artifact| artifact.anchor.clone()).collect();
        anchors.insert(Anchor::Root);
        if let Some(section) = self.section(target) {
            anchors.extend(section.homes.iter().cloned().map(Anchor::Home));
            anchors.extend((!section.project.is_empty()).then_some(Anchor::Project));
        }
        anchors
    }

    /// The section of this install in the host's folder, from the manifest, or as found without one.
    pub(crate) fn section(&self, target: &Target) -> Option<&Section> {
        let adopted = self.adopted.as_ref().map(|adopted| &adopted.section);
        self.listed(target, &Anchor::Root).or(adopted)
    }

    /// The section of this install in the manifest of the anchor.
    pub(super) fn listed(&self, target: &Target, anchor: &Anchor) -> Option<&Section> {
        self.manifests.get(&target.manifest_folder(anchor))?.installs.get(&target.section_key(anchor))
    }

    /// What this install owns below the anchor.
    pub(crate) fn holdings(&self, target: &Target, anchor: &Anchor) -> Option<&Holdings> {
        match self.listed(target, anchor) {
            Some(section) if *anchor == Anchor::Project => Some(&section.project),
            Some(section) => Some(&section.holdings),
            None => self.adopted.as_ref()?.holdings(anchor),
        }
    }

    /// True if manifests list this install in every folder that it names, or if a manifest from the repository lists
    /// it.
    pub(super) fn is_listed(&self, target: &Target) -> bool {
        let key = target.section_key(&Anchor::Root);
        if self.claimed.get(&target.root).is_some_and(|claimed| claimed.installs.contains_key(&key)) {
            return true;
        }
        let has_home = |home: &String| self.listed(target, &Anchor::Home(home.clone())).is_some();
        self.listed(target, &Anchor::Root).is_some_and(|section| section.homes.iter().all(has_home))
    }

    /// What other installs own below the anchor.
    pub(crate) fn others(&self, target: &Target, anchor: &Anchor) -> Vec<&Holdings> {
        let key = target.section_key(anchor);
        let manifest = self.manifests.get(&target.manifest_folder(anchor));
        let here = manifest.into_iter().flat_map(|manifest| manifest.others(&key));
        if *anchor == Anchor::Project {
            let there = self.neighbours.iter().filter_map(|folder| self.manifests.get(folder));
            let there = there.flat_map(|manifest| manifest.installs.values());
            return here.chain(there).map(|section| &section.project).collect();
        }
        here.map(|section| &section.holdings).collect()
    }

    /// True if the file still has the bytes that were written.
    pub(crate) fn is_as_written(&self, path: &AbsolutePath, written: Digest) -> bool {
        self.snapshot.file(path).is_some_and(|file| file.is_as_written(written))
    }

    pub(crate) fn is_program(&self, path: &AbsolutePath) -> bool {
        self.snapshot.file(path).is_some_and(|file| file.program)
    }

    /// Where the changed file can be put: at its own path below the folder for such files, or next to an earlier one.
    pub(crate) fn set_aside(
        &self,
        target: &Target,
        anchor: &Anchor,
        path: &RelativePath,
        digest: Digest,
    ) -> AbsolutePath {
        self.free(&target.set_aside(anchor, path), digest)
    }

    /// The first of the names for set-aside bytes that is not used by other bytes.
    pub(crate) fn free(&self, first: &AbsolutePath, digest: Digest) -> AbsolutePath {
        names(first, digest).find(|name| is_free(self.snapshot.found(name), digest)).unwrap_or_else(|| first.clone())
    }

    /// Looks at those names, up to the free one.
    fn look_for_free(&mut self, first: &AbsolutePath, digest: Digest) -> Result<(), InstallError> {
        for name in names(first, digest) {
            if is_free(self.snapshot.look(&name)?, digest) {
                break;
            }
        }
        Ok(())
    }

    /// The kept bytes of this digest, unless they were changed since.
    pub(crate) fn image(&self, digest: Digest) -> Option<&[u8]> {
        let path = self.image_path(digest);
        self.snapshot.bytes(&path).filter(|_| self.snapshot.digest(&path) == Some(digest))
    }

    /// Every kept image: the digest it is kept for, and that of its bytes.
    pub(crate) fn images(&self) -> impl Iterator<Item = (Digest, Digest)> {
        self.images.iter().filter_map(|digest| Some((*digest, self.snapshot.digest(&self.image_path(*digest))?)))
    }

    pub(crate) fn image_path(&self, digest: Digest) -> AbsolutePath {
        self.image_folder.resolve(digest.to_string())
    }

    /// True if this folder on the way to a wanted file does not exist.
    pub(crate) fn is_missing(&self, folder: &AbsolutePath) -> bool {
        self.missing.contains(folder)
    }

    /// How many folders, from this one upwards, do not exist or were made by us.
    pub(crate) fn missing_from(&self, folder: &AbsolutePath) -> usize {
        std::iter::successors(Some(folder.clone()), AbsolutePath::parent)
            .take_while(|it| self.is_missing(it) || self.made.contains(it))
            .count()
    }

    pub(super) fn read_manifest(&mut self, target: &Target, folder: &AbsolutePath) -> Result<(), InstallError> {
        if !self.manifests.contains_key(folder) {
            let found = vouch::read(target, folder, &mut self.snapshot)?;
            self.asked.insert(folder.clone());
            self.manifests.insert(folder.clone(), found.manifest);
            self.claimed.extend(found.claimed.map(|claimed| (folder.clone(), claimed)));
            if *folder == target.root {
                self.moved_from = found.moved_from;
                if let Some(from) = &self.moved_from {
                    self.snapshot.look(&remembered::note_at(target, from))?;
                }
            }
        }
        Ok(())
    }

    /// What a manifest from the repository lists for this install below the anchor.
    pub(crate) fn claims(&self, target: &Target, anchor: &Anchor) -> Option<&Holdings> {
        let section = self.claimed.get(&target.manifest_folder(anchor))?.installs.get(&target.section_key(anchor))?;
        Some(if *anchor == Anchor::Project { &section.project } else { &section.holdings })
    }

    pub(super) fn look_at_wanted(&mut self, target: &Target, artifact: &Artifact) -> Result<(), InstallError> {
        let relative = RelativePath::parse(&artifact.path).map_err(InstallError::Content)?;
        let path = target.folder(&artifact.anchor).join(&relative);
        match &artifact.contents {
            Contents::Binary => {
                self.snapshot.look(&path)?;
                if !self.is_program(&path) {
                    self.snapshot.read(&path)?;
                }
            }
            Contents::Whole(_) => drop(self.snapshot.read(&path)?),
            Contents::Shared(_) => drop(self.snapshot.read_settings(&path)?),
        }
        if let Some(digest) = self.snapshot.digest(&path) {
            self.look_for_free(&target.set_aside(&artifact.anchor, &relative), digest)?;
        }
        self.look_above(&path)
    }

    fn look_at_owned(&mut self, target: &Target, anchor: &Anchor) -> Result<(), InstallError> {
        let Some(holdings) = self.holdings(target, anchor).cloned() else { return Ok(()) };
        let folder = target.folder(anchor);
        for (path, written) in &holdings.files {
            let (relative, path) = (path, folder.join(path));
            self.snapshot.look(&path)?;
            let Some(digest) = self.snapshot.digest(&path).filter(|found| found != written) else { continue };
            if !self.is_program(&path) {
                self.snapshot.read(&path)?;
                self.look_for_free(&target.set_aside(anchor, relative), digest)?;
            }
        }
        for path in holdings.shared.keys() {
            self.snapshot.read_settings(&folder.join(path))?;
        }
        Ok(())
    }

    fn look_at_predecessors(&mut self) -> Result<(), InstallError> {
        let predecessors = std::mem::take(&mut self.predecessors);
        for predecessor in &predecessors {
            for path in predecessor.files.keys() {
                self.snapshot.read(path)?;
                if let Some(digest) = self.snapshot.digest(path) {
                    self.look_for_free(&predecessor.set_aside(path), digest)?;
                }
            }
            for path in predecessor.settings.keys() {
                self.snapshot.read_settings(path)?;
            }
        }
        self.predecessors = predecessors;
        Ok(())
    }

    /// Looks at the folders above a path, up to the first that exists.
    fn look_above(&mut self, path: &AbsolutePath) -> Result<(), InstallError> {
        // Above a missing folder, everything was looked at.
        for folder in std::iter::successors(path.parent(), AbsolutePath::parent) {
            if self.missing.contains(&folder) || *self.snapshot.look(&folder)? != Found::Absent {
                break;
            }
            self.missing.insert(folder);
        }
        Ok(())
    }

    fn read_images(&mut self) -> Result<(), InstallError> {
        for entry in self.snapshot.list(&self.image_folder)?.unwrap_or_default() {
            let Some(digest) = Digest::parse(&entry.name) else { continue };
            if self.snapshot.read(&self.image_path(digest))?.is_some() {
                self.images.insert(digest);
            }
        }
        self.snapshot.read(&self.written_path())?;
        Ok(())
    }

    /// The file with the texts that the install wrote.
    pub(crate) fn written_path(&self) -> AbsolutePath {
        self.image_folder.resolve(WRITTEN)
    }

    /// The text of this digest that the install wrote.
    pub(crate) fn written(&self, digest: Digest) -> Option<&str> {
        // Most installs have no edited file, and need none of the texts.
        let written = self.written.get_or_init(|| {
            // Without it, an edited file cannot be merged, and is set aside.
            let bytes = self.snapshot.bytes(&self.written_path());
            bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
        });
        let text = written.get(&digest.to_string())?;
        (Digest::of(text.as_bytes()) == digest).then_some(text)
    }
}

/// The names for set-aside bytes: the plain one, one with a digest, then with numbers after it.
pub(super) fn names(first: &AbsolutePath, digest: Digest) -> impl Iterator<Item = AbsolutePath> {
    let (plain, digest) = (first.clone(), digest.to_string());
    let with_digest = first.beside(&format!("{}.{}", first.name(), &digest[..8]));
    let numbered = with_digest.clone();
    let more = (2_u32..).map(move |number| numbered.beside(&format!("{}.{number}", numbered.name())));
    [plain, with_digest].into_iter().chain(more)
}

/// True if the bytes can be put there, or are there already.
pub(super) fn is_free(found: &Found, digest: Digest) -> bool {
    match found {
        Found::Absent => true,
        Found::File(file) => file.digest == digest,
        Found::Folder | Found::Other => false,
    }
}
