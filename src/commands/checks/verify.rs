//! Checks of plans and phases against what is on disk and in the repository.

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{NoPhaseArgs, installed_command, phase_named};
use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::commands::frame::files::MissingFile;
use crate::disk;
use crate::operations::gates::drift::{self, CodebaseReport, ContextReport, DriftPolicy, Mapped, SchemaReport};
use crate::operations::plans::promises;
use crate::operations::plans::structure;
use crate::operations::plans::summary_check::{self, SummaryCheckReport};
use crate::project::plan::{MustHave, PhasePlan};
use crate::project::requirements::Requirements;
use crate::text::front_matter::FrontMatter;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum VerifyFamily {
    /// Check plans, phases, references and commits
    #[command(subcommand)]
    Verify(VerifyCommand),
    /// Check that the files and commits a summary names exist
    ///
    /// Example: `gsd-tools verify-summary .planning/phases/01-base/01-01-SUMMARY.md --raw` prints `passed`.
    VerifySummary(SummaryArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SummaryArgs {
    /// The summary, relative to the project
    file: String,
    /// How many of the named files are looked at
    #[arg(long, default_value_t = 2)]
    check_count: usize,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum VerifyCommand {
    /// Check that a plan has all that an executor needs
    ///
    /// Example: `gsd-tools verify plan-structure .planning/phases/02-core/02-01-PLAN.md --raw` prints `valid`.
    PlanStructure(FileArgs),
    /// Check that every plan of a phase is executed
    ///
    /// Example: `gsd-tools verify phase-completeness 2 --raw` prints `incomplete`.
    PhaseCompleteness(PhaseArgs),
    /// List the files a document names that are missing
    ///
    /// Example: `gsd-tools verify references .planning/phases/02-core/02-01-PLAN.md --pick missing`.
    References(FileArgs),
    /// Show which of these commits exist
    ///
    /// Example: `gsd-tools verify commits abc1234 def5678 --pick invalid`.
    Commits(CommitsArgs),
    /// Check the artifacts a plan promises against the source
    ///
    /// Example: `gsd-tools verify artifacts .planning/phases/02-core/02-01-PLAN.md --pick all_passed`.
    Artifacts(FileArgs),
    /// Check the links between files that a plan promises
    ///
    /// Example: `gsd-tools verify key-links .planning/phases/02-core/02-01-PLAN.md --pick all_verified`.
    KeyLinks(FileArgs),
    /// Check for schema changes without a database push
    ///
    /// Example: `gsd-tools verify schema-drift 2 --pick unpushed_orms`.
    SchemaDrift(SchemaArgs),
    /// Check whether the source has outgrown its map
    ///
    /// Example: `gsd-tools verify codebase-drift --pick affected_paths`.
    CodebaseDrift(NoPhaseArgs),
    /// Check whether the research of a phase is older than its context
    ///
    /// Example: `gsd-tools verify context-drift 2 --pick stale_artifacts`.
    ContextDrift(PhaseArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The phase, such as `3`, or its folder
    phase: String,
    /// Tell of drift and let it pass
    #[arg(long)]
    skip: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The file, relative to the project
    file: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommitsArgs {
    /// Hashes or names of commits
    #[arg(required = true)]
    commits: Vec<String>,
}

impl Family for VerifyFamily {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let command = match self {
            Self::Verify(command) => command,
            Self::VerifySummary(arguments) => return verify_summary(context, &arguments),
        };
        match command {
            VerifyCommand::PlanStructure(arguments) => plan_structure(context, &arguments.file),
            VerifyCommand::PhaseCompleteness(arguments) => phase_completeness(context, &arguments.phase),
            VerifyCommand::References(arguments) => references(context, &arguments.file),
            VerifyCommand::Commits(arguments) => commits(context, arguments.commits),
            VerifyCommand::Artifacts(arguments) => must_have(context, &arguments.file, MustHave::Artifacts),
            VerifyCommand::KeyLinks(arguments) => must_have(context, &arguments.file, MustHave::KeyLinks),
            VerifyCommand::SchemaDrift(arguments) => {
                let report = schema_drift(context, &arguments.phase, arguments.skip)?;
                context.emit(&report)
            }
            VerifyCommand::CodebaseDrift(_) => {
                let report = codebase_drift(context)?;
                context.emit(&report)
            }
            VerifyCommand::ContextDrift(arguments) => {
                let report = context_drift(context, &arguments.phase)?;
                context.emit(&report)
            }
        }
    }
}

fn plan_structure(context: &mut Context, file: &str) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let view = context.view();
    let listed = view.text(&context.layout().requirements())?;
    let requirements = listed.as_deref().map(Requirements::parse);
    let report = structure::structure(file, &text, requirements.as_ref());
    drop(view);
    context.emit_raw(&report, validity(report.valid))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct NoPhase<'a> {
    error: &'static str,
    phase: &'a str,
}

fn phase_completeness(context: &mut Context, phase: &str) -> Result<(), CommandError> {
    match structure::completeness(&context.view(), phase)? {
        Some(report) => context.emit_raw(&report, if report.complete { "complete" } else { "incomplete" }),
        None => context.emit(&NoPhase { error: "Phase not found", phase }),
    }
}

fn references(context: &mut Context, file: &str) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let home = context.world().home();
    let report = structure::references(&text, |path| match (path.strip_prefix("~/"), &home) {
        (Some(inside), Some(home)) => disk::exists(home.join(inside)),
        (Some(_), None) => false,
        (None, _) => disk::exists(context.root().resolve(path)),
    });
    context.emit_raw(&report, validity(report.valid))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CommitsReport {
    all_valid: bool,
    valid: Vec<String>,
    invalid: Vec<String>,
    total: usize,
}

fn commits(context: &mut Context, commits: Vec<String>) -> Result<(), CommandError> {
    let total = commits.len();
    let (valid, invalid): (Vec<String>, Vec<String>) = commits.into_iter().partition(|name| is_commit(context, name));
    let report = CommitsReport { all_valid: invalid.is_empty(), valid, invalid, total };
    context.emit_raw(&report, validity(report.all_valid))
}

/// Whether `name` names a commit of the project's repository.
fn is_commit(context: &Context, name: &str) -> bool {
    let answer = context.world().git(context.root().as_path(), ["cat-file", "-t", name]);
    answer.is_ok_and(|answer| answer.success() && answer.text() == "commit")
}

fn verify_summary(context: &mut Context, arguments: &SummaryArgs) -> Result<(), CommandError> {
    let report = match context.text_from_root(&arguments.file)? {
        Some(text) => summary_check::check(
            &text,
            arguments.check_count,
            |file| disk::exists(context.root().resolve(file)),
            |hash| is_commit(context, hash),
        ),
        None => SummaryCheckReport::missing(),
    };
    context.emit_raw(&report, if report.passed { "passed" } else { "failed" })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct NoMustHave<'a> {
    error: String,
    path: &'a str,
}

fn must_have(context: &mut Context, file: &str, list: MustHave) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let (plan, view) = (PhasePlan::parse(&text), context.view());
    let nothing = || NoMustHave { error: format!("No must_haves.{} found in frontmatter", list.key()), path: file };
    match list {
        MustHave::Artifacts => match promises::artifacts(&view, &plan) {
            Some(report) => context.emit_raw(&report, validity(report.all_passed)),
            None => context.emit(&nothing()),
        },
        MustHave::KeyLinks => {
            match promises::key_links(&view, &plan, &context.layout().inside(file).unwrap_or_default())? {
                Some(report) => context.emit_raw(&report, validity(report.all_verified)),
                None => context.emit(&nothing()),
            }
        }
    }
}

pub(in crate::commands) fn schema_drift(
    context: &Context,
    typed: &str,
    skip: bool,
) -> Result<SchemaReport, CommandError> {
    let skip = skip || context.world().flag("GSD_SKIP_SCHEMA_CHECK");
    let view = context.view();
    let phase = phase_named(context, &view, typed)?;
    Ok(drift::schema(&view, phase.folder.as_ref(), skip)?)
}

pub(in crate::commands) fn context_drift(context: &Context, typed: &str) -> Result<ContextReport, CommandError> {
    let blocks = context.config()?.text("workflow.context_drift_action") == Some("block");
    let view = context.view();
    let phase = phase_named(context, &view, typed)?;
    Ok(drift::context(&view, phase.folder.as_ref(), &phase.number, blocks, context.command_prefix()?))
}

pub(in crate::commands) fn codebase_drift(context: &Context) -> Result<CodebaseReport, CommandError> {
    let config = context.config()?;
    let threshold = config.number("workflow.drift_threshold").unwrap_or(3);
    let action = config.text("workflow.drift_action").unwrap_or("warn");
    let remap = installed_command(context, "map-codebase")?;
    let policy = DriftPolicy { threshold, action, mapper: remap.as_deref() };
    let view = context.view();
    let map = view.text(&format!("{}/STRUCTURE.md", context.layout().codebase()))?;
    let commit = map.as_deref().and_then(|map| FrontMatter::parse(map)?.text("last_mapped_commit"));
    let mapped = match (map.as_deref(), commit.as_deref().map(str::trim)) {
        (None, _) => Mapped::Missing,
        (Some(_), None) => Mapped::Undated,
        (Some(_), Some(commit)) if commit.starts_with('-') || !is_commit(context, commit) => Mapped::Unknown(commit),
        (Some(map), Some(commit)) => Mapped::Since { map, commit, added: added_since(context, commit)? },
    };
    Ok(drift::codebase(mapped, policy))
}

/// The files that came to the repository since `commit`.
fn added_since(context: &Context, commit: &str) -> Result<Vec<String>, CommandError> {
    let range = format!("{commit}..HEAD");
    let arguments = ["-c", "core.quotePath=false", "diff", "--name-only", "--diff-filter=A", &range];
    let told = context.world().git(context.root().as_path(), arguments)?;
    if !told.success() {
        let message = format!("git cannot compare with the mapped commit `{commit}`: {}", told.error_text());
        return Err(CommandError::usage(message).hint("map the codebase anew"));
    }
    Ok(told.text().lines().map(str::to_owned).collect())
}

fn validity(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}
