//! `plan`: checks plans before and after they are executed, and records them in the documents of the project.

use crate::acts::checks::plan::{self, CheckedPlan};
use crate::acts::checks::source;
use crate::acts::facts;
use crate::acts::named;
use crate::acts::writing::Target;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::git::commit::{CommitReport, commit_files};
use crate::acts::git::undo;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::frame::named::{NonBlank, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::answers::changes;
use crate::operations::plans::close::{self, CloseRequest, ClosedPlan, PlanEnd, PlanPlace};
use crate::operations::plans::index;
use crate::operations::plans::lint::{self, Limits};
use crate::operations::state::{NO_STATE, NO_STATE_CURE};
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id};
use crate::project::plan::PhaseSummary;
use crate::project::repository;
use crate::project::view::{Edits, ProjectView};
use crate::project::wave;
use crate::text::shell::typed;

verbs! {
    "Executed plans";
    groups { "plan": "Check, record and close plans"; }

    /// Check the plans of a phase before they are executed
    ///
    /// Reports errors and warnings of structure, size, words, threats, dependencies and verification commands, each with
    /// its line where that is known, and the requirements and decisions that no plan covers. Plans with a SUMMARY are
    /// skipped. Changes nothing.
    ///
    /// Example: `gsd-tools plan lint 2 --pick valid`.
    "plan lint": reads json(lint::LintReport) = lint(PhaseFolderArg);

    /// Record that a phase is planned: state, roadmap, and one commit
    ///
    /// Writes STATE.md and ROADMAP.md, and commits them with REQUIREMENTS.md and the documents of the phase. Prints the
    /// plans in the order of execution.
    ///
    /// Example: `gsd-tools plan record 2`.
    "plan record": acts [unasked] json(RecordReport) = record(PhaseFolderArg);

    /// Check what executed plans left: summary, commits, files
    ///
    /// A plan is finished when it has a committed SUMMARY that is not blocked, at least one commit of its plan since
    /// the plan was written, and the files that the SUMMARY names. Changes nothing.
    ///
    /// Example: `gsd-tools plan check 02-01 02-02 --pick finished`.
    "plan check": reads json(CheckReport) = check_plans(CheckArgs);

    /// Record executed plans: state, roadmap, requirements, and one commit
    ///
    /// Reads the SUMMARY. Moves the position, adds decisions, metrics and the session to STATE.md, updates ROADMAP.md,
    /// marks the requirements that no other open plan covers, and commits these documents with the SUMMARY. Closing a
    /// plan twice changes nothing. In the worktree of a wave only the SUMMARY is committed; close the plan in the main
    /// tree after the merge.
    ///
    /// Example: `gsd-tools plan close 02-01 --blocker "rate limit of the API is unknown"`.
    "plan close": acts [unasked] json(CloseReport) = close(CloseArgs);

    /// Undo an executed plan: its commits and its records, in one commit
    ///
    /// Reverts the commits of the plan and removes its SUMMARY; STATE.md, ROADMAP.md, REQUIREMENTS.md and state.json say
    /// that the plan is to be done. All of it is one new commit, or nothing changes: files with changes that are not
    /// committed and conflicts with later commits are refused. The history is not rewritten.
    ///
    /// Example: `gsd-tools plan undo 02-01 --dry-run`.
    "plan undo": acts json(undo::UndoReport) = undo(UndoArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// The plan, such as `02-01`
    plan: NonBlank,
    /// Why, for the message of the commit
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

fn undo(context: &mut Context, arguments: &UndoArgs) -> Result<(), Failure> {
    let view = context.view();
    let typed: &str = &arguments.plan;
    let place = places(&view, &[typed.to_owned()])?.swap_remove(0);
    drop(view);
    let report = undo::undo_plan(context, &place, arguments.reason.as_deref())?;
    context.emit_brief(&report)
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The plans, such as `02-01`
    #[arg(required = true)]
    plans: Vec<String>,
    /// Require that a failing test was committed before the code
    #[arg(long)]
    tdd: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CloseArgs {
    /// The plans, such as `02-01`
    #[arg(required = true)]
    plans: Vec<String>,
    /// Add this text to the blockers of STATE.md; repeat it for several
    #[arg(long, value_name = "TEXT")]
    blocker: Vec<String>,
}

fn lint(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let phase: &str = &arguments.phase;
    let view = context.view();
    let folder = folder_of(context, &view, phase)?;
    let limits = Limits::of(context.config()?);
    let report = lint::lint(&view, &folder, &limits, &source::tree_of(context))?;
    drop(view);
    let raw = report.valid.to_string();
    context.emit_raw(&report, raw)
}

fn folder_of(context: &Context, view: &ProjectView, phase: &str) -> Result<PhaseFolder, Failure> {
    named::phase_named(context, view, phase)?.folder.filter(|folder| folder.archived.is_none()).ok_or_else(|| {
        Failure::new(Reason::PhaseNotFound, format!("phase `{phase}` has no folder"))
            .hint("list the phases with `gsd-tools phases list`")
    })
}

/// The answer of `plan record`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct RecordReport {
    phase: String,
    plans: Vec<RecordedPlan>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    commit: CommitReport,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RecordedPlan {
    id: String,
    wave: i64,
    objective: Option<String>,
    tasks: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_checkpoint: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    done: bool,
}

fn record(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let phase: &str = &arguments.phase;
    let view = context.view();
    let folder = folder_of(context, &view, phase)?;
    let mut index = index::plan_index(&view, folder.token())
        .map_err(|error| Failure::usage(error.to_string()).hint("change `depends_on` of one of the plans"))?;
    if view.state()?.is_none() {
        index.warnings.push(format!("{NO_STATE}: the position is not recorded; {NO_STATE_CURE}"));
    }
    drop(view);
    if index.plans.is_empty() {
        return Err(Failure::usage(format!("phase `{phase}` has no plans in `{}`", folder.path))
            .hint("write them first; `gsd-tools template fill plan` starts one"));
    }
    let facts = facts::state_facts(context)?;
    let operation = |view: &ProjectView| close::planned(view, &folder, &facts);
    if context.is_rehearsal() {
        let view = context.view();
        let edits = operation(&view)?;
        context.note_rehearsed(&changes::diff(&view, &edits)?);
    } else {
        context.write(Target::Project, |view| Ok(((), operation(view)?)))?;
    }
    let layout = context.layout();
    let files = [folder.path.clone()].into_iter().chain(layout.tracking());
    let files: Vec<String> = files.filter(|file| disk::exists(layout.absolute(file))).collect();
    let commit = commit_files(context, &format!("docs({}): create phase plan", folder.token()), files)?;
    let plans = index.plans.into_iter().map(|plan| RecordedPlan {
        id: plan.id,
        wave: plan.wave,
        objective: plan.objective,
        tasks: plan.task_count,
        has_checkpoint: !plan.autonomous,
        done: plan.has_summary && !plan.halted,
    });
    let report =
        RecordReport { phase: folder.token().to_owned(), plans: plans.collect(), warnings: index.warnings, commit };
    if report.commit.has_failed() {
        context.exit_with(1);
    }
    context.emit_brief(&report)
}

/// The answer of `plan check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CheckReport {
    /// Whether every requested plan is finished.
    finished: bool,
    plans: Vec<CheckedPlan>,
}

fn check_plans(context: &mut Context, arguments: &CheckArgs) -> Result<(), Failure> {
    let view = context.view();
    let places = places(&view, &arguments.plans)?;
    let plans: Vec<CheckedPlan> =
        places.iter().map(|place| plan::checked(context, &view, place, arguments.tdd)).collect::<Result<_, _>>()?;
    drop(view);
    let report = CheckReport { finished: plans.iter().all(|plan| plan.finished), plans };
    let raw = report.finished.to_string();
    context.emit_raw(&report, raw)
}

fn places(view: &ProjectView, typed: &[String]) -> Result<Vec<PlanPlace>, Failure> {
    let names = typed.iter().flat_map(|words| words.split(',')).map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            PlanPlace::find(view, name)?.ok_or_else(|| {
                Failure::new(Reason::Usage, format!("no phase has a plan `{name}`"))
                    .hint("list the plans of a phase with `gsd-tools phase-plan-index PHASE`")
            })
        })
        .collect()
}

/// The answer of `plan close`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CloseReport {
    closed: Vec<ClosedPlan>,
    /// Requested plans that were skipped because they have no SUMMARY.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_summary: Vec<String>,
    /// Whether only the SUMMARY was committed, since this is the worktree of a wave: close the plan after the merge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_worktree: bool,
    commit: CommitReport,
    /// The first plan of the phase that can be executed now; null in the worktree of a wave, which does not have the
    /// other plans.
    next_plan: Option<String>,
}

fn close(context: &mut Context, arguments: &CloseArgs) -> Result<(), Failure> {
    let places = places(&context.view(), &arguments.plans)?;
    if !arguments.blocker.is_empty() && places.len() > 1 {
        return Err(Failure::usage("`--blocker` goes with one plan").hint("close the plans one by one"));
    }
    let (places, without): (Vec<PlanPlace>, Vec<PlanPlace>) =
        places.into_iter().partition(|place| place.summary().is_some());
    if let (Some(place), true) = (without.first(), places.is_empty()) {
        return Err(without_summary(place));
    }
    for place in &places {
        check_summary(&context.view(), place)?;
    }
    let in_worktree = is_in_wave(context);
    if !arguments.blocker.is_empty() && !in_worktree && context.view().state()?.is_none() {
        let message = format!("{NO_STATE}: there is no place for the blocker");
        return Err(Failure::new(Reason::Unknown, message).hint(NO_STATE_CURE));
    }
    let (closed, commit) = if in_worktree {
        keep_summaries(context, &places, arguments)?
    } else {
        close_all(context, &places, arguments)?
    };
    let last = places.last().filter(|_| !in_worktree);
    let next_plan = last.map(|place| next_plan(context, place)).transpose()?.flatten();
    let without_summary = without.iter().map(|place| place.id().to_owned()).collect();
    if commit.has_failed() {
        context.exit_with(1);
    }
    context.emit_brief(&CloseReport { closed, without_summary, in_worktree, commit, next_plan })
}

/// Whether this is a worktree for a plan of a wave.
fn is_in_wave(context: &Context) -> bool {
    let folder = context.root();
    if repository::main_worktree(folder).is_none() {
        return false;
    }
    facts::branch(context).is_some_and(|branch| wave::is_agent_branch(&branch))
}

fn without_summary(place: &PlanPlace) -> Failure {
    let message = format!("plan {} has no SUMMARY: `{}` does not exist", place.id(), place.summary_path());
    Failure::new(Reason::PhasePlanCoverageIncomplete, message)
        .hint("write the SUMMARY first; `gsd-tools template fill summary` starts one")
}

/// Refuses a SUMMARY that cannot be recorded.
fn check_summary(view: &ProjectView, place: &PlanPlace) -> Result<(), Failure> {
    let Some(reason) = plan::unusable(&summary_of(view, place)?) else { return Ok(()) };
    let message = format!("the SUMMARY of plan {} cannot be used: `{}` {reason}", place.id(), place.summary_path());
    Err(Failure::usage(message)
        .hint(format!("correct the file; `{}` shows what is missing", typed!("gsd-tools plan check {}", place.id()))))
}

/// Records the SUMMARYs of these plans in the documents of the project, all of them or none, with one commit.
fn close_all(
    context: &Context,
    places: &[PlanPlace],
    arguments: &CloseArgs,
) -> Result<(Vec<ClosedPlan>, CommitReport), Failure> {
    let facts = facts::state_facts(context)?;
    let operation = |view: &ProjectView| {
        let (mut reports, mut edits) = (Vec::new(), Edits::default());
        for place in places {
            let view = view.after(&edits);
            let summary = summary_of(&view, place)?;
            let request = CloseRequest { blockers: &arguments.blocker };
            let (report, more) = close::close(&view, place, &summary, request, &facts)?;
            reports.push(report);
            edits.follow(more);
        }
        Ok::<_, Failure>((reports, edits))
    };
    let closed = if context.is_rehearsal() {
        // A dry run of a command that also commits does not take a lock, since a lock is a file.
        let view = context.view();
        let (reports, edits) = operation(&view)?;
        context.note_rehearsed(&changes::diff(&view, &edits)?);
        reports
    } else {
        context.write(Target::Project, operation)?
    };
    let layout = context.layout();
    let files = places.iter().flat_map(|place| of_plan(context, place)).chain(layout.tracking());
    let files: Vec<String> = files.filter(|file| disk::exists(layout.absolute(file))).collect();
    let verb = if closed.iter().all(|plan| plan.status == PlanEnd::Complete) { "complete" } else { "stop" };
    let commit = commit_files(context, &message(&context.view(), places, verb)?, files)?;
    Ok((closed, commit))
}

/// Commits only the SUMMARYs.
fn keep_summaries(
    context: &Context,
    places: &[PlanPlace],
    arguments: &CloseArgs,
) -> Result<(Vec<ClosedPlan>, CommitReport), Failure> {
    let view = context.view();
    let mut kept = Vec::new();
    for place in places {
        let end = PlanEnd::of(&PhaseSummary::parse(&summary_of(&view, place)?));
        let mut plan = ClosedPlan::unrecorded(place.id(), end);
        if !arguments.blocker.is_empty() {
            let again = "give it when the plan is closed in the main tree";
            plan.warnings.push(format!("the blocker is not recorded in the worktree of a wave; {again}"));
        }
        kept.push(plan);
    }
    let files = places.iter().flat_map(|place| of_plan(context, place)).collect();
    let commit = commit_files(context, &message(&view, places, "summarise")?, files)?;
    Ok((kept, commit))
}

fn summary_of(view: &ProjectView, place: &PlanPlace) -> Result<Arc<str>, FileError> {
    let summary = place.summary().map(|path| view.text(&path)).transpose()?;
    Ok(summary.flatten().unwrap_or_else(|| Arc::from("")))
}

/// The plan's own documents that its execution writes.
fn of_plan(context: &Context, place: &PlanPlace) -> impl Iterator<Item = String> {
    // Setup for the user, and defects found outside the plan.
    let setup = place.folder.artifact_path("USER-SETUP").into_iter().chain([place.folder.join("deferred-items.md")]);
    let layout = context.layout();
    place.summary().into_iter().chain(setup).filter(|path| disk::exists(layout.absolute(path)))
}

/// The maximum length of a commit subject, in characters.
const LONGEST_SUBJECT: usize = 72;

/// The subject of the commit: one plan with its name if that is short, several plans by their identifiers.
fn message(view: &ProjectView, places: &[PlanPlace], verb: &str) -> Result<String, FileError> {
    if let [place] = places {
        let named = close::title(&summary_of(view, place)?);
        let named = named.map(|title| format!("docs({}): {verb} {title} plan", place.id()));
        let short = named.filter(|subject| subject.chars().count() <= LONGEST_SUBJECT);
        return Ok(short.unwrap_or_else(|| format!("docs({}): {verb} plan", place.id())));
    }
    let ids: Vec<&str> = places.iter().map(PlanPlace::id).collect();
    let phase = places.first().map_or("", |place| place.folder.token());
    Ok(format!("docs({phase}): {verb} plans {}", ids.join(", ")))
}

fn next_plan(context: &Context, place: &PlanPlace) -> Result<Option<String>, Failure> {
    let view = context.view();
    match index::plan_index(&view, place.folder.token()) {
        Ok(index) => Ok(index.runnable.first().map(|id| canonical_id(id).to_owned())),
        Err(failure) if failure.unread.is_some() => Err(failure),
        // Plans that wait for each other cannot be executed.
        Err(_) => Ok(None),
    }
}
