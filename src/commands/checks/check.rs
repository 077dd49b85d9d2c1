//! Gates: small checks that a workflow makes before it continues.

use crate::acts::checks::source;
use crate::acts::facts;
use crate::acts::files;
use crate::acts::hosts;
use crate::acts::named;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::drift;
use crate::commands::documents::file_not_found;
use crate::commands::loops::auto_chain;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::frame::named::{NonBlank, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::code::refactor;
use crate::operations::gates::artifact::{self, Predicate, UiPlanReport, UiSafetyReport};
use crate::operations::gates::coverage::{self, GapCounts};
use crate::operations::gates::outside_apis::{self, ApiCoverageReport};
use crate::operations::gates::prohibition;
use crate::operations::gates::test_first::{self, ReviewReport};
use crate::operations::plans::commands;
use crate::operations::plans::directions;

verbs! {
    "Gates";
    groups { "check": "Check the gates that decide whether the loop may continue"; }

    /// Show whether workflows continue automatically, and why
    ///
    /// Example: `gsd-tools check auto-mode --pick active`.
    "check auto-mode": reads json(auto_chain::AutoModeReport) = auto_chain::show();

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
    "check gap-analysis-plan-post" or "gap-analysis.plan-post": reads json(GapGateReport)
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
    "check ui-plan-gate" or "ui.plan-gate": reads json(UiPlanReport) = ui_plan_gate(PhaseFolderArg);

    /// Check that a phase that changed UI files has a UI-SPEC.md
    ///
    /// Reads the files of the last commit and of the phase's commits. `block` is true if it has none.
    ///
    /// Example: `gsd-tools check ui-safety-gate 4 --pick block`.
    "check ui-safety-gate" or "ui.safety-gate": reads json(UiSafetyReport) = ui_safety_gate(PhaseFolderArg);

    /// Check that a phase lists which parts of external APIs it uses
    ///
    /// Reads COVERAGE.md of the phase. `block` is true if the phase uses an external API and the file is missing or
    /// invalid.
    ///
    /// Example: `gsd-tools check api-coverage-verify-pre 2 --pick block`.
    "check api-coverage-verify-pre" or "api-coverage.verify-pre": reads json(ApiCoverageReport)
        = api_coverage_verify_pre(PhaseFolderArg);

    /// Check that something a plan forbids is enforced
    ///
    /// With `verification` `test`, a test file has to exist and pass; with `judgment`, there has to be evidence. `status`
    /// is `enforced`, `violated` or `unverified`.
    ///
    /// Example: `gsd-tools check prohibition-enforcement --json '{"prohibition": {"verification": "test"}, "check": {"path": "tests/auth.rs", "passed": true}}'`.
    "check prohibition-enforcement": reads json(prohibition::ProhibitionReport) = prohibition_held(RequestArgs);

    /// Check the record of a test that failed before its code existed
    ///
    /// `passed` is true only if the named test itself failed: a build error or another failing test does not count.
    ///
    /// Example: `gsd-tools check tdd-red-evidence red.json --pick passed`.
    "check tdd-red-evidence": reads json(test_first::RedReport, test_first::RedUnreadable) = red_evidence(RecordArgs);

    /// Show whether a proposed refactoring of a phase waits for a decision
    ///
    /// Blocks only with `refactor.trigger_strict`.
    ///
    /// Example: `gsd-tools check refactor-undecided 2 --pick cure`.
    "check refactor-undecided" or "refactor.undecided": reads json(refactor::UndecidedReport)
        = refactor_undecided(PhaseFolderArg);

    /// List test-first plans whose commits do not show a test first
    ///
    /// `block` is true if such a plan has no test commit before its code.
    ///
    /// Example: `gsd-tools check tdd-review-checkpoint 2 --pick violations`.
    "check tdd-review-checkpoint" or "tdd.review-checkpoint": reads json(ReviewReport)
        = tdd_review_checkpoint(PhaseFolderArg);

    /// Check that the commands in plans point to real folders and scripts
    ///
    /// Example: `gsd-tools check verify-command-paths 2 --pick status`.
    "check verify-command-paths": reads json(commands::CommandPathsReport) = command_paths(MaybePhaseArgs);

    /// Check that every command in a plan says what makes it fail
    ///
    /// Example: `gsd-tools check verify-failure-directions 2 --pick status`.
    "check verify-failure-directions": reads json(directions::DirectionsReport) = failure_directions(MaybePhaseArgs);

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
pub(crate) struct MaybePhaseArgs {
    /// The phase, such as `3`, or its folder
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
    context.emit(&gap_gate(context, &arguments.phase, arguments.ids.as_deref())?)
}

fn ui_plan_gate(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&ui_plan(context, &arguments.phase)?)
}

fn ui_safety_gate(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&ui_safety(context, &arguments.phase)?)
}

fn api_coverage_verify_pre(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&api_coverage(context, &arguments.phase)?)
}

fn tdd_review_checkpoint(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&test_first_review(context, &arguments.phase)?)
}

fn refactor_undecided(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    context.emit(&undecided(context, &arguments.phase)?)
}

fn undecided(context: &Context, typed: &str) -> Result<refactor::UndecidedReport, Failure> {
    let strict = context.config()?.flag("refactor.trigger_strict");
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    Ok(refactor::undecided(&view, phase.folder.as_ref(), strict)?)
}

/// The parts of a gate's answer that the loop uses.
#[derive(Debug)]
pub(in crate::commands) struct GateAnswer {
    pub(in crate::commands) verdict: Verdict,
    pub(in crate::commands) message: String,
    pub(in crate::commands) cure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Verdict {
    Pass,
    Warn,
    Block,
}

impl Verdict {
    fn block(blocks: bool) -> Self {
        if blocks { Self::Block } else { Self::Pass }
    }

    fn warn(warns: bool) -> Self {
        if warns { Self::Warn } else { Self::Pass }
    }
}

/// Asks the gate that a feature declares under the name `query`.
pub(in crate::commands) fn ask(context: &Context, query: &str, typed: &str) -> Result<GateAnswer, Failure> {
    let (verdict, message, cure) = match query {
        "api-coverage.verify-pre" => {
            let report = api_coverage(context, typed)?;
            (Verdict::block(report.block), report.message, report.cure)
        }
        "gap-analysis.plan-post" => {
            let report = gap_gate(context, typed, None)?;
            (Verdict::warn(report.cure.is_some()), report.message, report.cure)
        }
        "refactor.undecided" => {
            let report = undecided(context, typed)?;
            let verdict = if report.block { Verdict::Block } else { Verdict::warn(report.cure.is_some()) };
            (verdict, report.message, report.cure)
        }
        "tdd.review-checkpoint" => {
            let report = test_first_review(context, typed)?;
            (Verdict::block(report.block), report.message, report.cure.map(str::to_owned))
        }
        "ui.plan-gate" => {
            let report = ui_plan(context, typed)?;
            (Verdict::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "ui.safety-gate" => {
            let report = ui_safety(context, typed)?;
            (Verdict::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "verify.codebase-drift" => {
            let report = drift::codebase_report(context)?;
            (Verdict::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "verify.context-drift" => {
            let report = drift::context_report(context, typed)?;
            let verdict = if report.block { Verdict::Block } else { Verdict::warn(report.cure.is_some()) };
            (verdict, report.message, report.cure)
        }
        "verify.schema-drift" => {
            let report = drift::schema_report(context, typed, false)?;
            (Verdict::block(report.block), report.message, report.cure)
        }
        _ => {
            return Err(
                Failure::usage(format!("unknown gate `{query}`")).hint("`gsd-tools check --help` lists the gates")
            );
        }
    };
    Ok(GateAnswer { verdict, message, cure })
}

/// Asks whether a document of the phase meets the condition of a feature.
pub(in crate::commands) fn ask_predicate(
    context: &Context,
    wanted: &Value,
    typed: &str,
) -> Result<GateAnswer, Failure> {
    let wanted = Predicate::parse(&wanted.to_string())?;
    let view = context.view();
    let folder = named::phase_named(context, &view, typed)?.folder.map(|folder| folder.path).unwrap_or_default();
    let report = artifact::predicate(&view, context.config()?, &wanted, &folder)?;
    Ok(GateAnswer { verdict: Verdict::block(report.block), message: report.message, cure: None })
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

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct GapGateReport {
    block: bool,
    passed: bool,
    enabled: bool,
    message: String,
    table: String,
    summary: String,
    counts: GapCounts,
    /// How to plan the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

/// Runs the gate. `ids` are the requirements that count, if the caller names them.
fn gap_gate(context: &Context, typed: &str, ids: Option<&str>) -> Result<GapGateReport, Failure> {
    let enabled = context.config()?.flag("workflow.post_planning_gaps");
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    // Requirements of other phases need not be covered here.
    let own = match ids {
        Some(list) => coverage::handed_over(list),
        // A project without a list of requirements lacks none of them.
        None if view.text(&view.layout().requirements())?.is_none() => Vec::new(),
        None => coverage::own_requirements(&view, &phase.number)?,
    };
    let report = coverage::gaps(&view, typed, phase.folder.as_ref(), enabled, Some(&own))?;
    let uncovered: Vec<&str> = report.uncovered().collect();
    let mut message = report.summary.clone();
    let mut cure = report.unreadable.as_ref().map(|_| "write each decision as `- **D-01:** text`".to_owned());
    if !uncovered.is_empty() {
        message = format!("No plan of phase {} names {}", phase.number, uncovered.join(", "));
        cure = Some(format!("{}plan-phase {}", context.command_prefix()?, phase.number));
    }
    if let Some(unreadable) = &report.unreadable {
        message = format!("{message}. {unreadable}");
    }
    Ok(GapGateReport {
        block: false,
        passed: true,
        enabled,
        message,
        table: report.table,
        summary: report.summary,
        counts: report.counts,
        cure,
    })
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

fn ui_plan(context: &Context, typed: &str) -> Result<UiPlanReport, Failure> {
    let config = context.config()?;
    let wanted = config.flag("workflow.ui_phase") && config.flag("workflow.ui_safety_gate");
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    let designer = hosts::installed_command(context, "ui-phase")?;
    Ok(artifact::ui_plan(&view, &phase, source::has_frontend(context)?, wanted, designer.as_deref())?)
}

fn ui_safety(context: &Context, typed: &str) -> Result<UiSafetyReport, Failure> {
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    let changed = source::changed_files(context, phase.folder.as_ref());
    let designer = hosts::installed_command(context, "ui-phase")?;
    Ok(artifact::ui_safety(&view, &phase, &changed, designer.as_deref())?)
}

fn api_coverage(context: &Context, typed: &str) -> Result<ApiCoverageReport, Failure> {
    let view = context.view();
    let phase = match named::phase_named(context, &view, typed) {
        Err(error) if error.reason == Reason::PhaseNotFound => {
            return Ok(outside_apis::no_phase(&view, error.message.clone()));
        }
        phase => phase?,
    };
    let planner = format!("{}plan-phase", context.command_prefix()?);
    Ok(outside_apis::verify_pre(&view, &phase, &planner)?)
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

fn red_evidence(context: &mut Context, RecordArgs { record }: &RecordArgs) -> Result<(), Failure> {
    let path = context.root().resolve(record);
    let Some(text) = files::read(context, &path).ok().flatten() else {
        return context.emit(&test_first::unreadable(&path.to_string(), "record not found or unreadable"));
    };
    match serde_json::from_str(&text) {
        Ok(value) => context.emit(&test_first::red_evidence(&value)),
        Err(_) => context.emit(&test_first::unreadable(&path.to_string(), "record is not valid JSON")),
    }
}

fn test_first_review(context: &Context, typed: &str) -> Result<ReviewReport, Failure> {
    let view = context.view();
    let phase = named::phase_named(context, &view, typed)?;
    let subjects = || facts::subjects(context);
    Ok(test_first::review(&view, &phase.number, phase.folder.as_ref(), subjects)?)
}

fn command_paths(context: &mut Context, MaybePhaseArgs { phase: typed }: &MaybePhaseArgs) -> Result<(), Failure> {
    const VERB: &str = "verify-command-paths";
    let Some(typed) = typed else {
        return context.emit(&commands::paths_unresolved(commands::unresolved(None, VERB)));
    };
    let view = context.view();
    let Some(folder) = named::folder_of(context, &view, typed)? else {
        drop(view);
        return context.emit(&commands::paths_unresolved(commands::unresolved(Some(typed), VERB)));
    };
    let report = commands::paths(&view, &folder, &context.root().to_string(), &source::tree_of(context))?;
    drop(view);
    context.emit(&report)
}

fn failure_directions(context: &mut Context, MaybePhaseArgs { phase: typed }: &MaybePhaseArgs) -> Result<(), Failure> {
    const VERB: &str = "verify-failure-directions";
    let Some(typed) = typed else {
        return context.emit(&directions::unresolved(commands::unresolved(None, VERB)));
    };
    let view = context.view();
    let report = match named::folder_of(context, &view, typed)? {
        Some(folder) => directions::directions(&view, &folder)?,
        None => directions::unresolved(commands::unresolved(Some(typed), VERB)),
    };
    drop(view);
    context.emit(&report)
}
