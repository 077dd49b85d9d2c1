//! Compares the counts in STATE.md with the disk and corrects them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EditedState, Facts, Rule, StateEdit, close, open, position};
use crate::failure::Failure;
use crate::project::figures::MilestoneCounts;
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::state::State;
use crate::project::state::edit::{Set, progress_bar, shown_percent};
use crate::project::state::index::Progress;
use crate::project::view::{Edits, ProjectView};

/// What `state sync` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SyncReport {
    pub(crate) synced: bool,
    /// What was or would be changed, and what cannot be counted.
    pub(crate) changes: Vec<String>,
    pub(crate) dry_run: bool,
}

/// Sets the counts in STATE.md to those on disk. With `only_look`, only reports them. `None` without STATE.md.
pub(crate) fn sync(view: &ProjectView, only_look: bool, facts: &Facts) -> EditedState<SyncReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let milestone = view.milestone()?;
    let mut edit = StateEdit::new(state);
    let mut changes = Vec::new();
    let lost = position::lost_phase(view, state)?;
    if let Some(phase) = lost
        && let Some(found) = position::fill_position(view, &mut edit, &format!("Phase {phase} is gone"), facts)?
    {
        changes.push(format!("Phase: {phase} is in no roadmap and no folder -> {found}"));
    } else if let Some(plans) = plans_of_phase(view, state)? {
        set(&mut edit, "Total Plans in Phase", &plans.to_string(), &mut changes);
    }
    let shown = state.field("Progress").and_then(|field| shown_percent(field.value));
    match (milestone.scope, shown) {
        (MilestoneScope::Complete, Some((_, shown))) => {
            let percent = MilestoneCounts::of(view)?.percent();
            if percent != shown {
                changes.push(format!("Progress: {} -> {}", progress_bar(shown), progress_bar(percent)));
            }
        }
        (MilestoneScope::Complete | MilestoneScope::Unreadable, None) => {}
        _ => changes.push(format!("Progress: skipped — {}", uncounted(&milestone))),
    }
    let skipped = changes.iter().filter(|change| change.starts_with("Progress: skipped")).count();
    if lost.is_none() && state.field("Last activity").is_some_and(|field| !field.value.starts_with(&facts.today)) {
        set(&mut edit, "Last Activity", &facts.today, &mut changes);
    }
    let report = SyncReport { synced: !only_look, changes, dry_run: only_look };
    let written = close(view, edit, Rule::Recount, facts)?;
    let total = |state: &State<'_>| Progress::written(state).and_then(|progress| progress.total_phases);
    let counted = written.followed.iter().any(|name| name.starts_with("progress."))
        || total(state) != total(&State::parse(&written.text));
    if only_look || (report.changes.len() == skipped && !counted) {
        return Ok(Some((report, Edits::default())));
    }
    Ok(Some((report, written.edits(view)?)))
}

fn uncounted(milestone: &Milestone) -> String {
    match (&milestone.version, milestone.scope) {
        (_, MilestoneScope::Unreadable) => "there is no roadmap to count phases in".to_owned(),
        (Some(version), _) => {
            format!("ROADMAP.md has no heading for milestone {version}, so its phases are unknown")
        }
        (None, _) => "the milestones of ROADMAP.md have versions, but STATE.md does not name one".to_owned(),
    }
}

fn set(edit: &mut StateEdit<'_, '_>, label: &str, value: &str, changes: &mut Vec<String>) {
    let before = edit.state().field(label).map(|field| field.value).unwrap_or_default();
    if edit.set(label, value) == Set::Changed {
        changes.push(format!("{label}: {before} -> {value}"));
    }
}

/// The number of plans of the current phase, if it has a folder.
fn plans_of_phase(view: &ProjectView, state: &State<'_>) -> Result<Option<usize>, Failure> {
    let Some(phase) = state.position().phase else { return Ok(None) };
    let Some(folder) = view.find_phase(phase)?.folder else { return Ok(None) };
    Ok(Some(view.current_plans(&folder)?.len()))
}
