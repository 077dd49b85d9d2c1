//! Warns the agent when little context is left, but not too often.

use serde::{Deserialize, Serialize};

use super::payload::ContextUse;
use super::scene::{Scene, session_file};
use super::verdict::Reaction;
use crate::library::Event;

/// The file of a session with the last numbers of the status line.
pub(super) const NUMBERS: &str = "context";

/// The file of a session with the last warning.
const SAID: &str = "warned";

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    if scene.event == Event::BeforeCompact {
        // Earlier warnings, and the numbers written until the compaction is done, are about the long conversation.
        scene.leave(SAID, &MonitorMemory { compacted_at: Some(scene.now()), ..MonitorMemory::default() });
        return Reaction::Nothing;
    }
    let project = scene.project;
    // Without a file for the last warning, every tool use would repeat it.
    let remembers = session_file(scene.world, scene.payload, SAID).is_some();
    if !remembers || !project.flag("hooks.context_warnings", true) {
        return Reaction::Nothing;
    }
    let limits = ContextLimits {
        warning: project.number("hooks.context_warning_threshold", 35.0),
        critical: project.number("hooks.context_critical_threshold", 25.0),
    };
    let Some(used) = scene.payload.context_use(scene.now()).or_else(|| scene.recall(NUMBERS)) else {
        return Reaction::Nothing;
    };
    let memory: MonitorMemory = scene.recall(SAID).unwrap_or_default();
    let (note, memory) = note(&used, &memory, limits, scene.now(), || advice(scene));
    if let Some(memory) = memory {
        scene.leave(SAID, &memory);
    }
    note.into()
}

/// The command with which the agent records where the work is; `None` without a STATE.md to record it in.
fn advice(scene: &Scene<'_>) -> Option<String> {
    let layout = &scene.project.layout;
    let has_state = crate::disk::is_file(layout.absolute(&layout.state()));
    has_state.then(|| format!("`{} state record-session --stopped-at \"<plan and task>\"`", scene.program()))
}

/// The notes given in this session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct MonitorMemory {
    said: Option<Level>,
    /// Tool uses since the last note.
    quiet_for: u32,
    /// When the conversation was last compacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compacted_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Warning,
    Critical,
}

/// Remaining context, in percent, below which the agent is warned.
#[derive(Clone, Copy, Debug)]
struct ContextLimits {
    warning: f64,
    critical: f64,
}

/// Numbers older than this are out of date.
const STALE_AFTER: i64 = 60_000;

/// For how long after a compaction numbers from before it may still arrive.
const GRACE: i64 = 60_000;

/// The largest difference between clocks. A time further in the future is not trusted.
const SKEW: i64 = 5_000;

/// Tool uses between two notes of the same level.
const QUIET: u32 = 5;

/// The note to give now, if any, and the memory to store, if it changed. `record` is the command that records where the
/// work is.
fn note(
    used: &ContextUse,
    memory: &MonitorMemory,
    limits: ContextLimits,
    now: i64,
    record: impl Fn() -> Option<String>,
) -> (Option<String>, Option<MonitorMemory>) {
    let level = if used.remaining <= limits.critical {
        Level::Critical
    } else if used.remaining <= limits.warning {
        Level::Warning
    } else {
        return (None, (*memory != MonitorMemory::default()).then(MonitorMemory::default));
    };
    let compacted = memory.compacted_at.filter(|compacted| *compacted <= now + SKEW);
    let before_compaction = compacted.is_some_and(|compacted| used.noted_at < compacted + GRACE);
    if now - used.noted_at > STALE_AFTER || before_compaction {
        return (None, None);
    }
    let worse = memory.said.is_none_or(|said| level > said);
    if !worse && memory.quiet_for + 1 < QUIET {
        return (None, Some(MonitorMemory { quiet_for: memory.quiet_for + 1, ..memory.clone() }));
    }
    // The figure that the status line shows, and the one that the limits apply to.
    let figures = format!("{} % used, {} % of the window left", used.used(), used.remaining.round());
    let note = match level {
        Level::Warning => {
            format!("CONTEXT WARNING: {figures}. Finish the current step, start nothing large, and warn the user.")
        }
        Level::Critical => {
            let record =
                record().map(|command| format!(", record where the work is with {command}")).unwrap_or_default();
            format!(
                "CONTEXT CRITICAL: {figures}. Finish the current step{record}, then ask the user to continue in a new session."
            )
        }
    };
    (Some(note), Some(MonitorMemory { said: Some(level), quiet_for: 0, ..memory.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ContextLimits = ContextLimits { warning: 35.0, critical: 25.0 };

    /// The notes of a session with these remaining percentages, one tool use each.
    fn told(remaining: &[f64]) -> Vec<&'static str> {
        let mut memory = MonitorMemory::default();
        let mut said = Vec::new();
        for remaining in remaining {
            let used = ContextUse { remaining: *remaining, noted_at: 0 };
            let (note, next) = note(&used, &memory, LIMITS, 1_000, || None);
            memory = next.unwrap_or(memory);
            said.push(match note {
                Some(note) if note.contains("CRITICAL") => "critical",
                Some(_) => "warning",
                None => "",
            });
        }
        said
    }

    #[test]
    fn notes_are_five_tool_uses_apart_and_a_worse_level_is_immediate() {
        assert_eq!(told(&[36.0, 35.0, 34.0, 33.0, 32.0, 31.0, 30.0]), ["", "warning", "", "", "", "", "warning"]);
        assert_eq!(told(&[35.0, 25.0, 24.0]), ["warning", "critical", ""]);
        assert_eq!(told(&[35.0, 80.0, 35.0]), ["warning", "", "warning"], "a compacted session starts anew");
    }

    #[test]
    fn the_reserve_of_the_host_counts_as_used() {
        let used = |remaining| ContextUse { remaining, noted_at: 0 }.used();
        assert_eq!([used(100.0), used(58.25), used(19.0), used(16.5), used(3.0)], [0, 50, 97, 100, 100]);
    }

    #[test]
    fn an_urgent_note_names_both_figures_and_the_command() {
        let used = ContextUse { remaining: 19.0, noted_at: 0 };
        let said = |record: Option<&str>| {
            note(&used, &MonitorMemory::default(), LIMITS, 0, || record.map(str::to_owned)).0.unwrap()
        };
        assert!(said(Some("`x y`")).starts_with("CONTEXT CRITICAL: 97 % used, 19 % of the window left."));
        assert!(said(Some("`x y`")).contains("record where the work is with `x y`, then ask the user"));
        assert!(!said(None).contains("record"));
    }

    #[test]
    fn old_numbers_are_ignored() {
        let used = ContextUse { remaining: 10.0, noted_at: 0 };
        assert_eq!(note(&used, &MonitorMemory::default(), LIMITS, 60_001, || None), (None, None));
    }

    #[test]
    fn numbers_from_before_a_compaction_are_ignored() {
        let compacted = MonitorMemory { compacted_at: Some(1_000_000), ..MonitorMemory::default() };
        let said =
            |noted_at| note(&ContextUse { remaining: 10.0, noted_at }, &compacted, LIMITS, noted_at + 1, || None).0;
        assert_eq!(said(1_000_500), None);
        assert!(said(1_060_500).is_some());
    }
}
