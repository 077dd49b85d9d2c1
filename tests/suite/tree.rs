//! A folder as a value: every path with its kind, mode and bytes, to compare states.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The content at each path below a folder.
pub(crate) type Tree = BTreeMap<String, String>;

/// A larger file is the image of a program.
const IMAGE: u64 = 1_000_000;

/// Everything below `root`: folders and files with their modes, files with their bytes, links with their targets.
pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(root, "", &mut |name, path, metadata| {
        let what = if metadata.is_symlink() {
            format!("link to {}", std::fs::read_link(path).unwrap().display())
        } else if metadata.is_dir() {
            format!("folder{}", mode(metadata))
        } else {
            format!("file{}\n{}", mode(metadata), text(path, metadata))
        };
        tree.insert(name, what);
    });
    tree
}

/// The identity and time of each file below `root`: if they are equal before and after, nothing was written.
pub(crate) fn stamps(root: &Path) -> BTreeMap<String, String> {
    let mut stamps = BTreeMap::new();
    walk(root, "", &mut |name, _, metadata| {
        stamps.insert(name, format!("{:?} {}", metadata.modified().unwrap(), identity(metadata)));
    });
    stamps
}

/// The differences of two trees, one per line.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Vec<String> {
    let line = |sign: char, path: &str, what: &str| {
        let (kind, text) =
            what.split_once('\n').map_or((what, String::new()), |(kind, text)| (kind, format!(" {text:?}")));
        format!("{sign} {path}: {kind}{text:.300}")
    };
    let lost = before.iter().filter(|(path, what)| after.get(*path) != Some(what));
    let lost = lost.map(|(path, what)| line('-', path, what));
    let gained = after.iter().filter(|(path, what)| before.get(*path) != Some(what));
    lost.chain(gained.map(|(path, what)| line('+', path, what))).collect()
}

/// The text of a file. For a program's image only its length, without reading it: there are many of them.
fn text(path: &Path, metadata: &std::fs::Metadata) -> String {
    if metadata.len() > IMAGE {
        return format!("{} bytes", metadata.len());
    }
    let bytes = std::fs::read(path).unwrap();
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn walk(folder: &Path, name: &str, visit: &mut impl FnMut(String, &Path, &std::fs::Metadata)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_string_lossy());
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            walk(&path, &name, visit);
        }
        visit(name, &path, &metadata);
    }
}

#[cfg(unix)]
fn mode(metadata: &std::fs::Metadata) -> String {
    use std::os::unix::fs::PermissionsExt;
    format!(" {:o}", metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_metadata: &std::fs::Metadata) -> String {
    String::new()
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> String {
    std::os::unix::fs::MetadataExt::ino(metadata).to_string()
}

#[cfg(not(unix))]
fn identity(metadata: &std::fs::Metadata) -> String {
    metadata.len().to_string()
}

/// A folder with a copy from which it is restored: cheaper than making it again, and under the same path.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    copy: tempfile::TempDir,
    now: BTreeMap<String, Stamp>,
}

/// Equal stamps mean that a path was not written to. The content of a folder has its own stamps.
type Stamp = (String, Option<(SystemTime, String)>);

impl Kept {
    pub(crate) fn of(folder: &Path) -> Self {
        let copy = tempfile::Builder::new().prefix("gsd-kept-").tempdir_in(folder.parent().unwrap()).unwrap();
        let now = Self::stamps(folder);
        for path in now.keys() {
            copy_one(&below(folder, path), &below(copy.path(), path));
        }
        Self { folder: folder.to_path_buf(), copy, now }
    }

    /// Every path that was written, created or removed since the folder was restored.
    pub(crate) fn changed(&self) -> Vec<String> {
        let later = Self::stamps(&self.folder);
        let written = later.iter().filter(|(path, stamp)| self.now.get(*path) != Some(stamp)).map(|(path, _)| path);
        written.chain(self.now.keys().filter(|path| !later.contains_key(*path))).cloned().collect()
    }

    /// Restores everything that changed. An unchanged file stays the same file.
    pub(crate) fn put_back(&mut self) {
        let mut changed = self.changed();
        if changed.is_empty() {
            return;
        }
        // A folder comes before its content.
        changed.sort_unstable();
        for path in changed.iter().rev() {
            let place = below(&self.folder, path);
            match std::fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(place).unwrap(),
                Ok(_) => std::fs::remove_file(place).unwrap(),
                Err(_) => {}
            }
        }
        // A removed folder takes its content with it.
        for path in self.now.keys() {
            let place = below(&self.folder, path);
            if std::fs::symlink_metadata(&place).is_err() {
                copy_one(&below(self.copy.path(), path), &place);
            }
        }
        self.now = Self::stamps(&self.folder);
    }

    /// Ordered by path, so that a folder comes before its content.
    fn stamps(folder: &Path) -> BTreeMap<String, Stamp> {
        let mut stamps = BTreeMap::new();
        walk(folder, "", &mut |name, _, metadata| {
            let kind = format!("{:?}{}", metadata.file_type(), mode(metadata));
            let file = (!metadata.is_dir()).then(|| (metadata.modified().unwrap(), identity(metadata)));
            stamps.insert(name, (kind, file));
        });
        stamps
    }
}

fn below(folder: &Path, path: &str) -> PathBuf {
    folder.join(path.trim_start_matches('/'))
}

/// Copies one path unchanged. A program's image is shared by a hard link on the same disk: nothing writes to it, and there
/// are many of them.
fn copy_one(from: &Path, to: &Path) {
    let metadata = std::fs::symlink_metadata(from).unwrap();
    if metadata.is_dir() {
        std::fs::create_dir(to).unwrap();
        std::fs::set_permissions(to, metadata.permissions()).unwrap();
    } else if metadata.is_symlink() {
        #[cfg(unix)]
        std::os::unix::fs::symlink(std::fs::read_link(from).unwrap(), to).unwrap();
        #[cfg(not(unix))]
        unreachable!("no test makes a link here");
    } else if metadata.len() <= IMAGE || std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).unwrap();
        // On other systems a copy has the time of its original.
        #[cfg(unix)]
        std::fs::File::open(to).unwrap().set_modified(metadata.modified().unwrap()).unwrap();
    }
}
