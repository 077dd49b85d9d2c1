//! The changes that a session may make to the documents of a project in phases.

use super::FOLDER;
use crate::auto::permit::{DocumentTexts, Permit, Rule, Trespass, decides};
use crate::auto::unit::{Unit, UnitKind};
use crate::project::phase::PhaseId;
use crate::project::roadmap::Roadmap;

/// What a workflow of a phase writes outside the documents of its phase: a file, or everything below a folder.
const SHARED: &[&str] = &[
    "STATE.md",
    "state.json",
    "STATE-ARCHIVE.md",
    "REQUIREMENTS.md",
    "WINDOWS.md",
    "estimation-calibration.json",
    "milestone.lock",
    "todos/",
    "seeds/",
    "research/",
    "codebase/",
    "intel/",
    "debug/",
];

/// Returns what a unit may write: `expected` are the documents that its prompt names, which are in the folder of its
/// phase.
pub(crate) fn permits(expected: &[Permit]) -> Vec<Permit> {
    let places = expected.iter().filter_map(|permit| permit.path.rsplit_once('/'));
    // If the folder does not exist yet, the workflow chooses a name for it after the number.
    let own = places.flat_map(|(folder, name)| {
        let phases = folder.rsplit_once('/').map_or("", |(phases, _)| phases);
        let number = name.split('-').next().unwrap_or(name);
        [format!("{folder}/"), format!("{phases}/{number}-")].map(|path| Permit::new(path, Rule::Whole))
    });
    let shared = SHARED.iter().map(|path| Permit::new(format!("{FOLDER}/{path}"), Rule::Whole));
    let roadmap = Permit::new(format!("{FOLDER}/ROADMAP.md"), Rule::OwnPhase);
    own.chain(shared).chain([roadmap]).collect()
}

/// Returns what is wrong with the change of a document; `None` if the unit may make it.
pub(crate) fn trespass(permits: &[Permit], unit: &Unit, path: &str, texts: DocumentTexts<'_>) -> Option<Trespass> {
    let wrong = |why: &str| Some(Trespass { path: path.to_owned(), why: Some(why.to_owned()), decides: true });
    let Some(permit) = permits.iter().find(|permit| permit.covers(path)) else {
        return Some(Trespass { path: path.to_owned(), why: None, decides: decides(path) });
    };
    if permit.rule == Rule::OwnPhase {
        let (before, after) = (texts.before.unwrap_or_default(), texts.after.unwrap_or_default());
        return other_phases(before, after, &unit.id).and_then(|why| wrong(&why));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let is = |kind: &str| name == format!("{kind}.md") || name.ends_with(&format!("-{kind}.md"));
    if unit.kind == UnitKind::ExecutePhase {
        let is_accepted = is("PLAN") && texts.before.is_some() && texts.before != texts.after;
        return is_accepted.then(|| wrong("the plan was accepted")).flatten();
    }
    if is("VERIFICATION") || is("SUMMARY") {
        return wrong("nothing of it was executed");
    }
    None
}

/// Returns a change in a roadmap to phases other than the unit's own.
fn other_phases(before: &str, after: &str, own: &str) -> Option<String> {
    let (before, after) = (Roadmap::parse_for(before, None), Roadmap::parse_for(after, None));
    let is_own = |id: &str| PhaseId::new(id) == PhaseId::new(own);
    let boxes = |roadmap: &Roadmap<'_>| -> Vec<(String, bool)> {
        let bullets = roadmap.bullets().iter().filter(|bullet| !is_own(bullet.id));
        bullets.map(|bullet| (bullet.id.to_owned(), bullet.checked)).collect()
    };
    let sections = |roadmap: &Roadmap<'_>| -> Vec<(String, String)> {
        let others = roadmap.sections().iter().filter(|section| !is_own(section.id));
        others.map(|section| (section.id.to_owned(), roadmap.section_text(section).trim().to_owned())).collect()
    };
    if boxes(&before) != boxes(&after) {
        return Some("another phase is ticked, added or gone".to_owned());
    }
    (sections(&before) != sections(&after)).then(|| "another phase has changed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROADMAP: &str = "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Base** - a\n- [ ] **Phase 2: Top** - b\n\n### Phase 1: \
        Base\n**Goal**: one\n**Plans**: 1 plan\n\n### Phase 2: Top\n**Goal**: two\n";

    fn found(kind: UnitKind, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        let permits = permits(&[Permit::new(".planning/phases/01-base/01-CONTEXT.md", Rule::Whole)]);
        let trespass = trespass(&permits, &Unit::new(kind, "1"), path, DocumentTexts { before, after })?;
        Some(format!("{} {}", if trespass.decides { "decides" } else { "put back" }, trespass.why.unwrap_or_default()))
    }

    #[test]
    fn a_workflow_may_write_the_files_of_its_phase() {
        let executes = |path: &str| found(UnitKind::ExecutePhase, path, None, Some("x"));
        for path in
            [".planning/phases/01-base/01-VERIFICATION.md", ".planning/STATE.md", ".planning/todos/pending/a.md"]
        {
            assert_eq!(executes(path), None, "{path}");
        }
        assert_eq!(executes(".planning/phases/02-top/02-VERIFICATION.md").unwrap(), "decides ");
        assert_eq!(executes(".planning/config.json").unwrap(), "decides ");
        assert_eq!(executes(".planning/notes.md").unwrap(), "put back ");
        let plan = ".planning/phases/01-base/01-01-PLAN.md";
        assert_eq!(found(UnitKind::ExecutePhase, plan, Some("a"), None).unwrap(), "decides the plan was accepted");
        assert_eq!(found(UnitKind::PlanPhase, plan, Some("a"), Some("b")), None);
        let verification = ".planning/phases/01-base/01-VERIFICATION.md";
        assert!(found(UnitKind::PlanPhase, verification, None, Some("x")).unwrap().starts_with("decides"));
    }

    #[test]
    fn a_unit_may_change_only_its_own_phase_in_a_roadmap() {
        let change = |from: &str, to: &str| {
            found(UnitKind::ExecutePhase, ".planning/ROADMAP.md", Some(ROADMAP), Some(&ROADMAP.replace(from, to)))
        };
        assert_eq!(change("- [ ] **Phase 1", "- [x] **Phase 1"), None);
        assert_eq!(change("1 plan", "1/1 plans complete"), None);
        for (from, to) in [
            ("- [ ] **Phase 2", "- [x] **Phase 2"),
            ("- [ ] **Phase 2: Top** - b\n", ""),
            ("**Goal**: two", "**Goal**: none"),
            ("\n\n### Phase 2: Top\n**Goal**: two\n", "\n"),
        ] {
            assert!(change(from, to).unwrap().starts_with("decides another phase"), "{to}");
        }
    }
}
