//! A temporary folder for what another program writes during this call; and the removal of what dead calls left.

use std::io;
use std::path::Path;

use super::{AbsolutePath, DiskError, EntryKind, act, atomic, lock};

/// The prefix of the names of such folders.
const NAME: &str = "gsd-tools-scratch-";

/// Removes what dead calls left in this folder: staged files that never replaced their target, and scratch folders.
pub(crate) fn remove_left(folder: &AbsolutePath) -> Result<(), DiskError> {
    remove_left_in(folder, false)
}

/// Like [`remove_left`], but removes only scratch folders that contain a file at `path`: for calls that share a folder
/// with many others.
pub(crate) fn remove_left_with(folder: &AbsolutePath, path: &str) -> Result<(), DiskError> {
    for entry in super::list(folder)?.unwrap_or_default() {
        let left = AbsolutePath::parse(&entry.path)?;
        let is_dead = process_of(&entry.name).is_some_and(|process| !lock::lives(process));
        if is_dead && entry.kind == EntryKind::Folder && super::is_file(left.resolve(path)) {
            act::remove_tree(&left)?;
        }
    }
    Ok(())
}

/// The id of the process that made a scratch folder with this name.
fn process_of(name: &str) -> Option<u32> {
    name.strip_prefix(NAME)?.split_once('-')?.0.parse().ok()
}

/// Like [`remove_left`], including the folders below it.
pub(crate) fn remove_left_below(folder: &AbsolutePath) -> Result<(), DiskError> {
    remove_left_in(folder, true)
}

fn remove_left_in(folder: &AbsolutePath, below: bool) -> Result<(), DiskError> {
    for entry in super::list(folder)?.unwrap_or_default() {
        let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = AbsolutePath::parse(&entry.path)?;
        match entry.kind {
            EntryKind::File if atomic::stager_of(&name).is_some_and(|process| !lock::lives(process)) => {
                atomic::remove_file(&path)?;
            }
            EntryKind::Folder if process_of(&name).is_some_and(|process| !lock::lives(process)) => {
                act::remove_tree(&path)?;
            }
            EntryKind::Folder if below => remove_left_in(&path, below)?,
            _ => {}
        }
    }
    Ok(())
}

/// Removes a temporary folder with all its contents. Succeeds if it is already gone.
pub(crate) fn remove_folder(folder: &AbsolutePath) -> Result<(), DiskError> {
    act::remove_tree(folder)
}

/// Gives the user write access to every folder below this one so that it can be removed: programs make some read-only
/// ones.
pub(crate) fn loosen(folder: &AbsolutePath) -> Result<(), DiskError> {
    let _ = act::let_user_change(folder);
    for entry in super::list(folder)?.unwrap_or_default() {
        if entry.kind == EntryKind::Folder {
            loosen(&AbsolutePath::parse(&entry.path)?)?;
        }
    }
    Ok(())
}

/// Removes a folder in which programs may have made read-only folders.
fn remove_whatever(folder: &AbsolutePath) -> Result<(), DiskError> {
    act::remove_tree(folder).or_else(|_| loosen(folder).and_then(|()| act::remove_tree(folder)))
}

/// A folder that is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: AbsolutePath,
}

impl Scratch {
    /// Makes a new folder in `parent`, for the user only.
    pub(crate) fn new(parent: &Path) -> Result<Self, DiskError> {
        let parent = AbsolutePath::parse(parent)?;
        let mut number = 0;
        loop {
            let folder = parent.resolve(format!("{NAME}{}-{number}", std::process::id()));
            match atomic::make_new_private_folder(folder.as_path()) {
                Ok(()) => return Ok(Self { folder }),
                // It belongs to a call that died, or to another program.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(DiskError::io("make", folder.as_path())(error)),
            }
        }
    }

    /// Makes the folder with this name in `parent`, after removing what a dead call left there.
    pub(crate) fn named(parent: &Path, name: &str) -> Result<Self, DiskError> {
        Self::forget(parent, name)?;
        let folder = Self::place(parent, name)?;
        atomic::make_new_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
        Ok(Self { folder })
    }

    /// Removes the folder with this name that a dead call left.
    fn forget(parent: &Path, name: &str) -> Result<(), DiskError> {
        remove_whatever(&Self::place(parent, name)?)
    }

    /// Removes all folders of dead calls with this name, or with this name and a number after it.
    pub(crate) fn forget_all(parent: &Path, name: &str) -> Result<(), DiskError> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let of_call = |found: &str| {
            let rest = found.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
        };
        for entry in super::list(&AbsolutePath::parse(parent)?)?.unwrap_or_default() {
            if entry.kind == EntryKind::Folder && of_call(&entry.name) {
                remove_whatever(&AbsolutePath::parse(&entry.path)?)?;
            }
        }
        Ok(())
    }

    fn place(parent: &Path, name: &str) -> Result<AbsolutePath, DiskError> {
        Ok(AbsolutePath::parse(parent)?.resolve(format!("{NAME}{name}")))
    }

    pub(crate) fn folder(&self) -> &AbsolutePath {
        &self.folder
    }

    /// The path of an entry with this name in the folder.
    pub(crate) fn path(&self, name: &str) -> AbsolutePath {
        self.folder.resolve(name)
    }

    /// Copies a file here and keeps its modification time, which programs compare to find what changed. False if the
    /// file does not exist.
    pub(crate) fn copy(&self, file: &Path, name: &str) -> Result<bool, DiskError> {
        let Some(bytes) = super::read_bytes(file)? else { return Ok(false) };
        let changed = file.metadata().and_then(|metadata| metadata.modified()).map_err(DiskError::io("read", file))?;
        let copy = self.path(name);
        atomic::write_fleeting(&copy, &bytes)?;
        let opened = std::fs::OpenOptions::new().write(true).open(copy.as_path());
        opened.and_then(|opened| opened.set_modified(changed)).map_err(DiskError::io("write", copy.as_path()))?;
        Ok(true)
    }

    /// Makes a folder inside it.
    pub(crate) fn make_folder(&self, name: &str) -> Result<AbsolutePath, DiskError> {
        let folder = self.path(name);
        atomic::make_new_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
        Ok(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Anything left over is in the folder for temporary files anyway.
        let _ = remove_whatever(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    /// Root can change every folder anyway.
    #[cfg(unix)]
    #[test]
    fn a_scratch_folder_is_removed_with_read_only_folders_in_it() {
        use std::os::unix::fs::PermissionsExt;
        let parent = crate::testing::folder();
        let scratch = Scratch::named(parent.path(), "one").unwrap();
        let inner = scratch.make_folder("a").unwrap();
        disk::write_fleeting(&inner.resolve("b/c"), b"x").unwrap();
        for folder in [inner.resolve("b"), inner] {
            std::fs::set_permissions(folder.as_path(), std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        let folder = scratch.folder().clone();
        drop(scratch);
        assert!(!disk::exists(&folder));
    }

    #[test]
    fn a_copy_is_as_old_as_its_file() {
        let parent = crate::testing::folder();
        let file = parent.path().join("index");
        disk::write_fleeting(&AbsolutePath::parse(&file).unwrap(), b"x").unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        assert!(scratch.copy(&file, "copy").unwrap());
        assert_eq!(disk::modified(scratch.path("copy")), Some(1_700_000_000_000));
        assert!(!scratch.copy(&parent.path().join("none"), "other").unwrap());
    }

    #[test]
    fn leftovers_of_a_dead_call_are_removed_and_files_of_a_living_one_are_kept() {
        let parent = crate::testing::folder();
        let folder = AbsolutePath::parse(parent.path().canonicalize().unwrap()).unwrap();
        // The system never assigns such a large process id.
        let (child, own) = (0x7fff_fff0, std::process::id());
        let names = [".a.md.{}.gsd-new", "deep/.b.json.{}.gsd-new", "gsd-tools-scratch-{}-0/x"];
        for name in names {
            for process in [child, own] {
                disk::write_fleeting(&folder.resolve(name.replace("{}", &process.to_string())), b"x").unwrap();
            }
        }
        disk::write_fleeting(&folder.resolve(".c.gsd-new"), b"a user's").unwrap();
        let there = |name: &str, process: u32| disk::exists(folder.resolve(name.replace("{}", &process.to_string())));
        remove_left(&folder).unwrap();
        assert_eq!(names.map(|name| there(name, child)), [false, true, false]);
        remove_left_below(&folder).unwrap();
        assert_eq!(names.map(|name| there(name, child)), [false; 3]);
        assert_eq!(names.map(|name| there(name, own)), [true; 3]);
        assert!(disk::exists(folder.resolve(".c.gsd-new")));
    }

    #[test]
    fn only_folders_of_a_dead_call_that_contain_the_file_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = AbsolutePath::parse(parent.path().canonicalize().unwrap()).unwrap();
        let (dead, own) = (0x7fff_fff0, std::process::id());
        for (process, name) in [(dead, "mine"), (own, "mine"), (dead - 1, "other")] {
            let file = folder.resolve(format!("gsd-tools-scratch-{process}-0/{name}"));
            disk::write_fleeting(&file, b"x").unwrap();
        }
        remove_left_with(&folder, "mine").unwrap();
        let left = disk::list(&folder).unwrap().unwrap().into_iter().map(|entry| entry.name);
        let mut wanted = [own, dead - 1].map(|process| format!("gsd-tools-scratch-{process}-0"));
        wanted.sort();
        assert_eq!(left.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_named_folder_starts_empty_after_a_dead_call() {
        let parent = crate::testing::folder();
        let first = Scratch::named(parent.path(), "a").unwrap();
        disk::write_fleeting(&first.path("left"), b"x").unwrap();
        std::mem::forget(first);
        let second = Scratch::named(parent.path(), "a").unwrap();
        assert!(!disk::exists(second.path("left")));
        std::mem::forget(second);
        for name in ["a-1", "a-12", "a-b", "ab"] {
            std::mem::forget(Scratch::named(parent.path(), name).unwrap());
        }
        Scratch::forget_all(parent.path(), "a").unwrap();
        let left: Vec<String> =
            disk::list(parent.path()).unwrap().unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(left, ["gsd-tools-scratch-a-b", "gsd-tools-scratch-ab"]);
        Scratch::forget_all(&parent.path().join("none"), "a").unwrap();
    }

    #[test]
    fn two_folders_are_separate_and_both_are_removed() {
        let parent = crate::testing::folder();
        let (one, other) = (Scratch::new(parent.path()).unwrap(), Scratch::new(parent.path()).unwrap());
        let made = one.make_folder("objects").unwrap();
        disk::write_fleeting(&made.resolve("a"), b"a").unwrap();
        assert!(!disk::exists(other.path("objects")));
        drop((one, other));
        assert!(disk::list(parent.path()).unwrap().unwrap().is_empty());
    }
}
