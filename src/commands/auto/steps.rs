//! Steps without an agent, and facts that an agent records: `auto complete-slice`, `auto validate`,
//! `auto complete-milestone`, `auto record knowledge`.

use crate::acts::auto::steps;
use crate::text::words::of_word;

use crate::auto::event::Mechanical;
use crate::auto::stop::Cause;
use crate::failure::Failure;
use crate::frame::Context;
use crate::project::milestone_layout::knowledge::{KnowledgeKind, NewKnowledge};

#[derive(Debug, clap::Args)]
pub(super) struct SliceArgs {
    /// The slice, such as `M001/S01`
    slice: String,
}

pub(super) fn complete_slice(context: &mut Context, arguments: &SliceArgs) -> Result<(), Failure> {
    let id = arguments.slice.to_ascii_uppercase();
    let Some((milestone, slice)) = id.split_once('/') else {
        let message = format!("`{}` is not a slice", arguments.slice);
        return Err(Failure::usage(message).hint("write it with its milestone, such as `M001/S01`"));
    };
    step(context, &Mechanical::CompleteSlice { milestone: milestone.to_owned(), slice: slice.to_owned() })
}

#[derive(Debug, clap::Args)]
pub(super) struct MilestoneArgs {
    /// The milestone, such as `M001`
    milestone: String,
}

pub(super) fn validate(context: &mut Context, arguments: &MilestoneArgs) -> Result<(), Failure> {
    step(context, &Mechanical::ValidateMilestone { milestone: arguments.milestone.to_ascii_uppercase() })
}

pub(super) fn complete_milestone(context: &mut Context, arguments: &MilestoneArgs) -> Result<(), Failure> {
    step(context, &Mechanical::CompleteMilestone { milestone: arguments.milestone.to_ascii_uppercase() })
}

#[derive(Debug, clap::Args)]
pub(super) struct KnowledgeArgs {
    /// `rule`, `pattern` or `lesson`
    kind: String,
    /// What later tasks have to know, in one sentence
    fact: String,
    /// Why it is so
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
    /// What it is about, such as `M001/S02` or `src/`
    #[arg(long, value_name = "TEXT", default_value = "project")]
    scope: String,
}

pub(super) fn record_knowledge(context: &mut Context, arguments: &KnowledgeArgs) -> Result<(), Failure> {
    let kind = of_word::<KnowledgeKind>(&arguments.kind).ok_or_else(|| {
        Failure::usage(format!("`{}` is not a kind of knowledge", arguments.kind))
            .hint("the kinds are rule, pattern and lesson")
    })?;
    let KnowledgeArgs { fact, why, scope, .. } = arguments;
    let report = steps::record_knowledge(context, &NewKnowledge { kind, what: fact, why, scope })?;
    context.say(&report, None, |_| match report.reason {
        Some(reason) => format!("Nothing changed: {reason}.\n"),
        None => format!("Recorded in {}\n", report.file),
    })
}

fn step(context: &mut Context, step: &Mechanical) -> Result<(), Failure> {
    let report = steps::step(context, step)?;
    if report.verdict.as_deref().is_some_and(|verdict| verdict != "pass") {
        context.exit_with(Cause::NeedsAttention.code());
    }
    context.say(&report, None, |_| {
        let files = report.files.iter().fold(String::new(), |text, file| text + "  " + file + "\n");
        let head = if report.already_complete { "Nothing was left to do.\n" } else { "Written:\n" };
        let verdict = report.verdict.as_ref().map(|verdict| format!("The validation says `{verdict}`.\n"));
        format!("{head}{files}{}", verdict.unwrap_or_default())
    })
}
