//! What a fenced program may read: everything that is not hidden, secret, or a terminal. The kernel only grants
//! reading, folder by folder, so every other entry of each folder that contains something hidden is granted by name.
//! Such a folder cannot be listed, and what is made in it later cannot be read.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::value::Fence;

/// Where the kernel lists the mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Where devices are. Disks are never readable, and terminals only if they are opened.
const DEVICES: &str = "/dev";

/// The paths that may be read in a fence: those with nothing hidden or secret below them, and those opened by name.
/// Writable paths are readable too, so nothing hidden may be inside one, and a secret inside one is not protected.
pub(super) fn readable_beside(fence: &Fence) -> Result<Vec<PathBuf>, String> {
    if let Err(error) = std::fs::read_dir("/") {
        // Its mode allows listing, so another fence around this one limits what may be read. Nothing more can be
        // hidden.
        let is_fenced = rustix::fs::access("/", rustix::fs::Access::READ_OK).is_ok();
        return if is_fenced && fence.hidden.is_empty() { Ok(vec!["/".into()]) } else { Err(format!("`/`: {error}")) };
    }
    let mounts = mounts()?;
    let elsewhere = |paths: &[PathBuf]| -> Vec<PathBuf> {
        let places = paths.iter().flat_map(|path| others(&mounts, path).into_iter().chain([path.clone()]));
        places.collect()
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let writable: Vec<PathBuf> = fence.writable.iter().chain(&fence.temporary).map(|path| real(path)).collect();
    let mut hidden = elsewhere(&fence.hidden);
    for folder in &writable {
        if let Some(inside) = hidden.iter().find(|hidden| hidden.starts_with(folder) || folder.starts_with(hidden)) {
            let (inside, folder) = (inside.display(), folder.display());
            return Err(format!("`{inside}` cannot be hidden from a program that may write to `{folder}`"));
        }
    }
    let is_at = |place: &PathBuf, other: &PathBuf| place.starts_with(other) || other.starts_with(place);
    let opened = fence.readable.iter().filter(|place| !hidden.iter().any(|hidden| is_at(place, hidden)));
    let mut readable: Vec<PathBuf> = opened.cloned().collect();
    let secret = elsewhere(&fence.secret).into_iter();
    hidden.extend(secret.filter(|place| !writable.iter().any(|folder| place.starts_with(folder))));
    let hidden: HashSet<PathBuf> = hidden.into_iter().collect();
    let around: HashSet<&Path> = hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1)).collect();
    // Folders that must be checked entry by entry.
    let mut folders = vec![PathBuf::from("/"), PathBuf::from(DEVICES)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            // Some folders cannot be listed. The search for hidden paths below continues anyway; their other entries
            // stay unreadable.
            let below = hidden.iter().filter_map(|hidden| Some((hidden, hidden.strip_prefix(&folder).ok()?)));
            let next = below.filter_map(|(hidden, rest)| Some((hidden, folder.join(rest.components().next()?))));
            let next: BTreeSet<PathBuf> = next.filter(|(hidden, next)| *hidden != next).map(|(_, next)| next).collect();
            folders.extend(next);
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let kind = entry.file_type();
            // A link grants nothing; its target needs its own grant.
            let is_link = kind.as_ref().is_ok_and(std::fs::FileType::is_symlink);
            let is_disk = kind.is_ok_and(|kind| kind.is_block_device());
            let is_shut = || folder == Path::new(DEVICES) && !fence.has_terminals && is_terminal(&entry.file_name());
            if is_link || is_disk || path == Path::new(DEVICES) || hidden.contains(&path) || is_shut() {
                continue;
            }
            if around.contains(&*path) { folders.push(path) } else { readable.push(path) }
        }
    }
    Ok(readable)
}

/// True if a device is a terminal, or leads to terminals: what a user types could be read from it.
fn is_terminal(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    matches!(&*name, "console" | "ptmx" | "pts") || ["tty", "vcs", "hvc"].iter().any(|start| name.starts_with(start))
}

/// Reads the mounts of this system.
fn mounts() -> Result<Vec<Mount>, String> {
    let told = std::fs::read(MOUNTS).map_err(|error| format!("`{MOUNTS}`: {error}"))?;
    Ok(told.split(|byte| *byte == b'\n').filter_map(Mount::read).collect())
}

/// Other paths at which the files of `path` are mounted.
fn others(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.place));
    // Of two mounts at the same place the last one is visible.
    let Some(own) = around.max_by_key(|mount| mount.place.as_os_str().len()) else { return Vec::new() };
    let Ok(rest) = path.strip_prefix(&own.place) else { return Vec::new() };
    let inside = own.root.join(rest);
    let same = mounts.iter().filter(|mount| mount.device == own.device);
    let place = |mount: &Mount| match inside.strip_prefix(&mount.root) {
        Ok(rest) => Some(mount.place.join(rest)),
        // Only a part of the hidden path is mounted there.
        Err(_) => mount.root.starts_with(&inside).then(|| mount.place.clone()),
    };
    // Joining a path with an empty one adds a slash; this removes it.
    same.filter_map(place).map(|path| path.components().collect()).collect()
}

/// A mount: a folder of a device, and where it is mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: Vec<u8>,
    root: PathBuf,
    place: PathBuf,
}

impl Mount {
    /// Reads a line such as `36 35 98:0 /mnt1 /mnt2 rw,noatime - ext3 /dev/root rw`.
    fn read(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ').skip(2);
        let (device, root, place) = (words.next()?.to_vec(), words.next()?, words.next()?);
        Some(Self { device, root: unescaped(root), place: unescaped(place) })
    }
}

/// Decodes a path in which the kernel wrote `\040` for a space, and so on.
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
    fn a_hidden_path_is_hidden_everywhere_it_is_mounted() {
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
    fn everything_but_hidden_paths_and_the_folders_around_them_may_be_read() {
        let root = crate::testing::folder();
        let at = root.path().canonicalize().unwrap();
        for folder in ["held", "open/deep", "work/secret", "keys/one"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(&at, at.join("link")).unwrap();
        let fence = |hidden: &str, secret: &[&str], readable: &[&str]| Fence {
            secret: secret.iter().map(|path| at.join(path)).collect(),
            readable: readable.iter().map(|path| at.join(path)).collect(),
            ..Fence::around([at.join("work")]).hiding([at.join(hidden)])
        };
        let readable = readable_beside(&fence("held", &[], &[])).unwrap();
        let here = |readable: &[PathBuf]| -> Vec<String> {
            let here = readable.iter().filter_map(|path| path.strip_prefix(&at).ok());
            let mut here: Vec<String> = here.map(|path| path.to_string_lossy().into_owned()).collect();
            here.sort();
            here
        };
        assert_eq!(here(&readable), ["keys", "open", "work"]);
        assert!(!readable.iter().any(|path| at.starts_with(path)), "{readable:?}");
        let readable = readable_beside(&fence("held", &["keys", "work/secret"], &["keys/one", "held/x", ""])).unwrap();
        assert_eq!(here(&readable), ["keys/one", "open", "work"], "what is hidden is opened by nobody");
        assert!(readable_beside(&fence("work/held", &[], &[])).is_err());
    }

    #[test]
    fn terminals_and_disks_are_not_read() {
        let fence = Fence::around(["/w"]);
        let of = |fence: &Fence| readable_beside(fence).unwrap();
        let has = |readable: &[PathBuf], path: &str| readable.iter().any(|found| found == Path::new(path));
        let (closed, open) = (of(&fence), of(&Fence { has_terminals: true, ..fence.clone() }));
        assert!(has(&closed, "/dev/null") && !has(&closed, "/dev") && !has(&closed, "/dev/pts"), "{closed:?}");
        assert!(!Path::new("/dev/pts").is_dir() || has(&open, "/dev/pts"), "{open:?}");
        for (name, is_one) in [("tty", true), ("ttyS0", true), ("vcsa1", true), ("null", false), ("shm", false)] {
            assert_eq!(is_terminal(OsStr::new(name)), is_one, "{name}");
        }
    }
}
