//! When the hooks of an install were last called. Some hosts reject our module without showing that to the person, and
//! then its guards are off.
//!
//! Each hook call updates an empty file in the user's state folder, at most once a minute; the modification time is the
//! time of the call. `hooks status` shows it, and a workflow warns its agent if the host has not called a hook before
//! it.

use std::path::Path;

use crate::disk::{self, AbsolutePath, Digest};
use crate::runtime::{CONTENT_FOLDER, is_marked_managed, managed_roots};
use crate::world::World;

/// The folder of these files, in the state folder.
const FOLDER: &str = "hooks-called";

/// How long a file is not updated again, in milliseconds.
const FRESH: i64 = 60_000;

/// Records that a hook was called in the install that this program is part of. If the file cannot be written, the call
/// stays unrecorded; that is not an error.
pub(super) fn note(world: &World) {
    // Sessions of a run have their own file for this, and do not write to the user's folders.
    let program = if world.is_unit() { None } else { world.executable().ok() };
    let root = program.as_deref().and_then(root_of).filter(|root| !is_managed(root, world));
    let Some(file) = root.and_then(|root| file(world, root)) else { return };
    let is_fresh = disk::modified(&file).is_some_and(|at| (world.now().milliseconds() - at).abs() < FRESH);
    if !is_fresh {
        let _ = disk::write_fleeting(&file, b"");
    }
}

/// True if an administrator placed the folder for everyone on the computer. Its program writes nothing into homes, because
/// no uninstall would remove it there, and no user can disable its hooks.
pub(crate) fn is_managed(root: &Path, world: &World) -> bool {
    let real = |path: &Path| disk::canonical(&AbsolutePath::parse(path).ok()?).ok();
    is_marked_managed(root)
        && real(root)
            .is_some_and(|own| managed_roots().any(|root| real(&world.system_path(root)).as_ref() == Some(&own)))
}

/// When a hook of the install in `root` was last called, in milliseconds since 1970; `None` if no call is recorded.
pub(crate) fn last_called(world: &World, root: &Path) -> Option<i64> {
    disk::modified(file(world, root)?)
}

/// Whether a call is recorded below this base of state folders, of any install.
pub(crate) fn was_called(base: &AbsolutePath) -> bool {
    let noted = disk::names(base.resolve("gsd-tools").resolve(FOLDER));
    noted.is_ok_and(|names| names.is_some_and(|names| !names.is_empty()))
}

/// Removes the record of an install that was removed.
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
