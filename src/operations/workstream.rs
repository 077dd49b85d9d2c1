//! Workstreams: several lines of work in one project, each with its own roadmap, state and phases.
//!
//! This module works on the whole project. The caller passes the active workstream and stores it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::project::files::FileError;
use crate::project::roadmap::ProgressTableRow as RoadmapRow;
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::state::State;
use crate::project::up_next::{self, is_shipped};
use crate::project::verification;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::markdown::newline_of;
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::{named, slug};

use crate::operations::answers::answer::{answer, facts_of};
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::operations::roadmap::analyze::percent;

/// The documents of a project without workstreams that the first workstream takes over. Debug sessions and quick tasks
/// stay with the project, as in the compatible program.
const OWN_DOCUMENTS: &[&str] = &[
    "ROADMAP.md",
    "STATE.md",
    "REQUIREMENTS.md",
    "MILESTONES.md",
    "STATE-ARCHIVE.md",
    "state.json",
    "WAITING.json",
    "HANDOFF.json",
    "estimation-calibration.json",
    "MILESTONE-CONTEXT.md",
    "RETROSPECTIVE.md",
];

/// The end of the file name of a milestone's audit, which the first workstream takes over too.
const AUDIT: &str = "-MILESTONE-AUDIT.md";

/// Not committed to git: it is the choice of one person, and would change with each switch.
const ACTIVE: &str = "active-workstream";

/// The status of a workstream whose milestone is archived and complete.
const MILESTONE_COMPLETE: &str = "milestone complete";

const PHASES: &str = "phases";

const MILESTONES: &str = "milestones";

/// The prefix of a completed workstream's folder in the milestones folder.
const COMPLETED: &str = "ws-";

/// The default name of the workstream that takes over existing work.
const DEFAULT_NAME: &str = "default";

/// Whether the project is divided into workstreams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Flat,
    Workstream,
}

/// The answer of a command with a row for each workstream.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RowsReport<R> {
    Flat { mode: Mode, workstreams: [(); 0], message: &'static str },
    Rows { mode: Mode, workstreams: Vec<R>, count: usize },
    RowsAndActive { mode: Mode, active: Option<String>, workstreams: Vec<R>, count: usize },
}

impl<R> RowsReport<R> {
    fn flat() -> Self {
        let message = "This project has no workstreams";
        Self::Flat { mode: Mode::Flat, workstreams: [], message }
    }
}

facts_of! { |stream: Workstream|
    /// The name of the workstream.
    name: String = stream.name.clone();
    /// Its folder.
    path: String = stream.view.layout().scope();
    /// What STATE.md says that its status is.
    status: String = stream.state.status.clone();
    /// The roadmap calls its milestone shipped, and not all of its phases are complete.
    milestone_shipped_unverified: bool = stream.closed.shipped_unverified;
    /// The phase that the work is at.
    current_phase: Option<String> = stream.state.current_phase.clone();
    /// How many phases there are: those with a folder; where all of them are in the archive, those of the milestone.
    phase_count: usize = if stream.phases.is_empty() { stream.closed.total } else { stream.phases.len() };
    /// How many phases of the milestone are complete.
    completed_phases: usize = stream.closed.done;
}

answer! {
    /// A row of `workstream list`.
    pub(crate) struct ListRow |stream: Workstream| with self(stream) {
        name, path,
        has_roadmap: bool = stream.has("ROADMAP.md"),
        has_state: bool = stream.has("STATE.md"),
        status, milestone_shipped_unverified, current_phase, phase_count, completed_phases,
    }
}

impl RowsReport<ListRow> {
    /// The workstreams for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let (Self::Rows { workstreams, .. } | Self::RowsAndActive { workstreams, .. }) = self else {
            return "This project has no workstreams\n".to_owned();
        };
        let row = |row: &ListRow| {
            let phases = format!("{}/{} phases", row.completed_phases, row.phase_count);
            vec![
                Cell::new(Tone::Strong, row.name.as_str()),
                Cell::from(phases),
                Cell::new(Tone::Faint, row.status.as_str()),
            ]
        };
        screen.table("", &workstreams.iter().map(row).collect::<Vec<_>>())
    }
}

answer! {
    /// A row of `workstream progress`.
    pub(crate) struct ProgressRow |stream: Workstream| with self(stream) {
        name,
        active: bool = stream.is_active,
        status, milestone_shipped_unverified, current_phase,
        phases: String = format!("{}/{}", stream.closed.done, stream.closed.total),
        plans: String = format!("{}/{}", stream.summaries, stream.plans),
        progress_percent: usize = percent(stream.closed.done, stream.closed.total),
    }
}

/// What `workstream status` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WorkstreamStatusReport {
    Found(Box<StatusFound>),
    Absent { found: bool, workstream: String },
}

answer! {
    /// One workstream in detail.
    pub(crate) struct StatusFound |stream: Workstream| with self(stream) {
        found: bool = true,
        workstream = name, path,
        files: DocumentsThere = DocumentsThere::of(stream),
        phases: Vec<PhaseRow> = stream.phases.iter().map(PhaseRow::of).collect(),
        phase_count, completed_phases, status, milestone_shipped_unverified, current_phase,
        last_activity: Option<String> = stream.state.last_activity.clone(),
    }
}

answer! {
    pub(crate) struct DocumentsThere |stream: Workstream| {
        roadmap: bool = stream.has("ROADMAP.md"),
        state: bool = stream.has("STATE.md"),
        requirements: bool = stream.has("REQUIREMENTS.md"),
    }
}

answer! {
    /// A folder of phases.
    pub(crate) struct PhaseRow |phase: PhaseFacts| with listed(phase) {
        directory = name,
        status: &'static str = match phase.stage() {
            Stage::Complete => "complete",
            Stage::Executed | Stage::Partial | Stage::Planned => "in_progress",
            Stage::Researched | Stage::Discussed | Stage::Empty | Stage::NoDirectory => "pending",
        },
        plan_count, summary_count,
    }
}

/// The mode of the project: it is divided if it has a folder of workstreams, even an empty one.
pub(crate) fn mode(view: &ProjectView) -> Mode {
    if view.folder_exists(&view.layout().workstreams()) { Mode::Workstream } else { Mode::Flat }
}

/// The names of the workstreams, the active one first, then sorted.
fn in_order(view: &ProjectView, active: Option<&str>) -> Result<Vec<String>, FileError> {
    let mut names = names(view)?;
    // The sort is stable: equal names keep their order.
    names.sort_by_key(|name| active != Some(name.as_str()));
    Ok(names)
}

/// The names of the workstreams, sorted.
pub(crate) fn names(view: &ProjectView) -> Result<Vec<String>, FileError> {
    view.folder_names(&view.layout().workstreams())
}

/// Lists all workstreams, a row for each.
pub(crate) fn list(view: &ProjectView, active: Option<&str>) -> Result<RowsReport<ListRow>, FileError> {
    if mode(view) == Mode::Flat {
        return Ok(RowsReport::flat());
    }
    let workstreams = rows(view, active, ListRow::of)?;
    Ok(RowsReport::Rows { mode: Mode::Workstream, count: workstreams.len(), workstreams })
}

/// Reports the progress of all workstreams.
pub(crate) fn progress(view: &ProjectView, active: Option<&str>) -> Result<RowsReport<ProgressRow>, FileError> {
    if mode(view) == Mode::Flat {
        return Ok(RowsReport::flat());
    }
    let workstreams = rows(view, active, ProgressRow::of)?;
    let (mode, active) = (Mode::Workstream, active.map(str::to_owned));
    Ok(RowsReport::RowsAndActive { mode, active, count: workstreams.len(), workstreams })
}

/// Reports one workstream in detail.
pub(crate) fn status(view: &ProjectView, name: &str) -> Result<WorkstreamStatusReport, FileError> {
    if !is_there(view, name)? {
        return Ok(WorkstreamStatusReport::Absent { found: false, workstream: name.to_owned() });
    }
    Ok(WorkstreamStatusReport::Found(Box::new(StatusFound::of(&Workstream::read(view, name, false)?))))
}

/// A row for each workstream.
fn rows<R>(view: &ProjectView, active: Option<&str>, row: impl Fn(&Workstream) -> R) -> Result<Vec<R>, FileError> {
    let read = |name: String| Ok(row(&Workstream::read(view, &name, active == Some(name.as_str()))?));
    in_order(view, active)?.into_iter().map(read).collect()
}

pub(crate) fn is_there(view: &ProjectView, name: &str) -> Result<bool, FileError> {
    Ok(names(view)?.iter().any(|known| known == name))
}

/// A workstream, as read from its documents.
#[derive(Debug)]
pub(crate) struct Workstream {
    name: String,
    is_active: bool,
    view: ProjectView,
    state: StateWords,
    /// Those with a folder, which is their name here.
    phases: Vec<PhaseFacts>,
    /// The number of plans and summaries in the phases of the milestone.
    plans: usize,
    summaries: usize,
    closed: Closed,
}

impl Workstream {
    fn read(project: &ProjectView, name: &str, is_active: bool) -> Result<Self, FileError> {
        let view = project.scoped(Some(name));
        let mut phases = Vec::new();
        let folders = view.phase_folders()?;
        verification::look_ahead(&view, folders.iter())?;
        for folder in folders.iter() {
            let standing = PhaseStanding::of_folder(&view, folder)?;
            phases.push(PhaseFacts::new(folder.token(), folder.name.as_str(), standing));
        }
        let of_milestone = view.milestone_folders()?;
        let counted = || phases.iter().filter(|phase| of_milestone.iter().any(|folder| folder.name == phase.name));
        let done = counted().filter(|phase| phase.standing.is_complete()).count();
        let plans = counted().map(|phase| phase.standing.work.plans.len()).sum();
        let summaries = counted().map(|phase| phase.standing.work.summaries).sum();
        let named = view.milestone()?.phase_ids(view.roadmap_or_empty()?).len();
        let total = if named == 0 { of_milestone.len() } else { named };
        let shipped_unverified = is_shipped(&view)? && done < total;
        let mut state = StateWords::of(view.state()?);
        state.current_phase = up_next::current_phase(&view)?;
        let mut closed = Closed { total, done, shipped_unverified };
        // For a milestone in the workstream's own archive, only the table in its roadmap is left.
        if let Some(roadmap) = view.roadmap()?
            && is_archived(&view)?
        {
            let rows: Vec<bool> = roadmap.rows().iter().filter(|row| row.reports).map(is_complete).collect();
            let complete = rows.iter().filter(|complete| **complete).count();
            if !rows.is_empty() && complete == rows.len() {
                MILESTONE_COMPLETE.clone_into(&mut state.status);
                closed = Closed { total: rows.len(), done: complete, shipped_unverified: false };
            } else if !rows.is_empty() {
                closed.shipped_unverified = true;
            }
        }
        Ok(Self { name: name.to_owned(), is_active, state, phases, plans, summaries, closed, view })
    }

    fn has(&self, document: &str) -> bool {
        self.view.exists(&format!("{}/{document}", self.view.layout().scope()))
    }
}

/// The progress of a milestone.
#[derive(Debug)]
struct Closed {
    /// Its phases, and those of them that are verified.
    total: usize,
    done: usize,
    shipped_unverified: bool,
}

/// True if the roadmap of the milestone in STATE.md, from its index or its body, is in the workstream's own archive.
fn is_archived(view: &ProjectView) -> Result<bool, FileError> {
    let of_body = |state: &State<'_>| Some(state.value("Milestone")?.split_whitespace().next()?.to_owned());
    let version = view.state_version()?.or(view.state()?.and_then(of_body));
    let path = |version| format!("{}/{version}-ROADMAP.md", view.layout().milestones_folder());
    Ok(version.is_some_and(|version| view.exists(&path(version))))
}

fn is_complete(row: &RoadmapRow<'_>) -> bool {
    row.cell("status").is_some_and(|status| status.to_lowercase().starts_with("complete"))
}

/// The fields of STATE.md for a workstream, from its index first, then its body.
#[derive(Debug)]
struct StateWords {
    status: String,
    current_phase: Option<String>,
    last_activity: Option<String>,
}

impl StateWords {
    fn of(state: Option<&State<'_>>) -> Self {
        let word = |key: &str, label: &str| {
            let state = state?;
            let written = state.front_text(key).or_else(|| state.value(label).map(str::to_owned))?;
            Some(written.trim().to_owned()).filter(|word| !word.is_empty())
        };
        Self {
            status: word("status", "Status").unwrap_or_else(|| "unknown".to_owned()),
            current_phase: None,
            last_activity: word("last_activity", "Last Activity"),
        }
    }
}

/// What `workstream create` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum CreateReport {
    Created {
        created: bool,
        workstream: String,
        path: String,
        state_path: String,
        phases_path: String,
        migration: Option<Migration>,
        active: bool,
    },
    Refused {
        created: bool,
        error: &'static str,
        workstream: String,
        path: String,
    },
}

/// The documents of an undivided project that now belong to a workstream.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Migration {
    migrated: bool,
    workstream: String,
    files_moved: Vec<String>,
}

/// The options of `workstream create`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreateRequest<'text> {
    pub(crate) name: &'text str,
    /// The name of the workstream that takes over existing work.
    pub(crate) migrate_name: Option<&'text str>,
    /// Leaves existing work where it is.
    pub(crate) no_migration: bool,
    pub(crate) today: &'text str,
}

/// The name of the workstream for work done without workstreams: that of its milestone, if it has its own name.
fn heir_of_milestone(view: &ProjectView, other_than: &str) -> Result<String, FileError> {
    let milestone = view.milestone()?.name.as_deref().map(slug);
    let own = milestone.filter(|name| !name.is_empty() && name != other_than);
    Ok(own.unwrap_or_else(|| DEFAULT_NAME.to_owned()))
}

/// Creates a workstream. For the first one in a project with existing work, also creates a second one that takes over
/// that work.
pub(crate) fn create(view: &ProjectView, request: CreateRequest<'_>) -> Edited<CreateReport, Failure> {
    let named = |typed: &str| {
        let name = slug(&named(typed)?);
        Some(name).filter(|name| !name.is_empty()).ok_or_else(|| {
            Failure::unknown(format!("`{typed}` has no letter or digit to name a workstream by"))
                .hint("name it with letters or digits, such as `billing`")
        })
    };
    let name = named(request.name)?;
    let layout = view.layout().scoped(Some(&name));
    let path = layout.scope();
    let mut edits = Edits::default();
    if is_there(view, &name)? {
        let error = "already_exists";
        return Ok((CreateReport::Refused { created: false, error, workstream: name, path }, edits));
    }
    let mut migration = None;
    if mode(view) == Mode::Flat && !request.no_migration {
        let heir = match request.migrate_name {
            Some(chosen) => named(chosen)?,
            None => heir_of_milestone(view, &name)?,
        };
        migration = migrate(view, heir, &mut edits)?;
        if migration.as_ref().is_some_and(|migration| migration.workstream == name) {
            let message = format!("`{name}` cannot be both the new workstream and the one for the existing documents");
            return Err(Failure::unknown(message).hint("`gsd-tools workstream create --help` shows an example"));
        }
    }
    let (state_path, phases_path) = (layout.state(), layout.phases());
    edits.texts.insert(state_path.clone(), first_state(&name, request.today));
    edits.bare_folders.push(phases_path.clone());
    ignore_active(view, &mut edits)?;
    let report = CreateReport::Created {
        created: true,
        workstream: name,
        path,
        state_path,
        phases_path,
        migration,
        active: true,
    };
    Ok((report, edits))
}

/// Makes git ignore the file with the active workstream.
fn ignore_active(view: &ProjectView, edits: &mut Edits) -> Result<(), FileError> {
    let path = format!("{}/.gitignore", view.layout().planning());
    let text = view.text(&path)?.unwrap_or_default();
    if text.lines().any(|line| line.trim().trim_start_matches('/') == ACTIVE) {
        return Ok(());
    }
    let newline = newline_of(&text);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    edits.write(view, &path, format!("{text}{end}/{ACTIVE}{newline}"))
}

/// Moves the documents of an undivided project to the workstream `heir`; `None` if it has no documents.
fn migrate(view: &ProjectView, heir: String, edits: &mut Edits) -> Result<Option<Migration>, FileError> {
    let old = view.layout().scoped(None).scope();
    let new = view.layout().scoped(Some(&heir)).scope();
    let mut files_moved: Vec<String> = Vec::new();
    for document in OWN_DOCUMENTS.iter().filter(|document| view.exists(&format!("{old}/{document}"))) {
        edits.moves.insert(format!("{new}/{document}"), format!("{old}/{document}"));
        files_moved.push((*document).to_owned());
    }
    let audits: Vec<String> = view.file_names(&old)?.into_iter().filter(|name| name.ends_with(AUDIT)).collect();
    for audit in audits {
        edits.moves.insert(format!("{new}/{audit}"), format!("{old}/{audit}"));
        files_moved.push(audit);
    }
    if view.folder_exists(&format!("{old}/{PHASES}")) {
        edits.move_folder(view, &format!("{old}/{PHASES}"), &format!("{new}/{PHASES}"))?;
        files_moved.push(PHASES.to_owned());
    }
    if move_milestones(view, &old, &new, edits)? {
        files_moved.push(MILESTONES.to_owned());
    }
    let migrated = !files_moved.is_empty();
    Ok(migrated.then_some(Migration { migrated, workstream: heir, files_moved }))
}

/// Moves the archive of milestones. Archives of workstreams completed earlier stay there.
fn move_milestones(view: &ProjectView, old: &str, new: &str, edits: &mut Edits) -> Result<bool, FileError> {
    let (old, new) = (format!("{old}/{MILESTONES}"), format!("{new}/{MILESTONES}"));
    let folders = view.folder_names(&old)?;
    let (stays, goes): (Vec<_>, Vec<_>) = folders.into_iter().partition(|folder| folder.starts_with(COMPLETED));
    let files = view.file_names(&old)?;
    if stays.is_empty() && view.folder_exists(&old) {
        edits.move_folder(view, &old, &new)?;
        return Ok(true);
    }
    for file in &files {
        edits.moves.insert(format!("{new}/{file}"), format!("{old}/{file}"));
    }
    for folder in &goes {
        edits.move_folder(view, &format!("{old}/{folder}"), &format!("{new}/{folder}"))?;
    }
    Ok(!files.is_empty() || !goes.is_empty())
}

fn first_state(name: &str, today: &str) -> String {
    format!(
        "---\nworkstream: {name}\ncreated: {today}\n---\n\n# Project State\n\n## Current Position\n\n\
         **Status:** Not started\n**Current Phase:** None\n**Last Activity:** {today}\n\
         **Last Activity Description:** Workstream created\n\n## Progress\n\n**Phases Complete:** 0\n\
         **Current Plan:** N/A\n\n## Session Continuity\n\n**Stopped At:** N/A\n**Resume File:** None\n"
    )
}

/// What `workstream complete` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WorkstreamCompleteReport {
    Completed {
        completed: bool,
        workstream: String,
        archived_to: String,
        remaining_workstreams: usize,
        reverted_to_flat: bool,
    },
    Absent {
        completed: bool,
        error: &'static str,
        workstream: String,
    },
}

/// Archives a workstream in the milestones folder, unchanged. With the last one, the division of the project ends.
pub(crate) fn complete(view: &ProjectView, name: &str, today: &str) -> Edited<WorkstreamCompleteReport> {
    let mut edits = Edits::default();
    let workstream = name.to_owned();
    if !is_there(view, name)? {
        return Ok((WorkstreamCompleteReport::Absent { completed: false, error: "not_found", workstream }, edits));
    }
    let milestones = view.layout().scoped(None).milestones_folder();
    let taken = view.folder_names(&milestones)?;
    let archive = format!("{COMPLETED}{name}-{today}");
    let numbered = || (1..=taken.len()).map(|number| format!("{archive}-{number}"));
    let free = std::iter::once(archive.clone()).chain(numbered()).find(|name| !taken.contains(name));
    let archived_to = format!("{milestones}/{}", free.unwrap_or(archive));
    edits.move_folder(view, &view.layout().scoped(Some(name)).scope(), &archived_to)?;
    let remaining_workstreams = names(view)?.len() - 1;
    let reverted_to_flat = remaining_workstreams == 0 && view.file_names(&view.layout().workstreams())?.is_empty();
    if reverted_to_flat {
        edits.emptied.push(view.layout().workstreams());
    }
    let report = WorkstreamCompleteReport::Completed {
        completed: true,
        workstream,
        archived_to,
        remaining_workstreams,
        reverted_to_flat,
    };
    Ok((report, edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: &str = "2026-01-12";

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    fn json(report: &impl Serialize) -> serde_json::Value {
        serde_json::to_value(report).unwrap()
    }

    fn request(name: &str) -> CreateRequest<'_> {
        CreateRequest { name, migrate_name: None, no_migration: false, today: TODAY }
    }

    #[test]
    fn the_first_workstream_moves_existing_work_to_another() {
        let view = view(&[
            (".planning/PROJECT.md", ""),
            (".planning/STATE.md", "s"),
            (".planning/phases/01-a/01-01-PLAN.md", "p"),
        ]);
        let (report, edits) = create(&view, request("Web App")).unwrap();
        let report = json(&report);
        assert_eq!(report["workstream"], "web-app");
        assert_eq!(report["migration"]["files_moved"], serde_json::json!(["STATE.md", "phases"]));
        let after = view.after(&edits);
        assert_eq!(after.text(".planning/workstreams/default/STATE.md").unwrap().as_deref(), Some("s"));
        assert!(after.exists(".planning/workstreams/default/phases/01-a/01-01-PLAN.md"));
        assert_eq!(after.text(".planning/.gitignore").unwrap().as_deref(), Some("/active-workstream\n"));
        assert!(!after.exists(".planning/STATE.md") && after.exists(".planning/PROJECT.md"));
        assert!(after.folder_exists(".planning/workstreams/web-app/phases"));
        let state = after.text(".planning/workstreams/web-app/STATE.md").unwrap().unwrap();
        assert_eq!(State::parse(&state).value("Status"), Some("Not started"));
    }

    #[test]
    fn documents_of_existing_work_move_with_it_and_archived_workstreams_stay() {
        let files = [
            ".planning/ROADMAP.md",
            ".planning/state.json",
            ".planning/MILESTONES.md",
            ".planning/v1.0-MILESTONE-AUDIT.md",
            ".planning/milestones/v1.0-ROADMAP.md",
            ".planning/milestones/v1.0-phases/01-a/01-01-PLAN.md",
        ];
        let of = |more: &[(&'static str, &'static str)]| view(&[&files.map(|file| (file, "x"))[..], more].concat());
        let project = of(&[(".planning/.gitignore", "*.tmp")]);
        let (report, edits) = create(&project, request("web")).unwrap();
        let moved = ["ROADMAP.md", "MILESTONES.md", "state.json", "v1.0-MILESTONE-AUDIT.md", "milestones"];
        assert_eq!(json(&report)["migration"]["files_moved"], serde_json::json!(moved));
        let after = project.after(&edits);
        for file in files {
            assert!(!after.exists(file), "{file}");
            assert!(after.exists(&file.replace(".planning/", ".planning/workstreams/default/")), "{file}");
        }
        assert_eq!(after.text(".planning/.gitignore").unwrap().as_deref(), Some("*.tmp\n/active-workstream\n"));
        let project = of(&[
            (".planning/milestones/ws-old-2026-01-01/STATE.md", "x"),
            (".planning/.gitignore", "active-workstream\n"),
        ]);
        let (_, edits) = create(&project, request("web")).unwrap();
        let after = project.after(&edits);
        assert!(after.exists(".planning/milestones/ws-old-2026-01-01/STATE.md"));
        assert!(after.exists(".planning/workstreams/default/milestones/v1.0-phases/01-a/01-01-PLAN.md"));
        assert!(!edits.texts.contains_key(".planning/.gitignore"));
    }

    #[test]
    fn moved_work_is_named_after_its_milestone() {
        let roadmap = "- 🚧 **v1.1 Sync** - Phase 3 (in progress)\n\n### 🚧 v1.1 Sync\n\n#### Phase 3: A\n";
        let flat = view(&[(".planning/ROADMAP.md", roadmap), (".planning/STATE.md", "---\nmilestone: v1.1\n---\n")]);
        let heir = |name: &str| {
            json(&create(&flat, request(name)).unwrap().0)["migration"]["workstream"].as_str().unwrap().to_owned()
        };
        assert_eq!(heir("api"), "sync");
        assert_eq!(heir("sync"), "default");
    }

    #[test]
    fn work_stays_in_place_on_request_or_if_the_project_is_already_divided() {
        let flat = view(&[(".planning/STATE.md", "s")]);
        let (_, edits) = create(&flat, CreateRequest { no_migration: true, ..request("api") }).unwrap();
        assert!(edits.moves.is_empty());
        let divided = view(&[(".planning/STATE.md", "s"), (".planning/workstreams/web/STATE.md", "")]);
        let (_, edits) = create(&divided, request("api")).unwrap();
        assert!(edits.moves.is_empty());
        let (report, edits) = create(&divided, request("../WEB")).unwrap();
        assert_eq!(json(&report)["error"], "already_exists");
        assert!(edits.is_empty());
    }

    #[test]
    fn a_name_needs_a_letter_or_digit_and_must_differ_from_the_heir() {
        let view = view(&[(".planning/STATE.md", "s")]);
        let refused = |name| create(&view, request(name)).unwrap_err().message;
        assert!(refused("../..").contains("has no letter or digit"));
        assert!(refused("Default").contains("cannot be both the new workstream"));
    }

    #[test]
    fn a_completed_workstream_is_kept_under_a_free_name() {
        let view = view(&[
            (".planning/workstreams/api/phases/01-a/x.bin", "\u{1}"),
            (".planning/workstreams/web/STATE.md", ""),
            (".planning/milestones/ws-api-2026-01-12/STATE.md", "earlier"),
        ]);
        let (report, edits) = complete(&view, "api", TODAY).unwrap();
        let report = json(&report);
        assert_eq!(report["archived_to"], ".planning/milestones/ws-api-2026-01-12-1");
        assert_eq!((&report["remaining_workstreams"], &report["reverted_to_flat"]), (&1.into(), &false.into()));
        let after = view.after(&edits);
        assert!(after.exists(".planning/milestones/ws-api-2026-01-12-1/phases/01-a/x.bin"));
        assert_eq!(names(&after).unwrap(), ["web"]);
        let (report, edits) = complete(&after, "web", TODAY).unwrap();
        assert_eq!(json(&report)["reverted_to_flat"], true);
        assert_eq!(mode(&after.after(&edits)), Mode::Flat);
        assert!(complete(&view, "none", TODAY).unwrap().1.is_empty());
    }

    const ROADMAP: &str =
        "# Roadmap\n\n## v1.0 One\n\n### Phase 1: A\n\n### Phase 2: B\n\n## v2.0 Two\n\n### Phase 3: C\n";
    const STATE: &str =
        "---\nmilestone: v1.0\nstatus: executing\n---\n\n**Current Phase:** 2\n\nLast activity: today\n";

    fn divided(roadmap: &str) -> ProjectView {
        view(&[
            (".planning/workstreams/api/ROADMAP.md", roadmap),
            (".planning/workstreams/api/STATE.md", STATE),
            (".planning/workstreams/api/phases/01-a/01-01-PLAN.md", ""),
            (".planning/workstreams/api/phases/01-a/01-01-SUMMARY.md", ""),
            (".planning/workstreams/api/phases/01-a/01-VERIFICATION.md", "---\nstatus: passed\n---\n"),
            (".planning/workstreams/api/phases/02-b/02-01-PLAN.md", ""),
            (".planning/workstreams/api/phases/03-c/03-01-PLAN.md", ""),
            (".planning/workstreams/web/STATE.md", ""),
        ])
    }

    #[test]
    fn progress_counts_the_phases_of_the_milestone() {
        let rows = json(&progress(&divided(ROADMAP), Some("api")).unwrap());
        let api = &rows["workstreams"][0];
        assert_eq!((&api["phases"], &api["plans"]), (&"1/2".into(), &"1/2".into()));
        assert_eq!((&api["progress_percent"], &api["active"]), (&50.into(), &true.into()));
        assert_eq!(rows["workstreams"][1]["status"], "unknown");
        let near = json(&status(&divided(ROADMAP), "api").unwrap());
        assert_eq!((&near["phase_count"], &near["completed_phases"]), (&3.into(), &1.into()));
        assert_eq!((&near["current_phase"], &near["last_activity"]), (&"2".into(), &"today".into()));
        assert_eq!(near["phases"][1]["status"], "in_progress");
        assert_eq!(json(&status(&divided(ROADMAP), "none").unwrap())["found"], false);
    }

    #[test]
    fn a_milestone_shipped_with_open_phases_is_reported() {
        let shipped = |roadmap: &str| {
            let rows = json(&list(&divided(roadmap), None).unwrap());
            rows["workstreams"][0]["milestone_shipped_unverified"].as_bool().unwrap()
        };
        assert!(!shipped(ROADMAP));
        assert!(shipped(&ROADMAP.replace("## v1.0 One", "## ✅ v1.0 One (SHIPPED 2026-01-01)")));
    }
}
