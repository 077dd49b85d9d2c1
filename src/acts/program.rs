//! How to spell a call of this program, so that a command in an answer can be typed as it is.

use std::path::Path;

use super::Call;
use crate::emit::{CONTENT_FOLDER, Spelling};
use crate::runtime::{self, Registry, Scope};
use crate::world::World;

/// This program as one word of a shell: by its path, as the installed texts spell it, if it is part of an installation;
/// else by its name, which is then on the search path or known to the caller. A local installation is spelled relative
/// to `here`.
pub(crate) fn word(world: &World, here: &Path) -> String {
    installed(world, here).map_or_else(|| "gsd-tools".to_owned(), |spelling| spelling.binary_word())
}

/// How a text for a model calls this program in the project of a call.
pub(crate) fn word_of(call: &Call) -> String {
    word(call.world(), call.root().as_path())
}

/// The paths of the installation that this program is part of.
fn installed(world: &World, here: &Path) -> Option<Spelling> {
    let program = world.executable().ok()?;
    let content = program.parent()?.parent().filter(|folder| folder.ends_with(CONTENT_FOLDER))?;
    let host = runtime::installed_for(&program)?;
    let host = Registry::one(world.config_folder().as_deref(), &host).ok();
    let root = content.parent()?;
    let spelled = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let user = world.home().map(|home| spelled(&home)).unwrap_or_default();
    let (scope, local) = match root.strip_prefix(here) {
        Ok(local) if !local.as_os_str().is_empty() => (Scope::Local, spelled(local)),
        _ => (Scope::Global, String::new()),
    };
    let absolute = host.is_some_and(|host| host.home.absolute_program);
    Some(Spelling::new(scope, &local, &spelled(root), &user).with_absolute_program(absolute))
}
