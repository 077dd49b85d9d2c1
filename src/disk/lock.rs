//! Locks: one writer at a time.
//!
//! Ours is a lock of the operating system on a file outside the tree it guards, so that it works on a read-only tree
//! and ends with the process that has it. The other program that writes `.planning/` guards it with lock *files*;
//! [`PeerLock`] follows its rules, so that both can work in one project.

use std::cell::RefCell;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{AbsolutePath, Digest, DiskError, present, private};

/// The process that takes a lock; other processes read this while they wait.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    /// The current folder of the call.
    pub(crate) folder: PathBuf,
    /// When the call began, as an ISO timestamp.
    pub(crate) since: String,
}

/// A lock on one tree; it ends with this value, because the system releases it when the file is closed.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
    /// Who has it, as written in the file.
    holder: String,
    /// The last transactions this user's program began in the tree: the one noted in this file, and those in the files
    /// of other folders, where calls with a different environment put theirs.
    noted: RefCell<Vec<String>>,
}

/// Begins the first line of a lock file, which names a transaction. That line contains nothing from outside the
/// program.
const TRANSACTION: &str = "transaction ";
/// Written if there was no transaction.
const NONE: &str = "none";

impl Lock {
    /// Takes the lock of the tree at `root`, waiting for at most `patience`.
    ///
    /// `folders` are the folders for lock files, best first; the first writable one is used.
    pub(super) fn acquire(
        folders: &[PathBuf],
        root: &AbsolutePath,
        holder: &Holder,
        patience: Duration,
    ) -> Result<Self, DiskError> {
        let (mut file, path) = open(folders, root)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(DiskError::Locked {
                        path: root.as_path().to_path_buf(),
                        holder: holder_in(&mut file).unwrap_or_else(|| "another process".to_owned()),
                    });
                }
                // The file system has no locks: the lock files in the tree itself must suffice.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => break,
                Err(TryLockError::Error(source)) => return Err(DiskError::Io { doing: "lock", path, source }),
            }
        }
        let here = noted(&mut file);
        let files =
            folders.iter().filter(|folder| private::is_own_folder(folder)).map(|folder| folder.join(name_of(root)));
        let elsewhere = files.filter(|other| *other != path).filter_map(|other| noted(&mut File::open(other).ok()?));
        let noted = here.into_iter().chain(elsewhere).collect();
        let holder = format!("process {} in `{}` since {}", holder.process, holder.folder.display(), holder.since);
        // The name of a folder may contain line breaks.
        let holder = holder.replace(char::is_control, " ");
        let lock = Self { file, path, holder, noted: RefCell::new(noted) };
        // The holder's name only helps a person who waits; the lock works without it.
        let _ = lock.write();
        Ok(lock)
    }

    /// True if a process has locked the tree at `root`. Writes nothing.
    pub(super) fn is_held(folders: &[PathBuf], root: &AbsolutePath) -> bool {
        let name = name_of(root);
        let mut files = folders.iter().filter_map(|folder| File::open(folder.join(&name)).ok());
        files.any(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Records, outside the tree, that this user's own program begins the transaction `id` in it.
    pub(super) fn note(&self, id: &str) -> Result<(), DiskError> {
        self.noted.replace(vec![id.to_owned()]);
        // A journal that survives a power cut is useless without its note.
        let kept = self.write().and_then(|()| self.file.sync_data());
        kept.map_err(|source| DiskError::Io { doing: "write the lock", path: self.path.clone(), source })
    }

    /// True if the transaction `id` was begun by this user's own program.
    pub(super) fn notes(&self, id: &str) -> bool {
        self.noted.borrow().iter().any(|noted| noted == id)
    }

    fn write(&self) -> io::Result<()> {
        let noted = self.noted.borrow();
        let text = format!("{TRANSACTION}{}\n{}\n", noted.first().map_or(NONE, String::as_str), self.holder);
        let mut file = &self.file;
        // The old note is cut off only once the new one is written.
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    }

    /// Keeps writers out while several documents are read. `None` if the tree was never written to or writers cannot be
    /// kept out; the caller then reads without the lock.
    pub(super) fn share(folders: &[PathBuf], root: &AbsolutePath, patience: Duration) -> Option<Self> {
        let open = |path: PathBuf| Some((File::open(&path).ok()?, path));
        let (file, path) = folders.iter().find_map(|folder| open(folder.join(name_of(root))))?;
        let started = Instant::now();
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Some(Self { file, path, holder: String::new(), noted: RefCell::default() }),
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return None,
            }
        }
    }
}

fn name_of(root: &AbsolutePath) -> String {
    let digest = Digest::of(root.as_path().as_os_str().as_encoded_bytes()).to_string();
    format!("{}.lock", &digest[..32])
}

fn open(folders: &[PathBuf], root: &AbsolutePath) -> Result<(File, PathBuf), DiskError> {
    let name = name_of(root);
    let mut refused = None;
    for folder in folders {
        let path = folder.join(&name);
        match open_in(folder, &path) {
            Ok(file) => return Ok((file, path)),
            Err(source) => refused = refused.or(Some(DiskError::Io { doing: "make the lock", path, source })),
        }
    }
    Err(refused.unwrap_or_else(|| DiskError::NoLockFolder { path: root.as_path().to_path_buf() }))
}

/// Opens a lock file in a folder that only this user can write to: its contents are trusted.
fn open_in(folder: &Path, path: &Path) -> io::Result<File> {
    private::make_own_folder(folder)?;
    let mut options = OpenOptions::new();
    // Never truncated on opening: it names the holder.
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The transaction named in the first line of a lock file.
fn noted(file: &mut File) -> Option<String> {
    let text = read(file).ok()?;
    let id = text.lines().next()?.strip_prefix(TRANSACTION)?;
    Some(id.to_owned()).filter(|id| id != NONE)
}

/// The holder of a lock, from the second line of the file.
fn holder_in(file: &mut File) -> Option<String> {
    read(file).ok()?.lines().nth(1).filter(|line| !line.is_empty()).map(str::to_owned)
}

fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// A lock file of the other program that we have taken. Removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct PeerLock {
    path: AbsolutePath,
    body: String,
}

/// The two kinds of lock file, with the rules for waiting and stealing that both programs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// `STATE.md.lock`: the body is the process number.
    State,
    /// `.planning/.lock`: the body is JSON with the process number.
    Planning,
}

/// A living holder keeps its lock for this long; after that the lock counts as forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// A lock file still empty after this time belongs to a process that died before writing it.
const UNWRITTEN: Duration = Duration::from_secs(1);

impl PeerLock {
    /// Takes `STATE.md.lock`, next to the state document.
    pub(super) fn of_state(state: &AbsolutePath, holder: &Holder) -> Result<Self, DiskError> {
        let path = state.beside(&format!("{}.lock", state.name()));
        Self::acquire(path, holder.process.to_string(), Rules::State)
    }

    /// Takes `.lock` in the planning folder.
    pub(super) fn of_planning(folder: &AbsolutePath, holder: &Holder) -> Result<Self, DiskError> {
        let body = PlanningLock {
            pid: holder.process,
            cwd: Some(holder.folder.to_string_lossy().into_owned()),
            acquired: Some(holder.since.clone()),
        };
        let body = serde_json::to_string(&body).map_err(|source| DiskError::Unwritable { source })?;
        Self::acquire(folder.resolve(".lock"), body, Rules::Planning)
    }

    fn acquire(path: AbsolutePath, body: String, rules: Rules) -> Result<Self, DiskError> {
        let started = Instant::now();
        loop {
            match create(&path, &body) {
                Ok(()) => return Ok(Self { path, body }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(DiskError::io("make the lock", path.as_path())(error)),
            }
            if steal(&path, rules)? {
                continue;
            }
            if started.elapsed() >= rules.patience() {
                let holder = pid_in(&path, rules).map_or("another process".to_owned(), |pid| format!("process {pid}"));
                return Err(DiskError::Locked { path: path.as_path().to_path_buf(), holder });
            }
            std::thread::sleep(rules.pause());
        }
    }
}

impl Drop for PeerLock {
    fn drop(&mut self) {
        // Another process may have taken it over as forgotten; it must not be removed then.
        if matches!(super::read_text(&self.path), Ok(Some(body)) if body == self.body) {
            let _ = super::atomic::remove_file(&self.path);
        }
    }
}

impl Rules {
    fn patience(self) -> Duration {
        match self {
            Self::State => Duration::from_secs(30),
            Self::Planning => Duration::from_secs(10),
        }
    }

    fn pause(self) -> Duration {
        // Waiters that started together should not keep asking at the same time; the process id spreads them.
        let jitter = u64::from(std::process::id() % 50);
        match self {
            Self::State => Duration::from_millis(200 + jitter),
            Self::Planning => Duration::from_millis(100),
        }
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct PlanningLock {
    pid: u32,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    acquired: Option<String>,
}

fn create(path: &AbsolutePath, body: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(body.as_bytes())
}

fn pid_in(path: &AbsolutePath, rules: Rules) -> Option<u32> {
    let body = super::read_text(path).ok()??;
    match rules {
        Rules::State => body.trim().parse().ok(),
        Rules::Planning => serde_json::from_str::<PlanningLock>(&body).ok().map(|lock| lock.pid),
    }
}

/// The lock files of other programs in a planning folder, and next to its state document, whose holder is dead or that
/// are old enough to count as forgotten. The next write takes them over.
pub(crate) fn forgotten_peer_locks(folder: &AbsolutePath, state: &AbsolutePath) -> Vec<AbsolutePath> {
    let of_state = state.beside(&format!("{}.lock", state.name()));
    let locks = [(folder.resolve(".lock"), Rules::Planning), (of_state, Rules::State)];
    let is_forgotten = |(path, rules): &(AbsolutePath, Rules)| {
        std::fs::symlink_metadata(path).is_ok_and(|seen| is_stale(path, *rules, &seen))
    };
    locks.into_iter().filter(is_forgotten).map(|(path, _)| path).collect()
}

fn is_stale(path: &AbsolutePath, rules: Rules, seen: &Metadata) -> bool {
    // A file's age depends on the file system and the machine's clock; a pinned clock does not matter.
    let age = seen.modified().ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
    match (pid_in(path, rules), rules) {
        (Some(pid), _) if !lives(pid) => true,
        (None, Rules::State) if super::read_bytes(path).is_ok() => age > UNWRITTEN,
        (None, Rules::Planning) => age > UNWRITTEN,
        _ => age > FORGOTTEN,
    }
}

/// Removes a lock whose holder is dead or that is old enough to count as forgotten. Returns whether to try again at
/// once.
fn steal(path: &AbsolutePath, rules: Rules) -> Result<bool, DiskError> {
    let look = || present(std::fs::symlink_metadata(path)).map_err(DiskError::io("look at the lock", path.as_path()));
    let Some(seen) = look()? else { return Ok(true) };
    if !is_stale(path, rules, &seen) || look()?.is_none_or(|now| !same_file(&seen, &now)) {
        return Ok(false);
    }
    let aside = path.beside(&format!("{}.stale-{}", path.name(), std::process::id()));
    // Renaming first decides between two processes that steal at once: only one of them finds the name.
    if super::atomic::rename(path, &aside).is_ok() {
        super::atomic::remove_file(&aside)?;
    }
    Ok(true)
}

#[cfg(unix)]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.modified().ok() == other.modified().ok()
}

/// True if a process with this id runs, or if that cannot be known.
#[cfg(unix)]
pub(crate) fn lives(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // If the signal is refused (another user's process), the process exists.
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
pub(crate) fn lives(_pid: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    /// A dropped lock can stay locked for a moment if another test forked meanwhile: its child has the descriptor until
    /// it calls exec.
    const A_WHILE: Duration = Duration::from_secs(10);

    fn folder() -> (tempfile::TempDir, AbsolutePath) {
        let temporary = crate::testing::folder();
        let path = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        (temporary, path)
    }

    fn holder() -> Holder {
        Holder { process: std::process::id(), folder: "/srv".into(), since: "2026-01-02T03:04:05.678Z".into() }
    }

    #[test]
    fn a_second_writer_learns_who_has_the_lock() {
        let (_temporary, folder) = folder();
        let (root, locks) = (folder.resolve("tree"), [folder.resolve("state/locks").as_path().to_path_buf()]);
        let held = Lock::acquire(&locks, &root, &holder(), A_WHILE).unwrap();
        let error = Lock::acquire(&locks, &root, &holder(), Duration::ZERO).unwrap_err().to_string();
        assert!(error.contains("tree") && error.contains("since 2026-01-02"), "{error}");
        assert!(Lock::share(&locks, &root, Duration::ZERO).is_none());
        drop(held);
        let reader = Lock::share(&locks, &root, A_WHILE).unwrap();
        let _other_reader = Lock::share(&locks, &root, A_WHILE).unwrap();
        assert!(Lock::acquire(&locks, &root, &holder(), Duration::ZERO).is_err());
        drop(reader);
    }

    #[test]
    fn a_folder_name_cannot_forge_a_transaction_note() {
        let (_temporary, folder) = folder();
        let (root, locks) = (folder.resolve("tree"), [folder.resolve("state/locks").as_path().to_path_buf()]);
        let named = Holder { folder: "/srv/x\ntransaction deadbeefdeadbeef\ny".into(), ..holder() };
        for _ in 0..2 {
            let lock = Lock::acquire(&locks, &root, &named, A_WHILE).unwrap();
            assert!(!lock.notes("deadbeefdeadbeef"));
        }
        Lock::acquire(&locks, &root, &named, A_WHILE).unwrap().note("0123456789abcdef").unwrap();
        let lock = Lock::acquire(&locks, &root, &named, A_WHILE).unwrap();
        assert!(lock.notes("0123456789abcdef") && !lock.notes("deadbeefdeadbeef"));
    }

    #[test]
    fn a_transaction_that_was_noted_in_another_folder_is_known() {
        let (_temporary, folder) = folder();
        let usual = folder.resolve("usual/state/locks").as_path().to_path_buf();
        let other = folder.resolve("other/state/locks").as_path().to_path_buf();
        let sandboxed = [folder.resolve("none/locks").as_path().to_path_buf(), other.clone()];
        std::fs::write(folder.resolve("none"), "").unwrap();
        Lock::acquire(&sandboxed, &folder, &holder(), A_WHILE).unwrap().note("0123456789abcdef").unwrap();
        let lock = Lock::acquire(&[usual, other], &folder, &holder(), A_WHILE).unwrap();
        assert!(lock.notes("0123456789abcdef"));
    }

    #[cfg(unix)]
    #[test]
    fn locks_are_where_others_cannot_write() {
        use std::os::unix::fs::PermissionsExt;
        let (_temporary, folder) = folder();
        let everybodys = folder.resolve("everybody");
        let mode = |path: &AbsolutePath| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let allow = |path: &AbsolutePath, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        std::fs::create_dir(&everybodys).unwrap();
        allow(&everybodys, 0o777);
        let locks = everybodys.resolve("ours/locks");
        let folders = [locks.as_path().to_path_buf()];
        let take = || Lock::acquire(&folders, &folder, &holder(), Duration::ZERO);
        drop(take().unwrap());
        assert_eq!((mode(&everybodys.resolve("ours")), mode(&locks)), (0o700, 0o700));
        assert_eq!(mode(&locks.resolve(name_of(&folder))), 0o600);
        allow(&everybodys.resolve("ours"), 0o755);
        assert!(take().is_err(), "somebody else may have made it");
        allow(&everybodys, 0o755);
        drop(take().unwrap());
        allow(&locks, 0o777);
        assert!(take().is_err(), "others can write there");
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_skipped_for_the_next() {
        let (_temporary, folder) = folder();
        std::fs::write(folder.resolve("file"), "").unwrap();
        let locks = [
            folder.resolve("file/state/locks").as_path().to_path_buf(),
            folder.resolve("b/state/locks").as_path().to_path_buf(),
        ];
        Lock::acquire(&locks, &folder, &holder(), A_WHILE).unwrap();
        assert!(folder.resolve("b").as_path().is_dir());
        assert!(Lock::acquire(&locks[..1], &folder, &holder(), Duration::ZERO).is_err());
    }

    #[test]
    fn the_other_programs_lock_files_exist_for_the_duration_of_a_write() {
        let (_temporary, folder) = folder();
        let state = PeerLock::of_state(&folder.resolve("STATE.md"), &holder()).unwrap();
        let planning = PeerLock::of_planning(&folder, &holder()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.resolve("STATE.md.lock")).unwrap(), std::process::id().to_string());
        let body: PlanningLock =
            serde_json::from_str(&std::fs::read_to_string(folder.resolve(".lock")).unwrap()).unwrap();
        assert_eq!(body.pid, std::process::id());
        drop((state, planning));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn the_lock_file_of_a_dead_process_is_taken_over_but_not_that_of_a_living_one() {
        let (_temporary, folder) = folder();
        let lock = folder.resolve("STATE.md.lock");
        let mut child = child_that_ends();
        let dead = child.id();
        child.wait().unwrap();
        std::fs::write(&lock, dead.to_string()).unwrap();
        drop(PeerLock::of_state(&folder.resolve("STATE.md"), &holder()).unwrap());
        assert!(!lock.as_path().exists());
        std::fs::write(&lock, std::process::id().to_string()).unwrap();
        assert!(!steal(&lock, Rules::State).unwrap());
        let old = std::time::UNIX_EPOCH + Duration::from_secs(1);
        File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
        assert!(steal(&lock, Rules::State).unwrap(), "a lock held for an hour was forgotten");
        assert!(!lock.as_path().exists());
    }

    #[cfg(unix)]
    fn child_that_ends() -> std::process::Child {
        std::process::Command::new("true").spawn().unwrap()
    }

    #[test]
    fn a_lock_file_without_a_body_is_respected_for_a_second() {
        let (_temporary, folder) = folder();
        let lock = folder.resolve(".lock");
        std::fs::write(&lock, "{").unwrap();
        assert!(!steal(&lock, Rules::Planning).unwrap());
        let old = std::time::UNIX_EPOCH + Duration::from_secs(1);
        File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
        assert!(steal(&lock, Rules::Planning).unwrap());
    }

    #[test]
    fn a_lock_that_was_taken_over_is_not_removed_from_its_new_holder() {
        let (_temporary, folder) = folder();
        let held = PeerLock::of_planning(&folder, &holder()).unwrap();
        std::fs::write(folder.resolve(".lock"), "{\"pid\":1}").unwrap();
        drop(held);
        assert!(folder.resolve(".lock").as_path().exists());
    }
}
