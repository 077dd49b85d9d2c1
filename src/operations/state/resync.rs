//! Updates the index of STATE.md after an edit of its body.
//!
//! A key with a source in the body changes only if this write changed the source. The counters come from disk and
//! roadmap. `last_updated` and `state_head` are always current.

use super::{Facts, StateEdit};
use crate::failure::Failure;
use crate::project::figures::MilestoneCounts;
use crate::project::files::FileError;
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::scope::PhaseScope;
use crate::project::state::edit::{progress_bar, shown_percent};
use crate::project::state::index::{Index, KEYS, Progress, Sources, is_day};
use crate::project::state::{State, is_awaiting_milestone, is_phase_complete, names_phase};
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::splice::Splices;

/// How a write affects the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// They stay as they are: the operation is about something else.
    Keep,
    /// They are all counted again, unless fewer phases or plans are visible than were counted before: work in files
    /// that were removed stays counted.
    Refresh,
    /// They are counted again, even if they become lower, and every key is derived from the body.
    Recount,
    /// They are counted again, even if they become lower, always with a percentage: the operation knows what was
    /// completed. If more phases were counted than are visible, they stay.
    Measure,
    /// Like [`Self::Measure`], for an operation that removed a phase or was asked for the figures.
    Follow,
}

/// A STATE.md ready to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// The names of what changed: the fields of the operation, then the front matter keys updated with them.
    pub(crate) updated: Vec<String>,
    /// Only the names of the front matter keys that were updated with them.
    pub(crate) followed: Vec<String>,
    /// The percentage that the front matter has now.
    pub(crate) percent: Option<u64>,
}

/// Finishes the edits of a STATE.md, and updates its front matter and the fields of the body that show its counters.
///
/// `view` is the project as it will be with the new text: an operation that changes other files too passes
/// [`ProjectView::after`] its edits.
pub(crate) fn close(
    view: &ProjectView,
    edit: StateEdit<'_, '_>,
    rule: Rule,
    facts: &Facts,
) -> Result<Written, Failure> {
    let before = edit.state();
    let mut updated = edit.updated.clone();
    let text = edit.finish();
    let after = State::parse(&text);
    let index = follow(view, before, &after, rule, facts)?;
    let text = index.write_to(&text);
    let text = if rule == Rule::Keep { text } else { with_counts(with_bar(text, index.progress), index.progress) };
    let followed = followed(before, &State::parse(&text));
    for name in &followed {
        if !updated.iter().any(|known: &String| known.eq_ignore_ascii_case(name)) {
            updated.push(name.clone());
        }
    }
    let percent = index.progress.and_then(|progress| progress.percent);
    Ok(Written { text, updated, followed, percent })
}

/// The index after a write that changed `before` to `after`.
fn follow(
    view: &ProjectView,
    before: &State<'_>,
    after: &State<'_>,
    rule: Rule,
    facts: &Facts,
) -> Result<Index, FileError> {
    let (old, new) = (Sources::of(before), Sources::of(after));
    let milestone = view.milestone()?;
    let counts = MilestoneCounts::of(view)?;
    let mut index = derived(&new, after, &milestone, counts, facts);
    for row in KEYS.iter().filter(|key| key.is_copied) {
        let key = row.name;
        let is_told_as_before = old.get(key) == new.get(key);
        let is_stale = key == "current_phase_name"
            && old.get("current_phase") != new.get("current_phase")
            && before.front_text(key) == after.front_text(key);
        if is_told_as_before
            && !is_stale
            && (rule != Rule::Recount || !row.has_source(after))
            && let Some(kept) = after.front_text(key).filter(|kept| key != "current_phase" || names_phase(kept))
        {
            index.set(key, Some(kept));
        }
    }
    // The name changes only together with the milestone.
    let named = before.front_text("milestone_name").filter(|name| !is_placeholder_name(name));
    if rule != Rule::Recount
        && before.front_text("milestone") == after.front_text("milestone")
        && let Some(kept) = named
    {
        index.set("milestone_name", Some(kept));
    }
    let same_status = ["status", "paused_at"].iter().all(|key| old.get(key) == new.get(key));
    if ((same_status && rule != Rule::Recount) || new.normal_status().is_none())
        && let Some(kept) = after.front_text("status").filter(|kept| kept != "unknown")
    {
        index.set("status", Some(kept));
    }
    // The phases of an archived milestone do not count any more; its earlier counts stay.
    let is_archived = |sources: &Sources| sources.get("status").is_some_and(is_awaiting_milestone);
    let rule = if is_archived(&old) && is_archived(&new) { Rule::Keep } else { rule };
    index.progress = progress(after, rule, &milestone, counts, &view.scope()?);
    Ok(index)
}

/// True for a placeholder instead of a name.
fn is_placeholder_name(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || name.eq_ignore_ascii_case("milestone") || name == "null"
}

/// The index derived from body, disk and roadmap.
pub(super) fn derived(
    sources: &Sources,
    state: &State<'_>,
    milestone: &Milestone,
    counts: MilestoneCounts,
    facts: &Facts,
) -> Index {
    let mut index = Index::default();
    index.set("gsd_state_version", Some(state.front_text("gsd_state_version").unwrap_or_else(|| "1.0".to_owned())));
    index.set("milestone", state.front_text("milestone").or_else(|| milestone.version.clone()));
    let known = state.front_text("milestone_name").filter(|name| !name.trim().is_empty());
    index.set("milestone_name", milestone.name.clone().or(known));
    for key in KEYS.iter().filter(|key| key.is_copied) {
        index.set(key.name, sources.get(key.name).map(str::to_owned));
    }
    let known = || state.front_text("status").filter(|known| known != "unknown");
    let status = sources.normal_status().or_else(known).unwrap_or_else(|| "unknown".to_owned());
    index.set("status", Some(not_too_early(status, sources, milestone, counts)));
    let written = state.front_text("last_activity");
    let day = |text: &str| text.get(..10).filter(|day| is_day(day)).map(str::to_owned);
    let newest = match (sources.last_activity_day(), written.as_deref().and_then(day)) {
        (Some(told), Some(written)) if written.as_str() > told => Some(written),
        (Some(told), _) => Some(told.to_owned()),
        (None, _) => written,
    };
    index.set("last_activity", newest);
    index.set("last_updated", Some(facts.now.clone()));
    index.set("state_head", facts.head.clone().or_else(|| state.front_text("state_head")));
    index
}

/// One complete phase does not complete a milestone that is known to have more.
fn not_too_early(status: String, sources: &Sources, milestone: &Milestone, counts: MilestoneCounts) -> String {
    let one_phase = sources.get("paused_at").is_none() && sources.get("status").is_some_and(is_phase_complete);
    let more = milestone.scope == MilestoneScope::Complete && counts.completed_phases < counts.total_phases;
    if one_phase && more { "executing".to_owned() } else { status }
}

/// The figures after a write: either all are counted, or all stay. Something that is not visible never counts as
/// missing.
fn progress(
    after: &State<'_>,
    rule: Rule,
    milestone: &Milestone,
    counts: MilestoneCounts,
    scope: &PhaseScope,
) -> Option<Progress> {
    let written = Progress::written(after);
    let is_seen = scope.unseen.is_none() && scope.phases > 0;
    let has_gone = rule == Rule::Refresh && written.is_some_and(|written| counts.has_lost_work(&written));
    // Without a roadmap the number of phases is unknown.
    let is_unread = rule == Rule::Recount && milestone.scope == MilestoneScope::Unreadable && written.is_some();
    // More phases were counted than are visible: the count stays until a command asks for it.
    let is_disputed = rule == Rule::Measure && scope.fewer.is_some();
    if rule == Rule::Keep || !is_seen || has_gone || is_unread || is_disputed {
        return written;
    }
    // An existing percentage is updated; without one, the roadmap must show which phases belong to the milestone.
    let has_percent = written.is_some_and(|written| written.percent.is_some());
    let measured =
        matches!(rule, Rule::Measure | Rule::Follow) || has_percent || milestone.scope == MilestoneScope::Complete;
    Some(as_progress(counts, measured))
}

pub(super) fn as_progress(counts: MilestoneCounts, measured: bool) -> Progress {
    Progress {
        total_phases: Some(counts.total_phases),
        completed_phases: Some(counts.completed_phases),
        total_plans: Some(counts.total_plans),
        completed_plans: Some(counts.completed_plans),
        percent: measured.then(|| counts.percent()),
    }
}

/// The text with its `Progress:` field set to the percentage of the front matter.
fn with_bar(text: String, progress: Option<Progress>) -> String {
    let Some(percent) = progress.and_then(|progress| progress.percent) else { return text };
    let state = State::parse(&text);
    let Some(field) = state.field("Progress") else { return text };
    let Some((shown, _)) = shown_percent(field.value).filter(|(_, shown)| *shown != percent) else { return text };
    let bar =
        if shown.start == 0 && field.value.starts_with('[') { progress_bar(percent) } else { format!("{percent}%") };
    let mut splices = Splices::default();
    splices.replace(field.span.start + shown.start..field.span.start + shown.end, bar);
    splices.apply(&text)
}

/// The text with the phase counts of older files set to the counters of the front matter, if they exist.
fn with_counts(text: String, progress: Option<Progress>) -> String {
    let Some(progress) = progress.filter(|progress| progress.percent.is_some()) else { return text };
    let mut splices = Splices::default();
    let state = State::parse(&text);
    let counts = [("Total Phases", progress.total_phases), ("Completed Phases", progress.completed_phases)];
    for (label, count) in counts {
        let field = state.field(label).filter(|field| !field.value.is_empty());
        let field = field.filter(|field| field.value.bytes().all(|byte| byte.is_ascii_digit()));
        if let (Some(field), Some(count)) = (field, count)
            && field.value.parse() != Ok(count)
        {
            splices.replace(field.span, count.to_string());
        }
    }
    splices.apply(&text)
}

/// The names of the updated keys: those whose source in the body changed, and those without such a source whose value
/// changed. Existing keys come first, then new ones. Counters that are written for the first time are not listed.
fn followed(before: &State<'_>, after: &State<'_>) -> Vec<String> {
    let (old, new) = (Sources::of(before), Sources::of(after));
    let row = |name: &str| KEYS.iter().find(|key| key.name == name);
    let written = before.front().into_iter().flat_map(FrontMatter::keys).filter_map(row);
    let keys = written.chain(KEYS);
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for key in keys {
        let (was, is) = (before.front_text(key.name), after.front_text(key.name));
        match key.name {
            "last_updated" => {}
            "progress" => {
                let (Some(was), Some(is)) = (Progress::written(before), Progress::written(after)) else { continue };
                for ((name, was), (_, is)) in was.counters().into_iter().zip(is.counters()) {
                    if was != is {
                        add(format!("progress.{name}"));
                    }
                }
            }
            name => {
                let is_told = was.is_some() || is.is_some();
                let follows = || is_told && old.get(name) != new.get(name);
                if if key.is_sourced() { follows() } else { was != is } {
                    add(key.shown.to_owned());
                }
            }
        }
    }
    names
}
