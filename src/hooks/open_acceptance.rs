//! Which phases are closed although their acceptance test is not finished.

use super::scene::Scene;
use crate::project::acceptance::OpenAcceptance;

/// One line about them, with the command that goes on with the first; `None` where there are none.
pub(super) fn line(scene: &Scene<'_>) -> Option<String> {
    let open = scene.project.view().open_acceptances().ok()?;
    let first = &open.first()?.phase;
    let phases: Vec<String> = open.iter().map(shown).collect();
    Some(format!("open: acceptance of {} -> {} {first}", phases.join(", "), scene.command("verify-work")))
}

/// `phase 1 (2 tests, 1 gap)`.
fn shown(open: &OpenAcceptance) -> String {
    let count = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        count => Some(format!("{count} {what}s")),
    };
    let counts: Vec<String> = [count(open.tests, "test"), count(open.gaps, "gap")].into_iter().flatten().collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    format!("phase {}{counts}", open.phase)
}
