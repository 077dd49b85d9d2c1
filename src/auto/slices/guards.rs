//! Reasons that keep a milestone from being closed.

use super::look::Look;
use crate::auto::stop::{Cause, Stop};
use crate::text::shell::typed;

/// Returns the first reason that keeps the active milestone from being closed.
pub(crate) fn of_completion(look: &Look<'_>) -> Option<Stop> {
    missing_summaries(look).or_else(|| refused(look)).or_else(|| nothing_built(look)).or_else(|| not_operated(look))
}

/// A slice counts as done and has no summary of what was done.
pub(crate) fn missing_summaries(look: &Look<'_>) -> Option<Stop> {
    let milestone = look.milestone()?;
    let slices = milestone.roadmap.as_deref()?.iter();
    let silent = slices.filter(|slice| slice.done && !slice.skipped && !slice.has_summary);
    let silent: Vec<&str> = silent.map(|slice| slice.id.as_str()).collect();
    let first = silent.first()?;
    let text = format!("{} counts {} as done, without a SUMMARY.md", milestone.id, silent.join(", "));
    Some(Stop::new(Cause::MissingSummary, text, typed!("gsd-tools auto dispatch complete {}/{}", milestone.id, first)))
}

fn refused(look: &Look<'_>) -> Option<Stop> {
    let milestone = look.milestone()?;
    let verdict = milestone.validation.as_ref()?.verdict()?;
    if verdict == "pass" || verdict == "passed" {
        return None;
    }
    let text = format!("the validation of {} says `{verdict}`", milestone.id);
    let next = typed!("gsd-tools auto verdict {} pass --rationale \"checked by hand\"", milestone.id);
    Some(Stop::new(Cause::NeedsRemediation, text, next))
}

fn nothing_built(look: &Look<'_>) -> Option<Stop> {
    let milestone = look.milestone()?;
    if milestone.is_planning_only || look.facts.has_implementation != Some(false) {
        return None;
    }
    let text = format!("{} changed nothing outside the planning folder", milestone.id);
    let next = "gsd-tools auto run --allow-planning-only";
    Some(Stop::new(Cause::NoImplementation, text, next))
}

fn not_operated(look: &Look<'_>) -> Option<Stop> {
    use super::snapshot::Validation::Verdict;
    let milestone = look.milestone().filter(|milestone| milestone.has_operational_class)?;
    match milestone.validation.as_ref()? {
        Verdict { is_skipped: false, has_operational_row: false, .. } => {
            let text = format!(
                "the roadmap of {} plans an operational verification, and its validation has no Operational row",
                milestone.id
            );
            let next = typed!("gsd-tools auto dispatch validate {}", milestone.id);
            Some(Stop::new(Cause::NoOperationalEvidence, text, next))
        }
        _ => None,
    }
}
