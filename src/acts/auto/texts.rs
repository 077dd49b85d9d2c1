//! The text that an agent is given, and what a run did.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::phases::{SeenPhases, workflows};
use super::place::RunPlace;
use super::seen::Seen;
use crate::acts::Call;
use crate::auto::engine::Earlier;
use crate::auto::event::{Entry, Event};
use crate::auto::phases;
use crate::auto::prompt::input::PromptInput;
use crate::auto::prompt::{self, Prompt};
use crate::auto::slices::brief::{self, Around};
use crate::auto::slices::snapshot::Milestone;
use crate::auto::story;
use crate::auto::unit::{Unit, UnitKind, kinds_of_word};
use crate::disk;
use crate::failure::{Explain, Failure, Reason};
use crate::project::milestone_layout::captures::{Capture, CaptureClass, leading_id};
use crate::project::milestone_layout::preferences::InlineLevel;
use crate::text::time;
use crate::text::words::of_word;

/// The text that an agent is given for a unit, and its contents.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PromptReport {
    unit: Unit,
    /// The class of the unit: the texts of a class begin with the same bytes.
    class: &'static str,
    /// The number of those bytes.
    shared_bytes: usize,
    chars: usize,
    bytes: usize,
    /// The documents whose text is in the prompt.
    inlined: Vec<Inlined>,
    /// The documents that the agent has to read.
    refs: Vec<Reference>,
    /// The files without which the unit is not done.
    expected: Vec<String>,
    pub(crate) text: String,
}

impl PromptReport {
    /// The first file that must be written.
    pub(crate) fn first_expected(&self) -> Option<&str> {
        self.expected.first().map(String::as_str)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Inlined {
    path: String,
    chars: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Reference {
    path: String,
    must_read: bool,
}

/// The input for the prompt of a phase's unit, with the workflow of the call's host.
fn phase_input(call: &Call, place: &RunPlace, word: &str, id: Option<&str>) -> Result<(Unit, PromptInput), Failure> {
    let mut seen = SeenPhases::of(call, place)?;
    let unit = seen.unit_of(word, id)?;
    seen.settings.workflows = workflows(call, &call.host()?.id)?;
    let folder = place.documents(&seen.memory).to_string();
    let input = phases::brief::input(&seen.view, &unit, &seen.settings, &folder, Earlier::default())?;
    Ok((unit, input))
}

fn report_of(unit: Unit, prompt: Prompt) -> PromptReport {
    let inlined = prompt.inlined.into_iter().map(|document| Inlined { path: document.path, chars: document.chars });
    PromptReport {
        unit,
        class: prompt.class.word(),
        shared_bytes: prompt.prefix_length,
        chars: prompt.chars,
        bytes: prompt.text.len(),
        inlined: inlined.collect(),
        refs: prompt.must_read.into_iter().map(|path| Reference { path, must_read: true }).collect(),
        expected: prompt.expected,
        text: prompt.text,
    }
}

fn composed(input: &PromptInput) -> Result<Prompt, Failure> {
    prompt::compose(input).map_err(|error| Failure::because(Reason::Unknown, &error))
}

fn input_of(call: &Call, seen: &Seen, unit: &Unit) -> Result<PromptInput, Failure> {
    let folder = RunPlace::of(call)?.documents(&seen.memory);
    let files = RunPlace::files_at(call, &folder);
    let shown = folder.to_string();
    let around = Around { folder: &shown, ..Around::default() };
    Ok(brief::input(files.as_ref(), &seen.snapshot, unit, &seen.preferences, around)?)
}

/// The unit that the words of a call mean. Short words mean the unit at the current level of the work.
pub(crate) fn unit_of(seen: &Seen, word: &str, id: Option<&str>) -> Result<Unit, Failure> {
    let kinds = kinds_of_word(word);
    let level = |kind: UnitKind| match kind {
        UnitKind::ExecuteTask | UnitKind::QuickTask => 3,
        UnitKind::DiscussSlice
        | UnitKind::TriageCaptures
        | UnitKind::ResearchSlice
        | UnitKind::PlanSlice
        | UnitKind::ReplanSlice
        | UnitKind::CompleteSlice
        | UnitKind::RunUat
        | UnitKind::ReassessRoadmap => 2,
        _ => 1,
    };
    let id = id.map(str::to_ascii_uppercase);
    let given = id.as_ref().map(|id| id.split('/').count());
    let kind = match (kinds.as_slice(), given) {
        ([] | [UnitKind::Hook], _) => {
            let message = format!("`{word}` is not a kind of unit");
            return Err(Failure::usage(message).hint("`gsd-tools help auto dispatch` lists the kinds"));
        }
        ([kind], _) => *kind,
        (kinds, Some(given)) => kinds.iter().copied().find(|kind| level(*kind) == given).unwrap_or(kinds[0]),
        // The slice, as soon as there is one.
        (kinds, None) => {
            let wanted = if seen.state.slice.is_some() { 2 } else { 1 };
            kinds.iter().copied().find(|kind| level(*kind) == wanted).unwrap_or(kinds[0])
        }
    };
    if kind == UnitKind::TriageCaptures && !seen.snapshot.captures.iter().any(Capture::needs_triage) {
        return Err(Failure::usage("no capture waits for its triage")
            .hint("write a thought down: `gsd-tools auto capture \"...\"`"));
    }
    let id = match id {
        Some(id) => id,
        None => next_id(seen, kind, level(kind)).ok_or_else(|| {
            let message = match kind {
                UnitKind::QuickTask => "no capture waits for a quick task now".to_owned(),
                kind => format!("there is nothing to {} now", kind.word().replacen('-', " a ", 1)),
            };
            Failure::usage(message).hint("`gsd-tools auto status` shows what is next; or name it, as `M001/S01`")
        })?,
    };
    let is_there = {
        let mut parts = id.split('/');
        let (milestone, slice, task) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        match (slice, task) {
            (None, _) => seen.snapshot.milestone(milestone).is_some(),
            (Some(slice), None) => seen.snapshot.slice(milestone, slice).is_some(),
            (Some(slice), Some(task)) => {
                let is_captured = leading_id(task).is_some();
                is_captured == (kind == UnitKind::QuickTask) && seen.snapshot.task(milestone, slice, task).is_some()
            }
        }
    };
    let milestone = id.split('/').next().unwrap_or_default();
    let is_complete = |found: &Milestone| found.has_ended();
    if !is_there && level(kind) > 1 && seen.snapshot.milestone(milestone).is_some_and(is_complete) {
        let message = format!("{milestone} is complete, so no unit of its slices is run any more");
        let hint = "describe what is missing in a file, then run `gsd-tools auto run --brief FILE`";
        return Err(Failure::usage(message).hint(hint));
    }
    if !is_there || id.split('/').count() != level(kind) {
        let shape = ["M001", "M001/S01", "M001/S01/T01"][level(kind) - 1];
        let message = format!("there is no `{id}` for `{}`", kind.word());
        return Err(Failure::usage(message).hint(format!("it is about one as `{shape}`; see `gsd-tools auto status`")));
    }
    Ok(Unit::new(kind, id))
}

fn next_id(seen: &Seen, kind: UnitKind, level: usize) -> Option<String> {
    let state = &seen.state;
    let milestone = state.milestone.as_ref()?.id.clone();
    if level == 1 {
        return Some(milestone);
    }
    if matches!(kind, UnitKind::RunUat | UnitKind::ReassessRoadmap) {
        let slices = seen.snapshot.milestone(&milestone)?.roadmap.as_deref()?;
        let last = slices.iter().rfind(|slice| slice.done && !slice.skipped)?;
        return Some(format!("{milestone}/{}", last.id));
    }
    let slice = format!("{milestone}/{}", state.slice.as_ref()?.id);
    if level == 2 {
        return Some(slice);
    }
    if kind == UnitKind::QuickTask {
        let is_quick = |capture: &&Capture| capture.open_class() == Some(CaptureClass::QuickTask);
        return Some(format!("{slice}/{}", seen.snapshot.captures.iter().find(is_quick)?.id));
    }
    Some(format!("{slice}/{}", state.task.as_ref()?.id))
}

/// A section of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SectionReport {
    path: String,
    section: String,
    pub(crate) text: String,
}

/// What a run did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogReport {
    /// The file of the log.
    log: String,
    pub(crate) entries: Vec<LogRow>,
    /// How many entries are about another repository, which was in this folder before, and are not shown.
    pub(crate) entries_of_another_repository: usize,
    /// The files with the output of the sessions, as the client printed it.
    pub(crate) activity: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogRow {
    pub(crate) at: String,
    /// The entry as a sentence; omitted for bookkeeping entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) entry: Value,
}

/// The text that an agent is given for a unit; `level` is how much of the documents it contains.
pub(crate) fn prompt(call: &Call, word: &str, id: Option<&str>, level: Option<&str>) -> Result<PromptReport, Failure> {
    let place = RunPlace::of(call)?;
    let (unit, mut input) = if place.is_in_phases(None) {
        phase_input(call, &place, word, id)?
    } else {
        let seen = Seen::whole(call)?;
        let unit = unit_of(&seen, word, id)?;
        let input = input_of(call, &seen, &unit)?;
        (unit, input)
    };
    if let Some(level) = level {
        input.level = of_word::<InlineLevel>(level).ok_or_else(|| {
            Failure::usage(format!("`{level}` is not a level")).hint("the levels are paths, minimal and full")
        })?;
    }
    Ok(report_of(unit, composed(&input)?))
}

/// The text that an agent is given for a unit of what was seen.
pub(crate) fn prompt_of(call: &Call, seen: &Seen, unit: Unit) -> Result<PromptReport, Failure> {
    let input = input_of(call, seen, &unit)?;
    Ok(report_of(unit, composed(&input)?))
}

/// A section of the documents of a unit.
pub(crate) fn section(call: &Call, id: &str, heading: &str) -> Result<SectionReport, Failure> {
    let seen = Seen::whole(call)?;
    let id = id.to_ascii_uppercase();
    let kind = match id.split('/').count() {
        1 => UnitKind::PlanMilestone,
        2 => UnitKind::PlanSlice,
        _ => UnitKind::ExecuteTask,
    };
    let unit = unit_of(&seen, kind.word(), Some(&id))?;
    let input = input_of(call, &seen, &unit)?;
    let (path, text) = prompt::section_in(&input.documents, heading)
        .map_err(|error| error.hint().into_iter().fold(Failure::because(Reason::Unknown, &error), Failure::hint))?;
    Ok(SectionReport { path: path.to_owned(), section: heading.to_owned(), text: text.to_owned() })
}

/// Reports what a run did: the last entries of its log, all or those about a unit.
pub(crate) fn log(call: &Call, unit: Option<&str>, limit: usize, with_all: bool) -> Result<LogReport, Failure> {
    let place = RunPlace::of(call)?;
    let path = place.log();
    let all = place.entries()?;
    let (runs, of_others) = place.runs_here(&all)?;
    let before = all.iter().take_while(|entry| !matches!(entry.event, Event::Started(_)));
    let entries: Vec<&Entry> = before.chain(runs.iter().flat_map(|run| run.entries)).collect();
    let unit = unit.map(str::to_ascii_uppercase);
    let is_about = |id: &str| {
        let below =
            |unit: &String| id == unit || id.strip_prefix(unit.as_str()).is_some_and(|rest| rest.starts_with('/'));
        unit.as_ref().is_none_or(below)
    };
    let mut rows = Vec::new();
    let mut current = String::new();
    for entry in entries {
        let value = serde_json::to_value(entry).unwrap_or_default();
        if let Some(id) = value.pointer("/unit/id").and_then(Value::as_str) {
            id.clone_into(&mut current);
        }
        // An entry with an operation belongs to the unit that was started last; one unit runs at a time.
        let ordered = match &entry.event {
            Event::Ordered { order, .. } => order.wish.subject(),
            _ => None,
        };
        let id = if value.get("operation").is_some() { current.as_str() } else { ordered.unwrap_or_default() };
        let text = match &entry.event {
            Event::Stopped(stop) => Some(story::end(stop)),
            event => story::line(event),
        };
        let is_shown = with_all || text.is_some();
        if is_shown && (unit.is_none() || (!id.is_empty() && is_about(id))) {
            rows.push(LogRow { at: time::shown(entry.at.wall).unwrap_or_default(), text, entry: value });
        }
    }
    let first = rows.len().saturating_sub(limit.max(1));
    let entries = rows.split_off(first);
    let streams = place.folder().resolve("activity");
    let mark = unit.as_ref().map(|unit| unit.replace('/', "-"));
    let mut activity: Vec<String> = disk::list(&streams)?
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| {
            std::path::Path::new(name).extension().is_some_and(|ending| ending == "jsonl")
                && mark.as_ref().is_none_or(|mark| name.contains(mark))
        })
        .map(|name| streams.resolve(name).to_string())
        .collect();
    activity.sort_unstable();
    Ok(LogReport { log: path.to_string(), entries, entries_of_another_repository: of_others, activity })
}
