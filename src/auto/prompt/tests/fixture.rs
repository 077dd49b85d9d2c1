//! A milestone of four slices with three tasks each, with documents of realistic size.

use super::super::citation::citation;
use super::super::input::{DocumentKind, PromptInput, UnitFolders};
use super::super::{Prompt, compose};
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::slice_rows::SliceRow;

pub(super) const SLICES: usize = 4;
pub(super) const TASKS: usize = 3;
pub(super) const KINDS: [UnitKind; 20] = [
    UnitKind::PlanMilestone,
    UnitKind::PlanSlice,
    UnitKind::ReplanSlice,
    UnitKind::ExecuteTask,
    UnitKind::CompleteSlice,
    UnitKind::RunUat,
    UnitKind::ReassessRoadmap,
    UnitKind::ValidateMilestone,
    UnitKind::CompleteMilestone,
    UnitKind::RewriteDocs,
    UnitKind::TriageCaptures,
    UnitKind::QuickTask,
    UnitKind::Hook,
    UnitKind::ResearchMilestone,
    UnitKind::ResearchSlice,
    UnitKind::DiscussMilestone,
    UnitKind::DiscussSlice,
    UnitKind::DiscussPhase,
    UnitKind::PlanPhase,
    UnitKind::ExecutePhase,
];
const CAPTURE: &str =
    "### CAP-1a2b3c4d\n**Text:** sort by date\n**Captured:** 2026-01-02T10:00:00Z\n**Status:** pending\n";
const MILESTONE: &str = ".gsd/milestones/M001";

pub(super) fn slice_folder(slice: usize) -> String {
    format!("{MILESTONE}/slices/S{slice:02}")
}

pub(super) fn task_path(slice: usize, task: usize, suffix: &str) -> String {
    format!("{}/tasks/T{task:02}-{suffix}.md", slice_folder(slice))
}

fn prose(topic: &str, sentences: usize) -> String {
    let sentence = format!("The {topic} keeps its entries sorted by name and refuses an empty one with a message. ");
    sentence.repeat(sentences)
}

pub(super) fn task_plan(slice: usize, task: usize) -> String {
    format!(
        "---\nestimated_steps: 5\nestimated_files: 3\nskills_used: []\n---\n# T{task:02}: Index part {task} of {slice}\n## \
         Description\n{}\n## Failure Modes\n- {}\n## Load Profile\n- ten thousand entries\n## Negative Tests\n- {}\n## \
         Steps\n1. {}\n2. {}\n## Must-Haves\n- [ ] `cargo test index_{task}` passes\n## Verification\n- `cargo test \
         index_{task}`\n## Observability Impact\n- none\n## Inputs\n- `src/store.rs`: the write path\n## Expected Output\n- \
         `src/index_{task}.rs`: the index\n",
        prose("index", 4),
        prose("log", 1),
        prose("parser", 1),
        prose("store", 2),
        prose("query", 2),
    )
}

pub(super) fn task_summary(slice: usize, task: usize) -> String {
    format!(
        "---\nid: T{task:02}\nparent: S{slice:02}\nmilestone: M001\nprovides: [index part {task}]\nkey_files: \
         [src/index_{task}.rs]\nkey_decisions: [sorted by name]\nduration: 38m\nverification_result: \
         passed\nblocker_discovered: false\n---\n# T{task:02}: Index part {task}\n**Writes update index {task}**\n## What \
         Happened\n{}\n## Verification\n{}\n## Diagnostics\n- {}\n## Files Created/Modified\n- `src/index_{task}.rs` — the \
         index\n",
        prose("index", 4),
        prose("check", 2),
        prose("log", 1),
    )
}

pub(super) fn slice_summary(slice: usize) -> String {
    format!(
        "---\nid: S{slice:02}\nparent: M001\nmilestone: M001\nprovides: [search {slice}]\nverification_result: \
         passed\n---\n# S{slice:02}: Search {slice}\n**Search {slice} works**\n## What Happened\n{}\n## Verification\n{}\n## \
         Forward Intelligence\n### What the next slice should know\n- {}\n### What is fragile\n- {}\n",
        prose("search", 6),
        prose("check", 3),
        prose("store", 2),
        prose("index", 2),
    )
}

pub(super) fn slice_plan(slice: usize) -> String {
    let task = |task: usize| {
        format!("- [ ] **T{task:02}: Index part {task} of {slice}** `est:45m`\n  - Verify: cargo test index_{task}\n")
    };
    format!(
        "# S{slice:02}: Search {slice}\n{}\n**Goal:** {}  **Demo:** two hits for soup\n## Must-Haves\n- {}\n## \
         Verification\n- `cargo test search_{slice}`\n## Tasks\n{}## Files Likely Touched\n- `src/index.rs`\n",
        citation(&row(slice)),
        prose("search", 1),
        prose("index", 2),
        (1..=TASKS).map(task).collect::<String>(),
    )
}

pub(super) fn row(slice: usize) -> SliceRow {
    SliceRow {
        id: format!("S{slice:02}"),
        title: format!("Search {slice}"),
        risk: "medium".to_owned(),
        depends: if slice > 1 { vec![format!("S{:02}", slice - 1)] } else { Vec::new() },
        after: Some("`recipes find soup` prints two hits".to_owned()),
        ..SliceRow::default()
    }
}

fn roadmap() -> String {
    let slice = |slice: usize| {
        format!(
            "- [ ] **S{slice:02}: Search {slice}** `risk:medium` `depends:[]`\n  > After this: {}\n",
            prose("demo", 1)
        )
    };
    format!(
        "# M001: Recipe store\n**Vision:** find recipes\n## Success Criteria\n- {}\n## Slices\n{}## Boundary Map\n{}\n",
        prose("cook", 4),
        (1..=SLICES).map(slice).collect::<String>(),
        prose("boundary", 8),
    )
}

fn requirements(count: usize) -> String {
    let entry = |number: usize| {
        format!(
            "### R{number:03} — Search\n- Class: functional\n- Status: active\n- Description: {}\n- Validation: mapped\n",
            prose("search", 2)
        )
    };
    format!("# Requirements\n## Active\n{}## Deferred\n", (1..=count).map(entry).collect::<String>())
}

/// Adds the documents that all units of the milestone could read.
fn shared(input: PromptInput) -> PromptInput {
    input
        .with(DocumentKind::Project, ".gsd/PROJECT.md", &format!("# Recipes\n{}", prose("project", 20)))
        .with(DocumentKind::Requirements, ".gsd/REQUIREMENTS.md", &requirements(16))
        .with(DocumentKind::Decisions, ".gsd/DECISIONS.md", &format!("# Decisions\n{}", prose("decision", 25)))
        .with(DocumentKind::Knowledge, ".gsd/KNOWLEDGE.md", &format!("# Knowledge\n{}", prose("rule", 25)))
        .with(DocumentKind::Context, &format!("{MILESTONE}/M001-CONTEXT.md"), &format!("# M001\n{}", prose("cook", 30)))
        .with(DocumentKind::Roadmap, &format!("{MILESTONE}/M001-ROADMAP.md"), &roadmap())
}

/// Returns the unit of `kind`, for this slice and task if it has one, with all documents that it could have.
pub(super) fn unit(kind: UnitKind, slice: usize, task: usize) -> PromptInput {
    let (milestone, of_slice) = ("M001".to_owned(), format!("M001/S{slice:02}"));
    let of_milestone = || {
        let place = UnitFolders::Milestone {
            root: ".gsd".to_owned(),
            milestone: MILESTONE.to_owned(),
            slice: Some(slice_folder(slice)),
        };
        shared(PromptInput::new(kind, &milestone, "Recipe store", "/srv/recipes", place))
    };
    let of_slice = || {
        let mut input = of_milestone();
        input.id.clone_from(&of_slice);
        input.title = format!("Search {slice}");
        input.row = Some(row(slice));
        input
    };
    let file = |name: &str| format!("{}/S{slice:02}-{name}.md", slice_folder(slice));
    let summaries = |input: PromptInput, up_to: usize| {
        (1..=up_to).fold(input, |input, slice| {
            let path = format!("{}/S{slice:02}-SUMMARY.md", slice_folder(slice));
            input.with(DocumentKind::SliceSummary, &path, &slice_summary(slice))
        })
    };
    let tasks = |input: PromptInput, up_to: usize| {
        (1..=up_to).fold(input, |input, task| {
            input.with(DocumentKind::TaskSummary, &task_path(slice, task, "SUMMARY"), &task_summary(slice, task))
        })
    };
    match kind {
        UnitKind::PlanMilestone | UnitKind::ResearchMilestone => of_milestone(),
        UnitKind::PlanSlice | UnitKind::ResearchSlice | UnitKind::DiscussSlice => summaries(of_slice(), slice - 1),
        UnitKind::ReplanSlice => tasks(of_slice(), 1)
            .with(DocumentKind::SlicePlan, &file("PLAN"), &slice_plan(slice))
            .with(DocumentKind::Blocker, &task_path(slice, 2, "SUMMARY"), &task_summary(slice, 2)),
        UnitKind::ExecuteTask => {
            let mut input = summaries(tasks(of_slice(), task - 1), slice - 1)
                .with(DocumentKind::SlicePlan, &file("PLAN"), &slice_plan(slice))
                .with(DocumentKind::TaskPlan, &task_path(slice, task, "PLAN"), &task_plan(slice, task));
            input.id = format!("{}/T{task:02}", input.id);
            input
        }
        UnitKind::CompleteSlice => {
            tasks(of_slice(), TASKS).with(DocumentKind::SlicePlan, &file("PLAN"), &slice_plan(slice))
        }
        UnitKind::RunUat => of_slice()
            .with(DocumentKind::Uat, &file("UAT"), &format!("# S{slice:02}: UAT\n{}", prose("case", 12)))
            .with(DocumentKind::SliceSummary, &file("SUMMARY"), &slice_summary(slice)),
        UnitKind::ReassessRoadmap => {
            of_slice().with(DocumentKind::SliceSummary, &file("SUMMARY"), &slice_summary(slice))
        }
        UnitKind::ValidateMilestone | UnitKind::CompleteMilestone => summaries(of_milestone(), SLICES),
        UnitKind::RewriteDocs => of_milestone().with(
            DocumentKind::Overrides,
            ".gsd/OVERRIDES.md",
            "## Override: 2026-01-02T10:00:00Z\n**Change:** search by date\n**Scope:** active\n---\n",
        ),
        UnitKind::TriageCaptures | UnitKind::QuickTask => {
            let mut input = of_slice().with(DocumentKind::Captures, ".gsd/CAPTURES.md", CAPTURE);
            if kind == UnitKind::QuickTask {
                input.id.push_str("/CAP-1a2b3c4d");
            }
            input
        }
        UnitKind::Hook => {
            let mut input = of_slice().with(DocumentKind::HookText, ".gsd/PREFERENCES.md", "Look at the names.\n");
            input.id.push_str("/T01/review");
            input
        }
        UnitKind::DiscussMilestone => of_milestone().with(DocumentKind::Brief, "brief.md", &prose("brief", 20)),
        UnitKind::DiscussPhase | UnitKind::PlanPhase | UnitKind::ExecutePhase => {
            let place = UnitFolders::Phase {
                folder: ".planning/phases/02-core".to_owned(),
                number: "02".to_owned(),
                arguments: "2 --auto".to_owned(),
            };
            PromptInput::new(kind, "02", "Core", "/srv/recipes", place).with(
                DocumentKind::Workflow,
                "/home/u/.agent/gsd-core/workflows/plan-phase.md",
                "",
            )
        }
    }
}

pub(super) fn prompt(input: &PromptInput) -> Prompt {
    compose(input).unwrap()
}
