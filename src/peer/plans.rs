//! Checks and facts of plans that only other programs request.

use schemars::JsonSchema;
use serde::Serialize;

use super::{red_evidence, task};
use crate::acts::checks::{plan, source};
use crate::acts::code::refactor::is_off;
use crate::acts::{files, named};
use crate::disk;
use crate::failure::Failure;
use crate::frame::named::{FileArg, NonBlank, PhaseArg, PhaseFlag};
use crate::frame::{Context, rows};
use crate::operations::code::refactor;
use crate::operations::phases::template;
use crate::operations::plans::{commands, directions, estimates, promises, structure};
use crate::project::plan::{MustHave, PhasePlan};

rows! {
    /// Check whether a task adds behaviour, so that tests come first
    ///
    /// A task adds behaviour if it is marked as test-first, describes behaviour, and changes a source file that is not
    /// a test.
    ///
    /// Example: `gsd-tools task is-behavior-adding .planning/phases/01-a/01-01-PLAN.md --pick is_behavior_adding`.
    IS_BEHAVIOR_ADDING = "task is-behavior-adding": reads json(task::BehaviorReport) = is_behavior_adding(BehaviorArgs);

    /// Check whether the content of a task is in a tracker, not in the plan
    ///
    /// This program stores no task content outside plans, so the text in the plan applies.
    ///
    /// Example: `gsd-tools task resolve-content --plan .planning/phases/01-a/01-01-PLAN.md --task-id A-1`.
    RESOLVE_CONTENT = "task resolve-content": reads json(task::ResolveReport) = resolve_content(ResolveArgs);

    /// Check an estimate against the budget of one context window
    ///
    /// The budget is `workflow.smart_zone_tokens` of the configuration.
    ///
    /// Example: `gsd-tools estimate-check --tokens 90000 --pick over_budget`.
    ESTIMATE_CHECK = "estimate-check": reads json(estimates::CheckReport) = check(CheckArgs);

    /// Show the summary template that fits a plan
    ///
    /// Example: `gsd-tools template select 02-01-PLAN.md --raw` prints `templates/summary-minimal.md`.
    TEMPLATE_SELECT = "template select": reads json(template::SelectReport, Fallback) = select(SelectArgs);

    /// Check the record of a test that failed before its code existed
    ///
    /// `passed` is true only if the named test itself failed: a build error or another failing test does not count.
    ///
    /// Example: `gsd-tools check tdd-red-evidence red.json --pick passed`.
    RED_EVIDENCE = "check tdd-red-evidence": reads json(red_evidence::RedReport, red_evidence::RedUnreadable) = check_red_evidence(RecordArgs);

    /// Check that the commands in plans point to real folders and scripts
    ///
    /// Example: `gsd-tools check verify-command-paths 2 --pick status`.
    COMMAND_PATHS = "check verify-command-paths": reads json(commands::CommandPathsReport) = command_paths(MaybePhaseArgs);

    /// Check that every command in a plan says what makes it fail
    ///
    /// Example: `gsd-tools check verify-failure-directions 2 --pick status`.
    FAILURE_DIRECTIONS = "check verify-failure-directions": reads json(directions::DirectionsReport) = failure_directions(MaybePhaseArgs);

    /// Check that every plan of a phase is executed
    ///
    /// Example: `gsd-tools verify phase-completeness 2 --raw` prints `incomplete`.
    PHASE_COMPLETENESS = "verify phase-completeness": reads json(super::answers::NoPhase, structure::CompletenessReport) = phase_completeness(PhaseArg);

    /// List files that a document references and that do not exist
    ///
    /// Example: `gsd-tools verify references .planning/phases/02-core/02-01-PLAN.md --pick missing`.
    REFERENCES = "verify references": reads json(super::answers::MissingFile, structure::ReferencesReport) = references(FileArg);

    /// Check that the artifacts a plan promises exist
    ///
    /// Reads `must_haves.artifacts` of the plan: each file has to exist and contain what the plan says.
    ///
    /// Example: `gsd-tools verify artifacts .planning/phases/02-core/02-01-PLAN.md --pick all_passed`.
    ARTIFACTS = "verify artifacts": reads json(super::answers::MissingFile, super::answers::NoMustHave, promises::ArtifactsReport) = artifacts(FileArg);

    /// List refactoring proposals, or show the one of a phase
    ///
    /// Example: `gsd-tools refactor status --phase 2 --pick proposal.status`.
    REFACTOR_STATUS = "refactor status": reads json(crate::operations::answers::disabled::DisabledReport, refactor::RefactorStatusReport)
        = status(PhaseFlag);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BehaviorArgs {
    /// The plan, or a file that contains only the task
    #[arg(required = true)]
    file: Option<String>,
    /// The text of the task
    #[arg(long, conflicts_with = "file")]
    task_content: Option<NonBlank>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResolveArgs {
    /// The plan file
    #[arg(long)]
    plan: NonBlank,
    /// The `tracker-id` of the task
    #[arg(long)]
    task_id: NonBlank,
}

fn is_behavior_adding(context: &mut Context, arguments: &BehaviorArgs) -> Result<(), Failure> {
    if let Some(text) = &arguments.task_content {
        return context.emit(&task::is_behavior_adding(text));
    }
    let file = arguments.file.as_deref().unwrap_or_default();
    let text = files::needed_from_root(context, file)?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("`{file}` is empty")).hint(
            "`--task-content` takes the text of a task \
                                                instead",
        ));
    }
    context.emit(&task::is_behavior_adding(&text))
}

fn resolve_content(context: &mut Context, arguments: &ResolveArgs) -> Result<(), Failure> {
    let (plan, id): (&str, &str) = (&arguments.plan, &arguments.task_id);
    let text = files::needed_from_root(context, plan)?;
    let report = task::resolve_content(&text, id).ok_or_else(|| {
        Failure::usage(format!("`{plan}` has no task with the tracker-id `{id}`"))
            .hint("the tracker-id is an attribute of <task>, such as <task tracker-id=\"T-1\">")
    })?;
    context.emit(&report)
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The estimate, in tokens
    #[arg(long)]
    tokens: String,
    /// The estimate already includes the correction factor
    #[arg(long)]
    calibrated: bool,
}

fn check(context: &mut Context, arguments: &CheckArgs) -> Result<(), Failure> {
    let typed = &arguments.tokens;
    let digits = typed.bytes().all(|byte| byte.is_ascii_digit());
    let tokens = typed.parse::<u64>().ok().filter(|tokens| digits && *tokens > 0).ok_or_else(|| {
        Failure::usage(format!("`{typed}` is not a number of tokens"))
            .hint("write a whole number from 1, such as `--tokens 90000`")
    })?;
    let config = context.config()?;
    let configured = config.written("workflow.smart_zone_tokens");
    let report = estimates::check(&context.view(), tokens, arguments.calibrated, configured)?;
    if let Some(problem) = &report.problem {
        context.warn(problem);
    }
    context.emit(&report)
}

#[derive(Debug, clap::Args)]
pub(crate) struct SelectArgs {
    /// The plan file, relative to the current folder
    plan: String,
}

/// The answer for a missing plan: the standard template, and the error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Fallback {
    template: &'static str,
    r#type: &'static str,
    error: String,
}

fn select(context: &mut Context, arguments: &SelectArgs) -> Result<(), Failure> {
    let plan = &arguments.plan;
    if let Some(text) = files::text_from_here(context, plan)? {
        let report = template::select(&text);
        return context.emit_raw(&report, report.template);
    }
    let (r#type, template) = template::STANDARD;
    context.emit_raw(&Fallback { template, r#type, error: format!("there is no file `{plan}`") }, template)
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

fn check_red_evidence(context: &mut Context, RecordArgs { record }: &RecordArgs) -> Result<(), Failure> {
    let path = context.root().resolve(record);
    let Some(text) = files::read(context, &path).ok().flatten() else {
        return context.emit(&red_evidence::unreadable(&path.to_string(), "record not found or unreadable"));
    };
    match serde_json::from_str(&text) {
        Ok(value) => context.emit(&red_evidence::red_evidence(&value)),
        Err(_) => context.emit(&red_evidence::unreadable(&path.to_string(), "record is not valid JSON")),
    }
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

fn artifacts(context: &mut Context, FileArg { file }: &FileArg) -> Result<(), Failure> {
    let text = files::text_from_root(context, file)?.ok_or_else(|| files::not_there(file))?;
    match promises::artifacts(&context.view(), &PhasePlan::parse(&text)) {
        Some(report) => context.emit_raw(&report, validity(report.all_passed)),
        None => Err(plan::promises_none(MustHave::Artifacts, file)),
    }
}

fn validity(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}

fn phase_completeness(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    match structure::completeness(&context.view(), phase)? {
        Some(report) => context.emit_raw(&report, if report.complete { "complete" } else { "incomplete" }),
        None => Err(named::no_phase(phase).answered_about("Phase not found", "phase", phase)),
    }
}

fn references(context: &mut Context, FileArg { file }: &FileArg) -> Result<(), Failure> {
    let text = files::text_from_root(context, file)?.ok_or_else(|| files::not_there(file))?;
    let home = context.world().home();
    let report = structure::references(&text, |path| match (path.strip_prefix("~/"), &home) {
        (Some(inside), Some(home)) => disk::exists(home.join(inside)),
        (Some(_), None) => false,
        (None, _) => disk::exists(context.root().resolve(path)),
    });
    context.emit_raw(&report, validity(report.valid))
}

fn status(context: &mut Context, arguments: &PhaseFlag) -> Result<(), Failure> {
    if is_off(context)? {
        return context.emit(&refactor::disabled());
    }
    context.emit(&refactor::status(&context.view(), arguments.phase.as_deref())?)
}
