//! Facts about the documents and folders of a project: where they are, and which exist.

use super::{FactBasis, Given, facts};
use crate::project::files::FileError;
use crate::project::layout::Layout;

/// Which documents of a project exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Documents {
    pub(crate) planning: bool,
    pub(crate) project: bool,
    pub(crate) requirements: bool,
    pub(crate) roadmap: bool,
    pub(crate) state: bool,
    /// The history of milestones exists. Between two milestones, requirements and roadmap are absent.
    pub(crate) milestones: bool,
}

impl FactBasis for Documents {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self {
            planning: given.view.exists(given.view.layout().planning()),
            project: given.has(Layout::project),
            requirements: given.has(Layout::requirements),
            roadmap: given.has(Layout::roadmap),
            state: given.has(Layout::state),
            milestones: given.has(Layout::milestones),
        })
    }
}

impl Documents {
    /// True if project setup was started but not completed.
    fn incomplete(self) -> bool {
        let all = self.project && self.requirements && self.roadmap && self.state;
        self.planning && !all && !self.milestones
    }
}

facts! { |given, documents: Documents|
    /// The title of the project in PROJECT.md.
    project_title: String, if any = given.view.project_title()?;
    /// Whether the planning folder exists.
    planning_exists: bool = documents.planning;
    /// Whether PROJECT.md exists.
    project_exists: bool = documents.project;
    /// Whether REQUIREMENTS.md exists.
    requirements_exists: bool = documents.requirements;
    /// Whether ROADMAP.md exists.
    roadmap_exists: bool = documents.roadmap;
    /// Whether STATE.md exists.
    state_exists: bool = documents.state;
    /// Whether MILESTONES.md exists.
    milestones_exists: bool = documents.milestones;
    /// Whether project setup was started but not completed.
    init_incomplete: bool = documents.incomplete();
    /// Whether the configuration exists.
    config_exists: bool = given.has(Layout::config);
    /// Whether the folder of the workstream exists; without a workstream, the planning folder.
    scope_exists: bool = given.has(Layout::scope);
    /// Whether milestones were archived.
    archive_exists: bool = given.has(Layout::archive);
    /// Whether the folder of phases exists.
    phases_dir_exists: bool = given.has(Layout::phases);
    /// Whether the folder of code maps exists.
    codebase_dir_exists: bool = given.has(Layout::codebase);
    /// Whether the folder of todos exists.
    todos_dir_exists: bool = given.view.exists(parent(&given.view.layout().todos_pending()));
    /// Whether the folder of pending todos exists.
    pending_dir_exists: bool = given.has(Layout::todos_pending);
    /// Whether the project summary for newcomers exists.
    onboarding_summary_exists: bool = given.has(Layout::onboarding_summary);
    /// The planning folder, or that of the workstream.
    planning_dir: String = given.path(Layout::scope);
    /// The path of PROJECT.md.
    project_path: String = given.path(Layout::project);
    /// The path of REQUIREMENTS.md.
    requirements_path: String = given.path(Layout::requirements);
    /// The path of ROADMAP.md.
    roadmap_path: String = given.path(Layout::roadmap);
    /// The path of STATE.md.
    state_path: String = given.path(Layout::state);
    /// The path of the configuration.
    config_path: String = given.path(Layout::config);
    /// The path of MILESTONES.md.
    milestones_path: String = given.path(Layout::milestones);
    /// The path of PROJECT.md; null if it does not exist.
    project_file: Option<String> = given.path_if_there(Layout::project);
    /// The path of REQUIREMENTS.md; null if it does not exist.
    requirements_file: Option<String> = given.path_if_there(Layout::requirements);
    /// The path of ROADMAP.md; null if it does not exist.
    roadmap_file: Option<String> = given.path_if_there(Layout::roadmap);
    /// The path of STATE.md; null if it does not exist.
    state_file: Option<String> = given.path_if_there(Layout::state);
    /// The path of MILESTONES.md; null if it does not exist.
    milestones_file: Option<String> = given.path_if_there(Layout::milestones);
    /// The folder of research results.
    research_dir: String = given.path(Layout::research);
    /// The folder of phases.
    phases_dir: String = given.path(Layout::phases);
    /// The folder of completed milestones.
    archive_dir: String = given.path(Layout::milestones_folder);
    /// The folder of code maps.
    codebase_dir: String = given.path(Layout::codebase);
    /// The folder of the findings from imported documents.
    intel_dir: String = given.path(Layout::intel);
    /// The path of the report on conflicts between imported documents.
    conflicts_path: String = given.path(Layout::ingest_conflicts);
    /// The folder of debugging sessions.
    debug_dir: String = given.path(Layout::debug);
    /// The folder of small tasks.
    quick_dir: String = given.path(Layout::quick);
    /// The folder of batches of small tasks.
    quick_batches_dir: String = given.path(Layout::quick_batches);
    /// The folder of pending todos.
    pending_dir: String = given.path(Layout::todos_pending);
    /// The folder of completed todos.
    completed_dir: String = given.path(Layout::todos_completed);
    /// The path of the project summary for newcomers.
    onboarding_summary_path: String = given.path(Layout::onboarding_summary);
    /// The folder of that summary.
    onboarding_dir: String = given.shown(parent(&given.view.layout().onboarding_summary()));
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
