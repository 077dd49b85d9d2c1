//! Checks of plans and phases against the files and the repository.

use crate::acts::checks::plan;
use crate::acts::checks::source;
use crate::acts::checks::work;
use crate::acts::facts;
use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use super::drift::{self, NoPhaseArgs, SchemaArgs};
use crate::disk;
use crate::failure::Failure;
use crate::frame::named::{FileArg, NonBlank, PhaseArg, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::plans::lint::{self, PlanLimits};
use crate::operations::plans::promises;
use crate::operations::plans::structure;
use crate::operations::plans::summary_check::{self, SummaryCheckReport};
use crate::project::plan::{MustHave, PhasePlan};
use crate::project::requirements::Requirements;

verbs! {
    "Checks";
    groups { "verify": "Check plans, phases, references and commits"; }

    /// Check that a plan has the fields and tasks an executor needs
    ///
    /// Of the plan of a quick task it reports all that `gsd-tools plan lint` finds in the text of a plan.
    ///
    /// Example: `gsd-tools verify plan-structure .planning/phases/02-core/02-01-PLAN.md --raw` prints `valid`.
    "verify plan-structure": reads json(crate::peer::answers::MissingFile, structure::StructureReport) = plan_structure(FileArg);

    use crate::peer::plans::PHASE_COMPLETENESS;

    use crate::peer::plans::REFERENCES;

    /// Check that commits exist in the repository
    ///
    /// Example: `gsd-tools verify commits abc1234 def5678 --pick invalid`.
    "verify commits": reads json(CommitsReport) = commits(CommitsArgs);

    use crate::peer::plans::ARTIFACTS;

    /// Check that the links between files that a plan promises exist
    ///
    /// Reads `must_haves.key_links` of the plan and searches the source for them.
    ///
    /// Example: `gsd-tools verify key-links .planning/phases/02-core/02-01-PLAN.md --pick all_verified`.
    "verify key-links": reads json(crate::peer::answers::MissingFile, crate::peer::answers::NoMustHave, promises::KeyLinksReport) = key_links(FileArg);

    /// Check for schema changes without a database push
    ///
    /// The same check as `check verify-schema-drift`, with `--skip`.
    ///
    /// Example: `gsd-tools verify schema-drift 2 --pick unpushed_orms`.
    "verify schema-drift": reads json(crate::operations::gates::drift::SchemaReport) = drift::schema(SchemaArgs);

    /// Check whether the codebase map is out of date
    ///
    /// The same check as `check verify-codebase-drift`.
    ///
    /// Example: `gsd-tools verify codebase-drift --pick affected_paths`.
    "verify codebase-drift": reads json(crate::operations::gates::drift::CodebaseReport) = drift::codebase(NoPhaseArgs);

    /// Check whether a phase's research is older than its CONTEXT.md
    ///
    /// The same check as `check verify-context-drift`.
    ///
    /// Example: `gsd-tools verify context-drift 2 --pick stale_artifacts`.
    "verify context-drift": reads json(crate::operations::gates::drift::ContextReport)
        = drift::context(PhaseFolderArg);

    /// Check what the commits of a phase did: files, tests, promises
    ///
    /// Lists the files that the commits changed and which of them no SUMMARY names, tests that became weaker (as `verify tests`),
    /// lines that look like keys, and what the plans promise under `must_haves` and is not there. The planning folder is left
    /// out, except for keys.
    ///
    /// Example: `gsd-tools verify work 2 --pick unreported`.
    "verify work": reads json(work::WorkReport) = work(PhaseArg);

    /// Find tests that were deleted, skipped, weakened or fitted to the code
    ///
    /// Compares the tests, and the settings and scripts that run them, with those of an earlier commit. With `--phase`, the
    /// files are those that the commits of the phase changed, and the earlier commit is the one before the first of them;
    /// what its plans allow under `Allowed test changes:` is listed apart. Names the lines that hold what looks like a key, too.
    ///
    /// Example: `gsd-tools verify tests --phase 2 --pick findings`.
    "verify tests": reads json(work::TestsReport) = tests(TestsArgs);

    /// Check that the files and commits in a summary exist
    ///
    /// Example: `gsd-tools verify-summary .planning/phases/01-base/01-01-SUMMARY.md --raw` prints `passed`.
    "verify-summary": reads json(SummaryCheckReport) = verify_summary(SummaryArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestsArgs {
    /// The commit to compare with
    #[arg(required_unless_present = "phase")]
    base: Option<NonBlank>,
    /// The phase whose files are looked at
    #[arg(long)]
    phase: Option<NonBlank>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SummaryArgs {
    /// The summary, relative to the project root
    file: String,
    /// The number of files to check
    #[arg(long, default_value_t = 2)]
    check_count: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommitsArgs {
    /// The hashes or names of the commits
    #[arg(required = true)]
    commits: Vec<String>,
}

fn key_links(context: &mut Context, FileArg { file }: &FileArg) -> Result<(), Failure> {
    let text = files::text_from_root(context, file)?.ok_or_else(|| files::not_there(file))?;
    let (plan, view) = (PhasePlan::parse(&text), context.view());
    match promises::key_links(&view, &plan, &context.layout().inside(file).unwrap_or_default())? {
        Some(report) => context.emit_raw(&report, validity(report.all_verified)),
        None => Err(plan::promises_none(MustHave::KeyLinks, file)),
    }
}

fn plan_structure(context: &mut Context, FileArg { file }: &FileArg) -> Result<(), Failure> {
    let text = files::text_from_root(context, file)?.ok_or_else(|| files::not_there(file))?;
    let view = context.view();
    let listed = view.text(&context.layout().requirements())?;
    let requirements = listed.as_deref().map(Requirements::parse);
    // A plan of a quick task belongs to no phase: nothing else checks its content.
    let report = if lint::is_quick(context.layout(), file) {
        let limits = PlanLimits::of(context.config()?);
        lint::quick(&view, file, &text, &limits, &source::tree_of(context))?
    } else {
        structure::structure(file, &text, requirements.as_ref(), view.files())?
    };
    drop(view);
    context.emit_raw(&report, validity(report.valid))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CommitsReport {
    all_valid: bool,
    valid: Vec<String>,
    invalid: Vec<String>,
    total: usize,
}

fn commits(context: &mut Context, CommitsArgs { commits }: &CommitsArgs) -> Result<(), Failure> {
    let total = commits.len();
    let (valid, invalid): (Vec<String>, Vec<String>) =
        commits.iter().cloned().partition(|name| facts::is_commit(context, name));
    let report = CommitsReport { all_valid: invalid.is_empty(), valid, invalid, total };
    context.emit_raw(&report, validity(report.all_valid))
}

fn verify_summary(context: &mut Context, arguments: &SummaryArgs) -> Result<(), Failure> {
    let report = match files::text_from_root(context, &arguments.file)? {
        Some(text) => summary_check::check(
            &text,
            arguments.check_count,
            |file| disk::exists(context.root().resolve(file)),
            |hash| facts::is_commit(context, hash),
        ),
        None => SummaryCheckReport::missing(),
    };
    context.emit_raw(&report, if report.passed { "passed" } else { "failed" })
}

fn validity(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}

fn work(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    context.emit(&work::work(context, phase)?)
}

fn tests(context: &mut Context, TestsArgs { base, phase }: &TestsArgs) -> Result<(), Failure> {
    context.emit(&work::tests(context, base.as_deref(), phase.as_deref())?)
}
