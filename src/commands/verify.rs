//! Checks of plans and phases against what is on disk and in the repository.

use serde::Serialize;

use super::files::MissingFile;
use super::{CommandError, Context, Family};
use crate::disk;
use crate::operations::{must_haves, plan_checks};
use crate::project::plan::{MustHave, PhasePlan};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum VerifyFamily {
    /// Check plans, phases, references and commits
    #[command(subcommand)]
    Verify(VerifyCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum VerifyCommand {
    /// Tell whether a plan has all that an executor needs
    ///
    /// Example: `gsd-tools verify plan-structure .planning/phases/02-core/02-01-PLAN.md --raw` prints `valid`.
    PlanStructure(FileArgs),
    /// Tell whether every plan of a phase has a summary
    ///
    /// Example: `gsd-tools verify phase-completeness 2 --raw` prints `incomplete`.
    PhaseCompleteness(PhaseArgs),
    /// Tell which of the files that a document names are missing
    ///
    /// Example: `gsd-tools verify references .planning/phases/02-core/02-01-PLAN.md --pick missing`.
    References(FileArgs),
    /// Tell which of these commits exist
    ///
    /// Example: `gsd-tools verify commits abc1234 def5678 --pick invalid`.
    Commits(CommitsArgs),
    /// Compare the artifacts a plan promises with the source
    ///
    /// Example: `gsd-tools verify artifacts .planning/phases/02-core/02-01-PLAN.md --pick all_passed`.
    Artifacts(FileArgs),
    /// Look for the links between files that a plan promises
    ///
    /// Example: `gsd-tools verify key-links .planning/phases/02-core/02-01-PLAN.md --pick all_verified`.
    KeyLinks(FileArgs),
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
        let Self::Verify(command) = self;
        match command {
            VerifyCommand::PlanStructure(arguments) => plan_structure(context, &arguments.file),
            VerifyCommand::PhaseCompleteness(arguments) => phase_completeness(context, &arguments.phase),
            VerifyCommand::References(arguments) => references(context, &arguments.file),
            VerifyCommand::Commits(arguments) => commits(context, arguments.commits),
            VerifyCommand::Artifacts(arguments) => must_have(context, &arguments.file, MustHave::Artifacts),
            VerifyCommand::KeyLinks(arguments) => must_have(context, &arguments.file, MustHave::KeyLinks),
        }
    }
}

fn plan_structure(context: &mut Context, file: &str) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let report = plan_checks::structure(&text);
    context.emit_raw(&report, validity(report.valid))
}

#[derive(Debug, Serialize)]
struct NoPhase<'a> {
    error: &'static str,
    phase: &'a str,
}

fn phase_completeness(context: &mut Context, phase: &str) -> Result<(), CommandError> {
    match plan_checks::completeness(&context.view(), phase)? {
        Some(report) => context.emit_raw(&report, if report.complete { "complete" } else { "incomplete" }),
        None => context.emit(&NoPhase { error: "Phase not found", phase }),
    }
}

fn references(context: &mut Context, file: &str) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let home = context.world().home();
    let report = plan_checks::references(&text, |path| match (path.strip_prefix("~/"), &home) {
        (Some(inside), Some(home)) => disk::exists(home.join(inside)),
        (Some(_), None) => false,
        (None, _) => disk::exists(context.root().resolve(path)),
    });
    context.emit_raw(&report, validity(report.valid))
}

#[derive(Debug, Serialize)]
struct CommitsReport {
    all_valid: bool,
    valid: Vec<String>,
    invalid: Vec<String>,
    total: usize,
}

fn commits(context: &mut Context, commits: Vec<String>) -> Result<(), CommandError> {
    let total = commits.len();
    let root = context.root().as_path();
    let is_commit = |name: &String| {
        let answer = context.world().git(root, ["cat-file", "-t", name]);
        answer.is_ok_and(|answer| answer.success() && answer.text() == "commit")
    };
    let (valid, invalid): (Vec<String>, Vec<String>) = commits.into_iter().partition(is_commit);
    let report = CommitsReport { all_valid: invalid.is_empty(), valid, invalid, total };
    context.emit_raw(&report, validity(report.all_valid))
}

#[derive(Debug, Serialize)]
struct NoMustHave<'a> {
    error: String,
    path: &'a str,
}

fn must_have(context: &mut Context, file: &str, list: MustHave) -> Result<(), CommandError> {
    let Some(text) = context.text_from_root(file)? else { return context.emit(&MissingFile::at(file)) };
    let (plan, view) = (PhasePlan::parse(&text), context.view());
    let nothing = || NoMustHave { error: format!("No must_haves.{} found in frontmatter", list.key()), path: file };
    match list {
        MustHave::Artifacts => match must_haves::artifacts(&view, &plan) {
            Some(report) => context.emit_raw(&report, validity(report.all_passed)),
            None => context.emit(&nothing()),
        },
        MustHave::KeyLinks => match must_haves::key_links(&view, &plan) {
            Some(report) => context.emit_raw(&report, validity(report.all_verified)),
            None => context.emit(&nothing()),
        },
    }
}

fn validity(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}
