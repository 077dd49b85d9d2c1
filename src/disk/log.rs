//! An append-only file: one entry per line, each chained to all those before it.
//!
//! A line is `{"digest":"…","entry":…}`. Its digest is computed from the previous digest and the bytes of the entry, so
//! a changed, missing, added or moved line is detected at the first line that does not follow. There is one writer at a
//! time: it takes the lock of the file, as others lock a tree. An entry is on the disk once it is appended; a crash
//! costs at most the one being written. The next writer that opens the log cuts off what is left of that one.
//!
//! After an error the writer takes no more entries until the log is opened again. Readers write nothing; a torn last
//! line is reported to them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Explain;

use super::lock::Lock;
use super::{AbsolutePath, DOCUMENT_LIMIT, Digest, Disk, DiskError, atomic, identity, present};

/// The most bytes of a log that are read.
const LOG_LIMIT: u64 = 1 << 30;

const START: &[u8] = b"{\"digest\":\"";
const MIDDLE: &[u8] = b"\",\"entry\":";
const END: &[u8] = b"}";
/// The number of digits in a digest.
const DIGITS: usize = 64;

/// A log that this process writes.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    disk: &'a Disk,
    _lock: Lock,
    file: File,
    path: AbsolutePath,
    identity: String,
    /// The length of the file.
    length: u64,
    lines: u64,
    /// The digest of the last line.
    last: Digest,
    #[cfg(test)]
    torn: Option<Torn>,
    /// True after a failed append: the contents are known again only after reopening the file.
    is_in_doubt: bool,
}

/// The end of a log that was cut short by a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Torn {
    /// The number of the line it would have been.
    pub(crate) line: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The contents of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entries<T> {
    pub(crate) entries: Vec<T>,
    /// What follows the entries: left by a writer that died, or being written now.
    pub(crate) torn: Option<Torn>,
}

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    #[error("line {line} of `{path}` was modified: {reason}")]
    Broken { path: AbsolutePath, line: u64, reason: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Explain for LogError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Broken { path, line, .. } => Some(format!(
                "keep a copy of `{path}`, then remove line {line} and those after it: what comes before is intact"
            )),
            Self::Disk(error) => error.hint(),
        }
    }
}

impl Disk {
    /// Describes who has the log open now; `None` if it is free. The log is not touched.
    pub(crate) fn log_holder(&self, path: &AbsolutePath) -> Result<Option<String>, DiskError> {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        match self.lock(&atomic::canonical(&folder)?.resolve(path.name())) {
            Ok(_) => Ok(None),
            Err(DiskError::Locked { holder, .. }) => Ok(Some(holder)),
            Err(error) => Err(error),
        }
    }

    /// Opens or creates the log for writing, and cuts off what a crash left of an entry. Refuses a log that was
    /// modified.
    pub(crate) fn log(&self, path: &AbsolutePath) -> Result<Log<'_>, LogError> {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        // The folder's links are resolved, but a link at the path itself is refused.
        let path = atomic::canonical(&folder)?.resolve(path.name());
        let lock = self.lock(&path)?;
        self.faults.step()?;
        atomic::make_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
        self.faults.step()?;
        let file = open(&path)?;
        atomic::sync_folder(&path)?;
        let mut walk = Walk::over(&file, &path)?;
        while walk.next()?.is_some() {}
        let Walk { whole: length, lines, last, torn, .. } = walk;
        if torn.is_some() {
            self.faults.step()?;
            file.set_len(length).and_then(|()| file.sync_data()).map_err(DiskError::io("shorten", path.as_path()))?;
        }
        let identity = identity(&path);
        Ok(Log {
            disk: self,
            _lock: lock,
            file,
            path,
            identity,
            length,
            lines,
            last,
            #[cfg(test)]
            torn,
            is_in_doubt: false,
        })
    }
}

/// Reads a log, without a lock and without changing it; `None` if it does not exist. Refuses a log that was modified.
pub(crate) fn read_log<T: DeserializeOwned>(path: &AbsolutePath) -> Result<Option<Entries<T>>, LogError> {
    let Some((file, _)) = super::open(path.as_path())? else { return Ok(None) };
    let mut walk = Walk::over(&file, path)?;
    let mut entries = Vec::new();
    while let Some(entry) = walk.next()? {
        let line = walk.lines;
        entries.push(serde_json::from_slice(&entry).map_err(|error| broken(path, line, error.to_string()))?);
    }
    Ok(Some(Entries { entries, torn: walk.torn }))
}

/// True if a process has the log at `path` open now. Does not wait and writes nothing. `lock_folders` are those that a
/// [`Disk`] is made with.
pub(crate) fn is_log_held(lock_folders: &[PathBuf], path: &AbsolutePath) -> bool {
    let folder = path.parent().unwrap_or_else(|| path.clone());
    atomic::canonical(&folder).is_ok_and(|folder| Lock::is_held(lock_folders, &folder.resolve(path.name())))
}

impl Log<'_> {
    /// The part of an entry that a crash left and that opening cut off.
    #[cfg(test)]
    pub(crate) fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// Adds an entry. It is on the disk when this returns. On an error, the entry is either not in the log or is its
    /// last line, found by the next writer that opens the log.
    pub(crate) fn append(&mut self, entry: &impl Serialize) -> Result<(), DiskError> {
        let entry = serde_json::to_vec(entry).map_err(|source| DiskError::Unwritable { source })?;
        let digest = following(self.last, &entry);
        let line = [START, digest.to_string().as_bytes(), MIDDLE, &entry, END, b"\n"].concat();
        if line.len() as u64 > DOCUMENT_LIMIT {
            return Err(DiskError::TooLarge { path: self.path.as_path().to_path_buf(), limit: DOCUMENT_LIMIT });
        }
        if self.is_in_doubt || !self.is_as_left()? {
            return Err(DiskError::Changed { path: self.path.as_path().to_path_buf() });
        }
        self.is_in_doubt = true;
        if let Err(error) = self.write(&line) {
            // The next writer can cut off a partial entry too.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.is_in_doubt = false;
        (self.last, self.lines, self.length) = (digest, self.lines + 1, self.length + line.len() as u64);
        Ok(())
    }

    /// The number of entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        self.lines
    }

    fn write(&mut self, line: &[u8]) -> Result<(), DiskError> {
        self.disk.faults.step()?;
        self.file.write_all(line).map_err(DiskError::io("write", self.path.as_path()))?;
        self.disk.faults.step()?;
        self.file.sync_data().map_err(DiskError::io("sync", self.path.as_path()))
    }

    /// True if the file at the path is still the one that was opened, with the length this writer gave it.
    fn is_as_left(&self) -> Result<bool, DiskError> {
        let length = self.file.metadata().map_err(DiskError::io("look at", self.path.as_path()))?.len();
        Ok(length == self.length && identity(&self.path) == self.identity)
    }
}

/// Opens the file for appending: never a link, which could lead anywhere, or a pipe.
fn open(path: &AbsolutePath) -> Result<File, DiskError> {
    let found = present(std::fs::symlink_metadata(path)).map_err(DiskError::io("look at", path.as_path()))?;
    if found.is_some_and(|found| !found.is_file()) {
        return Err(DiskError::NotAFile { path: path.as_path().to_path_buf() });
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path).map_err(DiskError::io("open", path.as_path()))
}

/// The digest of a line with this entry that follows a line with the digest `last`.
fn following(last: Digest, entry: &[u8]) -> Digest {
    Digest::of(&[last.to_string().as_bytes(), entry].concat())
}

/// The digest that the first line follows.
fn beginning() -> Digest {
    Digest::of(b"")
}

fn broken(path: &AbsolutePath, line: u64, reason: impl Into<String>) -> LogError {
    LogError::Broken { path: path.clone(), line, reason: reason.into() }
}

/// Walks a log line by line. Only the last line may be torn: each was on the disk before the next was begun.
struct Walk<'a> {
    reader: BufReader<io::Take<&'a File>>,
    path: &'a AbsolutePath,
    /// The length of the complete lines so far.
    whole: u64,
    lines: u64,
    last: Digest,
    torn: Option<Torn>,
}

impl<'a> Walk<'a> {
    fn over(file: &'a File, path: &'a AbsolutePath) -> Result<Self, DiskError> {
        let size = file.metadata().map_err(DiskError::io("look at", path.as_path()))?.len();
        if size > LOG_LIMIT {
            return Err(DiskError::TooLarge { path: path.as_path().to_path_buf(), limit: LOG_LIMIT });
        }
        // What a writer adds meanwhile is left to the next read.
        let reader = BufReader::new(file.take(size));
        Ok(Self { reader, path, whole: 0, lines: 0, last: beginning(), torn: None })
    }

    /// The bytes of the next entry; `None` after the last whole one.
    fn next(&mut self) -> Result<Option<Vec<u8>>, LogError> {
        if self.torn.is_some() {
            return Ok(None);
        }
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(DOCUMENT_LIMIT);
        limited.read_until(b'\n', &mut line).map_err(DiskError::io("read", self.path.as_path()))?;
        if line.is_empty() {
            return Ok(None);
        }
        let number = self.lines + 1;
        let is_last = self.reader.fill_buf().map_err(DiskError::io("read", self.path.as_path()))?.is_empty();
        let Some(text) = line.strip_suffix(b"\n") else {
            if !is_last {
                return Err(broken(self.path, number, "it is longer than any line of a log"));
            }
            self.torn = Some(Torn { line: number, bytes: line });
            return Ok(None);
        };
        match entry_of(text).filter(|(digest, entry)| *digest == following(self.last, entry)) {
            Some((digest, entry)) => {
                (self.last, self.lines, self.whole) = (digest, number, self.whole + line.len() as u64);
                Ok(Some(entry.to_vec()))
            }
            // A part of a file that never reached the disk reads as zeros, which an entry never contains.
            None if is_last && text.contains(&0) => {
                self.torn = Some(Torn { line: number, bytes: line });
                Ok(None)
            }
            None => Err(broken(self.path, number, "it does not follow from the lines before it")),
        }
    }
}

/// Splits a line into its digest and its entry, as written.
fn entry_of(line: &[u8]) -> Option<(Digest, &[u8])> {
    let rest = line.strip_prefix(START)?.strip_suffix(END)?;
    let (digest, rest) = rest.split_at_checked(DIGITS)?;
    let digest = std::str::from_utf8(digest).ok().and_then(Digest::parse)?;
    Some((digest, rest.strip_prefix(MIDDLE)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::{Faults, Holder};
    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    struct TestEntry {
        number: u32,
        text: String,
    }

    struct LogBench {
        _temporary: Option<tempfile::TempDir>,
        folder: AbsolutePath,
    }

    impl LogBench {
        fn new() -> Self {
            let temporary = crate::testing::folder();
            let folder = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            Self { _temporary: Some(temporary), folder }
        }

        fn disk(&self, faults: Faults) -> Disk {
            let holder = Holder { process: std::process::id(), folder: "/".into(), since: "now".into() };
            Disk::new(vec![self.folder.resolve("state/locks").as_path().to_path_buf()], holder, faults)
                .patient_for(Duration::from_millis(50))
        }

        fn path(&self) -> AbsolutePath {
            self.folder.resolve("runs/log.jsonl")
        }

        fn add(&self, entries: &[TestEntry]) {
            let disk = self.disk(Faults::default());
            let mut log = disk.log(&self.path()).unwrap();
            for entry in entries {
                log.append(entry).unwrap();
            }
        }

        fn read(&self) -> Result<Option<Entries<TestEntry>>, LogError> {
            read_log(&self.path())
        }
    }

    /// The number of lines that have an end.
    fn lines_in(bytes: &[u8]) -> usize {
        bytes.split(|byte| *byte == b'\n').count() - 1
    }

    fn entries(count: u32) -> Vec<TestEntry> {
        (0..count).map(|number| TestEntry { number, text: format!("entry {number}\n\0\"ç") }).collect()
    }

    #[test]
    fn appended_entries_are_read_back_by_this_writer_and_the_next() {
        let bench = LogBench::new();
        assert_eq!(bench.read().unwrap(), None);
        bench.add(&entries(3)[..2]);
        bench.add(&entries(3)[2..]);
        assert_eq!(bench.read().unwrap(), Some(Entries { entries: entries(3), torn: None }));
        let text = std::fs::read_to_string(bench.path()).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["entry"].is_object()));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_is_private_to_the_user_and_never_a_link() {
        use std::os::unix::fs::PermissionsExt;
        let bench = LogBench::new();
        bench.add(&entries(1));
        assert_eq!(std::fs::metadata(bench.path()).unwrap().permissions().mode() & 0o777, 0o600);
        let link = bench.path().beside("link");
        std::os::unix::fs::symlink(bench.path(), &link).unwrap();
        let disk = bench.disk(Faults::default());
        assert!(matches!(disk.log(&link), Err(LogError::Disk(DiskError::NotAFile { .. }))));
    }

    #[test]
    fn there_is_one_writer_and_any_number_of_readers() {
        let bench = LogBench::new();
        let (first, second) = (bench.disk(Faults::default()), bench.disk(Faults::default()));
        let mut log = first.log(&bench.path()).unwrap();
        log.append(&entries(1)[0]).unwrap();
        assert!(matches!(second.log(&bench.path()), Err(LogError::Disk(DiskError::Locked { .. }))));
        assert_eq!(bench.read().unwrap().unwrap().entries, entries(1));
        let locks = [bench.folder.resolve("state/locks").as_path().to_path_buf()];
        assert!(is_log_held(&locks, &bench.path()));
        drop(log);
        assert!(!is_log_held(&locks, &bench.path()));
        assert!(!is_log_held(&locks, &bench.path().beside("other.jsonl")), "nobody ever had it");
        assert_eq!(second.log(&bench.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_log_that_is_changed_while_open_is_not_written_to() {
        let bench = LogBench::new();
        let disk = bench.disk(Faults::default());
        let mut log = disk.log(&bench.path()).unwrap();
        log.append(&entries(1)[0]).unwrap();
        let bytes = std::fs::read(bench.path()).unwrap();
        std::fs::write(bench.path(), [bytes.as_slice(), b"x"].concat()).unwrap();
        assert!(matches!(log.append(&1), Err(DiskError::Changed { .. })));
        drop(log);
        let mut log = disk.log(&bench.path()).unwrap();
        assert_eq!(log.torn().unwrap(), &Torn { line: 2, bytes: b"x".to_vec() });
        std::fs::rename(bench.path(), bench.path().beside("moved")).unwrap();
        std::fs::write(bench.path(), bytes).unwrap();
        assert!(matches!(log.append(&1), Err(DiskError::Changed { .. })), "it would go to a file of no name");
    }

    #[test]
    fn a_missing_or_moved_line_is_named() {
        let bench = LogBench::new();
        bench.add(&entries(4));
        let text = std::fs::read_to_string(bench.path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let line_of = |order: &[usize]| {
            let chosen: Vec<&str> = order.iter().map(|index| lines[*index]).collect();
            std::fs::write(bench.path(), chosen.join("\n") + "\n").unwrap();
            let error = bench.read().unwrap_err();
            assert!(bench.disk(Faults::default()).log(&bench.path()).is_err(), "a writer goes by the same");
            assert!(error.hint().unwrap().contains("keep a copy"));
            match error {
                LogError::Broken { line, .. } => line,
                LogError::Disk(error) => panic!("{error}"),
            }
        };
        assert_eq!(line_of(&[0, 2, 3]), 2);
        assert_eq!(line_of(&[1, 2, 3]), 1);
        assert_eq!(line_of(&[0, 1, 3, 2]), 3);
        assert_eq!(line_of(&[0, 1, 1, 2]), 3);
    }

    #[test]
    fn an_entry_of_another_type_is_an_error_with_its_line() {
        let bench = LogBench::new();
        bench.add(&entries(2));
        bench.disk(Faults::default()).log(&bench.path()).unwrap().append(&"text").unwrap();
        assert!(matches!(bench.read(), Err(LogError::Broken { line: 3, .. })));
    }

    #[test]
    fn an_error_at_any_step_costs_at_most_the_entry_being_written() {
        for step in 0.. {
            let bench = LogBench::new();
            bench.add(&entries(2));
            std::fs::OpenOptions::new().append(true).open(bench.path()).unwrap().write_all(b"{\"dig").unwrap();
            let disk = bench.disk(Faults::at(Some(step), None));
            let result = disk.log(&bench.path()).and_then(|mut log| {
                let result = log.append(&entries(3)[2]);
                assert!(result.is_ok() || log.append(&entries(3)[2]).is_err(), "a log in doubt takes nothing more");
                Ok(result?)
            });
            drop(disk);
            let after = bench.disk(Faults::default()).log(&bench.path()).unwrap().len();
            let found = bench.read().unwrap().unwrap();
            assert_eq!((found.torn, found.entries.len() as u64), (None, after));
            assert_eq!(found.entries, entries(3)[..if result.is_ok() { 3 } else { 2 }], "step {step}");
            if result.is_ok() {
                assert!(step > 3, "{step}");
                break;
            }
        }
    }

    /// Not a real test: the process that is killed in the middle of its work.
    #[test]
    fn appends_until_it_is_killed() {
        let Some(folder) = std::env::var_os("GSD_LOG_FOLDER") else { return };
        let bench = LogBench { _temporary: None, folder: AbsolutePath::parse(PathBuf::from(folder)).unwrap() };
        let disk = bench.disk(Faults::default());
        let mut log = disk.log(&bench.path()).unwrap();
        for number in u32::try_from(log.len()).unwrap().. {
            log.append(&TestEntry { number, text: "x".repeat(usize::try_from(number).unwrap() * 97 % 20_000) })
                .unwrap();
            let done = bench.folder.resolve("done");
            std::fs::write(done.beside("new"), number.to_string()).unwrap();
            std::fs::rename(done.beside("new"), done).unwrap();
        }
    }

    #[test]
    fn a_kill_in_the_middle_costs_no_entry_that_was_appended() {
        let bench = LogBench::new();
        let done = || std::fs::read_to_string(bench.folder.resolve("done")).ok()?.parse::<usize>().ok();
        let mut before = 0;
        for round in 0..8 {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "disk::log::tests::appends_until_it_is_killed"])
                .env("GSD_LOG_FOLDER", bench.folder.as_path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let begun = std::time::Instant::now();
            while done().is_none_or(|done| done < before + 5 + round) {
                assert!(begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let found = bench.read().unwrap().unwrap().entries;
            assert!(found.len() > done().unwrap(), "{} entries, {:?} were appended", found.len(), done());
            assert!(found.iter().enumerate().all(|(index, entry)| entry.number as usize == index));
            before = found.len();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn a_truncated_log_has_the_entries_before_the_cut(count in 1u32..6, part in 0.0..1.0) {
            let bench = LogBench::new();
            bench.add(&entries(count));
            let bytes = std::fs::read(bench.path()).unwrap();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
            let cut = (bytes.len() as f64 * part) as usize;
            std::fs::write(bench.path(), &bytes[..cut]).unwrap();
            let whole = lines_in(&bytes[..cut]);
            let rest = bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let torn = (rest < cut).then(|| Torn { line: whole as u64 + 1, bytes: bytes[rest..cut].to_vec() });
            let all = entries(count);
            let expected = Entries { entries: all[..whole].to_vec(), torn: torn.clone() };
            prop_assert_eq!(bench.read().unwrap().unwrap(), expected);
            prop_assert_eq!(std::fs::read(bench.path()).unwrap(), &bytes[..cut], "a reader changes nothing");
            let disk = bench.disk(Faults::default());
            let mut log = disk.log(&bench.path()).unwrap();
            prop_assert_eq!(log.torn(), torn.as_ref());
            log.append(&all[0]).unwrap();
            let found = bench.read().unwrap().unwrap();
            prop_assert_eq!(found.entries, [&all[..whole], &all[..1]].concat());
            prop_assert_eq!(found.torn, None);
        }

        #[test]
        fn a_changed_byte_is_detected_in_its_line(count in 1u32..5, at: prop::sample::Index, to: u8) {
            let (bench, all) = (LogBench::new(), entries(count));
            bench.add(&all);
            let mut bytes = std::fs::read(bench.path()).unwrap();
            let at = at.index(bytes.len());
            let line = lines_in(&bytes[..at]);
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            std::fs::write(bench.path(), &bytes).unwrap();
            match bench.read() {
                Err(LogError::Broken { line: named, .. }) => prop_assert_eq!(named, line as u64 + 1),
                // A crash can leave this of the last line too.
                Ok(Some(Entries { entries: found, torn: Some(torn) })) => {
                    prop_assert_eq!(line + 1, all.len());
                    prop_assert_eq!((torn.line, found), (line as u64 + 1, all[..line].to_vec()));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
