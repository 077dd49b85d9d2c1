//! Puts the state of the project before a new session.

use super::scene::Scene;
use super::verdict::Finding;
use crate::text::front_matter::FrontMatter;

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    if !scene.project.flag("hooks.community", false) {
        return Finding::Nothing;
    }
    Finding::Note(note(scene.project.state().as_deref()))
}

/// The note for a project whose STATE.md reads `state`.
fn note(state: Option<&str>) -> String {
    let Some(state) = state else {
        return "This project has a .planning folder and no STATE.md yet.".to_owned();
    };
    let front = FrontMatter::parse(state);
    let field = |key: &str| front.as_ref().and_then(|front| front.text(key));
    let mut lines = vec!["PROJECT STATE (.planning/STATE.md):".to_owned()];
    let phase = match (field("current_phase"), field("current_phase_name")) {
        (Some(number), Some(name)) => Some(format!("phase {number}, {name}")),
        (Some(number), None) => Some(format!("phase {number}")),
        _ => None,
    };
    let told = [
        ("Milestone", field("milestone")),
        ("At", phase),
        ("Status", field("status")),
        ("Stopped at", field("stopped_at")),
        ("Paused at", field("paused_at")),
    ];
    lines.extend(told.into_iter().filter_map(|(label, value)| Some(format!("- {label}: {}", value?))));
    if lines.len() == 1 {
        let body = front.as_ref().map_or(state, FrontMatter::body);
        lines.extend(body.lines().filter(|line| !line.trim().is_empty()).take(12).map(str::to_owned));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_told_in_a_few_lines() {
        let state =
            "---\nmilestone: v1.0\ncurrent_phase: 2\ncurrent_phase_name: Notes\nstatus: executing\n---\n\n# State\n";
        assert_eq!(
            note(Some(state)),
            "PROJECT STATE (.planning/STATE.md):\n- Milestone: v1.0\n- At: phase 2, Notes\n- Status: executing"
        );
        assert!(note(Some("# State\n\nPhase: 2\n")).ends_with("# State\nPhase: 2"));
    }
}
