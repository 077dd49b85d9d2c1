//! Simulated agents: functions that return what an agent writes for a unit and reports about it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::made;
use crate::auto::engine::Session;
use crate::auto::event::SessionVerdict;
use crate::auto::slices::artifact::PARALLEL_RESEARCH;
use crate::auto::slices::forecast::Shape;
use crate::auto::unit::{Unit, UnitKind};

/// An agent.
pub(crate) trait Actor: Debug {
    /// Returns what a session does.
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs;

    /// Returns the result of a unit's checks.
    fn checks(&mut self, _unit: &Unit, _attempt: u32, _files: &BTreeMap<String, String>) -> Checks {
        Checks::passed()
    }

    /// Returns the result of the checks on the merge.
    fn candidate_checks(&mut self) -> Checks {
        Checks::passed()
    }
}

/// A change of a file; without a text it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActorEdit {
    pub(crate) path: String,
    pub(crate) text: Option<String>,
}

/// The actions of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionActs {
    pub(crate) edits: Vec<ActorEdit>,
    pub(crate) verdict: SessionVerdict,
    pub(crate) output_tokens: u64,
    pub(crate) money: Option<f64>,
    pub(crate) milliseconds: i64,
    pub(crate) denied: Vec<String>,
}

impl SessionActs {
    pub(crate) fn done(edits: Vec<(String, String)>) -> Self {
        let edits = edits.into_iter().map(|(path, text)| ActorEdit { path, text: Some(text) }).collect();
        Self {
            edits,
            verdict: SessionVerdict::Ran,
            output_tokens: 500,
            money: Some(0.01),
            milliseconds: 60_000,
            denied: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn ended(verdict: SessionVerdict) -> Self {
        Self { verdict, ..Self::done(Vec::new()) }
    }
}

/// The result of checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) passed: bool,
    pub(crate) commands: Vec<String>,
    pub(crate) output: String,
}

impl Checks {
    pub(crate) fn passed() -> Self {
        Self { passed: true, commands: vec!["sh check.sh".to_owned()], output: "ok".to_owned() }
    }

    #[cfg(test)]
    pub(crate) fn failed(output: &str) -> Self {
        Self { passed: false, commands: vec!["sh check.sh".to_owned()], output: output.to_owned() }
    }
}

/// An agent that does what each unit asks for at its first attempt.
#[derive(Clone, Debug)]
pub(crate) struct Ideal {
    pub(crate) shape: Shape,
    /// Whether the session that plans the milestone plans its first slice too.
    pub(crate) plans_first_slice: bool,
    /// Whether summaries are too short for mechanical steps.
    pub(crate) is_thin: bool,
    /// Whether each slice depends on the previous one.
    pub(crate) is_chained: bool,
}

impl Ideal {
    pub(crate) fn of(shape: Shape) -> Self {
        Self { shape, plans_first_slice: true, is_thin: false, is_chained: true }
    }

    pub(crate) fn documents(&self, unit: &Unit, files: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let (milestone, slice, task) = unit.parts();
        let slice = slice.unwrap_or_default();
        match unit.kind {
            UnitKind::DiscussMilestone => vec![made::context(milestone)],
            UnitKind::ResearchMilestone => vec![made::research(milestone, "")],
            UnitKind::PlanMilestone => {
                let mut documents = vec![made::roadmap(milestone, self.shape, self.is_chained)];
                if self.plans_first_slice {
                    documents.extend(made::slice_plan(milestone, "S01", self.shape));
                }
                documents
            }
            UnitKind::ResearchSlice if slice == PARALLEL_RESEARCH => {
                (1..=self.shape.slices).map(|number| made::research(milestone, &made::slice_id(number))).collect()
            }
            UnitKind::ResearchSlice => vec![made::research(milestone, slice)],
            UnitKind::PlanSlice => made::slice_plan(milestone, slice, self.shape),
            UnitKind::ReplanSlice => vec![made::replan(milestone, slice)],
            UnitKind::ExecuteTask | UnitKind::QuickTask => {
                made::task(milestone, slice, task.unwrap_or_default(), self.is_thin)
            }
            UnitKind::CompleteSlice => made::slice_completion(milestone, slice),
            UnitKind::RunUat => vec![made::uat_result(milestone, slice)],
            UnitKind::ReassessRoadmap => vec![made::assessment(milestone, slice)],
            UnitKind::ValidateMilestone => vec![made::validation(milestone)],
            UnitKind::CompleteMilestone => vec![made::milestone_summary(milestone)],
            UnitKind::RewriteDocs => made::resolved_overrides(files),
            UnitKind::TriageCaptures => made::triaged(files),
            UnitKind::Hook
            | UnitKind::DiscussSlice
            | UnitKind::DiscussPhase
            | UnitKind::PlanPhase
            | UnitKind::ExecutePhase => Vec::new(),
        }
    }
}

impl Actor for Ideal {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        SessionActs::done(self.documents(&session.unit, files))
    }
}
