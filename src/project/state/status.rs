//! The words people write after `Status:`, and the few that programs know.

use super::meaningful;

/// The status after a milestone was archived, until the next one begins.
pub(crate) const AWAITING_MILESTONE: &str = "Awaiting next milestone";

/// The status of a milestone that has no phases yet.
pub(crate) const DEFINING: &str = "Defining requirements";

/// Whether a status means that the last milestone is archived and no other one has begun.
pub(crate) fn is_awaiting_milestone(written: &str) -> bool {
    let written = written.trim();
    written.eq_ignore_ascii_case(AWAITING_MILESTONE) || written.eq_ignore_ascii_case("milestone-complete")
}

/// Whether a status means that no phase is current: the last milestone is archived, or the next one has no phases yet.
pub(crate) fn is_between_milestones(written: &str) -> bool {
    is_awaiting_milestone(written) || written.trim().eq_ignore_ascii_case(DEFINING)
}

/// The status for the index: `paused`, `executing`, `planning`, `discussing`, `verifying`, `completed`; anything else
/// as it is written.
pub(crate) fn normal_status(written: &str) -> String {
    let written = written.trim();
    known(&written.to_lowercase()).unwrap_or(written).to_owned()
}

/// Whether a status is empty or one that programs write; any other was written by a person and belongs to them.
pub(crate) fn is_of_programs(written: &str) -> bool {
    let lower = written.trim().to_lowercase();
    meaningful(written).is_none()
        || known(&lower).is_some()
        || is_between_milestones(written)
        || matches!(lower.as_str(), "unknown" | "not started")
}

/// The index status for one that programs know.
fn known(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "paused" | "stopped" => "paused",
        "executing" | "in progress" | "ready to execute" => "executing",
        "planning" | "ready to plan" | "planning complete" => "planning",
        "discussing" => "discussing",
        "verifying" => "verifying",
        "completed" | "done" | "complete" | "phase complete" | "all phases complete" | "milestone complete" => {
            "completed"
        }
        other => return pattern(other),
    })
}

/// Statuses that contain the number of a phase or a milestone.
fn pattern(lower: &str) -> Option<&'static str> {
    let starts = |word: &str| lower.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '));
    if lower.starts_with("phase complete") && lower.contains("ready for verification") {
        Some("verifying")
    } else if starts("executing phase") {
        Some("executing")
    } else if starts("planning phase") {
        Some("planning")
    } else if starts("verifying phase") {
        Some("verifying")
    } else if is_phase_complete(lower) || lower.ends_with("milestone complete") || lower.contains("complete ✓") {
        Some("completed")
    } else {
        None
    }
}

/// Whether a status means that one phase is complete: `Phase 2 complete`.
pub(crate) fn is_phase_complete(status: &str) -> bool {
    let lower = status.trim().to_lowercase();
    lower.strip_prefix("phase ").and_then(|rest| rest.strip_suffix(" complete")).is_some_and(|phase| {
        phase.starts_with(|first: char| first.is_ascii_alphanumeric()) && !phase.trim().contains(' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_are_distinguished_and_others_stay() {
        for (written, normal) in [
            ("In progress", "executing"),
            ("READY TO EXECUTE", "executing"),
            ("Executing Phase 3", "executing"),
            ("Ready to plan", "planning"),
            ("Phase complete — ready for verification", "verifying"),
            ("Phase 2.1 complete", "completed"),
            ("v1.0 milestone complete", "completed"),
            ("All done, complete ✓", "completed"),
            ("Stopped", "paused"),
            ("Awaiting next milestone", "Awaiting next milestone"),
            ("Executing phases in my head", "Executing phases in my head"),
        ] {
            assert_eq!(normal_status(written), normal, "{written}");
        }
    }

    #[test]
    fn the_words_of_a_person_are_distinguished_from_those_of_programs() {
        for (written, of_programs) in [
            ("Ready to plan", true),
            ("Executing Phase 3", true),
            ("Not started", true),
            ("—", true),
            ("", true),
            ("Blocked by the API", false),
            ("Ready to plan once Bob is back", false),
        ] {
            assert_eq!(is_of_programs(written), of_programs, "{written}");
        }
    }
}
