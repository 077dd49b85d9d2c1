//! Decides whether the records of a slice let its milestone pass.

use super::evidence::TaskProof;
use super::records::{ClosedSlice, MilestoneRecords};
use crate::auto::preferences::Preferences;
use crate::project::milestone_layout::assessment::slice_verdict;
use crate::project::milestone_layout::ids::is_id;
use crate::project::milestone_layout::uat::{UatMode, UatVerdict};

/// The judgement of a slice's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SliceJudgement {
    pub(super) slice: String,
    pub(super) is_skipped: bool,
    /// The tasks with the results of their checks.
    pub(super) proofs: Vec<(String, TaskProof)>,
    pub(super) mode: Option<UatMode>,
    pub(super) verdict: Option<UatVerdict>,
    /// What keeps the milestone from passing, each in one line.
    pub(super) open: Vec<String>,
}

/// Judges every slice, in the order of the roadmap.
pub(super) fn judged(records: &MilestoneRecords, preferences: &Preferences) -> Vec<SliceJudgement> {
    records.slices.iter().map(|slice| judge(&records.milestone, slice, preferences)).collect()
}

fn judge(milestone: &str, slice: &ClosedSlice, preferences: &Preferences) -> SliceJudgement {
    let id = &slice.row.id;
    let mut judgement = SliceJudgement {
        slice: id.clone(),
        is_skipped: slice.row.skipped,
        proofs: slice.tasks.iter().map(|task| (task.id.clone(), TaskProof::of(task))).collect(),
        mode: None,
        verdict: None,
        open: Vec::new(),
    };
    if slice.row.skipped {
        judgement.proofs.clear();
        return judgement;
    }
    for (index, (task, proof)) in judgement.proofs.iter().enumerate() {
        let mut others = judgement.proofs.iter().enumerate().filter(|(other, _)| *other != index);
        let beside_checked = others.any(|(_, (_, proof))| proof.is_passed());
        if !proof.is_enough(beside_checked, preferences.requires_evidence) {
            judgement.open.push(format!("{milestone}/{id}/{task}: {}: {}", proof.word(), proof.detail()));
        }
    }
    if judgement.proofs.is_empty() && preferences.requires_evidence {
        judgement.open.push(format!("{milestone}/{id}: no task with a record"));
    }
    judge_acceptance(milestone, slice, preferences, &mut judgement);
    judgement
}

fn judge_acceptance(milestone: &str, slice: &ClosedSlice, preferences: &Preferences, judgement: &mut SliceJudgement) {
    let text =
        |document: &Option<super::records::WorktreeDocument>| document.as_ref().map(|document| document.text.clone());
    let (result, assessment, uat) = (text(&slice.uat_result), text(&slice.assessment), text(&slice.uat));
    let mode = uat.as_deref().map_or(UatMode::ArtifactDriven, UatMode::of);
    judgement.mode = uat.as_ref().map(|_| mode);
    judgement.verdict = slice_verdict(result.as_deref(), assessment.as_deref(), uat.as_deref());
    let id = &slice.row.id;
    match &judgement.verdict {
        Some(verdict) if !verdict.is_accepted(mode, preferences.uat_accept_partial) => {
            judgement.open.push(format!("{milestone}/{id}: the acceptance test says `{}`", verdict.word()));
        }
        None if preferences.uat_dispatch && uat.is_some() => {
            judgement.open.push(format!("{milestone}/{id}: the acceptance test has no verdict"));
        }
        Some(_) | None => {}
    }
}

/// True if a criterion of the milestone is shown: by the slices it names, else by all.
pub(super) fn is_shown(criterion: &str, judgements: &[SliceJudgement]) -> bool {
    let words = criterion.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
    let named: Vec<&str> = words.filter(|word| is_id(word, 'S')).collect();
    let is_named = |judgement: &&SliceJudgement| named.iter().any(|id| judgement.slice.eq_ignore_ascii_case(id));
    let by_name: Vec<&SliceJudgement> = judgements.iter().filter(is_named).collect();
    let by = if by_name.is_empty() { judgements.iter().collect() } else { by_name };
    !by.is_empty() && by.iter().all(|judgement| judgement.open.is_empty())
}
