//! Steps without an agent, and what an agent records: `auto complete-slice`, `auto validate`, `auto complete-milestone`,
//! `auto record knowledge`.

use crate::acts::writing::Target;
use schemars::JsonSchema;
use serde::Serialize;

use super::place::{Held, Place};
use crate::auto::event::{Entry, Event, Mechanical, Time};
use crate::auto::slices::derive::Scope;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::slices::{places, record};
use crate::auto::stop::Cause;
use crate::commands::frame::Context;
use crate::failure::Failure;
use crate::project::milestone_layout::knowledge::{self, KnowledgeKind, NewKnowledge};
use crate::project::milestone_layout::lookup;
use crate::project::view::Edits;

/// What a step came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StepReport {
    /// The documents that were written.
    files: Vec<String>,
    /// Whether there was nothing left to do.
    already_complete: bool,
    /// What the validation of the milestone says; of `auto validate` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
}

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

fn step(context: &mut Context, step: &Mechanical) -> Result<(), Failure> {
    let place = Place::of(context)?.needs_milestones()?;
    let memory = place.memory()?;
    let folder = place.documents(&memory);
    let files = Place::files_at(context, &folder);
    let preferences = Place::preferences(files.as_ref(), context)?;
    let disk = context.disk();
    let Held::Free(mut log) = place.hold(&disk, &memory)? else {
        let message = "a run is active here, and writes these documents itself";
        return Err(Failure::usage(message).exits(75).hint("pause it first: `gsd-tools auto pause`"));
    };
    // A run that was waited for may have landed, and its worktree is gone.
    let memory = place.memory()?;
    let folder = place.documents(&memory);
    let files = Place::files_at(context, &folder);
    log = log.filter(|_| !memory.is_released);
    let requirements_before = match (&memory.run, record::requirements_path(files.as_ref())?) {
        (Some(run), Some(path)) => {
            let shown = context.world().git(place.root.as_path(), ["show", &format!("{}:{path}", run.base)])?;
            shown.success().then(|| shown.text().clone())
        }
        _ => None,
    };
    let written = context.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let done = record::mechanical(files.as_ref(), step, &preferences, requirements_before)?;
        let done = done.map_err(|failure| failure.exits(Cause::Blocked.code()))?;
        let mut edits = Edits::default();
        for edit in done {
            edits.write(view, &edit.path, edit.text)?;
        }
        Ok((edits.texts.keys().cloned().collect::<Vec<_>>(), edits))
    })?;
    let is_written = !written.is_empty() && !context.is_rehearsal();
    if let Some(log) = log.as_mut().filter(|_| is_written) {
        let now = context.world().now();
        let at = Time { wall: now.milliseconds(), machine: context.world().uptime() };
        log.append(&Entry::new(at, Event::Mechanical { step: step.clone(), fallback: None }))?;
    }
    let verdict = verdict_of(context, &folder, step);
    if verdict.as_deref().is_some_and(|verdict| verdict != "pass") {
        context.exit_with(Cause::NeedsAttention.code());
    }
    let report = StepReport { already_complete: written.is_empty(), files: written, verdict };
    context.say(&report, None, |_| {
        let files = report.files.iter().fold(String::new(), |text, file| text + "  " + file + "\n");
        let head = if report.already_complete { "Nothing was left to do.\n" } else { "Written:\n" };
        let verdict = report.verdict.as_ref().map(|verdict| format!("The validation says `{verdict}`.\n"));
        format!("{head}{files}{}", verdict.unwrap_or_default())
    })
}

/// What the validation says after the step.
fn verdict_of(context: &Context, folder: &crate::disk::AbsolutePath, step: &Mechanical) -> Option<String> {
    let Mechanical::ValidateMilestone { milestone } = step else { return None };
    let files = Place::files_at(context, folder);
    let scope = Scope { milestone: Some(milestone.clone()), slice: None };
    let snapshot = reading::snapshot(files.as_ref(), Extent::Active(&scope));
    let validation = snapshot.milestone(milestone)?.validation.as_ref()?;
    validation.verdict().map(str::to_owned)
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

/// What was recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KnowledgeReport {
    recorded: bool,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(super) fn record_knowledge(context: &mut Context, arguments: &KnowledgeArgs) -> Result<(), Failure> {
    let kind = crate::text::words::of_word::<KnowledgeKind>(&arguments.kind).ok_or_else(|| {
        Failure::usage(format!("`{}` is not a kind of knowledge", arguments.kind))
            .hint("the kinds are rule, pattern and lesson")
    })?;
    if arguments.fact.trim().is_empty() {
        return Err(Failure::usage("there is no fact").hint("write it in one sentence, between quotes"));
    }
    // The one that is worked on here: an agent records in its own worktree.
    let folder = Place::of(context)?.needs_milestones()?.root;
    let files = Place::files_at(context, &folder);
    let new = NewKnowledge { kind, what: &arguments.fact, why: &arguments.why, scope: &arguments.scope };
    let report = context.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let found = places::root_document(files.as_ref(), "KNOWLEDGE.md")?;
        let (file, text) = found.unwrap_or_else(|| (format!("{}/KNOWLEDGE.md", lookup::FOLDER), String::new()));
        let mut edits = Edits::default();
        let reason = match knowledge::append(&text, &new) {
            Some(text) => {
                edits.write(view, &file, text)?;
                None
            }
            None => Some("it is known already"),
        };
        Ok((KnowledgeReport { recorded: reason.is_none(), file, reason }, edits))
    })?;
    context.say(&report, None, |_| match report.reason {
        Some(reason) => format!("Nothing changed: {reason}.\n"),
        None => format!("Recorded in {}\n", report.file),
    })
}
