//! Which milestone a folder of a phase belongs to: by where it is, and by what the documents say. Numbers may start over
//! with each milestone, so that a number alone says nothing.

use super::files::FileError;
use super::folder::PhaseFolder;
use super::milestone::is_same_version;
use super::phase::PhaseId;
use super::roadmap::{Roadmap, name_without_tag};
use super::standing;
use super::view::ProjectView;

impl ProjectView {
    /// The version under which alone a phase can be archived: that of the current milestone, where it lists the phase and
    /// the phase is open. Empty where the milestone has no version.
    pub(super) fn own_archive(&self, typed: &str) -> Result<Option<String>, FileError> {
        let Some(text) = self.roadmap_text()? else { return Ok(None) };
        let roadmap = self.parse_roadmap(&text);
        let milestone = self.milestone_in(&roadmap)?;
        let id = PhaseId::new(typed);
        let lists = || milestone.phase_ids(&roadmap).into_iter().any(|own| id.matches(own));
        let is_own = !standing::is_closed(&roadmap, typed) && lists();
        Ok(is_own.then(|| milestone.version.clone().unwrap_or_default()))
    }

    /// Whether a folder is archived under the current milestone.
    pub(crate) fn is_in_own_archive(&self, folder: &PhaseFolder) -> Result<bool, FileError> {
        let Some(archived) = folder.archived.as_deref() else { return Ok(false) };
        let version = self.milestone()?.version;
        Ok(version.is_some_and(|version| is_same_version(&version, archived)))
    }

    /// The archived folders whose numbers are taken: all, unless the current milestone starts over at 1.
    pub(crate) fn earlier_folders(&self, roadmap: &Roadmap<'_>) -> Result<Vec<PhaseFolder>, FileError> {
        let milestone = self.milestone_in(roadmap)?;
        let own: Vec<u64> = milestone.phase_ids(roadmap).iter().filter_map(|id| PhaseId::new(id).integer()).collect();
        let mut folders = Vec::new();
        for (folder, version) in self.archives()? {
            let is_other = milestone.version.as_deref().is_some_and(|own| !is_same_version(own, &version));
            let archived = self.read_folders(&folder, Some(&version))?;
            let is_again = |folder: &PhaseFolder| folder.id().integer().is_some_and(|number| own.contains(&number));
            if milestone.has_own_lines && is_other && archived.iter().any(is_again) {
                return Ok(Vec::new());
            }
            folders.extend(archived);
        }
        Ok(folders)
    }

    /// The closed milestone that a folder of `phases` belongs to: one whose archived roadmap names its phase, while the
    /// current milestone does not list it, or lists it under another name.
    pub(crate) fn closed_milestone_of(&self, folder: &PhaseFolder) -> Result<Option<String>, FileError> {
        let text = self.roadmap_text()?;
        let roadmap = text.as_deref().map(|text| self.parse_roadmap(text));
        let milestone = self.milestone()?;
        let id = folder.id();
        let is_listed =
            roadmap.as_ref().is_some_and(|roadmap| milestone.phase_ids(roadmap).into_iter().any(|own| id.matches(own)));
        if is_listed && roadmap.as_ref().is_some_and(|roadmap| names_like(roadmap, folder) != Some(false)) {
            return Ok(None);
        }
        let root = self.layout().milestones_folder();
        let mut files = self.file_names(&root)?;
        files.sort_by(|left, right| right.cmp(left));
        for file in files {
            let Some(version) = file.strip_suffix("-ROADMAP.md") else { continue };
            if milestone.version.as_deref().is_some_and(|own| is_same_version(own, version)) {
                continue;
            }
            let Some(text) = self.text(&format!("{root}/{file}"))? else { continue };
            let archived = Roadmap::parse_for(&text, None);
            let named = names_like(&archived, folder);
            if named == Some(true) || (named.is_some() && !is_listed) {
                return Ok(Some(version.to_owned()));
            }
        }
        Ok(None)
    }
}

/// Whether a roadmap calls the phase of a folder as the folder is called; none where it does not name the phase, or
/// where it gives no name to compare.
fn names_like(roadmap: &Roadmap<'_>, folder: &PhaseFolder) -> Option<bool> {
    let id = folder.id();
    let sections = roadmap.sections().iter().map(|section| (section.id, section.name));
    let bullets = roadmap.bullets().iter().map(|bullet| (bullet.id, bullet.name));
    let rows = roadmap.rows().iter().map(|row| (row.id, row.name));
    let names = sections.chain(bullets).chain(rows).filter(|(known, _)| id.matches(known));
    let letters = |text: &str| {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let own = letters(folder.slug());
    let mut known = None;
    for (_, name) in names {
        let name = letters(name_without_tag(name));
        // A long name is cut for its folder.
        let is_same = name.is_empty() || own.is_empty() || name.starts_with(&own) || own.starts_with(&name);
        known = Some(known.unwrap_or(false) || is_same);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESTARTED: &str = "## v1.1 New\n\n- [ ] **Phase 1: Cee**\n\n### Phase 1: Cee\n";
    const STATE: (&str, &str) = (".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n");
    const OLD: (&str, &str) = (".planning/milestones/v1.0-phases/01-old/01-01-PLAN.md", "");

    #[test]
    fn a_phase_of_the_milestone_is_not_found_in_the_archive_of_another_one() {
        let found = |roadmap: &str, more: &[(&str, &str)]| {
            let files = more.iter().copied().chain([(".planning/ROADMAP.md", roadmap), STATE, OLD]);
            ProjectView::of(files).find_phase("1").unwrap().folder.map(|folder| folder.name)
        };
        assert_eq!(found(RESTARTED, &[]), None);
        let own = (".planning/milestones/v1.1-phases/01-cee/01-01-PLAN.md", "");
        assert_eq!(found(RESTARTED, &[own]).as_deref(), Some("01-cee"));
        let later = "- [x] **Phase 1: Old**\n\n## v1.1 New\n\n### Phase 2: Dee\n";
        assert_eq!(found(later, &[]).as_deref(), Some("01-old"), "a closed phase may lie in any archive");
    }

    #[test]
    fn a_folder_belongs_to_the_closed_milestone_whose_roadmap_calls_it_so() {
        let archived = (".planning/milestones/v1.0-ROADMAP.md", "### Phase 1: Old\n### Phase 2: Both\n");
        let of = |name: &str, roadmap: &str| {
            let path = format!(".planning/phases/{name}/01-01-PLAN.md");
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), STATE, archived, (path.as_str(), "")]);
            view.closed_milestone_of(&view.phase_folders().unwrap()[0]).unwrap()
        };
        assert_eq!(of("01-old", RESTARTED).as_deref(), Some("v1.0"), "the number started over");
        assert_eq!(of("01-cee", RESTARTED), None);
        assert_eq!(of("01-renamed", RESTARTED), None, "nobody calls it so, and the number is this milestone's");
        assert_eq!(of("02-both", "## v1.1 New\n\n### Phase 2: Both\n"), None);
        assert_eq!(of("02-anything", RESTARTED).as_deref(), Some("v1.0"), "this milestone has no phase 2");
        assert_eq!(of("07-unknown", RESTARTED), None);
    }

    #[test]
    fn a_milestone_that_counts_anew_leaves_old_numbers_free() {
        let taken = |roadmap: &str| {
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), STATE, OLD]);
            let text = view.roadmap_text().unwrap().unwrap();
            view.earlier_folders(&view.parse_roadmap(&text)).unwrap().len()
        };
        assert_eq!(taken(RESTARTED), 0);
        assert_eq!(taken("## v1.1 New\n\n### Phase 2: Dee\n"), 1);
        assert_eq!(taken("# R\n\nNo milestone.\n"), 1);
    }
}
