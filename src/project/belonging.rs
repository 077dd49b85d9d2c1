//! Finds the milestone that a phase folder belongs to, from the folder's place and from the documents. Numbers may
//! start over with each milestone, so a number is not enough.

use std::cell::LazyCell;
use std::ops::Range;

use super::files::FileError;
use super::folder::PhaseFolder;
use super::milestone::{Milestone, is_same_version, letters, milestone_headings, version_in};
use super::phase::{PhaseId, PhaseIndex, whole_slug};
use super::roadmap::{Roadmap, name_without_tag};
use super::standing;
use super::view::ProjectView;

impl ProjectView {
    /// The only version that the phase can be archived under: that of the current milestone, if it lists the phase as
    /// open. Empty if the milestone has no version.
    pub(super) fn own_archive(&self, typed: &str) -> Result<Option<String>, FileError> {
        let Some(roadmap) = self.roadmap()? else { return Ok(None) };
        let milestone = self.milestone()?;
        let id = PhaseId::new(typed);
        let lists = || milestone.phase_ids(roadmap).into_iter().any(|own| id.matches(own));
        let is_own = !standing::is_closed(roadmap, typed) && lists();
        Ok(is_own.then(|| milestone.version.clone().unwrap_or_default()))
    }

    /// Whether a folder is archived under the current milestone.
    pub(crate) fn is_in_own_archive(&self, folder: &PhaseFolder) -> Result<bool, FileError> {
        let Some(archived) = folder.archived.as_deref() else { return Ok(false) };
        let version = self.milestone()?.version;
        Ok(version.is_some_and(|version| is_same_version(&version, archived)))
    }

    /// The archived folders whose numbers are taken: all, unless the current milestone starts over at 1.
    pub(crate) fn earlier_folders(&self) -> Result<Vec<PhaseFolder>, FileError> {
        let roadmap = self.roadmap_or_empty()?;
        let milestone = self.milestone()?;
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

    /// The closed milestone that each of these folders in `phases` belongs to. Its archived roadmap, or its part of the
    /// roadmap, names the phase, while the current milestone does not list it or lists it under another name.
    pub(crate) fn closed_milestones_of(&self, folders: &[PhaseFolder]) -> Result<Vec<Option<Earlier>>, FileError> {
        let roadmap = self.roadmap()?;
        let milestone = self.milestone()?;
        let own = roadmap.map(|roadmap| Names::of(roadmap, Which::Open, |line| milestone.holds(line)));
        // If the phases of the current milestone could not be read, it may have any number.
        let is_read = own.as_ref().is_some_and(|own| !own.names.is_empty());
        let mut earlier: Option<Vec<(String, Names)>> = None;
        let mut found = Vec::new();
        for folder in folders {
            let own = own.as_ref().and_then(|own| own.call(folder));
            // If it is unclear which part of the roadmap belongs to the milestone, the archive is more reliable.
            if own == Some(true) && !milestone.is_unmatched {
                found.push(None);
                continue;
            }
            let is_number_taken = own.is_some();
            if earlier.is_none() {
                earlier = Some(self.earlier_names(&milestone)?);
            }
            let of = earlier.iter().flatten().find(|(_, names)| match names.call(folder) {
                Some(is_called_so) => is_called_so || (is_read && !is_number_taken),
                None => false,
            });
            found.push(of.map(|(version, _)| Earlier { version: version.clone(), is_number_taken }));
        }
        Ok(found)
    }

    /// The folders whose phase the roadmap does not name: neither as a phase of the milestone, nor as an earlier phase
    /// with the folder's name. Another milestone may have a different phase with the same number.
    pub(super) fn unnamed<'folders>(
        &self,
        folders: &'folders [PhaseFolder],
    ) -> Result<Vec<&'folders PhaseFolder>, FileError> {
        let roadmap = self.roadmap_or_empty()?;
        let milestone = self.milestone()?;
        let own = PhaseIndex::new(milestone.phase_ids(roadmap).into_iter().enumerate());
        let others = LazyCell::new(|| Names::of(roadmap, Which::All, |line| !milestone.holds(line)));
        let mut unnamed = Vec::new();
        for folder in folders {
            let token = folder.token();
            let is_named = if milestone.has_own_lines {
                own.find(token).is_some() || roadmap.is_retired(token) || others.call(folder) == Some(true)
            } else {
                // A row that reports on a phase shows that it is done, not that it belongs to this milestone.
                own.find(token).is_some() || roadmap.is_retired(token) || standing::is_closed(roadmap, token)
            };
            if !is_named {
                unnamed.push(folder);
            }
        }
        Ok(unnamed)
    }

    /// Leaves out the folders from earlier milestones whose numbers the current one uses again.
    pub(super) fn without_earlier(&self, folders: Vec<PhaseFolder>) -> Result<Vec<PhaseFolder>, FileError> {
        let earlier = self.closed_milestones_of(&folders)?;
        let is_taken = |earlier: &Option<Earlier>| earlier.as_ref().is_some_and(|earlier| earlier.is_number_taken);
        let own = folders.into_iter().zip(&earlier).filter(|(_, earlier)| !is_taken(earlier));
        Ok(own.map(|(folder, _)| folder).collect())
    }

    /// The folders that do not belong to an earlier milestone.
    pub(super) fn not_of_earlier(&self, folders: &[PhaseFolder]) -> Result<Vec<PhaseFolder>, FileError> {
        let earlier = self.closed_milestones_of(folders)?;
        Ok(folders
            .iter()
            .zip(&earlier)
            .filter(|(_, earlier)| earlier.is_none())
            .map(|(folder, _)| folder.clone())
            .collect())
    }

    /// The names of the phases of closed milestones, with the milestone's version.
    fn earlier_names(&self, milestone: &Milestone) -> Result<Vec<(String, Names)>, FileError> {
        let roadmap = self.roadmap_or_empty()?;
        let root = self.layout().milestones_folder();
        let is_other = |version: &str| !milestone.version.as_deref().is_some_and(|own| is_same_version(own, version));
        let mut files = self.file_names(&root)?;
        files.sort_by(|left, right| right.cmp(left));
        let mut earlier = Vec::new();
        for file in files {
            let Some(version) = file.strip_suffix("-ROADMAP.md").filter(|version| is_other(version)) else { continue };
            let Some(text) = self.text(&format!("{root}/{file}"))? else { continue };
            earlier.push((version.to_owned(), Names::of(&Roadmap::parse_for(&text, None), Which::All, |_| true)));
        }
        for (version, lines) in closed_parts(roadmap).into_iter().filter(|(version, _)| is_other(version)) {
            let holds = |line: usize| lines.contains(&line) && !milestone.holds(line);
            earlier.push((version, Names::of(roadmap, Which::All, holds)));
        }
        Ok(earlier)
    }
}

/// The closed milestone that a folder in `phases` belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) version: String,
    /// The current milestone has another phase of this number.
    pub(crate) is_number_taken: bool,
}

/// The parts of a roadmap about closed milestones, each with its version: the sections of their headings, and the
/// folded blocks.
fn closed_parts(roadmap: &Roadmap<'_>) -> Vec<(String, Range<usize>)> {
    let markdown = roadmap.markdown();
    let closed = milestone_headings(roadmap).into_iter().filter(|heading| heading.closed);
    let sections = closed.filter_map(|heading| {
        Some((heading.version?.to_owned(), heading.heading.line..markdown.section(&heading.heading).end))
    });
    let blocks = roadmap.folded_blocks().filter_map(|block| {
        let version = block.summary.and_then(|line| version_in(markdown.line(line)))?;
        Some((version.to_owned(), block.lines.clone()))
    });
    sections.chain(blocks).collect()
}

/// Which phases of a roadmap to read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Phases that are neither folded away nor set aside because they belong to another milestone.
    Open,
}

/// The numbers and names of the phases in a roadmap.
#[derive(Debug)]
struct Names {
    index: PhaseIndex,
    /// Letters and digits only, in lower case.
    names: Vec<String>,
}

impl Names {
    /// Collects the names from the lines of the roadmap for which `counts` is true.
    fn of(roadmap: &Roadmap<'_>, which: Which, counts: impl Fn(usize) -> bool) -> Self {
        let is_in = |shipped: bool| which == Which::All || !shipped;
        let sections = roadmap.sections().iter().filter(|section| is_in(section.shipped));
        let sections = sections.map(|section| (section.id, section.name, section.heading_line));
        let bullets = roadmap.bullets().iter().filter(|bullet| is_in(bullet.shipped));
        let bullets = bullets.map(|bullet| (bullet.id, bullet.name, bullet.line));
        let rows = roadmap.rows().iter().filter(|row| is_in(row.shipped));
        let rows = rows.map(|row| (row.id, row.name, row.line));
        let named: Vec<_> = sections.chain(bullets).chain(rows).filter(|(_, _, line)| counts(*line)).collect();
        Self {
            index: PhaseIndex::new(named.iter().map(|(id, ..)| *id).enumerate()),
            names: named.iter().map(|(_, name, _)| letters(name_without_tag(name))).collect(),
        }
    }

    /// Whether the roadmap gives the folder's phase the same name as the folder; `None` if it does not have that phase.
    /// A missing name on either side matches.
    fn call(&self, folder: &PhaseFolder) -> Option<bool> {
        let own = letters(folder.slug());
        let mut called = None;
        for name in self.index.find_all(folder.token()).map(|at| &self.names[at]) {
            // A folder has long names truncated, and accented letters written without their accents.
            let plain = || letters(&whole_slug(name));
            let is_alike = |name: &str| name.is_empty() || name.starts_with(&own) || own.starts_with(name);
            let is_same = own.is_empty() || is_alike(name) || is_alike(&plain());
            called = Some(called.unwrap_or(false) || is_same);
        }
        called
    }
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
    fn a_folder_belongs_to_the_closed_milestone_whose_roadmap_has_its_name() {
        let archived = (".planning/milestones/v1.0-ROADMAP.md", "### Phase 1: Old\n### Phase 2: Both\n");
        let of = |name: &str, roadmap: &str| {
            let path = format!(".planning/phases/{name}/01-01-PLAN.md");
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), STATE, archived, (path.as_str(), "")]);
            let of = view.closed_milestones_of(&view.all_phase_folders().unwrap()).unwrap();
            of[0].as_ref().map(|earlier| earlier.version.clone())
        };
        assert_eq!(of("01-old", RESTARTED).as_deref(), Some("v1.0"), "the number started over");
        assert_eq!(of("01-cee", RESTARTED), None);
        assert_eq!(of("01-renamed", RESTARTED), None, "nobody calls it so, and the number is this milestone's");
        assert_eq!(of("02-both", "## v1.1 New\n\n### Phase 2: Both\n"), None);
        assert_eq!(of("02-anything", RESTARTED).as_deref(), Some("v1.0"), "this milestone has no phase 2");
        assert_eq!(of("07-unknown", RESTARTED), None);
        let unread = "## v1.1 New\n\nNo phase yet.\n";
        assert_eq!(of("02-anything", unread), None, "a milestone without phases may have this one");
        assert_eq!(of("02-both", unread).as_deref(), Some("v1.0"));
    }

    #[test]
    fn a_folder_left_by_an_earlier_milestone_is_not_used_for_a_new_phase_with_its_number() {
        let archived = (".planning/milestones/v1.0-ROADMAP.md", "### Phase 1: Old\n### Phase 3: Third\n");
        let folded = "<details>\n<summary>✅ v1.0 Before</summary>\n\n- [x] Phase 1: Old\n\n</details>\n\n";
        let marked = "## ✅ v1.0 Before\n\n- [x] **Phase 1: Old**\n\n";
        let left = [".planning/phases/01-old/01-01-PLAN.md", ".planning/phases/03-third/03-01-PLAN.md"];
        let names = |roadmap: &str, more: &[(&str, &str)]| {
            let files = [(".planning/ROADMAP.md", roadmap), STATE, (left[0], ""), (left[1], "")];
            let view = ProjectView::of(more.iter().copied().chain(files));
            let found = view.find_phase("1").unwrap().folder.map(|folder| folder.name);
            (view.phase_folders().unwrap().iter().map(|folder| folder.name.clone()).collect::<Vec<_>>(), found)
        };
        let own = (".planning/phases/01-cee/01-01-PLAN.md", "");
        for (roadmap, more) in [
            (RESTARTED.to_owned(), vec![archived]),
            (format!("{folded}{RESTARTED}"), vec![]),
            (format!("{marked}{RESTARTED}"), vec![]),
            // The progress table is below the heading of the last milestone.
            (
                format!(
                    "{RESTARTED}\n## Progress\n\n| Phase | Milestone | Status |\n|---|---|---|\n| 1. Old | v1.0 | Complete |\n"
                ),
                vec![archived],
            ),
        ] {
            assert_eq!(names(&roadmap, &more), (vec!["03-third".to_owned()], None), "{roadmap}");
            let both = [&more[..], &[own]].concat();
            let found = (vec!["01-cee".to_owned(), "03-third".to_owned()], Some("01-cee".to_owned()));
            assert_eq!(names(&roadmap, &both), found, "{roadmap}");
        }
        let numbered =
            "## Milestone 0: Before\n\n- [x] **Phase 1: Old**\n\n## Milestone 1: Now\n\n- [ ] **Phase 1: Cee**\n";
        assert_eq!(names(numbered, &[archived]).1, None, "which milestone is the current one is not known");
        let (kept, found) = names(RESTARTED, &[]);
        assert_eq!((kept.len(), found.as_deref()), (2, Some("01-old")), "no document calls it another's");
    }

    #[test]
    fn old_numbers_are_free_in_a_milestone_that_starts_over() {
        let taken = |roadmap: &str| {
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), STATE, OLD]);
            view.earlier_folders().unwrap().len()
        };
        assert_eq!(taken(RESTARTED), 0);
        assert_eq!(taken("## v1.1 New\n\n### Phase 2: Dee\n"), 1);
        assert_eq!(taken("# R\n\nNo milestone.\n"), 1);
    }
}
