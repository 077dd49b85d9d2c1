//! The index of STATE.md brought up to date after an edit of its body.
//!
//! A key with a source in the body follows it when this write changed the source, and keeps its value when not. The
//! counters come from disk and roadmap. `last_updated` and `state_head` are always the present ones.

use std::collections::BTreeSet;

use super::{Facts, StateEdit, StateError};
use crate::project::files::FileError;
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::phase::PhaseId;
use crate::project::roadmap::Roadmap;
use crate::project::standing::PhaseWork;
use crate::project::state::edit::{progress_bar, shown_percent};
use crate::project::state::index::{COUNTERS, Index, KEYS, Progress, SOURCED, Sources, is_day};
use crate::project::state::{State, is_awaiting_milestone, is_phase_complete};
use crate::project::verification;
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::splice::Splices;

/// What a write means for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// They stay as they are: one field was corrected by hand.
    Keep,
    /// Totals are counted again, completed counts only grow where files have gone, and the percentage holds only where the roadmap tells
    /// which phases belong to the milestone.
    Refresh,
    /// As [`Self::Refresh`], with completed counts as they are on disk, be they lower, and with every key as the body
    /// tells it.
    Recount,
    /// As [`Self::Refresh`], with a percentage in any case: the operation knows what was completed.
    Measure,
}

/// A STATE.md ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// What changed, by name: the fields of the operation, then what followed in the front matter.
    pub(crate) updated: Vec<String>,
    /// The names of what followed in the front matter alone.
    pub(crate) followed: Vec<String>,
    /// The percentage the front matter has now.
    pub(crate) percent: Option<u64>,
}

/// Phases and plans of the milestone, as disk and roadmap tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) total_phases: u64,
    pub(crate) completed_phases: u64,
    pub(crate) total_plans: u64,
    pub(crate) completed_plans: u64,
    /// Those of the completed phases that are verified, and that the roadmap does not close yet.
    pub(crate) unclosed_phases: u64,
}

impl Counts {
    pub(crate) fn of(view: &ProjectView) -> Result<Self, FileError> {
        let mut counts = Self::default();
        let text = view.roadmap_text()?;
        let roadmap = text.as_deref().map(|text| view.parse_roadmap(text));
        let folders = view.milestone_folders()?;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut works = Vec::new();
        // Of two folders of one phase the first counts.
        for folder in folders.iter().filter(|folder| !folder.id().is_sentinel()) {
            if seen.insert(key(&folder.id())) {
                works.push((folder, PhaseWork::of(view, roadmap.as_ref(), folder.token(), Some(folder))?));
            }
        }
        let asking = works.iter().filter(|(_, work)| work.asks_verification());
        verification::look_ahead(view, asking.map(|(folder, _)| *folder))?;
        for (folder, work) in works {
            counts.total_plans += count(work.plans.iter());
            counts.completed_plans += count(work.plans.iter()) - count(work.open_plans.iter());
            counts.total_phases += 1;
            let verified = work.asks_verification() && verification::status(view, folder)?.passed();
            let is_complete = work.is_complete(verified);
            counts.completed_phases += u64::from(is_complete);
            counts.unclosed_phases += u64::from(is_complete && work.is_open());
        }
        if let Some(roadmap) = &roadmap {
            let milestone = view.milestone_in(roadmap)?;
            for id in milestone.phase_ids(roadmap) {
                if seen.insert(key(&PhaseId::new(id))) {
                    let work = PhaseWork::of(view, Some(roadmap), id, None)?;
                    counts.completed_phases += u64::from(work.is_complete(false));
                }
            }
            counts.total_phases = counts.total_phases.max(phases_in_window(roadmap, &milestone));
        }
        Ok(counts)
    }

    /// Whether files that were counted for `written` have gone. What was done in them stays counted; where nothing is gone,
    /// less is done only because a phase was opened again.
    pub(crate) fn has_lost_work(self, written: &Progress) -> bool {
        let totals = [(written.total_phases, self.total_phases), (written.total_plans, self.total_plans)];
        totals.iter().any(|(written, counted)| written.is_some_and(|written| written > *counted))
    }

    /// The counts as a person is shown them: a phase is complete once it is closed.
    pub(crate) fn closed(self) -> Self {
        let completed_phases = self.completed_phases.saturating_sub(self.unclosed_phases);
        Self { completed_phases, unclosed_phases: 0, ..self }
    }

    /// How much of the milestone is done: the smaller share of plans and phases, at most a hundred. Where no plan is
    /// known, it is the share of phases.
    pub(crate) fn percent(self) -> u64 {
        let share = |done: u64, all: u64| (all > 0).then(|| (200 * done.min(all) + all) / (2 * all));
        let shares = [share(self.completed_plans, self.total_plans), share(self.completed_phases, self.total_phases)];
        shares.into_iter().flatten().min().unwrap_or(0)
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}

/// The phases with a section of their own; where none has one, those that lists and tables name.
fn phases_in_window(roadmap: &Roadmap<'_>, milestone: &Milestone) -> u64 {
    let sections: BTreeSet<String> = roadmap
        .sections()
        .iter()
        .filter(|section| milestone.holds(section.heading_line))
        .filter(|section| !roadmap.is_retired(section.id))
        .map(|section| PhaseId::new(section.id))
        .filter(|id| !id.is_sentinel())
        .map(|id| id.as_str().to_lowercase())
        .collect();
    if sections.is_empty() { count(milestone.phase_ids(roadmap).iter()) } else { count(sections.iter()) }
}

/// The form of an identifier by which a phase is counted once.
fn key(id: &PhaseId) -> String {
    id.as_str().to_lowercase()
}

/// Finishes the edits of a STATE.md and brings its front matter, and the fields of the body that show its counters, up to
/// date.
///
/// `view` is the project as it will be around the new text: for an operation that changes other files too,
/// [`ProjectView::after`] its edits.
pub(crate) fn close(
    view: &ProjectView,
    edit: StateEdit<'_, '_>,
    rule: Rule,
    facts: &Facts,
) -> Result<Written, StateError> {
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

/// The index after a write that led from `before` to `after`.
fn follow(
    view: &ProjectView,
    before: &State<'_>,
    after: &State<'_>,
    rule: Rule,
    facts: &Facts,
) -> Result<Index, FileError> {
    let (old, new) = (Sources::of(before), Sources::of(after));
    let milestone = view.milestone()?;
    let counts = Counts::of(view)?;
    let mut index = derived(&new, after, &milestone, counts, facts);
    for key in ["stopped_at", "paused_at", "current_phase", "current_phase_name", "current_plan", "last_activity_desc"]
    {
        if rule != Rule::Recount
            && old.source(key) == new.source(key)
            && let Some(kept) = after.front_text(key)
        {
            index.set(key, Some(kept));
        }
    }
    let same_status = (&old.status, &old.paused_at) == (&new.status, &new.paused_at);
    if ((same_status && rule != Rule::Recount) || new.normal_status().is_none())
        && let Some(kept) = after.front_text("status").filter(|kept| kept != "unknown")
    {
        index.set("status", Some(kept));
    }
    // The phases of an archived milestone are counted no more; what was counted of them stays.
    let is_archived = |sources: &Sources| sources.status.as_deref().is_some_and(is_awaiting_milestone);
    let rule = if is_archived(&old) && is_archived(&new) { Rule::Keep } else { rule };
    index.progress = match Progress::written(after) {
        // Phases of all milestones are no count of this one.
        written if milestone.is_unmatched => written,
        // Without a roadmap there is nothing to count anew.
        Some(written) if rule == Rule::Recount && milestone.scope == MilestoneScope::Unreadable => Some(written),
        _ => Some(progress(after, rule, &milestone, counts)),
    };
    Ok(index)
}

/// The index as body, disk and roadmap tell it.
pub(super) fn derived(
    sources: &Sources,
    state: &State<'_>,
    milestone: &Milestone,
    counts: Counts,
    facts: &Facts,
) -> Index {
    let mut index = Index::default();
    index.set("gsd_state_version", Some(state.front_text("gsd_state_version").unwrap_or_else(|| "1.0".to_owned())));
    index.set("milestone", state.front_text("milestone").or_else(|| milestone.version.clone()));
    index.set("milestone_name", milestone.name.clone().or_else(|| state.front_text("milestone_name")));
    for key in ["stopped_at", "paused_at", "current_phase", "current_phase_name", "current_plan", "last_activity_desc"]
    {
        index.set(key, sources.source(key).map(str::to_owned));
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
fn not_too_early(status: String, sources: &Sources, milestone: &Milestone, counts: Counts) -> String {
    let one_phase = sources.paused_at.is_none() && sources.status.as_deref().is_some_and(is_phase_complete);
    let more = milestone.scope == MilestoneScope::Complete && counts.completed_phases < counts.total_phases;
    if one_phase && more { "executing".to_owned() } else { status }
}

fn progress(after: &State<'_>, rule: Rule, milestone: &Milestone, counts: Counts) -> Progress {
    let written = Progress::written(after);
    if let (Rule::Keep, Some(written)) = (rule, written) {
        return written;
    }
    let written = written.unwrap_or_default();
    let counts = match rule {
        Rule::Recount => counts,
        _ if !counts.has_lost_work(&written) => counts,
        Rule::Keep | Rule::Refresh | Rule::Measure => Counts {
            completed_phases: counts.completed_phases.max(written.completed_phases.unwrap_or(0)),
            completed_plans: counts.completed_plans.max(written.completed_plans.unwrap_or(0)),
            ..counts
        },
    };
    let measured = rule == Rule::Measure || milestone.scope == MilestoneScope::Complete;
    as_progress(counts, measured)
}

pub(super) fn as_progress(counts: Counts, measured: bool) -> Progress {
    Progress {
        total_phases: Some(counts.total_phases),
        completed_phases: Some(counts.completed_phases),
        total_plans: Some(counts.total_plans),
        completed_plans: Some(counts.completed_plans),
        percent: measured.then(|| counts.percent()),
    }
}

/// The text with its `Progress:` field at the percentage of the front matter.
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

/// The text with the fields of older files that count phases, where they are there, at the counters of the front matter.
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

/// The names of the keys that followed: those whose source in the body changed, and those without a source there
/// whose value changed. First the keys that were there, then new ones; counters that are told for the first time are no
/// news.
fn followed(before: &State<'_>, after: &State<'_>) -> Vec<String> {
    let (old, new) = (Sources::of(before), Sources::of(after));
    let written = before.front().into_iter().flat_map(FrontMatter::keys).filter(|key| KEYS.contains(key));
    let keys = written.chain(KEYS.iter().copied());
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for key in keys {
        let (was, is) = (before.front_text(key), after.front_text(key));
        match key {
            "last_updated" => {}
            "progress" => {
                let (Some(was), Some(is)) = (Progress::written(before), Progress::written(after)) else { continue };
                for name in COUNTERS.iter().filter(|name| was.counter(name) != is.counter(name)) {
                    add(format!("progress.{name}"));
                }
            }
            key => {
                let sourced = SOURCED.contains(&key);
                let is_told = was.is_some() || is.is_some();
                let changed = if sourced { is_told && old.source(key) != new.source(key) } else { was != is };
                if changed {
                    add(name_of(key).to_owned());
                }
            }
        }
    }
    names
}

/// The name of a key in reports: that of its field in the body, where it has one of its own.
fn name_of(key: &str) -> &str {
    match key {
        "status" => "Status",
        "stopped_at" => "Stopped At",
        "paused_at" => "Paused At",
        "current_phase" => "Current Phase",
        "current_phase_name" => "Current Phase Name",
        "current_plan" => "Current Plan",
        "last_activity_desc" => "Last Activity Description",
        other => other,
    }
}
