//! Validates a milestone from the records of its tasks and acceptance tests.

use std::fmt::Write as _;

use super::evidence::TaskProof;
use super::judgement::{SliceJudgement, is_shown, judged};
use super::not_enough::{by_agent, by_validation, listed};
use super::records::{MilestoneRecords, WorktreeDocument};
use super::slice::latest;
use crate::auto::engine::Edit;
use crate::auto::preferences::Preferences;
use crate::failure::{Failure, Reason};
use crate::project::files::sha256;
use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::project::milestone_layout::lines::one_line;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::record;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::validation::{ValidatedBy, Validation, ValidationVerdict};
use crate::text::shell::typed;

/// Validates a milestone whose slices are done; no edit if a validation exists and still holds, or an agent made it.
/// `is_skipped` means that a preference skips it; the records are still listed.
pub(crate) fn validate_milestone(
    records: &MilestoneRecords,
    preferences: &Preferences,
    is_skipped: bool,
) -> Result<Option<Edit>, Failure> {
    let roadmap = closed(records)?;
    let there = records.validation.as_ref().map(|document| (document, Validation::parse(&document.text)));
    if let Some((_, validation)) = &there
        && validation.validated_by != Some(ValidatedBy::Mechanical)
    {
        let milestone = &records.milestone;
        let unclear = || format!("the validation of `{milestone}` is an agent's and has no verdict");
        return if validation.is_terminal() { Ok(None) } else { Err(by_validation(milestone, unclear())) };
    }
    let text = text(records, &roadmap, preferences, is_skipped);
    let path = || lookup::document(&records.folder, &records.milestone, "VALIDATION");
    Ok(match there {
        Some((document, _)) if document.text == text => None,
        Some((document, _)) => Some(Edit { path: document.path.clone(), text }),
        None => Some(Edit { path: path(), text }),
    })
}

/// True if this program made the validation, from records that have changed since.
pub(crate) fn is_stale(records: &MilestoneRecords) -> bool {
    let Some(document) = &records.validation else { return false };
    let validation = Validation::parse(&document.text);
    let is_ours = validation.validated_by == Some(ValidatedBy::Mechanical);
    is_ours && validation.evidence_hash != Some(evidence_hash(records))
}

/// Returns the roadmap of a milestone if every slice is done and has a summary.
pub(super) fn closed(records: &MilestoneRecords) -> Result<Roadmap, Failure> {
    let milestone = &records.milestone;
    let missing = || by_agent(format!("`{milestone}-ROADMAP.md` is missing"));
    let roadmap = records.roadmap().filter(|roadmap| !roadmap.slices.is_empty()).ok_or_else(missing)?;
    let open: Vec<String> = roadmap.slices.iter().filter(|row| !row.done).map(|row| row.id.clone()).collect();
    if !open.is_empty() {
        return Err(by_agent(format!("the slices {} of `{milestone}` are not done", listed(&open))));
    }
    let silent = records.without_summary();
    let Some(first) = silent.first() else { return Ok(roadmap) };
    let command = typed!("gsd-tools auto dispatch complete {}/{}", milestone, first);
    let message = format!("the slices {} of `{milestone}` are done and have no summary", listed(&silent));
    Err(Failure::new(Reason::Unknown, message).hint(format!("write the summaries: `{command}`")))
}

/// Returns the digest of the records that a validation depends on, by their paths below the milestone. Times and
/// durations of checks are left out: checking a task again with the same result leaves a validation as it is.
pub(crate) fn evidence_hash(records: &MilestoneRecords) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |document: &WorktreeDocument, said: &str| {
        let place = document.path.strip_prefix(&records.folder).unwrap_or(&document.path);
        lines.push(format!("{} {place}\n", sha256(said.as_bytes())));
    };
    for slice in &records.slices {
        for task in &slice.tasks {
            if let Some(document) = &task.evidence {
                let said = task.evidence().and_then(Result::ok).map(timeless);
                add(document, said.as_deref().unwrap_or(&document.text));
            }
        }
        for document in [&slice.uat_result, &slice.assessment].into_iter().flatten() {
            add(document, &document.text);
        }
    }
    lines.sort_unstable();
    sha256(lines.concat().as_bytes())
}

/// Returns a record without the parts that differ between runs of the same checks.
fn timeless(mut evidence: TaskEvidence) -> String {
    evidence.timestamp = 0;
    evidence.retry_attempt = None;
    // The tree contains the records of other tasks, with their times.
    evidence.tree = None;
    for check in &mut evidence.checks {
        check.duration_ms = 0;
        // Most programs print how long they took.
        check.output_digest = None;
    }
    record::render(&evidence)
}

fn text(records: &MilestoneRecords, roadmap: &Roadmap, preferences: &Preferences, is_skipped: bool) -> String {
    let judgements = judged(records, preferences);
    let open: Vec<&String> = judgements.iter().flat_map(|judgement| &judgement.open).collect();
    let verdict = if open.is_empty() { ValidationVerdict::Pass } else { ValidationVerdict::NeedsAttention };
    let summaries = records.slices.iter().filter_map(|slice| slice.summary.as_ref());
    let moments: Vec<String> = summaries.filter_map(|document| Summary::parse(&document.text).completed_at).collect();
    let operational = roadmap.operational().map(|text| format!("operational verification: {}", one_line(text)));
    let validation = Validation {
        id: records.milestone.clone(),
        verdict: Some(verdict),
        human_required: operational.into_iter().filter(|_| !is_skipped).collect(),
        validated_at: latest(moments.iter().map(String::as_str)),
        validated_by: Some(ValidatedBy::Mechanical),
        evidence_hash: Some(evidence_hash(records)),
        skipped: is_skipped.then(|| "preference".to_owned()),
        ..Validation::default()
    };
    let mut body = format!("# {}: Validation\n", records.milestone);
    write_open(&mut body, &open);
    write_evidence(&mut body, records, &judgements);
    write_acceptance(&mut body, &judgements);
    write_criteria(&mut body, roadmap, &judgements);
    write_classes(&mut body, roadmap);
    validation.render(&body)
}

/// Writes what keeps the milestone from passing. Writing to a string cannot fail.
fn write_open(body: &mut String, open: &[&String]) {
    if open.is_empty() {
        return;
    }
    body.push_str("\n## Needs Attention\n\n");
    for line in open {
        let _ = writeln!(body, "- {}", one_line(line));
    }
}

/// Returns the first task whose checks have no record, according to the text of a validation.
pub(crate) fn unverified_in(text: &str) -> Option<String> {
    let says = format!(": {}: ", TaskProof::Missing.word());
    text.lines().find_map(|line| Some(line.strip_prefix("- ")?.split_once(&says)?.0.to_owned()))
}

fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

fn write_evidence(body: &mut String, records: &MilestoneRecords, judgements: &[SliceJudgement]) {
    body.push_str("\n## Evidence\n\n| Unit | Result | Detail | Summary says |\n|---|---|---|---|\n");
    for (slice, judgement) in records.slices.iter().zip(judgements) {
        let unit = format!("{}/{}", records.milestone, judgement.slice);
        if judgement.is_skipped {
            let _ = writeln!(body, "| {unit} | skipped | the roadmap says so | |");
        }
        for (task, (id, proof)) in slice.tasks.iter().zip(&judgement.proofs) {
            let says = task.summary().map(|summary| summary.verification_result).unwrap_or_default();
            let (word, detail, says) = (proof.word(), cell(&proof.detail()), cell(&says));
            let _ = writeln!(body, "| {unit}/{id} | {word} | {detail} | {says} |");
        }
    }
}

fn write_acceptance(body: &mut String, judgements: &[SliceJudgement]) {
    body.push_str("\n## Acceptance Tests\n\n| Slice | Mode | Verdict |\n|---|---|---|\n");
    for judgement in judgements.iter().filter(|judgement| !judgement.is_skipped) {
        let mode = judgement.mode.map_or("none", |mode| mode.word());
        let verdict = judgement.verdict.as_ref().map_or("not run", |verdict| verdict.word());
        let _ = writeln!(body, "| {} | {mode} | {} |", judgement.slice, cell(verdict));
    }
}

fn write_criteria(body: &mut String, roadmap: &Roadmap, judgements: &[SliceJudgement]) {
    body.push_str("\n## Success Criteria\n\n| Criterion | Shown by |\n|---|---|\n");
    for criterion in &roadmap.success_criteria {
        // The criterion itself was not looked at.
        let result = if is_shown(criterion, judgements) { "the checks of its slices" } else { "nothing" };
        let _ = writeln!(body, "| {} | {result} |", cell(criterion));
    }
}

/// Writes the verification classes. Records do not show how the result behaves in operation, so that row is left to the
/// person who looked.
fn write_classes(body: &mut String, roadmap: &Roadmap) {
    body.push_str("\n## Verification Classes\n\n| Class | Shown by |\n|---|---|\n");
    for class in &roadmap.verification {
        let is_operational = class.name.eq_ignore_ascii_case("operational");
        let shown = match roadmap.operational() {
            Some(_) if is_operational => "no record",
            None if is_operational => "N/A",
            _ => "the evidence above",
        };
        let _ = writeln!(body, "| {} | {shown} |", cell(&class.name));
    }
}
