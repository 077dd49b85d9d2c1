//! Units of work: what one session of an agent is started for.

use crate::text::words::words;

words! {
    /// The kind of a unit. What it leaves, and what it may change, follows from it.
    #[derive(Hash, PartialOrd, Ord)]
    pub(crate) enum UnitKind {
        PlanMilestone = "plan-milestone",
        PlanSlice = "plan-slice",
        ReplanSlice = "replan-slice",
        ExecuteTask = "execute-task",
        CompleteSlice = "complete-slice",
        RunUat = "run-uat",
        ReassessRoadmap = "reassess-roadmap",
        ValidateMilestone = "validate-milestone",
        CompleteMilestone = "complete-milestone",
        RewriteDocs = "rewrite-docs",
        ResearchMilestone = "research-milestone",
        ResearchSlice = "research-slice",
        DiscussMilestone = "discuss-milestone",
        DiscussPhase = "discuss-phase",
        PlanPhase = "plan-phase",
        ExecutePhase = "execute-phase",
    }
}
