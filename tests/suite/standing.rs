//! The standing of a phase: every verb that reports how far a phase is gives the same answer.
//!
//! Each row of the table is a phase on disk and in the roadmap, and its standing. Every verb with words for the
//! standing is asked; the table of words gives the meaning of each, since some verbs have fewer words than there are
//! stages.

use std::fs::File;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::kit::TestContext;

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    NoDirectory,
    Empty,
    Discussed,
    Researched,
    Planned,
    Partial,
    Executed,
    Complete,
}

use Stage::{Complete, Discussed, Empty, Executed, NoDirectory, Partial, Planned, Researched};

/// The words of each verb for a stage: `progress`, `stats` and `init plan-phase` (which may also say Needs Review for
/// Executed), `init progress`, `init manager`, `roadmap analyze`, `workstream status`, and `state.json`.
const WORDS: &[(Stage, [&str; 6])] = &[
    (NoDirectory, ["Pending", "not_started", "no_directory", "no_directory", "pending", "pending"]),
    (Empty, ["Pending", "pending", "empty", "empty", "pending", "pending"]),
    (Discussed, ["Pending", "pending", "discussed", "discussed", "pending", "pending"]),
    (Researched, ["Pending", "researched", "researched", "researched", "pending", "pending"]),
    (Planned, ["Planned", "in_progress", "planned", "planned", "in_progress", "pending"]),
    (Partial, ["In Progress", "in_progress", "partial", "partial", "in_progress", "in_progress"]),
    (Executed, ["Executed", "executed", "executed", "partial", "in_progress", "in_progress"]),
    (Complete, ["Complete", "complete", "complete", "complete", "complete", "complete"]),
];

/// A phase and its standing.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    /// The identifier in the roadmap.
    id: &'static str,
    /// The name of the folder.
    folder: &'static str,
    /// What is in the folder: `C`ontext, `R`esearch, a plan `P1`, a superseded plan `X1`, a summary `S1`, a summary
    /// that halts its plan `H1`; `.` is an empty folder, an empty string a missing one.
    files: &'static str,
    /// The status of the verification; with `~` it is older than the summaries, with `#` its fingerprint belongs to
    /// other work.
    verification: &'static str,
    /// The box in the checklist and the status in the table; an empty string means without a line or row.
    listed: (&'static str, &'static str),
    stage: Stage,
    /// The answer of `verification status`.
    verified: &'static str,
    /// True if work is left to do.
    open: bool,
    in_workstream: bool,
}

const fn row(
    name: &'static str,
    files: &'static str,
    verification: &'static str,
    listed: (&'static str, &'static str),
    stage: Stage,
    verified: &'static str,
    open: bool,
) -> Row {
    Row { name, id: "1", folder: "01-base", files, verification, listed, stage, verified, open, in_workstream: false }
}

const OPEN: (&str, &str) = (" ", "Not started");
const CLOSED: (&str, &str) = ("x", "Complete");

const ROWS: &[Row] = &[
    row("nothing on disk", "", "", OPEN, NoDirectory, "missing", true),
    row("a folder with nothing in it", ".", "", OPEN, Empty, "missing", true),
    row("discussed", "C", "", OPEN, Discussed, "missing", true),
    row("researched", "C R", "", OPEN, Researched, "missing", true),
    row("researched without a discussion", "R", "", OPEN, Researched, "missing", true),
    row("planned", "C P1 P2", "", OPEN, Planned, "missing", true),
    row("every plan superseded", "C X1", "", OPEN, Discussed, "missing", true),
    row("half executed", "P1 S1 P2", "", OPEN, Partial, "missing", true),
    row("half executed and called in progress", "P1 S1 P2", "", (" ", "In Progress"), Partial, "missing", true),
    row("executed", "P1 S1", "", OPEN, Executed, "missing", true),
    row("executed beside a superseded plan", "P1 S1 X2", "", OPEN, Executed, "missing", true),
    row("a plan halted", "P1 S1 P2 H2", "", OPEN, Partial, "missing", true),
    row("a plan halted, and verified", "P1 S1 P2 H2", "passed", OPEN, Partial, "passed", true),
    row("a halted plan superseded", "P1 S1 X2 H2", "passed", OPEN, Complete, "passed", true),
    row("closed with a plan halted", "P1 S1 P2 H2", "passed", CLOSED, Complete, "passed", false),
    row("verified", "P1 S1", "passed", OPEN, Complete, "passed", true),
    row("verified in capitals", "P1 S1", "PASSED", OPEN, Complete, "passed", true),
    row("verified with a capital", "P1 S1", "Passed", OPEN, Complete, "passed", true),
    row("verified by an odd word", "P1 S1", "superb", OPEN, Executed, "unknown", true),
    row("verified and then changed", "P1 S1", "~passed", OPEN, Executed, "stale", true),
    row("verified with another fingerprint", "P1 S1", "#passed", OPEN, Executed, "stale", true),
    row("verified before a plan came", "P1 S1 P2", "passed", OPEN, Partial, "passed", true),
    row("gaps found", "P1 S1", "gaps_found", OPEN, Executed, "gaps_found", true),
    row("gaps found, in capitals", "P1 S1", "GAPS_FOUND", OPEN, Executed, "gaps_found", true),
    row("gaps found before a change", "P1 S1", "~gaps_found", OPEN, Executed, "gaps_found", true),
    row("gaps found and planned", "P1 S1 P2", "gaps_found", OPEN, Partial, "gaps_found", true),
    row("a person needed", "P1 S1", "human_needed", OPEN, Executed, "human_needed", true),
    row("a person needed before a change", "P1 S1", "~human_needed", OPEN, Executed, "stale", true),
    row("closed and verified", "P1 S1", "passed", CLOSED, Complete, "passed", false),
    row("closed and stale", "P1 S1", "~passed", CLOSED, Complete, "stale", false),
    row("closed with another fingerprint", "P1 S1", "#passed", CLOSED, Complete, "stale", false),
    row("closed without verification", "P1 S1", "", CLOSED, Complete, "missing", false),
    row("closed with a person needed", "P1 S1", "human_needed", CLOSED, Complete, "human_needed", false),
    row("closed with gaps", "P1 S1", "gaps_found", CLOSED, Complete, "gaps_found", false),
    row("closed with a gap plan open", "P1 S1 P2", "passed", CLOSED, Partial, "passed", true),
    row("closed and stale with a gap plan open", "P1 S1 P2", "~passed", CLOSED, Partial, "stale", true),
    row("closed with a gap plan executed", "P1 S1 P2 S2", "~passed", CLOSED, Complete, "stale", false),
    row("closed before anything was executed", "P1", "", CLOSED, Planned, "missing", true),
    row("closed without a folder", "", "", CLOSED, Complete, "missing", false),
    row("closed with an empty folder", ".", "", CLOSED, Complete, "missing", false),
    row("closed by its box alone", "P1 S1", "", ("x", ""), Complete, "missing", false),
    row("closed by its row alone", "P1 S1", "", ("", "Done"), Complete, "missing", false),
    row("ticked while the row says otherwise", "P1 S1", "", ("x", "In Progress"), Executed, "missing", true),
    row("complete in the row while the box is open", "P1 S1", "", (" ", "Complete"), Executed, "missing", true),
    row("added, with a section alone", "", "", ("", ""), NoDirectory, "missing", true),
    row("added and executed", "P1 S1", "", ("", ""), Executed, "missing", true),
    Row { id: "2.1", folder: "02.1-fix", ..row("a decimal", "P1 S1 P2", "", OPEN, Partial, "missing", true) },
    Row { id: "2.1", folder: "02.1-fix", ..row("a closed decimal", "P1 S1", "", CLOSED, Complete, "missing", false) },
    Row { id: "12A", folder: "12A-letter", ..row("a letter", "P1 S1", "passed", OPEN, Complete, "passed", true) },
    Row { folder: "ACME-01-base", ..row("a project code", "P1 S1", "", OPEN, Executed, "missing", true) },
    Row { folder: "ACME-01-base", ..row("a closed project code", "P1 S1 P2", "", CLOSED, Partial, "missing", true) },
    Row { in_workstream: true, ..row("in a workstream", "P1 S1 P2", "", OPEN, Partial, "missing", true) },
    Row { in_workstream: true, ..row("stale in a workstream", "P1 S1", "~passed", OPEN, Executed, "stale", true) },
    Row { in_workstream: true, ..row("closed in a workstream", "P1 S1", "~passed", CLOSED, Complete, "stale", false) },
    Row { in_workstream: true, ..row("reopened in a workstream", "P1 S1 P2", "", CLOSED, Partial, "missing", true) },
];

/// A phase after the one of the row; no work was done on it.
const LATER: &str = "90";

impl Row {
    fn number(&self) -> String {
        normal(self.id)
    }

    fn has_folder(&self) -> bool {
        !self.files.is_empty()
    }

    fn count(&self, marks: &[char]) -> usize {
        self.files.split(' ').filter(|file| file.len() > 1 && file.starts_with(marks)).count()
    }

    fn plans(&self) -> usize {
        self.count(&['P'])
    }

    fn summaries(&self) -> usize {
        self.count(&['S', 'H'])
    }

    /// Every plan has a summary, and no halted plan counts.
    fn is_executed(&self) -> bool {
        let is_halted = |file: &str| file.starts_with('H') && self.files.contains(&file.replace('H', "P"));
        let halted = self.files.split(' ').filter(|file| is_halted(file)).count();
        self.plans() + self.summaries() > 0 && self.plans() + halted <= self.summaries()
    }

    fn words(&self) -> [&'static str; 6] {
        WORDS.iter().find(|(stage, _)| *stage == self.stage).unwrap().1
    }

    fn is_closed(&self) -> bool {
        let (ticked, status) = self.listed;
        ticked != " " && matches!(status, "" | "Complete" | "Done") && (ticked, status) != ("", "")
    }

    /// The project with the phase of this row and a later one.
    fn project(&self) -> TestContext {
        let context = TestContext::new();
        let scope = if self.in_workstream { ".planning/workstreams/api" } else { ".planning" };
        let (ticked, status) = self.listed;
        let id = self.id;
        let bullet = if ticked.is_empty() { String::new() } else { format!("- [{ticked}] **Phase {id}: Base** - b\n") };
        let line = if status.is_empty() { String::new() } else { format!("| {id}. Base | 0/1 | {status} | - |\n") };
        context.write(".planning/PROJECT.md", "# P\n");
        context.write(
            &format!("{scope}/ROADMAP.md"),
            &format!(
                "# Roadmap\n\n## Phases\n\n{bullet}- [ ] **Phase {LATER}: Later** - l\n\n## Phase Details\n\n\
                 ### Phase {id}: Base\n**Goal**: b\n\n### Phase {LATER}: Later\n**Goal**: l\n\n## Progress\n\n\
                 | Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n{line}\
                 | {LATER}. Later | 0/TBD | Not started | - |\n"
            ),
        );
        context.write(
            &format!("{scope}/STATE.md"),
            &format!(
                "---\ncurrent_phase: {id}\ncurrent_phase_name: Base\nstatus: executing\nprogress:\n  total_phases: 2\n  \
                 completed_phases: 1\n  total_plans: 0\n  completed_plans: 0\n  percent: 50\n---\n\n# Project State\n\n\
                 ## Current Position\n\nPhase: {id} of 2 (Base)\nPlan: 1 of 1\nStatus: Executing Phase {id}\n\
                 Last activity: 2026-01-12 — x\n\nProgress: [░░░░░░░░░░] 0%\n"
            ),
        );
        context.write(".planning/config.json", r#"{"hooks": {"community": true}}"#);
        if self.in_workstream {
            context.write(".planning/active-workstream", "api\n");
        }
        self.fill(&context, &format!("{scope}/phases/{}", self.folder));
        context
    }

    fn fill(&self, context: &TestContext, folder: &str) {
        let token = self.folder.trim_end_matches(|letter: char| letter.is_ascii_lowercase()).trim_end_matches('-');
        let token = token.trim_start_matches("ACME-");
        let old = SystemTime::now() - Duration::from_secs(3600);
        let mut summaries = Vec::new();
        for file in self.files.split(' ').filter(|file| !file.is_empty()) {
            let (kind, number) = file.split_at(1);
            let (name, text) = match kind {
                "." => (".gitkeep".to_owned(), ""),
                "C" => (format!("{token}-CONTEXT.md"), "c\n"),
                "R" => (format!("{token}-RESEARCH.md"), "r\n"),
                "P" => (format!("{token}-0{number}-PLAN.md"), "---\nwave: 1\n---\n"),
                "X" => (format!("{token}-0{number}-PLAN.md"), "---\nstatus: superseded\n---\n"),
                "S" => (format!("{token}-0{number}-SUMMARY.md"), "---\nstatus: complete\n---\n"),
                "H" => (format!("{token}-0{number}-SUMMARY.md"), "---\nstatus: halted\n---\n"),
                other => panic!("`{other}` is no kind of file"),
            };
            let path = format!("{folder}/{name}");
            context.write(&path, text);
            if matches!(kind, "S" | "H") {
                summaries.push(path);
            }
        }
        let status = self.verification.trim_start_matches(['~', '#']);
        if status.is_empty() {
            return;
        }
        let path = format!("{folder}/{token}-VERIFICATION.md");
        let fingerprint = if self.verification.starts_with('#') {
            format!("covered_files:\n  - {}\ncovered_digest: v1:sha256:00\n", summaries.join("\n  - "))
        } else {
            String::new()
        };
        context.write(&path, &format!("---\nstatus: {status}\n{fingerprint}---\n"));
        // The older files were changed an hour before the others.
        let older = if self.verification.starts_with('~') { vec![path] } else { summaries };
        for path in older {
            File::options().write(true).open(context.project().join(path)).unwrap().set_modified(old).unwrap();
        }
    }
}

/// A phase's number without project code and padding.
fn normal(number: &str) -> String {
    let bare = number.rsplit_once("ACME-").map_or(number, |(_, bare)| bare);
    bare.trim_start_matches('0').to_owned()
}

/// The entry for `row` in a list of phases.
fn entry<'a>(phases: &'a Value, row: &Row) -> Option<&'a Value> {
    let of_row = |phase: &&Value| normal(phase["number"].as_str().unwrap()) == row.number();
    phases.as_array().unwrap().iter().find(of_row)
}

/// Compares the answers about one row with its standing.
struct Asked<'row> {
    row: &'row Row,
    context: TestContext,
    /// True if each call has its own process: in one row of ten.
    has_processes: bool,
    faults: Vec<String>,
}

impl Asked<'_> {
    fn ask<const N: usize>(&self, arguments: [&str; N]) -> Value {
        let ran =
            if self.has_processes { self.context.gsd(arguments) } else { self.context.gsd_of_many(&arguments, &[]) };
        ran.json()
    }

    fn hold(&mut self, what: &str, given: impl Into<Value>, wanted: impl Into<Value>) {
        let (given, wanted): (Value, Value) = (given.into(), wanted.into());
        if given != wanted {
            self.faults.push(format!("{}: {what} says {given} instead of {wanted}", self.row.name));
        }
    }

    fn hold_number(&mut self, what: &str, given: &Value, wanted: Option<&str>) {
        let given = given.as_str().map(normal);
        self.hold(what, given, wanted.map(normal));
    }

    /// Compares the current phase, and the next one to plan.
    fn hold_position(&mut self, what: &str, current: &Value, next: &Value) {
        let unplanned = self.row.open && self.row.plans() + self.row.summaries() == 0;
        self.hold_number(
            &format!("{what}, current phase"),
            current,
            Some(if self.row.open { self.row.id } else { LATER }),
        );
        self.hold_number(&format!("{what}, next phase"), next, Some(if unplanned { self.row.id } else { LATER }));
    }

    fn lists(&mut self) {
        let row = self.row;
        let [word, ..] = row.words();
        let waits = row.stage == Executed && row.verified == "human_needed";
        let word = if waits { "Needs Review" } else { word };
        let percent = if row.stage == Complete { 50 } else { 0 };
        let complete = u64::from(row.stage == Complete);
        let progress = self.ask(["progress", "json"]);
        // Progress shows folders, and for an identifier with a letter or a code only the number of its folder.
        let folders = progress["phases"].as_array().unwrap();
        if let Some(told) = folders.first() {
            self.hold("progress", told["status"].clone(), word);
            self.hold("progress, plans", told["plans"].clone(), row.plans());
        }
        self.hold("progress", folders.len(), usize::from(row.has_folder()));
        self.hold("progress", progress["percent"].clone(), percent);
        let bar = self.context.gsd(["progress", "bar", "--raw"]).success();
        self.hold("progress bar", bar.contains(&format!("({percent}%)")), true);
        self.hold("progress bar, cells", bar.chars().filter(|letter| "█░".contains(*letter)).count(), 10);
        let stats = self.ask(["stats", "json"]);
        let told = entry(&stats["phases"], row).unwrap();
        self.hold("stats", told["status"].clone(), if word == "Pending" { "Not Started" } else { word });
        self.hold("stats", stats["percent"].clone(), percent);
        self.hold("stats", stats["phases_completed"].clone(), complete);
        let analysis = self.ask(["roadmap", "analyze"]);
        let told = entry(&analysis["phases"], row).unwrap();
        self.hold("roadmap analyze", told["disk_status"].clone(), row.words()[3]);
        self.hold("roadmap analyze, closed", told["roadmap_complete"].clone(), row.is_closed());
        self.hold("roadmap analyze", analysis["progress_percent"].clone(), percent);
        self.hold("roadmap analyze", analysis["completed_phases"].clone(), complete);
        self.hold_position("roadmap analyze", &analysis["current_phase"], &analysis["next_phase"]);
        let open = analysis["open_phases"].as_array().unwrap().len();
        self.hold("roadmap analyze, open phases", open, 1 + usize::from(row.open));
        let inspected = self.ask(["planning", "inspect"]);
        let told = inspected["phases"].as_array().unwrap().first().cloned();
        if let Some(told) = told {
            self.hold("planning inspect", told["complete"].clone(), row.stage == Complete);
            self.hold("planning inspect", told["verification"]["status"].clone(), row.verified);
        }
        let index = self.ask(["state", "json"]);
        self.hold("state json", index["progress"]["completed_phases"].clone(), complete);
        self.hold("state json", index["progress"]["percent"].clone(), percent);
        if row.in_workstream {
            let stream = self.ask(["workstream", "status", "api"]);
            self.hold("workstream status", stream["phases"][0]["status"].clone(), row.words()[4]);
            self.hold("workstream status", stream["completed_phases"].clone(), complete);
        }
    }

    fn bundles(&mut self) {
        let row = self.row;
        let complete = row.stage == Complete;
        let executed = row.is_executed();
        let stage = if complete {
            "complete"
        } else if executed {
            "executed"
        } else {
            "incomplete"
        };
        let progress = self.ask(["init", "progress"]);
        let told = entry(&progress["phases"], row).unwrap().clone();
        self.hold("init progress", told["status"].clone(), row.words()[1]);
        self.hold("init progress, closed", told["roadmap_complete"].clone(), row.is_closed());
        self.hold("init progress, open", told["open"].clone(), row.open);
        self.hold("init progress", told["completion_status"].clone(), stage);
        self.hold("init progress", told["verification_status"].clone(), row.verified);
        let says_plan = told["verification_next_action"].as_str().unwrap().contains("plan it first");
        let unplanned = row.verified == "missing" && row.plans() + row.summaries() == 0;
        self.hold("init progress, advice to plan", says_plan, unplanned);
        self.hold("init progress", progress["completed_count"].clone(), u64::from(complete));
        let (current, next) = (progress["current_phase"].clone(), progress["next_phase"].clone());
        self.hold_position("init progress", &current["number"], &next["number"]);
        let manager = self.ask(["init", "manager"]);
        let told = entry(&manager["phases"], row).unwrap().clone();
        self.hold("init manager", told["disk_status"].clone(), row.words()[2]);
        self.hold("init manager", told["phase_complete"].clone(), complete);
        self.hold("init manager", manager["completed_count"].clone(), u64::from(complete));
        let milestone = self.ask(["init", "milestone-op"]);
        self.hold("init milestone-op", milestone["completed_phases"].clone(), u64::from(complete));
        let plan = self.ask(["init", "plan-phase", row.id]);
        let waits = row.stage == Executed && row.verified == "human_needed";
        self.hold("init plan-phase", plan["phase_status"].clone(), if waits { "Needs Review" } else { row.words()[0] });
        let verify = self.ask(["init", "verify-work", row.id])["phase_completion"].clone();
        self.hold("init verify-work", verify["completion_status"].clone(), stage);
        self.hold("init verify-work", verify["implementation_complete"].clone(), executed);
        self.hold("init verify-work", verify["verification_status"].clone(), row.verified);
        let execute = self.ask(["init", "execute-phase", row.id]);
        let open = row.plans().saturating_sub(row.summaries());
        self.hold("init execute-phase", execute["incomplete_count"].clone(), open);
        let operation = self.ask(["init", "phase-op", row.id]);
        self.hold("init phase-op", operation["plan_count"].clone(), row.plans());
        let found = self.ask(["find-phase", row.id]);
        self.hold("find-phase", found["found"].clone(), row.has_folder());
        if let Some(folder) = found["directory"].as_str() {
            self.hold("find-phase", found["summary_count"].clone(), row.summaries());
            let status = self.ask(["verification", "status", folder]);
            self.hold("verification status", status["status"].clone(), row.verified);
        }
    }

    fn position(&mut self) {
        let row = self.row;
        let shown = if row.open { row.id } else { LATER };
        let entry = self.ask(["smart-entry", "--json"]);
        let signals = &entry["signals"];
        self.hold("smart-entry", signals["current_phase"].clone(), shown);
        let rows = (!row.open).then_some(1);
        self.hold("smart-entry, closed rows", signals["roadmap_completed_phases"].clone(), rows);
        let to_plan = row.verified == "gaps_found" && row.stage == Executed;
        self.hold("smart-entry, gaps", signals["verify_failed"].clone(), to_plan);
        for action in entry["actions"].as_array().unwrap() {
            let command = action["command"].as_str().unwrap();
            let name = command.strip_prefix("/gsd-").unwrap().split(' ').next().unwrap();
            let is_installed = crate::kit::repository().join(format!("commands/{name}.md")).is_file();
            self.hold(&format!("smart-entry, {command} installed"), is_installed, true);
        }
        let payload = format!(r#"{{"session_id":"s-1","cwd":"{}"}}"#, self.context.project().display());
        let hook = |event: &str| self.context.gsd_with(["hook", "standard", event], &[], &payload).success();
        let (line, note) = (hook("status-line"), hook("session-start"));
        self.hold(&format!("status line ({line})"), line.contains(&format!("Phase {shown} ")), true);
        self.hold(&format!("session start ({note})"), note.contains(&format!("phase {shown}, ")), true);
        let health = self.ask(["validate", "health"]);
        let at_done = health["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "W011");
        self.hold("validate health, position at a finished phase", at_done, !row.open);
        if row.has_folder() {
            let settled = !row.open && row.verified == "stale";
            let allowed = row.verified == "passed" && row.is_executed() || settled;
            let completed = self.context.gsd(["phase", "complete", row.id, "--dry-run"]).code == 0;
            self.hold("phase complete", completed, allowed);
        }
    }

    /// Comes last, since it writes.
    fn mirror(&mut self) {
        let row = self.row;
        self.context.gsd(["phase", "add", "More"]).success();
        let scope = if row.in_workstream { ".planning/workstreams/api" } else { ".planning" };
        let mirror: Value = serde_json::from_str(&self.context.read(&format!("{scope}/state.json"))).unwrap();
        if let Some(told) = entry(&mirror["phases"], row) {
            self.hold("state.json", told["status"].clone(), row.words()[5]);
        }
        self.hold("state.json", entry(&mirror["phases"], row).is_some(), true);
        let command = mirror["next"]["command"].as_str().unwrap().to_owned();
        self.hold("state.json, command", command.starts_with("/gsd-"), true);
        let updated = self.ask(["state", "update-progress"]);
        let analysis = self.ask(["roadmap", "analyze"]);
        self.hold("state update-progress", updated["percent"].clone(), analysis["progress_percent"].clone());
    }
}

#[test]
fn every_verb_gives_the_one_standing_of_a_phase() {
    assert!(ROWS.len() >= 40, "{} standings", ROWS.len());
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((number, row)) = ROWS.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let has_processes = number.is_multiple_of(10);
                    let mut asked = Asked { row, context: row.project(), has_processes, faults: Vec::new() };
                    asked.lists();
                    asked.bundles();
                    asked.position();
                    asked.mirror();
                    faults.lock().unwrap().append(&mut asked.faults);
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} answers of another mind:\n{}", faults.len(), faults.join("\n"));
}
