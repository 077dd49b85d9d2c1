//! Sets the position of the project: fields of STATE.md, phases and plans.

use super::answer::absent;
use crate::acts::state::{warn_of, write, write_found};
use crate::failure::Failure;
use crate::frame::Context;
use crate::operations::state::position::{self, PhaseRequest};
use crate::operations::state::{NO_STATE, update};

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct UpdateArgs {
    /// The label of the field, or a key of the front matter
    field: String,
    /// The new value
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: String,
    /// The name of the phase
    #[arg(long)]
    name: Option<String>,
    /// The number of plans
    #[arg(long)]
    plans: Option<u64>,
}

impl PhaseArgs {
    fn request(&self) -> PhaseRequest<'_> {
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty());
        PhaseRequest { phase: self.phase.trim(), name, plans: self.plans.filter(|plans| *plans > 0) }
    }
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct CompleteArgs {
    /// The phase, as a flag; default: the current phase
    #[arg(long = "phase", conflicts_with = "positional")]
    phase: Option<String>,
    /// The phase, such as `3` or `3.1`
    #[arg(value_name = "PHASE")]
    positional: Option<String>,
}

pub(in crate::commands) fn update(context: &mut Context, arguments: &UpdateArgs) -> Result<(), Failure> {
    let report = write(context, |view, facts| update::update(view, &arguments.field, &arguments.value, facts))?;
    let said = match &report.reason {
        Some(reason) if reason == NO_STATE => return absent(context, &report),
        // A person gets the reason as an error, as for every failed answer.
        Some(_) if report.is_refused => return context.emit(&report),
        Some(reason) => format!("Nothing changed: {reason}\n"),
        None => format!("{} is now {}\n", arguments.field, arguments.value),
    };
    context.say(&report, None, |_| said)
}

pub(in crate::commands) fn begin(context: &mut Context, arguments: &PhaseArgs) -> Result<(), Failure> {
    let report = write_found(context, |view, facts| position::begin(view, arguments.request(), facts))?;
    warn_of(context, report.milestone_conflict.as_ref());
    context.emit_raw(&report, (!report.updated.is_empty()).to_string())
}

pub(in crate::commands) fn planned(context: &mut Context, arguments: &PhaseArgs) -> Result<(), Failure> {
    let report = write_found(context, |view, facts| position::planned(view, arguments.request(), facts))?;
    context.emit_raw(&report, (!report.updated.is_empty()).to_string())
}

pub(in crate::commands) fn complete(context: &mut Context, arguments: &CompleteArgs) -> Result<(), Failure> {
    let phase = arguments.phase.as_deref().or(arguments.positional.as_deref());
    let report = write_found(context, |view, facts| position::complete(view, phase, facts))?;
    context.emit_raw(&report, (!report.updated.is_empty()).to_string())
}
