//! Renames phases after their milestone: `Phase 3` below `## v1.1` becomes `Phase 1-03`, in all documents that name it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::documents::configuration;
use crate::operations::hints;
use crate::operations::state::{self, Facts, Rule, StateEdit, mirror};
use crate::project::config::Setting;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::version_in;
use crate::project::phase::{PhaseId, without_code};
use crate::project::requirements::Requirements;
use crate::project::roadmap::Roadmap;
use crate::project::roadmap_renumber::Renumbering;
use crate::project::state::Position;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::splice::Splices;
use crate::text::splice::with_parts;

/// The only convention to which phases can be converted.
pub(crate) const CONVENTION: &str = "milestone-prefixed";
const KEY: &str = "phase_id_convention";

/// What `roadmap upgrade` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpgradeReport {
    /// The project's phases already have such names.
    pub(crate) already_migrated: bool,
    /// The phases with a folder.
    pub(crate) phases: Vec<UpgradedPhase>,
    /// The lines of ROADMAP.md that change.
    pub(crate) roadmap_edits: Vec<LineEdit>,
    /// The lines of other documents that change.
    pub(crate) cross_ref_edits: Vec<CrossEdit>,
}

/// A phase and its folder, before and after.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpgradedPhase {
    pub(crate) old_id: String,
    pub(crate) new_id: String,
    pub(crate) old_dir: String,
    pub(crate) new_dir: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineEdit {
    /// Counted from 0.
    pub(crate) line_index: usize,
    pub(crate) from: String,
    pub(crate) to: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CrossEdit {
    /// The old path of the document.
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// Gives every phase below a heading such as `## v1.1` the number of its milestone; `convention` is the current one of
/// the project.
pub(crate) fn upgrade(view: &ProjectView, convention: Option<&str>, facts: &Facts) -> Edited<UpgradeReport, Failure> {
    if convention == Some(CONVENTION) {
        return Ok((UpgradeReport { already_migrated: true, ..UpgradeReport::default() }, Edits::default()));
    }
    let roadmap = view.roadmap()?.ok_or_else(hints::no_roadmap)?;
    let renumbering = Renumbering::to(new_ids(roadmap)?);
    let mut report = UpgradeReport::default();
    let mut edits = Edits::default();
    let after = roadmap.renumbered(&renumbering);
    report.roadmap_edits = line_edits(roadmap.text(), &after);
    edits.write(view, &view.layout().roadmap(), after)?;
    for folder in view.phase_folders()?.iter() {
        rename(view, folder, &renumbering, &mut report, &mut edits)?;
    }
    let path = view.layout().requirements();
    if let Some(text) = view.text(&path)? {
        let after = Requirements::parse(&text).with_phases(|phase| renumbering.of(phase));
        report.cross_ref_edits.extend(cross_edits(&path, &text, &after));
        edits.write(view, &path, after)?;
    }
    let renamed = !edits.is_empty();
    if let Ok(setting) = Setting::parse(KEY, CONVENTION) {
        let (_, made) = configuration::set(view, &setting)?;
        edits.texts.extend(made.texts);
    }
    if renamed {
        follow(view, &renumbering, &mut report, &mut edits, facts)?;
        mirror::refresh(&mut edits, view, facts)?;
    }
    Ok((report, edits))
}

/// The new identifiers by the old ones, both normalized. They are numbered in sequence for each major version.
fn new_ids(roadmap: &Roadmap<'_>) -> Result<BTreeMap<String, String>, Failure> {
    let markdown = roadmap.markdown();
    let milestones: Vec<(usize, Option<u64>)> = markdown
        .headings()
        .filter(|heading| heading.level <= 2)
        .map(|heading| (heading.line, if heading.level == 2 { major(heading.title) } else { None }))
        .collect();
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut new_ids = BTreeMap::new();
    for section in
        roadmap.sections().iter().filter(|section| !section.shipped && !PhaseId::new(section.id).is_sentinel())
    {
        let above = milestones.iter().rev().find(|(line, _)| *line < section.heading_line);
        let Some(major) = above.and_then(|(_, major)| *major) else { continue };
        if major == 0 {
            let message =
                format!("phase {} is below a milestone v0, and phase numbers cannot begin with 0", section.id);
            return Err(Failure::unknown(message).hint("give the milestone a number from 1; nothing was changed"));
        }
        let count = counts.entry(major).or_default();
        *count += 1;
        let new = PhaseId::new(&format!("{major}-{count:02}")).as_str().to_owned();
        if new_ids.insert(PhaseId::new(section.id).as_str().to_owned(), new).is_some() {
            let message =
                format!("phase {} is below two milestones, and references to it do not say which one", section.id);
            return Err(
                Failure::unknown(message).hint("move the phase below one of the milestones; nothing was changed")
            );
        }
    }
    Ok(new_ids)
}

/// `1` in `v1.1 More`, ignoring any marks before it.
fn major(title: &str) -> Option<u64> {
    let title = title.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let version = version_in(title).filter(|version| title.starts_with(version))?;
    version[1..].split('.').next()?.parse().ok()
}

/// Renames a folder, the files whose names contain its number, and the references to phases in its plans.
fn rename(
    view: &ProjectView,
    folder: &PhaseFolder,
    renumbering: &Renumbering,
    report: &mut UpgradeReport,
    edits: &mut Edits,
) -> Result<(), Failure> {
    let token = folder.token();
    let (Some(new), Some(shown)) = (renumbering.normal(token), renumbering.of(token.trim_start_matches('0'))) else {
        return Ok(());
    };
    let new_name = format!("{new}{}", &folder.name[token.len()..]);
    let target = format!("{}/{new_name}", view.layout().phases());
    if view.exists(&target) {
        return Err(
            Failure::unknown(format!("`{target}` already exists")).hint("rename that folder; nothing was changed")
        );
    }
    let old = PhaseId::new(token);
    let renamed = |name: &str| {
        let bare = without_code(name);
        let (code, head) = (&name[..name.len() - bare.len()], bare.split('-').next().unwrap_or(bare));
        match renumbering.normal(head).filter(|_| old.matches(head) && head.len() < bare.len()) {
            Some(new) => format!("{code}{new}{}", &bare[head.len()..]),
            None => name.to_owned(),
        }
    };
    let mut moved = Edits::default();
    moved.move_folder_as(view, &folder.path, &target, &renamed)?;
    for (to, from) in moved.moves.iter().filter(|(_, from)| from.strip_suffix(".md").is_some()) {
        // A file that is not text has no references.
        let Ok(Some(text)) = view.text(from) else { continue };
        let after = front_matter(&text, renumbering);
        if after != *text {
            report.cross_ref_edits.extend(cross_edits(from, &text, &after));
            edits.texts.insert(to.clone(), after);
        }
    }
    edits.moves.extend(moved.moves);
    edits.bare_folders.extend(moved.bare_folders);
    edits.emptied.extend(moved.emptied);
    report.phases.push(UpgradedPhase {
        old_id: token.to_owned(),
        new_id: shown,
        old_dir: folder.name.clone(),
        new_dir: new_name,
    });
    Ok(())
}

/// The text with the new names of the phase and the plans in its front matter.
fn front_matter(text: &str, renumbering: &Renumbering) -> String {
    let Some(front) = FrontMatter::parse(text) else { return text.to_owned() };
    let named = |value: &str| {
        let (head, tail) = value.split_once('-').map_or((value, ""), |(head, _)| (head, &value[head.len()..]));
        Some(format!("{}{tail}", renumbering.normal(head)?))
    };
    let mut splices = Splices::default();
    if let Some(new) = front.text("phase").and_then(|phase| named(&phase)) {
        front.set("phase", &Value::Text(new), &mut splices);
    }
    if let Some(Value::List(items)) = front.get("depends_on") {
        let new: Vec<Value> = items
            .iter()
            .map(|item| {
                // A number without a phase is a plan of the same phase.
                let plan = item.as_text().filter(|plan| plan.contains('-'));
                plan.and_then(named).map_or_else(|| item.clone(), Value::Text)
            })
            .collect();
        if new != items {
            front.set("depends_on", &Value::List(new), &mut splices);
        }
    }
    splices.apply(text)
}

/// Updates STATE.md: the position stays at its phase under the new name.
fn follow(
    view: &ProjectView,
    renumbering: &Renumbering,
    report: &mut UpgradeReport,
    edits: &mut Edits,
    facts: &Facts,
) -> Result<(), Failure> {
    let after = view.after(edits);
    let Some(state) = state::open(&after)? else { return Ok(()) };
    let mut edit = StateEdit::new(state);
    for label in ["Phase", "Current Phase", "Current focus"] {
        let Some(field) = state.field(label) else { continue };
        let Some(phase) = Position::parse(field.value).and_then(|position| position.phase) else { continue };
        if let Some(new) = renumbering.of(phase) {
            edit.set(label, &with_parts(field.value, &[(phase, new)]));
        }
    }
    let written = state::close(&after, edit, Rule::Keep, facts)?;
    report.cross_ref_edits.extend(cross_edits(&view.layout().state(), body(state.text()), body(&written.text)));
    edits.write(view, &view.layout().state(), written.text)?;
    Ok(())
}

fn body(text: &str) -> &str {
    FrontMatter::parse(text).map_or(text, |front| front.body())
}

/// The lines that differ, given that no lines were added or removed.
fn line_edits(before: &str, after: &str) -> Vec<LineEdit> {
    let lines = before.lines().zip(after.lines()).enumerate();
    let edits = lines.filter(|(_, (from, to))| from != to);
    edits.map(|(line_index, (from, to))| LineEdit { line_index, from: from.to_owned(), to: to.to_owned() }).collect()
}

fn cross_edits(file: &str, before: &str, after: &str) -> Vec<CrossEdit> {
    let edits = line_edits(before, after).into_iter();
    edits.map(|LineEdit { from, to, .. }| CrossEdit { file: file.to_owned(), from, to }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(roadmap: &'static str, more: &[(&'static str, &'static str)]) -> ProjectView {
        let files = [
            (".planning/ROADMAP.md", roadmap),
            (".planning/STATE.md", "# S\n\n## Current Position\n\nPhase: 3 of 3 (C)\n"),
            (
                ".planning/REQUIREMENTS.md",
                "| Requirement | Phase | Status |\n|---|---|---|\n| A | Phase 1 | Pending |\n",
            ),
            (".planning/phases/01-a/01-01-PLAN.md", "---\nphase: 01-a\n---\n"),
            (".planning/phases/03-c/03-01-PLAN.md", "---\nphase: 03-c\ndepends_on: [01-01]  # first\n---\n"),
            (".planning/phases/03-c/notes.md", "Phase 1\n"),
        ];
        ProjectView::of(files.iter().chain(more).copied())
    }

    const ROADMAP: &str = "# R\r\n\r\n## v1.0 A\r\n\r\n- [x] **Phase 1: A** - a\r\n\r\n### Phase 1: A\r\n- [x] 01-01-PLAN.md — x\r\n\r\n### Phase 2.1: B\r\n**Depends on**: Phase 1\r\n\r\n## 🚧 v2.0 B\r\n\r\n### Phase 3: C\r\n**Depends on**: Phase 1, Phase 2.1\r\n\r\n## Backlog\r\n\r\n### Phase 999.1: L\r\n\r\n| Phase | Plans Complete |\r\n|---|---|\r\n| 3. C | 0/1 |\r\n";

    #[test]
    fn phases_are_renamed_after_their_milestone_in_all_documents() {
        let view = view(ROADMAP, &[]);
        let (report, edits) = upgrade(&view, None, &Facts::default()).unwrap();
        let after = view.after(&edits);
        let text = |path: &str| after.text(path).unwrap().unwrap_or_default().to_string();
        assert_eq!(
            text(".planning/ROADMAP.md"),
            "# R\r\n\r\n## v1.0 A\r\n\r\n- [x] **Phase 1-01: A** - a\r\n\r\n### Phase 1-01: A\r\n- [x] 01-01-01-PLAN.md — x\r\n\r\n### Phase 1-02: B\r\n**Depends on**: Phase 1-01\r\n\r\n## 🚧 v2.0 B\r\n\r\n### Phase 2-01: C\r\n**Depends on**: Phase 1-01, Phase 1-02\r\n\r\n## Backlog\r\n\r\n### Phase 999.1: L\r\n\r\n| Phase | Plans Complete |\r\n|---|---|\r\n| 2-01. C | 0/1 |\r\n"
        );
        let phases = ["1-01", "2-01"].map(str::to_owned);
        assert_eq!(report.phases.iter().map(|phase| phase.new_id.clone()).collect::<Vec<_>>(), phases);
        assert_eq!(report.roadmap_edits[0].line_index, 4);
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["01-01-a", "02-01-c"]);
        assert_eq!(
            text(".planning/phases/02-01-c/02-01-01-PLAN.md"),
            "---\nphase: 02-01-c\ndepends_on: [01-01-01]  # first\n---\n"
        );
        assert_eq!(text(".planning/phases/02-01-c/notes.md"), "Phase 1\n");
        assert!(text(".planning/REQUIREMENTS.md").contains("| A | Phase 1-01 | Pending |"));
        assert!(text(".planning/STATE.md").contains("Phase: 2-01 of 3 (C)\n"));
        assert!(text(".planning/config.json").contains("\"phase_id_convention\": \"milestone-prefixed\""));
        let found = after.find_phase("2-01").unwrap().folder.unwrap();
        assert_eq!(found.plans().collect::<Vec<_>>(), ["02-01-01-PLAN.md"]);
    }

    #[test]
    fn ambiguous_phases_are_refused() {
        let error = |roadmap, more: &[_]| upgrade(&view(roadmap, more), None, &Facts::default()).unwrap_err().message;
        let twice = "## v1.0 A\n\n### Phase 1: A\n\n## v1.1 B\n\n### Phase 1: B\n";
        assert!(error(twice, &[]).contains("below two milestones"));
        assert!(error("## v0.9 A\n\n### Phase 1: A\n", &[]).contains("below a milestone v0"));
        let taken = [(".planning/phases/01-01-a/x.md", "x")];
        assert!(error("## v1.0 A\n\n### Phase 1: A\n", &taken).ends_with("` already exists"));
        let (report, edits) = upgrade(&view("### Phase 1: A\n", &[]), None, &Facts::default()).unwrap();
        assert!(
            report.phases.is_empty() && edits.moves.is_empty() && edits.texts.contains_key(".planning/config.json")
        );
        let (report, edits) = upgrade(&view(ROADMAP, &[]), Some(CONVENTION), &Facts::default()).unwrap();
        assert!(report.already_migrated && edits.is_empty());
    }
}
