//! Reads the documents of a project in slices into a [`Snapshot`]: the progress of every milestone, the slices of the
//! active one, and the details of the active slice.
//!
//! A file that cannot be read or parsed is a problem; it never counts as missing.

use super::derive::{self, Scope};
use super::snapshot::{
    FileProblem, Milestone, Slice, SliceDetail, SliceTask, Snapshot, TaskQuestion, TaskSummary, Uat, Validation,
    VerifyFile,
};
use crate::auto::mechanical;
use crate::auto::prompt::citation;
use crate::project::files::{Files, FolderEntry};
use crate::project::milestone_layout::captures::{Capture, CaptureClass};
use crate::project::milestone_layout::{
    assessment, captures, context,
    escalation::Escalation,
    evidence::TaskEvidence,
    gates::Gates,
    ids::leading,
    lookup, milestone_summary, overrides, queue, record, requirements,
    roadmap::Roadmap,
    slice_plan::SlicePlan,
    summary::{Summary, is_unfinished},
    uat, validation,
};

use crate::text::terminal::one_line;

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent<'a> {
    /// The documents that decide what comes next in this scope.
    Active(&'a Scope),
    /// Every slice of every milestone.
    All,
}

/// Reads the documents.
pub(crate) fn snapshot(files: &dyn Files, extent: Extent<'_>) -> Snapshot {
    let mut reader = SliceReader { files, problems: Vec::new() };
    let root = reader.list(lookup::FOLDER);
    let mut snapshot = Snapshot {
        requirements: reader.requirements(&root),
        has_active_override: reader
            .root_text(&root, "OVERRIDES.md")
            .is_some_and(|text| overrides::read(&text).iter().any(|change| change.is_active)),
        captures: reader.root_text(&root, captures::FILE).map(|text| captures::read(&text)).unwrap_or_default(),
        ..Snapshot::default()
    };
    let entries = reader.list(lookup::MILESTONES);
    let order = reader.order(&root);
    let mut folders = Vec::new();
    for id in lookup::milestones(&entries, &order) {
        let Some(name) = lookup::folder(&entries, &id) else { continue };
        let folder = format!("{}/{name}", lookup::MILESTONES);
        let Some(milestone) = reader.milestone(&folder, &id) else { continue };
        snapshot.milestones.push(milestone);
        folders.push(folder);
    }
    let active = match extent {
        Extent::Active(scope) => Some(derive::active(&snapshot, scope).map(|milestone| milestone.id.clone())),
        Extent::All => None,
    };
    for (index, folder) in folders.iter().enumerate() {
        let id = snapshot.milestones.get(index).map(|milestone| milestone.id.clone());
        if active.as_ref().is_none_or(|active| *active == id) {
            reader.slices(folder, &mut snapshot, index, extent);
        }
    }
    snapshot.problems = reader.problems;
    snapshot.problems.sort();
    snapshot
}

struct SliceReader<'a> {
    files: &'a dyn Files,
    problems: Vec<FileProblem>,
}

impl SliceReader<'_> {
    fn list(&mut self, folder: &str) -> Vec<FolderEntry> {
        match self.files.list(folder) {
            Ok(entries) => entries.unwrap_or_default(),
            Err(error) => {
                self.problem(&error.path, None, error.reason);
                Vec::new()
            }
        }
    }

    fn text(&mut self, path: &str) -> Option<String> {
        match self.files.read(path) {
            Ok(text) => text,
            Err(error) => {
                self.problem(&error.path, None, error.reason);
                None
            }
        }
    }

    fn problem(&mut self, path: &str, line: Option<usize>, what: String) {
        self.problems.push(FileProblem { path: path.to_owned(), line, what });
    }

    fn root_text(&mut self, root: &[FolderEntry], name: &str) -> Option<String> {
        let name = lookup::root_file(root, name)?;
        self.text(&format!("{}/{name}", lookup::FOLDER))
    }

    fn requirements(&mut self, root: &[FolderEntry]) -> requirements::RequirementCounts {
        let text = self.root_text(root, "REQUIREMENTS.md");
        text.map(|text| requirements::Requirements::parse(&text).counts()).unwrap_or_default()
    }

    fn order(&mut self, root: &[FolderEntry]) -> Vec<String> {
        self.record::<queue::Queue>(root, lookup::FOLDER, "QUEUE-ORDER.json")
            .map(|queue| queue.order)
            .unwrap_or_default()
    }

    /// Reads a JSON record by its name; one that does not parse is a problem.
    fn record<T: serde::de::DeserializeOwned>(
        &mut self,
        entries: &[FolderEntry],
        folder: &str,
        name: &str,
    ) -> Option<T> {
        let name = lookup::root_file(entries, name)?;
        self.record_at(&format!("{folder}/{name}"))
    }

    fn record_at<T: serde::de::DeserializeOwned>(&mut self, path: &str) -> Option<T> {
        let text = self.text(path)?;
        match record::read(path, &text) {
            Ok(record) => Some(record),
            Err(error) => {
                self.problem(&error.path, Some(error.line), error.message);
                None
            }
        }
    }

    fn document(&mut self, entries: &[FolderEntry], folder: &str, id: &str, kind: &str) -> Option<String> {
        let name = lookup::file(entries, id, kind)?;
        self.text(&format!("{folder}/{name}"))
    }

    /// Reads the milestone; `None` for a folder without work.
    fn milestone(&mut self, folder: &str, id: &str) -> Option<Milestone> {
        let entries = self.list(folder);
        let has = |kind: &str| lookup::file(&entries, id, kind).is_some();
        let (has_context, has_draft) = (has("CONTEXT"), has("CONTEXT-DRAFT"));
        let (has_roadmap, has_summary) = (has("ROADMAP"), has("SUMMARY"));
        let is_parked = has("PARKED");
        if !is_parked && !has_context && !has_draft && !has_roadmap && !has_summary {
            return None;
        }
        let mut milestone = Milestone {
            id: id.to_owned(),
            title: id.to_owned(),
            is_parked,
            has_context,
            has_draft,
            has_research: has("RESEARCH"),
            has_parallel_blocker: has("PARALLEL-BLOCKER"),
            ..Milestone::default()
        };
        let summary = self.document(&entries, folder, id, "SUMMARY");
        milestone.summary = summary.as_deref().map(milestone_summary::Ending::of);
        let roadmap = self.document(&entries, folder, id, "ROADMAP");
        let is_finished = milestone.has_ended();
        if let Some(text) = &roadmap {
            Self::roadmap(&mut milestone, text, is_finished);
        }
        if !is_finished {
            self.open_milestone(&mut milestone, &entries, folder);
        }
        Some(milestone)
    }

    fn roadmap(milestone: &mut Milestone, text: &str, is_finished: bool) {
        let roadmap = Roadmap::parse(text);
        milestone.has_operational_class = roadmap.operational().is_some();
        if let Some(title) = roadmap.title {
            milestone.title = title;
        }
        milestone.roadmap = Some(roadmap.slices.into_iter().map(|row| Slice { row, ..Slice::default() }).collect());
        if is_finished {
            // The slices of a finished milestone no longer matter.
            milestone.roadmap = Some(Vec::new());
        }
    }

    fn open_milestone(&mut self, milestone: &mut Milestone, entries: &[FolderEntry], folder: &str) {
        let id = milestone.id.clone();
        let context = self.document(entries, folder, &id, "CONTEXT");
        let context = context.or_else(|| self.document(entries, folder, &id, "CONTEXT-DRAFT"));
        if let Some(text) = context {
            let context = context::Context::parse(&text, &id);
            milestone.depends_on = context.depends_on;
            milestone.is_planning_only = context.planning_only;
            if milestone.title == id
                && let Some(title) = context.title
            {
                milestone.title = title;
            }
        }
        let validation = self.document(entries, folder, &id, "VALIDATION");
        milestone.validation = validation.map(|text| self.validation(milestone, &text));
    }

    fn validation(&mut self, milestone: &Milestone, text: &str) -> Validation {
        let found = validation::Validation::parse(text);
        let Some(verdict) = found.outcome() else { return Validation::Unclear };
        let is_by_agent = found.validated_by != Some(validation::ValidatedBy::Mechanical);
        if !is_by_agent && self.is_stale(milestone) {
            return Validation::Stale;
        }
        Validation::Verdict {
            verdict: verdict.word().to_owned(),
            is_by_agent,
            is_skipped: found.skipped.is_some(),
            has_operational_row: validation::proves_operational(text),
            unverified: mechanical::unverified_in(text),
        }
    }

    /// True if the validation was made from records that have changed since. It matters only once every slice is done.
    fn is_stale(&mut self, milestone: &Milestone) -> bool {
        let slices = milestone.roadmap.as_deref().unwrap_or_default();
        if slices.is_empty() || slices.iter().any(|slice| !slice.done) {
            return false;
        }
        match mechanical::milestone_records(self.files, &milestone.id, None) {
            Ok(records) => mechanical::is_stale(&records),
            Err(error) => {
                self.problem(&error.path, None, error.reason);
                false
            }
        }
    }

    /// Reads the slices of a milestone into the snapshot.
    fn slices(&mut self, folder: &str, snapshot: &mut Snapshot, index: usize, extent: Extent<'_>) {
        let Some(milestone) = snapshot.milestones.get_mut(index) else { return };
        let nested = format!("{folder}/slices");
        let below = self.list(&nested);
        // Older projects have no level between a milestone and its slices.
        let own = self.list(folder);
        let id = milestone.id.clone();
        let quick = quick(&snapshot.captures);
        let mut is_active_read = false;
        milestone.unlisted = unlisted(below.iter().chain(&own), milestone.roadmap.as_deref().unwrap_or_default());
        for slice in milestone.roadmap.iter_mut().flatten() {
            let inside = lookup::folder(&below, &slice.id).map(|name| format!("{nested}/{name}"));
            let inside = inside.or_else(|| Some(format!("{folder}/{}", lookup::folder(&own, &slice.id)?)));
            let Some(folder) = inside else { continue };
            let inside = self.list(&folder);
            self.slice(&folder, &inside, slice);
            let wanted = extent == Extent::All || !slice.done;
            if wanted && (extent == Extent::All || !is_active_read || slice.has_plan) {
                is_active_read = true;
                let detail = self.detail(&folder, &inside, slice, &quick);
                snapshot.slices.insert((id.clone(), slice.id.clone()), detail);
            }
        }
    }

    fn slice(&mut self, folder: &str, entries: &[FolderEntry], slice: &mut Slice) {
        let id = slice.id.clone();
        let has = |kind: &str| lookup::file(entries, &id, kind).is_some();
        slice.has_plan = has("PLAN");
        slice.has_context = has("CONTEXT");
        slice.has_research = has("RESEARCH");
        slice.has_summary = has("SUMMARY");
        slice.has_assessment = has("ASSESSMENT");
        let Some(text) = self.document(entries, folder, &id, "UAT") else { return };
        let result = self.document(entries, folder, &id, "UAT-RESULT");
        let assessment = self.document(entries, folder, &id, "ASSESSMENT");
        let verdict = assessment::slice_verdict(result.as_deref(), assessment.as_deref(), Some(&text));
        let verdict = verdict.map(|verdict| verdict.word().to_owned());
        slice.uat = Some(Uat { mode: uat::UatMode::of(&text).word().to_owned(), verdict });
    }

    /// Reads what sessions have left for captures that are done as quick tasks.
    fn quick_tasks(&mut self, folder: &str, entries: &[FolderEntry], quick: &[SliceTask]) -> Vec<SliceTask> {
        let read = |task: &SliceTask| {
            let mut found = task.clone();
            self.task(folder, entries, &mut found);
            SliceTask { question: None, ..found }
        };
        quick.iter().map(read).collect()
    }

    fn detail(&mut self, folder: &str, entries: &[FolderEntry], slice: &Slice, quick: &[SliceTask]) -> SliceDetail {
        let id = &slice.id;
        let has = |kind: &str| lookup::file(entries, id, kind).is_some();
        let tasks_folder = format!("{folder}/tasks");
        let inside = self.list(&tasks_folder);
        let is_document = |entry: &FolderEntry| entry.name.to_ascii_lowercase().ends_with(".md");
        let plan = self.document(entries, folder, id, "PLAN");
        let mut detail = SliceDetail {
            has_empty_task_folder: !inside.is_empty() && !inside.iter().any(is_document),
            has_replan: has("REPLAN"),
            has_replan_trigger: has("REPLAN-TRIGGER"),
            has_continue: has("CONTINUE") || lookup::root_file(entries, "continue.md").is_some(),
            ..SliceDetail::default()
        };
        if let Some(name) = lookup::record(entries, id, "GATES") {
            let gates: Option<Gates> = self.record_at(&format!("{folder}/{name}"));
            detail.has_open_gates = gates.is_some_and(|gates| gates.pending().any(|id| id == "Q3" || id == "Q4"));
        }
        detail.quick_tasks = self.quick_tasks(&tasks_folder, &inside, quick);
        if let Some(text) = plan {
            let plan = SlicePlan::parse(&text);
            detail.citation = citation::missing(&slice.row, &text);
            let tasks = plan.tasks.iter().map(|task| {
                let mut found = SliceTask {
                    id: task.id.clone(),
                    title: task.title.clone(),
                    is_ticked: task.done,
                    estimate: task.estimate_minutes,
                    ..SliceTask::default()
                };
                self.task(&tasks_folder, &inside, &mut found);
                found
            });
            detail.tasks = Some(tasks.collect());
        }
        detail
    }

    fn task(&mut self, folder: &str, entries: &[FolderEntry], task: &mut SliceTask) {
        task.has_plan = lookup::file(entries, &task.id, "PLAN").is_some();
        task.summary = self.document(entries, folder, &task.id, "SUMMARY").map(|text| {
            let summary = Summary::parse(&text);
            TaskSummary {
                has_blocker: summary.blocker_discovered,
                claims_no_change: summary.no_change.is_some(),
                is_unfinished: is_unfinished(&text),
            }
        });
        if let Some(name) = lookup::record(entries, &task.id, "VERIFY") {
            let evidence: Option<TaskEvidence> = self.record_at(&format!("{folder}/{name}"));
            task.check = evidence.map(|evidence| VerifyFile {
                passed: evidence.is_pass(),
                is_overridden: evidence.decision().is_some(),
            });
        }
        if let Some(name) = lookup::record(entries, &task.id, "ESCALATION") {
            let escalation: Option<Escalation> = self.record_at(&format!("{folder}/{name}"));
            task.question = escalation.filter(Escalation::is_open).map(|escalation| TaskQuestion {
                waits: escalation.is_waiting(),
                options: escalation
                    .options
                    .iter()
                    .map(|option| one_line(&format!("{}: {}", option.id, option.label)))
                    .collect(),
                text: one_line(&escalation.question),
                recommended: escalation.recommended().clone(),
            });
        }
    }
}

/// Returns the captures that are done as quick tasks, as tasks without a session.
fn quick(captures: &[Capture]) -> Vec<SliceTask> {
    let quick = captures.iter().filter(|capture| capture.open_class() == Some(CaptureClass::QuickTask));
    let task = |capture: &Capture| SliceTask {
        id: capture.id.clone(),
        title: capture.text.clone(),
        has_plan: true,
        ..SliceTask::default()
    };
    quick.map(task).collect()
}

/// Returns the slices with a folder and without a row.
fn unlisted<'a>(entries: impl Iterator<Item = &'a FolderEntry>, rows: &[Slice]) -> Vec<String> {
    let folders = entries.filter(|entry| entry.is_folder).filter_map(|entry| leading(&entry.name, 'S'));
    let is_listed = |id: &str| rows.iter().any(|row| row.id.eq_ignore_ascii_case(id));
    folders.map(|(id, _)| id).filter(|id| !is_listed(id)).map(str::to_owned).collect()
}
