//! The input for the prompt of a phase's unit: the installed workflow and its arguments.

use crate::auto::engine::Earlier;
use crate::auto::phases::PhaseSettings;
use crate::auto::prompt::input::{DocumentKind, PromptInput, UnitFolders};
use crate::auto::unit::{Unit, UnitKind};
use crate::project::files::FileError;
use crate::project::phase::{PhaseId, folder_slug, short};
use crate::project::standing::PhaseStanding;
use crate::project::verification::VerificationState;
use crate::project::view::ProjectView;

/// Returns the input for the prompt of `unit`; `worktree` is the working directory of its session.
pub(crate) fn input(
    view: &ProjectView,
    unit: &Unit,
    settings: &PhaseSettings,
    worktree: &str,
    earlier: Earlier<'_>,
) -> Result<PromptInput, FileError> {
    let title = view.label(&unit.id)?.name.unwrap_or_else(|| unit.id.clone());
    let found = view.find_phase(&unit.id)?.folder;
    let number = PhaseId::new(found.as_ref().map_or(unit.id.as_str(), |folder| folder.token())).to_string();
    let folder = match &found {
        Some(folder) => folder.path.clone(),
        None => format!("{}/{number}-{}", view.layout().phases(), folder_slug(&title)),
    };
    let place = UnitFolders::Phase { folder, number, arguments: arguments(view, unit)? };
    let mut input = PromptInput::new(unit.kind, &unit.id, &title, worktree, place);
    if let Some(path) = settings.workflows.get(&unit.kind) {
        input = input.with(DocumentKind::Workflow, path, "");
    }
    input.failure = earlier.failure.map(str::to_owned);
    input.kept = earlier.kept.map(str::to_owned);
    input.crash = earlier.interrupted.map(str::to_owned);
    Ok(input)
}

/// Returns the arguments of the workflow. A phase whose verification found gaps is planned for these.
fn arguments(view: &ProjectView, unit: &Unit) -> Result<String, FileError> {
    let number = short(&unit.id);
    Ok(match unit.kind {
        UnitKind::PlanPhase if has_gaps(view, unit)? => format!("{number} --gaps --auto"),
        UnitKind::ExecutePhase => format!("{number} --auto --no-transition"),
        _ => format!("{number} --auto"),
    })
}

fn has_gaps(view: &ProjectView, unit: &Unit) -> Result<bool, FileError> {
    let folder = view.find_phase(&unit.id)?.folder;
    let standing = PhaseStanding::of(view, &unit.id, folder.as_ref())?;
    Ok(standing.verification.state == VerificationState::GapsFound)
}
