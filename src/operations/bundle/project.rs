//! `init new-project`, `resume` and `milestone-op`: the project as a whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::gates::command::{self, Gate};
use crate::operations::gates::own_checks::{self, OwnCheck};
use crate::project::config;
use crate::project::figures::Counts;
use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::roadmap::Roadmap;
use crate::text::slug;

use super::sections::{Condition, SectionManifest};
use super::{Automation, Bundle, Complete};

/// The documents of a map of existing code.
pub(super) const CODE_MAP: &[&str] =
    &["STACK.md", "ARCHITECTURE.md", "STRUCTURE.md", "CONVENTIONS.md", "TESTING.md", "INTEGRATIONS.md", "CONCERNS.md"];

/// Which documents of a project are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents {
    pub(super) planning: bool,
    pub(super) project: bool,
    pub(super) requirements: bool,
    pub(super) roadmap: bool,
    pub(super) state: bool,
    /// The history of milestones. Between two of them, requirements and roadmap are away.
    pub(super) milestones: bool,
}

impl Documents {
    /// Setting the project up was begun and not brought to its end.
    pub(super) fn incomplete(self) -> bool {
        let all = self.project && self.requirements && self.roadmap && self.state;
        self.planning && !all && !self.milestones
    }
}

/// What is known of the code around the documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeFacts {
    pub(crate) has_source_files: bool,
    /// A file by which a package manager knows a project.
    pub(crate) has_package_file: bool,
    /// The root of the repository or worktree the project is in.
    pub(crate) repository: Option<String>,
    pub(crate) in_nested_folder: bool,
    /// Folders of the project that are repositories of their own.
    pub(crate) sub_repositories: Vec<String>,
    pub(crate) search: SearchFacts,
    /// The text of the user's own `defaults.json`.
    pub(crate) user_defaults: Option<String>,
}

/// The settings that setting a project up asks for.
const ASKED: &[&str] = &[
    "mode",
    "granularity",
    "parallelization",
    "commit_docs",
    "workflow.research",
    "workflow.plan_check",
    "workflow.verifier",
    "model_profile",
];

/// Which search services there are keys for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchFacts {
    pub(crate) brave: bool,
    pub(crate) firecrawl: bool,
    pub(crate) exa: bool,
}

/// What `init new-project` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewProjectReport {
    researcher_model: String,
    synthesizer_model: String,
    roadmapper_model: String,
    commit_docs: bool,
    #[serde(flatten)]
    automation: Automation,
    planning_exists: bool,
    requirements_exists: bool,
    milestones_exists: bool,
    init_incomplete: bool,
    project_exists: bool,
    has_codebase_map: bool,
    has_existing_code: bool,
    has_package_file: bool,
    is_brownfield: bool,
    sub_repos_detected: Vec<String>,
    needs_codebase_map: bool,
    has_git: bool,
    git_worktree_root: Option<String>,
    in_nested_subdir: bool,
    brave_search_available: bool,
    firecrawl_available: bool,
    exa_search_available: bool,
    project_path: String,
    requirements_path: String,
    roadmap_path: String,
    config_path: String,
    research_dir: String,
    /// What the user's own `defaults.json` says to the questions about settings; null without that file.
    user_defaults: Option<BTreeMap<&'static str, Value>>,
    /// The command by which the project seems to test itself.
    test_command: Option<String>,
    /// Checks of the project that would look at planning files which are tracked.
    planning_checks: Vec<OwnCheck>,
    section_manifest: SectionManifest,
}

/// What `init resume` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResumeReport {
    planning_exists: bool,
    requirements_exists: bool,
    milestones_exists: bool,
    init_incomplete: bool,
    state_exists: bool,
    roadmap_exists: bool,
    project_exists: bool,
    state_path: String,
    roadmap_path: String,
    project_path: String,
    has_interrupted_agent: bool,
    interrupted_agent_id: Option<String>,
    commit_docs: bool,
}

/// What `init milestone-op` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MilestoneOpReport {
    commit_docs: bool,
    #[serde(flatten)]
    milestone: MilestoneFacts,
    project_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    archive_exists: bool,
    phases_dir_exists: bool,
}

/// The milestone and how far it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MilestoneFacts {
    milestone_version: Option<String>,
    milestone_name: Option<String>,
    milestone_slug: Option<String>,
    phase_count: usize,
    completed_phases: u64,
    /// Every phase is complete.
    all_phases_complete: bool,
    archived_milestones: Vec<String>,
    archive_count: usize,
}

/// Of a file of settings, what setting a project up asks for. A file that does not parse says nothing: the configuration
/// warns of it.
fn asked_of(text: &str) -> BTreeMap<&'static str, Value> {
    let settings = config::parse(text).unwrap_or_default();
    let value = |key: &&'static str| Some((*key, config::at(&settings, key)?.clone()));
    ASKED.iter().filter_map(value).collect()
}

impl Bundle<'_> {
    /// What starting a project starts from.
    pub(crate) fn new_project(&self, auto: bool, code: &CodeFacts) -> Result<Complete<NewProjectReport>, FileError> {
        let layout = self.view.layout();
        let documents = self.documents();
        let map = self.view.names(&layout.codebase())?;
        let has_codebase_map = CODE_MAP.iter().all(|file| map.iter().any(|name| name == file));
        let is_brownfield = code.has_source_files || code.has_package_file;
        let needs_codebase_map = is_brownfield && !has_codebase_map;
        let decided = [(Condition::Auto, auto), (Condition::UnmappedCode, needs_codebase_map)];
        let section_manifest = SectionManifest::of("new-project", &decided);
        let report = NewProjectReport {
            researcher_model: self.model("gsd-project-researcher"),
            synthesizer_model: self.model("gsd-research-synthesizer"),
            roadmapper_model: self.model("gsd-roadmapper"),
            commit_docs: self.commit_docs(),
            automation: self.automation(),
            planning_exists: documents.planning,
            requirements_exists: documents.requirements,
            milestones_exists: documents.milestones,
            init_incomplete: documents.incomplete(),
            project_exists: documents.project,
            has_codebase_map,
            has_existing_code: code.has_source_files,
            has_package_file: code.has_package_file,
            is_brownfield,
            sub_repos_detected: code.sub_repositories.clone(),
            needs_codebase_map,
            has_git: code.repository.is_some(),
            git_worktree_root: code.repository.clone(),
            in_nested_subdir: code.in_nested_folder,
            brave_search_available: code.search.brave,
            firecrawl_available: code.search.firecrawl,
            exa_search_available: code.search.exa,
            project_path: self.shown(&layout.project()),
            requirements_path: self.shown(&layout.requirements()),
            roadmap_path: self.shown(&layout.roadmap()),
            config_path: self.shown(&layout.config()),
            research_dir: self.shown(&layout.research()),
            user_defaults: code.user_defaults.as_deref().map(asked_of),
            test_command: command::find(Gate::Test, self.config, None, self.view, None)?.map(|found| found.command),
            planning_checks: own_checks::checks_of(self.view.files(), layout.planning())?,
            section_manifest,
        };
        self.complete(report)
    }

    /// What taking work up again starts from.
    pub(crate) fn resume(&self) -> Result<Complete<ResumeReport>, FileError> {
        let layout = self.view.layout();
        let documents = self.documents();
        let agent = self.view.text(&layout.interrupted_agent())?;
        let agent = agent.map(|text| text.trim().to_owned()).filter(|id| !id.is_empty());
        let report = ResumeReport {
            planning_exists: documents.planning,
            requirements_exists: documents.requirements,
            milestones_exists: documents.milestones,
            init_incomplete: documents.incomplete(),
            state_exists: documents.state,
            roadmap_exists: documents.roadmap,
            project_exists: documents.project,
            state_path: self.shown(&layout.state()),
            roadmap_path: self.shown(&layout.roadmap()),
            project_path: self.shown(&layout.project()),
            has_interrupted_agent: agent.is_some(),
            interrupted_agent_id: agent,
            commit_docs: self.commit_docs(),
        };
        self.complete(report)
    }

    /// The milestone and how many of its phases are done.
    pub(crate) fn milestone_op(&self) -> Result<Complete<MilestoneOpReport>, FileError> {
        let layout = self.view.layout();
        let report = MilestoneOpReport {
            commit_docs: self.commit_docs(),
            milestone: self.milestone_facts()?,
            project_exists: self.view.exists(&layout.project()),
            roadmap_exists: self.roadmap_exists(),
            state_exists: self.view.exists(&layout.state()),
            archive_exists: self.view.exists(&layout.archive()),
            phases_dir_exists: self.view.exists(&layout.phases()),
        };
        self.complete(report)
    }

    pub(super) fn milestone_facts(&self) -> Result<MilestoneFacts, FileError> {
        let milestone = self.milestone()?;
        let mut folders = self.view.milestone_folders()?;
        folders.retain(|folder| !folder.id().is_sentinel());
        let text = self.view.roadmap_text()?;
        let roadmap = text.as_deref().map(|text| self.view.parse_roadmap(text));
        let sections = roadmap.iter().flat_map(Roadmap::sections).filter(|section| {
            !section.shipped && milestone.holds(section.heading_line) && !PhaseId::new(section.id).is_sentinel()
        });
        let phase_count = match sections.count() {
            0 => folders.len(),
            count => count,
        };
        let counts = Counts::of(self.view)?;
        let archived = self.view.folder_names(&self.view.layout().archive())?;
        Ok(MilestoneFacts {
            milestone_slug: milestone.name.as_deref().map(slug),
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            phase_count,
            completed_phases: counts.completed_phases,
            all_phases_complete: phase_count > 0 && counts.completed_phases >= counts.total_phases,
            archive_count: archived.len(),
            archived_milestones: archived,
        })
    }
}
