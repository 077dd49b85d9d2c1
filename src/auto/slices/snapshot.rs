//! The content of the documents of a project in milestones, read once: everything that [`super::derive`] and the rules
//! look at.

use std::collections::BTreeMap;

use crate::project::milestone_layout::captures::Capture;
use crate::project::milestone_layout::escalation::OptionId;
use crate::project::milestone_layout::milestone_summary::Ending;
use crate::project::milestone_layout::requirements::RequirementCounts;
use crate::project::milestone_layout::slice_rows::SliceRow;

/// The state of the documents at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// In the order in which they are worked on.
    pub(crate) milestones: Vec<Milestone>,
    /// The slices that were read in full, by milestone and slice.
    pub(crate) slices: BTreeMap<(String, String), SliceDetail>,
    pub(crate) requirements: RequirementCounts,
    /// Whether a change of course has not reached the documents yet.
    pub(crate) has_active_override: bool,
    /// What a person captured during the work.
    pub(crate) captures: Vec<Capture>,
    /// Files that exist and cannot be read or parsed.
    pub(crate) problems: Vec<FileProblem>,
}

/// A file that blocks all work until it is repaired.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct FileProblem {
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    pub(crate) what: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Milestone {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) is_parked: bool,
    pub(crate) has_context: bool,
    pub(crate) has_draft: bool,
    pub(crate) has_research: bool,
    pub(crate) depends_on: Vec<String>,
    /// The slices of the roadmap; `None` without one.
    pub(crate) roadmap: Option<Vec<Slice>>,
    /// The slices with a folder and without a row in the roadmap. Only read in the active milestone.
    pub(crate) unlisted: Vec<String>,
    /// The end of the milestone according to its summary.
    pub(crate) summary: Option<Ending>,
    pub(crate) validation: Option<Validation>,
    /// Whether it produces only documents.
    pub(crate) is_planning_only: bool,
    /// Whether the roadmap plans to verify the result in operation.
    pub(crate) has_operational_class: bool,
    pub(crate) has_parallel_blocker: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Validation {
    /// `verdict` is in lower case, such as `pass` or `needs-attention`.
    Verdict {
        verdict: String,
        is_by_agent: bool,
        is_skipped: bool,
        has_operational_row: bool,
        /// The first task whose checks have no record, according to the document.
        unverified: Option<String>,
    },
    /// The document has no verdict that can be parsed.
    Unclear,
    /// It was made from records that have changed since.
    Stale,
}

impl Validation {
    pub(crate) fn verdict(&self) -> Option<&str> {
        match self {
            Self::Verdict { verdict, .. } => Some(verdict),
            Self::Unclear | Self::Stale => None,
        }
    }

    pub(crate) fn unverified(&self) -> Option<&str> {
        match self {
            Self::Verdict { unverified, .. } => unverified.as_deref(),
            Self::Unclear | Self::Stale => None,
        }
    }
}

/// A row of the roadmap, and the content of its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) row: SliceRow,
    pub(crate) has_plan: bool,
    pub(crate) has_context: bool,
    pub(crate) has_research: bool,
    pub(crate) has_summary: bool,
    pub(crate) has_assessment: bool,
    /// The progress of its acceptance test; `None` without one. Only read in the active milestone.
    pub(crate) uat: Option<Uat>,
}

/// The content of one slice's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceDetail {
    /// `None` without a plan.
    pub(crate) tasks: Option<Vec<SliceTask>>,
    /// `None` if the plan repeats title, risk and dependencies of the roadmap; else the line it should have.
    pub(crate) citation: Option<String>,
    /// Whether `tasks/` exists and has no document.
    pub(crate) has_empty_task_folder: bool,
    pub(crate) has_replan: bool,
    pub(crate) has_replan_trigger: bool,
    pub(crate) has_continue: bool,
    pub(crate) has_open_gates: bool,
    /// Captures that are done as quick tasks in the slice.
    pub(crate) quick_tasks: Vec<SliceTask>,
}

/// The progress of a slice's acceptance test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uat {
    /// As named in the document, such as `artifact-driven`.
    pub(crate) mode: String,
    /// In lower case; `None` until it was run.
    pub(crate) verdict: Option<String>,
}

/// A question of a task to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskQuestion {
    pub(crate) text: String,
    /// Each as `a: names`.
    pub(crate) options: Vec<String>,
    /// The identifier of the option that the agent recommends.
    pub(crate) recommended: OptionId,
    /// Whether the task waits for the answer; else it took the recommended option.
    pub(crate) waits: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceTask {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) is_ticked: bool,
    pub(crate) has_plan: bool,
    pub(crate) summary: Option<TaskSummary>,
    pub(crate) check: Option<VerifyFile>,
    /// A question without an answer.
    pub(crate) question: Option<TaskQuestion>,
    /// In minutes.
    pub(crate) estimate: Option<u32>,
}

impl SliceTask {
    /// Returns the question that the task waits for.
    pub(crate) fn waits_for(&self) -> Option<&TaskQuestion> {
        self.question.as_ref().filter(|question| question.waits)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskSummary {
    pub(crate) has_blocker: bool,
    /// Whether it claims, with a reason, that no change was needed.
    pub(crate) claims_no_change: bool,
    /// Whether it has no text, or a front matter that is not closed.
    pub(crate) is_unfinished: bool,
}

/// The content of `T##-VERIFY.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VerifyFile {
    pub(crate) passed: bool,
    /// Whether a person has decided against the checks.
    pub(crate) is_overridden: bool,
}

impl Milestone {
    /// True if its summary ends it.
    pub(crate) fn has_ended(&self) -> bool {
        self.summary.is_some_and(Ending::is_terminal)
    }

    /// True if research of this slice is missing. The research of the milestone covers the first slice.
    pub(crate) fn lacks_research(&self, slice: &Slice) -> bool {
        let first = self.roadmap.as_deref().and_then(<[Slice]>::first);
        let is_covered = self.has_research && first.is_some_and(|first| first.id == slice.id);
        !slice.has_research && !is_covered
    }

    /// Returns the open slices whose research is missing and that do not depend on unfinished slices.
    pub(crate) fn to_research(&self) -> impl Iterator<Item = &Slice> {
        let slices = || self.roadmap.as_deref().unwrap_or_default().iter();
        let has_summary =
            move |id: &String| slices().any(|slice| slice.id.eq_ignore_ascii_case(id) && slice.has_summary);
        let open = slices().filter(|slice| !slice.done && !slice.deferred && self.lacks_research(slice));
        open.filter(move |slice| slice.depends.iter().all(has_summary))
    }
}

impl std::ops::Deref for Slice {
    type Target = SliceRow;

    fn deref(&self) -> &SliceRow {
        &self.row
    }
}

impl SliceTask {
    /// True if it is ticked or has a summary, and its checks do not refuse it.
    pub(crate) fn is_done(&self) -> bool {
        let is_refused = self.check.is_some_and(|check| !check.passed && !check.is_overridden);
        (self.is_ticked || self.summary.is_some()) && !is_refused
    }
}

impl Snapshot {
    pub(crate) fn milestone(&self, id: &str) -> Option<&Milestone> {
        self.milestones.iter().find(|milestone| milestone.id.eq_ignore_ascii_case(id))
    }

    pub(crate) fn slice(&self, milestone: &str, slice: &str) -> Option<&Slice> {
        let roadmap = self.milestone(milestone)?.roadmap.as_ref()?;
        roadmap.iter().find(|row| row.id.eq_ignore_ascii_case(slice))
    }

    pub(crate) fn detail(&self, milestone: &str, slice: &str) -> Option<&SliceDetail> {
        self.slices.get(&(milestone.to_owned(), slice.to_owned()))
    }

    pub(crate) fn task(&self, milestone: &str, slice: &str, task: &str) -> Option<&SliceTask> {
        let detail = self.detail(milestone, slice)?;
        let mut tasks = detail.tasks.iter().flatten().chain(&detail.quick_tasks);
        tasks.find(|row| row.id.eq_ignore_ascii_case(task))
    }
}
