//! A folder that only this user can have put anything into. The temporary folder is shared by everyone: another user
//! could make the folder, or a link, first under the name that we would use.

use std::io;
use std::path::Path;

use super::{AbsolutePath, DiskError, atomic};

/// Makes the folder and its parent for this user only. If they exist already, they must be private too.
pub(crate) fn make_private_folder(folder: &AbsolutePath) -> Result<(), DiskError> {
    let levels = levels(folder);
    if let Some(base) = levels.first().and_then(AbsolutePath::parent).filter(|base| !base.as_path().exists()) {
        atomic::make_private_folder(base.as_path()).map_err(DiskError::io("make", base.as_path()))?;
    }
    for level in levels {
        match atomic::make_new_private_folder(level.as_path()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && is_private(level.as_path()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(DiskError::NotPrivate { path: level.as_path().to_path_buf() });
            }
            Err(error) => return Err(DiskError::io("make", level.as_path())(error)),
        }
    }
    Ok(())
}

/// Makes the folder for files that this program will trust. In a place where everyone can make folders, only this user
/// can use it; elsewhere it is enough that not everyone can write to it.
pub(super) fn make_own_folder(folder: &Path) -> io::Result<()> {
    match AbsolutePath::parse(folder) {
        Ok(path) if base(folder).is_some_and(is_everybodys) => make_private_folder(&path).map_err(io::Error::other)?,
        _ => atomic::make_private_folder(folder)?,
    }
    if is_own_folder(folder) { Ok(()) } else { Err(io::Error::other("others can write there")) }
}

/// True if the folder is as [`make_own_folder`] makes it.
pub(super) fn is_own_folder(folder: &Path) -> bool {
    let mut levels = folder.parent().into_iter().chain([folder]);
    if base(folder).is_some_and(is_everybodys) {
        return levels.all(is_private);
    }
    levels.all(|level| level.is_dir() && !is_everybodys(level))
}

/// The folder that contains the parent of `folder`.
fn base(folder: &Path) -> Option<&Path> {
    folder.parent()?.parent()
}

/// True if everyone can make files in the folder. False if that is unknown.
#[cfg(unix)]
pub(crate) fn is_everybodys(folder: impl AsRef<Path>) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_everybodys(_folder: impl AsRef<Path>) -> bool {
    false
}

/// True if the folder and its parent exist and belong to this user only.
pub(crate) fn is_private_folder(folder: &AbsolutePath) -> bool {
    levels(folder).iter().all(|level| is_private(level.as_path()))
}

fn levels(folder: &AbsolutePath) -> Vec<AbsolutePath> {
    folder.parent().into_iter().chain([folder.clone()]).collect()
}

/// The mode bits for everyone except the owner.
pub(super) const OF_OTHERS: u32 = 0o077;

/// True if `folder` is a folder, not a link to one, that only this user can use.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(metadata) = std::fs::symlink_metadata(folder) else { return false };
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    metadata.is_dir() && is_ours && metadata.mode() & OF_OTHERS == 0
}

/// True if what is at `path` itself, not at the end of a link, belongs to this user. False if that is unknown.
#[cfg(unix)]
pub(crate) fn is_own(path: &AbsolutePath) -> bool {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path);
    found.is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
pub(crate) fn is_own(_path: &AbsolutePath) -> bool {
    false
}

/// On this system the temporary folder belongs to the user.
#[cfg(not(unix))]
fn is_private(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_real_folders_of_this_user_are_private() {
        let temporary = crate::testing::folder();
        let path = |name: &str| AbsolutePath::parse(temporary.path().join(name)).unwrap();
        assert!(!is_private_folder(&path("a/b")), "not there");
        make_private_folder(&path("a/b")).unwrap();
        make_private_folder(&path("a/b")).unwrap();
        assert!(is_private_folder(&path("a/b")));
        let allow = |name: &str, mode: u32| {
            std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        allow("a", 0o755);
        assert!(!is_private_folder(&path("a/b")), "others can read the folder above");
        assert!(make_private_folder(&path("a/b")).is_err());
        allow("a", 0o700);
        std::os::unix::fs::symlink(path("a/b"), path("a/link")).unwrap();
        assert!(!is_private_folder(&path("a/link")) && make_private_folder(&path("a/link")).is_err());
        std::fs::write(path("a/file"), "").unwrap();
        assert!(make_private_folder(&path("a/file")).is_err());
    }
}
