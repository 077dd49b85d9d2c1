//! Which phases of the current milestone were seen, and why there may be more.
//!
//! "Complete", "the last phase" and "nothing open" depend on this: they are only valid if the scope is whole and at
//! least one phase was seen. A roadmap without milestone headings is one milestone; without a roadmap, only the folders
//! of phases count.

use std::collections::HashSet;
use std::fmt;

use crate::text::markdown::Markdown;
use crate::text::shell::typed;

use super::files::FileError;
use super::folder::PhaseFolder;
use super::milestone::{Milestone, MilestoneScope, is_same_version, milestone_headings, opened_after, version_in};
use super::phase::{PhaseId, PhaseIndex, normal_key};
use super::roadmap::{ProgressTableRow, Roadmap};
use super::standing;
use super::state::index::Progress;
use super::state::{State, is_awaiting_milestone};
use super::view::ProjectView;

/// The phases of the current milestone that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseScope {
    /// How many phases were seen: those listed in the roadmap, else the folders.
    pub(crate) phases: usize,
    /// Why there may be more phases; `None` if the scope is whole.
    pub(crate) unseen: Option<Unseen>,
    /// STATE.md counts more phases than were seen: its figures may be old, but the milestone does not count as
    /// complete.
    pub(crate) fewer: Option<Unseen>,
}

/// Why more phases may exist than were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// A roadmap without any text.
    Empty { path: String },
    /// The roadmap or STATE.md contains both sides of a merge.
    Conflict { path: String, line: usize },
    /// STATE.md is at a shipped milestone, while another one is open.
    Shipped { path: String, version: String, open: String },
    /// A folded block of the roadmap has no end: the rest of the roadmap is inside it.
    Unclosed { path: String, line: usize },
    /// The roadmap has milestones, but not this one.
    NoHeading { path: String, version: String },
    /// The heading of the milestone has no phases below it, but the document has phases elsewhere.
    BelowNone { path: String, version: String, line: usize },
    /// The roadmap has text but no readable phase of the milestone, while there are folders of phases.
    NoneRead { path: String, folders: usize },
    /// A line of the roadmap names a phase in a form that is not read.
    Unread { path: String, line: usize, id: String },
    /// STATE.md counts more phases than the roadmap lists.
    Fewer { path: String, state: String, counted: u64, seen: usize },
    /// A folder with unfinished work for a phase that the roadmap does not name anywhere.
    Unlisted { path: String, folder: String },
    /// No phase was seen at all.
    Nothing { path: String },
}

impl fmt::Display for Unseen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { path } => write!(formatter, "`{path}` is empty"),
            Self::Conflict { path, line } => write!(formatter, "`{path}` has a merge conflict in line {line}"),
            Self::Shipped { path, version, open } => {
                write!(formatter, "STATE.md is at {version}, which is shipped, and `{path}` has {open} open")
            }
            Self::Unclosed { path, line } => {
                write!(formatter, "`{path}` has a `<details>` in line {line} that is never closed")
            }
            Self::NoHeading { path, version } => {
                write!(formatter, "`{path}` has headings of milestones and none for {version}, which STATE.md is at")
            }
            Self::BelowNone { path, version, line } => write!(
                formatter,
                "`{path}` has no phases below the heading of {version} in line {line}, and phases elsewhere"
            ),
            Self::NoneRead { path, folders } => {
                let folders = crate::text::screen::counted(*folders, "phase folder");
                write!(formatter, "no phase was found in `{path}`, and there is work in {folders}")
            }
            Self::Unread { path, line, id } if id.is_empty() => {
                write!(formatter, "line {line} of `{path}` is an open item among the phases and names none")
            }
            Self::Unread { path, line, id } => {
                write!(formatter, "line {line} of `{path}` names phase {id} in a form that is not read")
            }
            Self::Fewer { path, state, counted, seen } => {
                let counted = crate::text::screen::counted(usize::try_from(*counted).unwrap_or(usize::MAX), "phase");
                write!(formatter, "`{state}` counts {counted}, and `{path}` lists {seen}")
            }
            Self::Unlisted { path, folder } => {
                write!(formatter, "`{folder}` has work that is not done, and its phase is not in `{path}`")
            }
            Self::Nothing { path } => write!(formatter, "no phase was found, neither in `{path}` nor as a folder"),
        }
    }
}

impl Unseen {
    /// The fix that makes the scope whole.
    pub(crate) fn cure(&self) -> String {
        match self {
            Self::Empty { .. } => "write its phases, or get the file back from git".to_owned(),
            Self::Conflict { .. } => "resolve the conflict and remove the `<<<<<<<` and `>>>>>>>` lines".to_owned(),
            Self::Shipped { open, .. } => {
                format!("continue there: `{}`", typed!("gsd-tools state milestone-switch --milestone {}", open))
            }
            Self::Unclosed { .. } => "add `</details>` below the last line that belongs in it".to_owned(),
            Self::NoHeading { version, .. } => format!(
                "add `## {version}` above its phases, or name the milestone with `gsd-tools state milestone-switch`"
            ),
            Self::BelowNone { version, .. } => format!("move the phases of {version} below its heading"),
            Self::NoneRead { .. } => "give each phase a heading such as `### Phase 1: Name`".to_owned(),
            Self::Unread { id, .. } => {
                let id = if id.is_ascii() && !id.is_empty() { id.as_str() } else { "N" };
                format!("write it as a heading `### Phase {id}: Name`")
            }
            Self::Fewer { .. } => {
                "add what is missing, or count again with `gsd-tools state sync` where nothing is".to_owned()
            }
            Self::Unlisted { .. } => "add the phase to the roadmap, or move the folder out of `phases`".to_owned(),
            Self::Nothing { .. } => "add a phase with `gsd-tools phase add`".to_owned(),
        }
    }

    /// The document cannot be read at all: facts read from it are worthless.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self, Self::Empty { .. } | Self::Conflict { .. } | Self::Shipped { .. })
    }
}

impl PhaseScope {
    /// Of `milestone` in the roadmap.
    pub(crate) fn of(view: &ProjectView, milestone: &Milestone) -> Result<Self, FileError> {
        let roadmap = view.roadmap_or_empty()?;
        let ids = milestone.phase_ids(roadmap);
        let folders = view.phase_folders()?;
        let path = || view.layout().roadmap();
        let version = || milestone.version.clone().unwrap_or_default();
        let state = view.state()?;
        let in_state = state.map(State::text).filter(|text| text.contains("<<<<<<< ")).and_then(conflict_in);
        let unseen = if let Some(line) = conflict(roadmap.markdown()) {
            Some(Unseen::Conflict { path: path(), line: line + 1 })
        } else if let Some(line) = in_state {
            // STATE.md then names two current milestones.
            Some(Unseen::Conflict { path: view.layout().state(), line: line + 1 })
        } else if roadmap.markdown().text().trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
            Some(Unseen::Empty { path: path() })
        } else if let Some(open) = opened_after(roadmap, &version()).filter(|_| !state.is_some_and(is_between)) {
            Some(Unseen::Shipped { path: path(), version: version(), open })
        } else if let Some(line) = roadmap.unclosed_block() {
            Some(Unseen::Unclosed { path: path(), line: line + 1 })
        } else if milestone.is_unmatched {
            Some(Unseen::NoHeading { path: path(), version: version() })
        } else if milestone.scope == MilestoneScope::Truncated {
            let line = milestone_headings(roadmap)
                .iter()
                .find(|heading| heading.names(&version()))
                .map(|heading| heading.heading.line);
            Some(Unseen::BelowNone { path: path(), version: version(), line: line.unwrap_or_default() + 1 })
        } else if let Some(folders) = work_of_none(view, roadmap, milestone)? {
            Some(Unseen::NoneRead { path: path(), folders })
        } else if let Some(unread) = roadmap.unread_phases().into_iter().find(|unread| milestone.holds(unread.line)) {
            Some(Unseen::Unread { path: path(), line: unread.line + 1, id: unread.id.to_owned() })
        } else if let Some((line, id)) = only_reported(roadmap, milestone) {
            Some(Unseen::Unread { path: path(), line: line + 1, id: id.to_owned() })
        } else {
            let mut unlisted = None;
            for folder in view.unnamed(&folders)? {
                if !folder.id().is_sentinel() && has_work_left(view, folder)? {
                    unlisted = Some(Unseen::Unlisted { path: path(), folder: folder.path.clone() });
                    break;
                }
            }
            unlisted
        };
        let phases = if ids.is_empty() { view.folders_of(milestone)?.len() } else { ids.len() };
        let fewer = fewer(view, roadmap, milestone, phases)?;
        Ok(Self { phases, unseen, fewer })
    }

    /// Why it is not certain that the milestone has nothing left to do: the scope is incomplete, or no phase was seen.
    pub(crate) fn doubt(self, path: &str) -> Option<Unseen> {
        self.unseen.or(self.fewer).or_else(|| (self.phases == 0).then(|| Unseen::Nothing { path: path.to_owned() }))
    }
}

impl ProjectView {
    /// The phases of the current milestone that were seen.
    pub(crate) fn scope(&self) -> Result<PhaseScope, FileError> {
        match self.roadmap()? {
            Some(_) => PhaseScope::of(self, &self.milestone()?),
            None => Ok(PhaseScope { phases: self.milestone_folders()?.len(), unseen: None, fewer: None }),
        }
    }
}

/// How many folders have work for a milestone without phases: all folders if the roadmap does not name any phase, else
/// those that no other milestone names.
fn work_of_none(view: &ProjectView, roadmap: &Roadmap<'_>, milestone: &Milestone) -> Result<Option<usize>, FileError> {
    if !milestone.phase_ids(roadmap).is_empty() {
        return Ok(None);
    }
    let folders = view.phase_folders()?;
    let are_named = roadmap.named_phases().next().is_some();
    let unnamed = if are_named { view.unnamed(&folders)? } else { folders.iter().collect() };
    let count = unnamed.iter().filter(|folder| !folder.id().is_sentinel()).count();
    Ok((count > 0).then_some(count))
}

/// Whether STATE.md reports that its milestone is over and the next one has not begun.
fn is_between(state: &State<'_>) -> bool {
    state.front_text("status").is_some_and(|status| is_awaiting_milestone(&status))
}

/// A phase that only a table of reports names and that is not done there: its line and identifier. A row may belong to
/// another milestone.
fn only_reported<'text>(roadmap: &Roadmap<'text>, milestone: &Milestone) -> Option<(usize, &'text str)> {
    let listed = PhaseIndex::new(roadmap.listed_phases().enumerate());
    let is_own =
        |row: &ProgressTableRow<'_>| match (row.cell("milestone").and_then(version_in), milestone.version.as_deref()) {
            (Some(said), Some(version)) => is_same_version(said, version),
            _ => true,
        };
    let mut rows = roadmap.rows().iter().filter(|row| row.reports && !row.lists && !row.shipped && is_own(row));
    rows.find(|row| {
        let is_done = row.cell("status").is_some_and(standing::is_done_word);
        !is_done && !PhaseId::names_sentinel(row.id) && listed.find(row.id).is_none()
    })
    .map(|row| (row.line, row.id))
}

/// Whether a folder has a plan to execute, or executed plans without a verification.
fn has_work_left(view: &ProjectView, folder: &PhaseFolder) -> Result<bool, FileError> {
    if !view.plans_to_do(folder)?.is_empty() {
        return Ok(true);
    }
    Ok(folder.summaries().next().is_some() && folder.artifact("VERIFICATION").is_none())
}

/// The difference if STATE.md counts more phases than were seen. Abandoned and archived phases count as seen.
fn fewer(
    view: &ProjectView,
    roadmap: &Roadmap<'_>,
    milestone: &Milestone,
    phases: usize,
) -> Result<Option<Unseen>, FileError> {
    let written = view.state()?.and_then(Progress::written);
    let Some(counted) = written.and_then(|written| written.total_phases) else { return Ok(None) };
    let retired = roadmap.bullets().iter().filter(|bullet| bullet.is_retired && milestone.holds(bullet.line)).count();
    let seen = phases.max(view.milestone_folders()?.len()) + retired;
    // Other programs count the phases of all milestones in the roadmap, or the rows of its table.
    let count = |ids: &mut dyn Iterator<Item = &str>| {
        ids.filter(|id| !PhaseId::names_sentinel(id)).map(normal_key).collect::<HashSet<_>>().len()
    };
    let rows = roadmap.rows().iter().filter(|row| row.cell("status").is_some()).map(|row| row.id);
    let explained = [count(&mut roadmap.named_phases()), count(&mut { rows })];
    let is_fewer = usize::try_from(counted).is_ok_and(|counted| seen < counted && !explained.contains(&counted));
    let (path, state) = (view.layout().roadmap(), view.layout().state());
    Ok(is_fewer.then_some(Unseen::Fewer { path, state, counted, seen }))
}

/// The first line of a merge conflict in a text, see [`conflict`].
pub(crate) fn conflict_in(text: &str) -> Option<usize> {
    conflict(&Markdown::parse(text))
}

/// The first line of a merge conflict, from 0: both of its marks are at the start of prose lines, in order.
fn conflict(markdown: &Markdown<'_>) -> Option<usize> {
    let lines = 0..markdown.lines().len();
    let starts = |line: &usize, mark: &str| markdown.is_prose(*line) && markdown.line(*line).starts_with(mark);
    let first = lines.clone().find(|line| starts(line, "<<<<<<< "))?;
    (first..lines.end).any(|line| starts(&line, ">>>>>>> ")).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: (&str, &str) = (".planning/STATE.md", "---\nmilestone: v1.0\n---\n# S\n");

    fn scope(roadmap: &str, more: &[(&str, &str)]) -> PhaseScope {
        let files = more.iter().copied().chain([(".planning/ROADMAP.md", roadmap), STATE]);
        ProjectView::of(files).scope().unwrap()
    }

    #[test]
    fn a_scope_is_whole_if_every_phase_of_the_milestone_can_be_seen() {
        for (roadmap, phases) in [
            ("- [ ] **Phase 1: A**\n- [x] **Phase 2: B**\n", 2),
            ("## v1.0 A\n\n### Phase 1: A\n\n## v2.0 B\n\n### Phase 2: B\n", 1),
            ("# R\n\n## v1.0 A\n", 0),
            ("# Roadmap\n\nNothing yet.\n", 0),
            ("- [ ] **Phase 1: A**\n\n```\n<<<<<<< HEAD\n=======\n>>>>>>> other\n```\n", 1),
        ] {
            assert_eq!(scope(roadmap, &[]), PhaseScope { phases, unseen: None, fewer: None }, "{roadmap}");
        }
        let folder = (".planning/phases/01-a/01-01-PLAN.md", "");
        let without = ProjectView::of([folder, STATE]);
        assert_eq!(
            without.scope().unwrap(),
            PhaseScope { phases: 1, unseen: None, fewer: None },
            "the folders are all there is"
        );
    }

    #[test]
    fn the_cause_of_hidden_phases_is_reported_with_its_line_and_a_fix() {
        let folder = (".planning/phases/04-d/04-01-PLAN.md", "");
        let executed = (".planning/phases/04-d/04-01-SUMMARY.md", "");
        for (roadmap, more, line) in [
            ("", &[][..], None),
            ("\u{feff}\n \n", &[], None),
            ("# R\n\n<<<<<<< HEAD\n- [x] **Phase 1: A**\n=======\n>>>>>>> other\n", &[], Some(3)),
            ("## v2.0 B\n\n### Phase 1: A\n", &[], None),
            ("### Phase 9: Later\n\n## v2.0 B\n### Phase 1: A\n\n## v1.0 A\n\n", &[], None),
            ("## v2.0 B\n\n### Phase 1: A\n\n## v1.0 A\n\ntext\n", &[], Some(5)),
            ("# R\n\nPhases are planned in another file.\n", &[folder], None),
            ("- [x] **Phase 1: A**\n", &[folder], None),
            ("- [x] **Phase 1: A**\n### Phase 2 Beta\n", &[], Some(2)),
            (
                "- [x] **Phase 1: A**\n### Phase2: Beta\n\n| Phase | Status |\n|---|---|\n| 2. Beta | Not started |\n",
                &[],
                Some(2),
            ),
            ("- [x] **Phase 1: A**\n\n<details>\n<summary>v0.9</summary>\n\n- [ ] **Phase 2: B**\n", &[], Some(3)),
            ("- [x] **Phase 1: A**\n\n阶段 4：D\n", &[executed], None),
            ("- [x] **Phase 1: A**\n\n| Phase | Status |\n|---|---|\n| 4. D | In progress |\n", &[executed], None),
        ] {
            let found = scope(roadmap, more);
            if roadmap.contains("Phase 9") {
                assert_eq!(found.phases, 1, "what stands before the first milestone belongs to each");
                continue;
            }
            let unseen = found.unseen.unwrap_or_else(|| panic!("{roadmap}"));
            assert!(unseen.to_string().contains(".planning/ROADMAP.md") && !unseen.cure().is_empty());
            if let Some(line) = line {
                assert!(unseen.to_string().contains(&format!("line {line}")), "{unseen}");
            }
        }
    }

    #[test]
    fn a_shipped_milestone_closes_nothing_while_another_one_is_open() {
        let roadmap = "## ✅ v1.0 A\n\n- [x] **Phase 1: A**\n\n## 🚧 v1.1 B\n\n- [ ] **Phase 2: B**\n";
        let unseen = scope(roadmap, &[]).unseen.unwrap();
        assert!(unseen.is_unreadable() && unseen.to_string().contains("at v1.0, which is shipped"), "{unseen}");
        assert!(unseen.cure().contains("milestone-switch --milestone v1.1"), "{}", unseen.cure());
        let over = "---\nmilestone: v1.0\nstatus: Awaiting next milestone\n---\n";
        let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), (".planning/STATE.md", over)]);
        assert_eq!(view.scope().unwrap().unseen, None, "between two milestones");
    }

    #[test]
    fn a_merge_conflict_in_state_makes_the_current_milestone_unclear() {
        let state = "---\nmilestone: v1.0\n---\n# S\n\n<<<<<<< HEAD\nPhase: 1\n=======\nPhase: 2\n>>>>>>> other\n";
        let roadmap = (".planning/ROADMAP.md", "- [x] **Phase 1: A**\n");
        let scope = ProjectView::of([roadmap, (".planning/STATE.md", state)]).scope().unwrap();
        let unseen = scope.unseen.unwrap();
        assert_eq!(unseen.to_string(), "`.planning/STATE.md` has a merge conflict in line 6");
    }

    #[test]
    fn a_milestone_is_not_complete_if_fewer_phases_were_seen_than_counted() {
        let doubt = |roadmap: &str, total: &str| {
            let state = format!("---\nmilestone: v1.0\nprogress:\n  total_phases: {total}\n---\n# S\n");
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), (".planning/STATE.md", &state)]);
            view.scope().unwrap().doubt(".planning/ROADMAP.md")
        };
        let two = "- [x] **Phase 1: A**\n- [x] **Phase 2: B**\n";
        assert_eq!((doubt(two, "2"), doubt(two, "1"), doubt(two, "many")), (None, None, None));
        let message = doubt(two, "3").unwrap().to_string();
        assert!(message.contains("counts 3 phases") && message.contains("lists 2"), "{message}");
        assert_eq!(doubt(&format!("{two}- [ ] ~~**Phase 3: C**~~\n"), "3"), None, "who gave one up has seen it");
        let earlier = format!("## v0.9\n\n- [x] **Phase 7: Z**\n\n## v1.0\n\n{two}");
        assert_eq!(doubt(&earlier, "3"), None, "the phases of all milestones");
    }

    #[test]
    fn a_milestone_without_any_seen_phase_is_not_complete() {
        let doubt = |roadmap: &str| scope(roadmap, &[]).doubt(".planning/ROADMAP.md");
        assert!(matches!(doubt("# R\n\n## v1.0 A\n"), Some(Unseen::Nothing { .. })));
        assert_eq!(doubt("- [x] **Phase 1: A**\n"), None);
    }
}
