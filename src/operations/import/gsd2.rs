//! Imports a project from the other layout: slices become phases, tasks become plans.
//!
//! The documents of `.gsd` are read and stay. The contents of `.planning` are never overwritten: a forced import moves
//! them to the archive first.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::documents::configuration::{self, NewFile};
use crate::operations::milestones::archive::free_name;
use crate::operations::state::{self, Facts, Rule, StateEdit};
use crate::project::files::FileError;
use crate::project::gsd2::{self, Document, ImportedMilestone, Slice, Task};
use crate::project::milestone_layout::lookup::FOLDER;
use crate::project::phase::pad;
use crate::project::state::State;
use crate::project::state::edit::{one_line, progress_bar};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value, compose};
use crate::text::markdown::Markdown;
use crate::text::slug;
use crate::text::splice::Splices;
use crate::text::table::Table;

/// What `from-gsd2` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportReport {
    pub(crate) success: bool,
    /// The planning folder of the imported project.
    #[serde(rename = "planningDir")]
    pub(crate) planning: String,
    #[serde(rename = "filesWritten")]
    pub(crate) files_written: usize,
    pub(crate) milestones: usize,
    /// The files, and their sources.
    pub(crate) preview: String,
    /// Where the earlier contents were moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
}

/// What a dry run of `from-gsd2` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportRehearsal {
    pub(crate) success: bool,
    #[serde(rename = "dryRun")]
    pub(crate) dry: bool,
    /// The files, and their sources.
    pub(crate) preview: String,
}

/// What `from-gsd2` answers if nothing can be imported.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportRefusal {
    pub(crate) success: bool,
    pub(crate) error: String,
}

/// The result of an import.
pub(crate) type ImportOutcome = Result<ImportReport, ImportRefusal>;

/// Imports the project in `.gsd`.
pub(crate) fn import(
    view: &ProjectView,
    force: bool,
    new: NewFile<'_>,
    facts: &Facts,
) -> Edited<ImportOutcome, Failure> {
    let layout = view.layout();
    let refused = |error: String| Ok((Err(ImportRefusal { success: false, error }), Edits::default()));
    if !view.folder_exists(FOLDER) {
        return refused(format!("there is no folder `.gsd` in {}", layout.root().display()));
    }
    let planning = layout.planning().to_owned();
    if view.folder_exists(&planning) && !force {
        let shown = layout.shown(&planning);
        return refused(format!("`{shown}` already exists; --force archives it first"));
    }
    let milestones = gsd2::milestones(view)?;
    let mut edits = Edits::default();
    let kept = keep(view, &facts.today, &mut edits)?;
    let phases = numbered(&milestones);
    for name in ["PROJECT.md", "REQUIREMENTS.md"] {
        if let Some(text) = root_document(view, name)? {
            let text = if name == "REQUIREMENTS.md" { with_bullets(&text) } else { text };
            edits.texts.insert(format!("{planning}/{name}"), text);
        }
    }
    if kept.is_none() || view.text(&layout.config())?.is_none() {
        let (_, made) = configuration::create(&view.after(&edits), new)?;
        edits.texts.extend(made.texts);
    }
    edits.texts.insert(layout.roadmap(), roadmap(view, &milestones, &phases)?);
    for phase in &phases {
        phase_documents(&layout.phases(), phase, &mut edits);
    }
    let text = state_text(view, &phases, &facts.today)?;
    edits.texts.insert(layout.state(), text.clone());
    let after = view.after(&edits);
    let state = State::parse(&text);
    let written = state::close(&after, StateEdit::new(&state), Rule::Refresh, facts)?;
    edits.texts.insert(layout.state(), written.text);
    // A folder stays if a new file is created in it.
    let new: Vec<String> = edits.texts.keys().cloned().collect();
    edits.emptied.retain(|folder| !new.iter().any(|path| path.starts_with(&format!("{folder}/"))));
    let report = ImportReport {
        success: true,
        planning: layout.shown(&planning),
        files_written: edits.texts.len(),
        milestones: milestones.len(),
        preview: preview(&planning, &milestones, &phases, &edits, kept.as_deref()),
        kept,
    };
    Ok((Ok(report), edits))
}

impl ImportReport {
    /// The report as the answer of a dry run.
    pub(crate) fn rehearsed(self) -> ImportRehearsal {
        ImportRehearsal { success: true, dry: true, preview: self.preview }
    }
}

/// A slice as a phase.
struct ImportedPhase<'slice> {
    number: usize,
    /// `01`.
    token: String,
    /// `01-first-slice`.
    folder: String,
    milestone: &'slice ImportedMilestone,
    slice: &'slice Slice,
    /// The phases it depends on.
    depends: Vec<usize>,
}

/// All slices, numbered across all milestones.
fn numbered(milestones: &[ImportedMilestone]) -> Vec<ImportedPhase<'_>> {
    let mut phases: Vec<ImportedPhase<'_>> = Vec::new();
    for milestone in milestones {
        for slice in &milestone.slices {
            let number = phases.len() + 1;
            let token = pad(&number.to_string());
            let own = phases.iter().filter(|phase| phase.milestone.id == milestone.id);
            let needed = own.filter(|phase| slice.depends.iter().any(|id| id.eq_ignore_ascii_case(&phase.slice.id)));
            let depends = needed.map(|phase| phase.number).collect();
            let words = Some(slug(&slice.title)).filter(|words| !words.is_empty());
            let folder = format!("{token}-{}", words.unwrap_or_else(|| slice.id.to_lowercase()));
            phases.push(ImportedPhase { number, token, folder, milestone, slice, depends });
        }
    }
    phases
}

/// Moves the contents of `.planning` into its archive, except the settings. Returns the new path, if there was
/// anything.
fn keep(view: &ProjectView, day: &str, edits: &mut Edits) -> Result<Option<String>, FileError> {
    const STAYS: &[&str] = &["config.json", "archive", ".lock", "STATE.md.lock", "milestone.lock", ".gsd-transaction"];
    let planning = view.layout().planning().to_owned();
    let names = view.names(&planning)?;
    let going: Vec<&String> = names.iter().filter(|name| !STAYS.contains(&name.as_str())).collect();
    if going.is_empty() {
        return Ok(None);
    }
    let archive = view.layout().archive();
    let place = format!("{archive}/{}", free_name(view, &archive, &format!("before-import-{day}"), "", edits));
    let folders = view.folder_names(&planning)?;
    for name in going {
        let (from, to) = (format!("{planning}/{name}"), format!("{place}/{name}"));
        if folders.contains(name) {
            edits.move_folder(view, &from, &to)?;
        } else {
            edits.moves.insert(to, from);
        }
    }
    Ok(Some(place))
}

/// A document in `.gsd`, ignoring the case of its name.
fn root_document(view: &ProjectView, name: &str) -> Result<Option<String>, FileError> {
    let known = view.file_names(FOLDER)?.into_iter().find(|file| file.eq_ignore_ascii_case(name));
    let Some(known) = known else { return Ok(None) };
    Ok(view.text(&format!("{FOLDER}/{known}"))?.map(|text| text.to_string()))
}

/// The requirements with a checkbox line added below each heading `### R001 — Title`.
fn with_bullets(text: &str) -> String {
    let markdown = Markdown::parse(text);
    let mut splices = Splices::default();
    for heading in markdown.headings().filter(|heading| heading.level == 3) {
        let Some((id, title)) = heading.title.split_once(" — ") else { continue };
        let lines = markdown.section(&heading);
        let met = lines.clone().any(|line| {
            let text = markdown.line(line).to_lowercase();
            text.contains("status:") && ["validated", "complete", "done"].iter().any(|word| text.contains(word))
        });
        let tick = if met { 'x' } else { ' ' };
        let at = markdown.span(heading.line + 1..heading.line + 1).start;
        let newline = markdown.newline();
        let gap = if text[..at].ends_with('\n') { "" } else { newline };
        splices.insert(at, format!("{gap}{newline}- [{tick}] **{}**: {}{newline}", id.trim(), title.trim()));
    }
    splices.apply(text)
}

fn roadmap(
    view: &ProjectView,
    milestones: &[ImportedMilestone],
    phases: &[ImportedPhase<'_>],
) -> Result<String, FileError> {
    let project = root_document(view, "PROJECT.md")?;
    let title = project.as_deref().and_then(|text| {
        let markdown = Markdown::parse(text);
        markdown.headings().find(|heading| heading.level == 1).map(|heading| heading.title.to_owned())
    });
    let mut text = match title {
        Some(title) => format!("# Roadmap: {title}\n"),
        None => "# Roadmap\n".to_owned(),
    };
    // Writing to a string cannot fail.
    for milestone in milestones {
        let _ = write!(text, "\n## {}: {}\n\n", milestone.id, one_line(&milestone.title));
        if let Some(vision) = &milestone.vision {
            let _ = write!(text, "**Vision:** {}\n\n", one_line(vision));
        }
        let own: Vec<&ImportedPhase<'_>> = phases.iter().filter(|phase| phase.milestone.id == milestone.id).collect();
        for phase in &own {
            let tick = if phase.slice.done { 'x' } else { ' ' };
            let told = phase.slice.after.as_deref().unwrap_or(&phase.slice.title);
            let _ = writeln!(text, "- [{tick}] **Phase {}: {}** - {}", phase.number, phase.name(), one_line(told));
        }
        for phase in own {
            phase.write_section(&mut text);
        }
    }
    Ok(text)
}

impl ImportedPhase<'_> {
    fn name(&self) -> String {
        one_line(&self.slice.title).replace('*', "")
    }

    fn plan_file(&self, index: usize) -> String {
        format!("{}-{:02}-PLAN.md", self.token, index + 1)
    }

    fn write_section(&self, text: &mut String) {
        let goal = self.slice.goal.clone().or_else(|| self.slice.after.clone());
        let depends: Vec<String> = self.depends.iter().map(|number| format!("Phase {number}")).collect();
        let depends = if depends.is_empty() { "Nothing".to_owned() } else { depends.join(", ") };
        let tasks = &self.slice.tasks;
        let done = tasks.iter().filter(|task| task.done).count();
        let plans = match (tasks.len(), done) {
            (0, _) => "TBD".to_owned(),
            (all, done) if all == done => format!("{done}/{all} plans complete"),
            (all, done) => format!("{done}/{all} plans executed"),
        };
        let goal = goal.unwrap_or_else(|| self.slice.title.clone());
        let _ = write!(text, "\n### Phase {}: {}\n\n**Goal**: {}\n", self.number, self.name(), one_line(&goal));
        let _ = writeln!(text, "**Depends on**: {depends}");
        let must = &self.slice.must_haves;
        if !must.is_empty() {
            text.push_str("**Success Criteria** (what must be TRUE):\n");
            for (index, item) in must.iter().enumerate() {
                let _ = writeln!(text, "  {}. {item}", index + 1);
            }
        }
        let _ = writeln!(text, "**Plans**: {plans}");
        if !tasks.is_empty() {
            text.push_str("\nPlans:\n\n");
        }
        for (index, task) in tasks.iter().enumerate() {
            let tick = if task.done { 'x' } else { ' ' };
            let _ = writeln!(text, "- [{tick}] {} — {}", self.plan_file(index), one_line(&task.title));
        }
    }
}

/// Adds the documents of a phase's folder.
fn phase_documents(root: &str, phase: &ImportedPhase<'_>, edits: &mut Edits) {
    let folder = format!("{root}/{}", phase.folder);
    edits.texts.insert(format!("{folder}/{}-CONTEXT.md", phase.token), context(phase));
    if let Some(research) = &phase.slice.research {
        edits.texts.insert(format!("{folder}/{}-RESEARCH.md", phase.token), research.text.clone());
    }
    for (index, task) in phase.slice.tasks.iter().enumerate() {
        let file = phase.plan_file(index);
        let plan = format!("{:02}", index + 1);
        let summary = file.replace("-PLAN.md", "-SUMMARY.md");
        edits.texts.insert(format!("{folder}/{file}"), plan_text(phase, &plan, task));
        if task.done {
            edits.texts.insert(format!("{folder}/{summary}"), summary_text(phase, &plan, task));
        }
    }
}

fn context(phase: &ImportedPhase<'_>) -> String {
    let Slice { id, title, .. } = phase.slice;
    let mut text = format!(
        "# Phase {}: {} - Context\n\nImported from slice {}/{id}: {}.\n",
        phase.number,
        phase.name(),
        phase.milestone.id,
        one_line(title)
    );
    for document in [&phase.slice.context, &phase.slice.plan, &phase.slice.summary].into_iter().flatten() {
        let _ = write!(text, "\n{}", quoted(document));
    }
    text
}

/// A document below a heading that names its source.
fn quoted(document: &Document) -> String {
    let name = document.path.rsplit('/').next().unwrap_or(&document.path);
    format!("## From {name}\n\n{}\n", document.body())
}

fn plan_text(phase: &ImportedPhase<'_>, plan: &str, task: &Task) -> String {
    let text = |value: &str| Value::Text(value.to_owned());
    let entries = [
        ("phase", text(&phase.folder)),
        ("plan", text(plan)),
        ("type", text("execute")),
        ("wave", text("1")),
        ("depends_on", Value::List(Vec::new())),
        ("files_modified", Value::List(Vec::new())),
        ("autonomous", text("true")),
    ];
    let entries: Vec<(String, Value)> = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let title = one_line(&task.title);
    let source = task.plan.as_ref().or(phase.slice.plan.as_ref());
    let source = source.map(|document| format!("\n@{}", document.path)).unwrap_or_default();
    let action = match &task.plan {
        Some(plan) => plan.body().to_owned(),
        None if task.notes.is_empty() => title.clone(),
        None => task.notes.join("\n"),
    };
    let body = format!(
        "\n<objective>\n{title}\n</objective>\n\n<context>\nPhase {}: {}, imported from {}/{}/{}.{source}\n</context>\n\n\
         <tasks>\n\n<task type=\"auto\">\n  <name>Task 1: {title}</name>\n  <action>\n{action}\n  </action>\n</task>\n\n\
         </tasks>\n",
        phase.number,
        phase.name(),
        phase.milestone.id,
        phase.slice.id,
        task.id
    );
    compose(&entries, &body, "\n")
}

/// The summary with the identifiers of this layout. Other fields of its front matter stay.
fn summary_text(phase: &ImportedPhase<'_>, plan: &str, task: &Task) -> String {
    let mut entries = vec![
        ("phase".to_owned(), Value::Text(phase.folder.clone())),
        ("plan".to_owned(), Value::Text(plan.to_owned())),
    ];
    let Some(summary) = &task.summary else {
        entries.push(("status".to_owned(), Value::Text("complete".to_owned())));
        let body = format!(
            "\n# {} Summary\n\nTicked in the plan of its slice, which has no summary.\n",
            one_line(&task.title)
        );
        return compose(&entries, &body, "\n");
    };
    let text = summary.text.trim_start_matches('\u{feff}');
    let front = FrontMatter::parse(text);
    for (key, value) in front.as_ref().map(FrontMatter::entries).unwrap_or_default() {
        if !entries.iter().any(|(known, _)| *known == key) {
            entries.push((key, value));
        }
    }
    let body = front.as_ref().map_or(text, |front| front.body());
    compose(&entries, &format!("\n{}\n", body.trim()), "\n")
}

fn state_text(view: &ProjectView, phases: &[ImportedPhase<'_>], day: &str) -> Result<String, FileError> {
    let next = phases.iter().find(|phase| !phase.slice.done);
    let done = phases.iter().filter(|phase| phase.slice.done).count();
    let percent = u64::try_from((100 * done).checked_div(phases.len()).unwrap_or(0)).unwrap_or(0);
    let (focus, phase, status) = match (next, phases.last()) {
        (Some(next), _) => (
            format!("Phase {} — {}", next.number, next.name()),
            format!("{} of {} ({})", next.number, phases.len(), next.name()),
            if next.slice.tasks.is_empty() { "Ready to plan" } else { "Ready to execute" },
        ),
        (None, Some(last)) => (
            "What comes next".to_owned(),
            format!("{} of {} ({})", last.number, phases.len(), last.name()),
            "All phases complete",
        ),
        (None, None) => ("The first phase".to_owned(), "Not started".to_owned(), "Ready to plan"),
    };
    let decisions = decisions(view)?;
    let decisions = if decisions.is_empty() { "None yet.\n".to_owned() } else { decisions };
    let progress = progress_bar(percent);
    Ok(format!(
        "# Project State\n\n## Project Reference\n\nSee: .planning/PROJECT.md\n\n**Current focus:** {focus}\n\n\
         ## Current Position\n\nPhase: {phase}\nPlan: Not started\nStatus: {status}\n\
         Last activity: {day} — Imported from {FOLDER}\n\nProgress: {progress}\n\n\
         ## Accumulated Context\n\n### Decisions\n\n{decisions}\n### Pending Todos\n\nNone yet.\n\n\
         ### Blockers/Concerns\n\nNone yet.\n\n\
         ## Session Continuity\n\nLast session: {day}\nStopped at: Imported from {FOLDER}\nResume file: None\n"
    ))
}

/// The rows of DECISIONS.md as a list.
fn decisions(view: &ProjectView) -> Result<String, FileError> {
    let Some(text) = root_document(view, "DECISIONS.md")? else { return Ok(String::new()) };
    let markdown = Markdown::parse(&text);
    let mut list = String::new();
    for table in Table::all(&markdown) {
        let column = |name: &str| table.column(name);
        let Some(decision) = column("Decision") else { continue };
        for row in 0..table.row_count() {
            let cell = |column: Option<usize>| column.map(|column| table.cell_text(row, column)).unwrap_or_default();
            let what = [cell(Some(decision)), cell(column("Choice"))];
            let what: Vec<&str> = what.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            let (when, why) = (cell(column("When")), cell(column("Rationale")));
            let when = if when.is_empty() { String::new() } else { format!("[{when}]: ") };
            let why = if why.is_empty() { String::new() } else { format!(" — {why}") };
            if !what.is_empty() {
                let _ = writeln!(list, "- {when}{}{why}", what.join(": "));
            }
        }
    }
    Ok(list)
}

/// The files and their sources, for people.
fn preview(
    planning: &str,
    milestones: &[ImportedMilestone],
    phases: &[ImportedPhase<'_>],
    edits: &Edits,
    kept: Option<&str>,
) -> String {
    let mut text = format!("{planning}:\n");
    let inside = format!("{planning}/");
    for path in edits.texts.keys() {
        let _ = writeln!(text, "  {}", path.strip_prefix(&inside).unwrap_or(path));
    }
    let tasks: Vec<&Task> = phases.iter().flat_map(|phase| &phase.slice.tasks).collect();
    let done = |ticked: usize| format!("{ticked} done");
    let _ = write!(
        text,
        "\nmilestones: {}\nphases: {} ({})\nplans: {} ({})\n\nnot imported: costs, journals, databases, preferences",
        milestones.len(),
        phases.len(),
        done(phases.iter().filter(|phase| phase.slice.done).count()),
        tasks.len(),
        done(tasks.iter().filter(|task| task.done).count()),
    );
    if let Some(kept) = kept {
        let _ = write!(text, "\nthe earlier files are in {kept}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn view(files: &[(&'static str, &'static str)]) -> ProjectView {
        let always = [
            (".gsd/PROJECT.md", "# Demo\n"),
            (".gsd/REQUIREMENTS.md", "### R001 — Do it\n- Status: active\n\n### R002 — Done\n- Status: validated\n"),
            (
                ".gsd/DECISIONS.md",
                "| # | When | Decision | Choice | Rationale |\n|---|---|---|---|---|\n| 1 | M001 | DB | SQLite | small |\n",
            ),
            (
                ".gsd/milestones/M001/M001-ROADMAP.md",
                "# M001: MVP\n\n**Vision:** ship\n\n## Slices\n\n- [x] **S01: First slice** `risk:low` `depends:[]`\n  > After this: works\n- [ ] **S02: Second** `depends:[S01]`\n",
            ),
            (
                ".gsd/milestones/M001/slices/S01/S01-PLAN.md",
                "# S01: First slice\n\n**Goal:** g **Demo:** d\n\n## Must-Haves\n- a\n\n## Tasks\n\n- [x] **T01: Do it** `est:30m`\n  Notes.\n- [x] **T02: More**\n\n## Files Likely Touched\n- x\n",
            ),
            (".gsd/milestones/M001/slices/S01/tasks/T01-PLAN.md", "# T01: Do it\n\n## Steps\n1. x\n"),
            (
                ".gsd/milestones/M001/slices/S01/tasks/T01-SUMMARY.md",
                "---\nid: T01\nprovides: [api]\n---\n# T01\n\n**Did it**\n",
            ),
            (
                ".gsd/milestones/M002-abc123/ROADMAP.md",
                "# M002: Later\n\n| Slice | Title | Status |\n|---|---|---|\n| S01 | Third | done |\n",
            ),
        ];
        ProjectView::of(always.iter().chain(files).copied())
    }

    fn imported(view: &ProjectView, force: bool) -> (ImportOutcome, Edits) {
        let facts = Facts { today: "2026-01-02".to_owned(), ..Facts::default() };
        let new = NewFile { services: &[], personal: None, choices: None };
        import(view, force, new, &facts).unwrap()
    }

    #[test]
    fn slices_become_phases_and_tasks_become_plans() {
        let (outcome, edits) = imported(&view(&[]), false);
        let report = outcome.unwrap();
        assert_eq!((report.milestones, report.files_written), (2, edits.texts.len()));
        let text = |path: &str| edits.texts[&format!(".planning/{path}")].as_str();
        let roadmap = text("ROADMAP.md");
        assert!(
            roadmap.starts_with(
                "# Roadmap: Demo\n\n## M001: MVP\n\n**Vision:** ship\n\n- [x] **Phase 1: First slice** - works\n"
            ),
            "{roadmap}"
        );
        assert!(
            roadmap.contains("### Phase 2: Second\n\n**Goal**: Second\n**Depends on**: Phase 1\n**Plans**: TBD\n"),
            "{roadmap}"
        );
        assert!(
            roadmap.contains("  1. a\n**Plans**: 2/2 plans complete\n\nPlans:\n\n- [x] 01-01-PLAN.md — Do it\n"),
            "{roadmap}"
        );
        assert!(roadmap.contains("## M002: Later\n\n- [x] **Phase 3: Third**"), "{roadmap}");
        assert!(text("phases/01-first-slice/01-01-PLAN.md").contains("<action>\n## Steps\n1. x\n  </action>"));
        let summary = text("phases/01-first-slice/01-01-SUMMARY.md");
        assert!(
            summary.contains("provides: [api]\n") && summary.ends_with("---\n\n# T01\n\n**Did it**\n"),
            "{summary}"
        );
        assert!(text("phases/01-first-slice/01-02-SUMMARY.md").contains("has no summary"));
        assert!(text("phases/01-first-slice/01-CONTEXT.md").contains("## From S01-PLAN.md\n\n**Goal:** g"));
        assert!(text("REQUIREMENTS.md").contains("### R001 — Do it\n\n- [ ] **R001**: Do it\n- Status"));
        assert!(text("REQUIREMENTS.md").contains("- [x] **R002**: Done\n"));
        let state = text("STATE.md");
        assert!(
            state.contains("Phase: 2 of 3 (Second)\n") && state.contains("- [M001]: DB: SQLite — small\n"),
            "{state}"
        );
        assert!(state.contains("current_phase: 2\n"), "{state}");
    }

    #[test]
    fn existing_contents_are_kept() {
        let view = view(&[
            (".planning/PROJECT.md", "mine"),
            (".planning/phases/01-first-slice/01-01-PLAN.md", "mine"),
            (".planning/config.json", "{\"mode\": \"yolo\"}"),
        ]);
        let (outcome, edits) = imported(&view, false);
        assert!(outcome.unwrap_err().error.contains("--force") && edits.is_empty());
        let (outcome, edits) = imported(&view, true);
        assert_eq!(outcome.unwrap().kept.as_deref(), Some(".planning/archive/before-import-2026-01-02"));
        let after = view.after(&edits);
        let text = |path: &str| after.text(path).unwrap().unwrap_or_default().to_string();
        assert_eq!(text(".planning/archive/before-import-2026-01-02/PROJECT.md"), "mine");
        assert_eq!(text(".planning/archive/before-import-2026-01-02/phases/01-first-slice/01-01-PLAN.md"), "mine");
        assert_eq!(
            (text(".planning/PROJECT.md").as_str(), text(".planning/config.json").as_str()),
            ("# Demo\n", "{\"mode\": \"yolo\"}")
        );
        let nothing = MemoryFiles::default().view();
        assert_eq!(imported(&nothing, true).0.unwrap_err().error, "there is no folder `.gsd` in /p");
    }
}
