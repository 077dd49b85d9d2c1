//! What a run is asked for.

use crate::acts::auto::place::LayoutWord;
use crate::auto::event::Run;
use crate::auto::memory::Memory;
use crate::auto::slices::forecast::Shape;

/// A run that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The milestone; without it, the active one.
    pub(crate) milestone: Option<String>,
    /// The file that says what the next milestone is to be.
    pub(crate) brief: Option<String>,
    pub(crate) how: Choices,
}

/// With what, how far, and for how much. What is not said is as it was in the run, or as usual.
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
}

/// The run that is not finished.
pub(crate) fn unfinished(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}
