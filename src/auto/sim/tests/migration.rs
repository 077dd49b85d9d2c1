//! Projects that another pipeline started.

use std::collections::BTreeSet;

use super::*;
use crate::auto::slices::derive::{Phase, Scope, derive};
use crate::auto::slices::forecast;
use crate::auto::slices::reading::{Extent, snapshot};

/// The names of finished sessions, as an older program stores them. Only that program reads it.
const COMPLETED: &str = "[\"research-milestone/M001\",\"research-slice/M001/S02\",\"execute-task/M001/S01/T01\"]\n";

/// Returns the project after each unit of the classic pipeline, with its phase.
fn begun_by_classic() -> Vec<(Phase, MemoryFiles)> {
    let mut options = classic((2, 2), Profile::Quality);
    options.preferences.uat_dispatch = true;
    let whole = run_to(&options, None).sessions.len();
    let units = u32::try_from(whole).unwrap();
    let trees = (1..units).map(|units| {
        let mut files = run_to(&options, Some(units)).files;
        files.texts.insert(".gsd/completed-units.json".to_owned(), COMPLETED.to_owned());
        (phase(&files), files)
    });
    trees.collect()
}

fn run_to(options: &Options, most_units: Option<u32>) -> Simulated {
    let mut simulated = Simulated::new(project(), options.ideal());
    simulated.begin(MILESTONE, false, 40, &Ceilings::default());
    simulated.go_on(&Settings { most_units, ..options.settings() }).unwrap();
    simulated
}

fn phase(files: &MemoryFiles) -> Phase {
    let scope = Scope::default();
    derive(&snapshot(files, Extent::Active(&scope)), &scope, &Preferences::default()).phase
}

/// Returns the run of the simple pipeline that continues with these files.
fn goes_on(files: &MemoryFiles) -> Simulated {
    let mut simulated = Simulated::new(files.clone(), small().ideal());
    simulated.has_history = true;
    simulated.begin(MILESTONE, false, 20, &Ceilings::default());
    simulated
}

#[test]
fn a_run_of_the_classic_pipeline_is_finished_from_any_point() {
    let trees = begun_by_classic();
    let phases: BTreeSet<&str> = trees.iter().map(|(phase, _)| phase.word()).collect();
    for needed in ["planning", "executing", "summarizing", "validating-milestone", "completing-milestone"] {
        assert!(phases.contains(needed), "{needed} in {phases:?}");
    }
    let has = |files: &MemoryFiles, kind: &str| files.texts.keys().any(|path| path.ends_with(&format!("-{kind}.md")));
    assert!(trees.iter().any(|(_, files)| has(files, "RESEARCH") && has(files, "ASSESSMENT")));
    for (phase, files) in &trees {
        let before = snapshot(files, Extent::Active(&Scope::default()));
        let sessions = forecast::of(&before, MILESTONE, &Preferences::default(), small().shape).sessions();
        let mut simulated = goes_on(files);
        let stop = simulated.go_on(&small().settings()).unwrap();
        assert_eq!((stop.cause.code(), stop.cause), (0, Cause::Complete), "from {}: {stop:?}", phase.word());
        assert_eq!(simulated.sessions.len(), sessions, "from {}: {:?}", phase.word(), simulated.sessions);
        let research = |unit: &Unit| matches!(unit.kind, UnitKind::ResearchMilestone | UnitKind::ResearchSlice);
        assert!(!simulated.sessions.iter().any(research), "from {}", phase.word());
        let landed = simulated.landed_texts().unwrap();
        assert_eq!(landed[".gsd/completed-units.json"], COMPLETED);
        assert!(landed[".gsd/milestones/M001/M001-SUMMARY.md"].contains("status: complete"));
    }
}

#[test]
fn a_half_done_step_is_finished_even_if_the_process_dies_in_it() {
    for needed in [Phase::Summarizing, Phase::ValidatingMilestone, Phase::CompletingMilestone] {
        let trees = begun_by_classic();
        let (_, files) = trees.iter().find(|(phase, _)| *phase == needed).unwrap();
        let mut whole = goes_on(files);
        whole.go_on(&small().settings()).unwrap();
        let names = |project: &Simulated| -> Vec<String> { project.landed_texts().unwrap().keys().cloned().collect() };
        for effect in 1..=whole.effects {
            let mut simulated = goes_on(files);
            simulated.dies_at = Some(effect);
            assert!(simulated.go_on(&small().settings()).is_err());
            simulated.dies_at = None;
            let stop = simulated.go_on(&small().settings()).unwrap();
            assert_eq!(stop.cause, Cause::Complete, "from {}, effect {effect}: {stop:?}", needed.word());
            assert_eq!(names(&simulated), names(&whole), "from {}, effect {effect}", needed.word());
        }
    }
}

/// Older projects have their slices right below the milestone, and roadmaps of other forms. New documents are written
/// to their current place.
#[test]
fn projects_in_older_forms_are_finished_as_they_are() {
    let table = "# M001: Simulated milestone\n\n## Slices\n\n| ID | Title | Risk | Depends | Status |\n|---|---|---|---|---|\n\
                 | S01 | Part 1 | medium | none | open |\n| S02 | Part 2 | medium | S01 | open |\n";
    for (phase, files) in begun_by_classic() {
        if !matches!(phase, Phase::Executing | Phase::Summarizing)
            || files.texts.keys().any(|path| path.contains("S01-SUMMARY"))
        {
            continue;
        }
        let mut older = MemoryFiles::default();
        for (path, text) in &files.texts {
            older.texts.insert(path.replace("/slices/", "/"), text.clone());
        }
        older.texts.insert(".gsd/milestones/M001/M001-ROADMAP.md".to_owned(), table.to_owned());
        let mut simulated = Simulated::new(older, Older { ideal: small().ideal() });
        simulated.has_history = true;
        simulated.begin(MILESTONE, false, 20, &Ceilings::default());
        let stop = simulated.go_on(&small().settings()).unwrap();
        assert_eq!(stop.cause, Cause::Complete, "from {}: {stop:?}", phase.word());
        let landed = simulated.landed_texts().unwrap();
        let roadmap = &landed[".gsd/milestones/M001/M001-ROADMAP.md"];
        assert!(roadmap.contains("| S01 | Part 1 | medium | none | done |"), "{roadmap}");
        assert!(landed.contains_key(".gsd/milestones/M001/S01/S01-SUMMARY.md"), "{:?}", landed.keys());
        assert!(!landed.keys().any(|path| path.contains("/slices/S01/")), "{:?}", landed.keys());
        assert!(landed.contains_key(".gsd/milestones/M001/slices/S02/S02-SUMMARY.md"), "{:?}", landed.keys());
    }
}

/// Writes the documents of the first slice to its existing folder.
#[derive(Debug)]
struct Older {
    ideal: Ideal,
}

impl Actor for Older {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let mut act = self.ideal.act(session, files);
        for change in &mut act.edits {
            change.path = change.path.replace("/slices/S01/", "/S01/");
        }
        act
    }
}
