//! Where a [`super::Snapshot`] looks: the disk, or in tests a tree in memory.

use std::io::Read;

use super::found::{Found, FoundFile, KeptBytes, is_image_of_program};
use super::{AbsolutePath, Access, DOCUMENT_LIMIT, Digest, DiskError, Entry, FileBytes, present};

#[derive(Debug, Clone, Default)]
pub(super) enum Tree {
    #[default]
    Disk,
    #[cfg(all(test, unix))]
    Memory(super::MemoryTree),
}

impl Tree {
    pub(super) fn look(&self, path: &AbsolutePath, keep: KeptBytes) -> Result<Found, DiskError> {
        match self {
            Self::Disk => look(path, keep),
            #[cfg(all(test, unix))]
            Self::Memory(tree) => {
                tree.count_look(path);
                Ok(tree.look(path))
            }
        }
    }

    pub(super) fn list(&self, folder: &AbsolutePath) -> Result<Option<Vec<Entry>>, DiskError> {
        match self {
            Self::Disk => super::list(folder),
            #[cfg(all(test, unix))]
            Self::Memory(tree) => Ok(tree.list(folder)),
        }
    }

    pub(super) fn is_file(&self, path: &AbsolutePath) -> bool {
        match self {
            Self::Disk => super::is_file(path),
            #[cfg(all(test, unix))]
            Self::Memory(tree) => matches!(tree.look(path), Found::File(_)),
        }
    }

    pub(super) fn is_folder(&self, path: &AbsolutePath) -> bool {
        match self {
            Self::Disk => super::is_folder(path),
            #[cfg(all(test, unix))]
            Self::Memory(tree) => tree.look(path) == Found::Folder,
        }
    }

    pub(super) fn is_inside(&self, path: &AbsolutePath, folder: &AbsolutePath) -> bool {
        match self {
            Self::Disk => super::is_inside(path, folder),
            #[cfg(all(test, unix))]
            Self::Memory(_) => path.is_within(folder),
        }
    }
}

/// Looks at the path on disk; a file is opened once.
fn look(path: &AbsolutePath, keep: KeptBytes) -> Result<Found, DiskError> {
    let metadata = present(std::fs::metadata(path)).map_err(DiskError::io("look at", path.as_path()))?;
    let Some(metadata) = metadata else { return Ok(Found::Absent) };
    if metadata.is_dir() {
        return Ok(Found::Folder);
    }
    if !metadata.is_file() {
        return Ok(Found::Other);
    }
    let failed = || DiskError::io("read", path.as_path());
    // A file that was removed between the two looks is absent.
    let Some((mut file, size)) = super::open(path.as_path())? else { return Ok(Found::Absent) };
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(DOCUMENT_LIMIT)).unwrap_or_default());
    (&mut file).take(4).read_to_end(&mut bytes).map_err(failed())?;
    let program = is_image_of_program(&bytes);
    let limit = match keep {
        KeptBytes::Documents if program || size > DOCUMENT_LIMIT => None,
        KeptBytes::Documents => Some(DOCUMENT_LIMIT),
        KeptBytes::UpTo(limit) => Some(limit),
    };
    let (digest, bytes) = match limit {
        Some(limit) => {
            // It may grow meanwhile.
            file.take((limit + 1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes).map_err(failed())?;
            if bytes.len() as u64 > limit {
                return Err(DiskError::TooLarge { path: path.as_path().to_path_buf(), limit });
            }
            let bytes = FileBytes::from(bytes);
            (bytes.digest(), Some(bytes))
        }
        None => (Digest::of_rest(&bytes, file).map_err(failed())?, None),
    };
    let (executable, read_only) = (is_executable(&metadata), metadata.permissions().readonly());
    let access = access_of(&metadata);
    Ok(Found::File(FoundFile { digest, bytes, executable, read_only, program, access }))
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(unix)]
fn access_of(metadata: &std::fs::Metadata) -> Access {
    use std::os::unix::fs::PermissionsExt;
    Access::Exactly(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn access_of(_metadata: &std::fs::Metadata) -> Access {
    Access::Usual
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    false
}
