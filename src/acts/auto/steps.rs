//! Steps without an agent, and what an agent records.

use schemars::JsonSchema;
use serde::Serialize;

use super::place::{RunHold, RunPlace};
use crate::acts::Call;
use crate::acts::writing::Target;
use crate::auto::event::{Entry, Event, Mechanical, Time};
use crate::auto::slices::derive::Scope;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::slices::{places, record};
use crate::auto::stop::Cause;
use crate::failure::Failure;
use crate::project::milestone_layout::knowledge::{self, NewKnowledge};
use crate::project::milestone_layout::lookup;
use crate::project::view::Edits;

/// The result of a step.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StepReport {
    /// The documents that were written.
    pub(crate) files: Vec<String>,
    /// Whether there was nothing left to do.
    pub(crate) already_complete: bool,
    /// The verdict of the milestone's validation; only for `auto validate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
}

/// Takes a step of a milestone without an agent.
pub(crate) fn step(call: &Call, step: &Mechanical) -> Result<StepReport, Failure> {
    let command = match step {
        Mechanical::ValidateMilestone { .. } => "auto validate".to_owned(),
        other => format!("auto {}", other.word()),
    };
    let place = RunPlace::of(call)?.needs_milestones(&command)?;
    let memory = place.memory()?;
    let folder = place.documents(&memory);
    let files = RunPlace::files_at(call, &folder);
    let preferences = RunPlace::preferences(files.as_ref(), call)?;
    let disk = call.disk();
    let RunHold::Free(mut log) = place.hold(&disk, &memory)? else {
        let message = "a run is active here, and writes these documents itself";
        return Err(Failure::usage(message).exits(75).hint("pause it first: `gsd-tools auto pause`"));
    };
    // While this call waited, a run may have landed and its worktree may be gone.
    let memory = place.memory()?;
    let folder = place.documents(&memory);
    let files = RunPlace::files_at(call, &folder);
    log = log.filter(|_| !memory.is_released);
    let requirements_before = match (&memory.run, record::requirements_path(files.as_ref())?) {
        (Some(run), Some(path)) => {
            let shown = call.world().git(place.root.as_path(), ["show", &format!("{}:{path}", run.base)])?;
            shown.success().then(|| shown.text().clone())
        }
        _ => None,
    };
    let written = call.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let done = record::mechanical(files.as_ref(), step, &preferences, requirements_before, 0)?;
        let done = done.map_err(|failure| failure.exits(Cause::Blocked.code()))?;
        let mut edits = Edits::default();
        for edit in done {
            edits.write(view, &edit.path, edit.text)?;
        }
        Ok((edits.texts.keys().cloned().collect::<Vec<_>>(), edits))
    })?;
    let is_written = !written.is_empty() && !call.is_rehearsal();
    if let Some(log) = log.as_mut().filter(|_| is_written) {
        let now = call.world().now();
        let at = Time { wall: now.milliseconds(), machine: call.world().uptime() };
        log.append(&Entry::new(at, Event::Mechanical { step: step.clone(), fallback: None }))?;
    }
    let verdict = verdict_of(call, &folder, step);
    Ok(StepReport { already_complete: written.is_empty(), files: written, verdict })
}

/// The verdict of the validation after the step.
fn verdict_of(call: &Call, folder: &crate::disk::AbsolutePath, step: &Mechanical) -> Option<String> {
    let Mechanical::ValidateMilestone { milestone } = step else { return None };
    let files = RunPlace::files_at(call, folder);
    let scope = Scope { milestone: Some(milestone.clone()), slice: None };
    let snapshot = reading::snapshot(files.as_ref(), Extent::Active(&scope));
    let validation = snapshot.milestone(milestone)?.validation.as_ref()?;
    validation.verdict().map(str::to_owned)
}

/// What was recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KnowledgeReport {
    recorded: bool,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// Records a rule, a pattern or a lesson.
pub(crate) fn record_knowledge(call: &Call, new: &NewKnowledge<'_>) -> Result<KnowledgeReport, Failure> {
    if new.what.trim().is_empty() {
        return Err(Failure::usage("there is no fact").hint("write it in one sentence, between quotes"));
    }
    // The project in the current folder: an agent records in its own worktree.
    let folder = RunPlace::of(call)?.needs_milestones("auto record knowledge")?.root;
    let files = RunPlace::files_at(call, &folder);
    call.write(Target::Below { root: folder.clone(), below: lookup::FOLDER }, |view| {
        let found = places::root_document(files.as_ref(), "KNOWLEDGE.md")?;
        let (file, text) = found.unwrap_or_else(|| (format!("{}/KNOWLEDGE.md", lookup::FOLDER), String::new()));
        let mut edits = Edits::default();
        let reason = match knowledge::append(&text, new) {
            Some(text) => {
                edits.write(view, &file, text)?;
                None
            }
            None => Some("it is known already"),
        };
        Ok((KnowledgeReport { recorded: reason.is_none(), file, reason }, edits))
    })
}
