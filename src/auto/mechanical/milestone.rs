//! Writes the summary that ends a milestone.

use std::fmt::Write as _;

use super::judgement::{is_shown, judged};
use super::not_enough::by_validation;
use super::records::{ClosedSlice, MilestoneRecords};
use super::slice::latest;
use super::validation::closed;
use crate::auto::engine::Edit;
use crate::auto::preferences::Preferences;
use crate::failure::Failure;
use crate::project::milestone_layout::lines::one_line;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::milestone_summary::{Ending, MilestoneSummary, RequirementOutcome};
use crate::project::milestone_layout::requirements::{RequirementSection, Requirements};
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::validation::{Validation, ValidationVerdict};

/// Closes a validated milestone, or returns why not; no edits if it is closed already.
pub(crate) fn complete_milestone(records: &MilestoneRecords, preferences: &Preferences) -> Result<Vec<Edit>, Failure> {
    if records.summary.as_ref().is_some_and(|document| Ending::of(&document.text).is_terminal()) {
        return Ok(Vec::new());
    }
    let roadmap = closed(records)?;
    let validation = records.validation.as_ref().map(|document| Validation::parse(&document.text)).unwrap_or_default();
    if validation.outcome() != Some(ValidationVerdict::Pass) {
        let milestone = &records.milestone;
        let says = validation.verdict.map_or("nothing".to_owned(), |verdict| format!("`{}`", verdict.word()));
        return Err(by_validation(milestone, format!("the validation of `{milestone}` says {says}, not `pass`")));
    }
    let slices: Vec<(&ClosedSlice, Summary)> = records.slices.iter().map(|slice| (slice, summary_of(slice))).collect();
    let outcomes = outcomes(records);
    let summary = MilestoneSummary {
        id: records.milestone.clone(),
        title: roadmap.title.clone().unwrap_or_else(|| records.milestone.clone()),
        status: "complete".to_owned(),
        completed_at: latest(slices.iter().filter_map(|(_, summary)| summary.completed_at.as_deref())),
        provides: union(&slices, |summary| &summary.provides),
        key_files: union(&slices, |summary| &summary.key_files),
        key_decisions: union(&slices, |summary| &summary.key_decisions),
        patterns_established: union(&slices, |summary| &summary.patterns_established),
        requirement_outcomes: outcomes,
        verification_result: "passed".to_owned(),
    };
    let text = summary.render(&body(records, &roadmap, &summary, &slices, preferences));
    let path = records.summary.as_ref().map(|document| document.path.clone());
    let path = path.unwrap_or_else(|| lookup::document(&records.folder, &records.milestone, "SUMMARY"));
    Ok(vec![Edit { path, text }])
}

fn summary_of(slice: &ClosedSlice) -> Summary {
    slice.summary.as_ref().map(|document| Summary::parse(&document.text)).unwrap_or_default()
}

fn union(slices: &[(&ClosedSlice, Summary)], of: fn(&Summary) -> &Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in slices.iter().flat_map(|(_, summary)| of(summary)) {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    all
}

/// Returns how the requirements changed since the milestone began. If that is unknown, those that it owns and that are
/// validated.
fn outcomes(records: &MilestoneRecords) -> Vec<RequirementOutcome> {
    let Some(document) = &records.requirements else { return Vec::new() };
    let now = Requirements::parse(&document.text);
    if let Some(before) = &records.requirements_before {
        return now.outcomes_since(&Requirements::parse(before));
    }
    let is_own = |milestone: &str| milestone.eq_ignore_ascii_case(&records.milestone);
    let own = now.entries.iter().filter(|entry| {
        let owned = entry.owner.as_ref().is_some_and(|owner| is_own(&owner.milestone));
        owned && entry.section == Some(RequirementSection::Validated)
    });
    own.map(|entry| RequirementOutcome {
        id: entry.id.clone(),
        from_status: RequirementSection::Active.word().to_owned(),
        to_status: entry.status.clone(),
        proof: entry.validation.clone(),
    })
    .collect()
}

fn body(
    records: &MilestoneRecords,
    roadmap: &Roadmap,
    summary: &MilestoneSummary,
    slices: &[(&ClosedSlice, Summary)],
    preferences: &Preferences,
) -> String {
    let judgements = judged(records, preferences);
    let mut body = format!("# {}: {}\n", records.milestone, one_line(&summary.title));
    // Writing to a string cannot fail.
    if let Some(vision) = &roadmap.vision {
        let _ = write!(body, "\n**{}**\n", one_line(vision).replace("**", ""));
    }
    body.push_str("\n## Success Criteria\n\n");
    for criterion in &roadmap.success_criteria {
        let (tick, word) = if is_shown(criterion, &judgements) { ("x", "pass") } else { (" ", "fail") };
        let _ = writeln!(body, "- [{tick}] {} — {word}", one_line(criterion));
    }
    if roadmap.success_criteria.is_empty() {
        body.push_str("The roadmap lists none.\n");
    }
    body.push_str("\n## Slices\n\n| Slice | Title | Completed | Verification |\n|---|---|---|---|\n");
    for (slice, summary) in slices {
        let title = one_line(&slice.row.title).replace('|', "\\|");
        let (completed, result) = if slice.row.skipped {
            ("skipped", "")
        } else {
            (summary.completed_at.as_deref().unwrap_or("unknown"), summary.verification_result.as_str())
        };
        let _ = writeln!(body, "| {} | {title} | {completed} | {result} |", slice.row.id);
    }
    list(&mut body, "Key Decisions", &summary.key_decisions);
    list(&mut body, "Patterns Established", &summary.patterns_established);
    let outcomes: Vec<String> = summary.requirement_outcomes.iter().map(told).collect();
    list(&mut body, "Requirement Outcomes", &outcomes);
    body
}

fn told(outcome: &RequirementOutcome) -> String {
    let RequirementOutcome { id, from_status, to_status, proof } = outcome;
    let proof = if proof.is_empty() { String::new() } else { format!(" ({proof})") };
    format!("{id}: {from_status} → {to_status}{proof}")
}

fn list(body: &mut String, title: &str, items: &[String]) {
    let _ = write!(body, "\n## {title}\n\n");
    for item in items {
        let _ = writeln!(body, "- {}", one_line(item));
    }
    if items.is_empty() {
        body.push_str("None.\n");
    }
}
