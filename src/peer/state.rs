//! Verbs of STATE.md that only other programs call.

use serde_json::Value;

use super::signal::{self, Signal};
use crate::acts;
use crate::acts::state::{needs_planning, text_or_file, warn_of, write, write_found};
use crate::failure::Failure;
use crate::frame::{Context, rows};
use crate::operations::state::notes::{self, Metric, NoteReport};
use crate::operations::state::{Facts, NO_STATE, advance, prune, update};
use crate::project::view::{Edits, ProjectView};

rows! {
    /// Add a decision to STATE.md
    ///
    /// Example: `gsd-tools state add-decision --phase 2 --summary "Use REST" --rationale "simple"`.
    ADD_DECISION = "state add-decision": writes json(super::answers::FailureReport, NoteReport)
        = add_decision(DecisionArgs);

    /// Set the position to the next plan
    ///
    /// After the last plan, the phase is recorded as ready to be verified. If plans of the phase have no summary, the
    /// position does not change.
    ///
    /// Example: `gsd-tools state advance-plan --raw` prints `false` after the last plan.
    ADVANCE_PLAN = "state advance-plan": writes json(super::answers::FailureReport, advance::AdvanceReport)
        = advance();

    /// Set several fields of STATE.md at once
    ///
    /// Fields that do not exist are listed in the answer, and the others are set.
    ///
    /// Example: `gsd-tools state patch --Status Paused --"Resume file" .planning/notes.md`, or as one JSON object:
    /// `gsd-tools state patch '{"Status": "Paused"}'`.
    PATCH = "state patch": writes json(super::answers::FailureReport, update::PatchReport)
        = patch(PatchArgs);

    /// Archive entries of old phases in STATE-ARCHIVE.md
    ///
    /// Moves decisions, completed phases and metrics out of STATE.md.
    ///
    /// Example: `gsd-tools state prune --keep-recent 3 --dry-run`.
    PRUNE = "state prune": writes json(super::answers::FailureReport, prune::PruneReport)
        = prune(PruneArgs);

    /// Record how long a plan took, with its tasks and files
    ///
    /// Adds a row to the table of plans in STATE.md.
    ///
    /// Example: `gsd-tools state record-metric --phase 2 --plan 1 --duration 15min --tasks 3 --files 4`.
    RECORD_METRIC = "state record-metric": writes json(super::answers::FailureReport, NoteReport)
        = record_metric(MetricArgs);

    /// Remove the record that work is waiting for an answer
    ///
    /// Example: `gsd-tools state signal-resume --pick removed`.
    SIGNAL_RESUME = "state signal-resume": writes json(signal::ResumeReport) = signal_resume();

    /// Record that work is waiting for an answer
    ///
    /// Writes WAITING.json in the planning folder, for other programs. Replaces an earlier question.
    ///
    /// Example: `gsd-tools state signal-waiting --type decision_point --question "Which?" --options "A|B" --phase 2`.
    SIGNAL_WAITING = "state signal-waiting": writes json(signal::WaitingReport)
        = signal_waiting(WaitingArgs);

    /// Update the counts of plans and phases
    ///
    /// Counts plans with a summary. If the roadmap does not show which phases belong to the milestone, nothing is
    /// changed.
    ///
    /// Example: `gsd-tools state update-progress --raw` prints `[████░░░░░░] 40%`.
    UPDATE_PROGRESS = "state update-progress": writes json(super::answers::FailureReport, notes::ProgressUpdate)
        = update_progress();
}

#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// Pairs of `--<field> <value>`, or one JSON object
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    fields: Vec<String>,
}

fn patch(context: &mut Context, arguments: &PatchArgs) -> Result<(), Failure> {
    let fields = pairs(&arguments.fields)?;
    needs_planning(context, NO_STATE)?;
    let report = write(context, |view, facts| update::patch(view, &fields, facts))?;
    context.emit_raw(&report, (!report.updated.is_empty()).to_string())
}

fn advance(context: &mut Context) -> Result<(), Failure> {
    let report = write_found(context, advance::advance)?;
    if let advance::AdvanceReport::PlansLeft(report) = &report {
        let plans = report.outstanding_plans.join(", ");
        context.warn(format!("the position was not changed: plans of {} have no summary: {plans}", report.phase_dir));
    }
    warn_of(context, report.conflict());
    context.emit_raw(&report, report.advanced().to_string())
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

#[derive(Debug, clap::Args)]
pub(crate) struct MetricArgs {
    /// The phase of the plan
    #[arg(long)]
    phase: Option<String>,
    /// The number of the plan
    #[arg(long)]
    plan: Option<String>,
    /// How long it took, such as `15min`
    #[arg(long)]
    duration: Option<String>,
    /// The number of tasks
    #[arg(long)]
    tasks: Option<String>,
    /// The number of changed files
    #[arg(long)]
    files: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionArgs {
    /// The phase of the decision; default: the current phase
    #[arg(long)]
    phase: Option<String>,
    /// The decision
    #[arg(long)]
    summary: Option<String>,
    /// Read the decision from this file
    #[arg(long, conflicts_with = "summary")]
    summary_file: Option<String>,
    /// The reason
    #[arg(long)]
    rationale: Option<String>,
    /// Read the reason from this file
    #[arg(long, conflicts_with = "rationale")]
    rationale_file: Option<String>,
}

fn record_metric(context: &mut Context, arguments: &MetricArgs) -> Result<(), Failure> {
    let metric = Metric {
        phase: arguments.phase.as_deref(),
        plan: arguments.plan.as_deref(),
        duration: arguments.duration.as_deref(),
        tasks: arguments.tasks.as_deref(),
        files: arguments.files.as_deref(),
    };
    note(context, |view, facts| notes::record_metric(view, metric, facts))
}

fn update_progress(context: &mut Context) -> Result<(), Failure> {
    let report = write_found(context, notes::update_progress)?;
    if let Some(reason) = &report.reason {
        context.warn(format!("progress was not changed: {reason}"));
    }
    context.emit_raw(&report, report.bar.as_deref().unwrap_or("false"))
}

fn add_decision(context: &mut Context, arguments: &DecisionArgs) -> Result<(), Failure> {
    let summary = text_or_file(context, arguments.summary.as_deref(), arguments.summary_file.as_deref())?;
    let rationale = text_or_file(context, arguments.rationale.as_deref(), arguments.rationale_file.as_deref())?;
    note(context, |view, facts| {
        let (phase, summary, rationale) = (arguments.phase.as_deref(), summary.as_deref(), rationale.as_deref());
        notes::add_decision(view, phase, summary, rationale, facts)
    })
}

#[derive(Debug, clap::Args)]
pub(crate) struct WaitingArgs {
    /// The kind of question; default: `decision_point`
    #[arg(long = "type")]
    kind: Option<String>,
    /// The question
    #[arg(long)]
    question: Option<String>,
    /// The possible answers, separated by `|`
    #[arg(long)]
    options: Option<String>,
    /// The phase of the question
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PruneArgs {
    /// How many phases before the current one to keep in STATE.md
    #[arg(long, default_value_t = prune::KEPT)]
    keep_recent: u64,
    /// Show what would be moved without moving it
    #[arg(long)]
    dry_run: bool,
}

fn signal_waiting(context: &mut Context, arguments: &WaitingArgs) -> Result<(), Failure> {
    let question = Signal {
        kind: arguments.kind.as_deref(),
        question: arguments.question.as_deref(),
        options: arguments.options.as_deref(),
        phase: arguments.phase.as_deref(),
    };
    let report = write(context, |view, facts| signal::wait(view, question, facts))?;
    context.emit_raw(&report, "true")
}

fn signal_resume(context: &mut Context) -> Result<(), Failure> {
    let report = write(context, |view, _| Ok(signal::resume(view)))?;
    context.emit_raw(&report, report.removed.to_string())
}

fn prune(context: &mut Context, arguments: &PruneArgs) -> Result<(), Failure> {
    let (keep, look) = (arguments.keep_recent, arguments.dry_run);
    let report = write_found(context, |view, facts| prune::prune(view, keep, look, facts))?;
    context.emit_raw(&report, report.found().to_string())
}

fn note(
    context: &mut Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(NoteReport, Edits)>, Failure>,
) -> Result<(), Failure> {
    let report = acts::state::note(context, operation)?;
    context.emit_raw(&report, report.reason().is_none().to_string())
}
