//! The request for a run.

use crate::acts::auto::place::LayoutWord;
use crate::auto::event::Run;
use crate::auto::memory::Memory;
use crate::auto::slices::forecast::Shape;

/// The request for a run.
#[derive(Clone, Debug)]
pub(crate) struct RunRequest {
    /// The milestone; without it, the active one.
    pub(crate) milestone: Option<String>,
    /// The file that describes the next milestone.
    pub(crate) brief: Option<String>,
    /// Whether a brief that has landed is worked on once more.
    pub(crate) again: bool,
    pub(crate) how: Choices,
}

/// The client, the limits and the budget. Omitted values are as before in the run, or the defaults.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub(crate) runner: Option<String>,
    pub(crate) runner_program: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) layout: Option<LayoutWord>,
    pub(crate) target: Option<String>,
    pub(crate) max_sessions: Option<u32>,
    pub(crate) budget: Option<f64>,
    pub(crate) unit_budget: Option<f64>,
    pub(crate) unit_minutes: Option<u32>,
    pub(crate) shape: Option<Shape>,
    pub(crate) allow_planning_only: bool,
    pub(crate) allow_key: Vec<String>,
    pub(crate) no_fence: bool,
    pub(crate) fence: bool,
    pub(crate) no_project_settings: bool,
    pub(crate) project_settings: bool,
    pub(crate) take_over: bool,
    /// Whether the call only shows what a run would do: nothing is started, ended, approved or removed.
    pub(crate) only_shows: bool,
}

/// The unfinished run.
pub(crate) fn unfinished(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}
