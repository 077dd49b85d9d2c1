//! The texts, documents and outputs of each kind of unit: one table.

use DocumentKind as Kind;
use Treatment::{Carry, Digest, Excerpt, Inline, Offer, Read, Whole};
use UnitFolder::{FirstSlice, FirstTasks, LaterMilestones, Milestone, Phase, Root, Slice, Task, Tasks};

use super::input::{DocumentKind, PromptInput};
use crate::auto::permit::Rule;
use crate::auto::unit::UnitKind;
use crate::text::words::words;

words! {
    /// Groups of units whose prompts start with the same text.
    pub(crate) enum UnitClass {
        Planning = "planning",
        Execution = "execution",
        Closing = "closing",
        Study = "study",
        Documents = "documents",
        /// A step that a person set up.
        Hook = "hook",
        /// A conversation with the user.
        Interview = "interview",
        /// A conversation with the user about a slice.
        SliceInterview = "slice-interview",
        /// An installed workflow.
        Workflow = "workflow",
    }
}

/// How a document reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// In the prompt, byte for byte; a prompt cannot be composed without it.
    Whole,
    /// In the prompt: the part that an executor needs.
    Excerpt,
    /// In the prompt, cut to the share for earlier tasks.
    Carry,
    /// In the prompt, cut to the share for slices.
    Digest,
    /// In the prompt if it fits, else it must be read.
    Inline,
    /// Must be read.
    Read,
    /// May be read.
    Offer,
}

/// The folder of a file that a unit writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitFolder {
    Root,
    Milestone,
    /// One file for each later milestone.
    LaterMilestones,
    FirstSlice,
    FirstTasks,
    Slice,
    /// The file of the unit's task.
    Task,
    /// One file for each task of the slice.
    Tasks,
    Phase,
}

/// A file that a unit writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    /// Its name in the prompt.
    pub(crate) name: &'static str,
    pub(crate) scope: UnitFolder,
    /// The suffix of its name, such as `PLAN.md`; for [`UnitFolder::Root`] the entire name.
    pub(crate) suffix: &'static str,
    /// Whether the unit must write it.
    pub(crate) is_expected: bool,
    /// The document whose path it has if it exists already.
    pub(crate) existing: Option<DocumentKind>,
    /// What may change in it.
    pub(crate) rule: Rule,
}

impl WrittenFile {
    const fn only(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

/// The texts, documents and outputs of a kind of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) class: UnitClass,
    /// The texts at the start of every unit of the class.
    pub(crate) prefix: &'static [&'static str],
    /// The texts of this kind.
    pub(crate) texts: &'static [&'static str],
    pub(crate) documents: &'static [(DocumentKind, Treatment)],
    pub(crate) writes: &'static [WrittenFile],
}

const fn leaves(name: &'static str, scope: UnitFolder, suffix: &'static str) -> WrittenFile {
    WrittenFile { name, scope, suffix, is_expected: true, existing: None, rule: Rule::Whole }
}

const fn may_leave(name: &'static str, scope: UnitFolder, suffix: &'static str) -> WrittenFile {
    WrittenFile { name, scope, suffix, is_expected: false, existing: None, rule: Rule::Whole }
}

const fn edits(name: &'static str, scope: UnitFolder, suffix: &'static str, existing: DocumentKind) -> WrittenFile {
    WrittenFile { name, scope, suffix, is_expected: true, existing: Some(existing), rule: Rule::Whole }
}

const fn may_edit(name: &'static str, scope: UnitFolder, suffix: &'static str, existing: DocumentKind) -> WrittenFile {
    WrittenFile { name, scope, suffix, is_expected: false, existing: Some(existing), rule: Rule::Whole }
}

/// The changes of a planner to the milestone's plan.
const ROADMAP: WrittenFile =
    may_edit("roadmap, only if it changes", Milestone, "ROADMAP.md", Kind::Roadmap).only(Rule::OpenSlices);
const OWNERS: WrittenFile =
    may_edit("requirements, only their owners", Root, "REQUIREMENTS.md", Kind::Requirements).only(Rule::Owners);

const PLANNING: &[&str] = &["common", "planning"];
const CLOSING: &[&str] = &["common", "closing"];
const STUDY: &[&str] = &["common", "study"];

const PLAN_MILESTONE: Shape = Shape {
    class: UnitClass::Planning,
    prefix: PLANNING,
    texts: &["plan-milestone"],
    documents: &[
        (Kind::Context, Inline),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Project, Read),
        (Kind::Knowledge, Read),
        (Kind::MilestoneSummary, Read),
        (Kind::MilestoneResearch, Read),
    ],
    writes: &[
        edits("roadmap", Milestone, "ROADMAP.md", Kind::Roadmap).only(Rule::OpenSlices),
        leaves("first slice plan", FirstSlice, "PLAN.md").only(Rule::OpenTasks),
        may_leave("its task plans, one a task", FirstTasks, "PLAN.md").only(Rule::OpenTask),
        OWNERS,
        may_leave("milestone research, only where needed", Milestone, "RESEARCH.md"),
        may_leave("secrets file, only if there are secrets", Milestone, "SECRETS.md"),
    ],
};

const PLAN_SLICE: Shape = Shape {
    class: UnitClass::Planning,
    prefix: PLANNING,
    texts: &["plan-slice", "open-slices"],
    documents: &[
        (Kind::SliceSummary, Digest),
        (Kind::SliceContext, Inline),
        (Kind::Context, Inline),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Project, Read),
        (Kind::Knowledge, Read),
        (Kind::SliceResearch, Read),
        (Kind::SlicePlan, Read),
    ],
    writes: &[
        edits("slice plan", Slice, "PLAN.md", Kind::SlicePlan).only(Rule::OpenTasks),
        may_leave("task plans, one a task", Tasks, "PLAN.md").only(Rule::OpenTask),
        may_leave("secrets file, only for new secrets", Milestone, "SECRETS.md"),
        ROADMAP,
        OWNERS,
    ],
};

const REPLAN_SLICE: Shape = Shape {
    class: UnitClass::Planning,
    prefix: PLANNING,
    texts: &["replan-slice"],
    documents: &[
        (Kind::SlicePlan, Whole),
        (Kind::Blocker, Inline),
        (Kind::ReplanTrigger, Inline),
        (Kind::TaskSummary, Carry),
        (Kind::Roadmap, Read),
        (Kind::Context, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Project, Offer),
        (Kind::Knowledge, Offer),
    ],
    writes: &[
        edits("slice plan", Slice, "PLAN.md", Kind::SlicePlan).only(Rule::OpenTasks),
        may_leave("task plans, added and changed", Tasks, "PLAN.md").only(Rule::OpenTask),
        leaves("replan record", Slice, "REPLAN.md"),
    ],
};

const EXECUTE_TASK: Shape = Shape {
    class: UnitClass::Execution,
    prefix: &["common", "execute-task"],
    texts: &[],
    documents: &[
        (Kind::SlicePlan, Excerpt),
        (Kind::TaskSummary, Carry),
        (Kind::Blocker, Carry),
        (Kind::Overrides, Inline),
        (Kind::Continue, Inline),
        (Kind::Runtime, Inline),
        (Kind::Knowledge, Inline),
        (Kind::TaskPlan, Whole),
        (Kind::Roadmap, Offer),
        (Kind::Context, Offer),
        (Kind::SliceContext, Offer),
        (Kind::SliceSummary, Offer),
        (Kind::Decisions, Offer),
        (Kind::Requirements, Offer),
        (Kind::Project, Offer),
    ],
    writes: &[
        leaves("task summary", Task, "SUMMARY.md"),
        may_leave("escalation, only for that outcome", Task, "ESCALATION.json").only(Rule::Question),
    ],
};

const TRIAGE_CAPTURES: Shape = Shape {
    class: UnitClass::Study,
    prefix: STUDY,
    texts: &["triage-captures"],
    documents: &[
        (Kind::SlicePlan, Inline),
        (Kind::Captures, Whole),
        (Kind::Roadmap, Read),
        (Kind::Context, Offer),
        (Kind::Requirements, Offer),
    ],
    writes: &[edits("captures, only the classes", Root, "CAPTURES.md", Kind::Captures).only(Rule::Classes)],
};

const QUICK_TASK: Shape = Shape {
    class: UnitClass::Execution,
    prefix: EXECUTE_TASK.prefix,
    texts: &["quick-task"],
    documents: &[
        (Kind::Overrides, Inline),
        (Kind::Runtime, Inline),
        (Kind::Knowledge, Inline),
        (Kind::Captures, Whole),
        (Kind::SlicePlan, Offer),
        (Kind::TaskSummary, Offer),
        (Kind::Blocker, Offer),
        (Kind::Roadmap, Offer),
        (Kind::Context, Offer),
        (Kind::Decisions, Offer),
        (Kind::Project, Offer),
    ],
    writes: &[leaves("summary of the quick task", Task, "SUMMARY.md")],
};

const HOOK: Shape = Shape {
    class: UnitClass::Hook,
    prefix: &["common"],
    texts: &["hook"],
    documents: &[
        (Kind::HookText, Whole),
        (Kind::Overrides, Inline),
        (Kind::Runtime, Inline),
        (Kind::Knowledge, Inline),
        (Kind::SlicePlan, Offer),
        (Kind::TaskPlan, Offer),
        (Kind::TaskSummary, Offer),
        (Kind::Roadmap, Offer),
        (Kind::Context, Offer),
        (Kind::Decisions, Offer),
        (Kind::Project, Offer),
    ],
    writes: &[],
};

const COMPLETE_SLICE: Shape = Shape {
    class: UnitClass::Closing,
    prefix: CLOSING,
    texts: &["complete-slice"],
    documents: &[
        (Kind::SlicePlan, Whole),
        (Kind::TaskSummary, Digest),
        (Kind::Blocker, Digest),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Offer),
    ],
    writes: &[leaves("slice summary", Slice, "SUMMARY.md"), leaves("UAT script", Slice, "UAT.md")],
};

const RUN_UAT: Shape = Shape {
    class: UnitClass::Closing,
    prefix: CLOSING,
    texts: &["run-uat"],
    documents: &[
        (Kind::Uat, Whole),
        (Kind::SliceSummary, Digest),
        (Kind::Runtime, Inline),
        (Kind::Project, Read),
        (Kind::SlicePlan, Offer),
    ],
    writes: &[leaves("UAT result", Slice, "UAT-RESULT.md")],
};

const VALIDATE_MILESTONE: Shape = Shape {
    class: UnitClass::Closing,
    prefix: CLOSING,
    texts: &["validate-milestone"],
    documents: &[
        (Kind::SliceSummary, Digest),
        (Kind::UatResult, Inline),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::Validation, Read),
    ],
    writes: &[edits("validation", Milestone, "VALIDATION.md", Kind::Validation)],
};

const COMPLETE_MILESTONE: Shape = Shape {
    class: UnitClass::Closing,
    prefix: CLOSING,
    texts: &["complete-milestone"],
    documents: &[
        (Kind::SliceSummary, Digest),
        (Kind::Validation, Inline),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
    ],
    writes: &[leaves("milestone summary", Milestone, "SUMMARY.md")],
};

const REASSESS_ROADMAP: Shape = Shape {
    class: UnitClass::Study,
    prefix: STUDY,
    texts: &["reassess-roadmap", "open-slices"],
    documents: &[
        (Kind::SliceSummary, Digest),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::Context, Read),
        (Kind::Decisions, Offer),
    ],
    writes: &[leaves("assessment", Slice, "ASSESSMENT.md"), ROADMAP, OWNERS],
};

const RESEARCH_MILESTONE: Shape = Shape {
    class: UnitClass::Study,
    prefix: STUDY,
    texts: &["research-milestone"],
    documents: &[
        (Kind::Context, Inline),
        (Kind::Project, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Knowledge, Offer),
    ],
    writes: &[leaves("milestone research", Milestone, "RESEARCH.md")],
};

const RESEARCH_SLICE: Shape = Shape {
    class: UnitClass::Study,
    prefix: STUDY,
    texts: &["research-slice"],
    documents: &[
        (Kind::SliceSummary, Digest),
        (Kind::SliceContext, Inline),
        (Kind::Roadmap, Read),
        (Kind::Context, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Offer),
        (Kind::MilestoneResearch, Offer),
        (Kind::Knowledge, Offer),
    ],
    writes: &[leaves("slice research", Slice, "RESEARCH.md")],
};

const DISCUSSION: &[WrittenFile] = &[
    edits("context", Milestone, "CONTEXT.md", Kind::Context),
    edits("requirements", Root, "REQUIREMENTS.md", Kind::Requirements),
    may_leave("context drafts of later milestones, only if there are any", LaterMilestones, "CONTEXT-DRAFT.md"),
];

const DISCUSS_BRIEF: Shape = Shape {
    class: UnitClass::Study,
    prefix: STUDY,
    texts: &["discuss-milestone", "context"],
    documents: &[
        (Kind::Brief, Inline),
        (Kind::ContextDraft, Inline),
        (Kind::Context, Read),
        (Kind::Project, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Knowledge, Offer),
        (Kind::MilestoneSummary, Offer),
    ],
    writes: DISCUSSION,
};

const DISCUSS_WITH_USER: Shape =
    Shape { class: UnitClass::Interview, prefix: &["discuss-with-user", "context"], texts: &[], ..DISCUSS_BRIEF };

const DISCUSS_SLICE: Shape = Shape {
    class: UnitClass::SliceInterview,
    prefix: &["discuss-slice"],
    texts: &[],
    documents: &[
        (Kind::Context, Inline),
        (Kind::SliceContext, Read),
        (Kind::Roadmap, Read),
        (Kind::Requirements, Read),
        (Kind::SliceSummary, Digest),
        (Kind::SliceResearch, Read),
        (Kind::Decisions, Read),
        (Kind::Knowledge, Offer),
    ],
    writes: &[edits("slice context", Slice, "CONTEXT.md", Kind::SliceContext)],
};

const REWRITE_DOCS: Shape = Shape {
    class: UnitClass::Documents,
    prefix: &["common", "rewrite-docs"],
    texts: &[],
    documents: &[
        (Kind::Overrides, Whole),
        (Kind::Roadmap, Read),
        (Kind::SlicePlan, Read),
        (Kind::Context, Read),
        (Kind::Requirements, Read),
        (Kind::Decisions, Read),
        (Kind::Project, Read),
        (Kind::TaskPlan, Read),
    ],
    writes: &[
        edits("overrides", Root, "OVERRIDES.md", Kind::Overrides).only(Rule::Scopes),
        may_edit("roadmap", Milestone, "ROADMAP.md", Kind::Roadmap).only(Rule::Course),
        may_edit("slice plan", Slice, "PLAN.md", Kind::SlicePlan).only(Rule::OpenTasks),
        may_edit("context", Milestone, "CONTEXT.md", Kind::Context),
        may_edit("requirements", Root, "REQUIREMENTS.md", Kind::Requirements),
        may_edit("decisions", Root, "DECISIONS.md", Kind::Decisions),
        may_edit("project", Root, "PROJECT.md", Kind::Project),
        may_leave("task plans", Tasks, "PLAN.md").only(Rule::OpenTask),
    ],
};

const DISCUSS_PHASE: Shape = Shape {
    class: UnitClass::Workflow,
    prefix: &["workflow"],
    texts: &[],
    documents: &[(Kind::Workflow, Read)],
    writes: &[leaves("context", Phase, "CONTEXT.md")],
};

const PLAN_PHASE: Shape = Shape { writes: &[leaves("first plan", Phase, "01-PLAN.md")], ..DISCUSS_PHASE };

const EXECUTE_PHASE: Shape = Shape { writes: &[leaves("verification", Phase, "VERIFICATION.md")], ..DISCUSS_PHASE };

/// Returns the shape of a unit. A milestone without a brief is discussed with the user.
pub(crate) fn shape(input: &PromptInput) -> Shape {
    match input.kind {
        UnitKind::PlanMilestone => PLAN_MILESTONE,
        UnitKind::PlanSlice => PLAN_SLICE,
        UnitKind::ReplanSlice => REPLAN_SLICE,
        UnitKind::ExecuteTask => EXECUTE_TASK,
        UnitKind::CompleteSlice => COMPLETE_SLICE,
        UnitKind::RunUat => RUN_UAT,
        UnitKind::ReassessRoadmap => REASSESS_ROADMAP,
        UnitKind::ValidateMilestone => VALIDATE_MILESTONE,
        UnitKind::CompleteMilestone => COMPLETE_MILESTONE,
        UnitKind::RewriteDocs => REWRITE_DOCS,
        UnitKind::TriageCaptures => TRIAGE_CAPTURES,
        UnitKind::QuickTask => QUICK_TASK,
        UnitKind::Hook => HOOK,
        UnitKind::ResearchMilestone => RESEARCH_MILESTONE,
        UnitKind::ResearchSlice => RESEARCH_SLICE,
        UnitKind::DiscussMilestone if input.first(Kind::Brief).is_some() => DISCUSS_BRIEF,
        UnitKind::DiscussMilestone => DISCUSS_WITH_USER,
        UnitKind::DiscussSlice => DISCUSS_SLICE,
        UnitKind::DiscussPhase => DISCUSS_PHASE,
        UnitKind::PlanPhase => PLAN_PHASE,
        UnitKind::ExecutePhase => EXECUTE_PHASE,
    }
}
