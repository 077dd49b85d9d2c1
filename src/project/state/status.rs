//! The words people write behind `Status:`, and the few that programs know.

/// The status for the index: `paused`, `executing`, `planning`, `discussing`, `verifying`, `completed`; anything else as
/// it is written.
pub(crate) fn normal_status(written: &str) -> String {
    let written = written.trim();
    let lower = written.to_lowercase();
    let word = match lower.as_str() {
        "paused" | "stopped" => "paused",
        "executing" | "in progress" | "ready to execute" => "executing",
        "planning" | "ready to plan" | "planning complete" => "planning",
        "discussing" => "discussing",
        "verifying" => "verifying",
        "completed" | "done" | "complete" | "phase complete" | "all phases complete" | "milestone complete" => {
            "completed"
        }
        other => pattern(other).unwrap_or(written),
    };
    word.to_owned()
}

/// Statuses that carry the number of a phase or a milestone.
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

/// Whether a status says that one phase is complete: `Phase 2 complete`.
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
    fn known_words_are_told_apart_and_others_stay() {
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
}
