//! Plans before and after they are executed: recorded, closed, committed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::checks::plan;
use super::git::commit::{CommitReport, commit_files};
use super::writing::Target;
use super::{Call, facts, named};
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::operations::answers::changes;
use crate::operations::plans::close::{self, CloseRequest, ClosedPlan, PlanEnd, PlanPlace};
use crate::operations::plans::index;
use crate::operations::state::{NO_STATE, NO_STATE_CURE};
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id};
use crate::project::plan::PhaseSummary;
use crate::project::repository;
use crate::project::view::{Edits, ProjectView};
use crate::project::wave;
use crate::text::shell::typed;

/// The folder of a phase that is not archived.
pub(crate) fn folder_of(call: &Call, view: &ProjectView, phase: &str) -> Result<PhaseFolder, Failure> {
    named::phase_named(call, view, phase)?.folder.filter(|folder| folder.archived.is_none()).ok_or_else(|| {
        Failure::new(Reason::PhaseNotFound, format!("phase `{phase}` has no folder"))
            .hint("list the phases with `gsd-tools phases list`")
    })
}

/// The answer of `plan record`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecordReport {
    phase: String,
    plans: Vec<RecordedPlan>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    pub(crate) commit: CommitReport,
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

/// Records that a phase is planned, and commits that.
pub(crate) fn record(call: &Call, phase: &str) -> Result<RecordReport, Failure> {
    let view = call.view();
    let folder = folder_of(call, &view, phase)?;
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
    let facts = facts::state_facts(call)?;
    let operation = |view: &ProjectView| close::planned(view, &folder, &facts);
    if call.is_rehearsal() {
        let view = call.view();
        let edits = operation(&view)?;
        call.note_rehearsed(&changes::diff(&view, &edits)?);
    } else {
        call.write(Target::Project, |view| Ok(((), operation(view)?)))?;
    }
    let layout = call.layout();
    let files = [folder.path.clone()].into_iter().chain(layout.tracking());
    let files: Vec<String> = files.filter(|file| disk::exists(layout.absolute(file))).collect();
    let commit = commit_files(call, &format!("docs({}): create phase plan", folder.token()), files)?;
    let plans = index.plans.into_iter().map(|plan| RecordedPlan {
        id: plan.id,
        wave: plan.wave,
        objective: plan.objective,
        tasks: plan.task_count,
        has_checkpoint: !plan.autonomous,
        done: plan.has_summary && !plan.halted,
    });
    Ok(RecordReport { phase: folder.token().to_owned(), plans: plans.collect(), warnings: index.warnings, commit })
}

/// The plans that a call names.
pub(crate) fn places(view: &ProjectView, typed: &[String]) -> Result<Vec<PlanPlace>, Failure> {
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
pub(crate) struct CloseReport {
    closed: Vec<ClosedPlan>,
    /// Requested plans that were skipped because they have no SUMMARY.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_summary: Vec<String>,
    /// Whether only the SUMMARY was committed, since this is the worktree of a wave: close the plan after the merge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_worktree: bool,
    pub(crate) commit: CommitReport,
    /// The first plan of the phase that can be executed now; null in the worktree of a wave, which does not have the
    /// other plans.
    next_plan: Option<String>,
}

/// Carries the SUMMARYs of plans into the documents of the project, and commits them.
pub(crate) fn close(call: &Call, plans: &[String], blockers: &[String]) -> Result<CloseReport, Failure> {
    let places = places(&call.view(), plans)?;
    if !blockers.is_empty() && places.len() > 1 {
        return Err(Failure::usage("`--blocker` goes with one plan").hint("close the plans one by one"));
    }
    let (places, without): (Vec<PlanPlace>, Vec<PlanPlace>) =
        places.into_iter().partition(|place| place.summary().is_some());
    if let (Some(place), true) = (without.first(), places.is_empty()) {
        return Err(without_summary(place));
    }
    for place in &places {
        check_summary(&call.view(), place)?;
    }
    let in_worktree = is_in_wave(call);
    if !blockers.is_empty() && !in_worktree && call.view().state()?.is_none() {
        let message = format!("{NO_STATE}: there is no place for the blocker");
        return Err(Failure::new(Reason::Unknown, message).hint(NO_STATE_CURE));
    }
    let (closed, commit) =
        if in_worktree { keep_summaries(call, &places, blockers)? } else { close_all(call, &places, blockers)? };
    let last = places.last().filter(|_| !in_worktree);
    let next_plan = last.map(|place| next_plan(call, place)).transpose()?.flatten();
    let without_summary = without.iter().map(|place| place.id().to_owned()).collect();
    Ok(CloseReport { closed, without_summary, in_worktree, commit, next_plan })
}

/// Whether this is a worktree for a plan of a wave.
fn is_in_wave(call: &Call) -> bool {
    let folder = call.root();
    if repository::main_worktree(folder).is_none() {
        return false;
    }
    facts::branch(call).is_some_and(|branch| wave::is_agent_branch(&branch))
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
    call: &Call,
    places: &[PlanPlace],
    blockers: &[String],
) -> Result<(Vec<ClosedPlan>, CommitReport), Failure> {
    let facts = facts::state_facts(call)?;
    let operation = |view: &ProjectView| {
        let (mut reports, mut edits) = (Vec::new(), Edits::default());
        for place in places {
            let view = view.after(&edits);
            let summary = summary_of(&view, place)?;
            let request = CloseRequest { blockers };
            let (report, more) = close::close(&view, place, &summary, request, &facts)?;
            reports.push(report);
            edits.follow(more);
        }
        Ok::<_, Failure>((reports, edits))
    };
    let closed = if call.is_rehearsal() {
        // A dry run of a command that also commits does not take a lock, since a lock is a file.
        let view = call.view();
        let (reports, edits) = operation(&view)?;
        call.note_rehearsed(&changes::diff(&view, &edits)?);
        reports
    } else {
        call.write(Target::Project, operation)?
    };
    let layout = call.layout();
    let files = places.iter().flat_map(|place| of_plan(call, place)).chain(layout.tracking());
    let files: Vec<String> = files.filter(|file| disk::exists(layout.absolute(file))).collect();
    let verb = if closed.iter().all(|plan| plan.status == PlanEnd::Complete) { "complete" } else { "stop" };
    let commit = commit_files(call, &message(&call.view(), places, verb)?, files)?;
    Ok((closed, commit))
}

/// Commits only the SUMMARYs.
fn keep_summaries(
    call: &Call,
    places: &[PlanPlace],
    blockers: &[String],
) -> Result<(Vec<ClosedPlan>, CommitReport), Failure> {
    let view = call.view();
    let mut kept = Vec::new();
    for place in places {
        let end = PlanEnd::of(&PhaseSummary::parse(&summary_of(&view, place)?));
        let mut plan = ClosedPlan::unrecorded(place.id(), end);
        if !blockers.is_empty() {
            let again = "give it when the plan is closed in the main tree";
            plan.warnings.push(format!("the blocker is not recorded in the worktree of a wave; {again}"));
        }
        kept.push(plan);
    }
    let files = places.iter().flat_map(|place| of_plan(call, place)).collect();
    let commit = commit_files(call, &message(&view, places, "summarise")?, files)?;
    Ok((kept, commit))
}

fn summary_of(view: &ProjectView, place: &PlanPlace) -> Result<Arc<str>, FileError> {
    let summary = place.summary().map(|path| view.text(&path)).transpose()?;
    Ok(summary.flatten().unwrap_or_else(|| Arc::from("")))
}

/// The plan's own documents that its execution writes.
fn of_plan(call: &Call, place: &PlanPlace) -> impl Iterator<Item = String> {
    // Setup for the user, and defects found outside the plan.
    let setup = place.folder.artifact_path("USER-SETUP").into_iter().chain([place.folder.join("deferred-items.md")]);
    let layout = call.layout();
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

fn next_plan(call: &Call, place: &PlanPlace) -> Result<Option<String>, Failure> {
    let view = call.view();
    match index::plan_index(&view, place.folder.token()) {
        Ok(index) => Ok(index.runnable.first().map(|id| canonical_id(id).to_owned())),
        Err(failure) if failure.unread.is_some() => Err(failure),
        // Plans that wait for each other cannot be executed.
        Err(_) => Ok(None),
    }
}
