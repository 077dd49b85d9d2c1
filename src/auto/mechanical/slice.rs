//! Closes a slice whose tasks are done: its summary, its acceptance test, decisions, requirements, and last its box in
//! the roadmap.

use super::evidence::{TaskProof, result_of};
use super::not_enough::{by_agent, listed};
use super::records::{SliceRecords, TaskRecords, WorktreeDocument};
use super::requirements::{changes, owned};
use super::slice_text::{self, Material};
use crate::auto::engine::Edit;
use crate::auto::preferences::Preferences;
use crate::failure::Failure;
use crate::project::milestone_layout::decisions::{self, DecisionRow};
use crate::project::milestone_layout::ids::leading;
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::requirements;
use crate::project::milestone_layout::roadmap::{Roadmap, tick};
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::uat::NewUat;

/// Closes a slice from the records of its tasks, or returns why that needs an agent. The edits are in the order in
/// which they are written, the box in the roadmap last; none if the slice was done before.
pub(crate) fn complete_slice(records: &SliceRecords, preferences: &Preferences) -> Result<Vec<Edit>, Failure> {
    let missing = |kind: &str, id: &str| by_agent(format!("`{id}-{kind}.md` is missing"));
    let roadmap_file = records.roadmap.as_ref().ok_or_else(|| missing("ROADMAP", &records.milestone))?;
    let roadmap = Roadmap::parse(&roadmap_file.text);
    let not_ticked = |failure: Failure| {
        let message = format!("the roadmap cannot be ticked: {}", failure.message);
        Failure { causes: vec![failure.message], message, ..failure }
    };
    let ticked = tick(&roadmap_file.text, &records.slice).map_err(not_ticked)?;
    let (Some(row), Some(ticked)) = (roadmap.slice(&records.slice), ticked) else { return Ok(Vec::new()) };
    let plan_file = records.plan.as_ref().ok_or_else(|| missing("PLAN", &records.slice))?;
    let plan = SlicePlan::parse(&plan_file.text);
    let tasks = summaries(records)?;
    let proofs: Vec<TaskProof> = records.tasks.iter().map(TaskProof::of).collect();
    let is_checked = !proofs.is_empty() && proofs.iter().all(TaskProof::is_passed);
    let owned = owned(records, &roadmap, is_checked);
    let title =
        if row.title.is_empty() { plan.title.clone().unwrap_or_else(|| row.id.clone()) } else { row.title.clone() };
    let material = Material { title: &title, row, plan: &plan, tasks: &tasks, proofs: &proofs, owned: &owned };
    let written = material.body();
    if tasks.len() > 1 && written.told < preferences.min_summary_characters {
        let (slice, least) = (&records.slice, preferences.min_summary_characters);
        let characters = written.told;
        return Err(by_agent(format!(
            "the summary of `{slice}` would have {characters} characters of the {least} it needs"
        )));
    }
    let summary = aggregate(records, row, &tasks, &proofs).render(&written.text);
    let uat = NewUat {
        slice: &row.id,
        milestone: &records.milestone,
        title: &title,
        smoke: plan.demo.as_deref().or(row.after.as_deref()),
        verification: &plan.verification,
    };
    let mut edits = Vec::new();
    edits.extend(ours(records, "SUMMARY", records.summary.as_ref(), summary, slice_text::MADE));
    edits.extend(ours(records, "UAT", records.uat.as_ref(), uat.render(), UAT_MADE));
    edits.extend(decided(records, row, &tasks));
    edits.extend(required(records, &changes(records, &owned, &slice_text::proof_of(&proofs))));
    edits.push(Edit { path: roadmap_file.path.clone(), text: ticked });
    Ok(edits)
}

/// The last line of an acceptance test that this module wrote.
const UAT_MADE: &str = "What the plan does not list under Verification.";

/// Returns the tasks with their summaries, none of which is empty.
fn summaries(records: &SliceRecords) -> Result<Vec<(&TaskRecords, Summary)>, Failure> {
    let slice = &records.slice;
    let ids = |tasks: Vec<&TaskRecords>| tasks.into_iter().map(|task| task.id.clone()).collect::<Vec<String>>();
    let unwritten: Vec<&TaskRecords> = records.tasks.iter().filter(|task| task.summary.is_none()).collect();
    if !unwritten.is_empty() || records.tasks.is_empty() {
        return Err(by_agent(format!("the tasks {} of `{slice}` have no summary", listed(&ids(unwritten)))));
    }
    let tasks: Vec<(&TaskRecords, Summary)> =
        records.tasks.iter().filter_map(|task| Some((task, task.summary()?))).collect();
    let is_silent =
        |summary: &Summary| summary.provides.is_empty() && summary.key_files.is_empty() && summary.one_liner.is_none();
    let silent: Vec<&TaskRecords> =
        tasks.iter().filter(|(_, summary)| is_silent(summary)).map(|(task, _)| *task).collect();
    if silent.is_empty() {
        return Ok(tasks);
    }
    let silent = listed(&ids(silent));
    Err(by_agent(format!(
        "the summaries of {silent} in `{slice}` name nothing: no `provides`, no `key_files`, no bold line"
    )))
}

/// Returns the front matter of the slice: the values of its tasks, in their order, each once.
fn aggregate(
    records: &SliceRecords,
    row: &SliceRow,
    tasks: &[(&TaskRecords, Summary)],
    proofs: &[TaskProof],
) -> Summary {
    let union = |of: fn(&Summary) -> &Vec<String>| {
        let mut all: Vec<String> = Vec::new();
        for value in tasks.iter().flat_map(|(_, summary)| of(summary)) {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
        all
    };
    let mut requires = Vec::new();
    for required in tasks.iter().flat_map(|(_, summary)| &summary.requires) {
        let slice = required.slice.rsplit('/').next().unwrap_or(&required.slice);
        if !slice.eq_ignore_ascii_case(&row.id) && leading(slice, 'T').is_none() && !requires.contains(required) {
            requires.push(required.clone());
        }
    }
    let minutes = tasks.iter().filter_map(|(_, summary)| summary.minutes()).fold(0_u32, u32::saturating_add);
    let paths = tasks.iter().filter_map(|(task, _)| task.summary.as_ref()).map(|document| document.path.clone());
    Summary {
        id: row.id.clone(),
        parent: records.milestone.clone(),
        milestone: records.milestone.clone(),
        provides: union(|summary| &summary.provides),
        requires,
        affects: union(|summary| &summary.affects),
        key_files: union(|summary| &summary.key_files),
        key_decisions: union(|summary| &summary.key_decisions),
        patterns_established: union(|summary| &summary.patterns_established),
        drill_down_paths: paths.collect(),
        observability_surfaces: union(|summary| &summary.observability_surfaces),
        duration: (minutes > 0).then(|| crate::project::milestone_layout::summary::duration(minutes)),
        verification_result: result_of(proofs).to_owned(),
        completed_at: latest(tasks.iter().filter_map(|(_, summary)| summary.completed_at.as_deref())),
        ..Summary::default()
    }
}

/// Returns the latest moment: moments that can be parsed come before those that cannot.
pub(super) fn latest<'text>(moments: impl Iterator<Item = &'text str>) -> Option<String> {
    moments.max_by_key(|moment| (crate::text::time::milliseconds(moment), *moment)).map(str::to_owned)
}

/// Returns the edit of a document of the slice; one from another author stays.
fn ours(
    records: &SliceRecords,
    kind: &str,
    there: Option<&WorktreeDocument>,
    text: String,
    made: &str,
) -> Option<Edit> {
    match there {
        Some(there) if there.text == text || !there.text.contains(made) => None,
        Some(there) => Some(Edit { path: there.path.clone(), text }),
        None => Some(Edit { path: lookup::document(&records.folder, &records.slice, kind), text }),
    }
}

/// Returns the edit that adds decisions of the tasks that are not recorded yet.
fn decided(records: &SliceRecords, row: &SliceRow, tasks: &[(&TaskRecords, Summary)]) -> Option<Edit> {
    let rows: Vec<DecisionRow> = tasks
        .iter()
        .flat_map(|(_, summary)| &summary.key_decisions)
        .map(|decision| DecisionRow {
            when: records.milestone.clone(),
            scope: row.id.clone(),
            decision: decision.clone(),
            revisable: "Yes".to_owned(),
            made_by: "agent".to_owned(),
            ..DecisionRow::default()
        })
        .collect();
    let (path, before) = match &records.decisions {
        Some(document) => (document.path.clone(), document.text.as_str()),
        None => (format!("{}/DECISIONS.md", lookup::FOLDER), ""),
    };
    let text = decisions::append(before, &rows)?;
    Some(Edit { path, text })
}

fn required(records: &SliceRecords, changes: &[requirements::RequirementChange]) -> Option<Edit> {
    let document = records.requirements.as_ref()?;
    let text = requirements::change(&document.text, changes);
    (text != document.text).then(|| Edit { path: document.path.clone(), text })
}
