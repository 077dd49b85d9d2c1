//! Facts about the source code of a project: whether there is any, its repository, its map.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{FactBasis, Given, facts};
use crate::operations::gates::command::{self, Gate};
use crate::operations::gates::own_checks::{self, OwnCheck};
use crate::project::config;
use crate::project::files::FileError;

/// The documents of a map of the code.
const CODE_MAP: &[&str] =
    &["STACK.md", "ARCHITECTURE.md", "STRUCTURE.md", "CONVENTIONS.md", "TESTING.md", "INTEGRATIONS.md", "CONCERNS.md"];

/// The documents of the map that are enough to begin with.
const FAST_MAP: &[&str] = &["STACK.md", "INTEGRATIONS.md", "ARCHITECTURE.md", "STRUCTURE.md"];

/// The settings that project setup asks about.
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

/// Facts about the code.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeFacts {
    pub(crate) has_source_files: bool,
    /// A manifest of a package manager exists.
    pub(crate) has_package_file: bool,
    /// The root of the repository or worktree that contains the project.
    pub(crate) repository: Option<String>,
    pub(crate) in_nested_folder: bool,
    /// Folders of the project that are repositories themselves.
    pub(crate) sub_repositories: Vec<String>,
    pub(crate) search: SearchFacts,
    /// The text of the user's `defaults.json`.
    pub(crate) user_defaults: Option<String>,
}

/// The search services for which there are API keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchFacts {
    pub(crate) brave: bool,
    pub(crate) firecrawl: bool,
    pub(crate) exa: bool,
}

/// How much of the code map exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MapReadiness {
    None,
    /// Enough to begin with.
    Fast,
    Complete,
}

/// The map of the code.
pub(crate) struct CodeMap {
    pub(crate) present: Vec<&'static str>,
    missing: Vec<&'static str>,
    missing_fast: Vec<&'static str>,
}

impl FactBasis for CodeFacts {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self::default())
    }
}

impl CodeFacts {
    pub(crate) fn is_brownfield(&self) -> bool {
        self.has_source_files || self.has_package_file
    }
}

impl FactBasis for CodeMap {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let names = given.view.names(&given.view.layout().codebase())?;
        let is_there = |file: &str| names.iter().any(|name| name == file);
        let missing = |files: &[&'static str]| files.iter().copied().filter(|file| !is_there(file)).collect();
        Ok(Self {
            present: CODE_MAP.iter().copied().filter(|file| is_there(file)).collect(),
            missing: missing(CODE_MAP),
            missing_fast: missing(FAST_MAP),
        })
    }
}

impl CodeMap {
    pub(crate) fn readiness(&self) -> MapReadiness {
        match (self.missing.is_empty(), self.missing_fast.is_empty()) {
            (true, _) => MapReadiness::Complete,
            (false, true) => MapReadiness::Fast,
            (false, false) => MapReadiness::None,
        }
    }

    /// The state of the map as text; `complete` is the text for a complete map.
    fn status(&self, complete: &'static str) -> &'static str {
        match self.readiness() {
            MapReadiness::None => "missing",
            MapReadiness::Fast => "incomplete; a project needs the whole map",
            MapReadiness::Complete => complete,
        }
    }
}

facts! { |given, code: CodeFacts|
    /// Whether there is source code.
    has_existing_code: bool = code.has_source_files;
    /// Whether there is a manifest of a package manager.
    has_package_file: bool = code.has_package_file;
    /// Whether there is existing code: source files or such a manifest.
    is_brownfield: bool = code.is_brownfield();
    /// Whether the project is in a repository.
    has_git: bool = code.repository.is_some();
    /// The root of the repository or worktree that contains the project.
    git_worktree_root: Option<String> = code.repository.clone();
    /// Whether the project is in a folder below that root.
    in_nested_subdir: bool = code.in_nested_folder;
    /// Folders of the project that are repositories.
    sub_repos_detected: Vec<String> = code.sub_repositories.clone();
    /// Whether there is a key for Brave Search.
    brave_search_available: bool = code.search.brave;
    /// Whether there is a key for Firecrawl.
    firecrawl_available: bool = code.search.firecrawl;
    /// Whether there is a key for Exa.
    exa_search_available: bool = code.search.exa;
    /// The settings in the user's `defaults.json` that project setup asks about; null without that file.
    user_defaults: Option<BTreeMap<&'static str, Value>> = code.user_defaults.as_deref().map(asked_of);
    /// The command that appears to run the project's tests.
    test_command: Option<String> =
        command::find(Gate::Test, given.config, None, given.view, None)?.map(|found| found.command);
    /// Checks of the project that would inspect planning files once they are tracked.
    planning_checks: Vec<OwnCheck> = own_checks::checks_of(given.view.files(), given.view.layout().planning())?;
    /// The Markdown files of the code map.
    existing_maps: Vec<String> = maps(given)?;
    /// Whether the code map has a Markdown file.
    has_maps: bool = !maps(given)?.is_empty();
    /// Whether all documents of the map exist.
    has_codebase_map: bool = given.part::<CodeMap>()?.missing.is_empty();
    /// Whether there is code but documents of its map are missing.
    needs_codebase_map: bool = code.is_brownfield() && !given.part::<CodeMap>()?.missing.is_empty();
    /// How much of the code map exists.
    map_readiness: MapReadiness = given.part::<CodeMap>()?.readiness();
    /// Whether there is code but even the short version of its map is missing.
    needs_fast_codebase_map: bool =
        code.is_brownfield() && given.part::<CodeMap>()?.readiness() == MapReadiness::None;
    /// Whether the documents of the short version of the map exist.
    has_fast_codebase_map: bool = given.part::<CodeMap>()?.missing_fast.is_empty();
    /// The documents of the short version of the map.
    fast_codebase_map_files_required: &'static [&'static str] = FAST_MAP;
    /// The documents of the map that exist.
    codebase_map_files_present: Vec<&'static str> = given.part::<CodeMap>()?.present.clone();
    /// The documents of the map that are missing.
    missing_codebase_map_files: Vec<&'static str> = given.part::<CodeMap>()?.missing.clone();
    /// The documents of the short version of the map that are missing.
    missing_fast_codebase_map_files: Vec<&'static str> = given.part::<CodeMap>()?.missing_fast.clone();
    /// The state of the code map, for the summary of the project.
    codebase_map_summary_status: &'static str =
        given.part::<CodeMap>()?.status(".planning/codebase/ (complete codebase map)");
    /// The state of the code map, for the last message.
    codebase_map_final_status: &'static str = given.part::<CodeMap>()?.status("complete");
}

/// The settings in a file that project setup asks about. A file that does not parse has none; the configuration reports
/// it.
fn asked_of(text: &str) -> BTreeMap<&'static str, Value> {
    let settings = config::parse(text).unwrap_or_default();
    let value = |key: &&'static str| Some((*key, config::at(&settings, key)?.clone()));
    ASKED.iter().filter_map(value).collect()
}

#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
fn maps(given: &Given<'_>) -> Result<Vec<String>, FileError> {
    let mut maps = given.view.file_names(&given.view.layout().codebase())?;
    maps.retain(|name| name.ends_with(".md"));
    Ok(maps)
}
