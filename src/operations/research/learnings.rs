//! Learnings, kept beyond their project: one JSON file for each entry, in a folder of the user.
//!
//! [`in_documents`] reads what a project recorded. `commands` reads and writes the folder itself.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::files::{FileError, sha256};
use crate::project::view::ProjectView;
use crate::text::markdown::Markdown;
use crate::text::time;

/// The shortest word of a title that makes a tag.
const SHORTEST_TAG: usize = 3;
const DAY: i64 = 86_400_000;

/// A new entry of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NewEntry {
    pub(crate) id: String,
    /// The name of the project's folder.
    source_project: String,
    /// When it was added, in UTC.
    date: String,
    /// Its subject.
    context: String,
    learning: String,
    tags: Vec<String>,
    /// Identical texts of the same project are kept once.
    content_hash: String,
}

/// A lesson in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    context: String,
    learning: String,
    tags: Vec<String>,
}

/// The lessons that a project recorded: in the folders of its phases, and for all phases together.
pub(crate) fn in_documents(view: &ProjectView) -> Result<Vec<Lesson>, FileError> {
    let mut paths: Vec<String> = Vec::new();
    for folder in &view.all_phase_folders()? {
        let names = folder.files.iter().filter(|name| name.ends_with("-LEARNINGS.md") || *name == "LEARNINGS.md");
        paths.extend(names.map(|name| folder.join(name)));
    }
    paths.push(format!("{}/LEARNINGS.md", view.layout().planning()));
    let mut lessons = Vec::new();
    for path in paths {
        if let Some(text) = view.text(&path)? {
            lessons.extend(lessons_of(&text));
        }
    }
    Ok(lessons)
}

/// Each section of the second level is a lesson; if it has subsections, each of those is one.
fn lessons_of(text: &str) -> Vec<Lesson> {
    let document = Markdown::parse(text);
    let headings: Vec<_> = document.headings().collect();
    let mut lessons = Vec::new();
    for heading in headings.iter().filter(|heading| heading.level == 2) {
        let section = document.section(heading);
        let parts: Vec<_> = headings.iter().filter(|part| part.level == 3 && section.contains(&part.line)).collect();
        let body = |from: usize, to: usize| text[document.span(from..to)].replace("\r\n", "\n").trim().to_owned();
        let own = body(section.start, parts.first().map_or(section.end, |part| part.line));
        if !own.is_empty() {
            lessons.push(Lesson::new(heading.title, heading.title, own));
        }
        for part in parts {
            let inside = document.section(part);
            let learning = body(inside.start, inside.end);
            let learning = if learning.is_empty() { part.title.trim().to_owned() } else { learning };
            lessons.push(Lesson::new(heading.title, part.title, learning));
        }
    }
    lessons
}

impl Lesson {
    /// The tags are the first word of the section and the longer words of the title.
    fn new(part: &str, title: &str, learning: String) -> Self {
        let words = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split_whitespace()
                .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned())
                .filter(|word| !word.is_empty())
                .collect()
        };
        let mut tags: Vec<String> = words(part).into_iter().take(1).collect();
        for word in words(title) {
            if word.chars().count() >= SHORTEST_TAG && !tags.contains(&word) {
                tags.push(word);
            }
        }
        Self { context: title.trim().to_owned(), learning, tags }
    }
}

/// What `learnings copy` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CopyReport {
    /// The number of lessons that the project recorded.
    total: usize,
    created: usize,
    /// With `--dry-run`: the number that would be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_create: Option<usize>,
    /// The number that already existed.
    skipped: usize,
}

/// The entries to add for `lessons` that are not in the store yet; `now` is in milliseconds, `date` is the same time.
pub(crate) fn new_entries(
    store: &Store,
    lessons: Vec<Lesson>,
    project: &str,
    now: i64,
    date: &str,
) -> (CopyReport, Vec<NewEntry>) {
    let hash_of = |entry: &Value| entry.get("content_hash").and_then(Value::as_str).map(str::to_owned);
    let mut hashes: BTreeSet<String> = store.entries.iter().filter_map(|entry| hash_of(&entry.value)).collect();
    let mut report = CopyReport { total: lessons.len(), ..CopyReport::default() };
    let mut entries = Vec::new();
    for lesson in lessons {
        let content_hash = sha256(format!("{}\n{project}", lesson.learning).as_bytes());
        if !hashes.insert(content_hash.clone()) {
            report.skipped += 1;
            continue;
        }
        report.created += 1;
        entries.push(NewEntry {
            // The second half comes from the text, so that two entries of the same time differ.
            id: format!("{}-{}", base36(now), &content_hash[..8]),
            source_project: project.to_owned(),
            date: date.to_owned(),
            context: lesson.context,
            learning: lesson.learning,
            tags: lesson.tags,
            content_hash,
        });
    }
    (report, entries)
}

fn base36(number: i64) -> String {
    let mut rest = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(u32::try_from(rest % 36).unwrap_or_default(), 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The saved entries, newest first.
#[derive(Debug, Default)]
pub(crate) struct Store {
    entries: Vec<StoredLearning>,
    /// Files that are not entries.
    unreadable: Vec<String>,
}

/// An entry as read from its file; unknown keys are kept.
#[derive(Debug)]
struct StoredLearning {
    /// The name of its file.
    file: String,
    value: Value,
}

impl StoredLearning {
    fn date(&self) -> &str {
        self.value.get("date").and_then(Value::as_str).unwrap_or_default()
    }
}

impl Store {
    /// The entries in these files, given by name and text; a file without text could not be read.
    pub(crate) fn read(files: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut store = Self::default();
        for (file, text) in files {
            match text.and_then(|text| serde_json::from_str::<Value>(&text).ok()).filter(Value::is_object) {
                Some(value) => store.entries.push(StoredLearning { file, value }),
                None => store.unreadable.push(file),
            }
        }
        store.entries.sort_by(|one, other| other.date().cmp(one.date()).then_with(|| other.file.cmp(&one.file)));
        store
    }

    /// The file of the entry with this id.
    pub(crate) fn file_of(&self, id: &str) -> Option<String> {
        let name = format!("{id}.json");
        let found = self.entries.iter().find(|entry| entry.file == name);
        let named = || self.entries.iter().find(|entry| entry.value.get("id").and_then(Value::as_str) == Some(id));
        found.or_else(named).map(|entry| entry.file.clone())
    }
}

/// What `learnings list` and `learnings query` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListReport {
    /// The entries, unchanged from their files, newest first.
    learnings: Vec<Value>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    /// Files of the store that are not entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
}

/// Lists the entries with the tag, or all without one. At most `most` are listed, the newest first, and all are
/// counted.
pub(crate) fn list(store: Store, tag: Option<&str>, most: Option<u64>) -> ListReport {
    let has = |entry: &Value, tag: &str| {
        let tags = entry.get("tags").and_then(Value::as_array);
        tags.is_some_and(|tags| tags.iter().any(|one| one.as_str() == Some(tag)))
    };
    let fits = |entry: &StoredLearning| tag.is_none_or(|tag| has(&entry.value, tag));
    let mut learnings: Vec<Value> = store.entries.into_iter().filter(fits).map(|entry| entry.value).collect();
    let count = learnings.len();
    if let Some(most) = most.and_then(|most| usize::try_from(most).ok()).filter(|most| *most < count) {
        learnings.truncate(most);
    }
    ListReport { count, learnings, tag: tag.map(str::to_owned), unreadable: store.unreadable }
}

/// What `learnings prune` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PruneReport {
    removed: usize,
    /// With `--dry-run`: the number that would be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_remove: Option<usize>,
    kept: usize,
    /// Files of the store that are not entries; they stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
}

/// The files of entries that were added more than `days` before `now`. An entry without a readable date stays.
pub(crate) fn outdated(store: Store, days: u32, now: i64) -> (PruneReport, Vec<String>) {
    let oldest = now.saturating_sub(i64::from(days).saturating_mul(DAY));
    let is_old = |entry: &&StoredLearning| time::milliseconds(entry.date()).is_some_and(|date| date < oldest);
    let files: Vec<String> = store.entries.iter().filter(is_old).map(|entry| entry.file.clone()).collect();
    let kept = store.entries.len() - files.len();
    (PruneReport { removed: files.len(), would_remove: None, kept, unreadable: store.unreadable }, files)
}

/// The number of days in a duration such as `90d`.
pub(crate) fn days(duration: &str) -> Option<u32> {
    duration.strip_suffix('d')?.parse().ok()
}

/// What `learnings delete` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeleteReport {
    pub(crate) id: String,
    pub(crate) deleted: bool,
    /// With `--dry-run`: whether it would be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) would_delete: Option<bool>,
}

impl CopyReport {
    /// The answer of a dry run.
    pub(crate) fn rehearsed(self) -> Self {
        Self { created: 0, would_create: Some(self.created), ..self }
    }
}

impl PruneReport {
    /// The answer of a dry run.
    pub(crate) fn rehearsed(self) -> Self {
        Self { removed: 0, would_remove: Some(self.removed), ..self }
    }
}

impl DeleteReport {
    /// The answer of a dry run.
    pub(crate) fn rehearsed(self) -> Self {
        Self { deleted: false, would_delete: Some(self.deleted), ..self }
    }
}

/// True if `text` can be the id of an entry; only then may it become the name of a file.
pub(crate) fn is_id(text: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.contains('-') && text.split('-').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn told(text: &str) -> Vec<(String, String, String)> {
        lessons_of(text).into_iter().map(|lesson| (lesson.context, lesson.learning, lesson.tags.join(" "))).collect()
    }

    fn lesson(context: &str, learning: &str, tags: &str) -> (String, String, String) {
        (context.to_owned(), learning.to_owned(), tags.to_owned())
    }

    #[test]
    fn each_section_is_a_lesson_and_keeps_its_text() {
        assert_eq!(told("# L\n\n## Use X\n\nBody text about x.\n"), [lesson("Use X", "Body text about x.", "use")]);
        assert_eq!(
            told(
                "## Decisions\r\nwhy: all\r\n### Use Postgres, now!\r\nBecause\r\n- of X.\r\n### Only head\r\n## Empty\r\n"
            ),
            [
                lesson("Decisions", "why: all", "decisions"),
                lesson("Use Postgres, now!", "Because\n- of X.", "decisions use postgres now"),
                lesson("Only head", "Only head", "decisions only head"),
            ]
        );
        assert_eq!(told("```\n## In fence\nx\n```\n### Alone\ny\n"), []);
    }

    #[test]
    fn the_documents_of_phases_count_too() {
        let files = MemoryFiles::new([
            (".planning/phases/01-a/01-LEARNINGS.md", "## One\na\n"),
            (".planning/LEARNINGS.md", "## Two\nb\n"),
        ]);
        let view = files.view();
        assert_eq!(in_documents(&view).unwrap().len(), 2);
    }

    #[test]
    fn the_same_words_of_a_project_are_kept_once() {
        let lessons = || lessons_of("## A thing\nx\n## Other\nx\n## Third\ny\n");
        let (report, entries) =
            new_entries(&Store::default(), lessons(), "p", 36 * 36 + 10, "2026-01-02T00:00:00.000Z");
        assert_eq!(report, CopyReport { total: 3, created: 2, skipped: 1, ..CopyReport::default() });
        assert_eq!(entries[0].content_hash, sha256(b"x\np"));
        assert!(entries[0].id.starts_with("10a-") && is_id(&entries[0].id) && entries[0].id != entries[1].id);
        let files = entries.iter().map(|entry| (entry.id.clone(), serde_json::to_string(entry).ok()));
        let store = Store::read(files.collect::<Vec<_>>());
        assert_eq!(new_entries(&store, lessons(), "p", 0, "").0.created, 0);
        assert_eq!(new_entries(&store, lessons(), "q", 0, "").0.created, 2);
    }

    #[test]
    fn a_store_is_listed_pruned_and_searched_despite_unreadable_files() {
        let store = || {
            Store::read(
                [
                    ("a-1.json", Some(r#"{"id":"a-1","date":"2026-01-01","tags":["use"],"mine":1}"#)),
                    ("b-1.json", Some(r#"{"id":"b-1","date":"2026-01-05","tags":["x"]}"#)),
                    ("c.json", Some(r#"{"id":"c-1","date":"some day"}"#)),
                    ("d.json", Some("null")),
                    ("e.json", None),
                ]
                .map(|(file, text)| (file.to_owned(), text.map(str::to_owned))),
            )
        };
        let report = list(store(), None, None);
        let ids: Vec<&str> = report.learnings.iter().filter_map(|entry| entry["id"].as_str()).collect();
        assert_eq!((ids, report.count, report.unreadable.len()), (vec!["c-1", "b-1", "a-1"], 3, 2));
        assert_eq!(list(store(), Some("use"), Some(5)).learnings[0]["mine"], 1);
        let newest = list(store(), None, Some(1));
        assert_eq!((newest.count, newest.learnings.len()), (report.count, 1));
        assert_eq!(newest.learnings[0], report.learnings[0], "the newest stay");
        let (report, files) = outdated(store(), 2, 1_767_571_200_000);
        assert_eq!((report.removed, report.kept, files), (1, 2, vec!["a-1.json".to_owned()]));
        assert_eq!(store().file_of("c-1").as_deref(), Some("c.json"));
        assert_eq!(store().file_of("z-1"), None);
    }

    #[test]
    fn ids_and_durations_are_read_strictly() {
        for id in ["zz", "../x-1", "ABC-123", "a_b-1", "-1", "a-", ""] {
            assert!(!is_id(id), "{id}");
        }
        assert!(is_id("mwqv83a3-971397bb"));
        assert_eq!((days("90d"), days("5x"), days("30"), days("-1d"), days("d")), (Some(90), None, None, None, None));
    }
}
