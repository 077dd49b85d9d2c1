//! A project as read: its documents and folders, each read once, and the changes that an operation requests.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

mod documents;
mod edits;

use documents::{RoadmapDocument, StateDocument};
use edits::EditedFiles;
pub(crate) use edits::{Edited, Edits};

use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;
use crate::text::shell::acting_letter;

#[cfg(any(test, fuzzing))]
use super::files::MemoryFiles;
use super::files::{FileError, Files, Pending};
use super::folder::{PhaseFolder, is_artifact};
use super::layout::Layout;
use super::milestone::{Milestone, is_same_version};
use super::phase::{self, PhaseId, PhaseIndex};
use super::uat_report::UatReport;
use super::verification_report::Report;

/// An operation's view of a project. Reads are cached, so all reads of a file within one call give the same content. A
/// clone is the same view, and threads may share one.
#[derive(Clone, Debug)]
pub(crate) struct ProjectView {
    layout: Layout,
    files: Arc<dyn Files>,
    read: Arc<ReadFiles>,
    found: Arc<FoundOut>,
    /// The roadmap that this view or one that it comes from has parsed last.
    latest_roadmap: Arc<Mutex<Option<Arc<RoadmapDocument>>>>,
}

/// What was read, by its paths.
#[derive(Debug, Default)]
struct ReadFiles {
    texts: Mutex<HashMap<String, Option<Arc<str>>>>,
    times: Mutex<Times>,
    /// By the path of their folder.
    facts: Mutex<HashMap<String, Arc<FolderFacts>>>,
    acceptances: Mutex<HashMap<String, Arc<UatReport>>>,
}

/// What was found out about a project, or about the workstream that it is seen from.
#[derive(Debug, Default)]
struct FoundOut {
    folders: OnceLock<Arc<[PhaseFolder]>>,
    /// Including folders of earlier milestones.
    all_folders: OnceLock<Vec<PhaseFolder>>,
    milestone: OnceLock<Milestone>,
    /// The folders of the phases of the milestone.
    own: OnceLock<Vec<PhaseFolder>>,
    listed: OnceLock<PhaseIndex>,
    roadmap: OnceLock<Arc<RoadmapDocument>>,
    state: OnceLock<Option<StateDocument>>,
}

/// What is in `cell`, which is found out when it is first asked for.
pub(super) fn once<T>(cell: &OnceLock<T>, find: impl FnOnce() -> Result<T, FileError>) -> Result<&T, FileError> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let found = find()?;
    Ok(cell.get_or_init(|| found))
}

/// The progress of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanProgress {
    /// It has no SUMMARY, or one with the status `blocked`.
    ToDo,
    /// Its SUMMARY is `halted`: the plan did not reach its goal and is not executed as it is. It is planned again or
    /// superseded.
    Halted,
    Done,
}

/// Cached facts about a folder: everything that looks at a phase needs them.
#[derive(Debug, Default)]
pub(super) struct FolderFacts {
    /// The plans that count.
    current: OnceLock<Vec<String>>,
    /// The progress of each of them.
    pub(super) progress: OnceLock<Vec<PlanProgress>>,
    report: OnceLock<Option<Report>>,
}

/// Locks cached values. A thread that panicked left no half-written value: values are inserted whole.
fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When files last changed.
#[derive(Default)]
struct Times {
    known: HashMap<String, Option<i64>>,
    asked: Vec<AskedTimes>,
}

/// Files that were asked about, and the pending answer.
struct AskedTimes {
    paths: Vec<String>,
    times: Pending<Vec<Option<i64>>>,
}

impl Times {
    /// Those of `paths` that were not asked about.
    fn unasked(&self, paths: &[String]) -> Vec<String> {
        let asked: HashSet<&String> = self.asked.iter().flat_map(|asked| &asked.paths).collect();
        paths.iter().filter(|path| !self.known.contains_key(*path) && !asked.contains(path)).cloned().collect()
    }

    fn wait(&mut self) {
        for AskedTimes { paths, times } in self.asked.drain(..) {
            self.known.extend(paths.into_iter().zip(times()));
        }
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Times").field("known", &self.known).finish_non_exhaustive()
    }
}

#[cfg(any(test, fuzzing))]
impl MemoryFiles {
    /// A project of only these files.
    pub(crate) fn view(self) -> ProjectView {
        ProjectView::new(Layout::new("/p", None, None), Box::new(self))
    }
}

impl ProjectView {
    pub(crate) fn new(layout: Layout, files: Box<dyn Files>) -> Self {
        let (read, found, latest_roadmap) = (Arc::default(), Arc::default(), Arc::default());
        Self { layout, files: Arc::from(files), read, found, latest_roadmap }
    }

    /// A project of these files, in memory.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn of<'text>(files: impl IntoIterator<Item = (&'text str, &'text str)>) -> Self {
        MemoryFiles::new(files).view()
    }

    /// The project after `edits` are made.
    pub(crate) fn after(&self, edits: &Edits) -> Self {
        let edited = EditedFiles::new(self, edits);
        let view = Self::new(self.layout.clone(), Box::new(edited));
        Self { latest_roadmap: Arc::clone(&self.latest_roadmap), ..view }
    }

    /// The same snapshot of the same project, seen from a workstream, or as a whole.
    pub(crate) fn scoped(&self, workstream: Option<&str>) -> Self {
        Self { layout: self.layout.scoped(workstream), found: Arc::default(), ..self.clone() }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The files that this view reads.
    pub(crate) fn files(&self) -> &dyn Files {
        self.files.as_ref()
    }

    /// The text of a file by its path relative to the root; `None` if the file does not exist.
    pub(crate) fn text(&self, path: &str) -> Result<Option<Arc<str>>, FileError> {
        // Locked while the file is read, so that all threads get the same text.
        let mut texts = locked(&self.read.texts);
        if let Some(known) = texts.get(path) {
            return Ok(known.clone());
        }
        let read: Option<Arc<str>> = self.files.read(path)?.map(Arc::from);
        texts.insert(path.to_owned(), read.clone());
        Ok(read)
    }

    /// The answer of `of` about the text of a document. The document is not read if an earlier call stored the answer;
    /// `question` identifies the question.
    pub(crate) fn told(&self, question: u8, path: &str, of: impl Fn(Option<&str>) -> u8) -> Result<u8, FileError> {
        let read = locked(&self.read.texts).get(path).map(|text| of(text.as_deref()));
        if let Some(said) = read {
            return Ok(said);
        }
        let looked = self.files.look(question, path);
        if let Some(known) = looked.and_then(|looked| looked.known) {
            return Ok(known);
        }
        let said = of(self.text(path)?.as_deref());
        if let Some(looked) = looked {
            self.files.note(looked, said);
        }
        Ok(said)
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.files.exists(path)
    }

    pub(crate) fn folder_exists(&self, path: &str) -> bool {
        matches!(self.files.list(path), Ok(Some(_)))
    }

    /// The names in a folder, sorted; empty if the folder does not exist.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, FileError> {
        Ok(self.files.list(path)?.unwrap_or_default().into_iter().map(|entry| entry.name).collect())
    }

    /// The names of the files in a folder, sorted.
    pub(crate) fn file_names(&self, path: &str) -> Result<Vec<String>, FileError> {
        let entries = self.files.list(path)?.unwrap_or_default();
        Ok(entries.into_iter().filter(|entry| !entry.is_folder).map(|entry| entry.name).collect())
    }

    /// The names of the folders in a folder, sorted.
    pub(crate) fn folder_names(&self, path: &str) -> Result<Vec<String>, FileError> {
        let entries = self.files.list(path)?.unwrap_or_default();
        Ok(entries.into_iter().filter(|entry| entry.is_folder).map(|entry| entry.name).collect())
    }

    /// When each file last changed; see [`Files::changed_at`].
    pub(crate) fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        self.ask_changed(paths);
        let mut times = locked(&self.read.times);
        times.wait();
        paths.iter().map(|path| times.known.get(path).copied().flatten()).collect()
    }

    /// Starts to compute the answer of [`Self::changed_at`]: that takes time, and other work can continue.
    pub(crate) fn ask_changed(&self, paths: &[String]) {
        let mut times = locked(&self.read.times);
        let unasked = times.unasked(paths);
        if !unasked.is_empty() {
            let asked = AskedTimes { times: self.files.ask_changed(&unasked), paths: unasked };
            times.asked.push(asked);
        }
    }

    /// When the bytes of a file last changed on this disk; see [`Files::touched_at`].
    pub(crate) fn touched_at(&self, path: &str) -> Option<i64> {
        self.files.touched_at(path)
    }

    /// The SHA-256 of a file's bytes; see [`Files::digest`].
    pub(crate) fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        self.files.digest(path)
    }

    /// The title of the project: the first heading of PROJECT.md.
    pub(crate) fn project_title(&self) -> Result<Option<String>, FileError> {
        let text = self.text(&self.layout.project())?.unwrap_or_default();
        let markdown = Markdown::parse(&text);
        let mut headings = markdown.headings().filter(|heading| heading.level == 1 && !heading.title.is_empty());
        Ok(headings.next().map(|heading| heading.title.to_owned()))
    }

    /// The current milestone: from STATE.md's `milestone:` line, else from the roadmap's marks.
    pub(crate) fn milestone(&self) -> Result<Milestone, FileError> {
        let find = || {
            let version = self.state_version()?;
            Ok(match self.roadmap()? {
                Some(roadmap) => Milestone::find(roadmap, version.as_deref()),
                None => Milestone::without_roadmap(version.as_deref()),
            })
        };
        once(&self.found.milestone, find).cloned()
    }

    /// The milestone that STATE.md's front matter names.
    pub(crate) fn state_version(&self) -> Result<Option<String>, FileError> {
        Ok(self.text(&self.layout.state())?.as_deref().and_then(state_version))
    }

    /// The folders of phases that are not archived, in the order of phases. A folder left by an earlier milestone is
    /// excluded if the current one has another phase with its number.
    pub(crate) fn phase_folders(&self) -> Result<Arc<[PhaseFolder]>, FileError> {
        let find = || Ok(self.without_earlier(self.all_phase_folders()?)?.into());
        once(&self.found.folders, find).cloned()
    }

    /// Every folder in `phases`, in the order of phases.
    pub(crate) fn all_phase_folders(&self) -> Result<Vec<PhaseFolder>, FileError> {
        once(&self.found.all_folders, || self.read_folders(&self.layout.phases(), None)).cloned()
    }

    /// The folders of the phases of the current milestone: those that its section names; if it names none, all except
    /// shelves.
    pub(crate) fn milestone_folders(&self) -> Result<Vec<PhaseFolder>, FileError> {
        let find = || match self.roadmap()? {
            Some(_) => self.folders_of(&self.milestone()?),
            None => Ok(self.phase_folders()?.iter().filter(|folder| !folder.id().is_sentinel()).cloned().collect()),
        };
        once(&self.found.own, find).cloned()
    }

    /// The folders of the phases named in a milestone's window. If it names none, all folders except shelves and those
    /// that belong to an earlier milestone.
    pub(crate) fn folders_of(&self, milestone: &Milestone) -> Result<Vec<PhaseFolder>, FileError> {
        let roadmap = self.roadmap_or_empty()?;
        let ids = milestone.phase_ids(roadmap);
        let folders = self.phase_folders()?;
        let folders =
            if ids.is_empty() && milestone.has_own_lines { self.not_of_earlier(&folders)?.into() } else { folders };
        let index = PhaseIndex::new(ids.iter().copied().enumerate());
        let is_own = |folder: &&PhaseFolder| {
            let token = folder.token();
            let is_work = || !PhaseId::names_sentinel(token) && !roadmap.is_retired(token);
            if ids.is_empty() { is_work() } else { index.find(token).is_some() }
        };
        Ok(folders.iter().filter(is_own).cloned().collect())
    }

    /// Looks a phase up: open folders first, then archived ones, newest milestone first.
    pub(crate) fn find_phase(&self, typed: &str) -> Result<PhaseLookup, FileError> {
        let id = PhaseId::new(typed);
        let mut searched: Vec<String> =
            Some(self.layout.phases()).filter(|path| self.folder_exists(path)).into_iter().collect();
        let open = self.phase_folders()?;
        if let Some(found) = pick(open.iter(), &id) {
            return Ok(found.searched(searched));
        }
        // Numbers may start over with each milestone, and a phase of the current one is not in another one's archive.
        let own = self.own_archive(typed)?;
        for (folder, version) in self.archives()? {
            if own.as_ref().is_some_and(|own| !is_same_version(own, &version)) {
                continue;
            }
            searched.push(folder.clone());
            let archived = self.read_folders(&folder, Some(&version))?;
            if let Some(found) = pick(archived.iter(), &id) {
                return Ok(found.searched(searched));
            }
        }
        Ok(PhaseLookup { folder: None, ambiguous: Vec::new(), searched })
    }

    /// The phase that a person or a workflow names: by its number, the name of its folder, or the path of its folder,
    /// absolute or relative to the root. `None` if neither a folder nor the roadmap has it, or if several folders
    /// match: [`Self::find_phase`] then lists them.
    pub(crate) fn phase_named(&self, typed: &str) -> Result<Option<NamedPhase>, FileError> {
        let lookup = self.find_phase(typed)?;
        if !lookup.ambiguous.is_empty() {
            return Ok(None);
        }
        if let Some(folder) = lookup.folder {
            let number = if folder.name == typed { folder.token() } else { typed }.to_owned();
            return Ok(Some(NamedPhase { number, folder: Some(folder) }));
        }
        if typed.contains(['/', '\\']) {
            let Some(path) = self.layout.inside(typed) else { return Ok(None) };
            let folder = self.folder_at(&path, None)?;
            return Ok(folder.map(|folder| NamedPhase { number: folder.token().to_owned(), folder: Some(folder) }));
        }
        let is_listed = self.roadmap_or_empty()?.section(typed).is_some();
        Ok(is_listed.then(|| NamedPhase { number: typed.to_owned(), folder: None }))
    }

    /// The plan files of a folder, without those with `status: superseded` in their front matter.
    pub(crate) fn current_plans(&self, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
        Ok(self.plans_in(folder, &self.facts_of(folder))?.to_vec())
    }

    /// Reads the plans of a folder in advance.
    pub(super) fn read_plans(&self, folder: &PhaseFolder) -> Result<(), FileError> {
        self.plans_in(folder, &self.facts_of(folder)).map(drop)
    }

    /// The cached facts about a folder.
    pub(super) fn facts_of(&self, folder: &PhaseFolder) -> Arc<FolderFacts> {
        let mut facts = locked(&self.read.facts);
        if let Some(known) = facts.get(&folder.path) {
            return Arc::clone(known);
        }
        Arc::clone(facts.entry(folder.path.clone()).or_default())
    }

    /// As [`Self::current_plans`], using the cached facts about the folder.
    pub(super) fn plans_in<'facts>(
        &self,
        folder: &PhaseFolder,
        facts: &'facts FolderFacts,
    ) -> Result<&'facts [String], FileError> {
        let find = || {
            let mut current = Vec::new();
            for plan in folder.plans() {
                let is_superseded = |text: Option<&str>| u8::from(text.is_some_and(is_superseded));
                if self.told(b'p', &folder.join(plan), is_superseded)? == 0 {
                    current.push(plan.to_owned());
                }
            }
            Ok(current)
        };
        once(&facts.current, find).map(Vec::as_slice)
    }

    /// The verification report of a folder, using the cached facts about it; `None` if it has no report with a status.
    pub(super) fn report_in<'facts>(
        &self,
        folder: &PhaseFolder,
        facts: &'facts FolderFacts,
    ) -> Result<Option<&'facts Report>, FileError> {
        let find = || {
            let Some(path) = folder.artifact_path("VERIFICATION") else { return Ok(None) };
            // Most reports have a status and no fingerprint, and that is remembered.
            Ok(match Report::plain(self.told(b'R', &path, Report::plainness)?) {
                Some(state) => Some(Report::without_fingerprint(path, state)),
                None => self.text(&path)?.and_then(|text| Report::parse(path, &text)),
            })
        };
        once(&facts.report, find).map(Option::as_ref)
    }

    /// The tests and gaps of the UAT.md or VERIFICATION.md at `path`.
    pub(crate) fn uat_report(&self, path: &str) -> Result<Arc<UatReport>, FileError> {
        if let Some(known) = locked(&self.read.acceptances).get(path) {
            return Ok(Arc::clone(known));
        }
        let report = Arc::new(UatReport::parse(&self.text(path)?.unwrap_or_default()));
        locked(&self.read.acceptances).insert(path.to_owned(), Arc::clone(&report));
        Ok(report)
    }

    /// As [`Self::current_plans`], each with its text.
    pub(crate) fn plan_texts(&self, folder: &PhaseFolder) -> Result<Vec<(String, Arc<str>)>, FileError> {
        let plans = self.current_plans(folder)?.into_iter();
        plans.map(|plan| Ok((plan.clone(), self.text(&folder.join(&plan))?.unwrap_or_default()))).collect()
    }

    /// Folders of archived phases with their label: milestones newest first, then closed workstreams.
    pub(crate) fn archives(&self) -> Result<Vec<(String, String)>, FileError> {
        let root = self.layout.milestones_folder();
        let names = self.folder_names(&root)?;
        let mut versions: Vec<&str> =
            names.iter().filter_map(|name| name.strip_suffix("-phases")).filter(|name| name.starts_with('v')).collect();
        versions.sort_by(|left, right| compare_versions(right, left));
        let mut archives: Vec<(String, String)> =
            versions.into_iter().map(|version| (format!("{root}/{version}-phases"), version.to_owned())).collect();
        for name in names.iter().rev().filter(|name| name.starts_with("ws-")) {
            let folder = format!("{root}/{name}/phases");
            if self.files.list(&folder)?.is_some() {
                archives.push((folder, name.clone()));
            }
        }
        Ok(archives)
    }

    /// The folders of phases in `folder`, in the order of phases.
    pub(crate) fn read_folders(&self, folder: &str, archived: Option<&str>) -> Result<Vec<PhaseFolder>, FileError> {
        let mut folders = Vec::new();
        for name in self.folder_names(folder)? {
            folders.extend(self.folder_at(&format!("{folder}/{name}"), archived)?);
        }
        folders.sort_by(|left, right| {
            phase::compare(left.token(), right.token()).then_with(|| left.name.cmp(&right.name))
        });
        Ok(folders)
    }

    /// The folder at `path`; `None` if it does not exist.
    pub(crate) fn folder_at(&self, path: &str, archived: Option<&str>) -> Result<Option<PhaseFolder>, FileError> {
        let Some(entries) = self.files.list(path)? else { return Ok(None) };
        let name = path.rsplit('/').next().unwrap_or(path);
        if phase::folder_token(name).is_some() {
            refuse_acting_name(name, || path.to_owned())?;
        }
        let mut files = Vec::new();
        for entry in entries {
            if entry.is_folder && entry.name == "plans" {
                files.extend(self.names(&format!("{path}/plans"))?.into_iter().map(|name| format!("plans/{name}")));
            } else if !entry.is_folder {
                files.push(entry.name);
            }
        }
        for file in files.iter().filter(|file| acting_letter(file).is_some() && is_artifact(file)) {
            refuse_acting_name(file, || format!("{path}/{file}"))?;
        }
        let mut folder = PhaseFolder::new(path, archived, files);
        if let Some(first) = folder.first_number() {
            let listed = self.listed_phases()?;
            if listed.find(folder.token()).is_none() && listed.find(first).is_some() {
                folder.shorten_token();
            }
        }
        Ok(Some(folder))
    }

    /// Whether the roadmap names the phase anywhere.
    pub(crate) fn is_listed(&self, phase: &str) -> Result<bool, FileError> {
        Ok(self.listed_phases()?.find(phase).is_some())
    }

    /// The phases that the roadmap names anywhere.
    fn listed_phases(&self) -> Result<&PhaseIndex, FileError> {
        let find = || Ok(PhaseIndex::new(self.roadmap_or_empty()?.named_phases().enumerate()));
        once(&self.found.listed, find)
    }
}

/// A phase named by a person or a workflow.
#[derive(Clone, Debug)]
pub(crate) struct NamedPhase {
    /// As typed; for a folder, the number in its name.
    pub(crate) number: String,
    /// `None` for a phase that the roadmap lists but that has not begun.
    pub(crate) folder: Option<PhaseFolder>,
}

/// The result of looking up a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseLookup {
    pub(crate) folder: Option<PhaseFolder>,
    /// The paths of several folders that match equally well; `folder` is then `None`.
    pub(crate) ambiguous: Vec<String>,
    /// The folders that were searched.
    pub(crate) searched: Vec<String>,
}

impl PhaseLookup {
    fn searched(mut self, searched: Vec<String>) -> Self {
        self.searched = searched;
        self
    }
}

/// The folder of `id`, which may be the folder's own name; a bare integer also finds a folder that only starts with it.
fn pick<'folder>(folders: impl Iterator<Item = &'folder PhaseFolder> + Clone, id: &PhaseId) -> Option<PhaseLookup> {
    let exact: Vec<&PhaseFolder> = match folders.clone().find(|folder| folder.name == id.as_str()) {
        Some(named) => vec![named],
        None => folders.clone().filter(|folder| folder.is_of(id)).collect(),
    };
    let bare = id.as_str().bytes().all(|byte| byte.is_ascii_digit());
    let matches = if exact.is_empty() && bare && !id.as_str().is_empty() {
        let first = |folder: &PhaseFolder| folder.number_and_name().0.parse().ok();
        folders.filter(|folder| first(folder) == id.integer()).collect()
    } else {
        exact
    };
    match matches.as_slice() {
        [] => None,
        [one] => Some(PhaseLookup { folder: Some((*one).clone()), ambiguous: Vec::new(), searched: Vec::new() }),
        several => Some(PhaseLookup {
            folder: None,
            ambiguous: several.iter().map(|folder| folder.path.clone()).collect(),
            searched: Vec::new(),
        }),
    }
}

/// Refuses the name of a folder or document that a shell would interpret: agents put these paths into commands, and a
/// repository can contain any name.
fn refuse_acting_name(name: &str, path: impl Fn() -> String) -> Result<(), FileError> {
    let Some(letter) = acting_letter(name) else { return Ok(()) };
    let reason = format!("its name has the character `{}`, on which a shell would act", letter.escape_debug());
    Err(FileError { path: path(), reason, hint: Some("rename it".to_owned()) })
}

/// Most plans do not contain the word at all, which is checked without parsing: every plan of a project is asked.
fn is_superseded(plan: &str) -> bool {
    const STATUS: &str = "superseded";
    plan.contains(STATUS) && FrontMatter::parse(plan).and_then(|front| front.text("status")).as_deref() == Some(STATUS)
}

/// The `milestone:` in STATE.md's front matter.
pub(crate) fn state_version(state: &str) -> Option<String> {
    FrontMatter::parse(state)?
        .text("milestone")
        .map(|version| version.trim().to_owned())
        .filter(|version| !version.is_empty() && version != "null")
}

fn compare_versions(left: &str, right: &str) -> std::cmp::Ordering {
    let numbers = |version: &str| {
        version.trim_start_matches('v').split('.').map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
    };
    numbers(left).cmp(&numbers(right)).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Explain;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    #[test]
    fn threads_share_one_view_and_each_file_is_read_once() {
        #[derive(Debug)]
        struct Counted(MemoryFiles, std::sync::atomic::AtomicUsize);
        impl Files for Counted {
            fn read(&self, path: &str) -> Result<Option<String>, FileError> {
                self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                self.0.read(path)
            }
            fn list(&self, path: &str) -> Result<Option<Vec<super::super::files::FolderEntry>>, FileError> {
                self.0.list(path)
            }
            fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
                self.0.changed_at(paths)
            }
            fn touched_at(&self, path: &str) -> Option<i64> {
                self.0.touched_at(path)
            }
            fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
                self.0.digest(path)
            }
        }
        let files = MemoryFiles::new([
            (".planning/ROADMAP.md", "### Phase 1: A\n### Phase 2: B\n"),
            (".planning/STATE.md", "---\nmilestone: v1.0\n---\n"),
            (".planning/phases/01-a/01-01-PLAN.md", ""),
            (".planning/phases/02-b/02-01-PLAN.md", ""),
        ]);
        let counted = std::sync::Arc::new(Counted(files, 0.into()));
        let view = ProjectView { files: Arc::clone(&counted) as Arc<dyn Files>, ..ProjectView::of([]) };
        let standings = std::thread::scope(|scope| {
            let ask = || (view.milestone_folders().unwrap(), view.clone().milestone().unwrap());
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (folders, milestone) in &standings {
            assert_eq!(folders.len(), 2);
            assert_eq!(format!("{milestone:?}"), format!("{:?}", standings[0].1));
        }
        assert_eq!(counted.1.load(std::sync::atomic::Ordering::Relaxed), 2, "ROADMAP.md and STATE.md");
    }

    #[test]
    fn the_plans_of_a_phase_are_read_once_however_often_they_are_asked_for() {
        let view = view(&[
            (".planning/phases/01-a/01-01-PLAN.md", ""),
            (".planning/phases/01-a/01-02-PLAN.md", "---\nstatus: superseded\n---\n"),
            (".planning/phases/01-a/01-03-PLAN.md", ""),
            (".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n"),
            (".planning/phases/01-a/01-03-SUMMARY.md", "---\nstatus: halted\n---\n"),
        ]);
        let folder = view.phase_folders().unwrap()[0].clone();
        for _ in 0..2 {
            assert_eq!(view.current_plans(&folder).unwrap(), ["01-01-PLAN.md", "01-03-PLAN.md"]);
            assert_eq!(view.open_plans(&folder).unwrap(), ["01-03-PLAN.md"]);
            assert!(view.plans_to_do(&folder).unwrap().is_empty());
        }
        let mut edits = Edits::default();
        let blocked = "---\nstatus: blocked\n---\n".to_owned();
        edits.write(&view, ".planning/phases/01-a/01-01-SUMMARY.md", blocked).unwrap();
        let after = view.after(&edits);
        assert_eq!(after.plans_to_do(&folder).unwrap(), ["01-01-PLAN.md"]);
    }

    #[test]
    fn shelves_are_not_folders_of_a_milestone_without_phases() {
        let view = view(&[
            (".planning/ROADMAP.md", "# R\n"),
            (".planning/phases/00-setup/x.md", ""),
            (".planning/phases/01-a/x.md", ""),
            (".planning/phases/999.1-later/x.md", ""),
        ]);
        let names: Vec<String> = view.milestone_folders().unwrap().into_iter().map(|folder| folder.name).collect();
        assert_eq!(names, ["01-a"]);
    }

    #[test]
    fn open_phases_are_found_before_archived_ones() {
        let view = view(&[
            (".planning/phases/02-now/02-01-PLAN.md", ""),
            (".planning/milestones/v1.0-phases/02-old/02-01-PLAN.md", ""),
            (".planning/milestones/v1.10-phases/01-new/01-01-PLAN.md", ""),
            (".planning/milestones/v1.9-phases/01-older/01-01-PLAN.md", ""),
        ]);
        assert_eq!(view.find_phase("2").unwrap().folder.unwrap().name, "02-now");
        let archived = view.find_phase("01").unwrap().folder.unwrap();
        assert_eq!((archived.name.as_str(), archived.archived.as_deref()), ("01-new", Some("v1.10")));
        let missing = view.find_phase("7").unwrap();
        assert_eq!(missing.searched.len(), 4);
    }

    #[test]
    fn a_number_after_a_phase_is_its_name_if_the_roadmap_only_has_the_phase() {
        let token = |roadmap: &str| {
            let files = [(".planning/ROADMAP.md", roadmap), (".planning/phases/04-80-percent/04-01-PLAN.md", "")];
            let view = ProjectView::of(files);
            let folders = view.phase_folders().unwrap();
            (folders[0].token().to_owned(), folders[0].slug().to_owned())
        };
        let of = |token: &str, slug: &str| (token.to_owned(), slug.to_owned());
        assert_eq!(token("### Phase 4: 80 percent\n"), of("04", "80-percent"));
        assert_eq!(token("- [ ] **Phase 4: 80 percent**\n"), of("04", "80-percent"));
        assert_eq!(token("### Phase 4: A\n### Phase 4-80: Percent\n"), of("04-80", "percent"));
        assert_eq!(token("# Nothing\n"), of("04-80", "percent"));
    }

    #[test]
    fn a_name_that_a_shell_would_interpret_is_refused() {
        let read = |path: &str| view(&[(path, "")]).phase_folders().map(|folders| folders.len());
        for path in [
            ".planning/phases/01-$(id)/01-01-PLAN.md",
            ".planning/phases/01-a;b/x.md",
            ".planning/phases/01-a/01-01-`id`-PLAN.md",
            ".planning/phases/01-a/01-x'y-CONTEXT.md",
            ".planning/phases/01-a/01-\u{9b}-SUMMARY.md",
        ] {
            let error = read(path).unwrap_err();
            assert_eq!(error.hint().as_deref(), Some("rename it"), "{error}");
        }
        for path in [
            ".planning/phases/01-größe und mehr/01-01-PLAN.md",
            ".planning/phases/01-a/a person's notes.md",
            ".planning/phases/what's old/x.md",
        ] {
            assert_eq!(read(path), Ok(1), "{path}");
        }
    }

    #[test]
    fn two_folders_of_one_phase_are_ambiguous() {
        let view = view(&[(".planning/phases/01-a/x.md", ""), (".planning/phases/01-b/x.md", "")]);
        let lookup = view.find_phase("1").unwrap();
        assert!(lookup.folder.is_none());
        assert_eq!(lookup.ambiguous, [".planning/phases/01-a", ".planning/phases/01-b"]);
    }

    #[test]
    fn a_bare_integer_finds_a_prefixed_folder() {
        let view = view(&[(".planning/phases/02-01-prefixed/x.md", "")]);
        assert!(view.find_phase("2").unwrap().folder.is_some());
        assert!(view.find_phase("2-01").unwrap().folder.is_some());
        assert!(view.find_phase("2.1").unwrap().folder.is_none());
    }
}
