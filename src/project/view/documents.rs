//! The roadmap and the state of a project, each parsed once and kept with the text that it borrows.

use std::sync::Arc;

use self_cell::self_cell;

use super::{ProjectView, locked, once};
use crate::project::files::FileError;
use crate::project::milestone::Milestone;
use crate::project::roadmap::Roadmap;
use crate::project::state::State;

/// The text of a roadmap, and what its reading depends on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoadmapText {
    text: Option<Arc<str>>,
    /// The milestone that STATE.md names.
    version: Option<String>,
}

self_cell! {
    pub(super) struct RoadmapDocument {
        owner: RoadmapText,
        #[covariant]
        dependent: Roadmap,
    }

    impl {Debug}
}

self_cell! {
    pub(super) struct StateDocument {
        owner: Arc<str>,
        #[covariant]
        dependent: State,
    }

    impl {Debug}
}

impl RoadmapText {
    fn parse(&self) -> Roadmap<'_> {
        of_project(self.text.as_deref().unwrap_or_default(), self.version.as_deref())
    }
}

/// Reads a roadmap as that of a project in which `version` is the current milestone: it is not folded away.
fn of_project<'text>(text: &'text str, version: Option<&str>) -> Roadmap<'text> {
    let mut roadmap = Roadmap::parse_for(text, version);
    let milestone = Milestone::find(&roadmap, version);
    if milestone.has_own_lines {
        milestone.set_others_aside(&mut roadmap);
    }
    roadmap
}

impl ProjectView {
    /// ROADMAP.md; `None` if there is no such file.
    pub(crate) fn roadmap(&self) -> Result<Option<&Roadmap<'_>>, FileError> {
        let document = self.roadmap_document()?;
        Ok(document.borrow_owner().text.as_ref().map(|_| document.borrow_dependent()))
    }

    /// ROADMAP.md; an empty one if there is no such file.
    pub(crate) fn roadmap_or_empty(&self) -> Result<&Roadmap<'_>, FileError> {
        Ok(self.roadmap_document()?.borrow_dependent())
    }

    fn roadmap_document(&self) -> Result<&RoadmapDocument, FileError> {
        let find = || {
            let text = self.text(&self.layout.roadmap())?;
            let read = RoadmapText { text, version: self.version_if_known() };
            // An earlier view of this call may have parsed the same text, and a large one takes its time.
            let mut latest = locked(&self.latest_roadmap);
            let known = latest.take().filter(|known| *known.borrow_owner() == read);
            let document = known.unwrap_or_else(|| Arc::new(RoadmapDocument::new(read, RoadmapText::parse)));
            *latest = Some(Arc::clone(&document));
            Ok(document)
        };
        once(&self.found.roadmap, find).map(AsRef::as_ref)
    }

    /// Parses a text that may become the roadmap of the project.
    pub(crate) fn parse_roadmap<'text>(&self, text: &'text str) -> Roadmap<'text> {
        of_project(text, self.version_if_known().as_deref())
    }

    /// A STATE.md that cannot be read is reported where it is needed; of a roadmap nothing but a folded block depends on it.
    fn version_if_known(&self) -> Option<String> {
        self.state_version().ok().flatten()
    }

    /// STATE.md; `None` if there is no such file.
    pub(crate) fn state(&self) -> Result<Option<&State<'_>>, FileError> {
        let text = || self.text(&self.layout.state());
        let find = || Ok(text()?.map(|text| StateDocument::new(text, |text| State::parse(text))));
        Ok(once(&self.found.state, find)?.as_ref().map(StateDocument::borrow_dependent))
    }
}
