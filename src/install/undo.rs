//! Takes back a call from the history: an install, an update, an uninstall, or an earlier undo.
//!
//! A file that is as the call left it gets the bytes, and if it was removed the mode, that it had before. What was edited
//! since is kept: in settings, our entries are removed and those of before are made, and a person's stay; an edited file that we
//! installed is saved to `gsd-local-patches/` first. A call cannot be taken back before later calls that changed the same
//! installs: each manifest must be as it left it.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{self, Ledger, Manifest};
use super::record::{CallRecord, CallVerb};
use super::shared::{self, MadeEdit, SharedError};
use super::situation::{WRITTEN, is_free, names};
use super::target::SET_ASIDE;
use super::{InstallError, Installer, Target};
use crate::disk::history::{History, HistoryError, Keeping, Kept, KeptFile, TransactionSummary};
use crate::disk::{
    self, AbsolutePath, Access, Change, ChangeSet, Digest, Disk, DiskError, Found, FoundFile, Keep, Owner, RealPaths,
    Snapshot,
};
use crate::failure::{Explain, Reason};
use crate::runtime::{Registry, Scope};
use crate::text::edit::FileFormat;
use crate::text::merge;
use crate::text::shell::typed;
use crate::world::World;

/// A call in the history.
#[derive(Clone, Debug)]
pub(crate) struct PastCall {
    pub(crate) number: u64,
    pub(crate) at: String,
    pub(crate) record: CallRecord,
    /// How many files it wrote or removed.
    pub(crate) files: usize,
    /// Whether what it replaced is kept.
    pub(crate) is_whole: bool,
    /// The number of the call that took it back, unless that was taken back too.
    pub(crate) taken_back_by: Option<u64>,
}

/// Why a call is not taken back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UndoError {
    #[error("no call in the history can be {done}")]
    Nothing { done: &'static str },
    #[error("the history has no call {number}")]
    Unknown { number: u64 },
    #[error("call {number} was already taken back by call {by}")]
    Already { number: u64, by: u64 },
    #[error("call {number} has nothing that can be made again")]
    InEffect { number: u64 },
    #[error("call {by} changed the same install after call {number}")]
    Later { number: u64, by: u64 },
    #[error("`{path}` is not as call {number} left it")]
    Changed { number: u64, path: AbsolutePath },
    #[error("a write to `{path}` was interrupted")]
    Interrupted { path: AbsolutePath },
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Install(#[from] InstallError),
}

impl From<DiskError> for UndoError {
    fn from(error: DiskError) -> Self {
        Self::Install(error.into())
    }
}

impl Explain for UndoError {
    fn reason(&self) -> Reason {
        match self {
            Self::Install(error) => error.reason(),
            _ => Reason::Usage,
        }
    }

    fn exit_code(&self) -> Option<u8> {
        match self {
            Self::Install(error) => error.exit_code(),
            _ => Some(1),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Install(error) => error.hint(),
            Self::Later { by, .. } => {
                Some(format!("take back the later call first: `{}`", typed!("gsd-tools undo {}", by)))
            }
            Self::Changed { .. } => {
                Some("another program changed it; `gsd-tools status` shows what is installed".to_owned())
            }
            Self::Interrupted { .. } => {
                Some("finish or undo it with `gsd-tools recover`, then run the command again".to_owned())
            }
            Self::Already { by, .. } => Some(format!("`{}` makes it again", typed!("gsd-tools redo {}", by))),
            Self::History(HistoryError::Disk(error)) => error.hint(),
            Self::Nothing { .. } | Self::Unknown { .. } | Self::InEffect { .. } | Self::History(_) => {
                Some("`gsd-tools history` lists the calls".to_owned())
            }
        }
    }
}

/// What an undo does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UndoAct {
    /// It gets the contents that it had before the call.
    Restore,
    /// The call made it, and it is removed.
    Remove,
    /// It was edited since: the edits stay, and only the changes of the call are taken back.
    Merge,
    /// An installed file that was edited since is saved to `to` before it is restored or removed.
    SetAside { to: AbsolutePath },
    /// It was edited or removed since, and stays as it is.
    Keep,
}

/// What taking back a call does, decided before anything is written.
#[derive(Debug)]
pub(crate) struct UndoPlan {
    pub(crate) call: PastCall,
    /// The files of hosts and projects, by path; not those in the user's state folder.
    pub(crate) files: Vec<(AbsolutePath, UndoAct)>,
    pub(crate) changes: ChangeSet,
    roots: Vec<AbsolutePath>,
}

/// The calls in the history, oldest first, and why others cannot be read.
pub(crate) fn past_calls(world: &World) -> Result<(Vec<PastCall>, Vec<HistoryError>), UndoError> {
    let history = History::in_state(&super::state(world)?);
    let read = |summary: Result<TransactionSummary, HistoryError>| {
        let TransactionSummary { number, what, at, files, is_whole } = summary?;
        let record = serde_json::from_value(what);
        let record = record.map_err(|error| HistoryError::Broken { number, reason: error.to_string() })?;
        Ok(PastCall { number, at, record, files, is_whole, taken_back_by: None })
    };
    let (mut calls, mut unread) = (Vec::new(), Vec::new());
    for summary in history.list()? {
        match read(summary) {
            Ok(call) => calls.push(call),
            Err(error) => unread.push(error),
        }
    }
    let mut taken_back = BTreeMap::new();
    for call in calls.iter_mut().rev() {
        call.taken_back_by = taken_back.get(&call.number).copied();
        if let (Some(other), None) = (call.record.takes_back, call.taken_back_by) {
            taken_back.insert(other, call.number);
        }
    }
    Ok((calls, unread))
}

/// The call that `undo` or `redo` means, with or without a number.
fn chosen(calls: &[PastCall], verb: CallVerb, number: Option<u64>) -> Result<PastCall, UndoError> {
    let takes_back_undo = verb == CallVerb::Redo;
    let Some(number) = number else {
        let is_meant = |call: &&PastCall| match (call.record.verb, takes_back_undo) {
            (CallVerb::Install | CallVerb::Uninstall | CallVerb::Update | CallVerb::Fix, false)
            | (CallVerb::Undo, true) => call.taken_back_by.is_none(),
            _ => false,
        };
        let done = if takes_back_undo { "made again" } else { "taken back" };
        return calls.iter().rev().find(is_meant).cloned().ok_or(UndoError::Nothing { done });
    };
    let find = |number| calls.iter().find(|call| call.number == number).ok_or(UndoError::Unknown { number });
    let call = find(number)?;
    let meant = match call.taken_back_by {
        // The call itself names what is made again.
        Some(by) if takes_back_undo => find(by)?,
        Some(by) => return Err(UndoError::Already { number, by }),
        None => call,
    };
    if takes_back_undo && meant.record.verb != CallVerb::Undo {
        return Err(UndoError::InEffect { number });
    }
    Ok(meant.clone())
}

/// The folders in which a write of an install was interrupted: those of each host at its usual places, in this project
/// too, and those of all recorded calls. A call that died before it was recorded left something only in the first.
pub(crate) fn unfinished_anywhere(
    registry: &Registry,
    project: &AbsolutePath,
    world: &World,
) -> Result<Vec<AbsolutePath>, InstallError> {
    let mut folders = super::status::unfinished_in(History::in_state(&super::state(world)?).roots()?)?;
    folders.extend(super::unfinished_in_state(world)?);
    for descriptor in registry.all()? {
        for scope in [Scope::Global, Scope::Local] {
            // A place that cannot be resolved contains none of our files.
            if let Ok(target) = Target::resolve(descriptor.clone(), scope, project, None, world) {
                folders.extend(super::unfinished(&target)?);
            }
        }
    }
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// Takes calls that died after their commit into the history, and drops those that died before.
pub(crate) fn settle_history(world: &World, disk: &Disk) -> Result<(), InstallError> {
    Ok(History::in_state(&super::state(world)?).settle_pending(disk)?)
}

impl Installer<'_> {
    /// Finishes what calls that died left in the folders of hosts and of past installs, so that the history has each call
    /// that was committed. Returns those folders.
    pub(crate) fn settle_past(&self, project: &AbsolutePath) -> Result<Vec<AbsolutePath>, UndoError> {
        let settled = self.settle_in(unfinished_anywhere(self.registry, project, self.world)?)?;
        settle_history(self.world, self.disk)?;
        Ok(settled)
    }

    /// Plans to take back the call with this number; without one, `undo` means the last install, update or uninstall,
    /// and `redo` the last undo.
    pub(crate) fn plan_undo(&self, verb: CallVerb, number: Option<u64>) -> Result<UndoPlan, UndoError> {
        let (calls, unread) = past_calls(self.world)?;
        let is_it = |error: &HistoryError| matches!(error, HistoryError::Broken { number: broken, .. } if Some(*broken) == number);
        if let Some(broken) = unread.into_iter().find(is_it) {
            return Err(broken.into());
        }
        let call = chosen(&calls, verb, number)?;
        let plan = self.look_back(&calls, call)?;
        disk::check(&plan.roots, &plan.changes)?;
        Ok(plan)
    }

    /// Takes the call back, or changes nothing. Returns the applied plan: `plan`, or a new one if a file has changed.
    pub(crate) fn undo(&self, plan: UndoPlan) -> Result<UndoPlan, UndoError> {
        let history = History::in_state(&super::state(self.world)?);
        let (roots, call) = (plan.roots.clone(), plan.call.clone());
        let what = call.record.taken_back(call.number).to_value();
        let mut shown = Some(plan);
        loop {
            let is_shown = shown.is_some();
            let keep = Keep { history: &history, what: &what };
            let outcome = self.disk.transact_kept(&roots, keep, |hold, changes| {
                let plan = match shown.take().filter(|_| hold.recovered().is_empty()) {
                    Some(plan) => plan,
                    None => self.look_back(&past_calls(self.world)?.0, call.clone())?,
                };
                changes.clone_from(&plan.changes);
                Ok(plan)
            });
            match outcome {
                Err(UndoError::Install(InstallError::Disk(DiskError::Changed { .. }))) if is_shown => {}
                outcome => {
                    let (plan, keeping) = outcome?;
                    if matches!(keeping, Keeping::Nothing) {
                        // Nothing was left to change, and yet the call is taken back now.
                        history.note(self.disk, plan.call.number, &what)?;
                    }
                    return Ok(plan);
                }
            }
        }
    }

    fn look_back(&self, calls: &[PastCall], call: PastCall) -> Result<UndoPlan, UndoError> {
        let state = super::state(self.world)?;
        let kept = History::in_state(&state).read(call.number)?;
        let mut undo = Undo { call: &call, state, kept: &kept, snapshot: Snapshot::default(), files: Vec::new() };
        undo.refuses_later(calls)?;
        let parts = undo.parts()?;
        let changes = kept.take_back(|file, changes| undo.change(file, &parts, changes))?;
        undo.stays_in_projects(&changes)?;
        for file in kept.files().filter(KeptFile::is_as_left) {
            let act = if file.before.is_some() { UndoAct::Restore } else { UndoAct::Remove };
            undo.note(file.path, act);
        }
        let mut files = undo.files;
        files.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(UndoPlan { files, changes, roots: kept.roots().cloned().collect(), call })
    }
}

/// One undo while it is planned.
struct Undo<'a> {
    call: &'a PastCall,
    state: AbsolutePath,
    kept: &'a Kept,
    snapshot: Snapshot,
    files: Vec<(AbsolutePath, UndoAct)>,
}

/// Our part of a settings file, as the call left it and as it was before.
#[derive(Default)]
struct SettingsPart {
    now: Option<Ledger>,
    before: Option<Ledger>,
    /// Edits that installs outside of the call made too.
    others: Vec<MadeEdit>,
}

type SettingsParts = BTreeMap<AbsolutePath, SettingsPart>;

impl Undo<'_> {
    fn manifests(&self) -> impl Iterator<Item = KeptFile<'_>> {
        self.kept.files().filter(|file| file.path.name() == manifest::FILE)
    }

    /// Refuses a call whose installs were changed by a later one that is in effect, whatever that one changed.
    fn refuses_later(&self, calls: &[PastCall]) -> Result<(), UndoError> {
        let number = self.call.number;
        let of = |call: &PastCall| -> BTreeSet<AbsolutePath> {
            call.record.installs.iter().filter_map(super::RecordedInstall::root).collect()
        };
        let (own, verbs) = (of(self.call), [CallVerb::Undo, CallVerb::Redo]);
        let mut later = calls.iter().rev().filter(|call| call.number > number && call.taken_back_by.is_none());
        if let Some(later) = later.find(|call| !verbs.contains(&call.record.verb) && !own.is_disjoint(&of(call))) {
            return Err(UndoError::Later { number, by: later.number });
        }
        let Some(file) = self.manifests().find(|file| !file.is_as_left()) else { return Ok(()) };
        let unfinished = super::status::unfinished_in(self.kept.roots().cloned().collect())?;
        if let Some(path) = unfinished.into_iter().next() {
            return Err(UndoError::Interrupted { path });
        }
        Err(UndoError::Changed { number, path: file.path.clone() })
    }

    /// What the manifests list about settings, of the installs that the call changed.
    fn parts(&self) -> Result<SettingsParts, UndoError> {
        let mut parts = SettingsParts::new();
        for file in self.manifests() {
            let Some(folder) = file.path.parent() else { continue };
            let parse = |text: Option<&str>| {
                Manifest::parse(text).map_err(|source| InstallError::Manifest { path: file.path.clone(), source })
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let now = parse(disk::read_text(file.path)?.as_deref())?;
            let before = parse(file.before.map(text).as_deref())?;
            let projects: Vec<AbsolutePath> = self.projects(&folder);
            let settings = |manifest: &Manifest, key: &str| -> Vec<(AbsolutePath, Ledger)> {
                let Some(section) = manifest.installs.get(key) else { return Vec::new() };
                let below = |base: &AbsolutePath, shared: &BTreeMap<_, Ledger>| -> Vec<_> {
                    shared.iter().map(|(path, ledger)| (base.join(path), ledger.clone())).collect()
                };
                let mut found = below(&folder, &section.holdings.shared);
                found.extend(projects.iter().flat_map(|project| below(project, &section.project.shared)));
                found
            };
            let keys: BTreeSet<&String> = now.installs.keys().chain(before.installs.keys()).collect();
            for key in keys {
                let is_of_call = now.installs.get(key) != before.installs.get(key);
                for (path, ledger) in settings(&now, key) {
                    let part = parts.entry(path).or_default();
                    if is_of_call {
                        part.now = Some(ledger);
                    } else {
                        part.others.extend(ledger.edits);
                    }
                }
                for (path, ledger) in settings(&before, key).into_iter().filter(|_| is_of_call) {
                    parts.entry(path).or_default().before = Some(ledger);
                }
            }
        }
        Ok(parts)
    }

    /// The projects of the call's installs in this folder.
    fn projects(&self, folder: &AbsolutePath) -> Vec<AbsolutePath> {
        let installs = self.call.record.installs.iter();
        let here = installs.filter(|install| install.root().as_ref() == Some(folder));
        here.filter_map(super::RecordedInstall::project).collect()
    }

    /// Adds the changes of a file that is not as the call left it.
    fn change(&mut self, file: &KeptFile<'_>, parts: &SettingsParts, changes: &mut ChangeSet) -> Result<(), UndoError> {
        let found = self.snapshot.look(file.path)?.clone();
        let found = match found {
            Found::File(found) => Some(found),
            Found::Absent => None,
            Found::Folder | Found::Other => return Err(InstallError::InTheWay { path: file.path.clone() }.into()),
        };
        let digest = found.as_ref().map(|found| found.digest);
        if digest == file.before.map(Digest::of) {
            return Ok(());
        }
        if file.path.is_within(&self.state) {
            changes.extend(file.restored(digest));
            return Ok(());
        }
        match (parts.get(file.path), found) {
            (Some(_), None) => self.note(file.path, UndoAct::Keep),
            (Some(part), Some(found)) => self.merge(file, part, &found, changes)?,
            // A saved version that the person edited is already where edits are saved.
            (None, Some(_)) if is_saved(file.path) => self.note(file.path, UndoAct::Keep),
            (None, Some(found)) => self.replace(file, &found, changes)?,
            (None, None) => {
                changes.extend(file.restored(None));
                self.note(file.path, UndoAct::Restore);
            }
        }
        Ok(())
    }

    /// A file that only we owned, which was edited since.
    fn replace(&mut self, file: &KeptFile<'_>, found: &FoundFile, changes: &mut ChangeSet) -> Result<(), UndoError> {
        if let Some(text) = self.with_edits(file, found) {
            let (path, bytes, before) = (file.path.clone(), text.into(), Some(found.digest));
            changes.push(Change::WriteFile { path, bytes, access: Access::Usual, owner: Owner::Program, before });
            self.note(file.path, UndoAct::Merge);
            return Ok(());
        }
        changes.extend(file.restored(Some(found.digest)));
        let act = match &found.bytes {
            // The bytes of a program were not read: another version of it, not a person's work.
            None => UndoAct::Restore,
            Some(bytes) => UndoAct::SetAside { to: self.set_aside(file.path, bytes, ("", found.access), changes)? },
        };
        self.note(file.path, act);
        Ok(())
    }

    /// The text of an edited file with the change of the call taken back; `None` if both changed the same lines, or what
    /// the call wrote is not known.
    fn with_edits(&self, file: &KeptFile<'_>, found: &FoundFile) -> Option<String> {
        let written = self.kept.files().filter(|kept| kept.path.name() == WRITTEN && kept.path.is_within(&self.state));
        let mut base = written.filter_map(|written| {
            let texts: BTreeMap<String, String> =
                serde_json::from_slice(&disk::read_bytes(written.path).ok()??).ok()?;
            texts.get(&file.after?.to_string()).cloned()
        });
        let edited = std::str::from_utf8(found.bytes.as_deref()?).ok()?;
        merge::merged(&base.next()?, edited, std::str::from_utf8(file.before?).ok()?)
    }

    /// Saves bytes where no host reads them; returns the place.
    fn set_aside(
        &mut self,
        path: &AbsolutePath,
        bytes: &[u8],
        (ending, access): (&str, Access),
        changes: &mut ChangeSet,
    ) -> Result<AbsolutePath, UndoError> {
        let folders = self.manifests().filter_map(|file| file.path.parent());
        let base = folders.filter(|folder| path.is_within(folder)).max();
        let first = if let Some((base, below)) = base.as_ref().and_then(|base| Some((base, path.relative_to(base)?))) {
            base.resolve(SET_ASIDE).join(&below)
        } else {
            // A file of the project itself: its host's folder has it.
            let root = self.call.record.installs.iter().find_map(super::RecordedInstall::root);
            let root = root.or_else(|| path.parent()).unwrap_or_else(|| path.clone());
            root.resolve(SET_ASIDE).resolve("project").resolve(path.name())
        };
        let first = first.beside(&format!("{}{ending}", first.name()));
        let digest = Digest::of(bytes);
        for to in names(&first, digest) {
            let is_planned = changes.iter().any(|change| *change.path() == to);
            let found = self.snapshot.look(&to)?;
            if !is_planned && is_free(found, digest) {
                if *found == Found::Absent {
                    let (bytes, owner) = (bytes.into(), Owner::User);
                    changes.push(Change::WriteFile { path: to.clone(), bytes, access, owner, before: None });
                }
                return Ok(to);
            }
        }
        Ok(first)
    }

    /// Takes our part out of settings that were edited since, and puts in what was there before: our earlier part, or
    /// that of a program that we had replaced.
    fn merge(
        &mut self,
        file: &KeptFile<'_>,
        part: &SettingsPart,
        found: &FoundFile,
        changes: &mut ChangeSet,
    ) -> Result<(), UndoError> {
        let path = file.path;
        let refused = |source: SharedError| InstallError::shared(path, source);
        let text = InstallError::text(path, found.bytes.as_deref().unwrap_or_default())?.to_owned();
        let Some(format) = part.now.as_ref().or(part.before.as_ref()).map(|ledger| ledger.format) else {
            return Ok(());
        };
        let is_ours_alone = |made: &&MadeEdit| !part.others.iter().any(|other| other.edit == made.edit);
        let ours = part.now.iter().flat_map(|ledger| &ledger.edits).filter(is_ours_alone);
        let ours: Vec<&MadeEdit> = ours.collect();
        let mut left = shared::take_back(format, &text, ours.into_iter()).map_err(refused)?;
        match &part.before {
            Some(before) => {
                let edits: Vec<_> = before.edits.iter().map(|made| made.edit.clone()).collect();
                left = shared::make(format, &left, &edits).map_err(refused)?.0;
            }
            None => {
                if let Some(with) = self.with_replaced(file, part, format, &left) {
                    left = with;
                } else if let Some(before) = file.before.map(<[u8]>::to_vec) {
                    self.set_aside(path, &before, (".before", found.access), changes)?;
                }
            }
        }
        let created = part.now.as_ref().is_some_and(|ledger| ledger.created) && part.before.is_none();
        if created && shared::is_blank(format, &left) {
            changes.remove(path.clone(), found.digest);
            self.note(path, UndoAct::Remove);
            return Ok(());
        }
        if left != text {
            changes.write(path.clone(), left, Some(found.digest));
        }
        self.note(path, UndoAct::Merge);
        Ok(())
    }

    /// The settings with what another program had there before the call; `None` if that conflicts with an edit.
    fn with_replaced(
        &self,
        file: &KeptFile<'_>,
        part: &SettingsPart,
        format: FileFormat,
        left: &str,
    ) -> Option<String> {
        let Some(before) = file.before else { return Some(left.to_owned()) };
        let before = std::str::from_utf8(before).ok()?;
        let cleaned = part.now.as_ref().and_then(|ledger| self.image(ledger.before?));
        // Without such a program, the call began from the text before.
        let base = cleaned.unwrap_or_else(|| before.to_owned());
        let merged = merge::merged(&base, left, before)?;
        shared::parses(format, &merged).then_some(merged)
    }

    /// A text that the call kept in the state folder.
    fn image(&self, digest: Digest) -> Option<String> {
        let name = digest.to_string();
        let file = self.kept.files().find(|file| file.path.is_within(&self.state) && file.path.name() == name)?;
        let text = disk::read_text(file.path).ok().flatten()?;
        (Digest::of(text.as_bytes()) == digest).then_some(text)
    }

    /// Nothing is written through a link that leads out of a project.
    fn stays_in_projects(&self, changes: &ChangeSet) -> Result<(), UndoError> {
        let locals = self.call.record.installs.iter().filter(|install| install.scope == Scope::Local);
        let mut places = RealPaths::default();
        for project in locals.filter_map(super::RecordedInstall::project) {
            for change in changes.iter().filter(|change| change.path().is_within(&project)) {
                places.stay_within(change.path(), &project)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, path: &AbsolutePath, act: UndoAct) {
        if !path.is_within(&self.state) && path.name() != manifest::FILE {
            self.files.push((path.clone(), act));
        }
    }
}

/// True for a file in a folder with edited files.
fn is_saved(path: &AbsolutePath) -> bool {
    path.as_path().iter().any(|segment| segment == SET_ASIDE)
}
