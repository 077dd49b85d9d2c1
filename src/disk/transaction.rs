//! Changes several files from one known state to another: all of them, or none.
//!
//! Checks everything first; then writes the new bytes to temporary files, writes the journal, puts each file in place
//! with one rename, and commits with one more. An error or a panic on the way undoes what was done; a process that dies
//! leaves the journal to [`super::recover`].

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use super::act::{digest_of, make_folder, missing, move_over, remove_folder_if_empty};
use super::atomic::RealPaths;
use super::history::{History, Keeping, PendingRecord};
use super::journal::{self, Act, Journal, JournalEntry, JournalPath, Root};
use super::{
    AbsolutePath, Access, Change, ChangeSet, Digest, Disk, DiskError, FileBytes, Hold, Owner, atomic, present, recover,
};

impl Hold<'_> {
    /// Makes all the changes, or none. Every path must be inside one of the locked trees; a link that leads one of our
    /// files out of them is refused before anything is written.
    #[cfg(test)]
    pub(super) fn apply(&self, changes: &ChangeSet) -> Result<(), DiskError> {
        apply_then(self, changes, || ())
    }

    /// Like [`Self::apply`], and keeps what is needed to undo the changes. The changes are made even if they cannot be
    /// kept.
    #[cfg(test)]
    pub(super) fn apply_kept(&self, changes: &ChangeSet, keep: Keep<'_>) -> Result<Keeping, DiskError> {
        apply(self, changes, || (), Some(keep))
    }
}

impl Disk {
    /// Locks the trees, lets `decide` look at them and choose the changes, and makes the changes: all of them, or none.
    /// Changes that must happen together, in however many trees, belong in one call of this.
    pub(crate) fn transact<P: AsRef<Path>, R, E: From<DiskError>>(
        &self,
        trees: impl IntoIterator<Item = P>,
        decide: impl FnOnce(&mut Hold<'_>, &mut ChangeSet) -> Result<R, E>,
    ) -> Result<R, E> {
        Ok(self.decided(trees, None, decide)?.0)
    }

    /// Like [`Self::transact`], and keeps what is needed to undo the changes.
    pub(crate) fn transact_kept<P: AsRef<Path>, R, E: From<DiskError>>(
        &self,
        trees: impl IntoIterator<Item = P>,
        keep: Keep<'_>,
        decide: impl FnOnce(&mut Hold<'_>, &mut ChangeSet) -> Result<R, E>,
    ) -> Result<(R, Keeping), E> {
        self.decided(trees, Some(keep), decide)
    }

    fn decided<P: AsRef<Path>, R, E: From<DiskError>>(
        &self,
        trees: impl IntoIterator<Item = P>,
        keep: Option<Keep<'_>>,
        decide: impl FnOnce(&mut Hold<'_>, &mut ChangeSet) -> Result<R, E>,
    ) -> Result<(R, Keeping), E> {
        let mut hold = self.hold(trees)?;
        if let Some(keep) = keep {
            // Before these changes: afterwards, a call that was committed and died may not be recognised. A history that
            // cannot be written does not stop a transaction.
            let _ = keep.history.settle_pending(self);
        }
        let mut changes = ChangeSet::default();
        let decided = decide(&mut hold, &mut changes)?;
        let keeping = apply(&hold, &changes, || (), keep)?;
        Ok((decided, keeping))
    }
}

/// Asks for a transaction to be kept.
#[derive(Clone, Copy)]
pub(crate) struct Keep<'a> {
    /// The history to keep it in.
    pub(crate) history: &'a History,
    /// What the caller wants to know about it later.
    pub(crate) what: &'a serde_json::Value,
}

/// Checks whether the changes could be made, without making them: paths, links, digests, write access.
pub(crate) fn check<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>, changes: &ChangeSet) -> Result<(), DiskError> {
    let roots: Result<Vec<_>, DiskError> =
        roots.into_iter().map(|root| atomic::canonical(&AbsolutePath::parse(root)?)).collect();
    prepare(&roots?, changes).map(drop)
}

/// Like [`Hold::apply`], and calls `before_commit` when all files are in place, just before the commit.
#[cfg(test)]
pub(super) fn apply_then(hold: &Hold, changes: &ChangeSet, before_commit: fn()) -> Result<(), DiskError> {
    apply(hold, changes, before_commit, None).map(drop)
}

fn apply(hold: &Hold, changes: &ChangeSet, before_commit: fn(), keep: Option<Keep>) -> Result<Keeping, DiskError> {
    let prepared = prepare(&hold.roots, changes)?;
    if prepared.steps.is_empty() && prepared.leave.is_empty() {
        return Ok(Keeping::Nothing);
    }
    let mut transaction = Transaction::new(hold, prepared);
    transaction.keep = keep;
    let result = transaction.run(before_commit);
    match result {
        Ok(()) => Ok(transaction.keeping()),
        Err(error) => {
            transaction.settled = true;
            if let (Some(keep), Some(Ok(pending))) = (keep, &transaction.pending) {
                // If this fails, the leftover record is ignored.
                let _ = keep.history.give_up(pending);
            }
            match recover::roll_back(hold, &transaction.journal) {
                Ok(()) => Err(error),
                Err(second) => Err(DiskError::Unfinished {
                    path: transaction.journal.folder(0).as_path().to_path_buf(),
                    first: Box::new(error),
                    second: Box::new(second),
                }),
            }
        }
    }
}

/// The changes after checking the disk: only those that change something, in the order to make them.
struct Prepared {
    /// Canonical roots, in path order.
    roots: Vec<AbsolutePath>,
    steps: Vec<PreparedStep>,
    /// Roots and folders above them that are removed at the end if nothing else is in them.
    leave: BTreeSet<AbsolutePath>,
}

struct PreparedStep {
    root: usize,
    /// The path as it was asked for.
    asked: AbsolutePath,
    /// The real location of the bytes, with links followed.
    path: AbsolutePath,
    act: Act,
    contents: Contents,
}

enum Contents {
    None,
    Bytes { bytes: FileBytes, access: Access, sync: atomic::Sync },
    Program { source: PathBuf },
}

fn prepare(roots: &[AbsolutePath], changes: &ChangeSet) -> Result<Prepared, DiskError> {
    let mut roots = roots.to_vec();
    roots.sort();
    let mut places = RealPaths::default();
    for (path, before) in changes.expected().filter(|_| !changes.is_empty()) {
        expect(path, digest_of(&places.of(path)?)?, before)?;
    }
    let mut folders = BTreeMap::new();
    let mut files = Vec::new();
    let mut removed_folders = Vec::new();
    let mut leave = BTreeSet::new();
    let mut seen = BTreeMap::new();
    for change in changes.iter() {
        let target = locate(&roots, change, &mut places)?;
        let writes = matches!(change, Change::WriteFile { .. } | Change::LinkProgram { .. });
        if seen.insert(target.path.clone(), writes).is_some() {
            return Err(DiskError::TwoChanges { path: target.path.as_path().to_path_buf() });
        }
        match change {
            Change::MakeFolder { mode, .. } => {
                folders_above(&target.path, &target, &roots, &mut folders, true)?;
                if let (Some(step), Some(mode)) = (folders.get_mut(&target.path), mode) {
                    // What belongs into the folder must fit in.
                    step.act = Act::MakeFolder { mode: Some(mode | 0o300) };
                }
            }
            Change::RemoveFolder { .. } if roots.iter().any(|root| root.is_within(&target.path)) => {
                leave.extend(Some(target.path).filter(|folder| super::is_folder(folder)));
            }
            Change::RemoveFolder { path } => removed_folders.extend(removed_folder(path, target)?),
            Change::WriteFile { .. } | Change::LinkProgram { .. } | Change::RemoveFile { .. } => {
                if let Some(step) = file_step(change, &target)? {
                    let folder = target.path.parent().unwrap_or_else(|| target.path.clone());
                    let writes = !matches!(change, Change::RemoveFile { .. });
                    folders_above(&folder, &target, &roots, &mut folders, writes)?;
                    files.push(step);
                }
            }
        }
    }
    for path in seen.keys() {
        // Half of the changes would be made before the other half fails.
        let above = std::iter::successors(path.parent(), AbsolutePath::parent);
        if let Some(file) = above.into_iter().find(|above| seen.get(above) == Some(&true)) {
            return Err(DiskError::TwoChanges { path: file.as_path().to_path_buf() });
        }
    }
    removed_folders.sort_by(|one, other| other.path.cmp(&one.path));
    let steps = folders.into_values().chain(files).chain(removed_folders).collect();
    Ok(Prepared { roots, steps, leave })
}

struct LocatedChange {
    root: usize,
    path: AbsolutePath,
    outside: bool,
}

/// Finds where the change really happens, and which root serves it.
fn locate(roots: &[AbsolutePath], change: &Change, places: &mut RealPaths) -> Result<LocatedChange, DiskError> {
    let path = change.path();
    let owner = match change {
        Change::WriteFile { owner, .. } | Change::RemoveFile { owner, .. } => *owner,
        Change::LinkProgram { .. } | Change::MakeFolder { .. } | Change::RemoveFolder { .. } => Owner::Program,
    };
    let real = match change {
        // A link to a folder is not one of our folders; it is handled as a link when its turn comes.
        Change::MakeFolder { .. } | Change::RemoveFolder { .. } => unfollowed(path, places)?,
        Change::WriteFile { .. } | Change::LinkProgram { .. } | Change::RemoveFile { .. } => places.of(path)?,
    };
    let serving = |path: &AbsolutePath| roots.iter().rposition(|root| path.is_within(root));
    if let Some(root) = serving(&real) {
        return Ok(LocatedChange { root, path: real, outside: false });
    }
    if matches!(change, Change::RemoveFolder { .. })
        && let Some(root) = roots.iter().position(|root| root.is_within(&real))
    {
        return Ok(LocatedChange { root, path: real, outside: false });
    }
    // The user's own link may lead anywhere; only the name by which they know the file must be inside.
    match serving(path).or(serving(&unfollowed(path, places)?)) {
        Some(root) if owner == Owner::User => Ok(LocatedChange { root, path: real, outside: true }),
        _ => Err(DiskError::LeadsOut { path: path.as_path().to_path_buf(), to: real.as_path().to_path_buf() }),
    }
}

fn unfollowed(path: &AbsolutePath, places: &mut RealPaths) -> Result<AbsolutePath, DiskError> {
    let Some(parent) = path.parent() else { return Ok(path.clone()) };
    Ok(places.folder(&parent)?.resolve(path.name()))
}

/// Checks that the folder can be written to, and records the folders that must be made first.
fn folders_above(
    folder: &AbsolutePath,
    target: &LocatedChange,
    roots: &[AbsolutePath],
    folders: &mut BTreeMap<AbsolutePath, PreparedStep>,
    make: bool,
) -> Result<(), DiskError> {
    let mut folder = folder.clone();
    // A folder that must be made was already checked, with everything above it.
    while !folders.contains_key(&folder) {
        let found = present(std::fs::metadata(&folder)).map_err(DiskError::io("look at", folder.as_path()))?;
        if let Some(found) = found {
            if !found.is_dir() {
                return Err(DiskError::NotAFolder { path: folder.as_path().to_path_buf() });
            }
            return if may_write(&folder, &found) {
                Ok(())
            } else {
                Err(DiskError::ReadOnly { path: folder.as_path().to_path_buf() })
            };
        }
        if target.outside {
            return Err(DiskError::NotAFolder { path: folder.as_path().to_path_buf() });
        }
        if make && folder.is_within(&roots[target.root]) && folder != roots[target.root] {
            let (asked, path) = (folder.clone(), folder.clone());
            let step = PreparedStep {
                root: target.root,
                asked,
                path,
                act: Act::MakeFolder { mode: None },
                contents: Contents::None,
            };
            folders.insert(folder.clone(), step);
        }
        let Some(parent) = folder.parent() else { return Ok(()) };
        folder = parent;
    }
    Ok(())
}

#[cfg(unix)]
fn may_write(folder: &AbsolutePath, _found: &std::fs::Metadata) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    // Asks the system what the call may do: for a set-user-id program or root in a container, that differs from the
    // mode bits.
    accessat(CWD, folder.as_path(), Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(not(unix))]
fn may_write(_folder: &AbsolutePath, found: &std::fs::Metadata) -> bool {
    !found.permissions().readonly()
}

/// The step for a change of a file; `None` if the file is already as wanted.
fn file_step(change: &Change, target: &LocatedChange) -> Result<Option<PreparedStep>, DiskError> {
    let found = digest_of(&target.path)?;
    let step = |act, contents| {
        let (asked, path) = (change.path().clone(), target.path.clone());
        Some(PreparedStep { root: target.root, asked, path, act, contents })
    };
    let outside = target.outside;
    match change {
        Change::WriteFile { bytes, access, owner, before, .. } => {
            let after = bytes.digest();
            if found == Some(after) && !gains_execution(&target.path, *access) {
                return Ok(None);
            }
            expect(&target.path, found, *before)?;
            let sync = if *owner == Owner::User { atomic::Sync::File } else { atomic::Sync::Later };
            let contents = Contents::Bytes { bytes: bytes.clone(), access: *access, sync };
            Ok(step(Act::Write { before: *before, after, outside }, contents))
        }
        Change::LinkProgram { source, before, .. } => {
            let program = AbsolutePath::parse(source)?;
            let Some(after) = digest_of(&program)? else { return Err(DiskError::NotAFile { path: source.clone() }) };
            let cannot_run = |path: &AbsolutePath| gains_execution(path, Access::Executable);
            if found == Some(after) && (!cannot_run(&target.path) || cannot_run(&program)) {
                return Ok(None);
            }
            expect(&target.path, found, *before)?;
            Ok(step(Act::Write { before: *before, after, outside }, Contents::Program { source: source.clone() }))
        }
        Change::RemoveFile { before, .. } => {
            if found.is_none() {
                return Ok(None);
            }
            expect(&target.path, found, Some(*before))?;
            Ok(step(Act::Remove { before: *before, outside }, Contents::None))
        }
        Change::MakeFolder { .. } | Change::RemoveFolder { .. } => Ok(None),
    }
}

#[cfg(unix)]
fn gains_execution(path: &AbsolutePath, access: Access) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = || std::fs::metadata(path).map(|metadata| metadata.permissions().mode()).ok();
    access == Access::Executable && mode().is_some_and(|mode| mode & 0o111 == 0)
}

#[cfg(not(unix))]
fn gains_execution(_path: &AbsolutePath, _access: Access) -> bool {
    false
}

fn expect(path: &AbsolutePath, found: Option<Digest>, before: Option<Digest>) -> Result<(), DiskError> {
    if found == before { Ok(()) } else { Err(DiskError::Changed { path: path.as_path().to_path_buf() }) }
}

/// The step that removes a folder; `None` if it does not exist.
fn removed_folder(asked: &AbsolutePath, target: LocatedChange) -> Result<Option<PreparedStep>, DiskError> {
    let found = present(std::fs::symlink_metadata(&target.path));
    let found = found.map_err(DiskError::io("look at", target.path.as_path()))?;
    let Some(found) = found.filter(std::fs::Metadata::is_dir) else { return Ok(None) };
    let act = Act::RemoveFolder { mode: mode_of(&found) };
    Ok(Some(PreparedStep { root: target.root, asked: asked.clone(), path: target.path, act, contents: Contents::None }))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no modes")]
fn mode_of(found: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(found.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_found: &std::fs::Metadata) -> Option<u32> {
    None
}

/// A running transaction. If it is dropped before it is settled (a panic), it undoes what it did.
struct Transaction<'a> {
    hold: &'a Hold<'a>,
    journal: Journal,
    contents: Vec<Contents>,
    /// The paths as they were asked for.
    asked: Vec<AbsolutePath>,
    keep: Option<Keep<'a>>,
    pending: Option<Result<PendingRecord, DiskError>>,
    settled: bool,
    /// Whether its files were removed from the trees after the commit.
    is_clean: bool,
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.settled {
            // What cannot be undone now is still in the journal for the next call.
            let _ = recover::roll_back(self.hold, &self.journal);
        }
    }
}

impl<'a> Transaction<'a> {
    fn new(hold: &'a Hold, prepared: Prepared) -> Self {
        let Prepared { roots, steps, leave } = prepared;
        // Only roots with something to do take part.
        let used: BTreeSet<usize> = steps
            .iter()
            .map(|step| step.root)
            .chain((0..roots.len()).filter(|index| leave.iter().any(|folder| roots[*index].is_within(folder))))
            .collect();
        let renumbered: BTreeMap<usize, usize> = used.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let journal_roots = used.iter().map(|index| Root {
            path: JournalPath(roots[*index].clone()),
            made: Vec::new(),
            leave: leave.iter().filter(|folder| roots[*index].is_within(folder)).cloned().map(JournalPath).collect(),
        });
        let asked = steps.iter().map(|step| step.asked.clone()).collect();
        let (entries, contents) = steps
            .into_iter()
            .enumerate()
            .map(|(number, step)| {
                let (root, path) = (renumbered[&step.root], JournalPath(step.path));
                (JournalEntry { number, root, path, act: step.act }, step.contents)
            })
            .unzip();
        let (format, id, roots) = (Journal::FORMAT, new_id(), journal_roots.collect());
        let journal = Journal { format, id, roots, entries, absent: Vec::new() };
        Self { hold, journal, contents, asked, keep: None, pending: None, settled: false, is_clean: false }
    }

    fn run(&mut self, before_commit: fn()) -> Result<(), DiskError> {
        self.make_folders()?;
        self.stage()?;
        let begin = |keep: Keep<'_>| keep.history.begin(self.hold.disk, &self.journal, &self.asked, keep.what);
        self.pending = self.keep.map(begin);
        if self.is_one_rename() {
            return self.put_the_one_in_place();
        }
        self.write_journal()?;
        self.journal.entries.iter().try_for_each(|entry| self.perform(entry))?;
        self.sync_folders()?;
        before_commit();
        self.step()?;
        atomic::rename(
            &self.journal.folder(0).resolve(journal::JOURNAL),
            &self.journal.folder(0).resolve(journal::DONE),
        )?;
        self.settled = true;
        atomic::sync_folder(&self.journal.folder(0).resolve(journal::DONE))?;
        // The new state is committed. What cannot be cleaned up now is left to the next call.
        self.is_clean = recover::clean_up(self.hold, &self.journal).is_ok();
        Ok(())
    }

    /// After the commit: returns whether the transaction was kept.
    fn keeping(&mut self) -> Keeping {
        match (self.keep, self.pending.take()) {
            (Some(keep), Some(Ok(pending))) => {
                keep.history.finish(self.hold.disk, pending, self.is_clean).unwrap_or_else(Keeping::Failed)
            }
            (_, Some(Err(error))) => Keeping::Failed(error),
            _ => Keeping::Nothing,
        }
    }

    /// True for a single file in a root that exists. It needs no journal: its rename is the commit.
    fn is_one_rename(&self) -> bool {
        let alone = matches!(&self.journal.entries[..], [JournalEntry { act: Act::Write { outside: false, .. }, .. }]);
        alone && self.journal.roots.iter().all(|root| root.made.is_empty() && root.leave.is_empty())
    }

    fn put_the_one_in_place(&mut self) -> Result<(), DiskError> {
        let entry = &self.journal.entries[0];
        let JournalEntry { path: JournalPath(path), act: Act::Write { before, .. }, .. } = entry else {
            return Ok(());
        };
        expect(path, digest_of(path)?, *before)?;
        self.step()?;
        move_over(&self.journal.staged(entry), path, &self.journal.beside(path))?;
        atomic::sync_folder(path)?;
        self.settled = true;
        self.is_clean = recover::clean_up(self.hold, &self.journal).is_ok();
        Ok(())
    }

    fn sync_folders(&self) -> Result<(), DiskError> {
        let one_in_each: BTreeMap<_, _> =
            self.journal.entries.iter().map(|entry| (entry.path.0.parent(), &entry.path.0)).collect();
        // A folder that was removed on the way needs no sync; its parent gets one.
        let there = |folder: &Option<AbsolutePath>| folder.as_ref().is_some_and(super::is_folder);
        one_in_each.iter().filter(|(folder, _)| there(folder)).try_for_each(|(_, path)| atomic::sync_folder(path))
    }

    /// Before each change on the way to the commit: a person may still stop the call.
    fn step(&self) -> Result<(), DiskError> {
        self.hold.disk.is_interrupted()?;
        self.hold.disk.faults.step()
    }

    fn make_folders(&mut self) -> Result<(), DiskError> {
        for index in 0..self.journal.roots.len() {
            let root = self.journal.roots[index].path.0.clone();
            self.journal.roots[index].made = missing(&root)?.into_iter().map(JournalPath).collect();
            if self.journal.roots[index].made.is_empty() {
                self.step()?;
                make_folder(&self.journal.folder(index))?;
            } else {
                recover::make_root(self.hold, &root, &self.journal.roots[index].made)?;
            }
            for name in [journal::NEW, journal::BACKUP] {
                self.step()?;
                make_folder(&self.journal.folder(index).resolve(name))?;
            }
        }
        Ok(())
    }

    fn stage(&self) -> Result<(), DiskError> {
        for (number, contents) in self.contents.iter().enumerate() {
            let entry = &self.journal.entries[number];
            let staged = self.journal.staged(entry);
            match contents {
                Contents::None => {}
                Contents::Bytes { bytes, access, sync } => {
                    self.step()?;
                    atomic::stage(&staged, bytes, *access, &entry.path.0, *sync)?;
                }
                Contents::Program { source } => {
                    self.step()?;
                    atomic::stage_program(&staged, source)?;
                }
            }
        }
        Ok(())
    }

    /// The leader's journal first: a follower's journal without it does not count.
    fn write_journal(&self) -> Result<(), DiskError> {
        for lock in self.journal.roots.iter().filter_map(|root| self.hold.lock_of(&root.path.0)) {
            self.step()?;
            lock.note(&self.journal.id)?;
        }
        for index in 0..self.journal.roots.len() {
            self.step()?;
            let bytes = self.journal.of_root(index).to_bytes()?;
            journal::write_durably(&self.journal.folder(index).resolve(journal::JOURNAL), &bytes)?;
        }
        for index in 0..self.journal.roots.len() {
            self.step()?;
            atomic::remove_file(&self.journal.folder(index).resolve(journal::MADE))?;
        }
        Ok(())
    }

    fn perform(&self, entry: &JournalEntry) -> Result<(), DiskError> {
        let path = &entry.path.0;
        match &entry.act {
            Act::MakeFolder { mode } => {
                self.step()?;
                make_folder(path)?;
                recover::set_mode(path, *mode)
            }
            Act::Write { before, .. } => {
                expect(path, digest_of(path)?, *before)?;
                if before.is_some() {
                    self.step()?;
                    back_up(path, &self.journal.backup(entry))?;
                }
                self.step()?;
                move_over(&self.journal.staged(entry), path, &self.journal.beside(path))
            }
            Act::Remove { before, .. } => {
                expect(path, digest_of(path)?, Some(*before))?;
                self.step()?;
                move_over(path, &self.journal.backup(entry), &self.journal.beside(&self.journal.backup(entry)))
            }
            Act::RemoveFolder { .. } => {
                self.step()?;
                remove_folder_if_empty(path).map(drop)
            }
        }
    }
}

/// Sixteen random hexadecimal digits that identify the transaction, from the standard hash map's randomness.
fn new_id() -> String {
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

/// Keeps the file at `path` under a second name: the same file if the file system supports hard links, otherwise a
/// copy.
fn back_up(path: &AbsolutePath, backup: &AbsolutePath) -> Result<(), DiskError> {
    if std::fs::hard_link(path, backup).is_ok() {
        return Ok(());
    }
    std::fs::copy(path, backup).map(drop).map_err(DiskError::io("keep", path.as_path()))
}
