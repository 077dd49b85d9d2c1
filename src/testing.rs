//! Folders for tests: the unit tests of the crate and the suite, which compiles this file by its path.
//!
//! The program syncs what it writes, and thousands of projects are written by a run of the tests. On a disk most of its
//! time is spent waiting for these syncs, so the folders are in memory where the system has a memory file system. Tests of
//! what depends on the disk, or on where the folder is, ask for one with [`on_disk`].

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;

/// A new folder, which is removed when the value is dropped.
pub(crate) fn folder() -> TempDir {
    named("gsd-test-")
}

/// As [`folder`], with a name that begins with `prefix`.
pub(crate) fn named(prefix: &str) -> TempDir {
    tempfile::Builder::new().prefix(prefix).tempdir_in(place()).expect("a folder for a test")
}

/// A new folder below the system's temporary folder, for what a test has to see on a disk.
pub(crate) fn on_disk(prefix: &str) -> TempDir {
    tempfile::Builder::new().prefix(prefix).tempdir().expect("a folder for a test")
}

/// Where the folders of the tests are: in memory, or in the system's temporary folder. A person who sets `TMPDIR` decides.
pub(crate) fn place() -> &'static Path {
    static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
        let chosen = std::env::var_os("TMPDIR").is_some();
        memory().filter(|_| !chosen).unwrap_or_else(std::env::temp_dir)
    });
    &PLACE
}

/// The memory file system of the machine, if programs may be run there and a run of all tests fits.
#[cfg(target_os = "linux")]
fn memory() -> Option<PathBuf> {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

    /// Bytes that have to be free. Containers often have 64 MB. A run of all tests was seen to need less than a quarter.
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
