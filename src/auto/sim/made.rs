//! The documents that a simulated agent writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::auto::slices::forecast::Shape;
use crate::project::milestone_layout::captures::{self, CaptureClass};
use crate::text::words::of_word;

type MadeDocument = (String, String);

fn milestone_file(milestone: &str, kind: &str) -> String {
    format!(".gsd/milestones/{milestone}/{milestone}-{kind}.md")
}

fn slice_file(milestone: &str, slice: &str, kind: &str) -> String {
    format!(".gsd/milestones/{milestone}/slices/{slice}/{slice}-{kind}.md")
}

fn task_file(milestone: &str, slice: &str, task: &str, kind: &str) -> String {
    format!(".gsd/milestones/{milestone}/slices/{slice}/tasks/{task}-{kind}.md")
}

/// `S03`.
pub(super) fn slice_id(number: usize) -> String {
    format!("S{number:02}")
}

pub(super) fn context(milestone: &str) -> MadeDocument {
    let text = format!("# {milestone}: Simulated milestone\n\nWhat it is for.\n\n## Assumptions\n\n- none\n");
    (milestone_file(milestone, "CONTEXT"), text)
}

pub(super) fn research(milestone: &str, slice: &str) -> MadeDocument {
    let path =
        if slice.is_empty() { milestone_file(milestone, "RESEARCH") } else { slice_file(milestone, slice, "RESEARCH") };
    (path, "# Research\n\nNothing unusual.\n".to_owned())
}

fn depends(number: usize, is_chained: bool) -> String {
    if is_chained && number > 1 { slice_id(number - 1) } else { String::new() }
}

pub(super) fn roadmap(milestone: &str, shape: Shape, is_chained: bool) -> MadeDocument {
    let mut text = format!(
        "# {milestone}: Simulated milestone\n\n**Vision:** something that works\n\n## Success Criteria\n\n- it works\n\n\
         ## Verification Classes\n\n- Contract verification: the checks\n- Operational verification: none\n\n## Slices\n\n"
    );
    for number in 1..=shape.slices {
        let (id, depends) = (slice_id(number), depends(number, is_chained));
        let _ = writeln!(text, "- [ ] **{id}: Part {number}** `risk:medium` `depends:[{depends}]`");
        let _ = writeln!(text, "  > After this: part {number} works");
    }
    (milestone_file(milestone, "ROADMAP"), text)
}

pub(super) fn slice_plan(milestone: &str, slice: &str, shape: Shape) -> Vec<MadeDocument> {
    let number: usize = slice.trim_start_matches('S').parse().unwrap_or(1);
    let depends = depends(number, true);
    let mut text = format!(
        "# {slice}: Part {number}\n\n**Roadmap:** {slice}: Part {number} `risk:medium` `depends:[{depends}]`\n\n**Goal:** part {number}  **Demo:** part {number} works\n\n\
         ## Must-Haves\n\n- it works\n\n## Verification\n\n- `sh check.sh`\n\n## Tasks\n\n"
    );
    let mut documents = Vec::new();
    for task in 1..=shape.tasks {
        let id = format!("T{task:02}");
        let file = format!("src/{milestone}-{slice}-{id}.txt").to_lowercase();
        let _ = writeln!(text, "- [ ] **{id}: Step {task}** `est:10m`\n  - Files: `{file}`\n  - Verify: sh check.sh");
        let plan = format!(
            "---\nestimated_steps: 3\nestimated_files: 1\n---\n# {id}: Step {task}\n\n## Description\n\nWrite the file.\n\n\
             ## Steps\n\n1. Write it.\n\n## Must-Haves\n\n- [ ] It is there.\n\n## Verification\n\n- `sh check.sh`\n\n\
             ## Inputs\n\n- none\n\n## Expected Output\n\n- `{file}`\n"
        );
        documents.push((task_file(milestone, slice, &id, "PLAN"), plan));
    }
    // The plan is last: an interrupted session has not planned the slice.
    documents.push((slice_file(milestone, slice, "PLAN"), text));
    documents
}

pub(super) fn replan(milestone: &str, slice: &str) -> MadeDocument {
    (slice_file(milestone, slice, "REPLAN"), format!("# {slice}: Planned again\n\nThe blocker is worked around.\n"))
}

pub(super) fn task(milestone: &str, slice: &str, task: &str, is_thin: bool) -> Vec<MadeDocument> {
    let file = format!("src/{milestone}-{slice}-{task}.txt").to_lowercase();
    let provides = if is_thin { String::new() } else { format!("part {task} of {slice}") };
    let files = if is_thin { String::new() } else { file.clone() };
    let line =
        if is_thin { "" } else { "**The part is there and its check passes, as the plan of the slice asks for.**\n" };
    let summary = format!(
        "---\nid: {task}\nparent: {slice}\nmilestone: {milestone}\nprovides: [{provides}]\nkey_files: [{files}]\n\
         key_decisions: []\npatterns_established: []\nduration: 10m\nverification_result: passed\n\
         completed_at: 2026-01-02T03:04:05Z\nblocker_discovered: false\n---\n# {task}: Step\n\n{line}\n"
    );
    vec![(file, format!("{milestone} {slice} {task}\n")), (task_file(milestone, slice, task, "SUMMARY"), summary)]
}

/// Returns what an agent writes to close a slice: the roadmap last.
pub(super) fn slice_completion(milestone: &str, slice: &str) -> Vec<MadeDocument> {
    let summary = format!(
        "---\nid: {slice}\nparent: {milestone}\nmilestone: {milestone}\nprovides: [the part]\nverification_result: passed\n\
         completed_at: 2026-01-02T03:04:05Z\n---\n# {slice}: Part\n\n**The part works.**\n"
    );
    let uat =
        format!("# {slice}: UAT\n\n## UAT Type\n\n- UAT mode: artifact-driven\n\n## Test Cases\n\n1. It works.\n");
    vec![(slice_file(milestone, slice, "SUMMARY"), summary), (slice_file(milestone, slice, "UAT"), uat)]
}

pub(super) fn uat_result(milestone: &str, slice: &str) -> MadeDocument {
    (slice_file(milestone, slice, "UAT-RESULT"), "---\nverdict: PASS\n---\n# Result\n".to_owned())
}

pub(super) fn assessment(milestone: &str, slice: &str) -> MadeDocument {
    let text = format!("---\ndate: 2026-01-02\ntriggering_slice: {slice}\nverdict: no-change\n---\n# Assessment\n");
    (slice_file(milestone, slice, "ASSESSMENT"), text)
}

pub(super) fn validation(milestone: &str) -> MadeDocument {
    let text = format!("---\nid: {milestone}\nverdict: pass\nvalidated_by: agent\n---\n# Validation\n");
    (milestone_file(milestone, "VALIDATION"), text)
}

pub(super) fn milestone_summary(milestone: &str) -> MadeDocument {
    (milestone_file(milestone, "SUMMARY"), format!("---\nid: {milestone}\nstatus: complete\n---\n# {milestone}\n"))
}

/// Returns the captures with the class that each names at its beginning, such as `note: text`; else quick tasks.
pub(super) fn triaged(files: &BTreeMap<String, String>) -> Vec<MadeDocument> {
    let path = ".gsd/CAPTURES.md";
    let Some(text) = files.get(path) else { return Vec::new() };
    let mut triaged = text.clone();
    for capture in captures::read(text).iter().filter(|capture| capture.needs_triage()) {
        let class: Option<CaptureClass> = capture.text.split_once(':').and_then(|(word, _)| of_word(word));
        let class = class.unwrap_or(CaptureClass::QuickTask).word().to_owned();
        let fields = [(captures::STATUS, "triaged".to_owned()), (captures::CLASSIFICATION, class)];
        triaged = captures::set(&triaged, &capture.id, &fields).unwrap_or(triaged);
    }
    vec![(path.to_owned(), triaged)]
}

pub(super) fn resolved_overrides(files: &BTreeMap<String, String>) -> Vec<MadeDocument> {
    let path = ".gsd/OVERRIDES.md";
    let text = files.get(path).map(|text| text.replace("**Scope:** active", "**Scope:** resolved"));
    text.map(|text| (path.to_owned(), text)).into_iter().collect()
}
