//! Finds phases that are closed although their acceptance test is not finished.

use super::scene::Scene;
use crate::project::acceptance::OpenAcceptance;
use crate::text::shell::{Typed, typed};

/// One line about them, with the command that continues the first; `None` without any.
pub(super) fn line(scene: &Scene<'_>) -> Option<String> {
    let open = scene.project.view().open_acceptances().ok()?;
    let first = &open.first()?.phase;
    let phases: Vec<String> = open.iter().map(shown).collect();
    let (tests, are) = if phases.len() == 1 { ("test", "is") } else { ("tests", "are") };
    let (phases, command) = (phases.join(", "), scene.command("verify-work"));
    let command = typed!("{} {}", Typed::of_quoted(command), first);
    Some(format!("Open: the acceptance {tests} of {phases} {are} not finished. Continue with `{command}`."))
}

/// `phase 1 (2 tests, 1 gap)`.
fn shown(open: &OpenAcceptance) -> String {
    let counts = open.counts().map(|counts| format!(" ({counts})")).unwrap_or_default();
    format!("phase {}{counts}", open.phase)
}
