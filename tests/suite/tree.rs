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
            format!("file{} {}", mode(metadata), bytes(path, metadata.len()))
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
    let lost = lost.map(|(path, what)| format!("- {path}: {}", beginning(what)));
    let gained = after.iter().filter(|(path, what)| before.get(*path) != Some(what));
    lost.chain(gained.map(|(path, what)| format!("+ {path}: {}", beginning(what)))).collect()
}

fn beginning(what: &str) -> String {
    what.chars().take(300).collect::<String>().escape_debug().to_string()
}

/// What is in a file; of one as large as a program only its length.
fn bytes(path: &Path, length: u64) -> String {
    if length > 1_000_000 {
        return format!("{length} bytes");
    }
    String::from_utf8(std::fs::read(path).unwrap()).unwrap_or_else(|error| format!("{:?}", error.as_bytes()))
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
