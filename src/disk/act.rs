//! The single steps on files and folders that transactions and recovery are built from.

use super::{AbsolutePath, Digest, DiskError, atomic, present};

/// Returns the digest of the file at `path`; `None` if nothing exists there; an error if it is not a file.
pub(super) fn digest_of(path: &AbsolutePath) -> Result<Option<Digest>, DiskError> {
    let found = present(std::fs::symlink_metadata(path)).map_err(DiskError::io("look at", path.as_path()))?;
    match found {
        None => Ok(None),
        Some(found) if found.is_file() => Digest::of_file(path),
        Some(_) => Err(DiskError::NotAFile { path: path.as_path().to_path_buf() }),
    }
}

pub(super) fn make_folder(path: &AbsolutePath) -> Result<(), DiskError> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        // Whatever the umask says, others must not be able to put programs there.
        builder.mode(0o775);
    }
    builder.create(path).map_err(DiskError::io("make the folder", path.as_path()))
}

/// Makes the folder and its missing parents, readable by everyone who can read what the user makes.
pub(crate) fn make_shared_folder(folder: &AbsolutePath) -> Result<(), DiskError> {
    for missing in &missing(folder)? {
        match make_folder(missing) {
            Err(_) if super::is_folder(missing) => {}
            made => made?,
        }
    }
    Ok(())
}

/// Removes the folder. Returns `false` if it is not empty or does not exist.
pub(crate) fn remove_folder_if_empty(path: &AbsolutePath) -> Result<bool, DiskError> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
    match std::fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), DirectoryNotEmpty | NotFound | NotADirectory) => Ok(false),
        Err(error) => Err(DiskError::io("remove the folder", path.as_path())(error)),
    }
}

/// Moves a file in one step; between file systems, through a copy at `beside`.
#[expect(clippy::disallowed_methods, reason = "this is the room that moves files")]
pub(super) fn move_over(from: &AbsolutePath, to: &AbsolutePath, beside: &AbsolutePath) -> Result<(), DiskError> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            atomic::stage_copy(beside, from, to)?;
            atomic::rename(beside, to)?;
            atomic::remove_file(from)
        }
        Err(_) => atomic::rename(from, to),
        Ok(()) => Ok(()),
    }
}

/// Returns `root` and those of its parents that do not exist, outermost first.
pub(super) fn missing(root: &AbsolutePath) -> Result<Vec<AbsolutePath>, DiskError> {
    let mut missing = Vec::new();
    let mut folder = Some(root.clone());
    while let Some(candidate) = folder {
        if exists(&candidate)? {
            break;
        }
        folder = candidate.parent();
        missing.push(candidate);
    }
    missing.reverse();
    Ok(missing)
}

/// Copies a file to `to` with its mode, replacing what is there.
#[expect(clippy::disallowed_methods, reason = "this is the room that copies files")]
pub(crate) fn copy_over(from: &AbsolutePath, to: &AbsolutePath) -> Result<(), DiskError> {
    if let Some(folder) = to.parent() {
        make_shared_folder(&folder)?;
    }
    super::remove_note(to)?;
    std::fs::copy(from, to).map(drop).map_err(DiskError::io("copy", from.as_path()))
}

/// Copies a file to `to` and keeps its modification time, which programs compare to find what changed. Does nothing if
/// the file does not exist.
#[expect(clippy::disallowed_methods, reason = "this is the room that copies files")]
pub(crate) fn copy_as_old(from: &AbsolutePath, to: &AbsolutePath) -> Result<(), DiskError> {
    let failed = || DiskError::io("copy", from.as_path());
    let Some(found) = present(std::fs::metadata(from)).map_err(failed())? else { return Ok(()) };
    std::fs::copy(from, to).map_err(failed())?;
    let opened = std::fs::OpenOptions::new().write(true).open(to);
    opened.and_then(|opened| opened.set_modified(found.modified()?)).map_err(failed())
}

/// Gives the user the right to read, enter and change a folder.
pub(super) fn let_user_change(folder: &AbsolutePath) -> Result<(), DiskError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let failed = DiskError::io("look at", folder.as_path());
        let mode = std::fs::symlink_metadata(folder).map_err(failed)?.permissions().mode();
        if mode & 0o700 != 0o700 {
            let allowed = std::fs::Permissions::from_mode(mode | 0o700);
            std::fs::set_permissions(folder, allowed).map_err(DiskError::io("change", folder.as_path()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Gives the user the right to change a file.
pub(super) fn let_user_change_file(file: &AbsolutePath) -> Result<(), DiskError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let failed = DiskError::io("look at", file.as_path());
        let mode = std::fs::symlink_metadata(file).map_err(failed)?.permissions().mode();
        if mode & 0o200 == 0 {
            let allowed = std::fs::Permissions::from_mode(mode | 0o200);
            std::fs::set_permissions(file, allowed).map_err(DiskError::io("change", file.as_path()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is the room that removes folders")]
pub(super) fn remove_tree(path: &AbsolutePath) -> Result<(), DiskError> {
    present(std::fs::remove_dir_all(path)).map(drop).map_err(DiskError::io("remove the folder", path.as_path()))
}

pub(super) fn exists(path: &AbsolutePath) -> Result<bool, DiskError> {
    let found = present(std::fs::symlink_metadata(path)).map_err(DiskError::io("look at", path.as_path()))?;
    Ok(found.is_some())
}
