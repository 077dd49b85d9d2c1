//! What `auto run`, `auto next` and `auto dispatch` are called with.

use crate::auto::event::Run;
use crate::auto::memory::Memory;
use crate::auto::slices::forecast::Shape;
use crate::commands::auto::place::{LayoutWord, layout_word};
use crate::commands::auto::views::shape;

#[derive(Debug, clap::Args)]
pub(in crate::commands::auto) struct RunArgs {
    /// The milestone; without it, the active one
    pub(super) milestone: Option<String>,
    /// Read what the next milestone is to be from this file
    #[arg(long, visible_alias = "yolo", short = 'y', value_name = "FILE")]
    pub(super) brief: Option<String>,
    #[command(flatten)]
    pub(super) how: HowArgs,
}

/// With what, how far, and for how much.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands::auto) struct HowArgs {
    /// The client that runs the sessions; without it, the one of the run, else the first that is installed
    #[arg(long)]
    pub(super) runner: Option<String>,
    /// The program of the client, if it is not found by its name
    #[arg(long, value_name = "PROGRAM")]
    pub(super) runner_program: Option<String>,
    /// The model, in the words of the client; an empty one is what the client would take
    #[arg(long)]
    pub(super) model: Option<String>,
    /// `unattended` or `safe`: how much the client lets its agent do; a new run is `unattended`
    #[arg(long)]
    pub(super) profile: Option<String>,
    /// `milestones` for those in `.gsd/`, `phases` for those in `.planning/`, where the project has both
    #[arg(long, value_parser = layout_word)]
    pub(super) layout: Option<LayoutWord>,
    /// The branch that the work is for; without it, the one that is checked out
    #[arg(long)]
    pub(super) target: Option<String>,
    /// Stop after this many units
    #[arg(long)]
    pub(super) max_units: Option<u32>,
    /// Start at most this many sessions in all, counting those before; holds until another number is given
    #[arg(long)]
    pub(super) max_sessions: Option<u32>,
    /// Spend at most this many US dollars
    #[arg(long, value_name = "USD")]
    pub(super) budget: Option<f64>,
    /// Spend at most this many US dollars in one session
    #[arg(long, value_name = "USD")]
    pub(super) unit_budget: Option<f64>,
    /// Give a unit this many minutes
    #[arg(long)]
    pub(super) unit_minutes: Option<u32>,
    /// Forecast what is not planned yet with this shape, such as `4x3`
    #[arg(long, value_parser = shape)]
    pub(super) shape: Option<Shape>,
    /// Let a milestone land that changes nothing outside the planning folder
    #[arg(long)]
    pub(super) allow_planning_only: bool,
    /// Accept what looks like a key in this file, until the milestone lands
    #[arg(long, value_name = "FILE")]
    pub(super) allow_key: Vec<String>,
    /// Let sessions and checks write everywhere
    #[arg(long, conflicts_with = "fence")]
    pub(super) no_fence: bool,
    /// Fence sessions and checks in again, in a run that was begun with `--no-fence`
    #[arg(long)]
    pub(super) fence: bool,
    /// Start the client without settings of the project: neither its hooks nor its servers run
    #[arg(long, conflicts_with = "project_settings")]
    pub(super) no_project_settings: bool,
    /// Start the client with settings of the project again, in a run that was begun without
    #[arg(long)]
    pub(super) project_settings: bool,
    /// Run although another program keeps its state of this project in `.gsd/gsd.db`
    #[arg(long)]
    pub(super) take_over: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands::auto) struct DispatchArgs {
    /// The kind of unit, such as `validate`, `replan` or `execute-task`
    pub(super) unit: String,
    /// What it is about, such as `M001/S01`; without it, what is next
    pub(super) id: Option<String>,
    #[command(flatten)]
    pub(super) how: HowArgs,
}

/// The run that is not finished.
pub(super) fn unfinished(memory: &Memory) -> Option<&Run> {
    memory.run.as_ref().filter(|_| !memory.is_released)
}
