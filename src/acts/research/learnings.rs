//! The user's own folder of what was learned.

use crate::acts::Call;
use crate::disk::{self, AbsolutePath, ChangeSet, Digest, DiskError};
use crate::failure::Failure;
use crate::operations::research::learnings::Store;

/// The folder of the store.
pub(crate) fn folder(call: &Call) -> Result<AbsolutePath, Failure> {
    let home = call.world().gsd_home();
    let home =
        home.ok_or_else(|| Failure::usage("cannot find the learnings: there is no home folder").hint("set `HOME`"))?;
    Ok(AbsolutePath::parse(home)?.resolve(".gsd").resolve("knowledge"))
}

pub(crate) fn read(folder: &AbsolutePath) -> Result<Store, DiskError> {
    let entries = disk::list(folder)?.unwrap_or_default();
    let files = entries
        .into_iter()
        .filter(|entry| entry.is_file() && entry.path.extension().is_some_and(|ending| ending == "json"));
    Ok(Store::read(files.map(|entry| (entry.name, disk::read_text(entry.path).ok().flatten())).collect::<Vec<_>>()))
}

pub(crate) fn remove(folder: &AbsolutePath, files: &[String], changes: &mut ChangeSet) -> Result<(), Failure> {
    for file in files {
        let path = folder.resolve(file);
        if let Some(before) = Digest::of_file(&path)? {
            changes.remove(path, before);
        }
    }
    Ok(())
}
