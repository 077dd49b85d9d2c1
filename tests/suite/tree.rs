//! A folder as a value: every path with its kind, mode and bytes, to compare before with after.

use std::collections::BTreeMap;
use std::path::Path;

/// What stands at each path below a folder.
pub(crate) type Tree = BTreeMap<String, String>;

/// Everything below `root`: folders and files with their modes, files with their bytes, links with their targets.
pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(root, "", &mut |name, path, metadata| {
        let what = if metadata.is_symlink() {
            format!("link to {}", std::fs::read_link(path).unwrap().display())
        } else if metadata.is_dir() {
            format!("folder{}", mode(metadata))
        } else {
            format!("file{} {:?}", mode(metadata), String::from_utf8_lossy(&bytes(path)))
        };
        tree.insert(name, what);
    });
    tree
}

/// The identity and time of each file below `root`: equal before and after means that nothing was written.
pub(crate) fn stamps(root: &Path) -> BTreeMap<String, String> {
    let mut stamps = BTreeMap::new();
    walk(root, "", &mut |name, _, metadata| {
        stamps.insert(name, format!("{:?} {}", metadata.modified().unwrap(), identity(metadata)));
    });
    stamps
}

/// The differences of two trees, a line each.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Vec<String> {
    let lost = before.iter().filter(|(path, what)| after.get(*path) != Some(what));
    let lost = lost.map(|(path, what)| format!("- {path}: {what:.300}"));
    let gained = after.iter().filter(|(path, what)| before.get(*path) != Some(what));
    lost.chain(gained.map(|(path, what)| format!("+ {path}: {what:.300}"))).collect()
}

/// A program's image says no more than its length.
fn bytes(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if bytes.len() > 1_000_000 { format!("{} bytes", bytes.len()).into_bytes() } else { bytes }
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
