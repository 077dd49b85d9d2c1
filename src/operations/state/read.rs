//! Answers about STATE.md: the current index, one field, a snapshot. They report whatever can be read, however broken
//! the text is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::Facts;
use super::next::NextReport;
use super::resync::{as_progress, derived};
use crate::project::figures::MilestoneCounts;
use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::noted::is_marked_settled;
use crate::project::phase::{PhaseId, short};
use crate::project::state::index::{Index, KEYS, Key, Progress, Sources};
use crate::project::state::{BLOCKERS, BLOCKING, DECISIONS, Section, State};
use crate::project::up_next;
use crate::project::view::ProjectView;
use crate::text::checklist::COLONS;
use crate::text::screen::{Cell, Screen};

/// What `state json` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct IndexReport {
    #[serde(flatten)]
    pub(crate) keys: IndexKeys,
    /// Absent if the roadmap has milestones, STATE.md names none of them, and nothing was counted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Progress>,
    /// What comes next, the same in all answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<NextReport>,
}

/// The keys of the front matter that have a value, in the order of [`KEYS`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexKeys(Vec<(&'static str, String)>);

impl Serialize for IndexKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl JsonSchema for IndexKeys {
    fn schema_name() -> Cow<'static, str> {
        "IndexKeys".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = json!({ "type": ["string", "null"] });
        let keys = KEYS.iter().filter(|key| key.name != "progress");
        let keys: Map<String, Value> = keys.map(|key| (key.name.to_owned(), text.clone())).collect();
        json_schema!({ "type": "object", "properties": keys })
    }
}

impl IndexReport {
    /// The position for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let value = |key: &str| self.keys.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str());
        let rows = [
            ("Milestone", ["milestone", "milestone_name"].as_slice()),
            ("Phase", &["current_phase", "current_phase_name"]),
            ("Plan", &["current_plan"]),
            ("Status", &["status"]),
            ("Paused", &["paused_at"]),
            ("Stopped at", &["stopped_at"]),
            ("Last activity", &["last_activity", "last_activity_desc"]),
        ];
        let rows = rows.map(|(label, keys)| (label, keys.iter().filter_map(|key| value(key)).collect::<Vec<_>>()));
        let rows = rows.into_iter().filter(|(_, values)| !values.is_empty());
        screen.fields("", &rows.map(|(label, values)| (label, Cell::from(values.join(" ")))).collect::<Vec<_>>())
    }
}

impl From<&Index> for IndexReport {
    fn from(index: &Index) -> Self {
        // The placeholder is not the name of a milestone.
        let is_told =
            |(key, value): &(&str, &str)| *key != "milestone_name" || !value.eq_ignore_ascii_case("milestone");
        let keys = index.entries().filter(is_told).map(|(key, value)| (key, value.to_owned()));
        Self { keys: IndexKeys(keys.collect()), progress: index.progress, next: None }
    }
}

/// The index computed from body, disk and roadmap; `None` without STATE.md.
pub(crate) fn json(view: &ProjectView, facts: &Facts) -> Result<Option<IndexReport>, FileError> {
    let Some(state) = view.state()? else { return Ok(None) };
    let next = Some(NextReport::in_project(view, facts)?);
    Ok(Some(IndexReport { next, ..IndexReport::from(&present(view, state, facts)?) }))
}

fn present(view: &ProjectView, state: &State<'_>, facts: &Facts) -> Result<Index, FileError> {
    let milestone = view.milestone()?;
    let counts = MilestoneCounts::of(view)?;
    let mut index = derived(&Sources::of(state), state, &milestone, counts, facts);
    for Key { name, .. } in KEYS.iter().filter(|key| key.is_sourced()) {
        if index.get(name).is_none() {
            index.set(name, state.front_text(name));
        }
    }
    let at_work = up_next::current_phase(view)?;
    if let (Some(stated), Some(at_work)) = (index.get("current_phase"), at_work)
        && !PhaseId::new(&at_work).matches(stated)
    {
        // The phase in STATE.md has nothing left to do.
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
    // If not all phases are visible, the percentage is unknown.
    let is_known = scope.unseen.is_none() && (scope.fewer.is_none() || counts.percent() < 100);
    index.progress = progress.map(|progress| Progress { percent: progress.percent.filter(|_| is_known), ..progress });
    Ok(index)
}

/// The result of `state get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StateValue {
    /// STATE.md does not exist.
    NoState,
    /// The whole text, if nothing was named.
    Everything(String),
    /// The value of a field, a key of the index, or a section.
    Value(String),
    Nothing,
}

/// Looks up a field, a key of the index, or a section, in this order; returns the whole text if nothing is named.
pub(crate) fn get(view: &ProjectView, wanted: Option<&str>, facts: &Facts) -> Result<StateValue, FileError> {
    let Some(state) = view.state()? else { return Ok(StateValue::NoState) };
    let Some(wanted) = wanted else { return Ok(StateValue::Everything(state.text().to_owned())) };
    if wanted.eq_ignore_ascii_case("status") && state.front_text("status").is_some() {
        let index = present(view, state, facts)?;
        let known = index.get("status").filter(|status| *status != "unknown");
        return Ok(known.map_or(StateValue::Nothing, |status| StateValue::Value(status.to_owned())));
    }
    if let Some(field) = state.field(wanted) {
        return Ok(StateValue::Value(field.value.to_owned()));
    }
    if let Some(key) = KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(&wanted.replace(' ', "_")))
        && let Some(value) = present(view, state, facts)?.get(key.name).filter(|value| *value != "unknown")
    {
        return Ok(StateValue::Value(value.to_owned()));
    }
    if let Some(value) = state.front_text(wanted) {
        return Ok(StateValue::Value(value));
    }
    let section = state.section(&[wanted]);
    Ok(section.map_or(StateValue::Nothing, |section| StateValue::Value(state.section_text(&section).to_owned())))
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
    /// The number at the start of a line such as `Progress: 40%`; a bar does not start with one.
    pub(crate) progress_percent: Option<u64>,
    pub(crate) last_activity: Option<String>,
    pub(crate) last_activity_desc: Option<String>,
    /// The rows of a table of decisions, or the items of a list.
    pub(crate) decisions: Vec<Decision>,
    /// The blockers and concerns, without those that are struck through or marked as resolved.
    pub(crate) blockers: Vec<String>,
    /// Those that block the work: a list of concerns also has others.
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

/// The section about the last session, which is at the second level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SessionReport {
    pub(crate) last_date: Option<String>,
    pub(crate) stopped_at: Option<String>,
    pub(crate) resume_file: Option<String>,
}

/// STATE.md as one record; `None` if the file does not exist.
pub(crate) fn snapshot(view: &ProjectView) -> Result<Option<SnapshotReport>, FileError> {
    let Some(state) = view.state()? else { return Ok(None) };
    let sources = Sources::of(state);
    let front = |key: &str| state.front_text(key);
    let known = |key: &str| front(key).or_else(|| sources.get(key).map(str::to_owned));
    let told = |label: &str| state.session_text(label).map(str::to_owned);
    let number = |label: &str| state.value(label).and_then(leading_number);
    let front_number = |key: &str| front(key).as_deref().and_then(leading_number);
    Ok(Some(SnapshotReport {
        current_phase: known("current_phase"),
        current_phase_name: known("current_phase_name"),
        total_phases: front_number("total_phases").or_else(|| number("Total Phases")),
        current_plan: known("current_plan"),
        total_plans_in_phase: front_number("total_plans_in_phase").or_else(|| number("Total Plans in Phase")),
        status: front("status")
            .filter(|status| status != "unknown")
            .or_else(|| sources.get("status").map(str::to_owned)),
        progress_percent: number("Progress"),
        last_activity: front("last_activity").or_else(|| sources.last_activity_day().map(str::to_owned)),
        last_activity_desc: known("last_activity_desc"),
        decisions: decisions(state),
        blockers: blockers(state, |_, _| true),
        stopping: blockers(state, |section, item| stops(state, section, item)),
        paused_at: known("paused_at"),
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

/// The decisions: the rows of a table, or the items of a list as `state add-decision` writes them: `[Phase 2]: what —
/// why`.
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

/// The blockers: the items of the sections to which `state add-blocker` adds them, without those that are struck
/// through or marked as resolved. A section `Concerns` counts if a section of blockers is missing.
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

/// True if an item blocks the work: it is on a list of only blockers, or its text or the status says so.
fn stops(state: &State<'_>, section: &Section<'_>, item: &str) -> bool {
    let says = |text: &str| {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| matches!(word, "blocked" | "blocker" | "blocking" | "blocks"))
    };
    let is_of_blockers = section.heading.title.eq_ignore_ascii_case("Blockers");
    is_of_blockers || says(item) || state.value("Status").is_some_and(says)
}

/// The same as [`SnapshotReport::blockers`], for a project.
pub(crate) fn concerns(view: &ProjectView) -> Result<Vec<String>, FileError> {
    Ok(view.state()?.map(|state| blockers(state, |_, _| true)).unwrap_or_default())
}

fn items_of(state: &State<'_>, section: &Section<'_>) -> Vec<String> {
    let items = state.items(section).into_iter().map(|item| state.item_text(&item));
    items.filter(|item| !crate::project::state::is_placeholder(item)).collect()
}
