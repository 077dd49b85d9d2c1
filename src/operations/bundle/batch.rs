//! `init autonomous`, `quick-batch`, `update` and `todos`: lists of work, and the program itself.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::notes::todos::{self, TodoReport};
use crate::project::files::FileError;

use super::sections::{Condition, SectionManifest};
use super::{Bundle, Complete, Moment};

/// What `init autonomous` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AutonomousReport {
    /// Plans are reviewed until nobody finds anything more.
    plan_strategy_converge: bool,
    section_manifest: SectionManifest,
}

/// What `init quick-batch` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuickBatchReport {
    planner_model: String,
    executor_model: String,
    checker_model: String,
    verifier_model: String,
    researcher_model: String,
    reviewer_model: String,
    commit_docs: bool,
    quick_dir: String,
    quick_batches_dir: String,
    roadmap_exists: bool,
    planning_exists: bool,
    section_manifest: SectionManifest,
}

/// What `init update` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdateReport {
    next_channel: bool,
    section_manifest: SectionManifest,
}

/// What `init todos` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TodosBundle {
    commit_docs: bool,
    date: String,
    timestamp: String,
    todo_count: usize,
    todos: Vec<TodoReport>,
    area_filter: Option<String>,
    pending_dir: String,
    completed_dir: String,
    planning_exists: bool,
    todos_dir_exists: bool,
    pending_dir_exists: bool,
    pending_read_ok: bool,
    /// The todos as a list that can stand in the state.
    pending_todos_markdown: String,
}

impl Bundle<'_> {
    /// What working through all phases starts from.
    pub(crate) fn autonomous(&self, converge: bool) -> Result<Complete<AutonomousReport>, FileError> {
        let section_manifest = SectionManifest::of("autonomous", &[(Condition::Converge, converge)]);
        self.complete(AutonomousReport { plan_strategy_converge: converge, section_manifest })
    }

    /// What several small tasks at once start from.
    pub(crate) fn quick_batch(&self, research: bool, validate: bool) -> Result<Complete<QuickBatchReport>, FileError> {
        let layout = self.view.layout();
        let decided = [(Condition::Research, research), (Condition::Validate, validate)];
        let section_manifest = SectionManifest::of("quick-batch", &decided);
        let report = QuickBatchReport {
            planner_model: self.model("gsd-planner"),
            executor_model: self.model("gsd-executor"),
            checker_model: self.model("gsd-plan-checker"),
            verifier_model: self.model("gsd-verifier"),
            researcher_model: self.model("gsd-phase-researcher"),
            reviewer_model: self.model("gsd-code-reviewer"),
            commit_docs: self.commit_docs(),
            quick_dir: self.shown(&layout.quick()),
            quick_batches_dir: self.shown(&layout.quick_batches()),
            roadmap_exists: self.roadmap_exists(),
            planning_exists: self.planning_exists(),
            section_manifest,
        };
        self.complete(report)
    }

    /// What bringing this program up to date starts from.
    pub(crate) fn update(&self, next_channel: bool) -> Result<Complete<UpdateReport>, FileError> {
        let section_manifest = SectionManifest::of("update", &[(Condition::NextChannel, next_channel)]);
        self.complete(UpdateReport { next_channel, section_manifest })
    }

    /// The todos that are still to do, and where they stand.
    pub(crate) fn todos(&self, area: Option<&str>, moment: &Moment) -> Result<Complete<TodosBundle>, FileError> {
        let layout = self.view.layout();
        let mut todos = todos::list(self.view, area)?.todos;
        let lines: Vec<String> = todos.iter().map(line).collect();
        for todo in &mut todos {
            todo.path = self.shown(&todo.path);
        }
        let pending = layout.todos_pending();
        let folder = pending.rsplit_once('/').map_or("", |(folder, _)| folder);
        let report = TodosBundle {
            commit_docs: self.commit_docs(),
            date: moment.day.clone(),
            timestamp: moment.timestamp.clone(),
            todo_count: todos.len(),
            todos,
            area_filter: area.map(str::to_owned),
            pending_dir: self.shown(&pending),
            completed_dir: self.shown(&layout.todos_completed()),
            planning_exists: self.scope_exists(),
            todos_dir_exists: self.view.exists(folder),
            pending_dir_exists: self.view.exists(&pending),
            // Todos that cannot be read are an error here.
            pending_read_ok: true,
            pending_todos_markdown: if lines.is_empty() { "None yet.".to_owned() } else { lines.join("\n") },
        };
        self.complete(report)
    }
}

fn line(todo: &TodoReport) -> String {
    let TodoReport { created, title, area, path, .. } = todo;
    let day = created.split(['T', ' ']).next().unwrap_or(created);
    format!("- [{day}] [{area}] {title} — [todo file]({path})")
}
