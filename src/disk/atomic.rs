//! Writes one file so that no reader ever sees half of it: a temporary file next to it, then a rename.
//!
//! Links are followed first, so a symlinked dotfile stays a symlink. The replaced file's mode is kept, and its owner if
//! the system allows it.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{AbsolutePath, Access, DiskError, present};

/// Replaces or creates the file at `path`. Its folder must exist.
pub(crate) fn write(path: &AbsolutePath, bytes: &[u8], access: Access) -> Result<(), DiskError> {
    let target = real(path)?;
    let staged = beside(&target);
    let result = stage(&staged, bytes, access, &target, Sync::File).and_then(|()| rename(&staged, &target));
    if result.is_err() {
        // The staged file is ours. Failing to remove it matters less than the error that made it useless.
        let _ = remove_file(&staged);
    }
    result?;
    sync_folder(&target)
}

/// Replaces or creates a document, with the folders above it.
pub(crate) fn replace(path: &AbsolutePath, bytes: &[u8]) -> Result<(), DiskError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
    }
    write(path, bytes, Access::Usual)
}

/// Like [`write()`], for a note that only has to outlive this process: makes its folder and does not wait for the disk.
pub(crate) fn write_fleeting(path: &AbsolutePath, bytes: &[u8]) -> Result<(), DiskError> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))?;
    }
    let staged = beside(path);
    stage(&staged, bytes, Access::Private, path, Sync::Later).and_then(|()| rename(&staged, path))
}

/// The suffix of files that will replace others.
const STAGED: &str = ".gsd-new";

/// The path of the temporary file that will replace `target`.
fn beside(target: &AbsolutePath) -> AbsolutePath {
    target.beside(&format!(".{}.{}{STAGED}", target.name(), std::process::id()))
}

/// The id of the process that staged a file with this name.
pub(super) fn stager_of(name: &str) -> Option<u32> {
    let (_, process) = name.strip_prefix('.')?.strip_suffix(STAGED)?.rsplit_once('.')?;
    process.parse().ok()
}

/// Makes the folder and its missing parents for the user only. Leaves a folder that exists as it is.
pub(crate) fn make_folder(folder: &AbsolutePath) -> Result<(), DiskError> {
    make_private_folder(folder.as_path()).map_err(DiskError::io("make", folder.as_path()))
}

/// Removes a note that is meant to be used once. Succeeds if it is already gone.
pub(crate) fn remove_note(path: &AbsolutePath) -> Result<(), DiskError> {
    remove_file(path)
}

#[cfg(unix)]
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).create(folder)
}

/// Makes one folder for the user only; an error if it already exists.
#[cfg(unix)]
pub(super) fn make_new_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
pub(super) fn make_new_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().create(folder)
}

/// Whether bytes must reach the disk before we continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    File,
    Later,
}

/// Writes `bytes` to the new file `staged`, with the mode that `target` has or should get.
pub(super) fn stage(
    staged: &AbsolutePath,
    bytes: &[u8],
    access: Access,
    target: &AbsolutePath,
    sync: Sync,
) -> Result<(), DiskError> {
    let failed = DiskError::io("write", target.as_path());
    // A leftover of the same name can only be ours, from a dead process with the same id.
    remove_file(staged)?;
    (|| {
        let existing = present(std::fs::metadata(target))?;
        let mut file = create_new(staged.as_path(), access, existing.is_some())?;
        file.write_all(bytes)?;
        if let Some(existing) = existing {
            keep_owner_and_mode(staged.as_path(), &existing, access)?;
        }
        if sync == Sync::File { file.sync_all() } else { Ok(()) }
    })()
    .map_err(failed)
}

/// Makes `staged` the same program as `source`: a hard link, or a copy if linking fails.
pub(super) fn stage_program(staged: &AbsolutePath, source: &Path) -> Result<(), DiskError> {
    if std::fs::hard_link(source, staged).is_ok() {
        return Ok(());
    }
    std::fs::copy(source, staged).map(drop).map_err(DiskError::io("copy", source))
}

#[cfg(unix)]
fn create_new(path: &Path, access: Access, replaces: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // A file that replaces another gets that file's mode in a moment; until then only the user may read it.
    let mode = match access {
        _ if replaces => 0o600,
        // Hosts run these files: whatever the umask says, others must not be able to write to them.
        Access::Usual => 0o664,
        Access::Executable => 0o775,
        Access::Private | Access::Exactly(_) => 0o600,
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    if let (Access::Exactly(mode), false) = (access, replaces) {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    Ok(file)
}

#[cfg(not(unix))]
fn create_new(path: &Path, _access: Access, _replaces: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Copies `from` to the new file `staged`, with the owner and mode of the file it will replace.
pub(super) fn stage_copy(staged: &AbsolutePath, from: &AbsolutePath, target: &AbsolutePath) -> Result<(), DiskError> {
    remove_file(staged)?;
    (|| {
        std::fs::copy(from, staged)?;
        let model = present(std::fs::metadata(target))?.map_or_else(|| std::fs::metadata(from), Ok)?;
        keep_owner_and_mode(staged.as_path(), &model, Access::Usual)?;
        File::open(staged)?.sync_all()
    })()
    .map_err(DiskError::io("copy", from.as_path()))
}

#[cfg(unix)]
fn keep_owner_and_mode(path: &Path, existing: &Metadata, access: Access) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let own = std::fs::metadata(path)?;
    if (own.uid(), own.gid()) != (existing.uid(), existing.gid()) {
        // Only root may change a file's owner; everyone else keeps what they made, as in every editor.
        let _ = std::os::unix::fs::chown(path, Some(existing.uid()), Some(existing.gid()));
    }
    let mode = existing.permissions().mode() & 0o7777;
    let mode = if access == Access::Executable { mode | ((mode & 0o444) >> 2) } else { mode };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(path: &Path, existing: &Metadata, _access: Access) -> io::Result<()> {
    std::fs::set_permissions(path, existing.permissions())
}

/// How many links are followed in a row: as many as Linux follows.
const LINKS: usize = 40;

/// The real location of paths, at one moment: each folder is resolved once, however many paths are below it.
#[derive(Debug, Default)]
pub(crate) struct RealPaths {
    folders: BTreeMap<AbsolutePath, AbsolutePath>,
    /// Whether to follow a link to a folder that does not exist yet.
    follows_to_nothing: bool,
}

impl RealPaths {
    /// Like [`real`].
    pub(crate) fn of(&mut self, path: &AbsolutePath) -> Result<AbsolutePath, DiskError> {
        let mut path = path.clone();
        for _ in 0..LINKS {
            let metadata =
                present(std::fs::symlink_metadata(&path)).map_err(DiskError::io("look at", path.as_path()))?;
            let parent = path.parent().map(|parent| self.folder(&parent)).transpose()?;
            if !metadata.is_some_and(|metadata| metadata.is_symlink()) {
                return Ok(parent.map_or_else(|| path.clone(), |parent| parent.resolve(path.name())));
            }
            let target = std::fs::read_link(&path).map_err(DiskError::io("read the link", path.as_path()))?;
            // `..` in a link is relative to the folder the link is really in.
            path = parent.map_or(Ok(path), |folder| AbsolutePath::parse(folder.as_path().join(target)))?;
        }
        Err(DiskError::LinksTurnInCircles { path: path.as_path().to_path_buf() })
    }

    /// Like [`canonical`].
    pub(super) fn folder(&mut self, path: &AbsolutePath) -> Result<AbsolutePath, DiskError> {
        self.folder_after(path, 0)
    }

    /// Like [`Self::folder`], after `links` links were followed.
    fn folder_after(&mut self, path: &AbsolutePath, links: usize) -> Result<AbsolutePath, DiskError> {
        if let Some(found) = self.folders.get(path) {
            return Ok(found.clone());
        }
        let found = match std::fs::canonicalize(path) {
            Ok(found) => AbsolutePath::parse(without_verbatim_prefix(found))?,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                match path.parent() {
                    Some(parent) => {
                        let parent = self.folder_after(&parent, links)?;
                        let there = parent.resolve(path.name());
                        match std::fs::read_link(&there) {
                            Ok(_) if self.follows_to_nothing && links == LINKS => {
                                return Err(DiskError::LinksTurnInCircles { path: path.as_path().to_path_buf() });
                            }
                            Ok(target) if self.follows_to_nothing => {
                                self.folder_after(&AbsolutePath::parse(parent.as_path().join(target))?, links + 1)?
                            }
                            Ok(_) | Err(_) => there,
                        }
                    }
                    None => path.clone(),
                }
            }
            Err(error) => return Err(DiskError::io("look at", path.as_path())(error)),
        };
        self.folders.insert(path.clone(), found.clone());
        Ok(found)
    }

    /// Refuses a path that leads out of `folder` through links. `folder` must be canonical.
    pub(crate) fn stay_within(&mut self, path: &AbsolutePath, folder: &AbsolutePath) -> Result<(), DiskError> {
        let to = self.of(path)?;
        if to.is_within(folder) {
            return Ok(());
        }
        Err(DiskError::LeadsOut { path: path.as_path().to_path_buf(), to: to.as_path().to_path_buf() })
    }
}

/// The real location of the bytes of `path`: the end of a chain of links, which need not exist yet.
pub(crate) fn real(path: &AbsolutePath) -> Result<AbsolutePath, DiskError> {
    RealPaths::default().of(path)
}

/// Where a write to `path` would end up if all folders on the way existed, including those that so far only links name.
/// For checks of a path; a write makes no folder at the end of a link.
pub(crate) fn destined(path: &AbsolutePath) -> Result<AbsolutePath, DiskError> {
    RealPaths { follows_to_nothing: true, ..RealPaths::default() }.of(path)
}

/// The path with the links of all existing folders resolved; the part that does not exist yet is unchanged.
pub(crate) fn canonical(path: &AbsolutePath) -> Result<AbsolutePath, DiskError> {
    RealPaths::default().folder(path)
}

/// Windows' canonical form of `C:\x` is `\\?\C:\x`, which few programs can read.
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => PathBuf::from(rest),
        _ => path,
    }
}

/// Moves `from` to `to` in one step, replacing what is there.
#[expect(clippy::disallowed_methods, reason = "this is the room that moves files")]
pub(crate) fn rename(from: &AbsolutePath, to: &AbsolutePath) -> Result<(), DiskError> {
    let mut result = std::fs::rename(from, to);
    if cfg!(windows) {
        // A virus scanner or an editor may keep the file open for a moment.
        for pause in [10, 50, 200] {
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::PermissionDenied) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(pause));
            result = std::fs::rename(from, to);
        }
    }
    result.map_err(DiskError::io("replace", to.as_path()))
}

/// Removes a file. Succeeds if it is already gone.
#[expect(clippy::disallowed_methods, reason = "this is the room that removes files")]
pub(super) fn remove_file(path: &AbsolutePath) -> Result<(), DiskError> {
    present(std::fs::remove_file(path)).map(drop).map_err(DiskError::io("remove", path.as_path()))
}

/// Makes the names in the folder of `path` durable. Systems that cannot sync a folder do this without being asked.
#[cfg(unix)]
pub(super) fn sync_folder(path: &AbsolutePath) -> Result<(), DiskError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match File::open(&folder).and_then(|open| open.sync_all()) {
        // Some network and FUSE file systems refuse to sync a folder; nothing more can be done there.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result.map_err(DiskError::io("sync", folder.as_path())),
    }
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_path: &AbsolutePath) -> Result<(), DiskError> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder() -> (tempfile::TempDir, AbsolutePath) {
        let temporary = crate::testing::on_disk("gsd-test-");
        let path = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        (temporary, path)
    }

    fn mode(path: &AbsolutePath) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_mode_of_the_file_is_kept() {
        let (_temporary, folder) = folder();
        let path = folder.resolve("settings.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"new", Access::Usual).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(mode(&path), 0o640);
        write(&path, b"new", Access::Executable).unwrap();
        assert_eq!(mode(&path), 0o750);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_private_file_is_private() {
        let (_temporary, folder) = folder();
        let path = folder.resolve("kept");
        write(&path, b"key", Access::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_written() {
        let (_temporary, folder) = folder();
        let (path, target) = (folder.resolve("home/settings.json"), folder.resolve("dotfiles/settings.json"));
        std::fs::create_dir(folder.resolve("home")).unwrap();
        std::fs::create_dir(folder.resolve("dotfiles")).unwrap();
        std::fs::write(&target, "old").unwrap();
        symlink("../dotfiles/settings.json", folder.resolve("dotfiles/again")).unwrap();
        symlink("../dotfiles/again", &path).unwrap();
        write(&path, b"new", Access::Usual).unwrap();
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        std::fs::remove_file(&target).unwrap();
        write(&path, b"made", Access::Usual).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"made", "a link to nothing makes its target");
    }

    #[test]
    fn a_link_to_itself_is_an_error() {
        let (_temporary, folder) = folder();
        let path = folder.resolve("loop");
        symlink("loop", &path).unwrap();
        assert!(matches!(real(&path), Err(DiskError::LinksTurnInCircles { .. })));
    }

    #[test]
    fn a_link_to_a_folder_that_does_not_exist_yet_leads_there() {
        let (_temporary, folder) = folder();
        std::fs::create_dir(folder.resolve("here")).unwrap();
        symlink("../there", folder.resolve("here/link")).unwrap();
        symlink("link/deeper", folder.resolve("here/again")).unwrap();
        for (path, leads) in
            [("here/link/x", "there/x"), ("here/again/x/y", "there/deeper/x/y"), ("here/x/y", "here/x/y")]
        {
            assert_eq!(destined(&folder.resolve(path)).unwrap(), folder.resolve(leads), "{path}");
        }
        // Resolved as text only, this link leads to itself.
        symlink("none/../round", folder.resolve("here/round")).unwrap();
        let round = destined(&folder.resolve("here/round/x"));
        assert!(matches!(round, Err(DiskError::LinksTurnInCircles { .. })), "{round:?}");
        assert_eq!(real(&folder.resolve("here/link/x")).unwrap(), folder.resolve("here/link/x"));
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_alone() {
        let (_temporary, folder) = folder();
        std::fs::create_dir(folder.resolve("taken")).unwrap();
        assert!(write(&folder.resolve("taken"), b"new", Access::Usual).is_err());
        assert!(write(&folder.resolve("none/file"), b"new", Access::Usual).is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn the_missing_end_of_a_path_is_kept_in_its_canonical_form() {
        let (_temporary, folder) = folder();
        std::fs::create_dir(folder.resolve("real")).unwrap();
        symlink("real", folder.resolve("link")).unwrap();
        assert_eq!(canonical(&folder.resolve("link/a/b")).unwrap(), folder.resolve("real/a/b"));
    }
}
