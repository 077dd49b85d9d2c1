//! `.planning/` as types: where documents are, what they contain, and how several of them are changed at once.
//!
//! A document is a model that borrows its text and never an error: people write these files. Paths come only from
//! [`layout`]. Operations get a [`view::ProjectView`], which keeps the roadmap and the state with their texts, and answer with
//! [`view::Edits`].

pub(crate) mod acceptance;
pub(crate) mod auto_chain;
pub(crate) mod auto_run;
pub(crate) mod belonging;
pub(crate) mod boundary;
pub(crate) mod branch_name;
pub(crate) mod check_files;
pub(crate) mod config;
pub(crate) mod decisions;
pub(crate) mod declared_commands;
pub(crate) mod deferred;
pub(crate) mod deferred_checks;
pub(crate) mod dependencies;
pub(crate) mod figures;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod git_settings;
pub(crate) mod gsd2;
pub(crate) mod head;
pub(crate) mod human_checks;
pub(crate) mod human_judgment;
pub(crate) mod label;
pub(crate) mod layout;
pub(crate) mod local_state;
pub(crate) mod lock_files;
pub(crate) mod milestone;
pub(crate) mod milestone_layout;
pub(crate) mod milestones;
pub(crate) mod next;
pub(crate) mod noted;
pub(crate) mod pause;
pub(crate) mod phase;
pub(crate) mod plan;
pub(crate) mod plan_commits;
pub(crate) mod repository;
pub(crate) mod requirements;
pub(crate) mod review_report;
pub(crate) mod roadmap;
pub(crate) mod roadmap_edit;
pub(crate) mod roadmap_renumber;
pub(crate) mod roadmap_unread;
pub(crate) mod root;
pub(crate) mod scope;
pub(crate) mod self_running;
pub(crate) mod standing;
pub(crate) mod state;
pub(crate) mod test_command;
pub(crate) mod threats;
pub(crate) mod todo;
pub(crate) mod told;
pub(crate) mod uat;
pub(crate) mod uat_report;
pub(crate) mod unclosed;
pub(crate) mod up_next;
pub(crate) mod verification;
mod verification_report;
pub(crate) mod version;
pub(crate) mod view;
pub(crate) mod wave;
pub(crate) mod workstream;
pub(crate) mod worktrees;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{
    self, AbsolutePath, Access, Change, ChangeSet, Digest, DiskError, EntryKind, Found, FoundFile, Owner, RealPaths,
    Snapshot, Stamp,
};
use crate::failure::Explain;

use boundary::{Boundary, BoundaryError};
use files::{FileError, Files, FolderEntry, Looked, Pending};
use layout::Layout;
use local_state::LocalState;
use told::Told;
use view::{Edits, ProjectView};

/// Starts to look up the commit time of clean, committed files among `paths`, in seconds since 1970.
pub(crate) type CommitTimes = Box<dyn Fn(&Layout, &[String]) -> Pending<HashMap<String, i64>> + Send + Sync>;

/// A project on disk.
pub(crate) struct Project {
    layout: Layout,
    /// The folder for this computer's notes about projects, if it has one.
    state_folder: Option<PathBuf>,
}

impl Project {
    pub(crate) fn new(layout: Layout, state_folder: Option<PathBuf>) -> Self {
        Self { layout, state_folder }
    }

    /// The folder of notes that `edits` also change, in addition to the project's own folder.
    pub(crate) fn touched_notes(&self, edits: &Edits) -> Option<AbsolutePath> {
        let claim = self.layout.milestone_claim();
        let touched = edits.arrives(&claim) || edits.leaves(&claim);
        claim_note(&self.layout, self.state_folder.as_deref()).filter(|_| touched)?.parent()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the documents of this project may really be.
    pub(crate) fn boundary(&self) -> Result<Boundary, DiskError> {
        Boundary::of(self.layout.root(), &self.layout.absolute(".planning"), self.state_folder.as_deref())
    }

    /// The folder that is locked while the project changes: its planning folder, or the root if that does not exist
    /// yet.
    pub(crate) fn locked_tree(&self) -> PathBuf {
        let planning = self.layout.absolute(self.layout.planning());
        if disk::is_folder(&planning) { planning } else { self.layout.root().to_path_buf() }
    }

    /// Converts the edits of an operation to file changes, each with the content it expects: what the view has read.
    pub(crate) fn changes(&self, view: &ProjectView, edits: &Edits) -> Result<ChangeSet, ProjectError> {
        let mut changes = ChangeSet::default();
        let claim = self.layout.milestone_claim();
        let note = claim_note(&self.layout, self.state_folder.as_deref());
        let at = |path: &str| AbsolutePath::parse(self.layout.absolute(path)).map_err(DiskError::from);
        for (to, from) in edits.moves.iter().filter(|(to, _)| !edits.texts.contains_key(*to)) {
            // A file may be moved to a path that another file leaves.
            let before = if edits.leaves(to) { self.leaving(to)?.map(|file| file.digest) } else { None };
            let Some(FoundFile { bytes: Some(bytes), executable, .. }) = self.leaving(from)? else {
                return Err(ProjectError::NoFile { path: at(from)? });
            };
            let access = if executable { Access::Executable } else { Access::Usual };
            changes.push(Change::WriteFile { path: at(to)?, bytes, access, owner: Owner::User, before });
        }
        for path in edits.removals.iter().chain(edits.moves.values()).filter(|path| !edits.arrives(path)) {
            if let Some(file) = self.leaving(path)? {
                changes.remove(at(path)?, file.digest);
            }
        }
        for folder in &edits.bare_folders {
            changes.push(Change::MakeFolder { path: at(folder)?, mode: None });
        }
        for folder in &edits.emptied {
            let path = at(folder)?;
            if disk::is_link(&path) {
                return Err(ProjectError::Link { path });
            }
            changes.push(Change::RemoveFolder { path });
        }
        for folder in &edits.folders {
            changes.push(Change::MakeFolder { path: at(folder)?, mode: None });
            changes.write(at(&format!("{folder}/.gitkeep"))?, "", None);
        }
        for (path, text) in &edits.texts {
            if *path == claim && note.is_some() {
                continue;
            }
            // A file that is moved away may not be text.
            let before = if edits.leaves(path) {
                self.leaving(path)?.map(|file| file.digest)
            } else {
                view.text(path)?.map(|text| Digest::of(text.as_bytes()))
            };
            changes.write(at(path)?, text.as_str(), before);
        }
        if let Some(note) = note {
            self.change_claim(&note, edits, &mut changes)?;
        }
        self.boundary()?.check_all(&changes)?;
        Ok(changes)
    }

    /// Moves a milestone claim into the notes of this computer, where `git status` does not show it, or removes it from
    /// both places.
    fn change_claim(&self, note: &AbsolutePath, edits: &Edits, changes: &mut ChangeSet) -> Result<(), ProjectError> {
        let claim = self.layout.milestone_claim();
        let before = Digest::of_file(note)?;
        match edits.texts.get(&claim) {
            Some(text) => {
                changes.write(note.clone(), text.as_str(), before);
                if let Some(file) = self.leaving(&claim)? {
                    changes.remove(
                        AbsolutePath::parse(self.layout.absolute(&claim)).map_err(DiskError::from)?,
                        file.digest,
                    );
                }
            }
            None if edits.leaves(&claim) => {
                if let Some(before) = before {
                    changes.remove(note.clone(), before);
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Reads a file that will leave its path. A link is an error: its target does not belong to us.
    fn leaving(&self, path: &str) -> Result<Option<FoundFile>, ProjectError> {
        let path = AbsolutePath::parse(self.layout.absolute(path)).map_err(DiskError::from)?;
        if disk::is_link(&path) {
            return Err(ProjectError::Link { path });
        }
        let mut snapshot = Snapshot::default();
        snapshot.read(&path)?;
        match snapshot.found(&path).clone() {
            Found::File(file) => Ok(Some(file)),
            _ => Ok(None),
        }
    }

    /// The files of the project, for callers that need nothing from git.
    pub(crate) fn files(&self) -> Box<dyn Files> {
        Box::new(DiskFiles::of(self, Box::new(|_, _| Box::new(HashMap::new)), None))
    }

    /// As [`Self::files`], for reads that finish before anything changes: the real path of each folder is looked up
    /// only once.
    pub(crate) fn files_of_a_moment(&self) -> Box<dyn Files> {
        Box::new(DiskFiles::of(self, Box::new(|_, _| Box::new(HashMap::new)), Some(Mutex::default())))
    }

    /// The project in its current state. `commit_times` is called only if an operation needs to know what changed when.
    pub(crate) fn view(&self, commit_times: CommitTimes) -> ProjectView {
        let files = DiskFiles::of(self, commit_times, Some(Mutex::default()));
        ProjectView::new(self.layout.clone(), Box::new(files))
    }

    /// As [`Self::view`], but reuses stored answers about unchanged documents. `at` is the time in milliseconds since
    /// 1970.
    pub(crate) fn view_that_remembers(&self, commit_times: CommitTimes, at: i64) -> ProjectView {
        let told = self.state_folder.as_deref().and_then(|state| Told::of(state, self.layout.root(), at));
        let files = DiskFiles { told, ..DiskFiles::of(self, commit_times, Some(Mutex::default())) };
        ProjectView::new(self.layout.clone(), Box::new(files))
    }
}

/// Why the edits of an operation cannot become changes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("`{path}` is a link, which cannot be moved without breaking it")]
    Link { path: AbsolutePath },
    #[error("`{path}` is not a regular file and cannot be moved")]
    NoFile { path: AbsolutePath },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Boundary(#[from] BoundaryError),
}

impl Explain for ProjectError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(error) => error.hint(),
            Self::Boundary(error) => error.hint(),
            Self::Link { .. } => Some("replace the link by a copy of its target".to_owned()),
            Self::NoFile { .. } => Some("move it out of the folder first".to_owned()),
            Self::File(error) => error.hint(),
        }
    }
}

impl fmt::Debug for Project {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Project").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// The note with the milestone claim of this working tree and workstream. `None` without a folder for notes.
fn claim_note(layout: &Layout, state_folder: Option<&Path>) -> Option<AbsolutePath> {
    let root = AbsolutePath::parse(layout.root()).ok()?;
    let notes = LocalState::of(state_folder?, &root).ok()?;
    let scope = disk::canonical(&root).ok()?.resolve(layout.scope());
    let key = Digest::of(scope.to_string().as_bytes()).to_string();
    Some(notes.file(&format!("milestone-{}.lock", &key[..16])))
}

/// The files of a project on disk.
struct DiskFiles {
    layout: Layout,
    state_folder: Option<PathBuf>,
    boundary: Result<Boundary, DiskError>,
    commit_times: CommitTimes,
    /// The paths of the settings and of the milestone claim.
    settings: [String; 2],
    claim: String,
    /// `None` if answers are not stored.
    told: Option<Told>,
    /// The stamps of the files that were looked up; valid while nothing is written.
    stamps: Arc<Mutex<HashMap<String, Stamp>>>,
    /// Facts about folders; valid while nothing changes.
    moment: Option<Mutex<Moment>>,
}

/// Facts about folders at one moment.
#[derive(Default)]
struct Moment {
    /// Their real paths.
    places: RealPaths,
    /// Folders that do not lead out of the project, by their path in it.
    inside: HashMap<String, PathBuf>,
}

impl DiskFiles {
    fn of(project: &Project, commit_times: CommitTimes, moment: Option<Mutex<Moment>>) -> Self {
        let (layout, state_folder) = (project.layout.clone(), project.state_folder.clone());
        let settings = [layout.config(), layout.root_config()];
        let claim = layout.milestone_claim();
        Self {
            layout,
            state_folder,
            boundary: project.boundary(),
            commit_times,
            settings,
            claim,
            told: None,
            stamps: Arc::default(),
            moment,
        }
    }

    /// The absolute path of a project path, checked not to lead out of the project.
    fn inside(&self, path: &str) -> Result<PathBuf, FileError> {
        let absolute = self.layout.absolute(path);
        let boundary = self.boundary.as_ref().map_err(|error| unreadable(path, error))?;
        let checked = match &self.moment {
            Some(moment) => {
                let mut moment = moment.lock().unwrap_or_else(PoisonError::into_inner);
                boundary.check_at(&absolute, &mut moment.places)
            }
            None => boundary.check(&absolute),
        };
        match checked {
            Ok(()) => Ok(absolute),
            Err(error) => Err(FileError { path: path.to_owned(), reason: error.to_string(), hint: error.hint() }),
        }
    }

    /// As [`Self::inside`], for a name in a folder: each folder is checked only once.
    fn folder_inside(&self, path: &str, name: &str) -> Result<PathBuf, FileError> {
        let joined = |folder: &PathBuf| if name.is_empty() { folder.clone() } else { folder.join(name) };
        let Some(moment) = &self.moment else { return self.inside(path).map(|folder| joined(&folder)) };
        if let Some(known) = moment.lock().unwrap_or_else(PoisonError::into_inner).inside.get(path) {
            return Ok(joined(known));
        }
        let folder = self.inside(path)?;
        let found = joined(&folder);
        moment.lock().unwrap_or_else(PoisonError::into_inner).inside.insert(path.to_owned(), folder);
        Ok(found)
    }

    /// Records the subfolders of a folder that does not lead out of the project: they do not either.
    fn note_inside(&self, path: &str, folder: &Path, names: &[(String, EntryKind)]) {
        let Some(moment) = &self.moment else { return };
        let mut moment = moment.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, _) in names.iter().filter(|(_, kind)| *kind == EntryKind::Folder) {
            moment.inside.entry([path, "/", name].concat()).or_insert_with(|| folder.join(name));
        }
    }

    /// The path of a file in a folder that does not lead out of the project; the file may still be a link. `None` if
    /// the path needs the full check.
    fn plain(&self, path: &str) -> Option<PathBuf> {
        let (folder, name) = path.rsplit_once('/').filter(|_| self.moment.is_some())?;
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !path.split('/').all(is_plain) || cfg!(windows) {
            return None;
        }
        self.folder_inside(folder, name).ok()
    }

    /// The text of a file that is not a link, in a folder that does not lead out of the project, as most are. `None` if
    /// the path needs the full check.
    fn read_plain(&self, path: &str) -> Option<Result<Option<String>, FileError>> {
        let file = self.plain(path)?;
        match disk::read_plain(&file) {
            Ok(disk::Plain::Text(text)) => Some(Ok(Some(text))),
            Ok(disk::Plain::Absent) => Some(Ok(None)),
            Ok(disk::Plain::Link) => None,
            Err(error) => Some(Err(unreadable(path, &error))),
        }
    }
}

/// The stamp of the file `absolute`, stored for later lookups of `path`; `None` if it is not a plain file.
fn stamped(stamps: &Mutex<HashMap<String, Stamp>>, path: &str, absolute: &Path) -> Option<Stamp> {
    let mut stamps = stamps.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = stamps.get(path) {
        return Some(*known);
    }
    let stamp = disk::file_stamp(absolute)?;
    stamps.insert(path.to_owned(), stamp);
    Some(stamp)
}

impl Files for DiskFiles {
    fn read(&self, path: &str) -> Result<Option<String>, FileError> {
        let is_settings = self.settings.iter().any(|settings| settings == path);
        if !is_settings
            && path != self.claim
            && let Some(read) = self.read_plain(path)
        {
            return read;
        }
        let text = |file| if is_settings { disk::read_config(file) } else { disk::read_text(file) };
        let read = |file: PathBuf| text(file).map_err(|error| unreadable(path, &error));
        match read(self.inside(path)?)? {
            // Other programs keep the claim in the planning folder.
            None if path == self.claim => {
                let note = claim_note(&self.layout, self.state_folder.as_deref());
                note.map_or(Ok(None), |note| read(note.as_path().to_path_buf()))
            }
            found => Ok(found),
        }
    }

    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError> {
        let folder = self.folder_inside(path, "")?;
        let Some(names) = disk::names(&folder).map_err(|error| unreadable(path, &error))? else { return Ok(None) };
        self.note_inside(path, &folder, &names);
        let is_folder = |name: &str, kind| {
            kind == EntryKind::Folder || (kind == EntryKind::Link && disk::is_folder(folder.join(name)))
        };
        let entry = |(name, kind): (String, EntryKind)| FolderEntry { is_folder: is_folder(&name, kind), name };
        let mut entries: Vec<FolderEntry> = names.into_iter().map(entry).collect();
        entries.sort();
        Ok(Some(entries))
    }

    fn look(&self, question: u8, path: &str) -> Option<Looked> {
        let told = self.told.as_ref()?;
        let known = self.stamps.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        let stamp = match known {
            Some(known) => known,
            None => stamped(&self.stamps, path, &self.plain(path)?)?,
        };
        told.look(question, path, stamp)
    }

    fn note(&self, looked: Looked, answer: u8) {
        if let Some(told) = &self.told {
            told.note(looked, answer);
        }
    }

    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        self.ask_changed(paths)()
    }

    fn ask_changed(&self, paths: &[String]) -> Pending<Vec<Option<i64>>> {
        let committed = (self.commit_times)(&self.layout, paths);
        let (layout, paths) = (self.layout.clone(), paths.to_vec());
        let stamps = self.told.is_some().then(|| Arc::clone(&self.stamps));
        Box::new(move || {
            let committed = committed();
            let on_disk = |path: &String| {
                let absolute = layout.absolute(path);
                let stamp = stamps.as_ref().and_then(|stamps| stamped(stamps, path, &absolute));
                stamp.map(|stamp| stamp.written_at()).or_else(|| disk::modified(absolute).map(|time| time / 1000))
            };
            let time = |path: &String| committed.get(path).copied().or_else(|| on_disk(path));
            paths.iter().map(time).collect()
        })
    }

    fn touched_at(&self, path: &str) -> Option<i64> {
        disk::modified(self.layout.absolute(path))
    }

    fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        let file = self.layout.absolute(path);
        if !disk::is_inside(&file, self.layout.root()) || !disk::is_file(&file) {
            return Ok(None);
        }
        let bytes = disk::read_bytes(&file).map_err(|error| unreadable(path, &error))?;
        Ok(bytes.map(|bytes| files::sha256(&bytes)))
    }

    fn exists(&self, path: &str) -> bool {
        disk::exists(self.layout.absolute(path))
    }
}

impl fmt::Debug for DiskFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DiskFiles").field("layout", &self.layout).finish_non_exhaustive()
    }
}

fn unreadable(path: &str, error: &DiskError) -> FileError {
    use std::error::Error;
    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    FileError { path: path.to_owned(), reason, hint: error.hint() }
}
