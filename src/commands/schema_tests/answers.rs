//! What each command answers, as the types it prints.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::commands::agents::dispatch;
use crate::commands::agents::effort;
use crate::commands::agents::hosts;
use crate::commands::agents::models;
use crate::commands::checks::check;
use crate::commands::checks::gate;
use crate::commands::checks::guards;
use crate::commands::checks::uat;
use crate::commands::checks::validate;
use crate::commands::checks::verification;
use crate::commands::checks::verify;
use crate::commands::documents::frontmatter;
use crate::commands::frame::files;
use crate::commands::git;
use crate::commands::hooks;
use crate::commands::install;
use crate::commands::install::updating;
use crate::commands::loops;
use crate::commands::loops::auto_chain;
use crate::commands::notes::todo;
use crate::commands::phases::template;
use crate::commands::phases::workstream;
use crate::commands::plans::plan;
use crate::commands::research::packages;
use crate::commands::runtimes;
use crate::commands::small::basics;
use crate::commands::small::trust;
use crate::commands::state;
use crate::commands::worktree;
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
    ("agent classify-failure", json::<operations::agents::failure::FailureReport>()),
    ("agent-skills", any_of::<(&str, operations::agents::skills::SkillsReport)>()),
    (
        "assumption-delta scan",
        any_of::<(operations::gates::assumptions::ScanReport, operations::gates::assumptions::SkippedScan)>(),
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
    ("check api-coverage-verify-pre", json::<operations::gates::outside_apis::ApiCoverageReport>()),
    ("check auto-mode", json::<auto_chain::AutoModeReport>()),
    ("check decision-coverage-plan", json::<operations::gates::coverage::PlanCoverage>()),
    ("check decision-coverage-verify", json::<operations::gates::coverage::WorkCoverage>()),
    ("check gap-analysis-plan-post", json::<check::GapGateReport>()),
    ("check predicate", json::<operations::gates::artifact::PredicateReport>()),
    ("check prohibition-enforcement", json::<operations::gates::prohibition::ProhibitionReport>()),
    (
        "check tdd-red-evidence",
        any_of::<(operations::gates::test_first::RedReport, operations::gates::test_first::RedUnreadable)>(),
    ),
    ("check tdd-review-checkpoint", json::<operations::gates::test_first::ReviewReport>()),
    ("check ui-plan-gate", json::<operations::gates::artifact::UiPlanReport>()),
    ("check ui-safety-gate", json::<operations::gates::artifact::UiSafetyReport>()),
    ("check verify-codebase-drift", json::<operations::gates::drift::CodebaseReport>()),
    ("check verify-command-paths", json::<operations::plans::commands::CommandPathsReport>()),
    ("check verify-context-drift", json::<operations::gates::drift::ContextReport>()),
    ("check verify-failure-directions", json::<operations::plans::directions::DirectionsReport>()),
    ("check verify-schema-drift", json::<operations::gates::drift::SchemaReport>()),
    ("check-commit", json::<git::CheckReport>()),
    ("classify-confidence", json::<operations::research::confidence::ConfidenceReport>()),
    ("commit", json::<git::commit::CommitReport>()),
    ("commit-docs-guard disable", json::<git::guard::DisabledReport>()),
    ("commit-docs-guard enable", json::<git::guard::EnabledReport>()),
    ("commit-to-subrepo", json::<git::subrepo::SubrepoReport>()),
    ("config-ensure-section", json::<operations::documents::configuration::CreateReport>()),
    ("config-get", json::<Value>()),
    ("config-new-project", json::<operations::documents::configuration::CreateReport>()),
    ("config-path", Answer::Text("the path of the file that holds the configuration")),
    ("config-set", json::<operations::documents::configuration::SetReport>()),
    ("config-set-model-profile", json::<models::ProfileReport>()),
    ("current-timestamp", json::<basics::TimestampReport>()),
    ("detect-custom-files", json::<crate::install::custom::Findings>()),
    ("dispatch-capacity", json::<dispatch::answers::CapacityReport>()),
    ("dispatch-isolation", json::<dispatch::answers::IsolationReport>()),
    ("dispatch-should-flatten", json::<dispatch::FlattenReport>()),
    ("docs-init", bundle::<bundle::docs::DocsInitReport>()),
    ("drift-guard authority", json::<String>()),
    ("drift-guard phase-status", json::<operations::gates::drift_guard::StatusReport>()),
    ("drift-guard severity", json::<guards::SeverityReport>()),
    ("effort sync", json::<effort::SyncReport>()),
    ("estimate-calibrate", json::<operations::plans::estimates::CalibrateReport>()),
    ("estimate-calibration", json::<operations::plans::estimates::CalibrationReport>()),
    ("estimate-check", json::<operations::plans::estimates::CheckReport>()),
    ("eval score", json::<operations::verification::evaluation::ScoreReport>()),
    ("extract-messages", json::<operations::person::sessions::ExtractReport>()),
    ("find-phase", json::<operations::phases::find::FindPhaseReport>()),
    (
        "from-gsd2",
        any_of::<(
            operations::import::gsd2::ImportReport,
            operations::import::gsd2::ImportRehearsal,
            operations::import::gsd2::ImportRefusal,
        )>(),
    ),
    (
        "frontmatter get",
        any_of::<(BTreeMap<String, front_matter::Value>, files::MissingFile, frontmatter::NoField, front_matter::Value)>(
        ),
    ),
    ("frontmatter merge", any_of::<(files::MissingFile, frontmatter::MergeReport)>()),
    ("frontmatter set", any_of::<(files::MissingFile, frontmatter::NoField, frontmatter::SetReport)>()),
    ("frontmatter validate", json::<operations::documents::frontmatter::ValidateReport>()),
    ("gap-analysis", json::<operations::gates::coverage::GapReport>()),
    ("gate approve", json::<gate::ApprovalReport>()),
    ("gate list", json::<[gate::ShowReport; 2]>()),
    ("gate revoke", json::<gate::ApprovalReport>()),
    ("gate run", json::<gate::RunReport>()),
    ("gate show", json::<gate::ShowReport>()),
    ("generate-claude-md", json::<operations::agents::instructions::InstructionsReport>()),
    ("generate-claude-profile", json::<operations::person::profile::SectionReport>()),
    ("generate-dev-preferences", json::<operations::person::profile::PreferencesReport>()),
    ("generate-slug", json::<basics::SlugReport>()),
    ("git base-branch", Answer::Text("the name of the branch")),
    (
        "graphify build",
        any_of::<(
            operations::answers::disabled::DisabledReport,
            operations::code::graph::BuildReport,
            operations::code::graph::BuildNote,
            operations::code::graph::SnapshotReport,
        )>(),
    ),
    ("graphify diff", any_of::<(operations::answers::disabled::DisabledReport, operations::code::graph::DiffReport)>()),
    (
        "graphify query",
        any_of::<(
            operations::answers::disabled::DisabledReport,
            operations::code::graph::QueryReport,
            operations::code::graph::FailureReport,
        )>(),
    ),
    (
        "graphify status",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::graph::StatusReport)>(),
    ),
    ("guide", Answer::Text("a page in Markdown")),
    ("history-digest", json::<operations::overview::history::HistoryReport>()),
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
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::surface::SurfaceReport)>(),
    ),
    ("intel diff", any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::DiffReport)>()),
    ("intel extract-exports", json::<operations::code::intel::exports::ExportsReport>()),
    ("intel patch-meta", json::<operations::code::intel::PatchReport>()),
    ("intel query", any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::QueryReport)>()),
    (
        "intel snapshot",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::SnapshotReport)>(),
    ),
    (
        "intel status",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::StatusReport)>(),
    ),
    (
        "intel update",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::UpdateReport)>(),
    ),
    (
        "intel validate",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::intel::ValidateReport)>(),
    ),
    ("learnings copy", json::<operations::research::learnings::CopyReport>()),
    ("learnings delete", json::<operations::research::learnings::DeleteReport>()),
    ("learnings list", json::<operations::research::learnings::ListReport>()),
    ("learnings prune", json::<operations::research::learnings::PruneReport>()),
    ("learnings query", json::<operations::research::learnings::ListReport>()),
    ("list-seeds", json::<operations::notes::seeds::SeedsReport>()),
    ("list-todos", json::<operations::notes::todos::TodosReport>()),
    ("loop enter", json::<loops::EnterReport>()),
    ("loop render-hooks", json::<operations::capability::hooks::PointReport>()),
    ("migrate-config", json::<operations::documents::configuration::MigrateReport>()),
    (
        "milestone archive-quick",
        any_of::<(operations::milestones::complete::QuickReport, operations::milestones::complete::QuickRehearsalReport)>(
        ),
    ),
    (
        "milestone complete",
        any_of::<(operations::milestones::complete::CompleteReport, operations::milestones::complete::RehearsalReport)>(
        ),
    ),
    ("normalize-test-command", Answer::Text("the command")),
    ("package", json::<install::package::PackageReport>()),
    ("package-legitimacy check", json::<Vec<operations::research::packages::PackageReport>>()),
    ("phase add", json::<operations::phases::add::AddReport>()),
    ("phase add-batch", json::<operations::phases::add::BatchReport>()),
    ("phase complete", json::<operations::phases::complete::CompleteReport>()),
    ("phase insert", json::<operations::phases::add::InsertReport>()),
    ("phase list-plans", json::<operations::phases::add::PlanListReport>()),
    ("phase mvp-mode", json::<operations::phases::add::MvpReport>()),
    ("phase next-decimal", json::<operations::phases::add::DecimalReport>()),
    ("phase remove", json::<operations::phases::remove::RemoveReport>()),
    ("phase tdd-applicable", json::<operations::phases::add::TddReport>()),
    ("phase uat-passed", json::<operations::verification::acceptance::AcceptanceReport>()),
    ("phase-plan-index", json::<operations::plans::index::PlanIndexReport>()),
    ("phases clear", json::<operations::milestones::archive::ClearReport>()),
    ("phases list", json::<operations::phases::find::PhaseListReport>()),
    ("plan check", json::<plan::CheckReport>()),
    ("plan close", json::<plan::CloseReport>()),
    ("plan lint", json::<operations::plans::lint::LintReport>()),
    ("plan record", json::<plan::RecordReport>()),
    ("planning inspect", json::<operations::overview::inspect::InspectReport>()),
    ("pr-subrepo", json::<git::pull_request::PullRequestReport>()),
    (
        "profile-questionnaire",
        any_of::<(operations::person::profile::Questionnaire, operations::person::profile::Answers)>(),
    ),
    ("profile-sample", json::<operations::person::sessions::SampleReport>()),
    (
        "progress",
        any_of::<(
            operations::overview::progress::ProgressReport,
            operations::overview::progress::BarReport,
            operations::overview::progress::TableReport,
        )>(),
    ),
    ("project-instruction-file", Answer::Text("the name of the host's instruction file")),
    ("prompt-budget", Answer::Text("nothing; what was cut stands in the file of `--output-metadata`")),
    ("quick-tasks-append", json::<operations::notes::quick_tasks::AppendReport>()),
    ("quick-tasks-migrate", json::<operations::notes::quick_tasks::MigrateReport>()),
    ("record-dispatch-isolation", json::<dispatch::RecordedReport>()),
    ("recover", json::<install::report::Recovered>()),
    (
        "refactor accept",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::refactor::DecideReport)>(),
    ),
    (
        "refactor decline",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::refactor::DecideReport)>(),
    ),
    (
        "refactor evaluate",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::refactor::EvaluateReport)>(),
    ),
    (
        "refactor status",
        any_of::<(operations::answers::disabled::DisabledReport, operations::code::refactor::StatusReport)>(),
    ),
    ("requirements mark-complete", json::<operations::documents::requirements::MarkReport>()),
    ("requirements ready-ids", json::<operations::documents::requirements::ReadyReport>()),
    ("requirements revert-phase", json::<operations::documents::requirements::RevertReport>()),
    ("research-plan", json::<operations::research::findings::PlanReport>()),
    ("research-store get", json::<operations::research::findings::KeptReport>()),
    ("research-store put", json::<operations::research::findings::Finding>()),
    ("resolve-agent", json::<dispatch::AgentReport>()),
    ("resolve-dispatch-type", json::<dispatch::TypeReport>()),
    ("resolve-execution", json::<operations::agents::models::ExecutionReport>()),
    ("resolve-granularity", json::<operations::agents::models::GranularityReport>()),
    ("resolve-model", json::<operations::agents::models::ModelReport>()),
    ("restore-custom-files", json::<crate::install::custom::Restoration>()),
    (
        "roadmap analyze",
        any_of::<(operations::roadmap::analyze::AnalyzeReport, operations::roadmap::analyze::NoRoadmapReport)>(),
    ),
    ("roadmap annotate-dependencies", json::<operations::roadmap::waves::AnnotateReport>()),
    ("roadmap get-phase", json::<operations::roadmap::analyze::GetPhaseReport>()),
    ("roadmap milestone-scope", json::<operations::roadmap::analyze::ScopeReport>()),
    ("roadmap update-plan-progress", json::<operations::roadmap::analyze::ProgressReport>()),
    ("roadmap upgrade", json::<operations::roadmap::upgrade::UpgradeReport>()),
    ("roadmap validate", json::<operations::roadmap::check::ValidateReport>()),
    ("run-with-timeout", Answer::Text("what the program prints")),
    ("runtime-identity", json::<basics::IdentityReport>()),
    ("runtimes", json::<runtimes::RuntimesReport>()),
    ("scaffold", json::<operations::phases::scaffold::ScaffoldReport>()),
    ("scan-sessions", json::<operations::person::sessions::ScanReport>()),
    ("schema", json::<Map<String, Value>>()),
    ("skill-manifest", json::<operations::agents::skill_manifest::SkillManifest>()),
    ("skills-root", json::<hosts::SkillsRootReport>()),
    ("smart-entry", json::<operations::state::situation::EntryReport>()),
    ("stamp-codebase-map", json::<operations::code::map::StampReport>()),
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
    ("stats", any_of::<(operations::overview::stats::StatsReport, operations::overview::progress::TableReport)>()),
    ("status", json::<install::report::StatusReport>()),
    ("summary-extract", any_of::<(files::MissingFile, operations::plans::summary::ExtractReport)>()),
    ("task is-behavior-adding", json::<operations::plans::task::BehaviorReport>()),
    ("task resolve-content", json::<operations::plans::task::ResolveReport>()),
    ("teams-status", json::<dispatch::TeamsReport>()),
    ("template fill", json::<operations::phases::template::FillReport>()),
    ("template select", any_of::<(operations::phases::template::SelectReport, template::Fallback)>()),
    ("todo complete", any_of::<(todo::CompleteReport, todo::RehearsalReport)>()),
    ("todo match-phase", json::<operations::notes::todos::MatchReport>()),
    ("trust planning", json::<trust::TrustReport>()),
    ("uat classify-coverage", json::<operations::verification::uat_coverage::CoverageReport>()),
    ("uat render-checkpoint", json::<uat::CheckpointReport>()),
    ("uninstall", json::<install::report::InstallReport>()),
    ("update-check", json::<updating::UpdateReport>()),
    ("update-context", json::<updating::InstallationReport>()),
    ("user-story validate", json::<operations::gates::user_story::StoryReport>()),
    ("validate agents", json::<validate::AgentsReport>()),
    ("validate consistency", json::<operations::health::consistency::ConsistencyReport>()),
    ("validate context", json::<validate::ContextReport>()),
    ("validate health", json::<operations::health::check::HealthReport>()),
    ("verification defer-human", json::<operations::verification::human_checks::DeferReport>()),
    ("verification fingerprint", json::<crate::project::verification::FingerprintReport>()),
    ("verification resolve-file", json::<verification::FileReport>()),
    ("verification settle-human", json::<operations::verification::human_checks::SettleReport>()),
    ("verification status", json::<verification::StatusReport>()),
    (
        "verify artifacts",
        any_of::<(files::MissingFile, verify::NoMustHave, operations::plans::promises::ArtifactsReport)>(),
    ),
    ("verify codebase-drift", json::<operations::gates::drift::CodebaseReport>()),
    ("verify commits", json::<verify::CommitsReport>()),
    ("verify context-drift", json::<operations::gates::drift::ContextReport>()),
    (
        "verify key-links",
        any_of::<(files::MissingFile, verify::NoMustHave, operations::plans::promises::KeyLinksReport)>(),
    ),
    ("verify phase-completeness", any_of::<(verify::NoPhase, operations::plans::structure::CompletenessReport)>()),
    ("verify plan-structure", any_of::<(files::MissingFile, operations::plans::structure::StructureReport)>()),
    ("verify references", any_of::<(files::MissingFile, operations::plans::structure::ReferencesReport)>()),
    ("verify schema-drift", json::<operations::gates::drift::SchemaReport>()),
    ("verify-path-exists", json::<basics::PathReport>()),
    ("verify-summary", json::<operations::plans::summary_check::SummaryCheckReport>()),
    ("websearch", json::<packages::SearchReport>()),
    ("workstream complete", json::<operations::workstream::CompleteReport>()),
    ("workstream create", json::<operations::workstream::CreateReport>()),
    ("workstream get", json::<workstream::ActiveReport>()),
    ("workstream list", json::<operations::workstream::RowsReport<operations::workstream::ListRow>>()),
    ("workstream progress", json::<operations::workstream::RowsReport<operations::workstream::ProgressRow>>()),
    ("workstream set", json::<workstream::ActiveReport>()),
    ("workstream status", json::<operations::workstream::StatusReport>()),
    ("worktree base-check", json::<operations::agents::worktree::BaseReport>()),
    ("worktree cleanup-wave", any_of::<(worktree::Refusal, worktree::cleanup::WaveReport)>()),
    ("worktree create", any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree create-wave", any_of::<(worktree::create_wave::CreatedWave, worktree::Refusal)>()),
    ("worktree reap-orphans", json::<worktree::reap::ReapReport>()),
    ("worktree record-agent", any_of::<(worktree::NotedReport, worktree::Refusal)>()),
    ("worktree set-baseref", json::<worktree::base::BaseRefReport>()),
    ("write-profile", json::<operations::person::profile::ProfileReport>()),
];
