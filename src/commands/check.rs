//! Gates: small questions a workflow asks before it goes on.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::Reason;
use super::{CommandError, Context, Family, auto_chain, verify};
use crate::disk;
use crate::operations::coverage::{self, GapCounts};
use crate::operations::gates::{self, Predicate};
use crate::operations::plan_commands::{self, FolderFacts, FoundFolder};
use crate::operations::{api_coverage, prohibition, test_first};
use crate::project::folder::PhaseFolder;
use crate::project::view::ProjectView;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Gates {
    /// Ask a gate whether work may go on
    #[command(subcommand)]
    Check(CheckCommand),
    /// Tell which requirements and decisions no plan of a phase names
    ///
    /// Example: `gsd-tools gap-analysis --phase-dir .planning/phases/02-core --pick summary`.
    GapAnalysis(GapArgs),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CheckCommand {
    /// Show whether workflows go on by themselves, and why
    ///
    /// Example: `gsd-tools check auto-mode --pick active`.
    AutoMode,
    /// Tell which decisions of a context no plan carries out
    ///
    /// Example: `gsd-tools check decision-coverage-plan .planning/phases/02-core .planning/phases/02-core/02-CONTEXT.md`.
    DecisionCoveragePlan(CoverageArgs),
    /// Tell which decisions of a context neither plans nor summaries name
    ///
    /// Example: `gsd-tools check decision-coverage-verify .planning/phases/02-core .planning/phases/02-core/02-CONTEXT.md`.
    DecisionCoverageVerify(CoverageArgs),
    /// Tell which requirements and decisions no plan names; never blocks
    ///
    /// Example: `gsd-tools check gap-analysis-plan-post 2 --pick message`.
    #[command(alias = "gap-analysis.plan-post")]
    GapAnalysisPlanPost(PhaseArgs),
    /// Tell whether an artifact says what a feature wants it to say
    ///
    /// Example: `gsd-tools check predicate --phase-dir .planning/phases/02-core --predicate '{"kind": "artifact-frontmatter-equals", "artifact": "SECURITY.md", "field": "threats_open", "equals": 0}'`.
    Predicate(PredicateArgs),
    /// Tell whether a phase about what people see lacks its design
    ///
    /// Example: `gsd-tools check ui-plan-gate 4 --pick block`.
    #[command(alias = "ui.plan-gate")]
    UiPlanGate(PhaseArgs),
    /// Tell whether what people see was changed in a phase without a design
    ///
    /// Example: `gsd-tools check ui-safety-gate 4 --pick block`.
    #[command(alias = "ui.safety-gate")]
    UiSafetyGate(PhaseArgs),
    /// Tell whether a phase decided what it uses of outside APIs, before it is verified
    ///
    /// Example: `gsd-tools check api-coverage-verify-pre 2 --pick block`.
    #[command(alias = "api-coverage.verify-pre")]
    ApiCoverageVerifyPre(PhaseArgs),
    /// Tell whether something holds what a plan forbids; says no unless it is shown
    ///
    /// Example: `gsd-tools check prohibition-enforcement --json '{"prohibition": {"verification": "test"}, "check": {"path": "tests/auth.rs", "passed": true}}'`.
    ProhibitionEnforcement(RequestArgs),
    /// Tell whether a test was seen to fail before the code was written
    ///
    /// Example: `gsd-tools check tdd-red-evidence red.json --pick passed`.
    TddRedEvidence(RecordArgs),
    /// Tell which plans with tests first lack the commits that show it
    ///
    /// Example: `gsd-tools check tdd-review-checkpoint 2 --pick violations`.
    #[command(alias = "tdd.review-checkpoint")]
    TddReviewCheckpoint(PhaseArgs),
    /// Tell whether the commands that check plans run in folders that are there
    ///
    /// Example: `gsd-tools check verify-command-paths 2 --pick status`.
    VerifyCommandPaths(MaybePhaseArgs),
    /// Tell whether the commands that check plans say what makes them fail
    ///
    /// Example: `gsd-tools check verify-failure-directions 2 --pick status`.
    VerifyFailureDirections(MaybePhaseArgs),
    /// Tell whether plans change schema files without a database push
    ///
    /// Example: `gsd-tools check verify-schema-drift 2 --pick block`.
    #[command(alias = "verify.schema-drift")]
    VerifySchemaDrift(PhaseArgs),
    /// Tell whether the source has outgrown its map
    ///
    /// Example: `gsd-tools check verify-codebase-drift --pick block`.
    #[command(alias = "verify.codebase-drift")]
    VerifyCodebaseDrift(NoPhaseArgs),
    /// Tell whether the research of a phase is older than its context
    ///
    /// Example: `gsd-tools check verify-context-drift 2 --pick block`.
    #[command(alias = "verify.context-drift")]
    VerifyContextDrift(PhaseArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CoverageArgs {
    /// The folder of the phase
    phase_dir: Option<String>,
    /// The file with the decisions
    context: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3`, or its folder
    phase: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MaybePhaseArgs {
    /// The phase, such as `3`, or its folder
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NoPhaseArgs {
    /// A phase; the source belongs to all of them
    #[arg(hide = true)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// A JSON file with `command`, `exitCode`, `targetTest` and `output`
    record: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// A JSON file with `prohibition` and `check`
    #[arg(required_unless_present = "json")]
    file: Option<String>,
    /// The same as text
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    json: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PredicateArgs {
    /// The condition as JSON
    #[arg(long)]
    predicate: Option<String>,
    /// The folder in which the artifact is looked for
    #[arg(long)]
    phase_dir: Option<String>,
    /// The phase in whose folder it is looked for
    #[arg(long, conflicts_with = "phase_dir")]
    phase_number: Option<String>,
    /// Requirements; the artifact belongs to all of them
    #[arg(long, hide = true)]
    phase_req_ids: Option<String>,
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GapArgs {
    /// The folder of the phase
    #[arg(long)]
    phase_dir: String,
}

impl Family for Gates {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let command = match self {
            Self::Check(command) => command,
            Self::GapAnalysis(arguments) => return gap_analysis(context, &arguments.phase_dir),
        };
        match command {
            CheckCommand::AutoMode => auto_chain::show(context),
            CheckCommand::DecisionCoveragePlan(arguments) => coverage_of_plans(context, &arguments),
            CheckCommand::DecisionCoverageVerify(arguments) => coverage_of_work(context, &arguments),
            CheckCommand::GapAnalysisPlanPost(arguments) => gap_gate(context, &arguments.phase),
            CheckCommand::Predicate(arguments) => predicate(context, &arguments),
            CheckCommand::UiPlanGate(arguments) => ui_plan(context, &arguments.phase),
            CheckCommand::UiSafetyGate(arguments) => ui_safety(context, &arguments.phase),
            CheckCommand::ApiCoverageVerifyPre(arguments) => api_coverage(context, &arguments.phase),
            CheckCommand::ProhibitionEnforcement(arguments) => prohibition_held(context, &arguments),
            CheckCommand::TddRedEvidence(arguments) => red_evidence(context, &arguments.record),
            CheckCommand::TddReviewCheckpoint(arguments) => test_first_review(context, &arguments.phase),
            CheckCommand::VerifyCommandPaths(arguments) => command_paths(context, arguments.phase.as_deref()),
            CheckCommand::VerifyFailureDirections(arguments) => failure_directions(context, arguments.phase.as_deref()),
            CheckCommand::VerifySchemaDrift(arguments) => verify::schema_drift(context, &arguments.phase, false),
            CheckCommand::VerifyCodebaseDrift(_) => verify::codebase_drift(context),
            CheckCommand::VerifyContextDrift(arguments) => verify::context_drift(context, &arguments.phase),
        }
    }
}

/// The folder that a person named by its path.
fn folder_named(context: &Context, view: &ProjectView, typed: &str) -> Result<Option<PhaseFolder>, CommandError> {
    match context.layout().inside(typed) {
        Some(path) => Ok(view.folder_at(&path, None)?),
        None => Ok(None),
    }
}

/// The phase that a person named by its number or the path of its folder: its number as typed or as the folder says it,
/// and the folder.
pub(super) fn phase_named(
    context: &Context,
    view: &ProjectView,
    typed: &str,
) -> Result<(String, Option<PhaseFolder>), CommandError> {
    if let Some(folder) = view.find_phase(typed)?.folder {
        return Ok((typed.to_owned(), Some(folder)));
    }
    let folder = if typed.contains('/') { folder_named(context, view, typed)? } else { None };
    Ok((folder.as_ref().map_or(typed, PhaseFolder::token).to_owned(), folder))
}

fn coverage_of_plans(context: &mut Context, arguments: &CoverageArgs) -> Result<(), CommandError> {
    let enabled = context.config()?.flag("workflow.context_coverage_gate");
    let view = context.view();
    let folder = folder_named(context, &view, arguments.phase_dir.as_deref().unwrap_or_default())?;
    let path = arguments.context.as_deref().map(|path| context.layout().relative(path));
    let report = coverage::plans(&view, folder.as_ref(), path.as_deref(), enabled)?;
    drop(view);
    context.emit(&report)
}

fn coverage_of_work(context: &mut Context, arguments: &CoverageArgs) -> Result<(), CommandError> {
    let enabled = context.config()?.flag("workflow.context_coverage_gate");
    let view = context.view();
    let folder = folder_named(context, &view, arguments.phase_dir.as_deref().unwrap_or_default())?;
    let path = arguments.context.as_deref().map(|path| context.layout().relative(path));
    let report = coverage::work(&view, folder.as_ref(), path.as_deref(), enabled)?;
    drop(view);
    context.emit(&report)
}

fn gap_analysis(context: &mut Context, phase_dir: &str) -> Result<(), CommandError> {
    let enabled = context.config()?.flag("workflow.post_planning_gaps");
    let view = context.view();
    let folder = folder_named(context, &view, phase_dir)?;
    let report = coverage::gaps(&view, phase_dir, folder.as_ref(), enabled)?;
    drop(view);
    context.emit_raw(&report, if enabled { &report.table } else { &report.summary })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GapGateReport {
    block: bool,
    passed: bool,
    enabled: bool,
    message: String,
    table: String,
    summary: String,
    counts: GapCounts,
}

fn gap_gate(context: &mut Context, phase: &str) -> Result<(), CommandError> {
    let enabled = context.config()?.flag("workflow.post_planning_gaps");
    let view = context.view();
    let folder = phase_named(context, &view, phase)?.1;
    if folder.is_none() {
        return Err(CommandError::new(Reason::PhaseNotFound, format!("Phase directory not found: {phase}")));
    }
    let report = coverage::gaps(&view, phase, folder.as_ref(), enabled)?;
    drop(view);
    context.emit(&GapGateReport {
        block: false,
        passed: true,
        enabled,
        message: report.table.clone(),
        table: report.table,
        summary: report.summary,
        counts: report.counts,
    })
}

fn predicate(context: &mut Context, arguments: &PredicateArgs) -> Result<(), CommandError> {
    let wanted = Predicate::parse(arguments.predicate.as_deref().unwrap_or("{}"))
        .map_err(|error| CommandError::because(Reason::Usage, &error))?;
    let folder = match (arguments.phase_dir.as_deref(), arguments.phase_number.as_deref()) {
        (None, None) => String::new(),
        (None, Some(phase)) => context.view().find_phase(phase)?.folder.map(|folder| folder.path).unwrap_or_default(),
        (Some(typed), _) => context
            .layout()
            .inside(typed)
            .ok_or_else(|| CommandError::usage(format!("`{typed}` of --phase-dir is outside the project")))?,
    };
    let report = gates::predicate(&context.view(), &wanted, &folder)?;
    context.emit(&report)
}

fn ui_plan(context: &mut Context, typed: &str) -> Result<(), CommandError> {
    let config = context.config()?;
    let wanted = config.flag("workflow.ui_phase") && config.flag("workflow.ui_safety_gate");
    let view = context.view();
    let (phase, _) = phase_named(context, &view, typed)?;
    let report = gates::ui_plan(&view, &phase, has_frontend(context)?, wanted)?;
    drop(view);
    context.emit(&report)
}

fn ui_safety(context: &mut Context, typed: &str) -> Result<(), CommandError> {
    let view = context.view();
    let (phase, folder) = phase_named(context, &view, typed)?;
    let changed = changed_files(context, folder.as_ref());
    let command = format!("{}ui-phase", context.command_prefix()?);
    let report = gates::ui_safety(&view, &phase, &changed, &command)?;
    drop(view);
    context.emit(&report)
}

/// The files of the last commit and of the commits that name a plan of the phase.
fn changed_files(context: &Context, folder: Option<&PhaseFolder>) -> Vec<String> {
    let listed = |arguments: &[&str]| {
        let found = context.world().git(context.root().as_path(), arguments.iter().copied()).ok();
        let found = found.filter(crate::world::Finished::success).map(|found| found.text()).unwrap_or_default();
        found.split('\0').map(|path| path.trim_start_matches('\n').to_owned()).collect::<Vec<_>>()
    };
    let mut files = listed(&["diff", "--name-only", "-z", "HEAD~1", "HEAD"]);
    if let Some(folder) = folder {
        let subject = format!("--grep=^[a-z]*({}-", folder.token());
        files.extend(listed(&["log", "--format=", "--name-only", "-z", "--basic-regexp", &subject]));
    }
    files.retain(|path| !path.is_empty());
    files
}

fn api_coverage(context: &mut Context, typed: &str) -> Result<(), CommandError> {
    let view = context.view();
    let (_, folder) = phase_named(context, &view, typed)?;
    let report = api_coverage::verify_pre(&view, typed, folder.as_ref())?;
    drop(view);
    context.emit(&report)
}

fn prohibition_held(context: &mut Context, arguments: &RequestArgs) -> Result<(), CommandError> {
    let text = match (&arguments.json, &arguments.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            let path = context.here().resolve(file);
            let missing = || CommandError::usage(format!("there is no file `{path}`"));
            disk::read_text(&path)?.ok_or_else(missing)?
        }
        (None, None) => String::new(),
    };
    let request = serde_json::from_str(&text).map_err(|error| {
        CommandError::usage(format!("the request is no JSON object with `prohibition` and `check`: {error}"))
    })?;
    let is_file = |path: &str| {
        let inside = context.layout().inside(path);
        inside.is_some_and(|inside| disk::is_file(context.layout().absolute(&inside)))
    };
    let report = prohibition::judge(request, is_file);
    context.emit(&report)
}

fn red_evidence(context: &mut Context, record: &str) -> Result<(), CommandError> {
    let path = context.root().resolve(record);
    let Some(text) = disk::read_text(&path).ok().flatten() else {
        return context.emit(&test_first::unreadable(&path.to_string(), "record not found or unreadable"));
    };
    match serde_json::from_str(&text) {
        Ok(value) => context.emit(&test_first::red_evidence(&value)),
        Err(_) => context.emit(&test_first::unreadable(&path.to_string(), "record is not valid JSON")),
    }
}

fn test_first_review(context: &mut Context, typed: &str) -> Result<(), CommandError> {
    let view = context.view();
    let (_, folder) = phase_named(context, &view, typed)?;
    let subjects = || {
        let log = context.world().git(context.root().as_path(), ["log", "--format=%s"]).ok();
        let log = log.filter(crate::world::Finished::success).map(|log| log.text()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    };
    let report = test_first::review(&view, typed, folder.as_ref(), subjects)?;
    drop(view);
    context.emit(&report)
}

fn command_paths(context: &mut Context, typed: Option<&str>) -> Result<(), CommandError> {
    const VERB: &str = "verify-command-paths";
    let Some(typed) = typed else {
        return context.emit(&plan_commands::paths_unresolved(plan_commands::unresolved(None, VERB)));
    };
    let view = context.view();
    let (_, folder) = phase_named(context, &view, typed)?;
    let Some(folder) = folder else {
        drop(view);
        return context.emit(&plan_commands::paths_unresolved(plan_commands::unresolved(Some(typed), VERB)));
    };
    let report = plan_commands::paths(&view, &folder, &context.root().to_string(), |path| folder_facts(context, path))?;
    drop(view);
    context.emit(&report)
}

/// What is in a folder that a command of a plan runs in.
pub(super) fn folder_facts(context: &Context, path: &str) -> FolderFacts {
    let root = context.root();
    let absolute = root.resolve(path);
    let found = disk::is_folder(&absolute).then(|| FoundFolder {
        in_project: absolute.as_path().starts_with(root.as_path()),
        package: disk::read_text(absolute.resolve("package.json")).ok().flatten(),
    });
    FolderFacts { absolute: absolute.to_string(), found }
}

fn failure_directions(context: &mut Context, typed: Option<&str>) -> Result<(), CommandError> {
    const VERB: &str = "verify-failure-directions";
    let Some(typed) = typed else {
        return context.emit(&plan_commands::directions_unresolved(plan_commands::unresolved(None, VERB)));
    };
    let view = context.view();
    let (_, folder) = phase_named(context, &view, typed)?;
    let report = match folder {
        Some(folder) => plan_commands::directions(&view, &folder)?,
        None => plan_commands::directions_unresolved(plan_commands::unresolved(Some(typed), VERB)),
    };
    drop(view);
    context.emit(&report)
}

/// Packages that a frontend is made with.
const FRONTEND_PACKAGES: &[&str] = &["react", "vue", "svelte", "next", "nuxt", "@angular/core", "solid-js", "preact"];

/// Whether the source has a frontend: a package says so, or a file of the repository does.
fn has_frontend(context: &Context) -> Result<bool, CommandError> {
    let package = context.text_from_root("package.json")?.unwrap_or_default();
    if FRONTEND_PACKAGES.iter().any(|name| package.contains(&format!("\"{name}\":"))) {
        return Ok(true);
    }
    if !disk::exists(context.root().resolve(".git")) {
        return Ok(false);
    }
    let patterns = ["*.tsx", "*.jsx", "*.vue", "*.svelte"];
    let listed = ["ls-files", "--cached", "--others", "--exclude-standard", "--"].into_iter().chain(patterns);
    let found = context.world().git(context.root().as_path(), listed);
    Ok(found.is_ok_and(|found| found.success() && !found.text().is_empty()))
}
