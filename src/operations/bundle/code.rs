//! `init map-codebase`, `docs-update`, `ingest-docs` and `debug`: work on the code and the texts around it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::files::FileError;

use super::sections::{Condition, SectionManifest};
use super::{Bundle, CodeFacts, Complete, Moment};

/// What `init map-codebase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MapCodebaseReport {
    mapper_model: String,
    commit_docs: bool,
    search_gitignored: bool,
    parallelization: bool,
    subagent_timeout: Option<u64>,
    date: String,
    timestamp: String,
    codebase_dir: String,
    existing_maps: Vec<String>,
    has_maps: bool,
    planning_exists: bool,
    codebase_dir_exists: bool,
}

/// What `init docs-update` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DocsUpdateReport {
    section_manifest: SectionManifest,
}

/// What `init ingest-docs` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IngestDocsReport {
    project_exists: bool,
    planning_exists: bool,
    has_git: bool,
    git_worktree_root: Option<String>,
    in_nested_subdir: bool,
    project_path: String,
    requirements_path: String,
    roadmap_path: String,
    state_path: String,
    intel_dir: String,
    conflicts_path: String,
    commit_docs: bool,
}

/// What `init debug` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DebugReport {
    commit_docs: bool,
    debug_dir: String,
    debugger_model: String,
    tdd_mode: bool,
    diagnose: bool,
    /// The workflow has no conditional sections.
    section_manifest: Option<SectionManifest>,
}

impl Bundle<'_> {
    /// What mapping existing code starts from.
    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
    pub(crate) fn map_codebase(&self, moment: &Moment) -> Result<Complete<MapCodebaseReport>, FileError> {
        let folder = self.view.layout().codebase();
        let mut maps = self.view.file_names(&folder)?;
        maps.retain(|name| name.ends_with(".md"));
        let report = MapCodebaseReport {
            mapper_model: self.model("gsd-codebase-mapper"),
            commit_docs: self.commit_docs(),
            search_gitignored: self.config.flag("search_gitignored") || self.config.flag("planning.search_gitignored"),
            parallelization: self.config.flag("parallelization"),
            subagent_timeout: self.config.number("workflow.subagent_timeout"),
            date: moment.day.clone(),
            timestamp: moment.timestamp.clone(),
            codebase_dir: self.shown(&folder),
            has_maps: !maps.is_empty(),
            existing_maps: maps,
            planning_exists: self.planning_exists(),
            codebase_dir_exists: self.view.exists(&folder),
        };
        self.complete(report)
    }

    /// What bringing documentation up to date starts from.
    pub(crate) fn docs_update(&self) -> Result<Complete<DocsUpdateReport>, FileError> {
        let several = self.has_several_packages()?;
        let section_manifest = SectionManifest::of("docs-update", &[(Condition::SeveralPackages, several)]);
        self.complete(DocsUpdateReport { section_manifest })
    }

    /// Whether the project says that it is made of several packages.
    pub(super) fn has_several_packages(&self) -> Result<bool, FileError> {
        if self.view.exists("pnpm-workspace.yaml") {
            return Ok(true);
        }
        let text = self.view.text("package.json")?;
        let package: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
        let members = package
            .as_ref()
            .and_then(|package| package.get("workspaces"))
            .map(|workspaces| workspaces.get("packages").unwrap_or(workspaces));
        Ok(members.and_then(Value::as_array).is_some_and(|members| !members.is_empty()))
    }

    /// What taking existing documents in starts from.
    pub(crate) fn ingest_docs(&self, code: &CodeFacts) -> Result<Complete<IngestDocsReport>, FileError> {
        let layout = self.view.layout();
        let report = IngestDocsReport {
            project_exists: self.view.exists(&layout.project()),
            planning_exists: self.planning_exists(),
            has_git: code.repository.is_some(),
            git_worktree_root: code.repository.clone(),
            in_nested_subdir: code.in_nested_folder,
            project_path: self.shown(&layout.project()),
            requirements_path: self.shown(&layout.requirements()),
            roadmap_path: self.shown(&layout.roadmap()),
            state_path: self.shown(&layout.state()),
            intel_dir: self.shown(&layout.intel()),
            conflicts_path: self.shown(&layout.ingest_conflicts()),
            commit_docs: self.commit_docs(),
        };
        self.complete(report)
    }

    /// What hunting a bug starts from.
    pub(crate) fn debug(&self, diagnose: bool) -> Result<Complete<DebugReport>, FileError> {
        let report = DebugReport {
            commit_docs: self.commit_docs(),
            debug_dir: self.shown(&self.view.layout().debug()),
            debugger_model: self.model("gsd-debugger"),
            tdd_mode: self.config.flag("workflow.tdd_mode"),
            diagnose,
            section_manifest: None,
        };
        self.complete(report)
    }
}
