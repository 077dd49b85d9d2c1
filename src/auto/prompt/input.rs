//! The input of a prompt: values that the caller has read.

use super::budget::DEFAULT_WINDOW;
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::preferences::InlineLevel;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::text::words::words;

words! {
    /// The subject of a document. Prompts use the word.
    #[derive(Hash)]
    pub(crate) enum DocumentKind {
        Brief = "brief",
        Project = "project",
        Requirements = "requirements",
        Decisions = "decisions",
        Knowledge = "knowledge",
        Overrides = "overrides",
        Captures = "captures",
        /// The text of a hook.
        HookText = "instruction",
        Runtime = "runtime notes",
        Context = "milestone context",
        ContextDraft = "context draft",
        MilestoneResearch = "milestone research",
        Roadmap = "roadmap",
        /// The summary of an earlier milestone.
        MilestoneSummary = "earlier milestone",
        Validation = "validation",
        SliceContext = "slice context",
        SliceResearch = "slice research",
        SlicePlan = "slice plan",
        SliceSummary = "slice summary",
        Uat = "UAT script",
        UatResult = "UAT result",
        ReplanTrigger = "request to replan",
        TaskPlan = "task plan",
        /// The summary of an earlier task of the slice.
        TaskSummary = "earlier task",
        /// The summary that reports a blocker.
        Blocker = "blocker",
        Continue = "notes of an earlier session",
        Workflow = "workflow",
    }
}

/// A document that the caller has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) kind: DocumentKind,
    /// Relative to the working directory, or absolute.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The folders of the unit's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnitFolders {
    Milestone {
        /// The planning folder, such as `.gsd`.
        root: String,
        /// The milestone's folder, such as `.gsd/milestones/M001`.
        milestone: String,
        /// The slice's folder.
        slice: Option<String>,
    },
    Phase {
        /// The phase's folder.
        folder: String,
        /// As in file names, such as `02`.
        number: String,
        /// The arguments of the workflow, such as `2 --auto`.
        arguments: String,
    },
}

/// The input of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptInput {
    pub(crate) kind: UnitKind,
    /// Such as `M001/S02/T03`.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The working directory of the session.
    pub(crate) folder: String,
    pub(crate) place: UnitFolders,
    /// The row of the roadmap, for units of a slice.
    pub(crate) row: Option<SliceRow>,
    /// Documents of one kind are in the order in which they should be read.
    pub(crate) documents: Vec<Document>,
    pub(crate) level: InlineLevel,
    /// The context window, in tokens.
    pub(crate) window: usize,
    /// Whether the planner of a milestone plans its first slice too.
    pub(crate) plans_first_slice: bool,
    /// Additional facts for the unit, each with its name: such as `Remediation round`.
    pub(crate) notes: Vec<(String, String)>,
    /// Why the previous attempt failed.
    pub(crate) failure: Option<String>,
    /// The reference that keeps the work of that attempt.
    pub(crate) kept: Option<String>,
    /// What an interrupted session left.
    pub(crate) crash: Option<String>,
}

impl PromptInput {
    /// Returns a unit without documents.
    pub(crate) fn new(kind: UnitKind, id: &str, title: &str, folder: &str, place: UnitFolders) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            title: title.to_owned(),
            folder: folder.to_owned(),
            place,
            row: None,
            documents: Vec::new(),
            level: InlineLevel::default(),
            window: DEFAULT_WINDOW,
            plans_first_slice: true,
            notes: Vec::new(),
            failure: None,
            kept: None,
            crash: None,
        }
    }

    pub(crate) fn with(mut self, kind: DocumentKind, path: &str, text: &str) -> Self {
        self.documents.push(Document { kind, path: path.to_owned(), text: text.to_owned() });
        self
    }

    pub(crate) fn first(&self, kind: DocumentKind) -> Option<&Document> {
        self.documents.iter().find(|document| document.kind == kind)
    }
}
