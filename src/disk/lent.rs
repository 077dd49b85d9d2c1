//! Files in a folder that another program may change at the same time, such as one in a sandbox (`world::fence`): links
//! that it puts there are not followed, and nothing outside that folder is read or written.

use std::io;

use super::{AbsolutePath, DiskError, atomic};

/// The bytes of a regular file of at most `limit` bytes below `folder`. `None` if it does not exist or a link is on the
/// way.
pub(crate) fn read_lent(path: &AbsolutePath, folder: &AbsolutePath, limit: u64) -> Result<Option<Vec<u8>>, DiskError> {
    let read = system::read(path, folder, limit).map_or_else(nothing_there, Ok);
    read.map_err(DiskError::io("read", path.as_path()))
}

/// Writes a file below `folder`, for the user only, replacing the one at `path`. Does nothing if a link is on the way.
pub(crate) fn write_lent(path: &AbsolutePath, folder: &AbsolutePath, bytes: &[u8]) -> Result<(), DiskError> {
    let written = system::write(path, folder, bytes).map(Some).map_or_else(nothing_there, Ok);
    written.map(drop).map_err(DiskError::io("write", path.as_path()))
}

/// Removes anything on the way from `folder` to the folder `path` that is not a folder, such as a link, so that work at
/// `path` really happens there. Call it only while no other program changes the folder.
pub(crate) fn clear_way(path: &AbsolutePath, folder: &AbsolutePath) -> Result<(), DiskError> {
    let Ok(rest) = path.as_path().strip_prefix(folder.as_path()) else {
        return Err(DiskError::LeadsOut { path: path.as_path().to_path_buf(), to: folder.as_path().to_path_buf() });
    };
    let mut place = folder.clone();
    for name in rest {
        place = place.resolve(name);
        if place.as_path().symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            return atomic::remove_note(&place);
        }
    }
    Ok(())
}

fn nothing_there<T>(error: io::Error) -> io::Result<Option<T>> {
    use io::ErrorKind::{NotADirectory, NotFound};
    #[cfg(unix)]
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let is_link = false;
    if is_link || matches!(error.kind(), NotFound | NotADirectory) { Ok(None) } else { Err(error) }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};

    use super::AbsolutePath;

    /// Opens the folder that contains the file; returns it with the name of the file.
    fn enter(path: &AbsolutePath, folder: &AbsolutePath) -> io::Result<(OwnedFd, OsString)> {
        let rest = path.as_path().strip_prefix(folder.as_path()).map_err(io::Error::other)?;
        let name = rest.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = openat(CWD, folder.as_path(), flags, Mode::empty())?;
        for part in rest.parent().into_iter().flatten() {
            at = openat(&at, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok((at, name))
    }

    pub(super) fn read(path: &AbsolutePath, folder: &AbsolutePath, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let (at, name) = enter(path, folder)?;
        // Without this, opening a pipe would wait for a writer.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&at, &name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= limit))
    }

    pub(super) fn write(path: &AbsolutePath, folder: &AbsolutePath, bytes: &[u8]) -> io::Result<()> {
        let (at, name) = enter(path, folder)?;
        let staged = format!(".{}.{}.gsd-new", path.name(), std::process::id());
        let _ = unlinkat(&at, &staged, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&at, &staged, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        Ok(renameat(&at, &staged, &at, &name)?)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    use super::AbsolutePath;
    use crate::disk;

    pub(super) fn read(path: &AbsolutePath, folder: &AbsolutePath, limit: u64) -> io::Result<Option<Vec<u8>>> {
        if disk::passes_no_link(path, folder).is_err() {
            return Ok(None);
        }
        Ok(disk::read_up_to(path, limit).ok().flatten())
    }

    pub(super) fn write(path: &AbsolutePath, folder: &AbsolutePath, bytes: &[u8]) -> io::Result<()> {
        disk::passes_no_link(path, folder).map_err(|_| io::ErrorKind::NotFound)?;
        disk::write_fleeting(path, bytes).map_err(io::Error::other)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_is_followed_to_a_file_that_is_read_or_written() {
        let temporary = crate::testing::folder();
        let at = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let (folder, outside) = (at.resolve("lent"), at.resolve("outside"));
        for path in ["lent/sub/own", "outside/own"] {
            atomic::write_fleeting(&at.resolve(path), b"mine").unwrap();
        }
        symlink(outside.as_path(), folder.resolve("linked").as_path()).unwrap();
        symlink(outside.resolve("own").as_path(), folder.resolve("sub/link").as_path()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.resolve("pipe").as_path(), rustix::fs::Mode::RUSR).unwrap();
        let read = |path: &str| read_lent(&folder.resolve(path), &folder, 4).unwrap();
        assert_eq!(read("sub/own").unwrap(), b"mine");
        for path in ["linked/own", "sub/link", "sub", "pipe", "none", "none/own", "sub/own/x"] {
            assert_eq!(read(path), None, "{path}");
        }
        assert_eq!(read_lent(&folder.resolve("sub/own"), &folder, 3).unwrap(), None, "too large");
        for path in ["sub/own", "sub/link", "linked/own", "none/own"] {
            write_lent(&folder.resolve(path), &folder, b"next").unwrap();
        }
        assert_eq!((read("sub/own").unwrap(), read("sub/link").unwrap()), (b"next".to_vec(), b"next".to_vec()));
        assert_eq!(super::super::read_bytes(outside.resolve("own")).unwrap().unwrap(), b"mine");
        assert!(!super::super::exists(folder.resolve("none")));
        clear_way(&folder.resolve("linked/deep"), &folder).unwrap();
        clear_way(&folder.resolve("pipe"), &folder).unwrap();
        assert!(!super::super::exists(folder.resolve("pipe")));
        clear_way(&folder.resolve("sub/own/deep"), &folder).unwrap();
        assert!(!super::super::exists(folder.resolve("linked")) && !super::super::exists(folder.resolve("sub/own")));
        assert!(super::super::exists(outside.resolve("own")));
        assert!(clear_way(&outside, &folder).is_err());
    }
}
