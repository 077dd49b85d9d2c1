//! Folders for tests: for the unit tests of the crate and for the suite, which compiles this file by its path.
//!
//! The program syncs what it writes, and a run of the tests writes thousands of projects. On a disk it would mostly
//! wait for these syncs, so the folders are in memory if the system has a memory file system. Tests that depend on the
//! disk, or on the location of the folder, ask for one with [`on_disk`].

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;

/// Makes a new folder, which is removed when the value is dropped.
pub(crate) fn folder() -> TempDir {
    named("gsd-test-")
}

/// Like [`folder`], with a name that starts with `prefix`.
pub(crate) fn named(prefix: &str) -> TempDir {
    tempfile::Builder::new().prefix(prefix).tempdir_in(place()).expect("a folder for a test")
}

/// Makes a new folder below the system's temporary folder, for tests that need a disk.
pub(crate) fn on_disk(prefix: &str) -> TempDir {
    tempfile::Builder::new().prefix(prefix).tempdir().expect("a folder for a test")
}

/// Returns the parent of the test folders: in memory, or the system's temporary folder. A person can choose it with
/// `TMPDIR`.
pub(crate) fn place() -> &'static Path {
    static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
        let chosen = std::env::var_os("TMPDIR").is_some();
        memory().filter(|_| !chosen).unwrap_or_else(std::env::temp_dir)
    });
    &PLACE
}

/// Returns the memory file system of the machine, if programs may be run there and a run of all tests fits.
#[cfg(target_os = "linux")]
fn memory() -> Option<PathBuf> {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

    /// The bytes that have to be free. Containers often have 64 MB. A run of all tests was seen to need less than a
    /// quarter of this.
    const ROOM: u64 = 2 << 30;

    let folder = Path::new("/dev/shm");
    let facts = statvfs(folder).ok()?;
    let useless = StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY;
    let fits = facts.f_bavail.saturating_mul(facts.f_frsize) >= ROOM && !facts.f_flag.intersects(useless);
    (fits && access(folder, Access::WRITE_OK).is_ok()).then(|| folder.to_path_buf())
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<PathBuf> {
    None
}
