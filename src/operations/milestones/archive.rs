//! Folders put away under `milestones/`: nothing is deleted, and a name that is taken there gets a number.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::scope::Unseen;
use crate::project::view::{Edited, Edits, ProjectView};

/// Why nothing is put away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("`{label}` cannot name a milestone: use letters, digits, `.`, `-` and `_`, without `..`")]
    Label { label: String },
    #[error("the phase folders belong to several milestones: {versions}")]
    Several { versions: String },
    #[error("which milestone the phase folders belong to is not known: {unseen}")]
    Unreadable { unseen: Unseen },
    #[error("`phases clear` archives {count} phase {}; nothing was changed", directories(*count))]
    NotConfirmed { count: usize },
}

fn directories(count: usize) -> &'static str {
    if count == 1 { "directory" } else { "directories" }
}

/// What `phases clear` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClearReport {
    pub(crate) cleared: usize,
    /// Where the folders are now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archive_dir: Option<String>,
}

/// A milestone's label that can be part of a folder's name.
pub(crate) fn checked_label(label: &str) -> Result<&str, ArchiveError> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    if label.is_empty() || !label.chars().all(fits) || label.contains("..") || label.starts_with('.') {
        return Err(ArchiveError::Label { label: label.to_owned() });
    }
    Ok(label)
}

/// Puts the folders of all phases away, shelves left where they are: under the milestone `label`, else the one whose
/// roadmap names them, else the day.
pub(crate) fn clear(
    view: &ProjectView,
    label: Option<&str>,
    confirmed: bool,
    today: &str,
) -> Edited<ClearReport, ArchiveError> {
    let label = label.map(checked_label).transpose()?;
    let folders = view.all_phase_folders()?;
    let going: Vec<_> = folders.into_iter().filter(|folder| !folder.id().is_sentinel()).collect();
    if going.is_empty() {
        return Ok((ClearReport { cleared: 0, archive_dir: None }, Edits::default()));
    }
    if !confirmed {
        return Err(ArchiveError::NotConfirmed { count: going.len() });
    }
    if let Some(unseen) = view.scope()?.unseen.filter(|unseen| label.is_none() && unseen.is_unreadable()) {
        return Err(ArchiveError::Unreadable { unseen });
    }
    let milestone = view.milestone()?;
    let known = milestone.version.filter(|_| milestone.scope == MilestoneScope::Complete);
    let known = known.filter(|version| checked_label(version).is_ok());
    let mut of = Vec::new();
    for earlier in view.closed_milestones_of(&going)? {
        let version = earlier.map(|earlier| earlier.version).or_else(|| known.clone());
        if !of.contains(&version) {
            of.push(version);
        }
    }
    let known = match of.as_slice() {
        _ if label.is_some() => None,
        [Some(one)] => Some(one.clone()),
        [] | [None] => None,
        several => {
            let versions = several.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
            return Err(ArchiveError::Several { versions });
        }
    };
    let name = match label.map(str::to_owned).or(known) {
        Some(version) => format!("{version}-phases"),
        None => format!("archived-{}-phases", today.replace('-', "")),
    };
    let archive = format!("{}/{name}", view.layout().milestones_folder());
    let mut edits = Edits::default();
    for folder in &going {
        put_away(view, &folder.path, &archive, &mut edits)?;
    }
    Ok((ClearReport { cleared: going.len(), archive_dir: Some(archive) }, edits))
}

/// Moves a folder into `archive`, under its own name, or with a number behind it where that is taken. Gives its name
/// there.
pub(crate) fn put_away(
    view: &ProjectView,
    folder: &str,
    archive: &str,
    edits: &mut Edits,
) -> Result<String, FileError> {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let free = free_name(view, archive, name, "", edits);
    edits.move_folder(view, folder, &format!("{archive}/{free}"))?;
    Ok(free)
}

/// `name` and `ending`, with a number between them where something of that name is in `archive`.
pub(crate) fn free_name(view: &ProjectView, archive: &str, name: &str, ending: &str, edits: &Edits) -> String {
    let taken = |name: &String| {
        let path = format!("{archive}/{name}");
        let inside = format!("{path}/");
        view.exists(&path) || edits.arrives(&path) || edits.moves.keys().any(|to| to.starts_with(&inside))
    };
    let plain = format!("{name}{ending}");
    let mut numbered = (1_u32..).map(|number| format!("{name}.{number}{ending}"));
    if taken(&plain) { numbered.find(|name| !taken(name)).unwrap_or(plain) } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(roadmap: &str) -> ProjectView {
        let files = [
            (".planning/ROADMAP.md", roadmap),
            (".planning/STATE.md", "---\nmilestone: v1.0\n---\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "a"),
            (".planning/phases/999.1-later/x.md", "x"),
            (".planning/milestones/v1.0-phases/01-a/old.md", "old"),
        ];
        ProjectView::of(files)
    }

    #[test]
    fn folders_go_to_their_milestone_and_nothing_is_overwritten() {
        let view = view("### 🚧 v1.0 A\n\n#### Phase 1: A\n");
        let (report, edits) = clear(&view, None, true, "2026-01-02").unwrap();
        assert_eq!(report.cleared, 1);
        assert_eq!(
            edits.moves[".planning/milestones/v1.0-phases/01-a.1/01-01-PLAN.md"],
            ".planning/phases/01-a/01-01-PLAN.md"
        );
        assert!(view.after(&edits).exists(".planning/phases/999.1-later"));
    }

    #[test]
    fn folders_stay_where_the_roadmap_cannot_say_whose_they_are() {
        for roadmap in ["", "<<<<<<< HEAD\n### Phase 1: A\n=======\n>>>>>>> other\n"] {
            let view = view(roadmap);
            let refused = clear(&view, None, true, "2026-01-02").unwrap_err();
            assert!(matches!(refused, ArchiveError::Unreadable { .. }), "{roadmap}: {refused}");
            assert!(clear(&view, Some("v1.0"), true, "2026-01-02").is_ok(), "somebody says it");
        }
    }

    #[test]
    fn without_a_milestone_the_day_names_the_archive() {
        let view = view("### Phase 1: A\n");
        assert!(matches!(clear(&view, None, false, "2026-01-02"), Err(ArchiveError::NotConfirmed { count: 1 })));
        let (report, _) = clear(&view, None, true, "2026-01-02").unwrap();
        assert_eq!(report.archive_dir.as_deref(), Some(".planning/milestones/archived-20260102-phases"));
        for label in ["a/b", "", "..", "v1..2", ".hidden"] {
            assert!(
                matches!(clear(&view, Some(label), true, "2026-01-02"), Err(ArchiveError::Label { .. })),
                "{label}"
            );
        }
    }
}
