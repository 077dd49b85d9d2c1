//! Refuses to write into another checkout while the work goes on in a git worktree: mostly, a path was taken from where
//! the work began.

use std::path::Path;

use super::checkout::Checkout;
use super::scene::Scene;
use super::verdict::{Block, Finding};
use crate::library::ToolSet;

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    if !matches!(scene.payload.tool(), Some(ToolSet::Write | ToolSet::Edit)) {
        return Finding::Nothing;
    }
    let Some(here) = Checkout::of(scene.here).filter(|here| here.is_linked) else { return Finding::Nothing };
    for name in scene.payload.paths() {
        let path = scene.path(&name);
        if path.starts_with(&here.root) {
            continue;
        }
        // What is in no checkout of this repository, such as a temporary file, is no part of this work.
        let there = Checkout::of(&path).filter(|there| !there.is_same(&here) && here.may_share_with(there));
        if let Some(there) = there {
            return Finding::Block(refused(&name, &here.root, &there.root));
        }
    }
    Finding::Nothing
}

fn refused(name: &str, here: &Path, there: &Path) -> Block {
    let (here, there) = (here.display(), there.display());
    Block {
        code: "OUTSIDE_WORKTREE",
        reason: format!(
            "`{name}` is in the checkout `{there}`, and the work here goes on in the worktree `{here}`. Use a path relative \
             to the worktree. If the user wants the file over there changed, say so and let them do it from there."
        ),
    }
}
