//! `init onboard`: how a project that has code, documents or plans already is taken up.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;

use super::project::CODE_MAP;
use super::{Bundle, CodeFacts, Complete};

/// The documents of a map that are enough to begin with.
const FAST_MAP: &[&str] = &["STACK.md", "INTEGRATIONS.md", "ARCHITECTURE.md", "STRUCTURE.md"];

/// What `init onboard` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OnboardReport {
    commit_docs: bool,
    text_mode: bool,
    project_exists: bool,
    planning_exists: bool,
    requirements_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    config_exists: bool,
    handoff_commands: HandoffCommands,
    has_existing_code: bool,
    has_package_file: bool,
    is_brownfield: bool,
    fast_mode: bool,
    map_readiness: MapReadiness,
    next_action: NextAction,
    needs_codebase_map: bool,
    needs_fast_codebase_map: bool,
    has_codebase_map: bool,
    has_fast_codebase_map: bool,
    codebase_dir_exists: bool,
    fast_codebase_map_files_required: &'static [&'static str],
    codebase_map_files_present: Vec<&'static str>,
    missing_codebase_map_files: Vec<&'static str>,
    missing_fast_codebase_map_files: Vec<&'static str>,
    codebase_map_summary_status: &'static str,
    codebase_map_final_status: &'static str,
    has_docs_candidates: bool,
    doc_candidate_count: usize,
    doc_candidates: Vec<String>,
    onboarding_summary_exists: bool,
    onboarding_summary_path: String,
    project_path: String,
    requirements_path: String,
    roadmap_path: String,
    state_path: String,
    codebase_dir: String,
    onboarding_dir: String,
    has_git: bool,
    git_worktree_root: Option<String>,
    in_nested_subdir: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HandoffCommands {
    ingest_docs: String,
    manager: String,
    map_codebase: String,
    map_codebase_fast: String,
    new_project: String,
    onboard: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MapReadiness {
    None,
    /// Enough to begin with.
    Fast,
    Complete,
}

/// What comes next, and why.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct NextAction {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'static str>,
    reason: &'static str,
}

/// What was asked, and which files look like documents to take in.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnboardRequest {
    pub(crate) fast: bool,
    pub(crate) text: bool,
    pub(crate) documents: Vec<String>,
}

impl Bundle<'_> {
    /// How to take the project up.
    pub(crate) fn onboard(
        &self,
        request: &OnboardRequest,
        code: &CodeFacts,
    ) -> Result<Complete<OnboardReport>, FileError> {
        let layout = self.view.layout();
        let documents = self.documents();
        let there = self.view.names(&layout.codebase())?;
        let is_there = |file: &&'static str| there.iter().any(|name| name == file);
        let missing = |files: &'static [&'static str]| -> Vec<&'static str> {
            files.iter().copied().filter(|file| !is_there(file)).collect()
        };
        let (missing_all, missing_fast) = (missing(CODE_MAP), missing(FAST_MAP));
        let readiness = match (missing_all.is_empty(), missing_fast.is_empty()) {
            (true, _) => MapReadiness::Complete,
            (false, true) => MapReadiness::Fast,
            (false, false) => MapReadiness::None,
        };
        let is_brownfield = code.has_source_files || code.has_package_file;
        let summary = layout.onboarding_summary();
        let command = |name: &str| format!("{}{name}", self.facts.command_prefix);
        let (summary_status, final_status) = match readiness {
            MapReadiness::None => ("missing", "missing"),
            MapReadiness::Fast => (
                "incomplete; a project needs the whole map",
                "incomplete; a project needs the \
                                    whole map",
            ),
            MapReadiness::Complete => (".planning/codebase/ (complete codebase map)", "complete"),
        };
        let present: Vec<&'static str> = CODE_MAP.iter().copied().filter(is_there).collect();
        let report = OnboardReport {
            commit_docs: self.commit_docs(),
            text_mode: request.text || self.config.flag("workflow.text_mode"),
            project_exists: documents.project,
            planning_exists: documents.planning,
            requirements_exists: documents.requirements,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            config_exists: self.view.exists(&layout.config()),
            handoff_commands: HandoffCommands {
                ingest_docs: command("ingest-docs"),
                manager: command("manager"),
                map_codebase: command("map-codebase"),
                map_codebase_fast: command("map-codebase --fast"),
                new_project: command("new-project"),
                onboard: command("onboard"),
            },
            has_existing_code: code.has_source_files,
            has_package_file: code.has_package_file,
            is_brownfield,
            fast_mode: request.fast,
            map_readiness: readiness,
            next_action: self.next_action(request, readiness, !present.is_empty(), is_brownfield),
            needs_codebase_map: is_brownfield && readiness != MapReadiness::Complete,
            needs_fast_codebase_map: is_brownfield && readiness == MapReadiness::None,
            has_codebase_map: readiness == MapReadiness::Complete,
            has_fast_codebase_map: missing_fast.is_empty(),
            codebase_dir_exists: self.view.exists(&layout.codebase()),
            fast_codebase_map_files_required: FAST_MAP,
            codebase_map_files_present: present,
            missing_codebase_map_files: missing_all,
            missing_fast_codebase_map_files: missing_fast,
            codebase_map_summary_status: summary_status,
            codebase_map_final_status: final_status,
            has_docs_candidates: !request.documents.is_empty(),
            doc_candidate_count: request.documents.len(),
            doc_candidates: request.documents.clone(),
            onboarding_summary_exists: self.view.exists(&summary),
            onboarding_summary_path: self.shown(&summary),
            project_path: self.shown(&layout.project()),
            requirements_path: self.shown(&layout.requirements()),
            roadmap_path: self.shown(&layout.roadmap()),
            state_path: self.shown(&layout.state()),
            codebase_dir: self.shown(&layout.codebase()),
            onboarding_dir: self.shown(summary.rsplit_once('/').map_or("", |(folder, _)| folder)),
            has_git: code.repository.is_some(),
            git_worktree_root: code.repository.clone(),
            in_nested_subdir: code.in_nested_folder,
        };
        self.complete(report)
    }

    /// The first thing that is missing.
    fn next_action(
        &self,
        request: &OnboardRequest,
        readiness: MapReadiness,
        has_part: bool,
        is_brownfield: bool,
    ) -> NextAction {
        let layout = self.view.layout();
        let documents = self.documents();
        let run = |kind, name: &str, reason| NextAction {
            kind,
            command: Some(format!("{}{name}", self.facts.command_prefix)),
            reason,
            ..NextAction::default()
        };
        let parts = [
            ("PROJECT.md", documents.project),
            ("REQUIREMENTS.md", documents.requirements),
            ("ROADMAP.md", documents.roadmap),
            ("STATE.md", documents.state),
        ];
        let missing: Vec<&'static str> = parts.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
        // Whoever is content with a part of the map goes on with what was begun.
        let goes_on = request.fast && readiness == MapReadiness::Fast && missing.len() < parts.len();
        if is_brownfield && readiness != MapReadiness::Complete && !goes_on {
            let map = if request.fast { "map-codebase --fast" } else { "map-codebase" };
            let reason = if has_part {
                "The codebase map is incomplete; setting up a project needs all of it."
            } else {
                "Existing code was detected, but the required .planning/codebase/ map is missing."
            };
            return match (request.fast, readiness) {
                (true, MapReadiness::Fast) => run("complete-map-before-new-project", "map-codebase", reason),
                _ => run("map-codebase", map, reason),
            };
        }
        if missing.is_empty() {
            let summary = layout.onboarding_summary();
            return if self.view.exists(&summary) {
                NextAction { kind: "ready", reason: "The project is set up.", ..NextAction::default() }
            } else {
                NextAction {
                    kind: "write-summary",
                    summary_path: Some(self.shown(&summary)),
                    reason: "The summary for people new to the project is missing.",
                    ..NextAction::default()
                }
            };
        }
        if missing.len() < parts.len() {
            let reason = "Setting the project up was begun and not brought to its end.";
            return NextAction { kind: "partial-planning", missing, reason, ..NextAction::default() };
        }
        if !request.documents.is_empty() {
            return run("ingest-docs", "ingest-docs", "There are documents that a project could start from.");
        }
        let reason = if is_brownfield { "The code is mapped." } else { "There is neither code nor a plan yet." };
        run("new-project", "new-project", reason)
    }
}
