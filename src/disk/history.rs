//! Committed transactions that can be undone: what they changed, and the files as they were before.
//!
//! ```text
//! N.json       what transaction N changed; `N.pending` until it is committed
//! images/D     a file as it was before, by its digest: files that several transactions replaced are kept once
//! ```
//!
//! All of it is in a folder that only the user can write to, outside of every tree we write to; nothing found inside a
//! tree is ever taken as history. The oldest transactions are removed first when there are too many. Images are not
//! synced to the disk: one lost in a power cut is detected by its digest.
//!
//! `Hold::apply_kept` keeps what is needed to undo its changes; `Hold::apply` keeps nothing, so verbs that edit
//! documents do not pay for it. Installs and uninstalls are kept. A folder that others can write to is not trusted.
//! The last 32 transactions are kept, and at most 256 MB of files; one that needs more is recorded without its files
//! and cannot be undone. After a crash the next kept transaction decides about a pending one: it counts if every file
//! is as that transaction meant it. A transaction that cannot be kept is still applied. `Kept::take_back` returns the
//! change set that undoes one; its caller decides about files that have changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::journal::{Act, Journal, JournalPath};
use super::{
    AbsolutePath, Access, Change, ChangeSet, Digest, Disk, DiskError, EntryKind, Owner, act, atomic, is_unfinished,
    list, private, read_bytes, read_up_to,
};

/// The most transactions that are kept.
const MOST: usize = 32;

/// The most bytes of files that are kept. A transaction that needs more is recorded without its files.
const MOST_BYTES: u64 = 256 << 20;

const RECORD: &str = ".json";
const PENDING: &str = ".pending";
const IMAGES: &str = "images";

/// The kept transactions of this user.
#[derive(Debug, Clone)]
pub(crate) struct History {
    folder: AbsolutePath,
    most: usize,
    most_bytes: u64,
}

/// Whether a transaction was kept.
#[derive(Debug)]
pub(crate) enum Keeping {
    /// Kept under this number.
    Kept(u64),
    /// Recorded, but cannot be undone: its files are larger than the limit for all kept files.
    TooLarge,
    /// Nothing had to be changed.
    Nothing,
    /// It was committed, but could not be kept.
    Failed(DiskError),
}

/// A transaction that has been recorded but not yet committed.
#[derive(Debug)]
pub(super) struct PendingRecord {
    number: u64,
    record: HistoryRecord,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryRecord {
    /// What the caller knows about it.
    what: Value,
    /// When the call that made it began.
    at: String,
    /// Whether the files are kept too.
    is_whole: bool,
    /// Whether it is known to be committed, although its files in the trees could not be cleaned up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_committed: bool,
    journal: Journal,
    /// The paths of the entries in the journal as they were asked for, with links not followed.
    asked: Vec<JournalPath>,
    /// The modes of the files that were removed.
    modes: Vec<Option<u32>>,
}

/// A kept transaction in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransactionSummary {
    pub(crate) number: u64,
    pub(crate) what: Value,
    pub(crate) at: String,
    /// How many files it wrote or removed.
    pub(crate) files: usize,
    pub(crate) is_whole: bool,
}

/// A kept transaction.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) summary: TransactionSummary,
    record: HistoryRecord,
    images: BTreeMap<Digest, Vec<u8>>,
}

/// A file that a kept transaction changed.
#[derive(Debug)]
pub(crate) struct KeptFile<'a> {
    /// As it was asked for, with links not followed.
    pub(crate) path: &'a AbsolutePath,
    /// Its contents before; `None` if the transaction created it.
    pub(crate) before: Option<&'a [u8]>,
    /// Its digest after; `None` if the transaction removed it.
    pub(crate) after: Option<Digest>,
    /// The location of the bytes then.
    real: &'a AbsolutePath,
    /// The permission bits of a file that was removed.
    mode: Option<u32>,
    owner: Owner,
}

impl KeptFile<'_> {
    /// Whether it is still as the transaction left it. A file that cannot be read is not.
    pub(crate) fn is_as_left(&self) -> bool {
        let found = act::digest_of(self.real);
        found.is_ok_and(|found| found == self.after) && atomic::real(self.path).is_ok_and(|real| real == *self.real)
    }

    /// The change that restores it, from what is there now.
    pub(crate) fn restored(&self, found: Option<Digest>) -> Option<Change> {
        let (path, owner) = (self.path.clone(), self.owner);
        match (self.before, found) {
            (Some(bytes), before) => {
                let access = self.mode.map_or(Access::Usual, Access::Exactly);
                Some(Change::WriteFile { path, bytes: bytes.into(), access, owner, before })
            }
            (None, Some(before)) => Some(Change::RemoveFile { path, owner, before }),
            (None, None) => None,
        }
    }
}

/// Why a transaction cannot be undone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("there is no kept transaction {number}")]
    Unknown { number: u64 },
    #[error("transaction {number} was noted without its files: they are larger than all that is kept")]
    NotWhole { number: u64 },
    #[error("the record of transaction {number} cannot be read: {reason}")]
    Broken { number: u64, reason: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl History {
    /// `state` is the folder with the user's state.
    pub(crate) fn in_state(state: &AbsolutePath) -> Self {
        Self { folder: state.resolve("history"), most: MOST, most_bytes: MOST_BYTES }
    }

    /// The folder of the history.
    pub(crate) fn folder(&self) -> &AbsolutePath {
        &self.folder
    }

    /// The same history with lower limits.
    #[cfg(test)]
    pub(super) fn of_at_most(self, most: usize, most_bytes: u64) -> Self {
        Self { most, most_bytes, ..self }
    }

    /// The kept transactions, oldest first.
    pub(crate) fn list(&self) -> Result<Vec<Result<TransactionSummary, HistoryError>>, DiskError> {
        let summary = |number| Ok(self.record(number, RECORD)?.summary(number));
        Ok(self.numbers(RECORD)?.into_iter().map(summary).collect())
    }

    /// Reads a kept transaction with the files as they were before it.
    pub(crate) fn read(&self, number: u64) -> Result<Kept, HistoryError> {
        let record = self.record(number, RECORD)?;
        let mut images = BTreeMap::new();
        for digest in record.images() {
            let lost = || HistoryError::Broken { number, reason: format!("the file `{digest}` is gone or changed") };
            let bytes = read_up_to(self.image(&digest), self.most_bytes)?.ok_or_else(lost)?;
            if Digest::of(&bytes) != digest {
                return Err(lost());
            }
            images.insert(digest, bytes);
        }
        Ok(Kept { summary: record.summary(number), record, images })
    }

    /// The bytes that a file had before a transaction, if it changed that file; `Some(None)` if it created it, and `None` if
    /// the transaction did not change it. An error if they are not kept.
    #[expect(clippy::option_option, reason = "no such file, and a file that was not changed, are two answers")]
    pub(crate) fn before(&self, number: u64, path: &AbsolutePath) -> Result<Option<Option<Vec<u8>>>, HistoryError> {
        let record = self.record(number, RECORD)?;
        let entries = record.journal.entries.iter().zip(&record.asked);
        let mut changed = entries.filter(|(_, asked)| asked.0 == *path).map(|(entry, _)| &entry.act);
        let Some(act) = changed.find(|act| matches!(act, Act::Write { .. } | Act::Remove { .. })) else {
            return Ok(None);
        };
        let Some(digest) = before(act) else { return Ok(Some(None)) };
        if !record.is_whole {
            return Err(HistoryError::NotWhole { number });
        }
        let bytes = read_up_to(self.image(&digest), self.most_bytes)?.filter(|bytes| Digest::of(bytes) == digest);
        let lost = || HistoryError::Broken { number, reason: format!("the file `{digest}` is gone or changed") };
        bytes.map(|bytes| Some(Some(bytes))).ok_or_else(lost)
    }

    /// Records what a transaction is about to do, with the files as they are before it.
    pub(super) fn begin(
        &self,
        disk: &Disk,
        journal: &Journal,
        asked: &[AbsolutePath],
        what: &Value,
    ) -> Result<PendingRecord, DiskError> {
        self.make_folders()?;
        let _lock = disk.lock(&self.folder)?;
        let mut record = HistoryRecord {
            what: what.clone(),
            at: disk.holder_since().to_owned(),
            is_whole: true,
            is_committed: false,
            journal: journal.clone(),
            asked: asked.iter().cloned().map(JournalPath).collect(),
            modes: Vec::new(),
        };
        record.modes = journal.entries.iter().map(|entry| mode_of_removed(&entry.path.0, &entry.act)).collect();
        let mut files = BTreeMap::new();
        for entry in &journal.entries {
            if let Some(before) = before(&entry.act) {
                files.insert(before, &entry.path.0);
            }
        }
        let size: u64 = files.values().filter_map(super::size).sum();
        record.is_whole = size <= self.most_bytes;
        for (digest, path) in files.into_iter().filter(|_| record.is_whole) {
            let image = self.image(&digest);
            if Digest::of_file(&image)? == Some(digest) {
                continue;
            }
            let bytes = read_up_to(path, self.most_bytes)?.unwrap_or_default();
            if Digest::of(&bytes) != digest {
                return Err(DiskError::Changed { path: path.as_path().to_path_buf() });
            }
            disk.faults.step()?;
            atomic::write_fleeting(&image, &bytes)?;
        }
        let number = self.last_number()? + 1;
        let bytes = serde_json::to_vec(&record).map_err(|source| DiskError::Unwritable { source })?;
        disk.faults.step()?;
        atomic::write(&self.file(number, PENDING), &bytes, Access::Private)?;
        Ok(PendingRecord { number, record })
    }

    /// Keeps a call that had nothing to change in the trees of this transaction.
    pub(crate) fn note(&self, disk: &Disk, of: u64, what: &Value) -> Result<(), HistoryError> {
        let mut journal = self.record(of, RECORD)?.journal;
        journal.entries.clear();
        for root in &mut journal.roots {
            (root.made, root.leave) = (Vec::new(), Vec::new());
        }
        let pending = self.begin(disk, &journal, &[], what)?;
        self.finish(disk, pending, true)?;
        Ok(())
    }

    /// Keeps a transaction that was committed, and removes the oldest ones. One whose files could not be cleaned up stays
    /// pending, so that the trees that have them are known.
    pub(super) fn finish(&self, disk: &Disk, pending: PendingRecord, is_clean: bool) -> Result<Keeping, DiskError> {
        let _lock = disk.lock(&self.folder)?;
        let PendingRecord { number, mut record } = pending;
        let file = self.file(number, PENDING);
        disk.faults.step()?;
        // Another call may have noticed that it was committed.
        if act::exists(&file)? && is_clean {
            atomic::rename(&file, &self.file(number, RECORD))?;
        } else if act::exists(&file)? {
            record.is_committed = true;
            let bytes = serde_json::to_vec(&record).map_err(|source| DiskError::Unwritable { source })?;
            atomic::write(&file, &bytes, Access::Private)?;
        }
        self.settle(disk)?;
        self.prune(disk)?;
        Ok(if record.is_whole { Keeping::Kept(number) } else { Keeping::TooLarge })
    }

    /// Removes the record of a transaction that was not committed.
    pub(super) fn give_up(&self, pending: &PendingRecord) -> Result<(), DiskError> {
        // Its files are removed with the next unused ones.
        atomic::remove_file(&self.file(pending.number, PENDING))
    }

    /// The trees of all transactions that are recorded, settled or not, each once. Those of a record that cannot be
    /// read are left out.
    pub(crate) fn roots(&self) -> Result<Vec<AbsolutePath>, DiskError> {
        let mut roots = BTreeSet::new();
        for trees in self.trees(PENDING)?.into_iter().chain(self.trees(RECORD)?) {
            roots.extend(trees);
        }
        Ok(roots.into_iter().collect())
    }

    /// The trees of transactions that are not settled and changed this tree too.
    pub(crate) fn pending_with(&self, tree: &AbsolutePath) -> Result<Vec<AbsolutePath>, DiskError> {
        Ok(self.trees(PENDING)?.into_iter().filter(|trees| trees.contains(tree)).flatten().collect())
    }

    /// The trees of each transaction whose record has this ending.
    fn trees(&self, ending: &str) -> Result<Vec<Vec<AbsolutePath>>, DiskError> {
        let records = self.numbers(ending)?.into_iter().filter_map(|number| self.record(number, ending).ok());
        Ok(records.map(|record| record.journal.roots.into_iter().map(|root| root.path.0).collect()).collect())
    }

    /// Settles the transactions of calls that died, once nothing is unfinished in their trees.
    pub(crate) fn settle_pending(&self, disk: &Disk) -> Result<(), DiskError> {
        if self.numbers(PENDING)?.is_empty() {
            return Ok(());
        }
        let _lock = disk.lock(&self.folder)?;
        self.settle(disk)
    }

    /// Settles the transactions of calls that died: those that were committed are kept.
    fn settle(&self, disk: &Disk) -> Result<(), DiskError> {
        for number in self.numbers(PENDING)? {
            let pending = self.file(number, PENDING);
            let Ok(record) = self.record(number, PENDING) else {
                disk.faults.step()?;
                atomic::remove_file(&pending)?;
                continue;
            };
            let roots = record.journal.roots.iter();
            let is_under_way = roots.map(|root| is_unfinished(&root.path.0)).collect::<Result<Vec<_>, _>>()?;
            if is_under_way.contains(&true) {
                continue;
            }
            disk.faults.step()?;
            if record.is_committed || record.is_as_left() {
                atomic::rename(&pending, &self.file(number, RECORD))?;
            } else {
                atomic::remove_file(&pending)?;
            }
        }
        Ok(())
    }

    /// Removes the oldest transactions over the limits, and files without a remaining use.
    fn prune(&self, disk: &Disk) -> Result<(), DiskError> {
        // A record that cannot be read, for example from a later version, is removed when it is the oldest.
        let images = |number| (number, self.record(number, RECORD).ok().map(|record| record.images()));
        let records: Vec<(u64, Option<BTreeSet<Digest>>)> = self.numbers(RECORD)?.into_iter().map(images).collect();
        let pending = self.numbers(PENDING)?.into_iter().filter_map(|number| self.record(number, PENDING).ok());
        let pending: BTreeSet<Digest> = pending.flat_map(|record| record.images()).collect();
        let needed = |records: &[(u64, Option<BTreeSet<Digest>>)]| {
            let images = records.iter().filter_map(|(_, images)| images.as_ref()).flatten();
            images.chain(&pending).copied().collect::<BTreeSet<Digest>>()
        };
        let size =
            |images: &BTreeSet<Digest>| images.iter().filter_map(|digest| super::size(self.image(digest))).sum::<u64>();
        let mut first = 0;
        // The newest stays, whatever the pending ones need.
        while records.len() - first > 1
            && (records.len() - first > self.most || size(&needed(&records[first..])) > self.most_bytes)
        {
            disk.faults.step()?;
            atomic::remove_file(&self.file(records[first].0, RECORD))?;
            first += 1;
        }
        if records[first..].iter().any(|(_, images)| images.is_none()) {
            return Ok(());
        }
        let needed = needed(&records[first..]);
        for entry in list(self.folder.resolve(IMAGES))?.unwrap_or_default() {
            if entry.kind == EntryKind::File
                && !Digest::parse(&entry.name).is_some_and(|digest| needed.contains(&digest))
            {
                disk.faults.step()?;
                atomic::remove_file(&AbsolutePath::parse(&entry.path)?)?;
            }
        }
        Ok(())
    }

    fn make_folders(&self) -> Result<(), DiskError> {
        for folder in [self.folder.clone(), self.folder.resolve(IMAGES)] {
            private::make_own_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
        }
        Ok(())
    }

    fn file(&self, number: u64, kind: &str) -> AbsolutePath {
        self.folder.resolve(format!("{number}{kind}"))
    }

    fn image(&self, digest: &Digest) -> AbsolutePath {
        self.folder.resolve(IMAGES).resolve(digest.to_string())
    }

    /// The numbers of the files of one kind, in order. An error if others could write to the folder.
    fn numbers(&self, kind: &str) -> Result<Vec<u64>, DiskError> {
        let Some(entries) = list(&self.folder)? else { return Ok(Vec::new()) };
        if !private::is_own_folder(self.folder.as_path()) {
            return Err(DiskError::NotPrivate { path: self.folder.as_path().to_path_buf() });
        }
        let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
        let mut numbers: Vec<u64> = files.filter_map(|entry| entry.name.strip_suffix(kind)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn last_number(&self) -> Result<u64, DiskError> {
        let last = |kind| Ok::<_, DiskError>(self.numbers(kind)?.last().copied().unwrap_or_default());
        Ok(last(RECORD)?.max(last(PENDING)?))
    }

    fn record(&self, number: u64, kind: &str) -> Result<HistoryRecord, HistoryError> {
        let path = self.file(number, kind);
        if !private::is_own_folder(self.folder.as_path()) || super::is_link(&path) {
            return Err(HistoryError::Unknown { number });
        }
        let bytes = read_bytes(&path)?.ok_or(HistoryError::Unknown { number })?;
        let broken = |reason: String| HistoryError::Broken { number, reason };
        let record: HistoryRecord = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        record.journal.check().map_err(broken)?;
        let count = record.journal.entries.len();
        if record.asked.len() != count || record.modes.len() != count {
            return Err(broken("it has not one path and mode for each file".to_owned()));
        }
        Ok(record)
    }
}

/// The digest of the file before the act.
fn before(act: &Act) -> Option<Digest> {
    match act {
        Act::Write { before, .. } => *before,
        Act::Remove { before, .. } => Some(*before),
        Act::MakeFolder { .. } | Act::RemoveFolder { .. } => None,
    }
}

fn mode_of_removed(path: &AbsolutePath, act: &Act) -> Option<u32> {
    matches!(act, Act::Remove { .. }).then(|| mode(path.as_path())).flatten()
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}

impl HistoryRecord {
    fn summary(&self, number: u64) -> TransactionSummary {
        let files = self.journal.entries.iter();
        let files = files.filter(|entry| matches!(entry.act, Act::Write { .. } | Act::Remove { .. })).count();
        let (what, at, is_whole) = (self.what.clone(), self.at.clone(), self.is_whole);
        TransactionSummary { number, what, at, files, is_whole }
    }

    /// The digests of the files that it needs.
    fn images(&self) -> BTreeSet<Digest> {
        let entries = self.journal.entries.iter().filter(|_| self.is_whole);
        entries.filter_map(|entry| before(&entry.act)).collect()
    }

    /// The files that it changed. Without the images of `images`, the files before are not known.
    fn files<'a>(&'a self, images: &'a BTreeMap<Digest, Vec<u8>>) -> impl Iterator<Item = KeptFile<'a>> {
        let entries = self.journal.entries.iter().zip(&self.asked).zip(&self.modes);
        entries.filter_map(|((entry, JournalPath(path)), mode)| {
            let (after, outside) = match entry.act {
                Act::Write { after, outside, .. } => (Some(after), outside),
                Act::Remove { outside, .. } => (None, outside),
                Act::MakeFolder { .. } | Act::RemoveFolder { .. } => return None,
            };
            let before = before(&entry.act).and_then(|digest| Some(images.get(&digest)?.as_slice()));
            let owner = if outside { Owner::User } else { Owner::Program };
            Some(KeptFile { path, before, after, real: &entry.path.0, mode: *mode, owner })
        })
    }

    /// Whether every file is as the transaction left it.
    fn is_as_left(&self) -> bool {
        self.files(&BTreeMap::new()).all(|file| file.is_as_left())
    }
}

impl Kept {
    /// The trees that it changed; they must be locked to undo it.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &AbsolutePath> {
        self.record.journal.roots.iter().map(|root| &root.path.0)
    }

    /// The files that it changed.
    pub(crate) fn files(&self) -> impl Iterator<Item = KeptFile<'_>> {
        self.record.files(&self.images)
    }

    /// The changes that undo it. For a file that is not as the transaction left it, `changed` adds the changes. A folder
    /// that contains something else by now stays.
    pub(crate) fn take_back<E: From<HistoryError>>(
        &self,
        mut changed: impl FnMut(&KeptFile<'_>, &mut ChangeSet) -> Result<(), E>,
    ) -> Result<ChangeSet, E> {
        if !self.record.is_whole {
            return Err(HistoryError::NotWhole { number: self.summary.number }.into());
        }
        let mut back = ChangeSet::default();
        for file in self.files() {
            if file.is_as_left() {
                back.extend(file.restored(file.after));
            } else {
                changed(&file, &mut back)?;
            }
        }
        let journal = &self.record.journal;
        for (entry, JournalPath(asked)) in journal.entries.iter().zip(&self.record.asked) {
            let path = asked.clone();
            match entry.act {
                Act::MakeFolder { .. } => back.push(Change::RemoveFolder { path }),
                Act::RemoveFolder { mode } => back.push(Change::MakeFolder { path, mode }),
                Act::Write { .. } | Act::Remove { .. } => {}
            }
        }
        for root in &journal.roots {
            back.extend(root.made.iter().map(|JournalPath(path)| Change::RemoveFolder { path: path.clone() }));
        }
        Ok(back)
    }
}
