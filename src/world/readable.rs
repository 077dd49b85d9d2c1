//! What may be read where something is hidden: all else. The kernel only adds what may be read, folder by folder, so that
//! every other entry of each folder that something hidden is in is named. What is made in these folders later cannot be read.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Where the kernel tells what is mounted where.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The places that lead to nothing hidden, with all below them; none where nothing is hidden. `writable` are read as well, so
/// that nothing hidden may be in one of them.
pub(super) fn readable_beside(hidden: &[PathBuf], writable: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    if hidden.is_empty() {
        return Ok(Vec::new());
    }
    let hidden = elsewhere(hidden)?;
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    for folder in writable.iter().map(real) {
        if let Some(inside) = hidden.iter().find(|hidden| hidden.starts_with(&folder) || folder.starts_with(hidden)) {
            let (inside, folder) = (inside.display(), folder.display());
            return Err(format!("`{inside}` cannot be hidden from a program that may write to `{folder}`"));
        }
    }
    let mut readable = Vec::new();
    let mut folders = vec![PathBuf::from("/")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            // A link opens nothing that is not opened by its own place.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link || hidden.contains(&path) {
                continue;
            }
            let holds = hidden.iter().any(|hidden| hidden.starts_with(&path));
            if holds { folders.push(path) } else { readable.push(path) }
        }
    }
    Ok(readable)
}

/// These places, and every other one at which the same files are mounted.
fn elsewhere(hidden: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let told = std::fs::read(MOUNTS).map_err(|error| format!("`{MOUNTS}`: {error}"))?;
    let mounts: Vec<Mount> = told.split(|byte| *byte == b'\n').filter_map(Mount::read).collect();
    let mut found = hidden.to_vec();
    for path in hidden {
        found.extend(others(&mounts, path).into_iter().filter(|other| other != path));
    }
    Ok(found)
}

fn others(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.place));
    // Of two at the same place the last one is seen.
    let Some(own) = around.max_by_key(|mount| mount.place.as_os_str().len()) else { return Vec::new() };
    let Ok(rest) = path.strip_prefix(&own.place) else { return Vec::new() };
    let inside = own.root.join(rest);
    let same = mounts.iter().filter(|mount| mount.device == own.device);
    let place = |mount: &Mount| match inside.strip_prefix(&mount.root) {
        Ok(rest) => Some(mount.place.join(rest)),
        // Only a part of what is hidden is mounted there.
        Err(_) => mount.root.starts_with(&inside).then(|| mount.place.clone()),
    };
    // A path that is joined with nothing ends in a slash.
    same.filter_map(place).map(|path| path.components().collect()).collect()
}

/// What is mounted at a place: a folder of a device.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: Vec<u8>,
    root: PathBuf,
    place: PathBuf,
}

impl Mount {
    /// Such as `36 35 98:0 /mnt1 /mnt2 rw,noatime - ext3 /dev/root rw`.
    fn read(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ').skip(2);
        let (device, root, place) = (words.next()?.to_vec(), words.next()?, words.next()?);
        Some(Self { device, root: unescaped(root), place: unescaped(place) })
    }
}

/// A path in which the kernel has put `\040` in the place of a space, and so on.
fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let Some((first, others)) = rest.split_first() {
        let number = others.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = number.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = others.get(if byte.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts(lines: &[&str]) -> Vec<Mount> {
        lines.iter().filter_map(|line| Mount::read(line.as_bytes())).collect()
    }

    #[test]
    fn what_is_hidden_is_hidden_at_every_place_where_it_is_mounted() {
        let mounts = mounts(&[
            "1 0 8:1 / / rw - ext4 /dev/a rw",
            "2 1 8:2 / /home rw - ext4 /dev/b rw",
            "3 1 8:2 /me /mnt/my\\040files rw - ext4 /dev/b rw",
            "4 1 8:2 /me/held/deep /deep rw - ext4 /dev/b rw",
            "5 1 8:1 /etc /e rw - ext4 /dev/a rw",
        ]);
        let found = others(&mounts, Path::new("/home/me/held"));
        assert_eq!(found, ["/home/me/held", "/mnt/my files/held", "/deep"].map(PathBuf::from));
        assert_eq!(others(&mounts, Path::new("/etc/x")), ["/etc/x", "/e/x"].map(PathBuf::from));
    }

    #[test]
    fn all_but_what_is_hidden_and_the_folders_around_it_may_be_read() {
        let root = crate::testing::folder();
        let at = root.path().canonicalize().unwrap();
        for folder in ["held", "open/deep", "work"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(&at, at.join("link")).unwrap();
        let readable = readable_beside(&[at.join("held")], &[at.join("work")]).unwrap();
        let here: Vec<_> = readable.iter().filter(|path| path.starts_with(&at)).collect();
        assert!(here.contains(&&at.join("open")) && here.contains(&&at.join("work")), "{here:?}");
        assert_eq!(here.len(), 2, "{here:?}");
        assert!(!readable.iter().any(|path| at.starts_with(path)), "{readable:?}");
        assert!(readable_beside(&[at.join("work/held")], &[at.join("work")]).is_err());
        assert!(readable_beside(&[], &[at]).unwrap().is_empty());
    }
}
