//! The only module that touches the file system.
//!
//! Reading: [`read_text`], [`read_bytes`], [`list`], [`Snapshot`]. An absent file is `None`; a file that exists but
//! cannot be read is an error that names it, never an absence.
//!
//! Writing: a [`Disk`] gives a [`Hold`] on some trees, and a hold applies a [`ChangeSet`]: all of it, or none, whatever
//! happens to the process in between. Outside of transactions there are functions for single files, such as
//! [`replace`] and [`write_fleeting`], a [`log`], a [`Transcript`], and a [`Scratch`] for temporary files.
//!
//! # A transaction
//!
//! `Disk::transact` locks folders, lets its caller read and decide, and applies the changes: one call for everything
//! that has to happen together, in any number of folders. Locks are taken in path order; the lock files are in the
//! user's state folder and are never deleted. Each change names what it must find, and a [`ChangeSet`] can require
//! that further files are as they were read. `Hold::apply` stages the new files in `.gsd-transaction/` inside each
//! tree, writes a journal, keeps what is replaced, renames file by file, and removes the folder. On an error it rolls
//! back; after a crash the next writing call, or `gsd-tools recover`, does. Reading commands never write to a project:
//! if they find an unfinished transaction, they continue without it. A user's file that is a link is written at its
//! target; mode and owner are kept.
//!
//! In debug builds `GSD_FAULT_AT` and `GSD_KILL_AT` stop a call before a numbered step, and the crash tests try each
//! one; `GSD_FAULT_AT=count` reports how many steps a call takes.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this is the room that touches the file system"
)]

mod act;
mod atomic;
mod bytes;
mod change;
mod digest;
mod duplicate;
mod folder_lock;
mod found;
pub(crate) mod history;
mod hold;
mod identity;
mod journal;
mod lent;
mod lock;
pub(crate) mod log;
#[cfg(all(test, unix))]
mod memory;
mod overlay;
mod path;
mod private;
mod recover;
mod scratch;
mod snapshot;
mod transaction;
mod transcript;
mod tree;

use crate::failure::Explain;
use crate::text::shell::typed;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

pub(crate) use act::{copy_as_old, copy_over, make_shared_folder, remove_folder_if_empty};
pub(crate) use atomic::{
    RealPaths, canonical, destined, make_folder, real, remove_note, rename, replace, write_fleeting,
};
pub(crate) use bytes::FileBytes;
pub(crate) use change::{Access, Change, ChangeSet, Owner};
pub(crate) use digest::{Digest, Digester};
pub(crate) use duplicate::{Duplicate, FolderSize, folder_size, shares_bytes};
pub(crate) use folder_lock::FolderLock;
pub(crate) use found::{Found, FoundFile};
pub(crate) use hold::{Disk, Faults, Hold, Steps};
pub(crate) use identity::identity;
pub(crate) use lent::{clear_way, read_lent, write_lent};
pub(crate) use lock::{Holder, Lock, PeerLock, forgotten_peer_locks, lives as process_lives};
#[cfg(all(test, unix))]
pub(crate) use memory::MemoryTree;
pub(crate) use overlay::{Overlay, clear};
pub(crate) use path::{AbsolutePath, PathError, RelativePath};
pub(crate) use private::{is_everybodys, is_own, is_private_folder, make_private_folder};
pub(crate) use recover::is_unfinished;
pub(crate) use scratch::{Scratch, loosen, remove_folder, remove_left, remove_left_below, remove_left_with};
pub(crate) use snapshot::Snapshot;
pub(crate) use transaction::{Keep, check};
pub(crate) use transcript::Transcript;

/// The largest document that is read, in bytes.
pub(crate) const DOCUMENT_LIMIT: u64 = 16 << 20;

/// The largest settings file of a host that is read, in bytes.
pub(crate) const SETTINGS_LIMIT: u64 = 8 << 20;

/// The largest of our own configuration files that is read, in bytes. Every hook reads it, and it comes with a
/// repository.
pub(crate) const CONFIG_LIMIT: u64 = 1 << 20;

/// Reads the file's text, byte for byte (a byte order mark included); `None` if the file does not exist. At most
/// [`DOCUMENT_LIMIT`].
pub(crate) fn read_text(path: impl AsRef<Path>) -> Result<Option<String>, DiskError> {
    let path = path.as_ref();
    read_bytes(path)?.map(|bytes| text(path, bytes)).transpose()
}

/// Like [`read_text`], for our own configuration: at most [`CONFIG_LIMIT`].
pub(crate) fn read_config(path: impl AsRef<Path>) -> Result<Option<String>, DiskError> {
    let path = path.as_ref();
    read_up_to(path, CONFIG_LIMIT)?.map(|bytes| text(path, bytes)).transpose()
}

/// Reads the file's bytes; `None` if the file does not exist. At most [`DOCUMENT_LIMIT`].
pub(crate) fn read_bytes(path: impl AsRef<Path>) -> Result<Option<Vec<u8>>, DiskError> {
    read_up_to(path, DOCUMENT_LIMIT)
}

/// Reads a regular file of at most `limit` bytes; `None` if the file does not exist. A pipe or a device, which may
/// never end, is refused at once.
pub(crate) fn read_up_to(path: impl AsRef<Path>, limit: u64) -> Result<Option<Vec<u8>>, DiskError> {
    let path = path.as_ref();
    let Some((file, size)) = open(path)? else { return Ok(None) };
    read_whole(file, path, size, limit).map(Some)
}

/// Reads at most `most` bytes of a regular file from `start`; `None` if the file does not exist.
pub(crate) fn read_from(path: impl AsRef<Path>, start: u64, most: u64) -> Result<Option<Vec<u8>>, DiskError> {
    let path = path.as_ref();
    let Some((mut file, _)) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.seek(io::SeekFrom::Start(start)).and_then(|_| file.take(most).read_to_end(&mut bytes));
    read.map_err(DiskError::io("read", path))?;
    Ok(Some(bytes))
}

/// Reads a file that had `size` bytes when it was opened.
fn read_whole(mut file: std::fs::File, path: &Path, size: u64, limit: u64) -> Result<Vec<u8>, DiskError> {
    let too_large = || DiskError::TooLarge { path: path.to_path_buf(), limit };
    if size > limit {
        return Err(too_large());
    }
    let expected = usize::try_from(size).unwrap_or_default();
    let mut bytes = vec![0; expected + 1];
    let read = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read.map_err(DiskError::io("read", path))?,
        }
    };
    bytes.truncate(read);
    // A read that left room in the buffer reached the end. Otherwise the file may have grown.
    if read != expected {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(DiskError::io("read", path))?;
    }
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// What exists at a path, without following a link.
#[derive(Debug)]
pub(crate) enum Plain {
    /// The text of a regular file.
    Text(String),
    Absent,
    /// A link, or possibly a link: the system cannot say.
    Link,
}

/// Like [`read_text`], for a file in a folder that was already checked: hundreds of small files are read in one call,
/// and most of the time goes into the system calls for each of them.
#[cfg(unix)]
pub(crate) fn read_plain(path: &Path) -> Result<Plain, DiskError> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    // The flags of `open`, plus not following links.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NOFOLLOW;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => return Ok(Plain::Link),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MLINK.raw_os_error()) => return Ok(Plain::Link),
        Err(error) => {
            return present::<Plain>(Err(error)).map(|_| Plain::Absent).map_err(DiskError::io("read", path));
        }
    };
    let size = regular(path, &file)?;
    let bytes = read_whole(file, path, size, DOCUMENT_LIMIT)?;
    text(path, bytes).map(Plain::Text)
}

#[cfg(not(unix))]
pub(crate) fn read_plain(_path: &Path) -> Result<Plain, DiskError> {
    Ok(Plain::Link)
}

/// Reads the text of a file that a person named for a command: a regular file, or a pipe such as a shell makes. At most
/// [`DOCUMENT_LIMIT`].
pub(crate) fn read_input(path: impl AsRef<Path>) -> Result<Option<String>, DiskError> {
    let path = path.as_ref();
    let Some(file) = present(std::fs::File::open(path)).map_err(DiskError::io("read", path))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(DOCUMENT_LIMIT + 1).read_to_end(&mut bytes).map_err(DiskError::io("read", path))?;
    if bytes.len() as u64 > DOCUMENT_LIMIT {
        return Err(DiskError::TooLarge { path: path.to_path_buf(), limit: DOCUMENT_LIMIT });
    }
    text(path, bytes).map(Some)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, DiskError> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
        DiskError::NotText { path: path.to_path_buf(), line, offset }
    })
}

/// Opens a regular file; returns it with its size, `None` if it does not exist. Refuses anything else without waiting
/// for it.
fn open(path: &Path) -> Result<Option<(std::fs::File, u64)>, DiskError> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Without this, opening a pipe would wait for a writer.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let failed = DiskError::io("read", path);
    let Some(file) = present(options.open(path)).map_err(failed)? else { return Ok(None) };
    let size = regular(path, &file)?;
    Ok(Some((file, size)))
}

/// The size of an open file; an error if it is not a regular file.
fn regular(path: &Path, file: &std::fs::File) -> Result<u64, DiskError> {
    let found = file.metadata().map_err(DiskError::io("look at", path))?;
    if found.is_dir() {
        return Err(DiskError::io("read", path)(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    if found.is_file() { Ok(found.len()) } else { Err(DiskError::NotAFile { path: path.to_path_buf() }) }
}

/// The entries of a folder, sorted by name; `None` if the folder does not exist.
pub(crate) fn list(path: impl AsRef<Path>) -> Result<Option<Vec<Entry>>, DiskError> {
    let entry = |entry: &std::fs::DirEntry, kind| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Entry { name, path: entry.path(), kind }
    };
    let mut entries = entries(path.as_ref(), entry)?;
    if let Some(entries) = &mut entries {
        entries.sort_by(|one, other| one.name.cmp(&other.name));
    }
    Ok(entries)
}

/// The names in a folder with the kind of each, in the system's order; `None` if the folder does not exist.
pub(crate) fn names(path: impl AsRef<Path>) -> Result<Option<Vec<(String, EntryKind)>>, DiskError> {
    entries(path.as_ref(), |entry, kind| {
        let name = entry.file_name().into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned());
        (name, kind)
    })
}

/// Applies `of` to each entry of a folder.
fn entries<T>(path: &Path, of: impl Fn(&std::fs::DirEntry, EntryKind) -> T) -> Result<Option<Vec<T>>, DiskError> {
    let failed = DiskError::io("list", path);
    let Some(folder) = present(std::fs::read_dir(path)).map_err(failed)? else { return Ok(None) };
    let entry = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry.map_err(DiskError::io("list", path))?;
        let kind = entry.file_type().map(EntryKind::of).map_err(DiskError::io("look at", &entry.path()))?;
        Ok(of(&entry, kind))
    };
    folder.map(entry).collect::<Result<Vec<T>, DiskError>>().map(Some)
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
}

impl Entry {
    /// Its name, in the bytes of the system.
    pub(crate) fn file_name(&self) -> &[u8] {
        self.path.file_name().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default()
    }

    /// True for a folder, or a link to one.
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == EntryKind::Folder || (self.kind == EntryKind::Link && self.path.is_dir())
    }

    /// True for a file, or a link to one.
    pub(crate) fn is_file(&self) -> bool {
        self.kind == EntryKind::File || (self.kind == EntryKind::Link && self.path.is_file())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    /// A socket, a pipe, a device.
    Other,
}

impl EntryKind {
    fn of(is: std::fs::FileType) -> Self {
        match (is.is_symlink(), is.is_dir(), is.is_file()) {
            (true, _, _) => Self::Link,
            (_, true, _) => Self::Folder,
            (_, _, true) => Self::File,
            _ => Self::Other,
        }
    }
}

/// True if a folder, or a link to one, is at `path`.
pub(crate) fn is_folder(path: impl AsRef<Path>) -> bool {
    path.as_ref().is_dir()
}

/// True if a file, or a link to one, is at `path`.
pub(crate) fn is_file(path: impl AsRef<Path>) -> bool {
    path.as_ref().is_file()
}

/// True if a link is at `path`, wherever it leads.
pub(crate) fn is_link(path: impl AsRef<Path>) -> bool {
    path.as_ref().is_symlink()
}

/// True if anything exists at `path`.
pub(crate) fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().exists()
}

/// True if `path`, with links followed, is inside `folder`.
pub(crate) fn is_inside(path: impl AsRef<Path>, folder: impl AsRef<Path>) -> bool {
    match (path.as_ref().canonicalize(), folder.as_ref().canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Like [`RealPaths::stay_within`], for one path.
pub(crate) fn stays_within(path: &AbsolutePath, folder: &AbsolutePath) -> Result<(), DiskError> {
    RealPaths::default().stay_within(path, folder)
}

/// Refuses a path that is not below `folder` (which is canonical), or that has a link on the way from there or at its
/// end, wherever it leads: what is made, entered or removed there must not be elsewhere.
pub(crate) fn passes_no_link(path: &AbsolutePath, folder: &AbsolutePath) -> Result<(), DiskError> {
    stays_within(path, folder)?;
    let out = |to: &Path| DiskError::LeadsOut { path: path.as_path().to_path_buf(), to: to.to_path_buf() };
    let mut place = path.clone();
    while place != *folder {
        if let Ok(to) = place.as_path().read_link() {
            return Err(DiskError::Link { path: place.as_path().to_path_buf(), to });
        }
        place = place.parent().filter(|above| above.is_within(folder)).ok_or_else(|| out(path.as_path()))?;
    }
    Ok(())
}

/// When the file's bytes last changed, in milliseconds since 1970; `None` if that is unknown.
pub(crate) fn modified(path: impl AsRef<Path>) -> Option<i64> {
    let time = path.as_ref().metadata().ok()?.modified().ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// What the system records about a file. It differs after each change of its bytes, even if the file's time is set
/// back. For a link, the stamp of the link. `None` if the file does not exist or the system does not record it.
#[cfg(unix)]
pub(crate) fn stamp(path: impl AsRef<Path>) -> Option<Stamp> {
    path.as_ref().symlink_metadata().ok().map(|found| stamp_of(&found))
}

/// Like [`stamp()`], but only for a regular file.
#[cfg(unix)]
pub(crate) fn file_stamp(path: impl AsRef<Path>) -> Option<Stamp> {
    path.as_ref().symlink_metadata().ok().filter(std::fs::Metadata::is_file).map(|found| stamp_of(&found))
}

#[cfg(unix)]
fn stamp_of(found: &std::fs::Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stamp {
        place: (found.dev(), found.ino()),
        size: found.size(),
        written: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed: nanoseconds(found.ctime(), found.ctime_nsec()),
    }
}

#[cfg(not(unix))]
pub(crate) fn file_stamp(_path: impl AsRef<Path>) -> Option<Stamp> {
    None
}

#[cfg(not(unix))]
pub(crate) fn stamp(_path: impl AsRef<Path>) -> Option<Stamp> {
    None
}

/// See [`stamp()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u64, u64, u64, i64, i64)", into = "(u64, u64, u64, i64, i64)")]
pub(crate) struct Stamp {
    place: (u64, u64),
    size: u64,
    /// In nanoseconds since 1970, like the next one.
    written: i64,
    changed: i64,
}

/// Hundreds of stamps are stored at a time: without field names they take half the time to read.
impl From<(u64, u64, u64, i64, i64)> for Stamp {
    fn from((device, number, size, written, changed): (u64, u64, u64, i64, i64)) -> Self {
        Self { place: (device, number), size, written, changed }
    }
}

impl From<Stamp> for (u64, u64, u64, i64, i64) {
    fn from(Stamp { place: (device, number), size, written, changed }: Stamp) -> Self {
        (device, number, size, written, changed)
    }
}

impl Stamp {
    /// True if the file has been unchanged long enough that its next change gets a different time, even if the clock of
    /// the disk is coarse. `now` is in milliseconds since 1970.
    pub(crate) fn is_settled(&self, now: i64) -> bool {
        const GRAIN: i64 = 2_000;
        self.written.max(self.changed) / 1_000_000 + GRAIN < now
    }

    /// When the file was last written, in seconds since 1970.
    pub(crate) fn written_at(&self) -> i64 {
        self.written.div_euclid(1_000_000_000)
    }
}

/// The file's length in bytes; `None` if that is unknown.
pub(crate) fn size(path: impl AsRef<Path>) -> Option<u64> {
    Some(path.as_ref().metadata().ok()?.len())
}

/// What went wrong, with which file, and during which operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiskError {
    #[error("cannot {doing} `{}`", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` is not UTF-8 text: line {line} (first bad byte at offset {offset})", path.display())]
    NotText { path: PathBuf, line: usize, offset: usize },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{}` is a symlink loop", path.display())]
    LinksTurnInCircles { path: PathBuf },
    #[error("`{}` leads out of its folder, to `{}`", path.display(), to.display())]
    LeadsOut { path: PathBuf, to: PathBuf },
    #[error("`{}` is a link, to `{}`", path.display(), to.display())]
    Link { path: PathBuf, to: PathBuf },
    #[error("`{}` is not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` is larger than {} MB, the limit for such a file", path.display(), limit >> 20)]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("`{}` is not a folder", path.display())]
    NotAFolder { path: PathBuf },
    #[error("the folder `{}` cannot be written to", path.display())]
    ReadOnly { path: PathBuf },
    #[error("`{}` is read-only", path.display())]
    Protected { path: PathBuf },
    #[error("`{}` was changed by another program meanwhile", path.display())]
    Changed { path: PathBuf },
    #[error("`{}` would be changed twice at once", path.display())]
    TwoChanges { path: PathBuf },
    #[error("`{}` is being written by {holder}", path.display())]
    Locked { path: PathBuf, holder: String },
    #[error("no folder for the lock of `{}` can be written", path.display())]
    NoLockFolder { path: PathBuf },
    #[error("the journal `{}` of an unfinished write cannot be used: {reason}", path.display())]
    BadJournal { path: PathBuf, reason: String },
    #[error("`{}` was not created here by this program: it came with the folder, or from another computer", path.display())]
    NotOurs { path: PathBuf },
    #[error("{first}; undoing the changes failed too: {second}")]
    Unfinished { path: PathBuf, first: Box<DiskError>, second: Box<DiskError> },
    #[error("cannot record what to write")]
    Unwritable { source: serde_json::Error },
    #[error("other users can write to or read `{}`", path.display())]
    NotPrivate { path: PathBuf },
    #[error("stopped at step {step}, as a test asked")]
    Fault { step: u32 },
    #[error("stopped by a signal; nothing was changed")]
    Interrupted { signal: usize },
}

/// The hint for a full disk.
pub(crate) const MAKE_ROOM: &str = "make room on the disk, then run the command again";

/// True if nothing more can be written: the disk is full, or the user's quota is used up.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl DiskError {
    /// True if this process may not do it.
    fn is_denied(&self) -> bool {
        match self {
            Self::ReadOnly { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => false,
        }
    }

    /// For `map_err`: wraps an error of the operating system with the operation and the path.
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_path_buf(), source }
    }
}

impl Explain for DiskError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::LeadsOut { .. } | Self::Link { .. } => Some("replace the link by a real file or folder".to_owned()),
            Self::ReadOnly { .. } => Some("give yourself write access to the folder, or choose another".to_owned()),
            Self::Protected { path } => Some(format!(
                "if it may be changed, run `{}`, then the command again",
                typed!("chmod u+w {}", path.display())
            )),
            Self::Io { path, source, .. } if source.kind() == io::ErrorKind::PermissionDenied => Some(format!(
                "`{}` may belong to another user, for example after a `sudo`; `ls -ld` shows the owner",
                path.display()
            )),
            Self::Changed { .. } => Some("run the command again".to_owned()),
            Self::Locked { .. } => Some("wait for it to end, then run the command again".to_owned()),
            Self::BadJournal { path, .. } => {
                let folder = path.ancestors().find(|folder| folder.ends_with(journal::FOLDER)).unwrap_or(path);
                Some(format!("compare the files in `{}` with yours, then remove that folder", folder.display()))
            }
            Self::NotPrivate { path } => Some(format!("check what `{}` is, then remove it", path.display())),
            Self::NotOurs { path } => Some(format!(
                "if a call was interrupted on another computer or in a sandbox, run `gsd-tools recover` there; otherwise \
                 check what `{}` is, then move it away",
                path.display()
            )),
            Self::Unfinished { path, .. } => {
                Some(format!("run `gsd-tools recover`; the earlier files are in `{}`", path.display()))
            }
            Self::Io { source, .. } if is_full(source) => Some(MAKE_ROOM.to_owned()),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::IsADirectory => {
                Some("it is a folder; a file is needed".to_owned())
            }
            Self::NotText { .. } => Some("save the file as UTF-8".to_owned()),
            Self::LinksTurnInCircles { .. } => Some("remove one of the links".to_owned()),
            Self::NotAFile { .. } => Some("replace it by a regular file".to_owned()),
            Self::NotAFolder { .. } => Some("check the path".to_owned()),
            Self::TooLarge { .. } => Some("check what the file contains, and shorten it".to_owned()),
            Self::NoLockFolder { .. } => {
                Some("set XDG_STATE_HOME to a folder that you can write to, then run the command again".to_owned())
            }
            Self::Io { .. }
            | Self::Path(_)
            | Self::TwoChanges { .. }
            | Self::Unwritable { .. }
            | Self::Fault { .. }
            | Self::Interrupted { .. } => None,
        }
    }
}

/// Turns absence into `None`. A path that goes through a file does not exist either.
fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod crash_tests;
#[cfg(test)]
#[cfg(unix)]
mod history_tests;

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    #[test]
    fn an_absent_file_has_no_text_and_an_unreadable_one_is_an_error_with_its_name() {
        let folder = crate::testing::folder();
        let path = folder.path().join("a.md");
        assert_eq!(read_text(&path).unwrap(), None);
        std::fs::write(&path, "\u{feff}x\r\n").unwrap();
        assert_eq!(read_text(&path).unwrap().as_deref(), Some("\u{feff}x\r\n"));
        assert_eq!(read_text(path.join("below")).unwrap(), None, "nothing is below a file");
        std::fs::write(&path, b"ok\xff").unwrap();
        let error = read_text(&path).unwrap_err().to_string();
        assert!(error.contains("a.md") && error.contains("offset 2"), "{error}");
        assert!(read_text(folder.path()).unwrap_err().to_string().contains(folder.path().to_str().unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_plain_file_is_read_like_any_other_and_a_link_is_not_followed() {
        let folder = crate::testing::folder();
        let at = |name: &str| folder.path().join(name);
        for text in ["", "x", &"line\n".repeat(5000)] {
            std::fs::write(at("a"), text).unwrap();
            assert!(matches!(read_plain(&at("a")).unwrap(), Plain::Text(read) if read == text));
            assert_eq!(read_text(at("a")).unwrap().as_deref(), Some(text));
        }
        std::os::unix::fs::symlink(at("a"), at("l")).unwrap();
        assert!(matches!(read_plain(&at("l")).unwrap(), Plain::Link));
        assert!(matches!(read_plain(&at("none")).unwrap(), Plain::Absent));
        assert!(matches!(read_plain(&at("a/below")).unwrap(), Plain::Absent));
        assert!(read_plain(folder.path()).is_err());
        std::fs::write(at("a"), b"\xff").unwrap();
        assert!(read_plain(&at("a")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_a_new_stamp_after_each_change() {
        let folder = crate::testing::folder();
        let path = folder.path().join("a");
        assert!(stamp(&path).is_none());
        std::fs::write(&path, "one").unwrap();
        let (first, time) = (stamp(&path), path.metadata().unwrap().modified().unwrap());
        assert_eq!(first, stamp(&path));
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_ne!(first, stamp(&path), "also where its time is set back");
        let now = i64::try_from(time.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
        assert!(!stamp(&path).unwrap().is_settled(now) && stamp(&path).unwrap().is_settled(now + 60_000));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_through_a_link_is_refused_wherever_the_link_leads() {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let root = base.resolve("r");
        std::fs::create_dir_all(root.resolve("a/b").as_path()).unwrap();
        std::fs::create_dir(base.resolve("out").as_path()).unwrap();
        for (link, to) in [("in", "a"), ("a/b/out", "../../../out"), ("none", "nothing"), ("far", "/nothing/at/all")] {
            std::os::unix::fs::symlink(to, root.resolve(link)).unwrap();
        }
        for path in ["a", "a/b", "a/new/deep", "new"] {
            passes_no_link(&root.resolve(path), &root).unwrap();
        }
        for path in ["in", "in/b", "a/b/out", "a/b/out/x", "none", "none/x", "far", "far/x", "..", "../out/x"] {
            let error = passes_no_link(&root.resolve(path), &root).unwrap_err();
            assert!(matches!(error, DiskError::Link { .. } | DiskError::LeadsOut { .. }), "{path}: {error}");
        }
        let error = passes_no_link(&root.resolve("in/b"), &root).unwrap_err().to_string();
        assert!(error.ends_with("r/in` is a link, to `a`"), "{error}");
    }

    #[test]
    fn a_folder_is_listed_by_name() {
        let folder = crate::testing::folder();
        assert_eq!(list(folder.path().join("none")).unwrap(), None);
        std::fs::write(folder.path().join("b"), "").unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let entries = list(folder.path()).unwrap().unwrap();
        assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(entries[0].is_folder() && entries[1].is_file());
    }
}
