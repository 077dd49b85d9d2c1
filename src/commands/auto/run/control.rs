//! `auto pause` and `auto stop`: ending a run that another process runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::auto::real::{Control, Wish};
use crate::commands::auto::place::{Place, refuses_sessions};
use crate::commands::frame::Context;
use crate::failure::Failure;

/// What `auto pause` and `auto stop` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands::auto) struct ControlReport {
    /// `pause` or `stop`.
    requested: &'static str,
    /// Whether the session that runs is ended at once.
    now: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands::auto) struct ControlArgs {
    /// End the session that runs at once
    #[arg(long)]
    now: bool,
}

pub(in crate::commands::auto) fn pause(context: &mut Context, arguments: &ControlArgs) -> Result<(), Failure> {
    control(context, Wish::Pause, arguments.now)
}

pub(in crate::commands::auto) fn stop(context: &mut Context, arguments: &ControlArgs) -> Result<(), Failure> {
    control(context, Wish::Stop, arguments.now)
}

fn wish_word(wish: Wish) -> &'static str {
    match wish {
        Wish::Pause => "pause",
        Wish::Stop => "stop",
    }
}

fn control(context: &mut Context, wish: Wish, now: bool) -> Result<(), Failure> {
    let place = Place::of(context)?;
    let memory = place.memory()?;
    refuses_sessions(context, &place, &memory, &format!("auto {}", wish_word(wish)))?;
    if memory.run.is_none() || memory.is_released {
        return Err(Failure::usage("no run is going on here").hint("start one with `gsd-tools auto run`"));
    }
    if place.holder(context.disk(), &memory)?.is_none() {
        let message = "no process runs the run here: it is paused, or was interrupted";
        return Err(Failure::usage(message).hint("continue it with `gsd-tools auto run`"));
    }
    Control { wish, now }.write(&place.folder())?;
    let requested = wish_word(wish);
    let report = ControlReport { requested, now };
    context.say(&report, None, |_| {
        let when = if now { "now" } else { "after the unit that runs" };
        format!("The run will {requested} {when}.\n\nNext  gsd-tools auto run\n")
    })
}
