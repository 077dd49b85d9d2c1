//! The phases that the roadmap lists.

use crate::project::files::FileError;
use crate::project::folder::FolderIndex;
use crate::project::milestone;
use crate::project::phase::PhaseId;
use crate::project::roadmap::name_without_tag;
use crate::project::standing::PhaseStanding;
use crate::project::verification;
use crate::project::view::ProjectView;

/// Every phase that the roadmap lists for the milestone, with its standing.
pub(crate) fn listed_phases(view: &ProjectView) -> Result<Vec<ListedPhase>, FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(Vec::new()) };
    let folders = view.phase_folders()?;
    verification::look_ahead(view, folders.iter())?;
    let folder_index = FolderIndex::new(&folders);
    let phase = |phase: milestone::ListedPhase<'_>| {
        let folder = folder_index.find(&PhaseId::new(phase.id));
        let standing = PhaseStanding::of(view, phase.id, folder)?;
        Ok(ListedPhase { number: phase.id.to_owned(), name: name_without_tag(phase.name).to_owned(), standing })
    };
    view.milestone()?.phases(roadmap).into_iter().map(phase).collect()
}

/// A phase that the roadmap reports on.
#[derive(Clone, Debug)]
pub(crate) struct ListedPhase {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) standing: PhaseStanding,
}
