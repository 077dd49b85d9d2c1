//! Where a run stands, in whichever layout its project has: all that [`super::decide`] needs to know of the documents.

use super::event::Mechanical;
use super::stop::Stop;
use super::unit::Unit;

/// What the rules of a layout find.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The rule does not apply, for this reason.
    No(String),
    Dispatch(Unit),
    Mechanical(Mechanical),
    Stop(Stop),
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Position {
    /// The folder of the documents.
    pub(crate) planning: &'static str,
    /// Why nothing can go on, whatever the rules say.
    pub(crate) blocked: Option<Stop>,
    /// Whether the work of the milestone is done, so that it can land.
    pub(crate) is_complete: bool,
    /// What can be done without an agent now.
    pub(crate) mechanical: Option<Mechanical>,
    /// The first rule that applies.
    pub(crate) rule: &'static str,
    pub(crate) finding: Finding,
    /// What the unit of the current operation should have left and has not, in words for its next attempt.
    pub(crate) missing: Vec<String>,
    /// Whether that unit says, with a reason, that nothing had to be changed, or could be.
    pub(crate) claims_no_change: bool,
    /// How often what the rule leads to is tried, where the project says so.
    pub(crate) most_attempts: Option<usize>,
    /// The slice or phase whose work is done, and that is not closed yet: `slice S01`, `phase 2`.
    pub(crate) ends: Option<String>,
    /// What that unit asks a person before it can be done.
    pub(crate) asks: Option<String>,
}

impl Position {
    /// The same place, where a person asks for this unit whatever the rules find.
    pub(crate) fn asked_for(self, unit: Unit) -> Self {
        let finding = Finding::Dispatch(unit);
        Self { blocked: None, is_complete: false, mechanical: None, ends: None, rule: "asked for", finding, ..self }
    }
}
