//! What each command does to the user's files, and what it answers. One line per command; a test holds the table equal
//! to the clap trees.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{
    basics, check, dispatch, effort, files, frontmatter, git, guards, hosts, install, models, research, state,
    template, todo, uat, updating, validate, verification, verify, workstream, worktree,
};
use crate::operations;
use crate::operations::bundle::{self, Complete};
use crate::text::front_matter;

/// How far a command reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Changes nothing.
    Read,
    /// Adds to documents or changes them; can be rehearsed with `--dry-run`.
    Write,
    /// Works through another program, on files that are no documents, or by moving whole folders.
    Act,
    /// Takes something away; can be rehearsed with `--dry-run`.
    Destructive,
}

impl Effect {
    /// Whether the command changes documents, so that the flags of writers hold for it.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Destructive)
    }
}

/// What the command at `path` does; none for a word that only leads to others.
pub(crate) fn effect(path: &str) -> Option<Effect> {
    CATALOG.iter().find(|(listed, ..)| *listed == path).map(|(_, effect, _)| *effect)
}

/// What a command prints when it succeeds.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// JSON, in one of several forms.
    Json(fn(&mut SchemaGenerator) -> Vec<Schema>),
    /// As [`Self::Json`], with a token for a later write.
    Seen(fn(&mut SchemaGenerator) -> Vec<Schema>),
    /// Text; says what it is.
    Text(&'static str),
}

/// What the command at `path` answers; none for a word that only leads to others.
pub(crate) fn answer(path: &str) -> Option<Answer> {
    CATALOG.iter().find(|(listed, ..)| *listed == path).map(|(.., answer)| *answer)
}

/// JSON in the form of `T`.
const fn json<T: JsonSchema>() -> Answer {
    Answer::Json(|generator| vec![generator.subschema_for::<T>()])
}

/// A bundle of facts for a workflow.
const fn bundle<T: JsonSchema>() -> Answer {
    Answer::Seen(|generator| vec![generator.subschema_for::<Complete<T>>()])
}

/// JSON in one of the forms of a tuple.
const fn any_of<T: Forms>() -> Answer {
    Answer::Json(T::forms)
}

/// The forms an answer may have.
trait Forms {
    fn forms(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

impl<A: JsonSchema, B: JsonSchema> Forms for (A, B) {
    fn forms(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<A>(), generator.subschema_for::<B>()]
    }
}

impl<A: JsonSchema, B: JsonSchema, C: JsonSchema> Forms for (A, B, C) {
    fn forms(generator: &mut SchemaGenerator) -> Vec<Schema> {
        let mut forms = <(A, B)>::forms(generator);
        forms.push(generator.subschema_for::<C>());
        forms
    }
}

impl<A: JsonSchema, B: JsonSchema, C: JsonSchema, D: JsonSchema> Forms for (A, B, C, D) {
    fn forms(generator: &mut SchemaGenerator) -> Vec<Schema> {
        let mut forms = <(A, B, C)>::forms(generator);
        forms.push(generator.subschema_for::<D>());
        forms
    }
}

/// Command path, effect, answer.
pub(super) const CATALOG: &[(&str, Effect, Answer)] = &[
    ("agent classify-failure", Effect::Read, json::<operations::failure::FailureReport>()),
    ("agent-skills", Effect::Read, any_of::<(&str, operations::skills::SkillsReport)>()),
    (
        "assumption-delta scan",
        Effect::Read,
        any_of::<(operations::assumption_delta::ScanReport, operations::assumption_delta::SkippedScan)>(),
    ),
    ("normalize-test-command", Effect::Read, Answer::Text("the command")),
    ("prompt-budget", Effect::Act, Answer::Text("nothing; what was cut stands in the file of `--output-metadata`")),
    ("research-plan", Effect::Read, json::<operations::findings::PlanReport>()),
    ("research-store get", Effect::Read, json::<operations::findings::KeptReport>()),
    ("research-store put", Effect::Write, json::<operations::findings::Finding>()),
    ("audit-open acknowledge", Effect::Write, json::<operations::audit::acknowledge::AcknowledgeReport>()),
    ("audit-open", Effect::Read, json::<operations::audit::open::OpenReport>()),
    ("audit-uat", Effect::Read, json::<operations::audit::uat::UatAuditReport>()),
    ("capability disable", Effect::Write, json::<operations::capability::state::SetReport>()),
    ("capability enable", Effect::Write, json::<operations::capability::state::SetReport>()),
    ("capability install", Effect::Read, Answer::Text("nothing: there is nothing to install")),
    ("capability list", Effect::Read, json::<Vec<operations::capability::state::CapabilityRow>>()),
    ("capability outdated", Effect::Read, any_of::<(Vec<Value>, String)>()),
    ("capability remove", Effect::Read, Answer::Text("nothing: there is nothing to remove")),
    ("capability set", Effect::Write, json::<operations::capability::state::SetReport>()),
    ("capability state", Effect::Read, json::<operations::capability::state::StateReport>()),
    ("capability trust list", Effect::Read, json::<Vec<Value>>()),
    ("capability trust revoke", Effect::Read, Answer::Text("nothing: nothing is trusted")),
    ("capability update", Effect::Read, Answer::Text("nothing: there is nothing to update")),
    ("check api-coverage-verify-pre", Effect::Read, json::<operations::api_coverage::ApiCoverageReport>()),
    ("check prohibition-enforcement", Effect::Read, json::<operations::prohibition::ProhibitionReport>()),
    (
        "check tdd-red-evidence",
        Effect::Read,
        any_of::<(operations::test_first::RedReport, operations::test_first::RedUnreadable)>(),
    ),
    ("check tdd-review-checkpoint", Effect::Read, json::<operations::test_first::ReviewReport>()),
    ("check ui-safety-gate", Effect::Read, json::<operations::gates::UiSafetyReport>()),
    ("check verify-command-paths", Effect::Read, json::<operations::plan_commands::CommandPathsReport>()),
    ("check verify-failure-directions", Effect::Read, json::<operations::plan_commands::DirectionsReport>()),
    ("check auto-mode", Effect::Read, json::<check::AutoModeReport>()),
    ("check decision-coverage-plan", Effect::Read, json::<operations::coverage::PlanCoverage>()),
    ("check decision-coverage-verify", Effect::Read, json::<operations::coverage::WorkCoverage>()),
    ("check gap-analysis-plan-post", Effect::Read, json::<check::GapGateReport>()),
    ("check predicate", Effect::Read, json::<operations::gates::PredicateReport>()),
    ("check ui-plan-gate", Effect::Read, json::<operations::gates::UiPlanReport>()),
    ("check verify-codebase-drift", Effect::Read, json::<operations::drift::CodebaseReport>()),
    ("check verify-context-drift", Effect::Read, json::<operations::drift::ContextReport>()),
    ("check verify-schema-drift", Effect::Read, json::<operations::drift::SchemaReport>()),
    ("check-commit", Effect::Read, json::<git::CheckReport>()),
    ("classify-confidence", Effect::Read, json::<operations::confidence::ConfidenceReport>()),
    ("commit", Effect::Act, json::<git::commit::CommitReport>()),
    ("commit-docs-guard disable", Effect::Act, json::<git::guard::DisabledReport>()),
    ("commit-docs-guard enable", Effect::Act, json::<git::guard::EnabledReport>()),
    ("commit-to-subrepo", Effect::Act, json::<git::subrepo::SubrepoReport>()),
    ("config-ensure-section", Effect::Write, json::<operations::configuration::CreateReport>()),
    ("config-get", Effect::Read, json::<Value>()),
    ("config-new-project", Effect::Write, json::<operations::configuration::CreateReport>()),
    ("config-path", Effect::Read, Answer::Text("the path of the file that holds the configuration")),
    ("config-set", Effect::Write, json::<operations::configuration::SetReport>()),
    ("config-set-model-profile", Effect::Write, json::<models::ProfileReport>()),
    ("current-timestamp", Effect::Read, json::<basics::TimestampReport>()),
    ("detect-custom-files", Effect::Read, json::<crate::install::custom::Findings>()),
    ("dispatch-capacity", Effect::Read, json::<dispatch::answers::CapacityReport>()),
    ("dispatch-isolation", Effect::Act, json::<dispatch::answers::IsolationReport>()),
    ("dispatch-should-flatten", Effect::Read, json::<dispatch::FlattenReport>()),
    ("docs-init", Effect::Read, bundle::<bundle::docs::DocsInitReport>()),
    ("drift-guard authority", Effect::Read, json::<String>()),
    ("drift-guard phase-status", Effect::Read, json::<operations::drift_guard::StatusReport>()),
    ("drift-guard severity", Effect::Read, json::<guards::SeverityReport>()),
    ("effort sync", Effect::Act, json::<effort::SyncReport>()),
    ("estimate-calibrate", Effect::Write, json::<operations::estimates::CalibrateReport>()),
    ("estimate-calibration", Effect::Read, json::<operations::estimates::CalibrationReport>()),
    ("estimate-check", Effect::Read, json::<operations::estimates::CheckReport>()),
    ("eval score", Effect::Read, json::<operations::evaluation::ScoreReport>()),
    ("extract-messages", Effect::Act, json::<operations::sessions::ExtractReport>()),
    ("find-phase", Effect::Read, json::<operations::lookup::FindPhaseReport>()),
    (
        "from-gsd2",
        Effect::Write,
        any_of::<(operations::gsd2::ImportReport, operations::gsd2::ImportRehearsal, operations::gsd2::ImportRefusal)>(
        ),
    ),
    (
        "frontmatter get",
        Effect::Read,
        any_of::<(BTreeMap<String, front_matter::Value>, files::MissingFile, frontmatter::NoField, front_matter::Value)>(
        ),
    ),
    ("frontmatter merge", Effect::Write, any_of::<(files::MissingFile, frontmatter::MergeReport)>()),
    ("frontmatter set", Effect::Write, any_of::<(files::MissingFile, frontmatter::NoField, frontmatter::SetReport)>()),
    ("frontmatter validate", Effect::Read, json::<operations::frontmatter::ValidateReport>()),
    ("gap-analysis", Effect::Read, json::<operations::coverage::GapReport>()),
    ("generate-claude-md", Effect::Write, json::<operations::instructions::InstructionsReport>()),
    ("generate-claude-profile", Effect::Act, json::<operations::profile::SectionReport>()),
    ("generate-dev-preferences", Effect::Act, json::<operations::profile::PreferencesReport>()),
    ("generate-slug", Effect::Read, json::<basics::SlugReport>()),
    ("git base-branch", Effect::Read, Answer::Text("the name of the branch")),
    (
        "graphify build",
        Effect::Write,
        any_of::<(
            operations::graphify::DisabledReport,
            operations::graphify::BuildReport,
            operations::graphify::SnapshotReport,
        )>(),
    ),
    (
        "graphify diff",
        Effect::Read,
        any_of::<(operations::graphify::DisabledReport, operations::graphify::DiffReport)>(),
    ),
    (
        "graphify query",
        Effect::Read,
        any_of::<(
            operations::graphify::DisabledReport,
            operations::graphify::QueryReport,
            operations::graphify::FailureReport,
        )>(),
    ),
    (
        "graphify status",
        Effect::Read,
        any_of::<(operations::graphify::DisabledReport, operations::graphify::StatusReport)>(),
    ),
    ("guide", Effect::Read, Answer::Text("a page in Markdown")),
    ("history-digest", Effect::Read, json::<operations::history::HistoryReport>()),
    ("init autonomous", Effect::Read, bundle::<bundle::batch::AutonomousReport>()),
    ("init code-review", Effect::Read, bundle::<bundle::review::CodeReviewReport>()),
    ("init complete-milestone", Effect::Read, bundle::<bundle::milestone::CompleteMilestoneReport>()),
    ("init debug", Effect::Read, bundle::<bundle::code::DebugReport>()),
    ("init discuss-phase-assumptions", Effect::Read, bundle::<bundle::review::AssumptionsReport>()),
    ("init docs-update", Effect::Read, bundle::<bundle::code::DocsUpdateReport>()),
    ("init execute-phase", Effect::Read, bundle::<bundle::execute_phase::ExecutePhaseReport>()),
    ("init ingest-docs", Effect::Read, bundle::<bundle::code::IngestDocsReport>()),
    ("init list-workspaces", Effect::Read, json::<bundle::workspaces::WorkspacesReport>()),
    ("init manager", Effect::Read, bundle::<bundle::manager::ManagerBundle>()),
    ("init map-codebase", Effect::Read, bundle::<bundle::code::MapCodebaseReport>()),
    ("init milestone-op", Effect::Read, bundle::<bundle::project::MilestoneOpReport>()),
    ("init new-milestone", Effect::Read, bundle::<bundle::milestone::NewMilestoneReport>()),
    ("init new-project", Effect::Read, bundle::<bundle::project::NewProjectReport>()),
    ("init new-workspace", Effect::Read, bundle::<bundle::workspaces::NewWorkspaceReport>()),
    ("init onboard", Effect::Read, bundle::<bundle::onboard::OnboardReport>()),
    ("init phase-op", Effect::Read, bundle::<bundle::phase_op::PhaseOpReport>()),
    ("init plan-phase", Effect::Read, bundle::<bundle::plan_phase::PlanPhaseReport>()),
    ("init progress", Effect::Read, bundle::<bundle::progress::ProgressBundle>()),
    ("init quick", Effect::Read, bundle::<bundle::quick::QuickReport>()),
    ("init quick-batch", Effect::Read, bundle::<bundle::batch::QuickBatchReport>()),
    ("init remove-workspace", Effect::Read, bundle::<bundle::workspaces::RemoveWorkspaceReport>()),
    ("init resume", Effect::Read, bundle::<bundle::project::ResumeReport>()),
    ("init review", Effect::Read, bundle::<bundle::review::ReviewReport>()),
    ("init todos", Effect::Read, bundle::<bundle::batch::TodosBundle>()),
    ("init transition", Effect::Read, bundle::<bundle::milestone::TransitionReport>()),
    ("init update", Effect::Read, bundle::<bundle::batch::UpdateReport>()),
    ("init verify-work", Effect::Read, bundle::<bundle::verify_work::VerifyWorkReport>()),
    ("inspect-dispatch-isolation", Effect::Read, json::<dispatch::answers::IsolationReport>()),
    ("install", Effect::Write, json::<install::report::InstallReport>()),
    ("init yolo", Effect::Read, bundle::<bundle::yolo::YoloBundle>()),
    (
        "intel api-surface",
        Effect::Write,
        any_of::<(operations::intel::DisabledReport, operations::intel::surface::SurfaceReport)>(),
    ),
    ("intel diff", Effect::Read, any_of::<(operations::intel::DisabledReport, operations::intel::DiffReport)>()),
    ("intel extract-exports", Effect::Read, json::<operations::intel::exports::ExportsReport>()),
    ("intel patch-meta", Effect::Write, json::<operations::intel::PatchReport>()),
    ("intel query", Effect::Read, any_of::<(operations::intel::DisabledReport, operations::intel::QueryReport)>()),
    (
        "intel snapshot",
        Effect::Write,
        any_of::<(operations::intel::DisabledReport, operations::intel::SnapshotReport)>(),
    ),
    ("intel status", Effect::Read, any_of::<(operations::intel::DisabledReport, operations::intel::StatusReport)>()),
    ("intel update", Effect::Read, any_of::<(operations::intel::DisabledReport, operations::intel::UpdateReport)>()),
    (
        "intel validate",
        Effect::Read,
        any_of::<(operations::intel::DisabledReport, operations::intel::ValidateReport)>(),
    ),
    ("learnings copy", Effect::Act, json::<operations::learnings::CopyReport>()),
    ("learnings delete", Effect::Act, json::<operations::learnings::DeleteReport>()),
    ("learnings list", Effect::Read, json::<operations::learnings::ListReport>()),
    ("learnings prune", Effect::Act, json::<operations::learnings::PruneReport>()),
    ("learnings query", Effect::Read, json::<operations::learnings::ListReport>()),
    ("list-seeds", Effect::Read, json::<operations::seeds::SeedsReport>()),
    ("list-todos", Effect::Read, json::<operations::todos::TodosReport>()),
    ("loop render-hooks", Effect::Read, json::<operations::capability::hooks::PointReport>()),
    ("migrate-config", Effect::Write, json::<operations::configuration::MigrateReport>()),
    (
        "milestone archive-quick",
        Effect::Write,
        any_of::<(operations::milestone::QuickReport, operations::milestone::QuickRehearsalReport)>(),
    ),
    (
        "milestone complete",
        Effect::Destructive,
        any_of::<(operations::milestone::CompleteReport, operations::milestone::RehearsalReport)>(),
    ),
    ("phase add", Effect::Write, json::<operations::phase::AddReport>()),
    ("phase add-batch", Effect::Write, json::<operations::phase::BatchReport>()),
    ("phase complete", Effect::Write, json::<operations::complete::CompleteReport>()),
    ("phase insert", Effect::Write, json::<operations::phase::InsertReport>()),
    ("phase list-plans", Effect::Read, json::<operations::phase::PlanListReport>()),
    ("phase mvp-mode", Effect::Read, json::<operations::phase::MvpReport>()),
    ("phase next-decimal", Effect::Read, json::<operations::phase::DecimalReport>()),
    ("phase remove", Effect::Destructive, json::<operations::removal::RemoveReport>()),
    ("phase tdd-applicable", Effect::Read, json::<operations::phase::TddReport>()),
    ("phase uat-passed", Effect::Read, json::<operations::acceptance::AcceptanceReport>()),
    ("phase-plan-index", Effect::Read, json::<operations::plan_index::PlanIndexReport>()),
    ("phases clear", Effect::Destructive, json::<operations::archive::ClearReport>()),
    ("phases list", Effect::Read, json::<operations::lookup::PhaseListReport>()),
    ("pr-subrepo", Effect::Act, json::<git::pull_request::PullRequestReport>()),
    ("planning inspect", Effect::Read, json::<operations::inspect::InspectReport>()),
    (
        "profile-questionnaire",
        Effect::Read,
        any_of::<(operations::profile::Questionnaire, operations::profile::Answers)>(),
    ),
    ("profile-sample", Effect::Act, json::<operations::sessions::SampleReport>()),
    (
        "progress",
        Effect::Read,
        any_of::<(
            operations::progress::ProgressReport,
            operations::progress::BarReport,
            operations::progress::TableReport,
        )>(),
    ),
    ("project-instruction-file", Effect::Read, Answer::Text("the name of the host's instruction file")),
    ("quick-tasks-append", Effect::Write, json::<operations::quick_tasks::AppendReport>()),
    ("quick-tasks-migrate", Effect::Write, json::<operations::quick_tasks::MigrateReport>()),
    ("record-dispatch-isolation", Effect::Act, json::<dispatch::RecordedReport>()),
    ("recover", Effect::Act, json::<install::report::Recovered>()),
    (
        "refactor accept",
        Effect::Write,
        any_of::<(operations::refactor::DisabledReport, operations::refactor::DecideReport)>(),
    ),
    (
        "refactor decline",
        Effect::Write,
        any_of::<(operations::refactor::DisabledReport, operations::refactor::DecideReport)>(),
    ),
    (
        "refactor evaluate",
        Effect::Write,
        any_of::<(operations::refactor::DisabledReport, operations::refactor::EvaluateReport)>(),
    ),
    (
        "refactor status",
        Effect::Read,
        any_of::<(operations::refactor::DisabledReport, operations::refactor::StatusReport)>(),
    ),
    ("requirements mark-complete", Effect::Write, json::<operations::requirements::MarkReport>()),
    ("requirements ready-ids", Effect::Read, json::<operations::requirements::ReadyReport>()),
    ("requirements revert-phase", Effect::Write, json::<operations::requirements::RevertReport>()),
    ("resolve-agent", Effect::Read, json::<dispatch::AgentReport>()),
    ("resolve-dispatch-type", Effect::Read, json::<dispatch::TypeReport>()),
    ("resolve-execution", Effect::Read, json::<operations::models::ExecutionReport>()),
    ("resolve-granularity", Effect::Read, json::<operations::models::GranularityReport>()),
    ("resolve-model", Effect::Read, json::<operations::models::ModelReport>()),
    ("restore-custom-files", Effect::Act, json::<crate::install::custom::Restoration>()),
    (
        "roadmap analyze",
        Effect::Read,
        any_of::<(operations::roadmap::AnalyzeReport, operations::roadmap::NoRoadmapReport)>(),
    ),
    ("roadmap annotate-dependencies", Effect::Write, json::<operations::roadmap::AnnotateReport>()),
    ("roadmap get-phase", Effect::Read, json::<operations::roadmap::GetPhaseReport>()),
    ("roadmap milestone-scope", Effect::Read, json::<operations::roadmap::ScopeReport>()),
    ("roadmap update-plan-progress", Effect::Write, json::<operations::roadmap::ProgressReport>()),
    ("roadmap upgrade", Effect::Write, json::<operations::upgrade::UpgradeReport>()),
    ("roadmap validate", Effect::Read, json::<operations::roadmap::ValidateReport>()),
    ("run-with-timeout", Effect::Act, Answer::Text("what the program prints")),
    ("runtime-identity", Effect::Read, json::<basics::IdentityReport>()),
    ("scaffold", Effect::Write, json::<operations::scaffold::ScaffoldReport>()),
    ("scan-sessions", Effect::Read, json::<operations::sessions::ScanReport>()),
    ("schema", Effect::Read, json::<Map<String, Value>>()),
    ("skill-manifest", Effect::Write, json::<operations::skill_manifest::SkillManifest>()),
    ("skills-root", Effect::Read, json::<hosts::SkillsRootReport>()),
    ("smart-entry", Effect::Read, json::<operations::entry::EntryReport>()),
    ("stamp-codebase-map", Effect::Write, json::<operations::codebase_map::StampReport>()),
    ("state add-blocker", Effect::Write, json::<operations::state::notes::NoteReport>()),
    ("state add-decision", Effect::Write, json::<operations::state::notes::NoteReport>()),
    ("state add-roadmap-evolution", Effect::Write, json::<operations::state::notes::NoteReport>()),
    (
        "state advance-plan",
        Effect::Write,
        any_of::<(state::FailureReport, operations::state::position::AdvanceReport)>(),
    ),
    ("state begin-phase", Effect::Write, any_of::<(state::FailureReport, operations::state::position::BeginReport)>()),
    (
        "state complete-phase",
        Effect::Write,
        any_of::<(state::FailureReport, operations::state::position::CompleteReport)>(),
    ),
    ("state get", Effect::Read, any_of::<(BTreeMap<String, String>, state::ContentReport, state::FailureReport)>()),
    ("state json", Effect::Read, Answer::Seen(<(state::FailureReport, operations::state::read::IndexReport)>::forms)),
    ("state load", Effect::Read, json::<state::LoadReport>()),
    (
        "state milestone-switch",
        Effect::Write,
        any_of::<(state::FailureReport, operations::state::switch::SwitchReport)>(),
    ),
    ("state patch", Effect::Write, any_of::<(state::FailureReport, operations::state::update::PatchReport)>()),
    (
        "state planned-phase",
        Effect::Write,
        any_of::<(state::FailureReport, operations::state::position::PlannedReport)>(),
    ),
    ("state prune", Effect::Write, any_of::<(state::FailureReport, operations::state::prune::PruneReport)>()),
    ("state rebuild", Effect::Write, any_of::<(state::FailureReport, operations::state::rebuild::RebuildReport)>()),
    ("state record-metric", Effect::Write, json::<operations::state::notes::NoteReport>()),
    ("state record-session", Effect::Write, json::<operations::state::notes::NoteReport>()),
    ("state resolve-blocker", Effect::Write, json::<operations::state::notes::NoteReport>()),
    ("state signal-resume", Effect::Write, json::<operations::state::signal::ResumeReport>()),
    ("state signal-waiting", Effect::Write, json::<operations::state::signal::WaitingReport>()),
    ("state sync", Effect::Write, any_of::<(state::FailureReport, operations::state::sync::SyncReport)>()),
    ("state update", Effect::Write, json::<operations::state::update::UpdateReport>()),
    (
        "state update-progress",
        Effect::Write,
        any_of::<(state::FailureReport, operations::state::notes::ProgressUpdate)>(),
    ),
    ("state validate", Effect::Read, json::<operations::state::validate::ValidateReport>()),
    ("state", Effect::Read, json::<state::LoadReport>()),
    ("state-snapshot", Effect::Read, any_of::<(state::FailureReport, operations::state::read::SnapshotReport)>()),
    ("stats", Effect::Read, any_of::<(operations::stats::StatsReport, operations::progress::TableReport)>()),
    ("status", Effect::Read, json::<install::report::StatusReport>()),
    ("summary-extract", Effect::Read, any_of::<(files::MissingFile, operations::summary::ExtractReport)>()),
    ("task is-behavior-adding", Effect::Read, json::<operations::task::BehaviorReport>()),
    ("task resolve-content", Effect::Read, json::<operations::task::ResolveReport>()),
    ("teams-status", Effect::Read, json::<dispatch::TeamsReport>()),
    ("template fill", Effect::Write, json::<operations::template::FillReport>()),
    ("template select", Effect::Read, any_of::<(operations::template::SelectReport, template::Fallback)>()),
    ("todo complete", Effect::Write, any_of::<(todo::CompleteReport, todo::RehearsalReport)>()),
    ("todo match-phase", Effect::Read, json::<operations::todos::MatchReport>()),
    ("uat classify-coverage", Effect::Read, json::<operations::uat_coverage::CoverageReport>()),
    ("uat render-checkpoint", Effect::Read, json::<uat::CheckpointReport>()),
    ("uninstall", Effect::Destructive, json::<install::report::InstallReport>()),
    ("update-context", Effect::Read, json::<updating::InstallationReport>()),
    ("user-story validate", Effect::Read, json::<operations::user_story::StoryReport>()),
    ("validate agents", Effect::Read, json::<validate::AgentsReport>()),
    ("validate consistency", Effect::Read, json::<operations::health::consistency::ConsistencyReport>()),
    ("validate context", Effect::Read, json::<validate::ContextReport>()),
    ("validate health", Effect::Write, json::<operations::health::check::HealthReport>()),
    ("verification fingerprint", Effect::Read, json::<operations::verification::FingerprintReport>()),
    ("verification resolve-file", Effect::Read, json::<verification::FileReport>()),
    ("verification status", Effect::Read, json::<verification::StatusReport>()),
    (
        "verify artifacts",
        Effect::Read,
        any_of::<(files::MissingFile, verify::NoMustHave, operations::must_haves::ArtifactsReport)>(),
    ),
    ("verify codebase-drift", Effect::Read, json::<operations::drift::CodebaseReport>()),
    ("verify commits", Effect::Read, json::<verify::CommitsReport>()),
    ("verify context-drift", Effect::Read, json::<operations::drift::ContextReport>()),
    (
        "verify key-links",
        Effect::Read,
        any_of::<(files::MissingFile, verify::NoMustHave, operations::must_haves::KeyLinksReport)>(),
    ),
    (
        "verify phase-completeness",
        Effect::Read,
        any_of::<(verify::NoPhase, operations::plan_checks::CompletenessReport)>(),
    ),
    ("verify plan-structure", Effect::Read, any_of::<(files::MissingFile, operations::plan_checks::StructureReport)>()),
    ("verify references", Effect::Read, any_of::<(files::MissingFile, operations::plan_checks::ReferencesReport)>()),
    ("verify schema-drift", Effect::Read, json::<operations::drift::SchemaReport>()),
    ("verify-path-exists", Effect::Read, json::<basics::PathReport>()),
    ("verify-summary", Effect::Read, json::<operations::summary_check::SummaryCheckReport>()),
    ("websearch", Effect::Read, json::<research::SearchReport>()),
    ("workstream complete", Effect::Destructive, json::<operations::workstream::CompleteReport>()),
    ("workstream create", Effect::Write, json::<operations::workstream::CreateReport>()),
    ("workstream get", Effect::Read, json::<workstream::ActiveReport>()),
    ("workstream list", Effect::Read, json::<operations::workstream::RowsReport<operations::workstream::ListRow>>()),
    (
        "workstream progress",
        Effect::Read,
        json::<operations::workstream::RowsReport<operations::workstream::ProgressRow>>(),
    ),
    ("workstream set", Effect::Write, json::<workstream::ActiveReport>()),
    ("workstream status", Effect::Read, json::<operations::workstream::StatusReport>()),
    ("worktree base-check", Effect::Read, json::<operations::worktree::BaseReport>()),
    ("worktree cleanup-wave", Effect::Act, any_of::<(worktree::Refusal, worktree::cleanup::WaveReport)>()),
    ("worktree create", Effect::Act, any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree reap-orphans", Effect::Act, json::<worktree::reap::ReapReport>()),
    ("worktree record-agent", Effect::Act, any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree set-baseref", Effect::Act, json::<worktree::BaseRefReport>()),
    ("write-profile", Effect::Act, json::<operations::profile::ProfileReport>()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{FAMILIES, tree};

    #[test]
    fn the_catalog_lists_exactly_the_commands_there_are() {
        fn gather(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            if !command.has_subcommands() || !command.is_subcommand_required_set() {
                found.push(path.to_owned());
            }
            for child in command.get_subcommands() {
                gather(child, &format!("{path} {}", child.get_name()), found);
            }
        }
        let mut found = Vec::new();
        for row in FAMILIES {
            for command in tree(row).get_subcommands() {
                gather(command, command.get_name(), &mut found);
            }
        }
        found.sort();
        let mut listed: Vec<&str> = CATALOG.iter().map(|(path, ..)| *path).collect();
        listed.sort_unstable();
        assert_eq!(listed, found);
    }
}
