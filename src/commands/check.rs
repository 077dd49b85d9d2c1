//! Gates: small questions a workflow asks before it goes on.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::Reason;
use super::{CommandError, Context, Family, verify};
use crate::disk;
use crate::operations::coverage::{self, GapCounts};
use crate::operations::gates::{self, Predicate};
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
    /// Tell whether workflows go on by themselves
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
    GapAnalysisPlanPost(PhaseArgs),
    /// Tell whether an artifact says what a feature wants it to say
    ///
    /// Example: `gsd-tools check predicate --phase-dir .planning/phases/02-core --predicate '{"kind": "artifact-frontmatter-equals", "artifact": "SECURITY.md", "field": "threats_open", "equals": 0}'`.
    Predicate(PredicateArgs),
    /// Tell whether a phase about what people see lacks its design
    ///
    /// Example: `gsd-tools check ui-plan-gate 4 --pick block`.
    UiPlanGate(PhaseArgs),
    /// Tell whether plans change schema files without a database push
    ///
    /// Example: `gsd-tools check verify-schema-drift 2 --pick block`.
    VerifySchemaDrift(PhaseArgs),
    /// Tell whether the source has outgrown its map
    ///
    /// Example: `gsd-tools check verify-codebase-drift --pick block`.
    VerifyCodebaseDrift(MaybePhaseArgs),
    /// Tell whether the research of a phase is older than its context
    ///
    /// Example: `gsd-tools check verify-context-drift 2 --pick block`.
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
    /// A phase; the source belongs to all of them
    #[arg(hide = true)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PredicateArgs {
    /// The condition as JSON
    #[arg(long)]
    predicate: Option<String>,
    /// The folder in which the artifact is looked for
    #[arg(long)]
    phase_dir: Option<String>,
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
            CheckCommand::AutoMode => auto_mode(context),
            CheckCommand::DecisionCoveragePlan(arguments) => coverage_of_plans(context, &arguments),
            CheckCommand::DecisionCoverageVerify(arguments) => coverage_of_work(context, &arguments),
            CheckCommand::GapAnalysisPlanPost(arguments) => gap_gate(context, &arguments.phase),
            CheckCommand::Predicate(arguments) => predicate(context, &arguments),
            CheckCommand::UiPlanGate(arguments) => ui_plan(context, &arguments.phase),
            CheckCommand::VerifySchemaDrift(arguments) => verify::schema_drift(context, &arguments.phase, false),
            CheckCommand::VerifyCodebaseDrift(_) => verify::codebase_drift(context),
            CheckCommand::VerifyContextDrift(arguments) => verify::context_drift(context, &arguments.phase),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AutoModeReport {
    active: bool,
    source: &'static str,
    auto_chain_active: bool,
    auto_advance: bool,
}

fn auto_mode(context: &mut Context) -> Result<(), CommandError> {
    let config = context.config()?;
    let (chain, advance) = (config.flag("workflow._auto_chain_active"), config.flag("workflow.auto_advance"));
    let source = match (chain, advance) {
        (true, true) => "both",
        (true, false) => "auto_chain",
        (false, true) => "auto_advance",
        (false, false) => "none",
    };
    let report = AutoModeReport { active: chain || advance, source, auto_chain_active: chain, auto_advance: advance };
    context.emit(&report)
}

/// The folder that a person named by its path.
fn folder_named(context: &Context, view: &ProjectView, typed: &str) -> Result<Option<PhaseFolder>, CommandError> {
    match context.layout().inside(typed) {
        Some(path) => Ok(view.folder_at(&path, None)?),
        None => Ok(None),
    }
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
    context.emit(&report)
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
    let folder = match view.find_phase(phase)?.folder {
        Some(folder) => Some(folder),
        None => folder_named(context, &view, phase)?,
    };
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
    let folder = match arguments.phase_dir.as_deref() {
        None => String::new(),
        Some(typed) => context
            .layout()
            .inside(typed)
            .ok_or_else(|| CommandError::usage(format!("`{typed}` of --phase-dir is outside the project")))?,
    };
    let report = gates::predicate(&context.view(), &wanted, &folder)?;
    context.emit(&report)
}

fn ui_plan(context: &mut Context, phase: &str) -> Result<(), CommandError> {
    let config = context.config()?;
    let wanted = config.flag("workflow.ui_phase") && config.flag("workflow.ui_safety_gate");
    let report = gates::ui_plan(&context.view(), phase, has_frontend(context)?, wanted)?;
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
