//! Orders of a person between two units: a change of course, a captured thought, an answer, a verdict, a milestone that
//! is parked. Each becomes edits of the documents, which decide what is done next.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::places;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::escalation::Escalation;
use crate::project::milestone_layout::evidence::{OVERRIDE, TaskEvidence};
use crate::project::milestone_layout::{captures, lookup, overrides, record};
use crate::text::front_matter::{FrontMatter, Value, compose};
use crate::text::markdown::newline_of;
use crate::text::shell::typed;
use crate::text::splice::Splices;

/// An order, and when it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// As in RFC 3339.
    pub(crate) at: String,
    /// Whether an agent outside of the run passed it on for a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) passed_on: bool,
    #[serde(flatten)]
    pub(crate) wish: Wish,
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.wish, if self.passed_on { " (passed on by an agent)" } else { "" })
    }
}

/// The content of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub(crate) enum Wish {
    /// The documents must follow this from now on.
    Steer {
        change: String,
    },
    /// A thought to be looked at after the unit.
    Capture {
        text: String,
    },
    /// The question of a task is answered with one of its options.
    Answer {
        task: String,
        choice: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A task, the acceptance test of a slice, or the validation of a milestone counts as passed, or does not.
    Verdict {
        id: String,
        passed: bool,
        why: String,
    },
    /// The milestone is skipped until it is unparked.
    Park {
        milestone: String,
        why: Option<String>,
    },
    Unpark {
        milestone: String,
    },
}

/// Formats the order as a person would say it.
impl Wish {
    /// Whether an agent outside of the run may pass it on: the host asks its user before each of these calls. What
    /// accepts work or leaves it out is typed by a person.
    pub(crate) fn may_be_passed_on(&self) -> bool {
        matches!(self, Self::Steer { .. } | Self::Capture { .. } | Self::Answer { .. })
    }

    /// Returns the id that the order is about, if there is one.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Steer { .. } | Self::Capture { .. } => None,
            Self::Answer { task: id, .. } | Self::Verdict { id, .. } => Some(id),
            Self::Park { milestone, .. } | Self::Unpark { milestone } => Some(milestone),
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steer { change } => write!(formatter, "from now on: {change}"),
            Self::Capture { text } => write!(formatter, "captured: {text}"),
            Self::Answer { task, choice, .. } => write!(formatter, "{task} is answered with `{choice}`"),
            Self::Verdict { id, passed: true, .. } => write!(formatter, "{id} counts as passed"),
            Self::Verdict { id, passed: false, .. } => write!(formatter, "{id} counts as failed"),
            Self::Park { milestone, .. } => write!(formatter, "{milestone} is parked"),
            Self::Unpark { milestone } => write!(formatter, "{milestone} is no longer parked"),
        }
    }
}

/// A change of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OrderedChange {
    Write { path: String, text: String },
    Remove(String),
}

/// Why an order cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct OrderError {
    message: String,
    hint: String,
}

impl OrderError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    pub(crate) fn hint(&self) -> String {
        self.hint.clone()
    }
}

type OrderedChanges = Result<Vec<OrderedChange>, OrderError>;

/// Returns the changes that follow from an order; none if the documents have them already.
pub(crate) fn changes(files: &dyn Files, order: &Order) -> Result<OrderedChanges, FileError> {
    Ok(match &order.wish {
        Wish::Steer { change } => Ok(steer(files, &order.at, change)?),
        Wish::Capture { text } => Ok(capture(files, &order.at, text)?),
        Wish::Answer { task, choice, why } => answer(files, &order.at, (task, choice, why.as_deref()))?,
        Wish::Verdict { id, passed, why } => {
            let verdict = PersonDecision { id, passed: *passed, why, at: &order.at };
            let mut parts = id.split('/');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(milestone), Some(slice), Some(task), None) => verdict.of_task(files, milestone, slice, task)?,
                (Some(milestone), Some(slice), None, None) => verdict.of_slice(files, milestone, slice)?,
                (Some(milestone), None, None, None) => verdict.of_milestone(files, milestone)?,
                _ => Err(not_there(id)),
            }
        }
        Wish::Park { milestone, why } => park(files, milestone, why.as_deref())?,
        Wish::Unpark { milestone } => unpark(files, milestone)?,
    })
}

fn not_there(id: &str) -> OrderError {
    OrderError::new(format!("there is no `{id}`"), "`gsd-tools auto status` shows what there is")
}

fn write(path: String, text: String) -> Vec<OrderedChange> {
    vec![OrderedChange::Write { path, text }]
}

fn steer(files: &dyn Files, at: &str, change: &str) -> Result<Vec<OrderedChange>, FileError> {
    let found = places::root_document(files, "OVERRIDES.md")?;
    let (path, text) = found.unwrap_or_else(|| (format!("{}/OVERRIDES.md", lookup::FOLDER), String::new()));
    if overrides::read(&text).iter().any(|known| known.at == at) {
        return Ok(Vec::new());
    }
    Ok(write(path, overrides::append(&text, at, change)))
}

fn capture(files: &dyn Files, at: &str, what: &str) -> Result<Vec<OrderedChange>, FileError> {
    let found = places::root_document(files, captures::FILE)?;
    let (path, text) = found.unwrap_or_else(|| (format!("{}/{}", lookup::FOLDER, captures::FILE), String::new()));
    let Some(id) = captures::new_id(&text, at, what) else { return Ok(Vec::new()) };
    Ok(write(path, captures::append(&text, &id, at, what)))
}

fn answer(files: &dyn Files, at: &str, order: (&str, &str, Option<&str>)) -> Result<OrderedChanges, FileError> {
    let (id, choice, why) = order;
    let hint = "the question is in the folder of the slice's tasks, as `T01-ESCALATION.json`";
    let none = || OrderError::new(format!("`{id}` asks no question"), hint);
    let parts: Vec<&str> = id.split('/').collect();
    let [milestone, slice, task] = parts[..] else { return Ok(Err(none())) };
    let folder = format!("{}/tasks", places::slice(files, milestone, slice)?);
    let Some((path, text)) = record_of(files, &folder, task, "ESCALATION")? else { return Ok(Err(none())) };
    let question: Escalation = match record::read(&path, &text) {
        Ok(question) => question,
        Err(error) => return Ok(Err(OrderError::new(error.to_string(), error.hint()))),
    };
    // A task that waited for its answer has no summary of its own work.
    let is_done = places::document(files, &folder, task, "SUMMARY")?.is_some();
    let standing = question.user_choice.as_ref().unwrap_or(&question.recommendation).as_str();
    Ok(match question.answered(choice, why, at) {
        Err(error) => Err(OrderError::new(error.to_string(), error.hint())),
        Ok(_) if is_done && choice != standing => {
            let message = format!("{id} is done with `{standing}`, so another answer changes nothing");
            Err(OrderError::new(message, "describe the change instead: `gsd-tools auto steer \"...\"`"))
        }
        Ok(_)
            if question.user_choice.as_ref().is_some_and(|made| made.as_str() == choice)
                && question.responded_at.is_some() =>
        {
            Ok(Vec::new())
        }
        Ok(answered) => Ok(write(path, record::render(&answered))),
    })
}

fn record_of(files: &dyn Files, folder: &str, id: &str, kind: &str) -> Result<Option<(String, String)>, FileError> {
    let entries = files.list(folder)?.unwrap_or_default();
    let Some(name) = lookup::record(&entries, id, kind) else { return Ok(None) };
    let path = format!("{folder}/{name}");
    Ok(files.read(&path)?.map(|text| (path, text)))
}

/// A person's decision about an identifier.
struct PersonDecision<'a> {
    id: &'a str,
    passed: bool,
    why: &'a str,
    at: &'a str,
}

impl PersonDecision<'_> {
    fn of_task(
        &self,
        files: &dyn Files,
        milestone: &str,
        slice: &str,
        task: &str,
    ) -> Result<OrderedChanges, FileError> {
        let folder = format!("{}/tasks", places::slice(files, milestone, slice)?);
        if places::document(files, &folder, task, "SUMMARY")?.is_none() {
            let message = format!("`{}` has no SUMMARY.md, so there is nothing to decide about", self.id);
            return Ok(Err(OrderError::new(message, "run it first: `gsd-tools auto run`")));
        }
        let slice_folder = places::slice(files, milestone, slice)?;
        if !self.passed && places::document(files, &slice_folder, slice, "SUMMARY")?.is_some() {
            let message = format!("{milestone}/{slice} is complete, so its task {task} is not done again");
            return Ok(Err(OrderError::new(message, "describe the change instead: `gsd-tools auto steer \"...\"`")));
        }
        let found = record_of(files, &folder, task, "VERIFY")?;
        let (path, mut evidence) = match found {
            None => (format!("{folder}/{task}-VERIFY.json"), TaskEvidence { schema_version: 1, ..Default::default() }),
            Some((path, text)) => match record::read::<TaskEvidence>(&path, &text) {
                Ok(evidence) => (path, evidence),
                Err(error) => return Ok(Err(OrderError::new(error.to_string(), error.hint()))),
            },
        };
        task.clone_into(&mut evidence.task_id);
        self.id.clone_into(&mut evidence.unit_id);
        if self.passed {
            let decision = serde_json::json!({ "rationale": self.why, "decidedAt": self.at });
            evidence.others.insert(OVERRIDE.to_owned(), decision);
        } else {
            evidence.others.shift_remove(OVERRIDE);
            evidence.passed = false;
            evidence.no_checks_reason = Some(format!("a person decided that it is not done: {}", self.why));
        }
        Ok(Ok(write(path, record::render(&evidence))))
    }

    fn of_slice(&self, files: &dyn Files, milestone: &str, slice: &str) -> Result<OrderedChanges, FileError> {
        let folder = places::slice(files, milestone, slice)?;
        if places::document(files, &folder, slice, "SUMMARY")?.is_none() {
            let message = format!("`{}` is not done, so its acceptance test has no verdict yet", self.id);
            return Ok(Err(OrderError::new(message, "run it first: `gsd-tools auto run`")));
        }
        let verdict = if self.passed { "PASS" } else { "FAIL" };
        let found = places::document(files, &folder, slice, "UAT-RESULT")?;
        let (path, text) = found.unwrap_or_else(|| (format!("{folder}/{slice}-UAT-RESULT.md"), String::new()));
        Ok(Ok(write(path, self.decided(&text, &[("verdict", verdict), ("decided_by", "person")]))))
    }

    fn of_milestone(&self, files: &dyn Files, milestone: &str) -> Result<OrderedChanges, FileError> {
        let folder = places::milestone(files, milestone)?;
        let Some((path, text)) = places::document(files, &folder, milestone, "VALIDATION")? else {
            let message = format!("`{milestone}` has no VALIDATION.md, so there is nothing to decide about");
            let hint = format!("put it together first: `{}`", typed!("gsd-tools auto validate {}", milestone));
            return Ok(Err(OrderError::new(message, hint)));
        };
        let verdict = if self.passed { "pass" } else { "needs-attention" };
        Ok(Ok(write(path, self.decided(&text, &[("verdict", verdict), ("validated_by", "person")]))))
    }

    /// Returns the document with the verdict in its front matter, and nothing else changed.
    fn decided(&self, text: &str, fields: &[(&str, &str)]) -> String {
        let value = |text: &str| Value::Text(text.to_owned());
        let own = [("rationale", self.why), ("decided_at", self.at)];
        let fields = fields.iter().chain(&own).map(|(key, text)| (*key, value(text)));
        let Some(front) = FrontMatter::parse(text) else {
            let entries: Vec<(String, Value)> = fields.map(|(key, value)| (key.to_owned(), value)).collect();
            let body = if text.trim().is_empty() { "# Decided by a person\n" } else { text };
            return compose(&entries, body, newline_of(text));
        };
        let mut splices = Splices::default();
        for (key, value) in fields {
            front.set(key, &value, &mut splices);
        }
        splices.apply(text)
    }
}

fn is_milestone(files: &dyn Files, milestone: &str) -> Result<bool, FileError> {
    let entries = files.list(lookup::MILESTONES)?.unwrap_or_default();
    Ok(lookup::folder(&entries, milestone).is_some())
}

fn park(files: &dyn Files, milestone: &str, why: Option<&str>) -> Result<OrderedChanges, FileError> {
    if !is_milestone(files, milestone)? {
        return Ok(Err(not_there(milestone)));
    }
    let folder = places::milestone(files, milestone)?;
    if places::document(files, &folder, milestone, "PARKED")?.is_some() {
        return Ok(Ok(Vec::new()));
    }
    let why = why.unwrap_or("No reason given.");
    Ok(Ok(write(format!("{folder}/{milestone}-PARKED.md"), format!("# {milestone} is parked\n\n{why}\n"))))
}

fn unpark(files: &dyn Files, milestone: &str) -> Result<OrderedChanges, FileError> {
    if !is_milestone(files, milestone)? {
        return Ok(Err(not_there(milestone)));
    }
    let folder = places::milestone(files, milestone)?;
    let found = places::document(files, &folder, milestone, "PARKED")?;
    Ok(Ok(found.map(|(path, _)| OrderedChange::Remove(path)).into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const SLICE: &str = ".gsd/milestones/M001/slices/S01";

    fn files(texts: &[(&str, &str)]) -> MemoryFiles {
        let texts = texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        MemoryFiles { texts: texts.collect(), ..MemoryFiles::default() }
    }

    fn order(wish: Wish) -> Order {
        Order { at: "2026-01-02T10:00:00Z".to_owned(), passed_on: false, wish }
    }

    fn follow(files: &mut MemoryFiles, order: &Order) -> usize {
        let changes = changes(files, order).unwrap().unwrap();
        for change in &changes {
            match change {
                OrderedChange::Write { path, text } => files.texts.insert(path.clone(), text.clone()),
                OrderedChange::Remove(path) => files.texts.remove(path),
            };
        }
        changes.len()
    }

    #[test]
    fn a_change_of_course_is_written_once_however_often_the_order_is_followed() {
        let mut files = files(&[]);
        let steer = order(Wish::Steer { change: "use SQLite".to_owned() });
        assert_eq!((follow(&mut files, &steer), follow(&mut files, &steer)), (1, 0));
        let text = &files.texts[".gsd/OVERRIDES.md"];
        assert!(overrides::read(text).iter().any(|change| change.is_active && change.change == "use SQLite"), "{text}");
    }

    #[test]
    fn a_thought_is_captured_once_however_often_the_order_is_followed() {
        let mut files = files(&[]);
        let thought = order(Wish::Capture { text: "the page\nis slow".to_owned() });
        assert_eq!((follow(&mut files, &thought), follow(&mut files, &thought)), (1, 0));
        let found = captures::read(&files.texts[".gsd/CAPTURES.md"]);
        assert_eq!((found.len(), found[0].text.as_str()), (1, "the page is slow"));
        assert!(found[0].needs_triage());
    }

    #[test]
    fn an_answer_must_be_one_of_the_options_of_the_question() {
        let path = format!("{SLICE}/tasks/T01-ESCALATION.json");
        let question =
            r#"{"version":1,"question":"which?","options":[{"id":"a"},{"id":"b"}],"continueWithDefault":false}"#;
        let mut files = files(&[(&path, question)]);
        let answer = |choice: &str| {
            order(Wish::Answer { task: "M001/S01/T01".to_owned(), choice: choice.to_owned(), why: None })
        };
        let refused = changes(&files, &answer("c")).unwrap().unwrap_err();
        assert!(refused.hint().contains("`a`, `b`"), "{}", refused.hint());
        assert_eq!((follow(&mut files, &answer("b")), follow(&mut files, &answer("b"))), (1, 0));
        assert!(files.texts[&path].contains("\"userChoice\": \"b\""));
        let none = order(Wish::Answer { task: "M001/S01/T02".to_owned(), choice: "a".to_owned(), why: None });
        assert!(changes(&files, &none).unwrap().is_err());
    }

    #[test]
    fn a_task_of_a_complete_slice_is_not_opened_again_by_a_verdict() {
        let (task, slice) = (format!("{SLICE}/tasks/T01-SUMMARY.md"), format!("{SLICE}/S01-SUMMARY.md"));
        let files = files(&[(&task, "# T01\n"), (&slice, "# S01\n")]);
        let verdict = |passed| {
            let wish = Wish::Verdict { id: "M001/S01/T01".to_owned(), passed, why: "seen".to_owned() };
            changes(&files, &order(wish)).unwrap()
        };
        assert!(verdict(false).unwrap_err().hint().contains("auto steer"));
        assert!(verdict(true).is_ok());
    }

    #[test]
    fn a_verdict_is_written_to_the_document_that_decides_the_state() {
        let (verify, summary) = (format!("{SLICE}/tasks/T01-VERIFY.json"), format!("{SLICE}/tasks/T01-SUMMARY.md"));
        let validation = "---\r\nid: M001 # kept\r\nverdict: needs-attention\r\n---\r\n# V\r\n";
        let path = ".gsd/milestones/M001/M001-VALIDATION.md";
        let mut files =
            files(&[(&verify, "{\"passed\": false, \"checks\": []}"), (&summary, "# T01\n"), (path, validation)]);
        let verdict = |id: &str, passed| order(Wish::Verdict { id: id.to_owned(), passed, why: "seen".to_owned() });
        follow(&mut files, &verdict("M001/S01/T01", true));
        assert!(files.texts[&verify].contains("\"override\"") && files.texts[&verify].contains("\"passed\": false"));
        follow(&mut files, &verdict("M001/S01/T01", false));
        assert!(!files.texts[&verify].contains("\"override\""));
        files.texts.insert(format!("{SLICE}/S01-SUMMARY.md"), "# S01\n".to_owned());
        follow(&mut files, &verdict("M001/S01", true));
        let uat = &files.texts[&format!("{SLICE}/S01-UAT-RESULT.md")];
        assert!(uat.starts_with("---\nverdict: PASS\ndecided_by: person\n"), "{uat}");
        follow(&mut files, &verdict("M001", true));
        let text = &files.texts[path];
        assert!(text.starts_with("---\r\nid: M001 # kept\r\nverdict: pass\r\nvalidated_by: person\r\n"), "{text}");
        for id in ["M002", "M001/S02", "M001/S01/T02", "M001/S01/T01/x", ""] {
            assert!(changes(&files, &verdict(id, true)).unwrap().is_err(), "{id}");
        }
    }

    #[test]
    fn a_milestone_is_parked_and_unparked() {
        let mut files = files(&[(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: Shelf\n")]);
        let before = files.texts.clone();
        let park = order(Wish::Park { milestone: "M001".to_owned(), why: None });
        let unpark = order(Wish::Unpark { milestone: "M001".to_owned() });
        assert_eq!((follow(&mut files, &park), follow(&mut files, &park)), (1, 0));
        assert_eq!((follow(&mut files, &unpark), follow(&mut files, &unpark)), (1, 0));
        assert_eq!(files.texts, before);
    }
}
