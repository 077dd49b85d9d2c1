//! The label of a phase: its number and its name, as the roadmap writes them.

use super::files::FileError;
use super::milestone::Milestone;
use super::phase::PhaseId;
use super::roadmap::{Roadmap, name_without_tag};
use super::view::ProjectView;

/// The number and name of a phase. Answers and documents use them, whatever was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseLabel {
    /// As the roadmap writes it; as typed, if the roadmap does not have the phase.
    pub(crate) number: String,
    /// Without a tag such as `(INSERTED)`; `None` if the roadmap has no name for the phase.
    pub(crate) name: Option<String>,
}

impl PhaseLabel {
    /// How `roadmap` calls `typed`: by its section, else by its checklist line, else by a row of a table.
    pub(crate) fn in_roadmap(roadmap: &Roadmap<'_>, typed: &str) -> Option<Self> {
        let section = roadmap.section(typed).map(|section| (section.id, section.name));
        let bullet = roadmap.bullet(typed).map(|bullet| (bullet.id, bullet.name));
        let rows = roadmap.rows_of(typed).filter(|row| !row.shipped);
        let mut places = section.into_iter().chain(bullet).chain(rows.map(|row| (row.id, row.name))).peekable();
        let number = places.peek()?.0.to_owned();
        let name = places.map(|(_, name)| name_without_tag(name)).find(|name| !name.is_empty());
        Some(Self { number, name: name.map(str::to_owned) })
    }
}

/// The total to show after the phase number in a line such as `7 of 9`; `None` if the number is higher: numbers may
/// have gaps, and 7 of 4 makes no sense.
pub(crate) fn total_for(number: &str, total: Option<u64>) -> Option<u64> {
    let at = PhaseId::new(number).integer();
    total.filter(|total| *total > 0 && at.is_none_or(|at| at <= *total))
}

impl ProjectView {
    /// The label of the phase `typed`.
    pub(crate) fn label(&self, typed: &str) -> Result<PhaseLabel, FileError> {
        let known = PhaseLabel::in_roadmap(self.roadmap_or_empty()?, typed);
        Ok(known.unwrap_or_else(|| PhaseLabel { number: typed.to_owned(), name: None }))
    }

    /// How many phases the milestone has, as people count them: the number of its phases, or the highest phase number
    /// if the milestone continues the numbers of an earlier one and so starts above 1. `None` without a roadmap that
    /// names phases.
    pub(crate) fn last_number(&self) -> Result<Option<u64>, FileError> {
        let Some(roadmap) = self.roadmap()? else { return Ok(None) };
        let milestone: Milestone = self.milestone()?;
        let ids = milestone.phase_ids(roadmap);
        let count = u64::try_from(ids.len()).unwrap_or(u64::MAX);
        let numbers = || ids.iter().filter_map(|id| PhaseId::new(id).integer());
        let highest = numbers().max().filter(|_| numbers().min() > Some(1));
        Ok(highest.map(|highest| highest.max(count)).or((count > 0).then_some(count)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::MemoryFiles;

    #[test]
    fn a_phase_has_the_label_that_the_roadmap_gives_it() {
        let roadmap = "- [ ] **Phase 2** - x\n- [ ] Phase 3: Sync\n\n### Phase 1: Add and List\n### Phase 02.1: Fix (INSERTED)\n\n\
                       | Phase | Plans | Status |\n|---|---|---|\n| 2. Search | 0/1 | - |\n| 4. Last | 0/1 | - |\n";
        let files = MemoryFiles::new([(".planning/ROADMAP.md", roadmap)]);
        let view = files.view();
        for (typed, number, name) in [
            ("01", "1", Some("Add and List")),
            ("2.1", "02.1", Some("Fix")),
            ("02", "2", Some("Search")),
            ("3", "3", Some("Sync")),
            ("04", "4", Some("Last")),
            ("09", "09", None),
        ] {
            let label = view.label(typed).unwrap();
            assert_eq!((label.number.as_str(), label.name.as_deref()), (number, name), "{typed}");
        }
        assert_eq!(view.last_number().unwrap(), Some(4));
    }
}
