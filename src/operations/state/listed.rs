//! The phases that the roadmap reports on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::project::files::FileError;
use crate::project::folder::FolderIndex;
use crate::project::phase::PhaseId;
use crate::project::roadmap::name_without_tag;
use crate::project::standing::PhaseStanding;
use crate::project::verification;
use crate::project::view::ProjectView;

/// Every phase the roadmap reports on, with its standing: the rows of the table of progress, or else the checklist.
pub(crate) fn listed_phases(view: &ProjectView) -> Result<Vec<ListedPhase>, FileError> {
    let Some(text) = view.roadmap_text()? else { return Ok(Vec::new()) };
    let roadmap = view.parse_roadmap(&text);
    let folders = view.phase_folders()?;
    verification::look_ahead(view, folders.iter())?;
    let folder_index = FolderIndex::new(&folders);
    let is_work = |id: &str| !PhaseId::new(id).is_sentinel();
    let rows = roadmap.rows().iter().filter(|row| row.cell("status").is_some() && is_work(row.id));
    let mut listed: Vec<(&str, &str)> = rows.map(|row| (row.id, row.name)).collect();
    if listed.is_empty() {
        let bullets = roadmap.bullets().iter().filter(|bullet| !bullet.shipped && is_work(bullet.id));
        listed.extend(bullets.map(|bullet| (bullet.id, bullet.name)));
    }
    let mut standings: HashMap<&str, PhaseStanding> = HashMap::new();
    let phase = |(id, name)| {
        let standing = match standings.entry(id) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let folder = folder_index.find(&PhaseId::new(id));
                place.insert(PhaseStanding::of(view, Some(&roadmap), id, folder)?).clone()
            }
        };
        Ok(ListedPhase { number: id.to_owned(), name: name_without_tag(name).to_owned(), standing })
    };
    listed.into_iter().map(phase).collect()
}

/// A phase that the roadmap reports on.
#[derive(Clone, Debug)]
pub(crate) struct ListedPhase {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) standing: PhaseStanding,
}
