//! What each command answers, as the types it prints.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::commands::{
    auto_chain, basics, check, dispatch, effort, files, frontmatter, gate, git, guards, hooks, hosts, install, loops,
    models, plan, research, runtimes, state, template, todo, trust, uat, updating, validate, verification, verify,
    workstream, worktree,
};
use crate::operations;
use crate::operations::bundle::{self, Complete};
use crate::text::front_matter;

/// What a command prints when it succeeds.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// JSON, in one of several forms.
    Json(fn(&mut SchemaGenerator) -> Vec<Schema>),
    /// As [`Self::Json`], with a token for a later write.
    Seen(fn(&mut SchemaGenerator) -> Vec<Schema>),
    /// Text; says what it is.
    Text(&'static str),
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

/// Command path, answer.
pub(super) const ANSWERS: &[(&str, Answer)] = &[
    ("agent classify-failure", json::<operations::failure::FailureReport>()),
    ("agent-skills", any_of::<(&str, operations::skills::SkillsReport)>()),
    (
        "assumption-delta scan",
        any_of::<(operations::assumption_delta::ScanReport, operations::assumption_delta::SkippedScan)>(),
    ),
    ("audit-open", json::<operations::audit::open::OpenReport>()),
    ("audit-open acknowledge", json::<operations::audit::acknowledge::AcknowledgeReport>()),
    ("audit-uat", json::<operations::audit::uat::UatAuditReport>()),
    ("auto-chain start", json::<auto_chain::AutoModeReport>()),
    ("auto-chain stop", json::<auto_chain::AutoModeReport>()),
    ("capability disable", json::<operations::capability::state::SetReport>()),
    ("capability enable", json::<operations::capability::state::SetReport>()),
    ("capability install", Answer::Text("nothing: there is nothing to install")),
    ("capability list", json::<Vec<operations::capability::state::CapabilityRow>>()),
    ("capability outdated", any_of::<(Vec<Value>, String)>()),
    ("capability remove", Answer::Text("nothing: there is nothing to remove")),
    ("capability set", json::<operations::capability::state::SetReport>()),
    ("capability state", json::<operations::capability::state::StateReport>()),
    ("capability trust list", json::<Vec<Value>>()),
    ("capability trust revoke", Answer::Text("nothing: nothing is trusted")),
    ("capability update", Answer::Text("nothing: there is nothing to update")),
    ("check api-coverage-verify-pre", json::<operations::api_coverage::ApiCoverageReport>()),
    ("check auto-mode", json::<auto_chain::AutoModeReport>()),
    ("check decision-coverage-plan", json::<operations::coverage::PlanCoverage>()),
    ("check decision-coverage-verify", json::<operations::coverage::WorkCoverage>()),
    ("check gap-analysis-plan-post", json::<check::GapGateReport>()),
    ("check predicate", json::<operations::gates::PredicateReport>()),
    ("check prohibition-enforcement", json::<operations::prohibition::ProhibitionReport>()),
    ("check tdd-red-evidence", any_of::<(operations::test_first::RedReport, operations::test_first::RedUnreadable)>()),
    ("check tdd-review-checkpoint", json::<operations::test_first::ReviewReport>()),
    ("check ui-plan-gate", json::<operations::gates::UiPlanReport>()),
    ("check ui-safety-gate", json::<operations::gates::UiSafetyReport>()),
    ("check verify-codebase-drift", json::<operations::drift::CodebaseReport>()),
    ("check verify-command-paths", json::<operations::plan_commands::CommandPathsReport>()),
    ("check verify-context-drift", json::<operations::drift::ContextReport>()),
    ("check verify-failure-directions", json::<operations::plan_directions::DirectionsReport>()),
    ("check verify-schema-drift", json::<operations::drift::SchemaReport>()),
    ("check-commit", json::<git::CheckReport>()),
    ("classify-confidence", json::<operations::confidence::ConfidenceReport>()),
    ("commit", json::<git::commit::CommitReport>()),
    ("commit-docs-guard disable", json::<git::guard::DisabledReport>()),
    ("commit-docs-guard enable", json::<git::guard::EnabledReport>()),
    ("commit-to-subrepo", json::<git::subrepo::SubrepoReport>()),
    ("config-ensure-section", json::<operations::configuration::CreateReport>()),
    ("config-get", json::<Value>()),
    ("config-new-project", json::<operations::configuration::CreateReport>()),
    ("config-path", Answer::Text("the path of the file that holds the configuration")),
    ("config-set", json::<operations::configuration::SetReport>()),
    ("config-set-model-profile", json::<models::ProfileReport>()),
    ("current-timestamp", json::<basics::TimestampReport>()),
    ("detect-custom-files", json::<crate::install::custom::Findings>()),
    ("dispatch-capacity", json::<dispatch::answers::CapacityReport>()),
    ("dispatch-isolation", json::<dispatch::answers::IsolationReport>()),
    ("dispatch-should-flatten", json::<dispatch::FlattenReport>()),
    ("docs-init", bundle::<bundle::docs::DocsInitReport>()),
    ("drift-guard authority", json::<String>()),
    ("drift-guard phase-status", json::<operations::drift_guard::StatusReport>()),
    ("drift-guard severity", json::<guards::SeverityReport>()),
    ("effort sync", json::<effort::SyncReport>()),
    ("estimate-calibrate", json::<operations::estimates::CalibrateReport>()),
    ("estimate-calibration", json::<operations::estimates::CalibrationReport>()),
    ("estimate-check", json::<operations::estimates::CheckReport>()),
    ("eval score", json::<operations::evaluation::ScoreReport>()),
    ("extract-messages", json::<operations::sessions::ExtractReport>()),
    ("find-phase", json::<operations::lookup::FindPhaseReport>()),
    (
        "from-gsd2",
        any_of::<(operations::gsd2::ImportReport, operations::gsd2::ImportRehearsal, operations::gsd2::ImportRefusal)>(
        ),
    ),
    (
        "frontmatter get",
        any_of::<(BTreeMap<String, front_matter::Value>, files::MissingFile, frontmatter::NoField, front_matter::Value)>(
        ),
    ),
    ("frontmatter merge", any_of::<(files::MissingFile, frontmatter::MergeReport)>()),
    ("frontmatter set", any_of::<(files::MissingFile, frontmatter::NoField, frontmatter::SetReport)>()),
    ("frontmatter validate", json::<operations::frontmatter::ValidateReport>()),
    ("gap-analysis", json::<operations::coverage::GapReport>()),
    ("gate approve", json::<gate::ApprovalReport>()),
    ("gate list", json::<[gate::ShowReport; 2]>()),
    ("gate revoke", json::<gate::ApprovalReport>()),
    ("gate run", json::<gate::RunReport>()),
    ("gate show", json::<gate::ShowReport>()),
    ("generate-claude-md", json::<operations::instructions::InstructionsReport>()),
    ("generate-claude-profile", json::<operations::profile::SectionReport>()),
    ("generate-dev-preferences", json::<operations::profile::PreferencesReport>()),
    ("generate-slug", json::<basics::SlugReport>()),
    ("git base-branch", Answer::Text("the name of the branch")),
    (
        "graphify build",
        any_of::<(
            operations::disabled::DisabledReport,
            operations::graphify::BuildReport,
            operations::graphify::BuildNote,
            operations::graphify::SnapshotReport,
        )>(),
    ),
    ("graphify diff", any_of::<(operations::disabled::DisabledReport, operations::graphify::DiffReport)>()),
    (
        "graphify query",
        any_of::<(
            operations::disabled::DisabledReport,
            operations::graphify::QueryReport,
            operations::graphify::FailureReport,
        )>(),
    ),
    ("graphify status", any_of::<(operations::disabled::DisabledReport, operations::graphify::StatusReport)>()),
    ("guide", Answer::Text("a page in Markdown")),
    ("history-digest", json::<operations::history::HistoryReport>()),
    ("hooks bench", json::<hooks::BenchReport>()),
    ("hooks off", json::<hooks::SwitchReport>()),
    ("hooks on", json::<hooks::SwitchReport>()),
    ("hooks status", json::<hooks::HookStatus>()),
    ("init autonomous", bundle::<bundle::batch::AutonomousReport>()),
    ("init code-review", bundle::<bundle::review::CodeReviewReport>()),
    ("init complete-milestone", bundle::<bundle::milestone::CompleteMilestoneReport>()),
    ("init debug", bundle::<bundle::code::DebugReport>()),
    ("init discuss-phase-assumptions", bundle::<bundle::review::AssumptionsReport>()),
    ("init docs-update", bundle::<bundle::code::DocsUpdateReport>()),
    ("init execute-phase", bundle::<bundle::execute_phase::ExecutePhaseReport>()),
    ("init ingest-docs", bundle::<bundle::code::IngestDocsReport>()),
    ("init list-workspaces", json::<bundle::workspaces::WorkspacesReport>()),
    ("init manager", bundle::<bundle::manager::ManagerBundle>()),
    ("init map-codebase", bundle::<bundle::code::MapCodebaseReport>()),
    ("init milestone-op", bundle::<bundle::project::MilestoneOpReport>()),
    ("init new-milestone", bundle::<bundle::milestone::NewMilestoneReport>()),
    ("init new-project", bundle::<bundle::project::NewProjectReport>()),
    ("init new-workspace", bundle::<bundle::workspaces::NewWorkspaceReport>()),
    ("init onboard", bundle::<bundle::onboard::OnboardReport>()),
    ("init phase-op", bundle::<bundle::phase_op::PhaseOpReport>()),
    ("init plan-phase", bundle::<bundle::plan_phase::PlanPhaseReport>()),
    ("init progress", bundle::<bundle::progress::ProgressBundle>()),
    ("init quick", bundle::<bundle::quick::QuickReport>()),
    ("init quick-batch", bundle::<bundle::batch::QuickBatchReport>()),
    ("init remove-workspace", bundle::<bundle::workspaces::RemoveWorkspaceReport>()),
    ("init resume", bundle::<bundle::project::ResumeReport>()),
    ("init review", bundle::<bundle::review::ReviewReport>()),
    ("init todos", bundle::<bundle::batch::TodosBundle>()),
    ("init transition", bundle::<bundle::milestone::TransitionReport>()),
    ("init update", bundle::<bundle::batch::UpdateReport>()),
    ("init verify-work", bundle::<bundle::verify_work::VerifyWorkReport>()),
    ("init yolo", bundle::<bundle::yolo::YoloBundle>()),
    ("inspect-dispatch-isolation", json::<dispatch::answers::IsolationReport>()),
    ("install", json::<install::report::InstallReport>()),
    (
        "intel api-surface",
        any_of::<(operations::disabled::DisabledReport, operations::intel::surface::SurfaceReport)>(),
    ),
    ("intel diff", any_of::<(operations::disabled::DisabledReport, operations::intel::DiffReport)>()),
    ("intel extract-exports", json::<operations::intel::exports::ExportsReport>()),
    ("intel patch-meta", json::<operations::intel::PatchReport>()),
    ("intel query", any_of::<(operations::disabled::DisabledReport, operations::intel::QueryReport)>()),
    ("intel snapshot", any_of::<(operations::disabled::DisabledReport, operations::intel::SnapshotReport)>()),
    ("intel status", any_of::<(operations::disabled::DisabledReport, operations::intel::StatusReport)>()),
    ("intel update", any_of::<(operations::disabled::DisabledReport, operations::intel::UpdateReport)>()),
    ("intel validate", any_of::<(operations::disabled::DisabledReport, operations::intel::ValidateReport)>()),
    ("learnings copy", json::<operations::learnings::CopyReport>()),
    ("learnings delete", json::<operations::learnings::DeleteReport>()),
    ("learnings list", json::<operations::learnings::ListReport>()),
    ("learnings prune", json::<operations::learnings::PruneReport>()),
    ("learnings query", json::<operations::learnings::ListReport>()),
    ("list-seeds", json::<operations::seeds::SeedsReport>()),
    ("list-todos", json::<operations::todos::TodosReport>()),
    ("loop enter", json::<loops::EnterReport>()),
    ("loop render-hooks", json::<operations::capability::hooks::PointReport>()),
    ("migrate-config", json::<operations::configuration::MigrateReport>()),
    (
        "milestone archive-quick",
        any_of::<(operations::milestone::QuickReport, operations::milestone::QuickRehearsalReport)>(),
    ),
    ("milestone complete", any_of::<(operations::milestone::CompleteReport, operations::milestone::RehearsalReport)>()),
    ("normalize-test-command", Answer::Text("the command")),
    ("package", json::<install::package::PackageReport>()),
    ("package-legitimacy check", json::<Vec<operations::legitimacy::PackageReport>>()),
    ("phase add", json::<operations::phase::AddReport>()),
    ("phase add-batch", json::<operations::phase::BatchReport>()),
    ("phase complete", json::<operations::complete::CompleteReport>()),
    ("phase insert", json::<operations::phase::InsertReport>()),
    ("phase list-plans", json::<operations::phase::PlanListReport>()),
    ("phase mvp-mode", json::<operations::phase::MvpReport>()),
    ("phase next-decimal", json::<operations::phase::DecimalReport>()),
    ("phase remove", json::<operations::removal::RemoveReport>()),
    ("phase tdd-applicable", json::<operations::phase::TddReport>()),
    ("phase uat-passed", json::<operations::acceptance::AcceptanceReport>()),
    ("phase-plan-index", json::<operations::plan_index::PlanIndexReport>()),
    ("phases clear", json::<operations::archive::ClearReport>()),
    ("phases list", json::<operations::lookup::PhaseListReport>()),
    ("plan check", json::<plan::CheckReport>()),
    ("plan close", json::<plan::CloseReport>()),
    ("plan lint", json::<operations::plan_lint::LintReport>()),
    ("plan record", json::<plan::RecordReport>()),
    ("planning inspect", json::<operations::inspect::InspectReport>()),
    ("pr-subrepo", json::<git::pull_request::PullRequestReport>()),
    ("profile-questionnaire", any_of::<(operations::profile::Questionnaire, operations::profile::Answers)>()),
    ("profile-sample", json::<operations::sessions::SampleReport>()),
    (
        "progress",
        any_of::<(
            operations::progress::ProgressReport,
            operations::progress::BarReport,
            operations::progress::TableReport,
        )>(),
    ),
    ("project-instruction-file", Answer::Text("the name of the host's instruction file")),
    ("prompt-budget", Answer::Text("nothing; what was cut stands in the file of `--output-metadata`")),
    ("quick-tasks-append", json::<operations::quick_tasks::AppendReport>()),
    ("quick-tasks-migrate", json::<operations::quick_tasks::MigrateReport>()),
    ("record-dispatch-isolation", json::<dispatch::RecordedReport>()),
    ("recover", json::<install::report::Recovered>()),
    ("refactor accept", any_of::<(operations::disabled::DisabledReport, operations::refactor::DecideReport)>()),
    ("refactor decline", any_of::<(operations::disabled::DisabledReport, operations::refactor::DecideReport)>()),
    ("refactor evaluate", any_of::<(operations::disabled::DisabledReport, operations::refactor::EvaluateReport)>()),
    ("refactor status", any_of::<(operations::disabled::DisabledReport, operations::refactor::StatusReport)>()),
    ("requirements mark-complete", json::<operations::requirements::MarkReport>()),
    ("requirements ready-ids", json::<operations::requirements::ReadyReport>()),
    ("requirements revert-phase", json::<operations::requirements::RevertReport>()),
    ("research-plan", json::<operations::findings::PlanReport>()),
    ("research-store get", json::<operations::findings::KeptReport>()),
    ("research-store put", json::<operations::findings::Finding>()),
    ("resolve-agent", json::<dispatch::AgentReport>()),
    ("resolve-dispatch-type", json::<dispatch::TypeReport>()),
    ("resolve-execution", json::<operations::models::ExecutionReport>()),
    ("resolve-granularity", json::<operations::models::GranularityReport>()),
    ("resolve-model", json::<operations::models::ModelReport>()),
    ("restore-custom-files", json::<crate::install::custom::Restoration>()),
    ("roadmap analyze", any_of::<(operations::roadmap::AnalyzeReport, operations::roadmap::NoRoadmapReport)>()),
    ("roadmap annotate-dependencies", json::<operations::roadmap_waves::AnnotateReport>()),
    ("roadmap get-phase", json::<operations::roadmap::GetPhaseReport>()),
    ("roadmap milestone-scope", json::<operations::roadmap::ScopeReport>()),
    ("roadmap update-plan-progress", json::<operations::roadmap::ProgressReport>()),
    ("roadmap upgrade", json::<operations::upgrade::UpgradeReport>()),
    ("roadmap validate", json::<operations::roadmap_check::ValidateReport>()),
    ("run-with-timeout", Answer::Text("what the program prints")),
    ("runtime-identity", json::<basics::IdentityReport>()),
    ("runtimes", json::<runtimes::RuntimesReport>()),
    ("scaffold", json::<operations::scaffold::ScaffoldReport>()),
    ("scan-sessions", json::<operations::sessions::ScanReport>()),
    ("schema", json::<Map<String, Value>>()),
    ("skill-manifest", json::<operations::skill_manifest::SkillManifest>()),
    ("skills-root", json::<hosts::SkillsRootReport>()),
    ("smart-entry", json::<operations::entry::EntryReport>()),
    ("stamp-codebase-map", json::<operations::codebase_map::StampReport>()),
    ("state", json::<state::LoadReport>()),
    ("state add-blocker", json::<operations::state::notes::NoteReport>()),
    ("state add-decision", json::<operations::state::notes::NoteReport>()),
    ("state add-roadmap-evolution", json::<operations::state::notes::NoteReport>()),
    ("state advance-plan", any_of::<(state::FailureReport, operations::state::advance::AdvanceReport)>()),
    ("state begin-phase", any_of::<(state::FailureReport, operations::state::position::BeginReport)>()),
    ("state complete-phase", any_of::<(state::FailureReport, operations::state::position::CompleteReport)>()),
    ("state get", any_of::<(BTreeMap<String, String>, state::ContentReport, state::FailureReport)>()),
    ("state json", Answer::Seen(<(state::FailureReport, operations::state::read::IndexReport)>::forms)),
    ("state load", json::<state::LoadReport>()),
    ("state milestone-switch", any_of::<(state::FailureReport, operations::state::switch::SwitchReport)>()),
    ("state patch", any_of::<(state::FailureReport, operations::state::update::PatchReport)>()),
    ("state planned-phase", any_of::<(state::FailureReport, operations::state::position::PlannedReport)>()),
    ("state prune", any_of::<(state::FailureReport, operations::state::prune::PruneReport)>()),
    ("state rebuild", any_of::<(state::FailureReport, operations::state::rebuild::RebuildReport)>()),
    ("state record-metric", json::<operations::state::notes::NoteReport>()),
    ("state record-session", json::<operations::state::notes::NoteReport>()),
    ("state resolve-blocker", json::<operations::state::notes::NoteReport>()),
    ("state signal-resume", json::<operations::state::signal::ResumeReport>()),
    ("state signal-waiting", json::<operations::state::signal::WaitingReport>()),
    ("state sync", any_of::<(state::FailureReport, operations::state::sync::SyncReport)>()),
    ("state update", json::<operations::state::update::UpdateReport>()),
    ("state update-progress", any_of::<(state::FailureReport, operations::state::notes::ProgressUpdate)>()),
    ("state validate", any_of::<(state::FailureReport, operations::state::validate::ValidateReport)>()),
    ("state-snapshot", any_of::<(state::FailureReport, operations::state::read::SnapshotReport)>()),
    ("stats", any_of::<(operations::stats::StatsReport, operations::progress::TableReport)>()),
    ("status", json::<install::report::StatusReport>()),
    ("summary-extract", any_of::<(files::MissingFile, operations::summary::ExtractReport)>()),
    ("task is-behavior-adding", json::<operations::task::BehaviorReport>()),
    ("task resolve-content", json::<operations::task::ResolveReport>()),
    ("teams-status", json::<dispatch::TeamsReport>()),
    ("template fill", json::<operations::template::FillReport>()),
    ("template select", any_of::<(operations::template::SelectReport, template::Fallback)>()),
    ("todo complete", any_of::<(todo::CompleteReport, todo::RehearsalReport)>()),
    ("todo match-phase", json::<operations::todos::MatchReport>()),
    ("trust planning", json::<trust::TrustReport>()),
    ("uat classify-coverage", json::<operations::uat_coverage::CoverageReport>()),
    ("uat render-checkpoint", json::<uat::CheckpointReport>()),
    ("uninstall", json::<install::report::InstallReport>()),
    ("update-check", json::<updating::UpdateReport>()),
    ("update-context", json::<updating::InstallationReport>()),
    ("user-story validate", json::<operations::user_story::StoryReport>()),
    ("validate agents", json::<validate::AgentsReport>()),
    ("validate consistency", json::<operations::health::consistency::ConsistencyReport>()),
    ("validate context", json::<validate::ContextReport>()),
    ("validate health", json::<operations::health::check::HealthReport>()),
    ("verification defer-human", json::<operations::human_checks::DeferReport>()),
    ("verification fingerprint", json::<crate::project::verification::FingerprintReport>()),
    ("verification resolve-file", json::<verification::FileReport>()),
    ("verification settle-human", json::<operations::human_checks::SettleReport>()),
    ("verification status", json::<verification::StatusReport>()),
    ("verify artifacts", any_of::<(files::MissingFile, verify::NoMustHave, operations::must_haves::ArtifactsReport)>()),
    ("verify codebase-drift", json::<operations::drift::CodebaseReport>()),
    ("verify commits", json::<verify::CommitsReport>()),
    ("verify context-drift", json::<operations::drift::ContextReport>()),
    ("verify key-links", any_of::<(files::MissingFile, verify::NoMustHave, operations::must_haves::KeyLinksReport)>()),
    ("verify phase-completeness", any_of::<(verify::NoPhase, operations::plan_checks::CompletenessReport)>()),
    ("verify plan-structure", any_of::<(files::MissingFile, operations::plan_checks::StructureReport)>()),
    ("verify references", any_of::<(files::MissingFile, operations::plan_checks::ReferencesReport)>()),
    ("verify schema-drift", json::<operations::drift::SchemaReport>()),
    ("verify-path-exists", json::<basics::PathReport>()),
    ("verify-summary", json::<operations::summary_check::SummaryCheckReport>()),
    ("websearch", json::<research::SearchReport>()),
    ("workstream complete", json::<operations::workstream::CompleteReport>()),
    ("workstream create", json::<operations::workstream::CreateReport>()),
    ("workstream get", json::<workstream::ActiveReport>()),
    ("workstream list", json::<operations::workstream::RowsReport<operations::workstream::ListRow>>()),
    ("workstream progress", json::<operations::workstream::RowsReport<operations::workstream::ProgressRow>>()),
    ("workstream set", json::<workstream::ActiveReport>()),
    ("workstream status", json::<operations::workstream::StatusReport>()),
    ("worktree base-check", json::<operations::worktree::BaseReport>()),
    ("worktree cleanup-wave", any_of::<(worktree::Refusal, worktree::cleanup::WaveReport)>()),
    ("worktree create", any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree create-wave", any_of::<(worktree::create_wave::CreatedWave, worktree::Refusal)>()),
    ("worktree reap-orphans", json::<worktree::reap::ReapReport>()),
    ("worktree record-agent", any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree set-baseref", json::<worktree::base::BaseRefReport>()),
    ("write-profile", json::<operations::profile::ProfileReport>()),
];
