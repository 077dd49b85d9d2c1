//! Folders archived under `milestones/`. Nothing is deleted, and a name that is taken there gets a number.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::project::files::FileError;
use crate::project::milestone::{MilestoneScope, is_same_version};
use crate::project::standing::PhaseStanding;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::shell::typed;

fn directories(count: usize) -> &'static str {
    if count == 1 { "directory" } else { "directories" }
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "the phase of a folder is" } else { "the phases of some folders are" }
}

/// The options for archiving the phase folders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClearRequest<'text> {
    /// The milestone to archive them under.
    pub(crate) label: Option<&'text str>,
    pub(crate) confirmed: bool,
    /// Archive even if phases are open, or the archive has another milestone's folders.
    pub(crate) force: bool,
    pub(crate) today: &'text str,
}

/// What `phases clear` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClearReport {
    pub(crate) cleared: usize,
    /// Where the folders are now; the first path if they belong to several milestones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archive_dir: Option<String>,
    /// All paths, if the folders belong to several milestones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) archive_dirs: Vec<String>,
}

/// Checks that a milestone's label can be part of a folder's name.
pub(crate) fn checked_label(label: &str) -> Result<&str, Failure> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    if label.is_empty() || !label.chars().all(fits) || label.contains("..") || label.starts_with('.') {
        let message = format!("`{label}` cannot name a milestone: use letters, digits, `.`, `-` and `_`, without `..`");
        return Err(Failure::unknown(message).hint("write it as ROADMAP.md does, such as `v1.0`"));
    }
    Ok(label)
}

/// Archives the folders of all phases except shelved ones: under the given label, else each under the milestone whose
/// roadmap names it, else under the date.
pub(crate) fn clear(view: &ProjectView, request: ClearRequest<'_>) -> Edited<ClearReport, Failure> {
    let ClearRequest { label, confirmed, force, today } = request;
    let label = label.map(checked_label).transpose()?;
    let folders = view.all_phase_folders()?;
    let going: Vec<_> = folders.into_iter().filter(|folder| !folder.id().is_sentinel()).collect();
    if going.is_empty() {
        return Ok((ClearReport { cleared: 0, archive_dir: None, archive_dirs: Vec::new() }, Edits::default()));
    }
    if !confirmed {
        let count = going.len();
        let message = format!("`phases clear` archives {count} phase {}; nothing was changed", directories(count));
        return Err(Failure::unknown(message).hint("pass --confirm to do it, or --dry-run to see what would move"));
    }
    if let Some(unseen) = view.scope()?.unseen.filter(|unseen| label.is_none() && (!force || unseen.is_unreadable())) {
        let message = format!("which milestone the phase folders belong to is not known: {unseen}");
        return Err(Failure::unknown(message).hint(format!("{}; or pass `--archive-version v1.0`", unseen.cure())));
    }
    let milestone = view.milestone()?;
    let current = milestone.version.filter(|_| milestone.scope == MilestoneScope::Complete);
    let current = current.filter(|version| checked_label(version).is_ok());
    let mut edits = Edits::default();
    let mut archives = Vec::new();
    let mut open = Vec::new();
    for (folder, earlier) in going.iter().zip(view.closed_milestones_of(&going)?) {
        if earlier.is_none() && PhaseStanding::of_folder(view, folder)?.work.is_open() {
            open.push(folder.name.clone());
        }
        let owner = earlier.map(|earlier| earlier.version).or_else(|| current.clone());
        let name = match label.or(owner.as_deref()) {
            Some(version) => format!("{version}-phases"),
            None => format!("archived-{}-phases", today.replace('-', "")),
        };
        let archive = format!("{}/{name}", view.layout().milestones_folder());
        if let (Some(label), Some(owner)) = (label, owner)
            && !force
            && !is_same_version(label, &owner)
            && view.folder_exists(&archive)
        {
            let message = format!("`{archive}` has the folders of {label}, and `{}` is of {owner}", folder.path);
            let call = typed!("gsd-tools phases clear --confirm --archive-version {}", owner);
            let hint = format!("archive them under their own: `{call}`; or pass --force to mix the two");
            return Err(Failure::unknown(message).hint(hint));
        }
        put_away(view, &folder.path, &archive, &mut edits)?;
        if !archives.contains(&archive) {
            archives.push(archive);
        }
    }
    if !open.is_empty() && !force {
        return Err(Failure::unknown(format!("{} not done: {}", is_or_are(open.len()), open.join(", ")))
            .hint("finish them, or pass --force to archive them as they are"));
    }
    let archive_dir = archives.first().cloned();
    let archive_dirs = if archives.len() > 1 { archives } else { Vec::new() };
    Ok((ClearReport { cleared: going.len(), archive_dir, archive_dirs }, edits))
}

/// Moves a folder into `archive`, under its own name, or with a number appended if that is taken. Returns the new name.
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

/// `name` and `ending`, with a number between them if that name is taken in `archive`.
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

    const DAY: &str = "2026-01-02";

    fn asked(label: Option<&str>) -> ClearRequest<'_> {
        ClearRequest { label, confirmed: true, force: false, today: DAY }
    }

    #[test]
    fn folders_go_to_their_milestone_and_nothing_is_overwritten() {
        let view = view("### 🚧 v1.0 A\n\n- [x] **Phase 1: A**\n");
        let mut done = Edits::default();
        done.texts.insert(".planning/phases/01-a/01-01-SUMMARY.md".to_owned(), "done".to_owned());
        let finished = view.after(&done);
        let (report, edits) = clear(&finished, asked(None)).unwrap();
        assert_eq!(report.cleared, 1);
        assert_eq!(
            edits.moves[".planning/milestones/v1.0-phases/01-a.1/01-01-PLAN.md"],
            ".planning/phases/01-a/01-01-PLAN.md"
        );
        assert!(finished.after(&edits).exists(".planning/phases/999.1-later"));
    }

    #[test]
    fn folders_stay_if_the_roadmap_cannot_assign_them() {
        for roadmap in ["", "<<<<<<< HEAD\n### Phase 1: A\n=======\n>>>>>>> other\n"] {
            let view = view(roadmap);
            let refused = clear(&view, asked(None)).unwrap_err();
            assert!(refused.message.starts_with("which milestone "), "{roadmap}: {refused:?}");
            let forced = ClearRequest { force: true, ..asked(Some("v1.0")) };
            assert!(clear(&view, forced).is_ok(), "somebody says it");
        }
    }

    #[test]
    fn open_work_is_not_archived_unasked() {
        for (roadmap, is_open) in [
            ("### 🚧 v1.0 A\n\n- [ ] **Phase 1: A**\n", true),
            // An open plan reopens a closed phase.
            ("### 🚧 v1.0 A\n\n- [x] **Phase 1: A**\n", true),
            ("### ✅ v0.9 Z\n\n- [x] **Phase 1: A**\n\n### 🚧 v1.0 A\n\n- [ ] **Phase 2: B**\n", false),
        ] {
            let view = view(roadmap);
            let answer = clear(&view, asked(None));
            let refused = answer.err().map(|refused| refused.message);
            assert_eq!(refused.as_deref(), is_open.then_some("the phase of a folder is not done: 01-a"), "{roadmap}");
            assert!(clear(&view, ClearRequest { force: true, ..asked(None) }).is_ok(), "{roadmap}");
        }
    }

    #[test]
    fn folders_of_several_milestones_each_go_to_their_own_and_to_no_other_one() {
        let roadmap = "### ✅ v0.9 Z\n\n- [x] **Phase 7: Z**\n\n### 🚧 v1.0 A\n\n- [x] **Phase 1: A**\n";
        let view = ProjectView::of([
            (".planning/ROADMAP.md", roadmap),
            (".planning/STATE.md", "---\nmilestone: v1.0\n---\n"),
            (".planning/phases/01-a/01-CONTEXT.md", "a"),
            (".planning/phases/07-z/07-CONTEXT.md", "z"),
            (".planning/milestones/v0.8-phases/01-a/old.md", "old"),
        ]);
        let (report, edits) = clear(&view, asked(None)).unwrap();
        assert_eq!(report.archive_dirs.len(), 2);
        assert!(edits.moves.contains_key(".planning/milestones/v0.9-phases/07-z/07-CONTEXT.md"), "{edits:?}");
        assert!(edits.moves.contains_key(".planning/milestones/v1.0-phases/01-a/01-CONTEXT.md"), "{edits:?}");
        let refused = clear(&view, asked(Some("v0.8"))).unwrap_err();
        assert!(refused.to_string().contains("`.planning/phases/01-a` is of v1.0"), "{refused}");
        assert!(clear(&view, asked(Some("v0.7"))).is_ok(), "no archive of that name");
    }

    #[test]
    fn without_a_milestone_the_day_names_the_archive() {
        let view = view("### Phase 1: A\n");
        let unconfirmed = ClearRequest { confirmed: false, ..asked(None) };
        assert!(clear(&view, unconfirmed).unwrap_err().message.contains(" archives 1 phase "));
        let (report, _) = clear(&view, ClearRequest { force: true, ..asked(None) }).unwrap();
        assert_eq!(report.archive_dir.as_deref(), Some(".planning/milestones/archived-20260102-phases"));
        for label in ["a/b", "", "..", "v1..2", ".hidden"] {
            let refused = clear(&view, asked(Some(label))).unwrap_err().message;
            assert!(refused.contains("cannot name a milestone"), "{label}");
        }
    }
}
