//! What a run itself writes to the documents of a project in slices, and to its commits.

use super::captures;
use super::outline::{MilestoneOutline, OutlinedTask};
use super::places;
use super::snapshot::Snapshot;
use crate::auto::engine::Edit;
use crate::auto::event::{CheckedTree, Mechanical, Run};
use crate::auto::mechanical;
use crate::auto::memory::{Attempts, Operation};
use crate::auto::preferences::Preferences;
use crate::auto::unit::{Unit, UnitKind};
use crate::failure::Failure;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::evidence::{CheckRecord, TaskEvidence};
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::{lookup, overrides, record};
use crate::project::milestone_layout::{roadmap, slice_plan};
use crate::text::terminal::plain;
use crate::text::time;

/// Returns the evidence of a task's checks, and the tick of a task whose checks passed: the tick last.
pub(crate) fn evidence(
    files: &dyn Files,
    operation: &Operation,
    evidence: &CheckedTree,
    attempts: &Attempts,
    preferences: &Preferences,
) -> Result<Vec<Edit>, FileError> {
    let unit = &operation.start.unit;
    let (milestone, Some(slice), Some(task)) = unit.parts() else { return Ok(Vec::new()) };
    if unit.kind == UnitKind::Hook {
        return Ok(Vec::new());
    }
    let folder = places::slice(files, milestone, slice)?;
    let entries = files.list(&format!("{folder}/tasks"))?.unwrap_or_default();
    let name = lookup::record(&entries, task, "VERIFY").map_or_else(|| format!("{task}-VERIFY.json"), str::to_owned);
    let path = format!("{folder}/tasks/{name}");
    let found = TaskEvidence {
        schema_version: 1,
        task_id: task.to_owned(),
        unit_id: unit.id.clone(),
        timestamp: operation.at.wall,
        passed: evidence.passed,
        discovery_source: evidence.source.clone(),
        checks: evidence.checks.iter().map(check).collect(),
        tree: Some(evidence.tree.clone()),
        no_checks_reason: evidence.no_checks_reason.clone(),
        retry_attempt: u64::try_from(attempts.refused.len()).ok().filter(|retries| *retries > 0),
        max_retries: Some(u64::from(preferences.verification_retries)),
        ..TaskEvidence::default()
    };
    let mut edits = vec![Edit { path, text: record::render(&found) }];
    if evidence.passed && unit.kind == UnitKind::QuickTask {
        edits.extend(captures::executed(files, unit, &at(operation.at.wall))?);
    } else if evidence.passed {
        edits.extend(tick(files, &folder, slice, task)?);
    }
    Ok(edits)
}

/// Returns a time as documents write it.
fn at(milliseconds: i64) -> String {
    time::shown(milliseconds).unwrap_or_default()
}

/// Returns the tick of a slice that a session has closed.
pub(crate) fn closing(files: &dyn Files, unit: &Unit) -> Result<Vec<Edit>, FileError> {
    let (milestone, Some(slice), _) = unit.parts() else { return Ok(Vec::new()) };
    if unit.kind != UnitKind::CompleteSlice {
        return Ok(Vec::new());
    }
    let folder = places::milestone(files, milestone)?;
    let Some((path, text)) = places::document(files, &folder, milestone, "ROADMAP")? else { return Ok(Vec::new()) };
    Ok(roadmap::tick(&text, slice).ok().flatten().map(|text| Edit { path, text }).into_iter().collect())
}

fn check(run: &crate::auto::event::CheckRun) -> CheckRecord {
    CheckRecord {
        command: run.command.clone(),
        exit_code: Some(i64::from(run.exit_code)),
        duration_ms: run.milliseconds,
        verdict: if run.passed { "pass" } else { "fail" }.to_owned(),
        output_digest: Some(run.digest.clone()),
        ..CheckRecord::default()
    }
}

/// Returns the tick of a task in its plan. A plan whose tasks are headings has no boxes: there the summary shows that a
/// task is done.
fn tick(files: &dyn Files, folder: &str, slice: &str, task: &str) -> Result<Option<Edit>, FileError> {
    let entries = files.list(folder)?.unwrap_or_default();
    let Some(name) = lookup::file(&entries, slice, "PLAN") else { return Ok(None) };
    let path = format!("{folder}/{name}");
    let Some(text) = files.read(&path)? else { return Ok(None) };
    Ok(slice_plan::tick(&text, task).ok().flatten().map(|text| Edit { path, text }))
}

/// Returns the path of the project's requirements, if it has any.
pub(crate) fn requirements_path(files: &dyn Files) -> Result<Option<String>, FileError> {
    Ok(places::root_document(files, "REQUIREMENTS.md")?.map(|(path, _)| path))
}

/// Returns what a mechanical step writes, with the closing edit last, or why it needs an agent. `requirements_before`
/// are the requirements when the milestone began, if known; `now` is the time, in milliseconds.
pub(crate) fn mechanical(
    files: &dyn Files,
    step: &Mechanical,
    preferences: &Preferences,
    requirements_before: Option<String>,
    now: i64,
) -> Result<Result<Vec<Edit>, Failure>, FileError> {
    Ok(match step {
        Mechanical::CompleteSlice { milestone, slice } => {
            let records = mechanical::slice_records(files, milestone, slice)?;
            mechanical::complete_slice(&records, preferences)
        }
        Mechanical::ValidateMilestone { milestone } | Mechanical::PassValidation { milestone } => {
            let records = mechanical::milestone_records(files, milestone, None)?;
            let is_skipped = matches!(step, Mechanical::PassValidation { .. });
            mechanical::validate_milestone(&records, preferences, is_skipped).map(Vec::from_iter)
        }
        Mechanical::CompleteMilestone { milestone } => {
            let records = mechanical::milestone_records(files, milestone, requirements_before)?;
            mechanical::complete_milestone(&records, preferences)
        }
        Mechanical::CarryOutCapture { milestone, slice, capture } => {
            Ok(captures::carry_out(files, (milestone, slice.as_deref()), capture, &at(now))?)
        }
        Mechanical::ResolveOverrides { .. } => {
            let found = places::root_document(files, "OVERRIDES.md")?;
            Ok(found.map(|(path, text)| Edit { path, text: overrides::resolve_all(&text) }).into_iter().collect())
        }
        // Steps of projects in phases.
        Mechanical::WriteContext { .. } | Mechanical::ClosePhase { .. } => Ok(Vec::new()),
    })
}

/// Returns the message of a commit: a task's own line, else what was done.
pub(crate) fn message(
    files: &dyn Files,
    snapshot: &Snapshot,
    operation: Option<&Operation>,
) -> Result<String, FileError> {
    let Some(operation) = operation else { return Ok("chore: close what needs no agent\n".to_owned()) };
    let unit = &operation.start.unit;
    let (milestone, slice, task) = unit.parts();
    let (Some(slice), Some(task)) = (slice, task.filter(|_| unit.kind != UnitKind::Hook)) else {
        return Ok(format!("chore: {} {}\n\nGSD-Unit: {}\n", unit.kind.word(), unit.id, unit.id));
    };
    let folder = places::slice(files, milestone, slice)?;
    let entries = files.list(&format!("{folder}/tasks"))?.unwrap_or_default();
    let summary = match lookup::file(&entries, task, "SUMMARY") {
        Some(name) => files.read(&format!("{folder}/tasks/{name}"))?,
        None => None,
    };
    let line = summary.as_deref().map(Summary::parse).and_then(|summary| summary.one_liner);
    let title = || {
        let captured = snapshot.captures.iter().find(|capture| capture.id.eq_ignore_ascii_case(task));
        let planned = snapshot.task(milestone, slice, task).map(|task| task.title.clone());
        planned.or_else(|| captured.map(|capture| capture.text.clone()))
    };
    let subject = line.or_else(title).unwrap_or_else(|| unit.id.clone());
    Ok(format!("{}\n\nGSD-Task: {}\n", subject_line(&subject), unit.id))
}

/// Returns the first line of a text, shortened for a subject.
pub(crate) fn subject_line(text: &str) -> String {
    const MOST: usize = 72;
    let line = plain(text.lines().next().unwrap_or_default());
    let line = line.trim().trim_end_matches('.');
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    let cut: String = line.chars().take(MOST - 1).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{cut}…")
}

/// Returns what was built, one line for each slice and each of its tasks.
pub(crate) fn built(files: &dyn Files, milestone: &str) -> Result<Vec<String>, FileError> {
    let mut lines = Vec::new();
    for slice in MilestoneOutline::read(files, milestone)?.slices.iter().filter(|slice| slice.is_done) {
        lines.push(format!("- {}: {}", slice.id, subject_line(&slice.title)));
        let result = |task: &OutlinedTask| subject_line(task.result.as_ref().unwrap_or(&task.title));
        lines.extend(slice.tasks.iter().map(|task| format!("  - {}: {}", task.id, result(task))));
    }
    Ok(lines)
}

/// Returns the subject of the commit that lands.
pub(crate) fn landing_subject(snapshot: &Snapshot, run: &Run) -> String {
    let milestone = snapshot.milestone(&run.milestone);
    let title = milestone.map_or_else(|| run.milestone.clone(), |milestone| milestone.title.clone());
    format!("feat({}): {title}", run.milestone)
}
