//! The position of a run, in either layout: everything that [`super::decide`] needs to know from the documents.

use super::event::Mechanical;
use super::stop::Stop;
use super::unit::Unit;

/// The result of the rules of a layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RuleResult {
    /// The rule does not apply, for this reason.
    No(String),
    Dispatch(Unit),
    Mechanical(Mechanical),
    /// The command of a hook after the last unit.
    Hook,
    Stop(Stop),
}

/// The position of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Position {
    /// The folder of the documents.
    pub(crate) planning: &'static str,
    /// Why nothing can continue, whatever the rules find.
    pub(crate) blocked: Option<Stop>,
    /// Whether the work of the milestone is done and can land.
    pub(crate) is_complete: bool,
    /// What can be done without an agent now.
    pub(crate) mechanical: Option<Mechanical>,
    /// The first rule that applies.
    pub(crate) rule: &'static str,
    pub(crate) finding: RuleResult,
    /// What the unit of the current operation should have written and has not, as text for its next attempt.
    pub(crate) missing: Vec<String>,
    /// Whether that unit claims, with a reason, that no change was needed or possible.
    pub(crate) claims_no_change: bool,
    /// The most attempts at what the rule leads to, if the project sets it.
    pub(crate) most_attempts: Option<usize>,
    /// The slice or phase whose work is done and that is not closed yet: `slice S01`, `phase 2`.
    pub(crate) ends: Option<String>,
    /// The question that unit asks a person before it can be done.
    pub(crate) asks: Option<String>,
}

impl Position {
    /// Returns the same position for a unit that a person asked for, whatever the rules find.
    pub(crate) fn asked_for(self, unit: Unit) -> Self {
        let finding = RuleResult::Dispatch(unit);
        Self { blocked: None, is_complete: false, mechanical: None, ends: None, rule: "asked for", finding, ..self }
    }
}
