//! The files of one commit, as git has them, below the project's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

use super::repository::complaint;
use crate::acts::Call;
use crate::failure::Failure;
use crate::project::files::{FileError, Files, FolderEntry, sha256};
use crate::world::{Program, World};

/// The files of a commit. Requested files are read ahead at once, the rest one by one.
#[derive(Debug)]
pub(crate) struct CommitFiles {
    world: World,
    folder: PathBuf,
    /// The blob of each regular file, by its path.
    blobs: BTreeMap<String, String>,
    /// Mode and object name of every entry, including links and submodules.
    entries: BTreeMap<String, String>,
    known: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl CommitFiles {
    /// Reads the list of files of `commit`, or of a tree. The files that `ahead` selects are read now.
    pub(crate) fn of(call: &Call, commit: &str, ahead: impl Fn(&str) -> bool) -> Result<Self, Failure> {
        let folder = call.root().as_path().to_owned();
        let finished = call.world().git(&folder, ["ls-tree", "-r", "-z", commit])?;
        if !finished.success() {
            return Err(Failure::usage(format!("git cannot list `{commit}`: {}", complaint(&finished)))
                .hint("name a commit of this repository; `git log --oneline` lists them"));
        }
        let listed = String::from_utf8_lossy(&finished.stdout).into_owned();
        let blob = |record: &str| {
            let (head, path) = record.split_once('\t')?;
            let mut words = head.split(' ');
            let is_file = words.next()?.starts_with("100");
            Some((path.to_owned(), words.nth(1)?.to_owned())).filter(|_| is_file)
        };
        let blobs: BTreeMap<String, String> = listed.split('\0').filter_map(blob).collect();
        let entry = |record: &str| record.split_once('\t').map(|(head, path)| (path.to_owned(), head.to_owned()));
        let entries = listed.split('\0').filter_map(entry).collect();
        let files = Self { world: call.world().clone(), folder, blobs, entries, known: Mutex::default() };
        files.read_ahead(ahead)?;
        Ok(files)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.blobs.keys()
    }

    /// The name of a regular file's content; `None` if the commit has no such file.
    pub(crate) fn blob(&self, path: &str) -> Option<&str> {
        self.blobs.get(path).map(String::as_str)
    }

    /// Mode and content name of any entry, including links; `None` if the commit has nothing there.
    pub(crate) fn entry(&self, path: &str) -> Option<&str> {
        self.entries.get(path).map(String::as_str)
    }

    /// The files that differ between the two commits, or are in only one of them.
    pub(crate) fn differing(&self, other: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.entries.keys().chain(other.entries.keys()).collect();
        let differs = |path: &&&String| self.entry(path) != other.entry(path);
        paths.iter().filter(differs).map(|path| (*path).clone()).collect()
    }

    /// The bytes of a regular file; `None` if the commit has no such file.
    pub(crate) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some(blob) = self.blobs.get(path) else { return Ok(None) };
        if let Some(bytes) = self.known.lock().ok().and_then(|known| known.get(blob).cloned()) {
            return Ok(Some(bytes));
        }
        let error = |reason: String| FileError { path: path.to_owned(), reason, hint: None };
        let finished =
            self.world.git(&self.folder, ["cat-file", "blob", blob]).map_err(|failed| error(failed.to_string()))?;
        if !finished.success() {
            return Err(error(complaint(&finished)));
        }
        Ok(Some(finished.stdout))
    }

    /// Reads the files that `ahead` selects at once.
    pub(crate) fn read_ahead(&self, ahead: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let wanted = self.blobs.iter().filter(|(path, _)| ahead(path)).map(|(_, blob)| format!("{blob}\n"));
        let asked: String = wanted.collect();
        if asked.is_empty() {
            return Ok(());
        }
        let program = Program::git(&self.folder).arguments(["cat-file", "--batch"]).stdin(asked.into_bytes());
        let finished = self.world.run(&program)?;
        let (mut rest, mut read) = (finished.stdout.as_slice(), BTreeMap::new());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            // `NAME blob SIZE`, or `NAME missing`, which is read again when it is needed.
            let mut words = head.split(' ');
            let (Some(blob), Some("blob")) = (words.next(), words.next()) else { continue };
            let Some(size) = words.next().and_then(|size| size.parse().ok()).filter(|size| *size < rest.len()) else {
                break;
            };
            read.insert(blob.to_owned(), rest[..size].to_vec());
            rest = &rest[size + 1..];
        }
        if let Ok(mut known) = self.known.lock() {
            known.extend(read);
        }
        Ok(())
    }
}

impl Files for CommitFiles {
    fn read(&self, path: &str) -> Result<Option<String>, FileError> {
        Ok(self.bytes(path)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below =
            self.blobs.range(prefix.clone()..).map(|(file, _)| file).take_while(|file| file.starts_with(&prefix));
        let entry = |file: &String| match file[prefix.len()..].split_once('/') {
            Some((folder, _)) => FolderEntry { name: folder.to_owned(), is_folder: true },
            None => FolderEntry { name: file[prefix.len()..].to_owned(), is_folder: false },
        };
        let mut entries: Vec<FolderEntry> = below.map(entry).collect();
        entries.sort();
        entries.dedup();
        Ok((!entries.is_empty()).then_some(entries))
    }

    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        vec![None; paths.len()]
    }

    fn touched_at(&self, _path: &str) -> Option<i64> {
        None
    }

    fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        Ok(self.bytes(path)?.map(|bytes| sha256(&bytes)))
    }

    fn exists(&self, path: &str) -> bool {
        self.blobs.contains_key(path) || matches!(self.list(path), Ok(Some(_)))
    }
}
