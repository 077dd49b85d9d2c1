//! The code index in the files of `.planning/intel/`: its age, its contents, and whether it is still correct.
//!
//! Agents write those files; this program only stamps, compares and searches them. [`exports`] reads the exports of a
//! source file, [`surface`] writes the map of interfaces for people.

pub(crate) mod exports;
pub(crate) mod surface;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::operations::answers::disabled::DisabledReport;
use crate::project::files::FileError;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::edit::JsonDialect;
use crate::text::json::{JsonDocument, JsonEdit};
use crate::text::time;

/// The age up to which the code index counts as fresh.
const FRESH: i64 = 24 * HOUR;
const HOUR: i64 = 3_600_000;

/// The files, in the order in which answers list them.
const FILES: [&str; 5] = [ROLES, API, DEPENDENCIES, "arch-decisions.json", "stack.json"];
const ROLES: &str = "file-roles.json";
const API: &str = "api-map.json";
const DEPENDENCIES: &str = "dependency-graph.json";
/// The file with the digests of the last snapshot.
const BASELINE: &str = ".last-refresh.json";
/// The key of the metadata in each file.
const META: &str = "_meta";

/// The result of reading a file.
enum Known {
    Absent,
    Unreadable(String),
    Read(Value),
}

impl Known {
    /// Reads the file called `name`. A file that cannot be read does not fail the whole call: the others are still
    /// useful.
    fn of(view: &ProjectView, name: &str) -> Self {
        match text(view, name) {
            Err(error) => Self::Unreadable(error.to_string()),
            Ok(None) => Self::Absent,
            Ok(Some(text)) => match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
                Ok(value) => Self::Read(value),
                Err(error) => {
                    Self::Unreadable(format!("`{}` is not valid JSON: {error}", view.layout().shown(&path(view, name))))
                }
            },
        }
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Self::Read(value) => Some(value),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    fn read_error(&self) -> Option<String> {
        match self {
            Self::Unreadable(error) => Some(error.clone()),
            Self::Absent | Self::Read(_) => None,
        }
    }

    /// The time of the last update, according to the file.
    fn moment(&self) -> Option<&str> {
        self.value()?.get(META)?.get("updated_at")?.as_str()
    }

    /// The number of milliseconds from then to `now`.
    fn age(&self, now: i64) -> Option<i64> {
        Some(now.saturating_sub(time::milliseconds(self.moment()?)?))
    }

    fn is_fresh(&self, now: i64) -> bool {
        self.age(now).is_some_and(|age| age <= FRESH)
    }

    /// The entries of the file: its `entries`, or else everything except the metadata.
    fn entries(&self) -> Vec<(String, &Value)> {
        match self.value() {
            Some(Value::Object(map)) => match map.get("entries") {
                Some(entries @ (Value::Object(_) | Value::Array(_))) => children(entries),
                _ => map.iter().filter(|(key, _)| *key != META).map(|(key, value)| (key.clone(), value)).collect(),
            },
            Some(list @ Value::Array(_)) => children(list),
            _ => Vec::new(),
        }
    }
}

fn path(view: &ProjectView, name: &str) -> String {
    format!("{}/{name}", view.layout().intel())
}

fn text(view: &ProjectView, name: &str) -> Result<Option<Arc<str>>, FileError> {
    view.text(&path(view, name))
}

/// The members of an object with their keys, or of a list with their indexes.
fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}

/// The code index is off until someone enables it.
pub(crate) fn disabled() -> DisabledReport {
    DisabledReport::new("the code index is disabled; enable it: `gsd-tools config-set intel.enabled true`")
}

/// What `intel status` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IntelStatusReport {
    files: FileStatuses,
    /// True if any of the files is missing, unreadable, undated, or older than a day.
    overall_stale: bool,
}

/// The status of each file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileStatuses {
    #[serde(rename = "file-roles.json")]
    file_roles: FileStatus,
    #[serde(rename = "api-map.json")]
    api_map: FileStatus,
    #[serde(rename = "dependency-graph.json")]
    dependency_graph: FileStatus,
    #[serde(rename = "arch-decisions.json")]
    arch_decisions: FileStatus,
    #[serde(rename = "stack.json")]
    stack: FileStatus,
}

/// The status of one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FileStatus {
    exists: bool,
    /// How long ago it was updated, according to the file; with `--raw`, the time itself.
    updated_at: Option<String>,
    stale: bool,
    read_error: Option<String>,
}

/// The age of the files at `now`, in milliseconds since 1970. Programs want times (`as_moments`), people want
/// durations.
pub(crate) fn status(view: &ProjectView, now: i64, as_moments: bool) -> IntelStatusReport {
    let statuses = FILES.map(|name| {
        let known = Known::of(view, name);
        FileStatus {
            exists: !matches!(known, Known::Absent),
            updated_at: match known.age(now) {
                Some(_) if as_moments => known.moment().map(str::to_owned),
                age => age.map(time::ago),
            },
            stale: !known.is_fresh(now),
            read_error: known.read_error(),
        }
    });
    let overall_stale = statuses.iter().any(|status| status.stale);
    let [file_roles, api_map, dependency_graph, arch_decisions, stack] = statuses;
    let files = FileStatuses { file_roles, api_map, dependency_graph, arch_decisions, stack };
    IntelStatusReport { files, overall_stale }
}

/// What `intel query` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryReport {
    matches: Vec<SourceMatches>,
    term: String,
    total: usize,
    /// True if matches were left out; currently never.
    truncated: bool,
    read_errors: Vec<String>,
}

/// The entries of one file that match the term.
#[derive(Debug, Serialize, JsonSchema)]
struct SourceMatches {
    source: &'static str,
    entries: Vec<Match>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    key: String,
    /// The entry, unchanged from the file.
    value: Value,
}

/// Finds the entries whose key, or any text in them, contains the term, ignoring case.
pub(crate) fn query(view: &ProjectView, term: &str) -> QueryReport {
    let wanted = term.to_lowercase();
    let mut read_errors = Vec::new();
    let mut matches = Vec::new();
    for source in FILES {
        let known = Known::of(view, source);
        read_errors.extend(known.read_error());
        let found = known.entries().into_iter().filter(|(key, value)| says(&wanted, key) || holds(&wanted, value));
        let entries: Vec<Match> = found.map(|(key, value)| Match { key, value: value.clone() }).collect();
        if !entries.is_empty() {
            matches.push(SourceMatches { source, entries });
        }
    }
    let total = matches.iter().map(|source| source.entries.len()).sum();
    QueryReport { matches, term: term.to_owned(), total, truncated: false, read_errors }
}

fn says(wanted: &str, text: &str) -> bool {
    text.to_lowercase().contains(wanted)
}

fn holds(wanted: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => says(wanted, text),
        Value::Array(list) => list.iter().any(|value| holds(wanted, value)),
        Value::Object(map) => map.values().any(|value| holds(wanted, value)),
        _ => false,
    }
}

/// The answer of `intel update`: an agent does the work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IntelUpdateReport {
    action: &'static str,
    message: &'static str,
}

pub(crate) fn update() -> IntelUpdateReport {
    IntelUpdateReport {
        action: "spawn_agent",
        message: "run `gsd-tools intel update`, or start the agent gsd-intel-updater to rebuild it",
    }
}

/// What `intel diff` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DiffReport {
    /// There is nothing to compare with.
    NoBaseline { no_baseline: bool, read_error: Option<String> },
    /// The files by how they changed since the snapshot.
    Compared { changed: Vec<&'static str>, added: Vec<&'static str>, removed: Vec<&'static str> },
}

/// The files that differ from the last snapshot.
pub(crate) fn diff(view: &ProjectView) -> Result<DiffReport, FileError> {
    let baseline = Known::of(view, BASELINE);
    let Some(hashes) = baseline.value().and_then(|value| value.get("hashes")).and_then(Value::as_object) else {
        let read_error = baseline.read_error().or_else(|| {
            let shown = view.layout().shown(&path(view, BASELINE));
            baseline.value().map(|_| format!("`{shown}` has no hashes"))
        });
        return Ok(DiffReport::NoBaseline { no_baseline: true, read_error });
    };
    let (mut changed, mut added, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for name in FILES {
        let before = hashes.get(name).and_then(Value::as_str);
        let list = match (before, view.digest(&path(view, name))?) {
            (Some(before), Some(now)) if before == now => continue,
            (Some(_), Some(_)) => &mut changed,
            (None, Some(_)) => &mut added,
            (Some(_), None) => &mut removed,
            (None, None) => continue,
        };
        list.push(name);
    }
    Ok(DiffReport::Compared { changed, added, removed })
}

/// What `intel snapshot` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotReport {
    saved: bool,
    timestamp: String,
    /// The number of files in the snapshot.
    files: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Baseline<'a> {
    hashes: Map<String, Value>,
    timestamp: &'a str,
    version: u32,
}

/// Saves the digests of the files for a later comparison.
pub(crate) fn snapshot(view: &ProjectView, timestamp: &str) -> Edited<SnapshotReport> {
    let mut hashes = Map::new();
    for name in FILES {
        if let Some(digest) = view.digest(&path(view, name))? {
            hashes.insert(name.to_owned(), Value::from(digest));
        }
    }
    let files = hashes.len();
    let mut edits = Edits::default();
    edits.write(view, &path(view, BASELINE), print(&Baseline { hashes, timestamp, version: 1 }))?;
    Ok((SnapshotReport { saved: true, timestamp: timestamp.to_owned(), files }, edits))
}

fn print(value: &impl Serialize) -> String {
    // A value made of strings and numbers always serializes.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// What `intel validate` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct IntelValidateReport {
    valid: bool,
    /// Problems that make a file unusable.
    errors: Vec<String>,
    /// Problems that make a file doubtful.
    warnings: Vec<String>,
}

/// Checks the files against the source and the clock.
pub(crate) fn validate(view: &ProjectView, now: i64) -> IntelValidateReport {
    let mut report = IntelValidateReport::default();
    for name in FILES {
        let known = match text(view, name) {
            Err(error) => Err(error.to_string()),
            Ok(None) => Err("file does not exist".to_owned()),
            Ok(Some(text)) => match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
                Err(error) => Err(format!("invalid JSON — {error}")),
                Ok(value @ Value::Object(_)) => Ok(Known::Read(value)),
                Ok(_) => Err("not a JSON object".to_owned()),
            },
        };
        match known {
            Err(error) => report.errors.push(format!("{name}: {error}")),
            Ok(known) => {
                let mut doubts = doubts_of_age(&known, now);
                match name {
                    ROLES => doubts.extend(doubts_of_roles(view, &known)),
                    DEPENDENCIES => doubts.extend(doubts_of_dependencies(&known)),
                    _ => {}
                }
                report.warnings.extend(doubts.into_iter().map(|doubt| format!("{name}: {doubt}")));
            }
        }
    }
    report.valid = report.errors.is_empty();
    report
}

fn doubts_of_age(known: &Known, now: i64) -> Vec<String> {
    let stamp = known.value().and_then(|value| value.get(META)?.get("updated_at"));
    match (stamp, known.age(now)) {
        (None | Some(Value::Null), _) => vec!["missing _meta.updated_at".to_owned()],
        (Some(Value::String(empty)), _) if empty.is_empty() => vec!["missing _meta.updated_at".to_owned()],
        (Some(stamp), None) => vec![format!("_meta.updated_at is not a time: {stamp}")],
        (Some(_), Some(age)) if age > FRESH => {
            vec![format!("_meta.updated_at is {} hours old (>24 hr)", (age + HOUR / 2) / HOUR)]
        }
        _ => Vec::new(),
    }
}

fn doubts_of_roles(view: &ProjectView, known: &Known) -> Vec<String> {
    let mut doubts = Vec::new();
    let entries = known.value().and_then(|value| value.get("entries")).map(children).unwrap_or_default();
    for (file, entry) in entries {
        let exports = entry.get("exports").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for export in exports.filter(|export| export.contains(' ')) {
            doubts.push(format!("`{file}`: the export `{export}` looks like a description (it has a space)"));
        }
        if !view.exists(file.trim_end_matches('/')) {
            doubts.push(format!("there is no file `{file}`"));
        }
    }
    doubts
}

fn doubts_of_dependencies(known: &Known) -> Vec<String> {
    let entries = known.value().and_then(|value| value.get("entries")).map(children).unwrap_or_default();
    let lacking = |(name, entry): (String, &Value)| {
        let missing: Vec<&str> =
            ["version", "type", "used_by"].into_iter().filter(|field| entry.get(field).is_none()).collect();
        (!missing.is_empty()).then(|| format!("`{name}` lacks fields: {}", missing.join(", ")))
    };
    entries.into_iter().filter_map(lacking).collect()
}

/// What `intel patch-meta` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PatchReport {
    Patched {
        patched: bool,
        /// The absolute path of the file.
        file: String,
        timestamp: String,
    },
    Refused {
        patched: bool,
        error: String,
    },
}

/// Writes the time into the file at `path` (relative to the root) and increments its version.
pub(crate) fn patch_meta(view: &ProjectView, path: &str, timestamp: &str) -> Edited<PatchReport> {
    let file = view.layout().shown(path);
    let mut edits = Edits::default();
    let refused = |error: String| (PatchReport::Refused { patched: false, error }, Edits::default());
    let Some(text) = view.text(path)? else { return Ok(refused(format!("File not found: {file}"))) };
    match stamped(&text, timestamp) {
        Err(error) => Ok(refused(error)),
        Ok(text) => {
            edits.write(view, path, text)?;
            Ok((PatchReport::Patched { patched: true, file, timestamp: timestamp.to_owned() }, edits))
        }
    }
}

fn stamped(text: &str, timestamp: &str) -> Result<String, String> {
    let at = |key: &str| vec![META.to_owned(), key.to_owned()];
    let mut document =
        JsonDocument::parse(text, JsonDialect::Strict).map_err(|error| format!("Invalid JSON: {error}"))?;
    let version = match document.value(&at("version")) {
        None | Some(Value::Null) => 1,
        Some(version) => {
            let number = version.as_u64().and_then(|number| number.checked_add(1));
            number.ok_or_else(|| format!("_meta.version is not a number: {version}"))?
        }
    };
    for edit in [
        JsonEdit::Set { path: at("updated_at"), value: Value::from(timestamp) },
        JsonEdit::Set { path: at("version"), value: Value::from(version) },
    ] {
        document.apply(&edit).map_err(|error| error.to_string())?;
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const NOON: &str = "2026-01-02T12:00:00.000Z";

    fn now() -> i64 {
        time::milliseconds(NOON).unwrap()
    }

    fn view(files: &[(&str, &str)]) -> ProjectView {
        let files = files.iter().map(|(name, text)| (format!(".planning/intel/{name}"), (*text).to_owned())).collect();
        let mut memory = MemoryFiles { texts: files, ..MemoryFiles::default() };
        memory.texts.insert("src/a.ts".to_owned(), String::new());
        memory.view()
    }

    #[test]
    fn the_age_of_a_file_is_from_its_own_date() {
        let files = view(&[
            (API, r#"{"_meta":{"updated_at":"2026-01-02T09:10:00Z"}}"#),
            (ROLES, r#"{"_meta":{"updated_at":"2025-12-31T12:00:00Z"}}"#),
            (DEPENDENCIES, "{"),
            ("stack.json", r#"{"_meta":{"updated_at":"soon"}}"#),
        ]);
        let moment = status(&files, now(), true).files.api_map.updated_at;
        assert_eq!(moment.as_deref(), Some("2026-01-02T09:10:00Z"));
        let report = status(&files, now(), false);
        let told = |status: &FileStatus| (status.updated_at.clone().unwrap_or_default(), status.stale);
        assert_eq!(told(&report.files.api_map), ("2 hours ago".to_owned(), false));
        assert_eq!(told(&report.files.file_roles), ("2 days ago".to_owned(), true));
        assert_eq!(told(&report.files.stack), (String::new(), true), "a time that cannot be read is no fresh time");
        assert!(report.files.dependency_graph.read_error.as_deref().is_some_and(|error| error.contains("line 1")));
        assert!(!report.files.arch_decisions.exists && report.overall_stale);
    }

    #[test]
    fn keys_and_texts_are_searched_at_any_depth() {
        let view = view(&[
            (ROLES, r#"{"_meta":{"by":"foo"},"entries":{"src/Foo.js":{},"b":{"deep":[{"x":"a FOO"}],"foo":1},"c":3}}"#),
            ("stack.json", r#"{"_meta":{"by":"foo"},"languages":["foo"]}"#),
            (API, "null"),
            (DEPENDENCIES, "[{\"n\":\"foo\"}]"),
        ]);
        let report = query(&view, "Foo");
        let keys: Vec<&str> =
            report.matches.iter().flat_map(|source| &source.entries).map(|found| found.key.as_str()).collect();
        assert_eq!((keys, report.total), (vec!["src/Foo.js", "b", "0", "languages"], 4));
    }

    #[test]
    fn a_comparison_uses_the_last_snapshot() {
        let files = view(&[(API, "{}"), (ROLES, "{}")]);
        assert!(matches!(diff(&files).unwrap(), DiffReport::NoBaseline { read_error: None, .. }));
        let (report, edits) = snapshot(&files, NOON).unwrap();
        assert_eq!(report.files, 2);
        let baseline = edits.texts.values().next().unwrap().as_str();
        let later = view(&[(API, "{ }"), ("stack.json", "{}"), (BASELINE, baseline)]);
        let DiffReport::Compared { changed, added, removed } = diff(&later).unwrap() else { panic!() };
        assert_eq!((changed, added, removed), (vec![API], vec!["stack.json"], vec![ROLES]));
        for broken in ["{", "{}", "[]", r#"{"hashes":3}"#] {
            let report = diff(&view(&[(BASELINE, broken)])).unwrap();
            assert!(matches!(report, DiffReport::NoBaseline { read_error: Some(_), .. }), "{broken}");
        }
    }

    #[test]
    fn doubtful_files_are_warnings_and_unusable_ones_are_errors() {
        let report = validate(
            &view(&[
                (
                    ROLES,
                    r#"{"_meta":{"updated_at":"2026-01-02"},"entries":{"src/a.ts":{"exports":["a b","c",3]},"gone":null}}"#,
                ),
                (DEPENDENCIES, r#"{"_meta":{"updated_at":""},"entries":{"x":{"type":"npm","version":1},"y":2}}"#),
                (API, "null"),
                ("stack.json", r#"{"_meta":{"updated_at":"2025-12-30"}}"#),
            ]),
            now(),
        );
        assert_eq!(report.errors, ["api-map.json: not a JSON object", "arch-decisions.json: file does not exist"]);
        assert_eq!(
            report.warnings,
            [
                "file-roles.json: `src/a.ts`: the export `a b` looks like a description (it has a space)",
                "file-roles.json: there is no file `gone`",
                "dependency-graph.json: missing _meta.updated_at",
                "dependency-graph.json: `x` lacks fields: used_by",
                "dependency-graph.json: `y` lacks fields: version, type, used_by",
                "stack.json: _meta.updated_at is 84 hours old (>24 hr)",
            ]
        );
    }

    #[test]
    fn a_stamp_leaves_every_other_byte_alone() {
        let of = |text: &str| stamped(text, NOON);
        let after = of("{\"_meta\":{\"version\":7,\"keep\":true,\"updated_at\":\"old\"},\r\n\t\"b\": 1.0}").unwrap();
        let expected =
            format!("{{\"_meta\":{{\"version\":8,\"keep\":true,\"updated_at\":\"{NOON}\"}},\r\n\t\"b\": 1.0}}");
        assert_eq!(after, expected);
        let made: Value = serde_json::from_str(&of("{}\n").unwrap()).unwrap();
        assert_eq!((&made[META]["updated_at"], &made[META]["version"]), (&Value::from(NOON), &Value::from(1)));
        for text in ["[]", "null", "{bad", "{\"_meta\":5}", "{\"_meta\":{\"version\":\"3\"}}", "\u{0}"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
