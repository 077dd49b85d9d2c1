//! What a run itself writes to the documents of a project in phases, and to its commits.

use crate::auto::engine::Edit;
use crate::auto::event::{Mechanical, Run};
use crate::auto::memory::Operation;
use crate::auto::phases::PhaseSettings;
use crate::auto::slices::record::subject_line;
use crate::failure::Failure;
use crate::operations::phases::complete;
use crate::operations::phases::scaffold::{self, ScaffoldDocument};
use crate::operations::state::Facts;
use crate::project::files::FileError;
use crate::project::standing::PhaseStanding;
use crate::project::view::{Edits, ProjectView};

/// Returns what a mechanical step writes, or why it needs an agent.
pub(crate) fn mechanical(
    view: &ProjectView,
    step: &Mechanical,
    settings: &PhaseSettings,
    facts: &Facts,
) -> Result<Result<Vec<Edit>, String>, Failure> {
    match step {
        Mechanical::WriteContext { phase } => match empty_context(view, phase, facts) {
            Ok(edits) => Ok(Ok(edits)),
            Err(failure) => unless_unread(failure),
        },
        Mechanical::ClosePhase { phase } => {
            match complete::complete(view, phase, &settings.command_prefix, settings.prunes, facts) {
                // Without this, the phase would be closed again and again.
                Ok((_, edits)) if !is_closed(&view.after(&edits), phase)? => {
                    Ok(Err(format!("ROADMAP.md has no entry of phase {phase} that could be ticked")))
                }
                Ok((_, edits)) => Ok(Ok(texts(view, edits))),
                Err(failure) => unless_unread(failure),
            }
        }
        other => Ok(Err(format!("`{}` is not a step of a project in phases", other.word()))),
    }
}

/// Returns why an agent is needed; an unreadable file is an error, since it would block an agent too.
fn unless_unread(failure: Failure) -> Result<Result<Vec<Edit>, String>, Failure> {
    if failure.unread.is_some() { Err(failure) } else { Ok(Err(failure.message)) }
}

fn is_closed(view: &ProjectView, phase: &str) -> Result<bool, FileError> {
    let folder = view.find_phase(phase)?.folder;
    Ok(PhaseStanding::of(view, phase, folder.as_ref())?.work.closed)
}

/// Returns a CONTEXT.md without decisions, and the folder of the phase if it is missing.
fn empty_context(view: &ProjectView, phase: &str, facts: &Facts) -> Result<Vec<Edit>, Failure> {
    let name = view.label(phase)?.name;
    let made = match view.find_phase(phase)?.folder {
        Some(_) => Edits::default(),
        None => scaffold::phase_folder(view, phase, name.as_deref(), None)?.1,
    };
    let (_, edits) =
        scaffold::document(&view.after(&made), ScaffoldDocument::Context, phase, name.as_deref(), &facts.today)?;
    Ok(texts(view, edits))
}

/// Returns the files that an operation writes. The claim of a milestone is left out: it is a note in this computer's
/// state folder, and a run makes no claim.
fn texts(view: &ProjectView, edits: Edits) -> Vec<Edit> {
    let claim = view.layout().milestone_claim();
    let written = edits.texts.into_iter().filter(|(path, _)| *path != claim);
    written.map(|(path, text)| Edit { path, text }).collect()
}

/// Returns the message of a commit.
pub(crate) fn message(operation: Option<&Operation>) -> String {
    match operation {
        Some(operation) => {
            let unit = &operation.start.unit;
            format!("chore: {unit}\n\nGSD-Unit: {unit}\n")
        }
        None => "chore: record what needs no agent\n".to_owned(),
    }
}

/// Returns what was built, one line for each phase.
pub(crate) fn built(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    for id in view.milestone()?.phase_ids(roadmap) {
        let name = view.label(id)?.name.map(|name| format!(": {name}")).unwrap_or_default();
        lines.push(subject_line(&format!("- Phase {id}{name}")));
    }
    Ok(lines)
}

/// Returns the subject of the commit that lands.
pub(crate) fn landing_subject(view: &ProjectView, run: &Run) -> Result<String, FileError> {
    let name = view.milestone()?.name.unwrap_or_else(|| "all phases".to_owned());
    Ok(format!("feat({}): {name}", run.milestone))
}
