//! Sets the position of the project: fields of STATE.md, phases and plans.

use serde_json::Value;

use super::answer::{absent, needs_planning, write, write_found};
use crate::failure::Failure;
use crate::frame::Context;
use crate::operations::state::claim::Conflict;
use crate::operations::state::position::{self, PhaseRequest};
use crate::operations::state::{NO_STATE, advance, update};

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct UpdateArgs {
    /// The label of the field, or a key of the front matter
    field: String,
    /// The new value
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct PatchArgs {
    /// Pairs of `--<field> <value>`, or one JSON object
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    fields: Vec<String>,
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

pub(in crate::commands) fn patch(context: &mut Context, arguments: &PatchArgs) -> Result<(), Failure> {
    let fields = pairs(&arguments.fields)?;
    needs_planning(context, NO_STATE)?;
    let report = write(context, |view, facts| update::patch(view, &fields, facts))?;
    context.emit_raw(&report, (!report.updated.is_empty()).to_string())
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

pub(in crate::commands) fn advance(context: &mut Context) -> Result<(), Failure> {
    let report = write_found(context, advance::advance)?;
    if let advance::AdvanceReport::PlansLeft(report) = &report {
        let plans = report.outstanding_plans.join(", ");
        context.warn(format!("the position was not changed: plans of {} have no summary: {plans}", report.phase_dir));
    }
    warn_of(context, report.conflict());
    context.emit_raw(&report, report.advanced().to_string())
}

fn warn_of(context: &Context, conflict: Option<&Conflict>) {
    if let Some(conflict) = conflict {
        let who = conflict.locked_session.as_deref().unwrap_or("a session without a name");
        context.warn(format!(
            "{who} claims phase {} of this milestone while this session moves to phase {}; STATE.md has one position for both",
            conflict.locked_phase, conflict.phase
        ));
    }
}

/// The fields in the words of `state patch`.
fn pairs(words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    if let [only] = words
        && only.trim_start().starts_with('{')
    {
        return object(only);
    }
    let mut pairs = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let field = word.strip_prefix("--").filter(|field| !field.is_empty());
        let field = field.ok_or_else(|| {
            Failure::usage(format!("`{word}` is not the name of a field")).hint("write fields as `--FIELD VALUE`")
        })?;
        let value = words.next().filter(|value| !value.starts_with("--"));
        let value = value.ok_or_else(|| {
            Failure::usage(format!("`--{field}` needs a value")).hint(format!("write it as `--{field} VALUE`"))
        })?;
        // If a field is named twice, the last value counts, as in a JSON object.
        pairs.retain(|(known, _): &(String, String)| known != field);
        pairs.push((field.to_owned(), value.clone()));
    }
    Ok(pairs)
}

const EXAMPLE: &str = "write them as `--FIELD VALUE`, or as a JSON object of texts";

fn object(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let map: serde_json::Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("the fields are not a JSON object: {error}")).hint(EXAMPLE))?;
    let bare = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    map.into_iter()
        .map(|(field, value)| {
            let refused = Failure::usage(format!("the value of `{field}` is not text")).hint(EXAMPLE);
            bare(value).map(|value| (field, value)).ok_or(refused)
        })
        .collect()
}
