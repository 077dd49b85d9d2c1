//! A folder of this call's own, for what another program writes and nobody is to keep.

use std::io;
use std::path::Path;

use super::{AbsolutePath, DiskError, atomic, recover};

/// A folder that is gone with this value.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: AbsolutePath,
}

impl Scratch {
    /// Makes a new folder in `parent`, for nobody but the user.
    pub(crate) fn new(parent: &Path) -> Result<Self, DiskError> {
        let parent = AbsolutePath::parse(parent)?;
        let mut number = 0;
        loop {
            let folder = parent.resolve(format!("gsd-tools-scratch-{}-{number}", std::process::id()));
            match atomic::make_new_private_folder(folder.as_path()) {
                Ok(()) => return Ok(Self { folder }),
                // Of a call that died, or of somebody else's.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(DiskError::io("make", folder.as_path())(error)),
            }
        }
    }

    /// Where a thing of this name stands in the folder.
    pub(crate) fn path(&self, name: &str) -> AbsolutePath {
        self.folder.resolve(name)
    }

    /// Makes a folder in it.
    pub(crate) fn make_folder(&self, name: &str) -> Result<AbsolutePath, DiskError> {
        let folder = self.path(name);
        atomic::make_new_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
        Ok(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind stands in the folder of things that do not stay.
        let _ = recover::remove_tree(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    #[test]
    fn two_folders_are_apart_and_both_go() {
        let parent = tempfile::tempdir().unwrap();
        let (one, other) = (Scratch::new(parent.path()).unwrap(), Scratch::new(parent.path()).unwrap());
        let made = one.make_folder("objects").unwrap();
        disk::write_fleeting(&made.resolve("a"), b"a").unwrap();
        assert!(!disk::exists(other.path("objects")));
        drop((one, other));
        assert!(disk::list(parent.path()).unwrap().unwrap().is_empty());
    }
}
