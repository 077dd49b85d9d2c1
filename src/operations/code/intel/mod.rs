//! What is known of the code, in the files of `.planning/intel/`: how old it is, what it says, whether it holds.
//!
//! Agents write those files; a program only stamps them, compares them and looks things up. [`exports`] reads what a
//! source file offers, [`surface`] prints the map of interfaces for people.

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

/// How long what is known of the code counts as fresh.
const FRESH: i64 = 24 * HOUR;
const HOUR: i64 = 3_600_000;

/// The files, in the order they are told.
const FILES: [&str; 5] = [ROLES, API, DEPENDENCIES, "arch-decisions.json", "stack.json"];
const ROLES: &str = "file-roles.json";
const API: &str = "api-map.json";
const DEPENDENCIES: &str = "dependency-graph.json";
/// The digests of the files as they last were compared.
const BASELINE: &str = ".last-refresh.json";
/// The key of what is told about a file in it.
const META: &str = "_meta";

/// A file as far as it can be read.
enum Known {
    Absent,
    Unreadable(String),
    Read(Value),
}

impl Known {
    /// The file called `name`. One that cannot be read is no failure of the whole: the others still say something.
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

    /// When the file says it was brought up to date.
    fn moment(&self) -> Option<&str> {
        self.value()?.get(META)?.get("updated_at")?.as_str()
    }

    /// How many milliseconds before `now` that was.
    fn age(&self, now: i64) -> Option<i64> {
        Some(now.saturating_sub(time::milliseconds(self.moment()?)?))
    }

    fn is_fresh(&self, now: i64) -> bool {
        self.age(now).is_some_and(|age| age <= FRESH)
    }

    /// What the file says, thing by thing: its `entries`; without those, everything but what is told about it.
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

/// The members of an object by their keys, of a list by their places.
fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Nothing is known as long as nobody asked for it.
pub(crate) fn disabled() -> DisabledReport {
    DisabledReport::new("the code index is disabled; enable it: `gsd-tools config-set intel.enabled true`")
}

/// What `intel status` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusReport {
    files: FileStatuses,
    /// Whether any of the files is missing, unreadable, or older than a day.
    overall_stale: bool,
}

/// How each file stands.
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

/// How one file stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FileStatus {
    exists: bool,
    /// How long ago it was brought up to date, by its own word; with `--raw`, when.
    updated_at: Option<String>,
    stale: bool,
    read_error: Option<String>,
}

/// How old the files are at `now`, in milliseconds since 1970. Programs want moments, `as_moments`, and people spans.
pub(crate) fn status(view: &ProjectView, now: i64, as_moments: bool) -> StatusReport {
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
    StatusReport { files, overall_stale }
}

/// What `intel query` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryReport {
    matches: Vec<SourceMatches>,
    term: String,
    total: usize,
    /// Whether there is more than is told; never so far.
    truncated: bool,
    read_errors: Vec<String>,
}

/// The entries of one file that hold the term.
#[derive(Debug, Serialize, JsonSchema)]
struct SourceMatches {
    source: &'static str,
    entries: Vec<Match>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    key: String,
    /// The entry as it stands in the file.
    value: Value,
}

/// The entries whose key, or any text in them, holds the term; case does not matter.
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

/// What `intel update` answers: the work is an agent's.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdateReport {
    action: &'static str,
    message: &'static str,
}

pub(crate) fn update() -> UpdateReport {
    UpdateReport {
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
    /// The files by what became of them since the snapshot.
    Compared { changed: Vec<&'static str>, added: Vec<&'static str>, removed: Vec<&'static str> },
}

/// The files that are not as they were at the last snapshot.
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
    /// How many files there are to compare with later.
    files: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Baseline<'a> {
    hashes: Map<String, Value>,
    timestamp: &'a str,
    version: u32,
}

/// Keeps the digests of the files, for a later comparison.
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
    // A value made of texts and numbers always prints.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// What `intel validate` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ValidateReport {
    valid: bool,
    /// What keeps a file from being used.
    errors: Vec<String>,
    /// What makes a file doubtful.
    warnings: Vec<String>,
}

/// Holds the files against the disk and the clock.
pub(crate) fn validate(view: &ProjectView, now: i64) -> ValidateReport {
    let mut report = ValidateReport::default();
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
        /// The file, absolute.
        file: String,
        timestamp: String,
    },
    Refused {
        patched: bool,
        error: String,
    },
}

/// Stamps the file at `path` (relative to the root) with the moment, and counts its version up.
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
    fn a_file_is_as_old_as_it_says() {
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
    fn keys_and_texts_are_searched_however_deep() {
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
    fn a_snapshot_is_what_a_comparison_is_made_with() {
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
    fn what_is_doubtful_is_told_and_what_cannot_be_used_is_an_error() {
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
