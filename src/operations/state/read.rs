//! Answers about STATE.md: the index as it would be now, one field, a snapshot. These answer what can be read, however
//! broken the text is.

use schemars::JsonSchema;
use serde::Serialize;

use super::Facts;
use super::next::NextReport;
use super::resync::{as_progress, derived};
use crate::project::figures::Counts;
use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::noted::is_marked_settled;
use crate::project::phase::{PhaseId, short};
use crate::project::state::index::{Index, KEYS, Progress, SOURCED, Sources};
use crate::project::state::{BLOCKERS, BLOCKING, DECISIONS, Section, State};
use crate::project::up_next;
use crate::project::view::ProjectView;
use crate::text::checklist::COLONS;
use crate::text::screen::{Cell, Screen};

/// What `state json` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct IndexReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gsd_state_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) milestone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) milestone_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_phase_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paused_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_updated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_activity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_activity_desc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state_head: Option<String>,
    /// Absent where the roadmap has milestones, STATE.md names none of them, and nothing was counted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<ProgressReport>,
    /// What comes next, the same in every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<NextReport>,
}

impl IndexReport {
    /// The position for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let joined = |left: &Option<String>, right: &Option<String>| match (left, right) {
            (None, None) => None,
            (left, right) => {
                Some([left, right].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" "))
            }
        };
        let rows = [
            ("Milestone", joined(&self.milestone, &self.milestone_name)),
            ("Phase", joined(&self.current_phase, &self.current_phase_name)),
            ("Plan", self.current_plan.clone()),
            ("Status", self.status.clone()),
            ("Paused", self.paused_at.clone()),
            ("Stopped at", self.stopped_at.clone()),
            ("Last activity", joined(&self.last_activity, &self.last_activity_desc)),
        ];
        let rows = rows.into_iter().filter_map(|(label, value)| Some((label, Cell::from(value?))));
        screen.fields("", &rows.collect::<Vec<_>>())
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ProgressReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_phases: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_phases: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_plans: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_plans: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percent: Option<u64>,
}

impl From<&Index> for IndexReport {
    fn from(index: &Index) -> Self {
        let value = |key: &str| index.get(key).map(str::to_owned);
        Self {
            gsd_state_version: value("gsd_state_version"),
            milestone: value("milestone"),
            // The placeholder names no milestone.
            milestone_name: value("milestone_name").filter(|name| !name.eq_ignore_ascii_case("milestone")),
            current_phase: value("current_phase"),
            current_phase_name: value("current_phase_name"),
            current_plan: value("current_plan"),
            status: value("status"),
            stopped_at: value("stopped_at"),
            paused_at: value("paused_at"),
            last_updated: value("last_updated"),
            last_activity: value("last_activity"),
            last_activity_desc: value("last_activity_desc"),
            state_head: value("state_head"),
            progress: index.progress.map(|progress| ProgressReport {
                total_phases: progress.total_phases,
                completed_phases: progress.completed_phases,
                total_plans: progress.total_plans,
                completed_plans: progress.completed_plans,
                percent: progress.percent,
            }),
            next: None,
        }
    }
}

/// The index as body, disk and roadmap tell it now; `None` without STATE.md.
pub(crate) fn json(view: &ProjectView, facts: &Facts) -> Result<Option<IndexReport>, FileError> {
    let Some(text) = view.state_text()? else { return Ok(None) };
    let state = State::parse(&text);
    let next = Some(NextReport::in_project(view, facts)?);
    Ok(Some(IndexReport { next, ..IndexReport::from(&present(view, &state, facts)?) }))
}

fn present(view: &ProjectView, state: &State<'_>, facts: &Facts) -> Result<Index, FileError> {
    let milestone = view.milestone()?;
    let counts = Counts::of(view)?;
    let mut index = derived(&Sources::of(state), state, &milestone, counts, facts);
    for key in SOURCED {
        if index.get(key).is_none() {
            index.set(key, state.front_text(key));
        }
    }
    let at_work = up_next::current_phase(view)?;
    if let (Some(stated), Some(at_work)) = (index.get("current_phase"), at_work)
        && !PhaseId::new(&at_work).matches(stated)
    {
        // Nothing is left to do about the phase that STATE.md names.
        let label = view.label(&at_work)?;
        index.set("current_phase", Some(short(&label.number).to_owned()));
        index.set("current_phase_name", label.name);
        index.set("current_plan", None);
    }
    let counted = as_progress(counts, milestone.scope == MilestoneScope::Complete);
    let written = Progress::written(state);
    let scope = view.scope()?;
    let progress = if scope.unseen.is_some() {
        written
    } else {
        Some(written.filter(|written| counts.has_lost_work(written)).unwrap_or(counted))
    };
    // Of phases that were not all seen nobody can say how much is done.
    let is_known = scope.unseen.is_none() && (scope.fewer.is_none() || counts.percent() < 100);
    index.progress = progress.map(|progress| Progress { percent: progress.percent.filter(|_| is_known), ..progress });
    Ok(index)
}

/// What `state get` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is no STATE.md.
    NoState,
    /// Asked for nothing in particular.
    Everything(String),
    /// A field, a key of the index, or a section.
    Value(String),
    Nothing,
}

/// A field, a key of the index, or a section, in this order; the whole text where none is named.
pub(crate) fn get(view: &ProjectView, wanted: Option<&str>, facts: &Facts) -> Result<Found, FileError> {
    let Some(text) = view.state_text()? else { return Ok(Found::NoState) };
    let Some(wanted) = wanted else { return Ok(Found::Everything(text.as_ref().to_owned())) };
    let state = State::parse(&text);
    if wanted.eq_ignore_ascii_case("status") && state.front_text("status").is_some() {
        let index = present(view, &state, facts)?;
        let known = index.get("status").filter(|status| *status != "unknown");
        return Ok(known.map_or(Found::Nothing, |status| Found::Value(status.to_owned())));
    }
    if let Some(field) = state.field(wanted) {
        return Ok(Found::Value(field.value.to_owned()));
    }
    if let Some(key) = KEYS.iter().find(|key| key.eq_ignore_ascii_case(&wanted.replace(' ', "_")))
        && let Some(value) = present(view, &state, facts)?.get(key).filter(|value| *value != "unknown")
    {
        return Ok(Found::Value(value.to_owned()));
    }
    if let Some(value) = state.front_text(wanted) {
        return Ok(Found::Value(value));
    }
    let section = state.section(&[wanted]);
    Ok(section.map_or(Found::Nothing, |section| Found::Value(state.section_text(&section).to_owned())))
}

/// What `state-snapshot` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SnapshotReport {
    pub(crate) current_phase: Option<String>,
    pub(crate) current_phase_name: Option<String>,
    pub(crate) total_phases: Option<u64>,
    pub(crate) current_plan: Option<String>,
    pub(crate) total_plans_in_phase: Option<u64>,
    pub(crate) status: Option<String>,
    /// The number that a line `Progress: 40%` begins with; a bar begins with none.
    pub(crate) progress_percent: Option<u64>,
    pub(crate) last_activity: Option<String>,
    pub(crate) last_activity_desc: Option<String>,
    /// The rows of a table of decisions, or the items of a list.
    pub(crate) decisions: Vec<Decision>,
    /// What stands in the way, without what is struck through or marked as resolved.
    pub(crate) blockers: Vec<String>,
    /// Those of them that keep the work from going on: a list of concerns has others too.
    #[serde(skip)]
    pub(crate) stopping: Vec<String>,
    pub(crate) paused_at: Option<String>,
    pub(crate) session: SessionReport,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Decision {
    pub(crate) phase: String,
    pub(crate) summary: String,
    pub(crate) rationale: String,
}

/// What the section about the last session says, which is of the second level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SessionReport {
    pub(crate) last_date: Option<String>,
    pub(crate) stopped_at: Option<String>,
    pub(crate) resume_file: Option<String>,
}

/// STATE.md as one record; `None` without it.
pub(crate) fn snapshot(view: &ProjectView) -> Result<Option<SnapshotReport>, FileError> {
    let Some(text) = view.state_text()? else { return Ok(None) };
    let state = State::parse(&text);
    let sources = Sources::of(&state);
    let front = |key: &str| state.front_text(key);
    let told = |label: &str| state.session_text(label).map(str::to_owned);
    let number = |label: &str| state.value(label).and_then(leading_number);
    let front_number = |key: &str| front(key).as_deref().and_then(leading_number);
    Ok(Some(SnapshotReport {
        current_phase: front("current_phase").or(sources.current_phase.clone()),
        current_phase_name: front("current_phase_name").or(sources.current_phase_name.clone()),
        total_phases: front_number("total_phases").or_else(|| number("Total Phases")),
        current_plan: front("current_plan").or(sources.current_plan.clone()),
        total_plans_in_phase: front_number("total_plans_in_phase").or_else(|| number("Total Plans in Phase")),
        status: front("status").filter(|status| status != "unknown").or(sources.status.clone()),
        progress_percent: number("Progress"),
        last_activity: front("last_activity").or_else(|| sources.last_activity_day().map(str::to_owned)),
        last_activity_desc: front("last_activity_desc").or(sources.last_activity_desc.clone()),
        decisions: decisions(&state),
        blockers: blockers(&state, |_, _| true),
        stopping: blockers(&state, |section, item| stops(&state, section, item)),
        paused_at: front("paused_at").or(sources.paused_at.clone()),
        session: SessionReport {
            last_date: told("Last session").or_else(|| told("Last Date")),
            stopped_at: told("Stopped at"),
            resume_file: told("Resume file"),
        },
    }))
}

fn leading_number(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// The rows of a table of decisions, or the items of a list, as `state add-decision` writes them: `[Phase 2]: what — why`.
fn decisions(state: &State<'_>) -> Vec<Decision> {
    let Some(section) = state.section(DECISIONS) else { return Vec::new() };
    if let Some(table) = state.table(&section) {
        let cell = |row: usize, column: usize| table.cell_text(row, column);
        let rows = (0..table.row_count()).filter(|row| !table.cell(*row, 1).is_empty());
        return rows
            .map(|row| Decision { phase: cell(row, 0), summary: cell(row, 1), rationale: cell(row, 2) })
            .collect();
    }
    items_of(state, &section).iter().map(|item| decision(item)).collect()
}

fn decision(item: &str) -> Decision {
    let tagged = item.strip_prefix('[').and_then(|inside| inside.split_once(']'));
    let (phase, said) = match tagged {
        Some((tag, rest)) => (tag.trim(), rest.trim_start().trim_start_matches(COLONS).trim()),
        None => ("", item),
    };
    let phase =
        phase.get(..6).filter(|word| word.eq_ignore_ascii_case("phase ")).map_or(phase, |word| &phase[word.len()..]);
    let (summary, rationale) = said.split_once(" — ").unwrap_or((said, ""));
    Decision {
        phase: phase.trim().to_owned(),
        summary: summary.trim().to_owned(),
        rationale: rationale.trim().to_owned(),
    }
}

/// What stands in the way: the items of the sections in which `state add-blocker` puts them, without those that are struck
/// through or marked as resolved. A section `Concerns` counts where there is none of blockers.
fn blockers(state: &State<'_>, counts: impl Fn(&Section<'_>, &str) -> bool) -> Vec<String> {
    let mut sections = state.sections(BLOCKING);
    if sections.is_empty() {
        sections.extend(state.section(BLOCKERS));
    }
    let items = sections.iter().flat_map(|section| {
        let items = items_of(state, section).into_iter();
        items.filter(|item| !is_marked_settled(item) && counts(section, item)).collect::<Vec<_>>()
    });
    items.collect()
}

/// Whether an item keeps the work from going on: it is on a list of nothing but blockers, it or the status says so.
fn stops(state: &State<'_>, section: &Section<'_>, item: &str) -> bool {
    let says = |text: &str| {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| matches!(word, "blocked" | "blocker" | "blocking" | "blocks"))
    };
    let is_of_blockers = section.heading.title.eq_ignore_ascii_case("Blockers");
    is_of_blockers || says(item) || state.value("Status").is_some_and(says)
}

/// As [`SnapshotReport::blockers`], of a project.
pub(crate) fn concerns(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let text = view.state_text()?;
    Ok(text.as_deref().map(State::parse).map(|state| blockers(&state, |_, _| true)).unwrap_or_default())
}

fn items_of(state: &State<'_>, section: &Section<'_>) -> Vec<String> {
    let items = state.items(section).into_iter().map(|item| state.item_text(&item));
    items.filter(|item| !crate::project::state::is_placeholder(item)).collect()
}
