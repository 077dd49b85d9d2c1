//! Ships a milestone: its documents are copied to the archive, its phases and quick tasks are moved there, and STATE.md
//! and MILESTONES.md record it. All of it is one change, and archived files are never overwritten.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::archive::{checked_label, free_name, put_away};
use crate::failure::Failure;
use crate::operations::answers::answer::answer;
use crate::operations::hints::{self, PHASES};
use crate::operations::state::{self, Facts, Rule, StateEdit, mirror, switch};
use crate::project::deferred_checks::{self, DeferredCheck};
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, PhaseFolder};
use crate::project::milestone::{
    Milestone, MilestoneScope, is_same_version, milestone_headings, version_in, with_shipped,
};
use crate::project::milestones;
use crate::project::phase::{PhaseId, short};
use crate::project::plan::PhaseSummary;
use crate::project::roadmap::Roadmap;
use crate::project::scope::PhaseScope;
use crate::project::standing::PhaseStanding;
use crate::project::state::edit::one_line;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::markdown::newline_of;

/// The hint about phases of the milestone that are not done.
const FINISH: &str = "finish or remove these phases, or pass `--force`";

/// The options for completing a milestone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompleteRequest<'text> {
    pub(crate) version: &'text str,
    pub(crate) name: Option<&'text str>,
    pub(crate) archive_phases: bool,
    pub(crate) archive_quick: bool,
    /// Complete even if phases are open, or not all phases are visible.
    pub(crate) force: bool,
    /// The command that starts a milestone, as people type it; `None` if no such command is installed.
    pub(crate) next_command: Option<&'text str>,
}

/// What `milestone complete` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompleteReport {
    pub(crate) version: String,
    /// The name of the milestone; the version if no name was given.
    pub(crate) name: String,
    /// The date in the user's time zone.
    pub(crate) date: String,
    /// The number of phases of the milestone that have a folder.
    pub(crate) phases: usize,
    pub(crate) plans: usize,
    /// The number of tasks in the summaries.
    pub(crate) tasks: usize,
    /// One line from each summary, in the order of phases and plans.
    pub(crate) accomplishments: Vec<String>,
    pub(crate) archived: Archived,
    /// MILESTONES.md got a new entry.
    pub(crate) milestones_updated: bool,
    /// STATE.md exists and now says that the milestone is complete.
    pub(crate) state_updated: bool,
    pub(crate) preservation_warnings: Vec<Preserved>,
    /// Checks that still wait for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks_open: Vec<DeferredCheck>,
}

answer! {
    /// What is in the archive now.
    pub(crate) struct Archived |would: WouldArchive| {
        roadmap: bool = would.roadmap.is_some(),
        requirements: bool = would.requirements.is_some(),
        audit: bool = would.audit.is_some(),
        phases: bool = !would.phases.is_empty(),
        /// The phases were not archived although that was requested.
        phases_archive_skipped: bool = would.phases_archive_skipped,
        phases_archive_skip_reason: Option<&'static str> = would.phases_archive_skip_reason,
        quick: bool = !would.quick.is_empty(),
    }
}

/// A field that kept its value although the documents give another one.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Preserved {
    pub(crate) field: &'static str,
    pub(crate) reason: &'static str,
}

/// What a dry run of `milestone complete` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RehearsalReport {
    /// Nothing was written.
    pub(crate) dry_run: bool,
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) stats: Stats,
    pub(crate) accomplishments: Vec<String>,
    /// Checks that still wait for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks_open: Vec<DeferredCheck>,
    pub(crate) would_archive: WouldArchive,
    pub(crate) would_update: WouldUpdate,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Stats {
    pub(crate) phases: usize,
    pub(crate) plans: usize,
    pub(crate) tasks: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WouldArchive {
    pub(crate) roadmap: Option<Move>,
    pub(crate) requirements: Option<Move>,
    pub(crate) audit: Option<Move>,
    /// Names of folders.
    pub(crate) phases: Vec<String>,
    pub(crate) phases_archive_skipped: bool,
    pub(crate) phases_archive_skip_reason: Option<&'static str>,
    /// Names of folders.
    pub(crate) quick: Vec<String>,
}

/// The path of a document, and where it or its copy goes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Move {
    pub(crate) source: String,
    pub(crate) target: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WouldUpdate {
    pub(crate) milestones_md: String,
    /// Null without a STATE.md.
    pub(crate) state_md: Option<String>,
}

/// A milestone that is ready to ship.
#[derive(Debug)]
pub(crate) struct ReadyMilestone {
    /// The planned changes.
    plan: RehearsalReport,
    milestones_updated: bool,
    kept_progress: bool,
}

impl ReadyMilestone {
    /// The checks that did not pass or wait for a person: phase, name and result.
    pub(crate) fn checks_open(&self) -> Vec<String> {
        let told = |check: &DeferredCheck| {
            let result = check.result.as_deref().filter(|result| *result != "pending");
            let result = result.map(|result| format!(" ({result})")).unwrap_or_default();
            format!("phase {}: {}{result}", short(&check.phase), check.name)
        };
        self.plan.checks_open.iter().map(told).collect()
    }

    /// The answer of a dry run.
    pub(crate) fn rehearsed(self) -> RehearsalReport {
        self.plan
    }

    /// The answer of a call that made the changes on `day`.
    pub(crate) fn done(self, day: &str) -> CompleteReport {
        let kept = Preserved { field: "progress", reason: "preserved-over-disagreeing-derived" };
        let RehearsalReport { version, name, stats, accomplishments, checks_open, would_archive, would_update, .. } =
            self.plan;
        CompleteReport {
            version,
            name,
            date: day.to_owned(),
            phases: stats.phases,
            plans: stats.plans,
            tasks: stats.tasks,
            accomplishments,
            archived: Archived::of(&would_archive),
            milestones_updated: self.milestones_updated,
            state_updated: would_update.state_md.is_some(),
            preservation_warnings: self.kept_progress.then_some(kept).into_iter().collect(),
            checks_open,
        }
    }
}

/// Ships a milestone.
pub(crate) fn complete(
    view: &ProjectView,
    request: CompleteRequest<'_>,
    facts: &Facts,
) -> Edited<ReadyMilestone, Failure> {
    let layout = view.layout();
    let spelled = spelled(view, request.version)?;
    let request = CompleteRequest { version: &spelled, ..request };
    let version = checked_label(request.version)?;
    let name = request.name.map(one_line).filter(|name| !name.is_empty()).unwrap_or_else(|| version.to_owned());
    let roadmap = view.roadmap()?.ok_or_else(hints::no_roadmap)?;
    let milestone = found(roadmap, version)?;
    let folders = view.folders_of(&milestone)?;
    refuse_unstarted(view, &milestone, roadmap, &folders, &request)?;
    if !request.force {
        refuse_open(view, &milestone, roadmap, &request)?;
    }
    let (stats, accomplishments) = tell(view, &folders)?;
    let checks_open = deferred_checks::open_in(view, &folders)?;

    let archive = layout.milestones_folder();
    let mut edits = Edits::default();
    let roadmap_copy = copy(view, &layout.roadmap(), &format!("{version}-ROADMAP"), "", &mut edits)?;
    edits.write(view, &layout.roadmap(), with_shipped(roadmap, version, &facts.today))?;
    let head = requirements_head(version, &name, &facts.today, &layout.requirements());
    let requirements = copy(view, &layout.requirements(), &format!("{version}-REQUIREMENTS"), &head, &mut edits)?;
    let audit = layout.milestone_audit(version);
    let audit = view.exists(&audit).then(|| {
        let target = free_name(view, &archive, &format!("{version}-MILESTONE-AUDIT"), ".md", &edits);
        let target = format!("{archive}/{target}");
        edits.moves.insert(target.clone(), audit.clone());
        Move { source: audit, target }
    });
    let unclear = milestone.scope == MilestoneScope::Truncated;
    let skip_reason = (request.archive_phases && unclear)
        .then_some("the milestone has a heading in ROADMAP.md, and no phases below it");
    let mut phases = Vec::new();
    if request.archive_phases && !unclear {
        for folder in &folders {
            put_away(view, &folder.path, &format!("{archive}/{version}-phases"), &mut edits)?;
            phases.push(folder.name.clone());
        }
    }

    let mut edit = state::open(view)?.map(StateEdit::new);
    let mut quick = Vec::new();
    if request.archive_quick {
        quick = put_quick_away(view, version, edit.as_mut(), &mut edits)?;
    }
    let mut kept_progress = false;
    if let Some(edit) = edit {
        let shipped = switch::ship(view, edit, version, request.next_command, facts)?;
        kept_progress = shipped.kept_progress;
        edits.write(view, &layout.state(), shipped.text)?;
    }
    let milestones_updated = add_entry(view, version, &name, &stats, &accomplishments, &facts.today, &mut edits)?;
    mirror::refresh(&mut edits, view, facts)?;
    let plan = RehearsalReport {
        dry_run: true,
        version: version.to_owned(),
        name,
        stats,
        accomplishments,
        checks_open,
        would_archive: WouldArchive {
            roadmap: roadmap_copy,
            requirements,
            audit,
            phases,
            phases_archive_skipped: skip_reason.is_some(),
            phases_archive_skip_reason: skip_reason,
            quick,
        },
        would_update: WouldUpdate {
            milestones_md: layout.milestones(),
            state_md: view.state()?.map(|_| layout.state()),
        },
    };
    Ok((ReadyMilestone { plan, milestones_updated, kept_progress }, edits))
}

/// The version as spelled in STATE.md or the roadmap: `1.2` may be `v1.2` there.
fn spelled(view: &ProjectView, version: &str) -> Result<String, FileError> {
    let is_it = |known: &String| is_same_version(known, version);
    if let Some(known) = view.state_version()?.filter(is_it) {
        return Ok(known);
    }
    let roadmap = view.roadmap_or_empty()?;
    let headings = milestone_headings(roadmap);
    let known = headings.iter().filter_map(|heading| heading.version.map(str::to_owned)).find(is_it);
    Ok(known.unwrap_or_else(|| version.to_owned()))
}

/// The milestone of this version. If the roadmap has milestones, it must be one of them; if not, the whole roadmap is
/// the milestone.
fn found(roadmap: &Roadmap<'_>, version: &str) -> Result<Milestone, Failure> {
    let milestone = Milestone::find(roadmap, Some(version));
    if milestone.scope != MilestoneScope::Unscoped {
        return Ok(milestone);
    }
    let lines = 0..roadmap.markdown().lines().len();
    let folded = lines.filter(|line| roadmap.is_shipped(*line)).any(|line| {
        let text = roadmap.markdown().line(line);
        text.contains("<summary>") && version_in(text).is_some_and(|known| is_same_version(known, version))
    });
    if folded {
        let message = format!("milestone {version} is already complete: its phases are folded in ROADMAP.md");
        return Err(Failure::unknown(message).hint("`gsd-tools progress` shows the current milestone"));
    }
    if milestone_headings(roadmap).iter().any(|heading| heading.version.is_some()) {
        return Err(Failure::unknown(format!("ROADMAP.md has no phases for milestone {version}")).hint(PHASES));
    }
    Ok(milestone)
}

/// Refuses phases without a folder: they were never started, unless the archive has them.
fn refuse_unstarted(
    view: &ProjectView,
    milestone: &Milestone,
    roadmap: &Roadmap<'_>,
    folders: &[PhaseFolder],
    request: &CompleteRequest<'_>,
) -> Result<(), Failure> {
    let archive = format!("{}/{}-phases", view.layout().milestones_folder(), request.version);
    let archived = view.read_folders(&archive, Some(request.version))?;
    let (folder_index, archive_index) = (FolderIndex::new(folders), FolderIndex::new(&archived));
    let has = |id: &str| {
        let id = PhaseId::new(id);
        folder_index.find(&id).or_else(|| archive_index.find(&id)).is_some()
    };
    let ids = milestone.phase_ids(roadmap);
    let missing: Vec<&str> = ids.iter().copied().filter(|id| !has(id)).collect();
    if folders.is_empty() && !ids.is_empty() && missing.is_empty() {
        let version = request.version;
        let message = format!("milestone {version} is already archived: its phases are in `{archive}`");
        return Err(Failure::unknown(message).hint(format!("to complete it again, move `{archive}` away first")));
    }
    match missing.first() {
        Some(example) if !request.force => {
            let count = missing.len();
            let message = format!("the milestone has {count} phase(s) that were not started, such as phase {example}");
            Err(Failure::unknown(message).hint(FINISH))
        }
        _ => Ok(()),
    }
}

/// Refuses a milestone with unfinished phases, or whose phases are not all visible.
fn refuse_open(
    view: &ProjectView,
    milestone: &Milestone,
    roadmap: &Roadmap<'_>,
    request: &CompleteRequest<'_>,
) -> Result<(), Failure> {
    let scope = PhaseScope::of(view, milestone)?;
    if let Some(unseen) = scope.doubt(&view.layout().roadmap()) {
        let message = format!("milestone {} may not be complete: {unseen}", request.version);
        return Err(Failure::unknown(message).hint(format!("{}, or pass `--force`", unseen.cure())));
    }
    let all = view.phase_folders()?;
    let folders = FolderIndex::new(&all);
    let mut ids: Vec<String> = milestone.phase_ids(roadmap).into_iter().map(str::to_owned).collect();
    if ids.is_empty() {
        ids.extend(view.folders_of(milestone)?.iter().map(|folder| folder.token().to_owned()));
    }
    let mut open: Vec<(String, PhaseStanding)> = Vec::new();
    for id in ids {
        let standing = PhaseStanding::of(view, &id, folders.find(&PhaseId::new(&id)))?;
        if !standing.is_complete() || standing.work.is_open() {
            open.push((id, standing));
        }
    }
    let Some((example, standing)) = open.first() else { return Ok(()) };
    let why = match standing.work.open_plans.first() {
        Some(plan) => format!("{plan} is not done"),
        None if standing.work.plans.is_empty() => "it has no plan".to_owned(),
        None if standing.is_complete() => {
            "it is verified and not closed: `gsd-tools phase complete` closes it".to_owned()
        }
        None => "it is not verified".to_owned(),
    };
    let count = open.len();
    let message = format!("the milestone has {count} open phase(s), such as phase {example}: {why}");
    Err(Failure::unknown(message).hint(FINISH))
}

/// Counts phases, plans and tasks, and collects one line from each summary.
fn tell(view: &ProjectView, folders: &[PhaseFolder]) -> Result<(Stats, Vec<String>), FileError> {
    let mut stats = Stats { phases: folders.len(), plans: 0, tasks: 0 };
    let mut accomplishments = Vec::new();
    for folder in folders {
        stats.plans += view.current_plans(folder)?.len();
        for file in folder.summaries() {
            let Some(text) = view.text(&folder.join(file))? else { continue };
            let summary = PhaseSummary::parse(&text);
            stats.tasks += summary.task_count();
            accomplishments.extend(summary.one_liner());
        }
    }
    Ok((stats, accomplishments))
}

/// Copies a document into the archive, with `head` above it. An identical existing copy is used instead.
fn copy(
    view: &ProjectView,
    source: &str,
    name: &str,
    head: &str,
    edits: &mut Edits,
) -> Result<Option<Move>, FileError> {
    let Some(text) = view.text(source)? else { return Ok(None) };
    let archive = view.layout().milestones_folder();
    let text = if head.is_empty() {
        text.to_string()
    } else {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        format!("{}{}{}", &text[..mark], head.replace('\n', newline_of(&text)), &text[mark..])
    };
    let plain = format!("{archive}/{name}.md");
    // An archived file that is not text is a different document in any case.
    let same = view.text(&plain).is_ok_and(|known| known.as_deref() == Some(text.as_str()));
    if same {
        return Ok(Some(Move { source: source.to_owned(), target: plain }));
    }
    let target = format!("{archive}/{}", free_name(view, &archive, name, ".md", edits));
    edits.texts.insert(target.clone(), text);
    Ok(Some(Move { source: source.to_owned(), target }))
}

fn requirements_head(version: &str, name: &str, day: &str, current: &str) -> String {
    format!(
        "# Requirements Archive: {version} {name}\n\n**Archived:** {day}\n**Status:** SHIPPED\n\n\
         The next milestone writes its own requirements to `{current}`.\n\n---\n\n"
    )
}

/// Adds the entry of the milestone at the top of MILESTONES.md. Returns false if it was already there.
fn add_entry(
    view: &ProjectView,
    version: &str,
    name: &str,
    stats: &Stats,
    accomplishments: &[String],
    day: &str,
    edits: &mut Edits,
) -> Result<bool, FileError> {
    let path = view.layout().milestones();
    let text = view.text(&path)?.unwrap_or_default();
    let heading = format!("{version} {name} (Shipped: {day})");
    if milestones::has_entry(&text, &heading) {
        return Ok(false);
    }
    let Stats { phases, plans, tasks } = stats;
    let mut lines = vec![
        format!("## {heading}"),
        String::new(),
        format!("**Phases completed:** {phases} phases, {plans} plans, {tasks} tasks"),
        String::new(),
        "**Key accomplishments:**".to_owned(),
        String::new(),
    ];
    lines.extend(accomplishments.iter().map(|line| format!("- {}", one_line(line))));
    if accomplishments.is_empty() {
        lines.push("- (none recorded)".to_owned());
    }
    lines.extend([String::new(), "---".to_owned(), String::new()]);
    edits.write(view, &path, milestones::with_entries(&text, &lines))?;
    Ok(true)
}

/// What `milestone archive-quick` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuickReport {
    pub(crate) version: String,
    /// The number of folders that were moved.
    pub(crate) archived: usize,
    /// Their names.
    pub(crate) entries: Vec<String>,
    pub(crate) archive_dir: String,
    /// Rows were moved from STATE.md into the archive.
    pub(crate) state_updated: bool,
    pub(crate) warnings: Vec<String>,
}

/// What a dry run of `milestone archive-quick` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuickRehearsalReport {
    /// Nothing was written.
    pub(crate) dry_run: bool,
    pub(crate) version: String,
    /// Names of folders.
    pub(crate) would_archive: Vec<String>,
    pub(crate) archive_dir: String,
}

impl QuickReport {
    /// The report as the answer of a dry run.
    pub(crate) fn rehearsed(self) -> QuickRehearsalReport {
        let Self { version, entries, archive_dir, .. } = self;
        QuickRehearsalReport { dry_run: true, version, would_archive: entries, archive_dir }
    }
}

/// Archives the folders of all quick tasks, with their rows in STATE.md.
pub(crate) fn archive_quick(view: &ProjectView, version: &str, facts: &Facts) -> Edited<QuickReport, Failure> {
    let version = checked_label(version)?;
    let mut edits = Edits::default();
    let mut edit = state::open(view)?.map(StateEdit::new);
    let entries = put_quick_away(view, version, edit.as_mut(), &mut edits)?;
    let mut state_updated = false;
    if let Some(edit) = edit.filter(|edit| edit.touches(crate::project::state::QUICK_TASKS)) {
        let written = state::close(view, edit, Rule::Keep, facts)?;
        edits.write(view, &view.layout().state(), written.text)?;
        state_updated = true;
    }
    let loose = view.file_names(&view.layout().quick())?;
    let stays = |file: String| format!("{file} was not moved: it is not in the folder of a task");
    let report = QuickReport {
        version: version.to_owned(),
        archived: entries.len(),
        entries,
        archive_dir: quick_archive(view, version),
        state_updated,
        warnings: loose.into_iter().filter(|file| !file.starts_with('.')).map(stays).collect(),
    };
    Ok((report, edits))
}

fn quick_archive(view: &ProjectView, version: &str) -> String {
    format!("{}/{version}-quick", view.layout().milestones_folder())
}

/// Moves the folders of quick tasks. A page next to them lists them and takes over the rows of STATE.md's table.
fn put_quick_away(
    view: &ProjectView,
    version: &str,
    state: Option<&mut StateEdit<'_, '_>>,
    edits: &mut Edits,
) -> Result<Vec<String>, FileError> {
    let quick = view.layout().quick();
    let entries = view.folder_names(&quick)?;
    if entries.is_empty() {
        return Ok(entries);
    }
    let archive = quick_archive(view, version);
    let mut page = String::new();
    for entry in &entries {
        let files = view.file_names(&format!("{quick}/{entry}"))?;
        let name = put_away(view, &format!("{quick}/{entry}"), &archive, edits)?;
        // Writing to a string cannot fail.
        let _ = match files.iter().find(|file| file.ends_with("SUMMARY.md")) {
            Some(summary) => writeln!(page, "- [{name}]({name}/{summary})"),
            None => writeln!(page, "- {name}"),
        };
    }
    let rows = state.map(StateEdit::take_quick_rows).unwrap_or_default();
    if rows.count > 0 {
        // The rows are next to the folders now.
        let rows = rows.text.replace("](./quick/", "](./").replace("](quick/", "](");
        let _ = writeln!(page, "\n{rows}");
    }
    let path = format!("{archive}/README.md");
    let text = match view.text(&path)? {
        None => format!("# Archived Quick Tasks\n\n{page}"),
        Some(known) => {
            let newline = newline_of(&known);
            let end = if known.is_empty() || known.ends_with('\n') { "" } else { newline };
            format!("{known}{end}{newline}{}", page.replace('\n', newline))
        }
    };
    edits.texts.insert(path, text);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nPlan: 1 of 1\n\
        Status: In progress\nLast activity: 2026-01-01\n\nProgress: [██████░░░░] 60%\n\n### Quick Tasks Completed\n\n\
        | # | Description |\n|---|---|\n| 1 | [a](./quick/1-a/) |\n| 2 | gone |\n\n## End\n";

    fn view(files: &[(&'static str, &'static str)]) -> ProjectView {
        let always = [
            (".planning/STATE.md", STATE),
            (".planning/ROADMAP.md", "### Phase 1: A\n\n### Phase 2: B\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "a"),
            (".planning/phases/01-a/01-01-SUMMARY.md", "# Summary\n\n**Built it**\n\n- **Tasks:** 3\n"),
            (".planning/phases/999.1-later/x.md", "x"),
        ];
        ProjectView::of(always.iter().chain(files).copied())
    }

    fn request(version: &str) -> CompleteRequest<'_> {
        CompleteRequest {
            version,
            name: Some("MVP"),
            archive_phases: true,
            archive_quick: true,
            force: true,
            next_command: Some("/new"),
        }
    }

    fn facts() -> Facts {
        Facts { today: "2026-01-02".to_owned(), ..Facts::default() }
    }

    const SECOND: (&str, &str) = (".planning/phases/02-b/02-01-PLAN.md", "b");

    #[test]
    fn a_milestone_is_archived_with_all_its_documents() {
        let view = view(&[
            SECOND,
            (".planning/REQUIREMENTS.md", "# R\r\n"),
            (".planning/v1.0-MILESTONE-AUDIT.md", "audit"),
            (".planning/quick/1-a/1-SUMMARY.md", "s"),
        ]);
        let (completion, edits) = complete(&view, request("v1.0"), &facts()).unwrap();
        let report = completion.done("2026-01-02");
        assert_eq!((report.phases, report.plans, report.tasks), (2, 2, 3));
        let after = view.after(&edits);
        let text = |path: &str| after.text(path).unwrap().unwrap_or_default().to_string();
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["999.1-later"]);
        assert_eq!(text(".planning/milestones/v1.0-phases/02-b/02-01-PLAN.md"), "b");
        assert_eq!(text(".planning/milestones/v1.0-MILESTONE-AUDIT.md"), "audit");
        assert!(text(".planning/milestones/v1.0-REQUIREMENTS.md").ends_with("---\r\n\r\n# R\r\n"));
        assert_eq!(
            text(".planning/milestones/v1.0-quick/README.md"),
            "# Archived Quick Tasks\n\n- [1-a](1-a/1-SUMMARY.md)\n\n| # | Description |\n|---|---|\n| 1 | [a](./1-a/) |\n| 2 | gone |\n"
        );
        assert_eq!(
            text(".planning/MILESTONES.md"),
            "# Milestones\n\n## v1.0 MVP (Shipped: 2026-01-02)\n\n**Phases completed:** 2 phases, 2 plans, 3 tasks\n\n\
             **Key accomplishments:**\n\n- Built it\n\n---\n\n"
        );
        let state = text(".planning/STATE.md");
        assert!(
            state.contains("Phase: Milestone v1.0 complete\nPlan: —\nStatus: Awaiting next milestone\n"),
            "{state}"
        );
        assert!(!state.contains("Progress:") && !state.contains("current_phase"), "{state}");
        assert!(state.contains("|---|---|\n\n## End\n\n## Operator Next Steps\n\n- Start the next"), "{state}");
    }

    #[test]
    fn counts_of_an_archived_milestone_stay_and_the_next_milestone_removes_its_next_step() {
        let view = view(&[SECOND]);
        let (_, edits) = complete(&view, request("v1.0"), &facts()).unwrap();
        let after = view.after(&edits);
        let progress = |view: &ProjectView| {
            crate::project::state::index::Progress::written(view.state().unwrap().unwrap()).unwrap()
        };
        let counted = progress(&after);
        assert_eq!((counted.total_phases, counted.total_plans), (Some(2), Some(2)));
        let (_, edits) = state::notes::record_session(&after, Some("x"), None, &facts()).unwrap().unwrap();
        assert_eq!(progress(&after.after(&edits)), counted);
        let (_, edits) = switch::switch(&after, "v1.1", None, &facts()).unwrap();
        let started = after.after(&edits);
        let text = started.state().unwrap().unwrap().text();
        assert!(!text.contains("Operator Next Steps") && text.ends_with("## End\n"), "{text}");
    }

    #[test]
    fn archived_files_stay_and_a_second_copy_gets_a_number() {
        let view = view(&[
            SECOND,
            (".planning/milestones/v1.0-ROADMAP.md", "older"),
            (".planning/milestones/v1.0-phases/01-a/x.md", "older"),
        ]);
        let (completion, edits) = complete(&view, request("v1.0"), &facts()).unwrap();
        assert_eq!(completion.plan.would_archive.roadmap.unwrap().target, ".planning/milestones/v1.0-ROADMAP.1.md");
        let after = view.after(&edits);
        assert_eq!(after.text(".planning/milestones/v1.0-ROADMAP.md").unwrap().as_deref(), Some("older"));
        assert!(after.exists(".planning/milestones/v1.0-phases/01-a.1/01-01-PLAN.md"));
    }

    #[test]
    fn a_milestone_other_than_the_open_one_archives_no_phases() {
        let unforced = |version| CompleteRequest { force: false, ..request(version) };
        let error = |view: &ProjectView, version| complete(view, unforced(version), &facts()).unwrap_err().message;
        assert!(error(&view(&[]), "v1.0").contains(" 1 phase(s) that were not started"));
        assert!(error(&view(&[]), "../x").contains("cannot name a milestone"));
        let roadmap = "<details>\n<summary>✅ v1.0 MVP</summary>\n\n### Phase 1: A\n\n</details>\n\n### 🚧 v1.1 More\n\n#### Phase 2: B\n";
        let files = [(".planning/ROADMAP.md", roadmap), (".planning/phases/02-b/x.md", "x")];
        let view = ProjectView::of(files);
        assert!(error(&view, "v1.0").contains("is already complete"));
        assert_eq!(error(&view, "v9.9"), "ROADMAP.md has no phases for milestone v9.9");
        let (completion, edits) = complete(&view, request("v1.1"), &facts()).unwrap();
        assert_eq!(completion.plan.would_archive.phases, ["02-b"]);
        assert!(error(&view.after(&edits), "v1.1").contains("is already archived"));
    }

    #[test]
    fn a_milestone_with_an_open_or_hidden_phase_is_completed_only_by_force() {
        let plan = |path: &'static str| (path, "");
        let report = (".planning/phases/01-a/01-VERIFICATION.md", "---\nstatus: passed\n---\n");
        let done =
            [plan(".planning/phases/01-a/01-01-PLAN.md"), plan(".planning/phases/01-a/01-01-SUMMARY.md"), report];
        let told = |roadmap: &str, files: &[(&str, &str)], force: bool| {
            let files = files.iter().copied().chain([(".planning/ROADMAP.md", roadmap)]);
            let request = CompleteRequest { force, ..request("v1.0") };
            complete(&ProjectView::of(files), request, &facts()).err().map(|error| error.to_string())
        };
        let ticked = "- [x] **Phase 1: A**\n";
        assert_eq!(told(ticked, &done, false), None);
        assert_eq!(told("### Phase 1: A\n", &done, false), None, "it is verified, and there is nothing to tick");
        let open = [&done[..1], &[report]].concat();
        for (roadmap, files, why) in [
            ("- [ ] **Phase 1: A**\n", &open[..], "phase 1: 01-01-PLAN.md is not done"),
            (ticked, &open, "phase 1: 01-01-PLAN.md is not done"),
            ("- [ ] **Phase 1: A**\n", &done[..2], "phase 1: it is not verified"),
            ("- [ ] **Phase 1: A**\n", &done, "phase 1: it is verified and not closed"),
            ("", &done, "is empty"),
            ("# R\n\n## v2.0 B\n\n### Phase 1: A\n\n## v1.0 A\n\ntext\n", &done, "no phases below the heading"),
            ("# R\n\n## v1.0 A\n", &[], "no phase was found"),
            ("# R\n\nSee the table.\n", &open, "no phase was found in"),
        ] {
            let refused = told(roadmap, files, false).unwrap_or_else(|| panic!("{roadmap}"));
            assert!(refused.contains(why), "{refused}");
            assert_eq!(told(roadmap, files, true), None, "{roadmap}");
        }
        let conflict = "# R\n\n<<<<<<< HEAD\n- [x] **Phase 1: A**\n=======\n>>>>>>> other\n";
        assert!(told(conflict, &done, false).unwrap().contains("merge conflict in line 3"));
    }

    #[test]
    fn quick_tasks_are_archived_separately_and_a_second_call_changes_nothing() {
        let view = view(&[(".planning/quick/1-a/note.md", "n"), (".planning/quick/loose.md", "l")]);
        let (report, edits) = archive_quick(&view, "v1.0", &facts()).unwrap();
        assert_eq!((report.archived, report.state_updated), (1, true));
        assert_eq!(report.warnings, ["loose.md was not moved: it is not in the folder of a task"]);
        let after = view.after(&edits);
        let (report, edits) = archive_quick(&after, "v1.0", &facts()).unwrap();
        assert_eq!((report.archived, edits.is_empty()), (0, true));
    }
}
