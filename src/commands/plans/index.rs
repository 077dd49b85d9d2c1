//! The plans of a phase and the content of their summaries.

use crate::acts::files;
use crate::acts::named;
use crate::failure::Failure;
use crate::frame::named::PhaseArg;
use crate::frame::{Context, verbs};
use crate::operations::plans::index;
use crate::operations::plans::summary;

verbs! {
    "Plans";

    /// List a phase's plans in the order they can be executed
    ///
    /// Reads the plans and summaries of the phase. Lists waves, the plans that can run now, and those that are blocked.
    ///
    /// Example: `gsd-tools phase-plan-index 2 --pick runnable`.
    "phase-plan-index": reads json(index::PlanIndexReport) = index(PhaseArg);

    /// Show the front matter of a summary: files, technology, decisions
    ///
    /// Example: `gsd-tools summary-extract .planning/phases/01-base/01-01-SUMMARY.md --fields one_liner`.
    "summary-extract": reads json(crate::peer::answers::MissingFile, summary::ExtractReport) = extract(ExtractArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExtractArgs {
    /// The summary file, relative to the project
    file: String,
    /// Only these parts: `one_liner`, `key_files`, `tech_added`, `patterns`, `decisions`, `requirements_completed`,
    /// `coverage`
    #[arg(long, value_delimiter = ',')]
    fields: Option<Vec<String>>,
}

fn index(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let report = index::plan_index(&context.view(), phase)?;
    if report.error.is_some() && context.shows_to_a_person() {
        context.refuses_a_person_without_a_project()?;
        // The error for a person says why the phase was not found.
        named::phase_named(context, &context.view(), phase)?;
    }
    context.show(&report, |screen| report.shown(screen))
}

fn extract(context: &mut Context, arguments: &ExtractArgs) -> Result<(), Failure> {
    let file = &arguments.file;
    let text = files::text_from_root(context, file)?.ok_or_else(|| files::not_there(file))?;
    let fields: Option<Vec<String>> =
        arguments.fields.as_ref().map(|fields| fields.iter().map(|field| field.trim().to_owned()).collect());
    context.emit(&summary::extract(&arguments.file, &text, fields.as_deref()))
}
