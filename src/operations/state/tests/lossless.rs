//! Every command on STATE.md keeps the bytes of everything that it does not mean to change.

use proptest::prelude::*;
use similar::{ChangeTag, TextDiff};

use super::super::notes::{self, Metric};
use super::super::{advance, position, read, update};
use super::*;
use crate::project::state::index::{KEYS, Progress};

/// Every command with a request that is valid in all the projects, and parts of the lines in the body that it may
/// change.
fn every_command(view: &ProjectView) -> Vec<(&'static str, StateEdited, &'static [&'static str])> {
    const POSITION: &[&str] =
        &["Phase", "Plan", "Status", "Last activity", "Last Activity", "Current", "Total Plans in Phase", "Progress"];
    let facts = facts();
    let metric =
        Metric { phase: Some("2"), plan: Some("1"), duration: Some("5min"), tasks: Some("3"), files: Some("4") };
    vec![
        ("begin", printed_found(position::begin(view, phase("3", "Ernte 🍎", 4), &facts)), POSITION),
        ("planned", printed_found(position::planned(view, phase("3", "Ernte 🍎", 4), &facts)), POSITION),
        ("complete", printed_found(position::complete(view, Some("2"), &facts)), POSITION),
        ("advance", printed_found(advance::advance(view, &facts)), POSITION),
        ("update", printed(update::update(view, "Status", "Paused — später", &facts)), &["Status"]),
        (
            "patch",
            printed(update::patch(view, &[("Stopped at".into(), "x".into())], &facts)),
            &["Stopped at", "Stopped At"],
        ),
        (
            "decision",
            printed_found(notes::add_decision(view, None, Some("Ünï"), None, &facts)),
            &["Ünï", "None", "## Decisions"],
        ),
        (
            "blocker",
            printed_found(notes::add_blocker(view, Some("Ünï"), &facts)),
            &["Ünï", "None", "Progress", "# Blockers"],
        ),
        (
            "resolve",
            printed_found(notes::resolve_blocker(view, Some("frost"), &facts)),
            &["Frost", "* (tabbed", "Progress"],
        ),
        (
            "session",
            printed_found(notes::record_session(view, Some("x"), Some("y"), &facts)),
            &["Last session", "Stopped", "Resume", "## Session"],
        ),
        (
            "metric",
            printed_found(notes::record_metric(view, metric, &facts)),
            &["Plan", "------", "Phase 2 P1", "## Performance Metrics"],
        ),
        ("progress", printed_found(notes::update_progress(view, &facts)), &["Progress"]),
    ]
}

/// Asserts that the lines outside those that a command means to change keep their bytes, including line breaks.
fn assert_only_meant_lines_change(before: &str, after: &str, command: &str, meant: &[&str]) {
    let front = |text: &str| {
        text.len() - crate::text::front_matter::FrontMatter::parse(text).map_or(text, |front| front.body()).len()
    };
    let (front_before, front_after) = (front(before), front(after));
    for change in TextDiff::from_lines(&before[..front_before], &after[..front_after]).iter_all_changes() {
        let key = change.value().trim_start().split(':').next().unwrap_or_default();
        let ours = KEYS.iter().any(|known| known.name == key)
            || Progress::default().counters().iter().any(|(name, _)| *name == key)
            || (front_before == 0 && change.value().trim() == "---");
        assert!(change.tag() == ChangeTag::Equal || ours, "{command}: {change:?}");
    }
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    for change in TextDiff::from_lines(&before[front_before..], &after[front_after..]).iter_all_changes() {
        let line = change.value();
        let is_blank = line.trim().is_empty();
        let is_meant = meant.iter().any(|part| line.contains(part)) || (is_blank && change.tag() == ChangeTag::Insert);
        assert!(
            change.tag() == ChangeTag::Equal
                || is_meant
                || line.trim_end() == before.lines().last().unwrap_or_default(),
            "{command}: {change:?}"
        );
        if change.tag() == ChangeTag::Insert && line.ends_with('\n') {
            assert_eq!(line.ends_with("\r\n"), newline == "\r\n", "{command}: {change:?}");
        }
    }
}

#[test]
fn only_intended_lines_change() {
    for project in ["garden", "ledger"] {
        for crlf in [false, true] {
            for mark in ["", "\u{feff}"] {
                let mut files = fixture(project);
                let text = format!("{mark}{}", files.texts[STATE]);
                let text = if crlf { text.replace('\n', "\r\n") } else { text };
                files.texts.insert(STATE.into(), text.clone());
                let view = view(files);
                for (command, outcome, meant) in every_command(&view) {
                    let (_, edits) = outcome.unwrap_or_else(|error| panic!("{command}: {error}"));
                    if let Some(after) = edits.texts.get(STATE) {
                        assert_only_meant_lines_change(&text, after, &format!("{project} {command}"), meant);
                        assert_eq!(State::parse(after).problem(), None, "{project} {command}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_state_is_read_and_written_without_loss(
        front in "(status: [a-z]{0,6}( # c)?\n|mine: [ -~é]{0,8}\n|# note\n|progress:\n  total_plans: [0-9]\n){0,3}",
        body in proptest::collection::vec(prop_oneof![
            Just("## Current Position"), Just("Phase: 2 of 3 (B)"), Just("**Status:** In progress"), Just("| Status | x |"),
            Just("## Decisions"), Just("- [Phase 1]: a"), Just("None yet."), Just(""), Just("text ünï "), Just("```"),
            Just("## Session"), Just("Stopped at:"), Just("## Blockers"), Just("* b"), Just("  more"),
            Just("## Performance Metrics"), Just("| Plan | Duration |"), Just("|---|---|"), Just("Plan: 1 of 2"),
            Just("Progress: [██] 20%"),
        ], 0..24),
        newline in prop_oneof![Just("\n"), Just("\r\n")],
        ends in any::<bool>(),
    ) {
        let mut lines: Vec<&str> = Vec::new();
        if !front.is_empty() {
            lines.push("---");
            lines.extend(front.lines());
            lines.push("---");
        }
        lines.extend(body);
        let mut text = lines.join(newline);
        if ends {
            text.push_str(newline);
        }
        let view = of_text(&text);
        let _ = read::json(&view, &facts()).unwrap();
        let _ = read::snapshot(&view).unwrap();
        for (command, outcome, _) in every_command(&view) {
            match outcome {
                Err(error) => {
                    prop_assert!(error.message.contains("is not written to"), "{command}: {error:?}");
                    prop_assert!(State::parse(&text).problem().is_some());
                }
                Ok((_, edits)) => {
                    let Some(after) = edits.texts.get(STATE) else { continue };
                    prop_assert!(State::parse(after).problem().is_none(), "{command}: {after}");
                    // Unknown lines stay, in their order.
                    let unknown = |text: &str| text.lines().filter(|line| line.starts_with("mine:") || line.starts_with("text") || line.starts_with("# note") || line.starts_with("```")).map(str::to_owned).collect::<Vec<_>>();
                    prop_assert_eq!(unknown(&text), unknown(after), "{}", command);
                }
            }
        }
    }
}
