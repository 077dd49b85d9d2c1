//! Removes a phase: its folder, its lines in the roadmap, and the numbers of the phases after it.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Failure, Reason};
use crate::operations::hints::{self, PHASES, SPARE_FOLDERS};
use crate::operations::state::position::{self, COUNTING};
use crate::operations::state::{self, Facts, Rule, StateEdit, mirror};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::phase::{PhaseId, without_code};
use crate::project::requirements::Requirements;
use crate::project::roadmap_renumber::Renumbering;
use crate::project::state::Position;
use crate::project::up_next::is_shipped;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::screen::{Mark, Screen, counted};
use crate::text::shell::typed;
use crate::text::splice::with_parts;

/// A new name of a folder or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Renamed {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// What `phase remove` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RemoveReport {
    pub(crate) removed: String,
    pub(crate) directory_deleted: Option<String>,
    /// The phases with a new number. The first phase inserted after a removed one takes over its number.
    pub(crate) renumbered_phases: Vec<Renamed>,
    /// The renamed folders, last phase first.
    pub(crate) renamed_directories: Vec<Renamed>,
    pub(crate) renamed_files: Vec<Renamed>,
    /// Files whose new name is taken. Always empty, since whole folders are moved.
    pub(crate) renamed_file_collisions: Vec<Renamed>,
    pub(crate) roadmap_updated: bool,
    pub(crate) state_updated: bool,
    pub(crate) requirements_updated: bool,
    /// The requirements of the removed phase, which need another phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requirements_without_phase: Vec<String>,
}

impl RemoveReport {
    /// What was removed, and what has another number now, for a person.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = format!("Removed phase {}\n", self.removed);
        if let Some(folder) = &self.directory_deleted {
            page = page + "Its folder " + folder + " is gone\n";
        }
        for Renamed { from, to } in &self.renumbered_phases {
            page = page + "Phase " + from + " is phase " + to + " now\n";
        }
        if !self.requirements_without_phase.is_empty() {
            let told = format!("without a phase: {}", self.requirements_without_phase.join(", "));
            page += &screen.item("", Mark::Warning, &told);
        }
        page
    }
}

/// Removes a phase and renumbers those after it. A phase with executed plans is removed only with `force`. An
/// identifier with a code other than the project's own, such as the number of a ticket, is a name and stays.
pub(crate) fn remove(
    view: &ProjectView,
    typed: &str,
    force: bool,
    project_code: Option<&str>,
    facts: &Facts,
) -> Edited<RemoveReport, Failure> {
    let roadmap = view.roadmap()?.ok_or_else(hints::no_roadmap)?;
    let id = PhaseId::new(typed);
    let folders = view.phase_folders()?;
    let own: Vec<&PhaseFolder> = folders.iter().filter(|folder| id.matches(folder.token())).collect();
    if own.len() > 1 {
        let folders: Vec<&str> = own.iter().map(|folder| &*folder.path).collect();
        let message = format!("phase {typed} has several folders: {}", folders.join(", "));
        return Err(Failure::new(Reason::PhaseNotFound, message).hint(SPARE_FOLDERS));
    }
    let own = own.first().copied();
    let listed: Vec<&str> = roadmap.open_phases().collect();
    if own.is_none() && !listed.iter().any(|known| id.matches(known)) {
        return Err(Failure::new(Reason::PhaseNotFound, format!("there is no phase `{typed}`")).hint(PHASES));
    }
    if !force && is_shipped(view)? {
        return Err(Failure::usage(format!("phase {typed} is of a milestone that is complete and archived"))
            .hint("its phases are history; `--force` takes the phase out of it all the same"));
    }
    let executed = own.map_or(0, |folder| folder.summaries().count());
    if executed > 0 && !force {
        let call = typed!("gsd-tools phase remove {} --force", typed);
        return Err(Failure::usage(format!("phase {typed} has {}", counted(executed, "executed plan")))
            .hint(format!("`{call}` removes it with its summaries")));
    }
    let tokens = folders.iter().filter_map(PhaseFolder::numbered);
    let counted = |id: &&str| {
        let code = id[..id.len() - without_code(id).len()].trim_end_matches('-');
        code.is_empty() || Some(code) == project_code
    };
    let renumbering = Renumbering::without(&id, listed.iter().copied().chain(tokens).filter(counted));

    let mut edits = Edits::default();
    if let Some(folder) = own {
        edits.remove_folder(view, &folder.path)?;
    }
    let mut report = RemoveReport {
        removed: typed.to_owned(),
        directory_deleted: own.map(|folder| folder.name.clone()),
        renumbered_phases: renumbering
            .pairs()
            .map(|(from, to)| Renamed { from: from.to_owned(), to: to.to_owned() })
            .collect(),
        ..RemoveReport::default()
    };
    for folder in folders.iter().rev() {
        rename(view, folder, &renumbering, &mut report, &mut edits)?;
    }
    // A folder that another one replaces is not emptied.
    let mut taken = HashSet::new();
    for to in edits.moves.keys() {
        taken.extend(to.match_indices('/').map(|(end, _)| &to[..end]));
        taken.insert(to.as_str());
    }
    edits.emptied.retain(|folder| !taken.contains(folder.as_str()));
    edits.write(view, &view.layout().roadmap(), roadmap.without_phase(&id, &renumbering))?;
    report.roadmap_updated = edits.texts.contains_key(&view.layout().roadmap());
    let path = view.layout().requirements();
    if let Some(text) = view.text(&path)? {
        let requirements = Requirements::parse(&text);
        report.requirements_without_phase = requirements.of_phase(typed).into_iter().map(str::to_owned).collect();
        edits.write(view, &path, requirements.with_phases(|phase| of_requirement(&id, &renumbering, phase)))?;
        report.requirements_updated = edits.texts.contains_key(&path);
    }
    report.state_updated =
        follow(view, &id, listed.iter().any(|known| id.matches(known)), &renumbering, &mut edits, facts)?;
    mirror::refresh(&mut edits, view, facts)?;
    Ok((report, edits))
}

/// The new entry for a phase in the table of requirements: `(removed)` or its new number.
fn of_requirement(removed: &PhaseId, renumbering: &Renumbering, phase: &str) -> Option<String> {
    if removed.matches(phase) { Some("(removed)".to_owned()) } else { renumbering.of(phase) }
}

/// Renames a folder and the files whose names contain its number.
fn rename(
    view: &ProjectView,
    folder: &PhaseFolder,
    renumbering: &Renumbering,
    report: &mut RemoveReport,
    edits: &mut Edits,
) -> Result<(), FileError> {
    let token = folder.token();
    let Some(new) = renumbering.of(token) else { return Ok(()) };
    let to = format!("{new}{}", &folder.name[token.len()..]);
    let old = PhaseId::new(token);
    let renamed = |name: &str| {
        let carries = name.split('-').next().is_some_and(|head| old.matches(head));
        renumbering.of_name(name).filter(|_| carries).unwrap_or_else(|| name.to_owned())
    };
    let target = format!("{}/{to}", view.layout().phases());
    let mut moved = Edits::default();
    moved.move_folder_as(view, &folder.path, &target, &renamed)?;
    let prefixes = (format!("{}/", folder.path), format!("{target}/"));
    report.renamed_files.extend(moved.moves.iter().filter_map(|(to, from)| {
        let (from, to) = (from.strip_prefix(&prefixes.0)?, to.strip_prefix(&prefixes.1)?);
        (from != to).then(|| Renamed { from: from.to_owned(), to: to.to_owned() })
    }));
    edits.moves.extend(moved.moves);
    edits.bare_folders.extend(moved.bare_folders);
    edits.emptied.extend(moved.emptied);
    report.renamed_directories.push(Renamed { from: folder.name.clone(), to });
    Ok(())
}

/// Updates STATE.md: the position stays at its phase under the new number, and there is one phase less.
fn follow(
    view: &ProjectView,
    removed: &PhaseId,
    listed: bool,
    renumbering: &Renumbering,
    edits: &mut Edits,
    facts: &Facts,
) -> Result<bool, Failure> {
    let after = view.after(edits);
    let Some(state) = state::open(&after)? else { return Ok(false) };
    let mut edit = StateEdit::new(state);
    // The current phase was removed, so the position is taken from the roadmap and the folders.
    let is_current = state.position().phase.is_some_and(|phase| removed.matches(phase));
    if is_current && position::fill_position(&after, &mut edit, &format!("Phase {removed} removed"), facts)?.is_some() {
        let written = state::close(&after, edit, Rule::Recount, facts)?;
        edits.write(view, &view.layout().state(), written.text)?;
        return Ok(true);
    }
    let last = after.last_number()?;
    for label in COUNTING {
        let Some(field) = state.field(label) else { continue };
        let Some(position) = Position::parse(field.value) else { continue };
        let mut parts: Vec<(&str, String)> = Vec::new();
        if let Some(phase) = position.phase.filter(|phase| !removed.matches(phase))
            && let Some(new) = renumbering.of(phase)
        {
            parts.push((phase, new));
        }
        let total = position.total.and_then(|total| {
            let number = total.parse::<u64>().ok()?;
            // If an inserted phase takes over the removed number, the last phase keeps its number.
            Some((total, number.checked_sub(1)?.max(last.unwrap_or(0)).min(number)))
        });
        if let Some((total, fewer)) = total.filter(|_| listed) {
            parts.push((total, fewer.to_string()));
        }
        edit.set(label, &with_parts(field.value, &parts));
    }
    let written = state::close(&after, edit, Rule::Follow, facts)?;
    edits.write(view, &view.layout().state(), written.text)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    const ROADMAP: &str = "- [ ] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n- [ ] **Phase 3: D** - d\n- [ ] **Phase 3.1: C** - c\n\n### Phase 1: A\n### Phase 2: B\n### Phase 3: D\n**Depends on**: Phase 2\n### Phase 3.1: C\n";

    fn view(more: &[(&str, &str)]) -> ProjectView {
        let files = [
            (".planning/ROADMAP.md", ROADMAP),
            (".planning/STATE.md", "# S\n\n## Current Position\n\nPhase: 3 of 4 (D)\nPlan: 1 of 1\n"),
            (".planning/phases/02-b/02-01-PLAN.md", "b"),
            (".planning/phases/03-d/03-01-PLAN.md", "d"),
            (".planning/phases/03-d/notes.md", "n"),
        ];
        let files = files.iter().chain(more).copied();
        ProjectView::of(files)
    }

    #[test]
    fn a_ticket_number_is_a_name_and_a_number_after_the_project_code_is_counted() {
        let view = view(&[
            (".planning/phases/PROJ-42-x/PROJ-42-01-PLAN.md", ""),
            (".planning/phases/ACME-04-y/04-01-PLAN.md", ""),
        ]);
        let moved = |code| -> Vec<String> {
            let (report, _) = remove(&view, "2", false, code, &Facts::default()).unwrap();
            report.renamed_directories.into_iter().map(|renamed| renamed.to).collect()
        };
        assert_eq!(moved(Some("ACME")), ["ACME-03-y", "02-d"]);
        assert_eq!(moved(None), ["02-d"]);
    }

    #[test]
    fn requirements_stay_with_their_phases_and_those_of_the_removed_one_are_listed() {
        let table =
            |rows: &str| format!("# R\n\n## Traceability\n\n| Requirement | Phase | Status |\n|---|---|---|\n{rows}");
        let before =
            table("| A-1 | Phase 1 | Complete |\n| B-1 | Phase 2 | Pending |\n| C-1 | Phase 2, 3 | Pending |\n");
        let view = view(&[(".planning/REQUIREMENTS.md", &before)]);
        let (report, edits) = remove(&view, "2", false, None, &Facts::default()).unwrap();
        assert_eq!(report.requirements_without_phase, ["B-1", "C-1"]);
        let after = table(
            "| A-1 | Phase 1 | Complete |\n| B-1 | Phase (removed) | Pending |\n| C-1 | Phase (removed), 2 | Pending |\n",
        );
        assert_eq!(edits.texts.get(".planning/REQUIREMENTS.md"), Some(&after));
    }

    #[test]
    fn phases_after_the_removed_one_move_up_with_everything_that_names_them() {
        let view = view(&[]);
        let (report, edits) = remove(&view, "2", false, None, &Facts::default()).unwrap();
        assert_eq!(report.directory_deleted.as_deref(), Some("02-b"));
        assert_eq!(report.renamed_directories, [Renamed { from: "03-d".into(), to: "02-d".into() }]);
        assert_eq!(report.renamed_files, [Renamed { from: "03-01-PLAN.md".into(), to: "02-01-PLAN.md".into() }]);
        assert!(report.roadmap_updated && report.state_updated);
        let after = view.after(&edits);
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["02-d"]);
        assert_eq!(after.names(".planning/phases/02-d").unwrap(), ["02-01-PLAN.md", "notes.md"]);
        assert_eq!(
            after.roadmap().unwrap().map(crate::project::roadmap::Roadmap::text),
            Some(
                "- [ ] **Phase 1: A** - a\n- [ ] **Phase 2: D** - d\n- [ ] **Phase 2.1: C** - c\n\n### Phase 1: A\n### Phase 2: D\n**Depends on**: Nothing\n### Phase 2.1: C\n"
            )
        );
        let state = after.state().unwrap().unwrap().text();
        assert!(state.contains("Phase: 2 of 3 (D)\n") && state.contains("current_phase: 2\n"), "{state}");
    }

    #[test]
    fn the_first_inserted_phase_takes_the_place_of_the_removed_one_and_later_phases_stay() {
        let roadmap = "- [ ] **Phase 1: A** - a\n- [ ] **Phase 1.1: B** - b\n- [ ] **Phase 1.2: C** - c\n- [ ] **Phase 2: D** - d\n\n### Phase 1: A\n### Phase 1.1: B\n### Phase 1.2: C\n**Depends on**: Phase 1.1\n### Phase 2: D\n";
        let view = ProjectView::of([
            (".planning/ROADMAP.md", roadmap),
            (".planning/STATE.md", "# S\n\n## Current Position\n\nPhase: 1.1 of 2 (B)\n"),
            (".planning/phases/01.1-b/01.1-01-PLAN.md", "b"),
            (".planning/phases/02-d/02-01-PLAN.md", "d"),
        ]);
        let (report, edits) = remove(&view, "1", false, None, &Facts::default()).unwrap();
        let told: Vec<_> =
            report.renumbered_phases.iter().map(|phase| (phase.from.as_str(), phase.to.as_str())).collect();
        assert_eq!(told, [("1.1", "1"), ("1.2", "1.1")]);
        let after = view.after(&edits);
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["01-b", "02-d"]);
        assert_eq!(after.names(".planning/phases/01-b").unwrap(), ["01-01-PLAN.md"]);
        assert_eq!(
            after.roadmap().unwrap().map(crate::project::roadmap::Roadmap::text),
            Some(
                "- [ ] **Phase 1: B** - b\n- [ ] **Phase 1.1: C** - c\n- [ ] **Phase 2: D** - d\n\n### Phase 1: B\n### Phase 1.1: C\n**Depends on**: Phase 1\n### Phase 2: D\n"
            )
        );
        assert!(after.state().unwrap().unwrap().text().contains("Phase: 1 of 2 (B)\n"));
    }

    #[test]
    fn a_folder_may_replace_the_removed_one() {
        let view = view(&[(".planning/phases/01-d/01-01-PLAN.md", "a"), (".planning/phases/03.1-c/x.md", "c")]);
        let (_, edits) = remove(&view, "2", false, None, &Facts::default()).unwrap();
        let after = view.after(&edits);
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["01-d", "02-d", "02.1-c"]);
        let twins = [(".planning/phases/01-d/01-01-PLAN.md", "a")];
        let view = ProjectView::new(
            Layout::new("/p", None, None),
            Box::new(MemoryFiles::new(
                [
                    (".planning/ROADMAP.md", "### Phase 1: D\n### Phase 2: D\n### Phase 3: D\n"),
                    (".planning/phases/02-d/02-01-PLAN.md", "two"),
                    (".planning/phases/03-d/03-01-PLAN.md", "three"),
                ]
                .into_iter()
                .chain(twins),
            )),
        );
        let (_, edits) = remove(&view, "1", false, None, &Facts::default()).unwrap();
        assert_eq!(edits.emptied, [".planning/phases/03-d"]);
        let after = view.after(&edits);
        assert_eq!(after.text(".planning/phases/01-d/01-01-PLAN.md").unwrap().as_deref(), Some("two"));
        assert_eq!(after.text(".planning/phases/02-d/02-01-PLAN.md").unwrap().as_deref(), Some("three"));
    }

    #[test]
    fn a_phase_that_cannot_be_removed_is_an_error_and_nothing_changes() {
        let executed = view(&[(".planning/phases/02-b/02-01-SUMMARY.md", "s")]);
        let refused =
            |view: &ProjectView, phase, force| remove(view, phase, force, None, &Facts::default()).unwrap_err().message;
        assert_eq!(refused(&executed, "2", false), "phase 2 has 1 executed plan");
        assert!(remove(&executed, "2", true, None, &Facts::default()).is_ok());
        assert_eq!(refused(&view(&[]), "99", true), "there is no phase `99`");
        let twins = view(&[(".planning/phases/02-c/x.md", "s")]);
        assert!(refused(&twins, "2", true).starts_with("phase 2 has several folders: "));
    }
}
