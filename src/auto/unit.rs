//! Units of work: the purpose of one session of an agent.

use std::fmt;

use crate::text::words::{of_word, words};

words! {
    /// The kind of a unit. It determines what the unit writes and may change.
    #[derive(Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
    pub(crate) enum UnitKind {
        DiscussMilestone = "discuss-milestone",
        DiscussSlice = "discuss-slice",
        ResearchMilestone = "research-milestone",
        PlanMilestone = "plan-milestone",
        ResearchSlice = "research-slice",
        PlanSlice = "plan-slice",
        ReplanSlice = "replan-slice",
        ExecuteTask = "execute-task",
        CompleteSlice = "complete-slice",
        RunUat = "run-uat",
        ReassessRoadmap = "reassess-roadmap",
        ValidateMilestone = "validate-milestone",
        CompleteMilestone = "complete-milestone",
        RewriteDocs = "rewrite-docs",
        TriageCaptures = "triage-captures",
        QuickTask = "quick-task",
        /// A step after another unit that a person set up.
        Hook = "hook",
        DiscussPhase = "discuss-phase",
        PlanPhase = "plan-phase",
        ExecutePhase = "execute-phase",
    }
}

/// What a unit may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The planning folder only.
    Planning,
    /// The planning folder and documents of the project.
    Documents,
    /// The planning folder; it may run what the project offers.
    Verification,
    /// Everything in the worktree.
    Work,
}

impl UnitKind {
    pub(crate) fn class(self) -> Class {
        match self {
            Self::DiscussMilestone
            | Self::DiscussSlice
            | Self::ResearchMilestone
            | Self::PlanMilestone
            | Self::ResearchSlice
            | Self::PlanSlice
            | Self::ReplanSlice
            | Self::ReassessRoadmap
            | Self::TriageCaptures
            | Self::DiscussPhase
            | Self::PlanPhase => Class::Planning,
            Self::RewriteDocs => Class::Documents,
            Self::RunUat | Self::CompleteSlice | Self::ValidateMilestone | Self::CompleteMilestone => {
                Class::Verification
            }
            Self::ExecuteTask | Self::QuickTask | Self::Hook | Self::ExecutePhase => Class::Work,
        }
    }

    /// True for the units of a project in phases.
    pub(crate) fn is_of_phases(self) -> bool {
        matches!(self, Self::DiscussPhase | Self::PlanPhase | Self::ExecutePhase)
    }

    /// True for a conversation that only a person holds: no run starts it.
    pub(crate) fn needs_a_person(self) -> bool {
        self == Self::DiscussSlice
    }

    /// True if its work must pass the checks before it counts.
    pub(crate) fn is_gated(self) -> bool {
        matches!(self, Self::ExecuteTask | Self::QuickTask | Self::Hook | Self::ExecutePhase)
    }
}

/// One unit: its kind and its subject, such as `M001/S02/T03`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub(crate) struct Unit {
    pub(crate) kind: UnitKind,
    pub(crate) id: String,
}

impl Unit {
    pub(crate) fn new(kind: UnitKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }

    /// Returns the name of the hook, if the unit is a session for one.
    pub(crate) fn hook(&self) -> Option<&str> {
        let (_, name) = self.id.rsplit_once('/').filter(|_| self.kind == UnitKind::Hook)?;
        Some(name)
    }

    /// Returns the milestone, slice and task in the identifier, if present: for a hook, those of the unit before it.
    pub(crate) fn parts(&self) -> (&str, Option<&str>, Option<&str>) {
        let id = self.hook().and_then(|name| self.id.strip_suffix(name)?.strip_suffix('/')).unwrap_or(&self.id);
        let mut parts = id.splitn(3, '/');
        (parts.next().unwrap_or_default(), parts.next(), parts.next())
    }
}

/// `execute-task M001/S02/T03`.
impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.word(), self.id)
    }
}

/// Returns the kinds that a word on the command line may mean: their own words, and short words, some of which depend
/// on the progress of the work.
pub(crate) fn kinds_of_word(word: &str) -> Vec<UnitKind> {
    match word {
        "research" => vec![UnitKind::ResearchMilestone, UnitKind::ResearchSlice],
        "plan" => vec![UnitKind::PlanMilestone, UnitKind::PlanSlice],
        "execute" => vec![UnitKind::ExecuteTask],
        "complete" => vec![UnitKind::CompleteSlice, UnitKind::CompleteMilestone],
        "reassess" => vec![UnitKind::ReassessRoadmap],
        "uat" => vec![UnitKind::RunUat],
        "replan" => vec![UnitKind::ReplanSlice],
        "validate" => vec![UnitKind::ValidateMilestone],
        word => of_word(word).into_iter().collect(),
    }
}
