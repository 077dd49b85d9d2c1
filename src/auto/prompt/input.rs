//! What a prompt is made from: values that the caller has read.

use super::budget::DEFAULT_WINDOW;
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::preferences::InlineLevel;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::text::words::words;

words! {
    /// What a document is about. Its word is what the prompt calls it.
    #[derive(Hash)]
    pub(crate) enum DocumentKind {
        Brief = "brief",
        Project = "project",
        Requirements = "requirements",
        Decisions = "decisions",
        Knowledge = "knowledge",
        Overrides = "overrides",
        Runtime = "runtime notes",
        Context = "milestone context",
        ContextDraft = "context draft",
        MilestoneResearch = "milestone research",
        Roadmap = "roadmap",
        /// Of an earlier milestone.
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
        /// Of an earlier task of the slice.
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

/// Where the unit's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
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
        /// What the workflow is run with, such as `2 --auto`.
        arguments: String,
    },
}

/// Everything a prompt is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptInput {
    pub(crate) kind: UnitKind,
    /// Such as `M001/S02/T03`.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The working directory of the session.
    pub(crate) folder: String,
    pub(crate) place: Place,
    /// The row of the roadmap, for units of a slice.
    pub(crate) row: Option<SliceRow>,
    /// In the order in which those of one kind are to be read.
    pub(crate) documents: Vec<Document>,
    pub(crate) level: InlineLevel,
    /// The context window, in tokens.
    pub(crate) window: usize,
    /// Whether the planner of a milestone plans its first slice too.
    pub(crate) plans_first_slice: bool,
    /// More that the unit has to know, each with its name: such as `Remediation round`.
    pub(crate) notes: Vec<(String, String)>,
    /// What was wrong with the attempt before.
    pub(crate) failure: Option<String>,
    /// The reference that keeps what that attempt left.
    pub(crate) kept: Option<String>,
    /// What an interrupted session left.
    pub(crate) crash: Option<String>,
}

impl PromptInput {
    /// A unit without documents.
    pub(crate) fn new(kind: UnitKind, id: &str, title: &str, folder: &str, place: Place) -> Self {
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
