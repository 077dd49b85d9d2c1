//! Moves old entries out of STATE.md into an archive next to it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EditedState, Facts, Rule, StateEdit, close, open};
use crate::project::phase::leading_integer;
use crate::project::state::sections::Taken;
use crate::project::state::{BLOCKERS, COMPLETED, DECISIONS};
use crate::project::view::{Edits, ProjectView};
use crate::text::markdown::newline_of;

/// The default number of phases whose entries stay.
pub(crate) const KEPT: u64 = 3;

/// What `state prune` answers; the fields depend on the case.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PruneReport {
    TooFew {
        pruned: bool,
        reason: String,
    },
    Pruned {
        pruned: bool,
        cutoff_phase: u64,
        keep_recent: u64,
        sections: Vec<PrunedSection>,
        total_archived: usize,
        archive_file: Option<&'static str>,
    },
    Looked {
        pruned: bool,
        dry_run: bool,
        cutoff_phase: u64,
        keep_recent: u64,
        sections: Vec<PrunableSection>,
        total_would_archive: usize,
        note: &'static str,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PrunedSection {
    pub(crate) section: &'static str,
    pub(crate) entries_archived: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PrunableSection {
    pub(crate) section: &'static str,
    pub(crate) entries_would_archive: usize,
}

impl PruneReport {
    /// True if anything is moved, or would be.
    pub(crate) fn found(&self) -> bool {
        match self {
            Self::TooFew { .. } => false,
            Self::Pruned { pruned, .. } => *pruned,
            Self::Looked { total_would_archive, .. } => *total_would_archive > 0,
        }
    }
}

/// Moves decisions, completed phases, resolved blockers and metrics of phases that are `keep` or more phases back into
/// the archive. `None` without STATE.md.
pub(crate) fn prune(view: &ProjectView, keep: u64, only_look: bool, facts: &Facts) -> EditedState<PruneReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let phase = state.front_text("current_phase").or_else(|| state.position().phase.map(str::to_owned));
    let current = phase.as_deref().and_then(leading_integer).unwrap_or(0);
    let Some(cutoff) = current.checked_sub(keep).filter(|cutoff| *cutoff > 0) else {
        let reason = format!("nothing to prune: at phase {current}, and --keep-recent is {keep}");
        return Ok(Some((PruneReport::TooFew { pruned: false, reason }, Edits::default())));
    };
    let old = |text: &str| leading_integer(text).is_some_and(|phase| (1..=cutoff).contains(&phase));
    let mut edit = StateEdit::new(state);
    let taken: Vec<(&'static str, Taken)> = [
        ("Decisions", edit.take_items(DECISIONS, |item| item.strip_prefix('[').and_then(named_phase).is_some_and(old))),
        ("Recently Completed", edit.take_items(COMPLETED, |item| named_phase(item).is_some_and(old))),
        (
            "Blockers (resolved)",
            edit.take_items(BLOCKERS, |item| is_resolved(item) && phase_in(item).is_some_and(|phase| old(&phase))),
        ),
        ("Performance Metrics", edit.take_phase_rows(old)),
    ]
    .into_iter()
    .filter(|(_, taken)| taken.count > 0)
    .collect();
    let total: usize = taken.iter().map(|(_, taken)| taken.count).sum();
    if only_look {
        let sections =
            taken.iter().map(|(section, taken)| PrunableSection { section, entries_would_archive: taken.count });
        let report = PruneReport::Looked {
            pruned: false,
            dry_run: true,
            cutoff_phase: cutoff,
            keep_recent: keep,
            sections: sections.collect(),
            total_would_archive: total,
            note: "run it without --dry-run to prune",
        };
        return Ok(Some((report, Edits::default())));
    }
    let sections = taken.iter().map(|(section, taken)| PrunedSection { section, entries_archived: taken.count });
    let report = PruneReport::Pruned {
        pruned: total > 0,
        cutoff_phase: cutoff,
        keep_recent: keep,
        sections: sections.collect(),
        total_archived: total,
        archive_file: (total > 0).then_some("STATE-ARCHIVE.md"),
    };
    if total == 0 {
        return Ok(Some((report, Edits::default())));
    }
    let mut edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
    let path = view.layout().state_archive();
    let standing = view.text(&path)?;
    let heading = format!("## Pruned {} (phases 1-{cutoff}, kept recent {keep})", facts.today);
    edits.write(view, &path, archived(standing.as_deref(), &heading, &taken))?;
    Ok(Some((report, edits)))
}

/// The phase in `Phase 3 …`.
fn named_phase(text: &str) -> Option<&str> {
    let head = text.get(..6).filter(|head| head.eq_ignore_ascii_case("phase "))?;
    Some(text[head.len()..].trim_start())
}

/// True if a blocker is struck through or marked as resolved.
fn is_resolved(item: &str) -> bool {
    item.trim_start().starts_with("~~") || item.to_uppercase().contains("[RESOLVED]")
}

/// The number of the first phase that a text names.
fn phase_in(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let numbers = lower.match_indices("phase ").map(|(at, word)| &lower[at + word.len()..]);
    let numbers = numbers.map(|rest| rest.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.'));
    numbers.map(Iterator::collect::<String>).find(|number| !number.is_empty())
}

/// The archive with another part at its end.
fn archived(standing: Option<&str>, heading: &str, taken: &[(&'static str, Taken)]) -> String {
    let start = "# STATE Archive\n\nEntries moved out of STATE.md. No command reads them.\n";
    let mut text = standing.unwrap_or(start).to_owned();
    let newline = newline_of(&text);
    let sections = taken.iter().map(|(section, taken)| format!("\n### {section}\n\n{}\n", taken.text));
    let part = format!("\n{heading}\n{}", sections.collect::<String>()).replace("\r\n", "\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    text.push_str(&part.replace('\n', newline));
    text
}
