//! Refuses to write to another checkout while the work is in a git worktree: usually, the path came from where the work
//! began.

use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::scene::Scene;
use super::verdict::{Block, Reaction};
use crate::disk::{self, AbsolutePath};
use crate::library::ToolSet;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    if !matches!(scene.payload.tool(), Some(ToolSet::Write | ToolSet::Edit)) {
        return Reaction::Nothing;
    }
    let Some(here) = Checkout::of(scene.here).filter(|here| here.is_linked) else { return Reaction::Nothing };
    // If git ignores the documents, all worktrees share those of the main one.
    let planning = scene.project.layout.absolute(scene.project.layout.planning());
    for name in scene.payload.paths() {
        // The final target: a link in the worktree may lead anywhere.
        let path = real(&scene.path(&name));
        if [here.root.as_path(), planning.as_path()].iter().any(|folder| path.starts_with(real(folder))) {
            continue;
        }
        // A path in no checkout of this repository, such as a temporary file, does not concern this work.
        let there = Checkout::of(&path).filter(|there| !there.is_same(&here) && here.may_share_with(there));
        if let Some(there) = there {
            let same_place = here.root.join(path.strip_prefix(&there.root).unwrap_or(&path));
            return Reaction::Block(refused(&name, &here.root, &there.root, &same_place));
        }
    }
    Reaction::Nothing
}

/// The path without links, up to its first missing part; unchanged if the links cannot be followed.
fn real(path: &Path) -> PathBuf {
    let real = AbsolutePath::parse(path).ok().and_then(|path| disk::destined(&path).ok());
    real.map_or_else(|| path.to_path_buf(), |real| real.as_path().to_path_buf())
}

fn refused(name: &str, here: &Path, there: &Path, same_place: &Path) -> Block {
    let (here, there, same_place) = (here.display(), there.display(), same_place.display());
    Block {
        code: "OUTSIDE_WORKTREE",
        reason: format!(
            "`{name}` is in the checkout `{there}`, but this work happens in the worktree `{here}`. Instead, write \
             `{same_place}`, and leave the other checkout to the user."
        ),
    }
}
