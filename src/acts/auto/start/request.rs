//! The request for a run.

use crate::acts::auto::place::LayoutWord;
use crate::auto::event::{LandingMode, Run};
use crate::auto::memory::Memory;
use crate::auto::slices::forecast::Shape;
use crate::text::shell::Typed;

/// The request for a run.
#[derive(Clone, Debug)]
pub(crate) struct RunRequest {
    /// The milestone; without it, the active one.
    pub(crate) milestone: Option<String>,
    /// The file that describes the next milestone.
    pub(crate) brief: Option<String>,
    /// Whether a brief that has landed is worked on once more.
    pub(crate) again: bool,
    /// Whether the milestones in the queue follow, one after the other.
    pub(crate) all: bool,
    pub(crate) how: Choices,
}

/// The client, the limits and the budget. Omitted values are as before in the run, or the defaults.
#[derive(Clone, Debug, Default)]
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
    /// How the work gets to its target.
    pub(crate) land: Option<LandingMode>,
    /// The candidate that a person has looked at and wants to land.
    pub(crate) reviewed: Option<String>,
    /// Whether the call only shows what a run would do: nothing is started, ended, approved or removed.
    pub(crate) only_shows: bool,
    /// Whether another process runs it, which needs no terminal.
    pub(crate) detaches: bool,
}

impl RunRequest {
    /// The words after `gsd-tools auto run` that make this request.
    pub(crate) fn words(&self) -> Vec<String> {
        let how = &self.how;
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let amount = |amount: Option<f64>| amount.map(|amount| amount.to_string());
        let valued = [
            ("--brief", self.brief.clone()),
            ("--runner", how.runner.clone()),
            ("--runner-program", how.runner_program.clone()),
            ("--model", how.model.clone()),
            ("--profile", how.profile.clone()),
            ("--layout", how.layout.map(|layout| layout.word().to_owned())),
            ("--target", how.target.clone()),
            ("--max-sessions", number(how.max_sessions)),
            ("--budget", amount(how.budget)),
            ("--unit-budget", amount(how.unit_budget)),
            ("--unit-minutes", number(how.unit_minutes)),
            ("--land", how.land.map(|mode| mode.word().to_owned())),
            ("--shape", how.shape.map(|shape| format!("{}x{}", shape.slices, shape.tasks))),
        ];
        let keys = how.allow_key.iter().map(|file| ("--allow-key", Some(file.clone())));
        let switches = [
            ("--again", self.again),
            ("--all", self.all),
            ("--allow-planning-only", how.allow_planning_only),
            ("--no-fence", how.no_fence),
            ("--fence", how.fence),
            ("--no-project-settings", how.no_project_settings),
            ("--project-settings", how.project_settings),
            ("--take-over", how.take_over),
        ];
        let mut words: Vec<String> = self.milestone.iter().cloned().collect();
        for (flag, value) in valued.into_iter().chain(keys) {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        words.extend(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| flag.to_owned()));
        words
    }

    /// The command that makes this request.
    pub(crate) fn command(&self) -> Typed {
        self.words().iter().fold(Typed::from("gsd-tools auto run"), Typed::word)
    }
}

/// The unfinished run.
pub(crate) fn unfinished(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}
