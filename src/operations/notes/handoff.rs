//! Paused work: `.continue-here.md`, written by a session for the next one, and HANDOFF.json, the same for programs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::failure::Failure;
use crate::operations::documents::frontmatter::{self, FieldChange};
use crate::operations::hints::CORRECT_LINE;
use crate::project::files::FileError;
use crate::project::folder::{canonical_id, plan_id};
use crate::project::pause::RESUMED;
use crate::project::plan::{PhasePlan, PlanTask};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};

const VERSION: &str = "1.0";
/// The kind of paused work, if it was on a phase.
const PHASE: &str = "phase";
/// The status of paused work.
const PAUSED: &str = "paused";
/// The blocks that are required to continue the work.
const REQUIRED: &[&str] = &["current_state", "remaining_work", "next_action"];

/// Facts from git and the clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) now: String,
    /// The commit that is checked out.
    pub(crate) head: Option<String>,
    pub(crate) uncommitted: Vec<String>,
}

/// The contents of HANDOFF.json.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Handoff {
    version: &'static str,
    timestamp: String,
    phase: Option<String>,
    phase_name: Option<String>,
    phase_dir: Option<String>,
    /// The first plan of the phase that is not done.
    plan: Option<String>,
    /// The task at which the work was paused.
    task: Option<u64>,
    total_tasks: Option<usize>,
    status: &'static str,
    completed_tasks: Vec<String>,
    remaining_tasks: Vec<String>,
    blockers: Vec<String>,
    human_actions_pending: Vec<String>,
    async_jobs: Vec<String>,
    decisions: Vec<String>,
    uncommitted_files: Vec<String>,
    next_action: String,
    context_notes: String,
    /// The commit that was checked out.
    head: Option<String>,
    continue_file: String,
}

/// What `handoff write` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WriteReport {
    written: bool,
    path: String,
    #[serde(flatten)]
    handoff: Handoff,
}

/// The hint if the file for a handoff is missing.
const WRITE_FIRST: &str =
    "write it first, in the folder of the phase; `gsd-tools handoff write --help` shows an example";

fn applied(path: &str, text: &str, changes: &[FieldChange]) -> Result<String, Failure> {
    frontmatter::applied(path, text, changes).map_err(|failure| failure.hint(CORRECT_LINE))
}

/// Updates the front matter of a `.continue-here.md`, and writes HANDOFF.json from its blocks.
pub(crate) fn write(view: &ProjectView, source: &str, measured: Measured) -> Edited<WriteReport, Failure> {
    let layout = view.layout();
    let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
    let inside = folder == layout.planning() || folder.starts_with(&format!("{}/", layout.planning()));
    if !inside || !is_continue_file(name) {
        let message = format!("`{source}` is not named `.continue-here*.md`, or is outside the planning folder");
        return Err(Failure::unknown(message).hint(WRITE_FIRST));
    }
    let text = view.text(source)?;
    let text = text.ok_or_else(|| Failure::unknown(format!("`{source}` does not exist")).hint(WRITE_FIRST))?;
    let front = FrontMatter::parse(&text);
    let blocks = Blocks(PlanTask::whole(front.as_ref().map_or(&*text, FrontMatter::body)));
    if let Some(block) = REQUIRED.iter().find(|block| blocks.text(block).is_none()) {
        return Err(Failure::unknown(format!("`{source}` has nothing in `<{block}>`"))
            .hint("fill the block in; nothing was written"));
    }
    let stated = |key: &str| front.as_ref().and_then(|front| front.text(key));
    let mut place = PhaseInWork::of(view, folder)?;
    if place.phase.is_none() && folder == layout.scope() && stated("context").as_deref() == Some(PHASE) {
        place = PhaseInWork::without_folder(view, stated("phase"))?;
    }
    let handoff = Handoff {
        version: VERSION,
        timestamp: measured.now,
        phase: place.phase,
        phase_name: place.name,
        phase_dir: place.folder,
        plan: place.plan,
        task: stated("task").and_then(|task| task.trim().parse().ok()),
        total_tasks: place.total_tasks,
        status: PAUSED,
        completed_tasks: blocks.items("completed_work"),
        remaining_tasks: blocks.items("remaining_work"),
        blockers: blocks.items("blockers"),
        human_actions_pending: blocks.items("human_actions"),
        async_jobs: blocks.items("async_jobs"),
        decisions: blocks.items("decisions_made"),
        uncommitted_files: measured.uncommitted,
        next_action: blocks.text("next_action").unwrap_or_default().to_owned(),
        context_notes: blocks.text("context").unwrap_or_default().to_owned(),
        head: measured.head,
        continue_file: source.to_owned(),
    };
    let fields = [
        ("phase", handoff.phase.clone()),
        ("plan", handoff.plan.clone()),
        ("total_tasks", handoff.total_tasks.map(|count| count.to_string())),
        ("status", Some(PAUSED.to_owned())),
        ("last_updated", Some(handoff.timestamp.clone())),
    ];
    let change =
        |(key, value): (&str, Option<String>)| FieldChange { key: key.to_owned(), value: value.map(Value::Text) };
    let marked = applied(source, &text, &fields.map(change))?;
    let path = layout.handoff();
    let mut edits = Edits::default();
    edits.write(view, source, marked)?;
    if let Ok(json) = serde_json::to_string_pretty(&handoff) {
        edits.write(view, &path, json + "\n")?;
    }
    Ok((WriteReport { written: true, path, handoff }, edits))
}

/// The phase whose folder has the file, with its next plan.
#[derive(Debug, Default)]
struct PhaseInWork {
    phase: Option<String>,
    name: Option<String>,
    folder: Option<String>,
    plan: Option<String>,
    total_tasks: Option<usize>,
}

impl PhaseInWork {
    fn of(view: &ProjectView, folder: &str) -> Result<Self, FileError> {
        let folders = view.phase_folders()?;
        let Some(folder) = folders.iter().find(|phase| phase.path == folder) else { return Ok(Self::default()) };
        let label = view.label(folder.token())?;
        let open = view.open_plans(folder)?.into_iter().next();
        let text = open.as_ref().map(|plan| view.text(&folder.join(plan))).transpose()?.flatten();
        Ok(Self {
            phase: Some(label.number),
            name: label.name,
            folder: Some(folder.path.clone()),
            plan: open.as_deref().map(|plan| canonical_id(plan_id(plan)).to_owned()),
            total_tasks: text.map(|text| PhasePlan::parse(&text).task_count()),
        })
    }
}

impl PhaseInWork {
    /// A phase without a folder: the one named in the file, else the current one in STATE.md.
    fn without_folder(view: &ProjectView, stated: Option<String>) -> Result<Self, FileError> {
        let at_work = view.state()?.and_then(|state| state.position().phase).map(str::to_owned);
        let Some(phase) = stated.or(at_work) else { return Ok(Self::default()) };
        let label = view.label(&phase)?;
        Ok(Self { phase: Some(label.number), name: label.name, ..Self::default() })
    }
}

/// The tagged blocks of a `.continue-here.md`.
struct Blocks<'text>(PlanTask<'text>);

impl<'text> Blocks<'text> {
    /// The text of a block; `None` if it is empty or says that there is nothing.
    fn text(&self, tag: &'text str) -> Option<&'text str> {
        self.0.text(tag).filter(|text| !says_nothing(text))
    }

    /// The list items in a block; for a text without a list, the text itself.
    fn items(&self, tag: &'text str) -> Vec<String> {
        let Some(text) = self.text(tag) else { return Vec::new() };
        let mut items: Vec<String> = Vec::new();
        for line in text.lines() {
            let bare = line.trim();
            match (item(line), items.last_mut()) {
                (Some(item), _) => items.push(item.to_owned()),
                (None, _) if bare.is_empty() => {}
                (None, Some(last)) => {
                    last.push(' ');
                    last.push_str(bare);
                }
                (None, None) => items.push(bare.to_owned()),
            }
        }
        items.retain(|item| !says_nothing(item));
        items
    }
}

fn says_nothing(text: &str) -> bool {
    matches!(text.trim().trim_end_matches('.').to_lowercase().as_str(), "" | "none" | "-")
}

/// `x` in `- x`, `* x` and `1. x` at the start of a line.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let numbered = || line.trim_start_matches(|letter: char| letter.is_ascii_digit()).strip_prefix(". ");
    let item = bullet.or_else(|| numbered().filter(|_| line.starts_with(|first: char| first.is_ascii_digit())))?;
    Some(item.trim())
}

/// What `handoff read` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadReport {
    /// True if there is paused work.
    found: bool,
    /// The path of HANDOFF.json, if it exists.
    path: Option<String>,
    /// Its content; null if it does not parse.
    handoff: Option<Json>,
    /// The files with the next action and the anti-patterns, the most recently changed first.
    continue_files: Vec<ContinueFile>,
    /// The number of commits since then.
    commits_since: Option<u64>,
    /// The files that are uncommitted now.
    uncommitted_files: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ContinueFile {
    path: String,
    status: String,
    last_updated: Option<String>,
}

/// The commit recorded in the handoff.
pub(crate) fn recorded_head(view: &ProjectView) -> Option<String> {
    let text = view.text(&view.layout().handoff()).ok().flatten()?;
    let handoff: Json = serde_json::from_str(&text).ok()?;
    let head = handoff.get("head")?.as_str()?;
    (head.len() >= 7 && head.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| head.to_owned())
}

/// The paused work as it was recorded.
pub(crate) fn read(
    view: &ProjectView,
    commits_since: Option<u64>,
    uncommitted_files: Vec<String>,
) -> Result<ReadReport, FileError> {
    let path = view.layout().handoff();
    let text = view.text(&path)?;
    let mut continue_files = Vec::new();
    for path in continue_files_of(view)? {
        let Some(text) = view.text(&path)? else { continue };
        let front = FrontMatter::parse(&text);
        let stated = |key: &str| front.as_ref().and_then(|front| front.text(key));
        continue_files.push(ContinueFile {
            status: stated("status").unwrap_or_else(|| PAUSED.to_owned()),
            last_updated: stated("last_updated"),
            path,
        });
    }
    continue_files.sort_by(|left, right| right.last_updated.cmp(&left.last_updated));
    Ok(ReadReport {
        found: text.is_some() || continue_files.iter().any(|file| file.status != RESUMED),
        handoff: text.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        path: text.map(|_| path),
        continue_files,
        commits_since,
        uncommitted_files,
    })
}

/// What `handoff clear` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClearReport {
    removed: Vec<String>,
    /// Files of a phase that stay until it is complete, since their anti-patterns apply to work in it.
    kept: Vec<String>,
}

/// Records that the work was resumed: removes HANDOFF.json and the files outside phases, and marks those in a phase.
pub(crate) fn clear(view: &ProjectView) -> Edited<ClearReport, Failure> {
    let phases = view.phase_folders()?;
    let in_phase = |path: &str| phases.iter().any(|phase| path.strip_prefix(&phase.path).is_some_and(is_direct));
    let mut edits = Edits::default();
    let (kept, mut removed): (Vec<String>, Vec<String>) =
        continue_files_of(view)?.into_iter().partition(|path| in_phase(path));
    for path in &kept {
        let Some(text) = view.text(path)? else { continue };
        let status = FieldChange { key: "status".to_owned(), value: Some(Value::Text(RESUMED.to_owned())) };
        edits.write(view, path, applied(path, &text, &[status])?)?;
    }
    let handoff = view.layout().handoff();
    if view.exists(&handoff) {
        removed.insert(0, handoff);
    }
    edits.removals.clone_from(&removed);
    Ok((ClearReport { removed, kept }, edits))
}

/// True if the rest of a path after a folder is a file directly in that folder.
fn is_direct(rest: &str) -> bool {
    rest.strip_prefix('/').is_some_and(|name| !name.contains('/'))
}

/// The `.continue-here*.md` files of the planning folder, of phases, spikes and sketches.
fn continue_files_of(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let layout = view.layout();
    let mut folders = vec![layout.scope()];
    folders
        .extend(view.phase_folders()?.iter().filter(|phase| phase.archived.is_none()).map(|phase| phase.path.clone()));
    for kind in ["spikes", "sketches"] {
        let parent = format!("{}/{kind}", layout.planning());
        folders.extend(view.folder_names(&parent)?.iter().map(|name| format!("{parent}/{name}")));
    }
    let mut found = Vec::new();
    for folder in folders {
        let names = view.file_names(&folder)?.into_iter().filter(|name| is_continue_file(name));
        found.extend(names.map(|name| format!("{folder}/{name}")));
    }
    Ok(found)
}

#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
fn is_continue_file(name: &str) -> bool {
    name.starts_with(".continue-here") && name.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = ".planning/phases/02-core/.continue-here.md";
    const TEXT: &str = "---\ncontext: phase\ntask: 2\nstatus: x\n---\n\n<current_state>\nHalf of it.\n</current_state>\n\n\
        <completed_work>\n- Task 1: reads\n  notes\n- Task 2: writes\n</completed_work>\n\n<remaining_work>\n1. Task 3\n\
        </remaining_work>\n\n<decisions_made>\nNone\n</decisions_made>\n\n<next_action>\nRun the tests\n</next_action>\n";

    fn project(text: &str) -> ProjectView {
        ProjectView::of([
            (".planning/ROADMAP.md", "### Phase 2: Core\n**Goal**: x\n"),
            (".planning/phases/02-core/02-01-PLAN.md", "<task type=\"auto\"></task>\n<task type=\"auto\"></task>\n"),
            (".planning/phases/02-core/02-01-SUMMARY.md", "x"),
            (".planning/phases/02-core/02-02-PLAN.md", "<task></task>\n<task></task>\n<task></task>\n"),
            (HERE, text),
        ])
    }

    fn measured() -> Measured {
        Measured { now: "2026-01-02T03:04:05Z".into(), head: Some("abcdef1".into()), uncommitted: vec!["a.rs".into()] }
    }

    #[test]
    fn the_place_and_the_counts_are_measured_and_the_rest_is_from_the_blocks() {
        let (report, edits) = write(&project(TEXT), HERE, measured()).unwrap();
        let handoff = &report.handoff;
        let (phase, plan) = (handoff.phase.as_deref(), handoff.plan.as_deref());
        assert_eq!((phase, plan, handoff.task, handoff.total_tasks), (Some("2"), Some("02-02"), Some(2), Some(3)));
        assert_eq!(handoff.completed_tasks, ["Task 1: reads notes", "Task 2: writes"]);
        assert_eq!((handoff.remaining_tasks.as_slice(), handoff.decisions.len()), (&["Task 3".to_owned()][..], 0));
        assert_eq!((handoff.next_action.as_str(), handoff.uncommitted_files.len()), ("Run the tests", 1));
        let marked = &edits.texts[HERE];
        assert!(marked.contains("status: paused\n") && marked.contains("total_tasks: 3\n"), "{marked}");
        assert!(edits.texts[".planning/HANDOFF.json"].contains("\"phase_name\": \"Core\""));
    }

    #[test]
    fn a_phase_without_a_folder_is_named_too() {
        let here = ".planning/.continue-here.md";
        let told = |text: &str| {
            let view = ProjectView::of([
                (".planning/ROADMAP.md", "### Phase 2: Core\n### Phase 3: Sync\n"),
                (".planning/STATE.md", "# S\n\nPhase: 3 of 3 (Sync) — READY TO PLAN\n"),
                (here, text),
            ]);
            let (report, _) = write(&view, here, measured()).unwrap();
            (report.handoff.phase, report.handoff.phase_name)
        };
        assert_eq!(told(TEXT), (Some("3".to_owned()), Some("Sync".to_owned())));
        assert_eq!(told(&TEXT.replace("context: phase", "context: phase\nphase: 02")).1.as_deref(), Some("Core"));
        assert_eq!(told(&TEXT.replace("context: phase", "context: research")), (None, None));
    }

    #[test]
    fn a_handoff_without_a_required_block_is_refused() {
        let text = TEXT.replace("Run the tests", "None.");
        let error = write(&project(&text), HERE, measured()).unwrap_err();
        assert_eq!(error.to_string(), format!("`{HERE}` has nothing in `<next_action>`"));
        let refused = |path| write(&project(TEXT), path, measured()).unwrap_err().message;
        assert!(refused("src/.continue-here.md").contains("is outside the planning folder"));
        assert!(refused(".planning/.continue-here.md").ends_with("does not exist"));
    }

    #[test]
    fn resumed_work_is_cleared_and_the_anti_patterns_of_its_phase_stay() {
        let view = project(TEXT);
        let (_, edits) = write(&view, HERE, measured()).unwrap();
        let view = view.after(&edits);
        assert_eq!(recorded_head(&view).as_deref(), Some("abcdef1"));
        assert!(read(&view, None, Vec::new()).unwrap().found);
        let (report, edits) = clear(&view).unwrap();
        assert_eq!(report.removed, [".planning/HANDOFF.json"]);
        assert_eq!(report.kept, [HERE]);
        let after = read(&view.after(&edits), None, Vec::new()).unwrap();
        assert!(!after.found && after.path.is_none());
        assert_eq!(after.continue_files[0].status, "resumed");
    }

    #[test]
    fn a_handoff_that_does_not_parse_is_found_too() {
        let report = read(&ProjectView::of([(".planning/HANDOFF.json", "{")]), None, Vec::new()).unwrap();
        assert!(report.found && report.handoff.is_none() && report.path.is_some());
    }
}
