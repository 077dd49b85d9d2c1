//! The phases that the roadmap lists.

use crate::operations::facts::listed::PhaseFacts;
use crate::project::files::FileError;
use crate::project::folder::FolderIndex;
use crate::project::milestone::ListedPhase;
use crate::project::phase::PhaseId;
use crate::project::roadmap::name_without_tag;
use crate::project::standing::PhaseStanding;
use crate::project::verification;
use crate::project::view::ProjectView;

/// Every phase that the roadmap lists for the milestone.
pub(crate) fn listed_phases(view: &ProjectView) -> Result<Vec<PhaseFacts>, FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(Vec::new()) };
    let folders = view.phase_folders()?;
    verification::look_ahead(view, folders.iter())?;
    let folder_index = FolderIndex::new(&folders);
    let phase = |ListedPhase { id, name }| {
        let standing = PhaseStanding::of(view, id, folder_index.find(&PhaseId::new(id)))?;
        Ok(PhaseFacts::new(id, name_without_tag(name), standing))
    };
    view.milestone()?.phases(roadmap).into_iter().map(phase).collect()
}
