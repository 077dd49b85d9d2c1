//! `init onboard`: adopts a project that already has code, documents or plans.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;

use crate::operations::facts::{CodeFacts, CodeMap, Documents, FactBasis, Given, MapReadiness, facts};
use crate::project::layout::Layout;

/// Commands as people type them.
#[derive(Debug, Serialize, JsonSchema)]
struct HandoffCommands {
    ingest_docs: String,
    manager: String,
    map_codebase: String,
    map_codebase_fast: String,
    new_project: String,
    onboard: String,
}

/// Files that look like documents to start from.
pub(crate) struct FoundDocuments(pub(crate) Vec<String>);

/// The next action, and why.
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

impl FactBasis for FoundDocuments {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self(Vec::new()))
    }
}

facts! { |given, found: FoundDocuments|
    /// The commands to continue with after the workflow.
    handoff_commands: HandoffCommands = HandoffCommands {
        ingest_docs: given.command("ingest-docs"),
        manager: given.command("manager"),
        map_codebase: given.command("map-codebase"),
        map_codebase_fast: given.command("map-codebase --fast"),
        new_project: given.command("new-project"),
        onboard: given.command("onboard"),
    };
    /// True if only the short version of the code map is required.
    fast_mode: bool = given.asked("fast");
    /// The next action, and why.
    next_action: NextAction = next_action(given, !found.0.is_empty())?;
    /// True if there are documents that a project could start from.
    has_docs_candidates: bool = !found.0.is_empty();
    /// The number of such documents.
    doc_candidate_count: usize = found.0.len();
    /// Documents that a project could start from.
    doc_candidates: Vec<String> = found.0.clone();
}

/// Reports the first thing that is missing.
fn next_action(given: &Given<'_>, has_documents: bool) -> Result<NextAction, FileError> {
    let (documents, map) = (given.part::<Documents>()?, given.part::<CodeMap>()?);
    let (is_brownfield, readiness) = (given.part::<CodeFacts>()?.is_brownfield(), map.readiness());
    let fast = given.asked("fast");
    let plain = |kind, reason| NextAction { kind, reason, ..NextAction::default() };
    let run = |kind, name: &str, reason| NextAction { command: Some(given.command(name)), ..plain(kind, reason) };
    let parts = [
        ("PROJECT.md", documents.project),
        ("REQUIREMENTS.md", documents.requirements),
        ("ROADMAP.md", documents.roadmap),
        ("STATE.md", documents.state),
    ];
    let missing: Vec<&'static str> = parts.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
    // With `--fast`, a partial map is enough to continue what was begun.
    let continues = fast && readiness == MapReadiness::Fast && missing.len() < parts.len();
    Ok(if is_brownfield && readiness != MapReadiness::Complete && !continues {
        let reason = if map.present.is_empty() {
            "Existing code was detected, but the required .planning/codebase/ map is missing."
        } else {
            "The codebase map is incomplete; setting up a project needs all of it."
        };
        match (fast, readiness) {
            (true, MapReadiness::Fast) => run("complete-map-before-new-project", "map-codebase", reason),
            (true, _) => run("map-codebase", "map-codebase --fast", reason),
            (false, _) => run("map-codebase", "map-codebase", reason),
        }
    } else if missing.is_empty() && given.has(Layout::onboarding_summary) {
        plain("ready", "The project is set up.")
    } else if missing.is_empty() {
        let summary_path = Some(given.path(Layout::onboarding_summary));
        let reason = "The summary for people new to the project is missing.";
        NextAction { summary_path, ..plain("write-summary", reason) }
    } else if missing.len() < parts.len() {
        let reason = "Setting the project up was begun and not brought to its end.";
        NextAction { missing, ..plain("partial-planning", reason) }
    } else if has_documents {
        run("ingest-docs", "ingest-docs", "There are documents that a project could start from.")
    } else if is_brownfield {
        run("new-project", "new-project", "The code is mapped.")
    } else {
        run("new-project", "new-project", "There is neither code nor a plan yet.")
    })
}
