//! Gates: small checks that a workflow makes before it continues.

use crate::acts::checks::gates;
use crate::acts::files;
use crate::acts::named;

use super::drift;
use crate::acts::files::file_not_found;
use crate::commands::loops::auto_chain;
use crate::disk;
use crate::failure::Failure;
use crate::frame::named::{NonBlank, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::gates::artifact::{self, Predicate};
use crate::operations::gates::coverage::{self};
use crate::operations::gates::prohibition;

verbs! {
    "Gates";
    groups { "check": "Check the gates that decide whether the loop may continue"; }

    /// Show whether workflows continue automatically, and why
    ///
    /// Example: `gsd-tools check auto-mode --pick active`.
    "check auto-mode": reads json(crate::acts::auto_chain::AutoModeReport) = auto_chain::show();

    /// List the decisions in CONTEXT.md that no plan carries out
    ///
    /// `passed` is false if a decision is missing. Skipped if `workflow.context_coverage_gate` is off.
    ///
    /// Example: `gsd-tools check decision-coverage-plan .planning/phases/02-core .planning/phases/02-core/02-CONTEXT.md`.
    "check decision-coverage-plan": reads json(coverage::PlanCoverage) = coverage_of_plans(CoverageArgs);

    /// List the decisions in CONTEXT.md that no plan or summary mentions
    ///
    /// For information: never blocks. Skipped if `workflow.context_coverage_gate` is off.
    ///
    /// Example: `gsd-tools check decision-coverage-verify .planning/phases/02-core .planning/phases/02-core/02-CONTEXT.md`.
    "check decision-coverage-verify": reads json(coverage::WorkCoverage) = coverage_of_work(CoverageArgs);

    /// List requirements and decisions of a phase that no plan mentions
    ///
    /// Run by the loop after planning. Warns, and never blocks. Only requirements that the roadmap assigns to the phase
    /// count, or those of the list.
    ///
    /// Example: `gsd-tools check gap-analysis-plan-post 2 --pick message`.
    "check gap-analysis-plan-post" or "gap-analysis.plan-post": reads json(gates::GapGateReport)
        = gap_analysis_plan_post(GapGateArgs);

    /// Check a front matter field of an artifact against a condition
    ///
    /// Features use such conditions as gates. `block` is true if the artifact is missing or the field has another
    /// value.
    ///
    /// Example: `gsd-tools check predicate --phase-dir .planning/phases/02-core --predicate '{"kind": "artifact-frontmatter-equals", "artifact": "SECURITY.md", "field": "threats_open", "equals": 0}'`.
    "check predicate": reads json(artifact::PredicateReport) = predicate(PredicateArgs);

    /// Check that a phase with a user interface has a UI-SPEC.md
    ///
    /// `block` is true if it has none. Switched off by `workflow.ui_phase` or `workflow.ui_safety_gate`.
    ///
    /// Example: `gsd-tools check ui-plan-gate 4 --pick block`.
    "check ui-plan-gate" or "ui.plan-gate": reads json(artifact::UiPlanReport) = ui_plan_gate(PhaseFolderArg);

    /// Check that a phase that changed UI files has a UI-SPEC.md
    ///
    /// Reads the files of the last commit and of the phase's commits. `block` is true if it has none.
    ///
    /// Example: `gsd-tools check ui-safety-gate 4 --pick block`.
    "check ui-safety-gate" or "ui.safety-gate": reads json(artifact::UiSafetyReport) = ui_safety_gate(PhaseFolderArg);

    /// Check that a phase lists which parts of external APIs it uses
    ///
    /// Reads COVERAGE.md of the phase. `block` is true if the phase uses an external API and the file is missing or
    /// invalid.
    ///
    /// Example: `gsd-tools check api-coverage-verify-pre 2 --pick block`.
    "check api-coverage-verify-pre" or "api-coverage.verify-pre": reads json(crate::operations::gates::outside_apis::ApiCoverageReport)
        = api_coverage_verify_pre(PhaseFolderArg);

    /// Check that something a plan forbids is enforced
    ///
    /// With `verification` `test`, a test file has to exist and pass; with `judgment`, there has to be evidence. `status`
    /// is `enforced`, `violated` or `unverified`.
    ///
    /// Example: `gsd-tools check prohibition-enforcement --json '{"prohibition": {"verification": "test"}, "check": {"path": "tests/auth.rs", "passed": true}}'`.
    "check prohibition-enforcement": reads json(prohibition::ProhibitionReport) = prohibition_held(RequestArgs);

    use crate::peer::plans::RED_EVIDENCE;

    /// Show whether a proposed refactoring of a phase waits for a decision
    ///
    /// Blocks only with `refactor.trigger_strict`.
    ///
    /// Example: `gsd-tools check refactor-undecided 2 --pick cure`.
    "check refactor-undecided" or "refactor.undecided": reads json(crate::operations::code::refactor::UndecidedReport)
        = refactor_undecided(PhaseFolderArg);

    /// List test-first plans whose commits do not show a test first
    ///
    /// `block` is true if such a plan has no test commit before its code.
    ///
    /// Example: `gsd-tools check tdd-review-checkpoint 2 --pick violations`.
    "check tdd-review-checkpoint" or "tdd.review-checkpoint": reads json(crate::operations::gates::test_first::ReviewReport)
        = tdd_review_checkpoint(PhaseFolderArg);

    use crate::peer::plans::COMMAND_PATHS;

    use crate::peer::plans::FAILURE_DIRECTIONS;

    /// Check for schema changes without a database push
    ///
    /// Reads the files that plans of the phase change and what summaries say was run (Prisma, Drizzle, Supabase,
    /// TypeORM, Payload). Set `GSD_SKIP_SCHEMA_CHECK=true` to pass once.
    ///
    /// Example: `gsd-tools check verify-schema-drift 2 --pick block`.
    "check verify-schema-drift" or "verify.schema-drift": reads json(crate::operations::gates::drift::SchemaReport)
        = drift::schema_of_phase(PhaseFolderArg);

    /// Check whether the codebase map is out of date
    ///
    /// Compares files added since the mapped commit with `.planning/codebase/STRUCTURE.md`. `block` is true from
    /// `workflow.drift_threshold` new folders or migrations on.
    ///
    /// Example: `gsd-tools check verify-codebase-drift --pick block`.
    "check verify-codebase-drift" or "verify.codebase-drift": reads json(
        crate::operations::gates::drift::CodebaseReport
    ) = drift::codebase(drift::NoPhaseArgs);

    /// Check whether a phase's research is older than its CONTEXT.md
    ///
    /// `block` is true only if `workflow.context_drift_action` is `block`.
    ///
    /// Example: `gsd-tools check verify-context-drift 2 --pick block`.
    "check verify-context-drift" or "verify.context-drift": reads json(crate::operations::gates::drift::ContextReport)
        = drift::context(PhaseFolderArg);

    /// List requirements and decisions that no plan of a phase mentions
    ///
    /// Counts every requirement of the project, or those of `--phase-req-ids`. Switched off by
    /// `workflow.post_planning_gaps`.
    ///
    /// Example: `gsd-tools gap-analysis --phase-dir .planning/phases/02-core --pick summary`.
    "gap-analysis": reads json(coverage::GapReport) = gap_analysis(GapArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CoverageArgs {
    /// The folder of the phase
    phase_dir: Option<String>,
    /// The file with the decisions, such as `02-CONTEXT.md`
    context: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// A JSON file with `prohibition` and `check`
    #[arg(required = true)]
    file: Option<String>,
    /// The request itself, as JSON text
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    json: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PredicateArgs {
    /// The condition as JSON: `kind`, `artifact`, `field` and `equals`
    #[arg(long)]
    predicate: Option<String>,
    /// The folder that contains the artifact
    #[arg(long)]
    phase_dir: Option<String>,
    /// The phase whose folder contains the artifact
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
    /// The requirements that count, such as `AUTH-01,AUTH-02` or `AUTH-01..AUTH-04`; `TBD` for none
    #[arg(long, value_name = "LIST")]
    phase_req_ids: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GapGateArgs {
    /// The phase: its number, such as `3`, or its folder
    phase: NonBlank,
    /// The requirements that count, such as `AUTH-01,AUTH-02` or `AUTH-01..AUTH-04`; `TBD` for none
    ids: Option<String>,
}

fn gap_analysis_plan_post(context: &mut Context, arguments: &GapGateArgs) -> Result<(), Failure> {
    context.emit(&gates::gap_gate(context, &arguments.phase, arguments.ids.as_deref())?)
}

fn ui_plan_gate(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&gates::ui_plan(context, &arguments.phase)?)
}

fn ui_safety_gate(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&gates::ui_safety(context, &arguments.phase)?)
}

fn api_coverage_verify_pre(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&gates::api_coverage(context, &arguments.phase)?)
}

fn tdd_review_checkpoint(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&gates::test_first_review(context, &arguments.phase)?)
}

fn refactor_undecided(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&gates::undecided(context, &arguments.phase)?)
}

fn coverage_of_plans(context: &mut Context, arguments: &CoverageArgs) -> Result<(), Failure> {
    let enabled = context.config()?.flag("workflow.context_coverage_gate");
    let view = context.view();
    let folder = named::folder_named(context, &view, arguments.phase_dir.as_deref().unwrap_or_default())?;
    let path = arguments.context.as_deref().map(|path| context.layout().relative(path));
    let report = coverage::plans(&view, folder.as_ref(), path.as_deref(), enabled)?;
    drop(view);
    context.emit(&report)
}

fn coverage_of_work(context: &mut Context, arguments: &CoverageArgs) -> Result<(), Failure> {
    let enabled = context.config()?.flag("workflow.context_coverage_gate");
    let view = context.view();
    let folder = named::folder_named(context, &view, arguments.phase_dir.as_deref().unwrap_or_default())?;
    let path = arguments.context.as_deref().map(|path| context.layout().relative(path));
    let report = coverage::work(&view, folder.as_ref(), path.as_deref(), enabled)?;
    drop(view);
    context.emit(&report)
}

fn gap_analysis(context: &mut Context, GapArgs { phase_dir, phase_req_ids }: &GapArgs) -> Result<(), Failure> {
    let enabled = context.config()?.flag("workflow.post_planning_gaps");
    let view = context.view();
    let folder = named::folder_named(context, &view, phase_dir)?;
    let own = phase_req_ids.as_deref().map(coverage::handed_over);
    let report = coverage::gaps(&view, phase_dir, folder.as_ref(), enabled, own.as_deref())?;
    drop(view);
    context.emit_raw(&report, if enabled { &report.table } else { &report.summary })
}

fn predicate(context: &mut Context, arguments: &PredicateArgs) -> Result<(), Failure> {
    let wanted = Predicate::parse(arguments.predicate.as_deref().unwrap_or("{}"))
        .map_err(|failure| failure.hint("`gsd-tools check predicate --help` shows an example"))?;
    let folder = match (arguments.phase_dir.as_deref(), arguments.phase_number.as_deref()) {
        (None, None) => String::new(),
        (None, Some(typed)) => {
            let view = context.view();
            named::phase_named(context, &view, typed)?.folder.map(|folder| folder.path).unwrap_or_default()
        }
        (Some(typed), _) => context.layout().inside(typed).ok_or_else(|| {
            let outside = Failure::usage(format!("`{typed}` of `--phase-dir` is outside the project"));
            outside.hint(format!("name a folder below `{}`", context.root()))
        })?,
    };
    context.emit(&artifact::predicate(&context.view(), context.config()?, &wanted, &folder)?)
}

fn prohibition_held(context: &mut Context, arguments: &RequestArgs) -> Result<(), Failure> {
    let text = match (&arguments.json, &arguments.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            let path = context.here().resolve(file);
            files::read(context, &path)?.ok_or_else(|| file_not_found(&path, context.here()))?
        }
        (None, None) => String::new(),
    };
    let request = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("the request is not a JSON object with `prohibition` and `check`: {error}"))
            .hint("`gsd-tools check prohibition-enforcement --help` shows an example")
    })?;
    let is_file = |path: &str| {
        let inside = context.layout().inside(path);
        inside.is_some_and(|inside| disk::is_file(context.layout().absolute(&inside)))
    };
    let report = prohibition::judge(request, is_file);
    context.emit(&report)
}
