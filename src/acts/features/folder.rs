//! The folder of a feature: reads all its files at once, if it contains nothing but files.

use crate::disk::{self, AbsolutePath, EntryKind, RelativePath};
use crate::failure::{Failure, Reason};
use crate::operations::capability::declared::Files;

/// The largest size of one file, in bytes.
const FILE_LIMIT: u64 = 1 << 20;
/// The largest size of all files, in bytes.
const LIMIT: usize = 8 << 20;
const MOST_FILES: usize = 256;

/// The history of a cloned repository; not part of the feature.
const HISTORY: &str = ".git";

/// Reads the files below a folder. Links, pipes and devices are refused, and so is anything too large for a feature.
pub(crate) fn read(folder: &AbsolutePath) -> Result<Files, Failure> {
    let (mut files, mut size) = (Files::new(), 0_usize);
    let mut open = vec![folder.clone()];
    let mut seen = 0_usize;
    while let Some(below) = open.pop() {
        for entry in disk::list(&below)?.unwrap_or_default() {
            let at = below.resolve(&entry.name);
            let refused = |why: &str| refused(format!("`{at}` {why}"));
            let path = at.relative_to(folder).filter(|_| entry.name.as_bytes() == entry.file_name());
            let Some(path) = path.filter(|path| !path.as_str().chars().any(char::is_control)) else {
                return Err(refused("has a name that is not plain text"));
            };
            seen += 1;
            if seen > MOST_FILES {
                return Err(refused(&format!("is one of more than {MOST_FILES} files and folders")));
            }
            match entry.kind {
                EntryKind::Folder if path.as_str() == HISTORY => {}
                EntryKind::Folder => open.push(at),
                EntryKind::File => {
                    let bytes = disk::read_up_to(&at, FILE_LIMIT)?.unwrap_or_default();
                    size += bytes.len();
                    if size > LIMIT {
                        return Err(refused(&format!(
                            "brings the files of the feature to more than {} MB",
                            LIMIT >> 20
                        )));
                    }
                    files.insert(path.as_str().to_owned(), bytes);
                }
                EntryKind::Link => return Err(refused("is a link")),
                EntryKind::Other => return Err(refused("is a pipe, a socket or a device")),
            }
        }
    }
    Ok(files)
}

/// Every path below a folder that is not a folder, whatever its type.
pub(crate) fn paths(folder: &AbsolutePath) -> Result<Vec<RelativePath>, Failure> {
    let (mut paths, mut open) = (Vec::new(), vec![folder.clone()]);
    while let Some(below) = open.pop() {
        for entry in disk::list(&below)?.unwrap_or_default() {
            let at = below.resolve(&entry.name);
            match entry.kind {
                EntryKind::Folder => open.push(at),
                _ => paths.extend(at.relative_to(folder)),
            }
        }
    }
    paths.sort();
    Ok(paths)
}

fn refused(message: String) -> Failure {
    Failure::new(Reason::Usage, message).hint(
        "a feature is a folder of at most 256 plain files, 8 MB in all and 1 MB each: remove what is not part of it",
    )
}
