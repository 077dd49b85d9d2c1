//! When the hooks of an install were last called: some hosts refuse a module of ours and say so nowhere a person looks, and
//! its guards are off then.
//!
//! Each call of a hook renews an empty file in the user's state folder, at most once a minute; the file's time is when the hook
//! was called. `hooks status` shows it, and a workflow warns its agent if the host has called no hook before it.

use std::path::Path;

use crate::disk::{self, AbsolutePath, Digest};
use crate::runtime::CONTENT_FOLDER;
use crate::world::World;

/// The folder of these files, in the state folder.
const FOLDER: &str = "hooks-called";

/// How long a file is not renewed, in milliseconds.
const FRESH: i64 = 60_000;

/// Notes that a hook of the install that this program is part of was called. A file that cannot be written is no error: the
/// call is not known, then.
pub(super) fn note(world: &World) {
    // Sessions of a run have a file for this of their own, and write nowhere in the user's folders.
    let program = if world.is_unit() { None } else { world.executable().ok() };
    let Some(file) = program.as_deref().and_then(root_of).and_then(|root| file(world, root)) else { return };
    let is_fresh = disk::modified(&file).is_some_and(|at| (world.now().milliseconds() - at).abs() < FRESH);
    if !is_fresh {
        let _ = disk::write_fleeting(&file, b"");
    }
}

/// When a hook of the install in `root` was last called, in milliseconds since 1970; `None` where no call is known.
pub(crate) fn last_called(world: &World, root: &Path) -> Option<i64> {
    disk::modified(file(world, root)?)
}

/// Forgets the calls of an install that is gone.
pub(crate) fn forget_calls(world: &World, root: &Path) {
    if let Some(file) = file(world, root) {
        let folder = file.parent();
        let _ = disk::remove_note(&file);
        let _ = folder.map(|folder| disk::remove_folder_if_empty(&folder));
    }
}

/// The folder of the install that `program` is part of.
pub(crate) fn root_of(program: &Path) -> Option<&Path> {
    program.parent()?.parent().filter(|folder| folder.ends_with(CONTENT_FOLDER))?.parent()
}

fn file(world: &World, root: &Path) -> Option<AbsolutePath> {
    let name = Digest::of(root.as_os_str().as_encoded_bytes()).to_string();
    AbsolutePath::parse(world.state_folder()?.join(FOLDER).join(&name[..16])).ok()
}
