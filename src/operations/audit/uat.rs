//! The tests and checks of all phases that have not passed, with what blocks them.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::open::DEFERRED;
use super::{Category, is_acknowledged};
use crate::project::deferred::{DeferredItems, ItemState};
use crate::project::deferred_checks::{self, DeferredCheck};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::human_checks::{HumanCheck, same_name};
use crate::project::human_judgment::{self, Deliverable};
use crate::project::phase::short;
use crate::project::uat_report::{ACKNOWLEDGED, Gap, UatReport, UatTest, is_pass};
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted, width_of};

/// What `audit-uat` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UatAuditReport {
    pub(crate) results: Vec<FileReport>,
    pub(crate) summary: Summary,
    /// The number of files that a person marked to be left as they are.
    acknowledged_files: usize,
    /// Folders with open items whose phases the current milestone does not list. Their items are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlisted: Vec<String>,
    /// Checks of the open milestone that are deferred until a person makes them.
    deferred_checks: Vec<DeferredCheck>,
}

impl UatAuditReport {
    /// The open tests, file by file, for a person at a terminal. `verify` is the command that continues with those of a
    /// phase.
    pub(crate) fn shown(&self, screen: Screen, verify: &str) -> String {
        if self.results.is_empty() && self.deferred_checks.is_empty() {
            return screen.paint(Tone::Good, "No open tests or checks") + "\n";
        }
        let open = self.open();
        let count = if open == OpenTests::default() { "No open tests".to_owned() } else { open.words().join(", ") };
        let mut page = screen.paint(Tone::Strong, &count) + "\n";
        for file in &self.results {
            page += &file.shown(screen);
        }
        if !self.deferred_checks.is_empty() {
            let title = format!("{} deferred to a person", counted(self.deferred_checks.len(), "check"));
            let row = |check: &DeferredCheck| {
                let phase = format!("phase {}", short(&check.phase));
                vec![screen.mark(Mark::Open), Cell::from(check.name.as_str()), Cell::new(Tone::Faint, phase)]
            };
            let rows: Vec<_> = self.deferred_checks.iter().map(row).collect();
            page = page + "\n" + &screen.paint(Tone::Strong, &title) + "\n";
            page += &screen.list("  ", &rows, "gsd-tools audit-uat --json");
        }
        let open = self.results.iter().filter(|file| file.archived_milestone.is_none()).map(|file| &file.phase);
        if let Some(phase) = open.chain(self.deferred_checks.iter().map(|check| &check.phase)).next() {
            let command = format!("{verify} {}", short(phase));
            page = page + "\n" + &screen.fields("", &[("Go through them", Cell::new(Tone::Command, command))]);
        }
        page
    }
}

impl UatAuditReport {
    /// The number of open items by kind. Those of archived milestones are settled with their milestone.
    pub(crate) fn open(&self) -> OpenTests {
        let mut open = OpenTests::default();
        for item in self.results.iter().filter(|file| file.archived_milestone.is_none()).flat_map(|file| &file.items) {
            match item.kind {
                ItemKind::Test => open.tests += 1,
                ItemKind::Gap => open.gaps += 1,
                ItemKind::Deferred => open.deferred += 1,
            }
        }
        open
    }
}

/// The number of open items, as all views for people count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenTests {
    /// Acceptance tests, and verification checks that wait for a person.
    pub(crate) tests: usize,
    pub(crate) gaps: usize,
    /// Items that a phase deferred.
    pub(crate) deferred: usize,
}

impl OpenTests {
    /// The counts in words: `2 open tests`, `1 gap`, `1 deferred item`. Zero counts are left out.
    pub(crate) fn words(self) -> Vec<String> {
        let counts = [(self.tests, "open test"), (self.gaps, "gap"), (self.deferred, "deferred item")];
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect()
    }
}

/// Counts the open tests, gaps and deferred items.
pub(crate) fn open_tests(view: &ProjectView) -> Result<OpenTests, FileError> {
    Ok(uat(view)?.open())
}

impl FileReport {
    /// The open tests of one file for a person at a terminal.
    fn shown(&self, screen: Screen) -> String {
        let archived = self.archived_milestone.as_deref().map(|version| format!(" (archived with {version})"));
        let title = format!("Phase {}{}", short(&self.phase), archived.unwrap_or_default());
        let place = screen.paint(Tone::Faint, &self.file_path);
        // A path that does not fit next to the title goes below it, so that it is not cut.
        let gap = if width_of(&title) + 2 + width_of(&self.file_path) > screen.width { "\n  " } else { "  " };
        let mut page = format!("\n{}{gap}{place}\n", screen.paint(Tone::Strong, &title));
        let row = |item: &Item| {
            let mark = if matches!(item.result.as_str(), "issue" | "failed") { Mark::Failed } else { Mark::Open };
            let why = item.blocked_by.as_deref().or(item.reason.as_deref());
            let result = item.result.replace('_', " ");
            let result = why.map_or_else(|| result.clone(), |why| format!("{result}: {why}"));
            let name = item.title.as_deref().unwrap_or(&item.name);
            vec![screen.mark(mark), Cell::from(name), Cell::new(Tone::Faint, result)]
        };
        let rows: Vec<_> = self.items.iter().map(row).collect();
        page += &screen.list("  ", &rows, "gsd-tools audit-uat --json");
        if self.parse_gap.is_some() {
            page += &screen.item("  ", Mark::Warning, "some of this file could not be read as tests");
        }
        page
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileReport {
    phase: String,
    phase_dir: String,
    file: String,
    file_path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
    items: Vec<Item>,
    /// The file contains something that could not be read as a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    parse_gap: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unparsed_blocks: Option<usize>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<u64>,
    name: String,
    result: String,
    category: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<String>,
    /// Shown to people instead of the name, if the name is a whole record.
    #[serde(skip)]
    title: Option<String>,
    #[serde(skip)]
    kind: ItemKind,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ItemKind {
    #[default]
    Test,
    Gap,
    Deferred,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Summary {
    total_files: usize,
    pub(crate) total_items: usize,
    parse_gap_files: usize,
    /// By category and by phase, in the order in which they appear.
    by_category: Map<String, Value>,
    by_phase: Map<String, Value>,
    current_milestone: Part,
    archived: Archived,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Part {
    files: usize,
    items: usize,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Archived {
    files: usize,
    items: usize,
    by_milestone: BTreeMap<String, usize>,
}

/// Lists every test that did not pass, every gap, and every check that waits for a person.
pub(crate) fn uat(view: &ProjectView) -> Result<UatAuditReport, FileError> {
    let mut folders = view.milestone_folders()?;
    let listed: HashSet<&str> = folders.iter().map(|folder| folder.name.as_str()).collect();
    let is_other = |folder: &PhaseFolder| !listed.contains(folder.name.as_str());
    let others: Vec<PhaseFolder> = view.all_phase_folders()?.into_iter().filter(is_other).collect();
    for (path, version) in view.archives()? {
        folders.extend(view.read_folders(&path, Some(&version))?);
    }
    let (results, acknowledged_files) = look_through(view, &folders)?;
    let (open, _) = look_through(view, &others)?;
    let mut unlisted: Vec<String> = open.into_iter().map(|file| file.phase_dir).collect();
    unlisted.dedup();
    let deferred_checks = deferred_checks::deferred_in(view, &folders)?;
    Ok(UatAuditReport { summary: summary(&results), results, acknowledged_files, unlisted, deferred_checks })
}

/// The open items of folders, file by file, and the number of files that are left as they are.
fn look_through(view: &ProjectView, folders: &[PhaseFolder]) -> Result<(Vec<FileReport>, usize), FileError> {
    let (mut results, mut acknowledged_files) = (Vec::new(), 0);
    for folder in folders {
        let files = folder.artifacts("UAT").map(|file| (file, "uat"));
        for (file, kind) in files.chain(folder.artifacts("VERIFICATION").map(|file| (file, "verification"))) {
            let path = folder.join(file);
            let question = if kind == "uat" { b'U' } else { b'V' };
            let says_nothing = |text: Option<&str>| {
                let text = text.unwrap_or_default();
                let report = UatReport::parse(text);
                u8::from(!is_known(kind, text, &report) && look(folder, file, kind, &report, text).is_none())
            };
            if view.told(question, &path, says_nothing)? > 0 {
                continue;
            }
            let report = view.uat_report(&path)?;
            let text = view.text(&path)?.unwrap_or_default();
            if is_known(kind, &text, &report) {
                acknowledged_files += 1;
            } else if let Some(found) = look(folder, file, kind, &report, &text) {
                results.extend(without_those_of_tests(view, folder, found)?);
            }
        }
        let left = if folder.archived.is_some() { Vec::new() } else { human_judgment::unchecked(view, folder)? };
        for left in left.chunk_by(|one, other| one.file == other.file) {
            let text = view.text(&folder.join(&left[0].file))?.unwrap_or_default();
            if is_known("uat", &text, &UatReport::parse(&text)) {
                acknowledged_files += 1;
            } else {
                results.push(left_to_a_person(folder, left));
            }
        }
        if folder.files.iter().any(|file| file == DEFERRED) {
            let text = view.text(&folder.join(DEFERRED))?.unwrap_or_default();
            let items = DeferredItems::parse(&text);
            let has = |state| items.items().iter().any(|item| item.state == state);
            if has(ItemState::Open) {
                results.push(deferred(folder, &items));
            } else if has(ItemState::Acknowledged) {
                acknowledged_files += 1;
            }
        }
    }
    Ok((results, acknowledged_files))
}

/// A report without the checks that were deferred into UAT.md: those are open there and counted once.
fn without_those_of_tests(
    view: &ProjectView,
    folder: &PhaseFolder,
    mut found: FileReport,
) -> Result<Option<FileReport>, FileError> {
    if found.kind != "verification" || found.items.is_empty() {
        return Ok(Some(found));
    }
    let mut tests = Vec::new();
    for file in folder.artifacts("UAT") {
        let report = view.uat_report(&folder.join(file))?;
        tests.extend(report.tests.iter().filter(|test| test.is_open()).map(|test| test.name.clone()));
    }
    found.items.retain(|item| {
        let title = item.title.as_deref().unwrap_or(&item.name);
        item.category != "human_uat" || !tests.iter().any(|test| same_name(title, test))
    });
    Ok(Some(found).filter(|found| !found.items.is_empty() || found.parse_gap.is_some()))
}

/// The tests of a phase that have not passed, and its gaps.
pub(crate) fn unresolved(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<Item>, FileError> {
    let mut items = Vec::new();
    for file in folder.artifacts("UAT") {
        let report = UatReport::parse(&view.text(&folder.join(file))?.unwrap_or_default());
        items.extend(report.tests.into_iter().filter_map(test_item));
        items.extend(report.gaps.into_iter().map(gap_item));
    }
    Ok(items)
}

fn is_known(kind: &str, text: &str, report: &UatReport) -> bool {
    if kind == "uat" {
        return report.is_known_in(text);
    }
    let front = || FrontMatter::of_keys(text, &[ACKNOWLEDGED]);
    text.contains(ACKNOWLEDGED) && is_acknowledged(Category::VerificationGaps, front().as_ref(), &report.status)
}

/// The open items of one file; `None` if nothing is open.
fn look(folder: &PhaseFolder, file: &str, kind: &'static str, report: &UatReport, text: &str) -> Option<FileReport> {
    let waits = matches!(report.status.as_str(), "gaps_found" | "human_needed");
    let (mut items, mut unread) = (Vec::new(), 0);
    if kind == "uat" {
        unread = report.tests.iter().filter(|test| test.result.is_none()).count() + report.unread.len();
        items.extend(report.tests.iter().cloned().filter_map(test_item));
    } else if waits {
        let checks = HumanCheck::all(text);
        let mut titles =
            Some(checks).filter(|checks| checks.len() == report.human.len()).unwrap_or_default().into_iter();
        items.extend((1..).zip(report.human.iter().cloned()).map(|(number, name)| Item {
            test: Some(number),
            name,
            title: titles.next().map(|check| check.name),
            result: "human_needed".to_owned(),
            category: "human_uat",
            ..Item::default()
        }));
    } else {
        return None;
    }
    items.extend(report.gaps.iter().cloned().map(gap_item));
    // A report that waits for something without saying what must not get lost.
    let parse_gap = unread > 0 || (waits && items.is_empty() && !report.is_checked);
    if items.is_empty() && !parse_gap {
        return None;
    }
    Some(FileReport {
        phase: folder.token().to_owned(),
        phase_dir: folder.name.clone(),
        file: file.to_owned(),
        file_path: folder.join(file),
        kind,
        status: report.status.clone(),
        archived_milestone: folder.archived.clone(),
        items,
        parse_gap: parse_gap.then_some(true),
        unparsed_blocks: parse_gap.then_some(unread),
    })
}

/// The deliverables of one summary that wait for a person.
fn left_to_a_person(folder: &PhaseFolder, left: &[Deliverable]) -> FileReport {
    let item = |deliverable: &Deliverable| Item {
        name: deliverable.description.clone(),
        result: "human_needed".to_owned(),
        category: "human_uat",
        reason: deliverable.rationale.clone(),
        ..Item::default()
    };
    let file = &left[0].file;
    FileReport {
        phase: folder.token().to_owned(),
        phase_dir: folder.name.clone(),
        file: file.clone(),
        file_path: folder.join(file),
        kind: "summary",
        status: "human_needed".to_owned(),
        archived_milestone: None,
        items: left.iter().map(item).collect(),
        parse_gap: None,
        unparsed_blocks: None,
    }
}

/// The items that a phase deferred and that are not settled.
fn deferred(folder: &PhaseFolder, items: &DeferredItems<'_>) -> FileReport {
    const RESULT: &str = "unresolved";
    let open = items.items().iter().filter(|item| item.state == ItemState::Open);
    let item = |text: &str| Item {
        name: text.to_owned(),
        result: RESULT.to_owned(),
        category: "deferred",
        kind: ItemKind::Deferred,
        ..Item::default()
    };
    FileReport {
        phase: folder.token().to_owned(),
        phase_dir: folder.name.clone(),
        file: DEFERRED.to_owned(),
        file_path: folder.join(DEFERRED),
        kind: "deferred",
        status: RESULT.to_owned(),
        archived_milestone: folder.archived.clone(),
        items: open.map(|open| item(&open.text)).collect(),
        parse_gap: None,
        unparsed_blocks: None,
    }
}

fn test_item(test: UatTest) -> Option<Item> {
    let result = test.result.clone().filter(|result| !is_pass(result))?;
    let category = category(&result, test.reason.as_deref(), test.blocked_by.as_deref());
    Some(Item {
        test: Some(test.number),
        name: test.name,
        result,
        category,
        expected: test.expected,
        reason: test.reason,
        blocked_by: test.blocked_by,
        ..Item::default()
    })
}

fn gap_item(gap: Gap) -> Item {
    let result = if gap.status.is_empty() { "unknown".to_owned() } else { gap.status };
    let category = category(&result, None, None);
    let (test, name, reason) = (gap.test, gap.truth, gap.reason);
    Item { test, name, result, category, reason, kind: ItemKind::Gap, ..Item::default() }
}

/// The kind of work that would settle a test.
fn category(result: &str, reason: Option<&str>, blocked_by: Option<&str>) -> &'static str {
    let says = |text: Option<&str>, words: &[&str]| {
        let text = text.unwrap_or_default().to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    match result {
        "blocked" if says(blocked_by, &["server"]) => "server_blocked",
        "blocked" if says(blocked_by, &["device", "physical"]) => "device_needed",
        "blocked" if says(blocked_by, &["build", "release", "preview"]) => "build_needed",
        "blocked" if says(blocked_by, &["third-party", "third party", "third_party", "twilio", "stripe"]) => {
            "third_party"
        }
        "blocked" => "blocked",
        "skipped" if says(reason, &["server", "not running"]) => "server_blocked",
        "skipped" if says(reason, &["simulator", "physical", "device"]) => "device_needed",
        "skipped" if says(reason, &["build", "release", "preview"]) => "build_needed",
        "skipped" => "skipped_unresolved",
        "pending" => "pending",
        "issue" => "issue",
        "human_needed" => "human_uat",
        _ => "unknown",
    }
}

fn summary(results: &[FileReport]) -> Summary {
    let (mut by_category, mut by_phase) = (Map::new(), Map::new());
    let (mut current_milestone, mut archived) = (Part::default(), Archived::default());
    for file in results {
        for item in &file.items {
            add(&mut by_category, item.category, 1);
        }
        add(&mut by_phase, &file.phase, file.items.len());
        if let Some(version) = &file.archived_milestone {
            archived.files += 1;
            archived.items += file.items.len();
            *archived.by_milestone.entry(version.clone()).or_default() += file.items.len();
        } else {
            current_milestone.files += 1;
            current_milestone.items += file.items.len();
        }
    }
    Summary {
        total_files: results.len(),
        total_items: current_milestone.items + archived.items,
        parse_gap_files: results.iter().filter(|file| file.parse_gap.is_some()).count(),
        by_category,
        by_phase,
        current_milestone,
        archived,
    }
}

fn add(counts: &mut Map<String, Value>, key: &str, more: usize) {
    let known = counts.get(key).and_then(Value::as_u64).unwrap_or(0);
    counts.insert(key.to_owned(), Value::from(known + more as u64));
}
