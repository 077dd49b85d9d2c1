//! Which phases are closed although their acceptance test is not finished.

use super::scene::Scene;
use crate::project::acceptance::OpenAcceptance;
use crate::text::screen::counted;

/// One line about them, with the command that goes on with the first; `None` where there are none.
pub(super) fn line(scene: &Scene<'_>) -> Option<String> {
    let open = scene.project.view().open_acceptances().ok()?;
    let first = &open.first()?.phase;
    let phases: Vec<String> = open.iter().map(shown).collect();
    let (tests, are) = if phases.len() == 1 { ("test", "is") } else { ("tests", "are") };
    let (phases, command) = (phases.join(", "), scene.command("verify-work"));
    Some(format!("Open: the acceptance {tests} of {phases} {are} not finished. Continue with `{command} {first}`."))
}

/// `phase 1 (2 tests, 1 gap)`.
fn shown(open: &OpenAcceptance) -> String {
    let counts = [(open.tests, "test"), (open.gaps, "gap")].into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, noun)| counted(count, noun)).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    format!("phase {}{counts}", open.phase)
}
